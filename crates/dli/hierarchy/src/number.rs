//! Numbering: segments that are stored already get the identity that a new index needs.
//!
//! An identity stands in front of a segment's data, so each segment of the type is written again.
//! That is too much for one unit of work (K15): each batch is one, together with the path of the
//! last segment that it wrote. Until all have theirs the database counts as in a numbering
//! ([`State::Numbering`]), and only the call that ends that gets to it.
//!
//! Invariants:
//! 1. Up to the recorded path segments of the types have an identity, behind it they have none,
//!    over any crash; the recorded layout is the one that the numbering makes.
//! 2. Each segment gets one identity, in hierarchic order, as from a load.
//! 3. Nothing is numbered under another definition than it was begun with: the types are recorded.

use seam::failpoint::{Failpoint, armed};
use store::{Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::{Damaged, Result};
pub use crate::record::Numbering;
use crate::record::{self, Record, State};
use crate::schema::{SegmentType, TypeAt};
use crate::state;
use crate::value::numbered;
use crate::walk::{Found, Seen};

/// Bytes of paths and values that one unit of work writes.
pub(crate) const BATCH_BYTES: usize = 256 << 10;

impl Database {
    /// Ends a numbering that was begun, and gives identities to all segments that lack one which
    /// an index needs. Answers the database as it is then.
    ///
    /// # Errors
    /// If a segment cannot be read, or the store refuses; then the database stays in the numbering,
    /// which goes on here the next time.
    pub(crate) fn number<S: Store>(
        &self,
        store: &S,
        batch_bytes: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Database> {
        let mut numbered = self.clone();
        let record = state::compared(store, self)?;
        if record.state == State::Numbering {
            numbered.give_identities(store, record, batch_bytes, progress)?;
        }
        let types = (0..self.schema.types.len()).map(|at| TypeAt(at as u8));
        let types: Vec<TypeAt> = types.filter(|of| numbered.lacks_identity(*of)).collect();
        if !types.is_empty() {
            for of in &types {
                numbered.schema.types[of.index()].has_identity = true;
            }
            let begun = Numbering { types, reached: Vec::new() };
            let record = state::begin_numbering(store, &numbered, begun)?;
            numbered.give_identities(store, record, batch_bytes, progress)?;
        }
        Ok(numbered)
    }

    /// Goes on with a numbering to its end.
    fn give_identities<S: Store>(
        &self,
        store: &S,
        mut record: Record,
        batch_bytes: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let reached = record.numbering.reached.clone();
        let mut batch = Batch::new(self, &record.numbering.types);
        let mut seen_all = 0;
        self.walk_behind(store, &reached, |found| {
            let Found::Segment(seen) = found else {
                return Err(self.damaged(Damaged("a stored key is no path of a segment")));
            };
            seen_all += 1;
            progress(seen_all);
            batch.gather(&seen);
            match batch.bytes >= batch_bytes {
                true => batch.write(store, &mut record),
                false => Ok(()),
            }
        })?;
        batch.write(store, &mut record)?;
        state::record(store, self, State::Ready)
    }
}

/// Segments that are numbered in one unit of work.
struct Batch<'b> {
    database: &'b Database,
    /// The types as their segments were stored: without an identity.
    without: Vec<(TypeAt, SegmentType)>,
    segments: Vec<Gathered>,
    bytes: usize,
}

/// A segment that has no identity yet.
struct Gathered {
    of: TypeAt,
    path: Vec<u8>,
    value: Vec<u8>,
}

impl<'b> Batch<'b> {
    fn new(database: &'b Database, types: &[TypeAt]) -> Batch<'b> {
        let without = |of: &TypeAt| {
            let kind = database.schema.types.get(of.index())?;
            Some((*of, SegmentType { has_identity: false, ..kind.clone() }))
        };
        let without = types.iter().filter_map(without).collect();
        Batch { database, without, segments: Vec::new(), bytes: 0 }
    }

    fn gather(&mut self, seen: &Seen<'_>) {
        if self.without.iter().any(|(of, _)| *of == seen.of) {
            let (path, value) = (seen.path.to_vec(), seen.value.to_vec());
            self.bytes += path.len() + value.len();
            self.segments.push(Gathered { of: seen.of, path, value });
        }
    }

    /// Writes what has gathered, and how far that is.
    fn write<S: Store>(&mut self, store: &S, record: &mut Record) -> Result<()> {
        let Some(last) = self.segments.last() else { return Ok(()) };
        record.numbering.reached.clone_from(&last.path);
        let database = self.database;
        // A batch has far fewer segments than that.
        let mut identity = store.draw(database.identities(), self.segments.len() as u32)?;
        let mut unit = store.begin(UnitOptions::default())?;
        let mut value = Vec::new();
        for one in &self.segments {
            let Some((_, kind)) = self.without.iter().find(|(of, _)| *of == one.of) else {
                continue;
            };
            value.clear();
            numbered(kind, &one.value, identity, &mut value)
                .map_err(|what| database.damaged(what))?;
            identity += 1;
            let (set, key) = database.locate(&one.path)?;
            let _ = unit.replace(set, key, &value)?;
        }
        if !armed(Failpoint::NumberingForgotten) {
            record::put_in(store, &mut unit, database.name(), record)?;
        }
        unit.commit()?;
        self.segments.clear();
        self.bytes = 0;
        Ok(())
    }
}
