//! Walking over records, forward and backward, while others change them.
//!
//! A cursor copies one leaf at a time and walks the copy without a latch. At every step it asks
//! with one load whether the leaf is still as it was copied; if not, it finds its place again by
//! key. The first records behind a place that was sought are read one by one instead, because
//! often no more are wanted and a copy costs more than they. So it never misses a record that was
//! there all the time, never returns one twice, and returns nothing that was not there at some
//! moment since the step before.
//!
//! A caller who locks what he reads does so after the step, asks [`Cursor::still_holds`], and, if
//! a leaf has changed meanwhile, takes the step back with [`Cursor::retry`] and repeats it.
//!
//! Invariants:
//! 1. Its place is on a key or in the gap before or behind one; the copy and the hint only save the
//!    search (H10). It holds no pin and no latch between calls and belongs to no unit of work.
//! 2. In steady state it allocates nothing.

use base::{CiNumber, DataSetId};
use pool::sequential::Detector;
use pool::{FrameHint, SharedCi};

use crate::TreeError;
use crate::answer::Renewed;
use crate::node::{NodeCursor, NodeView, Place, Value};
use crate::overflow::{self, Reference};
use crate::tree::{Bound, LeafHint, RecordHint, Tree, may_be_gone};

/// A place in a tree. See the file's head for what it promises.
pub struct Cursor {
    at: At,
    /// The key that `at` speaks of, unless the copy stands on it.
    position: Vec<u8>,
    stand: Stand,
    copy: NodeCursor,
    /// The value of a record that was read alone, as its leaf has it.
    alone: Vec<u8>,
    /// How many records in a row were read alone, the first one not counted.
    steps_alone: usize,
    /// The leaf that was read last.
    leaf: Option<(DataSetId, LeafHint)>,
    /// The other leaves that the latest step looked into.
    passed: Vec<FrameHint>,
    step: Step,
    /// Where it stood before a step that had to search.
    origin: Vec<u8>,
    fence: Vec<u8>,
    /// A value that stands outside the leaf.
    long: Vec<u8>,
    detector: Detector,
}

/// So many records behind a place are read one by one before the rest of their leaf is copied: a
/// copy costs about as much.
const STEPS_ALONE_MAX: usize = 12;
/// So many records are prefetched: each would be a wait for memory.
const ENTRIES_AHEAD: usize = 6;

/// Where the record is that a cursor stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// It stands on none, or has not read it.
    Off,
    /// In the copy.
    InCopy,
    /// It was read without the rest of its leaf, in which it is entry `index`: the position is its
    /// key.
    Alone { index: usize, overflow: bool },
}

/// Where a cursor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// On a key: the next record is behind it, the previous one before.
    Key,
    /// In the gap before a key.
    Before,
    /// In the gap behind a key.
    Behind,
    /// Behind everything.
    End,
}

/// How the latest step can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    None,
    /// It went one entry forward in the copy.
    Forward,
    /// It went one entry backward in the copy.
    Backward,
    /// It searched, from this place and `origin`.
    Searched(At),
}

/// How a forward search goes on.
#[derive(Clone, Copy, Debug)]
enum Onward {
    /// In the leaf that has just been copied.
    Copied,
    /// Behind the entry of that index, the position, which was read alone.
    Same(usize),
    /// In the right sibling of the copied leaf.
    Right,
    /// In this leaf, which begins at the position.
    Enter(CiNumber),
    /// At the position, or behind it.
    Search { behind: bool },
    /// Not at all.
    End,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor::new()
    }
}

impl Cursor {
    /// A cursor before the first record.
    #[must_use]
    pub fn new() -> Cursor {
        Cursor {
            at: At::Before,
            position: Vec::new(),
            stand: Stand::Off,
            copy: NodeCursor::new(),
            alone: Vec::new(),
            steps_alone: 0,
            leaf: None,
            passed: Vec::new(),
            step: Step::None,
            origin: Vec::new(),
            fence: Vec::new(),
            long: Vec::new(),
            detector: Detector::default(),
        }
    }

    /// Stands in a gap: [`Cursor::next`] steps to the first record from there on,
    /// [`Cursor::previous`] to the last one before it. Reads nothing.
    pub fn seek(&mut self, bound: Bound<'_>) {
        self.position.clear();
        self.passed.clear();
        (self.leaf, self.stand, self.step) = (None, Stand::Off, Step::None);
        self.at = match bound {
            Bound::At(_) => At::Before,
            Bound::Behind(_) => At::Behind,
            Bound::End => At::End,
        };
        if let Bound::At(key) | Bound::Behind(key) = bound {
            self.position.extend_from_slice(key);
        }
    }

    /// Steps to the next record and stands on it; `false` if there is none, and then it stands
    /// where it stood.
    ///
    /// # Errors
    /// See [`TreeError`].
    #[inline]
    pub fn next(&mut self, tree: &Tree<'_>) -> Result<bool, TreeError> {
        if self.is_in_copy() && self.is_current(tree) && self.copy.next_entry() {
            self.step = Step::Forward;
            self.passed.clear();
            if !self.copy.value().overflow {
                return Ok(true);
            }
            return self.finish_step(tree, true);
        }
        let onward = self.onward(tree);
        self.begin_search();
        let found = self.search_next(tree, onward);
        self.end_search(tree, found, true)
    }

    /// Steps to the previous record and stands on it; `false` if there is none, and then it stands
    /// where it stood.
    ///
    /// # Errors
    /// See [`TreeError`].
    #[inline]
    pub fn previous(&mut self, tree: &Tree<'_>) -> Result<bool, TreeError> {
        if self.is_in_copy()
            && self.copy.index().is_some_and(|index| index > 0)
            && self.is_current(tree)
            && self.copy.previous_entry()
        {
            self.step = Step::Backward;
            self.passed.clear();
            if !self.copy.value().overflow {
                return Ok(true);
            }
            return self.finish_step(tree, false);
        }
        self.begin_search();
        let found = self.search_previous(tree);
        self.end_search(tree, found, false)
    }

    /// The key that it stands on: of no meaning before the first step.
    #[must_use]
    #[inline]
    pub fn key(&self) -> &[u8] {
        if self.is_in_copy() { self.copy.key() } else { &self.position }
    }

    #[inline]
    fn is_in_copy(&self) -> bool {
        self.stand == Stand::InCopy
    }

    /// The value of the record that it stands on, as the leaf has it.
    #[inline]
    fn stored(&self) -> Value<'_> {
        match self.stand {
            Stand::InCopy => self.copy.value(),
            Stand::Alone { overflow, .. } => Value { bytes: &self.alone, overflow },
            Stand::Off => panic!("the cursor has not just stepped onto a record"),
        }
    }

    /// The value of the record that the latest step found.
    ///
    /// # Panics
    /// If the latest call was not a step that found one.
    #[must_use]
    #[inline]
    pub fn value(&self) -> &[u8] {
        let value = self.stored();
        if value.overflow { &self.long } else { value.bytes }
    }

    /// How long the value is of the record that the latest step found.
    ///
    /// # Panics
    /// If the latest call was not a step that found one.
    #[must_use]
    pub fn value_len(&self) -> usize {
        let value = self.stored();
        match value.overflow {
            true => Reference::decode(value.bytes).len as usize,
            false => value.bytes.len(),
        }
    }

    /// Whether the leaf that it read last is still as it was.
    #[must_use]
    #[inline]
    pub fn is_current(&self, tree: &Tree<'_>) -> bool {
        self.leaf
            .is_some_and(|(set, leaf)| set == tree.set.id() && tree.set.is_unchanged(leaf.hint))
    }

    /// The leaf of the record that it stands on, for a change of that record.
    #[must_use]
    pub fn leaf(&self) -> Option<LeafHint> {
        let (_, leaf) = self.leaf.filter(|_| self.stand != Stand::Off)?;
        Some(leaf)
    }

    /// The record that it stands on, for a change of it.
    #[must_use]
    pub fn record(&self) -> Option<RecordHint> {
        let slot = match self.stand {
            Stand::InCopy => self.copy.index()?,
            Stand::Alone { index, .. } => index,
            Stand::Off => return None,
        };
        let (_, leaf) = self.leaf?;
        Some(RecordHint { leaf, place: Place::Found(slot) })
    }

    /// Takes over that its own unit of work has given a record of the leaf that it read last
    /// another value, so that the next step need not search for its place.
    pub fn renew(&mut self, set: DataSetId, renewed: &Renewed, value: &[u8]) {
        let known = match self.stand {
            _ if self.leaf != Some((set, renewed.before)) => false,
            Stand::InCopy => self.copy.replace_value(renewed.slot, value),
            Stand::Alone { index, .. } => {
                if index == renewed.slot {
                    self.alone.clear();
                    self.alone.extend_from_slice(value);
                    self.stand = Stand::Alone { index, overflow: false };
                }
                true
            }
            Stand::Off => false,
        };
        if known {
            self.leaf = Some((set, renewed.after));
        }
    }

    /// Whether what the latest step saw is still so: that there is nothing between the place where
    /// it began and the record that it found, or nothing at all from there on.
    #[must_use]
    #[inline]
    pub fn still_holds(&self, tree: &Tree<'_>) -> bool {
        let here = self.leaf.is_none_or(|(_, leaf)| tree.set.is_unchanged(leaf.hint));
        here && self.passed.iter().all(|hint| tree.set.is_unchanged(*hint))
    }

    /// Takes the latest step back, so that it can be repeated.
    pub fn retry(&mut self) {
        let node = self.copy.node();
        match (self.step, node, self.copy.index()) {
            (Step::Searched(at), ..) => {
                self.at = at;
                std::mem::swap(&mut self.position, &mut self.origin);
            }
            (Step::Forward, Some(node), Some(index)) if index > 0 => {
                self.at = At::Key;
                node.key_at(index - 1, &mut self.position);
            }
            (Step::Backward, Some(node), Some(index)) if index + 1 < node.count() => {
                self.at = At::Key;
                node.key_at(index + 1, &mut self.position);
            }
            _ => return,
        }
        (self.leaf, self.stand, self.step) = (None, Stand::Off, Step::None);
    }

    /// Remembers where it stands, outside of the copy.
    fn begin_search(&mut self) {
        if self.is_in_copy() {
            self.position.clear();
            self.position.extend_from_slice(self.copy.key());
        }
        self.stand = Stand::Off;
        self.origin.clear();
        self.origin.extend_from_slice(&self.position);
        self.passed.clear();
        self.step = Step::Searched(self.at);
    }

    fn end_search(
        &mut self,
        tree: &Tree<'_>,
        found: Result<bool, TreeError>,
        forward: bool,
    ) -> Result<bool, TreeError> {
        if !matches!(found, Ok(true)) {
            self.pass();
            self.retry();
            return found;
        }
        self.at = At::Key;
        if self.stand == Stand::Off {
            self.stand = Stand::InCopy;
        }
        if !self.stored().overflow {
            return Ok(true);
        }
        self.finish_step(tree, forward)
    }

    /// Reads the long value of the record that the step found. If that is no longer there the
    /// leaf has changed: then the value is read by its key, or, if it has none, the step repeated.
    fn finish_step(&mut self, tree: &Tree<'_>, forward: bool) -> Result<bool, TreeError> {
        self.long.clear();
        let reference = Reference::decode(self.stored().bytes);
        match overflow::read(tree.set, reference, &mut self.long) {
            Ok(true) if self.is_current(tree) => return Ok(true),
            Err(error) if !may_be_gone(&error) => return Err(error),
            _ => {}
        }
        seam::thread::yield_now();
        let key = if self.is_in_copy() { self.copy.key() } else { &self.position };
        if tree.get(key, &mut self.long)? {
            return Ok(true);
        }
        // The record is gone.
        self.retry();
        match forward {
            true => self.next(tree),
            false => self.previous(tree),
        }
    }

    /// How a forward search begins.
    fn onward(&self, tree: &Tree<'_>) -> Onward {
        match (self.at, self.stand) {
            (At::End, _) => Onward::End,
            (At::Key, Stand::Alone { index, .. }) if self.is_current(tree) => Onward::Same(index),
            (At::Key, Stand::InCopy) if self.is_current(tree) => Onward::Right,
            (At::Key | At::Behind, _) => Onward::Search { behind: true },
            (At::Before, _) => Onward::Search { behind: false },
        }
    }

    fn search_next(&mut self, tree: &Tree<'_>, mut onward: Onward) -> Result<bool, TreeError> {
        loop {
            onward = match onward {
                Onward::End => return Ok(false),
                Onward::Copied if self.copy.next_entry() => return Ok(true),
                // At the end of a leaf that is still as it was, the right sibling goes on.
                Onward::Copied | Onward::Right => self.copy_right(tree)?,
                Onward::Enter(right) => match self.enter(tree, right)? {
                    Some(onward) => onward,
                    None => return Ok(true),
                },
                Onward::Same(index) => match self.step_alone(tree, index)? {
                    Some(onward) => onward,
                    None => return Ok(true),
                },
                Onward::Search { behind } => match self.read_alone(tree, behind)? {
                    Some(onward) => onward,
                    None => return Ok(true),
                },
            };
        }
    }

    /// Reads the first record from the position on, or, if `behind`, behind it. If its leaf has
    /// none the answer is how the search goes on.
    fn read_alone(&mut self, tree: &Tree<'_>, behind: bool) -> Result<Option<Onward>, TreeError> {
        let leaf = tree.reach_leaf::<SharedCi<'_>>(&self.position)?;
        let node = NodeView::new(leaf.guard.bytes());
        let index = match leaf.place {
            Place::Found(index) => index + usize::from(behind),
            Place::Gap(index) => index,
            Place::BelowLow | Place::AboveHigh => unreachable!("a descent ends within the fences"),
        };
        if index < node.count() {
            node.key_at(index, &mut self.position);
        }
        self.steps_alone = 0;
        node.prefetch(index + 1..index + 1 + ENTRIES_AHEAD);
        Ok(self.stand_alone(tree, &leaf.guard, index))
    }

    /// Reads the record behind entry `index`, the position, of the leaf that was read last.
    fn step_alone(&mut self, tree: &Tree<'_>, index: usize) -> Result<Option<Onward>, TreeError> {
        let same = self.leaf.and_then(|(_, leaf)| tree.set.by_hint(leaf.hint, leaf.ci));
        let Some(page) = same else { return Ok(Some(Onward::Search { behind: true })) };
        let node = NodeView::new(page.bytes());
        if index + 1 < node.count() && self.steps_alone < STEPS_ALONE_MAX {
            self.steps_alone += 1;
            node.next_key(index, &mut self.position);
            node.prefetch(index + 1 + ENTRIES_AHEAD..index + 2 + ENTRIES_AHEAD);
            return Ok(self.stand_alone(tree, &page, index + 1));
        }
        if index + 1 >= node.count() && self.steps_alone < STEPS_ALONE_MAX {
            return Ok(Some(self.leave_right(tree, &page)));
        }
        self.copy_leaf(tree, page.ci(), &page);
        self.copy.stand_on(index, &self.position);
        Ok(Some(Onward::Copied))
    }

    /// Leaves a leaf that has no more records: the position becomes the key at which its right
    /// sibling begins.
    fn leave_right(&mut self, tree: &Tree<'_>, page: &SharedCi<'_>) -> Onward {
        let node = NodeView::new(page.bytes());
        self.leaf = Some((tree.set.id(), LeafHint { ci: page.ci(), hint: page.hint() }));
        if !node.high_fence(&mut self.fence) {
            return Onward::End;
        }
        self.pass();
        std::mem::swap(&mut self.position, &mut self.fence);
        node.right().map_or(Onward::Search { behind: false }, Onward::Enter)
    }

    /// Reads the first record of a leaf that begins at the position.
    fn enter(&mut self, tree: &Tree<'_>, right: CiNumber) -> Result<Option<Onward>, TreeError> {
        let Some(page) = self.pin_right(tree, right)? else {
            return Ok(Some(Onward::Search { behind: false }));
        };
        let node = NodeView::new(page.bytes());
        if node.count() > 0 {
            self.steps_alone += 1;
            node.key_at(0, &mut self.position);
            node.prefetch(1..1 + ENTRIES_AHEAD);
        }
        Ok(self.stand_alone(tree, &page, 0))
    }

    /// Latches the right sibling of a leaf if it begins at the position, as it did.
    fn pin_right<'t>(
        &self,
        tree: &Tree<'t>,
        right: CiNumber,
    ) -> Result<Option<SharedCi<'t>>, TreeError> {
        // If it cannot be had it may be gone since its number was read: the search finds out.
        let Some(page) = tree.pin_seen(right)? else { return Ok(None) };
        let page = page.shared();
        let follows = NodeView::opened(page.bytes()).is_ok_and(|node| {
            node.level() == 0 && node.number() == right && node.low_fence() == self.position
        });
        Ok(follows.then_some(page))
    }

    /// Stands on entry `index` of a leaf, whose key is the position. If there is no such entry the
    /// leaf is copied, and the answer is how the search goes on.
    fn stand_alone(
        &mut self,
        tree: &Tree<'_>,
        page: &SharedCi<'_>,
        index: usize,
    ) -> Option<Onward> {
        let node = NodeView::new(page.bytes());
        if index >= node.count() {
            return Some(self.leave_right(tree, page));
        }
        let value = node.value_at(index);
        self.alone.clear();
        self.alone.extend_from_slice(value.bytes);
        self.stand = Stand::Alone { index, overflow: value.overflow };
        self.leaf = Some((tree.set.id(), LeafHint { ci: page.ci(), hint: page.hint() }));
        None
    }

    /// Copies the right sibling of the copied leaf, if it is where it was. Otherwise the position
    /// becomes the key at which it would begin.
    fn copy_right(&mut self, tree: &Tree<'_>) -> Result<Onward, TreeError> {
        let Some(node) = self.copy.node() else { return Ok(Onward::End) };
        let right = node.right();
        if !node.high_fence(&mut self.fence) {
            return Ok(Onward::End);
        }
        self.pass();
        std::mem::swap(&mut self.position, &mut self.fence);
        let Some(right) = right else { return Ok(Onward::Search { behind: false }) };
        let Some(page) = self.pin_right(tree, right)? else {
            return Ok(Onward::Search { behind: false });
        };
        self.copy_leaf(tree, right, &page);
        Ok(Onward::Copied)
    }

    fn search_previous(&mut self, tree: &Tree<'_>) -> Result<bool, TreeError> {
        let mut at = self.at;
        loop {
            match at {
                At::Before | At::Key if self.position.is_empty() => return Ok(false),
                At::Before | At::Key => {
                    let page = tree.reach_below(Some(&self.position))?;
                    self.copy_leaf(tree, page.ci(), &page);
                    self.copy.seek_behind(&self.position, false);
                }
                At::Behind => {
                    self.copy_for_position(tree)?;
                    self.copy.seek_behind(&self.position, true);
                }
                At::End => {
                    let page = tree.reach_below(None)?;
                    self.copy_leaf(tree, page.ci(), &page);
                    self.copy.seek_end();
                }
            }
            if self.copy.previous_entry() {
                return Ok(true);
            }
            // The leaf has nothing below the place: go on below its low fence.
            let Some(node) = self.copy.node() else { return Ok(false) };
            self.position.clear();
            self.position.extend_from_slice(node.low_fence());
            self.pass();
            at = At::Before;
        }
    }

    /// Notes that the step leaves the copied leaf behind.
    fn pass(&mut self) {
        self.passed.extend(self.leaf.map(|(_, leaf)| leaf.hint));
    }

    fn copy_for_position(&mut self, tree: &Tree<'_>) -> Result<(), TreeError> {
        let leaf = tree.reach_leaf::<SharedCi<'_>>(&self.position)?;
        self.copy_leaf(tree, leaf.guard.ci(), &leaf.guard);
        Ok(())
    }

    fn copy_leaf(&mut self, tree: &Tree<'_>, ci: CiNumber, page: &SharedCi<'_>) {
        self.copy.load(NodeView::new(page.bytes()));
        self.leaf = Some((tree.set.id(), LeafHint { ci, hint: page.hint() }));
        tree.set.ahead(&mut self.detector, ci);
    }
}
