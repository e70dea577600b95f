//! What the model remembers, all under one mutex.
//!
//! Invariants:
//! 1. `entries` holds the newest values, committed or not; a unit of work's `undo` brings back what
//!    was there before it.
//! 2. `durable <= commits`; they differ only while the log is held.
//! 3. A unit of work stands in `units` from its begin to its end, and its locks are in its entry.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::locks::{Locks, Request};
use store::CommitSink;
use store::error::{Result, StoreError};
use store::traits::UnitOptions;
use store::{Locking, SetAttributes, SetId};

#[derive(Default)]
pub(super) struct State {
    pub(super) sets: BTreeMap<SetId, SetData>,
    pub(super) sets_made: u32,
    pub(super) units: BTreeMap<u64, UnitState>,
    pub(super) units_begun: u64,
    pub(super) tickets: u64,
    /// How many units of work that changed something have been committed.
    pub(super) commits: u64,
    /// How many of them are durable.
    pub(super) durable: u64,
    /// While the log is held: the sets as a restart would find them.
    pub(super) held_image: Option<BTreeMap<SetId, SetData>>,
    pub(super) queue: VecDeque<Queued>,
    /// A thread is telling sinks, and will also tell those that are queued meanwhile.
    pub(super) settling: bool,
    pub(super) stopped: Option<Box<str>>,
    /// How many changes more can be logged, if that is limited.
    pub(super) log_room: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct SetData {
    pub(super) name: String,
    pub(super) attributes: SetAttributes,
    pub(super) entries: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) drawn: u64,
}

pub(super) struct UnitState {
    pub(super) options: UnitOptions,
    pub(super) begun: Duration,
    pub(super) undo: Vec<Undo>,
    pub(super) bytes: u64,
    pub(super) savepoints: Vec<usize>,
    pub(super) locks: Locks,
    pub(super) waiting: Option<Waiting>,
    /// Drawn at the first wait of a call, kept to its end.
    pub(super) ticket: Option<u64>,
    /// What it last waited for in this call.
    pub(super) asked: Option<Request>,
    pub(super) victim: bool,
}

impl UnitState {
    /// Whether it has changed or locked something in a set.
    fn uses(&self, set: SetId) -> bool {
        self.locks.hold_in(set) || self.undo.iter().any(|undo| undo.set == set)
    }
}

/// A request that has not been granted.
pub(super) struct Waiting {
    pub(super) request: Request,
    /// Waits are granted in the order of their tickets, unless that would be a deadlock.
    pub(super) ticket: u64,
}

/// The value that a key had before a change.
pub(super) struct Undo {
    pub(super) set: SetId,
    pub(super) key: Vec<u8>,
    pub(super) old: Option<Vec<u8>>,
}

/// A commit whose sink has not been told.
pub(super) struct Queued {
    pub(super) sink: Arc<dyn CommitSink>,
    pub(super) token: u64,
    pub(super) order: u64,
}

impl State {
    pub(super) fn check_running(&self) -> Result<()> {
        self.stopped.as_ref().map_or(Ok(()), |reason| Err(StoreError::Stopped(reason.clone())))
    }

    pub(super) fn check_log(&self) -> Result<()> {
        match self.log_room {
            Some(0) => Err(StoreError::LogFull("the log is full".into())),
            _ => Ok(()),
        }
    }

    /// Logs a change.
    pub(super) fn log(&mut self) -> Result<()> {
        self.check_log()?;
        self.log_room = self.log_room.map(|room| room - 1);
        Ok(())
    }

    pub(super) fn set(&self, set: SetId) -> Result<&SetData> {
        self.sets.get(&set).ok_or(StoreError::NoSuchSet(set))
    }

    pub(super) fn locks_keys(&self, set: SetId) -> Result<bool> {
        Ok(self.set(set)?.attributes.locking == Locking::Keys)
    }

    pub(super) fn unit(&mut self, number: u64) -> &mut UnitState {
        self.units.get_mut(&number).expect("a unit of work stands in the table until it ends")
    }

    /// Notes that a unit of work waits for a request; whether it waited for another one before in
    /// the same call, for what it looks for may have moved.
    pub(super) fn wait_for(&mut self, unit: u64, request: Request) -> bool {
        self.tickets += 1;
        let next = self.tickets;
        let unit = self.unit(unit);
        let ticket = *unit.ticket.get_or_insert(next);
        let before = unit.asked.replace(request.clone());
        unit.waiting = Some(Waiting { request, ticket });
        before.is_some_and(|before| Some(before) != unit.asked)
    }

    /// Takes a lock for a unit of work. If others stand against it, gives the request back.
    pub(super) fn grant(&mut self, unit: u64, request: Request) -> Option<Request> {
        let ticket = self.units.get(&unit).and_then(|unit| unit.ticket).unwrap_or(u64::MAX);
        if self.blockers(unit, &request, ticket).next().is_some() {
            return Some(request);
        }
        self.unit(unit).locks.add(request);
        None
    }

    /// The same for keys of a set, where the caller may keep the peace instead.
    pub(super) fn blocked(
        &mut self,
        unit: u64,
        set: SetId,
        request: Option<Request>,
    ) -> Result<Option<Request>> {
        let locks = self.locks_keys(set)?;
        Ok(request.filter(|_| locks).and_then(|request| self.grant(unit, request)))
    }

    /// The next place in the order of commits, or the last one for a unit of work that has
    /// changed nothing: what it read must be durable before it is acknowledged (K2).
    pub(super) fn commit(&mut self, changed: bool) -> u64 {
        self.commits += u64::from(changed);
        if self.held_image.is_none() {
            self.durable = self.commits;
        }
        self.commits
    }

    /// Changes one key and remembers how to undo it.
    pub(super) fn write(&mut self, unit: u64, set: SetId, key: &[u8], new: Option<&[u8]>) {
        let entries = &mut self.sets.get_mut(&set).expect("the caller has looked it up").entries;
        let old = match new {
            Some(value) => entries.insert(key.to_vec(), value.to_vec()),
            None => entries.remove(key),
        };
        let unit = self.unit(unit);
        unit.bytes += (key.len() + new.map_or(0, <[u8]>::len)) as u64;
        unit.undo.push(Undo { set, key: key.to_vec(), old });
    }

    /// Undoes the changes of a unit of work until only `keep` of them are left.
    pub(super) fn undo(&mut self, unit: u64, keep: usize) {
        let unit = self.units.get_mut(&unit).expect("a unit of work that is undone is there");
        let undone = unit.undo.split_off(keep);
        put_back(&mut self.sets, &undone);
    }

    /// The sets as they are without the units of work in flight.
    pub(super) fn committed_image(&self) -> BTreeMap<SetId, SetData> {
        let mut image = self.sets.clone();
        self.units.values().for_each(|unit| put_back(&mut image, &unit.undo));
        image
    }

    /// Whether a unit of work has changed or locked something in the set.
    pub(super) fn is_in_use(&self, set: SetId) -> bool {
        self.units.values().any(|unit| unit.uses(set))
    }

    /// Whether another one than this has.
    pub(super) fn is_used_beside(&self, number: u64, set: SetId) -> bool {
        self.units.iter().any(|(other, unit)| *other != number && unit.uses(set))
    }

    /// The other units of work that stand against a request: those whose locks conflict with it,
    /// and those who wait for conflicting ones with an earlier ticket, or a retry would overtake
    /// them for ever. Who waits for the requester itself is not waited for in turn.
    pub(super) fn blockers<'a>(
        &'a self,
        unit: u64,
        request: &'a Request,
        ticket: u64,
    ) -> impl Iterator<Item = u64> + 'a {
        let own = self.units.get(&unit).map(|unit| &unit.locks);
        let stands_before = move |other: &UnitState| {
            let waiting = other.waiting.as_ref().filter(|_| !other.victim);
            waiting.is_some_and(|waiting| {
                waiting.ticket < ticket
                    && waiting.request.conflicts_with(request)
                    && !own.is_some_and(|own| own.conflict_with(&waiting.request))
            })
        };
        let others = self.units.iter().filter(move |(number, _)| **number != unit);
        others
            .filter(move |(_, other)| other.locks.conflict_with(request) || stands_before(other))
            .map(|(number, _)| *number)
    }

    /// Who has to give way if the wait of `unit` closes a circle of waits: the one with the least
    /// to undo, but nobody who has given way twice already if that can be helped (K14).
    pub(super) fn deadlock_victim(&self, unit: u64) -> Option<u64> {
        let circle = self.circle(unit, unit, &mut vec![unit])?;
        let cost = |number: &u64| {
            let unit = &self.units[number];
            let count = unit.options.victim_count;
            (if count < 2 { 0 } else { count }, unit.bytes, std::cmp::Reverse(*number))
        };
        circle.into_iter().min_by_key(cost)
    }

    /// A path of waits from `at` to `goal`, over units of work that are not on `path` yet.
    fn circle(&self, goal: u64, at: u64, path: &mut Vec<u64>) -> Option<Vec<u64>> {
        let waiting = self.units.get(&at).filter(|unit| !unit.victim)?.waiting.as_ref()?;
        for next in self.blockers(at, &waiting.request, waiting.ticket) {
            if next == goal {
                return Some(path.clone());
            }
            if !path.contains(&next) {
                path.push(next);
                if let Some(found) = self.circle(goal, next, path) {
                    return Some(found);
                }
                path.pop();
            }
        }
        None
    }
}

fn put_back(sets: &mut BTreeMap<SetId, SetData>, undone: &[Undo]) {
    for undo in undone.iter().rev() {
        let Some(set) = sets.get_mut(&undo.set) else { continue };
        match &undo.old {
            Some(value) => set.entries.insert(undo.key.clone(), value.clone()),
            None => set.entries.remove(&undo.key),
        };
    }
}
