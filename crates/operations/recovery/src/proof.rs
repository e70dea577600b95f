//! Whether a recovery can have what it needs of its image copies, before it is begun.
//!
//! Invariants:
//! 1. A copy is of use for a data set if its files together hold that whole, whatever has become of
//!    others that they hold.

use base::CiNumber;
use recon::ImageCopy;
use seam::Seam;

use crate::media::Source;
use crate::plan::SetPlan;
use crate::reader::ANOTHER;
use crate::unproven::Unproven;
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
    for group in plan.groups() {
        let together = look_at(seam, keys, &group, look, progress);
        match together {
            // Of the files of a copy each may hold something else that is whole.
            Err(_) if group.len() > 1 && look == Look::Bytes => {
                group.iter().try_for_each(|set| look_at(seam, keys, &[*set], look, progress))?;
            }
            other => other?,
        }
    }
    Ok(())
}

/// Looks at the copies that data sets share.
fn look_at(
    seam: &Seam,
    keys: &CopyKeys,
    sets: &[&SetPlan],
    look: Look,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), RecoveryError> {
    let names: Vec<String> = sets.iter().map(|set| set.definition.name.clone()).collect();
    let Some(copies) = sets.first().map(|set| &set.copies) else { return Ok(()) };
    if look == Look::Files {
        return copies.iter().try_for_each(|copy| is_there(seam, copy, &names));
    }
    let wanted =
        names.iter().map(|name| Wanted { name, index: None, unproven: Unproven::default() });
    let (wanted, what) = (wanted.collect(), String::new());
    let mut proving = Proving { wanted, copy: 0, what, progress };
    for copy in copies {
        (proving.copy, proving.what) = (copy.number, format!("image copy {}", copy.number));
        read_any_file(seam, keys, copy, &names, &mut proving)?;
        proving.wanted.iter_mut().for_each(|one| one.unproven.end_copy());
    }
    let unproven = proving.wanted.iter_mut().map(|one| (one.name, &mut one.unproven));
    refuse_unproven(unproven)
}

/// Whether one of the files of a copy is there, as long as it was.
fn is_there(seam: &Seam, copy: &ImageCopy, names: &[String]) -> Result<(), RecoveryError> {
    let mut failed = None;
    for file in &copy.files {
        let found = match Source::open(seam, &file.path) {
            Ok(source) if source.bytes() == copy.bytes => return Ok(()),
            Ok(source) => source.bytes(),
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        let why = format!("it has {found} bytes, and was written with {}", copy.bytes);
        failed = Some(RecoveryError::Damaged { path: file.path.clone(), why });
    }
    Err(unreadable(copy.number, names, failed))
}

/// Reads a copy from the first of its files that serves, together with the others.
pub(crate) fn read_any_file(
    seam: &Seam,
    keys: &CopyKeys,
    copy: &ImageCopy,
    names: &[String],
    visitor: &mut dyn CopyVisitor,
) -> Result<(), RecoveryError> {
    let mut failed = None;
    for file in &copy.files {
        let read = CopyReader::open_joined(seam, &file.path, copy, keys)
            .and_then(|reader| reader.read(visitor));
        match read {
            Ok(info) if info.tag == copy.tag => return Ok(()),
            Ok(_) => {
                let (path, why) = (file.path.clone(), ANOTHER.to_owned());
                failed = Some(RecoveryError::Damaged { path, why });
            }
            Err(error) => failed = Some(error),
        }
    }
    Err(unreadable(copy.number, names, failed))
}

/// Refuses copies of which an interval is unproven at the end of a chain.
pub(crate) fn refuse_unproven<'o>(
    unproven: impl Iterator<Item = (&'o str, &'o mut Unproven)>,
) -> Result<(), RecoveryError> {
    for (name, unproven) in unproven {
        if let Some((copy, error)) = unproven.take_first() {
            return Err(unreadable(copy, &[name.to_owned()], Some(error)));
        }
    }
    Ok(())
}

/// What an image copy is refused with that cannot be used for data sets, if that is the copy's
/// fault; `failed` is what is wrong with the last of its files.
fn unreadable(number: u32, names: &[String], failed: Option<RecoveryError>) -> RecoveryError {
    let names = names.to_vec();
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

/// A visitor that wants to know only that some data sets are as they were written.
struct Proving<'p> {
    wanted: Vec<Wanted<'p>>,
    /// The copy that is read.
    copy: u32,
    what: String,
    progress: &'p mut dyn FnMut(Progress<'_>),
}

/// A data set that copies are looked at for.
struct Wanted<'p> {
    name: &'p str,
    /// Which of the copy's data sets it is.
    index: Option<usize>,
    unproven: Unproven,
}

impl Proving<'_> {
    fn unproven(&mut self, index: usize) -> Option<&mut Unproven> {
        let of = |one: &&mut Wanted<'_>| one.index == Some(index);
        self.wanted.iter_mut().find(of).map(|one| &mut one.unproven)
    }
}

impl CopyVisitor for Proving<'_> {
    fn begin(&mut self, info: &CopyInfo) -> Result<(), RecoveryError> {
        for one in &mut self.wanted {
            one.index = info.sets.iter().position(|set| set.name == one.name);
            one.unproven.begin_copy();
        }
        Ok(())
    }
    fn wants(&self, set: usize) -> bool {
        self.wanted.iter().any(|one| one.index == Some(set))
    }
    fn used(&mut self, set: usize, ci: CiNumber, used: bool) -> Result<(), RecoveryError> {
        if let Some(unproven) = self.unproven(set).filter(|_| used) {
            unproven.used(ci);
        }
        Ok(())
    }
    fn interval(&mut self, set: usize, ci: CiNumber, _: &[u8]) -> Result<(), RecoveryError> {
        if let Some(unproven) = self.unproven(set) {
            unproven.give(ci);
        }
        Ok(())
    }
    fn lost(&mut self, set: usize, ci: CiNumber, why: RecoveryError) -> Result<(), RecoveryError> {
        let copy = self.copy;
        if let Some(unproven) = self.unproven(set) {
            unproven.lose(ci, copy, why);
        }
        Ok(())
    }
    fn progress(&mut self, done: u64, total: u64) {
        (self.progress)(Progress { what: &self.what, done, total });
    }
}
