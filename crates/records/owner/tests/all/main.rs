//! Files of an owner from other processes: over sockets and ports, on the model of the store and on
//! the kernel.

#![allow(clippy::unwrap_used)] // a test that fails says where
#![allow(clippy::disallowed_methods)] // folders and connections of the tests

mod files;
mod ground;
mod ports;
