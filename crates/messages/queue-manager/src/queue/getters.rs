//! Who waits for messages of a queue, and whom an arrival wakes.
//!
//! 1. `arrivals` changes whenever a getter that found nothing may find something, or is to end.
//!    A getter notes it before it looks and sleeps only while it has not changed, so no wake is
//!    missed.
//! 2. A getter that looks for particular messages may have been woken for others: while there is
//!    one, everybody is woken.

/// Getters of a queue.
#[derive(Default)]
pub(crate) struct Getters {
    arrivals: u64,
    waiting: u32,
    /// Of those, how many look for particular messages.
    choosy: u32,
}

/// Getters that are to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    All,
    /// So many; none waits for more.
    Some(usize),
}

impl Getters {
    /// What has to change for a getter that found nothing to look again.
    pub(crate) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// All getters are to look again.
    pub(super) fn alarmed(&mut self) -> Wake {
        self.arrivals += 1;
        Wake::All
    }

    /// `count` messages may have come.
    pub(super) fn arrived(&mut self, count: usize) -> Wake {
        self.arrivals += 1;
        match self.waiting {
            0 => Wake::Some(0),
            waiting if self.choosy > 0 || count >= waiting as usize => Wake::All,
            _ => Wake::Some(count),
        }
    }

    pub(super) fn begin_wait(&mut self, choosy: bool) {
        self.waiting += 1;
        self.choosy += u32::from(choosy);
    }

    pub(super) fn end_wait(&mut self, choosy: bool) {
        self.waiting -= 1;
        self.choosy -= u32::from(choosy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_woken_as_messages_came_unless_one_looks_for_particular_ones() {
        let mut getters = Getters::default();
        assert_eq!(getters.arrived(3), Wake::Some(0));
        (0..3).for_each(|_| getters.begin_wait(false));
        assert_eq!(getters.arrived(2), Wake::Some(2));
        assert_eq!(getters.arrived(3), Wake::All);
        getters.end_wait(false);
        getters.begin_wait(true);
        assert_eq!(getters.arrived(1), Wake::All);
        getters.end_wait(true);
        assert_eq!(getters.arrived(1), Wake::Some(1));
        assert_eq!((getters.alarmed(), getters.arrivals()), (Wake::All, 6));
    }
}
