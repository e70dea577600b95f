//! Messages whose time is over: removed when a getter meets them, and by a scan.
//!
//! 1. A message that has expired is never returned.
//! 2. Its report, if it asks for one, is put in the unit of work that removes it.
//! 3. A damaged one is set aside: it keeps no other from going.

use std::sync::Arc;

use store::Store;

use super::report::Report;
use super::{Core, Work};
use crate::queue::{Place, Queue};
use crate::reason::{Failed, Reason};

/// Messages that one unit of work of a scan removes.
const BATCH: usize = 100;

impl<S: Store> Core<S> {
    /// Removes messages that have expired. Answers how many it removed.
    pub(crate) fn expire(&self, queue: &Arc<Queue>, places: &[Place]) -> u64 {
        let mut work = Work::new(self);
        let mut removed = 0;
        for at in places {
            let done = self.move_in(&mut work, queue, *at, |core, work, message| {
                core.report(work, &message, Report::Expiration);
                Ok(())
            });
            removed += u64::from(done.is_ok());
            if let Err(Failed(Reason::OBJECT_DAMAGED)) = done {
                queue.state.lock().damaged.insert(*at);
            }
        }
        if work.commit(self).is_err() {
            // Each by itself, so that one of them does not keep the others.
            let alone = places.iter().filter(|_| places.len() > 1);
            return alone.map(|at| self.expire(queue, &[*at])).sum();
        }
        queue.state.lock().statistics.expired += removed;
        removed
    }

    /// Removes every message that has expired. Answers how many.
    pub(crate) fn expire_all(&self) -> u64 {
        let queues: Vec<_> = self.definitions.registry().queues().cloned().collect();
        let mut removed = 0;
        for queue in queues {
            loop {
                let now = self.now_tenths();
                let (places, aside) = {
                    let state = queue.state.lock();
                    (state.index.expired(now, BATCH, &state.damaged), state.damaged.len())
                };
                let count = self.expire(&queue, &places);
                removed += count;
                // What cannot be removed now is met again by the next scan.
                let goes_on = count > 0 || queue.state.lock().damaged.len() > aside;
                if places.len() < BATCH || !goes_on {
                    break;
                }
            }
        }
        removed
    }
}
