//! `libholdfast_fh`: the file handler for programs that were compiled outside Holdfast.
//!
//! ```sh
//! cobc -x -std=ibm -fcallfh=HOLDFASTFH prog.cbl -L DIR -lholdfast_fh
//! ```
//!
//! Files of the machine go through the handler: sequential, line sequential, printers, relative;
//! indexed ones are the run time's own. Names are mapped by the environment as the run time maps
//! them.
//!
//! Invariants:
//! 1. What a program leaves open is closed when its process ends. What cannot be written then is
//!    said on standard error, and the process ends with 1.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io::Write as _;

/// The handler, by the name that `-fcallfh` gives.
///
/// # Safety
/// Called by what `cobc` generates: two bytes of operation, and a control block.
// SAFETY: no other library has a symbol of this name.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn HOLDFASTFH(opcode: *mut u8, fcd: *mut u8) -> c_int {
    // SAFETY: as this function's callers promise.
    unsafe { file_handler::abi::serve(opcode, fcd) };
    0
}

/// Runs when the process ends.
// SAFETY: the section holds addresses of functions that take nothing and give nothing.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    let unfinished = file_handler::abi::close_all();
    if unfinished.is_empty() {
        return;
    }
    for file in &unfinished {
        let (name, status) = (&file.name, file.status);
        let _ = writeln!(
            std::io::stderr(),
            "holdfast: {name} was not closed, and not all of it could be written (status {status})"
        );
    }
    file_handler::abi::leave(1);
}
