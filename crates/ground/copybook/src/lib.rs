//! COBOL record descriptions: what stands where in a record, and what that means for its bytes.
//!
//! ```text
//!  text --source--> tokens --copy--> tokens --entry--> entries --record--> items with places
//!                                                     map file + items --plan--> bytes converted
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | columns, comments, continuations, literals | `source` |
//! | COPY, REPLACING | `copy` |
//! | PICTURE | `picture` |
//! | levels and clauses | `entry` |
//! | places and lengths, SYNCHRONIZED, REDEFINES | `record` |
//! | which description a segment has, and when | `map` |
//! | what redefines what, and which of them counts | `maker` |
//! | which byte of a record is of what class | `steps` |
//! | what is converted, and what is found on the way | `plan` |
//! | what values the fields of a record have | `fields` |
//!
//! Invariants:
//! 1. No text and no bytes make anything here panic; time and memory are bounded by the text's
//!    length and by the limits of each module.
//! 2. Places and lengths are those that the compiler gives the same description; the exceptions
//!    are noted (`record`).
//! 3. A conversion changes no length. What is text on both sides comes back byte for byte.

mod copy;
mod entry;
mod error;
mod fields;
mod maker;
mod map;
mod picture;
mod plan;
mod record;
mod source;
mod steps;

pub use copy::Members;
pub use entry::{Literal, Occurs, SignClause, Value};
pub use error::{CopybookError, Place};
pub use fields::{FIELDS_MAX, Field, Fields, ValueKind};
pub use map::{Bundle, Map, Mapped};
pub use picture::{Category, Picture};
pub use plan::{Direction, Findings, Plan, Trouble, What, convert_bytes};
pub use record::{Condition, Copybook, Item, Kind, RECORD_BYTES_MAX};
