//! Character sets: MQXCNVC. What a get asks for is converted by the queue manager.
//!
//! Invariants:
//! 1. Text is converted or left as it is, never half of it.

use std::ffi::c_void;

use queue_manager::{Outcome, Reason, convert};

use crate::finish::finish;
use crate::{memory, state};

/// The character set of this machine, where 0 asks for it.
const NATIVE_CCSID: i32 = 1208;
/// Fill the target with blanks.
const FILL_TARGET_BUFFER: i32 = 8;
/// What the source stands for in numbers does not matter to single bytes.
const KNOWN_OPTIONS: i32 = 0x3_33FF;
const SOURCE_LENGTH_ERROR: Reason = Reason(2143);
const SOURCE_BUFFER_ERROR: Reason = Reason(2145);
const TARGET_LENGTH_ERROR: Reason = Reason(2144);
const TARGET_BUFFER_ERROR: Reason = Reason(2146);

/// A character set of the queue manager's; 0 stands for that of this machine.
fn known(ccsid: i32) -> i32 {
    if ccsid == 0 { NATIVE_CCSID } else { ccsid }
}

/// Converts characters, for programs that convert data themselves.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn xcnvc(
    hconn: i32,
    options: i32,
    source: i32,
    source_length: i32,
    from: *mut c_void,
    target: i32,
    target_length: i32,
    to: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            // Nothing of a connection is needed; a handle that is one of none is refused.
            if hconn > 0 {
                state::find(hconn)?;
            }
            if options & !KNOWN_OPTIONS != 0 {
                return Err(Reason::OPTIONS_ERROR);
            }
            let from =
                memory::input(from, source_length, SOURCE_LENGTH_ERROR, SOURCE_BUFFER_ERROR)?;
            let into = memory::output(to, target_length, TARGET_LENGTH_ERROR, TARGET_BUFFER_ERROR)?;
            if data_length.is_null() {
                return Err(Reason::DATA_LENGTH_ERROR);
            }
            let (source, target) = (known(source), known(target));
            let text = convert::text(from, source, target)?;
            if text.len() > into.len() {
                return Ok(Outcome::warning(Reason::CONVERTED_MSG_TOO_BIG));
            }
            into.iter_mut().zip(&text).for_each(|(to, from)| *to = *from);
            if options & FILL_TARGET_BUFFER != 0 {
                let blank = convert::blank(target);
                into.iter_mut().skip(text.len()).for_each(|byte| *byte = blank);
            }
            memory::set(data_length, i32::try_from(text.len()).unwrap_or(i32::MAX));
            Ok(Outcome::OK)
        });
    }
}
