//! What a unit of work has changed and the engine does not know yet.
//!
//! Changes stand in the order of their keys, as the engine is to be told them; what each replaced
//! stands in a list, so that a savepoint is a length of that list.

use std::collections::BTreeMap;

/// What became of a key: its new value, or that it is gone.
pub(crate) type Change = Option<Vec<u8>>;

/// The changes of one unit of work.
#[derive(Default)]
pub(crate) struct Overlay {
    changes: BTreeMap<Vec<u8>, Change>,
    undo: Vec<(Vec<u8>, Option<Change>)>,
    savepoints: Vec<usize>,
    bytes: u64,
}

impl Overlay {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// What the unit of work made of a key, if it changed it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Change> {
        self.changes.get(key)
    }

    /// How many changes were made, and how many bytes they have.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.undo.len() as u64, self.bytes)
    }

    pub(crate) fn set(&mut self, key: &[u8], change: Change) {
        self.bytes += size_of_change(key.len(), change.as_ref());
        let before = self.changes.insert(key.to_vec(), change);
        self.undo.push((key.to_vec(), before));
    }

    /// The first change in a range of keys, and what it is.
    pub(crate) fn first(&self, from: &[u8], to: &[u8]) -> Option<(&[u8], &Change)> {
        self.range(from, to).next()
    }

    /// The last change in a range of keys, and what it is.
    pub(crate) fn last(&self, from: &[u8], to: &[u8]) -> Option<(&[u8], &Change)> {
        self.range(from, to).next_back()
    }

    /// The changes in a range of keys.
    pub(crate) fn range(
        &self,
        from: &[u8],
        to: &[u8],
    ) -> impl DoubleEndedIterator<Item = (&[u8], &Change)> {
        let some = (from < to).then(|| {
            use std::ops::Bound::{Excluded, Included};
            self.changes.range::<[u8], _>((Included(from), Excluded(to)))
        });
        some.into_iter().flatten().map(|(key, change)| (&key[..], change))
    }

    /// Every change, in the order of the keys.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&[u8], &Change)> {
        self.changes.iter().map(|(key, change)| (&key[..], change))
    }

    /// Marks the point reached; answers how many savepoints stood before, and where it stands.
    pub(crate) fn mark(&mut self) -> (usize, usize) {
        self.savepoints.push(self.undo.len());
        (self.savepoints.len() - 1, self.undo.len())
    }

    pub(crate) fn marks(&self) -> usize {
        self.savepoints.len()
    }

    /// Undoes what came after a mark; `false` if it is not there.
    pub(crate) fn undo_to(&mut self, number: usize, point: usize) -> bool {
        if self.savepoints.get(number) != Some(&point) {
            return false;
        }
        self.savepoints.truncate(number + 1);
        for (key, before) in self.undo.drain(point..).rev() {
            let length = key.len();
            let undone = match before {
                Some(change) => self.changes.insert(key, change),
                None => self.changes.remove(&key),
            };
            self.bytes -= size_of_change(length, undone.as_ref().and_then(Option::as_ref));
        }
        true
    }
}

fn size_of_change(key: usize, value: Option<&Vec<u8>>) -> u64 {
    (key + value.map_or(0, Vec::len)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_nest_and_what_was_undone_past_is_gone() {
        let mut overlay = Overlay::default();
        overlay.set(b"a", Some(b"1".to_vec()));
        let first = overlay.mark();
        overlay.set(b"a", None);
        overlay.set(b"b", Some(b"2".to_vec()));
        let second = overlay.mark();
        overlay.set(b"a", Some(b"3".to_vec()));
        assert!(overlay.undo_to(second.0, second.1));
        assert_eq!(overlay.get(b"a"), Some(&None));
        assert!(overlay.undo_to(first.0, first.1));
        assert_eq!(overlay.get(b"a"), Some(&Some(b"1".to_vec())));
        assert_eq!(overlay.get(b"b"), None);
        assert!(!overlay.undo_to(second.0, second.1));
        assert_eq!(overlay.size(), (1, 2));
        assert_eq!(overlay.first(b"a", b"b").map(|(key, _)| key), Some(&b"a"[..]));
        assert_eq!(overlay.last(b"b", b"a"), None);
    }
}
