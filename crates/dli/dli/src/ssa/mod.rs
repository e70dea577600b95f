//! Segment search arguments: taken apart, checked against a view, and tried on segments.
//!
//! Owns the syntax of SSAs (DLI-3) and the meaning of their qualifications (DLI-12.17 to
//! DLI-12.26); what the command codes do to a search is the call engine's business. Three
//! steps:
//!
//! * [`Table::new`] prepares, once for each PCB, what SSAs may name;
//! * [`parse`] takes the SSAs of a call apart: [`Ssas`], or a [`Refusal`] with the status code;
//! * [`Ssa::key_bounds`] says where the search can begin and end, [`Ssa::matches`] tries the
//!   qualification on a segment, [`Ssa::show`] prints it.
//!
//! Invariants:
//! 1. No bytes make anything here panic, and no byte outside the slices given is read.
//! 2. Parsing allocates nothing for up to four SSAs with up to four conditions each (the
//!    argument stands in `parse`), matching and bounds allocate nothing at all.
//! 3. What a [`Table`] does not hold cannot be asked for: a program learns nothing about fields
//!    that its PCB does not see.

mod alphabet;
mod argument;
mod bounds;
mod code;
mod matches;
mod parse;
mod refusal;
mod show;

mod table;

pub use alphabet::Alphabet;
pub use argument::{Condition, Joined, Operand, Operator, Qualification, Sets, Ssa, Ssas};
pub use bounds::{Bound, Bounds};
pub use code::{Calling, Code, Codes, Subsets};
pub use matches::{Entries, Subject};
pub use parse::{CONDITIONS_MAX, SSAS_MAX, parse, parse_into};
pub use refusal::{Reason, Refusal, Status};
pub use table::Table;
