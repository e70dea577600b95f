//! A system's programs by name: found in its folders, prepared once, and kept ready.
//!
//! | extension, in either case | is |
//! |---|---|
//! | `cbl`, `cob` | a COBOL source |
//! | `c` | a C source |
//! | `so` | a shared object |
//! | none, or another | an executable, if it may be executed |
//!
//! Invariants:
//! 1. A name means the first file of the first folder that has one; its case says nothing.
//! 2. All programs have one library, of all that lies in the folders: so a region's process goes
//!    from one program to the next (`message_region`).
//! 3. A program whose source has changed is prepared anew when it is wanted next, with the
//!    library. What runs goes on as it began.
//! 4. If anything else in the folders, or a member, has changed, the library is made anew. One that
//!    lacks what does not compile any more takes no other's place: programs go on with that before.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seam::disk::Disk;
use seam::sync::Mutex;

use super::{Library, Prepared, Translate, Workshop};
use crate::error::RegionError;

const EXTENSIONS: [&str; 4] = ["CBL", "COB", "C", "SO"];

/// Programs by name.
pub struct ProgramCache {
    disk: Arc<dyn Disk>,
    /// Where programs, and what they call, are looked for.
    folders: Vec<PathBuf>,
    /// Where members and headers are.
    copy_folders: Vec<PathBuf>,
    /// Where what was compiled is kept.
    cache: PathBuf,
    ready: Mutex<Ready>,
}

#[derive(Default)]
struct Ready {
    programs: BTreeMap<String, (Stamp, Prepared)>,
    library: Option<Library>,
    /// All files, as they were when the library was made or could not be.
    files: Vec<Stamp>,
    /// They are not what they were.
    is_stale: bool,
}

/// What changes when a file does.
#[derive(Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    changed: Option<std::time::SystemTime>,
}

/// A program that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The program.
    pub program: Prepared,
    /// What it, and every other program of the folders, may call.
    pub library: Library,
    /// What there is to say about it and its library, once.
    pub warnings: Vec<String>,
}

impl ProgramCache {
    /// The programs of some folders.
    #[must_use]
    pub fn new(
        disk: &Arc<dyn Disk>,
        folders: Vec<PathBuf>,
        copy_folders: Vec<PathBuf>,
        cache: PathBuf,
    ) -> ProgramCache {
        ProgramCache {
            disk: Arc::clone(disk),
            folders,
            copy_folders,
            cache,
            ready: Mutex::default(),
        }
    }

    /// A program, and what it calls, ready to run.
    ///
    /// # Errors
    /// If there is none of the name, or if it does not compile.
    pub fn find(&self, translate: &dyn Translate, name: &str) -> Result<Found, RegionError> {
        let name = name.trim_end().to_ascii_uppercase();
        let stamp = stamp_of(&self.source_of(&name)?);
        // Held while it is prepared: a thread that wants the same program waits for it.
        let mut ready = self.ready.lock();
        if let Some((known, program)) = ready.programs.get(&name)
            && *known == stamp
            && !ready.is_stale
            && let Some(library) = &ready.library
        {
            let (program, library) = (program.clone(), library.clone());
            return Ok(Found { program, library, warnings: Vec::new() });
        }
        let disk = &*self.disk;
        seam::disk::make_dir(disk, &self.cache).map_err(RegionError::file(&self.cache))?;
        let (cache, copy_folders) = (self.cache.clone(), self.copy_folders.clone());
        let workshop = Workshop { disk, cache, copy_folders, translate, options: Vec::new() };
        let program = workshop.prepare(&stamp.path)?;
        let mut warnings = match program.is_fresh() && !program.warnings().trim().is_empty() {
            true => vec![program.warnings().trim_end().to_owned()],
            false => Vec::new(),
        };
        let known = ready.programs.insert(name, (stamp.clone(), program.clone()));
        let is_as_it_was = known.is_none_or(|(known, _)| known == stamp);
        let library = match ready.library.clone() {
            Some(library) if is_as_it_was && !ready.is_stale => library,
            before => {
                ready.files = self.files();
                ready.is_stale = false;
                let library = workshop.shared_library(&self.folders)?;
                warnings.extend(library.warnings.iter().cloned());
                match before.filter(|before| is_as_it_was && lacks_some(&library, before)) {
                    Some(before) => {
                        warnings.push("programs go on calling what was there before".to_owned());
                        before
                    }
                    None => ready.library.insert(library).clone(),
                }
            }
        };
        Ok(Found { program, library, warnings })
    }

    /// Looks whether any file has changed since the library was made: then it is made anew with the
    /// next program that is wanted.
    #[must_use]
    pub fn library_has_changed(&self) -> bool {
        if self.ready.lock().library.is_none() {
            return false;
        }
        let now = self.files();
        let mut ready = self.ready.lock();
        ready.is_stale = ready.files != now;
        ready.is_stale
    }

    /// All files of programs and members.
    fn files(&self) -> Vec<Stamp> {
        let folders = self.folders.iter().chain(&self.copy_folders);
        let of = |folder: &PathBuf| {
            let mut files = self.disk.list(folder).unwrap_or_default();
            files.sort();
            let all = files.into_iter().map(|file| folder.join(file));
            all.filter(|path| path.is_file()).map(|path| stamp_of(&path)).collect::<Vec<_>>()
        };
        folders.flat_map(of).collect()
    }

    /// Whether the file of a program that was found is not what it was. Programs that were never
    /// wanted have not changed.
    #[must_use]
    pub fn has_changed(&self, name: &str) -> bool {
        let name = name.trim_end().to_ascii_uppercase();
        let known = self.ready.lock().programs.get(&name).map(|(stamp, _)| stamp.clone());
        let now = || self.source_of(&name).ok().map(|path| stamp_of(&path));
        known.is_some_and(|known| now().is_some_and(|now| now != known))
    }

    fn source_of(&self, name: &str) -> Result<PathBuf, RegionError> {
        for folder in &self.folders {
            let mut files = self.disk.list(folder).unwrap_or_default();
            files.sort();
            for extension in EXTENSIONS {
                let is_it = |file: &&PathBuf| {
                    let upper = file.to_string_lossy().to_ascii_uppercase();
                    upper.rsplit_once('.') == Some((name, extension))
                };
                if let Some(file) = files.iter().find(is_it) {
                    return Ok(folder.join(file));
                }
            }
            let is_it = |path: &PathBuf| {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                stem.to_ascii_uppercase() == name && may_be_executed(path)
            };
            if let Some(path) = files.iter().map(|file| folder.join(file)).find(is_it) {
                return Ok(path);
            }
        }
        Err(RegionError::InNoFolder { name: name.to_owned(), folders: self.folders.clone() })
    }
}

/// Whether a library lacks a program of the one before, and sources were left out.
fn lacks_some(library: &Library, before: &Library) -> bool {
    let is_missing = |name: &String| !library.programs.contains(name);
    !library.warnings.is_empty() && before.programs.iter().any(is_missing)
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn may_be_executed(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn stamp_of(path: &Path) -> Stamp {
    let found = std::fs::metadata(path).ok();
    let bytes = found.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = found.and_then(|found| found.modified().ok());
    Stamp { path: path.to_owned(), bytes, changed }
}
