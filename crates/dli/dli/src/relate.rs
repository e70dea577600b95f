//! Logical relationships in inserts and replacements (DLI-12.69 to DLI-12.73).
//!
//! Invariants:
//! 1. A logical child is stored once, below its physical parent, with the path of its logical
//!    parent; over whatever path it is inserted.
//! 2. A twin that has the key on the path that the call uses is found before the destination
//!    parent is looked for.
//! 3. No key changes on any path: neither that of the twins below either parent nor the
//!    destination's.

use crate::ssa::Ssa;
use definitions::Rule;
use hierarchy::{
    Changed, DataChange, Database, Relation, Result, SegmentPath, Stored, TypeAt, twin,
};
use store::{Cursor, LockMode, Position as Place, Read, Store, Unit};

use crate::area;
use crate::context::CallContext;
use crate::cursors::seek_behind;
use crate::join;
use crate::pcb::DbPcb;
use crate::plan::NewSegment;
use crate::refusal::Refusal;
use crate::status::Status;
use crate::view::{Chain, CompiledView, Joined, Node};

/// What a call made, or why it did not.
type Made<T> = Result<std::result::Result<T, Refusal>>;

/// Whether a segment is the target of PROCSEQ or stands above it: it is neither inserted nor
/// deleted there (DLI-12.69).
pub(crate) fn is_of_sequence(node: &Node) -> bool {
    matches!(node.chain, Chain::Index(_) | Chain::Up { .. })
}

/// How many bytes of the area an insert of this segment takes: a concatenated segment brings its
/// destination parent where the rules let it (DLI-12.72).
pub(crate) fn given(
    view: &CompiledView,
    at: u16,
    area: &[u8],
) -> std::result::Result<usize, Status> {
    let segment = view.segment(at);
    let own = area::given_len(segment, area)?;
    let joined = view.node(at).destination.zip(segment.destination.as_ref());
    match joined.filter(|_| segment.access.seen.is_empty()) {
        Some((place, destination)) if destination.rules.insert != Rule::Physical => {
            let kind = view.databases[place.database].schema.of(place.of);
            Ok(own + area::joined_len(kind, &area[own..])?)
        }
        _ => Ok(own),
    }
}

/// The path of the segment with a concatenated key that is there; the first where keys are not
/// unique.
pub(crate) fn find_by_key<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    database: &Database,
    of: TypeAt,
    key: &[u8],
) -> Result<Option<Vec<u8>>> {
    let mut path = Vec::new();
    let found = database
        .path_of_key(of, key, &mut path, |path| first_twin(store, &mut *unit, database, path))?;
    let found = found && database.is_there(unit, of, &path, &mut Vec::new())?;
    Ok(found.then_some(path))
}

/// Locks the database record that a concatenated key leads into, to the sync point: whether a
/// destination parent is there is believed, and rests so, behind that lock only.
fn lock_record_of<S: Store>(
    context: &mut CallContext<'_, S>,
    database: &Database,
    key: &[u8],
) -> Result<()> {
    let root = database.schema.of(TypeAt::ROOT);
    let len = root.key.map_or(0, |field| field.len);
    let Some(own) = key.get(..len).filter(|_| context.locks.are_shared()) else { return Ok(()) };
    let mut path = Vec::with_capacity(len + 8);
    // Roots with equal keys have no name before they are found.
    if root.has_position() || !database.put_front(own, &mut path) {
        return Ok(());
    }
    database.schema.put_key(TypeAt::ROOT, own, &mut path);
    let (set, name) = database.locate(&path)?;
    context.locks.join(context.unit, set, name, LockMode::Update).map(drop)
}

/// Appends the position of the first twin that is there behind a path without one.
fn first_twin<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    database: &Database,
    path: &mut Vec<u8>,
) -> Result<bool> {
    let (set, prefix) = database.locate(path)?;
    let (prefix, mut seek) = (prefix.to_vec(), Vec::new());
    let mut cursor = store.cursor(set)?;
    cursor.seek(Place::Before(&prefix));
    while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
        let Some(rest) = entry.key.strip_prefix(&prefix[..]) else { break };
        let Some(len) = twin::len(rest).filter(|len| *len <= rest.len()) else { break };
        let twin = [&path[..], &rest[..len]].concat();
        let levels = database.parse(&twin)?;
        let kind = database.schema.of(levels.type_at(levels.len()));
        let stored = Stored::read(kind, entry.value).map_err(|what| database.damaged(what))?;
        if !stored.is_deleted {
            *path = twin;
            return Ok(true);
        }
        seek.clear();
        seek.extend_from_slice(&entry.key[..prefix.len() + len]);
        seek_behind(&mut cursor, &mut seek);
    }
    Ok(false)
}

/// The path of the logical parent of a segment that is loaded, if it is a logical child.
pub(crate) fn loaded_parent<S: Store>(
    context: &mut CallContext<'_, S>,
    node: &Node,
    data: &[u8],
) -> Result<Option<Vec<u8>>> {
    let view = context.view;
    let Some(relation) = view.database(node).relation_of(node.of) else {
        return Ok(Some(Vec::new()));
    };
    let Some(parent) = view.named(relation.parent_dbd) else { return Ok(None) };
    let key = relation.parent_key(data);
    find_by_key(context.store, context.unit, parent, relation.parent, key)
}

/// A replaced segment as it is stored, made of what the program sees on its path; DA if that
/// changes a key on any path, or the key of its destination parent.
pub(crate) fn stored_form(
    database: &Database,
    node: &Node,
    path: &[u8],
    old: &[u8],
    seen: Vec<u8>,
) -> Result<std::result::Result<Vec<u8>, Status>> {
    let mut new = seen;
    if let Some(relation) = database.relation_of(node.of) {
        let mut physical = Vec::new();
        join::concatenate_above(database, path, &mut physical)?;
        if matches!(node.chain, Chain::Relation { .. }) {
            let at = relation.parent_key_at;
            if new.get(at..at + physical.len()) != Some(&physical[..]) {
                return Ok(Err(Status::DA));
            }
            let seen = std::mem::take(&mut new);
            relation.exchange(&seen, physical.len(), relation.parent_key(old), &mut new);
        }
        let (mut was, mut is) = (Vec::new(), Vec::new());
        relation.put_key(old, &physical, &mut was);
        relation.put_key(&new, &physical, &mut is);
        if was != is || relation.parent_key(old) != relation.parent_key(&new) {
            return Ok(Err(Status::DA));
        }
    }
    if let Some(key) = database.schema.of(node.of).key {
        let field = key.offset..key.offset + key.len;
        if old.get(field.clone()) != new.get(field) {
            return Ok(Err(Status::DA));
        }
    }
    Ok(Ok(new))
}

impl<S: Store> DbPcb<S> {
    /// Inserts a segment of a derived view, or a logical child, below the search stack.
    pub(crate) fn insert_derived(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssa: &Ssa<'_>,
        given: &[u8],
    ) -> Made<()> {
        let view = context.view;
        let node = view.node(ssa.segment);
        let segment = view.segment(ssa.segment);
        let database = view.database(node);
        let own_len = match area::given_len(segment, given) {
            Ok(len) => len,
            Err(status) => return Ok(Err(Refusal::elsewhere(status))),
        };
        let (own, joined) = given.split_at(own_len);
        let mut data = Vec::new();
        area::from_program(segment, own, database.blank, &mut data);
        match (database.relation_of(node.of), node.chain) {
            (Some(relation), Chain::Relation { .. }) => {
                self.insert_on_logical_path(context, ssa, relation, &data, joined)
            }
            (relation, _) => self.insert_on_physical_path(context, ssa, relation, &data, joined),
        }
    }

    /// Inserts below the physical parent: any segment, or a logical child with its parent's path.
    fn insert_on_physical_path(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssa: &Ssa<'_>,
        relation: Option<&Relation>,
        data: &[u8],
        joined: &[u8],
    ) -> Made<()> {
        let view = context.view;
        let node = view.node(ssa.segment);
        let segment = view.segment(ssa.segment);
        let database = view.database(node);
        let above = match node.level {
            1 => Vec::new(),
            level => self.parent_path(view, node, level).to_vec(),
        };
        let place = crate::plan::place_of(ssa, segment.form.rules.place);
        let here = self.twin_here(node);
        let (here, single) = (here.as_deref(), segment.form.single);
        let new = NewSegment { database, of: node.of, above: &above, data, place, here, single };
        let (path, part) = match self.make_path(context, &new)? {
            Ok(made) => made,
            Err((status, part)) => {
                self.note_twin(node, &part);
                return Ok(Err(Refusal::here(status)));
            }
        };
        let mut parent = Vec::new();
        if let Some(relation) = relation {
            let Some(parents) = view.named(relation.parent_dbd) else {
                return Ok(Err(Refusal::elsewhere(Status::IX)));
            };
            let (to, of, key) = (node.destination, relation.parent, relation.parent_key(data));
            match self.destination(context, to, parents, of, key, joined)? {
                Ok(path) => parent = path,
                Err(status) => return Ok(Err(Refusal::elsewhere(status))),
            }
        }
        if let Err(refusal) = self.store_at(context, database, &path, data, &parent)? {
            return Ok(Err(refusal));
        }
        self.arrive_at_new(context, ssa.segment, node, &part)
    }

    /// Inserts below the logical parent: the child goes below its physical parent (DLI-12.71).
    fn insert_on_logical_path(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssa: &Ssa<'_>,
        relation: &Relation,
        data: &[u8],
        joined: &[u8],
    ) -> Made<()> {
        let view = context.view;
        let node = view.node(ssa.segment);
        let database = view.database(node);
        let schema = &database.schema;
        let (Some(parents), Some(above)) =
            (view.named(relation.parent_dbd), schema.of(node.of).parent)
        else {
            return Ok(Err(Refusal::elsewhere(Status::IX)));
        };
        let parent = self.parent_path(view, node, node.level).to_vec();
        let (parent_levels, mut key) = (parents.parse(&parent)?, Vec::new());
        parents.concatenate(&parent, &parent_levels, &mut key);
        let physical_len = schema.dbd.concatenated_key_len(above.index()) as usize;
        let (at, mut stored) = (relation.parent_key_at, Vec::new());
        let physical = data.get(at..at + physical_len).unwrap_or(&[]);
        relation.exchange(data, physical_len, &key, &mut stored);
        let single = view.segment(ssa.segment).form.single;
        if let Some(twin) = logical_twin(context, relation, single, &parent, &stored, physical)? {
            self.note_twin(node, &twin);
            return Ok(Err(Refusal::here(Status::II)));
        }
        let to = node.destination;
        let above = match self.destination(context, to, database, above, physical, joined)? {
            Ok(path) => path,
            Err(status) => return Ok(Err(Refusal::elsewhere(status))),
        };
        // Overrides count for the path used alone (DLI-12.29).
        let own = &schema.dbd.segments[node.of.index()];
        let (place, single) = (own.rules.place, own.pointers.has("NOTWIN"));
        let (of, data) = (node.of, &stored[..]);
        let new = NewSegment { database, of, above: &above, data, place, here: None, single };
        let path = match self.make_path(context, &new)? {
            Ok((path, _)) => path,
            Err((status, _)) => return Ok(Err(Refusal::elsewhere(status))),
        };
        self.lock_for_change(context, parents, &parent)?;
        if let Err(refusal) = self.store_at(context, database, &path, &stored, &parent)? {
            return Ok(Err(refusal));
        }
        let part = self.logical_part(context, database, node.of, &path, parent.len())?;
        self.arrive_at_new(context, ssa.segment, node, &part)
    }

    /// The path of a new segment and its own part of it; II, with that part, if the key is there.
    #[expect(clippy::type_complexity, reason = "what there is of a path either way")]
    fn make_path(
        &mut self,
        context: &mut CallContext<'_, S>,
        new: &NewSegment<'_>,
    ) -> Result<std::result::Result<(Vec<u8>, Vec<u8>), (Status, Vec<u8>)>> {
        let mut part = Vec::new();
        let status = self.make_part(context, new, &mut part)?;
        if status != Status::OK {
            return Ok(Err((status, part)));
        }
        let mut path = new.above.to_vec();
        if new.of != TypeAt::ROOT {
            path.push(new.of.code());
        }
        path.extend_from_slice(&part);
        let database = new.database;
        match database.is_there(context.unit, new.of, &path, &mut self.search.seek)? {
            true => Ok(Err((Status::II, part))),
            false => Ok(Ok((path, part))),
        }
    }

    /// Finds the destination parent, and inserts or replaces it where the rules say so (DLI-12.72).
    fn destination(
        &mut self,
        context: &mut CallContext<'_, S>,
        joined: Option<Joined>,
        database: &Database,
        of: TypeAt,
        key: &[u8],
        data: &[u8],
    ) -> Result<std::result::Result<Vec<u8>, Status>> {
        lock_record_of(context, database, key)?;
        let mut there = find_by_key(context.store, context.unit, database, of, key)?;
        if let Some(path) = &there
            && context.locks.are_shared()
        {
            self.lock_for_change(context, database, path)?;
            // Somebody may have deleted it before the lock was had.
            if !database.is_there(context.unit, of, path, &mut self.search.seek)? {
                there = None;
            }
        }
        if data.is_empty() || joined.is_none() {
            return Ok(there.ok_or(Status::IX));
        }
        let kind = database.schema.of(of);
        let own_len = kind.key.map_or(0, |key| key.len);
        let (above, own) = key.split_at(key.len().saturating_sub(own_len));
        let given = kind.key.and_then(|key| data.get(key.offset..key.offset + key.len));
        if given.unwrap_or(&[]) != own {
            return Ok(Err(Status::IX));
        }
        let rule = database.schema.dbd.segments[of.index()].rules.insert;
        match there {
            Some(path) if rule == Rule::Virtual => {
                self.replace_destination(context, database, of, path, data)
            }
            Some(path) => Ok(Ok(path)),
            None => self.insert_destination(context, database, of, above, data),
        }
    }

    fn replace_destination(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        of: TypeAt,
        path: Vec<u8>,
        data: &[u8],
    ) -> Result<std::result::Result<Vec<u8>, Status>> {
        self.lock_for_change(context, database, &path)?;
        let (set, tree_key) = database.locate(&path)?;
        let mut value = Vec::new();
        context.unit.get(set, tree_key, Read::Unlocked, &mut value)?;
        let kind = database.schema.of(of);
        let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
        let mut scratch = Vec::new();
        let old = stored.data(&mut scratch).map_err(|what| database.damaged(what))?;
        let levels = database.parse(&path)?;
        let target = context.target();
        let at = SegmentPath { path: &path, levels: &levels };
        let change = DataChange { old, new: data };
        let done = database.replace(target, at, None, &stored, change, &mut self.work)?;
        Ok(if done == Changed::Done { Ok(path) } else { Err(Status::NI) })
    }

    fn insert_destination(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        of: TypeAt,
        above: &[u8],
        data: &[u8],
    ) -> Result<std::result::Result<Vec<u8>, Status>> {
        let mut parent = Vec::new();
        if let Some(up) = database.schema.of(of).parent {
            match find_by_key(context.store, context.unit, database, up, above)? {
                Some(path) => parent = path,
                None => return Ok(Err(Status::IX)),
            }
        }
        let own = &database.schema.dbd.segments[of.index()];
        let (place, single) = (own.rules.place, own.pointers.has("NOTWIN"));
        let new = NewSegment { database, of, above: &parent, data, place, here: None, single };
        let path = match self.make_path(context, &new)? {
            Ok((path, _)) => path,
            Err((status, _)) => return Ok(Err(status)),
        };
        let done = self.store_at(context, database, &path, data, &[])?;
        Ok(done.map(|()| path).map_err(|refusal| refusal.status))
    }

    /// Stores a segment at its path.
    fn store_at(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        path: &[u8],
        data: &[u8],
        logical_parent: &[u8],
    ) -> Made<()> {
        let levels = database.parse(path)?;
        self.lock_for_change(context, database, path)?;
        let done = self.store_new(context, database, path, &levels, data, logical_parent)?;
        Ok(match done {
            Changed::Done => Ok(()),
            Changed::Exists => Err(Refusal::elsewhere(Status::II)),
            Changed::IndexExists => Err(Refusal::elsewhere(Status::NI)),
        })
    }

    /// Remembers where the twin is that has the key already; an empty part says that none has.
    pub(crate) fn note_twin(&mut self, node: &Node, part: &[u8]) {
        self.search.stack.best.clear();
        if part.is_empty() {
            return;
        }
        self.search.stack.best.extend_from_slice(&self.search.stack.key);
        if node.level > 1 {
            self.search.stack.best.push(node.code);
        }
        self.search.stack.best.extend_from_slice(part);
    }

    /// The part of the virtual key of a logical child that was just stored, on its logical path.
    fn logical_part(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        of: TypeAt,
        path: &[u8],
        above: usize,
    ) -> Result<Vec<u8>> {
        let (set, key) = database.locate(path)?;
        let mut value = Vec::new();
        context.unit.get(set, key, Read::Unlocked, &mut value)?;
        let kind = database.schema.of(of);
        let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
        let mut scratch = Vec::new();
        let data = stored.data(&mut scratch).map_err(|what| database.damaged(what))?;
        let entry = database.relation_entry(of, path, &stored, data)?;
        Ok(entry.and_then(|(_, entry)| entry.get(above..).map(<[u8]>::to_vec)).unwrap_or_default())
    }

    /// Adds the occurrence that was just stored to the search stack.
    fn arrive_at_new(
        &mut self,
        context: &mut CallContext<'_, S>,
        at: u16,
        node: &Node,
        part: &[u8],
    ) -> Made<()> {
        let view = context.view;
        if view.is_plain {
            self.search.stack.push(node, part);
            return Ok(Ok(()));
        }
        let plan = crate::plan::Plan::new(view, at, &[]);
        self.search.stack.limit(view, &plan);
        let level = node.level;
        match self.present(context, plan.level(level), level, part)? {
            true => Ok(Ok(())),
            false => Ok(Err(Refusal::elsewhere(Status::GE))),
        }
    }
}

/// The part of the logical twin that stands in the way of a new one: it has the same unique key,
/// or may be the only one.
fn logical_twin<S: Store>(
    context: &mut CallContext<'_, S>,
    relation: &Relation,
    single: bool,
    parent: &[u8],
    stored: &[u8],
    physical: &[u8],
) -> Result<Option<Vec<u8>>> {
    if relation.unique {
        let mut entry = parent.to_vec();
        relation.put_key(stored, physical, &mut entry);
        if context.unit.get(relation.set, &entry, Read::Unlocked, &mut Vec::new())? {
            return Ok(Some(entry.split_off(parent.len())));
        }
    }
    if !single {
        return Ok(None);
    }
    let mut cursor = context.store.cursor(relation.set)?;
    cursor.seek(Place::Before(parent));
    let entry = context.unit.next(&mut cursor, Read::Unlocked)?;
    Ok(entry.and_then(|entry| entry.key.strip_prefix(parent).map(<[u8]>::to_vec)))
}
