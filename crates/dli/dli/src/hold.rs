//! REPL and DLET: changes of what a get-hold returned.

use crate::ssa::{Calling, Code, Ssas};
use definitions::Rule;
use hierarchy::{Changed, DataChange, Result, SegmentPath, Stored};
use store::{Cursor, Read, Store, Unit};

use crate::area;
use crate::context::CallContext;
use crate::entry;
use crate::get::Answer;
use crate::hold_state::Held;
use crate::join;
use crate::pcb::DbPcb;
use crate::position::Side;
use crate::relate;
use crate::replacement::{Current, Replacement};
use crate::status::Status;
use crate::view::{Chain, CompiledView};

impl<S: Store> DbPcb<S> {
    /// REPL.
    pub(crate) fn replace(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
    ) -> Result<Answer> {
        let view = context.view;
        if let Some(answer) = self.without_hold(context, 'R')? {
            return Ok(answer);
        }
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&view.table, Calling::Replace, ssas, &mut list)
        {
            return Ok(self.refuse(&refusal));
        }
        let held = match self.held_for(context, &list) {
            Ok(held) => held,
            Err(answer) => return Ok(answer),
        };
        let left_out =
            |node: u16| list.iter().any(|ssa| ssa.segment == node && ssa.codes.has(Code::N));
        let mut changes: Vec<Replacement> = Vec::with_capacity(held.len());
        let (mut at, mut asked, mut may_replace) = (0, false, false);
        for one in held {
            let rest = area.get(at..).unwrap_or(&[]);
            let skipped = left_out(one.node);
            if skipped {
                // DLI-2.15: it has its room, as the get filled it.
                let filled = self.filled_len(context, one)?;
                if rest.len() < filled {
                    return Ok(Answer::of(Status::AB));
                }
                at += filled;
                continue;
            }
            asked = true;
            may_replace |= view.node(one.node).options.allows('R');
            let (own, joined) = match view.lengths_in_area(one.node, rest) {
                Ok(lengths) => lengths,
                Err(status) => return Ok(Answer::of(status)),
            };
            let (first, second) = (&rest[..own], &rest[own..own + joined]);
            at += own + joined;
            if let Err(status) = self.replacement(context, one, first, second, &mut changes)? {
                return Ok(Answer::of(status));
            }
        }
        if asked && !may_replace {
            return Ok(Answer::of(Status::AM));
        }
        self.apply(context, &changes)
    }

    /// What a REPL or DLET may change, in the order of the area: what the get-hold returned, which
    /// is all that may be named; of a command the segments that it names (DLI-12.36).
    fn held_for(
        &mut self,
        context: &CallContext<'_, S>,
        list: &Ssas<'_>,
    ) -> std::result::Result<Vec<Held>, Answer> {
        let view = context.view;
        if !context.of_command || list.is_empty() {
            let known = |node: u16| self.hold.segments.iter().any(|one| one.node == node);
            return match list.iter().position(|ssa| !known(ssa.segment)) {
                Some(at) => Err(self.fault(at, Status::AJ)),
                None => Ok(self.hold.segments.clone()),
            };
        }
        let levels = &self.position.levels;
        let held = list.iter().map(|ssa| {
            let (node, level) = (ssa.segment, view.node(ssa.segment).level);
            let is_there = level <= levels.len() && self.node_at(levels, level) == node;
            is_there.then_some(Held { level, node })
        });
        held.collect::<Option<_>>().ok_or_else(|| Answer::of(Status::DJ))
    }

    /// DJ if nothing is held; AM if no segment of the PCB may be changed so, hold or not.
    fn without_hold(
        &mut self,
        context: &mut CallContext<'_, S>,
        letter: char,
    ) -> Result<Option<Answer>> {
        let view = context.view;
        if !view.nodes.iter().any(|node| node.options.allows(letter)) {
            return Ok(Some(Answer::of(Status::AM)));
        }
        // What another PCB has deleted is held no longer. Every get of a command holds, for as long
        // as the path is there (DLI-12.36).
        let mut gone = !self.hold.found && !context.of_command || self.position.levels.is_empty();
        if !gone && self.may_be_gone(context) {
            gone = self.lost_path(context)?;
        }
        if !gone {
            return Ok(None);
        }
        if self.position.levels.is_empty() {
            self.feedback.mask.clear();
        }
        Ok(Some(Answer::of(Status::DJ)))
    }

    /// Whether something of the path was deleted through another PCB, or with something else.
    fn lost_path(&mut self, context: &mut CallContext<'_, S>) -> Result<bool> {
        let view = context.view;
        let lowest = self.position.levels.len();
        if let Some(tree) = view.entry_tree() {
            let held = Held { level: lowest, node: 0 };
            return Ok(self.current_entry(context, tree, held)?.is_none());
        }
        // What lies beneath a deleted segment of a plain view is deleted, too.
        let highest = if view.is_plain { lowest } else { 1 };
        for level in highest..=lowest {
            let node = self.node_at(&self.position.levels, level);
            let path = self.stored_path(view, Held { level, node });
            let node = view.node(node);
            let database = view.database(node);
            let (set, key) = database.locate(&path)?;
            if !context.unit.get(set, key, Read::Unlocked, &mut self.search.seek)? {
                return Ok(true);
            }
            let kind = database.schema.of(node.of);
            let stored =
                Stored::read(kind, &self.search.seek).map_err(|what| database.damaged(what))?;
            if join::is_gone(node, &stored) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A held segment as it is now; `None` if it was deleted since.
    fn current(&mut self, context: &mut CallContext<'_, S>, held: Held) -> Result<Option<Current>> {
        let view = context.view;
        if let Some(tree) = view.entry_tree() {
            return self.current_entry(context, tree, held);
        }
        let node = view.node(held.node);
        let database = view.database(node);
        let path = self.stored_path(view, held);
        let (set, key) = database.locate(&path)?;
        let levels = database.parse(&path)?;
        let mut value = Vec::new();
        let cursor = self.search.cursors.get(context.store, set)?;
        let there = match cursor.key() == Some(key) {
            true => {
                let entry = context.unit.current(cursor, Read::Unlocked)?;
                entry.map(|entry| value.extend_from_slice(entry.value)).is_some()
            }
            false => context.unit.get(set, key, Read::Unlocked, &mut value)?,
        };
        if !there {
            return Ok(None);
        }
        let kind = database.schema.of(node.of);
        let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
        let data = stored.data(&mut self.search.expanded).map_err(|what| database.damaged(what))?;
        let data = data.to_vec();
        let mut turned = None;
        if matches!(node.chain, Chain::Relation { .. }) {
            let mut buffer = Vec::new();
            join::turn(database, node, &path, &data, &mut buffer)?;
            turned = Some(buffer);
        }
        let mut joined = Vec::new();
        if let Some(other) = node.destination {
            let at = &self.search.stack.carried[held.level - 1].joined;
            join::read(context.unit, &view.databases[other.database], at, &mut joined)?;
        }
        Ok(Some(Current { path, levels, value, data, turned, joined }))
    }

    /// How many bytes of the area the get filled for a level.
    fn filled_len(&mut self, context: &mut CallContext<'_, S>, held: Held) -> Result<usize> {
        let view = context.view;
        let Some(current) = self.current(context, held)? else { return Ok(0) };
        let mut room = vec![0; view.area_max];
        Ok(view.put_area(held.node, current.shown(), &current.joined, &mut room, 0))
    }

    /// What one level of a REPL does: nothing if its bytes are unchanged (DLI-12.33).
    fn replacement(
        &mut self,
        context: &mut CallContext<'_, S>,
        held: Held,
        own: &[u8],
        joined: &[u8],
        changes: &mut Vec<Replacement>,
    ) -> Result<std::result::Result<(), Status>> {
        let view = context.view;
        let node = view.node(held.node);
        let segment = view.segment(held.node);
        let database = view.database(node);
        let Some(current) = self.current(context, held)? else {
            // Deleted through another PCB since.
            return Ok(Err(Status::DJ));
        };
        // Of a segment whose key alone is seen the area has nothing.
        let own = if own.is_empty() { current.shown() } else { own };
        let blank = database.blank;
        let is_changed = area::differs(segment, current.shown(), &current.joined, own, blank)
            || (!joined.is_empty() && joined != current.joined);
        if !is_changed {
            return Ok(Ok(()));
        }
        if !node.options.allows('R') {
            return Ok(Err(Status::AM));
        }
        let mut new = Vec::new();
        if let Err(status) = area::replaced(segment, current.shown(), own, blank, &mut new) {
            return Ok(Err(status));
        }
        if let Some(key) = segment.key {
            let key = usize::from(key.offset)..usize::from(key.offset) + usize::from(key.len);
            if current.shown().get(key.clone()) != new.get(key) {
                return Ok(Err(Status::DA));
            }
        }
        let stored = match view.entry_tree() {
            // The keys of its target are not where they are in the target.
            Some(tree) if entry::differs_elsewhere(tree, &current.data, &new) => Err(Status::DA),
            Some(_) => Ok(new),
            None => relate::stored_form(database, node, &current.path, &current.data, new)?,
        };
        let new = match stored {
            Ok(new) => new,
            Err(status) => return Ok(Err(status)),
        };
        if !joined.is_empty() && joined != current.joined {
            match self.destination_replacement(context, held, &current.joined, joined)? {
                Ok(change) => changes.extend(change),
                Err(status) => return Ok(Err(status)),
            }
        }
        let Current { path, levels, value, data: old, .. } = current;
        if old != new {
            let (node, database) = (held.node, node.database);
            let is_own = true;
            changes.push(Replacement { node, is_own, database, path, levels, value, old, new });
        }
        Ok(Ok(()))
    }

    /// What a REPL of a concatenated segment does to the destination parent (DLI-12.73).
    fn destination_replacement(
        &mut self,
        context: &mut CallContext<'_, S>,
        held: Held,
        old: &[u8],
        new: &[u8],
    ) -> Result<std::result::Result<Option<Replacement>, Status>> {
        let view = context.view;
        let joined =
            view.node(held.node).destination.zip(view.segment(held.node).destination.as_ref());
        let Some((place, destination)) = joined else { return Ok(Ok(None)) };
        let key = destination.key.map_or(0..0, |key| {
            usize::from(key.offset)..usize::from(key.offset) + usize::from(key.len)
        });
        if old.get(key.clone()) != new.get(key) {
            return Ok(Err(Status::DA));
        }
        match destination.rules.replace {
            Rule::Physical => return Ok(Err(Status::RX)),
            Rule::Logical => return Ok(Ok(None)),
            Rule::Virtual => {}
        }
        let database = &view.databases[place.database];
        let path = self.search.stack.carried[held.level - 1].joined.clone();
        let (set, key) = database.locate(&path)?;
        let (levels, mut value) = (database.parse(&path)?, Vec::new());
        context.unit.get(set, key, Read::Unlocked, &mut value)?;
        let (node, is_own, database) = (held.node, false, place.database);
        let (old, new) = (old.to_vec(), new.to_vec());
        Ok(Ok(Some(Replacement { node, is_own, database, path, levels, value, old, new })))
    }

    /// The path of a held occurrence in the database that stores it.
    pub(crate) fn stored_path(&self, view: &CompiledView, held: Held) -> Vec<u8> {
        match view.is_plain {
            true => self.position.down_to(held.level).to_vec(),
            false => self.search.stack.carried[held.level - 1].path.clone(),
        }
    }

    fn apply(
        &mut self,
        context: &mut CallContext<'_, S>,
        changes: &[Replacement],
    ) -> Result<Answer> {
        let view = context.view;
        let careful = changes.len() > 1
            || changes.iter().any(|change| {
                let database = &view.databases[change.database];
                database.needs_savepoint(change.levels.type_at(change.levels.len()))
            });
        let point = match careful {
            true => Some(context.unit.savepoint().map_err(hierarchy::HierarchyError::from)?),
            false => None,
        };
        for change in changes {
            if let Some(tree) = view.entry_tree() {
                self.replace_entry(context, tree, change)?;
                continue;
            }
            let node = view.node(change.node);
            let database = &view.databases[change.database];
            self.lock_for_change(context, database, &change.path)?;
            let kind = database.schema.of(change.levels.type_at(change.levels.len()));
            let stored =
                Stored::read(kind, &change.value).map_err(|what| database.damaged(what))?;
            let at = SegmentPath { path: &change.path, levels: &change.levels };
            let data = DataChange { old: &change.old, new: &change.new };
            let (set, key) = database.locate(&change.path)?;
            let cursor = self.search.cursors.get(context.store, set)?;
            let cursor = Some(cursor).filter(|cursor| cursor.key() == Some(key));
            let target = context.target();
            let done = database.replace(target, at, cursor, &stored, data, &mut self.work)?;
            let is_sequence = change.is_own && matches!(node.chain, Chain::Index(_));
            if is_sequence && self.moves(view, change) {
                self.parentage.cancel();
            }
            if done != Changed::Done {
                if let Some(point) = point {
                    context.unit.rollback_to(point)?;
                }
                return Ok(Answer::of(Status::NI));
            }
        }
        Ok(Answer::of(Status::OK))
    }

    /// Whether a change moves the segment's entry in the index of PROCSEQ (DLI-12.14).
    fn moves(&self, view: &CompiledView, change: &Replacement) -> bool {
        let node = view.node(change.node);
        let Chain::Index(at) = node.chain else { return false };
        let search = &view.database(node).indexes[at].index.search;
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
        context: &mut CallContext<'_, S>,
        database: &hierarchy::Database,
        path: &[u8],
    ) -> Result<()> {
        if !context.locks.are_shared() {
            return Ok(());
        }
        let (set, key) = database.locate(path)?;
        let levels = database.parse(path)?;
        let root = levels.end(1) - (path.len() - key.len());
        context.locks.change(context.unit, set, &key[..root])
    }

    /// DLET.
    pub(crate) fn delete(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
    ) -> Result<Answer> {
        let view = context.view;
        if let Some(answer) = self.without_hold(context, 'D')? {
            return Ok(answer);
        }
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&view.table, Calling::Delete, ssas, &mut list)
        {
            return Ok(self.refuse(&refusal));
        }
        let held = match self.held_for(context, &list) {
            Ok(held) => held,
            Err(answer) => return Ok(answer),
        };
        let Some(mut chosen) = held.first().copied() else {
            return Ok(Answer::of(Status::DJ));
        };
        let mut at = 0;
        if let Some(place) =
            list.first().and_then(|ssa| held.iter().position(|one| one.node == ssa.segment))
        {
            for above in &held[..place] {
                let above = *above;
                let rest = area.get(at..).unwrap_or(&[]);
                at += match area::given_len(view.segment(above.node), rest) {
                    Ok(len) if view.is_plain => len,
                    _ => self.filled_len(context, above)?,
                };
            }
            chosen = held[place];
        }
        let given = area.get(at..).unwrap_or(&[]);
        if !view.node(chosen.node).options.allows('D') {
            return Ok(Answer::of(Status::AM));
        }
        if relate::is_of_sequence(view.node(chosen.node)) && view.entry_tree().is_none() {
            return Ok(Answer::of(Status::AM));
        }
        if self.key_differs(context, chosen, given)? {
            return Ok(Answer::of(Status::DA));
        }
        self.remove(context, chosen)
    }

    /// Whether the key in the area is another one than that of the segment (DLI-12.35).
    fn key_differs(
        &mut self,
        context: &mut CallContext<'_, S>,
        held: Held,
        given: &[u8],
    ) -> Result<bool> {
        let view = context.view;
        let segment = view.segment(held.node);
        let Some(key) = segment.key else { return Ok(false) };
        let from = match segment.access.seen.iter().find(|seen| seen.field.is_key) {
            Some(seen) => usize::from(seen.offset),
            None if segment.access.seen.is_empty() => usize::from(key.offset),
            None => return Ok(false),
        };
        let Some(current) = self.current(context, held)? else { return Ok(false) };
        let field = from..from + usize::from(key.len);
        if segment.access.seen.is_empty() && segment.destination.is_none() {
            return Ok(given.get(field.clone()) != current.shown().get(field));
        }
        let mut room = vec![0; view.area_max];
        let len = view.put_area(held.node, current.shown(), &current.joined, &mut room, 0);
        Ok(given.get(field.clone()) != room[..len].get(field))
    }

    fn remove(&mut self, context: &mut CallContext<'_, S>, held: Held) -> Result<Answer> {
        let view = context.view;
        let node = view.node(held.node);
        let database = view.database(node);
        let path = self.stored_path(view, held);
        if let Some(tree) = view.entry_tree() {
            self.hold.found = false;
            if !self.delete_entry(context, tree, held)? {
                return Ok(Answer::of(Status::DJ));
            }
        } else if database.schema.of(node.of).may_outlive() {
            let logically = matches!(node.chain, Chain::Relation { .. });
            if !self.delete_by_rules(context, database, &path, logically)? {
                return Ok(Answer::of(Status::DX));
            }
            self.hold.found = false;
        } else {
            self.lock_gap_behind(context, database, &path)?;
            self.lock_for_change(context, database, &path)?;
            let levels = database.parse(&path)?;
            let target = context.target();
            let at = SegmentPath { path: &path, levels: &levels };
            let gone = database.delete(target, at, &mut self.work)?;
            self.hold.found = false;
            if gone == 0 {
                return Ok(Answer::of(Status::DJ));
            }
        }
        let end = self.position.levels.end(held.level);
        let deleted = self.position.path[..end].to_vec();
        // DLI-12.10: the parent itself, or what is above it, is gone.
        if self.parentage.path.starts_with(&deleted) {
            self.parentage.cancel();
        }
        self.position.truncate(held.level - 1);
        self.position.point_at(&deleted, Side::Behind);
        self.marks.note(&self.view, &self.position, None);
        Ok(Answer::of(Status::OK))
    }
}
