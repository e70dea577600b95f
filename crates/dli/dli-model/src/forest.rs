//! The stored segments: trees of plain structs, and what was deleted since the last commit.
//!
//! Invariants:
//! 1. A twin chain holds all occurrences of a type under one parent in their order.
//! 2. A deleted occurrence keeps its place in its chain, marked as gone, until the commit: so a
//!    position beside it keeps its meaning, whichever program deleted it (DLI-12.4 and DLI-12.9).
//! 3. What stands beneath something gone is gone.

use std::collections::BTreeMap;

use definitions::DbdName;
use definitions::resolve::Home;

/// The number of an occurrence.
pub(crate) type Id = usize;

/// A physical segment type: database and segment code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Type {
    pub(crate) dbd: DbdName,
    pub(crate) code: u8,
}

impl Type {
    pub(crate) fn of(home: &Home) -> Type {
        Type { dbd: home.dbd, code: home.code }
    }
}

/// A stored segment.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) kind: Type,
    pub(crate) parent: Option<Id>,
    pub(crate) data: Vec<u8>,
    /// Deleted on its physical path.
    pub(crate) gone: bool,
    /// Of a logical child: the occurrence at the other end.
    pub(crate) logical_parent: Option<Id>,
    /// Of a logical child: deleted on its logical path (DLI-12.74).
    pub(crate) gone_logically: bool,
}

/// An entry of a secondary index (DLI-12.64 and DLI-12.65).
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) search: Vec<u8>,
    pub(crate) subsequence: Vec<u8>,
    /// `DDATA=`.
    pub(crate) data: Vec<u8>,
    /// What a program stored behind it (DLI-12.70).
    pub(crate) user_data: Vec<u8>,
    pub(crate) source: Id,
    pub(crate) target: Id,
    pub(crate) gone: bool,
    /// A program deleted it that uses the index as a database; its source is as it was.
    pub(crate) deleted: bool,
}

/// Everything that is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    all: Vec<Occurrence>,
    chains: BTreeMap<(Type, Option<Id>), Vec<Id>>,
    /// The logical twins under a logical parent, by the type of the virtual or paired child.
    pub(crate) logical: BTreeMap<(Type, Id), Vec<Id>>,
    pub(crate) entries: Vec<Entry>,
    /// The entries of each index in their order.
    pub(crate) indexes: BTreeMap<DbdName, Vec<Id>>,
}

impl Forest {
    /// An occurrence; numbers come from this forest alone.
    pub(crate) fn get(&self, id: Id) -> &Occurrence {
        &self.all[id]
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> &mut Occurrence {
        &mut self.all[id]
    }

    /// The twins under a parent, those gone among them.
    pub(crate) fn chain(&self, kind: Type, parent: Option<Id>) -> &[Id] {
        self.chains.get(&(kind, parent)).map_or(&[], Vec::as_slice)
    }

    /// All occurrences of a type that are there, in the order of their making.
    pub(crate) fn of_type(&self, kind: Type) -> impl Iterator<Item = Id> + '_ {
        let all = self.all.iter().enumerate();
        all.filter(move |(_, one)| one.kind == kind && !one.gone).map(|(id, _)| id)
    }

    /// Puts an occurrence in place `at` of its chain.
    pub(crate) fn insert(
        &mut self,
        kind: Type,
        parent: Option<Id>,
        data: Vec<u8>,
        at: usize,
    ) -> Id {
        let id = self.all.len();
        let (gone, gone_logically, logical_parent) = (false, false, None);
        self.all.push(Occurrence { kind, parent, data, gone, logical_parent, gone_logically });
        self.chains.entry((kind, parent)).or_default().insert(at, id);
        id
    }

    /// An occurrence and everything beneath it that is there, parents first.
    pub(crate) fn subtree(&self, id: Id) -> Vec<Id> {
        let mut all = vec![id];
        let mut at = 0;
        while let Some(next) = all.get(at).copied() {
            all.extend(self.children(next));
            at += 1;
        }
        all
    }

    /// How many occurrences there ever were.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The dependents of an occurrence that are there, of every type.
    pub(crate) fn children(&self, id: Id) -> Vec<Id> {
        let chains = self.chains.iter().filter(|((_, parent), _)| *parent == Some(id));
        chains.flat_map(|(_, chain)| chain).copied().filter(|one| !self.all[*one].gone).collect()
    }

    /// The root above an occurrence, and all between, lowest first, itself included.
    pub(crate) fn upward(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |one| self.all[*one].parent)
    }

    /// Whether a database holds nothing.
    pub(crate) fn is_empty(&self, dbd: DbdName) -> bool {
        self.all.iter().all(|one| one.gone || one.kind.dbd != dbd)
    }

    /// Takes what is gone out of its chains: no position leads there any more.
    pub(crate) fn forget_the_gone(&mut self) {
        let (all, entries) = (&self.all, &self.entries);
        for chain in self.chains.values_mut() {
            chain.retain(|id| !all[*id].gone);
        }
        for chain in self.logical.values_mut() {
            chain.retain(|id| !all[*id].gone_logically);
        }
        for index in self.indexes.values_mut() {
            index.retain(|id| !entries[*id].gone || entries[*id].deleted);
        }
    }
}
