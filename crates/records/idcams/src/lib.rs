//! Control statements of access method services: read, executed over VSAM's catalogs and files,
//! and answered as SYSPRINT has it.
//!
//! ```text
//!  text --lexis--> words --syntax, keywords--> commands --modal--> statements
//!  statements --executor--> define, repro, print, ... over `vsam`  --sysprint--> text
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | margins, continuations, comments, values | `lexis` |
//! | parentheses, parameters, what excludes what | `syntax`; which there are: `keywords`, `table` |
//! | IF, DO, SET | `modal` |
//! | condition codes, the order of things | `executor`; which message is which: `refusal` |
//! | what a definition becomes, and its statement again | `define`, `generate` |
//! | a cluster or a file as records, to read and to write | `source`, `target`, `records`, `range` |
//! | REPRO and its conversions | `repro`, `convert` |
//! | copies that can be carried elsewhere | `portable`; who makes and reads them: `export`, `import`, `backup`, `snap` |
//!
//! Invariants:
//! 1. No text makes anything here panic, loop, or take memory out of proportion.
//! 2. A command that cannot be read is not executed; those before it are, and those behind it
//!    unless a modal command is wrong.
//! 3. What a command has committed when it fails stays; SYSPRINT says how much that is.

mod alter;
mod awaited;
mod backup;
mod build;
mod catalogs;
mod convert;
mod define;
mod delete;
mod executor;
mod export;
mod fault;
mod form;
mod generate;
mod import;
mod keywords;
mod lexis;
mod listcat;
mod load;
mod locate;
mod machine;
mod modal;
mod names;
mod portable;
mod portable_cluster;
mod print;
mod range;
mod records;
mod refusal;
mod repro;
mod session;
mod snap;
mod source;
mod syntax;
mod sysprint;
mod table;
mod target;

pub use executor::{Executed, Summary, execute};
pub use fault::{Fault, Place};
pub use form::{Form, RECORD_BYTES_MAX};
pub use keywords::Verb;
pub use lexis::Compare;
pub use machine::{Dd, Machine, Output};
pub use modal::{Statement, Step, Which, statements_of};
pub use portable::scan;
pub use refusal::IdcamsError;
pub use syntax::{Command, Parameter, Parameters, Text, Value};
pub use sysprint::Message;
