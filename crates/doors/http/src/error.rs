//! Why there is no door for HTTP.

use base::{Code, Coded};
use thiserror::Error;
use tls::TlsError;

/// Why there is no such door.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be listened at.
    #[error("HTTP cannot be served at {address}: {error}")]
    Listen {
        /// As it was given.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// There are no threads.
    #[error("HTTP has no threads: {0}")]
    Threads(std::io::Error),
    /// The server has ended.
    #[error("the server of HTTP has ended")]
    Closed,
    /// Certificates or keys that are none.
    #[error("TLS of HTTP cannot be set up: {0}")]
    Tls(TlsError),
}

impl Coded for HttpError {
    fn code(&self) -> Code {
        match self {
            HttpError::Listen { .. } => Code("HFHT001"),
            HttpError::Tls(_) => Code("HFHT002"),
            HttpError::Threads(_) => Code("HFHT003"),
            HttpError::Closed => Code("HFHT004"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            HttpError::Listen { .. } => {
                "Give an address and a port of this machine that nobody else listens at.".into()
            }
            HttpError::Threads(_) => "Raise the limit of threads of this user.".into(),
            HttpError::Closed => "Start the system again.".into(),
            HttpError::Tls(_) => {
                "Give a certificate, its key, and the certificates of who signs those of clients, \
                 each in PEM."
                    .into()
            }
        }
    }
}
