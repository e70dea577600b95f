//! MQOPEN, MQCLOSE, MQINQ, MQSET.

use std::ffi::c_void;

use mqi::structures::Od;
use mqi::wire::{Object, Request};
use queue_manager::options::ObjectRecord;
use queue_manager::{Completion, ObjectName, Outcome, Reason};

use crate::finish::finish;
use crate::memory::{self, Lent};
use crate::state;

/// The handle that stands for no object any more.
const UNUSABLE: i32 = -1;
/// Selectors of a call, at most.
const SELECTORS_MAX: i32 = 256;
/// Selectors from here on are for numbers, from [`FIRST_CHARACTERS`] on for characters.
const FIRST_NUMBER: i32 = 1;
const FIRST_CHARACTERS: i32 = 2001;

/// A descriptor in the caller's memory, and what its pointers lead to.
pub(crate) struct LentObject {
    lent: Lent<Od>,
    pub(crate) object: Object,
}

impl LentObject {
    /// Reads a descriptor.
    ///
    /// # Safety
    /// It is null or a descriptor whose pointers lead to what it says.
    pub(crate) unsafe fn take(od: *mut c_void) -> Result<LentObject, Reason> {
        // SAFETY: as promised to this function.
        let lent = unsafe { Lent::<Od>::take(od, Reason::OD_ERROR) }?;
        let (now, base) = (&lent.now, lent.base());
        let at = memory::place(now.object_rec_ptr, now.object_rec_offset, base);
        // SAFETY: as promised to this function.
        let records = unsafe {
            let bad_count = Reason::RECS_PRESENT_ERROR;
            memory::records(now.recs_present, 96, at, bad_count, Reason::OBJECT_RECORDS_ERROR)?
        };
        let name = |bytes: &[u8]| ObjectName::from_bytes(bytes);
        let records = records.chunks_exact(96).map(|record| ObjectRecord {
            object_name: name(record.get(..48).unwrap_or_default()),
            object_q_mgr_name: name(record.get(48..).unwrap_or_default()),
        });
        // SAFETY: as promised to this function.
        let (object_string, selection_string) = unsafe {
            let selection = Reason::SELECTION_STRING_ERROR;
            (
                memory::string(&now.object_string, base, Reason::OBJECT_STRING_ERROR)?,
                memory::string(&now.selection_string, base, selection)?,
            )
        };
        let object = Object {
            od: now.clone(),
            object_string,
            selection_string,
            records: records.collect(),
            wants_responses: now.response_rec_ptr != 0 || now.response_rec_offset != 0,
        };
        Ok(LentObject { lent, object })
    }

    /// Writes back what the call has made of it.
    ///
    /// # Safety
    /// As for [`LentObject::take`].
    pub(crate) unsafe fn give(&mut self, topic: &str, answers: &[Outcome]) {
        let base = self.lent.base();
        self.lent.now = self.object.od.clone();
        let now = &mut self.lent.now;
        let at = memory::place(now.response_rec_ptr, now.response_rec_offset, base);
        // SAFETY: as promised to this function.
        unsafe {
            memory::set_responses(at, now.recs_present, answers);
            if !topic.is_empty() {
                memory::set_string(&mut now.res_object_string, base, topic);
            }
        }
        self.lent.give();
    }
}

/// Opens an object.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn open(
    hconn: i32,
    od: *mut c_void,
    options: i32,
    hobj: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut lent = LentObject::take(od)?;
            if hobj.is_null() {
                return Err(Reason::HOBJ_ERROR);
            }
            let (outcome, handle, topic, answers) =
                connection.client()?.open(&mut lent.object, options);
            lent.give(&topic, &answers);
            memory::set(hobj, handle);
            Ok(outcome)
        });
    }
}

/// Closes an object.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn close(
    hconn: i32,
    hobj: *mut i32,
    options: i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let handle = memory::get(hobj).ok_or(Reason::HOBJ_ERROR)?;
            let request = Request::Close { handle, options };
            let outcome = connection.client()?.plain(&request);
            if outcome.completion != Completion::Failed {
                connection.consumers.lock().forget(handle);
                memory::set(hobj, UNUSABLE);
            }
            Ok(outcome)
        });
    }
}

/// The selectors of a call.
///
/// # Safety
/// As for [`memory::numbers`].
unsafe fn selectors(count: i32, at: *const i32) -> Result<Vec<i32>, Reason> {
    if count > SELECTORS_MAX {
        return Err(Reason::SELECTOR_LIMIT_EXCEEDED);
    }
    let bad_count = Reason::SELECTOR_COUNT_ERROR;
    // SAFETY: as promised to this function.
    unsafe { memory::numbers(at, count, bad_count, Reason::SELECTOR_ERROR) }
}

/// How many selectors of a list are for numbers.
fn wanted_numbers(selectors: &[i32]) -> usize {
    let is_number = |one: &&i32| (FIRST_NUMBER..FIRST_CHARACTERS).contains(*one);
    selectors.iter().filter(is_number).count()
}

/// Inquires attributes.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn inq(
    hconn: i32,
    hobj: i32,
    count: i32,
    selector_list: *mut i32,
    number_count: i32,
    number_list: *mut i32,
    length: i32,
    characters: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let asked = selectors(count, selector_list)?;
            let room = usize::try_from(number_count).map_err(|_| Reason::INT_ATTR_COUNT_ERROR)?;
            if number_list.is_null() && room > 0 && wanted_numbers(&asked) > 0 {
                return Err(Reason::INT_ATTRS_ARRAY_ERROR);
            }
            let is_text = wanted_numbers(&asked) < asked.len();
            let bad_length = Reason::CHAR_ATTR_LENGTH_ERROR;
            let into = if is_text {
                memory::output(characters, length, bad_length, Reason::CHAR_ATTRS_ERROR)?
            } else {
                usize::try_from(length).map_err(|_| bad_length)?;
                &mut []
            };
            let (mut outcome, numbers, texts) = connection.client()?.inquire(hobj, &asked);
            for (index, number) in numbers.iter().enumerate().take(room) {
                memory::set(number_list.wrapping_add(index), *number);
            }
            into.iter_mut().zip(&texts).for_each(|(to, from)| *to = *from);
            if outcome == Outcome::OK && numbers.len() > room {
                outcome = Outcome::warning(Reason::INT_ATTR_COUNT_TOO_SMALL);
            } else if outcome == Outcome::OK && texts.len() > into.len() {
                outcome = Outcome::warning(Reason::CHAR_ATTRS_TOO_SHORT);
            }
            Ok(outcome)
        });
    }
}

/// Sets attributes.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn set(
    hconn: i32,
    hobj: i32,
    count: i32,
    selector_list: *mut i32,
    number_count: i32,
    number_list: *mut i32,
    length: i32,
    characters: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let selectors = selectors(count, selector_list)?;
            let bad_count = Reason::INT_ATTR_COUNT_ERROR;
            if number_count < 0 {
                return Err(bad_count);
            }
            let wanted = i32::try_from(wanted_numbers(&selectors)).map_err(|_| bad_count)?;
            if number_count < wanted {
                return Err(Reason::INT_ATTR_COUNT_TOO_SMALL);
            }
            let bad_array = Reason::INT_ATTRS_ARRAY_ERROR;
            let numbers = memory::numbers(number_list, wanted, bad_count, bad_array)?;
            let bad_length = Reason::CHAR_ATTR_LENGTH_ERROR;
            let bad_characters = Reason::CHAR_ATTRS_ERROR;
            let characters = memory::input(characters, length, bad_length, bad_characters)?;
            let characters = characters.to_vec();
            let request = Request::Set { handle: hobj, selectors, numbers, characters };
            Ok(connection.client()?.plain(&request))
        });
    }
}
