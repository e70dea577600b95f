//! The calls of the message queue interface, for programs in C and COBOL.
//!
//! This crate has the calls; the libraries `libmqm_r.so`, `libmqm.so` and `libmqmcb_r.so` export
//! them under their names, in C by value and in COBOL by reference, with [`calls!`].
//!
//! | calls | where |
//! |---|---|
//! | MQCONN, MQCONNX, MQDISC | `connect` |
//! | MQOPEN, MQCLOSE, MQINQ, MQSET | `objects` |
//! | MQPUT, MQPUT1, MQGET | `messages` |
//! | MQCMIT, MQBACK, MQBEGIN, MQSTAT | `units` |
//! | MQSUB, MQSUBRQ | `subscribe` |
//! | MQCRTMH, MQDLTMH, MQSETMP, MQINQMP, MQDLTMP, MQBUFMH, MQMHBUF | `properties`; of no connection: `message_handles` |
//! | MQCB, MQCTL | `callbacks` |
//! | MQXCNVC, and conversion of what is got | `conversion` |
//! | branches of global transactions, for another transaction manager | [`switch`] |
//! | all of them in a region of a system | [`region`] |
//! | all of them over the network | `network`; made again when they break: `reconnect` |
//!
//! Invariants:
//! 1. No argument makes a call crash that the interface lets it check: null pointers, wrong
//!    letters, versions and lengths get a reason code.
//! 2. No panic leaves a call: it becomes `UNEXPECTED_ERROR`.
//! 3. Completion and reason are always set, if there is a place for them.

#![allow(unsafe_code)] // this crate is the interface's C side: its arguments are pointers

mod callbacks;
mod connect;
mod consumers;
mod conversion;
mod export;
mod finish;
mod memory;
mod message_handles;
mod messages;
mod network;
mod objects;
mod properties;
mod reconnect;
pub mod region;
mod registration;
mod state;
mod subscribe;
pub mod switch;
mod units;
mod xid;

/// The calls themselves; pointers are the caller's.
pub mod calls {
    pub use crate::callbacks::{cb, ctl};
    pub use crate::connect::{conn, connx, disc};
    pub use crate::conversion::xcnvc;
    pub use crate::messages::{get, put, put1};
    pub use crate::objects::{close, inq, open, set};
    pub use crate::properties::{bufmh, crtmh, dltmh, dltmp, inqmp, mhbuf, setmp};
    pub use crate::subscribe::{sub, subrq};
    pub use crate::units::{back, begin, cmit, stat};
}

pub use finish::by_reference;
pub use network::only_client;
