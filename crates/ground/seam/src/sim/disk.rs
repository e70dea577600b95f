//! The simulated disk: files in memory that forget what was not synced.
//!
//! Invariants:
//! 1. It keeps the promises of [`crate::disk`] and not one more: see `inode` for contents and
//!    `tree` for names.
//! 2. Every call of a simulated thread passes at least one scheduling point, and a write at least
//!    one while it is under way: a crash then leaves any part of it, and others may read any part.
//! 3. The state is behind a lock of the real machine that is never held across a scheduling point.
//! 4. A copy ([`SimDisk::snapshot`]) shares all blocks and costs a few pointers per file.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::faults::{Call, Fault, FaultId, Faults, Place, Verdict};
use super::file::SimFile;
use super::inode::Inode;
use super::rng::Rng;
use super::tree::{self, Entry, Tree};
use super::{disk_latency, disk_pause};
use crate::disk::{BLOCK, Create, DeviceRoom, Disk, File, FileId, HeldLock, Open};

/// What a crash does to writes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashStyle {
    /// Nothing of them survives.
    DropAll,
    /// All of them survive, those under way too.
    KeepAll,
    /// Each sector is kept, dropped or torn; of each folder's changes a prefix survives.
    Random,
    /// Every write is torn in some of its sectors; names and lengths as with `Random`.
    TearAll,
}

/// What happens at the disk, told to the observer just before it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Writes begun on this disk until now, this one included.
    pub writes: u64,
    /// What happens.
    pub kind: EventKind,
    /// To which file or folder.
    pub path: &'a Path,
    /// Where a write goes; zero for all else.
    pub offset: u64,
    /// How long a write is, in bytes; zero for all else.
    pub len: usize,
}

/// Kinds of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A write has begun: it is under way and has not reached the file yet.
    Write,
    /// A file is about to be synced.
    Sync,
    /// A folder is about to be synced.
    SyncDir,
    /// A file's length is about to change.
    Length,
    /// A name is about to be added, renamed or removed.
    Name,
}

/// How often the disk was asked for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Writes; each of a batch counts.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Syncs of files.
    pub syncs: u64,
    /// Syncs of folders.
    pub dir_syncs: u64,
    /// Files opened or made.
    pub opens: u64,
}

type Observer = Box<dyn FnMut(&SimDisk, &Event<'_>) + Send>;

/// A disk in memory. Clones are the same disk; [`SimDisk::snapshot`] copies it.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<parking_lot::Mutex<State>>,
}

pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) inodes: BTreeMap<u64, Arc<Inode>>,
    inode_next: u64,
    /// Numbers changes of all files in the order in which they began.
    change_next: u64,
    locks: BTreeSet<u64>,
    /// Runs that have had this disk, or one that it came from.
    lives: u64,
    pub(super) rng: Rng,
    pub(super) counts: IoCounts,
    crash_at_write: Option<u64>,
    observer: Option<Observer>,
    pub(super) faults: Faults,
    /// Bytes that all files together may take.
    capacity: Option<u64>,
    /// Whether this life's machine writes several files at once.
    together: bool,
}

impl Default for SimDisk {
    fn default() -> SimDisk {
        SimDisk::new()
    }
}

impl SimDisk {
    /// An empty disk with the folder `/`. Relative paths begin there, too.
    #[must_use]
    pub fn new() -> SimDisk {
        SimDisk::of(State {
            tree: Tree::new(),
            inodes: BTreeMap::new(),
            inode_next: 1,
            change_next: 1,
            locks: BTreeSet::new(),
            lives: 0,
            rng: Rng::stream(0, "disk"),
            counts: IoCounts::default(),
            crash_at_write: None,
            observer: None,
            faults: Faults::default(),
            capacity: None,
            together: false,
        })
    }

    fn of(state: State) -> SimDisk {
        SimDisk { state: Arc::new(parking_lot::Mutex::new(state)) }
    }

    pub(super) fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        body(&mut self.state.lock())
    }

    /// A disk of its own with the same content, durable and not, and what is under way on it.
    /// Counts and locks start anew, and no faults are injected.
    #[must_use]
    pub fn snapshot(&self) -> SimDisk {
        self.with(|state| SimDisk::of(state.copy()))
    }

    /// The disk as it may be found after a crash at this moment. All that is on it is durable, and
    /// no faults are injected.
    #[must_use]
    pub fn crash_image(&self, rng: &mut Rng, style: CrashStyle) -> SimDisk {
        self.with(|state| {
            let mut after = state.copy();
            after.tree = state.tree.after_crash(rng, style);
            let named: BTreeSet<u64> = after.tree.inodes().collect();
            after.inodes.retain(|inode, _| named.contains(inode));
            for inode in after.inodes.values_mut() {
                let image = inode.after_crash(rng, style);
                let current = image.clone();
                *inode = Arc::new(Inode { current, durable: image, ..Inode::default() });
            }
            SimDisk::of(after)
        })
    }

    /// Makes all that is on the disk durable, as an orderly end of the machine does.
    pub fn settle(&self) {
        self.with(|state| {
            state.tree.sync_all();
            let now = state.change_next;
            for inode in state.inodes.values_mut() {
                Arc::make_mut(inode).settle(now);
            }
        });
    }

    /// Has `observer` called just before each event takes effect, until the disk is dropped or
    /// another observer takes its place. Under a run it is called by the thread that causes the
    /// event, and may look at everything but not wait.
    pub fn observe(&self, observer: impl FnMut(&SimDisk, &Event<'_>) + Send + 'static) {
        self.with(|state| state.observer = Some(Box::new(observer)));
    }

    /// Removes the observer, and with it what it has gathered.
    pub fn stop_observing(&self) {
        let observer = self.with(|state| state.observer.take());
        drop(observer);
    }

    /// Crashes the machine while the `n`th write from now is under way (the next one is 1).
    pub fn crash_after(&self, n: u64) {
        self.with(|state| state.crash_at_write = Some(state.counts.writes + n));
    }

    /// Lets something go wrong from now on.
    pub fn inject(&self, fault: Fault) -> FaultId {
        self.with(|state| state.faults.inject(fault))
    }

    /// Ends a fault; what it has damaged stays damaged.
    pub fn heal(&self, fault: FaultId) {
        self.with(|state| state.faults.heal(fault));
    }

    /// Ends all faults.
    pub fn heal_all(&self) {
        self.with(|state| state.faults.heal_all());
    }

    /// How often a fault has come about.
    #[must_use]
    pub fn hits(&self, fault: FaultId) -> u64 {
        self.with(|state| state.faults.hits(fault))
    }

    /// Limits what all files together may take, in bytes; beyond it writes find no space.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.with(|state| state.capacity = bytes);
    }

    /// Unmounts what is below a folder: its names lead nowhere, what is open stays open, and a
    /// crash changes nothing of that.
    pub fn unmount(&self, folder: &Path) {
        let folder = absolute(folder);
        self.with(|state| state.tree.unmount(&folder));
    }

    /// Mounts it again, as its files are by now: they hide what was made there meanwhile.
    pub fn mount(&self, folder: &Path) {
        let folder = absolute(folder);
        self.with(|state| state.tree.mount(&folder));
    }

    /// What was asked of the disk until now.
    #[must_use]
    pub fn counts(&self) -> IoCounts {
        self.with(|state| state.counts)
    }

    /// The files by name, sorted.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.with(|state| {
            let files = state.tree.current.iter();
            let files = files.filter(|(_, entry)| matches!(entry, Entry::File(_)));
            files.map(|(path, _)| path.clone()).collect()
        })
    }

    pub(super) fn begin_life(&self, seed: u64) -> u64 {
        self.with(|state| {
            state.lives += 1;
            state.rng = Rng::stream(seed ^ base::hash::avalanche(state.lives), "disk");
            state.together = state.rng.one_in(2);
            state.lives
        })
    }

    pub(super) fn end_life(&self) {
        self.with(|state| state.locks.clear());
    }

    /// Draws what goes wrong with a call.
    pub(super) fn ask(&self, call: Call, path: &Path, place: Place) -> Verdict {
        self.with(|state| state.faults.ask(call, path, place, &mut state.rng))
    }

    /// Fails if the file or folder is dead, or the call is to fail otherwise.
    fn check(&self, call: Call, path: &Path) -> io::Result<()> {
        disk_pause(0)?;
        if self.ask(call, path, None).io_error { Err(io_error()) } else { Ok(()) }
    }

    /// Tells the observer.
    pub(super) fn announce(&self, kind: EventKind, path: &Path) {
        self.announce_write(kind, path, 0, 0);
    }

    /// Tells the observer, and crashes the machine if this write is the one.
    pub(super) fn announce_write(&self, kind: EventKind, path: &Path, offset: u64, len: usize) {
        let (observer, writes, crash) = self.with(|state| {
            let crash = kind == EventKind::Write
                && state.crash_at_write.is_some_and(|crash| state.counts.writes >= crash);
            (state.observer.take(), state.counts.writes, crash)
        });
        if let Some(mut observer) = observer {
            let event = Event { writes, kind, path, offset, len };
            super::uninterrupted(|| observer(self, &event));
            self.with(|state| state.observer = Some(observer));
        }
        if crash && super::active() {
            self.with(|state| state.crash_at_write = None);
            super::crash();
        }
    }
}

impl State {
    fn copy(&self) -> State {
        State {
            tree: self.tree.clone(),
            inodes: self.inodes.clone(),
            inode_next: self.inode_next,
            change_next: self.change_next,
            locks: BTreeSet::new(),
            lives: self.lives,
            rng: self.rng.clone(),
            counts: IoCounts::default(),
            crash_at_write: None,
            observer: None,
            faults: Faults::default(),
            capacity: self.capacity,
            together: self.together,
        }
    }

    pub(super) fn inode(&mut self, number: u64) -> &mut Inode {
        Arc::make_mut(self.inodes.get_mut(&number).expect("handles keep to inodes that exist"))
    }

    pub(super) fn change(&mut self) -> u64 {
        self.change_next += 1;
        self.change_next - 1
    }

    /// Whether files may take space for this range of one of them.
    pub(super) fn has_room(&self, inode: u64, offset: u64, len: u64) -> bool {
        let Some(capacity) = self.capacity else { return true };
        let within = self.inodes[&inode].current.blocks_within(offset, len);
        let blocks = (offset + len).div_ceil(BLOCK as u64) - offset / BLOCK as u64;
        (self.used_blocks() + blocks - within) * BLOCK as u64 <= capacity
    }

    /// Blocks that all files with a name take.
    fn used_blocks(&self) -> u64 {
        let named: BTreeSet<u64> = self.tree.names().into_keys().collect();
        named.iter().map(|inode| self.inodes[inode].current.blocks()).sum()
    }

    fn file(&self, path: &Path) -> io::Result<u64> {
        match self.tree.current.get(path) {
            Some(Entry::File(inode)) => Ok(*inode),
            Some(Entry::Folder) => Err(wrong(io::ErrorKind::IsADirectory, "open", path)),
            None => Err(wrong(io::ErrorKind::NotFound, "find", path)),
        }
    }

    /// The folder that is to hold `path` must exist.
    fn check_parent(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        match self.tree.current.get(parent) {
            Some(Entry::Folder) => Ok(()),
            Some(Entry::File(_)) => Err(wrong(io::ErrorKind::NotADirectory, "enter", parent)),
            None => Err(wrong(io::ErrorKind::NotFound, "find", parent)),
        }
    }
}

/// What Linux says of a device that failed.
pub(super) fn io_error() -> io::Error {
    rustix::io::Errno::IO.into()
}

pub(super) fn wrong(kind: io::ErrorKind, verb: &str, path: &Path) -> io::Error {
    io::Error::new(kind, format!("cannot {verb} {}: {kind}", path.display()))
}

/// The same path from `/` on, without `.` and `..`.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let mut absolute = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => absolute.push(name),
            Component::ParentDir => {
                absolute.pop();
            }
            _ => {}
        }
    }
    absolute
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let path = absolute(path);
        self.check(Call::Open, &path)?;
        let found = self.with(|state| state.file(&path));
        let inode = match (found, how.create) {
            (Ok(_), Create::New) => {
                return Err(wrong(io::ErrorKind::AlreadyExists, "make", &path));
            }
            (Err(error), Create::New) if error.kind() == io::ErrorKind::IsADirectory => {
                return Err(wrong(io::ErrorKind::AlreadyExists, "make", &path));
            }
            (Ok(inode), _) => inode,
            (Err(error), Create::Never) => return Err(error),
            (Err(error), _) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            (Err(_), _) => {
                self.with(|state| state.check_parent(&path))?;
                self.announce(EventKind::Name, &path);
                self.with(|state| state.make_file(&path))
            }
        };
        self.with(|state| state.counts.opens += 1);
        Ok(Arc::new(SimFile { disk: self.clone(), inode, how, path }))
    }

    fn open_unnamed(&self, dir: &Path) -> io::Result<(Arc<dyn File>, Box<dyn HeldLock>)> {
        let path = absolute(dir);
        self.check(Call::Open, &path)?;
        let inode = self.with(|state| {
            state.check_parent(&path.join("unnamed"))?;
            let inode = state.add_inode(Inode::default());
            state.locks.insert(inode);
            state.counts.opens += 1;
            Ok::<u64, io::Error>(inode)
        })?;
        let how = Open { create: Create::New, write: true, direct: false, dsync: false };
        let file = SimFile { disk: self.clone(), inode, how, path };
        Ok((Arc::new(file), self.held(inode)))
    }

    fn give_name(&self, file: &dyn File, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        let file = (file as &dyn Any).downcast_ref::<SimFile>();
        let inode = file.ok_or(io::ErrorKind::Unsupported)?.inode;
        self.with(|state| match state.tree.current.get(&path) {
            Some(_) => Err(wrong(io::ErrorKind::AlreadyExists, "name", &path)),
            None => state.check_parent(&path),
        })?;
        self.announce(EventKind::Name, &path);
        self.with(|state| state.tree.change(tree::Change::Add(path, Entry::File(inode))));
        Ok(())
    }

    fn write_copies(
        &self,
        files: &[&dyn File],
        offset: u64,
        bufs: &[&[u8]],
    ) -> Option<Vec<io::Result<()>>> {
        if !self.with(|state| state.together) {
            return None;
        }
        let mut known = Vec::with_capacity(files.len());
        for one in files {
            known.push((*one as &dyn Any).downcast_ref::<SimFile>()?);
        }
        Some(SimFile::write_alike(&known, offset, bufs))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(absolute(path))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        Ok(self.with(|state| state.tree.current.contains_key(&path)))
    }

    fn identity(&self, path: &Path) -> io::Result<FileId> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        self.with(|state| Ok(FileId { device: 0, inode: state.file(&path)? }))
    }

    fn room(&self, path: &Path) -> io::Result<DeviceRoom> {
        self.check(Call::Other, &absolute(path))?;
        self.with(|state| {
            let bytes = state.capacity.ok_or(io::ErrorKind::Unsupported)?;
            let free_bytes = bytes.saturating_sub(state.used_blocks() * BLOCK as u64);
            Ok(DeviceRoom { device: 0, free_bytes, bytes })
        })
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let dir = absolute(dir);
        self.check(Call::Other, &dir)?;
        self.with(|state| {
            if state.tree.current.get(&dir) != Some(&Entry::Folder) {
                return Err(wrong(io::ErrorKind::NotFound, "list", &dir));
            }
            let within = state.tree.current.keys().filter(|path| path.parent() == Some(&dir));
            Ok(within.filter_map(|path| path.file_name()).map(PathBuf::from).collect())
        })
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        let mut folders: Vec<&Path> = path.ancestors().collect();
        folders.reverse();
        for folder in folders {
            match self.with(|state| state.tree.current.get(folder).copied()) {
                Some(Entry::Folder) => {}
                Some(Entry::File(_)) => {
                    return Err(wrong(io::ErrorKind::AlreadyExists, "make", folder));
                }
                None => {
                    self.announce(EventKind::Name, folder);
                    let change = tree::Change::Add(folder.to_owned(), Entry::Folder);
                    self.with(|state| state.tree.change(change));
                }
            }
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        self.with(|state| state.file(&path))?;
        self.announce(EventKind::Name, &path);
        self.with(|state| state.tree.change(tree::Change::Remove(path)));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (absolute(from), absolute(to));
        self.check(Call::Other, &from)?;
        self.check(Call::Other, &to)?;
        self.with(|state| {
            state.file(&from)?;
            state.check_parent(&to)?;
            match state.tree.current.get(&to) {
                Some(Entry::Folder) => Err(wrong(io::ErrorKind::IsADirectory, "replace", &to)),
                _ => Ok(()),
            }
        })?;
        self.announce(EventKind::Name, &to);
        self.with(|state| state.tree.change(tree::Change::Rename(from, to)));
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let dir = absolute(dir);
        disk_pause(0)?;
        if self.with(|state| state.tree.current.get(&dir) != Some(&Entry::Folder)) {
            return Err(wrong(io::ErrorKind::NotFound, "sync", &dir));
        }
        self.announce(EventKind::SyncDir, &dir);
        let verdict = self.ask(Call::SyncDir, &dir, None);
        disk_pause(disk_latency(|config| config.sync_us) + verdict.delay_ns)?;
        if verdict.io_error {
            return Err(io_error());
        }
        self.with(|state| {
            state.counts.dir_syncs += 1;
            state.tree.sync(&dir);
        });
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>> {
        let path = absolute(path);
        self.check(Call::Other, &path)?;
        self.with(|state| {
            let inode = match state.file(&path) {
                Ok(inode) => inode,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    state.check_parent(&path)?;
                    state.make_file(&path)
                }
                Err(error) => return Err(error),
            };
            if !state.locks.insert(inode) {
                return Err(wrong(io::ErrorKind::WouldBlock, "lock", &path));
            }
            Ok(inode)
        })
        .map(|inode| self.held(inode))
    }
}

impl SimDisk {
    /// The lock on a file that was just taken.
    fn held(&self, inode: u64) -> Box<dyn HeldLock> {
        let life = self.with(|state| state.lives);
        Box::new(SimLock { disk: self.clone(), inode, life })
    }
}

impl State {
    pub(super) fn add_inode(&mut self, inode: Inode) -> u64 {
        let number = self.inode_next;
        self.inode_next += 1;
        self.inodes.insert(number, Arc::new(inode));
        number
    }

    fn make_file(&mut self, path: &Path) -> u64 {
        let inode = self.add_inode(Inode::default());
        self.tree.change(tree::Change::Add(path.to_owned(), Entry::File(inode)));
        inode
    }
}

/// A held lock. One that outlives its run holds nothing any more.
struct SimLock {
    disk: SimDisk,
    inode: u64,
    life: u64,
}

impl HeldLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.with(|state| {
            if state.lives == self.life {
                state.locks.remove(&self.inode);
            }
        });
    }
}
