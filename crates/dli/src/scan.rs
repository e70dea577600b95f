//! The next segment of a plain view: one step of a cursor.
//!
//! In a plain view hierarchic order is key order, so a get-next without SSAs reads the next entry
//! of the tree. What the program is not sensitive to is skipped with everything beneath it.
//!
//! Invariants:
//! 1. A get-next that finds the cursor where the last call left it neither seeks nor allocates.

use hierarchy::schema::PARTITION_BYTES;
use hierarchy::{Damaged, Levels, Result, Stored};
use store::{Cursor, Position as Place, Read, SetId, Store, Unit};

use crate::locks::Entered;
use crate::pcb::DbPcb;
use crate::position::{Cut, Position, Side};
use crate::search::{Reach, seek_behind};
use crate::shape::Shape;

/// How the scan of one tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scanned {
    /// Position and data are those of the segment.
    Found,
    /// What comes next is not beneath the parent.
    Outside,
    /// There is nothing more in this tree.
    End,
    /// It had to wait for another program, and what it has read may have changed.
    Again,
}

impl<S: Store> DbPcb<S> {
    /// Finds the next segment of a plain view; position and data are those of the segment then.
    pub(crate) fn scan(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        within_parent: bool,
    ) -> Result<bool> {
        if self.position.is_at_end() || within_parent && self.is_behind_parent() {
            return Ok(false);
        }
        let (mut partition, mut side) = self.scan_from(shape, within_parent);
        let last = *shape.walked().end();
        while partition <= last
            && let Some(set) = shape.databases[0].set_of(partition)?
        {
            match self.scan_tree(reach, shape, (partition, set), side, within_parent)? {
                Scanned::Found => return Ok(true),
                Scanned::Outside => return Ok(false),
                Scanned::End => {}
                Scanned::Again => {
                    (partition, side) = self.scan_from(shape, within_parent);
                    continue;
                }
            }
            partition += 1;
            self.start.clear();
            side = Side::Before;
        }
        Ok(false)
    }

    /// Where a scan begins: the partition, the side, and the key in its tree in `self.start`.
    fn scan_from(&mut self, shape: &Shape, within_parent: bool) -> (u16, Side) {
        self.start.clear();
        let Some(cut) = self.position.cut() else {
            return (*shape.walked().start(), Side::Before);
        };
        let parent = Cut { key: &self.parentage.path, side: Side::After };
        let cut = if within_parent && cut.order(&parent).is_lt() { parent } else { cut };
        let (partition, key) = shape.databases[0].schema.split(cut.key);
        self.start.extend_from_slice(key);
        (partition, cut.side)
    }

    fn scan_tree(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (partition, set): (u16, SetId),
        side: Side,
        within_parent: bool,
    ) -> Result<Scanned> {
        let (database, mode) = (&shape.databases[0], self.lock_mode());
        let schema = &database.schema;
        let front = if schema.is_partitioned() { PARTITION_BYTES } else { 0 };
        let cursor = self.cursors.get(reach.store, set)?;
        match side {
            Side::Before => cursor.seek(Place::Before(&self.start)),
            Side::After if cursor.key() == Some(&self.start) => {}
            Side::After => cursor.seek(Place::After(&self.start)),
            Side::Behind => seek_behind(cursor, &mut self.start),
        }
        while let Some(entry) = reach.unit.next(cursor, Read::Unlocked)? {
            let path = &mut self.seek;
            path.clear();
            path.extend_from_slice(&partition.to_be_bytes()[..front]);
            path.extend_from_slice(entry.key);
            if within_parent && !path.starts_with(&self.parentage.path) {
                return Ok(Scanned::Outside);
            }
            let mut levels = shared_levels(&self.position, path);
            if !schema.parse(path, &mut levels) {
                return Err(database.damaged(Damaged("a stored key is no path")));
            }
            let of = levels.type_at(levels.len());
            let node = shape.node_of.get(of.index()).copied().flatten();
            let mut entry = entry;
            if levels.len() == 1
                && let Some(mode) = mode
            {
                match reach.locks.enter(reach.unit, self.number, (set, entry.key), mode)? {
                    Entered::Already => {}
                    // What was read before the lock was had may have changed.
                    Entered::AtOnce => match reach.unit.current(cursor, Read::Unlocked)? {
                        Some(now) => entry = now,
                        None => continue,
                    },
                    Entered::Waited => return Ok(Scanned::Again),
                }
            }
            let stored = Stored::read(schema.of(of), entry.value);
            let stored = stored.map_err(|what| database.damaged(what))?;
            let Some(node) = node.filter(|_| !stored.is_deleted) else {
                self.start.clear();
                self.start.extend_from_slice(entry.key);
                seek_behind(cursor, &mut self.start);
                continue;
            };
            if !shape.node(node).options.allows('G') {
                continue;
            }
            let data = stored.data(&mut self.expanded).map_err(|what| database.damaged(what))?;
            let kept = &mut self.trail.data[levels.len() - 1];
            kept.clear();
            kept.extend_from_slice(data);
            std::mem::swap(&mut self.position.path, &mut self.seek);
            self.position.levels = levels;
            return Ok(Scanned::Found);
        }
        match Self::pass_gap(reach, set, None, mode.filter(|_| !within_parent))? {
            true => Ok(Scanned::Again),
            false => Ok(Scanned::End),
        }
    }
}

/// The levels of the present path that another path begins with.
fn shared_levels(position: &Position, path: &[u8]) -> Levels {
    let mut levels = position.levels;
    while !levels.is_empty() {
        let end = levels.end(levels.len());
        if path.get(..end) == Some(&position.path[..end]) {
            break;
        }
        levels.truncate(levels.len() - 1);
    }
    levels
}
