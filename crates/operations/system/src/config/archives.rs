//! The section `[archive]`: how the log is archived.

use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{ArchiveConfig, Keep};
use serde::Deserialize;

use super::{Bytes, SystemConfig};

/// The section `[archive]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArchiveSettings {
    /// One folder, or two for dual archives; none: the log is not archived.
    pub folders: Vec<PathBuf>,
    /// How much archives are compressed, 1 to 19; 0: not at all.
    pub compress: i32,
    /// Bytes a second at most; 0: as fast as the log.
    pub bytes_per_second: Bytes,
    /// Archives are kept for so many days at least.
    pub keep_days: u64,
    /// So many of the newest are kept at least.
    pub keep_files: u64,
}

impl Default for ArchiveSettings {
    fn default() -> ArchiveSettings {
        ArchiveSettings {
            folders: Vec::new(),
            compress: 0,
            bytes_per_second: Bytes(0),
            keep_days: 0,
            keep_files: 0,
        }
    }
}

impl SystemConfig {
    /// How the log of a system in `dir` is archived, if it is.
    #[must_use]
    pub fn archive(&self, dir: &Path) -> Option<ArchiveConfig> {
        let settings = &self.archive;
        let folders = settings.folders.iter().map(|folder| dir.join(folder)).collect();
        let day = Duration::from_secs(24 * 60 * 60);
        let days = u32::try_from(settings.keep_days).unwrap_or(u32::MAX);
        let config = ArchiveConfig {
            compress: Some(settings.compress).filter(|level| *level != 0),
            bytes_per_second: Some(settings.bytes_per_second.0).filter(|rate| *rate > 0),
            keep: Keep {
                time: (days > 0).then(|| day.saturating_mul(days)),
                files: Some(settings.keep_files).filter(|files| *files > 0),
            },
            ..ArchiveConfig::new(folders)
        };
        (!settings.folders.is_empty()).then_some(config)
    }
}
