//! Why a lock was not granted.

use std::time::Duration;

use base::{Code, Coded, UowId};
use seam::stop::Stopped;

use crate::{LockName, Mode};

/// Which budget was exceeded (K23); shown as the setting of `holdfast.toml` that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `locks_max`: the locks of all units of work together.
    Total,
    /// `locks_per_owner_max`: the locks of one unit of work.
    PerOwner,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limit::Total => "locks.locks_max",
            Limit::PerOwner => "locks.locks_per_unit_max",
        })
    }
}

/// Why a lock was not granted. Nothing else of what the unit of work holds has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The request closed a cycle of waits, or was in one that another closed, and lost.
    #[error("{victim} was chosen to break a deadlock over {object} (cycle: {})", arrows(cycle))]
    Deadlock {
        /// What the victim waited for.
        object: LockName,
        /// The unit of work that gets this error and must be backed out.
        victim: UowId,
        /// Who waited for whom, the last for the first.
        cycle: Vec<UowId>,
    },
    /// The wait took longer than the caller allowed.
    #[error("{waiter} waited {} ms for {mode} on {object}, held by {holder}", waited.as_millis())]
    Timeout {
        /// What it waited for.
        object: LockName,
        /// In which mode.
        mode: Mode,
        /// Who waited.
        waiter: UowId,
        /// One of those it waited for.
        holder: UowId,
        /// How long.
        waited: Duration,
    },
    /// The caller did not want to wait.
    #[error("{object} is not free for {mode}: {holder} stands before")]
    WouldBlock {
        /// What was asked for.
        object: LockName,
        /// In which mode.
        mode: Mode,
        /// One of those it would have waited for.
        holder: UowId,
    },
    /// A budget of locks is used up.
    #[error("{uow} cannot lock {object}: its request exceeds {limit} = {max}")]
    Budget {
        /// Which budget.
        limit: Limit,
        /// How many locks it allows.
        max: usize,
        /// What was asked for.
        object: LockName,
        /// Who asked.
        uow: UowId,
    },
    /// The lock that should be given back or weakened is not held.
    #[error("{uow} does not hold {object} in a mode that covers {mode}")]
    NotHeld {
        /// The lock.
        object: LockName,
        /// The mode that was to remain.
        mode: Mode,
        /// Who asked.
        uow: UowId,
    },
    /// The kernel stopped while the request waited.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

fn arrows(cycle: &[UowId]) -> String {
    let mut text = String::new();
    for uow in cycle.iter().chain(cycle.first()) {
        if !text.is_empty() {
            text.push_str(" -> ");
        }
        text.push_str(&uow.to_string());
    }
    text
}

impl Coded for LockError {
    fn code(&self) -> Code {
        match self {
            LockError::Deadlock { .. } => Code("HFK001"),
            LockError::Timeout { .. } => Code("HFK002"),
            LockError::WouldBlock { .. } => Code("HFK003"),
            LockError::Budget { limit: Limit::Total, .. } => Code("HFK004"),
            LockError::Budget { limit: Limit::PerOwner, .. } => Code("HFK005"),
            LockError::NotHeld { .. } => Code("HFK006"),
            LockError::Stopped(stopped) => stopped.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            LockError::Deadlock { .. } => "Back the unit of work out and run it again.".into(),
            LockError::Timeout { holder, .. } => {
                format!("Look at what {holder} is doing, then run the unit of work again.")
            }
            LockError::WouldBlock { .. } => "Ask again, or allow the request to wait.".into(),
            LockError::Budget { limit: Limit::Total, .. } => {
                "Raise locks.locks_max in holdfast.toml, or run fewer large units of work at a time."
                    .into()
            }
            LockError::Budget { limit: Limit::PerOwner, .. } => {
                "Commit more often, lock the whole data set, or raise locks.locks_per_unit_max in \
                 holdfast.toml."
                    .into()
            }
            LockError::NotHeld { .. } => "Lock it first.".into(),
            LockError::Stopped(stopped) => stopped.remedy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::DataSetId;

    #[test]
    fn messages_name_the_object_and_the_limit() {
        let object = LockName::set(DataSetId(4));
        let uow = UowId(9);
        let budget = LockError::Budget { limit: Limit::PerOwner, max: 10, object, uow };
        assert_eq!(
            budget.to_string(),
            "uow9 cannot lock ds4: its request exceeds locks.locks_per_unit_max = 10"
        );
        let deadlock = LockError::Deadlock { object, victim: uow, cycle: vec![uow, UowId(7)] };
        assert_eq!(
            deadlock.to_string(),
            "uow9 was chosen to break a deadlock over ds4 (cycle: uow9 -> uow7 -> uow9)"
        );
        assert_eq!(deadlock.code(), Code("HFK001"));
    }
}
