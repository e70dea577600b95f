//! A system whose databases are on an engine: a folder with configuration and keys, and a store.
//!
//! ```text
//!   DIR/holdfast.toml    configuration, with [engine]
//!   DIR/holdfast.keys    key file, under a passphrase
//!   DIR/lock             held by the process that has it open
//!   DIR/operator.sock    where it takes operators' commands
//! ```
//!
//! There is no kernel: no log, no pools, no data sets' files, no RECON. What these are for, the
//! engine has of its own. Several systems share the databases of one engine: copies of the folder,
//! on as many machines as there are.
//!
//! Invariants:
//! 1. Values leave the process sealed, under the label of data sets.
//! 2. The store is the one whose identity stands in the configuration; another is refused.
//! 3. Programs are beside each other, in whatever systems they run; what wants the databases to
//!    itself is beside nobody ([`sharing`]).
//! 4. No password stands in the folder.

mod sharing;
pub(crate) mod status;
mod verbs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::SystemId;
use seal::{KeyProvider, Keyset, Passphrase};
use seam::Seam;
use seam::disk::{HeldLock, make_dir};
use seam::fresh::replace_small;
use seam::made::MadeHere;
use serde_json::Value;
use store_postgres::{EngineOptions, EngineStore, Sealing};

pub use sharing::InUse;
pub use verbs::{EngineRun, EngineVerb, EngineVerified, VerifiedSet};

use crate::config::{CONFIG_FILE, EngineSettings};
use crate::keyset::{LABELS, open_keys};
use crate::lock::{absolute, lock};
use crate::operator::needs_proof;
use crate::protocol::{Listener, Refusal, Request, Served, Server, Talk};
use crate::{Guests, InitOptions, OpenOptions, Places, SystemConfig, SystemError, hygiene};

/// The label whose keys seal values.
const LABEL: &str = LABELS[2];

/// An open system on an engine.
pub struct EngineSystem {
    inner: Arc<Inner>,
    server: Option<Server>,
}

struct Inner {
    dir: PathBuf,
    config: SystemConfig,
    settings: EngineSettings,
    keys: Arc<Keyset>,
    store: EngineStore,
    seam: Seam,
    notes: Vec<String>,
    verbs: &'static [EngineVerb],
    notice: fn(&str),
    guests: Arc<Guests>,
    opened: Duration,
    opened_cpu_us: u64,
    lock: Box<dyn HeldLock>,
}

impl EngineSystem {
    /// Makes a system in a folder that is empty or does not exist, and its store in the engine,
    /// whose schema must not be there.
    ///
    /// # Errors
    /// [`SystemError::Occupied`], an unusable configuration, whatever engine and keyset say.
    pub fn init(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: &InitOptions,
        settings: &EngineSettings,
    ) -> Result<SystemId, SystemError> {
        let mut config = SystemConfig { engine: None, ..options.config.clone() };
        let entropy = seam.entropy.fill(&mut config.system.0);
        entropy.map_err(|error| SystemError::io("draw an identity for", dir, error))?;
        if settings.names_password() {
            let why = "the address has a password in it, which would stand in holdfast.toml: give \
                       it in PGPASSWORD, or in the file that PGPASSFILE names";
            return Err(SystemError::Unusable { why: why.into() });
        }
        let places = Places::of(&config, dir);
        // What is refused at once leaves no trace.
        places.free(seam.disk.as_ref())?;
        let (seam, here) = MadeHere::over(seam);
        make_dir(seam.disk.as_ref(), dir).map_err(|error| SystemError::io("make", dir, error))?;
        let lock = lock(&seam, dir)?;
        // Again: somebody may have been faster.
        let made = places
            .free(seam.disk.as_ref())
            .and_then(|()| make(&seam, dir, passphrase, options, (&config, settings)));
        if made.is_err() {
            here.undo();
        }
        drop(lock);
        made.map(|()| config.system)
    }

    /// Opens a system: proves the key file, finds the store, serves operators.
    ///
    /// # Errors
    /// [`SystemError::NotOnEngine`], [`SystemError::InUse`] if another process has it; what key
    /// ring and engine say.
    pub fn open(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        options: OpenOptions,
        verbs: &'static [EngineVerb],
    ) -> Result<EngineSystem, SystemError> {
        let notes = hygiene::protect_process();
        let dir = absolute(seam, dir)?;
        let read = || SystemConfig::read_any(seam.disk.as_ref(), &dir);
        let is_on_engine = read()?.engine.is_some();
        let lock = is_on_engine.then(|| lock(seam, &dir)).transpose()?;
        // Again: whoever held the lock before may have changed it.
        let config = read()?;
        let (Some(settings), Some(lock)) = (config.engine.clone(), lock) else {
            return Err(SystemError::NotOnEngine { dir });
        };
        let keys = Arc::new(open_keys(seam, &dir, &config, passphrase)?);
        let provider = Arc::clone(&keys) as Arc<dyn KeyProvider>;
        let how = options_of(&settings, &dir, provider);
        let store = EngineStore::open(&settings.url, how, seam)?;
        let inner = Inner {
            dir,
            config,
            settings,
            keys,
            store,
            seam: seam.clone(),
            notes,
            verbs,
            notice: options.notice,
            guests: Arc::default(),
            opened: seam.clock.monotonic(),
            opened_cpu_us: seam::clock::process_cpu_us(),
            lock,
        };
        let mut system = EngineSystem { inner: Arc::new(inner), server: None };
        if options.serve {
            system.server = Some(Server::start(Arc::new(system.share()))?);
        }
        Ok(system)
    }

    /// The same system, for those whom whoever has opened it outlives.
    #[must_use]
    pub fn share(&self) -> EngineSystem {
        EngineSystem { inner: Arc::clone(&self.inner), server: None }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &EngineStore {
        &self.inner.store
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &SystemConfig {
        &self.inner.config
    }

    /// Where its engine is.
    #[must_use]
    pub fn settings(&self) -> &EngineSettings {
        &self.inner.settings
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// The keyset.
    #[must_use]
    pub fn keys(&self) -> &Arc<Keyset> {
        &self.inner.keys
    }

    /// Disk, clock, entropy.
    #[must_use]
    pub fn seam(&self) -> &Seam {
        &self.inner.seam
    }

    /// What an operator should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let lock = hygiene::lock_note(&*self.inner.lock);
        self.inner.notes.iter().cloned().chain(lock).collect()
    }

    /// Who hears what is to be known of work in this system.
    #[must_use]
    pub fn notices(&self) -> fn(&str) {
        self.inner.notice
    }

    /// The programs that it serves.
    #[must_use]
    pub fn guests(&self) -> &Arc<Guests> {
        &self.inner.guests
    }

    /// Leaves the engine in order: operators' commands that are at work are ended first.
    ///
    /// # Errors
    /// None so far: a connection that is gone says by itself that the system has left.
    pub fn close(mut self) -> Result<(), SystemError> {
        drop(self.server.take());
        Ok(())
    }
}

fn make(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
    options: &InitOptions,
    (config, settings): (&SystemConfig, &EngineSettings),
) -> Result<(), SystemError> {
    let disk = seam.disk.as_ref();
    let (path, id) = (config.key_file(dir), config.system);
    let keys = match &options.token {
        None => Keyset::create(seam, &path, id, passphrase, options.cost)?,
        Some(place) => Keyset::create_in_token(seam, &path, id, passphrase, place)?,
    };
    for label in LABELS {
        keys.add_label(label)?;
    }
    let keys: Arc<dyn KeyProvider> = Arc::new(keys);
    let how = || options_of(settings, dir, Arc::clone(&keys));
    EngineStore::create(&settings.url, &how(), seam)?;
    let written = EngineStore::open(&settings.url, how(), seam).map_err(SystemError::from);
    let written = written.and_then(|store| {
        let store = SystemId(store.identity()).to_string();
        let engine = Some(EngineSettings { store, ..settings.clone() });
        let config = SystemConfig { engine, ..config.clone() };
        let path = dir.join(CONFIG_FILE);
        replace_small(disk, &path, config.to_text().as_bytes())
            .map_err(|error| SystemError::io("write", &path, error))
    });
    if written.is_err() {
        // Nobody knows of the store yet; what cannot be removed, the next try names.
        let _ = EngineStore::destroy(&settings.url, &how(), seam);
    }
    written
}

/// How the store is used. Displays call the system by its machine and its folder.
fn options_of(settings: &EngineSettings, dir: &Path, keys: Arc<dyn KeyProvider>) -> EngineOptions {
    EngineOptions {
        schema: settings.schema.clone(),
        system: format!("{}:{}", hygiene::machine_name(), dir.display()),
        connections_max: settings.connections as usize,
        sealing: Some(Sealing { keys, label: LABEL.into(), identity: settings.identity() }),
        ..EngineOptions::default()
    }
}

impl Served for EngineSystem {
    fn dir(&self) -> &Path {
        EngineSystem::dir(self)
    }

    fn guests(&self) -> &Arc<Guests> {
        EngineSystem::guests(self)
    }

    fn keys(&self) -> &Keyset {
        EngineSystem::keys(self)
    }

    fn seam(&self) -> &Seam {
        EngineSystem::seam(self)
    }

    fn has_verb(&self, name: &str) -> bool {
        verbs::find(self, name).is_ok()
    }

    fn needs_proof(&self, request: &Request) -> bool {
        needs_proof(&request.verb, &request.arguments)
    }

    fn answer(&self, request: &Request, listener: &mut dyn Listener) -> Result<Value, Refusal> {
        let verb = verbs::find(self, &request.verb)?;
        (verb.run)(self, request, &mut Talk::new(listener, &self.inner.seam.clock))
    }
}
