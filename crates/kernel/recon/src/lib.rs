//! RECON, the recovery control data set: what a recovery needs to know, and where it is.
//!
//! Two small sealed files, `recon.1` and `recon.2`, hold the same records: data sets and the
//! databases they belong to, archives of the log, change accumulations, image copies, recoveries
//! done, who has what open, and how far the log has been seen to reach. They are no data set of
//! the kernel: they are read when the system is damaged, on a bare machine, and while no kernel
//! is open.
//!
//! * [`Recon`] is RECON open for changes: [`Recon::create`], [`Recon::open`], [`Recon::change`].
//! * [`read`] looks at it without changing or repairing anything.
//! * [`State`] is what the records add up to; [`Record`] is one of them.
//!
//! ```no_run
//! # fn example(setup: holdfast_recon::Setup) -> Result<(), holdfast_recon::ReconError> {
//! use holdfast_recon::{Recon, Record, Reached};
//!
//! let (recon, _) = Recon::open(setup)?;
//! recon.add(vec![Record::Reached(Reached { lsn: base::Lsn(4711), utc_us: 0 })])?;
//! assert!(recon.state().reached.lsn >= base::Lsn(4711));
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! 1. A change is durable on every living copy when the call returns, whole or absent after a
//!    crash: the records of one change are one sealed entry.
//! 2. An entry is never overwritten, and shares no block of 4 KiB with another (K19).
//! 3. Before a change rests on a single copy, that copy says that the other one is stale (K9).
//! 4. The newest valid chain wins; a copy that proves that something is missing from the other
//!    one's chain is never silently ignored (K20).
//! 5. The newest log position that RECON has seen never goes back; restart refuses a log that is
//!    shorter (K6).
//!
//! | file | owns |
//! |---|---|
//! | `coding` | how the parts of a record become bytes |
//! | `record` | what there is to know |
//! | `state` | what the records add up to, and questions to it |
//! | `span` | in which pieces of the log the records of data sets count |
//! | `entry` | a sealed entry; the chain in one file |
//! | `copies` | which copy is right |
//! | `recon` | RECON in use |

mod coding;
mod copies;
mod entry;
mod error;
mod recon;
mod record;
mod span;
mod state;

pub use copies::{CopyReport, Reading};
pub use error::ReconError;
pub use recon::{HeldLog, Opened, Recon, Setup, exists, read};
pub use record::{
    Accumulation, Archive, ArchiveFile, Authorisation, Built, CopyKind, DataSetEntry, Database,
    ImageCopy, Protection, Reached, Record, Recovery, Restored, SetExtent,
};
pub use span::{Span, pieces};
pub use state::{KeyUse, Origins, State};
