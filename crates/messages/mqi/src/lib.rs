//! The message queue interface: its structures and constants, and its calls over a socket.
//!
//! ```text
//!  program --> library --> client ==socket==> server --> queue manager
//!              (mqm_calls)  \------- this crate -------/
//! ```
//!
//! | question | where |
//! |---|---|
//! | how does a structure stand in memory, by its versions? | [`table`], [`structures`] |
//! | what do calls look like between a program and a system? | [`wire`] |
//! | how does a system serve programs? | [`server`] |
//! | how does a program's side call? | [`client`]; what its calls go over: [`stream`] |
//! | what does a structure mean to the queue manager? | [`convert`] |
//! | where does a program find its queue manager? | [`place`]; on other machines: [`address`] |
//! | whom does a certificate name? | [`certificate`] |
//! | how are headers and copybooks made? | [`header`], [`copybook`] |
//!
//! Invariants:
//! 1. No bytes of a program or of a connection make anything here panic.
//! 2. Nothing here reads the memory of a program: what is read are slices.

#[macro_use]
pub mod table;

pub mod address;
pub mod certificate;
pub mod client;
pub mod constants;
pub mod convert;
pub mod copybook;
pub mod header;
pub mod place;
pub mod server;
pub mod stream;
pub mod structures;
pub mod wire;
