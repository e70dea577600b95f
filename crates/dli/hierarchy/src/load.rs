//! Loading a database as a whole, from segments in hierarchic order.
//!
//! ```text
//!   input ──▶ arrange ──┬──▶ in key order: straight into the partition's set
//!                       ├──▶ hashed, or out of order: sorted first
//!                       ├──▶ index entries, relations: sorted first
//!                       └──▶ the other side of a physical pair: waits to be compared
//! ```
//!
//! Invariants:
//! 1. The database is empty before, and in a load ([`State::Loading`]) until all of it is there: a
//!    crash leaves a database that no program takes for a loaded one.
//! 2. A load that fails without a crash leaves an empty database.
//! 3. Every logical child that was loaded has its logical parent.

use std::sync::Arc;

use definitions::DbdName;
use store::{Entry, LoadSource, Read, SetId, Store, Unit, UnitOptions};

use crate::arrange::Arranger;
use crate::database::Database;
use crate::display::shown;
use crate::error::{HierarchyError, Refused, Result};
use crate::fill::{Clash, Filler, ROOM};
pub use crate::input::{Given, Input, InputError, Others};
use crate::relation::Relation;
use crate::schema::TypeAt;
use crate::state::{self, State};

/// What a load made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Segments.
    pub segments: u64,
    /// Entries of each secondary index.
    pub indexes: Vec<(DbdName, u64)>,
    /// Whether segments had to be sorted, though their organization keeps key order.
    pub out_of_order: bool,
    /// Logical children whose physical pair did not come: they were deleted on that path.
    pub alone: u64,
    /// Segments that were left out: they were deleted on their physical path, and nothing is
    /// defined any more that could lead to them on another one.
    pub left_out: u64,
}

impl Database {
    /// Loads the database, which is empty.
    ///
    /// # Errors
    /// If it is not empty, or a load was broken off; if the input fails or has a segment that
    /// cannot be loaded; if the store refuses.
    pub fn load<S: Store>(
        &self,
        store: &S,
        others: Others<'_>,
        input: &mut impl Input,
    ) -> Result<Loaded> {
        self.load_within(store, others, input, ROOM)
    }

    /// Loads with that much room to sort in.
    pub(crate) fn load_within<S: Store>(
        &self,
        store: &S,
        others: Others<'_>,
        input: &mut impl Input,
        room: usize,
    ) -> Result<Loaded> {
        let parents: Vec<Arc<Database>> =
            self.as_child.iter().map(|one| others(one.parent_dbd)).collect::<Result<_>>()?;
        for parent in parents.iter().filter(|parent| parent.name() != self.name()) {
            if state::admit(store, parent)? == State::Loading {
                return Err(HierarchyError::Loading(parent.name()));
            }
        }
        state::begin_load(store, self)?;
        let done = self.fill(store, &parents, input, room).and_then(|loaded| {
            let alone = self.compare_pairs(store, others)?;
            Ok(Loaded { alone, ..loaded })
        });
        match done {
            Ok(loaded) => {
                state::end_load(store, self)?;
                for tree in &self.indexes {
                    state::set_due(store, tree.index.dbd, false)?;
                }
                Ok(loaded)
            }
            Err(error) => {
                // If that fails, too, the state says what to do.
                let _ = self.empty(store);
                Err(error)
            }
        }
    }

    fn fill<S: Store>(
        &self,
        store: &S,
        parents: &[Arc<Database>],
        input: &mut impl Input,
        room: usize,
    ) -> Result<Loaded> {
        let mut filler = Filler::new(store, room);
        // The first slots are the partitions.
        for set in &self.sets {
            filler.slot(*set)?;
        }
        let mut loading = Loading {
            store,
            database: self,
            arranger: Arranger::new(store, self, parents),
            input,
            filler,
            held: false,
            in_order: true,
            number: 0,
            left_out: 0,
            slot: 0,
            last: Vec::new(),
            error: None,
        };
        let out_of_order = loading.run(store)?;
        let Loading { filler, number: segments, left_out, .. } = loading;
        for (relation, parent) in self.as_child.iter().zip(parents) {
            self.check_parents(store, relation, parent)?;
        }
        let mut indexes = Vec::with_capacity(self.indexes.len());
        let mut filler = filler;
        for tree in &self.indexes {
            let slot = filler.slot(tree.set)?;
            indexes.push((tree.index.dbd, filler.written(slot)));
        }
        Ok(Loaded { segments: segments - left_out, indexes, out_of_order, alone: 0, left_out })
    }

    /// Whether all logical parents are there that the relation names; it is ordered by them.
    fn check_parents<S: Store>(
        &self,
        store: &S,
        relation: &Relation,
        parents: &Database,
    ) -> Result<()> {
        let (mut value, mut known) = (Vec::new(), Vec::new());
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(relation.set)?;
        loop {
            let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? else { break };
            let Some(len) = parents.parent_len(relation.parent, entry.key) else {
                return Err(self.damaged(crate::Damaged("a relation names no logical parent")));
            };
            if known == entry.key[..len] {
                continue;
            }
            known.clear();
            known.extend_from_slice(&entry.key[..len]);
            let child = entry.value.to_vec();
            // One that was deleted on its physical path lives on for its children.
            let (set, parent) = parents.locate(&known)?;
            if !unit.get(set, parent, Read::Unlocked, &mut value)? {
                return Err(self.no_parent(relation, parents, &child, &known));
            }
        }
        unit.commit()?;
        Ok(())
    }

    fn no_parent(
        &self,
        relation: &Relation,
        parents: &Database,
        child: &[u8],
        parent: &[u8],
    ) -> HierarchyError {
        let kind = parents.schema.of(relation.parent);
        let (of, key) = (parents.name(), parents.shown_key(parent));
        HierarchyError::Refused(Box::new(Refused {
            database: self.name(),
            number: None,
            segment: Some(relation.child_name),
            key: self.shown_key(child),
            why: format!("its logical parent, {} in {of} with key {key}, is missing", kind.name),
            remedy: "Load the logical parents first, or leave such logical children out.",
        }))
    }

    /// The concatenated key of a path, for people; the path itself if it is none.
    #[must_use]
    pub fn shown_key(&self, path: &[u8]) -> String {
        let encoding = self.schema.placement.encoding();
        let Ok(levels) = self.parse(path) else { return shown(path, encoding) };
        let mut concatenated = Vec::new();
        self.concatenate(path, &levels, &mut concatenated);
        shown(&concatenated, encoding)
    }

    /// How long the path of a segment of that type is at the beginning of `bytes`.
    #[must_use]
    pub fn parent_len(&self, of: TypeAt, bytes: &[u8]) -> Option<usize> {
        let mut end = self.schema.front();
        for at in self.way_to(of) {
            if at != TypeAt::ROOT {
                (*bytes.get(end)? == at.code()).then_some(())?;
                end += 1;
            }
            end += self.schema.part_len(at, bytes.get(end..)?)?;
        }
        Some(end)
    }
}

/// A load on its way; and what a bulk load of one partition reads from.
struct Loading<'l, S: Store, I> {
    store: &'l S,
    database: &'l Database,
    arranger: Arranger<'l, S>,
    input: &'l mut I,
    filler: Filler<'l, S>,
    /// Whether the segment that the arranger has placed is not stored yet.
    held: bool,
    /// How many segments came.
    number: u64,
    /// How many of them are not stored, for they were deleted on every path that there is.
    left_out: u64,
    /// Whether no segment came that a bulk load could not take in its turn.
    in_order: bool,
    /// The partition that is being loaded in bulk.
    slot: usize,
    /// The key that went into it last.
    last: Vec<u8>,
    /// Why the bulk load was broken off.
    error: Option<HierarchyError>,
}

impl<S: Store, I: Input> Loading<'_, S, I> {
    /// Loads everything. Answers whether segments came out of order.
    fn run(&mut self, store: &S) -> Result<bool> {
        let streams = !self.database.schema.is_hashed();
        while self.held || self.read()? {
            let slot = self.partition();
            if streams && self.in_order && self.filler.loads(slot) {
                if self.filler.is_full() {
                    self.flush()?;
                }
                (self.slot, self.held) = (slot, true);
                self.last.clear();
                let set = self.filler.set(slot);
                match (store.load_sorted(set, self), self.error.take()) {
                    (_, Some(error)) => return Err(error),
                    (Err(error), None) => return Err(error.into()),
                    (Ok(count), None) => self.filler.loaded(slot, count),
                }
                continue;
            }
            let (_, key) = self.database.schema.split(&self.arranger.path);
            self.filler.add(slot, key, &self.arranger.value, self.number);
            self.held = false;
            if self.filler.is_full() {
                self.flush()?;
            }
        }
        self.flush()?;
        Ok(!self.in_order)
    }

    /// Reads and places the next segment; `false` behind the last one.
    fn read(&mut self) -> Result<bool> {
        loop {
            let given = self.input.next_segment().map_err(HierarchyError::Input)?;
            let Some(given) = given else { return Ok(false) };
            self.number += 1;
            let Given { of, data, deleted } = given;
            let kind = self.database.schema.types.get(of.index());
            if deleted.physically && kind.is_some_and(|kind| !kind.may_outlive()) {
                self.left_out += 1;
                continue;
            }
            let Some(relation) = self.database.pair_of(of) else {
                self.arranger.place(self.number, given, &mut self.filler)?;
                return Ok(true);
            };
            // Stored in another database, or to be: it waits to be compared.
            let parent = self.arranger.parent_of(self.number, of, data)?;
            let key = [parent, &self.number.to_be_bytes()].concat();
            let set = self.database.make_waiting_set(self.store, relation)?;
            let slot = self.filler.slot(set)?;
            self.filler.add(slot, &key, data, self.number);
        }
    }

    fn partition(&self) -> usize {
        usize::from(self.database.schema.split(&self.arranger.path).0)
    }

    fn flush(&mut self) -> Result<()> {
        let database = self.database;
        let Loading { filler, .. } = self;
        match filler.flush() {
            Ok(()) => Ok(()),
            Err(stop) => Err(stop.error(|clash| clashes(database, filler.set(clash.slot), &clash))),
        }
    }

    /// The next step of a bulk load; `false` where it ends, with a segment held if there is one
    /// that does not belong into it.
    fn step(&mut self) -> Result<bool> {
        if !self.held {
            if self.filler.is_full() || !self.read()? {
                return Ok(false);
            }
            let (partition, key) = self.database.schema.split(&self.arranger.path);
            let place = (usize::from(partition), key);
            if place < (self.slot, &self.last) {
                self.in_order = false;
            }
            if place.0 != self.slot || !self.in_order {
                self.held = true;
                return Ok(false);
            }
            if key == self.last {
                let (slot, number) = (self.slot, self.number);
                let clash = Clash { slot, key: key.to_vec(), value: Vec::new(), number };
                return Err(clashes(self.database, self.filler.set(slot), &clash));
            }
        }
        self.held = false;
        let (_, key) = self.database.schema.split(&self.arranger.path);
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(true)
    }
}

impl<S: Store, I: Input> LoadSource for Loading<'_, S, I> {
    fn next_entry(&mut self) -> store::Result<Option<Entry<'_>>> {
        match self.step() {
            Ok(true) => Ok(Some(Entry { key: &self.last, value: &self.arranger.value })),
            Ok(false) => Ok(None),
            Err(error) => {
                self.error = Some(error.clone());
                Err(store::source_error(error))
            }
        }
    }
}

/// What it means that the key of an entry is taken.
pub(crate) fn clashes(database: &Database, set: SetId, clash: &Clash) -> HierarchyError {
    let encoding = database.schema.placement.encoding();
    let (path, why) = if let Some(at) = database.sets.iter().position(|one| *one == set) {
        let mut path = Vec::new();
        if database.schema.is_partitioned() {
            // A HALDB has 1001 partitions at most.
            path.extend_from_slice(&(at as u16).to_be_bytes());
        }
        path.extend_from_slice(&clash.key);
        (path, "there is one of that key already (status II)".to_owned())
    } else if let Some(tree) = database.indexes.iter().find(|tree| tree.set == set) {
        let path = tree.source_of(&clash.value).map(|(path, _)| path.to_vec());
        let key = shown(clash.key.get(tree.search()).unwrap_or(&clash.key), encoding);
        let why = format!(
            "index {} is unique and has an entry with {} {key} already (status NI)",
            tree.index.dbd, tree.index.name
        );
        (path.unwrap_or_default(), why)
    } else {
        let why = "its logical parent has a logical child of that key already (status II)";
        (clash.value.clone(), why.to_owned())
    };
    let levels = database.parse(&path).ok();
    let segment = levels.map(|levels| database.schema.of(levels.type_at(levels.len())).name);
    HierarchyError::Refused(Box::new(Refused {
        database: database.name(),
        number: (clash.number > 0).then_some(clash.number),
        segment,
        key: database.shown_key(&path),
        why,
        remedy: "Leave one of the two out, or correct the definition.",
    }))
}

#[cfg(test)]
mod tests;
