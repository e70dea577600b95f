//! IMS Connect as its clients know it, in front of the transaction manager.
//!
//! | part | owns |
//! |---|---|
//! | [`wire`] | bytes: requests and responses, both ways, without any input or output |
//! | [`conversation`] | what is said when: events in, actions out |
//! | [`exit`], [`LibraryExit`] | message exits: which bytes a client of which id speaks; in C |
//! | [`server`] | sockets, TLS, limits, and the calls of the transaction manager |
//!
//! Invariants:
//! 1. Whatever bytes arrive, the worst that they do is to end their own connection.
//! 2. An output that was taken from a tpipe is settled, whenever and however a connection ends.
//! 3. Only `server` knows time and sockets; `wire` and `conversation` can be driven by anything.
//!
//! What is supported, with every code, stands in `docs/ims-connect.md`.

pub mod conversation;
pub mod exit;
mod exit_library;
pub mod server;
pub mod wire;

pub use exit::Exit;
pub use exit_library::LibraryExit;
pub use server::{Counters, Error, Options, Server};
