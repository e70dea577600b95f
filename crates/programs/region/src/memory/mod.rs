//! Memory that is not Rust's own: what a program shows us, PCBs below 4 GiB, memory that two
//! processes share, and a page that copies of a process do not have.
//!
//! Invariants:
//! 1. Outside of this folder and of `abi` the crate has no unsafe code.
//! 2. No reference ever points into memory that a program or another process may change: bytes are
//!    copied in and out.

#![allow(unsafe_code)]

mod low_memory;
mod mark;
mod program_memory;
mod shared;

pub(crate) use low_memory::Rooms;
pub(crate) use mark::Mark;
pub(crate) use program_memory::ProgramMemory;
pub(crate) use shared::{Shared, inherited, inherited_socket};
