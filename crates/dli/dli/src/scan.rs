//! The next segment of a plain view: one step of a cursor.
//!
//! In a plain view hierarchic order is key order, so a get-next without SSAs reads the next entry
//! of the tree. What the program is not sensitive to is skipped with everything beneath it.
//!
//! Invariants:
//! 1. While a tree is scanned, the levels of the position are those of the entry in hand; where it
//!    is passed over they are read from the path again.
//! 2. A get-next that finds the cursor where the last call left it neither seeks nor allocates.

use base::bytes::{begins_with, common_prefix};
use hierarchy::{Damaged, Result, Stored};
use store::{Cursor, Position as Place, Read, SetId, Store, Unit};

use crate::context::CallContext;
use crate::cursors::seek_behind;
use crate::locks::Entered;
use crate::pcb::DbPcb;
use crate::position::{Cut, Side};
use crate::view::CompiledView;

/// Where the scan of one tree begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// Where its cursor stands.
    Here,
    /// On this side of the key in the PCB's buffer.
    At(Side),
}

impl Begin {
    fn place(self, cursor: &mut impl Cursor, start: &mut Vec<u8>) {
        match self {
            Begin::Here => {}
            Begin::At(Side::Before) => cursor.seek(Place::Before(start)),
            Begin::At(Side::After) => cursor.seek(Place::After(start)),
            Begin::At(Side::Behind) => seek_behind(cursor, start),
        }
    }
}

/// How the scan of one tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scanned {
    /// The path is that of the segment, and so many bytes of the area hold it.
    Found(usize),
    /// What comes next is not beneath the parent.
    Outside,
    /// There is nothing more in this tree.
    End,
    /// It had to wait for another program, and what it has read may have changed.
    Again,
}

impl<S: Store> DbPcb<S> {
    /// Finds the next segment of a plain view and puts it into the area: answers how many bytes of
    /// it are filled. The path is that of the segment then.
    pub(crate) fn scan(
        &mut self,
        context: &mut CallContext<'_, S>,
        within_parent: bool,
        area: &mut [u8],
    ) -> Result<Option<usize>> {
        let view = context.view;
        let is_inside = !within_parent || self.is_on_path_below_parent();
        if self.position.is_at_end() || !is_inside && self.is_behind_parent() {
            return Ok(None);
        }
        let (mut partition, mut begin) = match is_inside {
            true => self.scan_on(context)?,
            false => self.scan_from(view, within_parent),
        };
        let last = *view.walked().end();
        while partition <= last
            && let Some(set) = view.databases[0].set_of(partition)?
        {
            match self.scan_tree(context, partition, set, begin, within_parent, area)? {
                Scanned::Found(filled) => return Ok(Some(filled)),
                Scanned::Outside => return Ok(None),
                Scanned::End => {}
                Scanned::Again => {
                    (partition, begin) = self.scan_from(view, within_parent);
                    continue;
                }
            }
            partition += 1;
            self.search.start.clear();
            begin = Begin::At(Side::Before);
        }
        Ok(None)
    }

    /// Whether the point lies directly behind an occurrence beneath the parent, or the parent.
    fn is_on_path_below_parent(&self) -> bool {
        self.position.is_after_path() && begins_with(&self.position.path, &self.parentage.path)
    }

    /// Where a scan begins: where the cursor stands, if that is where the last call left it.
    fn scan_on(&mut self, context: &CallContext<'_, S>) -> Result<(u16, Begin)> {
        let view = context.view;
        if self.position.is_after_path() {
            let (partition, key) = view.databases[0].schema.split(&self.position.path);
            if let Some(set) = view.databases[0].set_of(partition)?
                && self
                    .search
                    .cursors
                    .get(context.store, set)?
                    .key()
                    .is_some_and(|at| is_same(at, key))
            {
                return Ok((partition, Begin::Here));
            }
        }
        Ok(self.scan_from(view, false))
    }

    /// Where a scan begins: the partition, the side, and in `search.start` the key in its tree.
    fn scan_from(&mut self, view: &CompiledView, within_parent: bool) -> (u16, Begin) {
        self.search.start.clear();
        let Some(cut) = self.position.cut() else {
            return (*view.walked().start(), Begin::At(Side::Before));
        };
        let parent = Cut { key: &self.parentage.path, side: Side::After };
        let cut = if within_parent && cut.order(&parent).is_lt() { parent } else { cut };
        let (partition, key) = view.databases[0].schema.split(cut.key);
        self.search.start.extend_from_slice(key);
        (partition, Begin::At(cut.side))
    }

    fn scan_tree(
        &mut self,
        context: &mut CallContext<'_, S>,
        partition: u16,
        set: SetId,
        begin: Begin,
        within_parent: bool,
        area: &mut [u8],
    ) -> Result<Scanned> {
        let view = context.view;
        let (database, mode) = (&view.databases[0], self.lock_mode());
        let schema = &database.schema;
        let damaged = |what| database.damaged(what);
        let number = partition.to_be_bytes();
        let front = &number[..schema.partition_bytes()];
        let cursor = self.search.cursors.get(context.store, set)?;
        begin.place(cursor, &mut self.search.start);
        while let Some(mut entry) = context.unit.next(cursor, Read::Unlocked)? {
            let parent = schema.in_tree(partition, &self.parentage.path);
            if within_parent && !parent.is_some_and(|parent| begins_with(entry.key, parent)) {
                return Ok(Scanned::Outside);
            }
            let own = schema.in_tree(partition, &self.position.path);
            let shared = own.map_or(0, |own| front.len() + common_prefix(own, entry.key));
            let levels = &mut self.position.levels;
            levels.keep(shared);
            if !schema.parse_behind(front.len(), entry.key, levels) {
                return Err(database.damaged(Damaged("a stored key is no path")));
            }
            let of = levels.type_at(levels.len());
            let node = view.node_of.get(of.index()).copied().flatten();
            if levels.len() == 1
                && let Some(mode) = mode
                && !context.locks.is_in(self.number, set, entry.key)
            {
                match context.locks.enter_along(context.unit, self.number, cursor, mode)? {
                    // What was read before the lock was had may have changed.
                    Entered::AtOnce | Entered::Already => {
                        let Some(now) = context.unit.current(cursor, Read::Unlocked)? else {
                            self.position.read_levels(schema);
                            continue;
                        };
                        entry = now;
                    }
                    Entered::Waited => {
                        self.position.read_levels(schema);
                        return Ok(Scanned::Again);
                    }
                }
            }
            let stored = Stored::read(schema.of(of), entry.value).map_err(damaged)?;
            let Some(node) = node.filter(|_| !stored.is_deleted) else {
                self.search.start.clear();
                self.search.start.extend_from_slice(entry.key);
                seek_behind(cursor, &mut self.search.start);
                self.position.read_levels(schema);
                continue;
            };
            if !view.node(node).options.allows('G') {
                self.position.read_levels(schema);
                continue;
            }
            let data = stored.data(&mut self.search.expanded).map_err(damaged)?;
            let filled = view.put_area(node, data, &[], area, 0);
            self.position.turn_off(shared, front, entry.key);
            return Ok(Scanned::Found(filled));
        }
        let waited = Self::pass_gap(context, set, None, mode.filter(|_| !within_parent))?;
        Ok(if waited { Scanned::Again } else { Scanned::End })
    }
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && begins_with(one, other)
}
