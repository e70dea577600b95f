//! Message channels over the network: between queue managers of Holdfast systems, with a protocol
//! of our own over TLS.
//!
//! | question | where |
//! |---|---|
//! | what stands on the wire? | [`frame`] |
//! | a connection: bytes to frames, in the clear or over TLS | `link`, `keys` |
//! | how two ends meet: who is who, what they agree on, where they stand | `handshake` |
//! | how batches are sent, and received | `sending`, `receiving` |
//! | a channel that connects: tries again, and when it gives up | `outbound` |
//! | listeners, and what comes in by them | `inbound` |
//! | what starts and stops channels | [`ChannelServer`] |
//!
//! Once and only once is the concern of `queue_manager::channel`: here, a connection may be cut
//! between any two bytes.
//!
//! 1. Nothing travels in the clear but between two ends of one machine.
//! 2. A partner whose connection was lost and who comes again takes the place of that connection:
//!    the old one is cut, and what it had not committed is backed out, before the new one is told
//!    where the receiver stands.
//! 3. An end that hears nothing for twice the heartbeat interval, and at least for a minute, ends.
//! 4. What a frame says it is long is believed as far as both ends have agreed on, and no memory is
//!    taken before the bytes have come.

mod error;
pub mod frame;
mod handshake;
mod inbound;
mod keys;
mod link;
mod outbound;
mod place;
mod receiving;
mod sending;
mod server;
mod shared;
mod timed;
mod visitors;

pub use error::Error;
pub use keys::Tls;
pub use server::{ChannelServer, Options};
