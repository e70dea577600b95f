//! `libmqic.so`: the message queue interface for C programs without threads that reach a system
//! over the network.
//!
//! It only gives the calls of crate `mqm_calls` their names.

#![allow(unsafe_code)] // names of a library are the interface's own

mqm_calls::calls!(client);
