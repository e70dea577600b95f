//! Who may be at work on an engine beside whom.
//!
//! One name in the engine stands for all of its databases and definitions. A program holds it
//! together with the other programs, in whatever systems they run; a command that changes
//! definitions, or loads, empties or builds, and a program of type DLI or DBB, hold it alone, as on
//! a kernel they hold the folder of a stopped system. So definitions that a program has found do not
//! change while it runs, and what is changed once is seen by the next program of every system.
//!
//! A system that dies gives its names back by that: the engine sees that it no longer lives.

use std::time::Duration;

use store::{Grant, LockMode, LockName, Store as _, Unit as _, UnitOptions, Wait};
use store_postgres::EngineUnit;

use super::EngineSystem;
use crate::SystemError;

/// A space of names that no set has.
const SPACE: u32 = u32::MAX;
/// All databases and definitions.
pub(super) const NAME: LockName<'static> = LockName { space: SPACE, name: b"databases" };

/// The right to be at work, until it is dropped.
pub struct InUse {
    _unit: EngineUnit,
}

impl EngineSystem {
    /// The right of a program, beside others.
    ///
    /// # Errors
    /// [`SystemError::Sharing`] if somebody has the databases to himself.
    pub fn beside(&self) -> Result<InUse, SystemError> {
        self.claim(LockMode::IntentShared, Wait::No, "a command or a program has the databases to itself")
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
            Grant::Busy => {
                let systems = self.store().systems(NAME)?.into_iter();
                let systems = systems.map(|system| system.name).collect();
                Err(SystemError::Sharing { what: what.to_owned(), systems })
            }
            _ => Ok(InUse { _unit: unit }),
        }
    }
}
