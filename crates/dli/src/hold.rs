//! REPL and DLET: changes of what a get-hold returned.
//!
//! Rows are those of the facts' section 12.

use std::sync::Arc;

use hierarchy::{Changed, Levels, Result, Stored};
use ssa::{Calling, Code, Ssas};
use store::{Read, Store, Unit};

use crate::area;
use crate::get::Answer;
use crate::pcb::{DbPcb, Held};
use crate::position::Side;
use crate::search::Reach;
use crate::shape::Shape;
use crate::status::Status;

/// One segment of a path that is replaced.
struct Replacement {
    held: Held,
    path: Vec<u8>,
    levels: Levels,
    value: Vec<u8>,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl<S: Store> DbPcb<S> {
    /// REPL.
    pub(crate) fn replace(
        &mut self,
        reach: &mut Reach<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
    ) -> Result<Answer> {
        let shape = Arc::clone(&self.shape);
        if let Some(answer) = self.without_hold(reach, &shape, 'R')? {
            return Ok(answer);
        }
        let mut list = Ssas::default();
        if let Err(refusal) = ssa::parse_into(&shape.table, Calling::Replace, ssas, &mut list) {
            return Ok(self.refuse(&refusal));
        }
        let held = self.held.clone();
        let known = |node: u16| held.iter().any(|one| one.node == node);
        if let Some(ssa) = list.iter().find(|ssa| !known(ssa.segment)) {
            return Ok(self.fault(ssa.level, Status::AJ));
        }
        let left_out =
            |node: u16| list.iter().any(|ssa| ssa.segment == node && ssa.codes.has(Code::N));
        let mut changes: Vec<Replacement> = Vec::with_capacity(held.len());
        let (mut at, mut asked, mut may_replace) = (0, false, false);
        for one in held {
            let segment = shape.segment(one.node);
            let rest = area.get(at..).unwrap_or(&[]);
            let skipped = left_out(one.node);
            if skipped {
                // Section 2 rule 15: it has its room, as the get filled it.
                let filled = self.filled_len(reach, &shape, one)?;
                if rest.len() < filled {
                    return Ok(Answer::of(Status::AB));
                }
                at += filled;
                continue;
            }
            asked = true;
            may_replace |= shape.node(one.node).options.allows('R');
            let len = match area::given_len(segment, rest) {
                Ok(len) => len,
                Err(status) => return Ok(Answer::of(status)),
            };
            let given = rest.get(..len).unwrap_or(rest);
            at += len;
            match self.replacement(reach, &shape, one, given)? {
                Ok(Some(change)) => changes.push(change),
                Ok(None) => {}
                Err(status) => return Ok(Answer::of(status)),
            }
        }
        if asked && !may_replace {
            return Ok(Answer::of(Status::AM));
        }
        self.apply(reach, &shape, &changes)
    }

    /// DJ if nothing is held; AM if no segment of the PCB may be changed so, hold or not.
    fn without_hold(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        letter: char,
    ) -> Result<Option<Answer>> {
        if !shape.nodes.iter().any(|node| node.options.allows(letter)) {
            return Ok(Some(Answer::of(Status::AM)));
        }
        // What another PCB has deleted is held no longer.
        let mut gone = !self.holding || self.position.levels.is_empty();
        if !gone && self.may_be_gone(reach) {
            let level = self.position.levels.len();
            let lowest = Held { level, node: self.node_at(&self.position.levels, level) };
            let path = self.stored_path(shape, lowest);
            let (set, key) = shape.database(shape.node(lowest.node)).locate(&path)?;
            gone = !reach.unit.get(set, key, Read::Unlocked, &mut self.seek)?;
        }
        if !gone {
            return Ok(None);
        }
        if self.position.levels.is_empty() {
            self.mask.clear();
        }
        Ok(Some(Answer::of(Status::DJ)))
    }

    /// How many bytes of the area the get filled for a level.
    fn filled_len(&mut self, reach: &mut Reach<'_, S>, shape: &Shape, held: Held) -> Result<usize> {
        if shape.is_plain {
            let path = self.position.down_to(held.level).to_vec();
            self.load(reach, shape, (held.node, held.level), &path)?;
        }
        let mut room = vec![0; shape.area_max];
        Ok(self.put_area(shape, (held.node, held.level), &mut room, 0))
    }

    /// What one level of a REPL does; `None` if its bytes are unchanged (row 33).
    fn replacement(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        held: Held,
        given: &[u8],
    ) -> Result<std::result::Result<Option<Replacement>, Status>> {
        let node = shape.node(held.node);
        let segment = shape.segment(held.node);
        let database = shape.database(node);
        let path = self.stored_path(shape, held);
        let (set, key) = database.locate(&path)?;
        let levels = database.parse(&path)?;
        let mut value = Vec::new();
        if !reach.unit.get(set, key, Read::Unlocked, &mut value)? {
            // Deleted through another PCB since.
            return Ok(Err(Status::DJ));
        }
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
        let mut scratch = Vec::new();
        let old = stored.data(&mut scratch).map_err(|what| database.damaged(what))?.to_vec();
        if !node.options.allows('R') {
            let changed = area::differs(segment, &old, given, database.blank);
            return Ok(if changed { Err(Status::AM) } else { Ok(None) });
        }
        let mut new = Vec::new();
        if let Err(status) = area::replaced(segment, (&old, given), database.blank, &mut new) {
            return Ok(Err(status));
        }
        if let Some(key) = kind.key {
            let field = key.offset..key.offset + key.len;
            if old.get(field.clone()) != new.get(field) {
                return Ok(Err(Status::DA));
            }
        }
        if old == new {
            return Ok(Ok(None));
        }
        Ok(Ok(Some(Replacement { held, path, levels, value, old, new })))
    }

    /// The path of a held occurrence in the database that stores it.
    pub(crate) fn stored_path(&self, shape: &Shape, held: Held) -> Vec<u8> {
        match shape.is_plain {
            true => self.position.down_to(held.level).to_vec(),
            false => self.trail.carried[held.level - 1].path.clone(),
        }
    }

    fn apply(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        changes: &[Replacement],
    ) -> Result<Answer> {
        let careful = changes.len() > 1
            || changes.iter().any(|change| {
                let node = shape.node(change.held.node);
                shape.database(node).needs_savepoint(node.of)
            });
        let point = match careful {
            true => Some(reach.unit.savepoint().map_err(hierarchy::HierarchyError::from)?),
            false => None,
        };
        for change in changes {
            let node = shape.node(change.held.node);
            let database = shape.database(node);
            self.lock_for_change(reach, database, &change.path)?;
            let kind = database.schema.of(node.of);
            let stored =
                Stored::read(kind, &change.value).map_err(|what| database.damaged(what))?;
            let place = (&change.path[..], &change.levels);
            let data = (&change.old[..], &change.new[..]);
            let target = (reach.store, &mut *reach.unit);
            let done = database.replace(target, place, &stored, data, &mut self.work)?;
            if matches!(node.chain, crate::shape::Chain::Index(_)) && self.moves(shape, change) {
                self.cancel_parentage();
            }
            if done != Changed::Done {
                if let Some(point) = point {
                    reach.unit.rollback_to(point)?;
                }
                return Ok(Answer::of(Status::NI));
            }
        }
        Ok(Answer::of(Status::OK))
    }

    /// Whether a change moves the segment's entry in the index of PROCSEQ (row 14).
    fn moves(&self, shape: &Shape, change: &Replacement) -> bool {
        let node = shape.node(change.held.node);
        let crate::shape::Chain::Index(at) = node.chain else { return false };
        let search = &shape.database(node).indexes[at].index.search;
        search.iter().any(|part| match part.from {
            definitions::resolve::PartSource::Segment(offset) => {
                let field = usize::from(offset)..usize::from(offset) + usize::from(part.len);
                change.old.get(field.clone()) != change.new.get(field)
            }
            _ => false,
        })
    }

    /// Locks the record of a path for a change.
    pub(crate) fn lock_for_change(
        &self,
        reach: &mut Reach<'_, S>,
        database: &hierarchy::Database,
        path: &[u8],
    ) -> Result<()> {
        if !reach.locks.are_shared() {
            return Ok(());
        }
        let (set, key) = database.locate(path)?;
        let levels = database.parse(path)?;
        let root = levels.end(1) - (path.len() - key.len());
        reach.locks.change(reach.unit, (set, &key[..root]))
    }

    /// DLET.
    pub(crate) fn delete(
        &mut self,
        reach: &mut Reach<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
    ) -> Result<Answer> {
        let shape = Arc::clone(&self.shape);
        if let Some(answer) = self.without_hold(reach, &shape, 'D')? {
            return Ok(answer);
        }
        let mut list = Ssas::default();
        if let Err(refusal) = ssa::parse_into(&shape.table, Calling::Delete, ssas, &mut list) {
            return Ok(self.refuse(&refusal));
        }
        let Some(first) = self.held.first().copied() else {
            return Ok(Answer::of(Status::DJ));
        };
        let (mut at, mut chosen) = (0, first);
        if let Some(ssa) = list.first() {
            let Some(place) = self.held.iter().position(|one| one.node == ssa.segment) else {
                return Ok(self.fault(ssa.level, Status::AJ));
            };
            for at_level in 0..place {
                let above = self.held[at_level];
                let rest = area.get(at..).unwrap_or(&[]);
                at += match area::given_len(shape.segment(above.node), rest) {
                    Ok(len) => len,
                    Err(_) => self.filled_len(reach, &shape, above)?,
                };
            }
            chosen = self.held[place];
        }
        let given = area.get(at..).unwrap_or(&[]);
        if !shape.node(chosen.node).options.allows('D') {
            return Ok(Answer::of(Status::AM));
        }
        if crate::relate::is_of_sequence(shape.node(chosen.node)) {
            return Ok(Answer::of(Status::AM));
        }
        if self.key_differs(reach, &shape, chosen, given)? {
            return Ok(Answer::of(Status::DA));
        }
        self.remove(reach, &shape, chosen)
    }

    /// Whether the key in the area is another one than that of the segment (row 35).
    fn key_differs(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        held: Held,
        given: &[u8],
    ) -> Result<bool> {
        let node = shape.node(held.node);
        let segment = shape.segment(held.node);
        let database = shape.database(node);
        let path = self.stored_path(shape, held);
        let mut old = Vec::new();
        crate::weave::read(reach.unit, database, &path, &mut old)?;
        let Some(key) = database.schema.of(node.of).key else { return Ok(false) };
        let old = old.get(key.offset..key.offset + key.len);
        let from = match segment.seen.iter().find(|seen| seen.field.is_key) {
            Some(seen) => usize::from(seen.offset),
            None if segment.seen.is_empty() => key.offset,
            None => return Ok(false),
        };
        Ok(given.get(from..from + key.len) != old)
    }

    fn remove(&mut self, reach: &mut Reach<'_, S>, shape: &Shape, held: Held) -> Result<Answer> {
        let node = shape.node(held.node);
        let database = shape.database(node);
        let path = self.stored_path(shape, held);
        self.lock_for_change(reach, database, &path)?;
        let levels = database.parse(&path)?;
        if let Some(status) =
            crate::relate::forbids_delete((reach.store, &mut *reach.unit), shape, held, &path)?
        {
            return Ok(Answer::of(status));
        }
        let target = (reach.store, &mut *reach.unit);
        let gone = database.delete(target, (&path, &levels), &mut self.work)?;
        self.holding = false;
        if gone == 0 {
            return Ok(Answer::of(Status::DJ));
        }
        let end = self.position.levels.end(held.level);
        let deleted = self.position.path[..end].to_vec();
        // Row 10: the parent itself, or what is above it, is gone.
        if self.parentage.path.starts_with(&deleted) {
            self.cancel_parentage();
        }
        self.position.truncate(held.level - 1);
        self.position.point_at(&deleted, Side::Behind);
        self.note_marks();
        Ok(Answer::of(Status::OK))
    }
}
