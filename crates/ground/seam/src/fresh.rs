//! A file that is written before it has its name, so that its name never leads to half of it.
//!
//! 1. Where the file system can, it has no name at all until it is kept: whatever ends the process,
//!    nothing is left of it. Elsewhere, and for the moment in which it takes another file's place,
//!    it is hidden beside its place, as `.NAME.holdfast.part`.
//! 2. What is hidden is locked by its writer. A process that needs the name of one that nobody
//!    holds takes that one away: its process was killed.
//! 3. A crash leaves the file of that name that was there, or the new one, whole.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Create, Disk, File, HeldLock, Open, is_misplaced};

/// So many may be written for one place at once.
const AT_ONCE_MAX: u32 = 100;
/// A longer name would leave no room for what is put around it; its hash stands for it.
const NAME_BYTES_MAX: usize = 200;

const NEW: Open = Open { create: Create::New, write: true, direct: false, dsync: false };

/// A file without its name. Dropping it removes it.
pub struct Fresh {
    disk: Arc<dyn Disk>,
    /// Where it is to stand.
    path: PathBuf,
    file: Arc<dyn File>,
    /// Where it stands, if it has a name (1).
    hidden: Option<PathBuf>,
    /// Held until the end (2); there is none where nothing can be locked.
    _lock: Option<Box<dyn HeldLock>>,
}

impl Fresh {
    /// Begins a file that is to stand at `path`.
    ///
    /// # Errors
    /// If its folder takes no file.
    pub fn begin(disk: &Arc<dyn Disk>, path: &Path) -> io::Result<Fresh> {
        match disk.open_unnamed(folder(path)) {
            Err(error) if error.kind() == ErrorKind::Unsupported => Fresh::hidden(disk, path),
            opened => {
                let (file, lock) = opened?;
                hidden_names(path).take(1).for_each(|name| clear(&**disk, &name));
                let (disk, path) = (Arc::clone(disk), path.to_owned());
                Ok(Fresh { disk, path, file, hidden: None, _lock: Some(lock) })
            }
        }
    }

    /// One that has to have a name (1).
    fn hidden(disk: &Arc<dyn Disk>, path: &Path) -> io::Result<Fresh> {
        let Hidden { name, file, lock } = Hidden::begin(&**disk, path)?;
        let (disk, path) = (Arc::clone(disk), path.to_owned());
        Ok(Fresh { disk, path, file, hidden: Some(name), _lock: lock })
    }

    /// The file, to be written and synced.
    #[must_use]
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// What it is called until it is kept, if it has a name.
    #[must_use]
    pub fn hidden_at(&self) -> Option<&Path> {
        self.hidden.as_deref()
    }

    /// Gives the file, which was synced, its name, durably; one that is there already is replaced
    /// if `replace`.
    ///
    /// # Errors
    /// `AlreadyExists` if it is not to be replaced, else whatever the disk says. Unless the folder
    /// could not be synced, the new file is gone then, and the old one stays.
    pub fn keep(mut self, replace: bool) -> io::Result<()> {
        if self.hidden.is_none() {
            match self.disk.give_name(&*self.file, &self.path) {
                Err(error) if replace && error.kind() == ErrorKind::AlreadyExists => self.hide()?,
                named => {
                    named?;
                    return self.disk.sync_dir(folder(&self.path));
                }
            }
        }
        if let Some(hidden) = &self.hidden {
            if !replace && self.disk.exists(&self.path)? {
                return Err(ErrorKind::AlreadyExists.into());
            }
            self.disk.rename(hidden, &self.path)?;
            self.hidden = None;
        }
        self.disk.sync_dir(folder(&self.path))
    }

    /// Gives a file without a name a hidden one, from which it can replace another file.
    fn hide(&mut self) -> io::Result<()> {
        for name in hidden_names(&self.path) {
            clear(&*self.disk, &name);
            match self.disk.give_name(&*self.file, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                named => {
                    self.hidden = Some(name);
                    return named;
                }
            }
        }
        Err(crowded(&self.path))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // The caller that drops one has an error to tell already; this one adds nothing to it.
            let _ = self.disk.remove(hidden);
        }
    }
}

/// A file under a hidden name (1).
struct Hidden {
    name: PathBuf,
    file: Arc<dyn File>,
    lock: Option<Box<dyn HeldLock>>,
}

impl Hidden {
    fn begin(disk: &dyn Disk, path: &Path) -> io::Result<Hidden> {
        for name in hidden_names(path) {
            clear(disk, &name);
            let file = match disk.open(&name, NEW) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            let lock = disk.lock(&name);
            // A process that was faster with the lock takes it for one without a holder.
            let is_held = matches!(&lock, Err(error) if error.kind() == ErrorKind::WouldBlock);
            if !is_held && !is_misplaced(disk, &name, &*file) {
                return Ok(Hidden { name, file, lock: lock.ok() });
            }
        }
        Err(crowded(path))
    }
}

/// Puts a small file in place so that a crash leaves the old one or the new one, whole. Nothing
/// that another program has put beside it as `NAME.new` or the like is touched.
///
/// # Errors
/// Whatever the disk says; the old file is then still there, or the new one already, and nothing
/// else is left.
pub fn replace_small(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Hidden { name, file, lock } = Hidden::begin(disk, path)?;
    let written = file.write_at(bytes, 0).and_then(|()| file.sync());
    drop(file);
    if let Err(error) = written.and_then(|()| disk.rename(&name, path)) {
        // On a full device every byte counts.
        let _ = disk.remove(&name);
        return Err(error);
    }
    drop(lock);
    disk.sync_dir(folder(path))
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The names under which files for that place are hidden, the usual one first.
fn hidden_names(path: &Path) -> impl Iterator<Item = PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    if name.len() > NAME_BYTES_MAX {
        name = format!("{:016x}", base::hash::bytes(name.as_encoded_bytes())).into();
    }
    (0..AT_ONCE_MAX).map(move |number| {
        let mut hidden = OsString::from(".");
        hidden.push(&name);
        hidden.push(".holdfast");
        if number > 0 {
            hidden.push(format!(".{number}"));
        }
        hidden.push(".part");
        path.with_file_name(hidden)
    })
}

/// Takes a hidden file away that nobody holds (2). One that stays takes its name only.
fn clear(disk: &dyn Disk, name: &Path) {
    let Ok(before) = disk.identity(name) else { return };
    let Ok(_lock) = disk.lock(name) else { return };
    // It is another one if its writer has just given it its name.
    if disk.identity(name).is_ok_and(|now| now == before) {
        let _ = disk.remove(name);
    }
}

fn crowded(path: &Path) -> io::Error {
    let text = format!("{AT_ONCE_MAX} commands write {} at once", path.display());
    io::Error::new(ErrorKind::ResourceBusy, text)
}
