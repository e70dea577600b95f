//! MQCMIT, MQBACK, MQBEGIN, MQSTAT.

use std::ffi::c_void;

use mqi::structures::{Bo, Sts};
use mqi::wire::Request;
use queue_manager::{Completion, Outcome, Reason};

use crate::finish::finish;
use crate::memory::{Lent, optional};
use crate::{registration, state};

/// The options of a begin are none.
const BO_ERROR: Reason = Reason(2134);

fn end(hconn: i32, request: &Request) -> Result<Outcome, Reason> {
    let connection = state::find(hconn)?;
    let outcome = connection.client()?.plain(request);
    // Whether it was done or backed out, the unit of work is over; in a branch it is refused.
    if outcome.reason != Reason::ENVIRONMENT_ERROR {
        registration::after_own_work(&connection);
    }
    Ok(outcome)
}

/// Commits.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn cmit(hconn: i32, completion: *mut i32, reason: *mut i32) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe { finish(completion, reason, || end(hconn, &Request::Commit)) };
}

/// Backs out.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn back(hconn: i32, completion: *mut i32, reason: *mut i32) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe { finish(completion, reason, || end(hconn, &Request::Back)) };
}

/// Begins a unit of work that the queue manager coordinates.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn begin(hconn: i32, options: *mut c_void, completion: *mut i32, reason: *mut i32) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            if optional::<Bo>(options, BO_ERROR)?.is_some_and(|bo| bo.now.options != 0) {
                return Err(Reason::OPTIONS_ERROR);
            }
            Ok(connection.client()?.plain(&Request::Begin))
        });
    }
}

/// What became of puts that no call waited for.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn stat(
    hconn: i32,
    kind: i32,
    sts: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut lent = Lent::<Sts>::take(sts, Reason::STS_ERROR)?;
            let (outcome, mut status) = connection.client()?.status(kind);
            if outcome.completion != Completion::Failed {
                // Strings stay where the caller has them.
                status.version = lent.now.version;
                status.object_string = lent.now.object_string;
                status.sub_name = lent.now.sub_name;
                lent.now = status;
                lent.give();
            }
            Ok(outcome)
        });
    }
}
