//! Finding the message that a getter or browser asks for.
//!
//! 1. Without conditions, finding and taking the first message is one step under the latch.
//! 2. With conditions, a message is read without the latch, compared, and then taken if no other
//!    getter else has taken it meanwhile.
//! 3. Identifiers are found through an index, whatever the depth; the index is built when it is
//!    first asked for.
//! 4. A damaged message is set aside and named in the queue's status; the rest stays available.

use std::collections::BTreeSet;
use std::sync::Arc;

use store::{Store, StoreError};

use super::{Core, TakenEntry, failed};
use crate::descriptor::{Identifier, MessageDescriptor};
use crate::message::Message;
use crate::queue::{By, Entry, Hold, Place, Queue, Seeker, State};
use crate::reason::{Answer, Reason, require};
use crate::selector::Selector;

/// Descriptors that are read at a time while an index is built.
const BATCH: usize = 1_000;

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// From the front.
    First,
    /// Behind a place.
    After(Place),
    /// At a place only.
    At(Place),
}

/// What is asked for.
pub(crate) struct Request<'r> {
    pub(crate) seeker: Seeker,
    pub(crate) from: From,
    /// By message, correlation and group.
    pub(crate) ids: [Option<Identifier>; 3],
    pub(crate) sequence: Option<i32>,
    pub(crate) offset: Option<i32>,
    pub(crate) selector: Option<&'r Selector>,
    /// Only messages that neither this handle nor others that cooperate have marked.
    pub(crate) unmarked: bool,
    pub(crate) marked_by_handle: &'r BTreeSet<Place>,
    /// Only messages in no group, or that begin one.
    pub(crate) begins: bool,
    /// Only messages of groups that are complete.
    pub(crate) all_messages: bool,
    /// Only segments of messages that are complete.
    pub(crate) all_segments: bool,
    /// Hold what is found for the seeker's unit of work.
    pub(crate) take: bool,
}

/// What was found.
pub(crate) struct Found {
    pub(crate) at: Place,
    pub(crate) entry: Entry,
    /// How it was held before, if it was taken.
    pub(crate) before: Option<Hold>,
    pub(crate) message: Arc<Message>,
    pub(crate) backouts: u32,
}

impl Found {
    /// It, as the index has it taken.
    pub(crate) fn taken(&self) -> TakenEntry {
        TakenEntry { at: self.at, entry: self.entry, before: self.before }
    }
}

/// What a step under the latch answers.
struct Candidate {
    at: Place,
    entry: Entry,
    /// How it was held before, if it was taken in the same step.
    taken: Option<Option<Hold>>,
    volatile: Option<Arc<Message>>,
    backouts: u32,
}

impl Request<'_> {
    /// Whether the first visible message is the right one.
    fn is_plain(&self) -> bool {
        self.ids.iter().all(Option::is_none)
            && self.sequence.is_none()
            && self.offset.is_none()
            && self.selector.is_none()
            && !self.begins
            && !self.all_messages
            && !self.all_segments
    }

    /// The index to use: the identifier that is likely to be rarest.
    fn index(&self) -> Option<(By, u64)> {
        let order = [By::Message, By::Correlation, By::Group];
        let asked = |by: By| self.ids[by as usize].map(|id| (by, base::hash::bytes(&id)));
        order.into_iter().find_map(asked)
    }

    fn matches(&self, message: &Message) -> bool {
        let of = &message.descriptor;
        let identified =
            By::ALL.iter().all(|by| self.ids[*by as usize].is_none_or(|asked| *by.of(of) == asked));
        identified
            && self.sequence.is_none_or(|asked| of.msg_seq_number == asked)
            && self.offset.is_none_or(|asked| of.offset == asked)
            && (!self.begins || begins(of))
            && self.selector.is_none_or(|selector| selector.selects(message))
    }
}

/// Whether a message is in no group, or the first of one; whole, or its first segment.
fn begins(of: &MessageDescriptor) -> bool {
    (!of.is_in_group() || of.msg_seq_number == 1) && (!of.is_segment() || of.offset == 0)
}

impl<S: Store> Core<S> {
    /// The first message that is asked for.
    pub(crate) fn find(
        &self,
        queue: &Arc<Queue>,
        request: &Request<'_>,
        mut unit: Option<&mut S::Unit>,
    ) -> Answer<Option<Found>> {
        let index = request.index();
        if let Some((by, _)) = index {
            self.build_index(queue, by).map_err(failed)?;
        }
        let mut from = request.from;
        loop {
            let mut expired = Vec::new();
            let candidate = {
                let mut state = queue.state.lock();
                require(!state.deleted, Reason::Q_DELETED)?;
                require(state.settings.get_enabled, Reason::GET_INHIBITED)?;
                self.step(&mut state, request, index, &mut from, &mut expired)
            };
            if !expired.is_empty() {
                self.expire(queue, &expired);
            }
            let Some(candidate) = candidate else { return Ok(None) };
            from = From::After(candidate.at);
            if let Some(found) = self.verify(queue, request, candidate, unit.as_deref_mut())? {
                return Ok(Some(found));
            }
            if matches!(request.from, From::At(_)) {
                return Ok(None);
            }
        }
    }

    /// One step under the latch: the next message that may be it.
    fn step(
        &self,
        state: &mut State,
        request: &Request<'_>,
        index: Option<(By, u64)>,
        from: &mut From,
        expired: &mut Vec<Place>,
    ) -> Option<Candidate> {
        let seeker = &request.seeker;
        let now_ms = if request.unmarked { self.now_ms() } else { 0 };
        loop {
            let (at, entry) = match *from {
                From::At(at) => (at, state.index.visible(at, seeker)?),
                From::First => state.index.next(None, seeker, index)?,
                From::After(at) => state.index.next(Some(at), seeker, index)?,
            };
            let damaged = state.damaged.contains(&at);
            let over = entry.expires != 0 && entry.expires <= seeker.now;
            if over && !damaged {
                expired.push(at);
            }
            let marked = request.unmarked
                && (request.marked_by_handle.contains(&at)
                    || state.marks.get(&at).is_some_and(|until| *until > now_ms));
            if over || marked || damaged {
                if matches!(*from, From::At(_)) {
                    return None;
                }
                *from = From::After(at);
                continue;
            }
            let taken = if request.take && request.is_plain() {
                Some(state.index.take(at, seeker, seeker.unit)?)
            } else {
                None
            };
            let volatile = state.index.volatile(at);
            let backouts = state.index.backout_count(at);
            return Some(Candidate { at, entry, taken, volatile, backouts });
        }
    }

    /// Reads a candidate and compares it; takes it if that is asked for.
    fn verify(
        &self,
        queue: &Arc<Queue>,
        request: &Request<'_>,
        candidate: Candidate,
        unit: Option<&mut S::Unit>,
    ) -> Answer<Option<Found>> {
        let Candidate { at, entry, taken, volatile, backouts } = candidate;
        let give_back = || {
            if let Some(before) = taken {
                queue.give_back(at, before);
            }
        };
        let message = match volatile {
            Some(message) => message,
            None => match self.bodies.read(unit, queue.location(), at) {
                Ok(Some(message)) => Arc::new(message),
                // A getter that has not taken it may find that another has, and removed it.
                Ok(None) if taken.is_none() => return Ok(None),
                Ok(None) | Err(StoreError::Damaged(_)) => {
                    give_back();
                    queue.state.lock().damaged.insert(at);
                    return Ok(None);
                }
                Err(error) => {
                    give_back();
                    return Err(failed(error));
                }
            },
        };
        if taken.is_some() {
            let before = taken.flatten();
            return Ok(Some(Found { at, entry, before, message, backouts }));
        }
        if !request.matches(&message) || !self.is_complete(queue, request, &message)? {
            return Ok(None);
        }
        let mut before = None;
        if request.take {
            let taken = queue.state.lock().index.take(at, &request.seeker, request.seeker.unit);
            let Some(held) = taken else { return Ok(None) };
            before = held;
        }
        Ok(Some(Found { at, entry, before, message, backouts }))
    }

    /// Whether the group, or the segments, of a message are all there, if that is asked for.
    fn is_complete(
        &self,
        queue: &Arc<Queue>,
        request: &Request<'_>,
        message: &Message,
    ) -> Answer<bool> {
        let of = &message.descriptor;
        if request.all_messages && of.is_in_group() {
            let members = self.group(queue, &request.seeker, &of.group_id)?;
            let mut sequence = 1;
            loop {
                let parts: Vec<_> =
                    members.iter().filter(|(_, m)| m.msg_seq_number == sequence).collect();
                if !segments_are_complete(&parts) {
                    return Ok(false);
                }
                if parts.iter().any(|(_, part)| part.is_last_in_group()) {
                    return Ok(true);
                }
                sequence += 1;
            }
        }
        if request.all_segments && of.is_segment() {
            let members = self.group(queue, &request.seeker, &of.group_id)?;
            let parts: Vec<_> = members
                .iter()
                .filter(|(_, part)| part.msg_seq_number == of.msg_seq_number)
                .collect();
            return Ok(segments_are_complete(&parts));
        }
        Ok(true)
    }

    /// The lengths and descriptors of all visible messages of a group.
    fn group(
        &self,
        queue: &Arc<Queue>,
        seeker: &Seeker,
        group: &Identifier,
    ) -> Answer<Vec<(usize, MessageDescriptor)>> {
        self.build_index(queue, By::Group).map_err(failed)?;
        let hash = base::hash::bytes(group);
        let (mut after, mut members) = (None, Vec::new());
        loop {
            let (at, entry, volatile) = {
                let state = queue.state.lock();
                let Some((at, entry)) = state.index.next(after, seeker, Some((By::Group, hash)))
                else {
                    return Ok(members);
                };
                after = Some(at);
                if state.damaged.contains(&at) {
                    continue;
                }
                (at, entry, state.index.volatile(at))
            };
            let message = match volatile {
                Some(message) => Some((*message).clone()),
                None => self.read_or_set_aside(queue, at).map_err(failed)?,
            };
            if let Some(message) = message
                && message.descriptor.group_id == *group
            {
                members.push((entry.bytes as usize, message.descriptor));
            }
        }
    }

    /// Reads a message that nobody has asked for; a damaged one is set aside.
    pub(super) fn read_or_set_aside(
        &self,
        queue: &Queue,
        at: Place,
    ) -> Result<Option<Message>, StoreError> {
        match self.bodies.read(None, queue.location(), at) {
            Err(StoreError::Damaged(_)) => {
                queue.state.lock().damaged.insert(at);
                Ok(None)
            }
            read => read,
        }
    }

    /// Builds an index, unless it is built. What is damaged is set aside, and is not in it.
    fn build_index(&self, queue: &Arc<Queue>, by: By) -> Result<(), StoreError> {
        if queue.state.lock().index.is_built(by) {
            return Ok(());
        }
        let _one_at_a_time = queue.building.lock();
        if queue.state.lock().index.is_built(by) {
            return Ok(());
        }
        let there = queue.state.lock().index.begin_build(by);
        let hash = |message: &Message| base::hash::bytes(by.of(&message.descriptor));
        for batch in there.chunks(BATCH) {
            let mut hashes = Vec::with_capacity(batch.len());
            let mut stored = Vec::with_capacity(batch.len());
            for (at, volatile) in batch {
                match volatile {
                    Some(message) => hashes.push((hash(message), *at)),
                    None => stored.push(*at),
                }
            }
            let damaged = self.bodies.read_many(queue.location(), &stored, |at, message| {
                hashes.push((hash(message), at));
            })?;
            let mut state = queue.state.lock();
            state.damaged.extend(damaged);
            for (hash, at) in hashes {
                state.index.build(by, hash, at);
            }
        }
        queue.state.lock().index.end_build(by);
        Ok(())
    }
}

/// Whether parts of one logical message are all of it.
fn segments_are_complete(parts: &[&(usize, MessageDescriptor)]) -> bool {
    let mut offset = 0;
    loop {
        let part = parts.iter().find(|(_, part)| part.offset as usize == offset);
        let Some((bytes, part)) = part else { return false };
        if part.is_last_segment() {
            return true;
        }
        if *bytes == 0 {
            return false;
        }
        offset += bytes;
    }
}
