//! Locks of database records (H5).
//!
//! Each PCB keeps the record locked that its position is in. A record that was only read is given
//! back when the position leaves it; one that was changed stays locked to the sync point, and so
//! does one that a Q class holds until that class is dequeued.
//!
//! Invariants:
//! 1. A record is given back only if no other PCB of the program stands in it, nothing in it was
//!    changed, and no class holds it.
//! 2. Where nobody else can use the databases, nothing is locked at all.

use hierarchy::Result;
use seam::failpoint::{Failpoint, armed};
use store::{Cursor, Grant, LockMode, LockName, SetId, Unit, Wait};

/// The name of a database record: the set and the key of its root.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    set: SetId,
    root: Vec<u8>,
}

impl Record {
    fn is(&self, set: SetId, root: &[u8]) -> bool {
        self.set == set && self.root == root
    }

    fn name(&self) -> LockName<'_> {
        LockName { space: self.set.0, name: &self.root }
    }
}

/// How a record came to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It was locked before.
    Already,
    /// Without a wait: what was read of the record itself must be read again.
    AtOnce,
    /// After a wait: what is in front of the record may have changed, too.
    Waited,
}

/// The locks of a program.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// Whether others use the databases too.
    shared: bool,
    /// For each PCB the record that it stands in.
    current: Vec<Option<Record>>,
    /// Records that a class holds.
    classes: Vec<(u8, Record)>,
    /// Given-back buffers.
    spare: Vec<Vec<u8>>,
}

impl Locks {
    /// For a program with so many PCBs.
    pub(crate) fn new(shared: bool, pcbs: usize) -> Locks {
        Locks { shared, current: vec![None; pcbs], classes: Vec::new(), spare: Vec::new() }
    }

    /// Whether anything is locked at all.
    pub(crate) fn are_shared(&self) -> bool {
        self.shared
    }

    /// Locks the record that the PCB moves to, and gives back the one that it leaves.
    pub(crate) fn enter<U: Unit>(
        &mut self,
        unit: &mut U,
        pcb: usize,
        set: SetId,
        root: &[u8],
        mode: LockMode,
    ) -> Result<Entered> {
        if !self.shared || self.current[pcb].as_ref().is_some_and(|record| record.is(set, root)) {
            return Ok(Entered::Already);
        }
        self.leave(unit, pcb)?;
        let record = self.record(set, root);
        let grant = unit.lock(record.name(), mode, Wait::No)?;
        self.stand_in(unit, pcb, record, mode, grant)
    }

    /// A record, in memory that another one has left.
    fn record(&mut self, set: SetId, root: &[u8]) -> Record {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(root);
        Record { set, root: bytes }
    }

    /// The PCB stands in a record that was asked for; waits for it if others have it.
    fn stand_in<U: Unit>(
        &mut self,
        unit: &mut U,
        pcb: usize,
        record: Record,
        mode: LockMode,
        grant: Grant,
    ) -> Result<Entered> {
        let entered = match grant {
            Grant::New => Entered::AtOnce,
            Grant::Again => Entered::Already,
            Grant::Busy => {
                let _ = unit.lock(record.name(), mode, Wait::Forever)?;
                Entered::Waited
            }
        };
        self.current[pcb] = Some(record);
        Ok(entered)
    }

    /// Whether the PCB stands in this record, or nothing is locked at all.
    pub(crate) fn is_in(&self, pcb: usize, set: SetId, root: &[u8]) -> bool {
        !self.shared || self.current[pcb].as_ref().is_some_and(|record| record.is(set, root))
    }

    /// [`enter`](Locks::enter) of the record whose root the cursor stands on, for a PCB that walks
    /// from root to root.
    pub(crate) fn enter_along<U: Unit>(
        &mut self,
        unit: &mut U,
        pcb: usize,
        cursor: &mut U::Cursor,
        mode: LockMode,
    ) -> Result<Entered> {
        self.leave(unit, pcb)?;
        let record = self.record(cursor.set(), cursor.key().unwrap_or_default());
        let grant = unit.lock_along(cursor, mode)?;
        self.stand_in(unit, pcb, record, mode, grant)
    }

    /// Waits for whoever holds a name in a mode that excludes this one, and holds nothing more
    /// than before. Answers whether there was anybody.
    pub(crate) fn pass<U: Unit>(
        &mut self,
        unit: &mut U,
        set: SetId,
        key: &[u8],
        mode: LockMode,
    ) -> Result<bool> {
        let name = LockName { space: set.0, name: key };
        if !self.shared || unit.held(name).is_some() {
            return Ok(false);
        }
        let at_once = unit.lock(name, mode, Wait::No)?.is_held();
        if !at_once {
            let _ = unit.lock(name, mode, Wait::Forever)?;
        }
        unit.unlock(name)?;
        Ok(!at_once)
    }

    /// Locks another record besides, to the sync point: a level of the path lies in it. Answers
    /// whether it was not locked before.
    pub(crate) fn join<U: Unit>(
        &mut self,
        unit: &mut U,
        set: SetId,
        root: &[u8],
        mode: LockMode,
    ) -> Result<bool> {
        let name = LockName { space: set.0, name: root };
        Ok(unit.lock(name, mode, Wait::Forever)? == Grant::New)
    }

    /// Gives back the record that the PCB stands in, unless it is needed for something else.
    pub(crate) fn leave<U: Unit>(&mut self, unit: &mut U, pcb: usize) -> Result<()> {
        let Some(record) = self.current[pcb].take() else { return Ok(()) };
        self.give_back(unit, &record)?;
        self.spare.push(record.root);
        Ok(())
    }

    /// Unlocks a record, unless something else still needs it.
    fn give_back<U: Unit>(&self, unit: &mut U, record: &Record) -> Result<()> {
        let elsewhere = self.current.iter().flatten().any(|other| other == record)
            || self.classes.iter().any(|(_, other)| other == record);
        let changed = unit.held(record.name()) == Some(LockMode::Exclusive);
        if !elsewhere && (!changed || armed(Failpoint::RecordGivenBack)) {
            unit.unlock(record.name())?;
        }
        Ok(())
    }

    /// Locks a record for a change, to the sync point.
    pub(crate) fn change<U: Unit>(&mut self, unit: &mut U, set: SetId, root: &[u8]) -> Result<()> {
        if self.shared {
            let name = LockName { space: set.0, name: root };
            let _ = unit.lock(name, LockMode::Exclusive, Wait::Forever)?;
        }
        Ok(())
    }

    /// Keeps the PCB's record in a class.
    pub(crate) fn hold(&mut self, pcb: usize, class: u8) {
        if let Some(record) = &self.current[pcb] {
            self.classes.push((class, record.clone()));
        }
    }

    /// Drops a class (DEQ).
    pub(crate) fn dequeue<U: Unit>(&mut self, unit: &mut U, class: u8) -> Result<()> {
        let (dropped, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.classes).into_iter().partition(|(one, _)| *one == class);
        self.classes = kept;
        dropped.iter().try_for_each(|(_, record)| self.give_back(unit, record))
    }

    /// Forgets everything: the unit of work has ended, and its locks with it.
    pub(crate) fn forget(&mut self) {
        self.current.iter_mut().for_each(|one| *one = None);
        self.classes.clear();
    }
}
