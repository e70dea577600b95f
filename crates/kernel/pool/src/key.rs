//! What a pool finds its frames by.

/// An interval of a data set as one word; 0 stands for none (data sets are numbered from 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    pub(crate) const NONE: Key = Key(0);

    pub(crate) fn new(set: base::DataSetId, ci: base::CiNumber) -> Key {
        Key(u64::from(set.0) << 32 | u64::from(ci.0))
    }

    pub(crate) fn set(self) -> base::DataSetId {
        base::DataSetId((self.0 >> 32) as u32)
    }

    pub(crate) fn ci(self) -> base::CiNumber {
        base::CiNumber(self.0 as u32)
    }
}
