//! Who may be at work on an engine beside whom.
//!
//! One name in the engine stands for all of its databases and definitions. A program holds it
//! together with the other programs, in whatever systems they run; a command that changes
//! definitions, or loads, empties or builds, and a program of type DLI or DBB, hold it alone, as on
//! a kernel they hold the folder of a stopped system. So definitions that a program has found do
//! not change while it runs, and what is changed once is seen by the next program of every system.
//!
//! Who is alone and loses the connection to the engine begins nothing more: all that a system does
//! then rests on the right, not on a connection that was made after it was lost.
//!
//! A system that dies gives its names back by that: the engine sees that it no longer lives.

use std::time::Duration;

use store::{Grant, LockMode, LockName, Store as _, Unit as _, UnitOptions, Wait};
use store_postgres::{Carried, EngineStore, EngineUnit};

use super::EngineSystem;
use crate::SystemError;

/// A space of names that no set has.
const SPACE: u32 = u32::MAX;
/// All databases and definitions.
pub(super) const NAME: LockName<'static> = LockName { space: SPACE, name: b"databases" };

/// The right to be at work, until it is dropped.
pub struct InUse {
    /// Who is alone: nothing else of this system goes on without the right.
    _carries: Option<Carried>,
    unit: EngineUnit,
    store: EngineStore,
}

impl InUse {
    /// Whether it is still there: a system that the engine has lost sight of has lost it.
    #[must_use]
    pub fn lasts(&self) -> bool {
        self.unit.lasts()
    }

    /// The right to a database in a way: `read`, `update` or `exclusive`. Who has it exclusively
    /// has nobody beside him who updates it, whoever reads it is beside everybody (DLI-12.41).
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if somebody in another system, or in this one, has it in a way that
    /// does not go with that.
    pub fn claim(&mut self, database: &str, access: &str) -> Result<(), SystemError> {
        let mode = match access {
            "read" => LockMode::IntentShared,
            "update" => LockMode::IntentExclusive,
            _ => LockMode::SharedIntentExclusive,
        };
        let name = [b"database ", database.as_bytes()].concat();
        let name = LockName { space: SPACE, name: &name };
        match self.unit.lock(name, mode, Wait::No)? {
            Grant::Busy => {
                let what = format!("a program has {database} in a way that keeps others away");
                Err(sharing(&self.store, name, what))
            }
            _ => Ok(()),
        }
    }

    /// Keeps programs that change a database away from it; those that read it go on. Programs that
    /// change it now are waited for so long.
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if they do not end.
    pub fn freeze(&mut self, database: &str, wait: Duration) -> Result<(), SystemError> {
        let name = [b"database ", database.as_bytes()].concat();
        let name = LockName { space: SPACE, name: &name };
        match self.unit.lock(name, LockMode::Shared, Wait::AtMost(wait))? {
            Grant::Busy => {
                let what = format!("programs that change {database} are at work");
                Err(sharing(&self.store, name, what))
            }
            _ => Ok(()),
        }
    }
}

/// Who is at work under a name.
fn sharing(store: &EngineStore, name: LockName<'_>, what: String) -> SystemError {
    match store.systems(name) {
        Ok(systems) => {
            let holders = systems.into_iter().filter(|system| system.holding > 0);
            SystemError::Sharing { what, systems: holders.map(|system| system.name).collect() }
        }
        Err(error) => error.into(),
    }
}

impl EngineSystem {
    /// The right of a program, beside others.
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if somebody has the databases to himself.
    pub fn beside(&self) -> Result<InUse, SystemError> {
        self.claim(
            LockMode::IntentShared,
            Wait::No,
            "a command or a program has the databases to itself",
        )
    }

    /// The right to the databases alone. Programs that are at work are waited for so long.
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if somebody is at work for longer.
    pub fn alone(&self, wait: Duration) -> Result<InUse, SystemError> {
        let wait = if wait.is_zero() { Wait::No } else { Wait::AtMost(wait) };
        self.claim(LockMode::Exclusive, wait, "programs or commands are at work on the databases")
    }

    fn claim(&self, mode: LockMode, wait: Wait, what: &str) -> Result<InUse, SystemError> {
        let mut unit = self.store().begin(UnitOptions::default())?;
        match unit.lock(NAME, mode, wait)? {
            Grant::Busy => Err(sharing(self.store(), NAME, what.to_owned())),
            _ => {
                let alone = mode == LockMode::Exclusive;
                let carries = alone.then(|| unit.carry_all()).transpose()?;
                Ok(InUse { _carries: carries, unit, store: self.store().clone() })
            }
        }
    }
}
