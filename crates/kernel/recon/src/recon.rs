//! RECON in use.
//!
//! Invariants:
//! 1. One process has it open for changes: whoever holds the system's lock.
//! 2. What [`Recon::state`] says is durable.
//! 3. A copy that could not be written is not written again before the next open, which makes it
//!    anew; the survivor says first that it is stale (K9). A failed sync is never retried.
//! 4. A file is compacted into a new one that replaces it by a rename; a crash leaves either.
//! 5. Files are longer than what they hold: behind it they have room for many changes, made while
//!    the device had it. So a full device keeps nobody from opening a system, which is how space is
//!    freed. A change for which there is no room is refused and leaves everything as it was; a file
//!    that cannot be compacted for want of room is compacted later.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Lsn, SystemId};
use seal::{KeyProvider, Salt, Tag};
use seam::Seam;
use seam::disk::{BLOCK, Create, File, Open, is_full, is_misplaced};
use seam::failpoint::{Failpoint, armed};
use seam::fresh::replace_small;
use seam::sync::{Mutex, MutexGuard};

use crate::copies::{Reading, choose};
use crate::entry::{Keys, Kind, SEALED_BYTES_MAX, Sealer};
use crate::record::encode;
use crate::state::State;
use crate::{ReconError, Record};

/// What a file has behind its entries, so that they can be added to while the device is full: some
/// 256 changes.
const ROOM_BYTES: u64 = 1 << 20;

/// Where RECON is, and whose it is.
#[derive(Clone)]
pub struct Setup {
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The label of the system's own key.
    pub label: String,
    /// The system.
    pub system: SystemId,
    /// The folder of `recon.1`, and that of `recon.2`, which may be the same one.
    pub folders: [PathBuf; 2],
    /// A file longer than this is compacted, if that makes it much shorter.
    pub compact_bytes: u64,
}

/// What opening found and did.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What it says, and how its copies were found.
    pub reading: Reading,
    /// The copies that were made anew from the other one.
    pub repaired: Vec<PathBuf>,
}

/// RECON, open for changes.
pub struct Recon {
    setup: Setup,
    /// Held by whoever changes it, across the disk.
    writer: Mutex<Writer>,
    /// Held for a look or a swap only.
    state: Mutex<Arc<State>>,
    /// See [`Recon::placing`].
    placing: Mutex<()>,
    /// From where copies, recoveries and backouts under way need the log.
    held: Mutex<BTreeMap<u64, Lsn>>,
}

/// Log that a copy, a recovery or a backout under way will need; it may go when this does.
pub struct HeldLog<'r> {
    recon: &'r Recon,
    number: u64,
}

impl HeldLog<'_> {
    /// What is in front of a position is not needed.
    pub fn begin_at(&self, from: Lsn) {
        self.recon.held.lock().insert(self.number, from);
    }
}

impl Drop for HeldLog<'_> {
    fn drop(&mut self) {
        self.recon.held.lock().remove(&self.number);
    }
}

struct Writer {
    /// The copies that can be written.
    copies: [Option<OpenCopy>; 2],
    sealer: Sealer,
    newest: u64,
    tag: Tag,
    bytes: u64,
    /// How far the device has room for all living copies.
    room_end: u64,
    /// Why nothing can be written any more.
    lost: Option<String>,
}

impl Setup {
    /// The files.
    #[must_use]
    pub fn paths(&self) -> [PathBuf; 2] {
        [self.folders[0].join("recon.1"), self.folders[1].join("recon.2")]
    }

    fn keys(&self) -> Keys {
        let (provider, label) = (Arc::clone(&self.keys), self.label.clone());
        Keys { provider, label, system: self.system }
    }

    fn sealer(&self) -> Result<Sealer, ReconError> {
        let salt = Salt::draw(self.seam.entropy.as_ref()).map_err(seal::SealError::Entropy)?;
        Ok(Sealer::new(&self.keys(), salt)?)
    }
}

/// Whether there is any file of RECON.
///
/// # Errors
/// Whatever the disk says.
pub fn exists(setup: &Setup) -> Result<bool, ReconError> {
    for path in setup.paths() {
        let there = setup.seam.disk.exists(&path);
        if there.map_err(|error| ReconError::Io { path, verb: "looked for", error })? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks at RECON without changing anything; somebody else may be using it.
///
/// # Errors
/// If there is none, or no copy of it can be believed.
pub fn read(setup: &Setup) -> Result<Reading, ReconError> {
    Ok(choose(setup.seam.disk.as_ref(), &setup.paths(), &setup.keys())?.reading)
}

impl Recon {
    /// Makes RECON for a new system, with these records.
    ///
    /// # Errors
    /// [`ReconError::Exists`]; whatever disk and keyset say.
    pub fn create(setup: &Setup, records: &[Record]) -> Result<(), ReconError> {
        for path in setup.paths() {
            let there = setup.seam.disk.exists(&path);
            let io = |error| ReconError::Io { path: path.clone(), verb: "looked for", error };
            if there.map_err(io)? {
                return Err(ReconError::Exists { path });
            }
        }
        rewrite(setup, 1, &State::of(records)).map(drop)
    }

    /// Makes RECON anew from what its maker has found elsewhere; what is there is replaced. The
    /// first entry has a number beyond any that an older copy could have.
    ///
    /// # Errors
    /// Whatever disk and keyset say.
    pub fn rebuild(setup: &Setup, records: &[Record]) -> Result<(), ReconError> {
        rewrite(setup, setup.seam.clock.utc_us(), &State::of(records)).map(drop)
    }

    /// Opens RECON for changes. A copy that is missing, damaged or behind is made anew.
    ///
    /// # Errors
    /// If no copy can be believed, or the disk refuses.
    pub fn open(setup: Setup) -> Result<(Recon, Opened), ReconError> {
        let chosen = choose(setup.seam.disk.as_ref(), &setup.paths(), &setup.keys())?;
        let (mut repaired, mut copies, mut lost) = (Vec::new(), [None, None], None);
        for (at, path) in setup.paths().into_iter().enumerate() {
            let made = match (chosen.alike[at], chosen.same[at]) {
                (true, _) => Ok(()),
                // What is valid of it stays where it is: mostly that takes no room.
                (false, Some(valid)) => complete(&setup, &path, &chosen.bytes, valid),
                (false, None) => put(&setup, &path, &chosen.bytes),
            };
            match made.and_then(|()| file(&setup, at)) {
                Ok(file) => copies[at] = file,
                // The copy that is believed must be written; the other one may be lost (3).
                Err(error) if at == chosen.copy => return Err(error),
                Err(_) => lost = Some(at),
            }
            if !chosen.alike[at] && lost != Some(at) {
                repaired.push(path);
            }
        }
        let mut writer = Writer {
            copies,
            sealer: setup.sealer()?,
            newest: chosen.reading.newest,
            tag: chosen.tag,
            bytes: chosen.bytes.len() as u64,
            room_end: 0,
            lost: None,
        };
        writer.make_room();
        let state = Arc::new(chosen.reading.state.clone());
        let (writer, state) = (Mutex::new(writer), Mutex::new(state));
        let (placing, held) = (Mutex::default(), Mutex::default());
        let recon = Recon { setup, writer, state, placing, held };
        // What is stale by now: the copy that was just lost; or none, where both are alike again.
        let stale = lost.map_or(0, |copy| copy as u8 + 1);
        if recon.state().stale != stale && !armed(Failpoint::LostReconCopyUnrecorded) {
            recon.add(vec![Record::Stale(stale)])?;
        }
        Ok((recon, Opened { reading: chosen.reading, repaired }))
    }

    /// What RECON says.
    #[must_use]
    pub fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.lock())
    }

    /// Where it is.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The copies that are not written any more, because the disk refused.
    #[must_use]
    pub fn lost_copies(&self) -> Vec<PathBuf> {
        let writer = self.writer.lock();
        let paths = self.setup.paths().into_iter().zip(&writer.copies);
        paths.filter(|(_, copy)| copy.is_none()).map(|(path, _)| path).collect()
    }

    /// Keeps all of the log for a copy, a recovery or a backout that is about to begin, and may
    /// need some from before the newest copy that is recorded.
    pub fn hold_log(&self) -> HeldLog<'_> {
        let mut held = self.held.lock();
        let number = held.keys().last().map_or(0, |last| last + 1);
        held.insert(number, Lsn::NONE);
        HeldLog { recon: self, number }
    }

    /// From where the log must be kept: for recoveries from what is recorded, and for copies,
    /// recoveries and backouts under way.
    #[must_use]
    pub fn log_needed_from(&self) -> Lsn {
        // A copy is recorded before it gives up what it holds, so they are asked first.
        let held = self.log_held_from();
        let needed = self.state().log_needed_from().unwrap_or(Lsn::NONE);
        held.map_or(needed, |held| held.min(needed))
    }

    /// From where copies, recoveries and backouts under way need the log.
    #[must_use]
    pub fn log_held_from(&self) -> Option<Lsn> {
        self.held.lock().values().min().copied()
    }

    /// Held by a copy from when its end is known until it is recorded, and by a recovery from when
    /// it has data sets to itself until others have their places: no copy ends between the two.
    pub fn placing(&self) -> MutexGuard<'_, ()> {
        self.placing.lock()
    }

    /// Adds records; they are durable when this returns, all of them or none.
    ///
    /// # Errors
    /// [`ReconError::Full`]: nothing is recorded then, and later changes may be. If no copy can be
    /// written otherwise, nothing is recorded any more, until RECON is opened again.
    pub fn add(&self, records: Vec<Record>) -> Result<(), ReconError> {
        self.change(|_| (records, ()))
    }

    /// Adds the records that follow from what RECON says now; nobody changes it in between.
    ///
    /// # Errors
    /// As for [`Recon::add`].
    pub fn change<T>(
        &self,
        make: impl FnOnce(&State) -> (Vec<Record>, T),
    ) -> Result<T, ReconError> {
        let mut writer = self.writer.lock();
        if let Some(why) = &writer.lost {
            return Err(ReconError::Lost { why: why.clone() });
        }
        let before = self.state();
        let (records, made) = make(&before);
        if records.is_empty() {
            return Ok(made);
        }
        let mut after = State::clone(&before);
        records.iter().for_each(|record| after.apply(record));
        self.append(&mut writer, &mut after, &records)?;
        let after = Arc::new(after);
        *self.state.lock() = Arc::clone(&after);
        self.compact_if_due(&mut writer, &after)?;
        Ok(made)
    }

    /// Adds the last records; nothing is recorded any more then, whoever still has this.
    ///
    /// # Errors
    /// As for [`Recon::add`]; it is closed all the same.
    pub fn close(&self, last: Vec<Record>) -> Result<(), ReconError> {
        let added = self.add(last);
        self.writer.lock().lost = Some("it was closed".into());
        added
    }

    /// Writes an entry to all living copies, and what has become of one that refused.
    fn append(
        &self,
        writer: &mut Writer,
        state: &mut State,
        records: &[Record],
    ) -> Result<(), ReconError> {
        let bytes = encode(records).len();
        if bytes > SEALED_BYTES_MAX {
            return Err(ReconError::TooLong { bytes, bytes_max: SEALED_BYTES_MAX });
        }
        let mut stale = writer.write(records)?;
        while let Some(copy) = stale {
            if armed(Failpoint::LostReconCopyUnrecorded) {
                break;
            }
            let mark = Record::Stale(copy as u8 + 1);
            state.apply(&mark);
            stale = writer.write(&[mark]).inspect_err(|error| {
                // A change rests on a copy that does not say so: nothing may follow it.
                writer.lost = Some(error.to_string());
            })?;
        }
        Ok(())
    }

    fn compact_if_due(&self, writer: &mut Writer, state: &State) -> Result<(), ReconError> {
        if writer.bytes <= self.setup.compact_bytes || writer.copies.iter().any(Option::is_none) {
            return Ok(());
        }
        // Not again and again where it would save nothing.
        if writer.bytes < 2 * encode(&state.records()).len() as u64 {
            return Ok(());
        }
        match self.has_room_for(2 * encode(&state.records()).len() as u64) {
            true => self.write_files(writer, state),
            // There is room for changes as it is (5).
            false => Ok(()),
        }
    }

    /// Whether the devices say that they have so much room, for either file.
    fn has_room_for(&self, bytes: u64) -> bool {
        let need = bytes.next_multiple_of(BLOCK as u64) + BLOCK as u64;
        let has = |folder: &PathBuf| {
            let room = self.setup.seam.disk.room(folder);
            room.map_or(true, |room| room.free_bytes >= 2 * need)
        };
        self.setup.folders.iter().all(has)
    }

    /// Makes both copies anew from what is known, whatever has become of the files. A copy that
    /// was lost is used again.
    ///
    /// # Errors
    /// If the disk refuses one of them; nothing is recorded any more then, until RECON is opened
    /// again.
    pub fn write_again(&self) -> Result<(), ReconError> {
        let mut writer = self.writer.lock();
        if let Some(why) = &writer.lost {
            return Err(ReconError::Lost { why: why.clone() });
        }
        let mut state = State::clone(&self.state());
        // Both will be alike.
        state.apply(&Record::Stale(0));
        self.write_files(&mut writer, &state)?;
        *self.state.lock() = Arc::new(state);
        Ok(())
    }

    /// Replaces both files by ones that hold all of a state.
    fn write_files(&self, writer: &mut Writer, state: &State) -> Result<(), ReconError> {
        let records = state.records();
        let number = writer.newest + 1;
        let (bytes, tag) = writer.sealer.seal(Kind::All, number, Tag([0; 16]), &records);
        let paths = self.setup.paths();
        // A copy that was lost goes first: if it still refuses, nothing has changed.
        let order = if writer.copies[1].is_none() { [1, 0] } else { [0, 1] };
        for (turn, at) in order.into_iter().enumerate() {
            if let Err(error) = put(&self.setup, &paths[at], &bytes) {
                // The old file or the new one is there, and either holds everything; but which
                // of them an open handle belongs to is not known, unless there was no room for a
                // new one.
                let is_as_before = || {
                    let disk = self.setup.seam.disk.as_ref();
                    let open = writer.copies[at].as_ref();
                    matches!(error, ReconError::Full { .. })
                        && open.is_none_or(|(path, file)| !is_misplaced(disk, path, file.as_ref()))
                };
                if turn > 0 || (writer.copies[at].is_some() && !is_as_before()) {
                    writer.lost = Some(error.to_string());
                }
                return Err(error);
            }
        }
        writer.copies = [file(&self.setup, 0)?, file(&self.setup, 1)?];
        (writer.newest, writer.tag, writer.bytes) = (number, tag, bytes.len() as u64);
        writer.make_room();
        Ok(())
    }
}

impl Writer {
    /// Appends one entry durably. Says which copy refused, if the other one did not.
    fn write(&mut self, records: &[Record]) -> Result<Option<usize>, ReconError> {
        let number = self.newest + 1;
        let (bytes, tag) = self.sealer.seal(Kind::Change, number, self.tag, records);
        let end = self.bytes;
        let mut refusals: [Option<Refusal>; 2] = [None, None];
        let mut written = 0;
        for (copy, refusal) in self.copies.iter().zip(&mut refusals) {
            let Some(copy) = copy else { continue };
            *refusal = write_to(copy, &bytes, end).err();
            written += usize::from(refusal.is_none());
        }
        if written == 0 {
            return Err(self.refused(refusals));
        }
        let refused = refusals.iter().position(Option::is_some);
        if let Some(at) = refused {
            self.copies[at] = None;
        }
        (self.newest, self.tag) = (number, tag);
        self.bytes += bytes.len() as u64;
        if self.room_end.saturating_sub(self.bytes) < ROOM_BYTES / 2 {
            self.make_room();
        }
        Ok(refused)
    }

    /// No copy has taken an entry. Where all of them only lack room, they are as they were.
    fn refused(&mut self, refusals: [Option<Refusal>; 2]) -> ReconError {
        let mut refusals: Vec<Refusal> = refusals.into_iter().flatten().collect();
        let is_full = refusals.iter().all(|refusal| refusal.is_full);
        let Some(Refusal { path, error, .. }) = refusals.pop() else {
            let why = self.lost.clone().unwrap_or_default();
            return ReconError::Lost { why };
        };
        if is_full {
            return ReconError::Full { path, error };
        }
        self.copies = [None, None];
        let why = error.to_string();
        self.lost = Some(why.clone());
        ReconError::Lost { why }
    }

    /// Has the device keep room behind what the copies hold, if it can (5).
    fn make_room(&mut self) {
        let mut room_end = u64::MAX;
        for (_, file) in self.copies.iter().flatten() {
            let end = |file: &dyn File| file.len().unwrap_or(0);
            if end(file.as_ref()) < self.bytes + ROOM_BYTES / 2 {
                // Without it the next change asks for its own.
                let _ = file.allocate(self.bytes, ROOM_BYTES);
            }
            room_end = room_end.min(end(file.as_ref()));
        }
        self.room_end = room_end;
    }
}

/// Why a copy has not taken an entry.
struct Refusal {
    /// It was refused before anything was synced: it is as it was, but for what nobody believes.
    is_full: bool,
    path: PathBuf,
    error: io::Error,
}

/// A file of RECON that is open.
type OpenCopy = (PathBuf, Arc<dyn File>);

fn write_to((path, file): &OpenCopy, bytes: &[u8], end: u64) -> Result<(), Refusal> {
    let refused = |is_full, error| Refusal { is_full, path: path.clone(), error };
    file.write_at(bytes, end).map_err(|error| refused(is_full(&error), error))?;
    if armed(Failpoint::ReconUnsynced) {
        return Ok(());
    }
    // A failed sync is final, whatever it says.
    file.sync().map_err(|error| refused(false, error))
}

/// Makes both files with all that is known.
fn rewrite(setup: &Setup, number: u64, state: &State) -> Result<Tag, ReconError> {
    let (bytes, tag) = setup.sealer()?.seal(Kind::All, number, Tag([0; 16]), &state.records());
    for path in setup.paths() {
        put(setup, &path, &bytes)?;
    }
    Ok(tag)
}

/// Replaces a file, durably, by these bytes.
fn put(setup: &Setup, path: &Path, bytes: &[u8]) -> Result<(), ReconError> {
    let disk = setup.seam.disk.as_ref();
    if let Some(folder) = path.parent() {
        seam::disk::make_dir(disk, folder).map_err(|error| not_written(path, error))?;
    }
    // Both files may stand in one folder and share a temporary name: they are made in turn.
    replace_small(disk, path, bytes).map_err(|error| not_written(path, error))
}

/// Adds what a file lacks of these bytes behind its valid ones, and clears what stands behind.
fn complete(setup: &Setup, path: &Path, bytes: &[u8], valid: u64) -> Result<(), ReconError> {
    let (_, file) = open_copy(setup, path)?;
    let end = file.len().map_err(|error| not_written(path, error))?;
    let mut rest = bytes[valid as usize..].to_vec();
    rest.resize(rest.len().max(end.saturating_sub(valid) as usize), 0);
    let completed = file.write_at(&rest, valid).and_then(|()| file.sync());
    completed.map_err(|error| not_written(path, error))
}

fn not_written(path: &Path, error: io::Error) -> ReconError {
    let path = path.to_owned();
    match is_full(&error) {
        true => ReconError::Full { path, error },
        false => ReconError::Io { path, verb: "written", error },
    }
}

fn file(setup: &Setup, copy: usize) -> Result<Option<OpenCopy>, ReconError> {
    open_copy(setup, &setup.paths()[copy]).map(Some)
}

fn open_copy(setup: &Setup, path: &Path) -> Result<OpenCopy, ReconError> {
    let how = Open { create: Create::Never, write: true, direct: false, dsync: false };
    match setup.seam.disk.open(path, how) {
        Ok(file) => Ok((path.to_owned(), file)),
        Err(error) => Err(ReconError::Io { path: path.to_owned(), verb: "opened", error }),
    }
}
