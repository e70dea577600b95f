//! The C side: the functions that programs call, and the libraries that programs are.
//!
//! The functions are exported by the executable itself (`exports.list`, given to the linker as a
//! dynamic list). GnuCOBOL looks for the target of a CALL among the symbols of the main program
//! first, and so does the loader for a C program's undefined symbols; thus nothing has to be
//! preloaded or installed, and there is one copy of this crate's state. A library of its own would
//! bring a second copy, or a table of pointers between the two.
//!
//! Invariants:
//! 1. No panic leaves a function that programs call.

#![allow(unsafe_code)]

mod exports;
mod message_calls;
mod module;

pub(crate) use exports::{exports, watch_exits};
pub(crate) use module::{
    Cobol, Entry, Module, PCBS_MAX, Standard, die_by_signals, exported_at, flush, forget_variable,
    leave, set_variable, stand_in, text_at,
};
