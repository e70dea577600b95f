//! The handle of a tree: limits, descents, reading.
//!
//! A descent latches one node at a time (invariant 2 of the crate). What it finds at the end of a
//! pointer may be a node further left than wanted, because of a split: it goes right. Or it may be
//! anything else, because the node has been merged or moved away: it begins again. The interval may
//! even be gone from the disk, because the file's tail was cut off since the pointer was read; so
//! what cannot be had counts as damaged only once a second descent has come to it, too.

mod limits;

use std::sync::Arc;

use base::CiNumber;
use pool::{ExclusiveCi, FrameHint, Pinned, PoolError, SharedCi};
use space::{DataSet, LookupKey, Purpose, ROOT};
use uow::{Kernel, UowError};

use crate::node::{self, Kind, NodeMut, NodeView, Place, Value};
use crate::{TreeError, overflow};

/// Formats the root of an empty tree: what a data set is created with.
pub fn format_empty(page: &mut [u8]) {
    NodeMut::format(page, Kind::Leaf, 0, ROOT, b"", None);
}

/// Where a range begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<'a> {
    /// At the key, the key included.
    At(&'a [u8]),
    /// Just behind the key.
    Behind(&'a [u8]),
    /// Behind every key.
    End,
}

/// What [`Tree::look`] has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The key itself is there.
    pub found: bool,
    /// There is a key above it.
    pub has_next: bool,
}

/// The leaves that a look went through, from that of its key to that of the key which follows.
#[derive(Default)]
pub struct Leaves {
    pub(crate) passed: Vec<(CiNumber, FrameHint)>,
    /// Where the key itself is or would be, in the first of them.
    pub(crate) place: Option<Place>,
}

impl Leaves {
    /// The key itself.
    pub(crate) fn seen(&self) -> Option<RecordHint> {
        let (ci, hint) = *self.passed.first()?;
        Some(RecordHint { leaf: LeafHint { ci, hint }, place: self.place? })
    }
}

/// A leaf in which a key was found or missed: saves the search if it still has that key, and is
/// never a promise (H10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafHint {
    pub(crate) ci: CiNumber,
    pub(crate) hint: FrameHint,
}

impl LeafHint {
    /// Whether both are of one leaf of the same set, changed or not.
    #[must_use]
    #[inline]
    pub fn is_leaf_of(&self, other: LeafHint) -> bool {
        self.ci == other.ci
    }
}

/// A key that was looked for: where it is, or would be, as long as its leaf is unchanged (H10).
#[derive(Clone, Copy, Debug)]
pub struct RecordHint {
    pub(crate) leaf: LeafHint,
    pub(crate) place: Place,
}

impl RecordHint {
    /// Whether there was a record with that key.
    #[must_use]
    #[inline]
    pub fn is_there(&self) -> bool {
        matches!(self.place, Place::Found(_))
    }

    /// The leaf.
    #[must_use]
    #[inline]
    pub fn leaf(&self) -> LeafHint {
        self.leaf
    }
}

/// One data set's tree: two references, made where it is needed.
#[derive(Clone, Copy)]
pub struct Tree<'k> {
    pub(crate) kernel: &'k Arc<Kernel>,
    pub(crate) set: &'k DataSet,
}

/// A node that a descent ended at, and where the key stands in it: never outside its fences.
pub(crate) struct Reached<G> {
    pub(crate) guard: G,
    pub(crate) place: Place,
    /// A node of that level that could be reached only from its left sibling.
    pub(crate) unposted: Option<CiNumber>,
}

impl<'k, G: Latch<'k>> Reached<G> {
    /// Where in a leaf the cell of the key stands, or of the key that follows.
    #[inline]
    fn offset(&self) -> usize {
        let node = NodeView::new(self.guard.bytes());
        match self.place {
            Place::Found(index) | Place::Gap(index) => node.offset_at(index),
            Place::BelowLow | Place::AboveHigh => 0,
        }
    }
}

/// So many descents that led nowhere mean damage, not rivals.
pub(crate) const DESCENTS_MAX: usize = 10_000;
/// So far to the right of its lookup hint a leaf is sought: keys with one prefix that take more
/// than that are not read by the first of them.
const RIGHTS_OF_LOOKUP_HINT: usize = 1;

/// A latch of either mode.
pub(crate) trait Latch<'k>: Sized {
    fn take(set: &'k DataSet, ci: CiNumber) -> Result<Self, PoolError>;
    fn of_pinned(pinned: Pinned<'k>) -> Self;
    fn ci(&self) -> CiNumber;
    fn hint(&self) -> FrameHint;
    fn bytes(&self) -> &[u8];
}

impl<'k> Latch<'k> for SharedCi<'k> {
    #[inline]
    fn take(set: &'k DataSet, ci: CiNumber) -> Result<Self, PoolError> {
        set.shared(ci)
    }

    #[inline]
    fn of_pinned(pinned: Pinned<'k>) -> Self {
        pinned.shared()
    }

    #[inline]
    fn ci(&self) -> CiNumber {
        SharedCi::ci(self)
    }

    #[inline]
    fn hint(&self) -> FrameHint {
        SharedCi::hint(self)
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        SharedCi::bytes(self)
    }
}

impl<'k> Latch<'k> for ExclusiveCi<'k> {
    #[inline]
    fn take(set: &'k DataSet, ci: CiNumber) -> Result<Self, PoolError> {
        set.exclusive(ci)
    }

    #[inline]
    fn of_pinned(pinned: Pinned<'k>) -> Self {
        pinned.exclusive()
    }

    #[inline]
    fn ci(&self) -> CiNumber {
        ExclusiveCi::ci(self)
    }

    #[inline]
    fn hint(&self) -> FrameHint {
        ExclusiveCi::hint(self)
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        ExclusiveCi::bytes(self)
    }
}

/// What to do after a look at a node on the way down.
pub(crate) enum Step {
    Here(Place),
    Right(CiNumber),
    Down(CiNumber),
    Again,
}

impl<'k> Tree<'k> {
    /// The tree of a data set.
    #[must_use]
    #[inline]
    pub fn new(kernel: &'k Arc<Kernel>, set: &'k DataSet) -> Tree<'k> {
        Tree { kernel, set }
    }

    /// Latches the leaf of `key`: the one noted, if it is where it was and has the key within its
    /// fences; otherwise by a descent.
    pub(crate) fn reach_noted(
        &self,
        key: &[u8],
        noted: Option<LeafHint>,
    ) -> Result<Reached<ExclusiveCi<'k>>, TreeError> {
        if let Some(LeafHint { ci, hint }) = noted
            && let Some(guard) = self.set.exclusive_at(hint, ci)
            && let Step::Here(place) = step(ci, guard.bytes(), key, 0, 0)
        {
            return Ok(Reached { guard, place, unposted: None });
        }
        self.reach_leaf(key)
    }

    /// Latches the leaf of a key that was looked for, if it is unchanged; otherwise by a descent.
    pub(crate) fn reach_seen_record(
        &self,
        key: &[u8],
        seen: RecordHint,
    ) -> Result<Reached<ExclusiveCi<'k>>, TreeError> {
        let RecordHint { leaf: LeafHint { ci, hint }, place } = seen;
        if let Some(guard) = self.set.exclusive_at(hint, ci)
            && guard.hint() == hint
        {
            return Ok(Reached { guard, place, unposted: None });
        }
        self.reach_noted(key, Some(seen.leaf))
    }

    /// Latches the leaf of `key` if it is where a key with the same prefix was found the last time,
    /// or right of it.
    #[inline]
    fn reach_lookup_hint<G: Latch<'k>>(&self, prefix: LookupKey, key: &[u8]) -> Option<Reached<G>> {
        let (pinned, near) = self.set.at_lookup_hint(prefix)?;
        let mut guard = G::of_pinned(pinned);
        for rights in 0..=RIGHTS_OF_LOOKUP_HINT {
            match step(guard.ci(), guard.bytes(), key, 0, 0) {
                Step::Here(place) => {
                    let reached = Reached { guard, place, unposted: None };
                    let offset = reached.offset();
                    if rights > 0 || !self.set.is_noted(prefix, near, offset) {
                        self.set.note_lookup_hint(prefix, reached.guard.hint(), offset);
                    }
                    return Some(reached);
                }
                Step::Right(right) => {
                    drop(guard);
                    guard = G::take(self.set, right).ok()?;
                }
                Step::Down(_) | Step::Again => return None,
            }
        }
        None
    }

    /// Latches the leaf of `key`.
    #[inline]
    pub(crate) fn reach_leaf<G: Latch<'k>>(&self, key: &[u8]) -> Result<Reached<G>, TreeError> {
        let Some(prefix) = self.set.lookup_key(key) else { return self.reach(key, 0) };
        if let Some(reached) = self.reach_lookup_hint(prefix, key) {
            return Ok(reached);
        }
        let reached: Reached<G> = self.reach(key, 0)?;
        self.set.note_lookup_hint(prefix, reached.guard.hint(), reached.offset());
        Ok(reached)
    }

    /// Descends to the leaf of `key`; see [`Tree::reach_level`].
    #[inline]
    pub(crate) fn reach<G: Latch<'k>>(
        &self,
        key: &[u8],
        level: u8,
    ) -> Result<Reached<G>, TreeError> {
        match self.reach_level(key, level)? {
            Some(reached) => Ok(reached),
            None => Err(self.damaged(ROOT, format!("there is no level {level}"))),
        }
    }

    /// Descends to the node of a level that has `key` within its fences and latches it. `None` if
    /// the tree does not have that level.
    pub(crate) fn reach_level<G: Latch<'k>>(
        &self,
        key: &[u8],
        level: u8,
    ) -> Result<Option<Reached<G>>, TreeError> {
        let (mut last, mut doubt) = (ROOT, None);
        for _ in 0..DESCENTS_MAX {
            match self.try_reach(key, level, &mut last) {
                Ok(Descent::Reached(reached)) => return Ok(Some(reached)),
                Ok(Descent::TooLow) => return Ok(None),
                Ok(Descent::Again) => {}
                Err(error) => believe_twice(error, last, &mut doubt)?,
            }
            seam::thread::yield_now();
        }
        Err(self.damaged(last, format!("no descent gets beyond it to level {level}")))
    }

    fn try_reach<G: Latch<'k>>(
        &self,
        key: &[u8],
        level: u8,
        at: &mut CiNumber,
    ) -> Result<Descent<G>, TreeError> {
        let mut unposted = None;
        let mut expected = None;
        let mut rights = 0;
        *at = ROOT;
        loop {
            if expected == Some(level) {
                let guard = G::take(self.set, *at)?;
                match step(*at, guard.bytes(), key, level, level) {
                    Step::Here(place) => {
                        return Ok(Descent::Reached(Reached { guard, place, unposted }));
                    }
                    Step::Right(right) => {
                        unposted = Some(right);
                        *at = right;
                        self.count_rights(&mut rights, right)?;
                    }
                    Step::Down(_) | Step::Again => return Ok(Descent::Again),
                }
                continue;
            }
            let guard = self.set.shared(*at)?;
            let here = match expected {
                Some(expected) => expected,
                None => {
                    let root = self.root(guard.bytes())?;
                    if root.level() < level {
                        return Ok(Descent::TooLow);
                    }
                    root.level()
                }
            };
            if here == level {
                // The root is what is wanted: latch it again, in the wanted mode.
                expected = Some(level);
                continue;
            }
            match step(*at, guard.bytes(), key, here, level) {
                Step::Right(right) => {
                    *at = right;
                    expected = Some(here);
                    self.count_rights(&mut rights, right)?;
                }
                Step::Down(child) => {
                    *at = child;
                    expected = Some(here - 1);
                }
                Step::Here(_) | Step::Again => return Ok(Descent::Again),
            }
        }
    }

    /// Descends to the leaf that may hold the last key below `key`, or, if that is `None`, the last
    /// key of all.
    pub(crate) fn reach_below(&self, key: Option<&[u8]>) -> Result<SharedCi<'k>, TreeError> {
        self.reach_below_level(key, 0)
    }

    /// The same for any level that the tree has.
    pub(crate) fn reach_below_level(
        &self,
        key: Option<&[u8]>,
        level: u8,
    ) -> Result<SharedCi<'k>, TreeError> {
        let (mut last, mut doubt) = (ROOT, None);
        for _ in 0..DESCENTS_MAX {
            match self.try_reach_below(key, level, &mut last) {
                Ok(Some(leaf)) => return Ok(leaf),
                Ok(None) => {}
                Err(error) => believe_twice(error, last, &mut doubt)?,
            }
            seam::thread::yield_now();
        }
        Err(self.damaged(last, "no descent gets beyond it to the node below a key"))
    }

    fn try_reach_below(
        &self,
        key: Option<&[u8]>,
        level: u8,
        at: &mut CiNumber,
    ) -> Result<Option<SharedCi<'k>>, TreeError> {
        let mut expected = None;
        let mut rights = 0;
        *at = ROOT;
        loop {
            let guard = self.set.shared(*at)?;
            let here = match expected {
                Some(expected) => expected,
                None => self.root(guard.bytes())?.level(),
            };
            match step_below(*at, guard.bytes(), key, here, level) {
                Step::Here(_) => return Ok(Some(guard)),
                Step::Right(right) => {
                    (*at, expected) = (right, Some(here));
                    self.count_rights(&mut rights, right)?;
                }
                Step::Down(child) => (*at, expected) = (child, Some(here - 1)),
                Step::Again => return Ok(None),
            }
        }
    }

    /// Counts the steps to the right of one descent: more than there are nodes go round and round.
    fn count_rights(&self, rights: &mut u32, ci: CiNumber) -> Result<(), TreeError> {
        *rights += 1;
        match *rights > self.set.intervals() {
            true => Err(self.damaged(ci, "the right links of its level go in a circle")),
            false => Ok(()),
        }
    }

    /// Pins an interval that somebody saw a moment ago as a part of the tree. `None` if it cannot
    /// be had: it may be gone by now, and if not, the next descent to it says so.
    pub(crate) fn pin_seen(&self, ci: CiNumber) -> Result<Option<Pinned<'k>>, TreeError> {
        match self.set.pin(ci).map_err(TreeError::from) {
            Ok(pinned) => Ok(Some(pinned)),
            Err(error) if ci != ROOT && may_be_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn root<'b>(&self, bytes: &'b [u8]) -> Result<NodeView<'b>, TreeError> {
        NodeView::opened(bytes).map_err(|damage| self.damaged(ROOT, damage.to_string()))
    }

    pub(crate) fn allocate(
        &self,
        near: Option<CiNumber>,
        purpose: Purpose,
    ) -> Result<CiNumber, UowError> {
        match purpose {
            Purpose::Work => self.kernel.allocate(self.set, near),
            Purpose::Undo => self.kernel.allocate_for_undo(self.set, near),
        }
    }

    pub(crate) fn damaged(&self, ci: CiNumber, why: impl Into<String>) -> TreeError {
        TreeError::Damaged {
            name: self.set.name().to_owned(),
            set: self.set.id(),
            ci,
            why: why.into(),
        }
    }

    pub(crate) fn broken_chain(&self, reference: overflow::Reference) -> TreeError {
        self.damaged(reference.first, "the chain of a long value is broken")
    }
}

/// Whether an error may mean no more than that an interval was freed and cut off after somebody had
/// read its number.
pub(crate) fn may_be_gone(error: &TreeError) -> bool {
    matches!(error, TreeError::Pool(PoolError::Damaged { .. } | PoolError::Read { .. }))
}

/// A descent could not have interval `at`. Where the pointer to it was read nothing is latched any
/// more, so the interval may be gone; the root never is. A second descent that comes to the same
/// interval has read a pointer that was written after that, or was right all the time.
fn believe_twice(
    error: TreeError,
    at: CiNumber,
    doubt: &mut Option<CiNumber>,
) -> Result<(), TreeError> {
    match at == ROOT || !may_be_gone(&error) || doubt.replace(at) == Some(at) {
        true => Err(error),
        false => Ok(()),
    }
}

enum Descent<G> {
    Reached(Reached<G>),
    TooLow,
    Again,
}

/// Looks at a node that should be of level `expected` on the way to level `wanted`.
#[inline]
pub(crate) fn step(ci: CiNumber, bytes: &[u8], key: &[u8], expected: u8, wanted: u8) -> Step {
    let Ok(node) = NodeView::opened(bytes) else { return Step::Again };
    if node.level() != expected || node.number() != ci {
        return Step::Again;
    }
    let place = node.find(key);
    match place {
        Place::BelowLow => Step::Again,
        Place::AboveHigh => node.right().map_or(Step::Again, Step::Right),
        _ if expected == wanted => Step::Here(place),
        Place::Found(index) => Step::Down(node.child_at(index)),
        Place::Gap(index) => match index.checked_sub(1) {
            Some(index) => Step::Down(node.child_at(index)),
            None => Step::Again,
        },
    }
}

/// The same on the way to the last node that has room below `key`.
fn step_below(ci: CiNumber, bytes: &[u8], key: Option<&[u8]>, expected: u8, wanted: u8) -> Step {
    let Ok(node) = NodeView::opened(bytes) else { return Step::Again };
    if node.level() != expected || node.number() != ci {
        return Step::Again;
    }
    let mut high = Vec::new();
    let place = key.map_or(Place::AboveHigh, |key| node.find(key));
    let below = match place {
        Place::BelowLow => return Step::Again,
        Place::Found(index) | Place::Gap(index) => index,
        // At the high fence all of the node lies below the key, and nothing right of it does.
        Place::AboveHigh => match node.high_fence(&mut high) {
            true if Some(&high[..]) != key => return node.right().map_or(Step::Again, Step::Right),
            _ => node.count(),
        },
    };
    match below.checked_sub(1) {
        _ if key.is_some_and(|key| key <= node.low_fence()) || expected < wanted => Step::Again,
        _ if expected == wanted => Step::Here(place),
        Some(index) => Step::Down(node.child_at(index)),
        None => Step::Again,
    }
}

/// The value as a leaf stores it.
pub(crate) enum Stored<'a> {
    Inline(&'a [u8]),
    Reference([u8; node::OVERFLOW_REFERENCE_BYTES]),
}

impl Stored<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Stored::Inline(bytes) => Value::inline(bytes),
            Stored::Reference(bytes) => Value::reference(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
