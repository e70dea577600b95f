//! The server over real sockets, in front of a transaction manager that keeps all in memory.
#![allow(clippy::disallowed_methods)] // tests talk to real sockets and wait for them

mod authority;
mod bounds;
mod bytes;
mod client;
mod exits;
mod flows;
mod manager;
mod python;
mod secured;
