//! Linear clusters: blocks of 4096 bytes by relative byte address.
//!
//! A linear cluster ends behind the highest block that was ever written. What was not written below
//! that reads as zeros.

use store::{Cursor as _, Position as At, Read, Store, Unit as _};

use crate::attributes::{BLOCK_BYTES, Organization};
use crate::feedback::{Component, Failure, Feedback, LogicalReason, Rba};
use crate::layout::u64_of;
use crate::open::File;
use crate::position::{Intent, Position};
use crate::read::read_of;

fn no<T>(reason: LogicalReason) -> Result<T, Failure> {
    Err(Failure::logical(reason))
}

fn of_base(error: store::StoreError) -> Failure {
    Failure::of_store(error, Component::Base)
}

impl<S: Store> File<S> {
    /// Reads the block at an address.
    ///
    /// # Errors
    /// End of data behind the last block; an address that is none of a block.
    pub fn get_block(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        rba: Rba,
        intent: Intent,
        block: &mut Vec<u8>,
    ) -> Result<Feedback, Failure> {
        self.check_block(position, rba)?;
        let key = rba.0.to_be_bytes();
        if !unit.get(self.set, &key, read_of(intent), block).map_err(of_base)? {
            if rba.0 >= self.end_of_blocks(unit)? {
                return no(LogicalReason::EndOfData);
            }
            block.resize(BLOCK_BYTES, 0);
        }
        position.counts.retrieved += 1;
        Ok(self.feedback(&key, BLOCK_BYTES))
    }

    /// Writes the block at an address, behind the last one, too.
    ///
    /// # Errors
    /// A block that is not 4096 bytes long; an address that is none of a block.
    pub fn put_block(
        &self,
        unit: &mut S::Unit,
        position: &mut Position<S>,
        rba: Rba,
        block: &[u8],
    ) -> Result<Feedback, Failure> {
        self.check_block(position, rba)?;
        if !self.mode.writes() {
            return no(LogicalReason::NotOpenForThis);
        }
        if block.len() != BLOCK_BYTES {
            return no(LogicalReason::BadLength);
        }
        let key = rba.0.to_be_bytes();
        if unit.replace(self.set, &key, block).map_err(of_base)?.is_done() {
            position.counts.updated += 1;
        } else {
            unit.put(self.set, &key, block).map_err(of_base)?;
            position.counts.inserted += 1;
        }
        position.sphere.note(&key);
        Ok(self.feedback(&key, BLOCK_BYTES))
    }

    /// Where the last block ends.
    ///
    /// # Errors
    /// If the store fails.
    pub fn end_of_blocks(&self, unit: &mut S::Unit) -> Result<u64, Failure> {
        let mut cursor = self.catalog.store().cursor(self.set)?;
        cursor.seek(At::Back);
        let last = unit.previous(&mut cursor, Read::Unlocked).map_err(of_base)?;
        Ok(last.map_or(0, |last| u64_of(last.key) + BLOCK_BYTES as u64))
    }

    fn check_block(&self, position: &Position<S>, rba: Rba) -> Result<(), Failure> {
        let is_linear = self.attributes.organization == Organization::Linear;
        if !is_linear || position.file != self.number {
            return no(LogicalReason::BadOptions);
        }
        if !rba.0.is_multiple_of(BLOCK_BYTES as u64) || rba.0 > i64::MAX as u64 {
            return no(LogicalReason::BadAddress);
        }
        Ok(())
    }
}
