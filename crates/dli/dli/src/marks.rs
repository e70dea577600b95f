//! Multiple positioning: a place for each segment type below its parent (`POS=MULTIPLE`).
//!
//! Invariants:
//! 1. A mark lasts while the parent's does: where an occurrence is newly established, nothing is
//!    known of what lies beneath it.
//! 2. A GNP with SSAs that finds nothing ends the chain of the type that it went along, and no
//!    other's.

use store::Store;

use crate::pcb::DbPcb;
use crate::position::{Cut, Side};

/// Where the chain of a segment type goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// A virtual key; behind [`Side::After`] that of an occurrence.
    key: Vec<u8>,
    side: Side,
    /// How many bytes of it are the parent's.
    above: usize,
}

impl Mark {
    pub(crate) fn cut(&self) -> Cut<'_> {
        Cut { key: &self.key, side: self.side }
    }

    /// The occurrence that it stands on, if it does.
    pub(crate) fn on(&self) -> Option<&[u8]> {
        (self.side == Side::After).then_some(&self.key)
    }
}

impl<S: Store> DbPcb<S> {
    /// Whether the PCB has `POS=MULTIPLE`.
    pub(crate) fn is_multiple(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Where the chain of a node goes on below a parent.
    pub(crate) fn mark(&self, node: u16, above: &[u8]) -> Option<&Mark> {
        let mark = self.marks.get(usize::from(node))?.as_ref()?;
        (mark.above == above.len() && mark.key.starts_with(above)).then_some(mark)
    }

    /// Brings the marks in line with path and point.
    pub(crate) fn note_marks(&mut self) {
        self.note_marks_of(None);
    }

    /// The same; where the point is behind all dependents, that is said of this type alone: the
    /// call has looked for no other.
    pub(crate) fn note_marks_of(&mut self, sought: Option<u16>) {
        if !self.is_multiple() {
            return;
        }
        let (levels, depth) = (self.position.levels, self.position.levels.len());
        let inside = self.position.is_after_path();
        for level in 1..=depth {
            let node = self.node_at(&levels, level);
            let mark = Mark {
                key: self.position.path[..levels.end(level)].to_vec(),
                side: Side::After,
                above: levels.end(level - 1),
            };
            let known = self.marks[usize::from(node)].as_ref() == Some(&mark);
            if !known || level == depth && inside {
                self.forget_beneath(node);
                self.marks[usize::from(node)] = Some(mark);
            }
        }
        if !inside {
            self.note_point(depth, sought);
        }
    }

    /// Marks the types that the point speaks of, below the path.
    fn note_point(&mut self, depth: usize, sought: Option<u16>) {
        let levels = self.position.levels;
        let above = levels.end(depth);
        let children = match depth {
            0 => vec![0],
            _ => self.shape.node(self.node_at(&levels, depth)).children.clone(),
        };
        let past = |code: Option<u8>| {
            let mut key = self.position.path[..above].to_vec();
            key.extend(code);
            Mark { key, side: Side::Behind, above }
        };
        let marks: Vec<(u16, Mark)> = match self.position.cut() {
            // Behind the last root.
            None if self.position.is_at_end() => vec![(0, past(None))],
            None => return,
            Some(cut) if cut.key.len() <= above => children
                .iter()
                .filter(|child| sought.is_none_or(|sought| sought == **child))
                .map(|child| (*child, past(Some(self.shape.node(*child).code))))
                .collect(),
            Some(cut) => {
                let is_there =
                    |child: &&u16| depth == 0 || self.shape.node(**child).code == cut.key[above];
                let mark = Mark { key: cut.key.to_vec(), side: cut.side, above };
                let child = children.iter().find(is_there);
                child.map(|child| (*child, mark)).into_iter().collect()
            }
        };
        for (node, mark) in marks {
            self.forget_beneath(node);
            self.marks[usize::from(node)] = Some(mark);
        }
    }

    fn forget_beneath(&mut self, node: u16) {
        let shape = std::sync::Arc::clone(&self.shape);
        for (at, mark) in self.marks.iter_mut().enumerate() {
            if shape.nodes[at].path.contains(&node) && at != usize::from(node) {
                *mark = None;
            }
        }
    }

    /// Whether the place of the parent's chain lies behind the parent.
    pub(crate) fn is_marked_behind(&self, parent: &[u8], levels: &hierarchy::Levels) -> bool {
        let shared = (1..=levels.len())
            .take_while(|level| {
                let own = &self.position.levels;
                own.len() >= *level
                    && own.end(*level) == levels.end(*level)
                    && self.position.down_to(*level) == &parent[..levels.end(*level)]
            })
            .count();
        if shared == levels.len() {
            return false;
        }
        let node = self.node_at(levels, shared + 1);
        let own = Cut { key: &parent[..levels.end(shared + 1)], side: Side::Before };
        let mark = self.mark(node, &parent[..levels.end(shared)]);
        mark.is_some_and(|mark| own.order(&mark.cut()).is_lt())
    }
}
