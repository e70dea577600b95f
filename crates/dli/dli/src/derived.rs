//! Derived views: occurrences that are found over a secondary index or a logical relationship.
//!
//! An occurrence is *arrived at* by the part of its virtual key; the search stack then carries
//! where it is stored.
//!
//! Invariants:
//! 1. An index entry is believed only while the record of its target is locked: it is read again
//!    when that lock was new (H6).

use hierarchy::{Database, Levels, Result, Stored};
use store::{Cursor, LockMode, Position as Place, Read, SetId, Store, Unit};

use crate::context::CallContext;
use crate::cursors::{Start, seek, seek_behind};
use crate::join::{is_gone, join, turn};
use crate::locks::Entered;
use crate::pcb::DbPcb;
use crate::plan::{LevelPlan, Plan};
use crate::position::{Cut, Side};
use crate::search_state::FoundEntry;
use crate::subject::Occurrence;
use crate::view::{Chain, CompiledView, Node};

/// What came of following an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// At an occurrence that satisfies the plan; the search stack holds it.
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
    fn source(&self, view: &CompiledView, node: &Node, level: usize) -> Result<Source> {
        let database = view.database(node);
        Ok(match node.chain {
            Chain::Root => Source::Segments(database.sets[0], Vec::new()),
            Chain::Child { .. } => {
                let (set, key) = database.locate(self.parent_path(view, node, level))?;
                let mut prefix = key.to_vec();
                prefix.push(node.of.code());
                Source::Segments(set, prefix)
            }
            Chain::Index(at) => Source::Entries(database.indexes[at].set, Vec::new()),
            Chain::Relation { at, .. } => {
                let parent = view.node(node.parent.unwrap_or(0));
                let relation = &view.parent_database(node, parent).as_parent[at];
                Source::Entries(relation.set, self.parent_path(view, node, level).to_vec())
            }
            Chain::Up { .. } => {
                let below = self.parent_path(view, node, level);
                let levels = database.parse(below)?;
                let end = levels.end(levels.len().saturating_sub(1));
                Source::One(below[..end].to_vec())
            }
        })
    }

    /// The path that the value of an entry leads to.
    fn led_to<'v>(
        &self,
        view: &CompiledView,
        node: &Node,
        value: &'v [u8],
    ) -> Result<Option<&'v [u8]>> {
        let database = view.database(node);
        match node.chain {
            Chain::Index(at) => database.target_of(&database.indexes[at], value),
            _ => Ok(Some(value)),
        }
    }

    /// Walks the occurrences of a level that entries lead to.
    pub(crate) fn derived(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let (set, prefix) = match self.source(view, node, level)? {
            Source::Entries(set, prefix) => (set, prefix),
            Source::One(path) => {
                let behind = matches!(start, Start::At(Side::After | Side::Behind));
                return Ok(!behind && self.arrive(context, step, level, &[], &path)?);
            }
            Source::Segments(..) => return Ok(false),
        };
        let index = self.gap_index(context, node);
        let mut start = start;
        loop {
            let cursor = self.search.cursors.get(context.store, set)?;
            seek(cursor, &prefix, start, &self.search.start, &mut self.search.seek);
            let next = context.unit.next(cursor, Read::Unlocked)?;
            if let Some(tree) = index
                && Self::pass_entry_gap(
                    context,
                    tree,
                    next.map(|entry| entry.key),
                    &mut self.search.seek,
                )?
            {
                continue;
            }
            let Some(entry) = next else { return Ok(false) };
            let Some(part) = entry.key.strip_prefix(&prefix[..]) else { return Ok(false) };
            if self.search.stack.limits[level - 1].are_passed_by(&[], part) {
                let within = self.search.within.as_deref();
                self.search.stack.limits[level - 1].pass(&[], part, within);
                return Ok(false);
            }
            if level == 1 && !view.admits(part) {
                self.search.start.clear();
                self.search.start.extend_from_slice(part);
                start = Start::At(Side::Behind);
                continue;
            }
            let mut kept = std::mem::take(&mut self.search.entry);
            kept.keep(entry);
            let followed = self.follow(context, step, level, set, prefix.len(), &kept);
            if matches!(followed, Ok(Followed::Passed)) {
                self.search.start.clear();
                self.search.start.extend_from_slice(&kept.key[prefix.len()..]);
                start = Start::At(Side::Behind);
            }
            self.search.entry = kept;
            if followed? == Followed::Arrived {
                return Ok(true);
            }
        }
    }

    /// Goes where an entry leads.
    fn follow(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        set: SetId,
        prefix: usize,
        entry: &FoundEntry,
    ) -> Result<Followed> {
        let view = context.view;
        let node = view.node(step.node);
        let Some(path) = self.led_to(view, node, &entry.value)? else {
            return Ok(Followed::Passed);
        };
        if !self.holds_still(context, node, level, set, entry, path)? {
            return Ok(Followed::Again);
        }
        let part = &entry.key[prefix..];
        let arrived = match view.entry_tree() {
            Some(tree) => self.arrive_at_entry(view, tree, step, part, &entry.value, path)?,
            None => self.arrive(context, step, level, part, path)?,
        };
        Ok(if arrived { Followed::Arrived } else { Followed::Passed })
    }

    /// Locks the record that an entry leads to. Answers whether the entry is still what it was
    /// before that lock was had (H6).
    fn holds_still(
        &mut self,
        context: &mut CallContext<'_, S>,
        node: &Node,
        level: usize,
        set: SetId,
        entry: &FoundEntry,
        path: &[u8],
    ) -> Result<bool> {
        let Some(mode) = self.lock_mode().filter(|_| context.locks.are_shared()) else {
            return Ok(true);
        };
        let database = context.view.database(node);
        if !self.lock_record(context, database, path, level, mode)? {
            return Ok(true);
        }
        let there = context.unit.get(set, &entry.key, Read::Unlocked, &mut self.search.seek)?;
        Ok(there && self.search.seek == entry.value)
    }

    /// Code L: the last twin that satisfies the plan.
    pub(crate) fn last_twin(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        start: Start,
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let (set, prefix, leads) = match self.source(view, node, level)? {
            Source::Entries(set, prefix) => (set, prefix, true),
            Source::Segments(set, prefix) => (set, prefix, false),
            Source::One(_) => return self.derived(context, step, level, start),
        };
        let from = Cut {
            key: &self.search.start.clone(),
            side: if let Start::At(side) = start { side } else { Side::Before },
        };
        let mut behind: Option<Vec<u8>> = None;
        loop {
            let cursor = self.search.cursors.get(context.store, set)?;
            match &behind {
                Some(key) => cursor.seek(Place::Before(key)),
                None => seek_behind(cursor, &mut prefix.clone()),
            }
            let Some(entry) = context.unit.previous(cursor, Read::Unlocked)? else {
                return Ok(false);
            };
            let Some(rest) = entry.key.strip_prefix(&prefix[..]) else { return Ok(false) };
            let len = match leads {
                true => Some(rest.len()),
                false => view.part_len(node, rest),
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
                true => self.led_to(view, node, &value)?.map(<[u8]>::to_vec),
                false => Some(self.child_path(view, node, level, &part)),
            };
            behind = Some(key);
            if self.search.stack.limits[level - 1].are_passed_by(&[], &part) {
                continue;
            }
            if let Some(path) = path
                && self.arrive(context, step, level, &part, &path)?
            {
                return Ok(true);
            }
        }
    }

    fn child_path(&self, view: &CompiledView, node: &Node, level: usize, part: &[u8]) -> Vec<u8> {
        if node.level == 1 {
            return part.to_vec();
        }
        let mut path = self.parent_path(view, node, level).to_vec();
        path.push(node.of.code());
        path.extend_from_slice(part);
        path
    }

    /// Arrives at the occurrence whose part of the virtual key is known; `false` if it is gone.
    pub(crate) fn present(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        part: &[u8],
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let mut value = Vec::new();
        let path = match self.source(view, node, level)? {
            Source::One(path) => Some(path),
            Source::Segments(..) => Some(self.child_path(view, node, level, part)),
            Source::Entries(set, mut key) => {
                key.extend_from_slice(part);
                match context.unit.get(set, &key, Read::Unlocked, &mut value)? {
                    true => self.led_to(view, node, &value)?.map(<[u8]>::to_vec),
                    false => None,
                }
            }
        };
        match (path, view.entry_tree()) {
            (Some(path), Some(tree)) => {
                if let Some(mode) = self.lock_mode().filter(|_| context.locks.are_shared()) {
                    self.lock_record(context, view.database(node), &path, level, mode)?;
                }
                self.arrive_at_entry(view, tree, step, part, &value, &path)
            }
            (Some(path), None) => self.arrive(context, step, level, part, &path),
            (None, _) => Ok(false),
        }
    }

    /// Reads the occurrence at a path, tries the plan on it, and adds it to the search stack.
    fn arrive(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        part: &[u8],
        path: &[u8],
    ) -> Result<bool> {
        let view = context.view;
        let database = view.database(view.node(step.node));
        let (set, key) = database.locate(path)?;
        if let Some(mode) = self.lock_mode()
            && context.locks.are_shared()
        {
            self.lock_record(context, database, path, level, mode)?;
        }
        let mut value = std::mem::take(&mut self.search.value);
        let there = context.unit.get(set, key, Read::Unlocked, &mut value);
        let arrived = match there {
            Ok(true) => self.weigh_derived(context, step, level, part, path, &value),
            Ok(false) => Ok(false),
            Err(error) => Err(error.into()),
        };
        self.search.value = value;
        arrived
    }

    /// Tries the plan on the value that stands at a path, and adds it to the search stack.
    fn weigh_derived(
        &mut self,
        context: &mut CallContext<'_, S>,
        step: &LevelPlan<'_, '_>,
        level: usize,
        part: &[u8],
        path: &[u8],
        value: &[u8],
    ) -> Result<bool> {
        let view = context.view;
        let node = view.node(step.node);
        let database = view.database(node);
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, value).map_err(|what| database.damaged(what))?;
        if is_gone(node, &stored) {
            return Ok(false);
        }
        let data = stored.data(&mut self.search.expanded).map_err(|what| database.damaged(what))?;
        let stack = &mut self.search.stack;
        let carried = &mut stack.carried[level - 1];
        carried.set(path, &[]);
        join(context, node, &stored, carried, &mut stack.joined[level - 1])?;
        let mut turned = Vec::new();
        let data = turn(database, node, path, data, &mut turned)?;
        if stack.limits[level - 1].test {
            let joined = &stack.joined[level - 1];
            let indexed = crate::subject::indexed(context, step, path, Some(part))?;
            let indexed = indexed.as_ref();
            let occurrence = Occurrence { view, node: step.node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(false);
            }
        }
        stack.data[level - 1].clear();
        stack.data[level - 1].extend_from_slice(data);
        stack.push(node, part);
        Ok(true)
    }

    /// Locks the record of a path: the PCB's own at the first level, another one besides below.
    /// Answers whether it was not locked before.
    fn lock_record(
        &self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        path: &[u8],
        level: usize,
        mode: LockMode,
    ) -> Result<bool> {
        let (set, key) = database.locate(path)?;
        let levels = database.parse(path)?;
        let root = &key[..levels.end(1) - (path.len() - key.len())];
        if level == 1 {
            let entered = context.locks.enter(context.unit, self.number, set, root, mode)?;
            return Ok(entered != Entered::Already);
        }
        context.locks.join(context.unit, set, root, mode)
    }

    /// Brings what the search stack carries in line with the levels of a path.
    pub(crate) fn carry(
        &mut self,
        context: &mut CallContext<'_, S>,
        path: &[u8],
        levels: &Levels,
    ) -> Result<bool> {
        let view = context.view;
        if view.is_plain {
            return Ok(true);
        }
        self.search.stack.start(&[], &Levels::NONE);
        self.stand_at(context, path, levels)
    }

    /// Arrives at every level of a path, from the top down; `false` where one is gone.
    pub(crate) fn stand_at(
        &mut self,
        context: &mut CallContext<'_, S>,
        path: &[u8],
        levels: &Levels,
    ) -> Result<bool> {
        let view = context.view;
        for level in 1..=levels.len() {
            let node = self.node_at(levels, level);
            let plan = Plan::new(view, node, &[]);
            self.search.stack.limit(view, &plan);
            let from = levels.end(level - 1) + usize::from(level > 1);
            let part = path[from..levels.end(level)].to_vec();
            if !self.present(context, plan.level(level), level, &part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds the next segment of a derived view.
    pub(crate) fn scan_derived(
        &mut self,
        context: &mut CallContext<'_, S>,
        within_parent: bool,
    ) -> Result<bool> {
        let view = context.view;
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
            if !self.carry(context, &path[..known.end(depth)], &known)? {
                // Something above is gone: what lies behind it is next.
                let end = known.end(depth);
                self.position.truncate(depth.saturating_sub(1));
                self.position.point_at(&path[..end], Side::Behind);
                continue;
            }
            if !self.step_derived(context, depth, base, &path, &levels)? {
                return Ok(false);
            }
            self.position.replace_path(&self.search.stack.key, self.search.stack.levels.0);
            let levels = self.position.levels;
            let node = self.node_at(&levels, levels.len());
            if view.node(node).options.allows('G') {
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
    fn step_derived(
        &mut self,
        context: &mut CallContext<'_, S>,
        depth: usize,
        base: usize,
        path: &[u8],
        levels: &Levels,
    ) -> Result<bool> {
        let view = context.view;
        for level in (base..=depth).rev() {
            let children = match level {
                0 => vec![0],
                _ => view.node(self.node_at(levels, level)).children.clone(),
            };
            let mut above = *levels;
            above.truncate(level);
            for child in children {
                let mut plan = Plan::new(view, child, &[]);
                plan.base = level;
                plan.from_point = true;
                plan.in_view = true;
                self.search.stack.limit(view, &plan);
                self.search.stack.start(&path[..above.end(level)], &above);
                self.search.wanted_level = level + 1;
                if self.candidate(context, &plan, level + 1, false)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
