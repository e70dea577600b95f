//! How every call ends: with a completion and a reason, whatever happened in it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use queue_manager::{Outcome, Reason};

use crate::memory;

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
