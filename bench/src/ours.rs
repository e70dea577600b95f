//! What the benchmarks ask of Holdfast: a few small traits, so that they know nothing else of it.
//!
//! 1. The benchmarks hold the workload, the clock and the arithmetic; an implementation of
//!    [`Kernel`] only translates calls. It adds no queue, no thread and no cache of its own.
//! 2. [`crate::kernel::built_in`] is the one place that names an implementation. Without one every
//!    benchmark still measures the device and the peers, and its checks say "not measured".
//! 3. Keys and values are those of [`crate::workload`]: 8 and 92 bytes.
//! 4. A [`Position`] grows with every commit; a commit is durable once [`Store::durable`] has
//!    reached its position, and so are all commits below.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::workload::{Key, Value};

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(pub(crate) u64);

/// Whether blocks are sealed on their way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Sealed,
    Plain,
}

impl Form {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Form::Sealed => "sealed",
            Form::Plain => "plain",
        }
    }
}

/// When checkpoints are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checkpoints {
    /// As shipped.
    Default,
    /// Only when [`Store::checkpoint`] is called.
    OnlyWhenAsked,
}

/// A log of its own, without a store above it.
#[derive(Clone, Debug)]
pub(crate) struct LogSetup {
    /// An empty folder.
    pub(crate) folder: PathBuf,
    /// Files that groups go to in turn.
    pub(crate) stripes: usize,
    /// One or two copies of everything.
    pub(crate) copies: usize,
    pub(crate) form: Form,
    /// Preallocated and prewritten bytes of one stripe of one copy.
    pub(crate) file_bytes: u64,
}

/// A whole store: log, pool, one data set of 100-byte records, keyed.
#[derive(Clone, Debug)]
pub(crate) struct StoreSetup {
    /// An empty folder, or after a kill the folder of the killed one.
    pub(crate) folder: PathBuf,
    pub(crate) form: Form,
    /// One or two copies of the log.
    pub(crate) copies: usize,
    /// The budget of the buffer pool.
    pub(crate) pool_bytes: u64,
    pub(crate) checkpoints: Checkpoints,
    /// With sequential buffering, as shipped.
    pub(crate) buffered: bool,
}

/// What opening a store after a kill had to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restart {
    /// Log read and applied.
    pub(crate) redo_bytes: u64,
    /// Time for that alone, within the opening.
    pub(crate) redo_seconds: f64,
}

/// What a recovery did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovery {
    /// Image copies read.
    pub(crate) copy_bytes: u64,
    /// Time for that.
    pub(crate) copy_seconds: f64,
    /// Log read and applied.
    pub(crate) log_bytes: u64,
    /// Time for that.
    pub(crate) log_seconds: f64,
    /// Time for the rest: writing what is in memory, and changing places.
    pub(crate) last_seconds: f64,
}

/// The kernel under test.
pub(crate) trait Kernel: Sync {
    /// Name and version.
    fn version(&self) -> String;
    /// A sealer of 4 KiB blocks with a key of its own.
    fn sealer(&self) -> Result<Box<dyn Sealer>>;
    /// A new log.
    fn create_log(&self, setup: &LogSetup) -> Result<Box<dyn Log>>;
    /// A new, empty store.
    fn create_store(&self, setup: &StoreSetup) -> Result<Box<dyn Store>>;
    /// The store that was killed in this folder; returns when it takes calls again.
    fn open_store(&self, setup: &StoreSetup) -> Result<(Box<dyn Store>, Restart)>;
}

/// Seals and opens blocks where they stand.
pub(crate) trait Sealer {
    /// Seals the 4 KiB `block` for interval `place`; its trailer's room is part of it.
    fn seal(&mut self, place: u64, block: &mut [u8]) -> Result<()>;
    /// Opens what [`Sealer::seal`] made of it.
    fn open(&mut self, place: u64, block: &mut [u8]) -> Result<()>;
}

/// A log that takes records and says when they are durable. Dropping it closes it.
pub(crate) trait Log: Send + Sync {
    /// Appends a record; blocks while the log's buffer is full.
    fn append(&self, record: &[u8]) -> Result<Position>;
    /// Returns once everything up to `position` is durable in every copy.
    fn wait_durable(&self, position: Position) -> Result<()>;
}

/// A store of records. Dropping it closes it in an orderly way.
pub(crate) trait Store: Send + Sync {
    /// Bulk-loads records in key order into the empty data set; durable on return.
    fn load(&self, records: &mut dyn Iterator<Item = (Key, Value)>) -> Result<()>;
    /// A caller: one at a time uses it, several may exist.
    fn session(&self) -> Result<Box<dyn Session + '_>>;
    /// How far the log is durable; never waits.
    fn durable(&self) -> Position;
    /// Returns once everything up to `position` is durable in every copy.
    fn wait_durable(&self, position: Position) -> Result<()>;
    /// Takes a checkpoint; returns at its end.
    fn checkpoint(&self) -> Result<()>;
    /// Gives the store's pool another number of frames.
    fn resize_pool(&self, frames: usize) -> Result<()>;
    /// Adds a pool that nothing is assigned to.
    fn add_pool(&self, frames: usize) -> Result<()>;
    /// Deletes it.
    fn delete_pool(&self) -> Result<()>;
    /// Log that a restart would have to read now.
    fn log_bytes_since_checkpoint(&self) -> u64;
    /// The sum of all configured budgets: pools, log buffers, locks, units of work.
    fn budget_bytes(&self) -> u64;
    /// Begins to have the data set go over to another key, at most so many bytes a second (0: no
    /// limit). Returns how many bytes there are.
    fn rekey(&self, bytes_per_second: u64) -> Result<u64>;
    /// Has a re-key wait, or go on; nothing if there is none.
    fn pause_rekey(&self, paused: bool) -> Result<()>;
    /// Whether a re-key is not over.
    fn is_rekeying(&self) -> bool;
    /// Makes an image copy of the data set in a file, or to nowhere; at most so many bytes a second
    /// (0: no limit). Returns its bytes.
    fn image_copy(&self, path: Option<&Path>, bytes_per_second: u64) -> Result<u64>;
    /// Recovers the data set to now, from the newest copy that has a file.
    fn recover(&self) -> Result<Recovery>;
}

/// One caller of a store.
pub(crate) trait Session {
    /// One unit of work: reads the record, lets `change` alter its value, writes it, commits
    /// through the queued commit. Returns when the caller may go on, before it is durable.
    fn update_queued(&mut self, key: &Key, change: &mut dyn FnMut(&mut [u8])) -> Result<Position>;
    /// Reads a record; false if there is none.
    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// Reads records in key order from `from` on, until `see` answers false or there are no more.
    fn scan(&mut self, from: &Key, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()>;
}
