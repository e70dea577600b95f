//! TLS, set up in one place: certificates, keys and authorities in PEM become what accepts and
//! what makes handshakes; certificates of the other end become names.
//!
//! | what | where |
//! |---|---|
//! | what a server shows, and whom it asks for a certificate: [`Tls`] | `server` |
//! | whom a client believes, and what it shows: [`Trust`] | `client` |
//! | what PEM has in it | `pem` |
//! | whom a certificate names: [`common_name`], [`user`], [`subject`] | `names` |
//! | why something cannot be used: [`TlsError`] | `error` |
//!
//! Invariants:
//! 1. Nobody is believed but whom the given authorities have signed: those of the machine are not
//!    asked.
//! 2. A key that is not the key of its certificate is refused when it is read, not in a handshake.
//! 3. The ciphers are those of one library, with the versions that it holds safe: 1.2 and 1.3.

mod client;
mod error;
mod names;
mod pem;
mod server;

pub use client::Trust;
pub use error::TlsError;
pub use names::{common_name, subject, user};
pub use server::Tls;
