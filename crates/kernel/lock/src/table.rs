//! One shard of the lock table: heads, requests and queues, as plain data under the shard's latch.
//!
//! A head stands for a name that somebody holds or waits for. Its holders are a list without
//! order; its waiters one queue: first conversions, then new requests, each in order of arrival.
//!
//! Invariants:
//! 1. `counts[mode]` is the number of holders in that mode and `held` the set of modes whose
//!    count is not zero.
//! 2. A waiting conversion is granted as soon as no *other* holder stands against it. It does not
//!    wait for other conversions: those wait for its own lock anyway.
//! 3. A new request is granted as soon as no holder stands against it and no waiter before it,
//!    which it could delay. So nobody starves, and who waits for whom is exact.
//! 4. A head exists only while it has a holder or a waiter.
//! 5. Heads and requests come from slabs with free lists: once these have grown to the load, a
//!    grant allocates nothing.

mod check;

use crate::LockName;
use crate::mode::{Mode, ModeSet};

/// "No request", "no head".
pub(crate) const NONE: u32 = u32::MAX;

/// One name: exactly one cache line.
#[repr(align(64))]
struct Head {
    name: LockName,
    counts: [u32; 6],
    first_holder: u32,
    first_waiter: u32,
    last_waiter: u32,
    /// The next head of the bucket, or the next free one.
    next: u32,
    held: ModeSet,
}

const _: () = assert!(size_of::<Head>() == 64);

/// A holder's or a waiter's place at a head.
struct Request {
    owner: u32,
    head: u32,
    /// In the list of holders or in the queue; the next free one if unused.
    next: u32,
    previous: u32,
    /// The holder's request that this one strengthens, if it waits for a conversion.
    converts: u32,
    mode: Mode,
    /// Whether it stands in the queue.
    waiting: bool,
    /// Whether it is given back the moment it is granted.
    instant: bool,
}

/// A request that left the queue: its owner must be told, under the same latch.
pub(crate) struct Grant {
    pub(crate) owner: u32,
    /// The holder's request; [`NONE`] if the lock was of instant duration.
    pub(crate) request: u32,
}

/// What a request asks for.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) name: LockName,
    pub(crate) owner: u32,
    /// The request that holds the name already, or [`NONE`].
    pub(crate) held: u32,
    /// The mode wanted; for a conversion it covers the one that is held.
    pub(crate) mode: Mode,
    pub(crate) instant: bool,
}

/// A holder or waiter, for reports.
pub(crate) struct Entry {
    pub(crate) name: LockName,
    pub(crate) owner: u32,
    pub(crate) mode: Mode,
    /// The waiting request, or [`NONE`] for a holder.
    pub(crate) waiting: u32,
}

/// A shard of the lock table.
pub(crate) struct Table {
    buckets: Vec<u32>,
    heads: Vec<Head>,
    requests: Vec<Request>,
    free_head: u32,
    free_request: u32,
    heads_used: usize,
    pub(crate) counts: Counts,
}

/// What happened in a shard.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Locks held now.
    pub(crate) held: u64,
    /// Requests in queues now.
    pub(crate) waiting: u64,
    /// Locks granted, conversions and instant ones among them.
    pub(crate) acquired: u64,
    /// Times the latch was taken.
    pub(crate) latched: u64,
    /// Nanoseconds that the latch was held, of those takings that were timed.
    pub(crate) latch_ns: u64,
}

/// Memory is reserved, not touched, for so many locks of a shard, so that growing the slabs
/// moves nothing; the first buckets are made for a fraction of them.
const RESERVED_MAX: usize = 1 << 20;
const BUCKETS_AT_FIRST: std::ops::RangeInclusive<usize> = 64..=16_384;

impl Table {
    /// A table for about `locks` locks.
    pub(crate) fn new(locks: usize) -> Table {
        let buckets = locks.clamp(*BUCKETS_AT_FIRST.start(), *BUCKETS_AT_FIRST.end());
        let reserved = locks.min(RESERVED_MAX);
        Table {
            buckets: vec![NONE; buckets.next_power_of_two()],
            heads: Vec::with_capacity(reserved),
            requests: Vec::with_capacity(reserved),
            free_head: NONE,
            free_request: NONE,
            heads_used: 0,
            counts: Counts::default(),
        }
    }

    /// Grants at once if nobody stands against it. `Some` is the holder's request, [`NONE`] for
    /// instant duration.
    #[inline]
    pub(crate) fn try_grant(&mut self, ask: Ask) -> Option<u32> {
        if ask.held != NONE {
            return self.try_convert(ask);
        }
        let mixed = ask.name.mixed();
        let head = self.find(ask.name, mixed);
        if head != NONE && !self.admits(head, ask.mode) {
            return None;
        }
        self.counts.acquired += 1;
        if ask.instant {
            return Some(NONE);
        }
        let head = if head == NONE { self.add_head(ask.name, mixed) } else { head };
        let request = self.add_request(ask.owner, head, ask.mode);
        self.link_holder(request);
        Some(request)
    }

    fn try_convert(&mut self, ask: Ask) -> Option<u32> {
        debug_assert!(ask.mode.covers(self.requests[ask.held as usize].mode));
        if !ask.mode.fits(self.held_by_others(ask.held)) {
            return None;
        }
        self.counts.acquired += 1;
        if ask.instant {
            return Some(NONE);
        }
        self.set_mode(ask.held, ask.mode);
        Some(ask.held)
    }

    /// Puts a request that was refused into the queue.
    pub(crate) fn enqueue(&mut self, ask: Ask) -> u32 {
        let head = if ask.held == NONE {
            self.find(ask.name, ask.name.mixed())
        } else {
            self.requests[ask.held as usize].head
        };
        assert!(head != NONE, "a request waits for a name that nobody holds: {}", ask.name);
        let request = self.add_request(ask.owner, head, ask.mode);
        let node = &mut self.requests[request as usize];
        (node.waiting, node.instant, node.converts) = (true, ask.instant, ask.held);
        let before = if ask.held == NONE { NONE } else { self.first_new_waiter(head) };
        self.link_waiter(request, before);
        self.counts.waiting += 1;
        request
    }

    /// Gives a lock back and grants what that makes possible.
    #[inline]
    pub(crate) fn release(&mut self, request: u32, grants: &mut Vec<Grant>) {
        let head = self.unlink_holder(request);
        self.free_request(request);
        self.settle(head, grants);
    }

    /// Weakens a lock that is held and grants what that makes possible.
    pub(crate) fn weaken(&mut self, request: u32, mode: Mode, grants: &mut Vec<Grant>) {
        self.set_mode(request, mode);
        self.settle(self.requests[request as usize].head, grants);
    }

    /// Takes a request out of the queue and grants what that makes possible.
    pub(crate) fn cancel(&mut self, request: u32, grants: &mut Vec<Grant>) {
        assert!(
            self.requests[request as usize].waiting,
            "a request that does not wait was cancelled"
        );
        let head = self.requests[request as usize].head;
        self.unlink_waiter(request);
        self.free_request(request);
        self.settle(head, grants);
    }

    /// Whether `request` is still waiting for `owner`.
    pub(crate) fn is_waiting(&self, request: u32, owner: u32) -> bool {
        let node = self.requests.get(request as usize);
        node.is_some_and(|node| node.waiting && node.owner == owner)
    }

    /// Whether anybody waits for the name of this request.
    pub(crate) fn is_waited_for(&self, request: u32) -> bool {
        let head = self.requests[request as usize].head;
        self.heads[head as usize].first_waiter != NONE
    }

    /// Whether everybody that the waiting `inner` waits for stands before the waiting `outer`,
    /// too, and `inner` does not wait for `outer`, the newest request of all. True for those who
    /// ask, in the same queue, for no more than it does, unless it is a conversion.
    pub(crate) fn subsumes(&self, outer: u32, inner: u32) -> bool {
        let (outer, inner) = (&self.requests[outer as usize], &self.requests[inner as usize]);
        debug_assert!(outer.waiting && inner.waiting);
        debug_assert!(outer.converts != NONE || outer.next == NONE, "it is the newest");
        outer.converts == NONE && outer.head == inner.head && outer.mode.covers(inner.mode)
    }

    /// Calls `found` for every owner that the waiting `request` waits for, until it says `false`.
    pub(crate) fn blockers(&self, request: u32, mut found: impl FnMut(u32) -> bool) {
        let node = &self.requests[request as usize];
        debug_assert!(node.waiting);
        let head = &self.heads[node.head as usize];
        let mut holder = head.first_holder;
        while holder != NONE {
            let other = &self.requests[holder as usize];
            if holder != node.converts && !node.mode.fits(other.mode.bit()) && !found(other.owner) {
                return;
            }
            holder = other.next;
        }
        if node.converts != NONE {
            return;
        }
        let mut ahead = head.first_waiter;
        while ahead != request {
            let other = &self.requests[ahead as usize];
            if !node.mode.fits(other.mode.bit()) && !found(other.owner) {
                return;
            }
            ahead = other.next;
        }
    }

    /// One owner that stands against `ask`, which was just refused.
    pub(crate) fn some_blocker(&self, ask: Ask) -> Option<u32> {
        let head = if ask.held == NONE {
            self.find(ask.name, ask.name.mixed())
        } else {
            self.requests[ask.held as usize].head
        };
        let head = self.heads.get(head as usize)?;
        let mut at = head.first_holder;
        while at != NONE {
            let other = &self.requests[at as usize];
            if at != ask.held && !ask.mode.fits(other.mode.bit()) {
                return Some(other.owner);
            }
            at = other.next;
        }
        at = head.first_waiter;
        while at != NONE {
            let other = &self.requests[at as usize];
            if !ask.mode.fits(other.mode.bit()) {
                return Some(other.owner);
            }
            at = other.next;
        }
        None
    }

    /// Everybody at every head: holders first, then the queue in order.
    pub(crate) fn entries(&self, found: &mut Vec<Entry>) {
        for start in &self.buckets {
            let mut at = *start;
            while at != NONE {
                let head = &self.heads[at as usize];
                for (first, waits) in [(head.first_holder, false), (head.first_waiter, true)] {
                    let mut request = first;
                    while request != NONE {
                        let node = &self.requests[request as usize];
                        let waiting = if waits { request } else { NONE };
                        let (name, owner, mode) = (head.name, node.owner, node.mode);
                        found.push(Entry { name, owner, mode, waiting });
                        request = node.next;
                    }
                }
                at = head.next;
            }
        }
    }

    #[inline]
    fn find(&self, name: LockName, mixed: u64) -> u32 {
        let mut at = self.buckets[mixed as usize & (self.buckets.len() - 1)];
        while at != NONE {
            let head = &self.heads[at as usize];
            if head.name == name {
                return at;
            }
            at = head.next;
        }
        NONE
    }

    /// Whether a new request for `mode` may be granted now (invariant 3).
    #[inline]
    fn admits(&self, head: u32, mode: Mode) -> bool {
        let head = &self.heads[head as usize];
        if !mode.fits(head.held) {
            return false;
        }
        let mut at = head.first_waiter;
        while at != NONE {
            let other = &self.requests[at as usize];
            if !mode.fits(other.mode.bit()) {
                return false;
            }
            at = other.next;
        }
        true
    }

    /// The modes in which others than this holder hold its name.
    fn held_by_others(&self, request: u32) -> ModeSet {
        let node = &self.requests[request as usize];
        let head = &self.heads[node.head as usize];
        if head.counts[node.mode as usize] == 1 { head.held & !node.mode.bit() } else { head.held }
    }

    /// Grants every waiter of `head` that can be granted; drops the head if nobody is left.
    #[inline]
    fn settle(&mut self, head: u32, grants: &mut Vec<Grant>) {
        if self.heads[head as usize].first_waiter != NONE {
            self.grant_waiters(head, grants);
        }
        let this = &self.heads[head as usize];
        if this.held == 0 && this.first_waiter == NONE {
            self.free_head(head);
        }
    }

    fn grant_waiters(&mut self, head: u32, grants: &mut Vec<Grant>) {
        let mut ahead: ModeSet = 0;
        let mut at = self.heads[head as usize].first_waiter;
        while at != NONE {
            let node = &self.requests[at as usize];
            let (next, mode, owner) = (node.next, node.mode, node.owner);
            let (converts, instant) = (node.converts, node.instant);
            let granted = if converts != NONE {
                mode.fits(self.held_by_others(converts))
            } else if ahead & Mode::Exclusive.bit() != 0 {
                return;
            } else {
                mode.fits(self.heads[head as usize].held) && mode.fits(ahead)
            };
            if granted {
                self.unlink_waiter(at);
                self.counts.acquired += 1;
                let request = match (instant, converts) {
                    (false, NONE) => {
                        self.requests[at as usize].waiting = false;
                        self.link_holder(at);
                        at
                    }
                    (false, _) => {
                        self.set_mode(converts, mode);
                        self.free_request(at);
                        converts
                    }
                    (true, _) => {
                        self.free_request(at);
                        NONE
                    }
                };
                grants.push(Grant { owner, request });
            } else {
                ahead |= mode.bit();
            }
            at = next;
        }
    }

    fn first_new_waiter(&self, head: u32) -> u32 {
        let mut at = self.heads[head as usize].first_waiter;
        while at != NONE && self.requests[at as usize].converts != NONE {
            at = self.requests[at as usize].next;
        }
        at
    }

    fn set_mode(&mut self, request: u32, mode: Mode) {
        let node = &mut self.requests[request as usize];
        let old = std::mem::replace(&mut node.mode, mode);
        let head = &mut self.heads[node.head as usize];
        head.count_down(old);
        head.count_up(mode);
    }

    #[inline]
    fn link_holder(&mut self, request: u32) {
        let node = &mut self.requests[request as usize];
        let head = &mut self.heads[node.head as usize];
        let first = std::mem::replace(&mut head.first_holder, request);
        (node.previous, node.next) = (NONE, first);
        head.count_up(node.mode);
        if first != NONE {
            self.requests[first as usize].previous = request;
        }
        self.counts.held += 1;
    }

    #[inline]
    fn unlink_holder(&mut self, request: u32) -> u32 {
        let node = &self.requests[request as usize];
        assert!(!node.waiting, "a request that waits was released");
        let (head, next, previous) = (node.head, node.next, node.previous);
        self.heads[head as usize].count_down(node.mode);
        if previous == NONE {
            self.heads[head as usize].first_holder = next;
        } else {
            self.requests[previous as usize].next = next;
        }
        if next != NONE {
            self.requests[next as usize].previous = previous;
        }
        self.counts.held -= 1;
        head
    }

    /// Puts `request` into the queue before `before`; at its end if that is [`NONE`].
    fn link_waiter(&mut self, request: u32, before: u32) {
        let head = self.requests[request as usize].head as usize;
        let previous = if before == NONE {
            std::mem::replace(&mut self.heads[head].last_waiter, request)
        } else {
            std::mem::replace(&mut self.requests[before as usize].previous, request)
        };
        if previous == NONE {
            self.heads[head].first_waiter = request;
        } else {
            self.requests[previous as usize].next = request;
        }
        let node = &mut self.requests[request as usize];
        (node.previous, node.next) = (previous, before);
    }

    fn unlink_waiter(&mut self, request: u32) {
        let node = &self.requests[request as usize];
        let (head, next, previous) = (node.head as usize, node.next, node.previous);
        if previous == NONE {
            self.heads[head].first_waiter = next;
        } else {
            self.requests[previous as usize].next = next;
        }
        if next == NONE {
            self.heads[head].last_waiter = previous;
        } else {
            self.requests[next as usize].previous = previous;
        }
        self.counts.waiting -= 1;
    }

    fn add_request(&mut self, owner: u32, head: u32, mode: Mode) -> u32 {
        let (next, previous, converts) = (NONE, NONE, NONE);
        let (waiting, instant) = (false, false);
        let new = Request { owner, head, next, previous, converts, mode, waiting, instant };
        let request = self.free_request;
        if request == NONE {
            self.requests.push(new);
            return self.requests.len() as u32 - 1;
        }
        self.free_request = self.requests[request as usize].next;
        self.requests[request as usize] = new;
        request
    }

    fn free_request(&mut self, request: u32) {
        let node = &mut self.requests[request as usize];
        (node.next, node.head, node.waiting) = (self.free_request, NONE, false);
        self.free_request = request;
    }

    fn add_head(&mut self, name: LockName, mixed: u64) -> u32 {
        if self.heads_used >= self.buckets.len() {
            self.grow();
        }
        let bucket = mixed as usize & (self.buckets.len() - 1);
        let head = if self.free_head == NONE { self.heads.len() as u32 } else { self.free_head };
        let next = std::mem::replace(&mut self.buckets[bucket], head);
        let (first_holder, first_waiter, last_waiter) = (NONE, NONE, NONE);
        let counts = [0; 6];
        let new = Head { name, counts, first_holder, first_waiter, last_waiter, next, held: 0 };
        if head as usize == self.heads.len() {
            self.heads.push(new);
        } else {
            self.free_head = self.heads[head as usize].next;
            self.heads[head as usize] = new;
        }
        self.heads_used += 1;
        head
    }

    fn free_head(&mut self, head: u32) {
        let mixed = self.heads[head as usize].name.mixed();
        let bucket = mixed as usize & (self.buckets.len() - 1);
        let next = self.heads[head as usize].next;
        if self.buckets[bucket] == head {
            self.buckets[bucket] = next;
        } else {
            let mut at = self.buckets[bucket];
            while self.heads[at as usize].next != head {
                at = self.heads[at as usize].next;
            }
            self.heads[at as usize].next = next;
        }
        self.heads[head as usize].next = self.free_head;
        self.free_head = head;
        self.heads_used -= 1;
    }

    /// Doubles the buckets.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![NONE; 2 * old.len()];
        let mask = self.buckets.len() - 1;
        for start in old {
            let mut at = start;
            while at != NONE {
                let head = &mut self.heads[at as usize];
                let bucket = head.name.mixed() as usize & mask;
                let next = std::mem::replace(&mut head.next, self.buckets[bucket]);
                self.buckets[bucket] = at;
                at = next;
            }
        }
    }
}

impl Head {
    #[inline]
    fn count_up(&mut self, mode: Mode) {
        self.counts[mode as usize] += 1;
        self.held |= mode.bit();
    }

    #[inline]
    fn count_down(&mut self, mode: Mode) {
        let count = &mut self.counts[mode as usize];
        *count = count.checked_sub(1).expect("a holder is counted");
        if *count == 0 {
            self.held &= !mode.bit();
        }
    }
}
