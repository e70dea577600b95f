//! The marks of a segment that was deleted on some of its paths.

use crate::layout::{LOGICALLY, PHYSICALLY, PLAIN};

/// On which of its paths a segment was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// On its physical path.
    pub physically: bool,
    /// A logical child: on its logical path.
    pub logically: bool,
}

impl Deleted {
    /// The flags of a segment's record; none if they are another record's.
    pub(crate) fn of(flags: u8) -> Option<Deleted> {
        let (physically, logically) = (flags & PHYSICALLY != 0, flags & LOGICALLY != 0);
        (flags & !(PHYSICALLY | LOGICALLY) == PLAIN).then_some(Deleted { physically, logically })
    }

    pub(crate) fn flags(self) -> u8 {
        let physically = if self.physically { PHYSICALLY } else { 0 };
        let logically = if self.logically { LOGICALLY } else { 0 };
        PLAIN | physically | logically
    }
}
