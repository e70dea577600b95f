//! The archive of a system: its folders, its thread, how it is.
//!
//! Invariants:
//! 1. The catalog is looked at before the log is opened: what archives prove, the log must reach
//!    (K6), and what they do not hold, the log keeps.
//! 2. Whoever asks for the status is warned early: when a quarter of the log waits, and whenever
//!    something keeps the archive from going on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use archive::{
    AccumulationInfo, ArchiveCatalog, ArchiveEnv, ArchiveInfo, ArchivedGroups, Archiver,
    CatalogEntry, ReconRegistry, Registry, UnreadArchive,
};
use base::{GroupNumber, Lsn};
use recon::{Recon, State};
use seal::KeyProvider;
use seam::Seam;
use serde::{Deserialize, Serialize};
use uow::record::KernelRecord;
use uow::{Kernel, KernelConfig, Parts};
use wal::{Elsewhere, GroupSource, Record};

use crate::{SystemConfig, SystemError, registry};

/// The archive of an open system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchivesStatus {
    /// Its folders.
    pub folders: Vec<String>,
    /// How many archives there are.
    pub archives: u64,
    /// The log position up to which everything is archived.
    pub archived_to: u64,
    /// Bytes of full log segments that wait.
    pub waiting_bytes: u64,
    /// Archives written since the system was opened, and their bytes in each folder.
    pub written: u64,
    /// Bytes of those in each folder.
    pub written_bytes: u64,
    /// Why the archive cannot go on, if it cannot.
    pub trouble: Option<String>,
    /// Copies that are missing, and why.
    pub missing: Vec<String>,
}

/// One archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveStatus {
    /// Its first group, by which commands name it.
    pub first_group: u64,
    /// Its last group.
    pub last_group: u64,
    /// The position of its first byte.
    pub first_lsn: u64,
    /// The position behind its last byte.
    pub end_lsn: u64,
    /// When its first commit happened, in microseconds of UTC.
    pub first_commit_us: Option<u64>,
    /// When its last one did, as far as it was looked for.
    pub last_commit_us: Option<u64>,
    /// When it was archived.
    pub archived_us: u64,
    /// Bytes of records.
    pub record_bytes: u64,
    /// Bytes of each of its files.
    pub file_bytes: u64,
    /// Plain, sealed, or unreadable.
    pub format: String,
    /// The generations of the log's key that it needs, lowest and highest.
    pub generations: (u32, u32),
    /// Whether it is compressed.
    pub compressed: bool,
    /// Its files.
    pub files: Vec<String>,
}

impl ArchiveStatus {
    pub(crate) fn of(copy: &CatalogEntry) -> ArchiveStatus {
        let info = &copy.info;
        ArchiveStatus {
            first_group: info.from.0,
            last_group: info.to.0.saturating_sub(1),
            first_lsn: info.first.0,
            end_lsn: info.end.0,
            first_commit_us: info.first_commit_us,
            last_commit_us: info.last_commit_us,
            archived_us: info.archived_us,
            record_bytes: info.record_bytes,
            file_bytes: info.file_bytes(),
            format: info.format.to_string(),
            generations: (info.generations.0.0, info.generations.1.0),
            compressed: info.compressed,
            files: copy.files.iter().map(|path| path.display().to_string()).collect(),
        }
    }

    /// One that cannot be read: what RECON knows of it, and 0 for what nobody knows.
    pub(crate) fn of_unread(one: &UnreadArchive, state: &State) -> ArchiveStatus {
        let known = state.archives.values().find(|known| known.first_group == one.from);
        let of = |field: fn(&recon::Archive) -> u64| known.map_or(0, field);
        ArchiveStatus {
            first_group: one.from.0,
            last_group: of(|known| known.last_group.0),
            first_lsn: of(|known| known.first.0),
            end_lsn: of(|known| known.end.0),
            first_commit_us: None,
            last_commit_us: None,
            archived_us: of(|known| known.to_us),
            record_bytes: 0,
            file_bytes: of(|known| known.bytes),
            format: "unreadable".into(),
            generations: (0, 0),
            compressed: false,
            files: one.files.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// The archives of a system that is about to be opened, ready to go on. What RECON says must be
/// there is not made anew where it is missing.
pub(crate) fn catalog(
    parts: &Parts,
    config: &SystemConfig,
    dir: &Path,
    state: &State,
) -> Result<Option<Arc<ArchiveCatalog>>, SystemError> {
    let catalog = look(parts, config, dir)?;
    if let Some(catalog) = &catalog {
        catalog.expect(state)?;
        catalog.prepare()?;
    }
    Ok(catalog)
}

/// A look at the archives of a system.
pub(crate) fn look(
    parts: &Parts,
    config: &SystemConfig,
    dir: &Path,
) -> Result<Option<Arc<ArchiveCatalog>>, SystemError> {
    looked_at(&parts.seam, &parts.keys, config, dir)
}

/// The archives of a system as they are; nothing is changed.
pub(crate) fn looked_at(
    seam: &Seam,
    keys: &Arc<dyn KeyProvider>,
    config: &SystemConfig,
    dir: &Path,
) -> Result<Option<Arc<ArchiveCatalog>>, SystemError> {
    let Some(archive) = config.archive(dir) else { return Ok(None) };
    let log = config.kernel(dir).log;
    let env = ArchiveEnv {
        seam: seam.clone(),
        keys: Arc::clone(keys),
        system: config.system,
        key_label: log.key_label,
        format: log.format,
        plain: log.plain,
        dated,
    };
    Ok(Some(Arc::new(ArchiveCatalog::open(env, archive)?)))
}

/// The kernel's set-up, with what the archive says of the log.
pub(crate) fn kernel(
    config: &SystemConfig,
    dir: &Path,
    catalog: Option<&Arc<ArchiveCatalog>>,
) -> KernelConfig {
    let mut kernel = config.kernel(dir);
    if let Some(catalog) = catalog {
        kernel.archived = catalog.archived_to().unwrap_or_default();
        kernel.proven = catalog.proven();
        let groups = ArchivedGroups::new(Arc::clone(catalog));
        kernel.log.elsewhere = Elsewhere(Some(Arc::new(groups)));
    }
    kernel
}

/// Whether a group of the log can be had from archives.
pub(crate) fn has_group(catalog: &Arc<ArchiveCatalog>, number: GroupNumber) -> bool {
    ArchivedGroups::new(Arc::clone(catalog)).group(number).is_ok()
}

/// Begins to archive.
pub(crate) fn start(
    catalog: Option<Arc<ArchiveCatalog>>,
    kernel: &Arc<Kernel>,
    recon: &Arc<Recon>,
) -> Result<Option<Archiver>, SystemError> {
    let Some(catalog) = catalog else { return Ok(None) };
    let asking = AskingRegistry {
        registry: ReconRegistry::new(Arc::clone(recon), kernel.log().key_label()),
        recon: Arc::clone(recon),
        kernel: Arc::downgrade(kernel),
    };
    Ok(Some(Archiver::start(catalog, Arc::clone(kernel.log()), Arc::new(asking))?))
}

/// RECON as the archive's registry. It is asked what is needed only when it knows all data sets.
struct AskingRegistry {
    registry: ReconRegistry,
    recon: Arc<Recon>,
    kernel: Weak<Kernel>,
}

impl Registry for AskingRegistry {
    fn archived(&self, info: &ArchiveInfo, files: &[PathBuf]) -> Result<(), String> {
        self.registry.archived(info, files)
    }

    fn accumulated(&self, info: &AccumulationInfo, files: &[PathBuf]) -> Result<(), String> {
        self.registry.accumulated(info, files)
    }

    fn deleting_accumulation(&self, info: &AccumulationInfo) -> Result<(), String> {
        self.registry.deleting_accumulation(info)
    }

    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String> {
        self.registry.deleting(info)
    }

    fn deleting_unread(&self, from: GroupNumber) -> Result<(), String> {
        self.registry.deleting_unread(from)
    }

    fn end_of(&self, from: GroupNumber) -> Option<Lsn> {
        self.registry.end_of(from)
    }

    fn folder_lost(&self, folder: &Path) -> Result<(), String> {
        self.registry.folder_lost(folder)
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        let kernel = self.kernel.upgrade().ok_or("the system is being closed")?;
        // Asked first: a recovery that ends now leaves what it holds to what RECON says then.
        let held = self.recon.log_held_from().unwrap_or(Lsn(u64::MAX));
        registry::update(&self.recon, &kernel).map_err(|error| error.to_string())?;
        Ok(self.registry.needed_from()?.min(held))
    }

    fn log_begins(&self) -> Lsn {
        // A restart may go back as far as the log does, and with it a copy that is begun then.
        let segments = self.kernel.upgrade().map(|kernel| kernel.log().segments());
        let oldest = segments.iter().flatten().next().map(|oldest| oldest.first);
        oldest.unwrap_or(Lsn(u64::MAX))
    }
}

/// When a record says that something was committed, if it says so.
fn dated(record: &Record<'_>) -> Option<u64> {
    match KernelRecord::of(record) {
        Ok(KernelRecord::Commit { utc_us } | KernelRecord::BackedOut { utc_us }) => Some(utc_us),
        Ok(
            KernelRecord::FreesAtCommit(_)
            | KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_)
            | KernelRecord::Change(_),
        )
        | Err(_) => None,
    }
}

/// An accumulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccumulationStatus {
    /// The names of its data sets.
    pub sets: Vec<String>,
    /// Where the merged piece of the log begins.
    pub first_lsn: u64,
    /// Where it ends.
    pub end_lsn: u64,
    /// Records in it.
    pub records: u64,
    /// Bytes of each of its files.
    pub file_bytes: u64,
    /// Its files.
    pub files: Vec<String>,
}

/// How the archive of a system is; it has these folders.
pub(crate) fn status(archiver: &Archiver, kernel: &Kernel, folders: &[PathBuf]) -> ArchivesStatus {
    let (now, list) = (archiver.status(), archiver.catalog().list());
    ArchivesStatus {
        folders: folders.iter().map(|folder| folder.display().to_string()).collect(),
        archives: list.len() as u64,
        archived_to: list.last().map_or(0, |copy| copy.info.end.0),
        waiting_bytes: kernel.log().space().unarchived_bytes,
        written: now.archives,
        written_bytes: now.bytes,
        trouble: now.trouble,
        missing: now.missing,
    }
}

/// What an operator should know about it now.
pub(crate) fn notes(archiver: &Archiver, kernel: &Kernel) -> Vec<String> {
    let (now, space) = (archiver.status(), kernel.log().space());
    let mut notes = Vec::new();
    let percent = space.unarchived_bytes * 100 / space.capacity_bytes.max(1);
    if percent >= WARN_PERCENT {
        notes.push(format!("{percent} % of the log wait to be archived; at 100 % work waits"));
    }
    notes.extend(now.trouble.map(|why| format!("the log is not being archived: {why}")));
    notes.extend(now.missing.iter().map(|why| format!("an archive lacks a copy: {why}")));
    let gaps = archiver.catalog().gaps();
    let gap = gaps.iter().map(|(from, to)| format!("no archive holds {from} up to {to}"));
    notes.extend(gap);
    notes
}

/// From here on whoever asks for the status is warned.
const WARN_PERCENT: u64 = 25;
