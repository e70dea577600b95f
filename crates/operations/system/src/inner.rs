//! What an open system consists of, shared by its owner, operators' commands and handles.
//!
//! Invariants:
//! 1. It lasts as long as anyone of these uses it.

use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use archive::Archiver;
use recon::Recon;
use seal::{CipherCheck, Format, Keyset};
use seam::disk::HeldLock;
use seam::sync::Mutex;
use uow::Kernel;

use crate::archives::{self, ArchivesStatus};
use crate::{Doors, Guests, SystemConfig};

/// What a layer above says of itself, for people: sentences without an end.
pub type StatusLines = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// What layers above keep with an open system.
#[derive(Default)]
pub(crate) struct Attached {
    pub(crate) kept: Vec<Arc<dyn Any + Send + Sync>>,
    /// What they have to say when somebody asks how the system is.
    pub(crate) status_lines: Vec<StatusLines>,
}

impl Inner {
    /// What the layers above say.
    pub(crate) fn attached_notes(&self) -> Vec<String> {
        self.attached.lock().status_lines.iter().flat_map(|lines| lines()).collect()
    }
}

/// What operators' commands share with the system.
pub(crate) struct Inner {
    pub(crate) dir: PathBuf,
    pub(crate) config: SystemConfig,
    pub(crate) keys: Arc<Keyset>,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) archiver: Option<Archiver>,
    pub(crate) recon: Arc<Recon>,
    pub(crate) cipher: CipherCheck,
    pub(crate) notes: Vec<String>,
    pub(crate) notice: fn(&str),
    /// The programs that it serves.
    pub(crate) guests: Arc<Guests>,
    /// What a layer above keeps with the open system.
    pub(crate) attached: Mutex<Attached>,
    /// Held by whoever changes the configuration's file.
    pub(crate) configuring: Mutex<()>,
    /// Held by whoever decides which form data sets go over to, until that is begun.
    pub(crate) changing_forms: Mutex<()>,
    /// When it was opened, by the clock and in CPU time of the process.
    pub(crate) opened: Duration,
    pub(crate) opened_cpu_us: u64,
    /// The system's lock, which the kernel holds, too.
    pub(crate) lock: Arc<dyn HeldLock>,
}

impl Inner {
    /// Where others come in, kept with what is attached.
    pub(crate) fn doors(&self) -> Arc<Doors> {
        let mut attached = self.attached.lock();
        let known = attached.kept.iter().find_map(|one| Arc::clone(one).downcast().ok());
        known.unwrap_or_else(|| {
            let doors = Arc::<Doors>::default();
            attached.kept.push(Arc::clone(&doors) as _);
            doors
        })
    }

    /// How its archive is, if it has one.
    pub(crate) fn archive_status(&self) -> Option<ArchivesStatus> {
        let archiver = self.archiver.as_ref()?;
        let folders = self.config.archive(&self.dir).map(|archive| archive.folders);
        Some(archives::status(archiver, &self.kernel, &folders.unwrap_or_default()))
    }
}

/// What layers above are told of the log's archives as long as the system is open.
pub struct ArchiveHandle(Weak<Inner>);

impl ArchiveHandle {
    pub(crate) fn of(inner: &Arc<Inner>) -> ArchiveHandle {
        ArchiveHandle(Arc::downgrade(inner))
    }

    fn status(&self) -> Option<ArchivesStatus> {
        self.0.upgrade()?.archive_status()
    }

    /// The folders of archives; none: the log is not archived.
    #[must_use]
    pub fn folders(&self) -> Vec<String> {
        self.status().map(|status| status.folders).unwrap_or_default()
    }

    /// Why the archive does not go on, if it does not.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.status()?.trouble
    }

    /// Whether the log is sealed.
    #[must_use]
    pub fn log_is_sealed(&self) -> bool {
        self.0.upgrade().is_some_and(|inner| inner.config.log.format == Format::Sealed)
    }

    /// Archives what was logged so far; answers how many archives that made.
    ///
    /// # Errors
    /// Why it could not, for people.
    pub fn archive_now(&self) -> Result<u64, String> {
        let inner = self.0.upgrade().ok_or("the system is being closed")?;
        let archiver = inner.archiver.as_ref();
        let archiver = archiver.ok_or("no folder is named, so nothing is archived")?;
        let made = archiver.archive_now().map_err(|error| error.to_string())?;
        Ok(made.len() as u64)
    }
}
