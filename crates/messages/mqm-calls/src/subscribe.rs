//! MQSUB, MQSUBRQ.

use std::ffi::c_void;

use mqi::structures::{Sd, Sro};
use queue_manager::{Completion, Reason};

use crate::finish::finish;
use crate::memory::{self, Lent, optional};
use crate::state;

/// A selection string is longer than any may be, or is not there.
const SELECTION: Reason = Reason::SELECTION_STRING_ERROR;

/// Subscribes.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn sub(
    hconn: i32,
    sd: *mut c_void,
    hobj: *mut i32,
    hsub: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut sd = Lent::<Sd>::take(sd, Reason::SD_ERROR)?;
            let destination = memory::get(hobj).ok_or(Reason::HOBJ_ERROR)?;
            if hsub.is_null() {
                return Err(Reason::HOBJ_ERROR);
            }
            let base = sd.base();
            let texts = [
                memory::string(&sd.now.object_string, base, Reason::OBJECT_STRING_ERROR)?,
                memory::string(&sd.now.sub_name, base, Reason::SUB_NAME_ERROR)?,
                memory::string(&sd.now.sub_user_data, base, Reason::SUB_USER_DATA_ERROR)?,
                memory::string(&sd.now.selection_string, base, SELECTION)?,
            ];
            let mut now = sd.now.clone();
            let (outcome, topic, queue, subscription) =
                connection.client()?.subscribe(&mut now, &texts, destination);
            if outcome.completion != Completion::Failed {
                sd.now = now;
                memory::set(hobj, queue);
                memory::set(hsub, subscription);
                memory::set_string(&mut sd.now.res_object_string, base, &topic);
                sd.give();
            }
            Ok(outcome)
        });
    }
}

/// Asks for retained publications.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn subrq(
    hconn: i32,
    hsub: i32,
    action: i32,
    options: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let sro = optional::<Sro>(options, Reason::SRO_ERROR)?;
            let (outcome, count) = connection.client()?.subscription_request(hsub, action);
            if let Some(mut sro) = sro.filter(|_| outcome.completion != Completion::Failed) {
                sro.now.num_pubs = count;
                sro.give();
            }
            Ok(outcome)
        });
    }
}
