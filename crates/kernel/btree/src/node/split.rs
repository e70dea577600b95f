//! Splitting a node in two and joining two.
//!
//! Both sides of a split fit for certain: the right one's low fence is no longer than the last
//! key that stays left, all of whose bytes it no longer carries, and the left one's high fence is
//! coded against that key and takes no more than the first entry that leaves.

use base::CiNumber;
use base::bytes::common_prefix;

use super::build::NodeBuilder;
use super::{Full, HEADER_BYTES, Kind, NodeMut, NodeView, SLOT_BYTES, at, cell_bytes, get_u16};

/// How a node is to be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// How many entries stay.
    pub left_count: usize,
    /// High fence of the left node and low fence of the right one.
    pub separator: Vec<u8>,
}

/// After so many ascending inserts a split follows the pattern.
const ASCENDING_INSERTS: u8 = 4;
/// How much of a node stays left when entries are appended.
const APPEND_LEFT_PERCENT: usize = 90;

impl NodeView<'_> {
    /// How to split this node, which has no room for an entry with this key and value length as
    /// number `index`. The new entry belongs to the side that the separator tells.
    #[must_use]
    pub fn plan_split(&self, index: usize, key: &[u8], value_len: usize) -> Split {
        match self.kind() {
            Kind::Leaf => self.plan_leaf_split(index, key, value_len),
            Kind::Inner => self.plan_inner_split(index),
        }
    }

    /// How to split this leaf of at least two entries so that entry `index` gets more room.
    #[must_use]
    pub fn plan_growth_split(&self, index: usize) -> Split {
        let count = self.count();
        let slots = &self.slots()[1..=count];
        let total: usize = slots.iter().map(|slot| self.link_bytes(*slot)).sum();
        let own = self.link_bytes(slots[index]);
        let before: usize = slots[..index].iter().map(|slot| self.link_bytes(*slot)).sum();
        // The entry goes with the smaller part of the others.
        let left_count = if before * 2 + own > total { index } else { index + 1 };
        let left_count = left_count.clamp(1, count.saturating_sub(1).max(1));
        let (mut last, mut first) = (Vec::new(), Vec::new());
        self.key_at(left_count - 1, &mut last);
        if left_count < count {
            self.key_at(left_count, &mut first);
        }
        Split { left_count, separator: separator(&last, &first).to_vec() }
    }

    /// Writes the right half of a split into `right_bytes`; this node stays as it is.
    ///
    /// # Panics
    /// If the split is none of this node's [`plan_split`](NodeView::plan_split).
    pub fn build_right(&self, right_bytes: &mut [u8], number: CiNumber, split: &Split) {
        let mut high_fence = Vec::new();
        let high_fence = self.high_fence(&mut high_fence).then_some(&high_fence[..]);
        let mut builder =
            NodeBuilder::new(right_bytes, self.kind(), self.level(), number, &split.separator);
        builder.expect_bytes(
            self.slots()[split.left_count + 1..].iter().map(|slot| self.link_bytes(*slot)).sum(),
        );
        let done = builder
            .push_entries(*self, split.left_count..self.count())
            .and_then(|()| builder.finish(high_fence, self.right()).map(|_| ()));
        assert!(done.is_ok(), "the right side of a split always fits (3)");
    }

    /// At most the bytes that this node and its right sibling would take as one.
    #[must_use]
    pub fn merged_bytes(&self, right: NodeView<'_>) -> usize {
        self.live_bytes() + right.live_bytes()
    }

    /// Whether this node and its right sibling fit into one.
    #[must_use]
    pub fn would_fit_merged(&self, right: NodeView<'_>) -> bool {
        self.merged_bytes(right) <= self.bytes.len() - HEADER_BYTES
    }

    /// With the new entry counted in, the boundary nearest to the wanted share of bytes.
    fn plan_leaf_split(&self, index: usize, key: &[u8], value_len: usize) -> Split {
        let count = self.count();
        let slots = self.slots();
        let (matched, _) = self.matched_before(index + 1, key);
        let new_bytes = SLOT_BYTES + cell_bytes(key.len() - matched, value_len);
        let bytes_of = |item: usize| match item {
            _ if item < index => self.link_bytes(slots[item + 1]),
            _ if item == index => new_bytes,
            _ => self.link_bytes(slots[item]),
        };
        let total: usize = (0..=count).map(bytes_of).sum();
        let before_new: usize = (0..index).map(bytes_of).sum();
        let ascending = self.bytes[at::ASCENDING] >= ASCENDING_INSERTS
            && usize::from(get_u16(self.bytes, at::NEXT_INSERT)) == index;
        // A boundary b has b items left of it, the new one among them if index < b.
        if ascending && (1..count).contains(&index) {
            // A run of inserts in the middle: cut behind it, so that it goes on at the end of
            // the left node; or before it, if what would move away is hardly worth a node.
            let behind = total - before_new - new_bytes;
            let cut_behind = behind * 8 >= total;
            return self.leaf_split_at(index + usize::from(cut_behind), index, key);
        }
        let percent = if index == count { APPEND_LEFT_PERCENT } else { 50 };
        let wanted = total * percent / 100;
        let (mut boundary, mut left) = (1, bytes_of(0));
        while boundary < count && left + bytes_of(boundary) / 2 < wanted {
            left += bytes_of(boundary);
            boundary += 1;
        }
        self.leaf_split_at(boundary, index, key)
    }

    fn leaf_split_at(&self, boundary: usize, index: usize, key: &[u8]) -> Split {
        let count = self.count();
        let mut left_count = if index < boundary { boundary - 1 } else { boundary };
        if count >= 2 {
            left_count = left_count.clamp(1, count - 1);
        }
        // The new entry stands at the boundary on either side or away from it.
        let new_is_last_left = index == left_count && index < boundary;
        let new_is_first_right = index == left_count && index >= boundary;
        let (mut last, mut first) = (Vec::new(), Vec::new());
        if new_is_last_left {
            last.extend_from_slice(key);
        } else if left_count > 0 {
            self.key_at(left_count - 1, &mut last);
        } else {
            last.extend_from_slice(self.low_fence());
        }
        if new_is_first_right || left_count == count {
            first.extend_from_slice(key);
        } else {
            self.key_at(left_count, &mut first);
        }
        Split { left_count, separator: separator(&last, &first).to_vec() }
    }

    /// The separator of inner nodes is a key of theirs, so that the first entry right of it
    /// equals its low fence (invariant 1).
    fn plan_inner_split(&self, index: usize) -> Split {
        let count = self.count();
        let slots = &self.slots()[1..=count];
        let total: usize = slots.iter().map(|slot| self.link_bytes(*slot)).sum();
        let percent = if index == count { APPEND_LEFT_PERCENT } else { 50 };
        let wanted = total * percent / 100;
        let (mut left_count, mut left) = (0, 0);
        while left_count < count && left < wanted {
            left += self.link_bytes(slots[left_count]);
            left_count += 1;
        }
        let left_count = left_count.clamp(1, count.saturating_sub(1).max(1));
        let mut separator = Vec::new();
        if left_count < count {
            self.key_at(left_count, &mut separator);
        }
        Split { left_count, separator }
    }
}

impl NodeMut<'_> {
    /// Moves the entries behind the split to a new node in `right_bytes` and links it in between
    /// this node and its right sibling.
    ///
    /// # Panics
    /// If the split is none of this node's [`plan_split`](NodeView::plan_split).
    pub fn split_into(&mut self, right_bytes: &mut [u8], number: CiNumber, split: &Split) {
        self.view().build_right(right_bytes, number, split);
        self.truncate_at(split, number);
    }

    /// Does the left half of a split alone: redo has the right one from the log.
    ///
    /// # Panics
    /// If the split is none of this node's.
    pub fn truncate_at(&mut self, split: &Split, right: CiNumber) {
        let done = self.try_truncate_at(split, right);
        assert!(done.is_ok(), "the left side of a split always fits (3)");
    }

    /// The same for a split that comes from outside.
    ///
    /// # Errors
    /// [`Full`], if the separator does not fit; then it was never one of this node's, and the
    /// node is spoiled.
    pub fn try_truncate_at(&mut self, split: &Split, right: CiNumber) -> Result<(), Full> {
        self.truncate(split.left_count);
        self.set_high_fence(Some(&split.separator))?;
        self.set_right(Some(right));
        Ok(())
    }

    /// Takes over all entries, the high fence and the right link of the right sibling.
    ///
    /// # Errors
    /// [`Full`], if they do not fit; nothing is changed.
    ///
    /// # Panics
    /// If the two are not of one kind and level.
    pub fn merge_from(&mut self, right: NodeView<'_>) -> Result<(), Full> {
        let old = self.view().bytes().to_vec();
        let left = NodeView::new(&old);
        assert!((left.kind(), left.level()) == (right.kind(), right.level()), "unlike nodes");
        let mut builder = NodeBuilder::begin(self.bytes(), left.low_fence());
        builder.expect_bytes(left.merged_bytes(right));
        let mut high_fence = Vec::new();
        let high_fence = right.high_fence(&mut high_fence).then_some(&high_fence[..]);
        let done = builder
            .push_entries(left, 0..left.count())
            .and_then(|()| builder.push_entries(right, 0..right.count()))
            .and_then(|()| builder.finish(high_fence, right.right()).map(|_| ()));
        match done {
            Ok(()) => self.forget_pattern(),
            Err(Full) => self.bytes().copy_from_slice(&old),
        }
        done
    }
}

/// The shortest key that is greater than `left` and not greater than `right`.
#[must_use]
pub fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    let len = common_prefix(left, right) + 1;
    &right[..len.min(right.len())]
}
