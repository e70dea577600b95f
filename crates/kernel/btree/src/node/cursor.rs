//! A position in a private copy of a node.
//!
//! A cursor copies the interval's bytes while it holds the latch, and walks the copy without it.
//! Walking either way costs one cell a step: forward the key is cut and extended; backward only
//! what the previous key does not share with this one is fetched.

use super::{NodeMut, NodeView, Place, Value};

/// Walks over the entries of a copied node. Fresh, it stands before the first entry.
#[derive(Clone, Debug)]
pub struct NodeCursor {
    bytes: Vec<u8>,
    key: Vec<u8>,
    /// The link it stands on: 0 before the first entry, `count + 1` behind the last.
    link: usize,
    count: usize,
}

impl Default for NodeCursor {
    fn default() -> NodeCursor {
        NodeCursor::new()
    }
}

impl NodeCursor {
    /// A cursor over nothing.
    #[must_use]
    pub fn new() -> NodeCursor {
        NodeCursor { bytes: Vec::new(), key: Vec::new(), link: 0, count: 0 }
    }

    /// Copies a node and stands before its first entry.
    pub fn load(&mut self, node: NodeView<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(node.bytes());
        self.count = node.count();
        self.rewind();
    }

    /// The copy; `None` before the first [`load`](NodeCursor::load).
    #[must_use]
    pub fn node(&self) -> Option<NodeView<'_>> {
        (!self.bytes.is_empty()).then(|| NodeView::new(&self.bytes))
    }

    /// Stands on the first entry that is not below `key`, or behind the last; says whether the
    /// entry is `key`.
    pub fn seek(&mut self, key: &[u8]) -> bool {
        let Some(node) = self.node() else { return false };
        let (link, found) = match node.find(key) {
            Place::Found(index) => (index + 1, true),
            Place::Gap(index) => (index + 1, false),
            Place::BelowLow => (1, false),
            Place::AboveHigh => (self.count + 1, false),
        };
        self.link = link;
        if found {
            self.key.clear();
            self.key.extend_from_slice(key);
        } else if link <= self.count {
            NodeView::new(&self.bytes).link_key(link, 0, &mut self.key);
        }
        found
    }

    /// Stands on an entry, whose key is known.
    pub fn stand_on(&mut self, index: usize, key: &[u8]) {
        self.link = index + 1;
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    /// Stands so that the previous entry is the last one that is below `key`, or, if `included`,
    /// not above it.
    pub fn seek_behind(&mut self, key: &[u8], included: bool) {
        if self.seek(key) && included {
            self.next_entry();
        }
    }

    /// Stands before the first entry.
    pub fn rewind(&mut self) {
        self.link = 0;
        self.key.clear();
        if !self.bytes.is_empty() {
            self.key.extend_from_slice(NodeView::new(&self.bytes).low_fence());
        }
    }

    /// Stands behind the last entry.
    pub fn seek_end(&mut self) {
        self.link = self.count + 1;
    }

    /// Steps to the next entry; `false` behind the last.
    #[inline]
    pub fn next_entry(&mut self) -> bool {
        if self.link >= self.count {
            self.link = self.count + 1;
            return false;
        }
        self.link += 1;
        NodeView::new(&self.bytes).key_forward(self.link, &mut self.key);
        true
    }

    /// Steps to the previous entry; `false` before the first.
    #[inline]
    pub fn previous_entry(&mut self) -> bool {
        if self.link <= 1 {
            self.rewind();
            return false;
        }
        self.link -= 1;
        let node = NodeView::new(&self.bytes);
        if self.link == self.count {
            node.link_key(self.link, 0, &mut self.key);
        } else {
            node.key_backward(self.link, &mut self.key);
        }
        true
    }

    /// Gives an entry of the copy another value, as the node itself was given it; `false` if there
    /// is no room.
    pub fn replace_value(&mut self, index: usize, value: &[u8]) -> bool {
        index < self.count
            && NodeMut::new(&mut self.bytes).replace_value(index, Value::inline(value)).is_ok()
    }

    /// The number of the entry that it stands on.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        (1..=self.count).contains(&self.link).then(|| self.link - 1)
    }

    /// The key of the entry that it stands on; of no meaning off the entries.
    #[must_use]
    #[inline]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value of the entry that it stands on.
    ///
    /// # Panics
    /// If it stands on none.
    #[must_use]
    #[inline]
    pub fn value(&self) -> Value<'_> {
        NodeView::new(&self.bytes).value_at(self.link - 1)
    }
}

#[cfg(test)]
mod tests {
    use base::CiNumber;

    use super::*;
    use crate::node::{Kind, NodeMut};

    fn filled(bytes: &mut [u8], keys: u32) -> NodeMut<'_> {
        let mut node = NodeMut::format(bytes, Kind::Leaf, 0, CiNumber(9), b"", None);
        for key in 0..keys {
            let text = format!("record{:05}", key * 2);
            let done = node.insert(key as usize, text.as_bytes(), Value::inline(b"v"));
            assert!(done.is_ok());
        }
        node
    }

    #[test]
    fn forward_and_backward_meet_the_same_entries() {
        let mut bytes = vec![0; 4048];
        let node = filled(&mut bytes, 100);
        let mut cursor = NodeCursor::new();
        assert!(!cursor.next_entry() && !cursor.previous_entry());
        cursor.load(node.view());
        let mut seen = Vec::new();
        while cursor.next_entry() {
            seen.push(cursor.key().to_vec());
        }
        assert_eq!(seen.len(), 100);
        assert!(!cursor.next_entry());
        while cursor.previous_entry() {
            assert_eq!(Some(cursor.key()), seen.pop().as_deref());
            assert_eq!(cursor.value().bytes, b"v");
        }
        assert!(seen.is_empty() && cursor.index().is_none());
        assert!(cursor.next_entry());
        assert_eq!(cursor.key(), b"record00000");
    }

    #[test]
    fn a_seek_stands_on_the_next_key_and_walks_either_way() {
        let mut bytes = vec![0; 4048];
        let node = filled(&mut bytes, 100);
        let mut cursor = NodeCursor::new();
        cursor.load(node.view());
        assert!(cursor.seek(b"record00100"));
        assert!(cursor.previous_entry());
        assert_eq!(cursor.key(), b"record00098");
        assert!(!cursor.seek(b"record00101"));
        assert_eq!(cursor.key(), b"record00102");
        for (included, previous) in [(true, b"record00050"), (false, b"record00048")] {
            cursor.seek_behind(b"record00050", included);
            assert!(cursor.previous_entry());
            assert_eq!(cursor.key(), previous);
        }
        cursor.seek_behind(b"record00198", true);
        assert!(cursor.previous_entry());
        assert_eq!(cursor.key(), b"record00198");
        assert!(!cursor.seek(b"s"));
        assert_eq!(cursor.index(), None);
        assert!(cursor.previous_entry());
        assert_eq!(cursor.key(), b"record00198");
    }
}
