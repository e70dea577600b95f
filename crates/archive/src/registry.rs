//! Who is told what is archived, and says what must be kept: in a system, its recovery-control
//! data set.

use std::path::PathBuf;
use std::sync::Arc;

use base::{GroupNumber, KeyGeneration, Lsn};
use recon::{Archive, ArchiveFile, Recon, Record, State};
use seal::Format;

use crate::{AccumulationInfo, ArchiveInfo};

/// The archive's side of the recovery-control data set.
pub trait Registry: Send + Sync {
    /// An archive is durable; `files` are its copies. When this returns the registry knows it
    /// durably. Told again about one that it knows already, it takes the new word.
    ///
    /// # Errors
    /// Why it cannot be recorded; the log then keeps what the archive holds.
    fn archived(&self, info: &ArchiveInfo, files: &[PathBuf]) -> Result<(), String>;

    /// An accumulation is durable; as for an archive.
    ///
    /// # Errors
    /// Why it cannot be recorded.
    fn accumulated(&self, info: &AccumulationInfo, files: &[PathBuf]) -> Result<(), String> {
        let _ = (info, files);
        Ok(())
    }

    /// An accumulation is about to be deleted.
    ///
    /// # Errors
    /// Why that cannot be recorded; it then stays.
    fn deleting_accumulation(&self, info: &AccumulationInfo) -> Result<(), String> {
        let _ = info;
        Ok(())
    }

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
    fn archived(&self, _: &ArchiveInfo, _: &[PathBuf]) -> Result<(), String> {
        Ok(())
    }

    fn deleting(&self, _: &ArchiveInfo) -> Result<(), String> {
        Ok(())
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(Lsn::NONE)
    }
}

/// RECON as the archive's registry.
pub struct ReconRegistry {
    recon: Arc<Recon>,
    label: String,
}

impl ReconRegistry {
    /// Records in `recon`; `label` is that of the log's key.
    #[must_use]
    pub fn new(recon: Arc<Recon>, label: &str) -> ReconRegistry {
        ReconRegistry { recon, label: label.to_owned() }
    }

    fn entry(&self, number: u32, info: &ArchiveInfo, files: &[PathBuf]) -> Archive {
        let file = |path: &PathBuf| ArchiveFile { path: path.clone(), lost: false };
        let (low, high) = info.generations;
        let sealed = info.format == Format::Sealed;
        Archive {
            number,
            files: files.iter().map(file).collect(),
            first: info.first,
            end: info.end,
            first_group: info.from,
            last_group: GroupNumber(info.to.0 - 1),
            from_us: info.first_commit_us.unwrap_or(info.archived_us),
            to_us: info.archived_us,
            label: self.label.clone(),
            generations: (low.0..=high.0).filter(|_| sealed).map(KeyGeneration).collect(),
            bytes: info.file_bytes(),
            tag: info.last.0,
        }
    }
}

/// The archive that RECON knows by these groups.
fn known<'a>(state: &'a State, info: &ArchiveInfo) -> Option<&'a Archive> {
    let mut all = state.archives.values();
    all.find(|known| known.first_group == info.from && known.tag == info.last.0)
}

impl Registry for ReconRegistry {
    fn archived(&self, info: &ArchiveInfo, files: &[PathBuf]) -> Result<(), String> {
        let told = self.recon.change(|state| {
            let known = known(state, info);
            let number = known.map_or(state.next_number(), |known| known.number);
            let entry = self.entry(number, info, files);
            let news = known != Some(&entry);
            (news.then_some(Record::Archive(entry)).into_iter().collect(), ())
        });
        told.map_err(|error| error.to_string())
    }

    fn accumulated(&self, info: &AccumulationInfo, files: &[PathBuf]) -> Result<(), String> {
        let file = |path: &PathBuf| ArchiveFile { path: path.clone(), lost: false };
        let told = self.recon.change(|state| {
            let one = recon::Accumulation {
                number: state.next_number(),
                files: files.iter().map(file).collect(),
                sets: info.sets.clone(),
                first: info.first,
                end: info.end,
                made_us: info.made_us,
                label: self.label.clone(),
                generation: info.generation,
                bytes: info.file_bytes(),
                tag: info.salt.0,
            };
            (vec![Record::Accumulation(one)], ())
        });
        told.map_err(|error| error.to_string())
    }

    fn deleting_accumulation(&self, info: &AccumulationInfo) -> Result<(), String> {
        let told = self.recon.change(|state| {
            let mut all = state.accumulations.values();
            let number = all.find(|known| known.tag == info.salt.0).map(|known| known.number);
            (number.map(Record::AccumulationGone).into_iter().collect(), ())
        });
        told.map_err(|error| error.to_string())
    }

    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String> {
        let told = self.recon.change(|state| {
            let number = known(state, info).map(|known| known.number);
            (number.map(Record::ArchiveGone).into_iter().collect(), ())
        });
        told.map_err(|error| error.to_string())
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(self.recon.state().log_needed_from().unwrap_or(Lsn::NONE))
    }
}
