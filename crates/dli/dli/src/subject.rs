//! A segment occurrence as SSAs look at it.

use std::convert::Infallible;

use crate::ssa::{Entries, Operand, Qualification, Ssa, Subject};
use hierarchy::{Database, IndexEntry, IndexTree, Result, Source, Stored, TypeAt};
use placement::Collation;
use store::{Cursor, KeyRange, Read, Store, Unit};

use crate::context::CallContext;
use crate::plan::{LevelPlan, Need};
use crate::view::{Chain, CompiledView, Node};

/// The search fields of the index entries that lead to an occurrence, as far as an SSA asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexed {
    /// Of the entry over which it was reached.
    current: Option<Vec<u8>>,
    /// Of all entries of the index of PROCSEQ.
    sequence: Vec<Vec<u8>>,
    /// Of all entries of each index that the segment lists.
    listed: Vec<Vec<Vec<u8>>>,
}

/// An occurrence: its data, that of its destination parent, and its index entries.
pub(crate) struct Occurrence<'o> {
    pub(crate) view: &'o CompiledView,
    pub(crate) node: u16,
    pub(crate) data: &'o [u8],
    pub(crate) joined: &'o [u8],
    pub(crate) indexed: Option<&'o Indexed>,
}

impl Occurrence<'_> {
    /// Its key as the program knows it.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        let key = self.view.segment(self.node).key?;
        let from = usize::from(key.offset);
        self.data.get(from..from + usize::from(key.len))
    }

    /// Whether it satisfies what a plan asks of its level.
    pub(crate) fn satisfies(&self, step: &LevelPlan<'_, '_>) -> bool {
        match step.need {
            Need::Any => true,
            Need::Ssa(ssa) => match ssa.matches(&self.view.table, self) {
                Ok(matches) => matches,
                Err(never) => match never {},
            },
            Need::Key(key) => {
                let search = self.indexed.and_then(|indexed| indexed.current.as_deref());
                search.or(self.key()) == Some(key)
            }
        }
    }
}

impl Subject for Occurrence<'_> {
    type Error = Infallible;

    fn bytes(&self, offset: u16, len: u16, of_destination: bool) -> Option<&[u8]> {
        let data = if of_destination { self.joined } else { self.data };
        let from = usize::from(offset);
        data.get(from..from + usize::from(len))
    }

    fn any_entry(
        &self,
        entries: Entries,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> std::result::Result<bool, Infallible> {
        let Some(indexed) = self.indexed else { return Ok(false) };
        let list = match entries {
            Entries::Current => {
                return Ok(indexed.current.as_deref().is_some_and(test));
            }
            Entries::Sequence => Some(&indexed.sequence),
            Entries::Listed(at) => indexed.listed.get(usize::from(at)),
        };
        Ok(list.is_some_and(|list| list.iter().any(|entry| test(entry))))
    }
}

/// Collects the index entries that an SSA asks about; `None` if it asks about none. A root that is
/// reached through an index is known by its search fields in concatenated keys, too (DLI-12.64).
pub(crate) fn indexed<S: Store>(
    context: &mut CallContext<'_, S>,
    step: &LevelPlan<'_, '_>,
    path: &[u8],
    part: Option<&[u8]>,
) -> Result<Option<Indexed>> {
    let view = context.view;
    let node = view.node(step.node);
    let database = view.database(node);
    let sets = match (step.need, node.chain, part) {
        (Need::Key(_), Chain::Index(at), Some(part)) => {
            let current = Some(search_of(&database.indexes[at], database, part));
            return Ok(Some(Indexed { current, ..Indexed::default() }));
        }
        (Need::Ssa(Ssa { qualification: Qualification::Sets(sets), .. }), ..) if step.indexed => {
            sets
        }
        _ => return Ok(None),
    };
    let mut found = Indexed { listed: Vec::new(), ..Indexed::default() };
    if let Chain::Index(at) = node.chain {
        let tree = &database.indexes[at];
        found.current = part.map(|part| search_of(tree, database, part));
        if sets.conditions().iter().any(|one| one.operand == Operand::Sequence) {
            found.sequence = entries(context, database, node, tree, path)?;
        }
    }
    for index in &view.segment(step.node).indices {
        let tree = database.indexes.iter().find(|tree| tree.index.dbd == index.dbd);
        found.listed.push(match tree {
            Some(tree) => entries(context, database, node, tree, path)?,
            None => Vec::new(),
        });
    }
    Ok(Some(found))
}

/// An index key without its order, as data.
pub(crate) fn key_of(tree: &IndexTree, database: &Database, key: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(key.len());
    tree.revert(database.schema.placement.collation(), key, &mut data);
    data
}

/// The search fields of an index key, as data.
pub(crate) fn search_of(tree: &IndexTree, database: &Database, key: &[u8]) -> Vec<u8> {
    let mut search = key_of(tree, database, key);
    search.truncate(tree.search().end);
    search.drain(..tree.search().start.min(search.len()));
    search
}

/// The search fields of every source beneath a target.
fn entries<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    node: &Node,
    tree: &IndexTree,
    path: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let (set, key) = database.locate(path)?;
    let front = path.len() - key.len();
    let (mut cursor, mut end) = (context.store.cursor(set)?, Vec::new());
    cursor.limit(KeyRange::prefix(key, &mut end));
    let (mut list, mut here) = (Vec::new(), path[..front].to_vec());
    let (mut expanded, mut concatenated) = (Vec::new(), Vec::new());
    let mut made = IndexEntry::default();
    debug_assert!(tree.target == node.of || node.of == TypeAt::ROOT || tree.target != tree.source);
    while let Some(entry) = context.unit.next(&mut cursor, Read::Unlocked)? {
        here.truncate(front);
        here.extend_from_slice(entry.key);
        let levels = database.parse(&here)?;
        if levels.type_at(levels.len()) != tree.source {
            continue;
        }
        let kind = database.schema.of(tree.source);
        let stored = Stored::read(kind, entry.value).map_err(|what| database.damaged(what))?;
        if stored.is_deleted {
            continue;
        }
        let data = stored.data(&mut expanded).map_err(|what| database.damaged(what))?;
        concatenated.clear();
        database.concatenate(&here, &levels, &mut concatenated);
        let source = Source::new(&stored, data, &here, &concatenated, database.blank);
        if tree.make(Collation::Binary, &source, &mut made) {
            list.push(made.key[tree.search()].to_vec());
        }
    }
    Ok(list)
}
