//! Ways to an occurrence whose whole key is known: one look instead of a walk.
//!
//! A key with `=` on the unique sequence field of each level is a path. What is there is read
//! without a cursor; the next GN or GNP seeks for itself. What is not there is left to the walk,
//! which finds out where the search gave up.
//!
//! Invariants:
//! 1. A segment's parents are there if it is; but for logical parents, which may be marked as
//!    deleted, so paths through those are walked.

use hierarchy::Result;
use store::{Entry, Read, Store, Unit};

use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Plan};
use crate::search::{Candidate, Reach, Weighed};
use crate::shape::Shape;
use crate::trail::Limits;

impl Limits {
    /// Whether only one key lies within them.
    fn is_one_key(&self) -> bool {
        self.has_lower
            && self.has_upper
            && self.lower_inclusive
            && self.upper_inclusive
            && self.lower == self.upper
    }
}

impl<S: Store> DbPcb<S> {
    /// Finds the path of a plan by its key; `false` if that is not known whole, or not there.
    pub(crate) fn direct(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        plan: &Plan<'_, '_>,
    ) -> Result<bool> {
        let target = plan.target();
        let known = !plan.from_point
            && plan.base == 0
            && target > 1
            && shape.is_plain
            && (1..=target).all(|level| {
                let (step, limits) = (plan.level(level), &self.trail.limits[level - 1]);
                let node = shape.node(step.node);
                let kind = shape.database(node).schema.of(node.of);
                limits.is_one_key()
                    && !limits.test
                    && !step.held
                    && (level == target || !step.wanted && !kind.is_logical_parent)
                    && !kind.has_position()
            });
        if !known {
            return Ok(false);
        }
        for level in 1..=target {
            let node = shape.node(plan.level(level).node);
            let part = std::mem::take(&mut self.trail.limits[level - 1].lower);
            self.trail.push(node, &part);
            self.trail.limits[level - 1].lower = part;
        }
        let found = self.look(reach, shape, plan.level(target), target)?;
        if found {
            self.trail.note_best();
        } else {
            self.trail.truncate(0);
        }
        Ok(found)
    }

    /// Finds the one occurrence of a level that its key means; `false` if that is not known
    /// whole, or not there.
    pub(crate) fn by_key(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let limits = &mut self.trail.limits[level - 1];
        let unique = !shape.database(node).schema.of(node.of).has_position();
        if !unique || !shape.is_plain || !limits.is_one_key() || self.start != limits.lower {
            return Ok(false);
        }
        let part = std::mem::take(&mut limits.lower);
        self.trail.push(node, &part);
        self.trail.limits[level - 1].lower = part;
        let found = self.look(reach, shape, step, level)?;
        if !found {
            self.trail.truncate(level - 1);
        }
        Ok(found)
    }

    /// Looks at the segment that the trail leads to.
    fn look(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let database = shape.database(node);
        let path = std::mem::take(&mut self.trail.key);
        let (set, key) = database.locate(&path)?;
        if let Some(mode) = self.lock_mode().filter(|_| reach.locks.are_shared()) {
            let root = self.trail.end(1) - (path.len() - key.len());
            reach.locks.enter(reach.unit, self.number, (set, &key[..root]), mode)?;
        }
        let mut value = std::mem::take(&mut self.seek);
        let mut found = reach.unit.get(set, key, Read::Unlocked, &mut value)?;
        if found {
            let keeps = step.wanted || level == self.wanted_level;
            let stored_front = &path[..path.len() - key.len()];
            let candidate = Candidate { step, level, stored_front, keeps };
            let entry = Entry { key, value: &value };
            let buffers = (&mut self.trail, &mut self.expanded);
            found = matches!(candidate.weigh(reach, shape, buffers, entry)?, Weighed::Fits);
        }
        self.seek = value;
        self.trail.key = path;
        Ok(found)
    }
}
