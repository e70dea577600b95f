//! Whether a recovery can have what it needs of its image copies, before it is begun.
//!
//! Invariants:
//! 1. A copy is of use for a data set if its files together hold that whole, whatever has become of
//!    others that they hold.

use std::collections::BTreeMap;

use base::CiNumber;
use recon::ImageCopy;
use seam::Seam;

use crate::media::Source;
use crate::{CopyInfo, CopyKeys, CopyReader, CopyVisitor, Plan, Progress, RecoveryError};

/// How closely copies are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Whether the files are there, as long as they were.
    Files,
    /// Whether all that is needed of them proves itself: each is read from front to back.
    Bytes,
}

/// Looks at the image copies of a plan.
///
/// # Errors
/// [`RecoveryError::Unreadable`] names the first one that cannot be used, and for what.
pub fn look_at_copies(
    seam: &Seam,
    keys: &CopyKeys,
    plan: &Plan,
    look: Look,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), RecoveryError> {
    let mut wanted: BTreeMap<u32, (&ImageCopy, Vec<String>)> = BTreeMap::new();
    for set in &plan.sets {
        for copy in &set.copies {
            let (_, names) = wanted.entry(copy.number).or_insert((copy, Vec::new()));
            names.push(set.definition.name.clone());
        }
    }
    let mut looking = Looking { seam, keys, look, progress };
    wanted.into_values().try_for_each(|(copy, names)| looking.at(copy, names))
}

/// What an image copy is refused with that cannot be used for data sets, if that is the copy's
/// fault; `failed` is what is wrong with the last of its files.
pub(crate) fn unreadable(
    copy: &ImageCopy,
    names: Vec<String>,
    failed: Option<RecoveryError>,
) -> RecoveryError {
    let number = copy.number;
    let error = failed.unwrap_or_else(|| RecoveryError::NoCopy {
        name: names.join(", "),
        why: format!("has files: {number} went to a pipe"),
    });
    match error {
        RecoveryError::NoCopy { .. }
        | RecoveryError::Damaged { .. }
        | RecoveryError::Future { .. }
        | RecoveryError::Foreign { .. }
        | RecoveryError::Io { .. } => {
            RecoveryError::Unreadable { number, names, error: Box::new(error) }
        }
        other => other,
    }
}

struct Looking<'l> {
    seam: &'l Seam,
    keys: &'l CopyKeys,
    look: Look,
    progress: &'l mut dyn FnMut(Progress<'_>),
}

impl Looking<'_> {
    fn at(&mut self, copy: &ImageCopy, names: Vec<String>) -> Result<(), RecoveryError> {
        let mut failed = None;
        for file in &copy.files {
            let looked = match self.look {
                Look::Files => self.is_there(copy, &file.path),
                Look::Bytes => self.proves(copy, &file.path, &names),
            };
            match looked {
                Ok(()) => return Ok(()),
                Err(error) => failed = Some(error),
            }
        }
        match names.len() {
            // Of its files each may hold something else that is whole.
            2.. if self.look == Look::Bytes => {
                names.into_iter().try_for_each(|name| self.at(copy, vec![name]))
            }
            _ => Err(unreadable(copy, names, failed)),
        }
    }

    fn is_there(&self, copy: &ImageCopy, path: &std::path::Path) -> Result<(), RecoveryError> {
        let (found, known) = (Source::open(self.seam, path)?.bytes(), copy.bytes);
        if found == known {
            return Ok(());
        }
        let why = format!("it has {found} bytes, and was written with {known}");
        Err(RecoveryError::Damaged { path: path.to_owned(), why })
    }

    fn proves(
        &mut self,
        copy: &ImageCopy,
        path: &std::path::Path,
        names: &[String],
    ) -> Result<(), RecoveryError> {
        let what = format!("image copy {}", copy.number);
        let mut proving = Proving { names, wanted: Vec::new(), what, progress: self.progress };
        let reader = CopyReader::open_joined(self.seam, path, copy, self.keys)?;
        let info = reader.read(&mut proving)?;
        if info.tag == copy.tag {
            return Ok(());
        }
        let why = "it is another copy than the one that RECON knows".into();
        Err(RecoveryError::Damaged { path: path.to_owned(), why })
    }
}

/// A visitor that wants to know only that some data sets are as they were written.
struct Proving<'p> {
    names: &'p [String],
    wanted: Vec<bool>,
    what: String,
    progress: &'p mut dyn FnMut(Progress<'_>),
}

impl CopyVisitor for Proving<'_> {
    fn begin(&mut self, info: &CopyInfo) -> Result<(), RecoveryError> {
        self.wanted = info.sets.iter().map(|set| self.names.contains(&set.name)).collect();
        Ok(())
    }
    fn wants(&self, set: usize) -> bool {
        self.wanted.get(set).copied().unwrap_or(false)
    }
    fn used(&mut self, _set: usize, _ci: CiNumber, _used: bool) -> Result<(), RecoveryError> {
        Ok(())
    }
    fn interval(&mut self, _: usize, _: CiNumber, _: &[u8]) -> Result<(), RecoveryError> {
        Ok(())
    }
    fn progress(&mut self, done: u64, total: u64) {
        (self.progress)(Progress { what: &self.what, done, total });
    }
}
