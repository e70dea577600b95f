//! The kernel as a keyed store: the traits of `store` over units of work, trees and locks.
//!
//! Invariants:
//! 1. In a set whose locking is the store's, an entry is locked by its key before it is looked at,
//!    a gap by a name of its own that follows from the key above it, the last gap by the set's end
//!    (K14). `ghosts` has the whole protocol and why nothing slips through it.
//! 2. What was read before a lock was granted is proven or looked at again afterwards.
//! 3. A unit of work that locks or changes something in a set holds the set itself with intent, so
//!    that dropping and loading a set find out whether it is in use.
//! 4. After an error that dooms it, a unit of work only repeats that error.
//!
//! | file | owns |
//! |---|---|
//! | `sets` | sets and their attributes over data sets; drawn numbers |
//! | `unit` | a unit of work's calls |
//! | `work` | what they do to one set: locks first, then the tree |
//! | `ghosts` | the locking of ranges; keys that active units of work have deleted |
//! | `locks` | modes and names of locks |
//! | `cursor` | places and steps |
//! | `commit` | who is told of queued commits |
//! | `shared` | what units of work share |
//! | `owners` | whom a unit of work stands for |
//! | `error` | the kernel's errors in the store's words |

mod commit;
mod cursor;
mod error;
mod ghosts;
mod locks;
mod own_ghosts;
mod owners;
mod sets;
mod shared;
mod unit;
mod work;

use std::sync::Arc;

use store::{
    Capabilities, CommitToken, LoadSource, Resolution, Result, SetAttributes, SetId, SetInfo,
    Store, StoreError, UnitOptions,
};
use uow::{Kernel, UowOptions};

pub use cursor::KernelCursor;
pub use sets::{SEQUENCES, StoreDefaults, attributes_of_successor};
use shared::Shared;
pub use unit::KernelUnit;

/// The store that a kernel is.
#[derive(Clone)]
pub struct KernelStore {
    pub(crate) shared: Arc<Shared>,
}

impl KernelStore {
    /// The store over a running kernel.
    ///
    /// # Errors
    /// If the data sets' attributes were written by a newer release.
    pub fn new(kernel: &Arc<Kernel>, defaults: StoreDefaults) -> Result<KernelStore> {
        let sets = sets::Sets::over(kernel, defaults)?;
        let capabilities = Capabilities {
            name: "kernel",
            key_bytes_max: btree::node::key_bytes_max(sets.usable_bytes_min()),
            value_bytes_max: btree::VALUE_BYTES_MAX,
            lock_name_bytes_max: unit::LOCK_NAME_BYTES_MAX,
            unit_bytes_max: Some(kernel.span_limit().bytes_max),
            unit_writes_max: None,
            unit_age_max: None,
            savepoints_max: u32::MAX,
            durable: true,
            strict: true,
            waits: true,
            caller_locking: true,
            reads_uncommitted: true,
            early_release: true,
            commit_order: true,
            cheap_range_delete: true,
        };
        let shared = Shared {
            kernel: Arc::clone(kernel),
            capabilities,
            sets,
            sinks: commit::Sinks::default(),
            owners: owners::Owners::default(),
        };
        Ok(KernelStore { shared: Arc::new(shared) })
    }

    /// Another data set has taken the place of the one with this number, in the kernel; for the
    /// store the set is the same. The caller holds the old one exclusively.
    ///
    /// # Errors
    /// If its attributes are none of this release's.
    pub fn replace(&self, old: base::DataSetId, new: &Arc<space::DataSet>) -> Result<()> {
        self.shared.sets.replace(old, new)
    }

    /// Gives a data set up that is offline. Answers whether there was one of that name.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] if drawn numbers stand in it: they would be given out again.
    pub fn drop_offline(&self, name: &str) -> Result<bool> {
        self.shared.sets.drop_offline(&self.shared.kernel, name)
    }

    /// The kernel beneath.
    #[must_use]
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.shared.kernel
    }
}

/// Below this part of its capacity a log is short of room. Changes wait below an eighth: nobody
/// logs as much as lies between in the time of one call.
const SHORT_OF_ROOM: u64 = 4;

impl Store for KernelStore {
    type Unit = KernelUnit;
    type Cursor = KernelCursor;

    fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    fn begin(&self, options: UnitOptions) -> Result<KernelUnit> {
        let uow = self
            .shared
            .kernel
            .begin(UowOptions { times_chosen: options.victim_count })
            .map_err(error::of_uow)?;
        self.shared.owners.note(uow.id(), options.owner);
        Ok(KernelUnit::new(Arc::clone(&self.shared), uow, options))
    }

    fn cursor(&self, set: SetId) -> Result<KernelCursor> {
        Ok(KernelCursor::new(self.shared.sets.handle(set)?))
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        self.shared.sets.create(&self.shared.kernel, name, attributes)
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        self.shared.sets.drop_set(&self.shared.kernel, set)
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        self.shared.sets.empty(&self.shared.kernel, set)
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        self.shared.kernel.stop_switch().check().map_err(error::of_stopped)?;
        Ok(self.shared.sets.named(name))
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        self.shared.kernel.stop_switch().check().map_err(error::of_stopped)?;
        Ok(self.shared.sets.list())
    }

    fn position(&self) -> u64 {
        self.shared.kernel.log().next_lsn().0
    }

    fn interval_bytes(&self, set: SetId) -> Result<Option<u32>> {
        Ok(Some(self.shared.sets.handle(set)?.data.definition().ci_bytes))
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        self.shared.sets.load(&self.shared.kernel, set, source)
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        self.shared.sets.draw(&self.shared.kernel, set, count)
    }

    fn is_short_of_room(&self) -> bool {
        let log = self.shared.kernel.log();
        log.room() < log.capacity_bytes() / SHORT_OF_ROOM
    }

    fn wait_durable(&self) -> Result<()> {
        let kernel = &self.shared.kernel;
        kernel.log().wait_durable(kernel.read_gate()).map_err(|e| error::of_uow(e.into()))
    }

    fn resolve(&self, _token: CommitToken) -> Result<Resolution> {
        Err(StoreError::Unsupported("unknown outcomes of commits"))
    }
}
