//! Where a PCB stands: its path and its point (DLI-12, "Position").
//!
//! The *path* is one occurrence for each level, down to some level; the *point* is a cut between
//! two keys, where a get-next goes on. Both are virtual keys ([`crate::view`]).
//!
//! Invariants:
//! 1. What stands above the point is in the path: the point's key begins with the key of some
//!    level of the path, and has at most one part more.
//! 2. A position holds keys only, nothing that is pinned (H10).

use std::cmp::Ordering;

use hierarchy::{Levels, Schema};

/// On which side of a key a cut lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// In front of the key and of everything that begins with it.
    Before,
    /// Behind the key, in front of what begins with it.
    After,
    /// Behind the key and everything that begins with it.
    Behind,
}

/// A cut between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut<'k> {
    pub(crate) key: &'k [u8],
    pub(crate) side: Side,
}

impl Cut<'_> {
    /// Compares two cuts by what lies in front of them.
    pub(crate) fn order(&self, other: &Cut<'_>) -> Ordering {
        let longer = self.key.len().cmp(&other.key.len());
        match longer {
            Ordering::Equal => self.key.cmp(other.key).then(self.side.cmp(&other.side)),
            Ordering::Less if other.key.starts_with(self.key) => match self.side {
                Side::Behind => Ordering::Greater,
                Side::Before | Side::After => Ordering::Less,
            },
            Ordering::Greater if self.key.starts_with(other.key) => match other.side {
                Side::Behind => Ordering::Less,
                Side::Before | Side::After => Ordering::Greater,
            },
            _ => self.key.cmp(other.key),
        }
    }
}

/// Where get-next goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// In front of the first root.
    Front,
    /// Behind the lowest occurrence of the path, in front of its dependents.
    AfterPath,
    /// At a cut, whose key is kept.
    At(Side),
    /// Behind the last root, without the end having been told yet.
    Back,
}

/// The position of a PCB.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// The virtual key of the lowest occurrence of the path. Where it changes otherwise than by
    /// [`Position::replace_path`], the point is set anew.
    pub(crate) path: Vec<u8>,
    /// The levels of the path.
    pub(crate) levels: Levels,
    point: Point,
    point_key: Vec<u8>,
}

impl Position {
    /// In front of the first root.
    pub(crate) fn new() -> Position {
        Position {
            path: Vec::new(),
            levels: Levels::NONE,
            point: Point::Front,
            point_key: Vec::new(),
        }
    }

    /// Forgets everything: the next get-next starts at the front.
    pub(crate) fn reset(&mut self) {
        self.path.clear();
        self.levels = Levels::NONE;
        self.point = Point::Front;
    }

    /// The cut; `None` at the front.
    pub(crate) fn cut(&self) -> Option<Cut<'_>> {
        match self.point {
            Point::AfterPath => Some(Cut { key: &self.path, side: Side::After }),
            Point::At(side) => Some(Cut { key: &self.point_key, side }),
            Point::Front | Point::Back => None,
        }
    }

    /// Whether nothing is left in front of the point.
    pub(crate) fn is_at_end(&self) -> bool {
        self.point == Point::Back
    }

    /// Whether the point lies directly behind the lowest occurrence of the path.
    pub(crate) fn is_after_path(&self) -> bool {
        match self.point {
            Point::AfterPath => true,
            Point::At(Side::After) => self.point_key == self.path,
            _ => false,
        }
    }

    /// The path of the levels down to `level`.
    pub(crate) fn down_to(&self, level: usize) -> &[u8] {
        &self.path[..self.levels.end(level).min(self.path.len())]
    }

    /// Stands behind the lowest occurrence of the path.
    #[inline]
    pub(crate) fn settle(&mut self) {
        self.point = Point::AfterPath;
    }

    /// Takes another path; the point stays where it is.
    pub(crate) fn replace_path(&mut self, path: &[u8], levels: Levels) {
        self.fix_point();
        self.path.clear();
        self.path.extend_from_slice(path);
        self.levels = levels;
    }

    /// Takes another path, given in two pieces, of which the present one has so many bytes already.
    pub(crate) fn turn_off(&mut self, shared: usize, front: &[u8], rest: &[u8]) {
        self.path.truncate(shared);
        self.path.extend_from_slice(&front[shared.min(front.len())..]);
        self.path.extend_from_slice(&rest[shared.saturating_sub(front.len())..]);
    }

    /// Takes its path apart again.
    pub(crate) fn read_levels(&mut self, schema: &Schema) {
        self.levels = Levels::NONE;
        if !self.path.is_empty() && !schema.parse(&self.path, &mut self.levels) {
            self.levels = Levels::NONE;
        }
    }

    /// Keeps the point where it is while the path changes.
    fn fix_point(&mut self) {
        if self.point == Point::AfterPath {
            self.point = Point::At(Side::After);
            self.point_key.clone_from(&self.path);
        }
    }

    /// Puts the point somewhere.
    pub(crate) fn point_at(&mut self, key: &[u8], side: Side) {
        self.point = Point::At(side);
        self.point_key.clear();
        self.point_key.extend_from_slice(key);
    }

    /// Puts the point behind the last root.
    pub(crate) fn point_at_end(&mut self) {
        self.point = Point::Back;
    }

    /// Shortens the path.
    pub(crate) fn truncate(&mut self, level: usize) {
        self.fix_point();
        self.levels.truncate(level);
        self.path.truncate(self.levels.end(self.levels.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_order_by_what_lies_in_front_of_them() {
        let cuts = [
            (&b"a"[..], Side::Before),
            (b"a", Side::After),
            (b"ab", Side::Before),
            (b"ab", Side::After),
            (b"ab", Side::Behind),
            (b"a", Side::Behind),
            (b"b", Side::Before),
        ];
        for (at, one) in cuts.iter().enumerate() {
            for (other_at, other) in cuts.iter().enumerate() {
                let one = Cut { key: one.0, side: one.1 };
                let other = Cut { key: other.0, side: other.1 };
                assert_eq!(one.order(&other), at.cmp(&other_at), "{one:?} {other:?}");
            }
        }
    }
}
