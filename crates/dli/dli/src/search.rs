//! The search for a path: the heart of every get, and of the parent of an ISRT.
//!
//! Levels are tried from the top down. At each level the twins below the present parent are
//! walked in order until one satisfies what the call asks of that level; then the next level is
//! entered. When a level has no more twins, the one above goes on.
//!
//! ```text
//! level 1   A ------------- B ------------- C       A does not match, B does
//! level 2                   B1 -- B2 -- B3          B1 does not match, B2 does, and so on
//! ```
//!
//! Invariants:
//! 1. A twin counts only if something of it lies behind the point: itself at the lowest level,
//!    itself or something beneath at the levels above.
//! 2. The deepest path that matched is kept for the feedback of GE (DLI-12.16).
//! 3. A root is locked before anything in its record is believed (H5).

use hierarchy::schema::PARTITION_BYTES;
use hierarchy::{Damaged, Result, Stored, TypeAt};
use store::{Cursor, Entry, Read, SetId, Store, Unit};

use crate::context::CallContext;
use crate::cursors::{Start, seek, skip};
use crate::join;
use crate::locks::Entered;
use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Need, Plan};
use crate::position::{Cut, Side};
use crate::search_stack::SearchStack;
use crate::subject::{self, Occurrence};
use crate::view::{Chain, CompiledView, Node};

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The search stack holds the path.
    Path,
    /// Nothing satisfies the call.
    Nothing,
    /// The randomizer or the choice of a partition rejected the root key.
    Rejected,
}

impl<S: Store> DbPcb<S> {
    /// Searches for the path of a plan; the search stack holds the levels of its base.
    pub(crate) fn search(
        &mut self,
        context: &mut CallContext<'_, S>,
        plan: &Plan<'_, '_>,
    ) -> Result<Found> {
        let view = context.view;
        if plan.base == plan.target() {
            return Ok(Found::Path);
        }
        self.search.stack.limit(view, plan);
        let exact = |level: usize| plan.level(level).bounds.exact().is_some();
        if plan.base == 0 && self.search.stack.limits[0].rejected {
            return Ok(if exact(1) { Found::Rejected } else { Found::Nothing });
        }
        if plan.nowhere {
            return Ok(Found::Nothing);
        }
        self.prefetch(context, plan);
        if self.begins_outside(view, plan) {
            return Ok(Found::Rejected);
        }
        if self.direct(context, plan)? {
            return Ok(Found::Path);
        }
        let mut level = plan.base + 1;
        let mut goes_on = false;
        loop {
            self.search.stack.truncate(if goes_on { level } else { level - 1 });
            let found = self.candidate(context, plan, level, goes_on)?;
            if found {
                self.search.stack.note_best();
                if level == plan.target() {
                    return Ok(Found::Path);
                }
                level += 1;
                goes_on = false;
            } else {
                self.search.stack.truncate(level - 1);
                level -= 1;
                if level == plan.base {
                    return Ok(Found::Nothing);
                }
                goes_on = true;
            }
        }
    }

    /// Prefetches what a search for the root will look at first, while the rest is prepared.
    #[inline]
    fn prefetch(&self, context: &CallContext<'_, S>, plan: &Plan<'_, '_>) {
        let view = context.view;
        let limits = &self.search.stack.limits[0];
        if plan.base > 0 || !limits.has_lower {
            return;
        }
        let node = view.node(plan.level(1).node);
        let database = view.database(node);
        match node.chain {
            Chain::Root => {
                if let Ok((set, key)) = database.locate(&limits.lower) {
                    context.unit.prefetch(set, key);
                }
            }
            Chain::Index(at) => context.unit.prefetch(database.indexes[at].set, &limits.lower),
            Chain::Child { .. } | Chain::Relation { .. } | Chain::Up { .. } => {}
        }
    }

    /// Finds the first, or the next, occurrence of a level that satisfies the plan.
    pub(crate) fn candidate(
        &mut self,
        context: &mut CallContext<'_, S>,
        plan: &Plan<'_, '_>,
        level: usize,
        goes_on: bool,
    ) -> Result<bool> {
        let view = context.view;
        let step = plan.level(level);
        let node = view.node(step.node);
        if let Some(held) = self.held_part(plan, level, step) {
            self.search.stack.truncate(level - 1);
            self.search.was_held = true;
            if goes_on {
                return Ok(false);
            }
            if view.is_plain
                && !self.may_be_gone(context)
                && !step.wanted
                && level != self.search.wanted_level
            {
                // Nobody else can have deleted it.
                self.search.stack.push(node, &held);
                return Ok(true);
            }
            let found = self.present(context, step, level, &held)?;
            self.search.lost |= !found;
            return Ok(found);
        }
        let start = match goes_on {
            true if step.only_first => return Ok(false),
            true => {
                let part = self.search.stack.part(level).to_vec();
                self.search.stack.truncate(level - 1);
                self.search.start = part;
                Start::At(Side::Behind)
            }
            false => {
                let start = self.begin(view, plan, level);
                self.search.stack.limits[level - 1].passed = false;
                start
            }
        };
        if start == Start::Nowhere {
            return Ok(false);
        }
        if step.last {
            return Ok(!goes_on && self.last_twin(context, step, level, start)?);
        }
        if !goes_on && start == Start::At(Side::Before) && self.by_key(context, step, level)? {
            return Ok(true);
        }
        match node.chain {
            Chain::Root => self.roots(context, step, start),
            Chain::Child { .. } => {
                let mut prefix = std::mem::take(&mut self.search.prefix);
                let (set, partition) = self.below_parent(view, node, level, &mut prefix)?;
                let tree = Tree { set, prefix: &prefix, partition };
                let walked = self.twins(context, step, level, start, &tree);
                self.search.prefix = prefix;
                walked.map(|walked| walked == Walked::Found)
            }
            Chain::Index(_) | Chain::Relation { .. } | Chain::Up { .. } => {
                self.derived(context, step, level, start)
            }
        }
    }

    /// The part of the present occurrence, if this level is held to it.
    fn held_part(
        &self,
        plan: &Plan<'_, '_>,
        level: usize,
        step: &LevelPlan<'_, '_>,
    ) -> Option<Vec<u8>> {
        if !step.held || !matches!(step.need, Need::Any) || plan.afresh {
            return None;
        }
        let here = self.present_of(step.node, level)?;
        Some(here[self.search.stack.end(level - 1) + usize::from(level > 1)..].to_vec())
    }

    /// The virtual key of the present occurrence of a node, if it lies below the search stack.
    pub(crate) fn present_of(&self, at: u16, level: usize) -> Option<&[u8]> {
        let above = &self.search.stack.key[..self.search.stack.end(level - 1)];
        if self.marks.are_kept() {
            return self.marks.at(at, above)?.on();
        }
        let levels = &self.position.levels;
        let of = TypeAt::of_code(self.view.node(at).code).unwrap_or(TypeAt::ROOT);
        let same = levels.len() >= level
            && levels.type_at(level) == of
            && self.position.down_to(level - 1) == above;
        same.then(|| self.position.down_to(level))
    }

    /// Where the walk of a level begins, and the cut in `self.search.start`.
    pub(crate) fn begin(
        &mut self,
        view: &CompiledView,
        plan: &Plan<'_, '_>,
        level: usize,
    ) -> Start {
        let step = plan.level(level);
        let node = view.node(step.node);
        self.search.within = None;
        let mut start = match plan.from_point && !self.goes_back(plan, level) {
            true => self.behind_point(view, plan, node, level),
            false => Start::First,
        };
        let limits = &self.search.stack.limits[level - 1];
        if limits.rejected {
            return Start::Nowhere;
        }
        if limits.has_lower {
            let side = if limits.lower_inclusive { Side::Before } else { Side::Behind };
            let lower = Cut { key: &limits.lower, side };
            let further = match start {
                Start::First => true,
                Start::At(side) => lower.order(&Cut { key: &self.search.start, side }).is_gt(),
                Start::Nowhere => false,
            };
            if further {
                self.search.start.clone_from(&limits.lower);
                start = Start::At(side);
                self.search.within = None;
            }
        }
        start
    }

    /// Whether code F, here or above, lifts the point (DLI-12.22).
    fn goes_back(&self, plan: &Plan<'_, '_>, level: usize) -> bool {
        (2..=level).any(|at| {
            let above = self.search.stack.end(at - 1);
            plan.level(at).first
                && !plan.level(at).last
                && self.position.levels.len() >= at - 1
                && self.search.stack.key[..above] == *self.position.down_to(at - 1)
        })
    }

    /// The cut of the point within the chain of a node; its key goes to `self.search.start`.
    fn behind_point(
        &mut self,
        view: &CompiledView,
        plan: &Plan<'_, '_>,
        node: &Node,
        level: usize,
    ) -> Start {
        let lowest = level == plan.target();
        let above = self.search.stack.end(level - 1);
        if self.position.is_at_end() && (plan.in_view || !self.marks.are_kept()) {
            return Start::Nowhere;
        }
        let own = node.path.last().copied().unwrap_or(0);
        let cut = match self.marks.are_kept() && !plan.in_view {
            true => match self.marks.at(own, &self.search.stack.key[..above]) {
                Some(mark) => mark.cut(),
                None => return Start::First,
            },
            false => match self.position.cut() {
                Some(cut) => cut,
                None => return Start::First,
            },
        };
        let Some(rest) = cut.key.strip_prefix(&self.search.stack.key[..above]) else {
            return Start::First;
        };
        let rest = match (level, rest.split_first()) {
            (1, _) => rest,
            (_, None) => {
                return if cut.side == Side::Behind { Start::Nowhere } else { Start::First };
            }
            (_, Some((code, _))) if *code < node.code => return Start::First,
            (_, Some((code, _))) if *code > node.code => return Start::Nowhere,
            (_, Some((_, rest))) => rest,
        };
        let (mut side, mut within) = (cut.side, false);
        let mut len = rest.len();
        if !lowest {
            match view.part_len(node, rest) {
                // Its dependents are passed; it still counts as long as the path leads through it.
                Some(part)
                    if part == rest.len()
                        && side == Side::Behind
                        && self.present_of(own, level) != Some(cut.key) => {}
                Some(part) => {
                    let in_front = part == rest.len() && side == Side::Before;
                    (len, side, within) = (part, Side::Before, !in_front);
                }
                None => {}
            }
        }
        let start = rest[..len].to_vec();
        self.search.start = start;
        self.search.within = within.then(|| self.search.start.clone());
        Start::At(side)
    }

    /// The set, its partition, and the prefix of the keys that stand for a node's occurrences below
    /// the search stack.
    fn below_parent(
        &self,
        view: &CompiledView,
        node: &Node,
        level: usize,
        prefix: &mut Vec<u8>,
    ) -> Result<(SetId, u16)> {
        let (database, path) = (view.database(node), self.parent_path(view, node, level));
        let (set, key) = database.locate(path)?;
        prefix.clear();
        prefix.extend_from_slice(key);
        prefix.push(node.of.code());
        Ok((set, database.schema.split(path).0))
    }

    /// The path of the occurrence that a node hangs on.
    pub(crate) fn parent_path(&self, view: &CompiledView, node: &Node, level: usize) -> &[u8] {
        if view.is_plain {
            return &self.search.stack.key[..self.search.stack.end(level - 1)];
        }
        let carried = &self.search.stack.carried[level - 2];
        match node.chain {
            Chain::Child { of_destination: true }
            | Chain::Relation { of_destination: true, .. }
            | Chain::Up { of_destination: true } => &carried.joined,
            _ => &carried.path,
        }
    }

    /// Walks the roots, over all partitions.
    fn roots(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        start: Start,
    ) -> Result<bool> {
        let view = context.view;
        let database = view.database(view.node(step.node));
        let walked = view.walked();
        let (mut partition, mut start) = (*walked.start(), start);
        if database.schema.is_partitioned()
            && let Start::At(_) = start
        {
            partition = database.schema.split(&self.search.start).0;
            self.search.start.drain(..self.search.start.len().min(PARTITION_BYTES));
        }
        while partition <= *walked.end()
            && let Some(set) = database.set_of(partition)?
        {
            let tree = Tree { set, prefix: &[], partition };
            match self.twins(context, step, 1, start, &tree)? {
                Walked::Found => return Ok(true),
                Walked::Passed => return Ok(false),
                Walked::End | Walked::Again => {}
            }
            (partition, start) = (partition + 1, Start::First);
        }
        Ok(false)
    }

    /// Walks twins that stand in one tree behind a prefix.
    fn twins(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
        tree: &Tree<'_>,
    ) -> Result<Walked> {
        loop {
            let walked = self.walk(context, step, level, start, tree)?;
            if walked != Walked::Again {
                return Ok(walked);
            }
        }
    }

    fn walk(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
        tree: &Tree<'_>,
    ) -> Result<Walked> {
        let (view, prefix) = (context.view, tree.prefix);
        let node = view.node(step.node);
        let database = view.database(node);
        let number_bytes = tree.partition.to_be_bytes();
        let stored_front = &number_bytes[..database.schema.partition_bytes()];
        // Only a root's part of a virtual key begins with the partition.
        let front = if node.chain == Chain::Root { stored_front } else { &[] };
        let mode = self.lock_mode().filter(|_| level == 1);
        let keeps = step.wanted || level == self.search.wanted_level;
        let cursor = self.search.cursors.get(context.store, tree.set)?;
        seek(cursor, prefix, start, &self.search.start, &mut self.search.seek);
        while let Some(mut entry) = context.unit.next(cursor, Read::Unlocked)? {
            let Some(rest) = entry.key.strip_prefix(prefix) else { break };
            let Some(len) = database.schema.tree_part_len(node.of, rest) else {
                return Err(database.damaged(Damaged("a stored key is no path")));
            };
            if len < rest.len() {
                skip(cursor, prefix.len() + len, &mut self.search.seek);
                continue;
            }
            let stack = &mut self.search.stack;
            if stack.limits[level - 1].are_passed_by(front, rest) {
                if Self::pass_gap(context, tree.set, Some(entry.key), mode)? {
                    return Ok(Walked::Again);
                }
                stack.limits[level - 1].pass(front, rest, self.search.within.as_deref());
                return Ok(Walked::Passed);
            }
            if let Some(mode) = mode
                && !context.locks.is_in(self.number, tree.set, entry.key)
            {
                let locks = &mut context.locks;
                if locks.enter_along(context.unit, self.number, cursor, mode)? == Entered::Waited {
                    return Ok(Walked::Again);
                }
                // What was read before the lock was had may have changed.
                let Some(now) = context.unit.current(cursor, Read::Unlocked)? else { continue };
                entry = now;
            }
            let expanded = &mut self.search.expanded;
            let candidate = Candidate { step, level, stored_front, keeps };
            match candidate.weigh(context, stack, expanded, entry)? {
                Weighed::Fits => {}
                Weighed::Fails => continue,
                Weighed::Deleted => {
                    skip(cursor, prefix.len() + len, &mut self.search.seek);
                    continue;
                }
            }
            let part = &cursor.key().unwrap_or(&[])[prefix.len()..];
            self.search.seek.clear();
            self.search.seek.extend_from_slice(front);
            self.search.seek.extend_from_slice(part);
            stack.push(node, &self.search.seek);
            return Ok(Walked::Found);
        }
        match Self::pass_gap(context, tree.set, None, mode)? {
            true => Ok(Walked::Again),
            false => Ok(Walked::End),
        }
    }
}

/// Where the twins of a walk stand.
struct Tree<'t> {
    set: SetId,
    prefix: &'t [u8],
    partition: u16,
}

/// How a walk along twins ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walked {
    /// At a twin that satisfies the plan; the search stack holds it.
    Found,
    /// At one behind the upper bound.
    Passed,
    /// Behind the last one.
    End,
    /// Nowhere: it had to wait for another program, and what it has read may have changed.
    Again,
}

/// A twin that may satisfy the plan.
pub(crate) struct Candidate<'c, 'p, 'v> {
    pub(crate) step: &'c LevelPlan<'p, 'v>,
    pub(crate) level: usize,
    /// The partition, as it stands in front of the path of what is stored.
    pub(crate) stored_front: &'c [u8],
    /// Whether its data is wanted.
    pub(crate) keeps: bool,
}

/// What came of looking at a twin.
pub(crate) enum Weighed {
    Fits,
    Fails,
    /// It was deleted on its physical path.
    Deleted,
}

impl Candidate<'_, '_, '_> {
    /// Looks at a twin's data, and keeps it if it is wanted.
    pub(crate) fn weigh<S: Store>(
        &self,
        context: &mut CallContext<'_, S>,
        stack: &mut SearchStack,
        expanded: &mut Vec<u8>,
        entry: Entry<'_>,
    ) -> Result<Weighed> {
        let view = context.view;
        let (step, at) = (self.step, self.level - 1);
        let node = view.node(step.node);
        let database = view.database(node);
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, entry.value).map_err(|what| database.damaged(what))?;
        if stored.is_deleted {
            return Ok(Weighed::Deleted);
        }
        let data = stored.data(expanded).map_err(|what| database.damaged(what))?;
        if !view.is_plain {
            let carried = &mut stack.carried[at];
            carried.set(self.stored_front, entry.key);
            join::join(context, node, &stored, carried, &mut stack.joined[at])?;
        }
        if stack.limits[at].test {
            let indexed = match step.indexed {
                true => {
                    let path = [self.stored_front, entry.key].concat();
                    subject::indexed(context, step, &path, None)?
                }
                false => None,
            };
            let (joined, indexed) = (&stack.joined[at], indexed.as_ref());
            let occurrence = Occurrence { view, node: step.node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(Weighed::Fails);
            }
        }
        if self.keeps {
            stack.data[at].clear();
            stack.data[at].extend_from_slice(data);
        }
        Ok(Weighed::Fits)
    }
}
