//! A database PCB: what a program sees through it, and where it stands.

use std::sync::Arc;

use hierarchy::{Levels, Result, Work};
use store::{LockMode, SetId, Store};

use crate::marks::Mark;
use crate::mask::Mask;
use crate::position::Position;
use crate::search::Reach;
use crate::shape::{Chain, Node, Shape};
use crate::subject::{key_of, search_of};
use crate::table::LevelTable;
use crate::trail::Trail;
use crate::weave::FoundEntry;

/// Cursors by set: a PCB keeps one in each set that it walks.
pub(crate) struct Cursors<S: Store> {
    list: Vec<(SetId, S::Cursor)>,
    last: usize,
}

impl<S: Store> Cursors<S> {
    pub(crate) fn new() -> Cursors<S> {
        Cursors { list: Vec::new(), last: 0 }
    }

    /// The cursor of a set.
    pub(crate) fn get(&mut self, store: &S, set: SetId) -> Result<&mut S::Cursor> {
        if self.list.get(self.last).is_none_or(|(of, _)| *of != set) {
            self.last = match self.list.iter().position(|(of, _)| *of == set) {
                Some(at) => at,
                None => {
                    self.list.push((set, store.cursor(set)?));
                    self.list.len() - 1
                }
            };
        }
        Ok(&mut self.list[self.last].1)
    }
}

/// A segment that a get-hold returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) level: usize,
    pub(crate) node: u16,
}

/// The parent that GNP stays below.
#[derive(Clone, Debug)]
pub(crate) struct Parentage {
    /// Its path; empty if there is none.
    pub(crate) path: Vec<u8>,
    pub(crate) levels: Levels,
}

/// The load that a PCB does.
#[derive(Clone, Debug)]
pub(crate) struct Loading {
    /// Whether the database was found empty and is being loaded.
    pub(crate) begun: bool,
    /// The path that was loaded last when the last sync point came.
    committed: Vec<u8>,
    committed_levels: Levels,
}

impl Loading {
    fn new() -> Loading {
        Loading { begun: false, committed: Vec::new(), committed_levels: Levels::NONE }
    }
}

/// A database PCB.
pub(crate) struct DbPcb<S: Store> {
    /// Its number among the program's database PCBs.
    pub(crate) number: usize,
    pub(crate) shape: Arc<Shape>,
    pub(crate) mask: Mask,
    pub(crate) table: LevelTable,
    pub(crate) position: Position,
    pub(crate) parentage: Parentage,
    /// Whether the last call was a get-hold that found its segment.
    pub(crate) holding: bool,
    /// What it returned, the highest level first; nothing of a segment with PROCOPT=K.
    pub(crate) held: Vec<Held>,
    pub(crate) trail: Trail,
    pub(crate) cursors: Cursors<S>,
    /// With multiple positioning: for each node where its chain goes on.
    pub(crate) marks: Vec<Option<Mark>>,
    /// The level whose data a search keeps in any case.
    pub(crate) wanted_level: usize,
    pub(crate) loading: Loading,
    /// Whether another PCB of the program, or another program, may delete what this one stands on.
    pub(crate) shares: bool,
    /// How often the program had changed anything when path and parentage were read.
    pub(crate) known_at: u64,
    /// Whether a search met a held occurrence that is no longer there.
    pub(crate) lost: bool,
    /// Whether a search was held to a present occurrence.
    pub(crate) was_held: bool,
    /// The part of the occurrence that the point is within, if the walk of a level began there.
    pub(crate) within: Option<Vec<u8>>,
    // Buffers.
    pub(crate) start: Vec<u8>,
    pub(crate) seek: Vec<u8>,
    pub(crate) prefix: Vec<u8>,
    pub(crate) entry: FoundEntry,
    pub(crate) value: Vec<u8>,
    pub(crate) expanded: Vec<u8>,
    pub(crate) work: Work,
}

impl<S: Store> DbPcb<S> {
    pub(crate) fn new(number: usize, shape: Arc<Shape>, shared: bool) -> DbPcb<S> {
        let marks = if shape.view.multiple_positions { shape.nodes.len() } else { 0 };
        let mut trail = Trail::default();
        let depth = shape.nodes.iter().map(|node| node.level).max().unwrap_or(0);
        trail.reserve(depth);
        DbPcb {
            number,
            mask: Mask::new(&shape.view),
            table: LevelTable::new(depth),
            position: Position::new(),
            parentage: Parentage { path: Vec::new(), levels: Levels::NONE },
            holding: false,
            held: Vec::new(),
            trail,
            cursors: Cursors::new(),
            marks: vec![None; marks],
            wanted_level: 0,
            loading: Loading::new(),
            shares: true,
            known_at: 0,
            lost: false,
            was_held: false,
            within: None,
            start: Vec::new(),
            seek: Vec::new(),
            prefix: Vec::new(),
            entry: FoundEntry::default(),
            value: Vec::new(),
            expanded: Vec::new(),
            work: Work::new(shared),
            shape,
        }
    }

    /// How a record is locked that the position moves to; `None` for PROCOPT=GO.
    pub(crate) fn lock_mode(&self) -> Option<LockMode> {
        self.shape.lock_mode()
    }

    /// Whether what the path stands on may have been deleted through another PCB since.
    pub(crate) fn may_be_gone(&self, reach: &Reach<'_, S>) -> bool {
        self.shares && self.known_at != reach.changes
    }

    /// Forgets position, parentage and hold: a sync point.
    pub(crate) fn forget(&mut self) {
        self.position.reset();
        self.cancel_parentage();
        self.holding = false;
        self.mask.clear();
        self.table.forget();
        self.marks.iter_mut().for_each(|mark| *mark = None);
    }

    /// A sync point in a load: a backout comes back to here.
    pub(crate) fn keep_load(&mut self) {
        self.loading.committed.clone_from(&self.position.path);
        self.loading.committed_levels = self.position.levels;
    }

    /// A backout of a load: goes back to what was loaded last at the last sync point.
    pub(crate) fn return_load(&mut self) {
        let (path, levels) = (self.loading.committed.clone(), self.loading.committed_levels);
        self.loading.begun = !levels.is_empty();
        self.show(&path, &levels);
        self.position.path = path;
        self.position.levels = levels;
        self.position.settle();
    }

    pub(crate) fn cancel_parentage(&mut self) {
        self.parentage.path.clear();
        self.parentage.levels = Levels::NONE;
    }

    /// Makes the path's level the parent of GNP.
    pub(crate) fn set_parentage(&mut self, level: usize) {
        let end = self.position.levels.end(level);
        self.parentage.path.clear();
        self.parentage.path.extend_from_slice(&self.position.path[..end]);
        self.parentage.levels = self.position.levels.down_to(level);
    }

    /// The node of a level of a path.
    pub(crate) fn node_at(&self, levels: &Levels, level: usize) -> u16 {
        self.shape.node_at(levels, level)
    }

    /// Shows a path in the PCB: level, segment name and concatenated key.
    pub(crate) fn show(&mut self, path: &[u8], levels: &Levels) {
        let DbPcb { shape, mask, table, trail, .. } = self;
        show_levels(shape, (mask, table, trail), (path, levels), levels.len());
    }

    /// Takes the trail as the new path.
    pub(crate) fn take_trail(&mut self) {
        std::mem::swap(&mut self.position.path, &mut self.trail.key);
        self.position.levels = self.trail.levels.0;
    }
}

/// Shows a path down to a level.
pub(crate) fn show_levels(
    shape: &Shape,
    (mask, table, trail): (&mut Mask, &mut LevelTable, &Trail),
    (path, levels): (&[u8], &Levels),
    depth: usize,
) {
    let depth = depth.min(levels.len());
    if depth == 0 {
        return mask.clear();
    }
    mask.key_len = 0;
    for level in 1..=depth {
        let at = shape.node_at(levels, level);
        let node = shape.node(at);
        let from = levels.end(level - 1) + usize::from(level > 1);
        let part = &path[from..levels.end(level)];
        match node.shown_from {
            Some(front) => {
                let key = part.get(front..front + node.key_len).unwrap_or(&[]);
                mask.put_bytes(node.key_at, key);
            }
            None => {
                let carried = trail.carried.get(level - 1).map_or(&[][..], |one| &one.path);
                show_key(mask, shape, node, part, carried);
            }
        }
        table.keep(level, shape.segment(at).name, mask.key());
    }
    mask.show(depth, shape.segment(shape.node_at(levels, depth)).name);
}

/// Shows the key of one level that is not shown as it is stored, whose part of the path is given,
/// and where it is stored.
fn show_key(mask: &mut Mask, shape: &Shape, node: &Node, part: &[u8], stored: &[u8]) {
    let database = shape.database(node);
    let (len, at) = (node.key_len, node.key_at);
    match node.chain {
        Chain::Root | Chain::Child { .. } => {
            let front = if node.chain == Chain::Root { database.schema.front() } else { 0 };
            let key = part.get(front..front + len).unwrap_or(&[]);
            let inverse = database.schema.key_collation(node.of).inverse();
            mask.put_key(at, key.iter().map(|byte| inverse[usize::from(*byte)]));
        }
        Chain::Index(index) => {
            let tree = &database.indexes[index];
            let key = match shape.view.entries {
                Some(_) => key_of(tree, database, part),
                None => search_of(tree, database, part),
            };
            mask.put_bytes(at, &key);
        }
        Chain::Relation { .. } => mask.put_bytes(at, &part[..len.min(part.len())]),
        Chain::Up { .. } => {
            let mut key = Vec::new();
            if let Ok(levels) = database.parse(stored) {
                let above = levels.end(levels.len().saturating_sub(1));
                database.schema.key_of(node.of, stored, above, &mut key);
            }
            mask.put_bytes(at, &key);
        }
    }
}
