//! Splits, postings, merges, and the root.
//!
//! Each is one redo-only record over all its intervals (K13). It works on what somebody saw a
//! moment ago: it pins, latches in order, proves that this still holds, and otherwise does nothing,
//! because then somebody else has done it, or something else, and the caller looks again.

use base::CiNumber;
use pool::{ExclusiveCi, SharedCi};
use seam::failpoint::{Failpoint, armed};
use space::{Purpose, ROOT};

use crate::TreeError;
use crate::node::{HEADER_BYTES, Kind, NodeMut, NodeView, Place, Split, Value};
use crate::records::{Fields, kind};
use crate::tree::Tree;

/// What a node has no room for.
#[derive(Clone, Copy)]
pub(crate) enum Growth<'a> {
    /// A new entry.
    Insert(Value<'a>),
    /// Another value for an entry.
    Replace(Value<'a>),
}

/// What came of the wish to merge a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Merged {
    /// It is one with a neighbour now.
    Yes,
    /// It is not sparse, or its neighbours are too full.
    No,
    /// Its parent has no other child.
    OnlyChild,
    /// It is the root.
    IsRoot,
}

/// Whether a node's entries take less than a quarter of it.
pub(crate) fn is_sparse(node: NodeView<'_>) -> bool {
    node.entry_bytes() * 4 < node.bytes().len() - HEADER_BYTES
}

/// Two siblings become one only if that leaves room to grow, or if one of them is empty.
fn may_merge(left: NodeView<'_>, right: NodeView<'_>) -> bool {
    let capacity = left.bytes().len() - HEADER_BYTES;
    let bytes_max =
        if left.count() == 0 || right.count() == 0 { capacity } else { capacity / 4 * 3 };
    (is_sparse(left) || is_sparse(right)) && left.merged_bytes(right) <= bytes_max
}

/// The node in an interval, if it is one of that level.
pub(crate) fn node_of(bytes: &[u8], level: u8) -> Option<NodeView<'_>> {
    NodeView::opened(bytes).ok().filter(|node| node.level() == level)
}

/// How to split a node, if it still needs that.
fn plan(bytes: &[u8], level: u8, key: &[u8], growth: Growth<'_>) -> Option<Split> {
    let node = node_of(bytes, level)?;
    match (node.find(key), growth) {
        (Place::Gap(slot), Growth::Insert(value)) if !node.can_insert(slot, key, value) => {
            Some(node.plan_split(slot, key, value.bytes.len()))
        }
        (Place::Found(slot), Growth::Replace(value))
            if node.count() > 1 && !node.can_replace(slot, value) =>
        {
            Some(node.plan_growth_split(slot))
        }
        _ => None,
    }
}

impl Tree<'_> {
    /// Splits a node that has no room for a change at `key`, unless that is no longer so.
    pub(crate) fn split(
        &self,
        ci: CiNumber,
        level: u8,
        key: &[u8],
        growth: Growth<'_>,
        purpose: Purpose,
    ) -> Result<(), TreeError> {
        let right = self.allocate(Some(ci), purpose)?;
        if ci != ROOT {
            let done = self.split_node(ci, right, level, key, growth);
            return match done {
                Ok(true) => {
                    self.post_if_possible(right, level, purpose);
                    Ok(())
                }
                Ok(false) => Ok(self.kernel.release_interval(self.set, right)?),
                Err(error) => {
                    // The first error is the one to report.
                    let _ = self.kernel.release_interval(self.set, right);
                    Err(error)
                }
            };
        }
        let done = self.allocate(Some(right), purpose).map_err(TreeError::from).and_then(|left| {
            let done = self.split_root(left, right, level, key, growth);
            if !matches!(done, Ok(true)) {
                let _ = self.kernel.release_interval(self.set, left);
            }
            done
        });
        if !matches!(done, Ok(true)) {
            let _ = self.kernel.release_interval(self.set, right);
        }
        done.map(|_| ())
    }

    fn split_node(
        &self,
        ci: CiNumber,
        number: CiNumber,
        level: u8,
        key: &[u8],
        growth: Growth<'_>,
    ) -> Result<bool, TreeError> {
        let Some(left) = self.pin_seen(ci)? else { return Ok(false) };
        let right = self.set.pin_fresh(number)?;
        let mut left = left.exclusive();
        let Some(split) = plan(left.bytes(), level, key, growth) else { return Ok(false) };
        let mut right = right.exclusive();
        let mut built = vec![0; left.bytes().len()];
        NodeView::new(left.bytes()).build_right(&mut built, number, &split);
        let mut image = Vec::new();
        NodeView::new(&built).write_image(&mut image);
        let separator = &split.separator;
        let fields = Fields::new().ci(ci).ci(number).u16(split.left_count).u16(separator.len());
        if armed(Failpoint::HalfSplit) {
            let body: [&[u8]; 2] = [fields.bytes(), separator];
            self.kernel.change_structure(self.set, kind::SPLIT, &body, &mut [&mut left])?;
            right.begin_change(left.lsn());
            right.bytes_mut().copy_from_slice(&built);
            right.set_lsn(left.lsn());
            return Ok(true);
        }
        let body: [&[u8]; 3] = [fields.bytes(), separator, &image];
        let pages = &mut [&mut left, &mut right];
        self.kernel.change_structure(self.set, kind::SPLIT, &body, pages)?;
        Ok(true)
    }

    fn split_root(
        &self,
        left_number: CiNumber,
        right_number: CiNumber,
        level: u8,
        key: &[u8],
        growth: Growth<'_>,
    ) -> Result<bool, TreeError> {
        let root = self.set.pin(ROOT)?;
        let left = self.set.pin_fresh(left_number)?;
        let right = self.set.pin_fresh(right_number)?;
        let mut root = root.exclusive();
        let Some(split) = plan(root.bytes(), level, key, growth) else { return Ok(false) };
        let (mut left, mut right) = (left.exclusive(), right.exclusive());
        let mut left_bytes = root.bytes().to_vec();
        let mut right_bytes = vec![0; left_bytes.len()];
        let mut node = NodeMut::new(&mut left_bytes);
        node.split_into(&mut right_bytes, right_number, &split);
        node.set_number(left_number);
        let (mut left_image, mut right_image) = (Vec::new(), Vec::new());
        node.view().write_image(&mut left_image);
        NodeView::new(&right_bytes).write_image(&mut right_image);
        let separator = &split.separator;
        let fields = Fields::new().ci(left_number).ci(right_number).u16(separator.len());
        let bytes = Fields::new().u32(left_image.len() as u32);
        let body: [&[u8]; 5] =
            [fields.bytes(), separator, bytes.bytes(), &left_image, &right_image];
        let pages = &mut [&mut root, &mut left, &mut right];
        self.kernel.change_structure(self.set, kind::ROOT_SPLIT, &body, pages)?;
        Ok(true)
    }

    /// Tells the parent of a node, if it can be done now; searches are right without it.
    pub(crate) fn post_if_possible(&self, child: CiNumber, level: u8, purpose: Purpose) {
        // A full disk or a stopped kernel will be met by whoever cannot do without.
        let _ = self.post(child, level, purpose);
    }

    /// Makes the parent of a node know it by its low fence, if it does not yet.
    pub(crate) fn post(
        &self,
        child: CiNumber,
        level: u8,
        purpose: Purpose,
    ) -> Result<(), TreeError> {
        let separator = {
            let Some(page) = self.pin_seen(child)? else { return Ok(()) };
            let page = page.shared();
            match node_of(page.bytes(), level) {
                Some(node) if !node.low_fence().is_empty() => node.low_fence().to_vec(),
                _ => return Ok(()),
            }
        };
        let value = child.0.to_le_bytes();
        let value = Value::inline(&value);
        loop {
            let Some(pinned) = self.pin_seen(child)? else { return Ok(()) };
            let Some(parent) = self.reach_level::<ExclusiveCi<'_>>(&separator, level + 1)? else {
                return Ok(());
            };
            let Place::Gap(slot) = parent.place else { return Ok(()) };
            let mut parent = parent.guard;
            // The node may be gone by now, and its number may have gone to another.
            let page = pinned.shared();
            let is_it = node_of(page.bytes(), level)
                .is_some_and(|node| node.low_fence() == separator && slot > 0);
            if !is_it {
                return Ok(());
            }
            let ci = parent.ci();
            if NodeView::new(parent.bytes()).can_insert(slot, &separator, value) {
                let fields = Fields::new().ci(ci).u16(slot).ci(child);
                let body: [&[u8]; 2] = [fields.bytes(), &separator];
                self.kernel.change_structure(self.set, kind::POST, &body, &mut [&mut parent])?;
                return Ok(());
            }
            drop(page);
            drop(parent);
            self.split(ci, level + 1, &separator, Growth::Insert(value), purpose)?;
        }
    }

    /// Joins the leaf of `key` with a neighbour if it has become sparse, then its ancestors.
    pub(crate) fn tidy(&self, key: &[u8]) -> Result<(), TreeError> {
        self.tidy_level(0, key).map(|_| ())
    }

    fn tidy_level(&self, level: u8, key: &[u8]) -> Result<bool, TreeError> {
        match self.merge_node(level, key)? {
            Merged::Yes => {
                self.tidy_level(level + 1, key)?;
                Ok(true)
            }
            Merged::OnlyChild => {
                // It gets neighbours when its parent has been joined with another.
                let joined = self.tidy_level(level + 1, key)?;
                Ok(joined && self.merge_node(level, key)? == Merged::Yes)
            }
            Merged::IsRoot => self.collapse_root(),
            Merged::No => Ok(false),
        }
    }

    /// Joins the node of `key` with its right or left neighbour under the same parent.
    fn merge_node(&self, level: u8, key: &[u8]) -> Result<Merged, TreeError> {
        let Some(parent) = self.reach_level::<SharedCi<'_>>(key, level + 1)? else {
            return Ok(Merged::IsRoot);
        };
        let ci = parent.guard.ci();
        let node = NodeView::new(parent.guard.bytes());
        let index = match parent.place {
            Place::Found(index) => index,
            Place::Gap(index) if index > 0 => index - 1,
            _ => return Ok(Merged::No),
        };
        let child = node.child_at(index);
        let left = index.checked_sub(1).map(|left| node.child_at(left));
        let right = (index + 1 < node.count()).then(|| node.child_at(index + 1));
        drop(parent);
        let is_empty = {
            let Some(page) = self.pin_seen(child)? else { return Ok(Merged::No) };
            let page = page.shared();
            match node_of(page.bytes(), level) {
                Some(node) if is_sparse(node) => node.count() == 0,
                _ => return Ok(Merged::No),
            }
        };
        let with_left = left.map(|left| (left, child, index));
        let with_right = right.map(|right| (child, right, index + 1));
        // An empty node goes into its left neighbour, which costs nothing.
        let pairs = if is_empty { [with_left, with_right] } else { [with_right, with_left] };
        for (left, right, slot) in pairs.into_iter().flatten() {
            if self.merge_pair(ci, left, right, slot, level)? {
                return Ok(Merged::Yes);
            }
        }
        Ok(if left.is_none() && right.is_none() { Merged::OnlyChild } else { Merged::No })
    }

    fn merge_pair(
        &self,
        parent_ci: CiNumber,
        left_ci: CiNumber,
        right_ci: CiNumber,
        slot: usize,
        level: u8,
    ) -> Result<bool, TreeError> {
        if left_ci == right_ci || left_ci == parent_ci || right_ci == parent_ci {
            return Err(self.damaged(parent_ci, "two of its entries lead to one node"));
        }
        let (parent, left) = (self.pin_seen(parent_ci)?, self.pin_seen(left_ci)?);
        let (Some(parent), Some(left), Some(right)) = (parent, left, self.pin_seen(right_ci)?)
        else {
            return Ok(false);
        };
        let mut parent = parent.exclusive();
        let as_seen = node_of(parent.bytes(), level + 1).is_some_and(|node| {
            slot > 0
                && slot < node.count()
                && node.child_at(slot - 1) == left_ci
                && node.child_at(slot) == right_ci
        });
        if !as_seen {
            return Ok(false);
        }
        let (mut left, mut right) = (left.exclusive(), right.exclusive());
        let (Some(low), Some(high)) = (node_of(left.bytes(), level), node_of(right.bytes(), level))
        else {
            return Ok(false);
        };
        // A node between them that nobody has posted yet must stay reachable.
        if low.right() != Some(right_ci) || !may_merge(low, high) {
            return Ok(false);
        }
        let mut fence = Vec::new();
        if !low.high_fence(&mut fence) || fence != high.low_fence() {
            let why = "its low fence is not the high fence of its left sibling";
            return Err(self.damaged(right_ci, why));
        }
        let mut image = Vec::new();
        high.write_image(&mut image);
        let fields = Fields::new().ci(parent_ci).ci(left_ci).ci(right_ci).u16(slot);
        let body: [&[u8]; 2] = [fields.bytes(), &image];
        let pages = &mut [&mut parent, &mut left, &mut right];
        self.kernel.change_structure(self.set, kind::MERGE, &body, pages)?;
        drop((parent, left, right));
        self.kernel.release_interval(self.set, right_ci)?;
        Ok(true)
    }

    /// As long as the root has only one child it takes over that child's content.
    fn collapse_root(&self) -> Result<bool, TreeError> {
        let mut collapsed = false;
        while let Some(child) = self.only_child_of_root()? {
            let root = self.set.pin(ROOT)?;
            let Some(page) = self.pin_seen(child)? else { break };
            let (mut root, mut page) = (root.exclusive(), page.exclusive());
            let as_seen = only_child(root.bytes()) == Some(child)
                && NodeView::opened(page.bytes()).is_ok_and(|node| node.right().is_none());
            if !as_seen {
                break;
            }
            let mut image = Vec::new();
            NodeView::new(page.bytes()).write_image(&mut image);
            let fields = Fields::new().ci(child);
            let body: [&[u8]; 2] = [fields.bytes(), &image];
            let pages = &mut [&mut root, &mut page];
            self.kernel.change_structure(self.set, kind::ROOT_COLLAPSE, &body, pages)?;
            drop((root, page));
            self.kernel.release_interval(self.set, child)?;
            collapsed = true;
        }
        Ok(collapsed)
    }

    fn only_child_of_root(&self) -> Result<Option<CiNumber>, TreeError> {
        let root = self.set.shared(ROOT)?;
        Ok(only_child(root.bytes()))
    }
}

fn only_child(bytes: &[u8]) -> Option<CiNumber> {
    let root = NodeView::opened(bytes).ok()?;
    let child = (root.kind() == Kind::Inner && root.count() == 1).then(|| root.child_at(0));
    child.filter(|child| *child != ROOT)
}
