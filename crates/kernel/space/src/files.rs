//! The files of a data set: from interval numbers to places on disk.

use std::io::{self, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{CiNumber, SystemId};
use seam::disk::{Create, Disk, File, Open, is_misplaced};
use seam::sync::Mutex;

use crate::{Definition, SpaceError};

/// The open files of a data set, in order.
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    home: PathBuf,
    /// Whose they are.
    system: SystemId,
    definition: Definition,
    open: Mutex<Vec<Arc<dyn File>>>,
}

impl Files {
    /// The files as they are; a missing first file is an error, later ones may not exist yet.
    pub(crate) fn open(
        (disk, system): (Arc<dyn Disk>, SystemId),
        home: PathBuf,
        definition: Definition,
        create: bool,
    ) -> Result<Files, SpaceError> {
        let files = Files::closed((disk, system), home, definition);
        files.file(0, create)?;
        let mut number = 1;
        while files.definition.file_intervals > 0 && files.exists(number)? {
            files.file(number, create)?;
            number += 1;
        }
        Ok(files)
    }

    /// The same, none of them open.
    pub(crate) fn closed(
        (disk, system): (Arc<dyn Disk>, SystemId),
        home: PathBuf,
        definition: Definition,
    ) -> Files {
        Files { disk, home, system, definition, open: Mutex::default() }
    }

    /// How many whole intervals the files hold.
    pub(crate) fn intervals(&self) -> Result<u32, SpaceError> {
        let unit = self.definition.unit_bytes() as u64;
        let open = self.open.lock().clone();
        let mut total = 0;
        for (number, file) in open.iter().enumerate() {
            let len = file.len().map_err(|e| self.failed(number as u32, "measured", e))?;
            let here = len / unit;
            total += here;
            if self.definition.file_intervals > 0
                && here < u64::from(self.definition.file_intervals)
            {
                break;
            }
        }
        Ok(u32::try_from(total).unwrap_or(u32::MAX))
    }

    /// Makes room on the device for `intervals` in all.
    pub(crate) fn grow(&self, from: u32, to: u32) -> Result<(), SpaceError> {
        let unit = self.definition.unit_bytes() as u64;
        let mut at = from;
        while at < to {
            let (number, offset, room) = self.place(CiNumber(at));
            let count = room.min(to - at);
            let fresh = !self.is_open(number);
            let file = self.file(number, true)?;
            file.allocate(offset, u64::from(count) * unit)
                .map_err(|e| self.failed(number, "extended", e))?;
            if fresh {
                self.sync_folder(number)?;
            }
            at += count;
        }
        Ok(())
    }

    /// Cuts the files to `intervals` in all; files behind are removed.
    pub(crate) fn shrink(&self, intervals: u32) -> Result<(), SpaceError> {
        let unit = self.definition.unit_bytes() as u64;
        let mut open = self.open.lock();
        let (last, offset, _) = self.place(CiNumber(intervals.max(1) - 1));
        while open.len() as u32 > last + 1 {
            let number = open.len() as u32 - 1;
            open.pop();
            self.remove_file(number)?;
        }
        let file = Arc::clone(&open[last as usize]);
        drop(open);
        file.set_len(offset + unit).map_err(|e| self.failed(last, "cut", e))
    }

    /// Removes every file.
    pub(crate) fn remove(&self) -> Result<(), SpaceError> {
        let count = std::mem::take(&mut *self.open.lock()).len() as u32;
        (0..count).rev().try_for_each(|number| self.remove_file(number))
    }

    /// Removes one; somebody else may have done so before.
    fn remove_file(&self, number: u32) -> Result<(), SpaceError> {
        match self.disk.remove(&self.path(number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed(number, "removed", error))
            }
            _ => self.sync_folder(number),
        }
    }

    /// The open files whose names do not lead to them any more.
    pub(crate) fn misplaced(&self) -> Vec<PathBuf> {
        let open = self.open.lock();
        let named = (0..).zip(open.iter()).map(|(number, file)| (self.path(number), file));
        let gone = named.filter(|(path, file)| is_misplaced(&*self.disk, path, file.as_ref()));
        gone.map(|(path, _)| path).collect()
    }

    /// Removes every file that is there, open or not; the first may be gone already.
    pub(crate) fn remove_present(&self) -> Result<(), SpaceError> {
        let mut count = 1;
        while self.definition.file_intervals > 0 && self.exists(count)? {
            count += 1;
        }
        for number in (0..count).rev() {
            if self.exists(number)? {
                let path = self.path(number);
                self.disk.remove(&path).map_err(|e| self.failed(number, "removed", e))?;
                self.sync_folder(number)?;
            }
        }
        Ok(())
    }

    /// Reads consecutive intervals into buffers that hold a whole number of them each.
    pub(crate) fn read(&self, first: CiNumber, bufs: &mut [IoSliceMut<'_>]) -> io::Result<()> {
        let unit = self.definition.unit_bytes();
        let (mut at, mut rest) = (first.0, bufs);
        while !rest.is_empty() {
            let (number, offset, room) = self.place(CiNumber(at));
            let file = self.opened(number)?;
            let room_bytes = room as usize * unit;
            let mut bytes = 0;
            let fitting = rest.iter().take_while(|buf| {
                bytes += buf.len();
                bytes <= room_bytes
            });
            let count = fitting.count().max(1);
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(count);
            if here[0].len() > room_bytes {
                // One buffer, and the next file has what is behind.
                let (within, beyond) = here[0].split_at_mut(room_bytes);
                file.read_at(within, offset)?;
                self.read(CiNumber(at + room), &mut [IoSliceMut::new(beyond)])?;
            } else {
                file.read_vectored_at(here, offset)?;
            }
            at += (here.iter().map(|buf| buf.len()).sum::<usize>() / unit) as u32;
            rest = behind;
        }
        Ok(())
    }

    /// Writes runs of consecutive intervals: the first of each, and the units.
    pub(crate) fn write(&self, runs: &[(CiNumber, &[u8])]) -> io::Result<()> {
        let unit = self.definition.unit_bytes();
        let mut writes: Vec<(u32, u64, &[u8])> = Vec::with_capacity(runs.len());
        for (first, units) in runs {
            let (mut at, mut rest) = (first.0, *units);
            while !rest.is_empty() {
                let (number, offset, room) = self.place(CiNumber(at));
                let count = (rest.len() / unit).min(room as usize);
                let (here, behind) = rest.split_at(count * unit);
                writes.push((number, offset, here));
                (at, rest) = (at + count as u32, behind);
            }
        }
        for same in writes.chunk_by(|one, next| one.0 == next.0) {
            let batch: Vec<(u64, &[u8])> =
                same.iter().map(|(_, at, units)| (*at, *units)).collect();
            self.opened(same[0].0)?.write_batch(&batch)?;
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        let open = self.open.lock().clone();
        open.iter().try_for_each(|file| file.sync())
    }

    /// File number, offset in it, and how many intervals there are from here to its end.
    fn place(&self, ci: CiNumber) -> (u32, u64, u32) {
        let unit = self.definition.unit_bytes() as u64;
        match self.definition.file_intervals {
            0 => (0, u64::from(ci.0) * unit, u32::MAX - ci.0),
            per_file => {
                let place = ci.0 % per_file;
                (ci.0 / per_file, u64::from(place) * unit, per_file - place)
            }
        }
    }

    fn path(&self, number: u32) -> PathBuf {
        self.home.join(self.definition.file_name(number))
    }

    fn exists(&self, number: u32) -> Result<bool, SpaceError> {
        self.disk.exists(&self.path(number)).map_err(|e| self.failed(number, "looked for", e))
    }

    fn is_open(&self, number: u32) -> bool {
        self.open.lock().len() as u32 > number
    }

    fn opened(&self, number: u32) -> io::Result<Arc<dyn File>> {
        self.open.lock().get(number as usize).cloned().ok_or_else(|| {
            let path = self.path(number);
            io::Error::new(io::ErrorKind::NotFound, format!("{} is missing", path.display()))
        })
    }

    fn file(&self, number: u32, create: bool) -> Result<Arc<dyn File>, SpaceError> {
        let mut open = self.open.lock();
        while open.len() as u32 <= number {
            let next = open.len() as u32;
            let path = self.path(next);
            let how = if create { Create::IfMissing } else { Create::Never };
            if create && let Some(folder) = path.parent() {
                let made = seam::disk::make_dir(self.disk.as_ref(), folder);
                made.map_err(|e| self.failed(next, "made", e))?;
                self.refuse_others(next, folder)?;
            }
            let file = self
                .disk
                .open(&path, Open::DATA.create(how))
                .map_err(|e| self.failed(next, "opened", e))?;
            open.push(file);
        }
        Ok(Arc::clone(&open[number as usize]))
    }

    /// Refuses a folder that another system has its data sets in: files there may have the names of
    /// these.
    fn refuse_others(&self, number: u32, folder: &Path) -> Result<(), SpaceError> {
        let owner = seam::owner::owner(self.disk.as_ref(), folder);
        let owner = owner.map_err(|error| self.failed(number, "made", error))?;
        match owner.filter(|owner| *owner != self.system) {
            Some(system) => Err(SpaceError::Foreign {
                name: self.definition.name.clone(),
                path: folder.to_owned(),
                system,
            }),
            None => Ok(()),
        }
    }

    /// Makes a new or removed file name durable.
    pub(crate) fn sync_folder(&self, number: u32) -> Result<(), SpaceError> {
        let path = self.path(number);
        let folder = path.parent().expect("a data set's file lies in a folder");
        self.disk.sync_dir(folder).map_err(|e| self.failed(number, "synced", e))
    }

    fn failed(&self, number: u32, verb: &'static str, source: io::Error) -> SpaceError {
        SpaceError::Io { name: self.definition.name.clone(), path: self.path(number), verb, source }
    }
}

#[cfg(test)]
mod tests {
    use base::{DataSetId, KeyGeneration};
    use seal::Format;
    use seam::mem::AlignedBuf;
    use seam::sim::SimDisk;

    use super::*;

    fn in_several_files() -> Definition {
        Definition {
            id: DataSetId(1),
            name: "SET".into(),
            ci_bytes: 4096,
            format: Format::Plain,
            label: "data".into(),
            generation: KeyGeneration(0),
            pool: "default".into(),
            file_intervals: 3,
            folders: vec!["a".into(), "b".into()],
            attributes: Vec::new(),
            conversion: None,
            permit: None,
        }
    }

    const SYSTEM: SystemId = SystemId([1; 16]);

    fn door(disk: &SimDisk) -> (Arc<dyn Disk>, SystemId) {
        (Arc::new(disk.clone()), SYSTEM)
    }

    #[test]
    fn no_file_is_made_in_a_folder_of_another_system() {
        let disk = SimDisk::new();
        let other = SystemId([2; 16]);
        let (arc, _) = door(&disk);
        seam::owner::claim(&arc, "/b".as_ref(), other).unwrap();
        let files = Files::open(door(&disk), "/".into(), in_several_files(), true).unwrap();
        let refused = files.grow(0, 12).unwrap_err();
        assert!(matches!(refused, SpaceError::Foreign { system, .. } if system == other));
        assert_eq!(disk.list("/b".as_ref()).unwrap(), [PathBuf::from(seam::owner::MARK)]);
    }

    #[test]
    fn runs_and_buffers_go_on_from_file_to_file() {
        let disk = SimDisk::new();
        let definition = in_several_files();
        let files = Files::open(door(&disk), "/".into(), definition, true).unwrap();
        files.grow(0, 12).unwrap();
        let mut units = AlignedBuf::zeroed(12 * 4096);
        units.chunks_mut(4096).zip(0..).for_each(|(unit, ci)| unit.fill(ci));
        // Out of order, and 1 to 10 over four files.
        let runs = [(CiNumber(11), 11..12), (CiNumber(1), 1..11), (CiNumber(0), 0..1)];
        let runs = runs.map(|(ci, range)| (ci, &units[range.start * 4096..range.end * 4096]));
        files.write(&runs).unwrap();
        let ends = [1, 2, 6, 7, 12];
        let mut back: Vec<AlignedBuf> = std::iter::once(&0)
            .chain(&ends)
            .zip(&ends)
            .map(|(from, to)| AlignedBuf::zeroed((to - from) * 4096))
            .collect();
        let mut bufs: Vec<_> = back.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
        files.read(CiNumber(0), &mut bufs).unwrap();
        assert!(bufs.iter().zip([1, 1, 4, 1, 5]).all(|(buf, count)| buf.len() == count * 4096));
        assert_eq!(back.iter().flat_map(|buf| buf.iter().copied()).collect::<Vec<_>>(), *units);
        let reads = disk.counts().reads;
        let mut bufs: Vec<_> = back[..2].iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
        files.read(CiNumber(4), &mut bufs).unwrap();
        assert_eq!(disk.counts().reads, reads + 1, "what lies in one file is one read");
        assert_eq!((back[0][0], back[1][0]), (4, 5));
    }

    #[test]
    fn files_that_are_not_open_are_removed_as_far_as_they_are_there() {
        let disk = SimDisk::new();
        let definition = in_several_files();
        let files = Files::open(door(&disk), "/".into(), definition.clone(), true).unwrap();
        files.grow(0, 12).unwrap();
        disk.lose(files.path(0));
        Files::closed(door(&disk), "/".into(), definition).remove_present().unwrap();
        assert!((0..4).all(|number| !files.exists(number).unwrap()));
    }
}
