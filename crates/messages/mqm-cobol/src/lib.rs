//! `libmqmcb_r.so`: the message queue interface for COBOL programs, which give every argument by
//! reference.
//!
//! It only gives the calls of crate `mqm_calls` their names.

#![allow(unsafe_code)] // names of a library are the interface's own

mqm_calls::calls!(cobol);
