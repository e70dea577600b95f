//! Who is told what is archived, and says what must be kept: in a system, its recovery-control
//! data set.

use base::Lsn;

use crate::ArchiveInfo;

/// The archive's side of the recovery-control data set.
pub trait Registry: Send + Sync {
    /// An archive is durable; `files` are its copies. When this returns the registry knows it
    /// durably. Told again about one that it knows already, it takes the new word.
    ///
    /// # Errors
    /// Why it cannot be recorded; the log then keeps what the archive holds.
    fn archived(&self, info: &ArchiveInfo, files: &[std::path::PathBuf]) -> Result<(), String>;

    /// An archive is about to be deleted.
    ///
    /// # Errors
    /// Why that cannot be recorded; the archive then stays.
    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String>;

    /// The oldest position that a recovery may still ask for.
    ///
    /// # Errors
    /// Why it cannot be told; nothing is deleted then.
    fn needed_from(&self) -> Result<Lsn, String>;
}

/// No registry: the archives' own headers say everything, and every archive is needed.
pub struct NoRegistry;

impl Registry for NoRegistry {
    fn archived(&self, _: &ArchiveInfo, _: &[std::path::PathBuf]) -> Result<(), String> {
        Ok(())
    }

    fn deleting(&self, _: &ArchiveInfo) -> Result<(), String> {
        Ok(())
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(Lsn::NONE)
    }
}
