//! Sequential files as GSAM gives them to programs.
//!
//! A GSAM database is an ordinary file outside of the system: neither sealed nor logged. What is
//! special about it is that a checkpoint remembers the place, and a restart goes back there.
//!
//! | form | `RECFM=` | the program's area | the file | with `,text` |
//! |---|---|---|---|---|
//! | fixed | F FB FS FBS | the data | records without delimiters | a line each: blanks at its end are left out, and filled in again |
//! | variable | V VB VS VBS | LL (2, big-endian, counts itself), data | length (2, big-endian, counts itself and the next), zero (2), data | a line each |
//! | undefined | U | the data; its length stands in the PCB | as variable | a line each |
//!
//! A print control character (`A` or `M` behind `RECFM=`) is the first byte of the data. An
//! undefined record has a descriptor like a variable one, for a file has no blocks that would
//! delimit it. RECORD= is the longest record: of variable ones LL, so the descriptor is 2 more.
//!
//! | file | owns |
//! |---|---|
//! | `gsam` | the calls, one PCB |
//! | `form` | how a record looks in the area and in the file |
//! | `reader`, `writer` | large buffers over the file |
//! | `rsa` | what a record search argument says |
//! | `place` | what a checkpoint keeps |
//! | `status` | the status codes of these calls |
//! | `error` | what an operator is told |
//!
//! Invariants:
//! 1. A call with any other status than blank changes nothing in the file and leaves the place;
//!    GB alone closes the file, so that the next GN begins at the front.
//! 2. No call allocates memory for a record, and no bytes of a file or an area cause a panic.
//! 3. After [`Gsam::sync`] the output up to [`Gsam::place`] survives a crash, and
//!    [`Gsam::reposition`] brings the file back to exactly that, whatever was written later. When
//!    output may be seen by others is the caller's business (K2).
//! 4. Files go through the seam, so a simulated crash tries this too.

mod error;
mod form;
mod gsam;
mod place;
mod reader;
mod rsa;
mod status;
mod writer;

pub use error::GsamError;
pub use form::Form;
pub use gsam::{FileSpec, Gsam, Outcome};
pub use place::Place;
pub use rsa::Rsa;
pub use status::Status;
