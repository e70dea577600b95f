//! Lock modes: which may be held together, and what holding two of them amounts to.
//!
//! The five modes of granular locking, their matrix and their lattice are those of Gray and
//! Reuter, "Transaction Processing: Concepts and Techniques" (1993), chapter 7. Update is for those
//! who read and then change: two readers who both mean to write deadlock, two who ask for Update
//! queue up.
//!
//! Invariants:
//! 1. Compatibility is symmetric: the order in which two owners ask decides nothing else.
//! 2. [`Mode::covers`] is a partial order and [`Mode::join`] its least upper bound.
//! 3. A mode that covers another is compatible with no more than that other one: replacing a lock
//!    by what covers it never loosens exclusion.

use std::fmt;

/// What the holder of a lock may do, and what it keeps others from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Means to read parts of the object (IS).
    IntentShared = 0,
    /// Means to change parts of the object (IX).
    IntentExclusive = 1,
    /// Reads the object and all its parts (S).
    Shared = 2,
    /// Reads all of the object and means to change parts of it (SIX).
    SharedIntentExclusive = 3,
    /// Reads the object and means to change it (U).
    Update = 4,
    /// Changes the object (X).
    Exclusive = 5,
}

use Mode::{
    Exclusive, IntentExclusive, IntentShared, Shared, SharedIntentExclusive as SharedIntent, Update,
};

/// A set of modes, one bit each.
pub(crate) type ModeSet = u8;

const fn set(modes: &[Mode]) -> ModeSet {
    let mut set = 0;
    let mut at = 0;
    while at < modes.len() {
        set |= 1 << modes[at] as u8;
        at += 1;
    }
    set
}

/// By mode: what others may hold while it is granted. Symmetric, so the order in which two owners
/// ask never decides whether both are served. The book lets Update in beside Shared and not the
/// other way round, lest its holder starve when it wants to change; here it does not, because a
/// conversion stands before every new request.
const BESIDE: [ModeSet; 6] = [
    set(&[IntentShared, IntentExclusive, Shared, SharedIntent, Update]),
    set(&[IntentShared, IntentExclusive]),
    set(&[IntentShared, Shared, Update]),
    set(&[IntentShared]),
    set(&[IntentShared, Shared]),
    set(&[]),
];

/// By mode: what it covers, itself included.
const COVERED: [ModeSet; 6] = [
    set(&[IntentShared]),
    set(&[IntentShared, IntentExclusive]),
    set(&[IntentShared, Shared]),
    set(&[IntentShared, IntentExclusive, Shared, SharedIntent]),
    set(&[IntentShared, Shared, Update]),
    set(&[IntentShared, IntentExclusive, Shared, SharedIntent, Update, Exclusive]),
];

impl Mode {
    /// All modes, in the order of their codes.
    pub const ALL: [Mode; 6] =
        [IntentShared, IntentExclusive, Shared, SharedIntent, Update, Exclusive];

    /// Whether a request for this mode can be granted while somebody else holds `held`.
    #[inline]
    #[must_use]
    pub const fn compatible(self, held: Mode) -> bool {
        BESIDE[self as usize] & held.bit() != 0
    }

    /// Whether holding this mode gives all that `other` gives.
    #[inline]
    #[must_use]
    pub const fn covers(self, other: Mode) -> bool {
        COVERED[self as usize] & other.bit() != 0
    }

    /// The weakest mode that covers both: what a holder of one who asks for the other gets.
    #[inline]
    #[must_use]
    pub fn join(self, other: Mode) -> Mode {
        if self.covers(other) {
            self
        } else if other.covers(self) {
            other
        } else if SharedIntent.covers(self) && SharedIntent.covers(other) {
            SharedIntent
        } else {
            Exclusive
        }
    }

    /// What a lock of this mode on a whole data set gives on each of its keys, if anything.
    #[must_use]
    pub const fn on_parts(self) -> Option<Mode> {
        match self {
            IntentShared | IntentExclusive => None,
            Shared | SharedIntent => Some(Shared),
            Update => Some(Update),
            Exclusive => Some(Exclusive),
        }
    }

    /// The intent that a lock of this mode on a key wants on its data set.
    #[must_use]
    pub const fn intent(self) -> Mode {
        match self {
            IntentShared | Shared => IntentShared,
            IntentExclusive | SharedIntent | Update | Exclusive => IntentExclusive,
        }
    }

    #[inline]
    pub(crate) const fn bit(self) -> ModeSet {
        1 << self as u8
    }

    /// Whether this is compatible with all of these modes.
    #[inline]
    pub(crate) const fn fits(self, others: ModeSet) -> bool {
        others & !BESIDE[self as usize] == 0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["IS", "IX", "S", "SIX", "U", "X"][*self as usize])
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compatibility_matrix_is_that_of_the_book_with_update_beside_readers() {
        // Columns as rows: IS IX S SIX U X.
        let table = ["+++++-", "++----", "+-+-+-", "+-----", "+-+---", "------"];
        for (requested, row) in Mode::ALL.iter().zip(table) {
            for (held, sign) in Mode::ALL.iter().zip(row.chars()) {
                assert_eq!(requested.compatible(*held), sign == '+', "{requested} beside {held}");
                assert_eq!(requested.compatible(*held), held.compatible(*requested));
                assert_eq!(requested.compatible(*held), requested.fits(held.bit()));
            }
        }
    }

    #[test]
    fn the_supremum_table_is_that_of_the_lattice() {
        let table = [
            "IS IX S SIX U X",
            "IX IX SIX SIX X X",
            "S SIX S SIX U X",
            "SIX SIX SIX SIX X X",
            "U X U X U X",
            "X X X X X X",
        ];
        for (left, row) in Mode::ALL.iter().zip(table) {
            for (right, join) in Mode::ALL.iter().zip(row.split(' ')) {
                assert_eq!(left.join(*right).to_string(), join, "{left} and {right}");
            }
        }
    }

    #[test]
    fn covering_is_a_partial_order_and_join_its_least_upper_bound() {
        for a in Mode::ALL {
            assert!(a.covers(a));
            for b in Mode::ALL {
                assert!(a == b || !(a.covers(b) && b.covers(a)), "{a} and {b}");
                assert!(a.join(b).covers(a) && a.join(b).covers(b), "{a} and {b}");
                assert_eq!(a.join(b), b.join(a));
                for c in Mode::ALL {
                    assert!(!(a.covers(b) && b.covers(c)) || a.covers(c), "{a} {b} {c}");
                    if c.covers(a) && c.covers(b) {
                        assert!(c.covers(a.join(b)), "{c} is above {a} and {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_stronger_mode_never_loosens_exclusion() {
        for strong in Mode::ALL {
            for weak in Mode::ALL.into_iter().filter(|weak| strong.covers(*weak)) {
                for other in Mode::ALL {
                    assert!(!strong.compatible(other) || weak.compatible(other));
                }
            }
        }
    }

    #[test]
    fn a_lock_on_the_set_speaks_for_its_keys() {
        assert_eq!(Exclusive.on_parts(), Some(Exclusive));
        assert_eq!(SharedIntent.on_parts(), Some(Shared));
        assert_eq!(IntentExclusive.on_parts(), None);
        assert_eq!(Update.intent(), IntentExclusive);
    }
}
