//! Requests that read: POINT, GET, ENDREQ.
//!
//! 1. A request that fails has moved nothing, with one exception: a search that finds nothing
//!    leaves no position (reason 88 from then).
//! 2. The end of data is no place: what is added behind it is found by the next request.
//! 3. Through a path an index entry is believed only with its record: if they do not agree, the
//!    entry is looked at again, and passed over if it is gone. If it is still there, and its record
//!    is not, the index is wrong (reason 144).

use store::{Cover, Cursor as _, Position as At, Read, Store, Unit as _};

use crate::attributes::Organization;
use crate::feedback::{Component, Condition, Failure, Feedback, LogicalReason, Rba, RecordNumber};
use crate::layout::{successor, u64_of};
use crate::open::{File, OpenMode, Route};
use crate::position::{Access, Direction, Intent, Match, Position, Search, Target};
use crate::raw;
use crate::upgrade::Index;

/// How a read locks what it returns.
pub(crate) fn read_of(intent: Intent) -> Read {
    match intent {
        Intent::Look => Read::Unlocked,
        Intent::Keep => Read::Shared,
        Intent::Update => Read::Update,
    }
}

fn no<T>(reason: LogicalReason) -> Result<T, Failure> {
    Err(Failure::logical(reason))
}

/// Why there is no such record.
fn absence_of(target: Target<'_>) -> LogicalReason {
    match target {
        Target::Rba(_) => LogicalReason::BadAddress,
        _ => LogicalReason::NotFound,
    }
}

fn of_base(error: store::StoreError) -> Failure {
    Failure::of_store(error, Component::Base)
}

fn of_index(error: store::StoreError) -> Failure {
    Failure::of_store(error, Component::AlternateIndex)
}

/// What stands at an index entry.
enum Pointed {
    Record,
    /// The entry has gone meanwhile.
    Gone,
}

impl<S: Store> File<S> {
    /// POINT: seeks a record; the next sequential request begins there. If it fails, the position
    /// is lost.
    ///
    /// # Errors
    /// If there is no such record.
    pub fn point(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        search: &Search<'_>,
    ) -> Result<Feedback, Failure> {
        self.check_read(position, Intent::Look)?;
        self.check_search(search)?;
        position.lose();
        let found = self.find(unit, position, search)?;
        position.placed = true;
        Ok(found)
    }

    /// Reads the next record in ascending order, of keys, numbers or addresses.
    ///
    /// # Errors
    /// End of data, no position.
    #[inline]
    pub fn get_next(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        self.sequential(unit, position, Direction::Forward, intent, record)
    }

    /// Reads the next record in descending order.
    ///
    /// # Errors
    /// End of data, no position.
    pub fn get_previous(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        self.sequential(unit, position, Direction::Backward, intent, record)
    }

    /// Reads the record that is sought; sequential requests go on from it.
    ///
    /// # Errors
    /// If there is no such record; then the position is lost.
    pub fn get(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        search: &Search<'_>,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        self.check_read(position, intent)?;
        self.check_search(search)?;
        position.lose();
        if search.by == Match::Equal && matches!(self.route, Route::Base | Route::HandlerRows(_)) {
            match search.target {
                Target::Key(key) => return self.direct(unit, position, key, intent, record),
                Target::Number(RecordNumber(number)) => {
                    let key = number.to_be_bytes();
                    return self.direct(unit, position, &key, intent, record);
                }
                Target::Rba(Rba(rba)) => {
                    let found = self.direct(unit, position, &rba.to_be_bytes(), intent, record);
                    return found.map_err(|failure| match failure.reason() {
                        Some(LogicalReason::NotFound) => {
                            Failure::logical(LogicalReason::BadAddress)
                        }
                        _ => failure,
                    });
                }
                _ => {}
            }
        }
        self.find(unit, position, search)?;
        // What was found may go before it is read; then the next one is not it.
        let key = position.base_key.clone();
        let read = self.step(unit, position, search.direction, intent, record);
        match read {
            Ok(feedback) if position.base_key == key || matches!(self.route, Route::Index(_)) => {
                position.placed = true;
                Ok(feedback)
            }
            Ok(_) => no(LogicalReason::NotFound),
            Err(failure) => {
                position.placed = failure.reason() == Some(LogicalReason::AreaTooSmall);
                Err(failure)
            }
        }
    }

    /// ENDREQ: forgets the position and what was read for update. Locks stay to the end of the
    /// unit of work.
    pub fn end_request(&self, position: &mut Position<S>) {
        position.lose();
        position.written = None;
        position.flush();
    }

    fn sequential(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        direction: Direction,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        self.check_read(position, intent)?;
        if !position.placed {
            return no(LogicalReason::NoPosition);
        }
        position.held = false;
        self.step(unit, position, direction, intent, record)
    }

    /// What every request that reads needs.
    #[inline]
    fn check_read(&self, position: &Position<S>, intent: Intent) -> Result<(), Failure> {
        if position.file != self.number {
            return no(LogicalReason::BadOptions);
        }
        match self.mode {
            OpenMode::InputOutput => {}
            OpenMode::Input if intent != Intent::Update => {}
            OpenMode::Output => return no(LogicalReason::Loading),
            _ => return no(LogicalReason::NotOpenForThis),
        }
        if position.access.is_some() || self.attributes.organization == Organization::Linear {
            self.check_access(position)?;
        }
        Ok(())
    }

    /// Whether records can be addressed like that here.
    pub(crate) fn check_access(&self, position: &Position<S>) -> Result<(), Failure> {
        use Access::{Addressed, Keyed};
        let of_base = matches!(self.route, Route::Base | Route::HandlerRows(_));
        match (self.attributes.organization, position.access) {
            (Organization::Linear, Some(Keyed)) => no(LogicalReason::KeyedAccess),
            (Organization::Linear, _) => no(LogicalReason::BadOptions),
            (Organization::EntrySequenced, Some(Keyed)) if of_base => {
                no(LogicalReason::KeyedAccess)
            }
            (Organization::Relative | Organization::VariableRelative, Some(Addressed)) => {
                no(LogicalReason::AddressedRelative)
            }
            // Records of a keyed cluster have no addresses here.
            (Organization::Keyed, Some(Addressed)) => no(LogicalReason::BadOptions),
            _ => Ok(()),
        }
    }

    /// Whether a search goes with this file.
    fn check_search(&self, search: &Search<'_>) -> Result<(), Failure> {
        let key_bytes = match (&self.route, self.attributes.organization) {
            (Route::Path(index) | Route::Index(index), _) => Some(index.key.bytes as usize),
            (Route::Base | Route::HandlerRows(_), Organization::Keyed) => {
                Some(self.shape.key_bytes())
            }
            (Route::Base | Route::HandlerRows(_), _) => None,
        };
        match (search.target, key_bytes) {
            (Target::First | Target::Last, _) => Ok(()),
            (Target::Key(key), Some(bytes)) if key.len() == bytes => Ok(()),
            (Target::Generic(key), Some(bytes)) if (1..=bytes).contains(&key.len()) => Ok(()),
            (Target::Key(_) | Target::Generic(_), Some(_)) => no(LogicalReason::BadKeyLength),
            (Target::Key(_) | Target::Generic(_), None) => {
                no(match self.attributes.organization.is_relative() {
                    true => LogicalReason::BadOptions,
                    false => LogicalReason::KeyedAccess,
                })
            }
            (Target::Number(RecordNumber(number)), None)
                if self.attributes.organization.is_relative() =>
            {
                if number == 0 {
                    no(LogicalReason::BadNumber)
                } else {
                    Ok(())
                }
            }
            (Target::Number(_), _) => no(LogicalReason::BadOptions),
            (Target::Rba(_), None) => match self.attributes.organization {
                Organization::EntrySequenced => Ok(()),
                _ => no(LogicalReason::AddressedRelative),
            },
            (Target::Rba(_), Some(_)) => no(LogicalReason::BadOptions),
        }
    }

    /// Reads a record of the base by its key.
    #[inline]
    fn direct(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        key: &[u8],
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            return self.direct_elsewhere(unit, (there, position), key, intent, record);
        }
        if !unit.get(self.set, key, read_of(intent), record).map_err(of_base)? {
            return no(LogicalReason::NotFound);
        }
        self.shape.restore(key, record, None)?;
        position.cursor.seek(At::On(key));
        position.placed = true;
        if intent == Intent::Update {
            position.held = true;
            position.base_key.clear();
            position.base_key.extend_from_slice(key);
        }
        if let Some(failure) = too_small(position, record) {
            position.held = false;
            return Err(failure);
        }
        position.counts.retrieved += 1;
        Ok(self.feedback(key, record.len()))
    }

    /// Places the cursor so that the next step in the search's direction returns what is sought.
    /// Leaves the key of the base in the position.
    fn find(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        search: &Search<'_>,
    ) -> Result<Feedback, Failure> {
        let (number, address): ([u8; 4], [u8; 8]);
        let key: &[u8] = match search.target {
            Target::First | Target::Last => &[],
            Target::Key(key) | Target::Generic(key) => key,
            Target::Number(RecordNumber(wanted)) => {
                number = wanted.to_be_bytes();
                &number
            }
            Target::Rba(Rba(wanted)) => {
                address = wanted.to_be_bytes();
                &address
            }
        };
        let absent = absence_of(search.target);
        let backward = search.direction == Direction::Backward;
        // Above all that begin with the key, and a step backward from there; or before it.
        let (from_above, step_back) = match (search.target, search.by) {
            (Target::First, _) => (false, false),
            (Target::Last, _) => (true, true),
            (_, Match::Equal) => (backward, backward),
            (_, Match::GreaterOrEqual) => (false, false),
            (_, Match::Greater) => (true, false),
            (_, Match::LessOrEqual) => (true, true),
            (_, Match::Less) => (false, true),
        };
        let Position { cursor, buffers, .. } = position;
        match from_above {
            false => cursor.seek(At::Before(key)),
            true if successor(key, &mut buffers.bound) => cursor.seek(At::Before(&buffers.bound)),
            true => cursor.seek(At::Back),
        }
        if let Route::HandlerRows(there) = &self.route {
            let equal = (search.by == Match::Equal).then_some(key);
            let there = (there.as_ref(), position);
            return self.find_elsewhere(there, equal, absent, (step_back, backward));
        }
        let entry = match step_back {
            false => unit.next(cursor, Read::Unlocked),
            true => unit.previous(cursor, Read::Unlocked),
        };
        let entry = entry.map_err(of_base)?;
        let equal = search.by == Match::Equal;
        let found = entry.filter(|entry| !equal || entry.key.starts_with(key));
        let Some(found) = found else {
            // It stands on a record that nobody asked for: nothing goes on from there.
            cursor.seek(At::Front);
            return no(absent);
        };
        let base_key = if matches!(self.route, Route::Base) { found.key } else { found.value };
        position.base_key.clear();
        position.base_key.extend_from_slice(base_key);
        buffers.bound.clear();
        buffers.bound.extend_from_slice(found.key);
        match backward {
            false => cursor.seek(At::Before(&buffers.bound)),
            true => cursor.seek(At::After(&buffers.bound)),
        }
        let mut feedback = self.feedback(&position.base_key, 0);
        if !matches!(self.route, Route::Base) {
            feedback.component = Component::AlternateIndex;
        }
        Ok(feedback)
    }

    /// Reads the next record in a direction.
    #[inline]
    fn step(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        direction: Direction,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        match &self.route {
            Route::Base => self.step_base(unit, position, direction, intent, record),
            Route::HandlerRows(there) => {
                self.step_elsewhere(unit, (there, position), direction, intent, record)
            }
            Route::Path(index) => {
                self.step_path(unit, position, index, (direction, intent), record)
            }
            Route::Index(index) => {
                if direction == Direction::Backward || intent == Intent::Update {
                    return no(LogicalReason::BadOptions);
                }
                raw::step(unit, position, index, self.shape, record)
            }
        }
    }

    #[inline]
    fn step_base(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        direction: Direction,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        let Position { cursor, base_key, .. } = &mut *position;
        let entry = match direction {
            Direction::Forward => unit.next(cursor, read_of(intent)),
            Direction::Backward => unit.previous(cursor, read_of(intent)),
        };
        let Some(entry) = entry.map_err(of_base)? else { return no(LogicalReason::EndOfData) };
        self.shape.copy(entry.key, entry.value, record)?;
        let feedback = self.feedback(entry.key, record.len());
        base_key.clear();
        base_key.extend_from_slice(entry.key);
        if let Some(failure) = too_small(position, record) {
            step_back(position, direction);
            return Err(failure);
        }
        position.held = intent == Intent::Update;
        position.counts.retrieved += 1;
        Ok(feedback)
    }

    fn step_path(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        index: &Index,
        (direction, intent): (Direction, Intent),
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        // Entries change only under the lock of their record, so that one suffices.
        let read = if intent == Intent::Keep { Read::Shared } else { Read::Unlocked };
        if intent == Intent::Keep {
            unit.cover(index.set, Cover::Look).map_err(of_index)?;
        }
        loop {
            let Position { cursor, base_key, .. } = &mut *position;
            let entry = match direction {
                Direction::Forward => unit.next(cursor, read),
                Direction::Backward => unit.previous(cursor, read),
            };
            let Some(entry) = entry.map_err(of_index)? else {
                return Err(Failure::of(LogicalReason::EndOfData, Component::AlternateIndex));
            };
            base_key.clear();
            base_key.extend_from_slice(entry.value);
            match self.follow(unit, position, index, intent, record) {
                Ok(Pointed::Record) => break,
                Ok(Pointed::Gone) => {}
                Err(failure) => {
                    // A record that is not there is passed over by the next request.
                    if failure.reason() != Some(LogicalReason::NoBaseRecord) {
                        step_back(position, direction);
                    }
                    return Err(failure);
                }
            }
        }
        if let Some(failure) = too_small(position, record) {
            step_back(position, direction);
            return Err(failure);
        }
        position.held = intent == Intent::Update;
        position.counts.retrieved += 1;
        let mut feedback = self.feedback(&position.base_key, record.len());
        if !index.unique && duplicate_follows(unit, position, index, direction)? {
            feedback.condition = Condition::DuplicateKey;
            feedback.component = Component::AlternateIndex;
        }
        Ok(feedback)
    }

    /// Reads the record that the index entry under the cursor names.
    fn follow(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        index: &Index,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Pointed, Failure> {
        let key_bytes = index.key.bytes as usize;
        let mut read = read_of(intent);
        loop {
            let Position { cursor, base_key, .. } = &mut *position;
            let there = unit.get(self.set, base_key, read, record).map_err(of_base)?;
            if there {
                self.shape.restore(base_key, record, None)?;
                let key = cursor.key().and_then(|key| key.get(..key_bytes));
                if index.key.of(record) == key {
                    return Ok(Pointed::Record);
                }
            }
            let entry = unit.current(cursor, Read::Unlocked).map_err(of_index)?;
            if entry.is_none_or(|entry| entry.value != base_key.as_slice()) {
                return Ok(Pointed::Gone);
            }
            if read != Read::Unlocked {
                // Nobody is at work on the record: the index does not follow its base.
                return match there {
                    true => Ok(Pointed::Record),
                    false => {
                        Err(Failure::of(LogicalReason::NoBaseRecord, Component::AlternateIndex))
                    }
                };
            }
            // Somebody may be in the middle of a change: wait for him.
            read = Read::Shared;
        }
    }

    /// What a request about the record with this key of the base answers.
    #[inline]
    pub(crate) fn feedback(&self, key: &[u8], bytes: usize) -> Feedback {
        let mut feedback = Feedback { bytes: bytes as u32, ..Feedback::default() };
        match self.attributes.organization {
            Organization::Keyed => {}
            Organization::EntrySequenced | Organization::Linear => {
                feedback.rba = Some(Rba(u64_of(key)));
            }
            Organization::Relative | Organization::VariableRelative => {
                let number = key.try_into().map_or(0, u32::from_be_bytes);
                feedback.number = Some(RecordNumber(number));
            }
        }
        feedback
    }
}

/// Whether the record is too long for the caller's area.
#[inline]
pub(crate) fn too_small<S: Store>(position: &Position<S>, record: &[u8]) -> Option<Failure> {
    let area = position.area_bytes?;
    let bytes = record.len() as u32;
    (bytes > area).then_some(Failure::Logical {
        reason: LogicalReason::AreaTooSmall,
        component: Component::Base,
        bytes,
    })
}

/// Places the cursor so that the next step returns the same again.
pub(crate) fn step_back<S: Store>(position: &mut Position<S>, direction: Direction) {
    let Position { cursor, buffers, .. } = position;
    let Some(key) = cursor.key() else { return };
    buffers.bound.clear();
    buffers.bound.extend_from_slice(key);
    match direction {
        Direction::Forward => cursor.seek(At::Before(&buffers.bound)),
        Direction::Backward => cursor.seek(At::After(&buffers.bound)),
    }
}

/// Whether the next entry in this direction has the same alternate key. The second cursor goes
/// along one entry ahead, so that this is a step and not a search.
fn duplicate_follows<S: Store>(
    unit: &mut S::Unit,
    position: &mut Position<S>,
    index: &Index,
    direction: Direction,
) -> Result<bool, Failure> {
    let Position { cursor, peek: Some(peek), .. } = position else { return Ok(false) };
    let Some(key) = cursor.key() else { return Ok(false) };
    if peek.key() != Some(key) {
        peek.seek(At::On(key));
    }
    let next = match direction {
        Direction::Forward => unit.next(peek, Read::Unlocked),
        Direction::Backward => unit.previous(peek, Read::Unlocked),
    };
    let alternate = key.get(..index.key.bytes as usize);
    let next = next.map_err(of_index)?;
    Ok(next.is_some_and(|next| next.key.get(..index.key.bytes as usize) == alternate))
}
