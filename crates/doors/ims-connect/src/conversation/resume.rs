//! Resume tpipe: which outputs a client gets.

use crate::wire::f5;

/// How many outputs a resume gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// The first there is.
    Single,
    /// One, which is waited for.
    SingleWait,
    /// All there are.
    NoAuto,
    /// All there are, and all to come.
    Auto,
    /// Synchronous callouts, of which there are none.
    Callouts,
}

impl Resume {
    /// What the flags of a header say.
    #[must_use]
    pub fn of(flags: u8) -> Resume {
        match flags {
            flags if flags & f5::AUTO != 0 => Resume::Auto,
            flags if flags & f5::SINGLE_WAIT != 0 => Resume::SingleWait,
            flags if flags & f5::SINGLE != 0 => Resume::Single,
            _ => Resume::NoAuto,
        }
    }

    /// Whether an output is given that arrives while the client waits.
    #[must_use]
    pub fn takes_arrivals(self) -> bool {
        matches!(self, Resume::SingleWait | Resume::Auto)
    }

    /// Whether there is another output behind one that was acknowledged.
    #[must_use]
    pub fn goes_on(self) -> bool {
        matches!(self, Resume::NoAuto | Resume::Auto)
    }
}
