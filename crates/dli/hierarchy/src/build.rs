//! Building secondary indexes from the segments, and emptying a database.
//!
//! Invariants:
//! 1. An index that is being built is recorded as due until all of its entries are there.
//! 2. A database that is being emptied counts as in a load until nothing is left.

use definitions::DbdName;
use store::{Read, Store, StoreError, Unit, UnitOptions};

use crate::database::Database;
use crate::error::{HierarchyError, Result};
use crate::fill::{Filler, ROOM};
use crate::index::{IndexEntry, IndexTree, Source};
use crate::load::clashes;
use crate::number::BATCH_BYTES;
use crate::state::{self, State};
use crate::value::Stored;

/// An index that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its name.
    pub index: DbdName,
    /// How many entries it has.
    pub entries: u64,
    /// How many of the old entries held user data, which is lost: no source has it. `None` if they
    /// were damaged, so that it cannot be said.
    pub user_data_lost: Option<u64>,
}

impl Database {
    /// The secondary index of that name, or all of them.
    ///
    /// # Errors
    /// [`HierarchyError::NoIndex`].
    pub fn index_trees(&self, only: Option<DbdName>) -> Result<Vec<&IndexTree>> {
        let wanted = |tree: &&IndexTree| only.is_none_or(|only| only == tree.index.dbd);
        let trees: Vec<&IndexTree> = self.indexes.iter().filter(wanted).collect();
        match only {
            Some(index) if trees.is_empty() => {
                Err(HierarchyError::NoIndex { database: self.name(), index })
            }
            _ => Ok(trees),
        }
    }

    /// Builds one or all secondary indexes anew. Entries that programs deleted are there again, and
    /// user data that they stored is lost. Sources that lack an identity which an index needs get
    /// it before ([`crate::number`]). `progress` is told how many segments were seen.
    ///
    /// # Errors
    /// If there is no such index; if a segment cannot be read, or two have the same entry in a
    /// unique index; if the store refuses. Then the indexes stay recorded as due.
    pub fn build_indexes<S: Store>(
        &self,
        store: &S,
        only: Option<DbdName>,
        progress: impl FnMut(u64),
    ) -> Result<Vec<Built>> {
        self.build_indexes_in(store, only, BATCH_BYTES, progress)
    }

    /// The same, with so many bytes in each unit of work that writes sources again.
    ///
    /// # Errors
    /// As [`Database::build_indexes`].
    pub fn build_indexes_in<S: Store>(
        &self,
        store: &S,
        only: Option<DbdName>,
        batch_bytes: usize,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<Built>> {
        self.index_trees(only)?;
        if state::compared(store, self)?.state == State::Loading {
            return Err(HierarchyError::Loading(self.name()));
        }
        let numbered = self.number(store, batch_bytes, &mut progress)?;
        numbered.fill_indexes(store, only, progress)
    }

    fn fill_indexes<S: Store>(
        &self,
        store: &S,
        only: Option<DbdName>,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<Built>> {
        let trees = self.index_trees(only)?;
        let mut filler = Filler::new(store, ROOM);
        let mut lost = Vec::with_capacity(trees.len());
        for tree in &trees {
            lost.push(count_user_data(store, tree)?);
            state::set_due(store, tree.index.dbd, true)?;
            store.empty_set(tree.set)?;
            filler.slot(tree.set)?;
        }
        let collation = self.schema.placement.collation();
        let (mut expanded, mut concatenated) = (Vec::new(), Vec::new());
        let (mut entry, mut seen_all) = (IndexEntry::default(), 0);
        self.walk(store, |seen| {
            seen_all += 1;
            progress(seen_all);
            let mut trees = trees.iter().filter(|tree| tree.source == seen.of).peekable();
            if trees.peek().is_none() {
                return Ok(());
            }
            let kind = self.schema.of(seen.of);
            let stored = Stored::read(kind, seen.value).map_err(|what| self.damaged(what))?;
            if stored.is_deleted {
                return Ok(());
            }
            let data = stored.data(&mut expanded).map_err(|what| self.damaged(what))?;
            concatenated.clear();
            self.concatenate(seen.path, seen.levels, &mut concatenated);
            let source = Source::new(&stored, data, seen.path, &concatenated, self.blank);
            for tree in trees {
                if tree.make(collation, &source, &mut entry) {
                    let slot = filler.slot(tree.set)?;
                    filler.add(slot, &entry.key, &entry.value, 0);
                }
            }
            match filler.is_full() {
                true => self.flush(&mut filler),
                false => Ok(()),
            }
        })?;
        self.flush(&mut filler)?;
        let mut built = Vec::with_capacity(trees.len());
        for (tree, user_data_lost) in trees.iter().zip(lost) {
            let (index, slot) = (tree.index.dbd, filler.slot(tree.set)?);
            built.push(Built { index, entries: filler.written(slot), user_data_lost });
            state::set_due(store, index, false)?;
        }
        Ok(built)
    }

    fn flush<S: Store>(&self, filler: &mut Filler<'_, S>) -> Result<()> {
        match filler.flush() {
            Ok(()) => Ok(()),
            Err(stop) => Err(stop.error(|clash| clashes(self, filler.set(clash.slot), &clash))),
        }
    }

    /// Empties the database: its segments, the entries of its indexes, and the relations of its
    /// logical children. Logical children in other databases are left as they are.
    ///
    /// # Errors
    /// If the store refuses; then the database counts as in a load.
    pub fn empty<S: Store>(&self, store: &S) -> Result<()> {
        state::record(store, self, State::Loading)?;
        let indexes = self.indexes.iter().map(|tree| tree.set);
        let relations = self.as_child.iter().map(|relation| relation.set);
        for set in indexes.chain(relations).chain(self.sets.iter().copied()) {
            store.empty_set(set)?;
        }
        self.forget_waiting(store)?;
        for tree in &self.indexes {
            state::set_due(store, tree.index.dbd, false)?;
        }
        state::record_empty(store, self)
    }
}

/// How many entries hold user data; `None` if they are damaged.
fn count_user_data<S: Store>(store: &S, tree: &IndexTree) -> Result<Option<u64>> {
    let mut count = 0;
    if tree.user_len() > 0 {
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(tree.set)?;
        loop {
            match unit.next(&mut cursor, Read::Unlocked) {
                Ok(None) => break,
                Ok(Some(entry)) => count += u64::from(!tree.user_data(entry.value).is_empty()),
                Err(StoreError::Damaged(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        unit.commit()?;
    }
    Ok(Some(count))
}
