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
    /// An address cannot be listened on.
    #[error("{address} cannot be listened on for AMQP: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There are no threads.
    #[error("the AMQP door has no threads: {0}")]
    Threads(io::Error),
    /// Certificates or keys cannot be used, or there are none.
    #[error("the certificates of the AMQP door cannot be used: {0}")]
    Tls(TlsError),
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Listen { .. } => Code("HFAQ001"),
            Error::Threads(_) => Code("HFAQ002"),
            Error::Tls(_) => Code("HFAQ003"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Listen { .. } => "Choose another address or port, or end who has it.".into(),
            Error::Threads(_) => "Raise the limit of threads of this user.".into(),
            Error::Tls(_) => "Give a chain of certificates and its key as PEM.".into(),
        }
    }
}
