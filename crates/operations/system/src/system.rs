//! A system: a folder, its key ring, and a running kernel over them.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::{Archiver, LogSource};
use base::{Coded, SystemId};
use btree::TreeResource;
use recon::{HeldLog, Recon};
use recovery::{CopyKeys, History};
use seal::{CipherCheck, KdfCost, KeyProvider, KeyRing, Passphrase, TokenPlace};
use seam::Seam;
use seam::disk::{Disk, HeldLock, make_dir};
use seam::fresh::replace_small;
use seam::made::MadeHere;
use seam::sync::{Mutex, MutexGuard};
use store_kernel::KernelStore;
use uow::{Kernel, Parts};

use crate::config::CONFIG_FILE;
use crate::operator::{self, Server, Verb};
use crate::places::{LOCK, Places};
use crate::status::{self, RunningStatus};
use crate::{
    Doors, Guests, SystemConfig, SystemError, archives, hygiene, openings, protection, registry,
    survey,
};

/// The labels that every system has: its control file and double-write area, its log, its data.
pub const LABELS: [&str; 3] = ["system", "log", "data"];

/// How a system is made.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// Its configuration; the identity in it is drawn anew.
    pub config: SystemConfig,
    /// What a guess at the passphrase costs.
    pub cost: KdfCost,
    /// The key in a token that protects the key file in place of a passphrase.
    pub token: Option<TokenPlace>,
}

impl Default for InitOptions {
    fn default() -> InitOptions {
        InitOptions {
            config: SystemConfig::new(SystemId::default()),
            cost: KdfCost::default(),
            token: None,
        }
    }
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
    server: Option<Server>,
}

/// What a layer above says of itself, for people: sentences without an end.
pub type Teller = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// What layers above keep with an open system.
#[derive(Default)]
struct Attached {
    kept: Vec<Arc<dyn Any + Send + Sync>>,
    /// What they have to say when somebody asks how the system is.
    tellers: Vec<Teller>,
}

impl Inner {
    /// What the layers above say.
    pub(crate) fn told(&self) -> Vec<String> {
        self.attached.lock().tellers.iter().flat_map(|teller| teller()).collect()
    }
}

/// What operators' commands share with the system.
pub(crate) struct Inner {
    pub(crate) dir: PathBuf,
    pub(crate) config: SystemConfig,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) archiver: Option<Archiver>,
    pub(crate) recon: Arc<Recon>,
    pub(crate) cipher: CipherCheck,
    pub(crate) notes: Vec<String>,
    pub(crate) verbs: &'static [Verb],
    notice: fn(&str),
    /// The programs that it serves.
    pub(crate) guests: Arc<Guests>,
    /// What a layer above keeps with the open system.
    attached: Mutex<Attached>,
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
}

impl System {
    /// Makes a system in a folder that is empty or does not exist: key file, control file, log,
    /// double-write area, and last of all its configuration. If it cannot be finished, what was
    /// made is removed.
    ///
    /// # Errors
    /// [`SystemError::Occupied`], an unusable configuration, whatever disk and key ring say.
    pub fn init(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: &InitOptions,
    ) -> Result<SystemId, SystemError> {
        let mut config = options.config.clone();
        let entropy = seam.entropy.fill(&mut config.system.0);
        entropy.map_err(|error| SystemError::io("draw an identity for", dir, error))?;
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
        let shadowed = options.in_memory.then(|| survey::without_writes(seam));
        let (outside, seam) = (seam, shadowed.as_ref().unwrap_or(seam));
        let keys = Arc::new(open_keys(seam, dir, &config, passphrase)?);
        Places::of(&config, dir).take(seam, options.in_memory)?;
        let recon = registry::recon_setup(seam, dir, &config, Arc::clone(&keys) as _);
        let known = registry::known_to(&recon, options.in_memory)?;
        let bound = protection::prove(seam, dir, &config, &keys, &known)?;
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
        plan.anchor.iter_mut().for_each(|anchor| anchor.begins_anew = options.begin_anchor);
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
            verbs: options.verbs,
            notice: options.notice,
            guests: Arc::default(),
            attached: Mutex::default(),
            configuring: Mutex::new(()),
            changing_forms: Mutex::new(()),
            opened,
            opened_cpu_us,
            lock: Arc::clone(&lock),
        };
        let mut system = System { inner: Arc::new(inner), store, server: None };
        if becomes_sealed {
            system.seal_log()?;
            let (under, told) = ((outside, lock), hygiene::protect_process());
            return System::open_under(under, dir, passphrase, options, (offline, told));
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
        protection::seal_log_from(&seam, &dir, &config, &keys, end)
    }

    /// The same system for operators' commands; whoever has opened it outlives them.
    fn share(&self) -> System {
        System { inner: Arc::clone(&self.inner), store: self.store.clone(), server: None }
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
    pub fn tell(&self, teller: Teller) {
        self.inner.attached.lock().tellers.push(teller);
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
        self.inner.verbs
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

    /// The key ring.
    #[must_use]
    pub fn keys(&self) -> &Arc<KeyRing> {
        &self.inner.keys
    }

    /// Who archives the log, if it is archived.
    #[must_use]
    pub fn archiver(&self) -> Option<&Archiver> {
        self.inner.archiver.as_ref()
    }

    /// What layers above are told of archives.
    #[must_use]
    pub fn archive_handle(&self) -> crate::ArchiveHandle {
        crate::ArchiveHandle::of(&self.inner)
    }

    /// RECON. Its data sets are as they were when the system was opened, or as
    /// [`System::update_recon`] has left them.
    #[must_use]
    pub fn recon(&self) -> &Recon {
        &self.inner.recon
    }

    pub(crate) fn recon_shared(&self) -> &Arc<Recon> {
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
        status::notes(&self.inner)
    }

    /// How it is now.
    #[must_use]
    pub fn status(&self) -> RunningStatus {
        status::of_running(&self.inner)
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

/// The folder of a system as everybody finds it: what is recorded, and what others are told, is
/// read by processes that work in other folders.
pub(crate) fn absolute(seam: &Seam, dir: &Path) -> Result<PathBuf, SystemError> {
    seam.disk.absolute(dir).map_err(|error| SystemError::io("find", dir, error))
}

/// What the kernel is made of.
pub(crate) fn parts(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: Arc<dyn KeyProvider>,
) -> Parts {
    Parts {
        seam: seam.clone(),
        keys,
        system: config.system,
        home: dir.to_owned(),
        resource: Arc::new(TreeResource),
        override_stale: false,
        offline: Vec::new(),
    }
}

/// Opens the key ring of a system whose configuration has been read.
pub(crate) fn open_keys(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    passphrase: &Passphrase,
) -> Result<KeyRing, SystemError> {
    // Keys are not taken out where somebody looks over our shoulder.
    let _ = hygiene::protect_process();
    if let Some(tracer) = hygiene::tracer() {
        return Err(SystemError::Traced { tracer });
    }
    Ok(KeyRing::open(seam, &config.key_file(dir), config.system, passphrase)?)
}

/// Opens the key ring to change it. The lock keeps the system from being opened meanwhile, for a
/// running system keeps its own view of the file.
///
/// # Errors
/// As [`System::open`], for the files that are looked at.
pub fn open_key_ring(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<(KeyRing, Box<dyn HeldLock>), SystemError> {
    SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    let lock = lock(seam, dir)?;
    // Again: whoever held the lock before may have changed it.
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok((open_keys(seam, dir, &config, passphrase)?, lock))
}

/// The name under which a session may hold what opens a system's key file; `None` if a token
/// protects it.
///
/// # Errors
/// If the configuration or the key file cannot be read.
pub fn session_name(seam: &Seam, dir: &Path) -> Result<Option<String>, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok(KeyRing::session_name(seam.disk.as_ref(), &config.key_file(dir))?)
}

/// What opens a system's key file at once in place of its passphrase; `None` if a token protects
/// it. The system may be running.
///
/// # Errors
/// As [`open_key_ring`].
pub fn stretch_passphrase(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<Option<Passphrase>, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok(KeyRing::stretch(seam, &config.key_file(dir), config.system, passphrase)?)
}

/// Opens the key ring to look at it; the system may be running.
///
/// # Errors
/// As [`open_key_ring`].
pub fn look_at_key_ring(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<KeyRing, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    open_keys(seam, dir, &config, passphrase)
}

/// Takes the lock that says that a system is open. Whoever only looks at a stopped system holds it
/// for a moment, and so does a process that is starting: they are waited for. Where the lock could
/// be had although a process answers for the system, that process has it open all the same.
pub(crate) fn lock(seam: &Seam, dir: &Path) -> Result<Box<dyn HeldLock>, SystemError> {
    let owner = seam.disk.work_for_owner_of(dir);
    owner.map_err(|error| SystemError::io("look at", dir, error))?;
    let begun = seam.clock.monotonic();
    loop {
        let error = match seam.disk.lock_folder(dir, LOCK) {
            Ok(lock) => match operator::served_by(dir) {
                None => return Ok(lock),
                Some(_) => std::io::ErrorKind::WouldBlock.into(),
            },
            Err(error) => error,
        };
        if error.kind() != std::io::ErrorKind::WouldBlock {
            return Err(SystemError::io("lock", &dir.join(LOCK), error));
        }
        let holder = operator::holder(dir).ok().flatten().or_else(|| operator::served_by(dir));
        if holder.is_some() || seam.clock.monotonic().saturating_sub(begun) > PATIENCE {
            let holder = holder.map_or("another process".into(), |pid| format!("process {pid}"));
            return Err(SystemError::InUse { dir: dir.to_owned(), holder });
        }
        seam.clock.sleep(LOOK);
    }
}

/// How long a lock is waited for whose holder does not say that it has the system open.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// Makes a system where there is none, alone. If that fails, what was made is removed, and nothing
/// else: other systems may have files in the same folders.
pub(crate) fn make_alone(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    make: impl FnOnce(&Seam) -> Result<(), SystemError>,
) -> Result<(), SystemError> {
    let places = Places::of(config, dir);
    // What is refused at once leaves no trace.
    places.free(seam.disk.as_ref())?;
    let (seam, here) = MadeHere::over(seam);
    let made =
        make_folders(seam.disk.as_ref(), dir, config).and_then(|()| lock(&seam, dir)).map(|lock| {
            // Again: somebody may have been faster, and some paths led nowhere before.
            let made = places
                .free(seam.disk.as_ref())
                .and_then(|()| places.claim(&seam, true))
                .and_then(|()| make(&seam));
            if made.is_err() {
                here.undo();
            }
            drop(lock);
            made
        });
    made.flatten()
}

fn make(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    options: &InitOptions,
    config: &SystemConfig,
) -> Result<(), SystemError> {
    let disk = seam.disk.as_ref();
    let (path, id) = (config.key_file(dir), config.system);
    let keys = match &options.token {
        None => KeyRing::create(seam, &path, id, passphrase, options.cost)?,
        Some(place) => KeyRing::create_in_token(seam, &path, id, passphrase, place)?,
    };
    for label in LABELS {
        keys.add_label(label)?;
    }
    let keys: Arc<dyn KeyProvider> = Arc::new(keys);
    let parts = parts(seam, dir, config, Arc::clone(&keys));
    Kernel::create(&parts, &config.kernel(dir))?;
    Recon::create(&registry::recon_setup(seam, dir, config, keys), &[])?;
    let path = dir.join(CONFIG_FILE);
    replace_small(disk, &path, config.to_text().as_bytes())
        .map_err(|error| SystemError::io("write", &path, error))
}

/// The folders of a system.
fn make_folders(disk: &dyn Disk, dir: &Path, config: &SystemConfig) -> Result<(), SystemError> {
    let data = config.data.folders.iter().map(|folder| dir.join(folder));
    let folders = std::iter::once(dir.to_owned()).chain(config.all_log_folders(dir)).chain(data);
    for folder in folders {
        make_dir(disk, &folder).map_err(|error| SystemError::io("make", &folder, error))?;
    }
    Ok(())
}

/// A line for people that says what went wrong, and one that says what to do.
#[must_use]
pub fn explain(error: &dyn Coded) -> String {
    let remedy = error.remedy();
    let separator = if remedy.is_empty() { "" } else { "\n" };
    format!("{} ({}){separator}{remedy}", error, error.code())
}
