//! What can be locked: a data set, one of its keys, its end, or anything a caller names.
//!
//! Invariants:
//! 1. A name is 12 bytes however long the key is. Two keys with one hash share a lock, which may
//!    cost a wait and never lets two through that should wait.
//! 2. The hashes 0 and 1 of a data set are the set itself and its end; no key has them.
//! 3. Names made by [`LockName::user`] never meet those of a data set.

use std::fmt;

use base::DataSetId;

/// The name of something that can be locked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName {
    /// The data set, or a space of the caller's with [`USER_SPACE`] set.
    pub space: u32,
    /// Which object of that space.
    pub hash: u64,
}

/// Set in the space of every name that is not of a data set.
pub const USER_SPACE: u32 = 1 << 31;

const WHOLE: u64 = 0;
const END: u64 = 1;

impl LockName {
    /// The data set as a whole.
    #[inline]
    #[must_use]
    pub const fn set(set: DataSetId) -> LockName {
        LockName { space: set.0, hash: WHOLE }
    }

    /// One key of a data set.
    #[inline]
    #[must_use]
    pub fn key(set: DataSetId, key: &[u8]) -> LockName {
        let hash = base::hash::bytes(key);
        LockName { space: set.0, hash: if hash <= END { hash + 2 } else { hash } }
    }

    /// The sentinel behind the last key of a data set, for ranges that reach its end (K14).
    #[inline]
    #[must_use]
    pub const fn end(set: DataSetId) -> LockName {
        LockName { space: set.0, hash: END }
    }

    /// Something that only the caller knows, in a space of the caller's below [`USER_SPACE`].
    #[inline]
    #[must_use]
    pub const fn user(space: u32, hash: u64) -> LockName {
        LockName { space: space | USER_SPACE, hash }
    }

    /// Whether this is a key of `set` or its end: what a lock on the whole set speaks for.
    #[inline]
    #[must_use]
    pub const fn is_part_of(self, set: DataSetId) -> bool {
        self.space == set.0 && self.hash != WHOLE
    }

    /// A hash of the name: its high bits choose the shard, its low bits the bucket.
    #[inline]
    pub(crate) const fn mixed(self) -> u64 {
        let x = (self.hash ^ (self.space as u64).rotate_left(40)).wrapping_mul(MULTIPLIER);
        (x ^ (x >> 29)).wrapping_mul(MULTIPLIER)
    }
}

const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.space & USER_SPACE != 0 {
            return write!(f, "space {} object {:#x}", self.space & !USER_SPACE, self.hash);
        }
        let set = DataSetId(self.space);
        match self.hash {
            WHOLE => write!(f, "{set}"),
            END => write!(f, "the end of {set}"),
            hash => write!(f, "key {hash:#x} of {set}"),
        }
    }
}

impl fmt::Debug for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_things_differ() {
        let (one, two) = (DataSetId(1), DataSetId(2));
        let names = [
            LockName::set(one),
            LockName::end(one),
            LockName::key(one, b""),
            LockName::key(one, b"a"),
            LockName::key(two, b"a"),
            LockName::set(two),
            LockName::user(1, 0),
            LockName::user(1, 1),
        ];
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} twice");
        }
        assert!(!LockName::set(one).is_part_of(one));
        assert!(LockName::end(one).is_part_of(one) && !LockName::end(one).is_part_of(two));
    }

    #[test]
    fn neighbouring_numbers_spread_over_shards_and_buckets() {
        let mut shards = [0_u32; 16];
        let mut buckets = [0_u32; 16];
        for number in 0..16_000 {
            let mixed = LockName::user(7, number).mixed();
            shards[(mixed >> 60) as usize] += 1;
            buckets[(mixed & 15) as usize] += 1;
        }
        for count in shards.iter().chain(&buckets) {
            assert!((800..1_200).contains(count), "{shards:?} {buckets:?}");
        }
    }
}
