//! Units of work: reads through pages, changes in the overlay, steps that merge both.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::error::Limit;
use store::{
    CommitSink, Committed, Entry, Grant, KeyRange, LockMode, LockName, Outcome, Read, Result,
    Savepoint, SetId, StoreError, Unit, UnitOptions, Wait,
};
use tokio_postgres::types::ToSql;

use crate::ahead;
use crate::commit;
use crate::cursor::{EngineCursor, Stand};
use crate::member::Member;
use crate::names;
use crate::overlay::Change;
use crate::pages::{Page, Row, Rows};
use crate::read_set::successor;
use crate::sealer::damaged;
use crate::sets::{Known, Sets, back, check_entry, front, tokened};
use crate::shared::Shared;
use crate::state::UnitState;

/// A unit of work of an [`EngineStore`](crate::EngineStore).
pub struct EngineUnit {
    pub(crate) state: UnitState,
    sets: Arc<Sets>,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

impl EngineUnit {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        sets: &Arc<Sets>,
        member: Arc<Member>,
        options: UnitOptions,
    ) -> EngineUnit {
        let state = UnitState::new(Arc::clone(shared), member, options);
        EngineUnit { state, sets: Arc::clone(sets), ended: false }
    }

    fn noted<T>(&mut self, answer: Result<T>) -> Result<T> {
        answer.or_else(|error| self.state.doomed(error))
    }

    fn set(&mut self, set: SetId) -> Result<Arc<Known>> {
        self.state.check()?;
        let found = self.sets.find(&self.state.shared, set);
        self.noted(found)
    }

    /// Reads a stretch of a set from the engine: in the snapshot, or as it is now.
    fn fetch(
        &mut self,
        from: &[u8],
        to: &[u8],
        rows: usize,
        way: Way,
        firm: bool,
    ) -> Result<Arc<Page>> {
        let answer = if firm {
            self.fetch_firm(from, to, rows as i64, way)
        } else {
            self.fetch_loose(from, to, rows as i64, way)
        };
        let read = self.noted(answer)?;
        let (mut from, mut to) = (from.to_vec(), to.to_vec());
        if read.len() >= rows {
            match (way, read.get(0), read.get(read.len().saturating_sub(1))) {
                (Way::Forward, _, Some(last)) => to = successor(last.key),
                (Way::Backward, Some(first), _) => from = first.key.to_vec(),
                _ => (),
            }
        }
        Ok(self.state.pages.keep(Page { from, to, rows: read, firm }))
    }

    fn fetch_loose(&mut self, from: &[u8], to: &[u8], rows: i64, way: Way) -> Result<Rows> {
        let mut connection = self.state.shared.calls.take(self.state.member.system)?;
        let statements = connection.statements();
        let statement =
            if way == Way::Forward { &statements.forward } else { &statements.backward };
        let parameters: [&(dyn ToSql + Sync); 3] = [&from, &to, &rows];
        let read = connection.ask(&self.state.shared.counters, async |client| {
            client.query(statement, &parameters).await
        })?;
        Rows::read(&read, way == Way::Backward)
    }

    /// Reads in the snapshot: taken now if there is none, or if a lock on a name has made it too
    /// old; then what was read before is proven in the new one.
    fn fetch_firm(&mut self, from: &[u8], to: &[u8], rows: i64, way: Way) -> Result<Rows> {
        let begin = match (&self.state.snapshot, self.state.outdated) {
            (Some(_), false) => None,
            (Some(_), true) => Some("COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            (None, _) => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        };
        let connection = match &mut self.state.snapshot {
            Some(connection) => connection,
            none => none.insert(self.state.shared.snapshots.take(self.state.member.system)?),
        };
        let statements = connection.statements();
        let statement =
            if way == Way::Forward { &statements.forward } else { &statements.backward };
        let parameters: [&(dyn ToSql + Sync); 3] = [&from, &to, &rows];
        let counters = Arc::clone(&self.state.shared.counters);
        let read = match begin {
            None => connection
                .exchange(&counters, async |client| client.query(statement, &parameters).await),
            Some(begin) => {
                self.state.outdated = false;
                let columns = self.state.seen.columns();
                let (columns, proven) = (columns.parameters(), !self.state.seen.is_empty());
                connection.exchange(&counters, async |client| {
                    let (begun, checked, read) = futures_util::join!(
                        client.batch_execute(begin),
                        async {
                            match proven {
                                true => client.execute(&statements.check, &columns).await,
                                false => Ok(0),
                            }
                        },
                        client.query(statement, &parameters),
                    );
                    begun?;
                    checked?;
                    read
                })
            }
        };
        let read = read.and_then(|answer| Ok(answer?)).map_err(|fault| connection.judge(fault));
        Rows::read(&read?, way == Way::Backward)
    }

    /// The committed entry under a stored key, and a note that it was read where that counts.
    fn committed(
        &mut self,
        set: &Known,
        key: &[u8],
        counts: bool,
    ) -> Result<Option<(Arc<Page>, usize)>> {
        let firm = counts && set.is_guarded();
        let page = match self.state.pages.at(key, firm) {
            Some(page) => page,
            None => self.fetch(key, &successor(key), 1, Way::Forward, firm)?,
        };
        let at = page.rows.below(key);
        let row = page.rows.get(at).filter(|row| row.key == key);
        if firm {
            let found = row.map(|row| (row.key, row.stamp));
            self.state.seen.add(key, &successor(key), found.into_iter());
        }
        let found = row.is_some();
        Ok(found.then_some((page, at)))
    }

    /// Whether a key is there, for whoever is about to change it.
    fn is_there(&mut self, set: &Known, stored: &[u8]) -> Result<bool> {
        if let Some(change) = self.state.overlay.get(stored) {
            return Ok(change.is_some());
        }
        Ok(self.committed(set, stored, true)?.is_some())
    }

    /// Inserts, replaces or deletes, as `decide` says once it knows whether the key is there.
    fn change(
        &mut self,
        set: SetId,
        key: &[u8],
        new: Option<&[u8]>,
        decide: Option<fn(bool) -> Outcome>,
    ) -> Result<Outcome> {
        let known = self.set(set)?;
        if self.state.options.read_only {
            return Err(StoreError::ReadOnly);
        }
        let most = &self.state.shared.capabilities;
        check_entry(most, key, new.unwrap_or_default())?;
        let stored = known.stored(key);
        if let Some(decide) = decide {
            let outcome = decide(self.is_there(&known, &stored)?);
            if !outcome.is_done() {
                return Ok(outcome);
            }
        }
        let value = new.map(|value| match known.tokens {
            None => value.to_vec(),
            Some(_) => tokened(key, value),
        });
        self.write(&known, &stored, value)?;
        Ok(Outcome::Done)
    }

    fn write(&mut self, set: &Known, stored: &[u8], change: Change) -> Result<()> {
        let (writes, bytes) = self.state.overlay.size();
        let more = (stored.len() + change.as_ref().map_or(0, Vec::len)) as u64;
        let (writes_max, bytes_max) =
            (self.state.shared.options.unit_writes_max, self.state.shared.options.unit_bytes_max);
        for (limit, size, most) in [
            (Limit::UnitWrites, writes + 1, writes_max),
            (Limit::UnitBytes, bytes + more, bytes_max),
        ] {
            if size > most {
                let error = StoreError::too_large(limit, size as usize, most as usize);
                return self.state.doomed(error);
            }
        }
        self.state.written.insert(set.info.id);
        self.state.guarded |= set.is_guarded();
        self.state.overlay.set(stored, change);
        Ok(())
    }

    fn step(&mut self, cursor: &mut EngineCursor, read: Read, way: Way) -> Result<bool> {
        self.state.check()?;
        // It may have been dropped since the cursor was made.
        let drops = self.state.shared.gone.drops();
        if cursor.sees != Some(drops) {
            let found = self.sets.find(&self.state.shared, cursor.set.info.id);
            self.noted(found)?;
            cursor.set.check_ordered()?;
            cursor.sees = Some(drops);
        }
        let firm = cursor.set.is_guarded() && read != Read::Unlocked;
        match way {
            Way::Forward if self.step_within(cursor, firm)? => Ok(true),
            Way::Forward => self.step_forward(cursor, firm),
            Way::Backward => self.step_backward(cursor, firm),
        }
    }

    /// Steps to the entry behind the one that the cursor stands on, if that is known to be the next
    /// one of the page that it came from: most steps of a scan are such.
    fn step_within(&mut self, cursor: &mut EngineCursor, firm: bool) -> Result<bool> {
        let Some(stand) = cursor.stand.take_if(|stand| stand.epoch == self.state.pages.epoch())
        else {
            return Ok(false);
        };
        let Stand { page, at, .. } = &stand;
        let (Some(here), Some(next)) = (page.rows.get(*at), page.rows.get(at + 1)) else {
            return Ok(false);
        };
        if firm && !page.firm || next.key >= cursor.upper() {
            return Ok(false);
        }
        if firm || !self.state.overlay.is_empty() {
            let (from, to) = (successor(here.key), successor(next.key));
            if self.state.overlay.first(&from, &to).is_some() {
                return Ok(false);
            }
            self.note(firm, &from, &to, std::iter::once(next));
        }
        let opened = self.state.shared.sealer.open(next.key, next.value, &mut cursor.value);
        self.noted(opened)?;
        cursor.land(next.key);
        cursor.stand = Some(Stand { at: at + 1, ..stand });
        Ok(true)
    }

    fn step_forward(&mut self, cursor: &mut EngineCursor, firm: bool) -> Result<bool> {
        let (mut at, upper) = cursor.forward();
        while at < upper {
            let page = match self.state.pages.at(&at, firm) {
                Some(page) => page,
                None => {
                    let rows = cursor.ahead.rows_at(&at);
                    let page = self.fetch(&at, &upper, rows, Way::Forward, firm)?;
                    cursor.ahead.note(rows, page.rows.len(), page.rows.bytes(), &page.to);
                    page
                }
            };
            let end = (&page.to).min(&upper);
            let range = page.range(&at, end);
            let theirs = page.rows.get(range.start).filter(|_| !range.is_empty());
            let own = self.state.overlay.first(&at, end);
            let own_first = own.is_some_and(|(key, _)| theirs.is_none_or(|row| *key <= *row.key));
            if own_first && let Some((key, change)) = own {
                let key = key.to_vec();
                let found = match change {
                    Some(value) => {
                        cursor.value.clear();
                        cursor.value.extend_from_slice(value);
                        true
                    }
                    None => false,
                };
                self.note(firm, &at, &key, std::iter::empty());
                if found {
                    cursor.land(&key);
                    return Ok(true);
                }
                at = successor(&key);
                continue;
            }
            if let Some(row) = theirs {
                self.note(firm, &at, &successor(row.key), std::iter::once(row));
                let opened = self.state.shared.sealer.open(row.key, row.value, &mut cursor.value);
                self.noted(opened)?;
                cursor.land(row.key);
                let epoch = self.state.pages.epoch();
                cursor.stand = Some(Stand { at: range.start, epoch, page });
                return Ok(true);
            }
            self.note(firm, &at, end, std::iter::empty());
            at.clone_from(end);
        }
        Ok(false)
    }

    fn step_backward(&mut self, cursor: &mut EngineCursor, firm: bool) -> Result<bool> {
        let (lower, mut at) = cursor.backward();
        while at > lower {
            let page = match self.state.pages.before(&at, firm) {
                Some(page) => page,
                None => {
                    let rows = cursor.ahead.rows_at(&at);
                    let page = self.fetch(&lower, &at, rows, Way::Backward, firm)?;
                    cursor.ahead.note(rows, page.rows.len(), page.rows.bytes(), &page.from);
                    page
                }
            };
            let start = (&page.from).max(&lower);
            let theirs = page.between(start, &at).next_back();
            let own = self.state.overlay.last(start, &at);
            let own_first = own.is_some_and(|(key, _)| theirs.is_none_or(|row| *key >= *row.key));
            if own_first && let Some((key, change)) = own {
                let key = key.to_vec();
                let found = match change {
                    Some(value) => {
                        cursor.value.clear();
                        cursor.value.extend_from_slice(value);
                        true
                    }
                    None => false,
                };
                self.note(firm, &successor(&key), &at, std::iter::empty());
                if found {
                    cursor.land(&key);
                    return Ok(true);
                }
                at = key;
                continue;
            }
            if let Some(row) = theirs {
                self.note(firm, row.key, &at, std::iter::once(row));
                let opened = self.state.shared.sealer.open(row.key, row.value, &mut cursor.value);
                self.noted(opened)?;
                cursor.land(row.key);
                return Ok(true);
            }
            self.note(firm, start, &at, std::iter::empty());
            at.clone_from(start);
        }
        Ok(false)
    }

    /// Notes that a stretch was passed over that held these committed entries.
    fn note<'p>(
        &mut self,
        firm: bool,
        from: &[u8],
        to: &[u8],
        rows: impl Iterator<Item = Row<'p>>,
    ) {
        if firm {
            self.state.seen.add(from, to, rows.map(|row| (row.key, row.stamp)));
        }
    }

    fn delete_between(&mut self, set: &Known, from: &[u8], to: &[u8]) -> Result<u64> {
        let (mut at, mut deleted) = (from.to_vec(), 0);
        let mut cursor = EngineCursor::new(self.set(set.info.id)?);
        while at[..] < *to {
            let firm = set.is_guarded();
            let page = match self.state.pages.at(&at, firm) {
                Some(page) => page,
                None => {
                    let rows = cursor.ahead.rows_at(&at);
                    let page = self.fetch(&at, to, rows, Way::Forward, firm)?;
                    cursor.ahead.note(rows, page.rows.len(), page.rows.bytes(), &page.to);
                    page
                }
            };
            let end = (&page.to[..]).min(to).to_vec();
            self.note(firm, &at, &end, page.between(&at, &end));
            let changed = |(key, change): (&[u8], &Change)| (key.to_vec(), change.is_some());
            let own: BTreeMap<_, _> = self.state.overlay.range(&at, &end).map(changed).collect();
            let theirs = page.between(&at, &end).map(|row| row.key.to_vec());
            let theirs = theirs.filter(|key| !own.contains_key(key));
            let there = own.iter().filter(|(_, there)| **there).map(|(key, _)| key.clone());
            let mut doomed: Vec<Vec<u8>> = theirs.chain(there).collect();
            doomed.sort_unstable();
            for key in doomed {
                self.write(set, &key, None)?;
                deleted += 1;
            }
            at = end;
        }
        Ok(deleted)
    }

    fn claim(&mut self, cursor: &mut EngineCursor) -> Result<bool> {
        let (from, to) = cursor.forward();
        if from >= to {
            return Ok(false);
        }
        // What the unit of work has deleted is passed over; what it has added can be the answer.
        let changed = self.state.overlay.range(&from, &to);
        let deleted = changed.filter(|(_, change)| change.is_none()).map(|(key, _)| key.to_vec());
        let deleted: Vec<Vec<u8>> = deleted.collect();
        let own =
            self.state.overlay.range(&from, &to).find_map(|(key, change)| {
                change.as_ref().map(|value| (key.to_vec(), value.clone()))
            });
        let until = own.as_ref().map_or(&to, |(key, _)| key);
        let claimed = self.claim_committed(&from, until, &deleted);
        let claimed = self.noted(claimed)?;
        if let Some(row) = claimed.get(0) {
            self.state.claimed.insert(row.key.to_vec());
            let after = successor(row.key);
            self.state.seen.add(row.key, &after, std::iter::once((row.key, row.stamp)));
            let opened = self.state.shared.sealer.open(row.key, row.value, &mut cursor.value);
            self.noted(opened)?;
            cursor.land(row.key);
            return Ok(true);
        }
        let Some((key, value)) = own else { return Ok(false) };
        cursor.value = value;
        cursor.land(&key);
        Ok(true)
    }

    fn claim_committed(&mut self, from: &[u8], to: &[u8], not: &[Vec<u8>]) -> Result<Rows> {
        let mut connection = self.state.shared.calls.take(self.state.member.system)?;
        let (statements, system) = (connection.statements(), self.state.member.system);
        let parameters: [&(dyn ToSql + Sync); 5] = [&from, &to, &not, &system, &self.state.number];
        let read = connection.ask(&self.state.shared.counters, async |client| {
            client.query(&statements.claim, &parameters).await
        })?;
        Rows::read(&read, false)
    }

    /// Gives back what the engine holds for this unit of work, and ends it.
    fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        ahead::end(&self.state);
        let names = !self.state.held.is_empty()
            || !self.state.claimed.is_empty()
            || self.state.ahead.is_some()
            || self.state.failure.is_some();
        if let Some(mut connection) = self.state.snapshot.take() {
            let rolled_back = connection.exchange(&self.state.shared.counters, async |client| {
                client.batch_execute("ROLLBACK").await
            });
            if !matches!(rolled_back, Ok(Ok(()))) {
                connection.break_off();
            }
        }
        if names {
            names::release(&self.state);
        }
    }
}

impl Unit for EngineUnit {
    type Cursor = EngineCursor;

    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        let known = self.set(set)?;
        if key.len() > self.state.shared.capabilities.key_bytes_max {
            return Ok(false);
        }
        let stored = known.stored(key);
        if let Some(change) = self.state.overlay.get(&stored) {
            value.extend_from_slice(change.as_deref().unwrap_or_default());
            let there = change.is_some();
            return without_token(&known, key, &stored, there, value);
        }
        let row = self.committed(&known, &stored, read != Read::Unlocked)?;
        let row = row.as_ref().and_then(|(page, at)| page.rows.get(*at));
        let Some(row) = row else { return Ok(false) };
        let opened = self.state.shared.sealer.open(&stored, row.value, value);
        let there = opened.and_then(|()| without_token(&known, key, &stored, true, value));
        self.noted(there)
    }

    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        let decide = |there| if there { Outcome::Exists } else { Outcome::Done };
        self.change(set, key, Some(value), Some(decide))
    }

    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        let decide = |there| if there { Outcome::Done } else { Outcome::Absent };
        self.change(set, key, Some(value), Some(decide))
    }

    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(set, key, Some(value), None).map(drop)
    }

    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome> {
        let decide = |there| if there { Outcome::Done } else { Outcome::Absent };
        self.change(set, key, None, Some(decide))
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64> {
        let known = self.set(set)?;
        if self.state.options.read_only {
            return Err(StoreError::ReadOnly);
        }
        known.check_ordered()?;
        let front = front(set);
        let from = [&front[..], range.from].concat();
        let to = range.to.map_or_else(|| back(set), |to| [&front[..], to].concat());
        self.delete_between(&known, &from, &to)
    }

    fn next<'c>(&mut self, cursor: &'c mut EngineCursor, read: Read) -> Result<Option<Entry<'c>>> {
        Ok(self.step(cursor, read, Way::Forward)?.then_some(cursor.entry()))
    }

    fn previous<'c>(
        &mut self,
        cursor: &'c mut EngineCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        Ok(self.step(cursor, read, Way::Backward)?.then_some(cursor.entry()))
    }

    fn current<'c>(
        &mut self,
        cursor: &'c mut EngineCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        use store::Cursor;
        self.state.check()?;
        let key = cursor.key().ok_or(StoreError::NoPosition)?.to_vec();
        let epoch = self.state.pages.epoch();
        let unlocked = read == Read::Unlocked || !cursor.set.is_guarded();
        if unlocked
            && self.state.overlay.is_empty()
            && cursor.stand.as_ref().is_some_and(|stand| stand.epoch == epoch)
        {
            return Ok(Some(cursor.entry()));
        }
        cursor.stand = None;
        let mut value = std::mem::take(&mut cursor.value);
        let there = self.get(cursor.set(), &key, read, &mut value);
        cursor.value = value;
        Ok(there?.then_some(cursor.entry()))
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut EngineCursor) -> Result<Option<Entry<'c>>> {
        let set = self.set(cursor.set.info.id)?;
        set.check_ordered()?;
        if !set.is_guarded() {
            return self.next(cursor, Read::Unlocked);
        }
        Ok(self.claim(cursor)?.then_some(cursor.entry()))
    }

    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant> {
        let most = self.state.shared.capabilities.lock_name_bytes_max;
        if name.name.len() > most {
            return Err(StoreError::too_large(Limit::LockNameBytes, name.name.len(), most));
        }
        self.state.check()?;
        names::lock(&mut self.state, name, mode, wait)
    }

    fn lock_along(&mut self, cursor: &mut EngineCursor, mode: LockMode) -> Result<Grant> {
        use store::Cursor;
        let known = self.set(cursor.set())?;
        let key = cursor.key().ok_or(StoreError::NoPosition)?.to_vec();
        let name = LockName { space: known.info.id.0, name: &key };
        let most = self.state.shared.capabilities.lock_name_bytes_max;
        let plain = known.is_guarded() || known.tokens.is_some() || key.len() > most;
        if plain || self.held(name).is_some() {
            return self.lock(name, mode, Wait::No);
        }
        names::lock_along(&mut self.state, cursor, &known.stored(&key), mode)
    }

    fn unlock(&mut self, name: LockName<'_>) -> Result<bool> {
        self.state.check()?;
        names::unlock(&mut self.state, name)
    }

    fn held(&self, name: LockName<'_>) -> Option<LockMode> {
        self.state.held.get(&names::bytes_of(name)).copied()
    }

    fn savepoint(&mut self) -> Result<Savepoint> {
        self.state.check()?;
        let most = self.state.shared.capabilities.savepoints_max as usize;
        if self.state.overlay.marks() >= most {
            return Err(StoreError::too_large(
                Limit::Savepoints,
                self.state.overlay.marks() + 1,
                most,
            ));
        }
        let (number, point) = self.state.overlay.mark();
        Ok(Savepoint { point: point as u64, number: number as u32 })
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.state.check()?;
        let (number, point) = (savepoint.number as usize, savepoint.point as usize);
        match self.state.overlay.undo_to(number, point) {
            true => Ok(()),
            false => Err(StoreError::NoSuchSavepoint),
        }
    }

    fn failure(&self) -> Option<&StoreError> {
        self.state.failure.as_ref()
    }

    fn commit(mut self) -> Result<Committed> {
        self.state.check()?;
        match commit::commit(&mut self.state)? {
            commit::Names::Free => {
                self.ended = true;
                self.state.shared.notify();
            }
            commit::Names::Held => self.end(),
        }
        Ok(Committed { order: None })
    }

    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()> {
        let committed = self.commit()?;
        sink.settled(token, Ok(committed));
        sink.batch_settled();
        Ok(())
    }

    fn backout(mut self) -> Result<()> {
        self.end();
        Ok(())
    }
}

/// Takes the key off the front of a value that stands under a token.
fn without_token(
    set: &Known,
    key: &[u8],
    stored: &[u8],
    there: bool,
    value: &mut Vec<u8>,
) -> Result<bool> {
    if set.tokens.is_none() || !there {
        return Ok(there);
    }
    let length = 2 + key.len();
    if value.get(..length) != Some(&tokened(key, &[])[..]) {
        return Err(damaged(stored, "it belongs to another key"));
    }
    value.drain(..length);
    Ok(true)
}

impl Drop for EngineUnit {
    fn drop(&mut self) {
        self.end();
    }
}
