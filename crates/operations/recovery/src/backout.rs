//! Batch backout: units of work that are long over are taken back, as if they had never been.
//!
//! 1. The log is read from their beginning on: what they changed, and who has changed the same
//!    since. If anybody has, nothing is done, and they are named.
//!    Where they have only taken back what is asked for, it is done already: so it is when a
//!    backout is run again whose end was not heard of.
//! 2. In a unit of work of its own the records are locked; then the rest of the log is read.
//! 3. Each record is followed back, newest change first, from what it is to what it was. It must be
//!    what the units have left, or nothing is done.
//! 4. The records become what they were, and the unit of work is committed.
//!
//! Invariants:
//! 1. One backout is one unit of work: it counts whole or not at all, and can be recovered to,
//!    backed out, and run again after a crash like any other.
//! 2. It undoes nothing but what the named units did.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base::{DataSetId, Lsn, UowId};
use btree::records::Record as TreeRecord;
use btree::{Effect, StoredValue, Tree};
use recon::Recon;
use seam::failpoint::{Failpoint, armed};
use store::{
    Cursor as _, Grant, KeyRange, LockMode, LockName, Locking, Outcome, Position, Read, SetId,
    SetInfo, Store, StoreError, Unit, UnitOptions, Wait,
};
use store_kernel::{KernelStore, KernelUnit};
use uow::UowError;

use crate::chains::{Wanted, from_log};
use crate::recover::History;
use crate::trace::{Change, Fate, Trace};
use crate::{Progress, RecoveryError};

/// Writes how a gap is called: that in front of a key, or that at the end.
pub type NameGap = fn(Option<&[u8]>, &mut Vec<u8>);

/// What is locked where a key comes next, or the end.
type Names<'n> = dyn Fn(Option<&[u8]>) -> Vec<Vec<u8>> + 'n;

/// What layers above know of data sets.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// A data set whose keys begin with keys of another one, and that one, by name: whatever has
    /// such a key stands beneath the record of the other one.
    pub beneath: Vec<(String, String)>,
    /// Data sets of which programs lock the gaps between all keys; of others, those between roots.
    pub gapped: BTreeSet<String>,
    /// How gaps are called; without it none is locked.
    pub gap: Option<NameGap>,
    /// Data sets that say how others are to be read: nothing in them is taken back, since the
    /// others would stay as they are.
    pub kept: BTreeSet<String>,
}

/// How a backout is done.
#[derive(Clone, Debug)]
pub struct BackoutOptions {
    /// Only find out whether it can be done.
    pub check: bool,
    /// How long to wait for programs that use the records.
    pub wait: Duration,
    /// Which data sets depend on each other.
    pub ties: Ties,
}

/// A unit of work that was backed out, or could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedOut {
    /// Its number.
    pub uow: UowId,
    /// Its commit record.
    pub committed: Lsn,
    /// When that was: UTC in microseconds.
    pub utc_us: u64,
    /// How many records of the log are taken back.
    pub changes: u64,
    /// How many are of data sets that were recovered to a point before: they are gone already.
    pub void: u64,
}

/// What a backout did, or would do.
#[derive(Clone, Debug)]
pub struct Backout {
    /// The unit of work that did it; `None` if it was only checked, or nothing was left to do.
    pub by: Option<UowId>,
    /// Who had taken all of it back before; then nothing was left to do.
    pub before: BTreeSet<UowId>,
    /// Whose changes.
    pub units: Vec<BackedOut>,
    /// How many keys are changed back in each data set, by name.
    pub sets: BTreeMap<String, u64>,
    /// Where reading the log began.
    pub from: Lsn,
    /// And where it ended.
    pub to: Lsn,
}

/// A key on its way back.
struct Way {
    now: Option<StoredValue>,
    then: Option<StoredValue>,
    /// The change that gave up what was there, and its data set's number then.
    given_up: (Lsn, DataSetId),
}

/// A key and what it shall be; `None`: it shall not be there.
struct Restored {
    set: SetId,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

struct Work<'w> {
    store: &'w KernelStore,
    history: &'w dyn History,
    sets: BTreeMap<DataSetId, SetInfo>,
    trace: Trace,
    options: &'w BackoutOptions,
    /// Where reading the log began.
    from: Lsn,
    /// Where it could begin: whatever is older is gone.
    oldest: Lsn,
}

/// Backs out units of work that were committed. The log that it may read stays until it is done,
/// whatever policy lets go meanwhile.
///
/// # Errors
/// [`RecoveryError::NotBackedOut`] and [`RecoveryError::ChangedSince`] say why they cannot be;
/// [`RecoveryError::OfTheSystem`]; [`RecoveryError::InUse`]; whatever store and log say. Nothing is
/// changed then.
pub fn backout(
    store: &KernelStore,
    recon: &Recon,
    history: &dyn History,
    units: &[UowId],
    options: &BackoutOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Backout, RecoveryError> {
    let held = recon.hold_log();
    let oldest = history.oldest();
    held.begin_at(oldest);
    let sets = known_sets(store)?;
    let to = store.kernel().log().next_lsn();
    // Most are young: the log itself is tried before the archives.
    let logged = store.kernel().log().oldest();
    let log = (&[logged.max(oldest), oldest][..], to);
    let (trace, from) = find(history, (&sets, options), units, log, progress)?;
    let mut work = Work { store, history, sets, trace, options, from, oldest };
    let backed_out = work.units()?;
    work.refuse_what_is_kept()?;
    if let Err(changed) = work.refuse_if_changed_since() {
        let before = work.in_the_way();
        if !work.is_undone_by(&before, log, progress)? {
            return Err(changed);
        }
        let sets = BTreeMap::new();
        return Ok(Backout { by: None, before, units: backed_out, sets, from, to });
    }
    let wait = Wait::AtMost(options.wait);
    let mut unit = store.begin(UnitOptions { wait, ..UnitOptions::default() })?;
    let mut end = to;
    if !options.check {
        work.lock(&mut unit)?;
        // Who had a record locked before is in the log now, and no other comes behind.
        end = store.kernel().log().next_lsn();
        store.kernel().log().wait_durable(end)?;
        read(history, &mut work.trace, (to, end), progress)?;
        work.refuse_if_changed_since()?;
    }
    let restored = work.restored()?;
    let mut sets = BTreeMap::new();
    for one in &restored {
        *sets.entry(work.name_of(one.set)).or_default() += 1;
    }
    let by = (!options.check && !restored.is_empty()).then(|| unit.uow().id());
    if by.is_some() {
        work.write(unit, &restored)?;
    } else {
        unit.backout()?;
    }
    let before = BTreeSet::new();
    Ok(Backout { by, before, units: backed_out, sets, from: work.from, to: end })
}

/// The store's sets by the numbers of their data sets.
fn known_sets(store: &KernelStore) -> Result<BTreeMap<DataSetId, SetInfo>, RecoveryError> {
    let infos = store.sets()?.into_iter();
    let numbered = infos.filter_map(|info| {
        let data = store.kernel().set_named(&info.name)?;
        Some((data.id(), info))
    });
    Ok(numbered.collect())
}

/// Reads the log from where all that is asked for is in it: the first of some positions that
/// serves.
fn find(
    history: &dyn History,
    (sets, options): (&BTreeMap<DataSetId, SetInfo>, &BackoutOptions),
    units: &[UowId],
    (starts, to): (&[Lsn], Lsn),
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(Trace, Lsn), RecoveryError> {
    let keyed = |info: &SetInfo| info.attributes.locking == Locking::Keys;
    let flat: BTreeSet<DataSetId> =
        sets.iter().filter(|(_, info)| keyed(info)).map(|(id, _)| *id).collect();
    let number =
        |name: &String| sets.iter().find(|(_, info)| info.name == *name).map(|(number, _)| *number);
    let ties = options.ties.beneath.iter();
    let ties: Vec<(DataSetId, DataSetId)> =
        ties.filter_map(|(below, above)| Some((number(below)?, number(above)?))).collect();
    let fresh = || Trace::of(units, flat.clone(), ties.clone());
    let mut tried = (fresh(), to);
    for from in starts.iter().copied() {
        tried = (fresh(), from);
        read(history, &mut tried.0, (from, to), progress)?;
        // Without archives the last position may be the first one again.
        if tried.0.is_whole() || starts.last() == Some(&from) {
            break;
        }
    }
    Ok(tried)
}

fn read(
    history: &dyn History,
    trace: &mut Trace,
    (from, to): (Lsn, Lsn),
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), RecoveryError> {
    let mut reported = from;
    history.each(from, to, &mut |record| {
        trace.see(record)?;
        if record.lsn.0 > reported.0 + TELL_EACH {
            reported = record.lsn;
            let (done, total) = (reported.0 - from.0, to.0 - from.0);
            progress(Progress { what: "the log", done, total });
        }
        Ok(true)
    })
}

impl Work<'_> {
    /// The units, if each of them is over, was committed and is wholly known.
    fn units(&self) -> Result<Vec<BackedOut>, RecoveryError> {
        let each = self.trace.named.iter().map(|(uow, named)| {
            let refuse = |why: String| Err(RecoveryError::NotBackedOut { uow: *uow, why });
            if !named.seen {
                return refuse(format!("the log from {} on has nothing of it", self.from));
            }
            let Fate::Committed { at, utc_us } = named.fate else {
                return refuse(match named.fate {
                    Fate::BackedOut => "it was backed out when it ended".into(),
                    _ => "it is not over".into(),
                });
            };
            if !named.whole {
                return refuse(format!("it began before {}, where the log begins", self.from));
            }
            let changes = named.changes.len() as u64;
            Ok(BackedOut { uow: *uow, committed: at, utc_us, changes, void: named.void })
        });
        each.collect()
    }

    fn refuse_what_is_kept(&self) -> Result<(), RecoveryError> {
        for (uow, change) in self.changes() {
            let name = self.sets.get(&change.set).map(|info| &info.name);
            if let Some(name) = name.filter(|name| self.options.ties.kept.contains(*name)) {
                return Err(RecoveryError::OfTheSystem { uow, name: name.clone() });
            }
        }
        Ok(())
    }

    fn refuse_if_changed_since(&self) -> Result<(), RecoveryError> {
        let met = self.trace.met();
        let Some((set, _)) = met.iter().find(|(_, units)| !units.is_empty()) else {
            return Ok(());
        };
        let name = self.sets.get(set).map_or_else(|| set.to_string(), |info| info.name.clone());
        Err(RecoveryError::ChangedSince { name, by: self.in_the_way().into_iter().collect() })
    }

    /// Who has changed the same records since.
    fn in_the_way(&self) -> BTreeSet<UowId> {
        self.trace.met().into_values().flatten().collect()
    }

    /// Whether those in the way have taken back what the units did, and have done nothing else:
    /// all that they have changed together is as it was before.
    fn is_undone_by(
        &self,
        by: &BTreeSet<UowId>,
        log: (&[Lsn], Lsn),
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<bool, RecoveryError> {
        let all: Vec<UowId> = self.trace.named.keys().chain(by).copied().collect();
        let (trace, from) = find(self.history, (&self.sets, self.options), &all, log, progress)?;
        let together = Work { trace, from, sets: self.sets.clone(), ..*self };
        let is_known = together.units().is_ok() && together.in_the_way().is_empty();
        // What cannot be followed back is not undone.
        let Some(restored) = is_known.then(|| together.restored().ok()).flatten() else {
            return Ok(false);
        };
        let mut unit = self.store.begin(UnitOptions::default())?;
        let mut value = Vec::new();
        for one in restored {
            let is_there = unit.get(one.set, &one.key, Read::Unlocked, &mut value)?;
            if is_there.then_some(&value) != one.value.as_ref() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn name_of(&self, set: SetId) -> String {
        let info = self.sets.values().find(|info| info.id == set);
        info.map_or_else(|| set.to_string(), |info| info.name.clone())
    }

    /// The set of a change.
    fn set_of(&self, uow: UowId, change: &Change) -> Result<&SetInfo, RecoveryError> {
        self.sets.get(&change.set).ok_or_else(|| {
            let offline = self.store.kernel().offline_sets();
            let offline = offline.into_iter().find(|set| set.id == change.set);
            let why = match offline {
                Some(set) => {
                    format!("it changed {}, which is offline: recover that first", set.name)
                }
                None => format!("it changed data set {}, which is gone", change.set),
            };
            RecoveryError::NotBackedOut { uow, why }
        })
    }

    /// All changes, newest first.
    fn changes(&self) -> Vec<(UowId, &Change)> {
        let named = self.trace.named.iter();
        let mut all: Vec<(UowId, &Change)> =
            named.flat_map(|(uow, named)| named.changes.iter().map(|it| (*uow, it))).collect();
        all.sort_by_key(|(_, change)| std::cmp::Reverse(change.lsn));
        all
    }

    /// Locks what the units have changed. Where locking is the caller's, a database record is
    /// locked by the bytes that its keys have in common, which is the root's key (H5); where they
    /// have none, no other program may use the set at all.
    fn lock(&self, unit: &mut KernelUnit) -> Result<(), RecoveryError> {
        let mut value = Vec::new();
        for (uow, change) in self.changes() {
            let info = self.set_of(uow, change)?;
            let record = decoded(change)?;
            for (key, effect) in record.effects() {
                let in_use = |error| self.in_use(&info.name, error);
                if info.attributes.locking == Locking::Keys {
                    unit.get(info.id, key, Read::Exclusive, &mut value).map_err(in_use)?;
                    continue;
                }
                let prefix = usize::from(info.attributes.prefix_bytes);
                let name = key.get(..prefix).filter(|name| !name.is_empty()).unwrap_or(key);
                self.lock_name(unit, info, name)?;
                if !matches!(effect, Effect::Became(_)) {
                    self.lock_gaps(unit, info, key)?;
                }
            }
        }
        Ok(())
    }

    fn lock_name(
        &self,
        unit: &mut KernelUnit,
        info: &SetInfo,
        name: &[u8],
    ) -> Result<(), RecoveryError> {
        let name = LockName { space: info.id.0, name };
        let granted = unit.lock(name, LockMode::Exclusive, Wait::AtMost(self.options.wait));
        match granted.map_err(|error| self.in_use(&info.name, error))? {
            Grant::Busy => Err(RecoveryError::InUse { name: info.name.clone() }),
            _ => Ok(()),
        }
    }

    /// Locks the gaps on both sides of a key that comes or goes, if programs lock them: who has
    /// looked there goes on finding what he found (K14). Behind a root that is the root behind it,
    /// too, as in a program that deletes one.
    fn lock_gaps(
        &self,
        unit: &mut KernelUnit,
        info: &SetInfo,
        key: &[u8],
    ) -> Result<(), RecoveryError> {
        let Ties { gapped, gap: Some(gap), .. } = &self.options.ties else { return Ok(()) };
        let root = usize::from(info.attributes.prefix_bytes);
        let named = |next: Option<&[u8]>| {
            let mut name = Vec::new();
            gap(next, &mut name);
            name
        };
        if gapped.contains(&info.name) {
            self.lock_name(unit, info, &named(Some(key)))?;
            let at = Position::After(key);
            self.lock_behind(unit, info, at, &|next| vec![named(next)])
        } else if key.len() == root {
            let mut end = Vec::new();
            let at = KeyRange::prefix(key, &mut end).to.map_or(Position::Back, Position::Before);
            self.lock_behind(unit, info, at, &|next| {
                let next = next.map(|key| key.get(..root).unwrap_or(key));
                vec![named(next), next.unwrap_or_default().to_vec()]
            })
        } else {
            Ok(())
        }
    }

    /// Locks what is called after the first key behind a place.
    fn lock_behind(
        &self,
        unit: &mut KernelUnit,
        info: &SetInfo,
        at: Position<'_>,
        names: &Names<'_>,
    ) -> Result<(), RecoveryError> {
        let mut cursor = self.store.cursor(info.id)?;
        let mut find = |unit: &mut KernelUnit| -> Result<Vec<Vec<u8>>, RecoveryError> {
            cursor.seek(at);
            Ok(names(unit.next(&mut cursor, Read::Unlocked)?.map(|entry| entry.key)))
        };
        let mut found = find(unit)?;
        loop {
            found.iter().try_for_each(|name| self.lock_name(unit, info, name))?;
            // Another may have added or removed the next one until the locks were had.
            let now = find(unit)?;
            if now == found {
                return Ok(());
            }
            found = now;
        }
    }

    fn in_use(&self, name: &str, error: StoreError) -> RecoveryError {
        match error {
            StoreError::Deadlock | StoreError::Timeout(_) => {
                RecoveryError::InUse { name: name.to_owned() }
            }
            other => other.into(),
        }
    }

    /// What every key shall be.
    fn restored(&self) -> Result<Vec<Restored>, RecoveryError> {
        let ways = self.ways()?;
        let (mut restored, mut long) = (Vec::new(), Vec::new());
        for ((set, key), way) in ways {
            if way.now == way.then {
                continue;
            }
            let Some(info) = self.sets.get(&set) else { continue };
            let (until, set) = way.given_up;
            if let Some((len, first)) = way.then.as_ref().and_then(StoredValue::chain) {
                long.push((restored.len(), Wanted { set, first, len, until }));
            }
            let value = way.then.map(|then| then.bytes);
            restored.push(Restored { set: info.id, key, value });
        }
        let (places, wanted): (Vec<usize>, Vec<Wanted>) = long.into_iter().unzip();
        let values = from_log(self.history, self.oldest, &wanted)?;
        for (place, value) in places.into_iter().zip(values) {
            let one = &mut restored[place];
            let name = self.name_of(one.set);
            one.value = Some(value.ok_or(RecoveryError::LongValueGone { name })?);
        }
        Ok(restored)
    }

    /// Follows every key back from what it is.
    fn ways(&self) -> Result<BTreeMap<(DataSetId, Vec<u8>), Way>, RecoveryError> {
        let kernel = self.store.kernel();
        let mut ways: BTreeMap<(DataSetId, Vec<u8>), Way> = BTreeMap::new();
        let mut changes = self.changes();
        if armed(Failpoint::BackoutForwards) {
            changes.reverse();
        }
        for (uow, change) in changes {
            let info = self.set_of(uow, change)?;
            let record = decoded(change)?;
            if matches!(record, TreeRecord::LoadBegins) {
                let why = format!("it loaded {}: empty that, or recover it to a point", info.name);
                return Err(RecoveryError::NotBackedOut { uow, why });
            }
            for (key, effect) in record.effects() {
                let place = (change.set, key.to_vec());
                if !ways.contains_key(&place) {
                    let data = kernel.set(change.set);
                    let data = data.ok_or_else(|| StoreError::NoSuchSet(info.id))?;
                    let now = Tree::new(kernel, &data).stored(key).map_err(UowError::from)?;
                    let given_up = (change.lsn, change.origin);
                    ways.insert(place.clone(), Way { then: now.clone(), now, given_up });
                }
                let Some(way) = ways.get_mut(&place) else { continue };
                let before = effect.before(way.then.take());
                let by = Vec::new();
                way.then = before
                    .map_err(|_| RecoveryError::ChangedSince { name: info.name.clone(), by })?;
                way.given_up = (change.lsn, change.origin);
            }
        }
        Ok(ways)
    }

    /// Makes the records what they were, in one unit of work.
    fn write(&self, mut unit: KernelUnit, restored: &[Restored]) -> Result<(), RecoveryError> {
        for one in restored {
            let in_use = |error| self.in_use(&self.name_of(one.set), error);
            match &one.value {
                Some(value) => unit.put(one.set, &one.key, value).map_err(in_use)?,
                None => match unit.delete(one.set, &one.key).map_err(in_use)? {
                    Outcome::Done | Outcome::Absent | Outcome::Exists => {}
                },
            }
            if armed(Failpoint::BackoutInPieces) {
                unit.commit()?;
                unit = self.store.begin(UnitOptions::default())?;
            }
        }
        unit.commit()?;
        Ok(())
    }
}

fn decoded(change: &Change) -> Result<TreeRecord<'_>, RecoveryError> {
    TreeRecord::decode(change.kind, &change.body).map_err(|damage| {
        let object = format!("the log record at {}", change.lsn);
        UowError::Damaged { object, why: damage.0 }.into()
    })
}

/// How often the caller that waits is told, in bytes of log.
const TELL_EACH: u64 = 1 << 20;
