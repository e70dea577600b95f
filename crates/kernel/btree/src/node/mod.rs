//! One node of a tree in the usable bytes of one control interval. Pure memory: it knows neither
//! pool nor log, and everything it does is a function of the bytes alone.
//!
//! A node is a *chain* of keys: low fence, entries, high fence. Every key but the first is coded
//! against its predecessor, so a cell holds only the bytes that differ; about every 16th stands
//! whole and is called a *restart*, so that a search can enter the chain there. Because the
//! fences are links of the chain too, a split costs one byte for a fence and is always possible,
//! and one search says both where a key stands and whether it belongs into this node at all.
//!
//! Invariants:
//! 1. low fence <= first entry < second entry < ... < high fence (an inner node's first entry
//!    equals the low fence). No two entries are equal.
//! 2. Slot p's `shared` is at most the true common prefix of links p-1 and p, so inserting between
//!    them recodes nothing. Removing a link recodes its successor out of the bytes it frees, so
//!    removing never needs room. A restart's cell holds its whole key, but its slot says what it
//!    shares all the same. `shared` 0 makes a restart; link 0 is one. `head` is the two bytes
//!    behind the shared ones, or zeros: most comparisons end there, without a look at the cell.
//! 3. A key has at most a quarter of the usable bytes and a record at most
//!    [`record_bytes_max`]; therefore any record fits into a node that is otherwise empty, and a
//!    node with two entries can always be split.
//! 4. Every change is a function of the bytes before it, and one that is refused changes nothing.
//!    Redo depends on this: replaying the same changes on the same bytes finds the same room.
//! 5. Cells and free bytes: `heap begin` <= every cell, cells do not overlap, and what lies in the
//!    heap outside cells is counted as `garbage`.
//!
//! On disk, little-endian (K21); `L` is the length of the usable part:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 8 | page LSN |
//! | 8 | 1 | kind: 5 leaf, 6 inner |
//! | 9 | 1 | level, 0 for a leaf |
//! | 10 | 2 | layout version, 1 |
//! | 12 | 4 | own interval number |
//! | 16 | 4 | right sibling, 0 for none |
//! | 20 | 2 | entries |
//! | 22 | 2 | heap begin |
//! | 24 | 2 | garbage: free bytes within the heap |
//! | 26 | 1 | flags: bit 0, the high fence is infinite and is no link of the chain |
//! | 27 | 1 | how many inserts in a row came each right behind the one before it |
//! | 28 | 2 | where the next insert would stand if it did so too |
//! | 30 | 2 | zero |
//! | 32 | 6 each | slots of the chain: cell offset 2, `shared` and flags 2, `head` 2 |
//! | ... | | free |
//! | heap begin | | cells, to `L` |
//!
//! `shared` has bits 0 to 12; bit 14 marks a restart, bit 15 an overflow value. A cell is: suffix
//! length 1, value length 1 (255 means that the length follows in two bytes, suffix first), suffix
//! (the whole key in a restart), value. A fence has no value; an inner entry's value is the child's
//! number, 4 bytes; an overflow value is a reference of [`OVERFLOW_REFERENCE_BYTES`] bytes.

mod build;
mod check;
mod cursor;
mod edit;
mod search;
mod split;

pub use build::{NodeBuilder, Unfinished};
pub use check::{NodeDamage, fuzz_check};
pub use cursor::NodeCursor;
pub use edit::NodeMut;
pub use search::Place;
pub use split::{Split, separator};

use base::bytes::{get_u16, get_u32, get_u64};
use base::{CiNumber, Lsn};

/// The byte at 8 of an interval that holds a leaf.
pub const KIND_LEAF: u8 = 5;
/// The byte at 8 of an interval that holds an inner node.
pub const KIND_INNER: u8 = 6;
/// The byte at 8 of an interval that holds a piece of a long value.
pub const KIND_OVERFLOW: u8 = 7;
/// The byte at 8 of an interval that is free.
pub const KIND_FREE: u8 = 8;

/// The layout that this code writes; a higher number is refused.
pub const LAYOUT_VERSION: u16 = 1;
/// The highest level of a node. No tree comes near it.
pub const LEVEL_MAX: u8 = 63;
/// Where the slots begin.
pub const HEADER_BYTES: usize = 32;
/// Bytes of a slot.
pub const SLOT_BYTES: usize = 6;
/// Bytes of the value of an entry whose true value stands in overflow intervals.
pub const OVERFLOW_REFERENCE_BYTES: usize = 8;
/// The shortest usable part that can be a node.
pub const USABLE_BYTES_MIN: usize = 1024;
/// The longest one: a key of a quarter is then at most what a slot's `shared` can say.
pub const USABLE_BYTES_MAX: usize = 32 * 1024 - 4;

/// What a node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records.
    Leaf,
    /// Separators and children.
    Inner,
}

/// The value of an entry as it stands in the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The value, or the reference to where it stands.
    pub bytes: &'a [u8],
    /// Whether the bytes are a reference to overflow intervals.
    pub overflow: bool,
}

impl<'a> Value<'a> {
    /// A value that stands in the node itself.
    #[must_use]
    pub fn inline(bytes: &'a [u8]) -> Value<'a> {
        Value { bytes, overflow: false }
    }

    /// A reference to a value in overflow intervals.
    #[must_use]
    pub fn reference(bytes: &'a [u8; OVERFLOW_REFERENCE_BYTES]) -> Value<'a> {
        Value { bytes, overflow: true }
    }
}

/// The node has no room for it; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node has no room")]
pub struct Full;

/// The longest key of a node with so many usable bytes: a quarter.
#[must_use]
pub fn key_bytes_max(usable_bytes: usize) -> usize {
    usable_bytes / 4
}

/// The longest value that should stand in a node: a quarter. A longer one goes to overflow.
#[must_use]
pub fn inline_value_bytes_max(usable_bytes: usize) -> usize {
    usable_bytes / 4
}

/// The most that key and value together may have (invariant 3): with two fences of full length
/// and all headers the node is still not full.
#[must_use]
pub fn record_bytes_max(usable_bytes: usize) -> usize {
    usable_bytes / 2 - 80
}

/// A node to read. The bytes must have passed [`NodeView::check`] once, or come from [`NodeMut`];
/// on other bytes the methods may panic or answer nonsense, but never touch anything else.
#[derive(Clone, Copy)]
pub struct NodeView<'a> {
    bytes: &'a [u8],
}

impl<'a> NodeView<'a> {
    /// The node in `bytes`, which the caller knows to be sound.
    #[must_use]
    #[inline]
    pub fn new(bytes: &'a [u8]) -> NodeView<'a> {
        NodeView { bytes }
    }

    /// The node in bytes of which nothing is known.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn checked(bytes: &'a [u8]) -> Result<NodeView<'a>, NodeDamage> {
        let view = NodeView { bytes };
        view.check()?;
        Ok(view)
    }

    /// The node in bytes that are a node's if their header says so: what a descent does, which may
    /// come to an interval that has meanwhile become something else.
    ///
    /// # Errors
    /// If the header is none of a node.
    #[inline]
    pub fn opened(bytes: &'a [u8]) -> Result<NodeView<'a>, NodeDamage> {
        let view = NodeView { bytes };
        view.check_header()?;
        Ok(view)
    }

    /// The bytes themselves.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Leaf or inner.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        if self.bytes[at::KIND] == KIND_LEAF { Kind::Leaf } else { Kind::Inner }
    }

    /// 0 for a leaf, one more for each step towards the root.
    #[must_use]
    #[inline]
    pub fn level(&self) -> u8 {
        self.bytes[at::LEVEL]
    }

    /// The log position of the newest change.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        Lsn(get_u64(self.bytes, at::LSN))
    }

    /// The number of the interval that the node was formatted for.
    #[must_use]
    pub fn number(&self) -> CiNumber {
        CiNumber(get_u32(self.bytes, at::NUMBER))
    }

    /// The sibling whose low fence is this node's high fence.
    #[must_use]
    #[inline]
    pub fn right(&self) -> Option<CiNumber> {
        let number = get_u32(self.bytes, at::RIGHT);
        (number != 0).then_some(CiNumber(number))
    }

    /// How many entries there are.
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        usize::from(get_u16(self.bytes, at::COUNT))
    }

    /// Bytes that entries could still take: slots, cells, and what a compaction would gain.
    #[must_use]
    #[inline]
    pub fn free_bytes(&self) -> usize {
        self.gap_bytes() + usize::from(get_u16(self.bytes, at::GARBAGE))
    }

    /// Bytes of all slots and cells.
    #[must_use]
    pub fn live_bytes(&self) -> usize {
        self.bytes.len() - HEADER_BYTES - self.free_bytes()
    }

    /// Bytes of the entries' slots and cells: what is left of [`live_bytes`](NodeView::live_bytes)
    /// without the fences.
    #[must_use]
    pub fn entry_bytes(&self) -> usize {
        let slots = self.slots();
        let fences = slots.first().into_iter().chain(slots.get(self.count() + 1));
        self.live_bytes() - fences.map(|slot| self.link_bytes(*slot)).sum::<usize>()
    }

    /// Appends the node without its free gap, as the log carries it.
    pub fn write_image(&self, out: &mut Vec<u8>) {
        let slots_end = HEADER_BYTES + SLOT_BYTES * self.links();
        out.extend_from_slice(&self.bytes[..slots_end]);
        out.extend_from_slice(&self.bytes[self.heap_begin()..]);
    }

    fn within_limits(&self, key_len: usize, value_len: usize) -> bool {
        key_len <= key_bytes_max(self.bytes.len())
            && key_len + value_len <= record_bytes_max(self.bytes.len())
    }

    #[inline]
    fn heap_begin(&self) -> usize {
        usize::from(get_u16(self.bytes, at::HEAP_BEGIN))
    }

    #[inline]
    fn high_is_infinite(&self) -> bool {
        self.bytes[at::FLAGS] & FLAG_HIGH_INFINITE != 0
    }

    /// Links of the chain: fences and entries.
    #[inline]
    fn links(&self) -> usize {
        self.count() + 2 - usize::from(self.high_is_infinite())
    }

    /// Free bytes between slots and heap.
    #[inline]
    fn gap_bytes(&self) -> usize {
        self.heap_begin() - HEADER_BYTES - SLOT_BYTES * self.links()
    }

    #[inline]
    fn slots(&self) -> &'a [Slot] {
        self.bytes[HEADER_BYTES..][..SLOT_BYTES * self.links()].as_chunks().0
    }

    #[inline]
    fn cell(&self, slot: Slot) -> Cell<'a> {
        let offset = offset_of(slot);
        let head = Head::read(self.bytes, offset);
        let stored_at = offset + head.bytes();
        let value_at = stored_at + head.suffix_len;
        Cell {
            stored: &self.bytes[stored_at..value_at],
            value: &self.bytes[value_at..value_at + head.value_len],
        }
    }

    /// What the cell holds of the key: the suffix, or, of a restart, all of it.
    #[inline]
    fn stored(&self, slot: Slot) -> &'a [u8] {
        let offset = offset_of(slot);
        let head = Head::read(self.bytes, offset);
        &self.bytes[offset + head.bytes()..][..head.suffix_len]
    }

    /// What the key does not share with its predecessor.
    #[inline]
    fn suffix(&self, slot: Slot) -> &'a [u8] {
        let stored = self.stored(slot);
        if is_restart(&slot) { &stored[shared_of(slot)..] } else { stored }
    }

    /// Slot and cell of a link.
    fn link_bytes(&self, slot: Slot) -> usize {
        let head = Head::read(self.bytes, offset_of(slot));
        SLOT_BYTES + head.bytes() + head.suffix_len + head.value_len
    }
}

/// Where the header's fields stand.
mod at {
    pub(super) const LSN: usize = 0;
    pub(super) const KIND: usize = 8;
    pub(super) const LEVEL: usize = 9;
    pub(super) const VERSION: usize = 10;
    pub(super) const NUMBER: usize = 12;
    pub(super) const RIGHT: usize = 16;
    pub(super) const COUNT: usize = 20;
    pub(super) const HEAP_BEGIN: usize = 22;
    pub(super) const GARBAGE: usize = 24;
    pub(super) const FLAGS: usize = 26;
    pub(super) const ASCENDING: usize = 27;
    pub(super) const NEXT_INSERT: usize = 28;
    pub(super) const ZERO: usize = 30;
}

const FLAG_HIGH_INFINITE: u8 = 1;
/// A run of links behind a restart is about this long...
const RUN_LINKS: usize = 16;
/// ...and is broken in two when inserts have made it so long.
const RUN_LINKS_MAX: usize = 32;

type Slot = [u8; SLOT_BYTES];
const SHARED_MASK: u16 = 0x1fff;
const RESTART_FLAG: u16 = 0x4000;
const OVERFLOW_FLAG: u16 = 0x8000;

#[inline]
fn offset_of(slot: Slot) -> usize {
    usize::from(u16::from_le_bytes([slot[0], slot[1]]))
}

#[inline]
fn field_of(slot: Slot) -> u16 {
    u16::from_le_bytes([slot[2], slot[3]])
}

#[inline]
fn shared_of(slot: Slot) -> usize {
    usize::from(field_of(slot) & SHARED_MASK)
}

#[inline]
fn is_overflow(slot: Slot) -> bool {
    field_of(slot) & OVERFLOW_FLAG != 0
}

#[inline]
fn is_restart(slot: &Slot) -> bool {
    field_of(*slot) & RESTART_FLAG != 0
}

#[inline]
fn head_of(slot: Slot) -> u16 {
    u16::from_be_bytes([slot[4], slot[5]])
}

/// The two bytes of a key from `at` on. As numbers they stand to each other as the keys do, unless
/// they are equal: the zeros behind a key's end are below every byte.
#[inline]
fn head_at(key: &[u8], at: usize) -> u16 {
    match key.get(at..at + 2) {
        Some(pair) => u16::from_be_bytes([pair[0], pair[1]]),
        None => u16::from_be_bytes([key.get(at).copied().unwrap_or(0), 0]),
    }
}

/// What a slot says besides where its cell is.
#[derive(Clone, Copy)]
struct Coding {
    shared: usize,
    restart: bool,
    overflow: bool,
    head: u16,
}

impl Coding {
    /// For a link with this key that shares so much with its predecessor.
    #[inline]
    fn new(key: &[u8], shared: usize, restart: bool, overflow: bool) -> Coding {
        let restart = restart || shared == 0;
        Coding { shared, restart, overflow, head: head_at(key, shared) }
    }

    #[inline]
    fn of(slot: Slot) -> Coding {
        Coding {
            shared: shared_of(slot),
            restart: is_restart(&slot),
            overflow: is_overflow(slot),
            head: head_of(slot),
        }
    }

    /// What the cell holds of the key.
    #[inline]
    fn stored<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if self.restart { key } else { &key[self.shared..] }
    }

    #[inline]
    fn slot(self, offset: usize) -> Slot {
        let mut field = self.shared as u16;
        field |= if self.restart { RESTART_FLAG } else { 0 };
        field |= if self.overflow { OVERFLOW_FLAG } else { 0 };
        let (offset, field) = ((offset as u16).to_le_bytes(), field.to_le_bytes());
        let head = self.head.to_be_bytes();
        [offset[0], offset[1], field[0], field[1], head[0], head[1]]
    }
}

struct Cell<'a> {
    stored: &'a [u8],
    value: &'a [u8],
}

/// The two lengths in front of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    suffix_len: usize,
    value_len: usize,
}

const ESCAPE: u8 = 255;

impl Head {
    #[inline]
    fn read(bytes: &[u8], offset: usize) -> Head {
        let pair = [bytes[offset], bytes[offset + 1]];
        let mut head = Head { suffix_len: usize::from(pair[0]), value_len: usize::from(pair[1]) };
        let mut next = offset + 2;
        if pair[0] == ESCAPE {
            head.suffix_len = usize::from(get_u16(bytes, next));
            next += 2;
        }
        if pair[1] == ESCAPE {
            head.value_len = usize::from(get_u16(bytes, next));
        }
        head
    }

    #[inline]
    fn write(self, bytes: &mut [u8], offset: usize) {
        let mut next = offset + 2;
        for (which, len) in [self.suffix_len, self.value_len].into_iter().enumerate() {
            if len < usize::from(ESCAPE) {
                bytes[offset + which] = len as u8;
            } else {
                bytes[offset + which] = ESCAPE;
                base::bytes::put_u16(bytes, next, len as u16);
                next += 2;
            }
        }
    }

    #[inline]
    fn bytes(self) -> usize {
        let escaped = |len: usize| if len < usize::from(ESCAPE) { 0 } else { 2 };
        2 + escaped(self.suffix_len) + escaped(self.value_len)
    }
}

#[inline]
fn cell_bytes(suffix_len: usize, value_len: usize) -> usize {
    Head { suffix_len, value_len }.bytes() + suffix_len + value_len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_a_cell_come_back() {
        let mut bytes = vec![0; 64];
        for suffix_len in [0, 1, 254, 255, 256, 8_000] {
            for value_len in [0, 254, 255, 8_000] {
                let head = Head { suffix_len, value_len };
                head.write(&mut bytes, 7);
                assert!(Head::read(&bytes, 7) == head);
            }
        }
    }
}
