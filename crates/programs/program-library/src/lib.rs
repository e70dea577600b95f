//! `libholdfast.so`: calls of programs that are executables of their own, in any language that can
//! call a C library ([`holdfast.h`](../include/holdfast.h)).
//!
//! It only takes what C lends as slices; the calls are `region::executable`'s. It exports the call
//! interface of C programs, `CTDLI` and its like, too.
//!
//! Invariants:
//! 1. Of what a program lends as many bytes are touched as it says.
//! 2. No panic leaves it.

#![allow(unsafe_code)] // pointers of C are the interface's own

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::Coded as _;
use definitions::Function;
use region::{DirectAnswer, DirectCall, executable};

const KEY_BYTES: usize = 256;
/// The longest area; a call interface takes none that is longer.
const AREA_BYTES_MAX: i32 = 1 << 20;
/// The most search arguments, or further parameters, of a call.
const LENT_MAX: i32 = 15;

/// Bytes that are lent to a call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HfBytes {
    bytes: *mut c_void,
    length: i32,
}

/// What a call came to.
#[repr(C)]
pub struct HfAnswer {
    status: [u8; 4],
    segment: [u8; 12],
    level: i32,
    area_length: i32,
    key_length: i32,
    key: [u8; KEY_BYTES],
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Why a call is refused.
struct Refused(String);

fn refused(what: impl Into<String>) -> Refused {
    Refused(what.into())
}

/// Answers what C is told, and keeps what went wrong.
fn answered(work: impl FnOnce() -> Result<c_int, Refused>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(work));
    let (answer, sentence) = match done {
        Ok(Ok(answer)) => (answer, String::new()),
        Ok(Err(Refused(sentence))) => (-1, sentence),
        Err(_) => (-1, "the library itself has failed".to_owned()),
    };
    let sentence = CString::new(sentence.replace('\0', " ")).unwrap_or_default();
    ERROR.with(|error| error.replace(sentence));
    answer
}

/// A text that C lends.
fn text<'a>(from: *const c_char, what: &str) -> Result<&'a CStr, Refused> {
    if from.is_null() {
        return Err(refused(format!("{what} is missing")));
    }
    // SAFETY: the caller lends a text that ends with a zero, for the time of the call.
    Ok(unsafe { CStr::from_ptr(from) })
}

/// Items that C lends, such as `count` of [`HfBytes`].
fn list<'a, T>(from: *const T, count: i32, most: i32) -> Result<&'a [T], Refused> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() || !(0..=most).contains(&count) {
        return Err(refused(format!("{count} items at {from:p} are not what a call can have")));
    }
    // SAFETY: the caller lends so many of them, for the time of the call, and nobody else writes.
    Ok(unsafe { std::slice::from_raw_parts(from, count as usize) })
}

fn bytes<'a>(of: HfBytes) -> Result<&'a [u8], Refused> {
    list(of.bytes.cast::<u8>(), of.length, AREA_BYTES_MAX)
}

fn lent(list: &[HfBytes]) -> Result<Vec<&[u8]>, Refused> {
    list.iter().map(|one| bytes(*one)).collect()
}

/// Puts bytes where C has room for so many.
fn put(to: *mut c_void, room: i32, from: &[u8]) {
    let count = from.len().min(usize::try_from(room).unwrap_or(0));
    if !to.is_null() && count > 0 {
        // SAFETY: the caller lends so much room, for the time of the call; `from` is our own.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast::<u8>(), count) };
    }
}

/// A function's four characters, with blanks behind it.
fn function_of(name: &CStr) -> Result<Function, Refused> {
    let name = name.to_bytes();
    if name.is_empty() || name.len() > 4 {
        let shown = String::from_utf8_lossy(name);
        return Err(refused(format!("a function has up to 4 characters, not \"{shown}\"")));
    }
    let mut padded = *b"    ";
    padded[..name.len()].copy_from_slice(name);
    Ok(Function::of(padded))
}

fn number(pcb: c_int) -> Result<usize, Refused> {
    let known = executable::pcbs().len();
    if known == 0 {
        return Err(refused("hf_begin comes first, and nothing after hf_end"));
    }
    let number = usize::try_from(pcb).ok().filter(|number| *number < known);
    number.ok_or_else(|| refused(format!("there is no PCB {pcb}; there are {known}")))
}

/// `hf_begin`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_begin() -> c_int {
    answered(|| {
        executable::begin()
            .map(|()| 0)
            .map_err(|error| refused(format!("{error} ({}); {}", error.code(), error.remedy())))
    })
}

/// `hf_pcbs`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_pcbs() -> c_int {
    answered(|| Ok(c_int::try_from(executable::pcbs().len()).unwrap_or(c_int::MAX)))
}

/// `hf_pcb`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_pcb(name: *const c_char) -> c_int {
    answered(|| {
        let wanted = text(name, "the name of the PCB")?.to_bytes();
        let all = executable::pcbs();
        let is = |name: &[u8; 8]| name.trim_ascii_end() == wanted.trim_ascii_end();
        let by_name = all.iter().position(|(name, _)| is(name));
        let found = by_name.or_else(|| all.iter().position(|(_, title)| is(title)));
        let found = found.and_then(|found| c_int::try_from(found).ok());
        found.ok_or_else(|| refused(format!("there is no PCB {}", String::from_utf8_lossy(wanted))))
    })
}

/// `hf_call`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // the interface of C
extern "C" fn hf_call(
    function: *const c_char,
    pcb: c_int,
    area: *mut c_void,
    given: i32,
    room: i32,
    ssas: *const HfBytes,
    ssa_count: i32,
    more: *const HfBytes,
    more_count: i32,
    answer: *mut HfAnswer,
) -> c_int {
    answered(|| {
        let function = function_of(text(function, "the function")?)?;
        let pcb = number(pcb)?;
        if given > room || room > AREA_BYTES_MAX {
            return Err(refused(format!("{given} bytes of an area of {room}: that cannot be")));
        }
        let ssas = lent(list(ssas, ssa_count, LENT_MAX)?)?;
        let more_places = list(more, more_count, LENT_MAX)?;
        let more = lent(more_places)?;
        let shown = bytes(HfBytes { bytes: area, length: given })?;
        let call = DirectCall {
            function,
            pcb,
            ssas: &ssas,
            more: &more,
            area: (!area.is_null()).then_some(shown),
            room: usize::try_from(room).unwrap_or(0),
        };
        let sentence = executable::call(&call).ok_or_else(|| refused("the program has ended"))?;
        put(area, room, &sentence.area);
        for (place, set) in more_places.iter().zip(&sentence.more) {
            put(place.bytes, place.length, set);
        }
        if !answer.is_null() {
            // SAFETY: the caller lends room for one, for the time of the call.
            unsafe { answer.write(answer_of(&sentence)) };
        }
        Ok(0)
    })
}

fn answer_of(sentence: &DirectAnswer) -> HfAnswer {
    let length = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
    let mut answer = HfAnswer {
        status: [0; 4],
        segment: [0; 12],
        level: i32::from(sentence.level),
        area_length: length(sentence.area.len()),
        key_length: length(sentence.key.len().min(KEY_BYTES)),
        key: [0; KEY_BYTES],
    };
    answer.status[..2].copy_from_slice(&sentence.status);
    answer.segment[..8].copy_from_slice(&sentence.segment);
    let key = &sentence.key[..sentence.key.len().min(KEY_BYTES)];
    answer.key[..key.len()].copy_from_slice(key);
    answer
}

/// `hf_mask`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_mask(pcb: c_int) -> *mut c_void {
    let mut found = None;
    answered(|| {
        found = executable::mask(number(pcb)?);
        Ok(0)
    });
    found.map_or(std::ptr::null_mut(), |address| address as *mut c_void)
}

/// `hf_dli`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_dli(count: c_int, parameters: *const *mut c_void) -> c_int {
    answered(|| {
        number(0)?;
        let addresses = list(parameters.cast::<usize>(), count, 20)?;
        if addresses.is_empty() {
            return Err(refused("a call has a function"));
        }
        executable::call_by_list(addresses);
        Ok(0)
    })
}

/// `hf_end`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_end(commit: c_int) -> c_int {
    answered(|| {
        let ended = executable::end(commit != 0);
        ended.map(|()| 0).map_err(|abend| refused(format!("{} {}", abend.code, abend.text)))
    })
}

/// `hf_error`
// SAFETY: no other symbol of this name exists.
#[unsafe(no_mangle)]
extern "C" fn hf_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}
