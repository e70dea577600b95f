//! `libholdfast_fh`: the file handler for programs that were compiled outside Holdfast.
//!
//! ```sh
//! cobc -x -std=ibm -fcallfh=HOLDFASTFH prog.cbl -L DIR -lholdfast_fh
//! ```
//!
//! Files of the machine go through the handler: sequential, line sequential, printers, relative,
//! indexed. Names are mapped by the environment as the run time maps
//! them. Data sets are those of a started system:
//!
//! ```sh
//! DD_ACCOUNT='//#VSAM.#CICS.BANK/ACCOUNT' ./prog          # of the system BANK
//! HOLDFAST_SYSTEM=/srv/bank DD_ACCOUNT=//BANK.ACCOUNT ./prog
//! ```
//!
//! Programs in C have the functions of `include/holdfast_vsam.h`.
//!
//! Invariants:
//! 1. What a program leaves open is closed when its process ends. What cannot be written then is
//!    said on standard error, and the process ends with 1.

#![allow(unsafe_code)] // pointers of C are the interface's own

use std::ffi::c_int;
use std::io::Write as _;
use std::sync::Once;

use file_handler::Handler;
use file_handler::name::Environment;
use owner::{OwnerWays, Owners, Places};

static READY: Once = Once::new();

/// Has data sets reached at their owners.
fn ready() {
    READY.call_once(|| {
        let complain = |text: &str| {
            let _ = writeln!(std::io::stderr(), "holdfast: {text}");
        };
        let data_sets = Owners::new(None, Places::of_process(), complain);
        let handler = Handler::new(Box::new(Environment), Some(Box::new(data_sets)));
        file_handler::abi::install(handler);
        let ways = OwnerWays::new(None, Places::of_process(), complain);
        file_handler::abi::rpl::install(Box::new(ways));
    });
}

file_handler::export_vsam!(ready);

/// The handler, by the name that `-fcallfh` gives.
///
/// # Safety
/// Called by what `cobc` generates: two bytes of operation, and a control block.
// SAFETY: no other library has a symbol of this name.
#[unsafe(no_mangle)]
#[allow(non_snake_case)] // a name of the interface
pub unsafe extern "C" fn HOLDFASTFH(opcode: *mut u8, fcd: *mut u8) -> c_int {
    ready();
    // SAFETY: as this function's callers promise.
    unsafe { file_handler::abi::serve(opcode, fcd) };
    0
}

macro_rules! export_units {
    ($($name:ident => $code:path, $does:literal;)*) => {$(
        #[doc = $does]
        ///
        /// Answers 0, or the file status that says why not. Programs in COBOL call it by this name.
        // SAFETY: no other library has a symbol of this name.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)] // a name of the interface
        pub extern "C" fn $name() -> c_int {
            ready();
            file_handler::abi::unit($code)
        }
    )*};
}

export_units! {
    HFBEGIN => owner::unit::BEGIN, "Begins a unit of work over all data sets of the program.";
    HFCOMMIT => owner::unit::COMMIT, "Commits it; it is durable then.";
    HFBACKOUT => owner::unit::BACKOUT, "Backs it out.";
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
