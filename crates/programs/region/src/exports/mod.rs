//! The functions that programs call, by the names that IMS gives them.
//!
//! | name | for |
//! |---|---|
//! | `CBLTDLI` | COBOL |
//! | `AIBTDLI` | any language, with an AIB in place of the PCB |
//! | `CEETDLI` | any language, with either |
//! | `PLITDLI` | PL/I: a count in front, pointers to PCBs |
//! | `ASMTDLI` | assembler |
//! | `CTDLI` | C |
//! | `HFEXDLI` | what EXEC DLI commands are translated into |
//! | `HOLDFASTFB` | what they call for the second item of FILE STATUS |
//! | `HOLDFASTFH` | what COBOL programs call for their files (`-fcallfh`) |
//! | `MQCONN` and others | the message queue interface, for COBOL and C: [`message_calls`] |
//! | `HOLDFASTMQ` | what that interface calls, here or in a library: [`mqm_calls::region`] |
//! | `holdfast_vsam_open` and the others of `holdfast_vsam.h` | programs in C, for data sets |
//! | `ILBOABN0`, `CEE3ABD` | a program that ends itself with a user code |
//! | `cob_sys_copy_file` and others | COBOL: [`file_handler::abi::routines`] |
//! | `vfork` | what the C library's does, but as `fork` |
//!
//! The functions are exported by the executable itself (`exports.list`, given to the linker as a
//! dynamic list). GnuCOBOL looks for the target of a CALL among the symbols of the main program
//! first, and so does the loader for a C program's undefined symbols; thus nothing has to be
//! preloaded or installed, and there is one copy of this crate's state. A library of its own would
//! bring a second copy, or a table of pointers between the two.
//!
//! Invariants:
//! 1. No panic leaves a function that programs call.
//!
//! The calls recognise what they are given by what it is ([`crate::parameters`]), so that they
//! differ in name only; but what counts itself has its length in 4 bytes through `PLITDLI`.

#![allow(unsafe_code)] // symbols of a C interface

mod message_calls;

use std::ffi::{c_char, c_int, c_void};

use file_handler::abi::routines;

use crate::caller;

/// A function as the linker knows it.
type Function = *const c_void;

/// The most addresses that an EXEC DLI command passes.
const COMMAND_MAX: usize = 128;

macro_rules! export {
    ($name:ident => $handle:path, $($parameter:ident)*) => {
        #[doc = concat!("The entry `", stringify!($name), "` of the call interface.")]
        ///
        /// Takes the addresses of a call's parameters. A caller that passes fewer leaves the rest
        /// as its registers and stack have them; they are told from parameters by count, by null,
        /// or by what they point at, and never followed unchecked.
        // SAFETY: no other symbol of this name exists in an executable with this crate.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        extern "C" fn $name($($parameter: usize),*) -> c_int {
            $handle(&[$($parameter),*]);
            0
        }
    };
}

macro_rules! export_call {
    ($handle:path => $($name:ident)*) => {
        $(export!($name => $handle, a b c d e f g h i j k l m n o p q r s t);)*
    };
}

export_call!(caller::called => AIBTDLI ASMTDLI CBLTDLI CEETDLI CTDLI);
export_call!(caller::called_by_pli => PLITDLI);

export!(HFEXDLI => commanded,
    a0 b0 c0 d0 e0 f0 g0 h0 i0 j0 k0 l0 m0 n0 o0 p0 a1 b1 c1 d1 e1 f1 g1 h1
    i1 j1 k1 l1 m1 n1 o1 p1 a2 b2 c2 d2 e2 f2 g2 h2 i2 j2 k2 l2 m2 n2 o2 p2
    a3 b3 c3 d3 e3 f3 g3 h3 i3 j3 k3 l3 m3 n3 o3 p3 a4 b4 c4 d4 e4 f4 g4 h4
    i4 j4 k4 l4 m4 n4 o4 p4 a5 b5 c5 d5 e5 f5 g5 h5 i5 j5 k5 l5 m5 n5 o5 p5
    a6 b6 c6 d6 e6 f6 g6 h6 i6 j6 k6 l6 m6 n6 o6 p6 a7 b7 c7 d7 e7 f7 g7 h7
    i7 j7 k7 l7 m7 n7 o7 p7);

fn commanded(raw: &[usize; COMMAND_MAX]) {
    caller::commanded(raw);
}

export!(CEE3ABD => caller::abended, code timing);
export!(ILBOABN0 => caller::abended, code timing);

/// A request of a COBOL program for one of its files: two bytes of operation, a control block.
// SAFETY: no other symbol of this name exists in an executable with this crate.
#[unsafe(no_mangle)]
#[allow(non_snake_case)] // a name of the interface
extern "C" fn HOLDFASTFH(opcode: *mut u8, block: *mut u8) -> c_int {
    // SAFETY: the program's compiler makes the call, with both as the handler wants them.
    unsafe { file_handler::abi::serve(opcode, block) };
    0
}

/// What VSAM has said to the last request for a file: return code, function, feedback, 2 bytes
/// each.
// SAFETY: no other symbol of this name exists in an executable with this crate.
#[unsafe(no_mangle)]
#[allow(non_snake_case)] // a name of the interface
extern "C" fn HOLDFASTFB(item: *mut u8) {
    // SAFETY: programs that are compiled here pass the second item of FILE STATUS, of 6 bytes.
    unsafe { file_handler::abi::tell_feedback(item) };
}

macro_rules! export_routine {
    ($($name:ident($($parameter:ident),*) => $does:expr;)*) => {$(
        #[doc = concat!("The routine `", stringify!($name), "` of the COBOL run time.")]
        // SAFETY: in an executable with this crate it is the only one of this name; programs and
        // the run time find it before the run time's own, which has the same parameters.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($parameter: *mut u8),*) -> c_int {
            $does
        }
    )*};
}

export_routine! {
    cob_sys_copy_file(_from, _to) => routines::copy(routines::NOT_COPIED);
    cob_sys_copyfile(_from, _to, _kind) => routines::copy(routines::NOT_COPIED_BY_NAME);
    cob_sys_delete_file(_name) => routines::delete();
    cob_sys_file_delete(_name, _kind) => routines::delete();
    cob_sys_rename_file(_from, _to) => routines::rename();
    cob_sys_open_file(_name, access, _lock, _device, handle) =>
        // SAFETY: the run time's convention: a byte of access mode, 4 bytes of handle.
        unsafe { routines::open(access, handle, false) };
    cob_sys_create_file(_name, access, _lock, _device, handle) =>
        // SAFETY: as above.
        unsafe { routines::open(access, handle, true) };
}

/// A request of the message queue interface for the region's server.
// SAFETY: no other symbol of this name exists in an executable with this crate.
#[unsafe(no_mangle)]
#[allow(non_snake_case)] // a name of the interface
extern "C" fn HOLDFASTMQ(
    request: *const u8,
    length: usize,
    take: mqm_calls::region::Take,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the interface gives as many bytes as it says.
    let request = unsafe { std::slice::from_raw_parts(request, length) };
    let mut answer = Vec::new();
    if !caller::messages(request, &mut answer) {
        return 0;
    }
    // SAFETY: taker and context are the interface's own and belong together.
    unsafe { take(context, answer.as_ptr(), answer.len()) };
    1
}

/// Data sets are reached by what the guest has installed.
fn ready() {}

file_handler::export_vsam!(ready);

unsafe extern "C" {
    fn fork() -> c_int;
}

/// Makes a copy of the process, with memory of its own: one that shared the program's would not be
/// told from the program by a call, unless each call asked the kernel (0.14 us).
// SAFETY: the standard allows `vfork` to be `fork`; whoever needs the C library's own, such as its
// `posix_spawn`, does not ask for it by this name.
#[unsafe(no_mangle)]
extern "C" fn vfork() -> c_int {
    // SAFETY: it takes nothing, and what a copy may do is its caller's affair as it was before.
    unsafe { fork() }
}

/// The exported names with their addresses.
pub(crate) fn exports() -> Vec<(&'static str, Function)> {
    let own: [(&'static str, Function); 30] = [
        ("AIBTDLI", AIBTDLI as Function),
        ("ASMTDLI", ASMTDLI as Function),
        ("CBLTDLI", CBLTDLI as Function),
        ("CEE3ABD", CEE3ABD as Function),
        ("CEETDLI", CEETDLI as Function),
        ("CTDLI", CTDLI as Function),
        ("HFEXDLI", HFEXDLI as Function),
        ("HOLDFASTFB", HOLDFASTFB as Function),
        ("HOLDFASTFH", HOLDFASTFH as Function),
        ("HOLDFASTMQ", HOLDFASTMQ as Function),
        ("ILBOABN0", ILBOABN0 as Function),
        ("PLITDLI", PLITDLI as Function),
        ("cob_sys_copy_file", cob_sys_copy_file as Function),
        ("cob_sys_copyfile", cob_sys_copyfile as Function),
        ("cob_sys_create_file", cob_sys_create_file as Function),
        ("cob_sys_delete_file", cob_sys_delete_file as Function),
        ("cob_sys_file_delete", cob_sys_file_delete as Function),
        ("cob_sys_open_file", cob_sys_open_file as Function),
        ("cob_sys_rename_file", cob_sys_rename_file as Function),
        ("holdfast_vsam_backout", holdfast_vsam_backout as Function),
        ("holdfast_vsam_begin", holdfast_vsam_begin as Function),
        ("holdfast_vsam_close", holdfast_vsam_close as Function),
        ("holdfast_vsam_commit", holdfast_vsam_commit as Function),
        ("holdfast_vsam_endreq", holdfast_vsam_endreq as Function),
        ("holdfast_vsam_erase", holdfast_vsam_erase as Function),
        ("holdfast_vsam_get", holdfast_vsam_get as Function),
        ("holdfast_vsam_open", holdfast_vsam_open as Function),
        ("holdfast_vsam_point", holdfast_vsam_point as Function),
        ("holdfast_vsam_put", holdfast_vsam_put as Function),
        ("vfork", vfork as Function),
    ];
    [&own[..], &message_calls::exports()].concat()
}

/// What libcob calls when it ends a program with an error of its own.
pub(crate) extern "C" fn runtime_error(text: *const c_char) -> c_int {
    caller::runtime_error(text as usize);
    0
}

extern "C" fn left(status: c_int, _: *mut c_void) {
    caller::left(status);
}

/// Has [`caller::left`] called when something in this process calls `exit`.
pub(crate) fn watch_exits() -> Result<(), String> {
    type OnExit = unsafe extern "C" fn(extern "C" fn(c_int, *mut c_void), *mut c_void) -> c_int;
    let this = libloading::os::unix::Library::this();
    // SAFETY: the C library's `on_exit` has this type, and `left` is there as long as the process.
    let failed = unsafe {
        let on_exit = this.get::<OnExit>(b"on_exit").map_err(|error| error.to_string())?;
        on_exit(left, std::ptr::null_mut())
    };
    if failed == 0 { Ok(()) } else { Err("no room for another exit handler".to_owned()) }
}
