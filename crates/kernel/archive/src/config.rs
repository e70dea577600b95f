//! What whoever archives a log says about it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::SystemId;
use seal::{Format, KeyProvider};
use seam::Seam;
use wal::{KeyBook, PlainSpan, Record};

use crate::ArchiveError;

/// Most folders that archives go to.
pub const FOLDERS_MAX: usize = 2;

/// How a log is archived.
#[derive(Clone, Debug)]
pub struct ArchiveConfig {
    /// One folder, or two for dual archives; on other devices than the log, if they are to help.
    pub folders: Vec<PathBuf>,
    /// Compress groups before they are sealed, at this level of zstd; `None`: as they are.
    pub compress: Option<i32>,
    /// Bytes a second at most, while the log is less than half full of what waits.
    pub bytes_per_second: Option<u64>,
    /// Which archives may go.
    pub keep: Keep,
}

/// How long archives are kept. One goes when no rule here keeps it, no recovery needs it, and a
/// newer one is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Kept at least so long.
    pub time: Option<Duration>,
    /// So many of the newest are kept.
    pub files: Option<u64>,
}

/// What the archive needs of the system around it.
#[derive(Clone)]
pub struct ArchiveEnv {
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Where the log's data key comes from.
    pub keys: Arc<dyn KeyProvider>,
    /// The system whose log it is.
    pub system: SystemId,
    /// The label of the log's data key.
    pub key_label: String,
    /// Whether the log is sealed; archives are as it is.
    pub format: Format,
    /// Where plain groups are believed although `format` is sealed (K4).
    pub plain: PlainSpan,
    /// When a record says that something was committed, in microseconds of UTC, if it says so.
    pub dated: fn(&Record<'_>) -> Option<u64>,
}

impl ArchiveEnv {
    /// Where plain groups are believed.
    pub(crate) fn plain_span(&self) -> PlainSpan {
        self.plain.of_log(self.format)
    }

    /// Keys for one reader or writer.
    pub(crate) fn book(&self) -> KeyBook {
        KeyBook::new(Arc::clone(&self.keys), &self.key_label, self.system)
    }
}

impl ArchiveConfig {
    /// Archives as they are, without throttle, kept for ever.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> ArchiveConfig {
        let keep = Keep::default();
        ArchiveConfig { folders, compress: None, bytes_per_second: None, keep }
    }

    /// # Errors
    /// [`ArchiveError::Config`] with what is wrong.
    pub fn check(&self) -> Result<(), ArchiveError> {
        let why = if self.folders.is_empty() || self.folders.len() > FOLDERS_MAX {
            format!("{} folders; an archive has one or two", self.folders.len())
        } else if self.folders.len() == 2 && self.folders[0] == self.folders[1] {
            format!("both copies in {}", self.folders[0].display())
        } else if self.compress.is_some_and(|level| !(1..=19).contains(&level)) {
            "zstd has the levels 1 to 19".into()
        } else if self.bytes_per_second.is_some_and(|rate| rate < 1 << 16) {
            "a throttle below 64 KiB a second".into()
        } else {
            return Ok(());
        };
        Err(ArchiveError::Config { why })
    }
}
