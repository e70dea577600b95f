//! What the online system knows: transactions, programs, routing codes and databases.
//!
//! | to understand | look at |
//! |---|---|
//! | which attributes there are, and their defaults | `model`, `attribute` |
//! | what does not fit together | [`check`] |
//! | definition files: macros and commands | [`read`], `stage`, `command` |
//! | where definitions are kept | [`Repository`] |
//!
//! Invariants:
//! 1. A definition in the repository has passed [`check`] together with all others.
//! 2. Changes of one call are made together or not at all, and are durable when it returns.
//! 3. No bytes of a definition file make this crate panic.

mod attribute;
mod check;
mod codes;
mod command;
mod diagnostic;
mod error;
mod model;
mod repository;
mod source;
mod stage;

pub use attribute::{
    Access, Attribute, Class, Commands, FastPath, Language, MessageType, Mode, Priority,
    ScheduleType, Truncation,
};
pub use check::{Change, Known, check};
pub use codes::CODES;
pub use diagnostic::{Diagnostic, Parsed, Severity};
pub use error::ResourceError;
pub use model::{
    Attributes, Database, Definition, Kind, Program, RoutingCode, SetError, Transaction,
};
pub use repository::{Repository, SET, Stop};
pub use source::read;
