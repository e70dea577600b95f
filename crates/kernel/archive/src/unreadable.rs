//! Archives of which there are files and none can be read: what they held is lost.
//!
//! Invariants:
//! 1. Files go only if all of an archive are damaged: one that another key file or another release
//!    opens stays, and so does one that the disk does not give just now. As long as a folder is
//!    away, nothing goes.
//! 2. It goes only when no recovery needs what it held. Where that ended the registry says, or the
//!    archive behind it; as long as nobody does, it is needed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::{GroupNumber, Lsn};

use crate::expire::refuse_needed;
use crate::{ArchiveCatalog, ArchiveError, ArchiveFile, Kept, Needs, Registry};

/// An archive that cannot be read from any copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadArchive {
    /// Its first group, by its name.
    pub from: GroupNumber,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Where the archive behind it begins, if there is one.
    pub behind: Option<Lsn>,
}

impl ArchiveCatalog {
    /// The archives that are damaged on all copies, beginning with their headers (1).
    #[must_use]
    pub fn unread_archives(&self) -> Vec<UnreadArchive> {
        if !self.away().is_empty() {
            return Vec::new();
        }
        let list = self.list();
        let mut files: BTreeMap<GroupNumber, Vec<PathBuf>> = BTreeMap::new();
        for fault in self.faults() {
            files.entry(fault.from).or_default().push(fault.path);
        }
        files.retain(|from, files| {
            let is_damaged = |path: &PathBuf| ArchiveFile::is_damaged(self.env(), path);
            list.iter().all(|copy| copy.info.from != *from) && files.iter().all(is_damaged)
        });
        let unread = files.into_iter().map(|(from, files)| {
            let behind = list.iter().find(|copy| copy.info.from > from);
            UnreadArchive { from, files, behind: behind.map(|copy| copy.info.first) }
        });
        unread.collect()
    }

    /// Those of them that nothing needs.
    ///
    /// # Errors
    /// Why it cannot be told what is needed.
    pub fn expired_unread(&self, registry: &dyn Registry) -> Result<Vec<UnreadArchive>, String> {
        let needed = Needs::of(registry)?.from();
        let mut all = self.unread_archives();
        all.retain(|one| end_of(one, registry).is_some_and(|end| end <= needed));
        Ok(all)
    }

    /// Whether the files of an archive that cannot be read may be deleted.
    ///
    /// # Errors
    /// [`ArchiveError::NoSuch`]; [`ArchiveError::Needed`] if something needs what it held, or
    /// nobody says where it ended.
    pub fn unread_may_go(
        &self,
        from: GroupNumber,
        registry: &dyn Registry,
    ) -> Result<UnreadArchive, ArchiveError> {
        let mut all = self.unread_archives().into_iter();
        let one = all.find(|one| one.from == from).ok_or(ArchiveError::NoSuch { group: from })?;
        let path = one.files.first().cloned().unwrap_or_default();
        let Some(end) = end_of(&one, registry) else {
            let why = "it cannot be told where it ended".into();
            let advice = "It may go once there is an archive behind it.";
            return Err(ArchiveError::Needed { path, kept: Kept { why, advice } });
        };
        refuse_needed(path, end, registry).map(|()| one)
    }

    /// Deletes the files of an archive that cannot be read: the registry knows before they go.
    ///
    /// # Errors
    /// As for [`ArchiveCatalog::unread_may_go`]; whatever the registry or the disk says.
    pub fn delete_unread(
        &self,
        from: GroupNumber,
        registry: &dyn Registry,
    ) -> Result<UnreadArchive, ArchiveError> {
        let _alone = self.changing.lock();
        let one = self.unread_may_go(from, registry)?;
        let recorded = registry.deleting_unread(from);
        recorded.map_err(|why| ArchiveError::Unrecorded { group: from, why })?;
        one.files.iter().try_for_each(|path| self.remove(path))?;
        self.look_alone()?;
        Ok(one)
    }
}

/// Where an archive ended, as far as somebody says so (2).
fn end_of(one: &UnreadArchive, registry: &dyn Registry) -> Option<Lsn> {
    registry.end_of(one.from).or(one.behind)
}
