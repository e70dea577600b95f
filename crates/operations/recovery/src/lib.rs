//! Image copies and recovery: what brings data back that a device has lost, or a program spoilt.
//!
//! * [`copy_sets`] copies data sets while they are in use (K18): sealed intervals as they stand on
//!   disk, and where in the log their recovery goes on.
//! * [`plan()`] says what a recovery would read, and from which copy; [`recover()`] does it, to the
//!   end of the log, to a position in it, or to a moment (K17). Several data sets land on one
//!   point.
//! * [`backout()`] takes units of work back that were committed, if no other unit of work has
//!   changed the same since.
//! * [`History`] is where a recovery reads the log: in the log itself, or in archives and the log.
//!
//! Invariants:
//! 1. A recovery touches nothing of what it recovers before all of it stands beside it, whole and
//!    on disk; then all data sets change places in one log record. A crash before costs only work.
//! 2. No program waits for a copy; those that use what is recovered wait for its last step only.
//! 3. A copy without its manifest is none, and nothing of a copy is believed that does not prove
//!    itself.
//! 4. RECON knows of a copy when it is durable, and of a recovery before it counts.
//!
//! | file | owns |
//! |---|---|
//! | `envelope` | a copy as a stream of sealed pieces |
//! | `media` | where copies are written to and read from |
//! | `copy` | making a copy |
//! | `reader` | reading one |
//! | `plan` | from which copy, and which piece of the log |
//! | `unproven` | what copies of a chain have lost that newer ones do not hold |
//! | `proof` | whether those copies can be read |
//! | `recover` | doing it |
//! | `backout` | taking committed units of work back |
//! | `trace` | what the log says of them, and who came behind |
//! | `units` | which units of work were committed |
//! | `chains` | long values that only the log has |
//! | `find` | copies that RECON does not name |
//! | `identify` | whether a file is of a copy that RECON knows |
//! | `folders` | which folders of image copies are not mounted |
//! | `log_filter` | which records a recovery needs |
//! | `lost_system` | making a lost system anew |
//! | `set_history` | what the log says of a system that is lost |
//! | `void_end` | up to where the log is void for what a recovery has built |

mod backout;
mod chains;
mod copy;
mod envelope;
mod error;
mod find;
mod folders;
mod identify;
mod log_filter;
mod lost_system;
mod media;
mod plan;
mod proof;
mod prove;
mod reader;
mod recover;
mod set_history;
mod trace;
mod units;
mod unproven;
mod void_end;

pub use backout::{BackedOut, Backout, BackoutOptions, NameGap, Ties, backout};
pub use copy::{CopyOptions, CopyReport, Progress, copy_sets};
pub use envelope::CopyKeys;
pub use error::RecoveryError;
pub use find::{FoundCopies, find_copies};
pub use folders::{folders_away, prepare_folder, refuse_away};
pub use log_filter::log_filter;
pub use lost_system::{LeftSet, LostSystem};
pub use media::{CopyFiles, CopySink, is_unfinished};
pub use plan::{Births, Plan, SetPlan, Target, leave_aside, plan};
pub use proof::{Look, look_at_copies};
pub use reader::{CopyInfo, CopyReader, CopyVisitor};
pub use recover::{History, RecoverOptions, Recovered, Recovery, lsn_of, recover};
pub use set_history::{SetHistory, Unread};
pub use units::{Committed, committed};
