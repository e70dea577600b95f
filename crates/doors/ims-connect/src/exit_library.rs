//! Message exits in C: shared libraries with the functions of
//! [`holdfast_exit.h`](../include/holdfast_exit.h).
//!
//! | function | makes |
//! |---|---|
//! | `hfx_init` | the exit's id |
//! | `hfx_read` | of a client's message what a client of `*SAMPL1*` sends |
//! | `hfx_write` | of what such a client gets the client's bytes |
//!
//! Invariants:
//! 1. What an exit makes is read like any client's bytes: it can refuse its own clients, and no
//!    others.
//! 2. A library stays loaded as long as the system runs.

#![allow(unsafe_code)] // functions of a library are called by address

use std::ffi::{c_char, c_int};
use std::mem::ManuallyDrop;
use std::path::Path;

use codec::CodePage;
use libloading::Library;
use otma::Encoding;

use crate::exit::{Exit, Sample};
use crate::server::Error;
use crate::wire::{Reason, Request, Response};

/// The version of the interface.
const VERSION: c_int = 1;
const DONE: c_int = 0;
const MORE: c_int = -1;
/// More than a message is longer in one form than in the other, usually.
const SLACK: usize = 1_024;
/// The longest that an exit may make of anything.
const BYTES_MAX: usize = 16 << 20;

#[repr(C)]
struct Room {
    bytes: *mut u8,
    room: u32,
    length: u32,
}

type Init = unsafe extern "C" fn(*mut c_char) -> c_int;
type Convert = unsafe extern "C" fn(*const u8, u32, c_int, *mut Room) -> c_int;

/// A message exit in a shared library.
pub struct LibraryExit {
    id: [u8; 8],
    read: Convert,
    write: Convert,
    sample: Sample,
}

impl LibraryExit {
    /// Loads an exit; the code page is that of EBCDIC messages.
    ///
    /// # Errors
    /// If there is no such library, or it is no exit of this interface.
    pub fn load(path: &Path, page: CodePage) -> Result<LibraryExit, Error> {
        let wrong = |what: String| Error::Exit { path: path.display().to_string(), what };
        // SAFETY: whoever configures the system has named the library for this; what its own
        // beginning does is part of the system from then on.
        let library = unsafe { Library::new(path) };
        // What the loader said, such as the symbol that is missing, is the error's source.
        let library = library.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            wrong(cause.unwrap_or_else(|| error.to_string()))
        })?;
        // Its functions stay where they are.
        let library = ManuallyDrop::new(library);
        // SAFETY: these functions have the types that the interface's header gives them.
        let found = unsafe {
            let init = library.get::<Init>(b"hfx_init").map(|one| *one);
            let read = library.get::<Convert>(b"hfx_read").map(|one| *one);
            let write = library.get::<Convert>(b"hfx_write").map(|one| *one);
            (init, read, write)
        };
        let (Ok(init), Ok(read), Ok(write)) = found else {
            let what = "it does not export hfx_init, hfx_read and hfx_write";
            return Err(wrong(what.to_owned()));
        };
        let mut id = [b' '; 8];
        // SAFETY: the function takes room for eight characters.
        let version = unsafe { init(id.as_mut_ptr().cast()) };
        if version != VERSION {
            return Err(wrong(format!("it is for version {version} of exits, not {VERSION}")));
        }
        if !id.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
            return Err(wrong("its id is no text".to_owned()));
        }
        Ok(LibraryExit { id, read, write, sample: Sample::hwssmpl1(page) })
    }

    /// Has the library make other bytes of some.
    fn convert(
        &self,
        convert: Convert,
        bytes: &[u8],
        encoding: Encoding,
    ) -> Result<Vec<u8>, c_int> {
        let wrong = c_int::try_from(Reason::DataTooBig.code()).unwrap_or(c_int::MAX);
        let length = u32::try_from(bytes.len()).map_err(|_| wrong)?;
        let ebcdic = c_int::from(encoding == Encoding::Ebcdic);
        let mut out = vec![0; bytes.len() + SLACK];
        for _ in 0..2 {
            let capacity = u32::try_from(out.len()).map_err(|_| wrong)?;
            let mut room = Room { bytes: out.as_mut_ptr(), room: capacity, length: 0 };
            // SAFETY: the function has this type; `bytes` has `length` bytes, `out` has `room`, and
            // both are there for the time of the call.
            let answer = unsafe { convert(bytes.as_ptr(), length, ebcdic, &raw mut room) };
            let needed = room.length as usize;
            match answer {
                DONE if needed <= out.len() => {
                    out.truncate(needed);
                    return Ok(out);
                }
                MORE if needed > out.len() && needed <= BYTES_MAX => out.resize(needed, 0),
                DONE | MORE => return Err(wrong),
                reason => return Err(reason),
            }
        }
        Err(wrong)
    }
}

impl Exit for LibraryExit {
    fn id(&self) -> [u8; 8] {
        self.id
    }

    fn read(&self, message: &[u8], encoding: Encoding) -> Result<Request, Reason> {
        let request = self.convert(self.read, message, encoding).map_err(|reason| {
            let known = u32::try_from(reason).ok().and_then(Reason::of);
            known.unwrap_or(Reason::BadBuffer)
        })?;
        self.sample.read(&request, encoding)
    }

    fn write(&self, response: &Response, encoding: Encoding) -> Vec<u8> {
        let bytes = self.sample.write(response, encoding);
        // Without bytes the client gets the end of its connection.
        self.convert(self.write, &bytes, encoding).unwrap_or_default()
    }
}
