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

use std::cmp::Ordering;

use hierarchy::schema::PARTITION_BYTES;
use hierarchy::{Damaged, Result, Stored, TypeAt};
use store::{Cursor, Entry, Position as Place, Read, SetId, Store, Unit};

use crate::locks::{Entered, Locks};
use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Need, Plan};
use crate::position::{Cut, Side};
use crate::shape::{Chain, Node, Shape};
use crate::subject::{self, Occurrence};
use crate::trail::{Limits, Trail};
use crate::weave;

/// What a search works with.
pub(crate) struct Reach<'r, S: Store> {
    pub(crate) store: &'r S,
    pub(crate) unit: &'r mut S::Unit,
    pub(crate) locks: &'r mut Locks,
    /// How often the program has changed what positions may stand on.
    pub(crate) changes: u64,
    /// Whether the call carries out an EXEC DLI command.
    pub(crate) of_command: bool,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The trail holds the path.
    Path,
    /// Nothing satisfies the call.
    Nothing,
    /// The randomizer or the choice of a partition rejected the root key.
    Rejected,
}

/// Where a walk along twins begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the first.
    First,
    /// At a cut, whose key stands in the PCB's buffer.
    At(Side),
    /// Nowhere: all of them are in front of the point.
    Nowhere,
}

impl<S: Store> DbPcb<S> {
    /// Searches for the path of a plan; the trail holds the levels of its base.
    pub(crate) fn search(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        plan: &Plan<'_, '_>,
    ) -> Result<Found> {
        if plan.base == plan.target() {
            return Ok(Found::Path);
        }
        self.trail.limit(shape, plan);
        let exact = |level: usize| plan.level(level).bounds.exact().is_some();
        if plan.base == 0 && self.trail.limits[0].rejected {
            return Ok(if exact(1) { Found::Rejected } else { Found::Nothing });
        }
        if plan.nowhere {
            return Ok(Found::Nothing);
        }
        self.foresee(reach, shape, plan);
        if self.begins_outside(shape, plan) {
            return Ok(Found::Rejected);
        }
        if self.direct(reach, shape, plan)? {
            return Ok(Found::Path);
        }
        let mut level = plan.base + 1;
        let mut goes_on = false;
        loop {
            self.trail.truncate(if goes_on { level } else { level - 1 });
            let found = self.candidate(reach, shape, plan, level, goes_on)?;
            if found {
                self.trail.note_best();
                if level == plan.target() {
                    return Ok(Found::Path);
                }
                level += 1;
                goes_on = false;
            } else {
                self.trail.truncate(level - 1);
                level -= 1;
                if level == plan.base {
                    return Ok(Found::Nothing);
                }
                goes_on = true;
            }
        }
    }

    /// Has what a search for the root will look at first fetched, while the rest is prepared.
    #[inline]
    fn foresee(&self, reach: &Reach<'_, S>, shape: &Shape, plan: &Plan<'_, '_>) {
        let limits = &self.trail.limits[0];
        if plan.base > 0 || !limits.has_lower {
            return;
        }
        let node = shape.node(plan.level(1).node);
        let database = shape.database(node);
        match node.chain {
            Chain::Root => {
                if let Ok((set, key)) = database.locate(&limits.lower) {
                    reach.unit.foresee(set, key);
                }
            }
            Chain::Index(at) => reach.unit.foresee(database.indexes[at].set, &limits.lower),
            Chain::Child { .. } | Chain::Relation { .. } | Chain::Up { .. } => {}
        }
    }

    /// Finds the first, or the next, occurrence of a level that satisfies the plan.
    pub(crate) fn candidate(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        plan: &Plan<'_, '_>,
        level: usize,
        goes_on: bool,
    ) -> Result<bool> {
        let step = plan.level(level);
        let node = shape.node(step.node);
        if let Some(held) = self.held_part(plan, level, step) {
            self.trail.truncate(level - 1);
            self.was_held = true;
            if goes_on {
                return Ok(false);
            }
            if shape.is_plain
                && !self.may_be_gone(reach)
                && !step.wanted
                && level != self.wanted_level
            {
                // Nobody else can have deleted it.
                self.trail.push(node, &held);
                return Ok(true);
            }
            let found = self.present(reach, shape, step, level, &held)?;
            self.lost |= !found;
            return Ok(found);
        }
        let start = match goes_on {
            true if step.only_first => return Ok(false),
            true => {
                let part = self.trail.part(level).to_vec();
                self.trail.truncate(level - 1);
                self.start = part;
                Start::At(Side::Behind)
            }
            false => {
                let start = self.begin(shape, plan, level);
                self.trail.limits[level - 1].passed = false;
                start
            }
        };
        if start == Start::Nowhere {
            return Ok(false);
        }
        if step.last {
            return Ok(!goes_on && self.last_twin(reach, shape, step, level, start)?);
        }
        if !goes_on && start == Start::At(Side::Before) && self.by_key(reach, shape, step, level)? {
            return Ok(true);
        }
        match node.chain {
            Chain::Root => self.roots(reach, shape, step, start),
            Chain::Child { .. } => {
                let mut prefix = std::mem::take(&mut self.prefix);
                let (set, partition) = self.below_parent(shape, node, level, &mut prefix)?;
                let tree = Tree { set, prefix: &prefix, partition };
                let walked = self.twins(reach, shape, step, (level, start), &tree);
                self.prefix = prefix;
                walked.map(|walked| walked == Walked::Found)
            }
            Chain::Index(_) | Chain::Relation { .. } | Chain::Up { .. } => {
                self.woven(reach, shape, step, level, start)
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
        Some(here[self.trail.end(level - 1) + usize::from(level > 1)..].to_vec())
    }

    /// The virtual key of the present occurrence of a node, if it lies below the trail.
    pub(crate) fn present_of(&self, at: u16, level: usize) -> Option<&[u8]> {
        let above = &self.trail.key[..self.trail.end(level - 1)];
        if self.is_multiple() {
            return self.mark(at, above)?.on();
        }
        let levels = &self.position.levels;
        let of = TypeAt::of_code(self.shape.node(at).code).unwrap_or(TypeAt::ROOT);
        let same = levels.len() >= level
            && levels.type_at(level) == of
            && self.position.down_to(level - 1) == above;
        same.then(|| self.position.down_to(level))
    }

    /// Where the walk of a level begins, and the cut in `self.start`.
    pub(crate) fn begin(&mut self, shape: &Shape, plan: &Plan<'_, '_>, level: usize) -> Start {
        let step = plan.level(level);
        let node = shape.node(step.node);
        self.within = None;
        let mut start = match plan.from_point && !self.goes_back(plan, level) {
            true => self.behind_point(shape, plan, (node, level)),
            false => Start::First,
        };
        let limits = &self.trail.limits[level - 1];
        if limits.rejected {
            return Start::Nowhere;
        }
        if limits.has_lower {
            let side = if limits.lower_inclusive { Side::Before } else { Side::Behind };
            let lower = Cut { key: &limits.lower, side };
            let further = match start {
                Start::First => true,
                Start::At(side) => lower.order(&Cut { key: &self.start, side }).is_gt(),
                Start::Nowhere => false,
            };
            if further {
                self.start.clone_from(&limits.lower);
                start = Start::At(side);
                self.within = None;
            }
        }
        start
    }

    /// Whether code F, here or above, lifts the point (DLI-12.22).
    fn goes_back(&self, plan: &Plan<'_, '_>, level: usize) -> bool {
        (2..=level).any(|at| {
            let above = self.trail.end(at - 1);
            plan.level(at).first
                && !plan.level(at).last
                && self.position.levels.len() >= at - 1
                && self.trail.key[..above] == *self.position.down_to(at - 1)
        })
    }

    /// The cut of the point within the chain of a node; its key goes to `self.start`.
    fn behind_point(
        &mut self,
        shape: &Shape,
        plan: &Plan<'_, '_>,
        (node, level): (&Node, usize),
    ) -> Start {
        let lowest = level == plan.target();
        let above = self.trail.end(level - 1);
        if self.position.is_at_end() && (plan.in_view || !self.is_multiple()) {
            return Start::Nowhere;
        }
        let own = node.path.last().copied().unwrap_or(0);
        let cut = match self.is_multiple() && !plan.in_view {
            true => match self.mark(own, &self.trail.key[..above]) {
                Some(mark) => mark.cut(),
                None => return Start::First,
            },
            false => match self.position.cut() {
                Some(cut) => cut,
                None => return Start::First,
            },
        };
        let Some(rest) = cut.key.strip_prefix(&self.trail.key[..above]) else {
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
            match shape.part_len(node, rest) {
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
        self.start = start;
        self.within = within.then(|| self.start.clone());
        Start::At(side)
    }

    /// The set, its partition, and the prefix of the keys that stand for a node's occurrences below
    /// the trail.
    fn below_parent(
        &self,
        shape: &Shape,
        node: &Node,
        level: usize,
        prefix: &mut Vec<u8>,
    ) -> Result<(SetId, u16)> {
        let (database, path) = (shape.database(node), self.parent_path(shape, node, level));
        let (set, key) = database.locate(path)?;
        prefix.clear();
        prefix.extend_from_slice(key);
        prefix.push(node.of.code());
        Ok((set, database.schema.split(path).0))
    }

    /// The path of the occurrence that a node hangs on.
    pub(crate) fn parent_path(&self, shape: &Shape, node: &Node, level: usize) -> &[u8] {
        if shape.is_plain {
            return &self.trail.key[..self.trail.end(level - 1)];
        }
        let carried = &self.trail.carried[level - 2];
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
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        start: Start,
    ) -> Result<bool> {
        let database = shape.database(shape.node(step.node));
        let walked = shape.walked();
        let (mut partition, mut start) = (*walked.start(), start);
        if database.schema.is_partitioned()
            && let Start::At(_) = start
        {
            partition = database.schema.split(&self.start).0;
            self.start.drain(..self.start.len().min(PARTITION_BYTES));
        }
        while partition <= *walked.end()
            && let Some(set) = database.set_of(partition)?
        {
            let tree = Tree { set, prefix: &[], partition };
            match self.twins(reach, shape, step, (1, start), &tree)? {
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
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        at: (usize, Start),
        tree: &Tree<'_>,
    ) -> Result<Walked> {
        loop {
            let walked = self.walk(reach, shape, step, at, tree)?;
            if walked != Walked::Again {
                return Ok(walked);
            }
        }
    }

    fn walk(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        (level, start): (usize, Start),
        tree: &Tree<'_>,
    ) -> Result<Walked> {
        let node = shape.node(step.node);
        let database = shape.database(node);
        let number_bytes = tree.partition.to_be_bytes();
        let stored_front = &number_bytes[..database.schema.partition_bytes()];
        // Only a root's part of a virtual key begins with the partition.
        let front = if node.chain == Chain::Root { stored_front } else { &[] };
        let mode = self.lock_mode().filter(|_| level == 1);
        let keeps = step.wanted || level == self.wanted_level;
        let prefix = tree.prefix;
        let cursor = self.cursors.get(reach.store, tree.set)?;
        seek(cursor, prefix, start, &self.start, &mut self.seek);
        while let Some(mut entry) = reach.unit.next(cursor, Read::Unlocked)? {
            let Some(rest) = entry.key.strip_prefix(prefix) else { break };
            let Some(len) = database.schema.tree_part_len(node.of, rest) else {
                return Err(database.damaged(Damaged("a stored key is no path")));
            };
            if len < rest.len() {
                skip(cursor, prefix.len() + len, &mut self.seek);
                continue;
            }
            let trail = &mut self.trail;
            if above_limit(&trail.limits[level - 1], front, rest) {
                if Self::pass_gap(reach, tree.set, Some(entry.key), mode)? {
                    return Ok(Walked::Again);
                }
                trail.limits[level - 1].pass(front, rest, self.within.as_deref());
                return Ok(Walked::Passed);
            }
            if let Some(mode) = mode {
                let root = (tree.set, entry.key);
                match reach.locks.enter(reach.unit, self.number, root, mode)? {
                    Entered::Already => {}
                    // What was read before the lock was had may have changed.
                    Entered::AtOnce => match reach.unit.current(cursor, Read::Unlocked)? {
                        Some(now) => entry = now,
                        None => continue,
                    },
                    Entered::Waited => return Ok(Walked::Again),
                }
            }
            let expanded = &mut self.expanded;
            let candidate = Candidate { step, level, stored_front, keeps };
            match candidate.weigh(reach, shape, (trail, expanded), entry)? {
                Weighed::Fits => {}
                Weighed::Fails => continue,
                Weighed::Deleted => {
                    skip(cursor, prefix.len() + len, &mut self.seek);
                    continue;
                }
            }
            let part = &cursor.key().unwrap_or(&[])[prefix.len()..];
            self.seek.clear();
            self.seek.extend_from_slice(front);
            self.seek.extend_from_slice(part);
            trail.push(node, &self.seek);
            return Ok(Walked::Found);
        }
        match Self::pass_gap(reach, tree.set, None, mode)? {
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
    /// At a twin that satisfies the plan; the trail holds it.
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
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (trail, expanded): (&mut Trail, &mut Vec<u8>),
        entry: Entry<'_>,
    ) -> Result<Weighed> {
        let (step, at) = (self.step, self.level - 1);
        let node = shape.node(step.node);
        let database = shape.database(node);
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, entry.value).map_err(|what| database.damaged(what))?;
        if stored.is_deleted {
            return Ok(Weighed::Deleted);
        }
        let data = stored.data(expanded).map_err(|what| database.damaged(what))?;
        if !shape.is_plain {
            let carried = &mut trail.carried[at];
            carried.set(self.stored_front, entry.key);
            weave::join(reach, shape, node, &stored, carried, &mut trail.joined[at])?;
        }
        if trail.limits[at].test {
            let indexed = match step.indexed {
                true => {
                    let path = [self.stored_front, entry.key].concat();
                    subject::indexed(reach, shape, step, &path, None)?
                }
                false => None,
            };
            let (joined, indexed) = (&trail.joined[at], indexed.as_ref());
            let occurrence = Occurrence { shape, node: step.node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(Weighed::Fails);
            }
        }
        if self.keeps {
            trail.data[at].clear();
            trail.data[at].extend_from_slice(data);
        }
        Ok(Weighed::Fits)
    }
}

/// Whether a part, of which the first bytes stand in `front`, lies above the upper bound.
pub(crate) fn above_limit(limits: &Limits, front: &[u8], part: &[u8]) -> bool {
    if !limits.has_upper {
        return false;
    }
    let (limit_front, limit) = limits.upper.split_at(front.len().min(limits.upper.len()));
    let head = &part[..part.len().min(limit.len())];
    match front.cmp(limit_front).then_with(|| head.cmp(limit)) {
        Ordering::Less => false,
        Ordering::Equal => !limits.upper_inclusive,
        Ordering::Greater => true,
    }
}

/// Places a cursor at the start of a walk.
pub(crate) fn seek<C: Cursor>(
    cursor: &mut C,
    prefix: &[u8],
    start: Start,
    at: &[u8],
    buffer: &mut Vec<u8>,
) {
    buffer.clear();
    buffer.extend_from_slice(prefix);
    match start {
        Start::At(side) => {
            buffer.extend_from_slice(at);
            match side {
                Side::Before => cursor.seek(Place::Before(buffer)),
                Side::After => {
                    if cursor.key() != Some(buffer.as_slice()) {
                        cursor.seek(Place::After(buffer));
                    }
                }
                Side::Behind => seek_behind(cursor, buffer),
            }
        }
        Start::First | Start::Nowhere => cursor.seek(Place::Before(buffer)),
    }
}

/// Places a cursor behind everything that begins with the first bytes of its key.
fn skip<C: Cursor>(cursor: &mut C, len: usize, buffer: &mut Vec<u8>) {
    buffer.clear();
    let key = cursor.key().unwrap_or(&[]);
    buffer.extend_from_slice(&key[..len.min(key.len())]);
    seek_behind(cursor, buffer);
}

/// Places a cursor behind everything that begins with the buffer's bytes.
pub(crate) fn seek_behind<C: Cursor>(cursor: &mut C, buffer: &mut Vec<u8>) {
    let end = buffer.iter().rposition(|byte| *byte != 0xFF);
    match end {
        Some(end) => {
            buffer.truncate(end + 1);
            buffer[end] += 1;
            cursor.seek(Place::Before(buffer));
        }
        None => cursor.seek(Place::Back),
    }
}
