//! A system that is lost but for its archives, its image copies and its keys; and making it anew.
//!
//! The log goes on from the archives, group by group, at a position far behind all that is known
//! of. All data sets are *offline* in the system that is made; their recovery brings them back, as
//! any recovery does.
//!
//! Invariants:
//! 1. What the archives do not hold is lost, and known to be: no position of the lost piece is ever
//!    given out again, and no copy that was complete within it is used.
//! 2. Archives and copies are only read.
//! 3. An archive that is there and cannot be read is not taken for lost. Data sets that need
//!    nothing of it come back without it; each of the others is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use archive::{ArchiveCatalog, CatalogEntry, LogSource, unrecorded};
use base::{DataSetId, Lsn};
use recon::{Reached, Recon, Record, Restored, Setup, State};
use seam::Seam;
use seam::failpoint::{Failpoint, armed};
use space::Definition;
use uow::checkpoint::Checkpoint;
use uow::record::KernelRecord;
use uow::{Kernel, KernelConfig, Parts};
use wal::Origin;

use crate::plan::{SetPlan, Target, plan_set};
use crate::{
    CopyKeys, FoundCopies, History, Progress, RecoveryError, SetHistory, Unread, find_copies,
};

/// What is left of a system.
pub struct LostSystem {
    catalog: Arc<ArchiveCatalog>,
    newest: CatalogEntry,
    found: FoundCopies,
    past: SetHistory,
    sets: Sets,
    left: Vec<LeftSet>,
    began: Lsn,
}

/// A data set that copies and archives do not bring to where the archives end.
#[derive(Clone, Debug)]
pub struct LeftSet {
    /// Its name.
    pub name: String,
    /// Why not.
    pub why: String,
    /// The newest point in front of what cannot be read that it can be brought to.
    pub to: Option<Lsn>,
}

type Sets = BTreeMap<DataSetId, Definition>;
type ProgressSink<'t> = &'t mut dyn FnMut(Progress<'_>);

/// Positions are given out only so far behind all that are known of. What the lost machine has
/// given out beyond cannot be known; its log had no room for so much.
const LEAP: u64 = 1 << 32;

impl LostSystem {
    /// Looks at archives, and at image copies in some folders.
    ///
    /// # Errors
    /// [`RecoveryError::NotRestored`] if there is too little; whatever reading them says.
    pub fn look(
        seam: &Seam,
        catalog: &Arc<ArchiveCatalog>,
        keys: &CopyKeys,
        copies: &[PathBuf],
        tell: ProgressSink<'_>,
    ) -> Result<LostSystem, RecoveryError> {
        // The system would not start with them.
        catalog.refuse_strangers()?;
        let folders = catalog.config().folders.iter().map(|folder| folder.display().to_string());
        let folders = folders.collect::<Vec<_>>().join(" and ");
        // A restore without them would be taken for one of everything, and go on in their place.
        if let Some(why) = catalog.unread().into_iter().next() {
            return Err(RecoveryError::NotRestored {
                why: format!(
                    "{why}; the newest copy of the key file may open it, or another copy of the \
                     archive is whole. If there is none, move it away: what it holds is lost then"
                ),
            });
        }
        let newest = catalog.newest().ok_or_else(|| RecoveryError::NotRestored {
            why: format!("{folders} hold no archive of it"),
        })?;
        let found = find_copies(seam, keys, copies, tell)?;
        let source = LogSource::new(Some(Arc::clone(catalog)), None);
        let ArchiveHistory { mut past, unread, sets, left } =
            read_past(catalog, &source, &found, tell)?;
        if left.len() == sets.len()
            && let Some(unread) = unread.last()
        {
            return Err(nothing_comes_over(catalog, unread));
        }
        if past.committed_us == 0 {
            past.committed_us = newest_commit(catalog, &source);
        }
        let ends = found.copies.values().map(|copy| copy.end.0);
        let known = ends.chain([past.end.0, newest.info.end.0]).max().unwrap_or(0);
        let leap = if armed(Failpoint::RestoredWithoutLeap) { 0 } else { LEAP };
        let began = if leap == 0 { past.end } else { Lsn((known + leap).next_multiple_of(leap)) };
        Ok(LostSystem { catalog: Arc::clone(catalog), newest, found, past, sets, left, began })
    }

    /// Makes a system that goes on from there: control file, log, double-write area, RECON. The
    /// folders are there, and the keys.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn make(
        &self,
        parts: &Parts,
        config: &KernelConfig,
        recon: &Setup,
    ) -> Result<(), RecoveryError> {
        let info = &self.newest.info;
        let origin = Origin { first: self.began, group: info.to, previous: info.last };
        Kernel::create_at(parts, config, &origin, Some(&self.checkpoint()))?;
        Ok(Recon::rebuild(recon, &self.records(&config.log.key_label))?)
    }

    /// What the archives say.
    #[must_use]
    pub fn past(&self) -> &SetHistory {
        &self.past
    }

    /// The image copies.
    #[must_use]
    pub fn copies(&self) -> &FoundCopies {
        &self.found
    }

    /// The names of its data sets.
    #[must_use]
    pub fn sets(&self) -> Vec<String> {
        self.sets.values().map(|set| set.name.clone()).collect()
    }

    /// The folders that they come back to: those that they had.
    #[must_use]
    pub fn folders(&self) -> BTreeSet<String> {
        self.sets.values().flat_map(|set| set.folders.iter().cloned()).collect()
    }

    /// Those of them that do not come back, or not to where the archives end.
    #[must_use]
    pub fn left(&self) -> &[LeftSet] {
        &self.left
    }

    /// Where the log goes on.
    #[must_use]
    pub fn began(&self) -> Lsn {
        self.began
    }

    /// What an operator should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.found.faults.clone();
        let faults = self.catalog.faults();
        notes.extend(faults.iter().map(|fault| format!("an archive lacks a copy: {}", fault.why)));
        let late = self.found.copies.values().filter(|copy| copy.end > self.past.end);
        notes.extend(late.map(|copy| {
            let number = copy.number;
            format!("image copy {number} is of no use: the archives end before it was complete")
        }));
        notes
    }

    /// What the first restart begins with: nothing is open, and every data set is offline.
    fn checkpoint(&self) -> Checkpoint {
        let copied = self.found.copies.values().flat_map(|copy| &copy.sets);
        let next_set = copied.map(|extent| extent.set.0.saturating_add(1)).max().unwrap_or(1);
        Checkpoint {
            begin: self.began,
            redo: self.began,
            next_uow: self.past.next_uow,
            next_set: self.past.next_set.max(next_set),
            last_batch: self.past.last_batch,
            offline: self.sets.values().cloned().collect(),
            ..Checkpoint::initial()
        }
    }

    fn records(&self, label: &str) -> Vec<Record> {
        let mut state = State::default();
        state.learn(self.found.copies.values().cloned().map(Record::ImageCopy));
        state.learn(unrecorded(&self.catalog, &state, label));
        state.learn(self.past.unrecorded(&state));
        let restored = Restored { end: self.past.end, began: self.began };
        let reached = Reached { lsn: self.began, utc_us: self.past.committed_us };
        state.learn([Record::Restored(restored), Record::Reached(reached)]);
        state.records()
    }
}

/// What archives say of a system.
struct ArchiveHistory {
    past: SetHistory,
    unread: Vec<Unread>,
    sets: Sets,
    left: Vec<LeftSet>,
}

/// What the archives say: from where the copies need them, or from the oldest one on if that does
/// not tell which data sets there are, or where one came to be that has no copy.
fn read_past(
    catalog: &ArchiveCatalog,
    source: &LogSource,
    found: &FoundCopies,
    tell: ProgressSink<'_>,
) -> Result<ArchiveHistory, RecoveryError> {
    let (oldest, end) = (source.oldest(), source.end());
    let copied = found.copies.values().map(|copy| copy.start).min();
    let why = format!("the archives from {oldest} on do not say which data sets there are");
    let mut refused = RecoveryError::NotRestored { why };
    for from in [copied.unwrap_or(oldest).max(oldest), oldest] {
        let mut tell_lsn = |lsn: Lsn| {
            let (done, total) = (lsn.0.saturating_sub(from.0), end.0.saturating_sub(from.0));
            tell(Progress { what: "the archives", done, total });
        };
        let (past, unread) = SetHistory::read_around(source, from, &mut tell_lsn)?;
        if let Some(catalog) = past.catalog() {
            let sets: Sets = catalog.existing().map(|set| (set.id, set.clone())).collect();
            let left = left_of(&sets, &past, &unread, found);
            if left.is_empty() || from == oldest {
                return Ok(ArchiveHistory { past, unread, sets, left });
            }
        } else if let Some(unread) = unread.last() {
            refused = nothing_comes_over(catalog, unread);
        }
    }
    Err(refused)
}

/// Without what cannot be read no data set comes to where the archives end.
fn nothing_comes_over(
    catalog: &ArchiveCatalog,
    Unread { group, why, .. }: &Unread,
) -> RecoveryError {
    let mut files = Vec::new();
    let list = catalog.list();
    files.extend(list.into_iter().filter(|copy| copy.info.holds(*group)).flat_map(|one| one.files));
    let faults = catalog.faults().into_iter();
    files.extend(faults.filter(|fault| fault.from == *group).map(|fault| fault.path));
    files.sort();
    files.dedup();
    let files = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    let away = match files.is_empty() {
        true => format!("all archives behind {group}"),
        false => format!("{} and all archives with higher numbers", files.join(", ")),
    };
    RecoveryError::NotRestored {
        why: format!(
            "{why}; no data set comes back without it. Another copy of the archive may be whole: \
             put it there. If there is none, move {away} away: what they hold is lost then"
        ),
    }
}

/// When the newest commit happened that is in archives; 0 if they have none.
fn newest_commit(catalog: &ArchiveCatalog, source: &LogSource) -> u64 {
    for copy in catalog.list().into_iter().rev() {
        let mut newest = 0;
        // What cannot be read says nothing, and is named elsewhere.
        let _ = source.each(copy.info.first, copy.info.end, &mut |record| {
            if let Ok(KernelRecord::Commit { utc_us }) = KernelRecord::of(record) {
                newest = utc_us;
            }
            Ok(true)
        });
        if newest != 0 {
            return newest;
        }
    }
    0
}

/// Which data sets do not come to the end of the archives.
fn left_of(sets: &Sets, past: &SetHistory, unread: &[Unread], found: &FoundCopies) -> Vec<LeftSet> {
    let mut state = State::default();
    state.learn(found.copies.values().cloned().map(Record::ImageCopy));
    state.learn(past.unrecorded(&state));
    let way = |set: &Definition, to, end| plan_set(&state, set.clone(), (to, end), &past.births);
    let in_the_way = |plan: &SetPlan, end| {
        let pieces = recon::pieces(&plan.spans, plan.from, end);
        let mut all = unread.iter().rev();
        all.find(|one| pieces.iter().any(|(from, to)| one.from < *to && *from < one.to))
    };
    let mut left = Vec::new();
    for set in sets.values() {
        let why = match way(set, Target::Now, past.end) {
            Ok(plan) => match in_the_way(&plan, past.end) {
                Some(unread) => unread.why.clone(),
                None => continue,
            },
            Err(error) => error.to_string(),
        };
        let points = unread.iter().rev().map(|one| one.from);
        let to = points.into_iter().find(|to| {
            let plan = way(set, Target::Lsn(*to), *to);
            plan.is_ok_and(|plan| in_the_way(&plan, *to).is_none())
        });
        left.push(LeftSet { name: set.name.clone(), why, to });
    }
    left
}
