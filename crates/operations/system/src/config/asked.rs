//! What a configuration asks that the bytes of its system must prove.

use std::path::Path;

use placement::DatabaseSettings;
use seal::Format;
use uow::{AskedAbove, Protection};
use wal::PlainSpan;

use super::SystemConfig;

/// What a configuration says of plain groups: nothing, before the control file was asked.
pub(super) fn no_span() -> PlainSpan {
    PlainSpan::NONE
}

impl SystemConfig {
    /// What new data sets and the archive are asked to be.
    pub(super) fn asked_above(&self) -> AskedAbove {
        let sealed = self.data.format == Format::Sealed;
        let other = |(_, settings): &(&String, &DatabaseSettings)| settings.plain == Some(sealed);
        AskedAbove {
            new_sets: self.data.format,
            exceptions: self.databases.iter().filter(other).map(|(name, _)| name.clone()).collect(),
            archive_folders: u8::try_from(self.archive.folders.len()).unwrap_or(u8::MAX),
        }
    }

    /// What it asks that the bytes of a system in `dir` must prove.
    #[must_use]
    pub fn asked(&self, dir: &Path) -> Protection {
        Protection::asked(&self.kernel(dir), dir)
    }

    /// Has log and archives read as what is bound says, whatever stands in the file.
    pub(crate) fn believe(&mut self, bound: &Protection) {
        (self.log.format, self.log.plain) = (bound.log, bound.plain);
    }
}
