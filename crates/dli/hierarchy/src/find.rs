//! Finding a segment by its concatenated key, as logical children name their logical parents.
//!
//! Invariants:
//! 1. Where every key on the way down is unique the path follows from the keys alone; otherwise
//!    the first of equal twins is taken, on each level.

use store::{Cursor, KeyRange, Read, Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::Result;
use crate::schema::TypeAt;
use crate::value::Stored;

impl Database {
    /// The types from the root down to one.
    #[must_use]
    pub fn way_to(&self, of: TypeAt) -> Vec<TypeAt> {
        let up = std::iter::successors(Some(of), |at| self.schema.of(*at).parent);
        let mut way: Vec<TypeAt> = up.collect();
        way.reverse();
        way
    }

    /// Whether the paths of a type follow from concatenated keys alone.
    #[must_use]
    pub fn has_computed_paths(&self, of: TypeAt) -> bool {
        self.way_to(of).iter().all(|at| !self.schema.of(*at).has_position())
    }

    /// Appends what stands in front of a root's key: partition and anchor. `false` if no
    /// partition takes the key, or the randomizer refuses it.
    pub fn put_front(&self, root_key: &[u8], to: &mut Vec<u8>) -> bool {
        let placement = &self.schema.placement;
        let Some(partition) = placement.partition_of(root_key) else { return false };
        if self.schema.is_partitioned() {
            to.extend_from_slice(&partition.to_be_bytes());
        }
        if self.schema.is_hashed() {
            let Some(anchor) = placement.anchor(partition, root_key) else { return false };
            to.extend_from_slice(&anchor);
        }
        true
    }

    /// Writes the path that a concatenated key names; `twin` is asked for the position behind a
    /// key that is not unique. `false` if there is none.
    ///
    /// # Errors
    /// What `twin` answers.
    pub fn path_of_key(
        &self,
        of: TypeAt,
        concatenated: &[u8],
        to: &mut Vec<u8>,
        mut twin: impl FnMut(&mut Vec<u8>) -> Result<bool>,
    ) -> Result<bool> {
        to.clear();
        let mut rest = concatenated;
        for at in self.way_to(of) {
            let kind = self.schema.of(at);
            let len = kind.key.map_or(0, |key| key.len);
            let Some((key, behind)) = rest.split_at_checked(len) else { return Ok(false) };
            rest = behind;
            if at == TypeAt::ROOT {
                if !self.put_front(key, to) {
                    return Ok(false);
                }
            } else {
                to.push(at.code());
            }
            self.schema.put_key(at, key, to);
            if kind.has_position() && !twin(to)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the position of the first twin that is there behind a path without one.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn first_twin<S: Store>(&self, store: &S, path: &mut Vec<u8>) -> Result<bool> {
        let (set, key) = self.locate(path)?;
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let (mut cursor, mut end) = (store.cursor(set)?, Vec::new());
        cursor.limit(KeyRange::prefix(key, &mut end));
        let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? else { return Ok(false) };
        let position = entry.key.get(key.len()..).unwrap_or(&[]);
        let Some(len) = crate::twin::len(position) else { return Ok(false) };
        path.extend_from_slice(&position[..len]);
        Ok(true)
    }

    /// Whether there is a segment under a path, and it was not deleted on its physical path.
    ///
    /// # Errors
    /// If the store refuses, or the segment cannot be read.
    pub fn is_there<U: Unit>(
        &self,
        unit: &mut U,
        of: TypeAt,
        path: &[u8],
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        let (set, key) = self.locate(path)?;
        if !unit.get(set, key, Read::Unlocked, value)? {
            return Ok(false);
        }
        let stored = Stored::read(self.schema.of(of), value).map_err(|what| self.damaged(what))?;
        Ok(!stored.is_deleted)
    }
}
