//! The redirector: clusters whose records, or whose changes, go elsewhere.
//!
//! ```text
//!  program --request--> vsam --OWNER=REDIR--> handler --> table, other system
//!                        |
//!                        +--OWNER=VSAM--> cluster, and unsent changes --sender--> handler
//! ```
//!
//! What a redirection is, which requests go where and what is kept to be sent on, `vsam` owns
//! ([`vsam::handler`] says what a handler has to do, with an example). Here is what is around it.
//!
//! | to understand | look at |
//! |---|---|
//! | which handler an address means | [`registry`] |
//! | what a record is to a handler that has columns | [`columns`] |
//! | another Holdfast system as a handler | [`system`] |
//! | who sends changes on, and when | [`sender`] |
//! | a file that is sent anew | [`resending`] |
//!
//! Invariants:
//! 1. What was not sent stays where it is: no failure of a handler loses a change, or has a program
//!    wait.
//! 2. Changes of one record come there in the order in which they were committed.

pub mod columns;
pub mod registry;
pub mod resending;
pub mod sender;
pub mod system;

pub use registry::Registry;
pub use sender::{SendError, Sender, Sent, send, send_rest};
