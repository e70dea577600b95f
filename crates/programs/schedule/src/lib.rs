//! A scheduled PSB: what answers the calls of one program.
//!
//! A call comes from a region as a request and goes, by its PCB, to the call engine, to a
//! sequential file, or stays here: checkpoints, restart, points to roll back to, the log,
//! statistics and inquiries concern all PCBs together.
//!
//! ```text
//!  region::Request --> Schedule --database PCB--> dli::Session --> store
//!                              \---GSAM PCB-----> gsam::Gsam ----> file
//!                               \--I/O PCB, AIB-> here ----------> both, in one unit of work
//!  a file's request -> file_handler::Clusters -> vsam -> store, in the same unit of work
//!  a call of MQI -> mqi::server::Carried -> queue_manager -> store, in the same one
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | which call goes where, how a program ends | `server` |
//! | the parts of a scheduled PSB; how it is scheduled | `schedule`; `options` |
//! | one commit for databases, data sets, queues, messages | `unit` |
//! | return and reason codes of AIBs | `aib` |
//! | which programs may run beside each other | `intents` |
//! | what PSBGEN limits; dates and times | `limits`, `moment` |
//! | PCBs that are limited to partitions; partitions that are offline | [`haldb`], `offline` |
//! | calls on database PCBs; a load and what it leaves | `database`, `load` |
//! | calls on sequential files | `file` |
//! | which PCBs there are, what they look like to a program | `pcbs`, `layouts` |
//! | sync points, CHKP, XRST | `sync`; what is restarted from: `restart`, `search` |
//! | what a checkpoint keeps; the records of a step | `checkpoint`; `step_records` |
//! | SETS, SETU, ROLS | `points` |
//! | calls for messages | `terminal` |
//! | what a message program's calls ask of the keeper of messages | [`messages`] |
//! | INIT, INQY, LOG, DEQ | `service`, `inquiry`, `userlog` |
//! | what is converted over EBCDIC data | [`encoding`] |
//! | STAT | `statistics` |
//! | records of clusters and paths | `records` |
//! | the message queue interface | `queues` |
//!
//! Invariants:
//! 1. A checkpoint's record, and everything that the program changed before it, are committed in
//!    one unit of work: a restart never sees one without the other (DLI-12.54).
//! 2. Output files are durable up to a checkpoint before that checkpoint is committed.
//! 3. After a call that ends the program nothing else of it is done but the backout.
//! 4. A database whose load has not ended normally is never taken for a loaded one.

mod aib;
mod checkpoint;
mod database;
pub mod encoding;
mod error;
mod file;
pub mod haldb;
mod inquiry;
mod intents;
mod layouts;
mod limits;
mod load;
pub mod messages;
mod moment;
mod offline;
mod options;
mod output_files;
mod pcbs;
mod points;
mod queues;
mod records;
mod restart;
mod schedule;
mod search;
mod server;
mod service;
mod statistics;
mod step_records;
mod sync;
mod tally;
mod terminal;
mod unit;
mod userlog;

pub use checkpoint::{Checkpoint, Event, Record, SET as CHECKPOINTS, STEP_BYTES_MAX};
pub use dli::{LOG_FULL, abend_of};
pub use error::ScheduleError;
pub use intents::{Closed, Intents, claims_of};
pub use moment::Moment;
pub use options::{Mode, Options, RegionKind, User};
pub use output_files::{FilePlace, outputs_of, refuse_same_files};
pub use records::Catalogs;
pub use schedule::{Environment, Schedule};
pub use statistics::{NoPools, PoolFigures, Pools};
pub use tally::Tally;
pub use userlog::SET as USER_LOG;
