//! Requests to a cluster whose records a handler has.
//!
//! Everything that makes a request one of VSAM is done by `read` and `write`; here is what they do
//! with entries of a set otherwise: find, step, insert, replace, remove.
//!
//! Invariants:
//! 1. Programs lock names of records in their units of work, as they lock entries of a set; others
//!    who use the handler's table know nothing of that.
//! 2. What is changed at the handler stays changed, whatever becomes of the unit of work.

use std::collections::VecDeque;

use store::{Cursor as _, LockMode, LockName, Position as At, Store, Unit as _, Wait};

use crate::attributes::Organization;
use crate::feedback::{Component, Failure, Feedback, LogicalReason};
use crate::handler::{Changed, HandlerError, Row};
use crate::handler_rows::{Change, HandlerRows};
use crate::open::File;
use crate::position::{Direction, Intent, Position};
use crate::read::{step_back, too_small};
use crate::rows::LOCK_WAIT;

impl<S: Store> File<S> {
    /// Locks the name of a record to the end of the unit of work.
    fn lock_row(&self, unit: &mut S::Unit, key: &[u8], mode: LockMode) -> Result<(), Failure> {
        let name = LockName { space: self.set.0, name: key };
        let granted = unit.lock(name, mode, Wait::AtMost(LOCK_WAIT));
        match granted.map_err(|error| Failure::of_store(error, Component::Base))?.is_held() {
            true => Ok(()),
            false => Err(Failure::logical(LogicalReason::HeldByAnother)),
        }
    }

    /// Locks a record as its reader means to use it, and reads it as it is then; `None` if it is
    /// not there.
    fn locked_row(
        &self,
        unit: &mut S::Unit,
        elsewhere: &HandlerRows,
        key: &[u8],
        intent: Intent,
    ) -> Result<Option<Row>, Failure> {
        match intent {
            Intent::Look => {}
            Intent::Keep => self.lock_row(unit, key, LockMode::Shared)?,
            Intent::Update => self.lock_row(unit, key, LockMode::Update)?,
        }
        let row = elsewhere.rows(At::Before(key), false, 1)?.pop_front();
        Ok(row.filter(|row| row.key == key))
    }

    /// Reads a record by its whole key.
    pub(crate) fn direct_elsewhere(
        &self,
        unit: &mut S::Unit,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        key: &[u8],
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        position.ahead.forget();
        let row = self.locked_row(unit, elsewhere, key, intent)?;
        let row = row.ok_or_else(|| Failure::logical(LogicalReason::NotFound))?;
        position.cursor.seek(At::On(key));
        position.placed = true;
        self.give_row(position, &row, intent, record)
    }

    /// Whatever reads a record ends with this.
    fn give_row(
        &self,
        position: &mut Position<S>,
        row: &Row,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        row.record.clone_into(record);
        position.base_key.clear();
        position.base_key.extend_from_slice(&row.key);
        if let Some(failure) = too_small(position, record) {
            position.held = false;
            return Err(failure);
        }
        position.held = intent == Intent::Update;
        position.counts.retrieved += 1;
        Ok(self.feedback(&row.key, record.len()))
    }

    /// Finds a record with a step from where the cursor stands, backward if `step_back`, and has
    /// it be the next one. `equal`: how its key has to begin; `absent`: the reason if none does.
    pub(crate) fn find_elsewhere(
        &self,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        equal: Option<&[u8]>,
        absent: LogicalReason,
        (step_back, backward): (bool, bool),
    ) -> Result<Feedback, Failure> {
        position.ahead.forget();
        let changes = elsewhere.changes();
        let row = elsewhere.rows(position.cursor.position(), step_back, 1)?.pop_front();
        let row = row.filter(|row| equal.is_none_or(|key| row.key.starts_with(key)));
        let row = row.ok_or_else(|| Failure::logical(absent))?;
        position.base_key.clone_from(&row.key);
        match backward {
            false => position.cursor.seek(At::Before(&row.key)),
            true => position.cursor.seek(At::After(&row.key)),
        }
        let feedback = self.feedback(&row.key, 0);
        position.ahead.keep(VecDeque::from([row]), backward, changes);
        position.ahead.goes_on(position.cursor.position());
        Ok(feedback)
    }

    /// Reads the next record in a direction.
    pub(crate) fn step_elsewhere(
        &self,
        unit: &mut S::Unit,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        direction: Direction,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let backward = direction == Direction::Backward;
        loop {
            let changes = elsewhere.changes();
            let Position { cursor, ahead, .. } = &mut *position;
            let row = match ahead.take(cursor.position(), backward, changes) {
                Some(row) => row,
                None => {
                    let most = if intent == Intent::Look { ahead.most() } else { 1 };
                    let mut rows = elsewhere.rows(cursor.position(), backward, most)?;
                    let Some(row) = rows.pop_front() else {
                        ahead.forget();
                        return Err(Failure::logical(LogicalReason::EndOfData));
                    };
                    ahead.keep(rows, backward, changes);
                    row
                }
            };
            let row = match intent {
                Intent::Look => Some(row),
                _ => {
                    let locked = self.locked_row(unit, elsewhere, &row.key, intent)?;
                    if locked.is_none() {
                        // It has gone meanwhile.
                        position.cursor.seek(At::On(&row.key));
                    }
                    locked
                }
            };
            let Some(row) = row else { continue };
            position.cursor.seek(At::On(&row.key));
            position.ahead.goes_on(position.cursor.position());
            let given = self.give_row(position, &row, intent, record);
            if given.is_err() {
                step_back(position, direction);
                position.ahead.put_back(row);
                position.ahead.goes_on(position.cursor.position());
            }
            return given;
        }
    }

    /// Adds a record.
    pub(crate) fn insert_elsewhere(
        &self,
        unit: &mut S::Unit,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        key: &[u8],
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.lock_row(unit, key, LockMode::Exclusive)?;
        match elsewhere.change(key, Change::Insert(record))? {
            Changed::Done => {}
            Changed::Exists => return Err(Failure::logical(LogicalReason::Duplicate)),
            Changed::Absent => return Err(senseless()),
        }
        position.counts.inserted += 1;
        Ok(self.feedback(key, record.len()))
    }

    /// Gives a record another content.
    pub(crate) fn replace_elsewhere(
        &self,
        unit: &mut S::Unit,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        key: &[u8],
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.lock_row(unit, key, LockMode::Exclusive)?;
        if self.attributes.organization == Organization::EntrySequenced {
            let old = self.locked_row(unit, elsewhere, key, Intent::Look)?;
            let old = old.ok_or_else(|| Failure::logical(LogicalReason::NotFound))?;
            if old.record.len() != record.len() {
                return Err(Failure::logical(LogicalReason::LengthChanged));
            }
        }
        match elsewhere.change(key, Change::Replace(record))? {
            Changed::Done => {}
            Changed::Absent => return Err(Failure::logical(LogicalReason::NotFound)),
            Changed::Exists => return Err(senseless()),
        }
        position.counts.updated += 1;
        Ok(self.feedback(key, record.len()))
    }

    /// Removes a record.
    pub(crate) fn remove_elsewhere(
        &self,
        unit: &mut S::Unit,
        (elsewhere, position): (&HandlerRows, &mut Position<S>),
        key: &[u8],
    ) -> Result<Feedback, Failure> {
        self.lock_row(unit, key, LockMode::Exclusive)?;
        match elsewhere.change(key, Change::Delete)? {
            Changed::Done => {}
            Changed::Absent => return Err(Failure::logical(LogicalReason::NotFound)),
            Changed::Exists => return Err(senseless()),
        }
        position.counts.deleted += 1;
        Ok(self.feedback(key, 0))
    }
}

fn senseless() -> Failure {
    Failure::Handler(HandlerError::Nonsense("an answer that is none to this change".into()))
}
