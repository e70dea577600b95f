//! Sets: named, ordered collections of entries, each a key and a value of bytes.

use std::fmt;

/// A set of a store. Never used again after the set has been dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(pub u32);

impl fmt::Display for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "set{}", self.0)
    }
}

impl fmt::Debug for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Who keeps units of work apart in a set. It belongs to the set, not to the unit of work, because
/// everybody who touches a set must follow one discipline, and because one unit of work changes
/// sets of both kinds: a database under record locks and a message queue under key locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// The store: it locks the keys and ranges that are read (as the call's [`Read`](crate::Read)
    /// says) and written, to the end of the unit of work. Units of work that read with
    /// [`Read::Shared`](crate::Read) or more are serializable.
    #[default]
    Keys,
    /// The caller, through [`Unit::lock`](crate::Unit::lock): before it reads or writes an entry
    /// it holds a name that stands for it, and one that stands for a written entry it holds to
    /// the end of the unit of work. The store only keeps single calls apart; the call's
    /// [`Read`](crate::Read) is ignored.
    Caller,
}

/// How a set is to be kept. What an implementation has no use for it keeps and ignores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAttributes {
    /// Who keeps units of work apart.
    pub locking: Locking,
    /// Bytes of a control interval; `None` lets the implementation choose.
    pub interval_bytes: Option<u32>,
    /// The buffer pool, by name; `None` is the one for intervals of that size.
    pub pool: Option<String>,
    /// The label of the key that seals the set; `None` is the system's default.
    pub key_label: Option<String>,
    /// Keep the set in the clear, or seal it; `None` is the system's default.
    pub plain: Option<bool>,
    /// Percent of each interval that a bulk load leaves free.
    pub free_percent: u8,
    /// Keys that share a prefix of so many bytes are used together, as the segments of a database
    /// record are; 0: nothing of that kind is known.
    pub prefix_bytes: u16,
}

/// A set as its store describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInfo {
    /// Its identity.
    pub id: SetId,
    /// Its name.
    pub name: String,
    /// As it was created.
    pub attributes: SetAttributes,
}
