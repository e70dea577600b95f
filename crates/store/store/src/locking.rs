//! Locks: how a read locks what it returns, and locks on names that the caller chooses.

use std::fmt;
use std::time::Duration;

/// How a read locks what it returns, in a set that the store locks
/// ([`Locking::Keys`](crate::Locking)). Whatever is locked stays so to the end of the unit of work.
///
/// A read that finds nothing locks the absence: a key that was not there, or a stretch between two
/// keys that a cursor passed over, cannot be filled by another unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Not at all. May return what another unit of work has written and may yet back out, unless
    /// the store's capabilities say otherwise; never a mixture of two values.
    Unlocked,
    /// Against change. Others may read.
    Shared,
    /// Against change, with the intention to change: others may read, but not with this intention.
    /// Two units of work that read, then write, the same key queue up instead of deadlocking.
    Update,
    /// Against any other access.
    Exclusive,
}

/// The modes of a lock on a name, from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    /// Intention to lock parts shared.
    IntentShared,
    /// Intention to lock parts exclusively.
    IntentExclusive,
    /// Shared.
    Shared,
    /// Shared, with the intention to lock parts exclusively.
    SharedIntentExclusive,
    /// Shared, with the intention to become exclusive; only one at a time.
    Update,
    /// Exclusive.
    Exclusive,
}

use LockMode::{
    Exclusive as X, IntentExclusive as IX, IntentShared as IS, Shared as S,
    SharedIntentExclusive as SIX, Update as U,
};

impl LockMode {
    /// Every mode.
    pub const ALL: [LockMode; 6] = [IS, IX, S, SIX, U, X];

    /// Whether two units of work may hold a name in these modes at the same time.
    ///
    /// |     | IS | IX | S | SIX | U | X |
    /// |-----|----|----|---|-----|---|---|
    /// | IS  | y  | y  | y | y   | y |   |
    /// | IX  | y  | y  |   |     |   |   |
    /// | S   | y  |    | y |     | y |   |
    /// | SIX | y  |    |   |     |   |   |
    /// | U   | y  |    | y |     |   |   |
    /// | X   |    |    |   |     |   |   |
    #[must_use]
    pub fn is_compatible_with(self, other: LockMode) -> bool {
        match (self, other) {
            (X, _) | (_, X) => false,
            (IS, _) | (_, IS) => true,
            (IX, IX) | (S, S | U) | (U, S) => true,
            _ => false,
        }
    }

    /// The weakest mode that allows all that either of the two allows.
    #[must_use]
    pub fn join(self, other: LockMode) -> LockMode {
        match (self.min(other), self.max(other)) {
            (low, high) if low == high => low,
            (IS, high) => high,
            (IX, S | SIX) | (S, SIX) => SIX,
            (S, U) => U,
            // Update together with an intention to write parts has no mode of its own.
            _ => X,
        }
    }

    /// Whether holding this mode allows all that `other` allows.
    #[must_use]
    pub fn covers(self, other: LockMode) -> bool {
        self.join(other) == self
    }
}

impl fmt::Display for LockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IS => "IS",
            IX => "IX",
            S => "S",
            SIX => "SIX",
            U => "U",
            X => "X",
        })
    }
}

/// A name to be locked: bytes within a numbered space, so that the users of a store can choose
/// names without knowing each other. Names never collide with the locks on keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName<'a> {
    /// The space.
    pub space: u32,
    /// The name within it.
    pub name: &'a [u8],
}

impl fmt::Display for LockName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "name {}:{}", self.space, self.name.escape_ascii())
    }
}

/// How long to wait for a lock. A deadlock ends a wait at once in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// For at most so long.
    AtMost(Duration),
    /// As long as it takes.
    #[default]
    Forever,
}

/// What a caller's own locks cover: [`Unit::cover`](crate::Unit::cover).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A unit of work that changes an entry has something locked exclusively that it belongs to, as
    /// the record that an index entry leads to: no other can be at work on that entry. Others
    /// who read with locks are kept out by [`Cover::Look`] alone.
    Changes,
    /// Nothing: what is read there is to be committed, and stays so. It waits for those who have
    /// covered changes.
    Look,
    /// Everything, if no other unit of work has anything of the set locked now; otherwise it is as
    /// if this had not been said.
    Whole,
}

/// The answer to a request for a lock on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Grant {
    /// The unit of work holds the name now and did not before.
    New,
    /// The unit of work held the name already; it now holds the join of both modes.
    Again,
    /// It was not to be had within the time allowed; nothing has changed.
    Busy,
}

impl Grant {
    /// Whether the lock is held now.
    pub fn is_held(self) -> bool {
        self != Grant::Busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatibility_is_symmetric_and_shrinks_with_strength() {
        for a in LockMode::ALL {
            for b in LockMode::ALL {
                assert_eq!(a.is_compatible_with(b), b.is_compatible_with(a), "{a} {b}");
                let both = a.join(b);
                assert!(both.covers(a) && both.covers(b), "{a} {b}");
                for c in LockMode::ALL {
                    let allowed = both.is_compatible_with(c);
                    assert!(!allowed || a.is_compatible_with(c), "{a} {b} {c}");
                }
            }
        }
    }

    #[test]
    fn a_join_is_the_weakest_mode_that_covers_both() {
        assert_eq!(IX.join(S), SIX);
        assert_eq!(S.join(U), U);
        assert_eq!(IS.join(U), U);
        assert_eq!(IX.join(U), X);
        for mode in LockMode::ALL {
            assert_eq!(mode.join(mode), mode);
            assert!(X.covers(mode));
        }
    }
}
