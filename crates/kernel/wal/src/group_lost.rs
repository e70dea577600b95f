//! A group that no copy has, and what an error says about where it must stand.
//!
//! Invariants:
//! 1. A group is put back only in its own place: within its segment, and where no segment that
//!    cannot be read might stand.
//! 2. What was put back once and is lost still is not put back again.

use base::GroupNumber;
use seam::disk::File;
use seam::mem::AlignedBuf;

use crate::config::SEGMENT_HEADER;
use crate::group::KeyBook;
use crate::segment::FileAt;
use crate::survey::Survey;
use crate::{LogConfig, LogError};

/// A group that no copy has, and where it must stand.
pub(crate) struct Lost {
    pub(crate) number: GroupNumber,
    pub(crate) slot: u32,
    pub(crate) stripe: u8,
    offset: u64,
}

impl Lost {
    /// What an error says is lost. What was put back `before` and is lost still stays so.
    pub(crate) fn of(error: &LogError, before: Option<GroupNumber>) -> Option<Lost> {
        let LogError::Damaged { group, path, offset, .. } = error else { return None };
        let (slot, stripe) = FileAt::parse(path.file_name()?.as_ref())?;
        let is_new = before.is_none_or(|before| before < *group);
        let is_group = *offset >= SEGMENT_HEADER as u64;
        (is_new && is_group).then_some(Lost { number: *group, slot, stripe, offset: *offset })
    }

    pub(crate) fn write(
        &self,
        config: &LogConfig,
        copy: u8,
        file: &dyn File,
        sealed: &AlignedBuf,
    ) -> Result<(), LogError> {
        let at = FileAt { copy, slot: self.slot, stripe: self.stripe };
        let failed = |error| LogError::io("repair", at.path(config), error);
        file.write_at(sealed, self.offset).map_err(failed)
    }

    /// Whether it ends within its segment: otherwise it never stood there.
    pub(crate) fn fits(&self, config: &LogConfig, sealed: &AlignedBuf) -> bool {
        self.offset + sealed.len() as u64 <= config.segment_bytes
    }
}

/// Puts a group back, from elsewhere, that a restart needs and no copy has; which one it was, or
/// the error again. `before` is the last one that was put back.
pub(crate) fn put_back(
    config: &LogConfig,
    book: &mut KeyBook,
    survey: &Survey,
    copies: &[u8],
    before: Option<GroupNumber>,
    error: LogError,
) -> Result<GroupNumber, LogError> {
    let Some(lost) = Lost::of(&error, before) else { return Err(error) };
    // The group may stand in a segment that nobody knows of any more, with others behind it.
    if survey.has_illegible(copies) {
        return Err(error);
    }
    let Ok(sealed) = config.elsewhere.sealed(book, lost.number) else { return Err(error) };
    if !lost.fits(config, &sealed) {
        return Err(error);
    }
    for copy in copies {
        let at = FileAt { copy: *copy, slot: lost.slot, stripe: lost.stripe };
        if let Some(surveyed) = survey.files.get(&at) {
            lost.write(config, *copy, surveyed.file.as_ref(), &sealed)?;
        }
    }
    Ok(lost.number)
}
