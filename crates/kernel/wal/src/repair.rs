//! Repairing: what a copy of the log has lost of its groups is written again, byte for byte.
//!
//! | lost | written again from |
//! |---|---|
//! | a group on one copy | the other copy |
//! | a group on all copies | an archive, if one has it |
//! | the header of a file | what the running log knows |
//! | a file | nothing: its copy is given up, to be made anew |
//!
//! Invariants:
//! 1. Nothing is written that has not proven itself: a group from the other copy has been opened, a
//!    group from an archive is sealed again as it was, and only its old tag will do (K3, K8).
//! 2. The segment of a group that is repaired is not used again meanwhile: what is written there
//!    would spoil what comes next.
//! 3. Nobody waits for it but whoever frees segments. A crash in its middle leaves the copy as
//!    damaged as it was, and the other one as whole.
//! 4. A group that is nowhere is named; its place is left as it is.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base::{GroupNumber, Lsn};
use seam::disk::{BLOCK, is_misplaced};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::config::SEGMENT_HEADER;
use crate::directory::Located;
use crate::group_lost::Lost;
use crate::log::Log;
use crate::prove::{ProofStep, Prover};
use crate::read::{Groups, Reading};
use crate::segment::{FileAt, SegmentId};
use crate::{LogError, Scanned};

/// What was done for a log with damaged copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Groups that were copied from the other copy.
    pub copied: u64,
    /// Groups that were made again from archives.
    pub archived: u64,
    /// Headers of files that were written again, and files that were as short as they may not be.
    pub files: u64,
    /// Groups that are nowhere.
    pub lost: Vec<LostGroup>,
}

/// A group that no copy has, and no archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostGroup {
    /// Its number.
    pub number: GroupNumber,
    /// The position of its first byte.
    pub first: Lsn,
    /// The position behind its last byte.
    pub end: Lsn,
    /// A file that should hold it.
    pub path: PathBuf,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// Why it cannot be had.
    pub why: String,
}

impl Log {
    /// Writes again what living copies lack of the log that is durable and still in use. `step` is
    /// told how far the search for it is, and ends it with `false`: what was found by then is
    /// repaired all the same.
    ///
    /// # Errors
    /// If a disk refuses, or does not keep what is written; [`LogError::Damaged`] if a group is
    /// nowhere without which others cannot be found: those before it are repaired.
    pub fn repair(&self, step: &mut dyn FnMut(ProofStep) -> bool) -> Result<Repaired, LogError> {
        let core = &*self.core;
        let _alone = self.repairing.lock();
        let repairer = Repairer { core };
        let mut repaired = Repaired::default();
        let mut damaged = BTreeSet::new();
        let mut before = None;
        let mut note = |scanned: Scanned<'_>| {
            if let Scanned::Damage { number, .. } = scanned {
                damaged.insert(number);
            }
        };
        let searched = loop {
            // Its place is known, and those behind it cannot be found without it.
            match self.prove(&mut note, step).map_err(|error| repairer.put_back(error, &mut before))
            {
                Ok(_) => break Ok(()),
                Err(Ok(())) => repaired.archived += 1,
                Err(Err(error)) => break Err(error),
            }
        };
        for number in damaged {
            if core.hold(number).is_some() {
                let done = repairer.repair_held(number, &mut repaired);
                core.let_go();
                done?;
            }
        }
        searched.map(|()| repaired)
    }

    /// Where the records of a group stand in the log; `None` if it is no longer there.
    #[must_use]
    pub fn span_of(&self, number: GroupNumber) -> Option<(Lsn, Lsn)> {
        self.core.span_of(number)
    }

    /// Files of living copies that are not in their folders any more, or stand there in another
    /// one's place: the log still writes to them, and the next start would not find them.
    #[must_use]
    pub fn missing_files(&self) -> Vec<(u8, PathBuf)> {
        let core = &*self.core;
        let disk = core.env.seam.disk.as_ref();
        let slots = core.directory.lock().slots;
        let living: Vec<u8> = core.flush_state.lock().living().collect();
        let layout = core.layout();
        let mut missing = Vec::new();
        for files in (0..slots).filter_map(|slot| core.directory.lock().files_of(slot)) {
            for (copy, stripe) in living.iter().flat_map(|copy| files.stripes_on(*copy)) {
                let path = FileAt { copy, slot: files.slot, stripe }.path(&layout);
                let file = files.get(copy, stripe).map(|file| file.as_ref());
                if file.is_some_and(|file| is_misplaced(disk, &path, file)) {
                    missing.push((copy, path));
                }
            }
        }
        missing
    }

    /// Has a copy count as lost, so that it can be made anew. `false` if there is no other one.
    ///
    /// # Errors
    /// If that cannot be recorded; the kernel stops then.
    pub fn lose_copy(&self, copy: u8) -> Result<bool, LogError> {
        self.core.lose_spare(copy, &LogError::Misplaced { path: self.core.config.folder(copy) })
    }

    /// Whether a restart would read a group: it begins with the first one of a segment.
    #[must_use]
    pub fn restart_needs(&self, number: GroupNumber) -> bool {
        let directory = self.core.directory.lock();
        let Some(segment) = directory.holding(number) else { return false };
        let behind = directory.by_order(segment.id.sequence + 1);
        behind.is_none_or(|behind| behind.id.first > directory.needed)
    }

    /// The next group begins a segment.
    pub fn begin_segment(&self) {
        self.core.begin_segment();
    }

    /// Whether a group that no copy has can be made again, because an archive has it.
    #[must_use]
    pub fn is_elsewhere(&self, number: GroupNumber) -> bool {
        self.core.config.elsewhere.sealed(&mut self.core.book(), number).is_ok()
    }
}

/// Repairs one log.
struct Repairer<'a> {
    core: &'a Reading,
}

impl Repairer<'_> {
    /// Repairs one group on every living copy that lacks it, while its segment is held.
    fn repair_held(&self, number: GroupNumber, repaired: &mut Repaired) -> Result<(), LogError> {
        let place = self.core.locate(number)?;
        let id = self.core.directory.lock().holding(number).map(|segment| segment.id);
        let living: Vec<u8> = self.core.flush_state.lock().living().collect();
        if let Some(id) = id.filter(|_| place.offset == SEGMENT_HEADER as u64) {
            for copy in &living {
                repaired.files += u64::from(self.repair_file(&id, &place, *copy)?);
            }
        }
        let mut reader = Groups::new(self.core.book(), self.core.config.group_bytes_max);
        let mut lacks =
            |copy: &u8| reader.load_from(self.core, number, &place, *copy, &mut |_| ()).is_err();
        let lacking: Vec<u8> = living.into_iter().filter(&mut lacks).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let (sealed, from_archive) = match self.good(number) {
            Ok(good) => good,
            Err(why) => {
                repaired.lost.push(self.lost_group(number, &place, why));
                return Ok(());
            }
        };
        if place.offset + sealed.len() as u64 > self.core.config.segment_bytes {
            let why = "nobody knows where it stood".to_owned();
            repaired.lost.push(self.lost_group(number, &place, why));
            return Ok(());
        }
        for copy in &lacking {
            let Some(file) = place.files.get(*copy, place.stripe) else { continue };
            let at = FileAt { copy: *copy, slot: place.files.slot, stripe: place.stripe };
            let failed = |error| LogError::io("repair", at.path(&self.core.layout()), error);
            file.write_at(&sealed, place.offset).map_err(failed)?;
        }
        if let Some(copy) = lacking.into_iter().find(lacks)
            && !armed(Failpoint::RepairedUnproven)
        {
            let at = FileAt { copy, slot: place.files.slot, stripe: place.stripe };
            return Err(LogError::Damaged {
                group: number,
                path: at.path(&self.core.layout()),
                offset: place.offset,
                why: "it was written again, and the disk does not give it back".into(),
            });
        }
        let count = if from_archive { &mut repaired.archived } else { &mut repaired.copied };
        *count += 1;
        Ok(())
    }

    /// A group as it was sealed, padding included, and whether an archive gave it.
    fn good(&self, number: GroupNumber) -> Result<(AlignedBuf, bool), String> {
        let mut sealed = Vec::new();
        let mut reader = Groups::new(self.core.book(), self.core.config.group_bytes_max);
        let read = reader.load_keeping(self.core, number, &mut |bytes| {
            sealed.clear();
            sealed.extend_from_slice(bytes);
        });
        if let Err(error) = read
            && (sealed.is_empty() || !armed(Failpoint::RepairedUnproven))
        {
            let elsewhere = self.core.config.elsewhere.sealed(&mut self.core.book(), number);
            let given = elsewhere.map(|sealed| (sealed, true));
            return given.map_err(|why| format!("{error}; {why}"));
        }
        let mut whole = AlignedBuf::zeroed(sealed.len().next_multiple_of(BLOCK));
        whole[..sealed.len()].copy_from_slice(&sealed);
        Ok((whole, false))
    }

    /// Makes sure that a file is as long as a segment and has its header; whether it was not so.
    fn repair_file(&self, id: &SegmentId, place: &Located, copy: u8) -> Result<bool, LogError> {
        let at = FileAt { copy, slot: place.files.slot, stripe: place.stripe };
        let Some(file) = place.files.get(copy, place.stripe) else { return Ok(false) };
        let prover = Prover { core: self.core };
        if prover.file_flaw(id, at, file.as_ref()).is_none() {
            return Ok(false);
        }
        let failed = |error| LogError::io("repair", at.path(&self.core.layout()), error);
        if file.len().map_err(failed)? < self.core.config.segment_bytes {
            file.set_len(self.core.config.segment_bytes).map_err(failed)?;
        }
        self.core.heads.write(&self.core.layout(), id, at, file.as_ref())?;
        Ok(true)
    }

    fn lost_group(&self, number: GroupNumber, place: &Located, why: String) -> LostGroup {
        let (first, end) = self.core.span_of(number).unwrap_or_default();
        let at = FileAt { copy: 0, slot: place.files.slot, stripe: place.stripe };
        let (path, offset) = (at.path(&self.core.layout()), place.offset);
        LostGroup { number, first, end, path, offset, why }
    }

    /// Puts the group back that keeps a segment from being walked; `error` again if that cannot be.
    fn put_back(&self, error: LogError, before: &mut Option<GroupNumber>) -> Result<(), LogError> {
        let Some(lost) = Lost::of(&error, *before) else { return Err(error) };
        *before = Some(lost.number);
        let sealed = match self.core.config.elsewhere.sealed(&mut self.core.book(), lost.number) {
            Ok(sealed) if lost.fits(&self.core.config, &sealed) => sealed,
            _ => return Err(error),
        };
        // What was freed meanwhile need not be walked.
        let Some(files) = self.core.hold(lost.number) else { return Ok(()) };
        let living: Vec<u8> =
            self.core.flush_state.lock().living().filter(|_| files.slot == lost.slot).collect();
        let written = living.into_iter().try_for_each(|copy| {
            let file = files.get(copy, lost.stripe);
            file.map_or(Ok(()), |file| lost.write(&self.core.config, copy, file.as_ref(), &sealed))
        });
        self.core.let_go();
        written
    }
}
