//! Assembler macro source as mainframe shops have it: from bytes to statements.
//!
//! DBDs and PSBs are written in the assembler's macro language. This crate reads such a file,
//! whatever its encoding and line ends, carries out COPY, macros and conditional assembly, and
//! yields statements. What a statement means is none of its business.
//!
//! * [`read`]: a file's bytes to a [`Program`];
//! * [`Statement`], [`Operand`], [`Value`], [`Word`], [`Place`]: what a program is made of;
//! * [`Sources`]: every card that was read, to show a [`Diagnostic`] with its card and carets;
//! * [`CopyMembers`]: where COPY members and macros come from; [`Folders`] is the usual answer.
//!
//! On the way: `cards` (bytes to cards), `lines` (cards to label, operation and operand text),
//! `expand` (macros and conditional assembly), `operands` (text to values).
//!
//! Invariants:
//!
//! 1. No bytes make it panic, or run or grow without bound.
//! 2. Nothing is dropped in silence: what is not understood is an error or a warning with card and
//!    column. Comments, blank cards and what arranges listings are no loss.
//! 3. Every place is in a source that [`Sources`] can show, in columns after tabs were expanded.
//! 4. Reading the same bytes with the same members gives the same program.

use std::path::Path;

mod cards;
mod code;
mod copy;
mod diagnostic;
mod expand;
mod lines;
mod metadata;
mod operands;
mod sources;
mod statement;
mod text;

pub use code::CODES;
pub use copy::{CopyMembers, Folders, NoMembers};
pub use diagnostic::{Diagnostic, Severity};
pub use metadata::DESCRIBING_KEYWORDS;
pub use sources::Sources;
pub use statement::{Operand, Place, SourceId, Statement, Value, Word};

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The statements in their order, those of several members one behind the other.
    pub statements: Vec<Statement>,
    /// What is to be said about the file, in the order of its cards.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the bytes of a file; `path` is only shown. The cards go to `sources`.
pub fn read(sources: &mut Sources, path: &Path, bytes: &[u8], copies: &dyn CopyMembers) -> Program {
    let (statements, diagnostics) = expand::Expander::new(sources, copies).read(path, bytes);
    Program { statements, diagnostics }
}
