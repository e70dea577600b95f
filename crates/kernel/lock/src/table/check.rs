//! The invariants of a shard, spelled out, for tests that call [`crate::LockManager::check`].

use super::{Head, NONE, Table};
use crate::Mode;

impl Table {
    /// Checks the invariants of every head; for tests.
    pub(crate) fn check(&self) {
        let mut heads = 0;
        let (mut held, mut waiting) = (0, 0);
        for start in &self.buckets {
            let mut at = *start;
            while at != NONE {
                heads += 1;
                let head = &self.heads[at as usize];
                assert!(head.held != 0 || head.first_waiter != NONE, "an empty head remains");
                held += self.check_holders(head);
                waiting += self.check_waiters(head);
                at = head.next;
            }
        }
        assert_eq!(heads, self.heads_used);
        assert_eq!((held, waiting), (self.counts.held, self.counts.waiting));
    }

    fn check_holders(&self, head: &Head) -> u64 {
        let mut modes = Vec::new();
        let mut at = head.first_holder;
        while at != NONE {
            modes.push(self.requests[at as usize].mode);
            at = self.requests[at as usize].next;
        }
        for mode in Mode::ALL {
            let count = modes.iter().filter(|held| **held == mode).count();
            assert_eq!(count, head.counts[mode as usize] as usize, "{} in {mode}", head.name);
            assert_eq!(count > 0, head.held & mode.bit() != 0, "{} in {mode}", head.name);
        }
        for (at, one) in modes.iter().enumerate() {
            for other in &modes[..at] {
                assert!(one.compatible(*other), "{} is held in {one} and {other}", head.name);
            }
        }
        modes.len() as u64
    }

    /// Every waiter must have somebody to wait for, or its wake was lost.
    fn check_waiters(&self, head: &Head) -> u64 {
        let mut count = 0;
        let mut at = head.first_waiter;
        let mut previous = NONE;
        while at != NONE {
            let node = &self.requests[at as usize];
            assert!(
                node.waiting && node.previous == previous,
                "the queue of {} is torn",
                head.name
            );
            let mut blocked = false;
            self.blockers(at, |_| {
                blocked = true;
                false
            });
            assert!(blocked, "a waiter for {} waits for nobody", head.name);
            count += 1;
            (previous, at) = (at, node.next);
        }
        assert_eq!(previous, head.last_waiter);
        count
    }
}
