//! A disk in front of a disk: reads go through, writes stay in memory and are forgotten.
//!
//! With it `verify` and `status` look at a stopped system with the very code that opens one,
//! restart included, and leave every byte on disk as it was.
//!
//! 1. No file below is opened for writing, made, renamed, cut or removed; the disk below is asked
//!    for reading only.
//! 2. What was written is what is read, over all handles of a file.
//! 3. Blocks of zeros take no memory. Past `bytes_max` of others writing fails: a dry run that
//!    would need more memory than the machine has ends with an error, not with the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use seam::Seam;
use seam::disk::{BLOCK, Create, DeviceRoom, Disk, File, HeldLock, Open};
use seam::mem::AlignedBuf;
use seam::sync::Mutex;

/// See the head of this file.
pub(crate) struct ShadowDisk {
    below: Arc<dyn Disk>,
    state: Mutex<State>,
    budget: Arc<Budget>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Mutex<Layer>>>,
    removed: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

struct Budget {
    bytes_max: u64,
    bytes: AtomicU64,
}

/// What was written over a file.
struct Layer {
    len: u64,
    /// How much of the file below still shows through.
    below_len: u64,
    /// Blocks written; `None` is a block of zeros.
    blocks: BTreeMap<u64, Option<AlignedBuf>>,
}

/// One handle of a file.
struct ShadowFile {
    below: Option<Arc<dyn File>>,
    layer: Arc<Mutex<Layer>>,
    budget: Arc<Budget>,
}

impl ShadowDisk {
    pub(crate) fn new(below: Arc<dyn Disk>, bytes_max: u64) -> ShadowDisk {
        ShadowDisk {
            below,
            state: Mutex::default(),
            budget: Arc::new(Budget { bytes_max, bytes: AtomicU64::new(0) }),
            locked: Arc::default(),
        }
    }

    fn open_below(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let read = Open { create: Create::Never, write: false, dsync: false, ..how };
        self.below.open(path, read)
    }

    fn is_below(&self, state: &State, path: &Path) -> io::Result<bool> {
        Ok(!state.removed.contains(path) && self.below.exists(path)?)
    }
}

/// What the operating system says of a file that is not there.
fn no_file() -> io::Error {
    rustix::io::Errno::NOENT.into()
}

impl Disk for ShadowDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let mut state = self.state.lock();
        let is_below = self.is_below(&state, path)?;
        let known = state.files.get(path).cloned();
        let exists = is_below || known.is_some();
        match how.create {
            Create::Never if !exists => return Err(no_file()),
            Create::New if exists => return Err(io::ErrorKind::AlreadyExists.into()),
            _ => {}
        }
        let below = if is_below { Some(self.open_below(path, how)?) } else { None };
        let layer = match known {
            Some(layer) => layer,
            None => {
                let len = below.as_ref().map_or(Ok(0), |file| file.len())?;
                let layer = Layer { len, below_len: len, blocks: BTreeMap::new() };
                let layer = Arc::new(Mutex::new(layer));
                state.files.insert(path.to_owned(), Arc::clone(&layer));
                layer
            }
        };
        Ok(Arc::new(ShadowFile { below, layer, budget: Arc::clone(&self.budget) }))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.absolute(path)
    }

    fn room(&self, path: &Path) -> io::Result<DeviceRoom> {
        self.below.room(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let state = self.state.lock();
        let here = state.files.contains_key(path) || state.folders.contains(path);
        Ok(here || self.is_below(&state, path)?)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.state.lock();
        let mut names: BTreeSet<PathBuf> = match self.below.list(dir) {
            Ok(names) => names.into_iter().collect(),
            Err(_) if state.folders.contains(dir) => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        names.retain(|name| !state.removed.contains(&dir.join(name)));
        let made = state.files.keys().filter(|path| path.parent() == Some(dir));
        names.extend(made.filter_map(|path| path.file_name()).map(PathBuf::from));
        Ok(names.into_iter().collect())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state.lock().folders.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let known = state.files.remove(path).is_some();
        if !known && !self.is_below(&state, path)? {
            return Err(no_file());
        }
        state.removed.insert(path.to_owned());
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        if self.is_below(&state, from)? {
            let why = "only what was made in a dry run is renamed in it";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let layer = state.files.remove(from).ok_or_else(no_file)?;
        state.removed.insert(to.to_owned());
        state.files.insert(to.to_owned(), layer);
        Ok(())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>> {
        if !self.locked.lock().insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(ShadowLock { path: path.to_owned(), locked: Arc::clone(&self.locked) }))
    }
}

struct ShadowLock {
    path: PathBuf,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl HeldLock for ShadowLock {}

impl Drop for ShadowLock {
    fn drop(&mut self) {
        self.locked.lock().remove(&self.path);
    }
}

impl ShadowFile {
    /// The whole block as it is now.
    fn block(&self, layer: &Layer, number: u64) -> io::Result<AlignedBuf> {
        let mut block = AlignedBuf::zeroed(BLOCK);
        match layer.blocks.get(&number) {
            Some(Some(written)) => block.copy_from_slice(written),
            Some(None) => {}
            None => self.read_below(layer, &mut block, number * BLOCK as u64)?,
        }
        Ok(block)
    }

    /// Reads what still shows through from below; the rest of `buf` is zero already.
    fn read_below(&self, layer: &Layer, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(below) = &self.below else { return Ok(()) };
        let shown = layer.below_len.saturating_sub(offset).min(buf.len() as u64) as usize;
        if shown == 0 { Ok(()) } else { below.read_at(&mut buf[..shown], offset) }
    }

    fn put(&self, layer: &mut Layer, number: u64, block: AlignedBuf) -> io::Result<()> {
        let kept = if block.iter().all(|byte| *byte == 0) { None } else { Some(block) };
        let grows = kept.is_some() && !matches!(layer.blocks.get(&number), Some(Some(_)));
        if grows {
            let bytes = self.budget.bytes.fetch_add(BLOCK as u64, Relaxed) + BLOCK as u64;
            if bytes > self.budget.bytes_max {
                let most = self.budget.bytes_max >> 20;
                let text = format!("a dry run in memory may take {most} MiB, and needs more");
                return Err(io::Error::new(io::ErrorKind::OutOfMemory, text));
            }
        }
        layer.blocks.insert(number, kept);
        Ok(())
    }
}

impl File for ShadowFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let layer = self.layer.lock();
        let end = offset + buf.len() as u64;
        if end > layer.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let block = BLOCK as u64;
        let blocks = offset / block..end.div_ceil(block);
        if layer.blocks.range(blocks.clone()).next().is_none() {
            // Nothing was written here: one read, as large as it was asked for.
            let shown = layer.below_len.saturating_sub(offset).min(buf.len() as u64) as usize;
            buf[shown..].fill(0);
            return self.read_below(&layer, buf, offset);
        }
        for number in blocks {
            let bytes = self.block(&layer, number)?;
            let from = offset.max(number * block);
            let to = end.min((number + 1) * block);
            let piece = &bytes[(from - number * block) as usize..(to - number * block) as usize];
            buf[(from - offset) as usize..(to - offset) as usize].copy_from_slice(piece);
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut layer = self.layer.lock();
        let block = BLOCK as u64;
        let end = offset + buf.len() as u64;
        for number in offset / block..end.div_ceil(block) {
            let from = offset.max(number * block);
            let to = end.min((number + 1) * block);
            let whole = to - from == block;
            let mut bytes =
                if whole { AlignedBuf::zeroed(BLOCK) } else { self.block(&layer, number)? };
            bytes[(from - number * block) as usize..(to - number * block) as usize]
                .copy_from_slice(&buf[(from - offset) as usize..(to - offset) as usize]);
            self.put(&mut layer, number, bytes)?;
        }
        layer.len = layer.len.max(end);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.layer.lock().len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut layer = self.layer.lock();
        let block = BLOCK as u64;
        if len < layer.len && !len.is_multiple_of(block) {
            let mut last = self.block(&layer, len / block)?;
            last[(len % block) as usize..].fill(0);
            self.put(&mut layer, len / block, last)?;
        }
        layer.below_len = layer.below_len.min(len);
        layer.len = len;
        layer.blocks.split_off(&len.div_ceil(block));
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut layer = self.layer.lock();
        layer.len = layer.len.max(offset + len);
        Ok(())
    }
}

/// What a look at a stopped system may keep in memory.
const SHADOW_BYTES_MAX: u64 = 2 << 30;

/// The outside as it is, with every write kept in memory.
pub(crate) fn without_writes(seam: &Seam) -> Seam {
    let disk = ShadowDisk::new(Arc::clone(&seam.disk), SHADOW_BYTES_MAX);
    Seam { disk: Arc::new(disk), ..seam.clone() }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // looks at the files below
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("holdfast-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn shadow(bytes_max: u64) -> ShadowDisk {
        ShadowDisk::new(Arc::new(seam::real::RealDisk::new()), bytes_max)
    }

    const HOW: Open = Open { create: Create::Never, write: true, direct: false, dsync: false };

    #[test]
    fn what_is_written_is_read_and_the_files_below_stay_as_they_are() {
        let dir = folder("shadow-files");
        std::fs::write(dir.join("old"), [7; 6000]).unwrap();
        let disk = shadow(1 << 20);
        let old = disk.open(&dir.join("old"), HOW).unwrap();
        old.write_at(&[9; 10], 4090).unwrap();
        let other = disk.open(&dir.join("old"), HOW).unwrap();
        let mut back = [0; 30];
        other.read_at(&mut back, 4080).unwrap();
        assert_eq!(back, [&[7; 10][..], &[9; 10], &[7; 10]].concat()[..]);
        let new = disk.open(&dir.join("new"), HOW.create(Create::New)).unwrap();
        new.write_at(&[1], 5000).unwrap();
        assert_eq!(new.len().unwrap(), 5001);
        assert!(disk.open(&dir.join("new"), HOW.create(Create::New)).is_err());
        assert_eq!(disk.list(&dir).unwrap(), [PathBuf::from("new"), PathBuf::from("old")]);
        disk.remove(&dir.join("old")).unwrap();
        assert!(!disk.exists(&dir.join("old")).unwrap());
        assert_eq!(disk.list(&dir).unwrap(), [PathBuf::from("new")]);
        assert_eq!(std::fs::read(dir.join("old")).unwrap(), [7; 6000]);
        assert!(!dir.join("new").exists());
        let held = disk.lock(&dir.join("lock")).unwrap();
        assert!(disk.lock(&dir.join("lock")).is_err());
        drop(held);
        assert!(disk.lock(&dir.join("lock")).is_ok() && !dir.join("lock").exists());
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn what_was_made_takes_the_name_of_a_file_below_which_stays() {
        let dir = folder("shadow-names");
        std::fs::write(dir.join("old"), "old").unwrap();
        let disk = shadow(1 << 20);
        seam::fresh::replace_small(&disk, &dir.join("old"), b"other").unwrap();
        let read = |name| seam::disk::read_small(&disk, &dir.join(name), 100);
        assert_eq!(read("old").unwrap(), b"other");
        assert_eq!(disk.list(&dir).unwrap(), [PathBuf::from("old")]);
        assert_eq!(std::fs::read(dir.join("old")).unwrap(), b"old");
        std::fs::write(dir.join("below"), "below").unwrap();
        let error = disk.rename(&dir.join("below"), &dir.join("new")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn memory_is_bounded_and_zeros_are_free() {
        let dir = folder("shadow-bound");
        let disk = shadow(2 * BLOCK as u64);
        let file = disk.open(&dir.join("f"), HOW.create(Create::New)).unwrap();
        file.write_at(&[0; 100 * BLOCK], 0).unwrap();
        file.write_at(&[1; 2 * BLOCK], 0).unwrap();
        file.write_at(&[2; 2 * BLOCK], 0).unwrap();
        let error = file.write_at(&[1; BLOCK], 5 * BLOCK as u64).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[derive(Clone, Debug)]
    enum Step {
        Write(u16, u16, u8),
        Cut(u16),
        Extend(u16, u16),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..20_000_u16, 1..9_000_u16, any::<u8>())
                .prop_map(|(a, b, c)| Step::Write(a, b, c)),
            1 => (0..20_000_u16).prop_map(Step::Cut),
            1 => (0..20_000_u16, 1..9_000_u16).prop_map(|(a, b)| Step::Extend(a, b)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_file_is_what_a_vector_would_be(steps in prop::collection::vec(step(), 1..30)) {
            let dir = folder("shadow-model");
            let mut model: Vec<u8> = (0..10_001_u32).map(|n| n as u8 | 1).collect();
            std::fs::write(dir.join("f"), &model).unwrap();
            let disk = shadow(1 << 30);
            let file = disk.open(&dir.join("f"), HOW).unwrap();
            for step in steps {
                match step {
                    Step::Write(at, len, byte) => {
                        let (at, len) = (usize::from(at), usize::from(len));
                        model.resize(model.len().max(at + len), 0);
                        model[at..at + len].fill(byte);
                        file.write_at(&vec![byte; len], at as u64).unwrap();
                    }
                    Step::Cut(len) => {
                        model.resize(usize::from(len), 0);
                        file.set_len(u64::from(len)).unwrap();
                    }
                    Step::Extend(at, len) => {
                        let end = usize::from(at) + usize::from(len);
                        model.resize(model.len().max(end), 0);
                        file.allocate(u64::from(at), u64::from(len)).unwrap();
                    }
                }
                prop_assert_eq!(file.len().unwrap(), model.len() as u64);
                let mut back = vec![0xee; model.len()];
                file.read_at(&mut back, 0).unwrap();
                prop_assert_eq!(&back, &model);
            }
        }
    }
}
