//! Real COBOL programs over the library: what they see, and the bytes that they leave.

#![allow(clippy::disallowed_methods)] // files of the tests, and of the programs that they run

mod devices;
mod indexed;
mod keyed;
mod owned;
mod printers;
mod sequential;
mod stage;
