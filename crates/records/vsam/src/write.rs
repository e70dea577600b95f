//! Requests that change records: PUT, ERASE.
//!
//! 1. A request changes the base and its upgrade set, or nothing: a savepoint before it is rolled
//!    back to if an index refuses. A base without indexes needs none, for one call changes it.
//! 2. What an index is changed by is the record as it is under its lock, not as it was read
//!    earlier, perhaps in another unit of work.
//! 3. No request moves the position of sequential reads.

use store::{Cursor as _, Outcome, Position as At, Read, Savepoint, Store, StoreError, Unit as _};

use crate::attributes::Organization;
use crate::feedback::{Component, Condition, Failure, Feedback, LogicalReason, RecordNumber};
use crate::forward::Kept;
use crate::layout::u64_of;
use crate::open::{File, OpenMode, Route};
use crate::position::{Access, Position};
use crate::upgrade::Indexed;

fn no<T>(reason: LogicalReason) -> Result<T, Failure> {
    Err(Failure::logical(reason))
}

fn of_base(error: StoreError) -> Failure {
    Failure::of_store(error, Component::Base)
}

/// How a change is taken back that an index refuses.
enum Back {
    To(Savepoint),
    /// The store sets no more savepoints.
    Nowhere,
}

impl<S: Store> File<S> {
    /// PUT: loads the next record, inserts one by its key, or appends one behind the last address
    /// or number.
    ///
    /// # Errors
    /// Duplicate, out of sequence, bad length.
    pub fn put(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_write(position, self.mode.writes())?;
        self.check_length(record)?;
        match self.attributes.organization {
            Organization::Keyed => self.put_keyed(unit, position, record),
            Organization::EntrySequenced => self.append(unit, position, record),
            Organization::Relative | Organization::VariableRelative => {
                self.put_next_number(unit, position, record)
            }
            Organization::Linear => no(LogicalReason::BadOptions),
        }
    }

    /// Inserts a record of a relative cluster by its number. A load takes ascending numbers.
    ///
    /// # Errors
    /// Duplicate, out of sequence, bad number, bad length.
    pub fn put_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        RecordNumber(number): RecordNumber,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_write(position, self.mode.writes())?;
        self.check_number(number)?;
        self.check_length(record)?;
        let key = number.to_be_bytes();
        if self.mode == OpenMode::Output {
            check_sequence(position.written.as_deref(), &key)?;
        }
        let feedback = self.insert(unit, position, &key, record)?;
        note_written(position, &key);
        Ok(feedback)
    }

    /// Rewrites the record that was read for update through this position.
    ///
    /// # Errors
    /// Not read for update, key changed, bad length.
    pub fn rewrite(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_write(position, self.mode == OpenMode::InputOutput)?;
        if !position.held {
            return no(LogicalReason::NotReadForUpdate);
        }
        self.check_length(record)?;
        if self.attributes.key.is_some_and(|key| key.of(record) != Some(&position.base_key)) {
            return no(LogicalReason::KeyChanged);
        }
        let key = std::mem::take(&mut position.base_key);
        let rewritten = self.replace(unit, position, &key, record, true);
        position.base_key = key;
        position.held &= rewritten.is_err();
        rewritten
    }

    /// Erases the record that was read for update through this position.
    ///
    /// # Errors
    /// Not read for update; an entry-sequenced cluster.
    pub fn erase(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
    ) -> Result<Feedback, Failure> {
        self.check_erase(position)?;
        if !position.held {
            return no(LogicalReason::NotReadForUpdate);
        }
        let key = std::mem::take(&mut position.base_key);
        let erased = self.remove(unit, position, &key);
        position.base_key = key;
        position.held &= erased.is_err();
        erased
    }

    /// Rewrites the record whose prime key the new one has, without a read before.
    ///
    /// # Errors
    /// Not found, bad length.
    pub fn rewrite_keyed(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_write(position, self.mode == OpenMode::InputOutput)?;
        let Some(field) = self.attributes.key else { return no(LogicalReason::BadOptions) };
        self.check_length(record)?;
        let Some(key) = field.of(record) else { return no(LogicalReason::BadLength) };
        self.replace(unit, position, key, record, false)
    }

    /// Rewrites a record of a relative cluster by its number, without a read before.
    ///
    /// # Errors
    /// Not found, bad length.
    pub fn rewrite_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        RecordNumber(number): RecordNumber,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_write(position, self.mode == OpenMode::InputOutput)?;
        self.check_number(number)?;
        self.check_length(record)?;
        self.replace(unit, position, &number.to_be_bytes(), record, false)
    }

    /// Erases the record with that prime key, without a read before.
    ///
    /// # Errors
    /// Not found.
    pub fn erase_keyed(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        key: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_erase(position)?;
        let Some(field) = self.attributes.key else { return no(LogicalReason::BadOptions) };
        if key.len() != field.bytes as usize {
            return no(LogicalReason::BadKeyLength);
        }
        self.remove(unit, position, key)
    }

    /// Erases a record of a relative cluster by its number, without a read before.
    ///
    /// # Errors
    /// Not found.
    pub fn erase_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        RecordNumber(number): RecordNumber,
    ) -> Result<Feedback, Failure> {
        self.check_erase(position)?;
        self.check_number(number)?;
        self.remove(unit, position, &number.to_be_bytes())
    }

    /// What every request that changes something needs. `may`: the file was opened for it.
    #[inline]
    fn check_write(&self, position: &Position<S>, may: bool) -> Result<(), Failure> {
        if position.file != self.number || matches!(self.route, Route::Index(_)) {
            return no(LogicalReason::BadOptions);
        }
        if !may {
            return no(match self.mode {
                OpenMode::Output => LogicalReason::Loading,
                _ => LogicalReason::NotOpenForThis,
            });
        }
        if position.access.is_some() || self.attributes.organization == Organization::Linear {
            if position.access == Some(Access::Addressed) && self.attributes.key.is_some() {
                return no(LogicalReason::AddressedInsert);
            }
            self.check_access(position)?;
        }
        Ok(())
    }

    fn check_erase(&self, position: &Position<S>) -> Result<(), Failure> {
        if self.attributes.organization == Organization::EntrySequenced {
            return no(LogicalReason::EraseEntrySequenced);
        }
        if position.access == Some(Access::Addressed) && self.attributes.key.is_some() {
            return no(LogicalReason::AddressedErase);
        }
        self.check_write(position, self.mode == OpenMode::InputOutput)
    }

    fn check_number(&self, number: u32) -> Result<(), Failure> {
        if !self.attributes.organization.is_relative() {
            return no(LogicalReason::BadOptions);
        }
        if number == 0 { no(LogicalReason::BadNumber) } else { Ok(()) }
    }

    #[inline]
    fn check_length(&self, record: &[u8]) -> Result<(), Failure> {
        let (least, most) = match (self.attributes.organization, self.attributes.key) {
            (Organization::Relative, _) => {
                (self.attributes.record_bytes_max as usize, self.attributes.record_bytes_max)
            }
            (_, Some(key)) => (key.end(), self.attributes.record_bytes_max),
            _ => (1, self.attributes.record_bytes_max),
        };
        if record.len() < least || record.len() > most as usize {
            return no(LogicalReason::BadLength);
        }
        Ok(())
    }

    fn put_keyed(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        let Some(key) = self.attributes.key.and_then(|key| key.of(record)) else {
            return no(LogicalReason::BadLength);
        };
        match self.mode {
            OpenMode::Output => check_sequence(position.written.as_deref(), key)?,
            OpenMode::Extend => {
                if position.written.is_none() {
                    position.written = self.last_key(unit)?;
                }
                check_sequence(position.written.as_deref(), key)?;
            }
            _ => return self.insert(unit, position, key, record),
        }
        let feedback = self.insert(unit, position, key, record)?;
        note_written(position, key);
        Ok(feedback)
    }

    /// Appends a record to an entry-sequenced cluster.
    fn append(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        let sphere = std::sync::Arc::clone(&position.sphere);
        loop {
            let address = sphere.next_address(record.len() as u64, || self.end_address(unit))?;
            let inserted = self.insert(unit, position, &address.to_be_bytes(), record);
            match inserted {
                // Somebody adds records from another process: look where they end now.
                Err(Failure::Logical {
                    reason: LogicalReason::Duplicate,
                    component: Component::Base,
                    ..
                }) => sphere.forget_address(),
                other => return other,
            }
        }
    }

    /// Where the last record of an entry-sequenced cluster ends.
    fn end_address(&self, unit: &mut S::Unit) -> Result<u64, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            let last = there.rows(At::Back, true, 1)?.pop_front();
            return Ok(last.map_or(0, |row| u64_of(&row.key) + row.record.len() as u64));
        }
        let end = self.shape.end_address(self.catalog.store(), unit, self.set);
        end.map_err(of_base)
    }

    fn last_key(&self, unit: &mut S::Unit) -> Result<Option<Vec<u8>>, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            return Ok(there.rows(At::Back, true, 1)?.pop_front().map(|row| row.key));
        }
        let mut cursor = self.catalog.store().cursor(self.set)?;
        cursor.seek(At::Back);
        let last = unit.previous(&mut cursor, Read::Unlocked).map_err(of_base)?;
        Ok(last.map(|last| last.key.to_vec()))
    }

    /// Whether the cluster has no record now, for whatever the file was opened.
    ///
    /// # Errors
    /// What the store or the handler says.
    pub fn is_empty(&self, unit: &mut S::Unit) -> Result<bool, Failure> {
        Ok(self.last_key(unit)?.is_none())
    }

    /// The number that the next [`put`](File::put) to a relative cluster gives its record: behind
    /// the one that was written last; behind the highest number of all if it extends; behind the
    /// one that was read last otherwise.
    ///
    /// # Errors
    /// If there is no further number; a cluster without numbers.
    pub fn next_number(
        &self,
        unit: &mut S::Unit,
        position: &Position<S>,
    ) -> Result<RecordNumber, Failure> {
        if !self.attributes.organization.is_relative() {
            return no(LogicalReason::BadOptions);
        }
        let before = match (&position.written, self.mode) {
            (Some(key), _) => Some(key.clone()),
            (None, OpenMode::Extend) => self.last_key(unit)?,
            (None, _) => position.cursor.key().map(<[u8]>::to_vec),
        };
        let before = before.and_then(|key| key.try_into().ok()).map_or(0, u32::from_be_bytes);
        before
            .checked_add(1)
            .map_or_else(|| no(LogicalReason::NoSpace), |next| Ok(RecordNumber(next)))
    }

    fn put_next_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        let RecordNumber(number) = self.next_number(unit, position)?;
        let key = number.to_be_bytes();
        let feedback = self.insert(unit, position, &key, record)?;
        note_written(position, &key);
        Ok(feedback)
    }

    /// Adds a record and its index entries.
    fn insert(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        key: &[u8],
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            return self.insert_elsewhere(unit, (there, position), key, record);
        }
        let Position { scratch, buffers, counts, sphere, .. } = position;
        let store = self.catalog.store();
        buffers.arrivals.clear();
        if let Some(load) = &self.load {
            let value = self.shape.value(record, &[], &mut buffers.value);
            load.lock().push(key, value).map_err(of_base)?;
            counts.inserted += 1;
            return Ok(self.feedback(key, record.len()));
        }
        self.begin_change(unit).map_err(of_base)?;
        let back = self.point_of_return(unit)?;
        self.upgrade.arrive(store, None, record, &mut buffers.arrivals)?;
        let value = self.shape.value(record, &buffers.arrivals, &mut buffers.value);
        if unit.insert(self.set, key, value).map_err(of_base)? == Outcome::Exists {
            return no(LogicalReason::Duplicate);
        }
        sphere.note(key);
        let mut feedback = self.feedback(key, record.len());
        if let Some(back) = back {
            let new = Indexed { record, arrivals: &buffers.arrivals };
            let changed = self.upgrade.change(unit, scratch, key, None, Some(new));
            let changed = self.send_on(unit, changed, Kept::Put { key, record });
            self.conclude(unit, back, changed, &mut feedback)?;
        }
        counts.inserted += 1;
        Ok(feedback)
    }

    /// Gives a record another content, and its index entries where they change. `at_cursor`: it
    /// was read by this position, perhaps through its cursor.
    fn replace(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        key: &[u8],
        record: &[u8],
        at_cursor: bool,
    ) -> Result<Feedback, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            return self.replace_elsewhere(unit, (there, position), key, record);
        }
        let Position { cursor, scratch, buffers, counts, sphere, .. } = position;
        buffers.arrivals.clear();
        let is_entry = self.attributes.organization == Organization::EntrySequenced;
        self.begin_change(unit).map_err(of_base)?;
        let back = self.point_of_return(unit)?;
        if back.is_some() || is_entry {
            let old = &mut buffers.old;
            if !unit.get(self.set, key, Read::Update, old).map_err(of_base)? {
                return no(LogicalReason::NotFound);
            }
            self.shape.restore(key, old, Some(&mut buffers.old_arrivals))?;
            if is_entry && old.len() != record.len() {
                return no(LogicalReason::LengthChanged);
            }
        }
        let old = Indexed { record: &buffers.old, arrivals: &buffers.old_arrivals };
        let store = self.catalog.store();
        self.upgrade.arrive(store, Some(old), record, &mut buffers.arrivals)?;
        let value = self.shape.value(record, &buffers.arrivals, &mut buffers.value);
        let of_cursor = at_cursor && matches!(self.route, Route::Base) && back.is_none();
        let replaced = match of_cursor && cursor.key() == Some(key) {
            true => unit.replace_at(cursor, value),
            false => unit.replace(self.set, key, value),
        };
        if replaced.map_err(of_base)? == Outcome::Absent {
            return no(LogicalReason::NotFound);
        }
        sphere.note(key);
        let mut feedback = self.feedback(key, record.len());
        if let Some(back) = back {
            let new = Indexed { record, arrivals: &buffers.arrivals };
            let changed = self.upgrade.change(unit, scratch, key, Some(old), Some(new));
            let changed = self.send_on(unit, changed, Kept::Put { key, record });
            self.conclude(unit, back, changed, &mut feedback)?;
        }
        counts.updated += 1;
        Ok(feedback)
    }

    /// Removes a record and its index entries.
    fn remove(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        key: &[u8],
    ) -> Result<Feedback, Failure> {
        if let Route::HandlerRows(there) = &self.route {
            return self.remove_elsewhere(unit, (there, position), key);
        }
        let Position { scratch, buffers, counts, sphere, .. } = position;
        self.begin_change(unit).map_err(of_base)?;
        let back = self.point_of_return(unit)?;
        if back.is_some() {
            let old = &mut buffers.old;
            if !unit.get(self.set, key, Read::Update, old).map_err(of_base)? {
                return no(LogicalReason::NotFound);
            }
            self.shape.restore(key, old, Some(&mut buffers.old_arrivals))?;
        }
        if unit.delete(self.set, key).map_err(of_base)? == Outcome::Absent {
            return no(LogicalReason::NotFound);
        }
        sphere.note(key);
        let mut feedback = self.feedback(key, 0);
        if let Some(back) = back {
            let old = Indexed { record: &buffers.old, arrivals: &buffers.old_arrivals };
            let changed = self.upgrade.change(unit, scratch, key, Some(old), None);
            let changed = self.send_on(unit, changed, Kept::Delete { key });
            self.conclude(unit, back, changed, &mut feedback)?;
        }
        counts.deleted += 1;
        Ok(feedback)
    }

    /// Keeps a change that was made, if it is sent on.
    fn send_on(
        &self,
        unit: &mut S::Unit,
        changed: Result<Condition, Failure>,
        change: Kept<'_>,
    ) -> Result<Condition, Failure> {
        let condition = changed?;
        if let Some(forward) = &self.forward {
            let kept = forward.keep(self.catalog.store(), unit, change);
            kept.map_err(|error| Failure::of_store(error, Component::Base))?;
        }
        Ok(condition)
    }

    /// Where a change that takes several calls can be taken back to; `None` if it is one: there
    /// are no indexes, and nothing is sent on.
    fn point_of_return(&self, unit: &mut S::Unit) -> Result<Option<Back>, Failure> {
        if self.upgrade.is_empty() && self.forward.is_none() {
            return Ok(None);
        }
        match unit.savepoint() {
            Ok(savepoint) => Ok(Some(Back::To(savepoint))),
            Err(StoreError::TooLarge(_)) => Ok(Some(Back::Nowhere)),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a change: notes what the indexes met, or takes it back if one of them refuses.
    fn conclude(
        &self,
        unit: &mut S::Unit,
        back: Back,
        changed: Result<Condition, Failure>,
        feedback: &mut Feedback,
    ) -> Result<(), Failure> {
        match (changed, back) {
            (Ok(Condition::None), _) => Ok(()),
            (Ok(condition), _) => {
                feedback.condition = condition;
                feedback.component = Component::UpgradeSet;
                Ok(())
            }
            (Err(failure), _) if unit.failure().is_some() => Err(failure),
            (Err(failure), Back::To(savepoint)) => {
                unit.rollback_to(savepoint)?;
                Err(failure)
            }
            (Err(Failure::Store(error)), Back::Nowhere) => Err(Failure::InPart(error)),
            (Err(_), Back::Nowhere) => {
                Err(Failure::InPart(StoreError::Unsupported("another savepoint")))
            }
        }
    }
}

/// A load goes on in ascending order.
fn check_sequence(written: Option<&[u8]>, key: &[u8]) -> Result<(), Failure> {
    match written.map(|written| written.cmp(key)) {
        Some(std::cmp::Ordering::Greater) => no(LogicalReason::OutOfSequence),
        Some(std::cmp::Ordering::Equal) => no(LogicalReason::Duplicate),
        _ => Ok(()),
    }
}

fn note_written<S: Store>(position: &mut Position<S>, key: &[u8]) {
    let written = position.written.get_or_insert_default();
    written.clear();
    written.extend_from_slice(key);
}
