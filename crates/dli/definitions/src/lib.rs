//! What DBDs and PSBs say: from macro statements to definitions that the call engine can use.
//!
//! Owns the meaning of database and program definitions, and nothing that runs: no data, no
//! positions, no files. Four steps, each a module, each usable alone:
//!
//! * [`compile`](compile()): statements of macro source become members, [`Dbd`]s and [`Psb`]s,
//!   with diagnostics that point at the word;
//! * [`resolve`]: the members are fitted together, PSB against DBD, index against target, logical
//!   child against logical parent; the result is one [`View`](resolve::View) for each PCB;
//! * [`change`]: an old and a new version of a DBD whose database holds data are compared;
//! * [`encode`](encode()): members as bytes for the repository, and back.
//!
//! Invariants:
//! 1. A member that has an error is never delivered; one with warnings is, with the warnings' way
//!    of reading it. Several errors of a member are reported, not only the first.
//! 2. A delivered [`Dbd`] is sound: segments stand in hierarchic order, a parent in front of its
//!    children, codes count from 1, fields lie within their segment. What was decoded from bytes
//!    is proved again, so a consumer may index by what it finds.
//! 3. No bytes and no statements make this crate panic.
//! 4. Operands that have a meaning elsewhere only (devices, pointers' physical form, external
//!    names) are kept as they stand, so that a member can be shown as it was written.

mod check;
mod codes;
mod compile;
mod encode;
mod finding;
mod function;
mod model;

pub mod change;
pub mod resolve;

pub use base::CodeMeaning;
pub use codes::CODES;
pub use compile::{Compiled, CompiledMember, Member, MemberKind, compile};
pub use encode::{DecodeError, decode, encode};
pub use finding::{Finding, MemberName, Places, Spot};
pub use function::Function;
pub use macros::{Diagnostic, Place, Severity};
pub use model::*;
