//! What the units of work of a run did, and what of it a restart must show.
//!
//! Every unit of work that changes something inserts a record with its number into the data set
//! [`LEDGER`]. After a restart the ledger says which units of work are there; everything else
//! follows from it and must be exactly so.
//!
//! Events are numbered by *moments*, so that one run can be judged as of each of its writes.
//!
//! Invariants:
//! 1. Versions of a key stand in the order in which their writers had the key locked, which is the
//!    order of their commits.
//! 2. Nothing here is a scheduling point: what is noted is noted together with what it notes.
//!
//! What [`History::judge`] holds against a recovered system:
//! 1. every unit of work that was acknowledged is there;
//! 2. none is there that did not ask to be committed, or was backed out;
//! 3. those that are there are a prefix of the order of commits;
//! 4. whatever one that is there, or an acknowledged reader, has read is there, too;
//! 5. each record has the value that the last of those that are there gave it: none is half there;
//! 6. data sets that were made and not dropped exist, dropped ones do not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::Lsn;
use parking_lot::Mutex;

/// The data set that says which units of work are there.
pub const LEDGER: &str = "ledger";

/// A unit of work in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitNumber(pub usize);

/// The number of an event; what happened at or before a moment has a number at or below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// Records of one data set.
pub type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// Contents of a system: records by data set.
pub type Contents = BTreeMap<String, Records>;

/// The history of a run. Clones are the same history.
#[derive(Clone, Default)]
pub struct History {
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Default)]
struct State {
    moment: u64,
    units: Vec<Unit>,
    sets: BTreeMap<String, Set>,
    /// Units of work of earlier generations, all of which are there.
    settled: usize,
}

#[derive(Clone, Default)]
struct Unit {
    changes: bool,
    asked: Option<u64>,
    lsn: Option<Lsn>,
    acknowledged: Option<u64>,
    backed_out: bool,
    /// Whose versions it has read.
    reads: BTreeSet<usize>,
    writes: u32,
}

#[derive(Clone, Default)]
struct Set {
    made: Option<u64>,
    made_done: Option<u64>,
    dropped: Option<u64>,
    dropped_done: Option<u64>,
    base: Records,
    versions: BTreeMap<Vec<u8>, Vec<Version>>,
}

#[derive(Clone)]
struct Version {
    unit: usize,
    /// Which write of its unit this is, for savepoints.
    write: u32,
    value: Option<Vec<u8>>,
    void: bool,
}

impl State {
    fn tick(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn set(&mut self, name: &str) -> &mut Set {
        self.sets.entry(name.to_owned()).or_default()
    }

    fn counts(&self, version: &Version) -> bool {
        !version.void && !self.units[version.unit].backed_out
    }

    /// What a reader who has the key locked must see, and who wrote it.
    fn visible(&self, set: &str, key: &[u8]) -> (Option<&Vec<u8>>, Option<usize>) {
        let Some(set) = self.sets.get(set) else { return (None, None) };
        let versions = set.versions.get(key).map_or(&[][..], |versions| versions);
        match versions.iter().rev().find(|version| self.counts(version)) {
            Some(version) => (version.value.as_ref(), Some(version.unit)),
            None => (set.base.get(key), None),
        }
    }
}

/// The key of a unit of work in the ledger.
#[must_use]
pub fn ledger_key(unit: UnitNumber) -> Vec<u8> {
    format!("unit{:08}", unit.0).into_bytes()
}

impl History {
    /// A history in which nothing has happened.
    #[must_use]
    pub fn new() -> History {
        History::default()
    }

    /// A history of its own with the same past, for another future.
    #[must_use]
    pub fn fork(&self) -> History {
        History { state: Arc::new(Mutex::new(self.state.lock().clone())) }
    }

    /// Now.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment(self.state.lock().moment)
    }

    /// How many units of work have begun.
    #[must_use]
    pub fn units(&self) -> usize {
        self.state.lock().units.len()
    }

    /// How many have been acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> usize {
        let state = self.state.lock();
        state.units.iter().filter(|unit| unit.acknowledged.is_some()).count()
    }

    /// A unit of work begins.
    pub fn begin(&self) -> UnitNumber {
        let mut state = self.state.lock();
        state.tick();
        state.units.push(Unit::default());
        UnitNumber(state.units.len() - 1)
    }

    /// It has the key locked and is about to give it a value, or none. Returns what it had; if that
    /// is the same, nothing is written.
    pub fn write(
        &self,
        unit: UnitNumber,
        set: &str,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        state.tick();
        let (before, writer) = state.visible(set, key);
        let before = before.cloned();
        let number = unit.0;
        let unit = &mut state.units[number];
        unit.reads.extend(writer);
        if before.as_deref() == value {
            return before;
        }
        unit.changes = true;
        unit.writes += 1;
        let write = unit.writes;
        let version =
            Version { unit: number, write, value: value.map(<[u8]>::to_vec), void: false };
        state.set(set).versions.entry(key.to_vec()).or_default().push(version);
        before
    }

    /// It has the key locked and reads it: what it must see.
    #[must_use]
    pub fn read(&self, unit: UnitNumber, set: &str, key: &[u8]) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        state.tick();
        let (value, writer) = state.visible(set, key);
        let value = value.cloned();
        state.units[unit.0].reads.extend(writer);
        value
    }

    /// It has the whole set locked and reads it: what it must see.
    #[must_use]
    pub fn read_all(&self, unit: UnitNumber, set: &str) -> Records {
        let mut state = self.state.lock();
        state.tick();
        let mut records = Records::new();
        let mut writers = BTreeSet::new();
        let Some(known) = state.sets.get(set) else { return records };
        for key in known.base.keys().chain(known.versions.keys()) {
            let (value, writer) = state.visible(set, key);
            writers.extend(writer);
            if let Some(value) = value {
                records.insert(key.clone(), value.clone());
            }
        }
        state.units[unit.0].reads.extend(writers);
        records
    }

    /// A moment within the unit of work.
    #[must_use]
    pub fn savepoint(&self, unit: UnitNumber) -> u32 {
        self.state.lock().units[unit.0].writes
    }

    /// It is about to go back to a savepoint.
    pub fn roll_back(&self, unit: UnitNumber, savepoint: u32) {
        let mut state = self.state.lock();
        state.tick();
        for set in state.sets.values_mut() {
            for version in set.versions.values_mut().flatten() {
                version.void |= version.unit == unit.0 && version.write > savepoint;
            }
        }
    }

    /// It is about to be backed out.
    pub fn back_out(&self, unit: UnitNumber) {
        let mut state = self.state.lock();
        state.tick();
        state.units[unit.0].backed_out = true;
    }

    /// It is about to be committed; `changes` if it has changed anything, and so has signed.
    pub fn ask(&self, unit: UnitNumber, changes: bool) {
        let mut state = self.state.lock();
        let now = state.tick();
        let unit = &mut state.units[unit.0];
        unit.asked = Some(now);
        unit.changes = changes;
    }

    /// Its commit record stands before this position.
    pub fn logged(&self, unit: UnitNumber, lsn: Lsn) {
        let mut state = self.state.lock();
        let unit = &mut state.units[unit.0];
        if unit.changes {
            unit.lsn = Some(lsn);
        }
    }

    /// The program has been told that it is committed.
    pub fn acknowledge(&self, unit: UnitNumber) {
        let mut state = self.state.lock();
        let now = state.tick();
        state.units[unit.0].acknowledged = Some(now);
    }

    /// A data set is about to be made.
    pub fn make_set(&self, name: &str) {
        let mut state = self.state.lock();
        let now = state.tick();
        state.set(name).made = Some(now);
    }

    /// It is made.
    pub fn set_made(&self, name: &str) {
        let mut state = self.state.lock();
        let now = state.tick();
        state.set(name).made_done = Some(now);
    }

    /// A data set is about to be dropped.
    pub fn drop_set(&self, name: &str) {
        let mut state = self.state.lock();
        let now = state.tick();
        state.set(name).dropped = Some(now);
    }

    /// It is dropped.
    pub fn set_dropped(&self, name: &str) {
        let mut state = self.state.lock();
        let now = state.tick();
        state.set(name).dropped_done = Some(now);
    }

    /// Holds a recovered system against what had happened by a moment.
    ///
    /// # Errors
    /// The first thing that is wrong, in words.
    pub fn judge(&self, at: Moment, found: &Contents) -> Result<(), String> {
        let state = self.state.lock();
        state.judge_sets(at.0, found)?;
        let present = state.judge_units(at.0, found)?;
        for (name, records) in found {
            state.judge_records(name, records, &present)?;
        }
        Ok(())
    }

    /// Holds what was recovered to a position in the log against what was committed before it: all
    /// of that is there, and nothing else.
    ///
    /// # Errors
    /// The first thing that is wrong, in words.
    pub fn judge_point(&self, to: Lsn, found: &Contents) -> Result<(), String> {
        let state = self.state.lock();
        let nothing = Records::new();
        let ledger = found.get(LEDGER).unwrap_or(&nothing);
        let mut present = BTreeSet::new();
        for number in state.settled..state.units.len() {
            let unit = &state.units[number];
            let there = ledger.contains_key(&ledger_key(UnitNumber(number)));
            match unit.lsn {
                Some(lsn) if there && lsn > to => {
                    return Err(format!("unit {number} is there, and was committed at {lsn}"));
                }
                Some(lsn) if !there && lsn <= to => {
                    return Err(format!("unit {number}, committed at {lsn}, is not there"));
                }
                // Of some nobody has heard where they were committed.
                _ if there && (unit.backed_out || unit.asked.is_none()) => {
                    return Err(format!("unit {number} is there and did not commit"));
                }
                _ => {}
            }
            if there {
                present.insert(number);
            }
        }
        found.iter().try_for_each(|(name, records)| state.judge_records(name, records, &present))
    }

    /// Goes on from a recovered system that has been judged: what is there is there for good.
    pub fn settle(&self, found: &Contents) {
        let mut state = self.state.lock();
        let now = state.tick();
        let mut sets = BTreeMap::new();
        for (name, records) in found {
            let made = Some(now);
            let base = records.clone();
            sets.insert(name.clone(), Set { made, made_done: made, base, ..Set::default() });
        }
        state.sets = sets;
        state.settled = state.units.len();
    }
}

impl State {
    fn judge_sets(&self, at: u64, found: &Contents) -> Result<(), String> {
        let by = |moment: Option<u64>| moment.is_some_and(|moment| moment <= at);
        for (name, set) in &self.sets {
            let there = found.contains_key(name);
            if by(set.made_done) && !by(set.dropped) && !there {
                return Err(format!("data set {name} was made and is not there"));
            }
            if by(set.dropped_done) && there {
                return Err(format!("data set {name} was dropped and is there"));
            }
            if !by(set.made) && there {
                return Err(format!("data set {name} is there before it was made"));
            }
        }
        match found.keys().find(|name| !self.sets.contains_key(*name)) {
            Some(name) => Err(format!("data set {name} is there and nobody has made it")),
            None => Ok(()),
        }
    }

    /// Which units of work of this generation are there.
    fn judge_units(&self, at: u64, found: &Contents) -> Result<BTreeSet<usize>, String> {
        let nothing = Records::new();
        let ledger = found.get(LEDGER).unwrap_or(&nothing);
        let is_there = |unit: usize| ledger.contains_key(&ledger_key(UnitNumber(unit)));
        let mut present = BTreeSet::new();
        let mut last: Option<(Lsn, usize)> = None;
        let mut first_missing: Option<(Lsn, usize)> = None;
        for number in self.settled..self.units.len() {
            let unit = &self.units[number];
            let acknowledged = unit.acknowledged.is_some_and(|moment| moment <= at);
            if is_there(number) {
                if unit.backed_out || unit.asked.is_none_or(|moment| moment > at) {
                    return Err(format!("unit {number} is there and did not commit"));
                }
                present.insert(number);
                last = last.max(unit.lsn.map(|lsn| (lsn, number)));
            } else if unit.changes {
                if acknowledged {
                    return Err(format!("unit {number} was acknowledged and is not there"));
                }
                if let Some(lsn) = unit.lsn {
                    let this = (lsn, number);
                    first_missing = Some(first_missing.map_or(this, |other| other.min(this)));
                }
            }
        }
        if let (Some((lsn, there)), Some((before, missing))) = (last, first_missing)
            && before < lsn
        {
            let text = format!("unit {there} is there, unit {missing}, committed before, is not");
            return Err(text);
        }
        for number in self.settled..self.units.len() {
            let unit = &self.units[number];
            let acknowledged = unit.acknowledged.is_some_and(|moment| moment <= at);
            if !present.contains(&number) && (unit.changes || !acknowledged) {
                continue;
            }
            let missing = unit
                .reads
                .iter()
                .find(|read| **read != number && **read >= self.settled && !present.contains(read));
            if let Some(missing) = missing {
                let what = if unit.changes { "is there" } else { "was acknowledged" };
                return Err(format!(
                    "unit {number} {what} and has read of unit {missing}, which is not there"
                ));
            }
        }
        Ok(present)
    }

    fn judge_records(
        &self,
        name: &str,
        records: &Records,
        present: &BTreeSet<usize>,
    ) -> Result<(), String> {
        let Some(set) = self.sets.get(name) else { return Ok(()) };
        let mut expected = set.base.clone();
        let mut writers: BTreeMap<&[u8], usize> = BTreeMap::new();
        for (key, versions) in &set.versions {
            let last = versions
                .iter()
                .rev()
                .find(|version| !version.void && present.contains(&version.unit));
            let Some(version) = last else { continue };
            writers.insert(key, version.unit);
            match &version.value {
                Some(value) => expected.insert(key.clone(), value.clone()),
                None => expected.remove(key),
            };
        }
        for key in expected.keys().chain(records.keys()) {
            let (wanted, there) = (expected.get(key), records.get(key));
            if wanted == there {
                continue;
            }
            let writer = writers.get(&key[..]).map_or_else(
                || "as it was at the beginning".to_owned(),
                |unit| format!("from unit {unit}"),
            );
            return Err(format!(
                "data set {name}, record {}: {} is there, {} expected, {writer}",
                key.escape_ascii(),
                show(there),
                show(wanted),
            ));
        }
        Ok(())
    }
}

/// A value for people.
pub fn show(value: Option<&Vec<u8>>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) => {
            let head = &value[..value.len().min(24)];
            format!("\"{}\" ({} bytes)", head.escape_ascii(), value.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Records<'a> = &'a [(&'a [u8], &'a [u8])];

    fn contents(sets: &[(&str, Records<'_>)]) -> Contents {
        let records = |records: Records<'_>| {
            records.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
        };
        sets.iter().map(|(name, all)| ((*name).to_owned(), records(all))).collect()
    }

    fn started() -> History {
        let history = History::new();
        for name in [LEDGER, "one"] {
            history.make_set(name);
            history.set_made(name);
        }
        history
    }

    fn commit(history: &History, key: &[u8], value: &[u8], lsn: u64) -> UnitNumber {
        let unit = history.begin();
        history.write(unit, LEDGER, &ledger_key(unit), Some(b""));
        history.write(unit, "one", key, Some(value));
        history.ask(unit, true);
        history.logged(unit, Lsn(lsn));
        unit
    }

    #[test]
    fn what_was_acknowledged_must_be_there_and_whole() {
        let history = started();
        let unit = commit(&history, b"a", b"1", 100);
        let none = contents(&[(LEDGER, &[]), ("one", &[])]);
        let key = ledger_key(unit);
        let half = contents(&[(LEDGER, &[(&key, b"")]), ("one", &[])]);
        let whole = contents(&[(LEDGER, &[(&key, b"")]), ("one", &[(b"a", b"1")])]);
        let now = history.moment();
        assert_eq!(history.judge(now, &none), Ok(()));
        assert_eq!(history.judge(now, &whole), Ok(()));
        assert!(history.judge(now, &half).is_err());
        history.acknowledge(unit);
        assert!(history.judge(history.moment(), &none).is_err());
        assert_eq!(history.judge(now, &none), Ok(()), "it was not acknowledged by then");
    }

    #[test]
    fn units_that_are_there_are_a_prefix_and_have_read_what_is_there() {
        let history = started();
        let one = ledger_key(commit(&history, b"a", b"1", 100));
        let two = ledger_key(commit(&history, b"b", b"2", 200));
        let gap = contents(&[(LEDGER, &[(&two, b"")]), ("one", &[(b"b", b"2")])]);
        assert!(history.judge(history.moment(), &gap).unwrap_err().contains("committed before"));
        let reader = history.begin();
        assert_eq!(history.read(reader, "one", b"b"), Some(b"2".to_vec()));
        history.ask(reader, false);
        let first = contents(&[(LEDGER, &[(&one, b"")]), ("one", &[(b"a", b"1")])]);
        assert_eq!(history.judge(history.moment(), &first), Ok(()));
        history.acknowledge(reader);
        assert!(history.judge(history.moment(), &first).unwrap_err().contains("has read"));
    }

    #[test]
    fn what_was_backed_out_or_rolled_back_is_not_there() {
        let history = started();
        let unit = history.begin();
        history.write(unit, "one", b"a", Some(b"1"));
        let savepoint = history.savepoint(unit);
        history.write(unit, "one", b"a", Some(b"2"));
        history.roll_back(unit, savepoint);
        assert_eq!(history.read(unit, "one", b"a"), Some(b"1".to_vec()));
        history.back_out(unit);
        let other = history.begin();
        assert_eq!(history.read(other, "one", b"a"), None);
        let key = ledger_key(unit);
        let there = contents(&[(LEDGER, &[(&key, b"")]), ("one", &[(b"a", b"1")])]);
        assert!(history.judge(history.moment(), &there).is_err());
    }
}
