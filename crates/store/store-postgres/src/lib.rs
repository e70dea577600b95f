//! The keyed store over an engine that speaks PostgreSQL's protocol.
//!
//! Entries stand in one table, ordered by the number of their set and their key. A unit of work
//! reads from the engine in pages, keeps its changes to itself, and sends them when it commits.
//! It holds no transaction open while its program thinks, with one exception (2).
//!
//! # How units of work are kept apart
//!
//! The trait knows two disciplines, and one unit of work uses sets of both. A transaction that
//! spans the whole unit of work serves neither well: its snapshot is older than the locks on names
//! that are taken later, so it would read what those locks have long outdated, and writing it back
//! would fail. So a unit of work is not one transaction of the engine but several:
//!
//! 1. *Sets under their callers' locks* are read by single statements, each of which sees all that
//!    is committed when it begins. Whoever holds a name that stands for an entry therefore sees
//!    what its last holder committed, since a commit is over before its names are given back. That
//!    is two-phase locking by the caller, and needs no more from the engine than that one
//!    statement sees one moment.
//! 2. *Sets under the store's* are read in a transaction that sees one snapshot (REPEATABLE READ),
//!    so that a unit of work never sees half of what another one did, not even one that will fail.
//!    Every range that was passed over is noted (`read_set`), with how many entries it held and the
//!    sum of their stamps. A lock on a name ends the snapshot; the next read takes a newer one and
//!    proves there that what was read before still holds, or ends with a conflict.
//! 3. *The commit* is one short transaction: it proves that everything noted in (2) still holds,
//!    writes every change, and ends. If sets under the store's discipline were read or written, it
//!    is SERIALIZABLE.
//!
//! Why that is serializable: the engine puts all SERIALIZABLE transactions, and so all commits, in
//! one order. At its place in that order a commit sees each range that its unit of work has read,
//! and sees it as it was read; a program that acts on the same answers asks for the same changes.
//! So the unit of work might as well have run at that place, alone. What a lock on a name guards
//! cannot change between its read and its commit, since the name is held. Whoever writes without
//! having read takes part all the same: leaving such a commit at a lower level would let the
//! engine overlook a circle through it.
//!
//! The engine may refuse a commit although nothing that was read has changed, as its check knows
//! pages rather than ranges (40001), or one of two that meet (40P01). Such a commit is repeated,
//! here and at once: the proof of (3) is made anew each time, so nothing that the program was shown
//! can have become wrong. Only a proof that fails is a [`StoreError::Conflict`].
//!
//! # Locks on names
//!
//! Advisory locks of the engine know two modes; four of the six modes of the trait cannot be put
//! together from those (intent exclusive goes with itself but not with shared, which also goes with
//! itself), and row locks have neither early release nor a second mode of intent. So names stand in
//! a table of their own, `held`, unlogged, and a function of the engine grants them: it takes the
//! name's own advisory lock for the length of one statement, looks at holders and at those who
//! wait, and answers. One who waits stands in `waiting`, asks again soon or when somebody
//! of this process gives a name back, and looks for circles whenever it asks; only one at a time
//! looks, so a circle has one victim, in whatever systems its members run. What happens to the
//! names of a system that dies is told in `member`.
//!
//! Whoever walks from record to record and locks each would need three round trips for each record.
//! So the names of the records that come next are taken with the page that shows them, and given up
//! to whoever wants one before it is used (`spare`).
//!
//! # What a commit proves about itself
//!
//! Each connection has a row in `lanes`; a commit writes its number there. If the answer to COMMIT
//! is lost, that row tells what happened (`commit`): asking takes the row, so whatever was still
//! under way has ended, and closes the lane, so that nothing that is still on the wire can happen
//! later. A commit is never guessed.
//!
//! # What each call costs
//!
//! | call | round trips |
//! |---|---|
//! | begin, savepoint, rollback, seek; a change of what was read | none |
//! | get; insert, replace or delete of what was not read | 1 |
//! | a scan | 1 for up to 1,000 entries or 256 KiB |
//! | lock, unlock, claim, draw | 1 |
//! | a walk that locks each record, its reads included | 1 for up to 128 records, 1,000 entries or 256 KiB |
//! | commit, with everything given back | 1 |
//!
//! | file | owns |
//! |---|---|
//! | `schema.sql` | tables, and the functions that do a step in one round trip |
//! | `shared`, `sets` | what all units of work of a process share |
//! | `unit`, `state`, `cursor`, `pages` | the calls; places; what was read ahead |
//! | `overlay`, `read_set` | changes, and what they rest on |
//! | `commit` | commits and what became of them |
//! | `names`, `walk` | locks on names; how far a walk from name to name looks ahead |
//! | `spare`, `ahead` | names held for what comes next |
//! | `member`, `systems` | the sign of life of a system; which systems live |
//! | `sealer` | values sealed before they leave the process |
//! | `connection`, `pool`, `options`, `password`, `error` | the way to the engine |
//! | `whole` | what concerns whole sets: loads, drops, numbers |
//! | `twin` | the same work as hand-written SQL, for measuring |
//! | `certify` | the conformance suite, for somebody's own engine |

mod ahead;
mod bulk;
pub mod certify;
mod commit;
mod connection;
mod cursor;
mod error;
mod history;
mod member;
mod names;
mod options;
mod overlay;
mod pages;
mod password;
mod pool;
mod read_set;
mod schema;
mod sealer;
mod session;
mod sets;
mod shared;
mod spare;
mod state;
mod systems;
#[doc(hidden)]
pub mod twin;
mod unit;
mod walk;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use seam::Seam;
use store::{
    Capabilities, CommitToken, LoadSource, Resolution, Result, SetAttributes, SetId, SetInfo,
    Store, StoreError, UnitOptions,
};

pub use cursor::EngineCursor;
pub use error::EngineError;
pub use options::{EngineOptions, Sealing};
pub use sealer::SEAL_BYTES;
pub use session::{Session, SessionError};
pub use systems::{Carried, LivingSystem};
pub use unit::EngineUnit;

use connection::Counters;
use options::{Address, checked_schema};
use pool::Common;
use sets::Sets;
use shared::Shared;

/// A store in an engine.
#[derive(Clone)]
pub struct EngineStore {
    shared: Arc<Shared>,
    sets: Arc<Sets>,
}

/// What a store has asked of its engine since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Exchanges, each of which waited once for the network and the engine.
    pub round_trips: u64,
    /// Units of work committed that had changed something.
    pub commits: u64,
    /// Commits that were repeated because the engine could not place them in its order.
    pub commit_retries: u64,
    /// Connections made.
    pub connections: u64,
    /// Requests for names that had to wait.
    pub lock_waits: u64,
}

impl EngineStore {
    /// Makes an empty store: the schema of `options`, which must not be there yet.
    ///
    /// # Errors
    /// If the engine cannot be reached, the schema is there, or it may not be made.
    pub fn create(url: &str, options: &EngineOptions, seam: &Seam) -> Result<()> {
        schema::create(url, options, seam)
    }

    /// Opens the store in the schema of `options`.
    ///
    /// # Errors
    /// If the engine cannot be reached, or the schema holds no store of this release; if the keys
    /// are not to be had.
    pub fn open(url: &str, options: EngineOptions, seam: &Seam) -> Result<EngineStore> {
        let address = Address::read(url)?;
        let schema = checked_schema(&options.schema)?.to_owned();
        let counters = Arc::new(Counters::default());
        let common = Common {
            address,
            schema,
            class: 0,
            answer_within: options.answer_within,
            connection_within: options.connection_within,
            clock: Arc::clone(&seam.clock),
            counters: Arc::clone(&counters),
            history: Arc::default(),
        };
        let mut connection = common.connect()?;
        let meta = schema::read(&mut connection, &common.schema, &counters)?;
        let common = Common { class: meta.class, ..common };
        let expected = options.sealing.as_ref().and_then(|sealing| sealing.identity);
        if expected.is_some_and(|expected| expected != meta.identity) {
            let why = "its identity is not the one that was expected".into();
            let schema = common.schema.clone();
            return Err(StoreError::beneath(EngineError::Foreign { schema, why }));
        }
        let shared = Shared::open(common, connection, meta.identity, options, seam)?;
        Ok(EngineStore { shared: Arc::new(shared), sets: Arc::default() })
    }

    /// Drops the store with everything in it: the schema of `options`, and nothing else.
    ///
    /// # Errors
    /// If the engine cannot be reached, or the schema holds no store.
    pub fn destroy(url: &str, options: &EngineOptions, seam: &Seam) -> Result<()> {
        schema::destroy(url, options, seam)
    }

    /// Creates a set whose keys the engine sees as tokens only, in no order. Entries are found by
    /// their full key; whatever needs an order is refused.
    ///
    /// # Errors
    /// As [`Store::create_set`]; if values are not sealed.
    pub fn create_set_of_tokens(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        self.sets.create(&self.shared, name, attributes, true)
    }

    /// The identity of the store, for [`Sealing::identity`].
    #[must_use]
    pub fn identity(&self) -> [u8; 16] {
        self.shared.identity
    }

    /// What the store has asked of its engine.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let counters = &self.shared.counters;
        Figures {
            round_trips: counters.round_trips.load(Relaxed),
            commits: counters.commits.load(Relaxed),
            commit_retries: counters.commit_retries.load(Relaxed),
            connections: counters.connections.load(Relaxed),
            lock_waits: counters.lock_waits.load(Relaxed),
        }
    }
}

impl Store for EngineStore {
    type Unit = EngineUnit;
    type Cursor = EngineCursor;

    fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    fn begin(&self, options: UnitOptions) -> Result<EngineUnit> {
        Ok(EngineUnit::new(&self.shared, &self.sets, self.shared.member()?, options))
    }

    fn cursor(&self, set: SetId) -> Result<EngineCursor> {
        Ok(EngineCursor::new(self.sets.find(&self.shared, set)?))
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        self.sets.create(&self.shared, name, attributes, false)
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        bulk::drop_set(&self.shared, &self.sets, set)
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        bulk::empty_set(&self.shared, &self.sets, set)
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        self.sets.named(&self.shared, name)
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        self.sets.list(&self.shared)
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        bulk::load(&self.shared, &self.sets, set, source)
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        bulk::draw(&self.shared, &self.sets, set, count)
    }

    fn wait_durable(&self) -> Result<()> {
        // A queued commit has been answered when it returns.
        self.shared.member().map(drop)
    }

    fn resolve(&self, token: CommitToken) -> Result<Resolution> {
        commit::resolve(&self.shared, token)
    }
}
