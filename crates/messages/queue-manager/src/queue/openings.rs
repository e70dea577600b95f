//! Who has a queue open: handles that get, handles that put, and all others.
//!
//! 1. A handle that gets alone is the only one that gets.
//! 2. Who enters leaves with the same words, once.

use crate::reason::{Answer, Reason, require};

/// Handles of a queue.
#[derive(Default)]
pub(crate) struct Openings {
    inputs: u32,
    outputs: u32,
    /// Handles of other kinds: browsing, inquiring, setting.
    others: u32,
    exclusive: bool,
}

impl Openings {
    /// Handles that get.
    pub(crate) fn inputs(&self) -> u32 {
        self.inputs
    }

    /// Handles that put.
    pub(crate) fn outputs(&self) -> u32 {
        self.outputs
    }

    /// Handles of every kind.
    pub(crate) fn handles(&self) -> u32 {
        self.inputs + self.outputs + self.others
    }

    /// Admits a handle.
    pub(super) fn enter(&mut self, input: bool, output: bool, exclusive: bool) -> Answer<()> {
        if input {
            let taken = self.exclusive || (exclusive && self.inputs > 0);
            require(!taken, Reason::OBJECT_IN_USE)?;
            self.inputs += 1;
            self.exclusive = exclusive;
        }
        self.outputs += u32::from(output);
        self.others += u32::from(!input && !output);
        Ok(())
    }

    /// Lets a handle go.
    pub(super) fn leave(&mut self, input: bool, output: bool) {
        if input {
            self.inputs -= 1;
            self.exclusive = false;
        }
        self.outputs -= u32::from(output);
        self.others -= u32::from(!input && !output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_gets_alone_keeps_others_out_until_it_leaves() {
        let mut openings = Openings::default();
        assert!(openings.enter(true, true, true).is_ok());
        assert!(openings.enter(true, false, false).is_err());
        assert!(openings.enter(false, true, false).is_ok());
        assert_eq!((openings.inputs(), openings.outputs(), openings.handles()), (1, 2, 3));
        openings.leave(true, true);
        assert!(openings.enter(true, false, false).is_ok());
        assert!(openings.enter(true, false, true).is_err());
        assert!(openings.enter(false, false, false).is_ok());
        assert_eq!((openings.inputs(), openings.outputs(), openings.handles()), (1, 1, 3));
    }
}
