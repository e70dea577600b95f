//! Finding keys in a node and putting them together from the chain.
//!
//! The search halves over the restarts, then walks a part of the chain. Walking it carries how
//! many bytes of the wanted key are already matched: a link that shares more than that with its
//! predecessor lies on the same side as the predecessor and is passed; of the others the two bytes
//! in the slot mostly decide. So a search looks at few cells, which in a cold node are what costs.

use std::cmp::Ordering;

use base::CiNumber;
use base::bytes::{common_prefix, get_u32};

use super::{
    NodeView, Slot, Value, head_at, head_of, is_overflow, is_restart, offset_of, shared_of,
};

/// Where a key stands in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Below the low fence: a node further left has it.
    BelowLow,
    /// It is this entry.
    Found(usize),
    /// It is not here and would be inserted as this entry.
    Gap(usize),
    /// At or beyond the high fence: a node further right has it.
    AboveHigh,
}

/// So few links are walked without halving further: to look at their slots costs less than to look
/// at the cell of one restart in a cold node.
const WALK_LINKS: usize = 96;

/// So much of an entry's cell is prefetched.
const PREFETCHED_BYTES: usize = 128;

impl<'a> NodeView<'a> {
    /// Where `key` stands, fences included.
    #[must_use]
    pub fn find(&self, key: &[u8]) -> Place {
        let slots = self.slots();
        let (mut from, mut to) = (0, slots.len());
        while to - from > WALK_LINKS {
            let middle = from + (to - from) / 2;
            let probe = match slots[from + 1..=middle].iter().rposition(is_restart) {
                Some(back) => from + 1 + back,
                None => match slots[middle + 1..to].iter().position(is_restart) {
                    Some(ahead) => middle + 1 + ahead,
                    None => break,
                },
            };
            if self.stored(slots[probe]) <= key {
                from = probe;
            } else {
                to = probe;
            }
        }
        self.walk(slots, from, to, key)
    }

    /// The entry that is `key`, or where it would be inserted: what [`find`](NodeView::find) says
    /// to a caller who knows that the key lies within the fences.
    ///
    /// # Errors
    /// The place where it would be inserted, if it is not there.
    pub fn search(&self, key: &[u8]) -> Result<usize, usize> {
        match self.find(key) {
            Place::Found(index) => Ok(index),
            Place::Gap(index) => Err(index),
            Place::BelowLow => Err(0),
            Place::AboveHigh => Err(self.count()),
        }
    }

    /// The child of an inner node's entry.
    #[must_use]
    #[inline]
    pub fn child_at(&self, index: usize) -> CiNumber {
        CiNumber(get_u32(self.value_at(index).bytes, 0))
    }

    /// The value of an entry.
    #[must_use]
    #[inline]
    pub fn value_at(&self, index: usize) -> Value<'a> {
        let slot = self.slots()[index + 1];
        Value { bytes: self.cell(slot).value, overflow: is_overflow(slot) }
    }

    /// Where an entry's cell stands; 0 if there is no such entry.
    #[must_use]
    #[inline]
    pub fn offset_at(&self, index: usize) -> usize {
        self.slots().get(index + 1).map_or(0, |slot| offset_of(*slot))
    }

    /// Puts the key of an entry into `out`.
    pub fn key_at(&self, index: usize, out: &mut Vec<u8>) {
        self.link_key(index + 1, 0, out);
    }

    /// Makes `key`, which is entry `index`'s, into that of the entry behind it.
    #[inline]
    pub fn next_key(&self, index: usize, key: &mut Vec<u8>) {
        self.key_forward(index + 2, key);
    }

    /// Prefetches the entries `range`, as far as there are any.
    #[inline]
    pub fn prefetch(&self, range: std::ops::Range<usize>) {
        for slot in self.slots().iter().skip(range.start + 1).take(range.len()) {
            let from = offset_of(*slot);
            let to = (from + PREFETCHED_BYTES).min(self.bytes.len());
            seam::mem::prefetch(&self.bytes[from.min(to)..to]);
        }
    }

    /// How long the key of an entry is.
    #[must_use]
    pub fn key_len(&self, index: usize) -> usize {
        let slot = self.slots()[index + 1];
        shared_of(slot) + self.suffix(slot).len()
    }

    /// Whether the entry before the place of a key begins with the same `prefix` bytes as the key;
    /// `None` if that entry is in another node and may.
    #[must_use]
    pub fn begins_as(&self, index: usize, key: &[u8], prefix: usize) -> Option<bool> {
        let (matched, _) = self.matched_before(index + 1, key);
        // What begins as the key does and stands below the low fence begins as the fence does.
        match matched >= prefix.min(key.len()) {
            true if index == 0 => None,
            same => Some(same),
        }
    }

    /// The least key that may stand here.
    #[must_use]
    pub fn low_fence(&self) -> &'a [u8] {
        self.suffix(self.slots()[0])
    }

    /// Puts the least key that is too great for this node into `out`; `false` if there is none.
    pub fn high_fence(&self, out: &mut Vec<u8>) -> bool {
        out.clear();
        if self.high_is_infinite() {
            return false;
        }
        self.link_key(self.links() - 1, 0, out);
        true
    }

    /// Makes `key`, which is link `link - 1`'s, into link `link`'s.
    #[inline]
    pub(super) fn key_forward(&self, link: usize, key: &mut Vec<u8>) {
        let slot = self.slots()[link];
        key.truncate(shared_of(slot));
        key.extend_from_slice(self.suffix(slot));
    }

    /// Makes `key`, which is link `link + 1`'s, into link `link`'s.
    #[inline]
    pub(super) fn key_backward(&self, link: usize, key: &mut Vec<u8>) {
        let known = shared_of(self.slots()[link + 1]);
        self.link_key(link, known, key);
    }

    /// Puts a link's key into `key`, of which the first `known` bytes are right already.
    /// Steps back through the run and copies only from links that still have something to give.
    pub(super) fn link_key(&self, link: usize, known: usize, key: &mut Vec<u8>) {
        let slots = self.slots();
        let mut missing = shared_of(slots[link]);
        key.truncate(known.min(missing));
        key.resize(missing, 0);
        key.extend_from_slice(self.suffix(slots[link]));
        let mut at = link;
        while missing > known {
            if is_restart(&slots[at]) {
                key[known..missing].copy_from_slice(&self.stored(slots[at])[known..missing]);
                return;
            }
            at -= 1;
            let shared = shared_of(slots[at]);
            if shared < missing {
                let suffix = self.suffix(slots[at]);
                key[shared..missing].copy_from_slice(&suffix[..missing - shared]);
                missing = shared;
            }
        }
    }

    /// How many bytes `key` shares with link `link - 1`, below which it does not lie, and the
    /// restart of that link's run.
    pub(super) fn matched_before(&self, link: usize, key: &[u8]) -> (usize, usize) {
        let slots = &self.slots()[..link];
        let restart = slots.iter().rposition(is_restart).unwrap_or(0);
        let mut matched = common_prefix(self.stored(slots[restart]), key);
        for slot in &slots[restart + 1..] {
            let shared = shared_of(*slot);
            if shared > matched {
                continue;
            }
            let head = head_of(*slot);
            matched = match head ^ head_at(key, shared) {
                0x0100.. => shared,
                // A first byte of zero may also be the end of one of the two.
                1.. if head >= 0x0100 => shared + 1,
                _ => shared + common_prefix(self.suffix(*slot), &key[shared..]),
            };
        }
        (matched, restart)
    }

    /// Walks from link `from`, which is not above `key` unless it is the low fence, to the first
    /// that is not below it; link `to` is known to be above.
    #[inline]
    fn walk(&self, slots: &[Slot], from: usize, to: usize, key: &[u8]) -> Place {
        let first = self.stored(slots[from]);
        let mut matched = common_prefix(first, key);
        match (order(first, key, matched), from) {
            (Ordering::Greater, _) => return Place::BelowLow,
            (Ordering::Equal, 1..) => return self.place(from, true),
            _ => {}
        }
        let mut wanted = head_at(key, matched);
        for (ahead, slot) in slots[from + 1..to].iter().enumerate() {
            let shared = shared_of(*slot);
            if shared > matched {
                continue;
            }
            if shared < matched {
                wanted = head_at(key, shared);
            }
            let head = head_of(*slot);
            if head == wanted {
                let (suffix, rest) = (self.suffix(*slot), &key[shared..]);
                let same = common_prefix(suffix, rest);
                match order(suffix, rest, same) {
                    Ordering::Less => matched = shared + same,
                    Ordering::Equal => return self.place(from + 1 + ahead, true),
                    Ordering::Greater => return self.place(from + 1 + ahead, false),
                }
            } else if head < wanted {
                // One too many if the link ends here and the key goes on with a zero: then it
                // has no byte that the next link could share.
                matched = shared + usize::from(head ^ wanted < 0x100);
            } else {
                return self.place(from + 1 + ahead, false);
            }
            wanted = head_at(key, matched);
        }
        self.place(to, false)
    }

    /// The place of a key of which link `link` is the first that is not below it.
    #[inline]
    fn place(&self, link: usize, equal: bool) -> Place {
        let count = self.count();
        match link {
            _ if link <= count && equal => Place::Found(link - 1),
            _ if link <= count => Place::Gap(link - 1),
            _ if link == count + 1 && !equal => Place::Gap(count),
            _ => Place::AboveHigh,
        }
    }
}

/// Compares two strings that have exactly `same` leading bytes in common.
#[inline]
fn order(a: &[u8], b: &[u8], same: usize) -> Ordering {
    match (a.get(same), b.get(same)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(x), Some(y)) => x.cmp(y),
    }
}
