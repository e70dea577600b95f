//! Who gets which message: the places of waiting messages, in memory.
//!
//! Invariants:
//! 1. The places of a queue ascend.
//! 2. A queue's counters agree with its places; the totals agree with the queues.
//! 3. What may expire is found by when it does, as long as it waits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use otma::Name;
use seam::failpoint::{Failpoint, armed};

use crate::layout::{Kind, QueueName, arrival_of};

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) place: u64,
    pub(crate) put_at_ms: u64,
    pub(crate) expires_s: u32,
    pub(crate) bytes: u32,
    /// Whose it is; blank: nobody's.
    pub(crate) owner: Name,
}

const _: () = assert!(size_of::<Waiting>() <= 32);

/// A message that was put, in a unit of work that is not committed yet. It is to be given to
/// [`Queues::appear`](crate::Queues::appear) or [`Queues::forget`](crate::Queues::forget).
#[derive(Debug)]
#[must_use]
pub struct Pending {
    pub(crate) queue: QueueName,
    pub(crate) waiting: Waiting,
}

impl Pending {
    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> QueueName {
        self.queue
    }

    /// Its number; no other message of the queues ever has it.
    #[must_use]
    pub fn arrival(&self) -> u64 {
        arrival_of(self.waiting.place)
    }
}

/// A message that somebody has taken. It is to be given to
/// [`Queues::gone`](crate::Queues::gone) or [`Queues::put_back`](crate::Queues::put_back).
#[derive(Debug)]
#[must_use]
pub struct Held {
    pub(crate) queue: QueueName,
    pub(crate) waiting: Waiting,
}

impl Held {
    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> QueueName {
        self.queue
    }

    /// Its number; no other message of the queues ever has it.
    #[must_use]
    pub fn arrival(&self) -> u64 {
        arrival_of(self.waiting.place)
    }

    /// When it was put, in milliseconds since 1970 UTC.
    #[must_use]
    pub fn put_at_ms(&self) -> u64 {
        self.waiting.put_at_ms
    }

    /// Whether it is worth nothing any more.
    #[must_use]
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.waiting.is_expired(now_ms)
    }
}

impl Waiting {
    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_s != 0 && is_over(self.expires_s, now_ms)
    }
}

/// Whether a time to expire has come.
fn is_over(expires_s: u32, now_ms: u64) -> bool {
    u64::from(expires_s) * 1_000 <= now_ms && !armed(Failpoint::ExpiryIgnored)
}

/// How far a queue has been looked through for a message of somebody's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// The place behind which to go on.
    behind: Option<u64>,
    /// Messages of others have been passed over.
    pub others: bool,
}

/// What is known of a queue without looking at its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Messages that wait.
    pub waiting: u64,
    /// Messages that somebody has taken and not removed yet.
    pub taken: u64,
    /// Messages in units of work that are not committed yet.
    pub coming: u64,
    /// Bytes of those that wait.
    pub bytes: u64,
    /// When the first of those that wait was put, in milliseconds since 1970 UTC.
    pub oldest_ms: Option<u64>,
    /// Messages that have appeared since the queues were opened.
    pub appeared: u64,
    /// Messages that have gone since.
    pub gone: u64,
    /// The most that ever waited since.
    pub waiting_max: u64,
}

/// What is known of all queues together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Messages that wait, are taken or are coming.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that have appeared since the queues were opened.
    pub appeared: u64,
    /// Messages that have gone since.
    pub gone: u64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    figures: Figures,
}

impl Queue {
    fn insert(&mut self, one: Waiting) {
        if self.waiting.back().is_none_or(|last| last.place < one.place) {
            self.waiting.push_back(one);
        } else {
            let at = self.waiting.partition_point(|other| other.place < one.place);
            self.waiting.insert(at, one);
        }
        self.figures.waiting += 1;
        self.figures.bytes += u64::from(one.bytes);
        self.figures.waiting_max = self.figures.waiting_max.max(self.figures.waiting);
    }

    fn remove(&mut self, at: usize) -> Option<Waiting> {
        let one = if at == 0 { self.waiting.pop_front() } else { self.waiting.remove(at) }?;
        self.figures.waiting -= 1;
        self.figures.bytes -= u64::from(one.bytes);
        self.figures.taken += 1;
        if self.waiting.is_empty() {
            // What a flood has left is given back.
            self.waiting.shrink_to(64);
        }
        Some(one)
    }

    fn is_idle(&self) -> bool {
        self.figures.waiting + self.figures.taken + self.figures.coming == 0
    }
}

/// The places of all waiting messages.
#[derive(Debug, Default)]
pub(crate) struct Index {
    queues: BTreeMap<QueueName, Queue>,
    /// Those that wait and expire some time: when, in which queue, at which place.
    expiring: BTreeSet<(u32, QueueName, u64)>,
    pub(crate) totals: Totals,
}

impl Index {
    /// A message that is found at the start.
    pub(crate) fn found(&mut self, queue: QueueName, one: Waiting) {
        self.queues.entry(queue).or_default().insert(one);
        self.expect(queue, &one);
        self.totals.messages += 1;
        self.totals.bytes += u64::from(one.bytes);
    }

    /// A message waits: it may expire.
    fn expect(&mut self, queue: QueueName, one: &Waiting) {
        if one.expires_s != 0 {
            self.expiring.insert((one.expires_s, queue, one.place));
        }
    }

    /// Takes the message of a queue that stands there.
    fn take_at(&mut self, queue: QueueName, at: usize) -> Option<Held> {
        let waiting = self.queues.get_mut(&queue)?.remove(at)?;
        if waiting.expires_s != 0 {
            self.expiring.remove(&(waiting.expires_s, queue, waiting.place));
        }
        Some(Held { queue, waiting })
    }

    pub(crate) fn coming(&mut self, queue: QueueName, one: &Waiting) {
        self.queues.entry(queue).or_default().figures.coming += 1;
        self.totals.messages += 1;
        self.totals.bytes += u64::from(one.bytes);
    }

    fn less(&mut self, one: &Waiting) {
        self.totals.messages -= 1;
        self.totals.bytes -= u64::from(one.bytes);
    }

    pub(crate) fn appear(&mut self, pending: &Pending) {
        self.totals.appeared += 1;
        if let Some(queue) = self.queues.get_mut(&pending.queue) {
            queue.figures.coming -= 1;
            queue.figures.appeared += 1;
            queue.insert(pending.waiting);
            self.expect(pending.queue, &pending.waiting);
        }
    }

    pub(crate) fn forget(&mut self, pending: &Pending) {
        self.less(&pending.waiting);
        if let Some(queue) = self.queues.get_mut(&pending.queue) {
            queue.figures.coming -= 1;
        }
        self.tidy(pending.queue);
    }

    pub(crate) fn take(&mut self, queue: QueueName) -> Option<Held> {
        let backwards = || self.queues.get(&queue).map_or(0, |of| of.waiting.len());
        let at = if armed(Failpoint::QueueBackwards) { backwards().saturating_sub(1) } else { 0 };
        self.take_at(queue, at)
    }

    /// Takes the message at that place.
    pub(crate) fn take_place(&mut self, queue: QueueName, place: u64) -> Option<Held> {
        let of = self.queues.get(&queue)?;
        let at = of.waiting.binary_search_by_key(&place, |one| one.place).ok()?;
        self.take_at(queue, at)
    }

    /// Takes the first message with an owner of whom `is_he` says so, of the next `most`.
    pub(crate) fn take_owned(
        &mut self,
        queue: QueueName,
        looked: &mut Looked,
        most: usize,
        is_he: &impl Fn(Name) -> bool,
    ) -> ControlFlow<Option<Held>> {
        let Some(of) = self.queues.get(&queue) else { return ControlFlow::Break(None) };
        let passed = |behind| of.waiting.partition_point(|one| one.place <= behind);
        let from = looked.behind.map_or(0, passed);
        for (number, one) in of.waiting.range(from..).take(most).enumerate() {
            looked.behind = Some(one.place);
            if is_he(one.owner) {
                return ControlFlow::Break(self.take_at(queue, from + number));
            }
            looked.others = true;
        }
        let is_end = of.waiting.len() - from <= most;
        if is_end { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
    }

    /// Takes those that are worth nothing any more, at most `most`.
    pub(crate) fn take_expired(&mut self, now_ms: u64, most: usize) -> Vec<Held> {
        let is_over = |(expires_s, ..): &&(u32, QueueName, u64)| is_over(*expires_s, now_ms);
        let over: Vec<_> = self.expiring.iter().take_while(is_over).take(most).copied().collect();
        over.into_iter().filter_map(|(_, queue, place)| self.take_place(queue, place)).collect()
    }

    pub(crate) fn gone(&mut self, held: &Held) {
        self.totals.gone += 1;
        self.less(&held.waiting);
        if let Some(queue) = self.queues.get_mut(&held.queue) {
            queue.figures.taken -= 1;
            queue.figures.gone += 1;
        }
        self.tidy(held.queue);
    }

    pub(crate) fn put_back(&mut self, held: &Held) {
        if let Some(queue) = self.queues.get_mut(&held.queue) {
            queue.figures.taken -= 1;
            queue.insert(held.waiting);
            self.expect(held.queue, &held.waiting);
        }
    }

    /// Forgets a queue that has nothing, so that clients that come and go leave nothing behind.
    fn tidy(&mut self, name: QueueName) {
        let idle = self.queues.get(&name).is_some_and(Queue::is_idle);
        if idle && name.kind != Kind::Input {
            self.queues.remove(&name);
        }
    }

    pub(crate) fn figures(&self, queue: QueueName) -> Figures {
        self.queues.get(&queue).map(figures_of).unwrap_or_default()
    }

    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = (QueueName, Figures)> {
        let of_kind = self.queues.iter().filter(move |(name, _)| name.kind == kind);
        of_kind.map(|(name, queue)| (*name, figures_of(queue)))
    }

    /// Waiting messages of a queue, at most `most`.
    pub(crate) fn peek(&self, queue: QueueName, most: usize) -> Vec<Waiting> {
        let of = self.queues.get(&queue);
        of.map(|of| of.waiting.iter().take(most).copied().collect()).unwrap_or_default()
    }
}

fn figures_of(queue: &Queue) -> Figures {
    Figures { oldest_ms: queue.waiting.front().map(|one| one.put_at_ms), ..queue.figures }
}
