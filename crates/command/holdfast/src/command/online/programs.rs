//! The programs of transactions: where they are found, compiled when they are first scheduled, and
//! again when their source has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use region::Preprocessor;
use region::program::{Library, Prepared, Workshop};
use seam::disk::Disk;
use seam::sync::Mutex;
use system::OnlineSettings;

use crate::failure::{Failure, Result};
use crate::job::PROGRAMS;
use crate::output::warn;

/// What a program's file may be called, in the order in which they are looked for.
const SUFFIXES: [&str; 6] = ["cbl", "cob", "CBL", "COB", "c", "so"];

/// The programs that were found so far.
pub(super) struct Programs {
    disk: Arc<dyn Disk>,
    folders: Vec<PathBuf>,
    include: Vec<PathBuf>,
    cache: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

/// A program that was compiled, and what its file was like.
#[derive(Clone)]
struct Known {
    stamp: Stamp,
    ready: (Prepared, Library),
}

/// What changes when a file does.
#[derive(Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    changed: Option<std::time::SystemTime>,
}

impl Programs {
    pub(super) fn new(disk: &Arc<dyn Disk>, dir: &Path, settings: &OnlineSettings) -> Programs {
        Programs {
            disk: Arc::clone(disk),
            folders: OnlineSettings::folders(dir, &settings.programs),
            include: OnlineSettings::folders(dir, &settings.include),
            cache: dir.join(PROGRAMS),
            known: Mutex::default(),
        }
    }

    /// A program, ready to run, with what it calls.
    pub(super) fn ready(&self, name: &str) -> Result<(Prepared, Library)> {
        let stamp = self.find(name)?;
        if let Some(known) = self.known.lock().get(name)
            && known.stamp == stamp
        {
            return Ok(known.ready.clone());
        }
        seam::disk::make_dir(&*self.disk, &self.cache).map_err(|error| {
            let what = format!("the folder {} cannot be made: {error}", self.cache.display());
            Failure::other(what, "Make the system's folder writable.")
        })?;
        let workshop = Workshop {
            disk: &*self.disk,
            cache: self.cache.clone(),
            copy_folders: self.include.clone(),
            translate: &Preprocessor { is_free: false },
            options: Vec::new(),
        };
        let prepared = workshop.prepare(&stamp.path)?;
        if prepared.is_fresh() && !prepared.warnings().trim().is_empty() {
            warn(prepared.warnings().trim_end());
        }
        let library = workshop.library(&prepared, &self.folders)?;
        let ready = (prepared, library);
        self.known.lock().insert(name.to_owned(), Known { stamp, ready: ready.clone() });
        Ok(ready)
    }

    /// The file of a program.
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    fn find(&self, name: &str) -> Result<Stamp> {
        let names = [name.to_owned(), name.to_ascii_lowercase()];
        for folder in &self.folders {
            for name in &names {
                for suffix in SUFFIXES {
                    let path = folder.join(format!("{name}.{suffix}"));
                    if let Ok(found) = std::fs::metadata(&path)
                        && found.is_file()
                    {
                        let (bytes, changed) = (found.len(), found.modified().ok());
                        return Ok(Stamp { path, bytes, changed });
                    }
                }
            }
        }
        let what = match self.folders.is_empty() {
            true => format!("program {name} is nowhere to be found: the system knows no folder"),
            false => {
                let folders: Vec<String> =
                    self.folders.iter().map(|folder| folder.display().to_string()).collect();
                format!("program {name} is not in {}", folders.join(", "))
            }
        };
        let help = "Name its folder in `programs` of the section [online] of holdfast.toml; its \
                    file is NAME.cbl, NAME.c or NAME.so.";
        Err(Failure::other(what, help))
    }
}
