//! What is woven from several trees: occurrences reached over a secondary index or a logical
//! relationship, and destination parents joined to logical children.
//!
//! An occurrence is *arrived at* by the part of its virtual key; the trail then carries where it is
//! stored.
//!
//! Invariants:
//! 1. An index entry is believed only while the record of its target is locked: it is read again
//!    when that lock was new (H6).

use hierarchy::{Database, Levels, Result, Stored};
use store::{Cursor, Entry, LockMode, Position as Place, Read, SetId, Store, Unit};

use crate::locks::Entered;
use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Plan};
use crate::position::{Cut, Side};
use crate::search::{Reach, Start, above_limit, seek, seek_behind};
use crate::shape::{Chain, Node, Shape};
use crate::subject::Occurrence;
use crate::trail::Carried;

/// Locks and reads the destination parent of an occurrence, if its node has one (H8).
pub(crate) fn join<S: Store>(
    reach: &mut Reach<'_, S>,
    shape: &Shape,
    node: &Node,
    stored: &Stored<'_>,
    carried: &mut Carried,
    data: &mut Vec<u8>,
) -> Result<()> {
    data.clear();
    carried.joined.clear();
    let Some(joined) = node.destination else { return Ok(()) };
    let child = shape.database(node);
    match node.chain {
        // On the logical path the destination is the physical parent.
        Chain::Relation { .. } => {
            let levels = child.parse(&carried.path)?;
            let end = levels.end(levels.len().saturating_sub(1));
            let (carried, from) = (&mut carried.joined, &carried.path[..end]);
            carried.extend_from_slice(from);
        }
        _ => carried.joined.extend_from_slice(stored.logical_parent),
    }
    let database = &shape.databases[joined.database];
    if let Some(mode) = shape.lock_mode().filter(|_| reach.locks.are_shared()) {
        let (set, key) = database.locate(&carried.joined)?;
        let levels = database.parse(&carried.joined)?;
        let root = levels.end(1) - (carried.joined.len() - key.len());
        reach.locks.join(reach.unit, (set, &key[..root]), mode)?;
    }
    read(reach.unit, database, &carried.joined, data).map(drop)
}

/// Reads and expands a segment, behind what `data` holds; `false` if it is not there.
pub(crate) fn read<U: Unit>(
    unit: &mut U,
    database: &Database,
    path: &[u8],
    data: &mut Vec<u8>,
) -> Result<bool> {
    let (set, key) = database.locate(path)?;
    let levels: Levels = database.parse(path)?;
    let kind = database.schema.of(levels.type_at(levels.len()));
    let mut value = Vec::new();
    if !unit.get(set, key, Read::Unlocked, &mut value)? {
        return Ok(false);
    }
    let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
    let mut scratch = Vec::new();
    let bytes = stored.data(&mut scratch).map_err(|what| database.damaged(what))?;
    data.extend_from_slice(bytes);
    Ok(true)
}

/// A logical child as it is seen on the logical path: the concatenated key of its physical parent
/// stands in place of the logical one's (DLI-12.71).
pub(crate) fn turn<'d>(
    database: &Database,
    node: &Node,
    path: &[u8],
    data: &'d [u8],
    buffer: &'d mut Vec<u8>,
) -> Result<&'d [u8]> {
    if !matches!(node.chain, Chain::Relation { .. }) {
        return Ok(data);
    }
    let Some(relation) = database.relation_of(node.of) else { return Ok(data) };
    database.turn(relation, path, data, buffer)?;
    Ok(buffer)
}

/// The concatenated key of the physical parent.
pub(crate) fn concatenate_above(database: &Database, path: &[u8], to: &mut Vec<u8>) -> Result<()> {
    let mut up = database.parse(path)?;
    up.truncate(up.len().saturating_sub(1));
    database.concatenate(&path[..up.end(up.len())], &up, to);
    Ok(())
}

/// Whether a stored segment was deleted on the path on which a node is reached (DLI-12.74).
pub(crate) fn is_gone(node: &Node, stored: &Stored<'_>) -> bool {
    match node.chain {
        Chain::Relation { .. } => stored.is_deleted_logically,
        _ => stored.is_deleted,
    }
}

/// An entry that leads to an occurrence, as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundEntry {
    key: Vec<u8>,
    value: Vec<u8>,
}

impl FoundEntry {
    fn keep(&mut self, entry: Entry<'_>) {
        self.key.clear();
        self.key.extend_from_slice(entry.key);
        self.value.clear();
        self.value.extend_from_slice(entry.value);
    }
}

/// What came of following an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// At an occurrence that satisfies the plan; the trail holds it.
    Arrived,
    /// It leads nowhere, or to none that does.
    Passed,
    /// It is not what it was any more, and what was in front of it may have come back, too.
    Again,
}

/// The set and the prefix of the keys that stand for a node's occurrences.
enum Source {
    /// Entries whose values lead to the occurrences.
    Entries(SetId, Vec<u8>),
    /// The occurrences themselves.
    Segments(SetId, Vec<u8>),
    /// There is one, at this path.
    One(Vec<u8>),
}

impl<S: Store> DbPcb<S> {
    fn source(&self, shape: &Shape, node: &Node, level: usize) -> Result<Source> {
        let database = shape.database(node);
        Ok(match node.chain {
            Chain::Root => Source::Segments(database.sets[0], Vec::new()),
            Chain::Child { .. } => {
                let (set, key) = database.locate(self.parent_path(shape, node, level))?;
                let mut prefix = key.to_vec();
                prefix.push(node.of.code());
                Source::Segments(set, prefix)
            }
            Chain::Index(at) => Source::Entries(database.indexes[at].set, Vec::new()),
            Chain::Relation { at, .. } => {
                let parent = shape.node(node.parent.unwrap_or(0));
                let relation = &shape.parent_database(node, parent).as_parent[at];
                Source::Entries(relation.set, self.parent_path(shape, node, level).to_vec())
            }
            Chain::Up { .. } => {
                let below = self.parent_path(shape, node, level);
                let levels = database.parse(below)?;
                let end = levels.end(levels.len().saturating_sub(1));
                Source::One(below[..end].to_vec())
            }
        })
    }

    /// The path that the value of an entry leads to.
    fn led_to<'v>(&self, shape: &Shape, node: &Node, value: &'v [u8]) -> Result<Option<&'v [u8]>> {
        let database = shape.database(node);
        match node.chain {
            Chain::Index(at) => database.target_of(&database.indexes[at], value),
            _ => Ok(Some(value)),
        }
    }

    /// Walks the occurrences of a level that entries lead to.
    pub(crate) fn woven(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let (set, prefix) = match self.source(shape, node, level)? {
            Source::Entries(set, prefix) => (set, prefix),
            Source::One(path) => {
                let behind = matches!(start, Start::At(Side::After | Side::Behind));
                return Ok(!behind && self.arrive(reach, shape, step, level, (&[], &path))?);
            }
            Source::Segments(..) => return Ok(false),
        };
        let index = self.gap_index(reach, shape, node);
        let mut start = start;
        loop {
            let cursor = self.cursors.get(reach.store, set)?;
            seek(cursor, &prefix, start, &self.start, &mut self.seek);
            let next = reach.unit.next(cursor, Read::Unlocked)?;
            if let Some(tree) = index
                && Self::pass_entry_gap(reach, tree, next.map(|entry| entry.key), &mut self.seek)?
            {
                continue;
            }
            let Some(entry) = next else { return Ok(false) };
            let Some(part) = entry.key.strip_prefix(&prefix[..]) else { return Ok(false) };
            if above_limit(&self.trail.limits[level - 1], &[], part) {
                let within = self.within.as_deref();
                self.trail.limits[level - 1].pass(&[], part, within);
                return Ok(false);
            }
            if level == 1 && !shape.admits(part) {
                self.start.clear();
                self.start.extend_from_slice(part);
                start = Start::At(Side::Behind);
                continue;
            }
            let mut kept = std::mem::take(&mut self.entry);
            kept.keep(entry);
            let followed = self.follow(reach, shape, (step, level), (set, prefix.len()), &kept);
            if matches!(followed, Ok(Followed::Passed)) {
                self.start.clear();
                self.start.extend_from_slice(&kept.key[prefix.len()..]);
                start = Start::At(Side::Behind);
            }
            self.entry = kept;
            if followed? == Followed::Arrived {
                return Ok(true);
            }
        }
    }

    /// Goes where an entry leads.
    fn follow(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (step, level): (&LevelPlan<'_, '_>, usize),
        (set, prefix): (SetId, usize),
        entry: &FoundEntry,
    ) -> Result<Followed> {
        let node = shape.node(step.node);
        let Some(path) = self.led_to(shape, node, &entry.value)? else {
            return Ok(Followed::Passed);
        };
        let read = (set, &entry.key[..], &entry.value[..]);
        if !self.holds_still(reach, (shape, node, level), read, path)? {
            return Ok(Followed::Again);
        }
        let part = &entry.key[prefix..];
        let arrived = match shape.entry_tree() {
            Some(tree) => self.arrive_at_entry(shape, tree, step, (part, &entry.value, path))?,
            None => self.arrive(reach, shape, step, level, (part, path))?,
        };
        Ok(if arrived { Followed::Arrived } else { Followed::Passed })
    }

    /// Locks the record that an entry leads to. Answers whether the entry is still what it was
    /// before that lock was had (H6).
    fn holds_still(
        &mut self,
        reach: &mut Reach<'_, S>,
        (shape, node, level): (&Shape, &Node, usize),
        (set, key, value): (SetId, &[u8], &[u8]),
        path: &[u8],
    ) -> Result<bool> {
        let Some(mode) = self.lock_mode().filter(|_| reach.locks.are_shared()) else {
            return Ok(true);
        };
        if !self.lock_record(reach, shape.database(node), path, level, mode)? {
            return Ok(true);
        }
        let there = reach.unit.get(set, key, Read::Unlocked, &mut self.seek)?;
        Ok(there && self.seek == value)
    }

    /// Code L: the last twin that satisfies the plan.
    pub(crate) fn last_twin(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let (set, prefix, leads) = match self.source(shape, node, level)? {
            Source::Entries(set, prefix) => (set, prefix, true),
            Source::Segments(set, prefix) => (set, prefix, false),
            Source::One(_) => return self.woven(reach, shape, step, level, start),
        };
        let from = Cut {
            key: &self.start.clone(),
            side: if let Start::At(side) = start { side } else { Side::Before },
        };
        let mut behind: Option<Vec<u8>> = None;
        loop {
            let cursor = self.cursors.get(reach.store, set)?;
            match &behind {
                Some(key) => cursor.seek(Place::Before(key)),
                None => seek_behind(cursor, &mut prefix.clone()),
            }
            let Some(entry) = reach.unit.previous(cursor, Read::Unlocked)? else {
                return Ok(false);
            };
            let Some(rest) = entry.key.strip_prefix(&prefix[..]) else { return Ok(false) };
            let len = match leads {
                true => Some(rest.len()),
                false => shape.part_len(node, rest),
            };
            let Some(part) = len.and_then(|len| rest.get(..len)).map(<[u8]>::to_vec) else {
                return Ok(false);
            };
            let own = Cut { key: &part, side: Side::After };
            if start != Start::First && own.order(&from).is_le() {
                return Ok(false);
            }
            let mut key = prefix.clone();
            key.extend_from_slice(&part);
            let value = if leads { entry.value.to_vec() } else { Vec::new() };
            let path = match leads {
                true => self.led_to(shape, node, &value)?.map(<[u8]>::to_vec),
                false => Some(self.child_path(shape, node, level, &part)),
            };
            behind = Some(key);
            if above_limit(&self.trail.limits[level - 1], &[], &part) {
                continue;
            }
            if let Some(path) = path
                && self.arrive(reach, shape, step, level, (&part, &path))?
            {
                return Ok(true);
            }
        }
    }

    fn child_path(&self, shape: &Shape, node: &Node, level: usize, part: &[u8]) -> Vec<u8> {
        if node.level == 1 {
            return part.to_vec();
        }
        let mut path = self.parent_path(shape, node, level).to_vec();
        path.push(node.of.code());
        path.extend_from_slice(part);
        path
    }

    /// Arrives at the occurrence whose part of the virtual key is known; `false` if it is gone.
    pub(crate) fn present(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
        part: &[u8],
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let mut value = Vec::new();
        let path = match self.source(shape, node, level)? {
            Source::One(path) => Some(path),
            Source::Segments(..) => Some(self.child_path(shape, node, level, part)),
            Source::Entries(set, mut key) => {
                key.extend_from_slice(part);
                match reach.unit.get(set, &key, Read::Unlocked, &mut value)? {
                    true => self.led_to(shape, node, &value)?.map(<[u8]>::to_vec),
                    false => None,
                }
            }
        };
        match (path, shape.entry_tree()) {
            (Some(path), Some(tree)) => {
                if let Some(mode) = self.lock_mode().filter(|_| reach.locks.are_shared()) {
                    self.lock_record(reach, shape.database(node), &path, level, mode)?;
                }
                self.arrive_at_entry(shape, tree, step, (part, &value, &path))
            }
            (Some(path), None) => self.arrive(reach, shape, step, level, (part, &path)),
            (None, _) => Ok(false),
        }
    }

    /// Reads the occurrence at a path, tries the plan on it, and adds it to the trail.
    fn arrive(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        step: &LevelPlan<'_, '_>,
        level: usize,
        (part, path): (&[u8], &[u8]),
    ) -> Result<bool> {
        let database = shape.database(shape.node(step.node));
        let (set, key) = database.locate(path)?;
        if let Some(mode) = self.lock_mode()
            && reach.locks.are_shared()
        {
            self.lock_record(reach, database, path, level, mode)?;
        }
        let mut value = std::mem::take(&mut self.value);
        let there = reach.unit.get(set, key, Read::Unlocked, &mut value);
        let arrived = match there {
            Ok(true) => self.weigh_woven(reach, shape, (step, level), (part, path), &value),
            Ok(false) => Ok(false),
            Err(error) => Err(error.into()),
        };
        self.value = value;
        arrived
    }

    /// Tries the plan on the value that stands at a path, and adds it to the trail.
    fn weigh_woven(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (step, level): (&LevelPlan<'_, '_>, usize),
        (part, path): (&[u8], &[u8]),
        value: &[u8],
    ) -> Result<bool> {
        let node = shape.node(step.node);
        let database = shape.database(node);
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, value).map_err(|what| database.damaged(what))?;
        if is_gone(node, &stored) {
            return Ok(false);
        }
        let data = stored.data(&mut self.expanded).map_err(|what| database.damaged(what))?;
        let trail = &mut self.trail;
        let carried = &mut trail.carried[level - 1];
        carried.set(path, &[]);
        join(reach, shape, node, &stored, carried, &mut trail.joined[level - 1])?;
        let mut turned = Vec::new();
        let data = turn(database, node, path, data, &mut turned)?;
        if trail.limits[level - 1].test {
            let joined = &trail.joined[level - 1];
            let indexed = crate::subject::indexed(reach, shape, step, path, Some(part))?;
            let indexed = indexed.as_ref();
            let occurrence = Occurrence { shape, node: step.node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(false);
            }
        }
        trail.data[level - 1].clear();
        trail.data[level - 1].extend_from_slice(data);
        trail.push(node, part);
        Ok(true)
    }

    /// Locks the record of a path: the PCB's own at the first level, another one besides below.
    /// Answers whether it was not locked before.
    fn lock_record(
        &self,
        reach: &mut Reach<'_, S>,
        database: &Database,
        path: &[u8],
        level: usize,
        mode: LockMode,
    ) -> Result<bool> {
        let (set, key) = database.locate(path)?;
        let levels = database.parse(path)?;
        let root = &key[..levels.end(1) - (path.len() - key.len())];
        if level == 1 {
            let entered = reach.locks.enter(reach.unit, self.number, (set, root), mode)?;
            return Ok(entered != Entered::Already);
        }
        reach.locks.join(reach.unit, (set, root), mode)
    }

    /// Brings what the trail carries in line with the levels of a path.
    pub(crate) fn carry(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        path: &[u8],
        levels: &Levels,
    ) -> Result<bool> {
        if shape.is_plain {
            return Ok(true);
        }
        self.trail.start(&[], &Levels::NONE);
        self.stand_at(reach, shape, path, levels)
    }

    /// Arrives at every level of a path, from the top down; `false` where one is gone.
    pub(crate) fn stand_at(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        path: &[u8],
        levels: &Levels,
    ) -> Result<bool> {
        for level in 1..=levels.len() {
            let node = self.node_at(levels, level);
            let plan = Plan::new(shape, node, &[]);
            self.trail.limit(shape, &plan);
            let from = levels.end(level - 1) + usize::from(level > 1);
            let part = path[from..levels.end(level)].to_vec();
            if !self.present(reach, shape, plan.level(level), level, &part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds the next segment of a woven view.
    pub(crate) fn scan_woven(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        within_parent: bool,
    ) -> Result<bool> {
        let base = if within_parent { self.parentage.levels.len() } else { 0 };
        if within_parent {
            if self.is_behind_parent() {
                return Ok(false);
            }
            let parent = Cut { key: &self.parentage.path, side: Side::After };
            let inside = self.position.path.starts_with(&self.parentage.path)
                && self.position.cut().is_some_and(|cut| cut.order(&parent).is_ge());
            if !inside {
                self.position.replace_path(&self.parentage.path, self.parentage.levels);
                self.position.settle();
            }
        }
        loop {
            let depth = self.depth_of_point();
            let (path, levels) = (self.position.path.clone(), self.position.levels);
            let mut known = levels;
            known.truncate(depth);
            if !self.carry(reach, shape, &path[..known.end(depth)], &known)? {
                // Something above is gone: what lies behind it is next.
                let end = known.end(depth);
                self.position.truncate(depth.saturating_sub(1));
                self.position.point_at(&path[..end], Side::Behind);
                continue;
            }
            if !self.step_woven(reach, shape, (depth, base), (&path, &levels))? {
                return Ok(false);
            }
            self.position.replace_path(&self.trail.key, self.trail.levels.0);
            let levels = self.position.levels;
            let node = self.node_at(&levels, levels.len());
            if shape.node(node).options.allows('G') {
                return Ok(true);
            }
            self.position.settle();
        }
    }

    /// How many levels of the path stand above the point.
    fn depth_of_point(&self) -> usize {
        let levels = &self.position.levels;
        let Some(cut) = self.position.cut() else { return 0 };
        (1..=levels.len())
            .rev()
            .find(|level| {
                let end = levels.end(*level);
                let above = cut.key.len() > end || cut.side == Side::After;
                cut.key.starts_with(&self.position.path[..end]) && above
            })
            .unwrap_or(0)
    }

    /// Finds the first segment behind the point: below the lowest level, then beside it, then up.
    fn step_woven(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (depth, base): (usize, usize),
        (path, levels): (&[u8], &Levels),
    ) -> Result<bool> {
        for level in (base..=depth).rev() {
            let children = match level {
                0 => vec![0],
                _ => shape.node(self.node_at(levels, level)).children.clone(),
            };
            let mut above = *levels;
            above.truncate(level);
            for child in children {
                let mut plan = Plan::new(shape, child, &[]);
                plan.base = level;
                plan.from_point = true;
                plan.in_view = true;
                self.trail.limit(shape, &plan);
                self.trail.start(&path[..above.end(level)], &above);
                self.wanted_level = level + 1;
                if self.candidate(reach, shape, &plan, level + 1, false)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
