//! The queues of dirty frames, oldest first: the page writer's work list and the source of the
//! redo point.

use std::collections::VecDeque;

use base::Lsn;
use seam::sync::Mutex;

use crate::frame_id::FrameId;

/// A frame that became dirty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dirty {
    pub(crate) pool: u32,
    pub(crate) frame: FrameId,
    pub(crate) rec_lsn: Lsn,
}

/// Dirty frames, a queue a pool, in the order in which they became so; apart from them those that
/// were carried to another frame, which are written first.
///
/// Invariants:
/// 1. Every dirty frame stands in its pool's queues or in the batch in flight. An entry whose frame
///    is clean again, or holds something else, is stale and passed over.
/// 2. [`DirtyQueue::oldest`] is at or before the `rec_lsn` of every dirty frame.
#[derive(Default)]
pub struct DirtyQueue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queues: Vec<Queue>,
    /// What was taken for the batch in flight.
    in_flight: Vec<Lsn>,
}

/// The dirty frames of one pool.
#[derive(Default)]
struct Queue {
    in_order: VecDeque<Dirty>,
    /// Carried to another frame, in whatever order.
    carried: VecDeque<Dirty>,
    /// At or before the oldest of those.
    carried_from: Option<Lsn>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.carried.is_empty()
    }

    fn len(&self) -> usize {
        self.in_order.len() + self.carried.len()
    }

    fn head(&self) -> Option<Lsn> {
        let first = self.in_order.front().map(|dirty| dirty.rec_lsn);
        first.into_iter().chain(self.carried_from).min()
    }

    fn take(&mut self) -> Option<Dirty> {
        let carried = self.carried.pop_front();
        if self.carried.is_empty() {
            self.carried_from = None;
        }
        carried.or_else(|| self.in_order.pop_front())
    }

    fn all(&self) -> impl Iterator<Item = &Dirty> {
        self.in_order.iter().chain(&self.carried)
    }
}

impl DirtyQueue {
    /// No dirty frames.
    #[must_use]
    pub fn new() -> DirtyQueue {
        DirtyQueue::default()
    }

    pub(crate) fn push(&self, pool: u32, frame: FrameId, rec_lsn: Lsn) {
        self.state.lock().queue(pool).in_order.push_back(Dirty { pool, frame, rec_lsn });
    }

    /// A dirty frame is another one now.
    pub(crate) fn push_carried(&self, pool: u32, frame: FrameId, rec_lsn: Lsn) {
        let mut state = self.state.lock();
        let queue = state.queue(pool);
        queue.carried.push_back(Dirty { pool, frame, rec_lsn });
        queue.carried_from = Some(queue.carried_from.map_or(rec_lsn, |from| from.min(rec_lsn)));
    }

    /// Takes the oldest frame into flight: of one pool, or of all.
    pub(crate) fn take(&self, pool: Option<u32>) -> Option<Dirty> {
        let mut state = self.state.lock();
        let queue = match pool {
            Some(pool) => state.queue(pool),
            None => {
                let nonempty = state.queues.iter_mut().filter(|queue| !queue.is_empty());
                nonempty.min_by_key(|queue| queue.head())?
            }
        };
        let dirty = queue.take()?;
        state.in_flight.push(dirty.rec_lsn);
        Some(dirty)
    }

    /// Puts back what could not be written now; it stays the oldest.
    pub(crate) fn put_back(&self, dirty: Dirty) {
        self.state.lock().queue(dirty.pool).in_order.push_front(dirty);
    }

    /// What was in flight is on disk.
    pub(crate) fn landed(&self) {
        self.state.lock().in_flight.clear();
    }

    /// How many frames of a pool are dirty and not in flight.
    #[must_use]
    pub fn len_of(&self, pool: u32) -> usize {
        self.state.lock().queues.get(pool as usize).map_or(0, Queue::len)
    }

    /// Whether nothing is dirty and nothing in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.queues.iter().all(Queue::is_empty) && state.in_flight.is_empty()
    }

    /// The oldest LSN that may be missing on disk; `None` if nothing is.
    #[must_use]
    pub fn oldest(&self) -> Option<Lsn> {
        let state = self.state.lock();
        let queued = state.queues.iter().flat_map(Queue::all).map(|dirty| dirty.rec_lsn);
        queued.chain(state.in_flight.iter().copied()).min()
    }

    /// The same to within a few records and without a search.
    #[must_use]
    pub fn head(&self) -> Option<Lsn> {
        let state = self.state.lock();
        let heads = state.queues.iter().filter_map(Queue::head);
        heads.chain(state.in_flight.first().copied()).min()
    }
}

impl State {
    fn queue(&mut self, pool: u32) -> &mut Queue {
        let pool = pool as usize;
        if self.queues.len() <= pool {
            self.queues.resize_with(pool + 1, Queue::default);
        }
        &mut self.queues[pool]
    }
}
