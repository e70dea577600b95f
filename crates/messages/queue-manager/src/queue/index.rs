//! Which messages a queue has, in memory: who may get which, in what order.
//!
//! 1. A message is *ready* or *held*, never both; only ready messages can be got by everybody.
//! 2. A message that is held belongs to a unit of work (put or got in it) or to a handle (locked).
//!    Its holder sees it; no other getter does.
//! 3. A ready message takes 24 bytes in the tree, and 16 in each index by identifier that has
//!    been asked for.
//! 4. Depth counts ready and locked messages and those put in units of work that are not ended.
//! 5. An index by identifier, once built, has every message of the queue; it may have some more,
//!    which are passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::descriptor::{Identifier, MessageDescriptor};
use crate::message::Message;

/// A message's place in its queue: what is lower comes first.
pub(crate) type Place = u64;

const ARRIVAL_BITS: u32 = 56;

/// The place of a message of that priority; 9 is the highest.
pub(crate) fn place(priority: i32, arrival: u64) -> Place {
    let rank = 9 - u64::try_from(priority.clamp(0, 9)).unwrap_or(0);
    (rank << ARRIVAL_BITS) | (arrival & ((1 << ARRIVAL_BITS) - 1))
}

/// The identifiers that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum By {
    Message = 0,
    Correlation = 1,
    Group = 2,
}

impl By {
    pub(crate) const ALL: [By; 3] = [By::Message, By::Correlation, By::Group];

    /// That identifier of a descriptor.
    pub(crate) fn of(self, descriptor: &MessageDescriptor) -> &Identifier {
        match self {
            By::Message => &descriptor.msg_id,
            By::Correlation => &descriptor.correl_id,
            By::Group => &descriptor.group_id,
        }
    }
}

/// Hashes of a message's identifiers, in the order of [`By::ALL`].
pub(crate) type Hashes = [u64; 3];

/// The hashes of a descriptor.
pub(crate) fn hashes(descriptor: &MessageDescriptor) -> Hashes {
    By::ALL.map(|by| base::hash::bytes(by.of(descriptor)))
}

/// What is kept for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) bytes: u32,
    /// Seconds since 1970 UTC.
    pub(crate) put_s: u32,
    /// Tenths of a second since the queue manager was opened; 0: never.
    pub(crate) expires: u32,
    pub(crate) persistent: bool,
    /// Its data stands in chunks.
    pub(crate) large: bool,
}

/// Who holds a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A unit of work that put it.
    Put(u64),
    /// A unit of work that got it; `own` if it had put it, too.
    Got { unit: u64, own: bool },
    /// A handle that locked it while browsing.
    Locked(u64),
}

impl Hold {
    /// The unit of work or handle that sees the message all the same.
    fn owner(self) -> Option<u64> {
        match self {
            Hold::Put(owner) | Hold::Locked(owner) => Some(owner),
            Hold::Got { .. } => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    entry: Entry,
    by: Hold,
    /// Known for what a unit of work has put or got: others may not find it in the store.
    hashes: Option<Hashes>,
}

/// Who is looking for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeker {
    /// The unit of work whose puts it sees; 0: none.
    pub(crate) unit: u64,
    /// The handle whose locked message it sees.
    pub(crate) handle: u64,
    /// Tenths of a second since the queue manager was opened.
    pub(crate) now: u32,
}

impl Seeker {
    fn sees(&self, by: Hold) -> bool {
        match by {
            Hold::Put(unit) => self.unit != 0 && unit == self.unit,
            Hold::Got { .. } => false,
            Hold::Locked(handle) => handle == self.handle,
        }
    }
}

/// The messages of a queue.
#[derive(Debug, Default)]
pub(crate) struct Index {
    ready: BTreeMap<Place, Entry>,
    held: BTreeMap<Place, Held>,
    /// Those that their holder sees: by unit of work or handle.
    owned: BTreeSet<(u64, Place)>,
    volatile: BTreeMap<Place, Arc<Message>>,
    by: [Option<BTreeSet<(u64, Place)>>; 3],
    built: [bool; 3],
    expiring: BTreeSet<(u32, Place)>,
    backouts: BTreeMap<Place, u32>,
    depth: u64,
    bytes: u64,
    /// Bytes of messages in memory, of all queues.
    in_memory: Arc<AtomicU64>,
}

/// Bytes that a message takes in memory besides its data.
const MESSAGE_BYTES: u64 = 1_024;

fn in_memory(message: &Message) -> u64 {
    MESSAGE_BYTES + message.data.len() as u64
}

impl Drop for Index {
    fn drop(&mut self) {
        let bytes = self.volatile.values().map(|message| in_memory(message)).sum();
        self.in_memory.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Index {
    /// One that counts its messages in memory together with those of others.
    pub(crate) fn counting(in_memory: &Arc<AtomicU64>) -> Index {
        let mut index = Index::default();
        index.in_memory.clone_from(in_memory);
        index
    }

    /// Whether there is no message, seen or held.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.held.is_empty()
    }

    pub(crate) fn depth(&self) -> u64 {
        self.depth
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts and gets of units of work that are not ended.
    pub(crate) fn uncommitted(&self) -> u64 {
        let locked = |held: &&Held| matches!(held.by, Hold::Locked(_));
        (self.held.len() - self.held.values().filter(locked).count()) as u64
    }

    /// Messages that everybody may get.
    pub(crate) fn ready(&self) -> u64 {
        self.ready.len() as u64
    }

    /// Ready messages up to a place, counted as far as `most`.
    pub(crate) fn ready_up_to(&self, last: Place, most: u64) -> u64 {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.ready.range(..=last).take(most).count() as u64
    }

    /// When the message that waits first was put, seconds since 1970 UTC.
    pub(crate) fn oldest_put_s(&self) -> Option<u32> {
        // The first of each priority is its oldest.
        (0..10)
            .filter_map(|rank: u64| {
                let from = rank << ARRIVAL_BITS;
                let mut range = self.ready.range(from..from + (1 << ARRIVAL_BITS));
                range.next().map(|(_, entry)| entry.put_s)
            })
            .min()
    }

    /// Notes a message that a unit of work puts.
    pub(crate) fn coming(
        &mut self,
        at: Place,
        entry: Entry,
        unit: u64,
        hashes: &Hashes,
        volatile: Option<Arc<Message>>,
    ) {
        self.hold(at, entry, Hold::Put(unit), Some(*hashes));
        self.admit(at, &entry, hashes, volatile);
    }

    /// Notes a message that stood in the store already.
    pub(crate) fn found(&mut self, at: Place, entry: Entry) {
        self.ready.insert(at, entry);
        self.depth += 1;
        self.bytes += u64::from(entry.bytes);
        if entry.expires != 0 {
            self.expiring.insert((entry.expires, at));
        }
    }

    /// Hides a message that stood in the store already, as one that a unit of work puts. `None` if
    /// it is not there.
    pub(crate) fn hide(&mut self, at: Place, unit: u64) -> Option<Entry> {
        let entry = self.ready.remove(&at)?;
        self.hold(at, entry, Hold::Put(unit), None);
        Some(entry)
    }

    fn hold(&mut self, at: Place, entry: Entry, by: Hold, hashes: Option<Hashes>) {
        self.held.insert(at, Held { entry, by, hashes });
        if let Some(owner) = by.owner() {
            self.owned.insert((owner, at));
        }
    }

    /// Holds no more what is held; answers what it was.
    fn let_go(&mut self, at: Place) -> Option<Held> {
        let held = self.held.remove(&at)?;
        if let Some(owner) = held.by.owner() {
            self.owned.remove(&(owner, at));
        }
        Some(held)
    }

    fn admit(&mut self, at: Place, entry: &Entry, hashes: &Hashes, volatile: Option<Arc<Message>>) {
        self.depth += 1;
        self.bytes += u64::from(entry.bytes);
        if entry.expires != 0 {
            self.expiring.insert((entry.expires, at));
        }
        if let Some(message) = volatile {
            self.in_memory.fetch_add(in_memory(&message), Ordering::Relaxed);
            self.volatile.insert(at, message);
        }
        for (index, hash) in self.by.iter_mut().zip(hashes) {
            if let Some(index) = index {
                index.insert((*hash, at));
            }
        }
    }

    /// A message that a unit of work put is committed: everybody may get it. `false` if the same
    /// unit of work got it.
    pub(crate) fn appear(&mut self, at: Place) -> bool {
        match self.held.get(&at) {
            Some(Held { entry, by: Hold::Put(_), .. }) => {
                self.ready.insert(at, *entry);
                self.let_go(at);
                true
            }
            _ => false,
        }
    }

    /// The first message that the seeker may see, behind `after`; of those with an identifier of
    /// that hash, if an index has been built for it.
    pub(crate) fn next(
        &self,
        after: Option<Place>,
        seeker: &Seeker,
        by: Option<(By, u64)>,
    ) -> Option<(Place, Entry)> {
        if let Some((by, hash)) = by
            && let Some(index) = &self.by[by as usize]
        {
            let from = after.map_or(Bound::Included((hash, 0)), |at| Bound::Excluded((hash, at)));
            let range = index.range((from, Bound::Included((hash, Place::MAX))));
            return range
                .filter_map(|(_, at)| self.visible(*at, seeker).map(|entry| (*at, entry)))
                .next();
        }
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ready = self.ready.range((from, Bound::Unbounded)).next().map(|(at, e)| (*at, *e));
        let own = |owner: u64| {
            let from = after.map_or(Bound::Included((owner, 0)), |at| Bound::Excluded((owner, at)));
            let mut range = self.owned.range((from, Bound::Included((owner, Place::MAX))));
            range.next().and_then(|(_, at)| Some((*at, self.held.get(at)?.entry)))
        };
        let first = |one: Option<(Place, Entry)>, other: Option<(Place, Entry)>| {
            one.into_iter().chain(other).min_by_key(|(at, _)| *at)
        };
        let own = first(own(seeker.unit), own(seeker.handle));
        first(ready, own)
    }

    /// The message at a place, if the seeker may see it.
    pub(crate) fn visible(&self, at: Place, seeker: &Seeker) -> Option<Entry> {
        if let Some(entry) = self.ready.get(&at) {
            return Some(*entry);
        }
        self.held.get(&at).filter(|held| seeker.sees(held.by)).map(|held| held.entry)
    }

    /// Whether a message is there, be it that a unit of work has it.
    pub(crate) fn has(&self, at: Place) -> bool {
        self.ready.contains_key(&at) || self.held.contains_key(&at)
    }

    /// A message that is kept in memory only.
    pub(crate) fn volatile(&self, at: Place) -> Option<Arc<Message>> {
        self.volatile.get(&at).cloned()
    }

    /// Holds a message for a unit of work that gets it. Answers how it was held before, with
    /// `None` for not at all; fails if the seeker may not have it.
    pub(crate) fn take(&mut self, at: Place, seeker: &Seeker, unit: u64) -> Option<Option<Hold>> {
        if let Some(entry) = self.ready.remove(&at) {
            self.hold(at, entry, Hold::Got { unit, own: false }, None);
            self.depth -= 1;
            return Some(None);
        }
        self.held.get(&at).filter(|held| seeker.sees(held.by))?;
        let Held { entry, by, hashes } = self.let_go(at)?;
        let own = matches!(by, Hold::Put(_));
        self.hold(at, entry, Hold::Got { unit, own }, hashes);
        self.depth -= 1;
        Some(Some(by))
    }

    /// Notes the identifiers of a message that was taken, before it is deleted in the store:
    /// the thread that builds an index may not find it there any more.
    pub(crate) fn identify(&mut self, at: Place, hashes: &Hashes) {
        let Some(held) = self.held.get_mut(&at) else { return };
        held.hashes = Some(*hashes);
        for (index, hash) in self.by.iter_mut().zip(hashes) {
            if let Some(index) = index {
                index.insert((*hash, at));
            }
        }
    }

    /// Undoes [`take`](Index::take), as if it had not been.
    pub(crate) fn untake(&mut self, at: Place, before: Option<Hold>) {
        let Some(Held { entry, hashes, .. }) = self.let_go(at) else { return };
        self.depth += 1;
        match before {
            Some(by) => self.hold(at, entry, by, hashes),
            None => {
                self.ready.insert(at, entry);
            }
        }
    }

    /// Locks a message for a handle; `false` if it is not ready.
    pub(crate) fn lock(&mut self, at: Place, handle: u64) -> bool {
        if matches!(self.held.get(&at), Some(held) if held.by == Hold::Locked(handle)) {
            return true;
        }
        let Some(entry) = self.ready.remove(&at) else { return false };
        self.hold(at, entry, Hold::Locked(handle), None);
        true
    }

    /// Gives a locked message back; `false` if it is not locked by the handle.
    pub(crate) fn unlock(&mut self, at: Place, handle: u64) -> bool {
        match self.held.get(&at) {
            Some(Held { entry, by: Hold::Locked(by), .. }) if *by == handle => {
                self.ready.insert(at, *entry);
                self.let_go(at);
                true
            }
            _ => false,
        }
    }

    /// A message that was got returns by backout; answers its new backout count. `None` if the
    /// same unit of work had put it: then it is gone.
    pub(crate) fn come_back(&mut self, at: Place, counts: bool) -> Option<u32> {
        let held = *self.held.get(&at)?;
        let Hold::Got { own, .. } = held.by else { return None };
        if own {
            return None;
        }
        self.let_go(at);
        self.ready.insert(at, held.entry);
        self.depth += 1;
        let count = self.backouts.entry(at).or_default();
        *count += u32::from(counts);
        let count = *count;
        if count == 0 {
            self.backouts.remove(&at);
        }
        Some(count)
    }

    /// A message is gone for good.
    pub(crate) fn gone(&mut self, at: Place, hashes: &Hashes) {
        let held = self.let_go(at);
        let got = matches!(held, Some(Held { by: Hold::Got { .. }, .. }));
        let Some(entry) = held.map(|held| held.entry).or_else(|| self.ready.remove(&at)) else {
            return;
        };
        if !got {
            self.depth -= 1;
        }
        self.bytes -= u64::from(entry.bytes);
        if entry.expires != 0 {
            self.expiring.remove(&(entry.expires, at));
        }
        if let Some(message) = self.volatile.remove(&at) {
            self.in_memory.fetch_sub(in_memory(&message), Ordering::Relaxed);
        }
        self.backouts.remove(&at);
        for (index, hash) in self.by.iter_mut().zip(hashes) {
            if let Some(index) = index {
                index.remove(&(*hash, at));
            }
        }
    }

    pub(crate) fn backout_count(&self, at: Place) -> u32 {
        self.backouts.get(&at).copied().unwrap_or(0)
    }

    pub(crate) fn set_backout_count(&mut self, at: Place, count: u32) {
        self.backouts.insert(at, count);
    }

    /// Ready messages that have expired, at most `most`; not those that are set aside.
    pub(crate) fn expired(&self, now: u32, most: usize, aside: &BTreeSet<Place>) -> Vec<Place> {
        let all = self.expiring.range(..=(now, Place::MAX)).map(|(_, at)| *at);
        let ready = all.filter(|at| self.ready.contains_key(at) && !aside.contains(at));
        ready.take(most).collect()
    }

    pub(crate) fn is_built(&self, by: By) -> bool {
        self.built[by as usize]
    }

    /// Begins an index: from now on it receives what is put. Answers what the queue has already.
    pub(crate) fn begin_build(&mut self, by: By) -> Vec<(Place, Option<Arc<Message>>)> {
        let known =
            self.held.iter().filter_map(|(at, held)| Some((held.hashes?[by as usize], *at)));
        self.by[by as usize].get_or_insert_default().extend(known);
        let places = self.ready.keys().chain(self.held.keys());
        places.map(|at| (*at, self.volatile.get(at).cloned())).collect()
    }

    /// Adds a message that the queue had when the index was begun, if it is still there.
    pub(crate) fn build(&mut self, by: By, hash: u64, at: Place) {
        if self.ready.contains_key(&at) || self.held.contains_key(&at) {
            self.by[by as usize].get_or_insert_default().insert((hash, at));
        }
    }

    pub(crate) fn end_build(&mut self, by: By) {
        self.built[by as usize] = true;
    }

    /// The places of all messages that are committed, in their order: those that are ready, locked,
    /// or being got.
    pub(crate) fn committed_places(&self) -> Vec<Place> {
        let held = self.held.iter().filter(|(_, held)| match held.by {
            Hold::Put(_) => false,
            Hold::Got { own, .. } => !own,
            Hold::Locked(_) => true,
        });
        let held: BTreeSet<Place> = held.map(|(at, _)| *at).collect();
        self.ready.keys().copied().chain(held).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The places of all ready messages, in their order.
    pub(crate) fn places(&self) -> Vec<Place> {
        self.ready.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry { bytes: 3, put_s: 1, expires: 0, persistent: true, large: false };
    const ALICE: Seeker = Seeker { unit: 1, handle: 1, now: 0 };
    const BOB: Seeker = Seeker { unit: 2, handle: 2, now: 0 };

    fn with_one_coming() -> Index {
        let mut index = Index::default();
        index.coming(place(0, 1), ENTRY, 1, &[0; 3], None);
        index
    }

    #[test]
    fn a_put_is_seen_by_its_own_unit_of_work_until_it_is_committed() {
        let mut index = with_one_coming();
        assert_eq!(index.next(None, &BOB, None), None);
        assert!(index.next(None, &ALICE, None).is_some());
        assert_eq!((index.depth(), index.uncommitted()), (1, 1));
        assert!(index.appear(place(0, 1)));
        assert!(index.next(None, &BOB, None).is_some());
        assert_eq!((index.depth(), index.uncommitted()), (1, 0));
    }

    #[test]
    fn higher_priorities_come_first_and_equals_in_the_order_of_arrival() {
        let mut index = Index::default();
        for (priority, arrival) in [(0, 1), (9, 2), (4, 3), (9, 4)] {
            index.found(place(priority, arrival), ENTRY);
        }
        let mut order = Vec::new();
        let mut after = None;
        while let Some((at, _)) = index.next(after, &BOB, None) {
            order.push(at & 0xff);
            after = Some(at);
        }
        assert_eq!(order, [2, 4, 3, 1]);
    }

    #[test]
    fn a_message_that_comes_back_counts_its_backouts() {
        let mut index = Index::default();
        index.found(7, ENTRY);
        assert_eq!(index.take(7, &BOB, 2), Some(None));
        assert_eq!((index.depth(), index.take(7, &ALICE, 1)), (0, None));
        assert_eq!(index.come_back(7, true), Some(1));
        assert_eq!(index.take(7, &ALICE, 1), Some(None));
        assert_eq!(index.come_back(7, true), Some(2));
        assert_eq!((index.depth(), index.backout_count(7)), (1, 2));
        index.gone(7, &[0; 3]);
        assert_eq!((index.depth(), index.bytes(), index.backout_count(7)), (0, 0, 0));
    }

    #[test]
    fn a_message_put_and_got_in_one_unit_of_work_is_gone_either_way() {
        let mut index = with_one_coming();
        let at = place(0, 1);
        assert_eq!(index.take(at, &ALICE, 1), Some(Some(Hold::Put(1))));
        assert!(!index.appear(at));
        assert_eq!(index.come_back(at, true), None);
        index.gone(at, &[0; 3]);
        assert_eq!((index.depth(), index.uncommitted()), (0, 0));
    }

    #[test]
    fn an_index_that_is_begun_late_has_what_was_there_before() {
        let mut index = Index::default();
        index.found(1, ENTRY);
        assert_eq!(index.begin_build(By::Message), [(1, None)]);
        index.coming(2, ENTRY, 1, &[5, 0, 0], None);
        index.build(By::Message, 5, 1);
        index.build(By::Message, 5, 9);
        index.end_build(By::Message);
        assert_eq!(index.next(None, &ALICE, Some((By::Message, 5))).map(|(at, _)| at), Some(1));
        assert_eq!(index.next(Some(1), &ALICE, Some((By::Message, 5))).map(|x| x.0), Some(2));
        assert_eq!(index.next(Some(2), &ALICE, Some((By::Message, 5))), None);
    }
}
