//! Why channels cannot be run.

use std::io;

use base::{Code, Coded};
use thiserror::Error;
use tls::TlsError;

/// Why channels cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An address cannot be listened at.
    #[error("channels cannot be listened for at {address}: {error}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// Certificates or keys cannot be used.
    #[error("the certificates of channels cannot be used: {0}")]
    Tls(TlsError),
    /// There are no threads for it.
    #[error("the threads of channels cannot be started: {0}")]
    Threads(io::Error),
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Listen { .. } => Code("HFCH001"),
            Error::Tls(_) => Code("HFCH002"),
            Error::Threads(_) => Code("HFCH003"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Listen { .. } => "Choose a free port of this machine, or end who has it.".into(),
            Error::Tls(_) => {
                "Give a chain of certificates, its key, and the roots of partners, as PEM.".into()
            }
            Error::Threads(_) => "Raise the limit of threads.".into(),
        }
    }
}
