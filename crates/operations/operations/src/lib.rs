//! What operators do to a system and its databases: copy, recover, back out, compare, reinitialize.
//!
//! ```text
//!   verbs              what an open system does for operators besides the verbs of every system
//!   image_copy         image copies of databases and data sets
//!   recover            recoveries to now, to a moment, to a position
//!   dry_run            a recovery tried in memory; a system that starts without data sets
//!   point_in_time      what a recovery to a point means for the form of databases
//!   backout            units of work taken back
//!   reinitialize       what nothing brings back is given up, to be made again
//!   recon_report       what RECON says, and is told of image copies
//!   database_report    how a database is, and whether it is consistent
//!   encoding           what databases are written in: maps, conversions, what data looks like
//!   moving             a database that goes to another system
//!   clusters           the catalog, control statements, which data sets a cluster is
//!   record_maps        what the fields of clusters' records are
//!   handlers           who keeps the records of redirected clusters, by address
//!   redirections       clusters whose records, or changes, go elsewhere
//!   transactions       the transaction manager, commands, resources, users
//!   pset               page sets of the queue manager, and what sealing them costs
//!   selection          which data sets are meant
//!   databases          the databases of a system by name
//!   figures            figures as people read them
//! ```
//!
//! Invariants:
//! 1. Nothing here prints, reads arguments or ends a process. What is to be known of work that
//!    goes on goes to [`system::OpenOptions::notice`]; progress goes to a callback.
//! 2. The command and the simulator call the same functions.
//! 3. Everything outside is reached through `seam`, but for a pipe that another process made.

pub mod backout;
pub mod clusters;
pub mod database_report;
pub mod databases;
pub mod dry_run;
pub mod encoding;
mod error;
pub mod figures;
mod handlers;
pub mod image_copy;
mod message_storage;
mod message_users;
pub mod messages;
pub mod moment;
mod move_error;
pub mod moving;
mod pipe;
mod point_in_time;
pub mod pset;
pub mod recon_report;
pub mod record_maps;
pub mod recover;
pub mod redirections;
pub mod reinitialize;
pub mod selection;
pub mod transactions;
pub mod verbs;

pub use databases::Databases;
pub use error::{FAILED, OperationsError, Result};
pub use selection::Selection;
