//! Cuts: the places between keys, and stretches between two cuts.
//!
//! A stretch is what the model locks when a range was read. Working with cuts instead of keys
//! makes open and closed ends, absent keys and the ends of a set one case.

use std::ops::Bound;

/// A place just before or just after a key, or behind all keys. The order of cuts is their order
/// along the set; the field order makes it so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cut {
    end: bool,
    key: Vec<u8>,
    after: bool,
}

impl Cut {
    pub(super) const FRONT: Cut = Cut { end: false, key: Vec::new(), after: false };
    pub(super) const END: Cut = Cut { end: true, key: Vec::new(), after: false };

    pub(super) fn before(key: &[u8]) -> Cut {
        Cut { end: false, key: key.to_vec(), after: false }
    }

    pub(super) fn after(key: &[u8]) -> Cut {
        Cut { end: false, key: key.to_vec(), after: true }
    }

    fn lower(&self) -> Bound<&[u8]> {
        if self.after { Bound::Excluded(&self.key) } else { Bound::Included(&self.key) }
    }

    fn upper(&self) -> Bound<&[u8]> {
        match self {
            Cut { end: true, .. } => Bound::Unbounded,
            Cut { after: true, .. } => Bound::Included(&self.key),
            Cut { .. } => Bound::Excluded(&self.key),
        }
    }
}

/// All places between two cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Cut,
    pub(super) to: Cut,
}

impl Stretch {
    /// Just one key.
    pub(super) fn point(key: &[u8]) -> Stretch {
        Stretch { from: Cut::before(key), to: Cut::after(key) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    pub(super) fn overlaps(&self, other: &Stretch) -> bool {
        !self.is_empty() && !other.is_empty() && self.from < other.to && other.from < self.to
    }

    /// The bounds to look a non-empty stretch up with in an ordered map.
    pub(super) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        debug_assert!(!self.is_empty(), "an empty stretch has no bounds");
        (self.from.lower(), self.to.upper())
    }

    /// Takes in `other` if the two touch.
    pub(super) fn absorb(&mut self, other: &Stretch) -> bool {
        let touches = self.from <= other.to && other.from <= self.to;
        if touches {
            self.from = self.from.clone().min(other.from.clone());
            self.to = self.to.clone().max(other.to.clone());
        }
        touches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_stand_in_the_order_of_the_set() {
        let cuts = [
            Cut::FRONT,
            Cut::after(b""),
            Cut::before(b"a"),
            Cut::after(b"a"),
            Cut::before(b"a\0"),
            Cut::before(b"b"),
            Cut::END,
        ];
        assert!(cuts.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_point_lies_in_the_stretches_around_it_only() {
        let point = Stretch::point(b"b");
        let around = Stretch { from: Cut::after(b"a"), to: Cut::before(b"c") };
        let before = Stretch { from: Cut::FRONT, to: Cut::before(b"b") };
        let after = Stretch { from: Cut::after(b"b"), to: Cut::END };
        assert!(point.overlaps(&around) && around.overlaps(&point));
        assert!(!point.overlaps(&before) && !point.overlaps(&after));
        let mut whole = before;
        assert!(!whole.absorb(&after) && whole.absorb(&point) && whole.absorb(&after));
        assert_eq!(whole, Stretch { from: Cut::FRONT, to: Cut::END });
    }
}
