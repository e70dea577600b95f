//! Which compiler it is that is installed, without starting it at every step.
//!
//! | file in a folder `compiler-...` | what |
//! |---|---|
//! | `says` | what the compiler says of itself |
//! | `digest` | what of it is believed |
//!
//! Invariants:
//! 1. What was said counts for the very file that said it: its path, device, number, length and
//!    times, and for the environment that it looks at.
//! 2. A script, or a compiler that starts another one, is asked each time: what is behind it may
//!    change without it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, stat};
use seam::disk::Open;

use super::{Digest, Workshop};
use crate::error::RegionError;

const DESCRIPTION: &str = "says";
/// Words in the names of programs that start another compiler.
const WRAPPERS: [&str; 2] = ["ccache", "distcc"];
/// What variables begin with that change what a compiler says, or which one it is.
const VARIABLES: [&str; 6] = ["COB", "LANG", "LC_", "LD_", "PATH", "GCC_"];

impl Workshop<'_> {
    /// What a compiler says of itself when it is asked with `word`.
    pub(super) fn words_of(
        &self,
        compiler: &str,
        word: &str,
        source: &Path,
    ) -> Result<Vec<u8>, RegionError> {
        let identity = self.identity(compiler, word);
        let folder = identity.as_ref().map(|one| self.cache.join(format!("compiler-{one}")));
        if let Some(folder) = &folder
            && self.is_sound(folder, &[DESCRIPTION])
            && let Ok(description) = self.read(&folder.join(DESCRIPTION))
        {
            return Ok(description);
        }
        let description = self.run(seam::process::command(compiler).arg(word), source)?;
        if let Some(folder) = &folder
            && description.status.success()
            // One that was replaced meanwhile may have said it.
            && self.identity(compiler, word) == identity
        {
            // What cannot be kept is asked for again.
            let _ = self.keep_words(folder, &description.stdout);
        }
        Ok(description.stdout)
    }

    fn keep_words(&self, folder: &Path, description: &[u8]) -> Result<(), RegionError> {
        let new = self.begin(folder)?;
        let kept = self
            .write(&new.join(DESCRIPTION), description)
            .and_then(|()| self.publish(&new, folder, &[DESCRIPTION.to_owned()]));
        if kept.is_err() {
            self.discard(&new);
        }
        kept
    }

    /// What tells one compiler from another; nothing where that cannot be told from its file.
    fn identity(&self, compiler: &str, word: &str) -> Option<String> {
        let path = found(compiler)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let mut magic = [0; 4];
        self.disk.open(&path, Open::READ).and_then(|file| file.read_at(&mut magic, 0)).ok()?;
        if magic != *b"\x7fELF" || WRAPPERS.iter().any(|wrapper| name.contains(wrapper)) {
            return None;
        }
        let about = stat(&path).ok()?;
        let mut digest = Digest::default();
        for text in [compiler.as_bytes(), word.as_bytes(), path.as_os_str().as_bytes()] {
            digest.add(text);
        }
        let times = [about.st_mtime as u64, about.st_ctime as u64];
        let parts = [about.st_mtime_nsec as u64, about.st_ctime_nsec as u64];
        let file = [about.st_dev, about.st_ino, about.st_size as u64];
        for number in file.into_iter().chain(times).chain(parts) {
            digest.add(&number.to_le_bytes());
        }
        let looks_at = |(name, _): &(OsString, OsString)| {
            VARIABLES.iter().any(|front| name.as_bytes().starts_with(front.as_bytes()))
        };
        let mut variables: Vec<_> = std::env::vars_os().filter(looks_at).collect();
        variables.sort();
        for (name, value) in &variables {
            digest.add(name.as_bytes());
            digest.add(value.as_bytes());
        }
        Some(digest.name())
    }
}

/// The file of a command, as a shell would find it, without links.
#[allow(clippy::disallowed_methods)] // a compiler is no part of a system
fn found(command: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(command));
    let place = places.find(|place| place.is_file() && access(place, Access::EXEC_OK).is_ok())?;
    place.canonicalize().ok()
}
