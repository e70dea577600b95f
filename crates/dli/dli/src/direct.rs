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

use crate::context::CallContext;
use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Plan};
use crate::search::{Candidate, Weighed};
use crate::search_stack::Limits;

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
        context: &mut CallContext<'_, S>,
        plan: &Plan<'_, '_>,
    ) -> Result<bool> {
        let view = context.view;
        let target = plan.target();
        let known = !plan.from_point
            && plan.base == 0
            && target > 1
            && view.is_plain
            && (1..=target).all(|level| {
                let (step, limits) = (plan.level(level), &self.search.stack.limits[level - 1]);
                let node = view.node(step.node);
                let kind = view.database(node).schema.of(node.of);
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
            let node = view.node(plan.level(level).node);
            let part = std::mem::take(&mut self.search.stack.limits[level - 1].lower);
            self.search.stack.push(node, &part);
            self.search.stack.limits[level - 1].lower = part;
        }
        let found = self.look(context, plan.level(target), target)?;
        if found {
            self.search.stack.note_best();
        } else {
            self.search.stack.truncate(0);
        }
        Ok(found)
    }

    /// Finds the one occurrence of a level that its key means; `false` if that is not known
    /// whole, or not there.
    pub(crate) fn by_key(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let limits = &mut self.search.stack.limits[level - 1];
        let unique = !view.database(node).schema.of(node.of).has_position();
        if !unique || !view.is_plain || !limits.is_one_key() || self.search.start != limits.lower {
            return Ok(false);
        }
        let part = std::mem::take(&mut limits.lower);
        self.search.stack.push(node, &part);
        self.search.stack.limits[level - 1].lower = part;
        let found = self.look(context, step, level)?;
        if !found {
            self.search.stack.truncate(level - 1);
        }
        Ok(found)
    }

    /// Looks at the segment that the search stack leads to.
    fn look(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let database = view.database(node);
        let path = std::mem::take(&mut self.search.stack.key);
        let (set, key) = database.locate(&path)?;
        if let Some(mode) = self.lock_mode().filter(|_| context.locks.are_shared()) {
            let root = self.search.stack.end(1) - (path.len() - key.len());
            context.locks.enter(context.unit, self.number, set, &key[..root], mode)?;
        }
        let mut value = std::mem::take(&mut self.search.seek);
        let mut found = context.unit.get(set, key, Read::Unlocked, &mut value)?;
        if found {
            let keeps = step.wanted || level == self.search.wanted_level;
            let stored_front = &path[..path.len() - key.len()];
            let candidate = Candidate { step, level, stored_front, keeps };
            let entry = Entry { key, value: &value };
            let (stack, expanded) = (&mut self.search.stack, &mut self.search.expanded);
            let weighed = candidate.weigh(context, stack, expanded, entry)?;
            found = matches!(weighed, Weighed::Fits);
        }
        self.search.seek = value;
        self.search.stack.key = path;
        Ok(found)
    }
}
