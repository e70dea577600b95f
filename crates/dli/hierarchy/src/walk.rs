//! Walking through a database as a whole, in hierarchic order: what unloads, counts and builds.
//!
//! Invariants:
//! 1. Segments come in the order of their paths, partition by partition, each once.
//! 2. Nothing is allocated for a segment, and each set is read from front to back, once.
//! 3. The walk locks nothing: a change of the database meanwhile changes what is seen.

use store::{Cursor as _, Position, Read, Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::{Damaged, Result};
use crate::input::Others;
use crate::pair::Shown;
use crate::schema::{Levels, PARTITION_BYTES, TypeAt};
use crate::value::{Deleted, Stored};

/// A stored segment, lent.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'w> {
    /// Its type.
    pub of: TypeAt,
    /// Its path.
    pub path: &'w [u8],
    /// What stands where in the path.
    pub levels: &'w Levels,
    /// Its value as it is stored.
    pub value: &'w [u8],
}

/// An entry of a database's sets: a segment, or something whose key is no path.
#[derive(Clone, Copy, Debug)]
pub enum Found<'w> {
    /// A segment.
    Segment(Seen<'w>),
    /// A key that is no path of this database.
    Foreign(&'w [u8]),
}

impl Database {
    /// Shows every entry of its sets, in order.
    ///
    /// # Errors
    /// If the store refuses, or what `see` answers.
    pub fn walk_entries<S: Store>(
        &self,
        store: &S,
        see: impl FnMut(Found<'_>) -> Result<()>,
    ) -> Result<()> {
        self.walk_behind(store, &[], see)
    }

    /// Shows every entry of its sets that stands behind a path, in order; all of them behind the
    /// empty one.
    pub(crate) fn walk_behind<S: Store>(
        &self,
        store: &S,
        reached: &[u8],
        mut see: impl FnMut(Found<'_>) -> Result<()>,
    ) -> Result<()> {
        let front = if self.schema.is_partitioned() { PARTITION_BYTES } else { 0 };
        let (mut path, mut levels) = (Vec::with_capacity(256), Levels::NONE);
        let (begun, last) = self.schema.split(reached);
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        for (partition, set) in self.sets.iter().enumerate().skip(usize::from(begun)) {
            path.clear();
            // A HALDB has 1001 partitions at most.
            path.extend_from_slice(&(partition as u16).to_be_bytes()[..front]);
            levels.truncate(0);
            let mut cursor = store.cursor(*set)?;
            if partition == usize::from(begun) && !last.is_empty() {
                cursor.seek(Position::After(last));
            }
            while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
                let same = path[front..].iter().zip(entry.key).take_while(|(a, b)| a == b).count();
                let level = (1..=levels.len()).rev().find(|at| levels.end(*at) <= front + same);
                levels.truncate(level.unwrap_or(0));
                path.truncate(front + same);
                path.extend_from_slice(&entry.key[same..]);
                if !self.schema.parse(&path, &mut levels) {
                    levels.truncate(0);
                    see(Found::Foreign(&path))?;
                    continue;
                }
                let of = levels.type_at(levels.len());
                see(Found::Segment(Seen { of, path: &path, levels: &levels, value: entry.value }))?;
            }
        }
        unit.commit()?;
        Ok(())
    }

    /// Shows every stored segment, in hierarchic order.
    ///
    /// # Errors
    /// If a key is no path, the store refuses, or what `see` answers.
    pub fn walk<S: Store>(
        &self,
        store: &S,
        mut see: impl FnMut(Seen<'_>) -> Result<()>,
    ) -> Result<()> {
        self.walk_entries(store, |found| match found {
            Found::Segment(seen) => see(seen),
            Found::Foreign(_) => Err(self.damaged(Damaged("a stored key is no path of a segment"))),
        })
    }

    /// Unloads the database: gives each segment as programs know it, in hierarchic order, with
    /// those that it shows for a physical pair. Those that were deleted on some of their paths
    /// come, too, and it is said of them. `others` opens the databases of logical children.
    ///
    /// # Errors
    /// If the store refuses, a segment cannot be read, or what `give` answers.
    pub fn unload<S: Store>(
        &self,
        store: &S,
        others: Others<'_>,
        mut give: impl FnMut(TypeAt, Deleted, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut expanded = Vec::new();
        let mut shown = Shown::of(store, self, others)?;
        self.walk(store, |seen| {
            shown.before(Some(seen.path), &mut give)?;
            let kind = self.schema.of(seen.of);
            let stored = Stored::read(kind, seen.value).map_err(|what| self.damaged(what))?;
            let data = stored.data(&mut expanded).map_err(|what| self.damaged(what))?;
            give(seen.of, stored.deleted(), data)?;
            if !stored.is_deleted {
                shown.below(seen.of, seen.path);
            }
            Ok(())
        })?;
        shown.before(None, &mut give)
    }
}
