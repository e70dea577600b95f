//! Multiple positioning: a place for each segment type below its parent (`POS=MULTIPLE`).
//!
//! Invariants:
//! 1. A mark lasts while the parent's does: where an occurrence is newly established, nothing is
//!    known of what lies beneath it.
//! 2. A GNP with SSAs that finds nothing ends the chain of the type that it went along, and no
//!    other's.

use hierarchy::Levels;

use crate::parentage::Parentage;
use crate::position::{Cut, Position, Side};
use crate::view::CompiledView;

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

/// The marks of a PCB; of one without `POS=MULTIPLE` there are none.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// For each node where its chain goes on.
    of_nodes: Vec<Option<Mark>>,
}

impl Marks {
    pub(crate) fn new(view: &CompiledView) -> Marks {
        let nodes = if view.resolved.multiple_positions { view.nodes.len() } else { 0 };
        Marks { of_nodes: vec![None; nodes] }
    }

    /// Whether the PCB has `POS=MULTIPLE`.
    pub(crate) fn are_kept(&self) -> bool {
        !self.of_nodes.is_empty()
    }

    /// Forgets them all: position is lost.
    pub(crate) fn forget(&mut self) {
        self.of_nodes.fill(None);
    }

    /// Where the chain of a node goes on below a parent.
    pub(crate) fn at(&self, node: u16, above: &[u8]) -> Option<&Mark> {
        let mark = self.of_nodes.get(usize::from(node))?.as_ref()?;
        (mark.above == above.len() && mark.key.starts_with(above)).then_some(mark)
    }

    /// Brings the marks in line with path and point. Where the point is behind all dependents, and
    /// a type was `sought`, that is said of this type alone: the call has looked for no other.
    pub(crate) fn note(&mut self, view: &CompiledView, position: &Position, sought: Option<u16>) {
        if !self.are_kept() {
            return;
        }
        let (levels, depth) = (&position.levels, position.levels.len());
        let inside = position.is_after_path();
        for level in 1..=depth {
            let node = view.node_at(levels, level);
            let mark = Mark {
                key: position.path[..levels.end(level)].to_vec(),
                side: Side::After,
                above: levels.end(level - 1),
            };
            let known = self.of_nodes[usize::from(node)].as_ref() == Some(&mark);
            if !known || level == depth && inside {
                self.forget_beneath(view, node);
                self.of_nodes[usize::from(node)] = Some(mark);
            }
        }
        if !inside {
            self.note_point(view, position, sought);
        }
    }

    /// Marks the types that the point speaks of, below the path.
    fn note_point(&mut self, view: &CompiledView, position: &Position, sought: Option<u16>) {
        let (levels, depth) = (&position.levels, position.levels.len());
        let above = levels.end(depth);
        let children = match depth {
            0 => &[0][..],
            _ => &view.node(view.node_at(levels, depth)).children,
        };
        let past = |code: Option<u8>| {
            let mut key = position.path[..above].to_vec();
            key.extend(code);
            Mark { key, side: Side::Behind, above }
        };
        let marks: Vec<(u16, Mark)> = match position.cut() {
            // Behind the last root.
            None if position.is_at_end() => vec![(0, past(None))],
            None => return,
            Some(cut) if cut.key.len() <= above => children
                .iter()
                .filter(|child| sought.is_none_or(|sought| sought == **child))
                .map(|child| (*child, past(Some(view.node(*child).code))))
                .collect(),
            Some(cut) => {
                let is_there =
                    |child: &&u16| depth == 0 || view.node(**child).code == cut.key[above];
                let mark = Mark { key: cut.key.to_vec(), side: cut.side, above };
                let child = children.iter().find(is_there);
                child.map(|child| (*child, mark)).into_iter().collect()
            }
        };
        for (node, mark) in marks {
            self.forget_beneath(view, node);
            self.of_nodes[usize::from(node)] = Some(mark);
        }
    }

    fn forget_beneath(&mut self, view: &CompiledView, node: u16) {
        for (at, mark) in self.of_nodes.iter_mut().enumerate() {
            if view.nodes[at].path.contains(&node) && at != usize::from(node) {
                *mark = None;
            }
        }
    }

    /// Whether the place of the parent's chain lies behind the parent.
    pub(crate) fn are_behind(
        &self,
        view: &CompiledView,
        position: &Position,
        parent: &Parentage,
    ) -> bool {
        let (path, levels): (&[u8], &Levels) = (&parent.path, &parent.levels);
        let shared = (1..=levels.len())
            .take_while(|level| {
                let own = &position.levels;
                own.len() >= *level
                    && own.end(*level) == levels.end(*level)
                    && position.down_to(*level) == &path[..levels.end(*level)]
            })
            .count();
        if shared == levels.len() {
            return false;
        }
        let node = view.node_at(levels, shared + 1);
        let own = Cut { key: &path[..levels.end(shared + 1)], side: Side::Before };
        let mark = self.at(node, &path[..levels.end(shared)]);
        mark.is_some_and(|mark| own.order(&mark.cut()).is_lt())
    }
}
