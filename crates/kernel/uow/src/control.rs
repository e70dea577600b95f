//! The control file: where restart begins, and what must not be forgotten about the log's copies.
//!
//! Two slots of 4 KiB that are written in turn, each durably, so that one is always whole (K21);
//! `control_block` has their layout.
//!
//! A release with another layout writes both slots before it does anything else, so a slot of an
//! unknown version beside a sound one is damage, and the sound one serves (K20).
//!
//! Invariants:
//! 1. What is said in memory is what the newest whole slot says. A write that failed changes
//!    nothing of it. It may have torn its slot, or arrived as a whole all the same: what was said
//!    before is at once written there again, with a higher number, and where that fails, too, the
//!    next write goes to the same slot, and not to the one that is whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seal::{Format, Salt};
use seam::Seam;
use seam::disk::{BLOCK, Create, File, Open, is_misplaced};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use seam::sync::Mutex;
use wal::{Beginning, LogEvents, PlainSpan};

use crate::UowError;
use crate::anchor::{Anchor, AnchorPlan};
use crate::control_block::{BlockSealer, Fault, Numbered, decode, has_room};
pub use crate::control_block::{ControlBlock, ControlKeys};
pub(crate) use crate::protection::CONTROL;
use crate::protection::Protection;

/// The control file, open.
pub struct ControlFile {
    seam: Seam,
    path: PathBuf,
    keys: ControlKeys,
    sealer: BlockSealer,
    /// The blocks that it had when it was opened.
    found: Vec<Numbered>,
    anchor: Option<Anchor>,
    state: Mutex<State>,
}

struct State {
    file: Arc<dyn File>,
    sequence: u64,
    block: ControlBlock,
    protection: Protection,
    buffer: AlignedBuf,
}

impl ControlFile {
    /// Makes the control file of a new system, whose bytes must prove what `protection` says.
    ///
    /// # Errors
    /// If there is one already, or the disk or the keyset refuses.
    pub fn create(
        seam: &Seam,
        path: &Path,
        keys: &ControlKeys,
        protection: &Protection,
    ) -> Result<(), UowError> {
        let file = seam
            .disk
            .open(path, Open::DURABLE.create(Create::New))
            .map_err(|error| bad(path, error.to_string(), CHECK_DISK))?;
        let block = ControlBlock {
            checkpoint: Lsn::NONE,
            needed_from: Lsn::FIRST,
            proven: Lsn::NONE,
            stale: None,
            orderly: false,
            ended: None,
            ahead: None,
            utc_us: seam.clock.utc_us(),
        };
        let first = (0, block, Protection::SEALED);
        let control = ControlFile::around(seam, path, file, keys, first, Vec::new())?;
        control.bind(protection)?;
        seam.disk
            .sync_dir(path.parent().unwrap_or(Path::new(".")))
            .map_err(|error| bad(path, error.to_string(), CHECK_DISK))
    }

    /// Opens it and reads the newest slot that proves itself.
    ///
    /// # Errors
    /// If it is missing, foreign, of a newer release, or neither slot proves itself.
    pub fn open(
        seam: &Seam,
        path: &Path,
        keys: &ControlKeys,
    ) -> Result<(ControlFile, ControlBlock), UowError> {
        let refuse = |why: String, remedy| bad(path, why, remedy);
        let file =
            seam.disk.open(path, Open::DURABLE).map_err(|error| refuse(error.to_string(), LOST))?;
        let mut found: Vec<Numbered> = Vec::new();
        let mut faults = Vec::new();
        let mut future = None;
        for slot in 0..2_u64 {
            let mut buffer = AlignedBuf::zeroed(BLOCK);
            if let Err(error) = file.read_at(&mut buffer, slot * BLOCK as u64) {
                faults.push(format!("slot {slot}: {error}"));
                continue;
            }
            match decode(&mut buffer, keys) {
                Ok(numbered) => found.push(numbered),
                Err(Fault::Version(version)) => future = Some(version),
                Err(fault) => faults.push(format!("slot {slot}: {fault}")),
            }
        }
        let newest = found.iter().max_by_key(|numbered| numbered.sequence).cloned();
        let Some(Numbered { sequence, block, protection, .. }) = newest else {
            if let Some(version) = future {
                let why = Fault::Version(version).to_string();
                return Err(refuse(why, "Start the system with the release that wrote it."));
            }
            return Err(refuse(faults.join("; "), RESTORE));
        };
        let newest = (sequence, block, protection);
        let control = ControlFile::around(seam, path, file, keys, newest, found)?;
        Ok((control, block))
    }

    fn around(
        seam: &Seam,
        path: &Path,
        file: Arc<dyn File>,
        keys: &ControlKeys,
        (sequence, block, protection): (u64, ControlBlock, Protection),
        found: Vec<Numbered>,
    ) -> Result<ControlFile, UowError> {
        let mut salt = Salt([0; 16]);
        seam.entropy
            .fill(&mut salt.0)
            .map_err(|error| bad(path, error.to_string(), "Entropy is needed."))?;
        let sealer = BlockSealer::new(keys, salt)?;
        Ok(ControlFile {
            seam: seam.clone(),
            path: path.to_owned(),
            keys: keys.clone(),
            sealer,
            found,
            anchor: None,
            state: Mutex::new(State {
                file,
                sequence,
                block,
                protection,
                buffer: AlignedBuf::zeroed(BLOCK),
            }),
        })
    }

    /// Compares it with its anchor, which is told from now on what the file says.
    ///
    /// # Errors
    /// [`UowError::Anchor`].
    pub fn anchor_to(&mut self, plan: &AnchorPlan) -> Result<(), UowError> {
        self.anchor = Some(Anchor::open(&self.seam, plan, &self.keys, &self.found)?);
        Ok(())
    }

    /// Why the anchor is behind, if it is.
    pub(crate) fn anchor_trouble(&self) -> Option<String> {
        self.anchor.as_ref()?.trouble()
    }

    /// Whether a start would not find what is written here: the file was removed or replaced.
    pub(crate) fn is_misplaced(&self) -> bool {
        is_misplaced(&*self.seam.disk, &self.path, &*self.state.lock().file)
    }

    /// Makes a file that was removed or replaced anew; the next two blocks fill it.
    ///
    /// # Errors
    /// If the disk refuses. The file that is open stays.
    pub(crate) fn find_again(&self) -> Result<(), UowError> {
        if !self.is_misplaced() {
            return Ok(());
        }
        let failed = |error: std::io::Error| bad(&self.path, error.to_string(), CHECK_DISK);
        let how = Open::DURABLE.create(Create::IfMissing);
        let file = self.seam.disk.open(&self.path, how).map_err(failed)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        self.seam.disk.sync_dir(folder).map_err(failed)?;
        self.state.lock().file = file;
        Ok(())
    }

    /// What the file says now.
    pub fn block(&self) -> ControlBlock {
        self.state.lock().block
    }

    /// What the system's bytes must prove.
    pub fn protection(&self) -> Protection {
        self.state.lock().protection.clone()
    }

    /// Binds what the system's bytes must prove from now on, durably, in both slots.
    ///
    /// # Errors
    /// If there is no room for so many names, or the disk refuses.
    pub(crate) fn bind(&self, protection: &Protection) -> Result<(), UowError> {
        let edition = self.protection().edition + 1;
        let protection = &Protection { edition, ..protection.clone() };
        if !has_room(protection) {
            let why = "it has no room for all databases whose form is an exception, and for all \
                       that doors open";
            return Err(bad(&self.path, why.into(), TOO_MANY_NAMES));
        }
        {
            let mut state = self.state.lock();
            let block = state.block;
            self.write(&mut state, block, protection.clone())?;
        }
        self.update(|_| ())
    }

    /// Changes the block and writes it durably.
    ///
    /// # Errors
    /// If the disk refuses: the block is as it was then.
    pub fn update(&self, change: impl FnOnce(&mut ControlBlock)) -> Result<(), UowError> {
        let mut state = self.state.lock();
        let (mut block, protection) = (state.block, state.protection.clone());
        change(&mut block);
        self.write(&mut state, block, protection)
    }

    /// The same in both slots, for what must not be forgotten if one of them is lost. Where the
    /// second write fails the block says what is new all the same.
    pub(crate) fn update_both(
        &self,
        change: impl FnOnce(&mut ControlBlock),
    ) -> Result<(), UowError> {
        self.update(change)?;
        self.update(|_| ())
    }

    fn write(
        &self,
        state: &mut State,
        block: ControlBlock,
        protection: Protection,
    ) -> Result<(), UowError> {
        let block = ControlBlock { utc_us: self.seam.clock.utc_us(), ..block };
        // The first block of a new file follows none.
        let before = (state.sequence > 0).then(|| (state.block, state.protection.clone()));
        self.write_next(state, block, protection).map_err(|error| {
            // It may be whole, and newer than what is said. If this fails, too, nothing is worse.
            if let Some((said, bound)) = before {
                let _ = self.write_next(state, said, bound);
            }
            bad(&self.path, format!("cannot be written: {error}"), CHECK_DISK)
        })
    }

    /// Writes the next block, which says exactly this.
    fn write_next(
        &self,
        state: &mut State,
        block: ControlBlock,
        protection: Protection,
    ) -> std::io::Result<()> {
        let sequence = state.sequence + 1;
        self.sealer.seal((sequence, &block), &protection, &mut state.buffer);
        let at = (sequence % 2) * BLOCK as u64;
        if let Err(error) = state.file.write_at(&state.buffer, at) {
            // The same slot again, and never the same nonce (1).
            state.sequence += 2;
            return Err(error);
        }
        (state.sequence, state.block, state.protection) = (sequence, block, protection);
        if let Some(anchor) = &self.anchor {
            anchor.store(&state.buffer);
        }
        Ok(())
    }
}

/// What the control file of a system in `home` says; nothing is compared or changed.
///
/// # Errors
/// If the control file cannot be read.
pub fn bound(seam: &Seam, home: &Path, keys: &ControlKeys) -> Result<Protection, UowError> {
    Ok(ControlFile::open(seam, &home.join(CONTROL), keys)?.0.protection())
}

/// Binds what a configuration asks for where that is less than what is bound, for an operator who
/// holds the keys. The system is stopped and locked. Returns what was bound before, and is now.
///
/// # Errors
/// If the control file cannot be read or written, or has no room for so many names.
pub fn accept(
    seam: &Seam,
    home: &Path,
    keys: &ControlKeys,
    asked: &Protection,
) -> Result<(Protection, Protection), UowError> {
    let (control, block) = ControlFile::open(seam, &home.join(CONTROL), keys)?;
    let before = control.protection();
    let lowered = before.lowered_to(asked, block.proven);
    if lowered != before {
        control.bind(&lowered)?;
    }
    Ok((before, control.protection()))
}

/// Binds that the log, which was plain, is sealed from `end` on. The system is stopped and locked.
///
/// # Errors
/// As for [`accept`].
pub fn seal_log_from(
    seam: &Seam,
    home: &Path,
    keys: &ControlKeys,
    end: Lsn,
) -> Result<(), UowError> {
    let (control, _) = ControlFile::open(seam, &home.join(CONTROL), keys)?;
    let bound = control.protection();
    let plain = PlainSpan { until: end, ..bound.plain };
    control.bind(&Protection { log: Format::Sealed, plain, ..bound })
}

/// What a refusal of the log means to whoever came with what the control file at `path` says.
#[must_use]
pub fn refused_by_log(path: &Path, error: wal::LogError) -> UowError {
    match error {
        wal::LogError::Gone { lsn, oldest } => {
            let why = format!(
                "it is older than the log: it begins at {lsn}, where the log begins at {oldest}"
            );
            bad(path, why, "Put the control file back that belongs to this log.")
        }
        other => other.into(),
    }
}

impl LogEvents for ControlFile {
    fn copy_lost(&self, copy: u8, from: GroupNumber, _why: &str) -> Result<(), String> {
        if armed(Failpoint::LostCopyUnrecorded) {
            return Ok(());
        }
        let lost = self.update_both(|block| block.stale = Some((copy, from)));
        lost.map_err(|error| error.to_string())
    }

    fn copy_back(&self, copy: u8) -> Result<(), String> {
        // In one slot: that the other one calls the copy stale does no harm.
        let back = self.update(|block| {
            block.stale.take_if(|(stale, _)| *stale == copy);
        });
        back.map_err(|error| error.to_string())
    }

    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        self.update_both(|block| block.ahead = holds).map_err(|error| error.to_string())
    }
}

fn bad(path: &Path, why: String, remedy: &'static str) -> UowError {
    UowError::Control { path: path.to_owned(), why, remedy }
}

const TOO_MANY_NAMES: &str = "Let `[data] format` say what most databases have.";
const CHECK_DISK: &str = "Check the device and the permissions of the file.";
const RESTORE: &str = "Check that key file and folder belong together. If they do, put the \
                       control file back, of the same moment as the log; if there is none, \
                       restore the system in a new folder from its archives and image copies: \
                       `holdfast doctor` says how.";
const LOST: &str = "Put the control file back, of the same moment as the log. If there is none, \
                    restore the system in a new folder from its archives and image copies: \
                    `holdfast doctor` says how.";

#[cfg(test)]
mod tests;
