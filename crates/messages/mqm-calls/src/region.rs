//! Programs in a region of a system: their calls go the way of the region's own calls, and are
//! part of its unit of work.
//!
//! The executable that runs programs exports [`CARRY`]; code that finds it is in a region,
//! whether the calls come from this crate in the executable itself, or from a library that a
//! program has brought along.
//!
//! | what it takes | |
//! |---|---|
//! | request, length | as [`mqi::wire::carried`] has them |
//! | taker, context | is called once with the context, the answer, its length |
//! | returns | 1: done; 0: no program runs here, or none any more |
//!
//! Programs in COBOL give every argument by reference, those in C most of them by value, and the
//! calls have the same names for both. The executable has one set for both: which it is it knows
//! from the program's language, and from the first argument, the handle of a connection, which is
//! a number of 31 bits and never an address.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use mqi::stream::Carrier;

/// The name of the function that carries requests.
pub const CARRY: &std::ffi::CStr = c"HOLDFASTMQ";

/// Takes an answer: context, bytes, length.
pub type Take = unsafe extern "C" fn(*mut c_void, *const u8, usize);
/// The function that carries requests.
pub type Carry = unsafe extern "C" fn(*const u8, usize, Take, *mut c_void) -> c_int;

/// No handle of a connection is so large, and no address so small.
const HANDLE_MAX: usize = 1 << 31;

static BY_REFERENCE: AtomicBool = AtomicBool::new(false);

/// Says in which language the program is that this process runs.
pub fn program_is_cobol(is_cobol: bool) {
    BY_REFERENCE.store(is_cobol, Ordering::Relaxed);
}

/// Whether a call's arguments are given by reference, by its first one.
#[must_use]
pub fn is_by_reference(first: *mut c_void) -> bool {
    BY_REFERENCE.load(Ordering::Relaxed) && first.addr() >= HANDLE_MAX
}

/// What carries requests, if this process runs a program of a region.
struct Through(Carry);

impl Carrier for Through {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        answer.clear();
        let context: *mut Vec<u8> = answer;
        // SAFETY: request and context live through the call, and the taker knows the context.
        let done = unsafe { (self.0)(request.as_ptr(), request.len(), take, context.cast()) };
        done == 1 && !answer.is_empty()
    }
}

unsafe extern "C" fn take(context: *mut c_void, answer: *const u8, length: usize) {
    // SAFETY: the context is the answer's vector that `carry` has handed over, and no other code
    // has.
    let into = unsafe { &mut *context.cast::<Vec<u8>>() };
    // SAFETY: the carrier gives as many bytes as it says, for the time of this call.
    into.extend_from_slice(unsafe { std::slice::from_raw_parts(answer, length) });
}

/// What carries requests to the region, if this process is in one.
pub(crate) fn carrier() -> Option<Box<dyn Carrier>> {
    static FOUND: OnceLock<Option<Carry>> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        // SAFETY: a look among the symbols of the process.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, CARRY.as_ptr()) };
        // SAFETY: no other code exports a function of this name, and it has this type.
        (!address.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Carry>(address) })
    });
    Some(Box::new(Through(found?)))
}
