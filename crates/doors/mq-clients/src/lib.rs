//! Programs of the message queue interface on other machines: their calls come in over TCP and TLS,
//! by channels of type SVRCONN.
//!
//! ```text
//!  libmqic_r.so ==TLS==> link --> greeting --> mqi::server::converse --> queue manager
//! ```
//!
//! | question | where |
//! |---|---|
//! | what stands on the wire? | `mqi::wire`: the frames of the local socket, with `enter` in front |
//! | a connection: in the clear or over TLS, with limits of time | `link` |
//! | who is it, by which channel does it come, as whom does it work? | `greeting` |
//! | how many may there be, with how much memory? | `places` |
//! | listening, threads, the end | [`Server`] |
//!
//! 1. Nothing travels in the clear but between two ends of one machine.
//! 2. No program comes in that has not proved to be a user's, by a password or by a certificate;
//!    while a system has no users, programs of its own machine come in as nobody in particular.
//! 3. No program is told anything of a channel before its records have let it in.
//! 4. A program that connects has [`GREETING`] for all that it takes to be let in, together.
//! 5. A program that is gone without disconnecting is backed out, wherever it is.

mod error;
mod greeting;
mod link;
mod places;
mod server;
mod shared;

pub use error::Error;
pub use greeting::GREETING;
pub use server::{Counted, Options, Server};
pub use shared::Users;
