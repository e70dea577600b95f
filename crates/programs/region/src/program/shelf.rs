//! A system's programs by name: found in its folders, prepared once, and kept ready.
//!
//! | extension, in either case | is |
//! |---|---|
//! | `cbl`, `cob` | a COBOL source |
//! | `c` | a C source |
//! | `so` | a shared object |
//!
//! Invariants:
//! 1. A name means the first file of the first folder that has one; its case says nothing.
//! 2. What was prepared stays until it is forgotten: a source that is changed while programs run
//!    does not change what runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use seam::disk::Disk;
use seam::sync::Mutex;

use super::{Library, Prepared, Translate, Workshop};
use crate::error::RegionError;

const EXTENSIONS: [&str; 4] = ["CBL", "COB", "C", "SO"];

/// Programs by name.
pub struct Shelf {
    /// Where programs, and what they call, are looked for.
    folders: Vec<PathBuf>,
    /// Where members and headers are.
    copy_folders: Vec<PathBuf>,
    /// Where what was compiled is kept.
    cache: PathBuf,
    ready: Mutex<BTreeMap<String, (Prepared, Library)>>,
}

impl Shelf {
    /// The programs of some folders.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>, copy_folders: Vec<PathBuf>, cache: PathBuf) -> Shelf {
        Shelf { folders, copy_folders, cache, ready: Mutex::default() }
    }

    /// A program, and what it calls, ready to run.
    ///
    /// # Errors
    /// If there is none of the name, or if it does not compile.
    pub fn find(
        &self,
        disk: &dyn Disk,
        translate: &dyn Translate,
        name: &str,
    ) -> Result<(Prepared, Library), RegionError> {
        let name = name.trim_end().to_ascii_uppercase();
        if let Some(ready) = self.ready.lock().get(&name) {
            return Ok(ready.clone());
        }
        let source = self.source_of(disk, &name)?;
        seam::disk::make_dir(disk, &self.cache).map_err(RegionError::file(&self.cache))?;
        let (cache, copy_folders) = (self.cache.clone(), self.copy_folders.clone());
        let workshop = Workshop { disk, cache, copy_folders, translate, options: Vec::new() };
        let program = workshop.prepare(&source)?;
        let library = workshop.library(&program, &self.folders)?;
        let ready = (program, library);
        self.ready.lock().insert(name, ready.clone());
        Ok(ready)
    }

    /// Has a program prepared anew the next time that it is wanted.
    pub fn forget(&self, name: &str) {
        self.ready.lock().remove(&name.trim_end().to_ascii_uppercase());
    }

    fn source_of(&self, disk: &dyn Disk, name: &str) -> Result<PathBuf, RegionError> {
        for folder in &self.folders {
            let mut files = disk.list(folder).unwrap_or_default();
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
        }
        let folder = self.folders.first().cloned().unwrap_or_default();
        Err(RegionError::NoProgram(folder.join(name)))
    }
}
