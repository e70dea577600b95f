//! EXEC DLI in COBOL sources: taken apart and written as CALL statements.
//!
//! Before the compiler: [`CompilerOptions`] says what CBL and PROCESS cards ask for. [`translate`]
//! blanks them, turns every EXEC DLI command into the COPY of a member that calls [`ENTRY`], and
//! says what a region must know about the programs ([`ProgramFacts`]). [`configuration_for`] is the
//! compiler configuration to use.
//!
//! In the running program: the region is called with a descriptor, the DIB, numbers and items;
//! [`decode`] makes a [`Command`] of the descriptor, [`plan`](plan::plan) makes the call of that,
//! and [`scatter`](plan::scatter) says what goes back into which item. [`dib`] holds the block that
//! tells the program the outcome, and which status codes end the program instead; [`Schedule`]
//! answers SCHD and TERM.
//!
//! The crate reads no file and calls nothing: it is bytes to bytes.
//!
//! Invariants:
//!
//! 1. No bytes make it panic, or run or grow without bound.
//! 2. Nothing is translated in part: a command that is not understood is a [`Diagnostic`] with
//!    file, line and column.
//! 3. A source without commands and cards comes out byte for byte as it went in.

mod code;
mod command;
mod config;
mod descriptor;
mod diagnostic;
pub mod dib;
mod exec;
mod facts;
mod options;
pub mod plan;
mod schedule;
mod source;
mod surroundings;
mod translate;

pub use base::CodeMeaning;
pub use code::CODES;
pub use command::{Area, Command, Condition, Join, Number, Operator, Segment, Subset, Text, Verb};
pub use config::{CONFIGURATION, CONFIGURATION_NAME, configuration_for};
pub use descriptor::{DescriptorError, HEADER, Header, VERSION, decode, encode, header};
pub use diagnostic::Diagnostic;
pub use facts::ProgramFacts;
pub use options::CompilerOptions;
pub use schedule::Schedule;
pub use surroundings::{Foreign, Members, NoMembers};
pub use translate::{ENTRY, Member, Options, Translation, translate};
