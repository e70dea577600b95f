//! What a PCB shows of a path: the mask, and the level table behind it.

use hierarchy::Levels;

use crate::mask::Mask;
use crate::search_stack::SearchStack;
use crate::subject::{key_of, search_of};
use crate::table::LevelTable;
use crate::view::{Chain, CompiledView, Node};

/// The feedback of a PCB.
#[derive(Debug)]
pub(crate) struct Feedback {
    pub(crate) mask: Mask,
    table: LevelTable,
}

impl Feedback {
    pub(crate) fn new(view: &CompiledView, depth: usize) -> Feedback {
        Feedback { mask: Mask::new(&view.resolved), table: LevelTable::new(depth) }
    }

    /// Position is lost: shows nothing, and no level is known any more.
    pub(crate) fn forget(&mut self) {
        self.table.forget();
        self.mask.clear();
    }

    /// The SSA in place `at` of the call, from 0, is wrong: the PCB shows its ordinal as the level,
    /// and what the level table holds there (section 2 rule 5).
    pub(crate) fn show_fault(&mut self, at: usize) {
        self.mask.clear();
        if let Some((segment, key)) = self.table.at(at + 1) {
            self.mask.put_bytes(0, key);
            self.mask.show(at + 1, segment);
        }
        self.mask.level = u8::try_from(at + 1).unwrap_or(u8::MAX);
    }

    /// Shows a path down to a level; of a derived view the search stack says where it is stored.
    pub(crate) fn show(
        &mut self,
        view: &CompiledView,
        stack: &SearchStack,
        path: &[u8],
        levels: &Levels,
        depth: usize,
    ) {
        let depth = depth.min(levels.len());
        if depth == 0 {
            return self.mask.clear();
        }
        let Feedback { mask, table } = self;
        mask.key_len = 0;
        for level in 1..=depth {
            let at = view.node_at(levels, level);
            let node = view.node(at);
            let from = levels.end(level - 1) + usize::from(level > 1);
            let part = &path[from..levels.end(level)];
            match node.shown_from {
                Some(front) => {
                    let key = part.get(front..front + node.key_len).unwrap_or(&[]);
                    mask.put_bytes(node.key_at, key);
                }
                None => {
                    let carried = stack.carried.get(level - 1).map_or(&[][..], |one| &one.path);
                    show_key(mask, view, node, part, carried);
                }
            }
            table.keep(level, view.segment(at).name, mask.key());
        }
        mask.show(depth, view.segment(view.node_at(levels, depth)).name);
    }
}

/// Shows the key of one level that is not shown as it is stored, whose part of the path is given,
/// and where it is stored.
fn show_key(mask: &mut Mask, view: &CompiledView, node: &Node, part: &[u8], stored: &[u8]) {
    let database = view.database(node);
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
            let key = match view.resolved.entries {
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
