//! Message exits: how the bytes of a client become a request, and a response its bytes.
//!
//! A client names the exit in the first eight bytes behind the lengths, in the code page that all
//! of its message has. HWSSMPL0 (`*SAMPLE*`) and HWSSMPL1 (`*SAMPL1*`) are here; others are added
//! to the server's options. An exit is called by threads that serve many clients: it computes,
//! and does not wait.

use codec::CodePage;
use otma::Encoding;

use crate::wire::{Pages, Reason, Rejection, Request, Response};

/// A message exit.
pub trait Exit: Send + Sync {
    /// Its id, in ASCII.
    fn id(&self) -> [u8; 8];

    /// The request in a whole message, LLLL included.
    ///
    /// # Errors
    /// The reason code that the client gets with return code 04.
    fn read(&self, message: &[u8], encoding: Encoding) -> Result<Request, Reason>;

    /// The bytes of a response.
    fn write(&self, response: &Response, encoding: Encoding) -> Vec<u8>;
}

/// HWSSMPL0 and HWSSMPL1: they differ in what stands before a response.
#[derive(Clone, Debug)]
pub struct Sample {
    id: [u8; 8],
    prefixed: bool,
    pages: Pages,
}

impl Sample {
    /// HWSSMPL0: a response begins with its first segment.
    #[must_use]
    pub fn hwssmpl0(page: CodePage) -> Sample {
        Sample { id: *b"*SAMPLE*", prefixed: false, pages: Pages::new(page) }
    }

    /// HWSSMPL1: a response begins with its length, LLLL.
    #[must_use]
    pub fn hwssmpl1(page: CodePage) -> Sample {
        Sample { id: *b"*SAMPL1*", prefixed: true, pages: Pages::new(page) }
    }
}

impl Exit for Sample {
    fn id(&self) -> [u8; 8] {
        self.id
    }

    fn read(&self, message: &[u8], encoding: Encoding) -> Result<Request, Reason> {
        Request::decode(message, encoding, &self.pages).map_err(Rejection::reason)
    }

    fn write(&self, response: &Response, encoding: Encoding) -> Vec<u8> {
        response.encode(self.prefixed, encoding, &self.pages)
    }
}
