//! Another number of stripes while the log is in use: the files of new stripes are made in every
//! slot, and the next group begins a segment that has them.
//!
//! Segments say themselves how many stripes they have, so old and new ones stand side by side until
//! the old ones are used again. Only where a stripe's files are must be known from outside.
//!
//! Invariants:
//! 1. What is to be known outside is recorded after all files are there, durably, and before the
//!    first group goes to one of them. Until then nothing has changed; from there on nothing fails.
//! 2. The change goes between two groups: every group before is durable, so a segment's own number
//!    of stripes bounds how many of its groups can be in flight (K7).
//! 3. A file that somebody else may need is never written over.
//! 4. A stripe's folder stays where it is as long as any slot has a file there.
//! 5. It is refused where the segment that is left early would take the room that undo relies on
//!    (K15).
//!
//! Lock order: sealer, then making, then directory, then flush state.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use seam::disk::File;
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::config::SEGMENT_HEADER;
use crate::directory::Directory;
use crate::group::Flaw;
use crate::log::{Log, start_lanes};
use crate::read::Reading;
use crate::segment::{FileAt, SegmentHead, SlotFiles, make_file};
use crate::segment::{open_file, sync_folders};
use crate::{LogConfig, LogError, STRIPES_MAX};

/// A change that is being prepared.
struct Change<'a> {
    core: &'a Reading,
    layout: LogConfig,
    made: BTreeMap<FileAt, Arc<dyn File>>,
    /// What may have been made, for the case that it comes to nothing.
    begun: Vec<FileAt>,
    watch: &'a mut dyn FnMut(u64, u64) -> bool,
}

impl Log {
    /// How many stripes the next segment has, and the folders of those that are not in the folders
    /// of their copies, as in [`LogConfig::stripe_folders`].
    #[must_use]
    pub fn stripes(&self) -> (u8, Vec<Vec<PathBuf>>) {
        let layout = self.core.layout();
        (layout.stripes, layout.stripe_folders.clone())
    }

    /// Goes over to another number of stripes while the log is in use: files are made where they
    /// are missing, in folders that are made if they are missing, and the next group begins a
    /// segment of that number. `folders` is what [`LogConfig::stripe_folders`] shall be; `keep`
    /// records both durably, for the next start. `watch` hears how many bytes of how many are made,
    /// and says whether to go on. A lost copy gets its files when it is brought back.
    ///
    /// # Errors
    /// [`LogError::Config`]; [`LogError::Stripes`] if a copy is being brought back, a folder cannot
    /// be another one, or the log is too full; [`LogError::Exists`] if there is a log in a folder;
    /// whatever the disk says. Nothing has changed then.
    pub fn restripe(
        &self,
        stripes: u8,
        folders: Vec<Vec<PathBuf>>,
        keep: impl FnOnce() -> Result<(), String>,
        watch: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<(), LogError> {
        let core = &*self.core;
        let Some(_alone) = self.resyncing.try_lock() else {
            let why = "a copy is being brought back, or stripes are being changed already";
            return Err(LogError::Stripes { why: why.into() });
        };
        let layout = LogConfig { stripes, stripe_folders: folders, ..(*core.layout()).clone() };
        layout.check()?;
        if let Some(why) = layout.shared_folder(core.env.seam.disk.as_ref()) {
            return Err(LogError::Config { why });
        }
        let (made, begun) = (BTreeMap::new(), Vec::new());
        let mut change = Change { core, layout, made, begun, watch };
        change.check_folders()?;
        let done = change.prepare().and_then(|()| self.turn(&mut change, keep));
        done.inspect_err(|_| change.take_back())
    }

    /// Lets the next group begin a segment of the new number (2).
    fn turn(
        &self,
        change: &mut Change<'_>,
        keep: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), LogError> {
        let (core, stripes) = (&*self.core, change.layout.stripes);
        let mut rest = core.come_to_rest()?;
        let sealer = &mut *rest.sealer;
        let _making = core.making.lock();
        change.make_files(false)?;
        let living: Vec<u8> = core.flush_state.lock().living().collect();
        let known = core.writers.laned();
        start_lanes(&self.core, stripes, &living, known, &mut self.threads.lock())?;
        let stays = sealer.current.as_ref().is_some_and(|current| current.id.stripes == stripes);
        let room = if stays { core.directory.lock().current_room } else { 0 };
        change.check_room(room)?;
        if !armed(Failpoint::StripesUnrecorded) {
            keep().map_err(|why| LogError::Stripes { why })?;
        }
        let mut directory = core.directory.lock();
        directory.current_room = room;
        change.hand_over(&mut directory);
        if let Some(current) = &mut sealer.current
            && let Some(files) = directory.files_of(current.files.slot)
        {
            current.files = files;
        }
        sealer.stripes = stripes;
        core.layout.change(change.layout.clone());
        core.set_limit(&directory, core.positions.taken());
        core.set_capacity(&directory);
        drop(directory);
        let mut state = core.flush_state.lock();
        state.set_stripes(stripes);
        core.writers_changed(&mut state);
        Ok(())
    }
}

impl Change<'_> {
    /// All slots that there are, with their files.
    fn slots(&self) -> Vec<Arc<SlotFiles>> {
        let directory = self.core.directory.lock();
        let used = directory.segments.iter().map(|segment| &segment.files);
        used.chain(&directory.free).cloned().collect()
    }

    /// No file that is there is looked for elsewhere from now on (4).
    fn check_folders(&self) -> Result<(), LogError> {
        let (slots, before) = (self.slots(), self.core.layout());
        for copy in 0..before.copies.len() as u8 {
            for stripe in 0..STRIPES_MAX {
                let (old, new) =
                    (before.folder_of(copy, stripe), self.layout.folder_of(copy, stripe));
                if old != new && slots.iter().any(|files| files.get(copy, stripe).is_some()) {
                    let why = format!(
                        "stripe {} of copy {} is in {}, and stays there",
                        stripe + 1,
                        copy + 1,
                        old.display()
                    );
                    return Err(LogError::Stripes { why });
                }
            }
        }
        Ok(())
    }

    /// Makes folders and files while everybody else goes on.
    fn prepare(&mut self) -> Result<(), LogError> {
        let disk = self.core.env.seam.disk.as_ref();
        let living: Vec<u8> = self.core.flush_state.lock().living().collect();
        for copy in living {
            for stripe in 0..self.layout.stripes {
                let dir = self.layout.folder_of(copy, stripe);
                disk.create_dir(&dir).map_err(|error| LogError::io("make", &dir, error))?;
            }
        }
        self.make_files(true)
    }

    /// Makes the files that slots lack on living copies, durably and with their names.
    fn make_files(&mut self, announces: bool) -> Result<(), LogError> {
        let core = self.core;
        let living: Vec<u8> = core.flush_state.lock().living().collect();
        let mut lacking = Vec::new();
        for files in self.slots() {
            for (copy, stripe) in living
                .iter()
                .flat_map(|copy| (0..self.layout.stripes).map(move |stripe| (*copy, stripe)))
            {
                let at = FileAt { copy, slot: files.slot, stripe };
                if files.get(copy, stripe).is_none() && !self.made.contains_key(&at) {
                    lacking.push(at);
                }
            }
        }
        lacking.iter().try_for_each(|at| self.check_vacant(*at))?;
        let total = lacking.len() as u64 * self.layout.segment_bytes;
        for (done, at) in (0..).zip(&lacking) {
            core.env.stop.check()?;
            if announces && !(self.watch)(done * self.layout.segment_bytes, total) {
                return Err(LogError::Stripes { why: "it was interrupted".into() });
            }
            self.begun.push(*at);
            let made = make_file(&core.env, &self.layout, &core.heads, *at)?;
            self.made.insert(*at, made);
        }
        if lacking.is_empty() || armed(Failpoint::StripesUnsynced) {
            return Ok(());
        }
        let disk = core.env.seam.disk.as_ref();
        living.iter().try_for_each(|copy| sync_folders(disk, &self.layout, *copy, true))
    }

    /// What stands where a file is to be is nobody's: without a header, as a crash leaves a file
    /// that is being made, or what this log has left there: no segment in use has it (3). All are
    /// looked at before the first one is made, so that a log is known by any of its headers.
    fn check_vacant(&self, at: FileAt) -> Result<(), LogError> {
        let core = self.core;
        let (disk, path) = (core.env.seam.disk.as_ref(), at.path(&self.layout));
        let failed = |error| LogError::io("read", &path, error);
        if !disk.exists(&path).map_err(failed)? {
            return Ok(());
        }
        let file = open_file(disk, &path, false).map_err(failed)?;
        if file.len().map_err(failed)? < SEGMENT_HEADER as u64 {
            return Ok(());
        }
        let mut block = AlignedBuf::zeroed(SEGMENT_HEADER);
        file.read_at(&mut block, 0).map_err(failed)?;
        let mut book = core.book();
        let mut ours = |head: SegmentHead| {
            let place = (head.copy, head.slot, head.stripe) == (at.copy, at.slot, at.stripe);
            place && head.prove(&mut book, &self.layout, &block).is_ok()
        };
        let vacant = match SegmentHead::decode(&block) {
            Ok(head) => ours(head),
            Err(flaw) => flaw == Flaw::NoHeader,
        };
        if vacant {
            return Ok(());
        }
        Err(LogError::Exists { path })
    }

    /// Whether there is room to leave the current segment early, with `room` left of it (5).
    fn check_room(&self, room: u64) -> Result<(), LogError> {
        let core = self.core;
        let limit = {
            let mut directory = core.directory.lock();
            let before = std::mem::replace(&mut directory.current_room, room);
            let limit = directory.limit(&self.layout, core.positions.taken());
            directory.current_room = before;
            limit
        };
        if core.ring.next() + core.reserved_bytes() <= limit {
            return Ok(());
        }
        let full = "the log has no room to begin a segment early";
        let why = core.held_by_archive().map_or(full.into(), |held| format!("{full}: {held}"));
        Err(LogError::Stripes { why })
    }

    /// Gives the files to everybody who writes and reads.
    fn hand_over(&self, directory: &mut Directory) {
        let with_made = |files: &mut Arc<SlotFiles>| {
            let mut with = SlotFiles::clone(files);
            for (at, file) in self.made.iter().filter(|(at, _)| at.slot == files.slot) {
                with.set(at.copy, at.stripe, Arc::clone(file));
            }
            *files = Arc::new(with);
        };
        directory.segments.iter_mut().map(|segment| &mut segment.files).for_each(with_made);
        directory.free.iter_mut().for_each(with_made);
    }

    /// Nothing came of it: what was made would only take room.
    fn take_back(&self) {
        for at in &self.begun {
            let _ = self.core.env.seam.disk.remove(&at.path(&self.layout));
        }
    }
}
