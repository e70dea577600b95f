//! Why certificates, keys or names cannot be used. The caller that has read them adds a code, and
//! which files they are from.

use thiserror::Error;

/// Why TLS cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The PEM is damaged.
    #[error("the PEM of {what} cannot be read: {why}")]
    Pem {
        /// What it is to be.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// It has none of what is needed.
    #[error("there is no {what} in the PEM")]
    Missing {
        /// What.
        what: &'static str,
    },
    /// An authority is none.
    #[error("certificate {number} of the authorities cannot be used: {why}")]
    Authority {
        /// Which one of the PEM, from 1.
        number: usize,
        /// Why.
        why: String,
    },
    /// Chain and key cannot be used together.
    #[error("the certificate and the key cannot be used together: {0}")]
    Key(String),
    /// Something else is wrong.
    #[error("{0}")]
    Setup(String),
    /// What was connected to has a name that no certificate could be for.
    #[error("{0} is no name of a server")]
    ServerName(String),
}
