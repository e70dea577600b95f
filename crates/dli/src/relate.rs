//! Logical relationships in changes: the rules of insert and delete (facts, section 12 rows 69 to
//! 74).
//!
//! Invariants:
//! 1. A logical child is stored once, below its physical parent, with the path of its logical
//!    parent; over whatever path it is inserted.

use definitions::{DeleteRule, Rule};
use hierarchy::{Changed, Database, Levels, Result, TypeAt};
use ssa::Ssa;
use store::{Cursor, KeyRange, Position as Place, Read, Store, Unit};

use crate::area;
use crate::pcb::{DbPcb, Held};
use crate::search::Reach;
use crate::shape::{Chain, Joined, Node, Shape};
use crate::status::Status;

/// Whether a segment is the target of PROCSEQ or stands above it: it is neither inserted nor
/// deleted there (row 69).
pub(crate) fn is_of_sequence(node: &Node) -> bool {
    matches!(node.chain, Chain::Index(_) | Chain::Up { .. })
}

/// How many bytes of the area an insert of this segment takes: a concatenated segment brings its
/// destination parent where the rules let it (row 72).
pub(crate) fn given(shape: &Shape, at: u16, area: &[u8]) -> std::result::Result<usize, Status> {
    let segment = shape.segment(at);
    let own = area::given_len(segment, area)?;
    let Some(joined) = &segment.destination else { return Ok(own) };
    if joined.rules.insert == Rule::Physical {
        return Ok(own);
    }
    let whole = own + usize::from(joined.max);
    if area.len() < whole { Err(Status::AB) } else { Ok(whole) }
}

/// The path of the segment with a concatenated key; the first where keys are not unique.
pub(crate) fn find_by_key<S: Store>(
    (store, unit): (&S, &mut S::Unit),
    database: &Database,
    of: TypeAt,
    key: &[u8],
) -> Result<Option<Vec<u8>>> {
    let schema = &database.schema;
    let mut types = vec![of];
    while let Some(parent) = types.last().and_then(|at| schema.of(*at).parent) {
        types.push(parent);
    }
    let (mut path, mut from) = (Vec::new(), 0);
    for of in types.into_iter().rev() {
        let kind = schema.of(of);
        let len = kind.key.map_or(0, |key| key.len);
        let Some(own) = key.get(from..from + len) else { return Ok(None) };
        from += len;
        if of == TypeAt::ROOT {
            let Some(partition) = schema.placement.partition_of(own) else { return Ok(None) };
            if schema.is_partitioned() {
                path.extend_from_slice(&partition.to_be_bytes());
            }
            if schema.is_hashed() {
                let Some(anchor) = schema.placement.anchor(partition, own) else {
                    return Ok(None);
                };
                path.extend_from_slice(&anchor);
            }
        } else {
            path.push(of.code());
        }
        schema.put_key(of, own, &mut path);
        let (set, prefix) = database.locate(&path)?;
        let mut cursor = store.cursor(set)?;
        cursor.seek(Place::Before(prefix));
        let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? else { return Ok(None) };
        let Some(rest) = entry.key.strip_prefix(prefix) else { return Ok(None) };
        let position = match kind.has_position() {
            true => hierarchy::twin::len(rest).unwrap_or(0),
            false => 0,
        };
        path.extend_from_slice(&rest[..position.min(rest.len())]);
    }
    Ok(Some(path))
}

/// The path of the logical parent of a segment that is loaded, if it is a logical child.
pub(crate) fn loaded_parent<S: Store>(
    reach: &mut Reach<'_, S>,
    shape: &Shape,
    node: &Node,
    data: &[u8],
) -> Result<Option<Vec<u8>>> {
    let Some(relation) = shape.database(node).relation_of(node.of) else {
        return Ok(Some(Vec::new()));
    };
    let Some(parent) = shape.named(relation.parent_dbd) else { return Ok(None) };
    let key = data.get(..relation.parent_key_len).unwrap_or(&[]);
    find_by_key((reach.store, reach.unit), parent, relation.parent, key)
}

/// Whether the delete rules forbid it (row 74).
pub(crate) fn forbids_delete<S: Store>(
    (store, unit): (&S, &mut S::Unit),
    shape: &Shape,
    held: Held,
    path: &[u8],
) -> Result<Option<Status>> {
    let node = shape.node(held.node);
    let database = shape.database(node);
    let levels = database.parse(path)?;
    let physical = matches!(node.chain, Chain::Root | Chain::Child { .. });
    let kind = database.schema.of(node.of);
    let rules = database.schema.dbd.segments[node.of.index()].rules;
    // Under rule P a logical child goes on its logical path first; it is stored once, so that
    // path is the only one that deletes it.
    if kind.is_logical_child && physical && rules.delete == DeleteRule::Physical {
        return Ok(Some(Status::DX));
    }
    match has_protected_parents((store, unit), database, path, &levels)? {
        true => Ok(Some(Status::DX)),
        false => Ok(None),
    }
}

/// Whether a logical parent with rule P and living children is at a path or beneath it.
fn has_protected_parents<S: Store>(
    (store, unit): (&S, &mut S::Unit),
    database: &Database,
    path: &[u8],
    levels: &Levels,
) -> Result<bool> {
    let own = levels.type_at(levels.len());
    let below = |at: TypeAt| {
        let mut up = Some(at);
        std::iter::from_fn(move || {
            let here = up?;
            up = database.schema.of(here).parent;
            Some(here)
        })
        .any(|one| one == own)
    };
    for relation in database.as_parent.iter().filter(|relation| below(relation.parent)) {
        let rule = database.schema.dbd.segments[relation.parent.index()].rules.delete;
        if rule != DeleteRule::Physical {
            continue;
        }
        let (mut cursor, mut end) = (store.cursor(relation.set)?, Vec::new());
        cursor.limit(KeyRange::prefix(path, &mut end));
        if unit.next(&mut cursor, Read::Unlocked)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<S: Store> DbPcb<S> {
    /// Inserts a segment of a woven view, or a logical child, below the trail.
    pub(crate) fn insert_woven(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        ssa: &Ssa<'_>,
        given: &[u8],
    ) -> Result<Status> {
        let node = shape.node(ssa.segment);
        let segment = shape.segment(ssa.segment);
        let database = shape.database(node);
        let own_len = match area::given_len(segment, given) {
            Ok(len) => len,
            Err(status) => return Ok(status),
        };
        let (own, joined) = given.split_at(own_len);
        let mut data = Vec::new();
        area::from_program(segment, own, database.blank, &mut data);
        if !database.schema.of(node.of).is_logical_child {
            return self.insert_dependent(reach, shape, ssa, &data);
        }
        if matches!(node.chain, Chain::Relation { .. }) {
            return self.insert_on_logical_path(reach, shape, ssa, &data, joined);
        }
        let Some(relation) = database.relation_of(node.of) else { return Ok(Status::IX) };
        let Some(parents) = shape.named(relation.parent_dbd) else { return Ok(Status::IX) };
        let key = data.get(..relation.parent_key_len).unwrap_or(&[]);
        let target = (parents.as_ref(), relation.parent);
        let parent = match self.destination(reach, node.destination, target, key, joined)? {
            Ok(parent) => parent,
            Err(status) => return Ok(status),
        };
        self.store_child(reach, shape, ssa, &data, &parent)
    }

    /// Finds the destination parent, and inserts or replaces it where the rules say so (row 72).
    fn destination(
        &mut self,
        reach: &mut Reach<'_, S>,
        joined: Option<Joined>,
        (database, of): (&Database, TypeAt),
        key: &[u8],
        data: &[u8],
    ) -> Result<std::result::Result<Vec<u8>, Status>> {
        let there = find_by_key((reach.store, reach.unit), database, of, key)?;
        let rule = database.schema.dbd.segments[of.index()].rules.insert;
        if data.is_empty() || joined.is_none() {
            return Ok(there.ok_or(Status::IX));
        }
        let kind = database.schema.of(of);
        let own_key = kind.key.and_then(|key| data.get(key.offset..key.offset + key.len));
        if own_key.is_some_and(|own| !key.ends_with(own)) {
            return Ok(Err(Status::IX));
        }
        let levels_of = |path: &[u8]| database.parse(path);
        match there {
            Some(path) if rule == Rule::Virtual => {
                let levels = levels_of(&path)?;
                self.lock_for_change(reach, database, &path)?;
                let (set, tree_key) = database.locate(&path)?;
                let mut value = Vec::new();
                reach.unit.get(set, tree_key, Read::Unlocked, &mut value)?;
                let stored =
                    hierarchy::Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
                let mut old = Vec::new();
                crate::weave::read(reach.unit, database, &path, &mut old)?;
                let change = (&old[..], data);
                let place = (&path[..], &levels);
                let target = (reach.store, &mut *reach.unit);
                let done = database.replace(target, place, &stored, change, &mut self.work)?;
                Ok(if done == Changed::Done { Ok(path) } else { Err(Status::NI) })
            }
            Some(path) => Ok(Ok(path)),
            None => self.insert_destination(reach, (database, of), key, data),
        }
    }

    fn insert_destination(
        &mut self,
        reach: &mut Reach<'_, S>,
        (database, of): (&Database, TypeAt),
        key: &[u8],
        data: &[u8],
    ) -> Result<std::result::Result<Vec<u8>, Status>> {
        let schema = &database.schema;
        let kind = schema.of(of);
        let own = kind.key.map_or(0, |key| key.len);
        let mut path = Vec::new();
        if let Some(above) = kind.parent {
            let up = &key[..key.len().saturating_sub(own)];
            match find_by_key((reach.store, reach.unit), database, above, up)? {
                Some(parent) => path = parent,
                None => return Ok(Err(Status::IX)),
            }
            path.push(of.code());
        } else {
            let Some(partition) = schema.placement.partition_of(key) else {
                return Ok(Err(Status::FM));
            };
            if schema.is_partitioned() {
                path.extend_from_slice(&partition.to_be_bytes());
            }
            if schema.is_hashed() {
                let Some(anchor) = schema.placement.anchor(partition, key) else {
                    return Ok(Err(Status::FM));
                };
                path.extend_from_slice(&anchor);
            }
        }
        schema.put_key(of, &key[key.len().saturating_sub(own)..], &mut path);
        if kind.has_position() {
            hierarchy::twin::only(&mut path);
        }
        let levels = database.parse(&path)?;
        self.lock_for_change(reach, database, &path)?;
        let target = (reach.store, &mut *reach.unit);
        let done = database.insert(target, (&path, &levels), data, &[], &mut self.work)?;
        Ok(match done {
            Changed::Done => Ok(path),
            Changed::Exists => Err(Status::II),
            Changed::IndexExists => Err(Status::NI),
        })
    }

    /// Inserts below the logical parent: the child goes below its physical parent (row 71).
    fn insert_on_logical_path(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        ssa: &Ssa<'_>,
        data: &[u8],
        joined: &[u8],
    ) -> Result<Status> {
        let node = shape.node(ssa.segment);
        let database = shape.database(node);
        let Some(relation) = database.relation_of(node.of) else { return Ok(Status::IX) };
        let schema = &database.schema;
        let Some(above) = schema.of(node.of).parent else { return Ok(Status::IX) };
        let key_len = database.schema.dbd.concatenated_key_len(above.index()) as usize;
        let (key, rest) = data.split_at(key_len.min(data.len()));
        let target = (database.as_ref(), above);
        let physical = match self.destination(reach, node.destination, target, key, joined)? {
            Ok(path) => path,
            Err(status) => return Ok(status),
        };
        let parent = self.parent_path(shape, node, node.level).to_vec();
        let Some(parents) = shape.named(relation.parent_dbd) else { return Ok(Status::IX) };
        let mut stored = Vec::with_capacity(data.len() + relation.parent_key_len);
        let parent_levels = parents.parse(&parent)?;
        parents.concatenate(&parent, &parent_levels, &mut stored);
        stored.extend_from_slice(rest);
        self.store_below(reach, shape, (ssa, node), &physical, (&stored, &parent))
    }

    /// Stores a logical child below the physical parent that the trail leads to.
    fn store_child(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        ssa: &Ssa<'_>,
        data: &[u8],
        parent: &[u8],
    ) -> Result<Status> {
        let node = shape.node(ssa.segment);
        let above = self.parent_path(shape, node, node.level).to_vec();
        self.store_below(reach, shape, (ssa, node), &above, (data, parent))
    }

    fn insert_dependent(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        ssa: &Ssa<'_>,
        data: &[u8],
    ) -> Result<Status> {
        let node = shape.node(ssa.segment);
        let above = match node.level {
            1 => Vec::new(),
            level => self.parent_path(shape, node, level).to_vec(),
        };
        self.store_below(reach, shape, (ssa, node), &above, (data, &[]))
    }

    /// Stores a segment below a path, and adds its virtual key to the trail.
    fn store_below(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (ssa, node): (&Ssa<'_>, &Node),
        above: &[u8],
        (data, logical_parent): (&[u8], &[u8]),
    ) -> Result<Status> {
        let database = shape.database(node);
        let mut part = Vec::new();
        let place = crate::insert::place_of(ssa, shape.segment(ssa.segment).rules.place);
        let single = shape.segment(ssa.segment).single;
        let asked = (node.of, above, single);
        let status = self.make_part(reach, database, asked, data, (place, None), &mut part)?;
        if status != Status::OK {
            self.note_twin(node, &[]);
            return Ok(status);
        }
        let mut path = above.to_vec();
        if node.of != TypeAt::ROOT {
            path.push(node.of.code());
        }
        path.extend_from_slice(&part);
        let levels = database.parse(&path)?;
        self.lock_for_change(reach, database, &path)?;
        let target = (reach.store, &mut *reach.unit);
        let done =
            database.insert(target, (&path, &levels), data, logical_parent, &mut self.work)?;
        match done {
            Changed::Done => {}
            Changed::Exists => {
                let part =
                    if matches!(node.chain, Chain::Relation { .. }) { &[][..] } else { &part };
                self.note_twin(node, part);
                return Ok(Status::II);
            }
            Changed::IndexExists => return Ok(Status::NI),
        }
        self.follow(reach, shape, (ssa.segment, node), (&path, &part))
    }

    /// Remembers where the twin is that has the key already.
    fn note_twin(&mut self, node: &Node, part: &[u8]) {
        self.trail.best.clone_from(&self.trail.key);
        if node.level > 1 {
            self.trail.best.push(node.code);
        }
        self.trail.best.extend_from_slice(part);
    }

    /// Adds the occurrence that was just stored to the trail.
    fn follow(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (at, node): (u16, &Node),
        (path, part): (&[u8], &[u8]),
    ) -> Result<Status> {
        let database = shape.database(node);
        let mut virtual_part = part.to_vec();
        if let Chain::Relation { .. } = node.chain {
            let (set, key) = database.locate(path)?;
            let mut value = Vec::new();
            reach.unit.get(set, key, Read::Unlocked, &mut value)?;
            let kind = database.schema.of(node.of);
            let stored =
                hierarchy::Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
            let mut scratch = Vec::new();
            let data = stored.data(&mut scratch).map_err(|what| database.damaged(what))?;
            let above = self.parent_path(shape, node, node.level).len();
            if let Some((_, entry)) = database.relation_entry(node.of, path, &stored, data)? {
                virtual_part = entry[above.min(entry.len())..].to_vec();
            }
        }
        if shape.is_plain {
            self.trail.push(node, &virtual_part);
            return Ok(Status::OK);
        }
        let plan = crate::plan::Plan::new(shape, at, &[]);
        self.trail.limit(shape, &plan);
        let level = node.level;
        match self.present(reach, shape, plan.level(level), level, &virtual_part)? {
            true => Ok(Status::OK),
            false => Ok(Status::GE),
        }
    }
}
