//! A system: a folder, its keyset, and a running kernel over them.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{Archiver, LogSource};
use base::SystemId;
use recon::{HeldLog, Recon};
use recovery::{CopyKeys, History};
use seal::{KeyProvider, Keyset, Passphrase};
use seam::Seam;
use seam::disk::HeldLock;
use seam::sync::{Mutex, MutexGuard};
use serde_json::Value;
use store_kernel::KernelStore;
use uow::{Kernel, Parts};

use crate::authorise::Authoriser;
use crate::create::{InitOptions, make, make_alone, parts};
use crate::inner::{ArchiveHandle, Attached, Inner, StatusLines};
use crate::keyset::{LABELS, open_keys};
use crate::lock::{absolute, lock};
use crate::places::Places;
use crate::protocol::{Refusal, Request, Server, Talk};
use crate::shadow::without_writes;
use crate::status::{self, RunningStatus};
use crate::{
    Doors, Guests, SystemConfig, SystemError, archives, bound, hygiene, inspect, openings,
    registry, room,
};

/// What a verb is: works on an open system and gives its result.
pub type Run = fn(&System, &Request, &mut Talk<'_>) -> Result<Value, Refusal>;

/// A verb by its name.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// Its name in requests.
    pub name: &'static str,
    /// What it does.
    pub run: Run,
}

/// How a system is opened.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// Serve operators: commands of other processes, through a socket in the folder.
    pub serve: bool,
    /// What layers above do for operators, besides the verbs of every system.
    pub verbs: &'static [Verb],
    /// Hears what is to be known of work in the open system that is no reason to refuse it.
    pub notice: fn(&str),
    /// Use a log copy that is recorded as stale if there is no other; what it lacks is lost (K9).
    pub override_stale: bool,
    /// Begin the anchor with the system as it is: that it was put back is not noticed (K6).
    pub begin_anchor: bool,
    /// Keep in memory whatever would be written, to look at a system whose folder cannot be
    /// written to; nobody is served.
    pub in_memory: bool,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            serve: true,
            verbs: &[],
            notice: |_| (),
            override_stale: false,
            begin_anchor: false,
            in_memory: false,
        }
    }
}

/// An open system.
pub struct System {
    inner: Arc<Inner>,
    store: KernelStore,
    verbs: &'static [Verb],
    server: Option<Server>,
}

impl System {
    /// Makes a system in a folder that is empty or does not exist: key file, control file, log,
    /// double-write area, and last of all its configuration. If it cannot be finished, what was
    /// made is removed.
    ///
    /// # Errors
    /// [`SystemError::Occupied`], an unusable configuration, whatever disk and keyset say.
    pub fn init(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: &InitOptions,
    ) -> Result<SystemId, SystemError> {
        let mut config = options.config.clone();
        let entropy = seam.entropy.fill(&mut config.system.0);
        entropy.map_err(|error| SystemError::io("draw an identity for", dir, error))?;
        config.check_to_make()?;
        make_alone(seam, dir, &config, |seam| make(seam, dir, passphrase, options, &config))?;
        Ok(config.system)
    }

    /// Opens a system: proves the key file, restarts the kernel, serves operators.
    ///
    /// # Errors
    /// [`SystemError::InUse`] if another process has it; everything that can be missing, foreign,
    /// damaged or of a later release.
    pub fn open(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: OpenOptions,
    ) -> Result<System, SystemError> {
        System::open_without(seam, dir, passphrase, options, &[])
    }

    /// The same without some data sets: they are damaged so that it does not start with them, and
    /// stay offline until they are recovered.
    ///
    /// # Errors
    /// As for [`System::open`].
    pub fn open_without(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: OpenOptions,
        offline: &[String],
    ) -> Result<System, SystemError> {
        let notes = hygiene::protect_process();
        let dir = &absolute(seam, dir)?;
        let config = SystemConfig::read(seam.disk.as_ref(), dir)?;
        config.check_to_start(seam.disk.as_ref(), dir)?;
        hygiene::has_room(seam.disk.as_ref(), dir, &config)?;
        let lock = lock(seam, dir)?.into();
        System::open_under((seam, lock), dir, passphrase, options, (offline, notes))
    }

    /// The same under the lock, which is held until the system is closed: what is read before the
    /// kernel is opened is as it was then.
    fn open_under(
        (seam, lock): (&Seam, Arc<dyn HeldLock>),
        dir: &Path,
        passphrase: &Passphrase,
        options: OpenOptions,
        (offline, mut notes): (&[String], Vec<String>),
    ) -> Result<System, SystemError> {
        // Again: whoever held the lock before may have changed it.
        let mut config = SystemConfig::read(seam.disk.as_ref(), dir)?;
        config.check_to_start(seam.disk.as_ref(), dir)?;
        let shadowed = options.in_memory.then(|| without_writes(seam));
        let (outside, seam) = (seam, shadowed.as_ref().unwrap_or(seam));
        let keys = Arc::new(open_keys(seam, dir, &config, passphrase)?);
        Places::of(&config, dir).take(seam, options.in_memory)?;
        let recon = registry::recon_setup(seam, dir, &config, Arc::clone(&keys) as _);
        let known = registry::known_to(&recon, options.in_memory)?;
        let bound = bound::prove(seam, dir, &config, &keys, &known)?;
        let becomes_sealed = bound.log != config.log.format && !options.in_memory;
        config.believe(&bound);
        let (cipher, observed) = hygiene::look_at_machine(seam, dir);
        notes.extend(observed);
        let (opened, opened_cpu_us) = (seam.clock.monotonic(), seam::clock::process_cpu_us());
        let parts = Parts {
            override_stale: options.override_stale,
            offline: offline.to_vec(),
            ..parts(seam, dir, &config, Arc::clone(&keys) as Arc<dyn KeyProvider>)
        };
        let catalog = archives::catalog(&parts, &config, dir, &known)?;
        let mut plan = archives::kernel(&config, dir, catalog.as_ref());
        plan.anchor.iter_mut().for_each(|anchor| anchor.replaces = options.begin_anchor);
        plan.proven = plan.proven.max(known.reached.lsn);
        let kernel = Kernel::open_under(parts, plan, Arc::clone(&lock))?;
        notes.extend(kernel.restart_report().iter().flat_map(|report| report.log.notes.clone()));
        let recon = Arc::new(registry::open(&recon, &kernel, &mut notes)?);
        let archiver = archives::start(catalog, &kernel, &recon)?;
        notes.extend(kernel.offline_sets().iter().map(|set| status::offline_note(&set.name)));
        let store = KernelStore::new(&kernel, config.store_defaults())?;
        let inner = Inner {
            dir: dir.to_owned(),
            config,
            keys,
            kernel,
            recon,
            archiver,
            cipher,
            notes,
            notice: options.notice,
            guests: Arc::default(),
            attached: Mutex::default(),
            configuring: Mutex::new(()),
            changing_forms: Mutex::new(()),
            opened,
            opened_cpu_us,
            lock: Arc::clone(&lock),
        };
        let mut system =
            System { inner: Arc::new(inner), store, verbs: options.verbs, server: None };
        if becomes_sealed {
            system.seal_log()?;
            let (under, hygiene_note) = ((outside, lock), hygiene::protect_process());
            return System::open_under(under, dir, passphrase, options, (offline, hygiene_note));
        }
        if options.serve && !options.in_memory {
            system.server = Some(Server::start(Arc::new(system.share()))?);
        }
        Ok(system)
    }

    /// Ends a plain log: whatever it is given from the next start on is sealed. The caller holds
    /// the lock.
    fn seal_log(self) -> Result<(), SystemError> {
        let kernel = Arc::clone(&self.inner.kernel);
        let (dir, config) = (self.inner.dir.clone(), self.inner.config.clone());
        let keys = Arc::clone(&self.inner.keys);
        self.close()?;
        let (seam, end) = (kernel.seam().clone(), kernel.log().next_lsn());
        drop(kernel);
        bound::seal_log_from(&seam, &dir, &config, &keys, end)
    }

    /// The same system for operators' commands; whoever has opened it outlives them.
    fn share(&self) -> System {
        System {
            inner: Arc::clone(&self.inner),
            store: self.store.clone(),
            verbs: self.verbs,
            server: None,
        }
    }

    /// The right to change the configuration's file.
    pub(crate) fn configuring(&self) -> MutexGuard<'_, ()> {
        self.inner.configuring.lock()
    }

    pub(crate) fn changing_forms(&self) -> MutexGuard<'_, ()> {
        self.inner.changing_forms.lock()
    }

    /// The programs that it serves, whom operators' commands are not for.
    #[must_use]
    pub fn guests(&self) -> &Arc<Guests> {
        &self.inner.guests
    }

    /// Has something of a layer above found by operators' verbs, as long as the system is open.
    pub fn attach(&self, what: Arc<dyn Any + Send + Sync>) {
        self.inner.attached.lock().kept.push(what);
    }

    /// Has a layer above say something whenever somebody asks how the system is.
    pub fn tell(&self, lines: StatusLines) {
        self.inner.attached.lock().status_lines.push(lines);
    }

    /// Takes all of that away again.
    pub fn detach(&self) {
        *self.inner.attached.lock() = Attached::default();
    }

    /// Its doors.
    #[must_use]
    pub fn doors(&self) -> Arc<Doors> {
        self.inner.doors()
    }

    /// What was attached, if it is of that type.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let attached = self.inner.attached.lock();
        attached.kept.iter().find_map(|one| Arc::clone(one).downcast().ok())
    }

    pub(crate) fn verbs(&self) -> &'static [Verb] {
        self.verbs
    }

    /// Who hears what is to be known of work in this system.
    #[must_use]
    pub fn notices(&self) -> fn(&str) {
        self.inner.notice
    }

    /// Says what is to be known of work in this system.
    pub fn notice(&self, text: &str) {
        (self.inner.notice)(text);
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.inner.kernel
    }

    /// The store over the kernel.
    #[must_use]
    pub fn store(&self) -> &KernelStore {
        &self.store
    }

    /// The keyset.
    #[must_use]
    pub fn keys(&self) -> &Arc<Keyset> {
        &self.inner.keys
    }

    /// Who archives the log, if it is archived.
    #[must_use]
    pub fn archiver(&self) -> Option<&Archiver> {
        self.inner.archiver.as_ref()
    }

    /// What layers above are told of archives.
    #[must_use]
    pub fn archive_handle(&self) -> ArchiveHandle {
        ArchiveHandle::of(&self.inner)
    }

    /// Who tells RECON of programs.
    #[must_use]
    pub fn authoriser(&self) -> Authoriser {
        Authoriser::new(&self.inner.recon, self.kernel().seam())
    }

    /// Refuses folders for image copies in which the system has files of its own.
    ///
    /// # Errors
    /// [`SystemError::OwnFolder`] for the first of them.
    pub fn refuse_own_folders(&self, to: &[PathBuf]) -> Result<(), SystemError> {
        room::refuse_own_folders(self.kernel().seam().disk.as_ref(), self.config(), self.dir(), to)
    }

    /// RECON. Its data sets are as they were when the system was opened, or as
    /// [`System::update_recon`] has left them.
    #[must_use]
    pub fn recon(&self) -> &Recon {
        &self.inner.recon
    }

    /// Binds what the system has open to others, once its doors are open: all of it the first
    /// time, and from then on nothing beyond what was bound.
    ///
    /// # Errors
    /// If the control file or RECON cannot be written.
    pub fn bind_openings(&self) -> Result<(), SystemError> {
        let openings = openings::asked(self.config(), self.dir());
        if self.inner.kernel.bind_openings(openings)? {
            self.update_recon()?;
        }
        Ok(())
    }

    /// Tells RECON what data sets there are by now.
    ///
    /// # Errors
    /// If RECON cannot be written.
    pub fn update_recon(&self) -> Result<(), SystemError> {
        registry::update(&self.inner.recon, &self.inner.kernel)
    }

    /// What image copies are sealed with.
    #[must_use]
    pub fn copy_keys(&self) -> CopyKeys {
        CopyKeys {
            keys: Arc::clone(&self.inner.keys) as Arc<dyn KeyProvider>,
            label: LABELS[0].into(),
            system: self.inner.config.system,
        }
    }

    /// The log, wherever it stands.
    #[must_use]
    pub fn log_source(&self) -> LogSource {
        let catalog = self.inner.archiver.as_ref().map(|archiver| Arc::clone(archiver.catalog()));
        LogSource::new(catalog, Some(Arc::clone(self.inner.kernel.log())))
    }

    /// Keeps all of the log, wherever it stands, for whoever is about to read it: once this
    /// returns nothing of it is deleted any more.
    #[must_use]
    pub fn hold_log(&self) -> HeldLog<'_> {
        let held = self.recon().hold_log();
        if let Some(archiver) = &self.inner.archiver {
            archiver.catalog().settle();
        }
        held
    }

    /// Where a recovery reads the log.
    #[must_use]
    pub fn history(&self) -> Arc<dyn History> {
        Arc::new(self.log_source())
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &SystemConfig {
        &self.inner.config
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Which folders and files are its own.
    #[must_use]
    pub fn places(&self) -> Places {
        Places::of(&self.inner.config, &self.inner.dir)
    }

    /// What an operator should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        inspect::notes(&self.inner)
    }

    /// How it is now.
    #[must_use]
    pub fn status(&self) -> RunningStatus {
        inspect::of_running(&self.inner)
    }

    /// Stops in order: everything on disk, nothing for a restart to do. Nobody uses the kernel;
    /// operators' commands that are at work are ended first.
    ///
    /// # Errors
    /// If the kernel has stopped by itself or the disk refuses; the next start does the rest.
    pub fn close(mut self) -> Result<(), SystemError> {
        drop(self.server.take());
        self.inner.archiver.iter().for_each(Archiver::end);
        self.inner.kernel.close()?;
        registry::note_end(&self.inner.recon, &self.inner.kernel)
    }
}
