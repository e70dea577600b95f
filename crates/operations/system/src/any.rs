//! A system, wherever its databases are.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seal::{Keyset, Passphrase};
use seam::Seam;
use serde_json::Value;
use store_any::AnyStore;

use crate::engine::{EngineSystem, EngineVerb, InUse};
use crate::protocol::{Here, Progress, Refusal, Request, Served, Talk, call};
use crate::{Guests, OpenOptions, System, SystemConfig, SystemError};

/// What holds databases.
pub trait Home {
    /// The store with them.
    fn databases(&self) -> AnyStore;
    /// Disk, clock, entropy.
    fn seam(&self) -> &Seam;
    /// The configuration.
    fn config(&self) -> &SystemConfig;
    /// The folder.
    fn dir(&self) -> &Path;
    /// Who hears what is to be known of work in it.
    fn notices(&self) -> fn(&str);
    /// The keyset.
    fn keys(&self) -> &Arc<Keyset>;
}

impl Home for System {
    fn databases(&self) -> AnyStore {
        AnyStore::Kernel(self.store().clone())
    }

    fn seam(&self) -> &Seam {
        self.kernel().seam()
    }

    fn config(&self) -> &SystemConfig {
        System::config(self)
    }

    fn dir(&self) -> &Path {
        System::dir(self)
    }

    fn notices(&self) -> fn(&str) {
        System::notices(self)
    }

    fn keys(&self) -> &Arc<Keyset> {
        System::keys(self)
    }
}

impl Home for EngineSystem {
    fn databases(&self) -> AnyStore {
        AnyStore::Engine(self.store().clone())
    }

    fn seam(&self) -> &Seam {
        EngineSystem::seam(self)
    }

    fn config(&self) -> &SystemConfig {
        EngineSystem::config(self)
    }

    fn dir(&self) -> &Path {
        EngineSystem::dir(self)
    }

    fn notices(&self) -> fn(&str) {
        EngineSystem::notices(self)
    }

    fn keys(&self) -> &Arc<Keyset> {
        EngineSystem::keys(self)
    }
}

/// How a system is opened, whichever it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyOptions {
    /// What goes for both.
    pub options: OpenOptions,
    /// What layers above do for operators in a system on an engine.
    pub engine_verbs: &'static [EngineVerb],
}

/// An open system.
pub enum AnySystem {
    /// With a kernel.
    Kernel(System),
    /// On an engine.
    Engine(EngineSystem),
}

impl AnySystem {
    /// Opens the system in `dir`, whichever it is.
    ///
    /// # Errors
    /// As [`System::open`] and [`EngineSystem::open`].
    pub fn open(
        seam: &Seam,
        dir: &Path,
        passphrase: &Passphrase,
        how: AnyOptions,
    ) -> Result<AnySystem, SystemError> {
        let AnyOptions { options, engine_verbs } = how;
        match SystemConfig::read_any(seam.disk.as_ref(), dir)?.engine {
            None => System::open(seam, dir, passphrase, options).map(AnySystem::Kernel),
            Some(_) => {
                let system = EngineSystem::open(seam, dir, passphrase, options, engine_verbs);
                system.map(AnySystem::Engine)
            }
        }
    }

    /// The right to have the databases alone, for as long as the answer is kept. On a kernel
    /// whoever has opened the system has it.
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if somebody is at work in another system on the engine.
    pub fn alone(&self) -> Result<Option<InUse>, SystemError> {
        match self {
            AnySystem::Kernel(_) => Ok(None),
            AnySystem::Engine(system) => system.alone(Duration::ZERO).map(Some),
        }
    }

    /// The system with a kernel, for work that has no meaning without one.
    ///
    /// # Errors
    /// [`SystemError::OnEngine`].
    pub fn with_kernel(&self) -> Result<&System, SystemError> {
        match self {
            AnySystem::Kernel(system) => Ok(system),
            AnySystem::Engine(system) => {
                Err(SystemError::OnEngine { dir: system.dir().to_owned() })
            }
        }
    }

    /// The programs that it serves.
    #[must_use]
    pub fn guests(&self) -> &Arc<Guests> {
        match self {
            AnySystem::Kernel(system) => system.guests(),
            AnySystem::Engine(system) => system.guests(),
        }
    }

    /// What an operator should know, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        match self {
            AnySystem::Kernel(system) => system.notes(),
            AnySystem::Engine(system) => system.notes(),
        }
    }

    fn home(&self) -> &dyn Home {
        match self {
            AnySystem::Kernel(system) => system,
            AnySystem::Engine(system) => system,
        }
    }

    /// Sees to it that the next start finds the keys that this one has; says what it had to do.
    ///
    /// # Errors
    /// If the key file cannot be written, or not be read.
    pub fn keep_key_file(&self) -> Result<Option<String>, SystemError> {
        crate::key_file_care::keep(self.home().keys(), self.home().seam().disk.as_ref())
    }

    /// Stops in order.
    ///
    /// # Errors
    /// As [`System::close`].
    pub fn close(self) -> Result<(), SystemError> {
        match self {
            AnySystem::Kernel(system) => system.close(),
            AnySystem::Engine(system) => system.close(),
        }
    }
}

impl Home for AnySystem {
    fn databases(&self) -> AnyStore {
        self.home().databases()
    }

    fn seam(&self) -> &Seam {
        self.home().seam()
    }

    fn config(&self) -> &SystemConfig {
        self.home().config()
    }

    fn dir(&self) -> &Path {
        self.home().dir()
    }

    fn notices(&self) -> fn(&str) {
        self.home().notices()
    }

    fn keys(&self) -> &Arc<Keyset> {
        self.home().keys()
    }
}

impl AnySystem {
    /// Does what a request asks for.
    ///
    /// # Errors
    /// What the verb refuses; a verb that there is not.
    pub fn operate(
        &self,
        request: &Request,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Value, Refusal> {
        match self {
            AnySystem::Kernel(system) => system.operate(request, tell),
            AnySystem::Engine(system) => Served::answer(system, request, &mut Here(tell)),
        }
    }

    /// Works for somebody in this process, who hears how far it is.
    pub fn reporting<T>(
        &self,
        tell: &mut dyn FnMut(&Progress),
        work: impl FnOnce(&mut Talk<'_>) -> T,
    ) -> T {
        work(&mut Talk::new(&mut Here(tell), &self.seam().clock))
    }
}

/// Does what a request asks for, wherever that can be done: in the process that has the system
/// open, or, if there is none, here, by opening it. The passphrase is asked for then, or if the
/// verb needs it.
///
/// # Errors
/// What the verb refuses; as [`System::open`] and [`System::close`].
pub fn run<E: From<Refusal>>(
    seam: &Seam,
    dir: &Path,
    options: AnyOptions,
    request: &Request,
    mut passphrase: impl FnMut() -> Result<Passphrase, E>,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Value, E> {
    // A folder that is no system is told as that, not as a passphrase that is missing.
    SystemConfig::read_any(seam.disk.as_ref(), dir).map_err(Refusal::from)?;
    if let Some(answer) = call(seam, dir, request, &mut passphrase, tell)? {
        return Ok(answer);
    }
    let system = match AnySystem::open(seam, dir, &passphrase()?, options) {
        Ok(system) => system,
        // Somebody has opened it since.
        Err(error @ SystemError::InUse { .. }) => {
            let answer = call(seam, dir, request, &mut passphrase, tell)?;
            return Ok(answer.ok_or_else(|| Refusal::from(error))?);
        }
        Err(error) => return Err(Refusal::from(error).into()),
    };
    let answer = system.operate(request, tell);
    let closed = system.close();
    let answer = answer?;
    closed.map_err(Refusal::from)?;
    Ok(answer)
}
