//! Which archives may go, and deleting them.
//!
//! Invariants:
//! 1. What a recovery may read stays, and so does what the log itself still has: what its copies
//!    lose there its archives give back.
//! 2. The newest archive stays: the log goes on from it.

use std::path::PathBuf;

use base::{GroupNumber, Lsn};
use seam::failpoint::{Failpoint, armed};

use crate::config::Keep;
use crate::error::Kept;
use crate::header::name_of;
use crate::{ArchiveCatalog, ArchiveError, ArchiveInfo, CatalogEntry, Registry};

/// From where on archives are needed, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Recoveries begin here; [`Lsn::NONE`] if they may need everything.
    pub recoveries: Lsn,
    /// The log itself begins here.
    pub log: Lsn,
}

impl Needs {
    /// What a registry says.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn of(registry: &dyn Registry) -> Result<Needs, String> {
        // In this order: a copy that is begun meanwhile needs nothing that the log does not have.
        Ok(Needs { recoveries: registry.needed_from()?, log: registry.log_begins() })
    }

    /// From where on something needs them.
    #[must_use]
    pub fn from(&self) -> Lsn {
        self.recoveries.min(self.log)
    }

    /// Why an archive stays that ends there, if something needs it.
    #[must_use]
    pub fn kept(&self, end: Lsn) -> Option<Kept> {
        let Needs { recoveries, log } = *self;
        if recoveries == Lsn::NONE {
            let why = "a data set has no image copy that a recovery could begin with".into();
            let advice = "Make image copies of all data sets; then recoveries begin there.";
            return Some(Kept { why, advice });
        }
        if end > recoveries {
            let why = format!("it reaches {end}, a recovery may begin at {recoveries}");
            let advice = "Make newer image copies of all data sets; then no recovery needs it.";
            return Some(Kept { why, advice });
        }
        (end > log).then(|| Kept {
            why: format!(
                "it reaches {end}, and the log itself begins at {log}: what that loses comes back \
                 from its archives"
            ),
            advice: "Nothing need be done: it may go once the log has used those segments again.",
        })
    }
}

impl ArchiveCatalog {
    /// The archives that policy lets go and nothing needs, oldest first: never the newest one, nor
    /// one behind another that stays.
    #[must_use]
    pub fn expired(&self, keep: &Keep, needed_from: Lsn) -> Vec<CatalogEntry> {
        let all = self.list();
        let needed = |end: Lsn| end > needed_from && !armed(Failpoint::NeededArchiveDeleted);
        let may_go = |(at, copy): &(usize, &CatalogEntry)| {
            self.kept_by(keep, all.len() - at, &copy.info).is_none() && !needed(copy.info.end)
        };
        all.iter().enumerate().take_while(may_go).map(|(_, copy)| copy.clone()).collect()
    }

    /// Why policy keeps an archive, counted from the newest one.
    fn kept_by(&self, keep: &Keep, from_newest: usize, info: &ArchiveInfo) -> Option<Kept> {
        let kept = |why: String, advice| Some(Kept { why, advice });
        let age = self.env.seam.clock.utc_us().saturating_sub(info.archived_us);
        match keep {
            Keep { time: None, files: None } => kept(
                "no policy lets any archive go".into(),
                "Set keep_days or keep_files in the section [archive] of holdfast.toml.",
            ),
            _ if from_newest == 1 => kept(
                "it is the newest: the log goes on from it".into(),
                "It may go once there is a newer one.",
            ),
            Keep { files: Some(files), .. } if from_newest as u64 <= *files => kept(
                format!("keep_files keeps the newest {files}"),
                "It may go once there are newer ones.",
            ),
            Keep { time: Some(time), .. } if u128::from(age) < time.as_micros() => kept(
                format!("keep_days keeps it for {} days", time.as_secs() / 86_400),
                "It may go once it is older.",
            ),
            Keep { .. } => None,
        }
    }

    /// Why the oldest archive stays; `None` if there is none, or it may go.
    #[must_use]
    pub fn oldest_kept(&self, keep: &Keep, needs: &Needs) -> Option<(GroupNumber, Kept)> {
        let all = self.list();
        let oldest = &all.first()?.info;
        let kept = self.kept_by(keep, all.len(), oldest).or_else(|| needs.kept(oldest.end))?;
        Some((oldest.from, kept))
    }

    /// Whether an archive may be deleted.
    ///
    /// # Errors
    /// [`ArchiveError::Needed`] if it is the newest, or something needs it;
    /// [`ArchiveError::NoSuch`].
    pub fn may_go(&self, from: GroupNumber, registry: &dyn Registry) -> Result<(), ArchiveError> {
        let copy = self.get(from)?;
        let path = copy.files.first().cloned().unwrap_or_else(|| name_of(from));
        if self.newest().is_some_and(|newest| newest.info.from == from) {
            let why = "it is the newest: the log goes on from it".into();
            let advice = "It may go once there is a newer one.";
            return Err(ArchiveError::Needed { path, kept: Kept { why, advice } });
        }
        refuse_needed(path, copy.info.end, registry)
    }

    /// Deletes one archive: the registry knows before the files go.
    ///
    /// # Errors
    /// As for [`ArchiveCatalog::may_go`]; whatever the registry or the disk says.
    pub fn delete(&self, from: GroupNumber, registry: &dyn Registry) -> Result<(), ArchiveError> {
        let _alone = self.changing.lock();
        let copy = self.get(from)?;
        self.may_go(from, registry)?;
        let record = || registry.deleting(&copy.info);
        let unrecorded = |why| ArchiveError::Unrecorded { group: from, why };
        if !armed(Failpoint::DeletedUnrecorded) {
            record().map_err(unrecorded)?;
        }
        self.forget_archive(from);
        copy.files.iter().try_for_each(|path| self.remove(path))?;
        if armed(Failpoint::DeletedUnrecorded) { record().map_err(unrecorded) } else { Ok(()) }
    }
}

/// Refuses what ends where something still needs it.
pub(crate) fn refuse_needed(
    path: PathBuf,
    end: Lsn,
    registry: &dyn Registry,
) -> Result<(), ArchiveError> {
    let kept = match Needs::of(registry) {
        Ok(needs) => needs.kept(end).filter(|_| !armed(Failpoint::NeededArchiveDeleted)),
        Err(why) => Some(Kept {
            why: format!("it cannot be told by what: {why}"),
            advice: "Repair that, then give the command again.",
        }),
    };
    kept.map_or(Ok(()), |kept| Err(ArchiveError::Needed { path, kept }))
}
