//! Batch backout: what a unit of work did is gone, what others did is not, whatever crashes
//! meanwhile; and whoever has changed the same since is named.
//!
//! A script commits many small units of work over few keys and few values, so that they meet, and
//! often leave what was there before. It notes what each of them changed. Then, on snapshots of its
//! disk, each of them is backed out. On every other machine most of the log is in archives alone,
//! and in some lives the sets were recovered in between.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use archive::LogSource;
use base::{Lsn, UowId};
use recovery::{Backout, BackoutOptions, History, RecoveryError, Target, Ties, backout};
use seam::sim::{CrashStyle, Rng, SimDisk};
use store::{Read, Store, Unit, UnitOptions};

use crate::recovery::{Ground, Model, NAMES, Site, coded, compare, run};

/// A key of one of the sets.
type Place = (usize, Vec<u8>);
const STEPS: usize = 40;

/// A unit of work that was committed.
struct Done {
    uow: UowId,
    /// What its keys were before; only those that it has changed.
    before: BTreeMap<Place, Option<Vec<u8>>>,
}

/// A disk with a system, and who has changed what in it.
struct Ledger {
    ground: Ground,
    disk: SimDisk,
    units: Vec<Done>,
    model: Model,
}

fn ledger(seed: u64) -> Result<Ledger, String> {
    let (disk, ground) = (SimDisk::new(), Ground::of(seed));
    let mut rng = Rng::stream(seed, "backout");
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let (mut model, mut units) = (Model::new(), Vec::new());
        for step in 0..STEPS {
            if seed.is_multiple_of(3) && step == STEPS / 3 {
                site.copy("/copy-1", None)?;
            }
            if seed.is_multiple_of(3) && step == STEPS / 2 {
                site.recover(&NAMES, Target::Now)?;
            }
            let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
            let (mut now, mut before) = (model.clone(), BTreeMap::new());
            change(&site, &mut rng, &mut unit, (&mut now, &mut before))?;
            if rng.one_in(3) {
                let point = unit.savepoint().map_err(coded)?;
                let (mut lost, mut other) = (now.clone(), BTreeMap::new());
                change(&site, &mut rng, &mut unit, (&mut lost, &mut other))?;
                unit.rollback_to(point).map_err(coded)?;
            }
            if rng.one_in(8) {
                unit.backout().map_err(coded)?;
                continue;
            }
            let uow = unit.uow().id();
            unit.commit().map_err(coded)?;
            model = now;
            // Of one that has changed nothing the log knows nothing.
            if !before.is_empty() {
                units.push(Done { uow, before });
            }
        }
        site.close()?;
        Ok((units, model))
    })?;
    let (units, model) = lived.ok_or("the machine crashed by itself")?;
    disk.settle();
    Ok(Ledger { ground, disk, units, model })
}

/// Changes some keys of both sets; few values, so that one often comes again.
fn change(
    site: &Site,
    rng: &mut Rng,
    unit: &mut impl Unit,
    (now, before): (&mut Model, &mut BTreeMap<Place, Option<Vec<u8>>>),
) -> Result<(), String> {
    for _ in 0..rng.index(6) {
        let place = (rng.index(2), format!("key{:02}", rng.below(30)).into_bytes());
        let set = site.sets[place.0];
        let old = now.get(&place).cloned();
        let value = vec![rng.below(2) as u8; if rng.one_in(8) { 5_000 } else { 40 }];
        let removes = rng.one_in(4);
        // What is so already is not changed; but a long value is written anew.
        let same = if removes { old.is_none() } else { old.as_ref() == Some(&value) };
        if removes {
            let _ = unit.delete(set, &place.1).map_err(coded)?;
            now.remove(&place);
        } else {
            unit.put(set, &place.1, &value).map_err(coded)?;
            now.insert(place.clone(), value.clone());
        }
        if !same || !removes && value.len() > 40 {
            before.entry(place).or_insert(old);
        }
    }
    Ok(())
}

impl Ledger {
    /// Who has changed something since that one of these has changed, without being one of them.
    fn later(&self, chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
        let meets = |at: &usize| {
            let mut before = chosen.iter().filter(|one| *one < at);
            let keys = &self.units[*at].before;
            before.any(|one| self.units[*one].before.keys().any(|key| keys.contains_key(key)))
        };
        (0..self.units.len()).filter(|at| !chosen.contains(at)).filter(meets).collect()
    }

    /// The same with all who stand in the way.
    fn with_all(&self, mut chosen: BTreeSet<usize>) -> BTreeSet<usize> {
        loop {
            let later = self.later(&chosen);
            if later.is_empty() {
                return chosen;
            }
            chosen.extend(later);
        }
    }

    /// What there is once these have never been.
    fn without(&self, chosen: &BTreeSet<usize>) -> Model {
        let mut model = self.model.clone();
        for at in chosen.iter().rev() {
            for (place, before) in &self.units[*at].before {
                match before {
                    Some(value) => drop(model.insert(place.clone(), value.clone())),
                    None => drop(model.remove(place)),
                }
            }
        }
        model
    }

    fn names(&self, chosen: &BTreeSet<usize>) -> Vec<UowId> {
        chosen.iter().map(|at| self.units[*at].uow).collect()
    }
}

fn back_out(site: &Site, units: &[UowId], check: bool) -> Result<Backout, String> {
    back_out_reading(site, &site.history(), units, check)
}

/// Backs units of work out, and reads the log from there.
pub(crate) fn back_out_reading(
    site: &Site,
    history: &dyn History,
    units: &[UowId],
    check: bool,
) -> Result<Backout, String> {
    let (wait, ties) = (Duration::from_secs(60), Ties::default());
    let options = BackoutOptions { check, wait, ties };
    backout(&site.store, &site.recon, history, units, &options, &mut |_| ()).map_err(coded)
}

/// What is done in front of a reading.
type Meanwhile<'m> = Box<dyn FnOnce() + 'm>;

/// A log in front of which somebody does something when it is read. A backout reads it twice: for
/// what is to be taken back, and then, with its locks, for what came behind.
pub(crate) struct Interrupted<'m> {
    log: LogSource,
    reads_before: Cell<u32>,
    meanwhile: RefCell<Option<Meanwhile<'m>>>,
}

impl<'m> Interrupted<'m> {
    /// The log, with something in front of its reading of this number, from 1 on.
    pub(crate) fn at(number: u32, log: LogSource, meanwhile: impl FnOnce() + 'm) -> Self {
        let meanwhile: Meanwhile<'m> = Box::new(meanwhile);
        let meanwhile = RefCell::new(Some(meanwhile));
        Interrupted { log, reads_before: Cell::new(number - 1), meanwhile }
    }
}

impl History for Interrupted<'_> {
    fn oldest(&self) -> Lsn {
        self.log.oldest()
    }

    fn each(
        &self,
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&wal::Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError> {
        match self.reads_before.get() {
            0 => {
                let meanwhile = self.meanwhile.take();
                meanwhile.into_iter().for_each(|meanwhile| meanwhile());
            }
            before => self.reads_before.set(before - 1),
        }
        self.log.each(from, to, each)
    }
}

/// How thorough a search over units of work was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackedOut {
    /// Units that were backed out alone.
    pub alone: usize,
    /// Units that were refused, and backed out with those who stood in the way.
    pub together: usize,
}

/// Backs each unit of work out, alone or with all who stand in the way.
///
/// # Errors
/// The first broken promise.
pub fn every_unit(seed: u64, stride: usize) -> Result<BackedOut, String> {
    let ledger = ledger(seed)?;
    let mut done = BackedOut::default();
    for at in (seed as usize % stride..ledger.units.len()).step_by(stride) {
        let chosen = BTreeSet::from([at]);
        let later = ledger.later(&chosen);
        let disk = ledger.disk.snapshot();
        let uow = ledger.units[at].uow;
        let tried = run(seed, &disk, |seam| one_unit(&seam, &ledger, &chosen, &later));
        let tried = tried.and_then(|end| end.ok_or_else(|| "the machine crashed".into()));
        tried.map_err(|why| format!("{uow}: {why}"))?;
        let expected = ledger.without(&ledger.with_all(chosen));
        run(seed + 1, &disk, |seam| {
            let site = Site::open(&seam, ledger.ground, false, &[])?;
            compare(&site.contents()?, &expected)
        })
        .map_err(|why| format!("{uow}, after a restart: {why}"))?;
        *(if later.is_empty() { &mut done.alone } else { &mut done.together }) += 1;
    }
    Ok(done)
}

fn one_unit(
    seam: &seam::Seam,
    ledger: &Ledger,
    chosen: &BTreeSet<usize>,
    later: &BTreeSet<usize>,
) -> Result<(), String> {
    let site = Site::open(seam, ledger.ground, false, &[])?;
    let all = ledger.with_all(chosen.clone());
    if !later.is_empty() {
        let refused = back_out(&site, &ledger.names(chosen), false);
        let named = |why: &String| {
            let known = |uow: UowId| why.contains(&format!("{uow}")) || why.contains("others");
            why.contains("HFV011") && ledger.names(later).into_iter().all(known)
        };
        // Those in the way may have put everything back already: then nothing is left to do.
        let is_undone = |done: &Backout| {
            let by: Vec<usize> = (0..ledger.units.len())
                .filter(|at| done.before.contains(&ledger.units[*at].uow))
                .collect();
            let together = chosen.iter().copied().chain(by).collect();
            done.by.is_none() && ledger.without(&together) == ledger.model
        };
        if !refused.as_ref().is_err_and(named) && !refused.as_ref().is_ok_and(is_undone) {
            return Err(format!("what was changed since was not said: {refused:?}"));
        }
        compare(&site.contents()?, &ledger.model)?;
    }
    let names = ledger.names(&all);
    let checked = back_out(&site, &names, true)?;
    compare(&site.contents()?, &ledger.model).map_err(|why| format!("a check: {why}"))?;
    let done = back_out(&site, &names, false)?;
    compare(&site.contents()?, &ledger.without(&all))?;
    if (checked.sets, checked.units) != (done.sets, done.units) {
        return Err("it did something else than the check said".into());
    }
    if let Some(by) = done.by {
        match back_out(&site, &names, false) {
            Ok(again) if again.by.is_none() && again.before.contains(&by) => {}
            other => return Err(format!("it was done twice: {other:?}")),
        }
        compare(&site.contents()?, &ledger.without(&all)).map_err(|why| format!("twice: {why}"))?;
        // What has taken something back can be taken back itself.
        let again = back_out(&site, &[by], false)?.by.ok_or("nothing was to be taken back")?;
        compare(&site.contents()?, &ledger.model).map_err(|why| format!("and back: {why}"))?;
        back_out(&site, &[again], false)?;
    }
    site.close()
}

/// Crashes a backout at each of its writes: nothing of it counts, or all; and it is run again.
///
/// # Errors
/// The first broken promise.
pub fn every_crash(seed: u64, stride: u64) -> Result<u64, String> {
    let ledger = ledger(seed)?;
    let chosen = ledger.with_all(BTreeSet::from([0]));
    let (names, expected) = (ledger.names(&chosen), ledger.without(&chosen));
    let (mut n, mut points) = (1 + seed % stride, 0);
    loop {
        let disk = ledger.disk.snapshot();
        disk.crash_after(n);
        let whole = run(n, &disk, |seam| {
            let site = Site::open(&seam, ledger.ground, false, &[])?;
            back_out(&site, &names, false)?;
            site.close()
        })?;
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][n as usize % 3];
        let disk = disk.crash_image(&mut Rng::new(n), style);
        let found = run(n + 1, &disk, |seam| {
            let site = Site::open(&seam, ledger.ground, false, &[])?;
            let found = site.contents()?;
            if found != expected {
                compare(&found, &ledger.model)?;
                back_out(&site, &names, false)?;
                compare(&site.contents()?, &expected)?;
            }
            site.close()
        });
        found.map_err(|why| format!("crash at write {n}: {why}"))?;
        points += 1;
        if whole.is_some() {
            return Ok(points);
        }
        n += stride;
    }
}

/// Who is not over is not backed out; and whoever changes a record first is waited for.
///
/// # Errors
/// The first broken promise.
pub fn somebody_is_at_work(seed: u64) -> Result<(), String> {
    let ledger = ledger(seed)?;
    let last = ledger.units.iter().rposition(|unit| !unit.before.is_empty());
    let last = &ledger.units[last.ok_or("nothing was changed")?];
    let place = last.before.keys().next().ok_or("nothing was changed")?.clone();
    let done = run(seed, &ledger.disk, |seam| {
        let site = Arc::new(Site::open(&seam, ledger.ground, false, &[])?);
        let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
        let set = site.sets[place.0];
        unit.put(set, &place.1, b"at work").map_err(coded)?;
        let at_work = unit.uow().id();
        match back_out(&site, &[at_work], false) {
            Err(why) if why.contains("HFV010") => {}
            other => return Err(format!("who was at work was backed out: {other:?}")),
        }
        unit.backout().map_err(coded)?;
        // Only a lock is held when the backout looks; the change comes while it waits.
        let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
        let mut value = Vec::new();
        unit.get(set, &place.1, Read::Exclusive, &mut value).map_err(coded)?;
        let clock = Arc::clone(&seam.clock);
        let worker = move || {
            clock.sleep(Duration::from_millis(50));
            let put = unit.put(set, &place.1, b"at work").map_err(coded);
            put.and_then(|()| unit.commit().map(drop).map_err(coded)).map_err(drop)
        };
        let worker = seam::thread::spawn("worker", move || {
            let _ = worker();
        });
        let worker = worker.map_err(|error| error.to_string())?;
        let refused = back_out(&site, &[last.uow], false);
        worker.join();
        match refused {
            Err(why) if why.contains("HFV011") => {}
            other => return Err(format!("a change in between was lost: {other:?}")),
        }
        Arc::into_inner(site).ok_or("somebody has the site yet")?.close()
    })?;
    done.ok_or_else(|| "the machine crashed by itself".into())
}
