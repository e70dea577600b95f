//! Requests to a file: GET, PUT, POINT, ERASE, ENDREQ.

use store::Store;

use crate::feedback::{Failure, Feedback, RecordNumber};
use crate::open::File;
use crate::position::{Intent, Position, Search};

impl<S: Store> File<S> {
    /// A position in front of the first record.
    ///
    /// # Errors
    /// If no string is left.
    pub fn position(&self) -> Result<Position<S>, Failure> {
        todo!()
    }

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
        todo!("{:p}{:p}{search:?}", unit, position)
    }

    /// Reads the next record in ascending order, of keys, numbers or addresses.
    ///
    /// # Errors
    /// End of data, no position.
    pub fn get_next(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        todo!("{:p}{:p}{intent:?}{record:?}", unit, position)
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
        todo!("{:p}{:p}{intent:?}{record:?}", unit, position)
    }

    /// Reads the record that is sought; sequential requests go on from it.
    ///
    /// # Errors
    /// If there is no such record.
    pub fn get(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        search: &Search<'_>,
        intent: Intent,
        record: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        todo!("{:p}{:p}{search:?}{intent:?}{record:?}", unit, position)
    }

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
        todo!("{:p}{:p}{record:?}", unit, position)
    }

    /// Inserts a record of a relative cluster by its number.
    ///
    /// # Errors
    /// Duplicate, bad number, bad length.
    pub fn put_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        number: RecordNumber,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        todo!("{:p}{:p}{number:?}{record:?}", unit, position)
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
        todo!("{:p}{:p}{record:?}", unit, position)
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
        todo!("{:p}{:p}", unit, position)
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
        todo!("{:p}{:p}{record:?}", unit, position)
    }

    /// Rewrites a record of a relative cluster by its number, without a read before.
    ///
    /// # Errors
    /// Not found, bad length.
    pub fn rewrite_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        number: RecordNumber,
        record: &[u8],
    ) -> Result<Feedback, Failure> {
        todo!("{:p}{:p}{number:?}{record:?}", unit, position)
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
        todo!("{:p}{:p}{key:?}", unit, position)
    }

    /// Erases a record of a relative cluster by its number, without a read before.
    ///
    /// # Errors
    /// Not found.
    pub fn erase_number(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        number: RecordNumber,
    ) -> Result<Feedback, Failure> {
        todo!("{:p}{:p}{number:?}", unit, position)
    }

    /// ENDREQ: forgets the position and what was read for update. Locks stay to the end of the
    /// unit of work.
    pub fn end_request(&self, position: &mut Position<S>) {
        todo!("{:p}", position)
    }
}
