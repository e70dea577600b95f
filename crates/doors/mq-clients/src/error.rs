//! Why the door cannot be opened.

use std::io;
use std::net::SocketAddr;

use base::{Code, Coded};
use thiserror::Error;
use tls::TlsError;

/// Why the door cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An address cannot be listened at.
    #[error("clients of the message queue interface cannot be listened for at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// Certificates or keys cannot be used.
    #[error("the certificates for clients of the message queue interface cannot be used: {0}")]
    Tls(#[from] TlsError),
    /// There are no threads for it.
    #[error("the threads for clients of the message queue interface cannot be started: {0}")]
    Threads(io::Error),
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Listen { .. } => Code("HFCL001"),
            Error::Tls(_) => Code("HFCL002"),
            Error::Threads(_) => Code("HFCL003"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Listen { .. } => "Choose a free port of this machine, or end who has it.".into(),
            Error::Tls(_) => {
                "Give a chain of certificates, its key, and the roots of clients, as PEM.".into()
            }
            Error::Threads(_) => "Raise the limit of threads.".into(),
        }
    }
}
