//! Where a PCB stands: the path and the point (DLI-12.1 to DLI-12.9).
//!
//! Invariants:
//! 1. The point lies right behind the path, or beneath its last node at the place that the tail
//!    names; so the path is the way from the root to the point.
//! 2. With `POS=MULTIPLE` every type has a place of its own in the chain under its parent, which
//!    lasts while the parent's does; the path and the tail are those of the last call.

use crate::lens::{Lens, Node, Path};

/// Where the point is beneath the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tail {
    /// In front of all dependents: right behind the last node.
    #[default]
    Inside,
    /// In front of this dependent.
    Before(Node),
    /// Behind this dependent and all beneath it.
    Behind(Node),
    /// Behind all dependents of this type.
    BehindAll(usize),
    /// Behind all dependents.
    End,
    /// Behind all dependents, of which a call has looked for those of this type alone.
    EndOf(usize),
}

/// A place in a chain of twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In front of all.
    Front,
    /// On this one, or beneath it.
    On(Node),
    /// In front of this one.
    Before(Node),
    /// Behind this one and all beneath it.
    Behind(Node),
    /// Behind all.
    Past,
}

/// The place of a type with `POS=MULTIPLE`.
#[derive(Clone, Debug)]
struct Mark {
    seg: usize,
    above: Path,
    place: Place,
}

/// A position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    pub(crate) path: Path,
    pub(crate) tail: Tail,
    multiple: bool,
    marks: Vec<Mark>,
}

impl Position {
    /// In front of the first root (DLI-12.1).
    pub(crate) fn front(multiple: bool) -> Position {
        Position { multiple, ..Position::default() }
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        *self = Position::front(self.multiple);
    }

    /// Goes behind the last node of a path, or to a place beneath it.
    pub(crate) fn go(&mut self, lens: &Lens<'_>, path: Path, tail: Tail) {
        if self.multiple {
            self.mark(lens, &path, tail);
        }
        self.path = path;
        self.tail = tail;
    }

    fn mark(&mut self, lens: &Lens<'_>, path: &[Node], tail: Tail) {
        for (at, node) in path.iter().enumerate() {
            let place = Place::On(*node);
            let above = path[..at].to_vec();
            let lowest = at + 1 == path.len() && tail == Tail::Inside;
            let moved = self.place(node.seg, &above) != place;
            if moved || lowest {
                let beneath = |mark: &Mark| lens.is_beneath(mark.seg, node.seg);
                self.marks.retain(|mark| mark.seg != node.seg && !beneath(mark));
                self.marks.push(Mark { seg: node.seg, above, place });
            }
        }
        let (segs, place) = match tail {
            Tail::Inside => return,
            Tail::Before(node) => (vec![node.seg], Place::Before(node)),
            Tail::Behind(node) => (vec![node.seg], Place::Behind(node)),
            Tail::BehindAll(seg) => (vec![seg], Place::Past),
            Tail::EndOf(seg) => (vec![seg], Place::Past),
            Tail::End => (lens.types_under(path.last().map(|node| node.seg)), Place::Past),
        };
        for seg in segs {
            self.marks.retain(|mark| mark.seg != seg && !lens.is_beneath(mark.seg, seg));
            self.marks.push(Mark { seg, above: path.to_vec(), place });
        }
    }

    /// Where the point is in the chain of a type under the last node of `above`.
    pub(crate) fn place(&self, seg: usize, above: &[Node]) -> Place {
        if self.multiple {
            let mark = self.marks.iter().find(|mark| mark.seg == seg && mark.above == above);
            return mark.map_or(Place::Front, |mark| mark.place);
        }
        if !self.path.starts_with(above) {
            return Place::Front;
        }
        match self.path.get(above.len()) {
            Some(node) => relative(seg, node.seg, Place::On(*node)),
            None => match self.tail {
                Tail::Inside => Place::Front,
                Tail::Before(node) => relative(seg, node.seg, Place::Before(node)),
                Tail::Behind(node) => relative(seg, node.seg, Place::Behind(node)),
                Tail::BehindAll(at) => relative(seg, at, Place::Past),
                Tail::End | Tail::EndOf(_) => Place::Past,
            },
        }
    }

    /// The occurrence of a type on which the path is, under the last node of `above`.
    pub(crate) fn here(&self, seg: usize, above: &[Node]) -> Option<Node> {
        match self.place(seg, above) {
            Place::On(node) => Some(node),
            _ => None,
        }
    }
}

/// Types stand one behind the other under their parent.
fn relative(seg: usize, at: usize, place: Place) -> Place {
    match seg.cmp(&at) {
        std::cmp::Ordering::Less => Place::Past,
        std::cmp::Ordering::Equal => place,
        std::cmp::Ordering::Greater => Place::Front,
    }
}

/// The first place in a chain behind a place; one that the point is on counts as behind it.
pub(crate) fn first_behind(chain: &[Node], place: Place) -> usize {
    let find = |node: &Node| chain.iter().position(|one| one == node);
    match place {
        Place::Front => 0,
        Place::On(node) | Place::Behind(node) => find(&node).map_or(0, |at| at + 1),
        Place::Before(node) => find(&node).unwrap_or(0),
        Place::Past => chain.len(),
    }
}

/// The next segment of any type that `wanted` takes, in hierarchic order behind the position;
/// at least `floor` nodes of the path stay.
pub(crate) fn following(
    lens: &Lens<'_>,
    position: &Position,
    floor: usize,
    wanted: impl Fn(usize) -> bool,
) -> Option<Path> {
    let mut at = Position::front(false);
    (at.path, at.tail) = (position.path.clone(), position.tail);
    // What is gone has no dependents, and a root whose index entry went away shows none.
    if let Some(level) = at.path.iter().position(|node| lens.is_gone(node)) {
        at.tail = Tail::Behind(at.path[level]);
        at.path.truncate(level);
    }
    loop {
        let next = next_under(lens, &at);
        if let Some(node) = next {
            at.path.push(node);
            at.tail = Tail::Inside;
            if wanted(node.seg) {
                return Some(at.path);
            }
            continue;
        }
        if at.path.len() <= floor {
            return None;
        }
        at.tail = at.path.pop().map_or(Tail::End, Tail::Behind);
    }
}

/// The first dependent of the path's last node that stands behind the tail.
fn next_under(lens: &Lens<'_>, at: &Position) -> Option<Node> {
    let types = lens.types_under(at.path.last().map(|node| node.seg));
    types.into_iter().find_map(|seg| {
        let chain = lens.twins(seg, &at.path);
        let from = first_behind(&chain, at.place(seg, &at.path));
        chain.into_iter().skip(from).find(|node| !lens.is_gone(node))
    })
}

/// Whether the first position stands behind everything beneath the path `parent`.
pub(crate) fn is_behind(lens: &Lens<'_>, position: &Position, parent: &[Node]) -> bool {
    let shared = position.path.iter().zip(parent).take_while(|(one, other)| one == other).count();
    let Some(node) = parent.get(shared) else { return false };
    let chain = lens.twins(node.seg, &parent[..shared]);
    let from = first_behind(&chain, position.place(node.seg, &parent[..shared]));
    chain.iter().position(|one| one == node).is_none_or(|at| at < from)
}
