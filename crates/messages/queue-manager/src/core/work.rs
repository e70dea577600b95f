//! A unit of work: what is put and got in it, and what becomes of that at its end.
//!
//! 1. A persistent message is written and deleted in the store's unit of work; what the indexes
//!    say follows only when that has ended.
//! 2. A unit of work without persistent messages has none in the store.
//! 3. A unit of work that was given from outside is ended outside; then it is settled here. Nothing
//!    here ends it: what cannot be undone in it otherwise has its owner back it out.
//! 4. A unit of work that the store could not go on with is doomed: nothing more is done in it,
//!    and its commit fails. So its owner hears at commit that what was done before is gone.
//! 5. What a branch of a global transaction gets stays in the store until its end, so that it can
//!    be prepared: then the store has what was put, what was got, and which messages those are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use store::{Savepoint, SetId, Store, StoreError, Unit, UnitOptions};

use super::{Core, failed};
use crate::branch::{BranchState, Record};
use crate::descriptor::MessageDescriptor;
use crate::message::Message;
use crate::queue::{Broken, Entry, Hashes, Hold, Place, Queue, Seeker, hashes, place};
use crate::reason::{Answer, Failed, Reason, fail, require};

/// A message that is put.
struct Pending {
    queue: Arc<Queue>,
    at: Place,
    entry: Entry,
    hashes: Hashes,
}

/// A message that is taken in the index of its queue.
#[derive(Clone, Copy)]
pub(crate) struct TakenEntry {
    pub(crate) at: Place,
    pub(crate) entry: Entry,
    /// How it was held before.
    pub(crate) before: Option<Hold>,
}

/// A message that is got.
struct Taken {
    queue: Arc<Queue>,
    at: Place,
    entry: Entry,
    hashes: Hashes,
    before: Option<Hold>,
    /// It stays got when the unit of work is backed out.
    stays: bool,
}

impl Taken {
    /// Whether the same unit of work has put it.
    fn is_own(&self) -> bool {
        matches!(self.before, Some(Hold::Put(_)))
    }
}

/// What becomes known of retained publications when the unit of work is committed.
pub(crate) struct Retained {
    pub(crate) topic: String,
    pub(crate) at: Place,
}

/// A point in a unit of work.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    puts: usize,
    retained: usize,
    gets: usize,
    had_unit: bool,
    savepoint: Option<Savepoint>,
}

/// A point in a unit of work from outside, whose owner goes back to it in the store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    puts: usize,
    gets: usize,
    retained: usize,
}

/// A unit of work.
pub(crate) struct Work<S: Store> {
    number: u64,
    unit: Option<S::Unit>,
    joined: bool,
    /// Something could not be undone in a unit of work from outside.
    must_back_out: bool,
    /// All that is left is to back it out.
    doomed: bool,
    puts: Vec<Pending>,
    gets: Vec<Taken>,
    pub(crate) retained: Vec<Retained>,
    /// Trigger messages of its own are not looked at: they would make more of themselves.
    quiet: bool,
    /// What comes back by its backout counts that.
    counts: bool,
    /// What is got is deleted at its end (5).
    deferred: bool,
}

impl<S: Store> Work<S> {
    pub(crate) fn new(core: &Core<S>) -> Work<S> {
        Work {
            number: core.serial(),
            unit: None,
            joined: false,
            must_back_out: false,
            doomed: false,
            puts: Vec::new(),
            gets: Vec::new(),
            retained: Vec::new(),
            quiet: false,
            counts: true,
            deferred: false,
        }
    }

    /// One whose messages make no trigger messages.
    pub(crate) fn quiet(core: &Core<S>) -> Work<S> {
        Work { quiet: true, ..Work::new(core) }
    }

    /// One that moves what was backed out too often: what cannot be moved waits where it is.
    pub(crate) fn moving(core: &Core<S>) -> Work<S> {
        Work { counts: false, ..Work::new(core) }
    }

    /// That of a branch of a global transaction.
    pub(crate) fn of_branch(core: &Core<S>) -> Work<S> {
        Work { deferred: true, ..Work::new(core) }
    }

    /// That of a branch which was prepared before the start: what is kept of it is held again.
    pub(crate) fn recovered(
        core: &Core<S>,
        record: &Record,
        queues: &BTreeMap<u32, Arc<Queue>>,
    ) -> Work<S> {
        let mut work = Work::of_branch(core);
        // A queue cannot be removed while messages of it are held.
        let known = |number: &u32| queues.get(number).cloned();
        for (number, at) in &record.puts {
            let Some(queue) = known(number) else { continue };
            let hidden = queue.state.lock().index.hide(*at, work.number);
            if let Some(entry) = hidden {
                work.puts.push(Pending { queue, at: *at, entry, hashes: [0; 3] });
            }
        }
        let seeker = Seeker { unit: work.number, handle: 0, now: core.now_tenths() };
        for (number, at) in &record.gets {
            let Some(queue) = known(number) else { continue };
            let taken = {
                let mut state = queue.state.lock();
                let entry = state.index.visible(*at, &seeker);
                entry.filter(|_| state.index.take(*at, &seeker, work.number).is_some())
            };
            if let Some(entry) = taken {
                let (before, stays, hashes) = (None, false, [0; 3]);
                work.gets.push(Taken { queue, at: *at, entry, hashes, before, stays });
            }
        }
        let retained = record.retained.iter();
        work.retained =
            retained.map(|(at, topic)| Retained { topic: topic.clone(), at: *at }).collect();
        work
    }

    /// What is to be kept of it when it is prepared.
    pub(crate) fn record(&self, state: BranchState, since_ms: u64, user: &str) -> Record {
        let own: BTreeSet<Place> = self.own_gets().collect();
        let puts = self.puts.iter().filter(|put| put.entry.persistent && !own.contains(&put.at));
        let puts = puts.map(|put| (put.queue.number, put.at)).collect();
        let gets = self.gets.iter().filter(|got| got.entry.persistent && !got.is_own());
        let gets = gets.map(|got| (got.queue.number, got.at)).collect();
        let retained = self.retained.iter().map(|one| (one.at, one.topic.clone())).collect();
        Record { state, since_ms, user: user.to_owned(), puts, gets, retained }
    }

    /// The places of what was both put and got in it. Places are unique over all queues.
    fn own_gets(&self) -> impl Iterator<Item = Place> + '_ {
        self.gets.iter().filter(|got| got.is_own()).map(|got| got.at)
    }

    /// Whether it retains publications.
    pub(crate) fn publishes(&self) -> bool {
        !self.retained.is_empty()
    }

    /// Prepares it: its record is kept with all that was put. Unless that is done, it is backed
    /// out.
    pub(crate) fn prepare(
        &mut self,
        core: &Core<S>,
        (set, key): (SetId, &[u8]),
        record: &[u8],
    ) -> Answer<()> {
        let kept = self.goes_on().and_then(|()| {
            let unit = self.unit(core).map_err(failed)?;
            unit.put(set, key, record).map_err(failed)
        });
        if kept.is_err() {
            self.back(core);
            return fail(Reason::BACKED_OUT);
        }
        self.end_unit(core)
    }

    /// Ends a prepared one: what was got goes, or what was put; `record` sees to what is kept of
    /// it. If that fails nothing has changed.
    pub(crate) fn resolve(
        &mut self,
        core: &Core<S>,
        commits: bool,
        record: impl FnOnce(&mut S::Unit) -> store::Result<()>,
    ) -> store::Result<()> {
        let mut unit =
            core.store.begin(UnitOptions { owner: self.number, ..Default::default() })?;
        let changed = match commits {
            true => self.delete_gets(core, &mut unit),
            false => self.delete_puts(core, &mut unit),
        };
        match changed.and_then(|()| record(&mut unit)) {
            Ok(()) => unit.commit().map(drop)?,
            Err(error) => {
                // Whether or not the store goes on, nothing of this is kept.
                let _ = unit.backout();
                return Err(error);
            }
        }
        self.settle(core, commits);
        Ok(())
    }

    /// Deletes what was got and is in the store still.
    fn delete_gets(&self, core: &Core<S>, unit: &mut S::Unit) -> store::Result<()> {
        for got in self.gets.iter().filter(|got| got.entry.persistent && !got.is_own()) {
            let backed_out = got.queue.state.lock().index.backout_count(got.at) > 0;
            let location = got.queue.location();
            let deleted = core.bodies.delete(unit, location, got.at, &got.entry, backed_out);
            deleted.map_err(|broken| broken.error)?;
        }
        Ok(())
    }

    /// Deletes what was put.
    fn delete_puts(&self, core: &Core<S>, unit: &mut S::Unit) -> store::Result<()> {
        let own: BTreeSet<Place> = self.own_gets().collect();
        let puts = self.puts.iter().filter(|put| put.entry.persistent && !own.contains(&put.at));
        for put in puts {
            let deleted = core.bodies.delete(unit, put.queue.location(), put.at, &put.entry, false);
            deleted.map_err(|broken| broken.error)?;
        }
        Ok(())
    }

    /// Fails once all that is left is to back it out.
    pub(crate) fn goes_on(&self) -> Answer<()> {
        require(!self.doomed, Reason::BACKED_OUT)
    }

    /// Its number, by which the indexes know who holds what.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Messages put and got.
    pub(crate) fn messages(&self) -> usize {
        self.puts.len() + self.gets.len()
    }

    /// Whether nothing has been done in it.
    pub(crate) fn is_idle(&self) -> bool {
        self.messages() == 0 && self.unit.is_none() && !self.doomed
    }

    /// Whether its end is decided outside.
    pub(crate) fn is_joined(&self) -> bool {
        self.joined
    }

    pub(crate) fn join(&mut self, unit: S::Unit) {
        self.lend(Some(unit));
    }

    /// As `join`; without a unit of work one begins when it is needed.
    pub(crate) fn lend(&mut self, unit: Option<S::Unit>) {
        self.unit = unit;
        self.joined = true;
    }

    /// Whether the owner of the unit of work has to back it out.
    pub(crate) fn must_back_out(&self) -> bool {
        self.must_back_out
    }

    /// It is not known how the unit of work has ended: its messages stay held, and restart tells.
    pub(crate) fn abandon(&mut self) {
        self.joined = false;
        self.puts.clear();
        self.gets.clear();
        self.retained.clear();
    }

    /// The point reached.
    pub(crate) fn point(&self) -> Point {
        let (puts, gets, retained) = (self.puts.len(), self.gets.len(), self.retained.len());
        Point { puts, gets, retained }
    }

    /// The store is back at a point: the indexes follow.
    pub(crate) fn return_to(&mut self, point: Point) {
        for got in self.gets.drain(point.gets.min(self.gets.len())..) {
            let mut state = got.queue.state.lock();
            state.index.untake(got.at, got.before);
            got.queue.notify(&mut state, 1);
        }
        for put in self.puts.drain(point.puts.min(self.puts.len())..) {
            put.queue.state.lock().index.gone(put.at, &put.hashes);
        }
        self.retained.truncate(point.retained);
    }

    /// Gives the unit of work back that was given from outside.
    pub(crate) fn leave(&mut self) -> Option<S::Unit> {
        if self.joined { self.unit.take() } else { None }
    }

    /// The store's unit of work, to go on elsewhere.
    pub(crate) fn take_unit(&mut self) -> Option<S::Unit> {
        self.unit.take()
    }

    /// Who looks for messages in it.
    pub(crate) fn seeker(&self, handle: u64, now: u32) -> Seeker {
        Seeker { unit: self.number, handle, now }
    }

    /// The store's unit of work; begins one if need be.
    pub(crate) fn unit(&mut self, core: &Core<S>) -> Result<&mut S::Unit, StoreError> {
        let unit = match self.unit.take() {
            Some(unit) => unit,
            None => core.store.begin(UnitOptions { owner: self.number, ..Default::default() })?,
        };
        Ok(self.unit.insert(unit))
    }

    /// The store's unit of work, if there is one.
    pub(crate) fn open_unit(&mut self) -> Option<&mut S::Unit> {
        self.unit.as_mut()
    }

    /// Puts a message on a queue: others see it after the commit.
    pub(crate) fn stage(
        &mut self,
        core: &Core<S>,
        queue: &Arc<Queue>,
        message: Message,
    ) -> Answer<Place> {
        self.goes_on()?;
        let arrival = core.bodies.number().map_err(failed)?;
        let (persistent, bytes) = (message.descriptor.is_persistent(), message.data.len());
        let hashes = hashes(&message.descriptor);
        let expires = if message.expires_ms == 0 { 0 } else { core.tenths_of(message.expires_ms) };
        let entry = Entry {
            bytes: bytes as u32,
            put_s: (message.put_ms / 1_000) as u32,
            expires,
            persistent,
            large: persistent && message.is_large(),
        };
        if !persistent {
            core.has_memory(bytes)?;
        }
        let message = Arc::new(message);
        let (at, event) = {
            let mut state = queue.state.lock();
            if let Err(refused) = state.admits(bytes) {
                let full = refused.0 == Reason::Q_FULL;
                let event = if full { state.watch.refused() } else { None };
                drop(state);
                if let Some(event) = event {
                    core.depth_event(queue, event);
                }
                return Err(refused);
            }
            queue.choose_page_set(&state);
            let known = !persistent || core.bodies.has(queue.location().page_set);
            require(known, Reason::PAGESET_ERROR)?;
            let priority = message.descriptor.priority;
            let at = place(if state.settings.by_priority { priority } else { 9 }, arrival);
            let volatile = (!persistent).then(|| Arc::clone(&message));
            state.index.coming(at, entry, self.number, &hashes, volatile);
            let depth = state.index.depth();
            state.statistics.put(bytes, depth, message.put_ms);
            let late = state.service.is_on().then(|| state.service.put(depth, message.put_ms));
            (at, [state.watch.put(depth), late.flatten()])
        };
        for event in event.into_iter().flatten() {
            core.depth_event(queue, event);
        }
        let written = match persistent {
            false => Ok(()),
            true => {
                let unit = self.unit(core).map_err(Broken::from);
                unit.and_then(|unit| core.bodies.write(unit, queue.location(), at, &message))
            }
        };
        if let Err(broken) = written {
            queue.state.lock().index.gone(at, &hashes);
            return Err(self.lost(broken));
        }
        self.puts.push(Pending { queue: Arc::clone(queue), at, entry, hashes });
        Ok(at)
    }

    /// Gets a message that was taken in the index for this unit of work.
    pub(crate) fn take(
        &mut self,
        core: &Core<S>,
        queue: &Arc<Queue>,
        TakenEntry { at, entry, before }: TakenEntry,
        message: &MessageDescriptor,
        stays: bool,
    ) -> Answer<()> {
        // A lock ends with the get: it is not asked for when the message comes back.
        let before = before.filter(|hold| !matches!(hold, Hold::Locked(_)));
        if let Err(doomed) = self.goes_on() {
            queue.give_back(at, before);
            return Err(doomed);
        }
        let hashes = hashes(message);
        let event = {
            let mut state = queue.state.lock();
            state.index.identify(at, &hashes);
            let depth = state.index.depth();
            let late = state.service.is_on().then(|| state.service.got(depth, core.now_ms()));
            [state.watch.got(depth), late.flatten()]
        };
        for event in event.into_iter().flatten() {
            core.depth_event(queue, event);
        }
        let own = matches!(before, Some(Hold::Put(_)));
        if entry.persistent && (own || !self.deferred) {
            let backed_out = queue.state.lock().index.backout_count(at) > 0;
            let location = queue.location();
            let deleted = self
                .unit(core)
                .map_err(Broken::from)
                .and_then(|unit| core.bodies.delete(unit, location, at, &entry, backed_out));
            if let Err(broken) = deleted {
                queue.give_back(at, before);
                return Err(self.lost(broken));
            }
        }
        self.gets.push(Taken { queue: Arc::clone(queue), at, entry, hashes, before, stays });
        Ok(())
    }

    /// The store has failed: unless it is the message that is damaged, all is to be backed out.
    fn lost(&mut self, broken: Broken) -> Failed {
        let Broken { error, undone } = broken;
        let of_message = matches!(error, StoreError::Damaged(_)) || !error.dooms_unit();
        let reason = failed(error);
        if undone && of_message {
            return reason;
        }
        if self.joined {
            self.must_back_out |= !undone;
            return reason;
        }
        self.doom();
        match reason.0 {
            Reason::STORAGE_MEDIUM_FULL | Reason::SYNCPOINT_LIMIT_REACHED => reason,
            Reason::Q_MGR_STOPPING => reason,
            _ => Failed(Reason::BACKED_OUT),
        }
    }

    /// All that is left is to back it out. The store need not keep it until then.
    fn doom(&mut self) {
        self.doomed = true;
        if let Some(unit) = self.unit.take() {
            // If the store has stopped, restart backs it out.
            let _ = unit.backout();
        }
    }

    /// Fails if there is no room for another message.
    pub(crate) fn has_room(&self, most: usize) -> Answer<()> {
        require(self.messages() < most, Reason::SYNCPOINT_LIMIT_REACHED)
    }

    /// Commits; answers when that is durable. Backs out what is doomed.
    pub(crate) fn commit(&mut self, core: &Core<S>) -> Answer<()> {
        if let Err(doomed) = self.goes_on() {
            self.back(core);
            return Err(doomed);
        }
        if self.deferred && self.gets.iter().any(|got| got.entry.persistent && !got.is_own()) {
            let deleted = self.unit(core).map(drop).and_then(|()| {
                let mut unit = self.unit.take();
                let deleted = unit.as_mut().map_or(Ok(()), |unit| self.delete_gets(core, unit));
                self.unit = unit;
                deleted
            });
            if deleted.is_err() {
                self.back(core);
                return fail(Reason::BACKED_OUT);
            }
        }
        self.end_unit(core)?;
        self.settle(core, true);
        Ok(())
    }

    /// Commits the unit of work in the store; if that fails, all is backed out, or held until
    /// restart tells.
    fn end_unit(&mut self, core: &Core<S>) -> Answer<()> {
        if let Some(unit) = self.unit.take()
            && let Err(error) = unit.commit()
        {
            let unknown = matches!(error, StoreError::CommitUnknown(_) | StoreError::Stopped(_));
            let reason = failed(error);
            if unknown {
                // Its messages stay held: restart tells what became of them.
                self.puts.clear();
                self.gets.clear();
                return Err(reason);
            }
            self.settle(core, false);
            return fail(Reason::BACKED_OUT);
        }
        Ok(())
    }

    /// Backs out.
    pub(crate) fn back(&mut self, core: &Core<S>) {
        if let Some(unit) = self.unit.take() {
            // If the store has stopped, restart backs it out.
            let _ = unit.backout();
        }
        self.settle(core, false);
    }

    /// The point reached, to undo what is put behind it.
    pub(crate) fn mark(&mut self) -> Mark {
        let savepoint = self.unit.as_mut().and_then(|unit| unit.savepoint().ok());
        Mark {
            puts: self.puts.len(),
            retained: self.retained.len(),
            gets: self.gets.len(),
            had_unit: self.unit.is_some(),
            savepoint,
        }
    }

    /// Undoes what was put and got since a point.
    pub(crate) fn undo_to(&mut self, mark: Mark) {
        let undone = match (mark.savepoint, self.unit.as_mut()) {
            (Some(savepoint), Some(unit)) => unit.rollback_to(savepoint).is_ok(),
            // The unit of work in the store began behind the point.
            (None, Some(_)) if !mark.had_unit => {
                self.unit.take().is_some_and(|unit| unit.backout().is_ok())
            }
            (None, Some(_)) => false,
            (_, None) => true,
        };
        match (undone, self.joined) {
            (true, _) => {
                let Mark { puts, gets, retained, .. } = mark;
                self.return_to(Point { puts, gets, retained });
            }
            (false, true) => self.must_back_out = true,
            (false, false) => self.doom(),
        }
    }

    /// The store's unit of work has ended: the indexes follow.
    pub(crate) fn settle(&mut self, core: &Core<S>, committed: bool) {
        self.joined = false;
        self.must_back_out = false;
        self.doomed = false;
        let (puts, gets) = (std::mem::take(&mut self.puts), std::mem::take(&mut self.gets));
        let retained = std::mem::take(&mut self.retained);
        if committed {
            for got in &gets {
                got.queue.state.lock().index.gone(got.at, &got.hashes);
            }
            self.appear(core, &puts);
            core.retain(retained);
        } else {
            self.come_back(core, gets);
            for put in &puts {
                put.queue.state.lock().index.gone(put.at, &put.hashes);
            }
        }
        self.number = core.serial();
    }

    /// What was put is seen by everybody.
    fn appear(&self, core: &Core<S>, puts: &[Pending]) {
        let mut from = 0;
        while from < puts.len() {
            let queue = &puts[from].queue;
            let same = puts[from..].iter().take_while(|put| Arc::ptr_eq(&put.queue, queue));
            let count = same.count();
            let places = puts[from..from + count].iter().map(|put| put.at);
            core.arrive(queue, places, self.quiet);
            from += count;
        }
    }

    fn come_back(&mut self, core: &Core<S>, gets: Vec<Taken>) {
        let mut backed_out = Vec::new();
        let mut stay = Vec::new();
        for got in gets {
            // A branch has no unit of work that follows.
            if got.stays && !self.deferred {
                stay.push(got);
                continue;
            }
            let count = {
                let mut state = got.queue.state.lock();
                let count = state.index.come_back(got.at, self.counts);
                state.statistics.backed_out += u64::from(count.is_some());
                if count.is_some() {
                    got.queue.notify(&mut state, 1);
                }
                count
            };
            if let Some(count) = count {
                backed_out.push((Arc::clone(&got.queue), got.at, got.entry, count));
            }
        }
        if self.counts {
            core.backed_out(&backed_out, self.quiet);
        }
        for got in stay {
            self.get_again(core, got);
        }
    }

    /// A message that was marked to skip backout stays got, in the unit of work that follows.
    fn get_again(&mut self, core: &Core<S>, mut got: Taken) {
        if matches!(got.before, Some(Hold::Put(_))) {
            got.queue.state.lock().index.gone(got.at, &got.hashes);
            return;
        }
        let location = got.queue.location();
        let backed_out = got.queue.state.lock().index.backout_count(got.at) > 0;
        let deleted = match got.entry.persistent {
            false => Ok(()),
            true => self.unit(core).map_err(Broken::from).and_then(|unit| {
                core.bodies.delete(unit, location, got.at, &got.entry, backed_out)
            }),
        };
        if let Err(Broken { undone: false, .. }) = deleted {
            self.doom();
        }
        if deleted.is_ok() {
            got.stays = false;
            self.gets.push(got);
        } else {
            let mut state = got.queue.state.lock();
            let _ = state.index.come_back(got.at, false);
            got.queue.notify(&mut state, 1);
        }
    }
}
