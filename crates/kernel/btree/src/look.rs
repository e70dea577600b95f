//! Looking for keys: whether they are there, their values, and which key follows.

use pool::SharedCi;

use crate::node::{NodeView, Place};
use crate::tree::{
    Bound, DESCENTS_MAX, LeafHint, Leaves, Look, Reached, RecordHint, Step, Tree, may_be_gone, step,
};
use crate::{TreeError, overflow};

/// What is read next is mostly right behind: so many records are prefetched.
const PREFETCHED_BEHIND: usize = 2;
/// So many times a value is read anew because its leaf changed meanwhile, before the reference
/// alone decides.
const REREADS_MAX: usize = 64;

/// What is known of where a key may be.
#[derive(Clone, Copy, Debug)]
pub enum Around {
    /// A leaf that another key is in.
    Leaf(LeafHint),
    /// The key itself was looked for.
    Key(RecordHint),
}

fn seen(leaf: &Reached<SharedCi<'_>>) -> RecordHint {
    let hint = LeafHint { ci: leaf.guard.ci(), hint: leaf.guard.hint() };
    RecordHint { leaf: hint, place: leaf.place }
}

impl<'k> Tree<'k> {
    /// Reads the value of a key into `value`; `false` if there is no such key.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TreeError> {
        Ok(self.get_seen(key, value, None)?.is_there())
    }

    /// [`Tree::get`], with where that is, for a change of the same record. What lies near the key
    /// is looked at first.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn get_seen(
        &self,
        key: &[u8],
        value: &mut Vec<u8>,
        mut near: Option<Around>,
    ) -> Result<RecordHint, TreeError> {
        for attempt in 0.. {
            let leaf = self.reach_near(key, near.take())?;
            let seen = seen(&leaf);
            let Place::Found(index) = leaf.place else { return Ok(seen) };
            let node = NodeView::new(leaf.guard.bytes());
            let stored = node.value_at(index);
            value.clear();
            if !stored.overflow {
                value.extend_from_slice(stored.bytes);
                node.prefetch(index + 1..index + 1 + PREFETCHED_BEHIND);
                return Ok(seen);
            }
            let reference = overflow::Reference::decode(stored.bytes);
            let hint = leaf.guard.hint();
            drop(leaf);
            let read = overflow::read(self.set, reference, value);
            // As long as a leaf refers to a value, the value is there.
            let sure = self.set.is_unchanged(hint) || attempt >= DESCENTS_MAX;
            match read {
                Ok(true) if sure || self.still_refers(key, reference, attempt)? => return Ok(seen),
                Ok(false) if sure => return Err(self.broken_chain(reference)),
                Err(error) if sure || !may_be_gone(&error) => return Err(error),
                _ => seam::thread::yield_now(),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Whether the leaf, which changes all the time, still has this reference.
    fn still_refers(
        &self,
        key: &[u8],
        reference: overflow::Reference,
        attempt: usize,
    ) -> Result<bool, TreeError> {
        if attempt < REREADS_MAX {
            return Ok(false);
        }
        let leaf = self.reach_leaf::<SharedCi<'_>>(key)?;
        let Place::Found(index) = leaf.place else { return Ok(false) };
        let stored = NodeView::new(leaf.guard.bytes()).value_at(index);
        Ok(stored.overflow && overflow::Reference::decode(stored.bytes) == reference)
    }

    /// Whether there is such a key.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn contains(&self, key: &[u8]) -> Result<bool, TreeError> {
        Ok(self.contains_seen(key, None)?.is_there())
    }

    /// [`Tree::contains`], with where that is, for a change of the same record. What lies near the
    /// key is looked at first.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn contains_seen(&self, key: &[u8], near: Option<Around>) -> Result<RecordHint, TreeError> {
        Ok(seen(&self.reach_near(key, near)?))
    }

    /// Puts the first key from `from` on into `next`; `false` if there is none.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn next_key(&self, from: Bound<'_>, next: &mut Vec<u8>) -> Result<bool, TreeError> {
        match from {
            Bound::End => Ok(false),
            Bound::At(key) => {
                let look = self.look(key, next)?;
                if look.found {
                    next.clear();
                    next.extend_from_slice(key);
                }
                Ok(look.found || look.has_next)
            }
            Bound::Behind(key) => Ok(self.look(key, next)?.has_next),
        }
    }

    /// Whether a key is there, and, in `next`, the key that follows it: what an insert or a delete
    /// locks to test the gap (K14).
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn look(&self, key: &[u8], next: &mut Vec<u8>) -> Result<Look, TreeError> {
        self.look_through(key, next, &mut Leaves::default())
    }

    /// [`Tree::look`] for an insert at the key: `leaves` is what [`Tree::insert_below`] asks for.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn look_through(
        &self,
        key: &[u8],
        next: &mut Vec<u8>,
        leaves: &mut Leaves,
    ) -> Result<Look, TreeError> {
        leaves.passed.clear();
        leaves.place = None;
        let mut from: Option<Vec<u8>> = None;
        loop {
            let leaf = self.reach_leaf::<SharedCi<'_>>(from.as_deref().unwrap_or(key))?;
            leaves.passed.push((leaf.guard.ci(), leaf.guard.hint()));
            let node = NodeView::new(leaf.guard.bytes());
            let index = match leaf.place {
                // The first entry of a leaf further right is the next key even if it is its fence.
                Place::Found(index) if from.is_some() => index,
                Place::Found(index) => index + 1,
                Place::Gap(index) => index,
                _ => unreachable!("a descent ends within the fences"),
            };
            let first = *leaves.place.get_or_insert(leaf.place);
            let found = matches!(first, Place::Found(_));
            if index < node.count() {
                node.key_at(index, next);
                return Ok(Look { found, has_next: true });
            }
            let mut fence = from.take().unwrap_or_default();
            if !node.high_fence(&mut fence) {
                return Ok(Look { found, has_next: false });
            }
            from = Some(fence);
        }
    }

    /// Latches the leaf of a key: the one near, if that has it.
    #[inline]
    fn reach_near(
        &self,
        key: &[u8],
        near: Option<Around>,
    ) -> Result<Reached<SharedCi<'k>>, TreeError> {
        let reached = match near {
            None => None,
            Some(Around::Leaf(leaf)) => self.reach_seen(key, leaf),
            Some(Around::Key(RecordHint { leaf: LeafHint { ci, hint }, place })) => {
                let guard = self.set.by_hint(hint, ci);
                guard.map(|guard| Reached { guard, place, unposted: None })
            }
        };
        reached.map_or_else(|| self.reach_leaf(key), Ok)
    }

    /// Latches the leaf noted, if it is unchanged and has `key` within its fences.
    fn reach_seen(&self, key: &[u8], noted: LeafHint) -> Option<Reached<SharedCi<'k>>> {
        let guard = self.set.by_hint(noted.hint, noted.ci)?;
        match step(noted.ci, guard.bytes(), key, 0, 0) {
            Step::Here(place) => Some(Reached { guard, place, unposted: None }),
            Step::Right(_) | Step::Down(_) | Step::Again => None,
        }
    }
}
