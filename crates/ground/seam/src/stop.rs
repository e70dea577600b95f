//! The stop switch: how the kernel stops for good when it may no longer trust itself.
//!
//! A failed sync, damage that cannot be repaired, or a broken invariant sets the switch once; the
//! first reason stays. Every path that could acknowledge something asks [`StopSwitch::check`].

use std::sync::OnceLock;

use base::{Code, Coded};

/// Set once, read everywhere.
#[derive(Debug, Default)]
pub struct StopSwitch {
    reason: OnceLock<String>,
}

/// The kernel has stopped. What it says is the first reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// What happened first.
    pub reason: String,
}

impl StopSwitch {
    /// Stops the kernel; later reasons are ignored, for the first one is the cause.
    pub fn stop(&self, reason: impl Into<String>) -> Stopped {
        let reason = self.reason.get_or_init(|| reason.into()).clone();
        Stopped { reason }
    }

    /// # Errors
    /// [`Stopped`] with the first reason once the switch is set.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        match self.reason.get() {
            None => Ok(()),
            Some(reason) => Err(Stopped { reason: reason.clone() }),
        }
    }

    /// Whether the switch is set.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.reason.get().is_some()
    }
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the kernel has stopped: {}", self.reason)
    }
}

impl std::error::Error for Stopped {}

impl Coded for Stopped {
    fn code(&self) -> Code {
        Code("HFM001")
    }

    fn remedy(&self) -> String {
        "Repair the cause it names, then start the system again: restart recovers every unit of work \
         that was acknowledged."
            .into()
    }
}
