//! The caller's memory: what is read of it and written to it during a call.
//!
//! Invariants:
//! 1. Only the bytes that the interface says belong to an argument are touched: a structure's by
//!    the version that it states, a buffer's by the length beside it.
//! 2. A null pointer and a length that cannot be get a reason, and nothing is touched.

use std::ffi::c_void;

use mqi::structures::Cd;
use mqi::table::{CharV, Structure};
use queue_manager::Reason;

/// The longest string of variable length.
const STRING_BYTES_MAX: usize = 65_536;
/// The length that says that a zero byte ends a string.
pub(crate) const NULL_TERMINATED: i32 = -1;
/// Records of a distribution list, at most.
const RECORDS_MAX: usize = 65_535;

/// A structure in the caller's memory, as it was and as it is to be.
pub(crate) struct Lent<T: Structure> {
    at: *mut u8,
    len: usize,
    before: T,
    /// What it is to be after the call.
    pub(crate) now: T,
}

impl<T: Structure> Lent<T> {
    /// Reads a structure; `reason` says that it is none.
    ///
    /// # Safety
    /// The pointer is null, or leads to as many bytes as the version that stands there has, which
    /// stay the caller's own until this is dropped.
    pub(crate) unsafe fn take(at: *mut c_void, reason: Reason) -> Result<Lent<T>, Reason> {
        let at = at.cast::<u8>();
        if at.is_null() {
            return Err(reason);
        }
        // SAFETY: the smallest structure has these bytes.
        let head = unsafe { std::slice::from_raw_parts(at, 8) };
        let len = T::stated_len(head).map_err(|_| reason)?;
        // SAFETY: the caller promises as many bytes as the stated version has.
        let bytes = unsafe { std::slice::from_raw_parts(at, len) };
        let before = T::read(bytes).map_err(|_| reason)?;
        Ok(Lent { at, len, now: before.clone(), before })
    }

    /// Writes what differs from what was read.
    pub(crate) fn give(&mut self) {
        if self.now != self.before {
            // SAFETY: see `take`; nothing else of this call refers to these bytes.
            let bytes = unsafe { std::slice::from_raw_parts_mut(self.at, self.len) };
            self.now.give(&self.before, bytes);
        }
    }

    /// Where it stands: what offsets count from.
    pub(crate) fn base(&self) -> *mut u8 {
        self.at
    }
}

/// Reads a structure that need not be there.
///
/// # Safety
/// As for [`Lent::take`].
pub(crate) unsafe fn optional<T: Structure>(
    at: *mut c_void,
    reason: Reason,
) -> Result<Option<Lent<T>>, Reason> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised to this function.
    unsafe { Lent::take(at, reason) }.map(Some)
}

/// Reads the description of a channel: it has no letters in front, and its version behind its name.
///
/// # Safety
/// The address leads to as many bytes as the version that stands there has.
pub(crate) unsafe fn channel(at: *mut u8, reason: Reason) -> Result<Cd, Reason> {
    // SAFETY: the smallest description has these bytes.
    let version = unsafe { at.add(20).cast::<i32>().read_unaligned() };
    let len = Cd::len_of(version).ok_or(reason)?;
    // SAFETY: the caller promises as many bytes as the stated version has.
    let bytes = unsafe { std::slice::from_raw_parts(at, len) };
    let mut channel = Cd::initial();
    channel.take(bytes).map_err(|_| reason)?;
    Ok(channel)
}

/// The bytes of an input.
///
/// # Safety
/// The pointer is null, or leads to as many bytes, which no thread changes during the call.
pub(crate) unsafe fn input<'a>(
    at: *const c_void,
    len: i32,
    bad_len: Reason,
    bad_pointer: Reason,
) -> Result<&'a [u8], Reason> {
    let len = usize::try_from(len).map_err(|_| bad_len)?;
    match (len, at.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(bad_pointer),
        // SAFETY: as promised to this function.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(at.cast(), len) }),
    }
}

/// The bytes of an output.
///
/// # Safety
/// The pointer is null, or leads to as many bytes, which are the caller's own during the call.
pub(crate) unsafe fn output<'a>(
    at: *mut c_void,
    len: i32,
    bad_len: Reason,
    bad_pointer: Reason,
) -> Result<&'a mut [u8], Reason> {
    let len = usize::try_from(len).map_err(|_| bad_len)?;
    match (len, at.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(bad_pointer),
        // SAFETY: as promised to this function.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts_mut(at.cast(), len) }),
    }
}

/// The numbers of an input.
///
/// # Safety
/// As for [`input`], for so many numbers; they may stand at any address.
pub(crate) unsafe fn numbers(
    at: *const i32,
    count: i32,
    bad_count: Reason,
    bad_pointer: Reason,
) -> Result<Vec<i32>, Reason> {
    let count = usize::try_from(count).map_err(|_| bad_count)?;
    if count > 0 && at.is_null() {
        return Err(bad_pointer);
    }
    // SAFETY: as promised to this function.
    Ok((0..count).map(|index| unsafe { at.add(index).read_unaligned() }).collect())
}

/// Writes a number, if there is a place for it.
///
/// # Safety
/// The pointer is null, or leads to a number of the caller's.
pub(crate) unsafe fn set<N>(at: *mut N, value: N) {
    if !at.is_null() {
        // SAFETY: as promised to this function.
        unsafe { at.write_unaligned(value) };
    }
}

/// Reads a number, if there is one.
///
/// # Safety
/// As for [`set`].
pub(crate) unsafe fn get<N: Copy>(at: *const N) -> Option<N> {
    // SAFETY: as promised to this function.
    (!at.is_null()).then(|| unsafe { at.read_unaligned() })
}

/// A field of characters whose length is known.
///
/// # Safety
/// The pointer is null, or leads to as many characters, or to fewer with a zero byte behind them.
pub(crate) unsafe fn field<const N: usize>(at: *const u8) -> Option<[u8; N]> {
    if at.is_null() {
        return None;
    }
    let mut field = [b' '; N];
    for (index, byte) in field.iter_mut().enumerate() {
        // SAFETY: none of the bytes before this one was the zero byte that ends the characters.
        let next = unsafe { at.add(index).read() };
        if next == 0 {
            break;
        }
        *byte = next;
    }
    Some(field)
}

/// Where something stands that a structure gives by its address, or by its offset from itself.
pub(crate) fn place(pointer: u64, offset: i32, base: *mut u8) -> Option<*mut u8> {
    if pointer != 0 {
        return Some(pointer as usize as *mut u8);
    }
    let offset = isize::try_from(offset).ok()?;
    (offset != 0).then(|| base.wrapping_offset(offset))
}

/// A string of variable length, as text.
///
/// # Safety
/// Address or offset lead to as many bytes as its length says, or to bytes that a zero byte ends.
pub(crate) unsafe fn string(of: &CharV, base: *mut u8, reason: Reason) -> Result<String, Reason> {
    // SAFETY: as promised to this function.
    unsafe { bytes_of(of, base, reason) }.map(|bytes| text(&bytes))
}

/// The bytes of a string of variable length.
///
/// # Safety
/// As for [`string`].
unsafe fn bytes_of(of: &CharV, base: *mut u8, reason: Reason) -> Result<Vec<u8>, Reason> {
    if of.length == 0 {
        return Ok(Vec::new());
    }
    let Some(at) = place(of.ptr, of.offset, base) else {
        return if of.length == NULL_TERMINATED { Ok(Vec::new()) } else { Err(reason) };
    };
    if of.length == NULL_TERMINATED {
        // SAFETY: as promised to this function.
        return unsafe { terminated(at, STRING_BYTES_MAX) }.ok_or(reason);
    }
    let len = usize::try_from(of.length).map_err(|_| reason)?;
    if len > STRING_BYTES_MAX {
        return Err(reason);
    }
    // SAFETY: as promised to this function.
    Ok(unsafe { std::slice::from_raw_parts(at, len) }.to_vec())
}

/// The bytes of a string that a zero byte ends; none if it has more than `most`.
///
/// # Safety
/// The pointer leads to bytes that a zero byte ends.
pub(crate) unsafe fn terminated(at: *const u8, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() <= most {
        // SAFETY: none of the bytes before this one was the zero byte that ends the string.
        match unsafe { at.add(bytes.len()).read() } {
            0 => return Some(bytes),
            byte => bytes.push(byte),
        }
    }
    None
}

/// Writes a string of variable length to where there is room for it. Its length is that of the
/// whole string; says whether all of it is there.
///
/// # Safety
/// Address or offset lead to as many bytes as its size says.
pub(crate) unsafe fn set_string(of: &mut CharV, base: *mut u8, text: &str) -> bool {
    let room = usize::try_from(of.buf_size).unwrap_or_default();
    of.length = i32::try_from(text.len()).unwrap_or(i32::MAX);
    of.ccsid = 1208;
    let Some(at) = place(of.ptr, of.offset, base).filter(|_| room > 0) else {
        return text.is_empty() || (of.ptr == 0 && of.offset == 0);
    };
    let kept = text.len().min(room);
    // SAFETY: as promised to this function.
    let bytes = unsafe { std::slice::from_raw_parts_mut(at, kept) };
    bytes.copy_from_slice(text.as_bytes().get(..kept).unwrap_or_default());
    kept == text.len()
}

/// Records of a distribution list, each of so many bytes.
///
/// # Safety
/// Address or offset lead to as many records.
pub(crate) unsafe fn records(
    count: i32,
    each: usize,
    at: Option<*mut u8>,
    bad_count: Reason,
    bad_place: Reason,
) -> Result<Vec<u8>, Reason> {
    let count = usize::try_from(count).ok().filter(|count| *count <= RECORDS_MAX);
    let count = count.ok_or(bad_count)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let at = at.ok_or(bad_place)?;
    // SAFETY: as promised to this function.
    Ok(unsafe { std::slice::from_raw_parts(at, count * each) }.to_vec())
}

/// Writes bytes; nothing if there is no place for them.
///
/// # Safety
/// The pointer leads to room for as many bytes.
pub(crate) unsafe fn set_bytes(at: Option<*mut u8>, bytes: &[u8]) {
    if let Some(at) = at {
        // SAFETY: as promised to this function; the bytes are no other code's.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
    }
}

/// Writes the answers for the destinations of a distribution list.
///
/// # Safety
/// The pointer leads to room for as many answers as there are destinations.
pub(crate) unsafe fn set_responses(
    at: Option<*mut u8>,
    count: i32,
    answers: &[queue_manager::Outcome],
) {
    let (Some(at), Ok(count)) = (at, usize::try_from(count)) else { return };
    for (index, answer) in answers.iter().enumerate().take(count) {
        let place = at.cast::<i32>().wrapping_add(2 * index);
        // SAFETY: each answer is two numbers, and there is room for `count` of them.
        unsafe {
            set(place, answer.completion as i32);
            set(place.wrapping_add(1), answer.reason.0);
        }
    }
}

/// Bytes as text: UTF-8, or else one character a byte.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
