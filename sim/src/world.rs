//! A system at work: units of work that do what the history says, and look whether it is so.
//!
//! A [`Work`] is a unit of work together with its entry in the history. It locks as programs do:
//! the set with an intent, then the key; or the whole set. What it reads it compares at once; a
//! difference is a panic, which ends the simulated run and names both sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use btree::{Bound, Cursor, Inserted, Tree, TreeError};
use lock::{LockName, Mode, Wait};
use seam::sim::SimDisk;
use space::DataSet;
use uow::{Kernel, Uow, UowError, UowOptions};
use wal::{DurableSink, LogError};

use crate::history::{History, LEDGER, Records, UnitNumber, ledger_key, show};
use crate::machine::Make;

/// Keys that share so many bytes have a lookup hint in common: ten neighbouring records do.
const PREFIX_BYTES: u16 = 11;

/// An open system with its history.
#[derive(Clone)]
pub struct World {
    /// The system.
    pub kernel: Arc<Kernel>,
    /// What happened to it.
    pub history: History,
    /// How it is made.
    pub make: Make,
    /// The disk, for those who spoil it.
    pub disk: Option<SimDisk>,
    sink: Arc<dyn DurableSink>,
}

/// How a unit of work is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// The call returns when it is durable.
    Wait,
    /// The locks go at once, the program waits for the log itself.
    Early,
    /// The locks go at once, somebody is told when it is durable.
    Queued,
}

/// Tells the history of commits that are durable.
struct Acknowledgements(History);

impl DurableSink for Acknowledgements {
    fn durable(&self, token: u64, outcome: Result<(), &LogError>) {
        if outcome.is_ok() {
            self.0.acknowledge(UnitNumber(token as usize));
        }
    }
}

/// A unit of work.
pub struct Work<'w> {
    world: &'w World,
    uow: Uow,
    unit: UnitNumber,
    signed: bool,
    /// Sets that are locked as a whole.
    owned: BTreeSet<base::DataSetId>,
}

/// A moment within a unit of work.
#[derive(Clone, Copy)]
pub struct Moment {
    uow: uow::Savepoint,
    history: u32,
    signed: bool,
}

impl World {
    /// A system that was opened, and what has happened to it before.
    #[must_use]
    pub fn new(kernel: Arc<Kernel>, history: History, make: Make) -> World {
        let sink = Arc::new(Acknowledgements(history.clone()));
        World { kernel, history, make, disk: None, sink }
    }

    /// The same with its disk, for scripts that spoil it.
    #[must_use]
    pub fn on(self, disk: &SimDisk) -> World {
        World { disk: Some(disk.clone()), ..self }
    }

    /// Makes a data set.
    ///
    /// # Errors
    /// See [`Kernel::create_set`].
    pub fn make_set(&self, name: &str) -> Result<Arc<DataSet>, UowError> {
        self.history.make_set(name);
        let set = self.make.create_set(&self.kernel, name)?;
        set.set_prefix_bytes(PREFIX_BYTES);
        self.history.set_made(name);
        Ok(set)
    }

    /// Drops a data set that nobody uses.
    ///
    /// # Errors
    /// See [`Kernel::drop_set`].
    pub fn drop_set(&self, set: &Arc<DataSet>) -> Result<(), UowError> {
        self.history.drop_set(set.name());
        self.kernel.drop_set(set)?;
        self.history.set_dropped(set.name());
        Ok(())
    }

    /// The data set of that name, which exists.
    #[must_use]
    pub fn set(&self, name: &str) -> Arc<DataSet> {
        let set = self.kernel.set_named(name);
        let set = set.unwrap_or_else(|| panic!("data set {name} is not there"));
        set.set_prefix_bytes(PREFIX_BYTES);
        set
    }

    /// Begins a unit of work.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn begin(&self) -> Result<Work<'_>, UowError> {
        self.begin_again(0)
    }

    /// The same after it was chosen so often to break a deadlock.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn begin_again(&self, times_chosen: u32) -> Result<Work<'_>, UowError> {
        let uow = self.kernel.begin(UowOptions { times_chosen })?;
        let unit = self.history.begin();
        Ok(Work { world: self, uow, unit, signed: false, owned: BTreeSet::new() })
    }

    /// Runs one unit of work and commits it.
    ///
    /// # Errors
    /// What `body` or the commit says; it is backed out then.
    pub fn commit(
        &self,
        body: impl FnOnce(&mut Work<'_>) -> Result<(), TreeError>,
    ) -> Result<(), TreeError> {
        let mut work = self.begin()?;
        match body(&mut work) {
            Ok(()) => work.commit(Commit::Wait),
            Err(error) => {
                work.back_out()?;
                Err(error)
            }
        }
    }
}

impl Work<'_> {
    /// Its number in the history.
    #[must_use]
    pub fn unit(&self) -> UnitNumber {
        self.unit
    }

    /// How often it was chosen to break a deadlock.
    #[must_use]
    pub fn times_chosen(&self) -> u32 {
        self.uow.times_chosen()
    }

    /// Locks a whole data set.
    ///
    /// # Errors
    /// A deadlock.
    pub fn own(&mut self, set: &DataSet, mode: Mode) -> Result<(), TreeError> {
        self.uow.lock(LockName::set(set.id()), mode, Wait::Yes)?;
        self.still_there(set)?;
        if mode == Mode::Exclusive {
            self.owned.insert(set.id());
        }
        Ok(())
    }

    /// Whether it has the whole data set locked.
    #[must_use]
    pub fn has_used(&self, set: &DataSet) -> bool {
        self.owned.contains(&set.id())
    }

    fn still_there(&self, set: &DataSet) -> Result<(), UowError> {
        match self.world.kernel.set(set.id()) {
            Some(_) => Ok(()),
            None => Err(UowError::NoSuchSet { name: set.name().to_owned() }),
        }
    }

    fn lock(&mut self, set: &DataSet, key: &[u8], mode: Mode) -> Result<(), TreeError> {
        if self.owned.contains(&set.id()) {
            return Ok(());
        }
        let intent = if mode == Mode::Shared { Mode::IntentShared } else { Mode::IntentExclusive };
        self.uow.lock(LockName::set(set.id()), intent, Wait::Yes)?;
        self.still_there(set)?;
        self.uow.lock(LockName::key(set.id(), key), mode, Wait::Yes)?;
        Ok(())
    }

    /// Gives a record a value, whether it is there or not.
    ///
    /// # Errors
    /// See [`Tree::put`].
    pub fn put(&mut self, set: &DataSet, key: &[u8], value: &[u8]) -> Result<(), TreeError> {
        self.lock(set, key, Mode::Exclusive)?;
        let before = self.world.history.write(self.unit, set.name(), key, Some(value));
        let tree = Tree::new(&self.world.kernel, set);
        let was_there = tree.put(&mut self.uow, key, value)?;
        assert_eq!(was_there, before.is_some(), "put of {} in {}", key.escape_ascii(), set.name());
        Ok(())
    }

    /// Inserts a record.
    ///
    /// # Errors
    /// See [`Tree::insert`].
    pub fn insert(&mut self, set: &DataSet, key: &[u8], value: &[u8]) -> Result<bool, TreeError> {
        self.lock(set, key, Mode::Exclusive)?;
        let tree = Tree::new(&self.world.kernel, set);
        let there = self.world.history.read(self.unit, set.name(), key).is_some();
        if !there {
            self.world.history.write(self.unit, set.name(), key, Some(value));
        }
        let inserted = tree.insert(&mut self.uow, key, value)?;
        let expected = if there { Inserted::Duplicate } else { Inserted::Yes };
        assert_eq!(inserted, expected, "insert of {} in {}", key.escape_ascii(), set.name());
        Ok(!there)
    }

    /// Removes a record if it is there.
    ///
    /// # Errors
    /// See [`Tree::remove`].
    pub fn remove(&mut self, set: &DataSet, key: &[u8]) -> Result<bool, TreeError> {
        self.lock(set, key, Mode::Exclusive)?;
        let before = self.world.history.write(self.unit, set.name(), key, None);
        let tree = Tree::new(&self.world.kernel, set);
        let was_there = tree.remove(&mut self.uow, key)?;
        let place = key.escape_ascii();
        assert_eq!(was_there, before.is_some(), "removal of {place} in {}", set.name());
        Ok(was_there)
    }

    /// Removes the records from `from` up to but not including `to`; locks the whole set.
    ///
    /// # Errors
    /// See [`Tree::remove_range`].
    pub fn remove_range(
        &mut self,
        set: &DataSet,
        from: &[u8],
        to: &[u8],
    ) -> Result<u64, TreeError> {
        self.own(set, Mode::Exclusive)?;
        let history = &self.world.history;
        let all = history.read_all(self.unit, set.name());
        let gone = all.keys().filter(|key| from <= &key[..] && &key[..] < to);
        let mut count = 0;
        for key in gone {
            history.write(self.unit, set.name(), key, None);
            count += 1;
        }
        let tree = Tree::new(&self.world.kernel, set);
        let removed = tree.remove_range(&mut self.uow, Bound::At(from), Bound::At(to))?;
        assert_eq!(removed, count, "removal of a range in {}", set.name());
        Ok(count)
    }

    /// Fills an empty data set; locks the whole set.
    ///
    /// # Errors
    /// See [`Tree::bulk_load`].
    pub fn load(&mut self, set: &DataSet, records: &Records) -> Result<(), TreeError> {
        self.own(set, Mode::Exclusive)?;
        for (key, value) in records {
            self.world.history.write(self.unit, set.name(), key, Some(value));
        }
        let tree = Tree::new(&self.world.kernel, set);
        let loaded = tree.bulk_load(&mut self.uow, records, 90)?;
        assert_eq!(loaded, records.len() as u64);
        Ok(())
    }

    /// Reads a record and compares it.
    ///
    /// # Errors
    /// See [`Tree::get`].
    pub fn read(&mut self, set: &DataSet, key: &[u8]) -> Result<Option<Vec<u8>>, TreeError> {
        self.lock(set, key, Mode::Shared)?;
        let expected = self.world.history.read(self.unit, set.name(), key);
        let tree = Tree::new(&self.world.kernel, set);
        let mut value = Vec::new();
        let found = tree.get(key, &mut value)?.then_some(value);
        assert!(
            found == expected,
            "unit {} reads {} of {}: {}, but it should be {}",
            self.unit.0,
            key.escape_ascii(),
            set.name(),
            show(found.as_ref()),
            show(expected.as_ref()),
        );
        Ok(found)
    }

    /// Reads a whole data set and compares it.
    ///
    /// # Errors
    /// See [`Cursor::next`].
    pub fn read_all(&mut self, set: &DataSet) -> Result<(), TreeError> {
        self.own(set, Mode::Shared)?;
        let expected = self.world.history.read_all(self.unit, set.name());
        let found = records_of(&self.world.kernel, set)?;
        assert!(found == expected, "a scan of {} by unit {} differs", set.name(), self.unit.0);
        Ok(())
    }

    /// Writes its record into the ledger; every unit of work that changes something does.
    ///
    /// # Errors
    /// See [`Tree::put`].
    pub fn sign(&mut self) -> Result<(), TreeError> {
        if !self.signed {
            self.signed = true;
            let ledger = self.world.set(LEDGER);
            self.put(&ledger, &ledger_key(self.unit), b"here")?;
        }
        Ok(())
    }

    /// The moment now.
    #[must_use]
    pub fn savepoint(&self) -> Moment {
        let history = self.world.history.savepoint(self.unit);
        Moment { uow: self.uow.savepoint(), history, signed: self.signed }
    }

    /// Goes back to a moment.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn roll_back(&mut self, to: Moment) -> Result<(), TreeError> {
        self.world.history.roll_back(self.unit, to.history);
        self.signed = to.signed;
        Ok(self.uow.rollback_to(to.uow)?)
    }

    /// Commits, after it has signed if it has changed anything.
    ///
    /// # Errors
    /// If the kernel has stopped; or a ledger that cannot be written, and it is backed out then.
    pub fn commit(mut self, how: Commit) -> Result<(), TreeError> {
        if self.uow.has_changes()
            && let Err(error) = self.sign()
        {
            self.back_out()?;
            return Err(error);
        }
        let Work { world, uow, unit, .. } = self;
        let history = &world.history;
        history.ask(unit, uow.has_changes());
        match how {
            Commit::Wait => history.logged(unit, uow.commit()?),
            Commit::Early => {
                let lsn = uow.commit_early()?;
                history.logged(unit, lsn);
                world.kernel.log().wait_durable(lsn).map_err(UowError::from)?;
            }
            Commit::Queued => return Ok(uow.commit_queued(&world.sink, unit.0 as u64)?),
        }
        history.acknowledge(unit);
        Ok(())
    }

    /// Backs out.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn back_out(self) -> Result<(), TreeError> {
        self.world.history.back_out(self.unit);
        Ok(self.uow.backout()?)
    }
}

/// All records of a data set.
///
/// # Errors
/// See [`Cursor::next`].
pub fn records_of(kernel: &Arc<Kernel>, set: &DataSet) -> Result<Records, TreeError> {
    let tree = Tree::new(kernel, set);
    let mut cursor = Cursor::new();
    let mut records = Records::new();
    while cursor.next(&tree)? {
        records.insert(cursor.key().to_vec(), cursor.value().to_vec());
    }
    Ok(records)
}
