//! Newtypes for the things that the kernel counts, so that no bare integer crosses a border.
//!
//! All of them are little-endian on disk (rule K21) and print as operators write them.

use std::fmt;

macro_rules! counted {
    ($(#[$doc:meta])* $name:ident($int:ty), $show:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $show, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

counted! {
    /// A log position: how many unpadded bytes stand before it in the system's one log (K10).
    /// Zero means "none": the first record of a system starts behind it.
    Lsn(u64), "{:#x}"
}
counted! {
    /// A data set of a system. Never used again after the data set is gone.
    DataSetId(u32), "ds{}"
}
counted! {
    /// A control interval within a data set: the unit of sealing, of input and output, of a latch.
    CiNumber(u32), "ci{}"
}
counted! {
    /// A unit of work of a system. Zero means "none" (structure changes, checkpoints).
    UowId(u64), "uow{}"
}
counted! {
    /// The number of a log group; groups are numbered without gaps for the life of a system.
    GroupNumber(u64), "group{}"
}
counted! {
    /// The generation of a data key within its label (K3); the first one is 1.
    KeyGeneration(u32), "gen{}"
}

impl Lsn {
    /// No position.
    pub const NONE: Lsn = Lsn(0);
    /// Where the first record of a new system stands.
    pub const FIRST: Lsn = Lsn(64);

    /// The position `bytes` further on.
    #[must_use]
    pub fn plus(self, bytes: u64) -> Lsn {
        Lsn(self.0 + bytes)
    }
}

impl UowId {
    /// No unit of work.
    pub const NONE: UowId = UowId(0);
}

/// The identity of a system: 16 random bytes, drawn when it is made, in every header on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SystemId(pub [u8; 16]);

impl fmt::Display for SystemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::hex::lower(&self.0))
    }
}

impl fmt::Debug for SystemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
