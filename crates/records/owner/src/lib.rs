//! Access to the files of a started system from other processes and machines: the system owns its
//! clusters, and everybody else reaches them through it.
//!
//! ```text
//!  program --file handler--> client --socket, port--> server --session--> clusters -> vsam
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | names such as `#VSAM.#CICS.BANK/ACCOUNT`, and what they stand for | [`name`] |
//! | where an owner is found | [`place`] |
//! | the bytes between both sides | [`frame`], [`greeting`]; requests are [`file_handler::wire`]'s |
//! | a program's files, read ahead; connections that are lost | [`client`] |
//! | units of work, locks between requests, durability | [`session`] |
//! | who is let in, and how many | [`server`]; TLS: [`tls`] |
//!
//! Invariants:
//! 1. Every opener has places and locks of its own. Openers share by record locks, whatever the
//!    share options of a cluster say.
//! 2. A change is made whole or not at all: alone, or with the unit of work that the program has
//!    begun. It is durable when the program closes the file, and soon after it was made in any
//!    case.
//! 3. A connection that is lost is a status. Nothing is sent a second time: whether a change was
//!    made whose answer was lost, the program finds out by reading.
//! 4. What a program leaves behind, with its connection, is backed out.

pub mod client;
pub mod frame;
pub mod greeting;
pub mod name;
pub mod place;
pub mod server;
pub mod session;
mod stream;
pub mod tls;
pub mod unit;

pub use client::{OwnerWays, Owners};
pub use name::{Applid, Files, VirtualName};
pub use place::Places;
pub use server::{Admission, Limits, Options, Server, Service, Who};
pub use session::Session;
