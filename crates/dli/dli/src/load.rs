//! Load mode: ISRT under PROCOPT=L (DLI-12.48 to DLI-12.50).
//!
//! The path of the PCB is the path that was loaded last; every new segment goes behind it.

use crate::ssa::{Calling, Code, Qualification, Ssa, Ssas};
use definitions::TwinPlace;
use hierarchy::{Changed, Result, SegmentPath, TypeAt, twin};
use store::{Store, Unit};

use crate::area;
use crate::context::CallContext;
use crate::get::Answer;
use crate::insert::savepoint;
use crate::pcb::DbPcb;
use crate::status::Status;
use crate::view::{CompiledView, Node};

/// Whether an SSA of a parent says nothing but which key it has (DLI-12.49).
fn asks_for_one_key(view: &CompiledView, ssa: &Ssa<'_>) -> bool {
    let bounds = ssa.key_bounds(&view.table);
    matches!(ssa.qualification, Qualification::None) || bounds.decides && bounds.exact().is_some()
}

impl<S: Store> DbPcb<S> {
    /// ISRT in a load.
    pub(crate) fn load_segments(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
    ) -> Result<Answer> {
        let view = context.view;
        if ssas.is_empty() {
            return Ok(Answer::of(Status::AH));
        }
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&view.table, Calling::Insert, ssas, &mut list)
        {
            let answer = self.refuse(&refusal);
            let in_order = refusal.reason != crate::ssa::Reason::NotBelow;
            return Ok(if in_order { answer } else { Answer::of(Status::LE) });
        }
        let split = list.iter().position(|ssa| ssa.codes.has(Code::D)).unwrap_or(list.len() - 1);
        let (above, new) = list.split_at(split);
        if let Some(at) = above.iter().position(|ssa| !asks_for_one_key(view, ssa)) {
            return Ok(self.fault(at, Status::AJ));
        }
        if !self.fits_loaded(view, above) {
            return Ok(self.not_loaded(view, new[0].segment));
        }
        let point = savepoint(context, new)?;
        let before = point.as_ref().map(|_| (self.position.path.clone(), self.position.levels));
        let status = self.load_path(context, new, area)?;
        if status == Status::OK {
            let (path, levels) = (std::mem::take(&mut self.position.path), self.position.levels);
            self.show(&path, &levels);
            self.position.path = path;
            return Ok(Answer::of(status));
        }
        if let Some(point) = point {
            context.unit.rollback_to(point)?;
        }
        if let Some((path, levels)) = before {
            (self.position.path, self.position.levels) = (path, levels);
            self.position.settle();
        }
        Ok(match status {
            Status::LD => self.not_loaded(view, new[0].segment),
            status => Answer::of(status),
        })
    }

    /// Loads the new segments, each below the one before.
    fn load_path(
        &mut self,
        context: &mut CallContext<'_, S>,
        new: &[Ssa<'_>],
        area: &[u8],
    ) -> Result<Status> {
        let view = context.view;
        let mut at = 0;
        for ssa in new {
            let rest = area.get(at..).unwrap_or(&[]);
            let given = match area::given_len(view.segment(ssa.segment), rest) {
                Ok(len) => &rest[..len],
                Err(status) => return Ok(status),
            };
            at += given.len();
            let status = self.load_one(context, ssa, given)?;
            if status != Status::OK {
                return Ok(status);
            }
        }
        Ok(Status::OK)
    }

    /// Whether the SSAs above the new segment fit the path that was loaded last (DLI-12.49).
    fn fits_loaded(&self, view: &CompiledView, above: &[Ssa<'_>]) -> bool {
        above.iter().all(|ssa| {
            let node = view.node(ssa.segment);
            let levels = &self.position.levels;
            if levels.len() < node.level || self.node_at(levels, node.level) != ssa.segment {
                return false;
            }
            let Some(exact) = ssa.key_bounds(&view.table).exact() else { return true };
            let schema = &view.database(node).schema;
            let mut key = Vec::with_capacity(exact.len());
            let above = levels.end(node.level - 1);
            schema.key_of(node.of, self.position.down_to(node.level), above, &mut key);
            key == exact
        })
    }

    /// LD: the PCB shows the deepest parent that has been loaded.
    fn not_loaded(&mut self, view: &CompiledView, node: u16) -> Answer {
        let levels = self.position.levels;
        let path = &view.node(node).path;
        let known = path
            .iter()
            .enumerate()
            .take_while(|(at, one)| *at < levels.len() && self.node_at(&levels, at + 1) == **one)
            .count();
        let mut shown = levels;
        shown.truncate(known);
        let path = self.position.down_to(known).to_vec();
        self.show(&path, &shown);
        Answer::of(Status::LD)
    }

    fn load_one(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssa: &Ssa<'_>,
        given: &[u8],
    ) -> Result<Status> {
        let view = context.view;
        let node = view.node(ssa.segment);
        let segment = view.segment(ssa.segment);
        let database = view.database(node).clone();
        if database.schema.of(node.of).is_logical_child
            && database.schema.organization().is_partitioned()
        {
            return Ok(Status::LF);
        }
        let mut data = std::mem::take(&mut self.search.expanded);
        area::from_program(segment, given, database.blank, &mut data);
        let status = self.load_data(context, node, &database, &data);
        self.search.expanded = data;
        status
    }

    fn load_data(
        &mut self,
        context: &mut CallContext<'_, S>,
        node: &Node,
        database: &hierarchy::Database,
        data: &[u8],
    ) -> Result<Status> {
        let view = context.view;
        let (schema, levels) = (&database.schema, self.position.levels);
        let (level, kind) = (node.level, schema.of(node.of));
        let parent_loaded = level == 1
            || levels.len() >= level - 1 && node.parent == Some(self.node_at(&levels, level - 1));
        if !parent_loaded {
            return Ok(Status::LD);
        }
        let key = kind
            .key
            .map_or(&[][..], |key| data.get(key.offset..key.offset + key.len).unwrap_or(&[]));
        let mut part = Vec::with_capacity(32);
        if let Some(status) = crate::insert::put_front(database, node.of, key, &mut part) {
            return Ok(if status == Status::II { Status::LB } else { status });
        }
        if node.of == TypeAt::ROOT && !self.may_use_root(database, &part) {
            return Ok(Status::FM);
        }
        schema.put_key(node.of, key, &mut part);
        let above = levels.end(level - 1);
        let from = above + usize::from(level > 1);
        let last = (levels.len() >= level).then(|| self.position.down_to(level)[from..].to_vec());
        let last_type = levels.type_at(level);
        let mut position = Vec::new();
        match &last {
            Some(_) if level > 1 && last_type > node.of => return Ok(Status::LE),
            Some(last) if last_type == node.of => {
                let twin = &last[..part.len().min(last.len())];
                // Hashed roots come as they will (DLI-12.48), whatever order the randomizer keeps.
                let in_order = level > 1 || !schema.is_hashed();
                match part.as_slice().cmp(twin) {
                    std::cmp::Ordering::Less if in_order => return Ok(Status::LC),
                    std::cmp::Ordering::Equal if !kind.has_position() => return Ok(Status::LB),
                    std::cmp::Ordering::Equal => twin::behind(&last[part.len()..], &mut position),
                    // DLI-12.48: an earlier root of that key may be there.
                    _ if !in_order && kind.has_position() => {
                        let (place, to) = (TwinPlace::Last, &mut position);
                        self.choose_position(context, database, &part, place, None, to)?;
                    }
                    _ => twin::only(&mut position),
                }
                if view.segment(self.node_at(&levels, level)).form.single && level > 1 {
                    return Ok(Status::LB);
                }
            }
            _ => twin::only(&mut position),
        }
        if kind.has_position() {
            part.extend_from_slice(&position);
        }
        self.add_loaded(context, node, &part, data)
    }

    fn add_loaded(
        &mut self,
        context: &mut CallContext<'_, S>,
        node: &Node,
        part: &[u8],
        data: &[u8],
    ) -> Result<Status> {
        let view = context.view;
        let database = view.database(node);
        let above = self.position.levels.end(node.level - 1);
        let mut path = self.position.path[..above].to_vec();
        let mut levels = self.position.levels;
        levels.truncate(node.level - 1);
        if node.level > 1 {
            path.push(node.code);
        }
        path.extend_from_slice(part);
        levels.push(TypeAt::of_code(node.code).unwrap_or(TypeAt::ROOT), path.len());
        let Some(parent) = crate::relate::loaded_parent(context, node, data)? else {
            return Ok(Status::IX);
        };
        let target = context.target();
        let at = SegmentPath { path: &path, levels: &levels };
        match database.insert(target, at, data, &parent, &mut self.work)? {
            Changed::Exists => return Ok(Status::LB),
            Changed::IndexExists => return Ok(Status::NI),
            Changed::Done => {}
        }
        self.position.path = path;
        self.position.levels = levels;
        self.position.settle();
        Ok(Status::OK)
    }
}
