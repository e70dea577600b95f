//! Units of work of the model: strict two-phase locking, changes in place, undo in memory.

use std::sync::Arc;

use super::Shared;
use super::cursor::ModelCursor;
use super::cut::{Cut, Stretch};
use super::locks::Request;
use super::state::{Queued, State};
use super::wait::Attempt;
use store::SetId;
use store::error::{Limit, Result, StoreError, Waited};
use store::traits::{Cursor, Outcome, Savepoint, Unit, UnitOptions};
use store::{CommitSink, Committed};
use store::{Entry, KeyRange};
use store::{Grant, LockMode, LockName, Read, Wait};

/// A unit of work of a [`ModelStore`](super::ModelStore).
pub struct ModelUnit {
    shared: Arc<Shared>,
    number: u64,
    options: UnitOptions,
    failure: Option<StoreError>,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl Unit for ModelUnit {
    type Cursor = ModelCursor;

    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        let (number, mode) = (self.number, mode_of(read));
        let found = self.locked_call(|state| {
            let request = mode.map(|mode| Request::key(set, key, mode));
            Ok(match state.blocked(number, set, request)? {
                Some(request) => Attempt::Blocked(request),
                None => Attempt::Done(state.set(set)?.entries.get(key).cloned()),
            })
        })?;
        let there = found.is_some();
        value.extend(found.unwrap_or_default());
        Ok(there)
    }

    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.change(set, key, Some(value), |there| if there { Outcome::Exists } else { DONE })
    }

    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.change(set, key, Some(value), |there| if there { DONE } else { Outcome::Absent })
    }

    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(set, key, Some(value), |_| DONE).map(drop)
    }

    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome> {
        self.change(set, key, None, |there| if there { DONE } else { Outcome::Absent })
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64> {
        self.check_writable()?;
        let to = range.to.map_or(Cut::END, Cut::before);
        let stretch = Stretch { from: Cut::before(range.from), to };
        let (number, mut deleted) = (self.number, 0);
        // Key by key from the front, because a wait for one lock lets others in elsewhere.
        loop {
            self.check_room(0)?;
            let more = self.locked_call(|state| {
                let next = first_in(state, set, &stretch)?.map(|(key, _)| key);
                let key = next.clone().map(|key| (key, LockMode::Exclusive));
                let stretch = key.is_none().then(|| stretch.clone());
                let request = Some(Request::Keys { set, stretch, key });
                if let Some(request) = state.blocked(number, set, request)? {
                    return Ok(Attempt::Blocked(request));
                }
                if let Some(key) = &next {
                    state.write(number, set, key, None);
                }
                Ok(Attempt::Done(next.is_some()))
            })?;
            if !more {
                return Ok(deleted);
            }
            deleted += 1;
        }
    }

    fn next<'c>(&mut self, cursor: &'c mut ModelCursor, read: Read) -> Result<Option<Entry<'c>>> {
        let found = self.step(cursor.set(), &cursor.ahead(), read, Direction::Forward)?;
        Ok(found.map(|(key, value)| cursor.land_on(key, value)))
    }

    fn previous<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        let found = self.step(cursor.set(), &cursor.behind(), read, Direction::Backward)?;
        Ok(found.map(|(key, value)| cursor.land_on(key, value)))
    }

    fn current<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        let key = cursor.key().ok_or(StoreError::NoPosition)?.to_vec();
        let mut value = Vec::new();
        let there = self.get(cursor.set(), &key, read, &mut value)?;
        Ok(there.then(|| cursor.land_on(key, value)))
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut ModelCursor) -> Result<Option<Entry<'c>>> {
        let (set, ahead, number) = (cursor.set(), cursor.ahead(), self.number);
        let found = self.locked_call(|state| {
            if !state.locks_keys(set)? {
                return Ok(Attempt::Done(first_in(state, set, &ahead)?));
            }
            let claim = |key: &[u8]| Request::key(set, key, LockMode::Exclusive);
            let free = |key: &[u8]| state.blockers(number, &claim(key), u64::MAX).next().is_none();
            let found = entries_in(state, set, &ahead)?.find(|(key, _)| free(key));
            let found = found.map(|(key, value)| (key.clone(), value.clone()));
            if let Some((key, _)) = &found {
                let blocked = state.blocked(number, set, Some(claim(key)))?;
                assert!(blocked.is_none(), "the lock was free a moment ago, under this mutex");
            }
            Ok(Attempt::Done(found))
        })?;
        Ok(found.map(|(key, value)| cursor.land_on(key, value)))
    }

    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant> {
        let most = self.shared.capabilities.lock_name_bytes_max;
        if name.name.len() > most {
            return Err(StoreError::too_large(Limit::LockNameBytes, name.name.len(), most));
        }
        let number = self.number;
        let answer = self.call(wait, |state| {
            let held = state.unit(number).locks.name(name).is_some();
            Ok(match state.grant(number, Request::name(name, mode)) {
                Some(request) => Attempt::Blocked(request),
                None if held => Attempt::Done(Grant::Again),
                None => Attempt::Done(Grant::New),
            })
        })?;
        Ok(answer.unwrap_or(Grant::Busy))
    }

    fn uses_alone(&mut self, set: SetId) -> Result<bool> {
        let number = self.number;
        self.now(|state| {
            state.set(set)?;
            Ok(!state.is_used_beside(number, set))
        })
    }

    fn unlock(&mut self, name: LockName<'_>) -> Result<bool> {
        let number = self.number;
        let held = self.now(|state| Ok(state.unit(number).locks.drop_name(name)))?;
        self.shared.changed.notify_all();
        Ok(held)
    }

    fn held(&self, name: LockName<'_>) -> Option<LockMode> {
        self.shared.state.lock().units.get(&self.number)?.locks.name(name)
    }

    fn savepoint(&mut self) -> Result<Savepoint> {
        let most = self.shared.capabilities.savepoints_max as usize;
        let unit = self.number;
        self.now(|state| {
            let unit = state.unit(unit);
            let number = unit.savepoints.len();
            if number >= most {
                return Err(StoreError::too_large(Limit::Savepoints, number + 1, most));
            }
            unit.savepoints.push(unit.undo.len());
            Ok(Savepoint { point: unit.undo.len() as u64, number: number as u32 })
        })
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        let (point, number) = (savepoint.point as usize, savepoint.number as usize);
        let unit = self.number;
        self.now(|state| {
            let savepoints = &mut state.unit(unit).savepoints;
            if savepoints.get(number) != Some(&point) {
                return Err(StoreError::NoSuchSavepoint);
            }
            savepoints.truncate(number + 1);
            state.undo(unit, point);
            Ok(())
        })
    }

    fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    fn commit(mut self) -> Result<Committed> {
        let order = self.end_committed(None)?;
        self.shared.wait_for(order)?;
        Ok(super::committed(order))
    }

    fn commit_queued(mut self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()> {
        self.end_committed(Some((sink, token)))?;
        self.shared.settle();
        Ok(())
    }

    fn keep_open(&mut self) -> Result<()> {
        let number = self.number;
        self.now(|state| match state.unit(number).undo.is_empty() {
            true => Ok(()),
            false => state.check_log(),
        })
    }

    fn backout(mut self) -> Result<()> {
        self.end_backed_out()
    }
}

const DONE: Outcome = Outcome::Done;

/// An entry copied out of the state.
type Copied = (Vec<u8>, Vec<u8>);

fn mode_of(read: Read) -> Option<LockMode> {
    match read {
        Read::Unlocked => None,
        Read::Shared => Some(LockMode::Shared),
        Read::Update => Some(LockMode::Update),
        Read::Exclusive => Some(LockMode::Exclusive),
    }
}

fn entries_in<'a>(
    state: &'a State,
    set: SetId,
    stretch: &'a Stretch,
) -> Result<impl DoubleEndedIterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>> {
    let entries = &state.set(set)?.entries;
    let some = (!stretch.is_empty()).then(|| entries.range::<[u8], _>(stretch.bounds()));
    Ok(some.into_iter().flatten())
}

fn first_in(state: &State, set: SetId, stretch: &Stretch) -> Result<Option<Copied>> {
    let found = entries_in(state, set, stretch)?.next();
    Ok(found.map(|(key, value)| (key.clone(), value.clone())))
}

impl ModelUnit {
    pub(super) fn new(shared: Arc<Shared>, number: u64, options: UnitOptions) -> ModelUnit {
        ModelUnit { shared, number, options, failure: None, ended: false }
    }

    /// Inserts, replaces or deletes, as `decide` says once it knows whether the key is there. A
    /// refusal is an answer about the key, so it locks the key shared like a read.
    fn change(
        &mut self,
        set: SetId,
        key: &[u8],
        new: Option<&[u8]>,
        decide: impl Fn(bool) -> Outcome,
    ) -> Result<Outcome> {
        self.check_writable()?;
        self.check_sizes(key, new.unwrap_or_default())?;
        self.check_room(key.len() + new.map_or(0, <[u8]>::len))?;
        let number = self.number;
        self.locked_call(|state| {
            let outcome = decide(state.set(set)?.entries.contains_key(key));
            let mode = if outcome.is_done() { LockMode::Exclusive } else { LockMode::Shared };
            let request = Request::key(set, key, mode);
            if let Some(request) = state.blocked(number, set, Some(request))? {
                return Ok(Attempt::Blocked(request));
            }
            if outcome.is_done() {
                state.write(number, set, key, new);
            }
            Ok(Attempt::Done(outcome))
        })
    }

    /// The first or last entry of a stretch, locked together with the gap in front of it.
    fn step(
        &mut self,
        set: SetId,
        within: &Stretch,
        read: Read,
        direction: Direction,
    ) -> Result<Option<Copied>> {
        let (number, mode) = (self.number, mode_of(read));
        let forward = direction == Direction::Forward;
        self.locked_call(|state| {
            let mut entries = entries_in(state, set, within)?;
            let found = if forward { entries.next() } else { entries.next_back() };
            let found = found.map(|(key, value)| (key.clone(), value.clone()));
            drop(entries);
            let request = mode.map(|mode| {
                let mut stretch = within.clone();
                match &found {
                    Some((key, _)) if forward => stretch.to = Cut::before(key),
                    Some((key, _)) => stretch.from = Cut::after(key),
                    None => (),
                }
                let key = found.as_ref().map(|(key, _)| (key.clone(), mode));
                Request::Keys { set, stretch: Some(stretch), key }
            });
            Ok(match state.blocked(number, set, request)? {
                Some(request) => Attempt::Blocked(request),
                None => Attempt::Done(found),
            })
        })
    }

    fn check_writable(&self) -> Result<()> {
        if self.options.read_only { Err(StoreError::ReadOnly) } else { Ok(()) }
    }

    fn check_sizes(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let most = &self.shared.capabilities;
        if key.len() > most.key_bytes_max {
            return Err(StoreError::too_large(Limit::KeyBytes, key.len(), most.key_bytes_max));
        }
        if value.len() > most.value_bytes_max {
            let (size, most) = (value.len(), most.value_bytes_max);
            return Err(StoreError::too_large(Limit::ValueBytes, size, most));
        }
        Ok(())
    }

    /// Whether the unit of work may make one more change, of so many bytes.
    fn check_room(&mut self, more: usize) -> Result<()> {
        let (number, shared) = (self.number, Arc::clone(&self.shared));
        let over = |limit, size: u64, most: Option<u64>| match most {
            Some(most) if size > most => {
                Err(StoreError::too_large(limit, size as usize, most as usize))
            }
            _ => Ok(()),
        };
        self.now(|state| {
            state.log()?;
            let (unit, most) = (state.unit(number), &shared.capabilities);
            over(Limit::UnitBytes, unit.bytes + more as u64, most.unit_bytes_max)?;
            over(Limit::UnitWrites, unit.undo.len() as u64 + 1, most.unit_writes_max)
        })
    }

    fn locked_call<T>(
        &mut self,
        attempt: impl FnMut(&mut State) -> Result<Attempt<T>>,
    ) -> Result<T> {
        self.call(self.options.wait, attempt)?.map_err(|waited| StoreError::Timeout(waited.into()))
    }

    /// Tries until the locks that it needs are free. The inner error is a wait that was too long.
    fn call<T>(
        &mut self,
        wait: Wait,
        attempt: impl FnMut(&mut State) -> Result<Attempt<T>>,
    ) -> Result<std::result::Result<T, Waited>> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let answer = self.shared.wait_until_done(self.number, wait, attempt);
        if let Err(error) = &answer
            && error.dooms_unit()
        {
            self.failure = Some(error.clone());
        }
        answer
    }

    /// A call that needs no lock.
    fn now<T>(&mut self, mut body: impl FnMut(&mut State) -> Result<T>) -> Result<T> {
        let done = self.call(Wait::No, |state| Ok(Attempt::Done(body(state)?)))?;
        Ok(done.expect("it asks for no lock"))
    }

    /// Commits in memory and gives the locks back. Answers the place in the order of commits that
    /// must be durable before anybody hears of this unit of work.
    fn end_committed(&mut self, queued: Option<(&Arc<dyn CommitSink>, u64)>) -> Result<u64> {
        let number = self.number;
        let ended = self.now(|state| {
            let unit = state.units.remove(&number).expect("a unit of work is there until it ends");
            let order = state.commit(!unit.undo.is_empty());
            if let Some((sink, token)) = queued {
                state.queue.push_back(Queued { sink: Arc::clone(sink), token, order });
            }
            Ok(order)
        });
        match ended {
            Ok(_) => self.ended = true,
            // The failure is a better answer than what the backout would say on top of it.
            Err(_) => drop(self.end_backed_out()),
        }
        self.shared.changed.notify_all();
        ended
    }

    fn end_backed_out(&mut self) -> Result<()> {
        self.ended = true;
        let mut state = self.shared.state.lock();
        let running = state.check_running();
        if state.units.contains_key(&self.number) {
            state.undo(self.number, 0);
            state.units.remove(&self.number);
        }
        drop(state);
        self.shared.changed.notify_all();
        running
    }
}

impl Drop for ModelUnit {
    fn drop(&mut self) {
        if !self.ended {
            // Nobody is left to hear the answer; a store that has stopped undoes it at restart.
            let _ = self.end_backed_out();
        }
    }
}
