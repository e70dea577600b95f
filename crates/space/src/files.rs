//! The files of a data set: from interval numbers to places on disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base::CiNumber;
use seam::disk::{Create, Disk, File, Open};
use seam::sync::Mutex;

use crate::{Definition, SpaceError};

/// The open files of a data set, in order.
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    home: PathBuf,
    definition: Definition,
    open: Mutex<Vec<Arc<dyn File>>>,
}

impl Files {
    /// The files as they are; a missing first file is an error, later ones may not exist yet.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        home: PathBuf,
        definition: Definition,
        create: bool,
    ) -> Result<Files, SpaceError> {
        let files = Files { disk, home, definition, open: Mutex::default() };
        files.file(0, create)?;
        let mut number = 1;
        while files.definition.file_intervals > 0 && files.exists(number)? {
            files.file(number, false)?;
            number += 1;
        }
        Ok(files)
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
            let path = self.path(number);
            self.disk.remove(&path).map_err(|e| self.failed(number, "removed", e))?;
            self.sync_folder(number)?;
        }
        let file = Arc::clone(&open[last as usize]);
        drop(open);
        file.set_len(offset + unit).map_err(|e| self.failed(last, "cut", e))
    }

    /// Removes every file.
    pub(crate) fn remove(&self) -> Result<(), SpaceError> {
        let count = std::mem::take(&mut *self.open.lock()).len() as u32;
        for number in (0..count).rev() {
            let path = self.path(number);
            self.disk.remove(&path).map_err(|e| self.failed(number, "removed", e))?;
            self.sync_folder(number)?;
        }
        Ok(())
    }

    pub(crate) fn read(&self, first: CiNumber, units: &mut [u8]) -> io::Result<()> {
        let unit = self.definition.unit_bytes();
        let mut rest = units;
        let mut at = first;
        while !rest.is_empty() {
            let (number, offset, room) = self.place(at);
            let count = (rest.len() / unit).min(room as usize);
            let (here, behind) = rest.split_at_mut(count * unit);
            self.opened(number)?.read_at(here, offset)?;
            rest = behind;
            at = CiNumber(at.0 + count as u32);
        }
        Ok(())
    }

    pub(crate) fn write(&self, units: &[(CiNumber, &[u8])]) -> io::Result<()> {
        let mut from = 0;
        while from < units.len() {
            let (number, ..) = self.place(units[from].0);
            let same = units[from..].iter().take_while(|u| self.place(u.0).0 == number);
            let writes: Vec<(u64, &[u8])> =
                same.map(|(ci, bytes)| (self.place(*ci).1, *bytes)).collect();
            self.opened(number)?.write_batch(&writes)?;
            from += writes.len();
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
            }
            let file = self
                .disk
                .open(&path, Open::DATA.create(how))
                .map_err(|e| self.failed(next, "opened", e))?;
            open.push(file);
        }
        Ok(Arc::clone(&open[number as usize]))
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
