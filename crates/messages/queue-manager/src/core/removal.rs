//! Queues that are emptied, moved or removed.
//!
//! 1. A queue with messages of units of work that are not ended is not removed.
//! 2. A queue that is being removed takes no messages, and no handle opens it: what was answered is
//!    never removed with it.
//! 3. Removing takes several units of work in the store: after a crash in between, the queue is
//!    there with what is left.

use std::sync::Arc;

use store::Store;

use super::{Core, Work};
use crate::error::AdminError;
use crate::objects::Kind;
use crate::queue::{Origin, Place, Queue};
use crate::reason::{Failed, Reason};

/// Messages that one unit of work removes.
const BATCH: usize = 500;

impl<S: Store> Core<S> {
    /// Removes the ready messages of a queue. Answers how many.
    pub(crate) fn clear(&self, queue: &Arc<Queue>) -> Result<u64, AdminError> {
        self.drain(queue, |_, _, _| Ok(()))
    }

    /// Moves the ready messages of a queue behind those of another one. Answers how many.
    pub(crate) fn move_all(&self, from: &Arc<Queue>, to: &Arc<Queue>) -> Result<u64, AdminError> {
        self.drain(from, |core, work, message| work.stage(core, to, message).map(drop))
    }

    fn drain(
        &self,
        queue: &Arc<Queue>,
        each: impl Fn(&Core<S>, &mut Work<S>, crate::message::Message) -> Result<(), Failed>,
    ) -> Result<u64, AdminError> {
        let called = |failed: Failed| AdminError::Call {
            kind: Kind::QueueLocal,
            name: queue.name.text(),
            reason: failed.0,
        };
        let places: Vec<Place> = queue.state.lock().index.places();
        let mut count = 0;
        for batch in places.chunks(BATCH) {
            let mut work = Work::new(self);
            for at in batch {
                let moved = self.move_in(&mut work, queue, *at, &each);
                match moved {
                    Ok(()) => count += 1,
                    Err(Failed(Reason::NO_MSG_AVAILABLE)) => {}
                    Err(Failed(Reason::OBJECT_DAMAGED)) => {
                        queue.state.lock().damaged.insert(*at);
                    }
                    Err(failed) => {
                        work.back(self);
                        return Err(called(failed));
                    }
                }
            }
            work.commit(self).map_err(called)?;
        }
        Ok(count)
    }

    /// Removes a queue with its ready messages and its definition, whatever handles it has.
    pub(crate) fn remove_queue(&self, queue: &Arc<Queue>) -> Result<(), AdminError> {
        self.remove(queue, None)
    }

    /// Removes a queue that has no handles but those that count as `own`; one with messages only
    /// with `purge`.
    pub(crate) fn delete_queue(
        &self,
        queue: &Arc<Queue>,
        own: u32,
        purge: bool,
    ) -> Result<(), AdminError> {
        self.remove(queue, Some((own, purge)))
    }

    fn remove(&self, queue: &Arc<Queue>, unless: Option<(u32, bool)>) -> Result<(), AdminError> {
        let (kind, name) = (Kind::QueueLocal, queue.name.text());
        {
            let mut state = queue.state.lock();
            let temporary = state.settings.origin == Origin::TemporaryDynamic;
            if state.deleted {
                return Err(AdminError::NotFound { kind, name });
            }
            let (handles, messages) = (u64::from(state.openings.handles()), state.index.depth());
            let (own, purge) = unless.unwrap_or((u32::MAX, true));
            if handles > u64::from(own) {
                return Err(AdminError::InUse { kind, name, handles });
            }
            if state.index.uncommitted() > 0 && !temporary {
                return Err(AdminError::Uncommitted { name });
            }
            if messages > 0 && !purge {
                return Err(AdminError::NotEmpty { kind, name, messages });
            }
            // From here on no program opens it or puts anything there that would go with it.
            state.deleted = true;
        }
        queue.alarm();
        let removed = self.take_away(queue);
        if removed.is_err() {
            queue.state.lock().deleted = false;
        }
        removed
    }

    /// Removes what is there of a queue that is deleted already.
    fn take_away(&self, queue: &Arc<Queue>) -> Result<(), AdminError> {
        let Some(object) = self.object(Kind::QueueLocal, &queue.name.text()) else {
            return Ok(());
        };
        if !Core::<S>::is_temporary(queue) {
            self.clear(queue)?;
        }
        let _one_at_a_time = self.definitions.change();
        self.discard(&object)
    }
}
