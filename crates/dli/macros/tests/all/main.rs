//! Assembler macro source of every kind.

mod any_input;
mod every_code;
mod reading;
