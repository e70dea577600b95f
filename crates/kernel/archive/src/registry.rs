//! Who is told what is archived, and says what must be kept: in a system, its recovery-control
//! data set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{GroupNumber, KeyGeneration, Lsn};
use recon::{Archive, ArchiveFile, Recon, Record, State};
use seal::Format;

use crate::{AccumulationInfo, ArchiveCatalog, ArchiveInfo};

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

    /// A file of an accumulation, which is damaged, is about to be deleted.
    ///
    /// # Errors
    /// Why that cannot be recorded; it then stays.
    fn deleting_damaged(&self, accumulation: &Path) -> Result<(), String> {
        let _ = accumulation;
        Ok(())
    }

    /// An archive is about to be deleted.
    ///
    /// # Errors
    /// Why that cannot be recorded; the archive then stays.
    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String>;

    /// An archive of which no copy can be read is about to be deleted.
    ///
    /// # Errors
    /// Why that cannot be recorded; its files then stay.
    fn deleting_unread(&self, from: GroupNumber) -> Result<(), String> {
        let _ = from;
        Ok(())
    }

    /// Where the archive that begins with a group ends, as far as that is known.
    fn end_of(&self, from: GroupNumber) -> Option<Lsn> {
        let _ = from;
        None
    }

    /// What a folder held is lost: archives are begun anew there.
    ///
    /// # Errors
    /// Why that cannot be recorded; nothing is begun then.
    fn folder_lost(&self, folder: &Path) -> Result<(), String> {
        let _ = folder;
        Ok(())
    }

    /// The oldest position that a recovery may still ask for; [`Lsn::NONE`] if that may be any.
    ///
    /// # Errors
    /// Why it cannot be told; nothing is deleted then.
    fn needed_from(&self) -> Result<Lsn, String>;

    /// Where the log itself begins: what it has there stays archived, too.
    fn log_begins(&self) -> Lsn {
        Lsn(u64::MAX)
    }
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
}

impl ArchiveInfo {
    /// What RECON says of it; `label` is that of the log's key.
    #[must_use]
    pub fn entry(&self, number: u32, files: &[PathBuf], label: &str) -> Archive {
        let (low, high) = self.generations;
        let sealed = self.format == Format::Sealed;
        Archive {
            number,
            files: files_of(files),
            first: self.first,
            end: self.end,
            first_group: self.from,
            last_group: GroupNumber(self.to.0 - 1),
            from_us: self.first_commit_us.unwrap_or(self.archived_us),
            to_us: self.archived_us,
            label: label.to_owned(),
            generations: (low.0..=high.0).filter(|_| sealed).map(KeyGeneration).collect(),
            bytes: self.file_bytes(),
            tag: self.last.0,
        }
    }
}

impl AccumulationInfo {
    /// What RECON says of it; `label` is that of the log's key.
    #[must_use]
    pub fn entry(&self, number: u32, files: &[PathBuf], label: &str) -> recon::Accumulation {
        recon::Accumulation {
            number,
            files: files_of(files),
            sets: self.sets.clone(),
            first: self.first,
            end: self.end,
            made_us: self.made_us,
            label: label.to_owned(),
            generation: self.generation,
            bytes: self.file_bytes(),
            tag: self.salt.0,
        }
    }
}

/// The records of what a catalog has and RECON does not know; `label` is that of the log's key.
#[must_use]
pub fn unrecorded(catalog: &ArchiveCatalog, state: &State, label: &str) -> Vec<Record> {
    let mut number = state.next_number();
    let mut next = || {
        number += 1;
        number - 1
    };
    let mut records = Vec::new();
    for copy in catalog.list() {
        if known(state, &copy.info).is_none() {
            records.push(Record::Archive(copy.info.entry(next(), &copy.files, label)));
        }
    }
    for one in catalog.accumulations() {
        if !state.accumulations.values().any(|known| known.tag == one.info.salt.0) {
            records.push(Record::Accumulation(one.info.entry(next(), &one.files, label)));
        }
    }
    records
}

fn files_of(paths: &[PathBuf]) -> Vec<ArchiveFile> {
    paths.iter().map(|path| ArchiveFile { path: path.clone(), lost: false }).collect()
}

/// Where the archive that begins with a group ends, as far as RECON knows.
#[must_use]
pub fn end_of(state: &State, from: GroupNumber) -> Option<Lsn> {
    begun_with(state, from).map(|known| known.end).max()
}

/// The archives that RECON knows by their first group.
fn begun_with(state: &State, from: GroupNumber) -> impl Iterator<Item = &Archive> {
    state.archives.values().filter(move |known| known.first_group == from)
}

/// The archive that RECON knows by these groups.
fn known<'a>(state: &'a State, info: &ArchiveInfo) -> Option<&'a Archive> {
    let mut all = state.archives.values();
    all.find(|known| known.first_group == info.from && known.tag == info.last.0)
}

impl Registry for ReconRegistry {
    fn archived(&self, info: &ArchiveInfo, files: &[PathBuf]) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let known = known(state, info);
            let number = known.map_or(state.next_number(), |known| known.number);
            let entry = info.entry(number, files, &self.label);
            let news = known != Some(&entry);
            (news.then_some(Record::Archive(entry)).into_iter().collect(), ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn accumulated(&self, info: &AccumulationInfo, files: &[PathBuf]) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let one = info.entry(state.next_number(), files, &self.label);
            (vec![Record::Accumulation(one)], ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn deleting_accumulation(&self, info: &AccumulationInfo) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let mut all = state.accumulations.values();
            let number = all.find(|known| known.tag == info.salt.0).map(|known| known.number);
            (number.map(Record::AccumulationGone).into_iter().collect(), ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn deleting_damaged(&self, accumulation: &Path) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let is_it = |file: &ArchiveFile| file.path == accumulation;
            let known = state.accumulations.values().filter(|one| one.files.iter().any(is_it));
            let news = known.map(|one| {
                let mut left = one.clone();
                left.files.retain(|file| !is_it(file));
                match left.files.is_empty() {
                    true => Record::AccumulationGone(one.number),
                    false => Record::Accumulation(left),
                }
            });
            (news.collect(), ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let number = known(state, info).map(|known| known.number);
            (number.map(Record::ArchiveGone).into_iter().collect(), ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn deleting_unread(&self, from: GroupNumber) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let gone = begun_with(state, from).map(|known| Record::ArchiveGone(known.number));
            (gone.collect(), ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn end_of(&self, from: GroupNumber) -> Option<Lsn> {
        end_of(&self.recon.state(), from)
    }

    fn folder_lost(&self, folder: &Path) -> Result<(), String> {
        let recorded = self.recon.change(|state| {
            let mut news = Vec::new();
            for archive in state.archives.values() {
                let is_here = |file: &ArchiveFile| file.path.parent() == Some(folder) && !file.lost;
                if archive.files.iter().any(is_here) {
                    let mut archive = archive.clone();
                    archive.files.iter_mut().filter(|file| is_here(file)).for_each(|file| {
                        file.lost = true;
                    });
                    news.push(Record::Archive(archive));
                }
            }
            (news, ())
        });
        recorded.map_err(|error| error.to_string())
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(self.recon.log_needed_from())
    }
}
