//! A folder of a test, and files in it.

use std::path::PathBuf;
use std::sync::Arc;

use indexed_files::{Definition, IndexedFile, Key, Purpose, Refusal};
use seam::clock::RealClock;

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("indexed-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        #[allow(clippy::disallowed_methods)] // the test's own folder
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("file")
    }

    pub(crate) fn open(&self, purpose: Purpose) -> Result<IndexedFile, Refusal> {
        open(&self.path(), &accounts(), purpose)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn open(
    path: &std::path::Path,
    definition: &Definition,
    purpose: Purpose,
) -> Result<IndexedFile, Refusal> {
    IndexedFile::open(path, definition, purpose, Arc::new(RealClock::new()))
}

/// Number, group with duplicates, name without.
pub(crate) fn accounts() -> Definition {
    let keys = vec![Key::new(0, 4), Key::new(4, 2).with_duplicates(), Key::new(6, 4)];
    Definition { least: 10, most: 300, keys }
}
