//! Units of work over data sets and the log: the kernel proper.
//!
//! A [`Kernel`] is an open system: its log, pools, data sets, locks, page writer and housekeeper. A
//! [`Uow`] is a unit of work: it locks, changes intervals, sets savepoints, and commits or is
//! backed out. What a change means is known to a [`Resource`] (the B+tree): it repeats a change on
//! an interval, and undoes one through its own search (K24).
//!
//! Invariants:
//! 1. Bytes of an interval change only by applying a log record to it: what restart repeats is what
//!    was done.
//! 2. A commit publishes its LSN before its locks go; nobody is told of anything, his own commit or
//!    what he read, before the log is durable up to there (K2).
//! 3. A backed-out unit of work has a compensation record for every change, and keeps its locks
//!    until its end record is appended.
//! 4. The redo point never passes a change that is not on disk; the log is not reused behind the
//!    oldest of redo point and open unit of work.
//! 5. A data set exists from the moment its record is durable until the record of its end is.
//!
//! | file | owns |
//! |---|---|
//! | `kernel` | the parts of an open system, statistics; its contract with the layer above |
//! | `config` | how a kernel is set up |
//! | `ending` | the end of an open system |
//! | `sets` | data sets that come and go, intervals that are given out and taken back |
//! | `unit`, `undo_list` | units of work and how they are undone |
//! | `units` | what units of work share: numbers, the newest commit |
//! | `frees` | what committed units of work have freed |
//! | `active` | who is active, what log his undo needs, for the checkpoint |
//! | `record` | log records and their bytes |
//! | `catalog` | which data sets exist, folded from records |
//! | `registry` | the data sets that are open |
//! | `transit` | intervals between the map and a structure |
//! | `journal` | what the page writer tells the log |
//! | `checkpoint` | what a checkpoint carries |
//! | `control`, `control_block` | where restart begins: the file, its slots |
//! | `checkpointer`, `checkpoints` | taking checkpoints; when the last one was |
//! | `anchor` | proof elsewhere of how far the system has come |
//! | `pools` | pools that come, go and change their size |
//! | `convert`, `converter` | data sets change their form while they are in use; the thread |
//! | `repair` | what stands damaged on disk is written again while it is in use |
//! | `housekeeping`, `housekeeper` | checkpoints and frees that are due, room in the log; the thread |
//! | `rebuild` | building a data set anew beside the one whose place it takes |
//! | `successors` | repeating changes in what is built |
//! | `undoable` | what a recovery would have to undo of the units of work it has seen |
//! | `sweep` | changes gathered and repeated in the order of their intervals |
//! | `runs` | intervals that are read in one piece |
//! | `restart` | analysis, repair, redo, undo; what it found: `restart_report` |

mod active;
mod anchor;
mod catalog;
pub mod checkpoint;
mod checkpointer;
mod checkpoints;
mod config;
pub mod control;
mod control_block;
mod convert;
mod converter;
mod ending;
mod error;
mod frees;
mod housekeeper;
mod housekeeping;
mod journal;
mod kernel;
mod pools;
pub mod protection;
mod rebuild;
pub mod record;
mod redo_workers;
mod registry;
mod repair;
mod reserve;
mod restart;
mod restart_report;
mod runs;
mod sets;
mod successors;
mod sweep;
mod transit;
mod undo_list;
mod undoable;
mod unit;
mod units;

pub use anchor::AnchorPlan;
pub use catalog::{Catalog, CatalogEntry, SetState};
pub use config::{KernelConfig, PoolPlan};
pub use convert::{ConversionStatus, describe};
pub use error::{Lowered, SpanLimit, SpanSetting, UowError};
pub use kernel::{Kernel, KernelStatistics, Parts, RecordDamage, Resource, Undo};
pub use protection::{AskedAbove, Opening, Protection};
pub use rebuild::{InFlight, Rebuild, RebuildCounts, Source};
pub use record::Target;
pub use repair::RepairedFrom;
pub use restart_report::RestartReport;
pub use sets::Use;
pub use successors::Repeating;
pub use unit::{AtEnd, Savepoint, Uow, UowOptions};
