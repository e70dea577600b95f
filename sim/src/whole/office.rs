//! What clients and operators of a machine know of it, whatever happens to it.
//!
//! The clients' history begins anew with each life and after each recovery to a point: what there
//! was before is an *epoch*, by which points of that time are judged.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base::{DataSetId, Lsn};
use parking_lot::Mutex;
use recon::CopyKind;
use recovery::{Births, CopyFiles, CopyOptions, RecoverOptions, RecoveryError, Target, copy_sets};
use seam::sim::{FaultId, Rng};
use system::System;

use super::{Lived, SETS};
use crate::history::{Contents, History, LEDGER};
use crate::recovery::coded;
use crate::verify;

/// What is known.
#[derive(Default)]
pub(super) struct Office {
    /// What the clients did.
    pub(super) history: History,
    known: Mutex<Known>,
}

/// A position between two records, up to which everything was durable.
#[derive(Clone, Copy)]
struct Point {
    lsn: Lsn,
    /// Whose history it belongs to.
    epoch: usize,
    /// A recovery has made it void.
    void: bool,
}

#[derive(Default)]
struct Known {
    epochs: Vec<History>,
    points: Vec<Point>,
    /// Copies of what has become void.
    void: BTreeSet<u32>,
    /// Files that were begun.
    files: u32,
    /// Policy may have deleted what points before this need.
    kept_from: Lsn,
    /// So many operators have policy delete, and have no answer yet.
    deleting: usize,
    /// A recovery to a point that is under way, and what the ledger was before it.
    going_back: Option<(Lsn, DataSetId)>,
    /// What has taken a log copy away.
    fault: Option<FaultId>,
    counts: Lived,
    /// What happened, line by line.
    story: Vec<String>,
}

/// So much of the story is told of a seed that fails.
const LINES: usize = 60;

/// Every data set by its name.
pub(super) fn names() -> Vec<String> {
    [LEDGER].iter().chain(&SETS).map(|name| (*name).to_owned()).collect()
}

fn contents_of(system: &System) -> Result<Contents, String> {
    verify::contents_of(system.kernel()).map_err(|why| why.to_string())
}

impl Office {
    /// What was done so far.
    pub(super) fn counts(&self) -> Lived {
        Lived { acknowledged: self.history.acknowledged(), ..self.known.lock().counts }
    }

    /// Notes what happens, for the story of a seed that fails.
    pub(super) fn tell(&self, what: String) {
        self.known.lock().story.push(what);
    }

    /// What happened last.
    pub(super) fn story(&self) -> String {
        let known = self.known.lock();
        known.story[known.story.len().saturating_sub(LINES)..].join("\n")
    }

    /// Counts what was done.
    pub(super) fn count(&self, more: Lived) {
        self.known.lock().counts += more;
    }

    /// Judges a system that has just been opened.
    pub(super) fn look(&self, system: &System) -> Result<(), String> {
        // A crash has kept the answer back.
        while self.known.lock().deleting > 0 {
            self.deleted(system, None);
        }
        let contents = contents_of(system)?;
        let under_way = self.known.lock().going_back.take();
        match under_way {
            Some((to, before)) if ledger(system)? != before => {
                let arrived = self.arrived(system, to, &contents);
                arrived
                    .map_err(|why| format!("recovered to {to} by a life that crashed: {why}"))?;
            }
            _ => self.history.judge(self.history.moment(), &contents)?,
        }
        self.reset(&contents);
        sound(system)
    }

    /// What there was is over; this is what there is.
    fn reset(&self, contents: &Contents) {
        self.known.lock().epochs.push(self.history.fork());
        self.history.settle(contents);
    }

    /// Everything up to here is durable: one may want to go back to it.
    pub(super) fn note_point(&self, lsn: Lsn) {
        let known = &mut *self.known.lock();
        known.points.push(Point { lsn, epoch: known.epochs.len(), void: false });
        known.story.push(format!("point {lsn}"));
    }

    /// Recovers everything to a point that is drawn, while nobody works.
    pub(super) fn go_back(&self, system: &System, rng: &mut Rng) -> Result<(), String> {
        let before = ledger(system)?;
        let point = {
            let known = &mut *self.known.lock();
            if known.points.is_empty() {
                return Ok(());
            }
            let point = known.points[rng.index(known.points.len())];
            known.going_back = Some((point.lsn, before));
            point
        };
        let done = self.recover(system, &names(), Target::Lsn(point.lsn));
        let state = system.recon().state();
        let what = done.as_ref().map_or_else(ToString::to_string, |()| "done".into());
        self.tell(format!(
            "back to {} (void: {}): {what}; now {}\n  copies {:?}\n  recoveries {:?}",
            point.lsn,
            point.void,
            system.kernel().log().next_lsn(),
            state
                .image_copies
                .values()
                .map(|copy| (copy.number, copy.base, copy.start, copy.end))
                .collect::<Vec<_>>(),
            state
                .recoveries
                .values()
                .map(|one| (one.number, one.to, one.void_to, &one.sets, &one.became))
                .collect::<Vec<_>>(),
        ));
        self.known.lock().going_back = None;
        let contents = contents_of(system)?;
        match done {
            Ok(()) if point.void => return Err(format!("{}, which is void, was taken", point.lsn)),
            Ok(()) => {
                let arrived = self.arrived(system, point.lsn, &contents);
                arrived.map_err(|why| format!("recovered to {}: {why}", point.lsn))?;
                self.reset(&contents);
                self.count(Lived { went_back: 1, ..Lived::default() });
                return sound(system);
            }
            Err(error) if self.may_refuse(system, point, &error) => {
                self.count(Lived { refused: 1, ..Lived::default() });
            }
            Err(error) => return Err(format!("recovery to {}: {}", point.lsn, coded(error))),
        }
        self.history.judge(self.history.moment(), &contents)
    }

    /// Whether a point is out of reach for the reason that is given.
    fn may_refuse(&self, system: &System, point: Point, error: &RecoveryError) -> bool {
        let state = system.recon().state();
        let known = self.known.lock();
        let mut copies = state.image_copies.values();
        let usable = copies.any(|copy| copy.end <= point.lsn && !known.void.contains(&copy.number));
        let within = |one: &recon::Recovery| one.to < point.lsn && point.lsn < one.void_to;
        match error {
            // While a recovery in use had its data sets to itself, too.
            RecoveryError::BadPoint { .. } => point.void || state.recoveries.values().any(within),
            RecoveryError::NoCopy { .. } => point.void || !usable,
            RecoveryError::Archive(archive::ArchiveError::Gone { .. }) => {
                point.void || point.lsn < known.kept_from
            }
            _ => is_full(error),
        }
    }

    /// Everything was recovered to a point: it is what was there then; what came behind is void.
    fn arrived(&self, system: &System, to: Lsn, contents: &Contents) -> Result<(), String> {
        let state = system.recon().state();
        let known = &mut *self.known.lock();
        let point = known.points.iter().find(|point| point.lsn == to && !point.void);
        let epoch = point.ok_or("nobody has asked for that")?.epoch;
        known.epochs.get(epoch).unwrap_or(&self.history).judge_point(to, contents)?;
        known.points.iter_mut().filter(|point| point.lsn > to).for_each(|point| point.void = true);
        let behind = state.image_copies.values().filter(|copy| copy.end > to);
        known.void.extend(behind.map(|copy| copy.number));
        Ok(())
    }

    /// Recovers data sets.
    pub(super) fn recover(
        &self,
        system: &System,
        names: &[String],
        to: Target,
    ) -> Result<(), RecoveryError> {
        let (kernel, recon, history) = (system.kernel(), system.recon(), system.history());
        let plan = recovery::plan(kernel, &recon.state(), names, to, &Births::new())?;
        let (keys, options) = (system.copy_keys(), RecoverOptions::default());
        recovery::recover(system.store(), &keys, recon, &*history, &plan, options, &mut |_| ())
            .map(drop)
    }

    /// Recovers everything to now: nothing changes.
    pub(super) fn recovered_now(&self, system: &System) -> Result<(), String> {
        match self.recover(system, &names(), Target::Now) {
            Err(error) if is_full(&error) => {}
            other => other.map_err(coded)?,
        }
        let judged = self.history.judge(self.history.moment(), &contents_of(system)?);
        judged.map_err(|why| format!("recovered to now: {why}"))
    }

    /// Copies everything; if `more`, as what goes on from the newest full copy.
    pub(super) fn copy(&self, system: &System, more: bool) -> Result<(), String> {
        let file = {
            let known = &mut *self.known.lock();
            known.files += 1;
            known.files
        };
        let paths = [PathBuf::from(format!("/copies/{file}.copy"))];
        let (kernel, keys, recon) = (system.kernel(), system.copy_keys(), system.recon());
        let since = self.full_copies(system).last().copied().filter(|_| more);
        let mut files = CopyFiles::begin(kernel.seam(), &paths).map_err(coded)?;
        let options = CopyOptions { since, bytes_per_second: 0 };
        match copy_sets(kernel, &keys, recon, &names(), &mut files, &options, &mut |_| true) {
            // A data set has been recovered since: it goes on from no copy.
            Err(RecoveryError::NoCopy { .. }) if more => Ok(()),
            // Or while it was copied.
            Err(RecoveryError::Replaced { .. }) => Ok(()),
            other => other.map(drop).map_err(coded),
        }
    }

    /// Full copies of what is not void, oldest first.
    fn full_copies(&self, system: &System) -> Vec<u32> {
        let (state, known) = (system.recon().state(), self.known.lock());
        let full = state.image_copies.values().filter(|copy| copy.kind == CopyKind::Full);
        full.map(|copy| copy.number).filter(|number| !known.void.contains(number)).collect()
    }

    /// Forgets the oldest full copy with those that go on from it, if there is a newer one.
    pub(super) fn forget_copy(&self, system: &System) -> Result<(), String> {
        let [oldest, _, ..] = self.full_copies(system)[..] else { return Ok(()) };
        let forgotten = system.recon().change(|state| {
            let rests_on_it = |number: &u32| {
                let chain = state.chain_of(*number).unwrap_or_default();
                chain.first().is_some_and(|first| first.number == oldest)
            };
            let gone = state.image_copies.keys().copied().filter(rests_on_it);
            (gone.map(recon::Record::ImageCopyGone).collect(), ())
        });
        forgotten.map_err(coded)
    }

    /// Policy is about to delete what no recovery needs.
    pub(super) fn deleting(&self) {
        self.known.lock().deleting += 1;
    }

    /// Policy has deleted what only older copies than the newest one need: so many archives, or
    /// nobody knows how many.
    pub(super) fn deleted(&self, system: &System, archives: Option<usize>) {
        let newest = self.full_copies(system).last().copied();
        let state = system.recon().state();
        let newest = newest.and_then(|newest| state.image_copies.get(&newest));
        let known = &mut *self.known.lock();
        known.deleting -= 1;
        if archives != Some(0) {
            known.kept_from = known.kept_from.max(newest.map_or(Lsn::NONE, |copy| copy.end));
        }
        known.counts.deleted += archives.unwrap_or_default();
    }

    /// A log copy is about to be lost; says what was before.
    pub(super) fn fault(&self, fault: Option<FaultId>) -> Option<FaultId> {
        std::mem::replace(&mut self.known.lock().fault, fault)
    }

    /// The system in use proves itself. While others are at work one of them may delete archives,
    /// and then it lacks them; and a copy of the log may be lost meanwhile, and be back.
    pub(super) fn proven(&self, system: &System, alone: bool) -> Result<(), String> {
        let living = |system: &System| {
            system.kernel().log().statistics().copies.iter().all(|copy| copy.living)
        };
        let before = living(system);
        let report = super::operators::ask(system, "verify", serde_json::json!({}));
        let report = report.map_err(|refusal| format!("{} {}", refusal.code, refusal.message))?;
        let report: system::VerifyReport =
            serde_json::from_value(report).map_err(|error| error.to_string())?;
        let of_others = |finding: &system::Finding| {
            finding.object.starts_with("archive") || finding.what.starts_with("it is lost: ")
        };
        match report.findings.iter().find(|finding| alone || !of_others(finding)) {
            Some(finding) if before && living(system) => Err(format!("verify finds {finding:?}")),
            _ => Ok(()),
        }
    }
}

/// The log is very small here.
pub(super) fn is_full(error: &RecoveryError) -> bool {
    ["HFL001", "HFU002"].contains(&base::Coded::code(error).0)
}

fn ledger(system: &System) -> Result<DataSetId, String> {
    let set = system.kernel().set_named(LEDGER);
    set.map(|set| set.id()).ok_or_else(|| "the ledger is gone".into())
}

/// Trees and maps are sound, and nothing is left over.
fn sound(system: &System) -> Result<(), String> {
    let kernel = system.kernel();
    for set in kernel.all_sets() {
        kernel.settle_frees(set.id()).map_err(coded)?;
    }
    verify::wait_for_conversions(kernel).map_err(|why| why.to_string())?;
    verify::check_sets(kernel).map_err(|why| why.to_string())?;
    verify::wait_for_quiet(kernel).map_err(|why| why.to_string())
}
