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
//! | MQCRTMH, MQDLTMH, MQSETMP, MQINQMP, MQDLTMP, MQBUFMH, MQMHBUF | `properties` |
//! | MQCB, MQCTL | `callbacks` |
//! | MQXCNVC, and conversion of what is got | `conversion` |
//!
//! Invariants:
//! 1. No argument makes a call crash that the interface lets it check: null pointers, wrong
//!    letters, versions and lengths get a reason code.
//! 2. No panic leaves a call: it becomes `UNEXPECTED_ERROR`.
//! 3. Completion and reason are always set, if there is a place for them.

#![allow(unsafe_code)] // this crate is the interface's C side: its arguments are pointers
#![allow(clippy::missing_safety_doc)] // each call promises what the interface's own text says

mod callbacks;
mod connect;
mod conversion;
mod export;
mod memory;
mod messages;
mod objects;
mod properties;
mod state;
mod subscribe;
mod units;

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

use std::panic::{AssertUnwindSafe, catch_unwind};

use queue_manager::{Outcome, Reason};

/// Makes a call and sets its completion and reason.
///
/// # Safety
/// The pointers are null, or lead to numbers of the caller's.
pub(crate) unsafe fn finish(
    completion: *mut i32,
    reason: *mut i32,
    call: impl FnOnce() -> Result<Outcome, Reason>,
) {
    let outcome = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(reason)) => Outcome::failed(reason),
        Err(_) => Outcome::failed(Reason::UNEXPECTED_ERROR),
    };
    // SAFETY: as promised to this function.
    unsafe {
        memory::set(completion, outcome.completion as i32);
        memory::set(reason, outcome.reason.0);
    }
}

/// A number that COBOL gives by reference. Without one, a number that no call takes.
///
/// # Safety
/// The pointer is null, or leads to a number of the caller's.
#[must_use]
pub unsafe fn by_reference<N: Copy + From<i32>>(at: *const N) -> N {
    // SAFETY: as promised to this function.
    unsafe { memory::get(at) }.unwrap_or_else(|| N::from(i32::MIN))
}
