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
//! 3. An archive that is there and cannot be read is not taken for lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use archive::{LogSource, Shelf, ShelfCopy, unrecorded};
use base::{DataSetId, Lsn};
use log::Origin;
use recon::{Reached, Recon, Record, Restored, Setup, State};
use seam::Seam;
use seam::plant::{Plant, planted};
use space::Definition;
use uow::checkpoint::Checkpoint;
use uow::{Kernel, KernelConfig, Parts};

use crate::{CopyKeys, FoundCopies, Past, Progress, RecoveryError, find_copies};

/// What is left of a system.
pub struct Lost {
    shelf: Arc<Shelf>,
    newest: ShelfCopy,
    found: FoundCopies,
    past: Past,
    sets: Sets,
    began: Lsn,
}

type Sets = BTreeMap<DataSetId, Definition>;
type Tell<'t> = &'t mut dyn FnMut(Progress<'_>);

/// Positions are given out only so far behind all that are known of. What the lost machine has
/// given out beyond cannot be known; its log had no room for so much.
const LEAP: u64 = 1 << 32;

impl Lost {
    /// Looks at archives, and at image copies in some folders.
    ///
    /// # Errors
    /// [`RecoveryError::NotRestored`] if there is too little; whatever reading them says.
    pub fn look(
        seam: &Seam,
        shelf: &Arc<Shelf>,
        keys: &CopyKeys,
        copies: &[PathBuf],
        tell: Tell<'_>,
    ) -> Result<Lost, RecoveryError> {
        let folders = shelf.config().folders.iter().map(|folder| folder.display().to_string());
        let folders = folders.collect::<Vec<_>>().join(" and ");
        // A restore without them would be taken for one of everything, and go on in their place.
        if let Some(why) = shelf.unread().into_iter().next() {
            return Err(RecoveryError::NotRestored {
                why: format!(
                    "{why}; the newest copy of the key file may open it, or another copy of the \
                     archive is whole. If there is none, move it away: what it holds is lost then"
                ),
            });
        }
        let newest = shelf.newest().ok_or_else(|| RecoveryError::NotRestored {
            why: format!("{folders} hold no archive of it"),
        })?;
        let found = find_copies(seam, keys, copies, tell)?;
        let source = LogSource::new(Some(Arc::clone(shelf)), None);
        let from = found.copies.values().map(|copy| copy.start).min();
        let oldest = source.oldest();
        let (past, sets) = read_past(&source, from.unwrap_or(oldest).max(oldest), oldest, tell)?;
        let ends = found.copies.values().map(|copy| copy.end.0);
        let known = ends.chain([past.end.0, newest.info.end.0]).max().unwrap_or(0);
        let leap = if planted(Plant::RestoredWithoutLeap) { 0 } else { LEAP };
        let began = if leap == 0 { past.end } else { Lsn((known + leap).next_multiple_of(leap)) };
        Ok(Lost { shelf: Arc::clone(shelf), newest, found, past, sets, began })
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
    pub fn past(&self) -> &Past {
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

    /// Where the log goes on.
    #[must_use]
    pub fn began(&self) -> Lsn {
        self.began
    }

    /// What an operator should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.found.faults.clone();
        let faults = self.shelf.faults();
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
        state.learn(unrecorded(&self.shelf, &state, label));
        state.learn(self.past.unrecorded(&state));
        let restored = Restored { end: self.past.end, began: self.began };
        let reached = Reached { lsn: self.began, utc_us: self.past.committed_us };
        state.learn([Record::Restored(restored), Record::Reached(reached)]);
        state.records()
    }
}

/// What the archives say: from where the copies need them, or from the oldest one on if that does
/// not tell which data sets there are.
fn read_past(
    source: &LogSource,
    from: Lsn,
    oldest: Lsn,
    tell: Tell<'_>,
) -> Result<(Past, Sets), RecoveryError> {
    let end = source.end();
    for from in [from, oldest] {
        let mut tell_lsn = |lsn: Lsn| {
            let (done, total) = (lsn.0.saturating_sub(from.0), end.0.saturating_sub(from.0));
            tell(Progress { what: "the archives", done, total });
        };
        let past = Past::read(source, (from, Lsn(u64::MAX)), &mut tell_lsn)?;
        if let Some(sets) = past.sets().cloned() {
            return Ok((past, sets));
        }
    }
    let why = format!("the archives from {oldest} on do not say which data sets there are");
    Err(RecoveryError::NotRestored { why })
}
