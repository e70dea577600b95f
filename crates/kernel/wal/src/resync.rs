//! A lost copy comes back while the log is in use: its files are made anew, the log is copied there
//! group by group, and from one group on it gets everything again (K9).
//!
//! Invariants:
//! 1. Until it is whole the copy stays recorded as stale. Whatever interrupts this, the next
//!    restart makes the copy anew, as if nothing had been tried.
//! 2. The record goes between two groups: every group before is durable on the copy, the next one
//!    is not sealed yet. From there on no group is acknowledged without it.
//! 3. Each group is proven before it is copied, byte for byte as it stands in the other copy.
//! 4. No write to the copy is under way when its files are made: a late one would spoil them.
//! 5. It may be told to take its time, but never while no group can be sealed.
//! 6. Where a copy is to be is recorded before the first file is made there, and while it is
//!    recorded as stale: whenever the log is opened, an old folder is out of play, or its files
//!    count for nothing.
//!
//! Lock order: sealer, then making, then directory, then flush state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::GroupNumber;
use seam::disk::{Disk, File, make_dir, missing_file};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::directory::Directory;
use crate::group::GROUP_HEADER;
use crate::lens::LENS_BYTES;
use crate::log::{Log, start_lanes};
use crate::read::{Groups, Reading, View};
use crate::segment::{FileAt, SegmentId, SlotFiles, make_slot, sync_folders};
use crate::{LogConfig, LogError, STRIPES_MAX, disk_len};

/// How much is written at once.
const RUN_BYTES: usize = 1 << 20;
/// How long it rests before it asks again whether to go on.
const REST: Duration = Duration::from_millis(200);
/// So few groups may be left to be copied while no group is sealed.
const FEW: u64 = 8;

/// A copy that comes back.
struct Returning<'a> {
    core: &'a Reading,
    /// As it stays until the copy is back: both are not changed at once.
    layout: Arc<LogConfig>,
    copy: u8,
    slots: BTreeMap<u32, Slot>,
    groups: Groups,
    runs: Vec<Run>,
    copied: u64,
    pace: Pace,
    watch: &'a mut dyn FnMut(u64, u64) -> bool,
}

/// How fast it may go.
struct Pace {
    begun: Duration,
    /// Bytes a second; 0: as fast as it can.
    rate: u64,
    /// Bytes that have gone to the copy, zeros of new files among them.
    written: u64,
    /// Bytes of the log that were copied when somebody was last asked whether to go on.
    asked: u64,
    /// No group can be sealed: nobody is asked and nothing waits.
    hurries: bool,
}

/// A slot's files on the copy, and what of a segment they have.
struct Slot {
    files: Vec<Arc<dyn File>>,
    sequence: u64,
    /// They have the groups of that segment before this one.
    next: GroupNumber,
    /// They say so themselves.
    headed: bool,
}

/// Groups of one segment that the copy lacks.
#[derive(Clone, Copy)]
struct Piece {
    slot: u32,
    id: SegmentId,
    from: GroupNumber,
    to: GroupNumber,
    /// No group comes behind them in their segment.
    full: bool,
}

/// Neighbours in one stripe that wait to be written.
struct Run {
    buffer: AlignedBuf,
    offset: u64,
    len: usize,
}

impl Log {
    /// Brings lost copy `copy` (0 or 1) back while the log is in use, in its folder, which is made
    /// if it is missing: all files there are made anew. No more than `rate` bytes a second are
    /// written, on average; 0: as many as the devices take. A rate below what the log itself
    /// writes never ends. `watch` hears how many bytes are copied, of how many about, and says
    /// whether to go on. Returns the bytes that were copied.
    ///
    /// # Errors
    /// [`LogError::NotLost`], [`LogError::CopyBusy`], [`LogError::Interrupted`], whatever its disk
    /// says, damage in the other copy. The copy is lost as before then.
    pub fn resync(
        &self,
        copy: u8,
        rate: u64,
        watch: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<u64, LogError> {
        let core = &self.core;
        let Some(_alone) = self.resyncing.try_lock() else {
            return Err(LogError::CopyBusy { copy: copy + 1 });
        };
        core.flush_state.lock().may_return(copy)?;
        if armed(Failpoint::CopyBackTooEarly) {
            self.record_copy_back(copy)?;
        }
        let mut returning = Returning {
            core,
            layout: core.layout(),
            copy,
            slots: BTreeMap::new(),
            groups: Groups::new(core.book(), LENS_BYTES),
            runs: Vec::new(),
            copied: 0,
            pace: Pace {
                begun: core.env.seam.clock.monotonic(),
                rate,
                written: 0,
                asked: 0,
                hurries: false,
            },
            watch,
        };
        returning.prepare_folder()?;
        returning.catch_up()?;
        self.join_copy(returning)
    }

    /// Has lost copy `copy` (0 or 1) live in another folder from now on, which is made if it is
    /// missing: whatever makes the copy anew, [`Log::resync`] or the next start, does it there (6).
    /// `keep` records durably, for that start, where the copy is.
    ///
    /// # Errors
    /// [`LogError::NotLost`], [`LogError::CopyBusy`]; [`LogError::Exists`] if there is a log in the
    /// folder; [`LogError::Unrecorded`] if `keep` fails. Nothing has changed then.
    pub fn relocate(
        &self,
        copy: u8,
        folder: &Path,
        keep: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), LogError> {
        let core = &self.core;
        let Some(_alone) = self.resyncing.try_lock() else {
            return Err(LogError::CopyBusy { copy: copy + 1 });
        };
        core.flush_state.lock().may_return(copy)?;
        let _making = core.making.lock();
        let disk = core.env.seam.disk.as_ref();
        make_dir(disk, folder).map_err(|error| LogError::io("make", folder, error))?;
        let names = disk.list(folder).map_err(|error| LogError::io("list", folder, error))?;
        if let Some(name) = names.iter().find(|name| FileAt::parse(name).is_some()) {
            return Err(LogError::Exists { path: folder.join(name) });
        }
        sync_folder(disk, folder)?;
        if !armed(Failpoint::CopyMovedUnrecorded) {
            keep().map_err(|why| LogError::Unrecorded { copy: copy + 1, why })?;
        }
        core.config.move_copy(copy, folder);
        Ok(())
    }

    /// Lets the copy take part from the next group on.
    fn join_copy(&self, mut returning: Returning<'_>) -> Result<u64, LogError> {
        let (core, copy) = (&*self.core, returning.copy);
        let mut rest = core.come_to_rest()?;
        let sealer = &mut *rest.sealer;
        let _making = core.making.lock();
        returning.pace.hurries = true;
        returning.make_files()?;
        if !armed(Failpoint::CopyBackWithGap) {
            returning.copy_rest()?;
        }
        if let Some(current) = &sealer.current {
            let headed = current.headed.iter().zip(0_u8..).filter(|(headed, _)| **headed);
            for (_, stripe) in headed {
                returning.head(&current.id, current.files.slot, stripe)?;
            }
        }
        let stripes = returning.layout.stripes;
        let known = core.writers.laned();
        start_lanes(&self.core, stripes, &[copy], known, &mut self.threads.lock())?;
        self.record_copy_back(copy)?;
        let mut directory = core.directory.lock();
        returning.hand_over(&mut directory);
        let files_of = |slot: u32| directory.files_of(slot);
        if let Some(current) = &mut sealer.current
            && let Some(files) = files_of(current.files.slot)
        {
            current.files = files;
        }
        drop(directory);
        core.set_trouble(copy, None);
        let mut state = core.flush_state.lock();
        state.returned(copy);
        core.writers_changed(&mut state);
        Ok(returning.copied)
    }

    /// Has it recorded that the copy is whole.
    fn record_copy_back(&self, copy: u8) -> Result<(), LogError> {
        let recorded = self.core.env.events.copy_back(copy);
        recorded.map_err(|why| LogError::Unrecorded { copy: copy + 1, why })
    }
}

/// Makes sure that a folder, and what is in it, has its names.
fn sync_folder(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
    [dir]
        .into_iter()
        .chain(above)
        .try_for_each(|dir| disk.sync_dir(dir).map_err(|error| LogError::io("sync", dir, error)))
}

impl Returning<'_> {
    fn dir(&self) -> PathBuf {
        self.core.config.folder(self.copy)
    }

    fn failed(&self, verb: &'static str) -> impl Fn(std::io::Error) -> LogError + use<> {
        let dir = self.dir();
        move |error| LogError::io(verb, dir.clone(), error)
    }

    /// Makes the folders, and takes out of them what is of slots that the log does not have.
    fn prepare_folder(&self) -> Result<(), LogError> {
        let disk = self.core.env.seam.disk.as_ref();
        let slots = self.core.directory.lock().slots;
        for dir in self.layout.folders(self.copy) {
            disk.create_dir(&dir).map_err(self.failed("make"))?;
            let names = disk.list(&dir).map_err(self.failed("list"))?;
            let foreign = |name: &&PathBuf| {
                FileAt::parse(name).is_some_and(|(slot, stripe)| {
                    stripe >= STRIPES_MAX
                        || self.layout.folder_of(self.copy, stripe) == dir
                            && (slot >= slots || stripe >= self.stripes_of(slot))
                })
            };
            for name in names.iter().filter(foreign) {
                disk.remove(&dir.join(name)).map_err(self.failed("clear"))?;
            }
        }
        Ok(())
    }

    /// How many stripes a slot must have files for.
    fn stripes_of(&self, slot: u32) -> u8 {
        self.layout.stripes.max(self.core.directory.lock().stripes_in(slot))
    }

    /// Copies until what is left can be copied between two groups.
    fn catch_up(&mut self) -> Result<(), LogError> {
        loop {
            self.make_files()?;
            let lacking = self.lacking();
            let left: u64 = lacking.iter().map(|piece| piece.to.0 - piece.from.0).sum();
            if left <= FEW {
                return Ok(());
            }
            for piece in lacking {
                self.ask()?;
                self.copy_piece(&piece)?;
            }
        }
    }

    /// Says how far it is, and hears whether to go on.
    fn ask(&mut self) -> Result<(), LogError> {
        self.pace.asked = self.copied;
        self.core.env.stop.check()?;
        let about = self.core.directory.lock().used_bytes(&self.core.config);
        let go_on = (self.watch)(self.copied, about.max(self.copied));
        if go_on { Ok(()) } else { Err(LogError::Interrupted { copy: self.copy + 1 }) }
    }

    /// Counts what has gone to the copy, and rests for as long as that should have taken.
    fn wrote(&mut self, bytes: u64) -> Result<(), LogError> {
        self.pace.written += bytes;
        if self.pace.hurries || self.pace.rate == 0 {
            return Ok(());
        }
        let clock = &self.core.env.seam.clock;
        let due = Duration::from_secs_f64(self.pace.written as f64 / self.pace.rate as f64);
        loop {
            let gone = clock.monotonic().saturating_sub(self.pace.begun);
            let rest = due.saturating_sub(gone);
            if rest.is_zero() {
                return Ok(());
            }
            clock.sleep(rest.min(REST));
            self.ask()?;
        }
    }

    /// Makes the files of slots that the copy has none of.
    fn make_files(&mut self) -> Result<(), LogError> {
        let core = self.core;
        let (env, heads) = (&core.env, &core.heads);
        let layout = Arc::clone(&self.layout);
        let mut made = false;
        // Under the lock of those who make slots the number stays; otherwise this comes again.
        let slots = self.core.directory.lock().slots;
        for slot in 0..slots {
            if self.slots.contains_key(&slot) {
                continue;
            }
            env.stop.check()?;
            let stripes = self.stripes_of(slot);
            let files = make_slot(env, &layout, heads, self.copy, slot, stripes)?;
            let none = Slot { files, sequence: 0, next: GroupNumber(0), headed: false };
            self.slots.insert(slot, none);
            made = true;
            self.wrote(u64::from(stripes) * layout.segment_bytes)?;
        }
        if made {
            sync_folders(env.seam.disk.as_ref(), &layout, self.copy, true)?;
        }
        Ok(())
    }

    /// What is durable and not on the copy, segment by segment, oldest first.
    fn lacking(&self) -> Vec<Piece> {
        let undurable = self.core.flush_state.lock().undurable();
        let directory = self.core.directory.lock();
        let behind = directory.segments.iter().skip(1).map(|segment| Some(segment.id.first_group));
        let mut lacking = Vec::new();
        for (segment, behind) in directory.segments.iter().zip(behind.chain([None])) {
            let (slot, id) = (segment.files.slot, segment.id);
            let Some(mine) = self.slots.get(&slot) else { continue };
            let known = mine.sequence == id.sequence;
            let from = if known { mine.next } else { id.first_group };
            let to = behind.map_or(undurable, |behind| behind.min(undurable));
            let full = behind.is_some_and(|behind| behind <= undurable);
            if from < to || (full && !(known && mine.headed)) {
                lacking.push(Piece { slot, id, from, to, full });
            }
        }
        lacking
    }

    /// Copies what is left while no group comes.
    fn copy_rest(&mut self) -> Result<(), LogError> {
        loop {
            let lacking = self.lacking();
            if lacking.is_empty() {
                return Ok(());
            }
            lacking.iter().try_for_each(|piece| self.copy_piece(piece))?;
        }
    }

    /// Copies a piece, unless its segment is let go meanwhile: then nobody needs it any more.
    fn copy_piece(&mut self, piece: &Piece) -> Result<(), LogError> {
        let stripes = piece.id.stripes;
        for number in piece.from.0..piece.to.0 {
            match self.copy_group(piece.slot, GroupNumber(number)) {
                Err(LogError::Gone { .. }) => {
                    self.runs.iter_mut().for_each(|run| run.len = 0);
                    return Ok(());
                }
                copied => copied?,
            }
            if !self.pace.hurries && self.copied - self.pace.asked >= RUN_BYTES as u64 {
                self.ask()?;
            }
        }
        for stripe in 0..stripes {
            self.write_run(piece.slot, stripe)?;
        }
        if piece.full {
            (0..stripes).try_for_each(|stripe| self.head(&piece.id, piece.slot, stripe))?;
        }
        if let Some(mine) = self.slots.get_mut(&piece.slot) {
            (mine.sequence, mine.next, mine.headed) = (piece.id.sequence, piece.to, piece.full);
        }
        Ok(())
    }

    /// Puts a group behind the others that wait to be written.
    fn copy_group(&mut self, slot: u32, number: GroupNumber) -> Result<(), LogError> {
        let mut sealed = Vec::new();
        let View { stripe, offset, .. } =
            self.groups.load_keeping(self.core, number, &mut |bytes| {
                sealed.clear();
                sealed.extend_from_slice(bytes);
            })?;
        let len = disk_len(sealed.len() - GROUP_HEADER);
        let index = usize::from(stripe);
        while self.runs.len() <= index {
            let buffer = AlignedBuf::zeroed(RUN_BYTES.max(self.core.config.group_bytes_max));
            self.runs.push(Run { buffer, offset: 0, len: 0 });
        }
        let run = &self.runs[index];
        if run.offset + run.len as u64 != offset || run.len + len > run.buffer.len() {
            self.write_run(slot, stripe)?;
            self.runs[index].offset = offset;
        }
        let run = &mut self.runs[index];
        let place = &mut run.buffer[run.len..run.len + len];
        place[..sealed.len()].copy_from_slice(&sealed);
        place[sealed.len()..].fill(0);
        run.len += len;
        self.copied += len as u64;
        Ok(())
    }

    fn write_run(&mut self, slot: u32, stripe: u8) -> Result<(), LogError> {
        let (mine, at) = self.file(slot, stripe)?;
        let Some(run) = self.runs.get_mut(usize::from(stripe)) else { return Ok(()) };
        let len = std::mem::take(&mut run.len);
        if len == 0 {
            return Ok(());
        }
        let written = mine.write_at(&run.buffer[..len], run.offset);
        written.map_err(|error| LogError::io("write", at.path(&self.layout), error))?;
        self.wrote(len as u64)
    }

    fn head(&self, id: &SegmentId, slot: u32, stripe: u8) -> Result<(), LogError> {
        let (file, at) = self.file(slot, stripe)?;
        self.core.heads.write(&self.core.config, id, at, file.as_ref())
    }

    fn file(&self, slot: u32, stripe: u8) -> Result<(Arc<dyn File>, FileAt), LogError> {
        let at = FileAt { copy: self.copy, slot, stripe };
        let file = self.slots.get(&slot).and_then(|mine| mine.files.get(usize::from(stripe)));
        file.map(|file| (Arc::clone(file), at)).ok_or_else(|| {
            let gone = missing_file();
            LogError::io("open", at.path(&self.layout), gone)
        })
    }

    /// Gives the files to everybody who writes and reads.
    fn hand_over(&self, directory: &mut Directory) {
        let with_mine = |files: &mut Arc<SlotFiles>| {
            if let Some(mine) = self.slots.get(&files.slot) {
                *files = Arc::new(files.with(self.copy, &mine.files));
            }
        };
        directory.segments.iter_mut().map(|segment| &mut segment.files).for_each(with_mine);
        directory.free.iter_mut().for_each(with_mine);
    }
}
