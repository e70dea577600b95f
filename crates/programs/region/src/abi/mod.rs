//! The C side of programs: the libraries that they are, the run time of COBOL, the C library.
//!
//! Invariants:
//! 1. What is called here is there as long as the process: no library is closed under its program.

#![allow(unsafe_code)]

mod module;

pub(crate) use module::{
    Cobol, Entry, Module, PCBS_MAX, Standard, die_by_signals, exported_at, flush, forget_variable,
    leave, set_variable, stand_in, text_at,
};
