//! Holdfast's kernel as the benchmarks see it: the store trait on the kernel, as an embedded caller
//! uses it.
//!
//! 1. Everything that goes through a store goes through the store trait: `get`, `replace`,
//!    `commit_queued`, cursors, `load_sorted`.
//! 2. Keys come from a seed instead of a passphrase, so that Argon2id is not part of a measurement;
//!    what is sealed with them is sealed as always.
//! 3. The data set is locked by key, reads for update take the update lock.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, KeyGeneration, Lsn, SystemId, UowId};
use seal::{Format, PageSealer, TestKeys};
use seam::Seam;
use store::{
    CommitSink, Committed, Cursor as _, KeyRange, LoadSource, Position as Place, Read,
    SetAttributes, SetId, Store as _, Unit as _, UnitOptions,
};
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel as Uows, KernelConfig, Parts, PoolPlan};

use crate::copies::Copies;
use crate::error::Result;
pub(crate) use crate::error::failed;
use crate::ours::{
    Checkpoints, Form, Kernel, Log, LogSetup, Position, Recovery, Restart, Sealer, Session, Store,
    StoreSetup,
};
use crate::workload::{Key, Value};

/// The kernel that is built into this program.
pub(crate) struct BuiltIn;

/// The kernel built into this program, if there is one.
pub(crate) fn built_in() -> Option<&'static dyn Kernel> {
    Some(&BuiltIn)
}

pub(crate) const SYSTEM: SystemId = SystemId(*b"holdfast-bench-1");
const SET: &str = "RECORDS";
/// The interval size of the data set.
const UNIT: usize = 8192;

/// A log whose copies are all there, and stay so: anything else ends the measurement.
pub(crate) struct NoEvents;

impl wal::LogEvents for NoEvents {
    fn copy_lost(&self, _: u8, _: base::GroupNumber, why: &str) -> std::result::Result<(), String> {
        Err(format!("a log copy failed during a measurement: {why}"))
    }

    fn copy_back(&self, _: u8) -> std::result::Result<(), String> {
        Ok(())
    }

    fn ahead(&self, _: Option<wal::Beginning>) -> std::result::Result<(), String> {
        Ok(())
    }
}

fn format(form: Form) -> Format {
    match form {
        Form::Sealed => Format::Sealed,
        Form::Plain => Format::Plain,
    }
}

impl Kernel for BuiltIn {
    fn version(&self) -> String {
        format!("Holdfast {}", env!("CARGO_PKG_VERSION"))
    }

    fn sealer(&self) -> Result<Box<dyn Sealer>> {
        let (keys, entropy) = (Arc::new(TestKeys::new(1)), Seam::real().entropy);
        let (set, label) = (DataSetId(1), "data");
        let generation = KeyGeneration(1);
        let sealer = PageSealer::new(keys, entropy, SYSTEM, set, label, Format::Sealed, generation);
        Ok(Box::new(Pages { sealer }))
    }

    fn create_log(&self, setup: &LogSetup) -> Result<Box<dyn Log>> {
        let copies = (0..setup.copies).map(|copy| setup.folder.join(format!("copy-{copy}")));
        let mut config = wal::LogConfig::new(copies.collect());
        config.stripes = setup.stripes as u8;
        config.segment_bytes = setup.file_bytes;
        // One segment is what the raw side writes over and over; two take turns here.
        config.segments_min = 2;
        config.segments_max = 3;
        config.format = format(setup.form);
        let env = wal::LogEnv {
            seam: Seam::real(),
            keys: Arc::new(TestKeys::new(1)),
            system: SYSTEM,
            stop: Arc::default(),
            events: Arc::new(NoEvents),
        };
        wal::Log::create(&env, &config).map_err(failed)?;
        let (log, _) = wal::Log::open(env, config, wal::LogStart::NEW).map_err(failed)?;
        Ok(Box::new(OwnLog { log }))
    }

    fn create_store(&self, setup: &StoreSetup) -> Result<Box<dyn Store>> {
        let store = create(setup)?;
        store.create_set(SET, &SetAttributes::default()).map_err(failed)?;
        Ok(Box::new(OwnStore::new(store, setup)?))
    }

    fn open_store(&self, setup: &StoreSetup) -> Result<(Box<dyn Store>, Restart)> {
        let (parts, config) = plan(setup);
        let kernel = Uows::open(parts, config).map_err(failed)?;
        let report = kernel.restart_report().ok_or_else(|| failed("no restart report"))?;
        let restart = Restart {
            redo_bytes: report.log_end.0.saturating_sub(report.redo_from.0),
            redo_seconds: report.redo_us as f64 / 1e6,
        };
        let store = KernelStore::new(&kernel, defaults(setup)).map_err(failed)?;
        Ok((Box::new(OwnStore::new(store, setup)?), restart))
    }
}

/// A new store without any set, over a kernel of its own.
pub(crate) fn create(setup: &StoreSetup) -> Result<KernelStore> {
    let (parts, config) = plan(setup);
    Uows::create(&parts, &config).map_err(failed)?;
    let kernel = Uows::open(parts, config).map_err(failed)?;
    KernelStore::new(&kernel, defaults(setup)).map_err(failed)
}

/// A new store whose log and data sets are kept in these forms, with two copies of the log;
/// `change` says what else differs.
pub(crate) fn create_kept(
    folder: &Path,
    (log, data): (Form, Form),
    pool_bytes: u64,
    change: impl FnOnce(&mut KernelConfig),
) -> Result<KernelStore> {
    let (folder, checkpoints) = (folder.to_owned(), Checkpoints::Default);
    let setup =
        StoreSetup { folder, form: data, copies: 2, pool_bytes, checkpoints, buffered: true };
    let (parts, mut config) = plan(&setup);
    config.log.format = format(log);
    Uows::create(&parts, &config).map_err(failed)?;
    change(&mut config);
    let kernel = Uows::open(parts, config).map_err(failed)?;
    KernelStore::new(&kernel, defaults(&setup)).map_err(failed)
}

fn defaults(setup: &StoreSetup) -> StoreDefaults {
    StoreDefaults {
        interval_bytes: UNIT as u32,
        format: format(setup.form),
        ..StoreDefaults::default()
    }
}

fn plan(setup: &StoreSetup) -> (Parts, KernelConfig) {
    let home: &Path = &setup.folder;
    let keys = TestKeys::new(1);
    // One to go over to.
    keys.new_generation();
    let parts = Parts {
        seam: Seam::real(),
        keys: Arc::new(keys),
        system: SYSTEM,
        home: home.to_owned(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(home);
    config.log.copies = (0..setup.copies).map(|copy| home.join(format!("log-{copy}"))).collect();
    config.log.format = format(setup.form);
    let frames = (setup.pool_bytes as usize / UNIT).max(64);
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: UNIT, frames }];
    if !setup.buffered {
        config.read_ahead_threads = 0;
    }
    if setup.checkpoints == Checkpoints::OnlyWhenAsked {
        config.checkpoint_bytes = u64::MAX;
        config.checkpoint_interval = Duration::from_secs(1 << 30);
        config.writer.redo_bytes_max = u64::MAX;
        // Room for the log of a whole measurement.
        config.log.segments_max = 64;
    }
    (parts, config)
}

struct Pages {
    sealer: PageSealer,
}

impl Sealer for Pages {
    fn seal(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        self.sealer.seal(CiNumber(place as u32), block).map(|_| ()).map_err(failed)
    }

    fn open(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        self.sealer.open(CiNumber(place as u32), block).map(|_| ()).map_err(failed)
    }
}

struct OwnLog {
    log: Arc<wal::Log>,
}

/// Records beyond the kernel's kinds, which nobody will ever redo.
const KIND: u8 = 200;

impl Log for OwnLog {
    fn append(&self, record: &[u8]) -> Result<Position> {
        // Nothing is kept for restart: what is durable may be overwritten.
        self.log.truncate(self.log.durable());
        let body: [&[u8]; 1] = [record];
        let place = self.log.append_reserved(KIND, 0, UowId::NONE, Lsn::NONE, &body);
        Ok(Position(place.map_err(failed)?.end.0))
    }

    fn wait_durable(&self, position: Position) -> Result<()> {
        self.log.wait_durable(Lsn(position.0)).map_err(failed)
    }
}

impl Drop for OwnLog {
    fn drop(&mut self) {
        let _ = self.log.close();
    }
}

struct OwnStore {
    store: KernelStore,
    set: SetId,
    sink: Arc<dyn CommitSink>,
    budget_bytes: u64,
    copies: Copies,
}

/// Durability is asked of the log; nothing is to be done for a single commit.
struct Quiet;

impl CommitSink for Quiet {
    fn settled(&self, _token: u64, _outcome: store::Result<Committed>) {}
}

impl OwnStore {
    fn new(store: KernelStore, setup: &StoreSetup) -> Result<OwnStore> {
        let set = store.set(SET).map_err(failed)?.ok_or_else(|| failed("the set is missing"))?;
        let config = store.kernel().config();
        let log_bytes = config.log.ring_bytes * 2 + config.log.group_bytes_max * 8;
        let locks_bytes = config.locks.locks_max * lock::BYTES_PER_LOCK;
        let budget_bytes = setup.pool_bytes + (log_bytes + locks_bytes) as u64;
        let copies = Copies::new(&plan(setup).0);
        Ok(OwnStore { store, set, sink: Arc::new(Quiet), budget_bytes, copies })
    }

    fn log(&self) -> &Arc<wal::Log> {
        self.store.kernel().log()
    }

    fn data_set(&self) -> Result<Arc<space::DataSet>> {
        self.store.kernel().set_named(SET).ok_or_else(|| failed("the set is missing"))
    }
}

/// Lends the records of an iterator.
struct Records<'a> {
    records: &'a mut dyn Iterator<Item = (Key, Value)>,
    lent: Option<(Key, Value)>,
}

impl LoadSource for Records<'_> {
    fn next_entry(&mut self) -> store::Result<Option<store::Entry<'_>>> {
        self.lent = self.records.next();
        Ok(self.lent.as_ref().map(|(key, value)| store::Entry { key, value }))
    }
}

impl Store for OwnStore {
    fn load(&self, records: &mut dyn Iterator<Item = (Key, Value)>) -> Result<()> {
        let mut source = Records { records, lent: None };
        self.store.load_sorted(self.set, &mut source).map(|_| ()).map_err(failed)
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let cursor = self.store.cursor(self.set).map_err(failed)?;
        let unit = self.store.begin(UnitOptions::READ_ONLY).map_err(failed)?;
        Ok(Box::new(Caller { owner: self, value: Vec::new(), cursor, reader: unit }))
    }

    fn durable(&self) -> Position {
        Position(self.log().durable().0)
    }

    fn wait_durable(&self, position: Position) -> Result<()> {
        self.log().wait_durable(Lsn(position.0)).map_err(failed)
    }

    fn checkpoint(&self) -> Result<()> {
        let kernel = self.store.kernel();
        kernel.write_out().map_err(failed)?;
        kernel.checkpoint_now(false).map_err(failed)
    }

    fn resize_pool(&self, frames: usize) -> Result<()> {
        self.store.kernel().resize_pool("default", frames).map(drop).map_err(failed)
    }

    fn add_pool(&self, frames: usize) -> Result<()> {
        let plan = PoolPlan { name: "other".into(), unit_bytes: UNIT, frames };
        self.store.kernel().add_pool(&plan).map(drop).map_err(failed)
    }

    fn delete_pool(&self) -> Result<()> {
        self.store.kernel().delete_pool("other").map_err(failed)
    }

    fn log_bytes_since_checkpoint(&self) -> u64 {
        self.store.kernel().redo_bytes()
    }

    fn budget_bytes(&self) -> u64 {
        self.budget_bytes
    }

    fn rekey(&self, bytes_per_second: u64) -> Result<u64> {
        let set = self.data_set()?;
        // Two keys take turns; which of them is newer is of no interest here.
        let generation = KeyGeneration(3 - set.definition().generation.0);
        let to = seal::Form::sealed(generation);
        self.store.kernel().convert(&set, to, bytes_per_second).map_err(failed)?;
        Ok(u64::from(set.intervals()) * set.unit_bytes() as u64)
    }

    fn pause_rekey(&self, paused: bool) -> Result<()> {
        match self.store.kernel().steer_conversion(&*self.data_set()?, paused, None) {
            Err(uow::UowError::NotConverting { .. }) => Ok(()),
            steered => steered.map_err(failed),
        }
    }

    fn is_rekeying(&self) -> bool {
        !self.store.kernel().conversions().is_empty()
    }

    fn image_copy(&self, path: Option<&Path>, bytes_per_second: u64) -> Result<u64> {
        self.copies.make(&self.store, SET, path, bytes_per_second)
    }

    fn recover(&self) -> Result<Recovery> {
        self.copies.recover(&self.store, SET)
    }
}

impl Drop for OwnStore {
    fn drop(&mut self) {
        let _ = self.store.kernel().close();
    }
}

struct Caller<'s> {
    owner: &'s OwnStore,
    value: Vec<u8>,
    cursor: store_kernel::KernelCursor,
    /// Reads without locks belong to one unit of work that changes nothing.
    reader: store_kernel::KernelUnit,
}

impl Session for Caller<'_> {
    fn update_queued(&mut self, key: &Key, change: &mut dyn FnMut(&mut [u8])) -> Result<Position> {
        let owner = self.owner;
        let mut unit = owner.store.begin(UnitOptions::default()).map_err(failed)?;
        let found = unit.get(owner.set, key, Read::Update, &mut self.value).map_err(failed)?;
        if !found {
            return Err(failed("a record is missing"));
        }
        change(&mut self.value);
        let outcome = unit.replace(owner.set, key, &self.value).map_err(failed)?;
        assert!(outcome.is_done(), "a record that was locked is still there");
        unit.commit_queued(&owner.sink, 0).map_err(failed)?;
        // The commit stands before the log's end, so being durable up to there covers it.
        Ok(Position(owner.log().next_lsn().0))
    }

    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (set, read) = (self.owner.set, Read::Unlocked);
        let found = self.reader.get(set, key, read, &mut self.value).map_err(failed)?;
        if found {
            see(&self.value);
        }
        Ok(found)
    }

    fn scan(&mut self, from: &Key, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.cursor.limit(KeyRange::ALL);
        self.cursor.seek(Place::Before(from));
        while let Some(entry) =
            self.reader.next(&mut self.cursor, Read::Unlocked).map_err(failed)?
        {
            if !see(entry.key, entry.value) {
                break;
            }
        }
        Ok(())
    }
}
