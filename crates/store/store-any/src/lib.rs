//! The store of a system, wherever its databases are: in its own kernel, or on an engine.
//!
//! One binary works on both, so what stands above is compiled once, for [`AnyStore`]. Which of the
//! two it is, a call finds out by looking at a tag; there is no table of functions between.
//!
//! Invariants:
//! 1. Everything is handed on as it came: no call does more or less than that of the store beneath.
//! 2. A cursor of one store is none of the other: who mixes them hears
//!    [`store::StoreError::NoSuchSet`].

mod cursor;
mod unit;

use store::{
    Capabilities, CommitToken, LoadSource, Resolution, Result, SetAttributes, SetId, SetInfo,
    Store, UnitOptions,
};
use store_kernel::KernelStore;
use store_postgres::EngineStore;

pub use cursor::AnyCursor;
pub use unit::AnyUnit;

/// A store in a kernel or in an engine.
#[derive(Clone)]
pub enum AnyStore {
    /// In a kernel.
    Kernel(KernelStore),
    /// In an engine.
    Engine(EngineStore),
}

impl AnyStore {
    /// The kernel's store, if it is one.
    #[must_use]
    pub fn kernel(&self) -> Option<&KernelStore> {
        match self {
            AnyStore::Kernel(store) => Some(store),
            AnyStore::Engine(_) => None,
        }
    }

    /// Drops a data set that a kernel cannot read. An engine has none that are offline.
    ///
    /// # Errors
    /// As [`KernelStore::drop_offline`].
    pub fn drop_offline(&self, name: &str) -> Result<bool> {
        match self {
            AnyStore::Kernel(store) => store.drop_offline(name),
            AnyStore::Engine(_) => Ok(false),
        }
    }
}

/// Does the same on whichever store it is.
macro_rules! on_either {
    ($any:expr, $one:ident => $work:expr) => {
        match $any {
            AnyStore::Kernel($one) => $work,
            AnyStore::Engine($one) => $work,
        }
    };
}

impl Store for AnyStore {
    type Unit = AnyUnit;
    type Cursor = AnyCursor;

    fn capabilities(&self) -> &Capabilities {
        on_either!(self, one => one.capabilities())
    }

    fn begin(&self, options: UnitOptions) -> Result<AnyUnit> {
        match self {
            AnyStore::Kernel(store) => store.begin(options).map(AnyUnit::Kernel),
            AnyStore::Engine(store) => store.begin(options).map(Box::new).map(AnyUnit::Engine),
        }
    }

    fn cursor(&self, set: SetId) -> Result<AnyCursor> {
        match self {
            AnyStore::Kernel(store) => store.cursor(set).map(AnyCursor::Kernel),
            AnyStore::Engine(store) => store.cursor(set).map(Box::new).map(AnyCursor::Engine),
        }
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        on_either!(self, one => one.create_set(name, attributes))
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        on_either!(self, one => one.drop_set(set))
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        on_either!(self, one => one.empty_set(set))
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        on_either!(self, one => one.set(name))
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        on_either!(self, one => one.sets())
    }

    fn position(&self) -> u64 {
        on_either!(self, one => one.position())
    }

    fn is_short_of_room(&self) -> bool {
        on_either!(self, one => one.is_short_of_room())
    }

    fn interval_bytes(&self, set: SetId) -> Result<Option<u32>> {
        on_either!(self, one => one.interval_bytes(set))
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        on_either!(self, one => one.load_sorted(set, source))
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        on_either!(self, one => one.draw(set, count))
    }

    fn wait_durable(&self) -> Result<()> {
        on_either!(self, one => one.wait_durable())
    }

    fn resolve(&self, token: CommitToken) -> Result<Resolution> {
        on_either!(self, one => one.resolve(token))
    }
}
