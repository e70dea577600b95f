//! The proof that bytes are a node, and the entry point for fuzzing.
//!
//! [`NodeView::check`] may be given any bytes. Once it has said yes, no other operation on them
//! panics: whatever they rely on (offsets, lengths, order, limits, counters) is checked here.

use std::cmp::Ordering;

use base::CiNumber;
use base::bytes::get_u16;

use super::{
    ESCAPE, FLAG_HIGH_INFINITE, HEADER_BYTES, Head, KIND_INNER, KIND_LEAF, Kind, LAYOUT_VERSION,
    LEVEL_MAX, NodeCursor, NodeMut, NodeView, OVERFLOW_FLAG, OVERFLOW_REFERENCE_BYTES, Place,
    RESTART_FLAG, SHARED_MASK, SLOT_BYTES, Slot, USABLE_BYTES_MAX, USABLE_BYTES_MIN, Value, at,
    field_of, head_at, head_of, is_overflow, is_restart, key_bytes_max, offset_of, shared_of,
};

/// Why bytes are not a node. `link` counts the fences: 0 is the low fence, 1 the first entry.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeDamage {
    /// The interval's size is none that a node can have.
    #[error("{0} usable bytes cannot be a node")]
    Size(usize),
    /// The interval holds something else.
    #[error("kind {kind} at level {level} is not a node")]
    Kind {
        /// The kind that stands there.
        kind: u8,
        /// The level that stands there.
        level: u8,
    },
    /// Another release of Holdfast wrote it.
    #[error("node layout {0} is not known to this release, which knows {LAYOUT_VERSION}")]
    Version(u16),
    /// Unknown flags, or bytes that should be zero.
    #[error("reserved bytes of the node's header are not zero")]
    Reserved,
    /// Slots and heap overlap, or the heap begins outside.
    #[error("slots for {entries} entries and a heap from {heap_begin} do not fit the node")]
    Counts {
        /// The number of entries that stands there.
        entries: usize,
        /// The heap's beginning that stands there.
        heap_begin: usize,
    },
    /// A cell reaches outside the heap or is not coded in the one right way.
    #[error("the cell of link {link} is damaged")]
    Cell {
        /// Which link.
        link: usize,
    },
    /// Two cells overlap, or the free bytes between cells are not those that are counted.
    #[error("the cells take {used} bytes of the heap, which does not agree with its counters")]
    Heap {
        /// What the cells take.
        used: usize,
    },
    /// A slot says something impossible about its key.
    #[error("the slot of link {link} is damaged")]
    Slot {
        /// Which link.
        link: usize,
    },
    /// A key is too long or not greater than the one before it.
    #[error("the key of link {link} is out of order")]
    Order {
        /// Which link.
        link: usize,
    },
    /// A value of this length cannot stand here.
    #[error("the value of link {link} has an impossible length")]
    ValueLength {
        /// Which link.
        link: usize,
    },
    /// An inner node must have a first entry that equals its low fence.
    #[error("the inner node does not begin at its low fence")]
    InnerStart,
    /// A node's image from the log has the wrong length.
    #[error("the image does not have the length of the node that it describes")]
    ImageLength,
}

const KNOWN_BITS: u16 = SHARED_MASK | RESTART_FLAG | OVERFLOW_FLAG;

impl NodeView<'_> {
    /// Proves the whole node. Never panics, whatever the bytes are.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), NodeDamage> {
        self.check_header()?;
        self.check_cells()?;
        self.check_chain()
    }

    #[inline]
    pub(super) fn check_header(&self) -> Result<(), NodeDamage> {
        let len = self.bytes.len();
        if !(USABLE_BYTES_MIN..=USABLE_BYTES_MAX).contains(&len) {
            return Err(NodeDamage::Size(len));
        }
        let (kind, level) = (self.bytes[at::KIND], self.bytes[at::LEVEL]);
        if !matches!((kind, level), (KIND_LEAF, 0) | (KIND_INNER, 1..=LEVEL_MAX)) {
            return Err(NodeDamage::Kind { kind, level });
        }
        let version = get_u16(self.bytes, at::VERSION);
        if version != LAYOUT_VERSION {
            return Err(NodeDamage::Version(version));
        }
        if self.bytes[at::FLAGS] & !FLAG_HIGH_INFINITE != 0 || get_u16(self.bytes, at::ZERO) != 0 {
            return Err(NodeDamage::Reserved);
        }
        let (entries, heap_begin) = (self.count(), self.heap_begin());
        let slots_end = HEADER_BYTES + SLOT_BYTES * self.links();
        if slots_end > heap_begin || heap_begin > len {
            return Err(NodeDamage::Counts { entries, heap_begin });
        }
        Ok(())
    }

    fn check_cells(&self) -> Result<(), NodeDamage> {
        let heap_begin = self.heap_begin();
        let (mut used, mut overlap) = (0, false);
        let mut taken = [0; USABLE_BYTES_MAX.div_ceil(64)];
        for (link, slot) in self.slots().iter().enumerate() {
            let begin = offset_of(*slot);
            let end = self.cell_end(begin).ok_or(NodeDamage::Cell { link })?;
            if begin < heap_begin {
                return Err(NodeDamage::Cell { link });
            }
            used += end - begin;
            overlap |= !take(&mut taken, begin, end);
        }
        let garbage = usize::from(get_u16(self.bytes, at::GARBAGE));
        if overlap || used + garbage != self.bytes.len() - heap_begin {
            return Err(NodeDamage::Heap { used });
        }
        Ok(())
    }

    /// Where the cell ends, if it lies inside and its lengths are written the one right way.
    fn cell_end(&self, begin: usize) -> Option<usize> {
        let mut padded = [0; 6];
        let raw = match self.bytes.get(begin..begin + 6) {
            Some(raw) => raw,
            None => {
                // A head has at most six bytes; so near the end it is short, so pad it for reading.
                let raw = self.bytes.get(begin..)?;
                padded[..raw.len()].copy_from_slice(raw);
                &padded
            }
        };
        let head = Head::read(raw, 0);
        // A length that fits into one byte stands in one byte.
        let short = usize::from(ESCAPE);
        let canonical = (raw[0] != ESCAPE || head.suffix_len >= short)
            && (raw[1] != ESCAPE || head.value_len >= short);
        let end = begin + head.bytes() + head.suffix_len + head.value_len;
        (canonical && end <= self.bytes.len()).then_some(end)
    }

    fn check_chain(&self) -> Result<(), NodeDamage> {
        let count = self.count();
        let mut key = Vec::new();
        for (link, slot) in self.slots().iter().enumerate() {
            let (shared, cell) = (shared_of(*slot), self.cell(*slot));
            let restart = is_restart(slot);
            let flags_fit = field_of(*slot) & !KNOWN_BITS == 0 && (restart || shared > 0);
            if shared > key.len() || !flags_fit {
                return Err(NodeDamage::Slot { link });
            }
            let suffix = match restart {
                false => Some(cell.stored),
                true => cell.stored.strip_prefix(&key[..shared]),
            };
            let suffix = suffix.ok_or(NodeDamage::Slot { link })?;
            if head_of(*slot) != head_at(suffix, 0) {
                return Err(NodeDamage::Slot { link });
            }
            let order = suffix.cmp(&key[shared..]);
            // The first entry may equal the low fence, and in an inner node it must.
            let equal_allowed = link <= 1 && count > 0 || link == 0;
            let equals = order == Ordering::Equal;
            key.truncate(shared);
            key.extend_from_slice(suffix);
            let ordered = order == Ordering::Greater || equals && equal_allowed;
            if !ordered || key.len() > key_bytes_max(self.bytes.len()) {
                return Err(NodeDamage::Order { link });
            }
            if self.kind() == Kind::Inner && link == 1 && !(equals && count > 0) {
                return Err(NodeDamage::InnerStart);
            }
            self.check_value(link, *slot, key.len(), cell.value.len())?;
        }
        if self.kind() == Kind::Inner && count == 0 {
            return Err(NodeDamage::InnerStart);
        }
        Ok(())
    }

    fn check_value(
        &self,
        link: usize,
        slot: Slot,
        key_len: usize,
        value_len: usize,
    ) -> Result<(), NodeDamage> {
        let fence = link == 0 || link > self.count();
        let right = match (fence, self.kind(), is_overflow(slot)) {
            (true, _, overflow) => value_len == 0 && !overflow,
            (false, Kind::Inner, overflow) => value_len == 4 && !overflow,
            (false, Kind::Leaf, true) => value_len == OVERFLOW_REFERENCE_BYTES,
            (false, Kind::Leaf, false) => true,
        };
        if !right || !fence && !self.within_limits(key_len, value_len) {
            return Err(NodeDamage::ValueLength { link });
        }
        Ok(())
    }
}

/// Marks the bytes from `begin` to `end` in a map of bits; `false` if one was marked before.
fn take(taken: &mut [u64], begin: usize, end: usize) -> bool {
    let mut free = true;
    for (word, bits) in taken.iter_mut().enumerate().take(end.div_ceil(64)).skip(begin / 64) {
        let low = begin.saturating_sub(word * 64);
        let high = (end - word * 64).min(64);
        let mask = (u64::MAX >> (64 - (high - low))) << low;
        free &= *bits & mask == 0;
        *bits |= mask;
    }
    free
}

/// Gives bytes to the check and, if it accepts them, every operation to them: the fuzz target.
///
/// # Panics
/// If an operation breaks an accepted node; that is what the fuzzer looks for.
pub fn fuzz_check(bytes: &[u8]) {
    let Ok(view) = NodeView::checked(bytes) else { return };
    fuzz_read(view);
    let mut copy = bytes.to_vec();
    NodeMut::new(&mut copy).compact();
    assert_eq!(entries_of(NodeView::new(&copy)), entries_of(view));
    prove(&copy);
    fuzz_split(bytes);
    let mut node = NodeMut::new(&mut copy);
    // An inner node keeps the entry at its low fence.
    let kept = usize::from(view.kind() == Kind::Inner);
    while node.view().count() > kept {
        let middle = kept + (node.view().count() - kept) / 2;
        node.remove(middle.min(node.view().count() - 1));
        prove(node.view().bytes());
    }
}

fn entries_of(node: NodeView<'_>) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
    let mut cursor = NodeCursor::new();
    cursor.load(node);
    let mut entries = Vec::new();
    while cursor.next_entry() {
        let value = cursor.value();
        entries.push((cursor.key().to_vec(), value.bytes.to_vec(), value.overflow));
    }
    entries
}

fn prove(bytes: &[u8]) {
    let proof = NodeView::new(bytes).check();
    assert!(proof.is_ok(), "an operation broke the node: {proof:?}");
}

fn fuzz_read(view: NodeView<'_>) {
    let entries = entries_of(view);
    let mut cursor = NodeCursor::new();
    cursor.load(view);
    cursor.seek_end();
    for (index, (key, _, _)) in entries.iter().enumerate().rev() {
        assert!(cursor.previous_entry());
        assert_eq!((cursor.index(), cursor.key()), (Some(index), &key[..]));
        assert_eq!(view.find(key), Place::Found(index));
        let above = [&key[..], &[0]].concat();
        assert!(matches!(view.find(&above), Place::Found(_) | Place::Gap(_) | Place::AboveHigh));
    }
    let mut image = Vec::new();
    view.write_image(&mut image);
    let mut copy = vec![0; view.bytes().len()];
    let loaded = NodeMut::load_image(&mut copy, &image);
    assert!(loaded.is_ok_and(|node| entries_of(node.view()) == entries));
}

/// Inserts into the node until it must split, splits, and joins the halves again.
fn fuzz_split(bytes: &[u8]) {
    let mut left = bytes.to_vec();
    let mut node = NodeMut::new(&mut left);
    let value: &[u8] = if node.view().kind() == Kind::Inner { &[7; 4] } else { &[7; 300] };
    let mut key = node.view().low_fence().to_vec();
    for step in 0..200_u32 {
        // Walk through the node: behind each entry in turn, as long as there is room.
        key.push((step % 7) as u8);
        let Place::Gap(index) = node.view().find(&key) else { break };
        if node.insert(index, &key, Value::inline(value)).is_err() {
            break;
        }
        prove(node.view().bytes());
        if step % 3 == 2 && index + 1 < node.view().count() {
            node.view().key_at(index + 1, &mut key);
        }
    }
    if node.view().count() < 2 {
        return;
    }
    let before = entries_of(node.view());
    let index = node.view().count() / 2;
    node.view().key_at(index, &mut key);
    key.push(0);
    let Place::Gap(index) = node.view().find(&key) else { return };
    if key.len() > key_bytes_max(bytes.len()) {
        return;
    }
    let split = node.view().plan_split(index, &key, value.len());
    let mut right = vec![0; bytes.len()];
    node.split_into(&mut right, CiNumber(77), &split);
    prove(node.view().bytes());
    prove(&right);
    let right = NodeView::new(&right);
    assert_eq!(before, [entries_of(node.view()), entries_of(right)].concat());
    assert!(node.merge_from(right).is_ok());
    prove(node.view().bytes());
    assert_eq!(before, entries_of(node.view()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_once() {
        let ranges = [(0, 64), (64, 65), (100, 300), (65, 100), (300, 302), (511, 512)];
        let mut taken = [0; 8];
        assert!(ranges.iter().all(|(begin, end)| take(&mut taken, *begin, *end)));
        for at in 0..512 {
            let free = !ranges.iter().any(|(begin, end)| (*begin..*end).contains(&at));
            let mut copy = taken;
            assert_eq!(take(&mut copy, at, at + 1), free, "byte {at}");
            assert_eq!(copy, {
                taken[at / 64] |= 1 << (at % 64);
                taken
            });
        }
        assert!(!take(&mut [1, 0, 1 << 63], 1, 192));
    }
}
