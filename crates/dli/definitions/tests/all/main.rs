//! Sources of a small library's databases and programs, through all steps of this crate.

mod change;
mod compiled;
mod diagnostics;
mod encoded;
mod forms;
mod mutated;
mod resolved;
mod samples;
mod support;
