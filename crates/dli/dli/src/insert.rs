//! ISRT: where a new segment goes (DLI-12.27 to DLI-12.31).

use crate::ssa::{Calling, Code, Ssa, Ssas};
use definitions::TwinPlace;
use hierarchy::{Changed, Levels, Result, TypeAt, twin};
use store::{Cursor, Position as Place, Read, Savepoint, Store, Unit};

use crate::area;
use crate::context::CallContext;
use crate::cursors::seek_behind;
use crate::get::{Answer, Get};
use crate::pcb::DbPcb;
use crate::plan::{NewSegment, Plan};
use crate::position::Side;
use crate::refusal::Refusal;
use crate::search::Found;
use crate::status::Status;
use crate::view::{CompiledView, Node};

/// A savepoint, if inserting these segments may stop halfway.
pub(crate) fn savepoint<S: Store>(
    context: &mut CallContext<'_, S>,
    new: &[Ssa<'_>],
) -> Result<Option<Savepoint>> {
    let view = context.view;
    let careful = new.len() > 1
        || new.iter().any(|ssa| {
            let node = view.node(ssa.segment);
            view.database(node).needs_savepoint(node.of) || node.destination.is_some()
        });
    let point = careful.then(|| context.unit.savepoint()).transpose();
    point.map_err(hierarchy::HierarchyError::from)
}

impl<S: Store> DbPcb<S> {
    /// ISRT outside a load.
    pub(crate) fn insert(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssas: &[&[u8]],
        area: &[u8],
        online: bool,
    ) -> Result<Answer> {
        let view = context.view;
        self.hold.found = false;
        if ssas.is_empty() {
            return Ok(Answer::of(Status::AH));
        }
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&view.table, Calling::Insert, ssas, &mut list)
        {
            return Ok(self.refuse(&refusal));
        }
        let split = list.iter().position(|ssa| ssa.codes.has(Code::D)).unwrap_or(list.len() - 1);
        let (above, new) = list.split_at(split);
        let gap = (new[0].level..).zip(new).position(|(level, ssa)| ssa.level != level);
        if let Some(at) = gap {
            return Ok(self.fault(split + at, Status::AC));
        }
        if let Some(status) = self.forbids_insert(view, new, online) {
            return Ok(Answer::of(status));
        }
        if let Some(answer) = self.find_parent(context, above, new[0].segment)? {
            return Ok(answer);
        }
        let answer = self.insert_path(context, new, area)?;
        let parent = list.iter().rev().find(|ssa| ssa.codes.has(Code::P));
        if let Some(ssa) = parent.filter(|_| answer.status == Status::OK) {
            self.parentage.set(&self.position, usize::from(ssa.level));
        }
        Ok(answer)
    }

    /// Whether options, sensitivity or the sequence forbid an insert (DLI-12.28, DLI-12.31,
    /// DLI-12.69).
    fn forbids_insert(&self, view: &CompiledView, new: &[Ssa<'_>], online: bool) -> Option<Status> {
        let fields = |ssa: &Ssa<'_>| !view.segment(ssa.segment).access.seen.is_empty();
        let needs_path = new.len() > 1 && (online || new.iter().any(fields));
        for ssa in new {
            let node = view.node(ssa.segment);
            let segment = view.segment(ssa.segment);
            let seen = segment.access.seen.is_empty() || segment.key.is_none();
            let key_seen = seen || segment.access.seen.iter().any(|one| one.field.is_key);
            if !node.options.allows('I') || !key_seen {
                return Some(Status::AM);
            }
            if needs_path && !node.options.has('P') {
                return Some(Status::AM);
            }
            if crate::relate::is_of_sequence(node) {
                return Some(Status::AM);
            }
        }
        None
    }

    /// Finds the parent; the search stack holds its path then. Otherwise answers GE or GD.
    fn find_parent(
        &mut self,
        context: &mut CallContext<'_, S>,
        above: &[Ssa<'_>],
        new_node: u16,
    ) -> Result<Option<Answer>> {
        let view = context.view;
        self.search.stack.forget_best();
        self.search.stack.start(&[], &Levels::NONE);
        let Some(parent) = view.node(new_node).parent else { return Ok(None) };
        let mut plan = Plan::new(view, parent, above);
        plan.take_first_of_unnamed();
        self.search.wanted_level = 0;
        self.search.lost = false;
        self.imply(context, &mut plan)?;
        if self.search.lost {
            return Ok(Some(Answer::of(Status::GD)));
        }
        match self.search(context, &plan)? {
            Found::Path => Ok(None),
            _ if self.search.lost => Ok(Some(Answer::of(Status::GD))),
            found => self.miss(context, Get::Unique, &plan, found, &mut []).map(Some),
        }
    }

    /// Inserts the new segments below the search stack, all or none.
    fn insert_path(
        &mut self,
        context: &mut CallContext<'_, S>,
        new: &[Ssa<'_>],
        area: &[u8],
    ) -> Result<Answer> {
        let view = context.view;
        let point = savepoint(context, new)?;
        let (mut at, above) = (0, self.search.stack.len());
        for ssa in new {
            let rest = area.get(at..).unwrap_or(&[]);
            let done = match crate::relate::given(view, ssa.segment, rest) {
                Ok(len) => {
                    at += len;
                    self.insert_one(context, ssa, &rest[..len])?
                }
                Err(status) => Err(Refusal::elsewhere(status)),
            };
            if let Err(refusal) = done {
                if let Some(point) = point {
                    context.unit.rollback_to(point)?;
                }
                if refusal.is_here {
                    self.after_refusal(view, refusal.status, ssa.segment, above);
                }
                return Ok(Answer::of(refusal.status));
            }
        }
        self.take_stack();
        self.position.settle();
        self.marks.note(&self.view, &self.position, None);
        self.show_path(self.position.levels.len());
        Ok(Answer::of(Status::OK))
    }

    /// Position and feedback after an insert that was refused: after II the PCB shows the twin that
    /// is there, and the next GN returns it (DLI-12.8).
    fn after_refusal(&mut self, view: &CompiledView, status: Status, at: u16, above: usize) {
        let twin = std::mem::take(&mut self.search.stack.best);
        self.search.stack.truncate(above);
        self.position.replace_path(&self.search.stack.key, self.search.stack.levels.0);
        let mut levels = self.search.stack.levels.0;
        match status {
            Status::II if twin.is_empty() => {
                // A root key of X'FF' that nobody has.
                self.show_path(levels.len());
                self.position.point_at_end();
            }
            Status::II => {
                let of = TypeAt::of_code(view.node(at).code).unwrap_or(TypeAt::ROOT);
                levels.push(of, twin.len());
                self.show(&twin, &levels);
                self.position.point_at(&twin, Side::Before);
            }
            _ => self.show_path(levels.len()),
        }
        self.marks.note(&self.view, &self.position, None);
        self.search.stack.best = twin;
    }

    /// Inserts one segment below the search stack, and adds it to the search stack.
    fn insert_one(
        &mut self,
        context: &mut CallContext<'_, S>,
        ssa: &Ssa<'_>,
        given: &[u8],
    ) -> Result<std::result::Result<(), Refusal>> {
        let view = context.view;
        let node = view.node(ssa.segment);
        if !view.is_plain || view.database(node).schema.of(node.of).is_logical_child {
            return self.insert_derived(context, ssa, given);
        }
        let segment = view.segment(ssa.segment);
        let database = view.database(node);
        let mut data = std::mem::take(&mut self.search.expanded);
        area::from_program(segment, given, database.blank, &mut data);
        let place = crate::plan::place_of(ssa, segment.form.rules.place);
        // Only where a place is chosen among twins does it matter where the path stands.
        let chooses = database.schema.of(node.of).has_position();
        let here = if chooses { self.twin_here(node) } else { None };
        let mut part = std::mem::take(&mut self.search.start);
        part.clear();
        let above = std::mem::take(&mut self.search.stack.key);
        let (of, single, here) = (node.of, segment.form.single, here.as_deref());
        let new = NewSegment { database, of, above: &above, data: &data, place, here, single };
        let made = self.make_part(context, &new, &mut part);
        self.search.stack.key = above;
        if let Ok(Status::OK) = made {
            self.search.stack.push(node, &part);
        }
        if let Ok(Status::II) = made {
            self.note_twin(node, &part);
        }
        self.search.start = part;
        let status = made?;
        if status != Status::OK {
            self.search.expanded = data;
            return Ok(Err(Refusal::here(status)));
        }
        let path = std::mem::take(&mut self.search.stack.key);
        let levels = self.search.stack.levels.0;
        if levels.len() == 1 && context.locks.are_shared() {
            let (set, key) = database.locate(&path)?;
            let mode = store::LockMode::Exclusive;
            context.locks.enter(context.unit, self.number, set, key, mode)?;
        }
        self.lock_for_change(context, database, &path)?;
        let done = self.store_new(context, database, &path, &levels, &data, &[])?;
        self.search.stack.best.clone_from(&path);
        self.search.stack.key = path;
        self.search.expanded = data;
        Ok(match done {
            Changed::Done => Ok(()),
            Changed::Exists => Err(Refusal::here(Status::II)),
            Changed::IndexExists => Err(Refusal::elsewhere(Status::NI)),
        })
    }

    /// Makes the part of the path for a new segment of a type below a path; after II it is the part
    /// of the twin that is there, or empty for a key that no root may have.
    pub(crate) fn make_part(
        &mut self,
        context: &mut CallContext<'_, S>,
        new: &NewSegment<'_>,
        part: &mut Vec<u8>,
    ) -> Result<Status> {
        let NewSegment { database, of, above, data, place, here, single } = *new;
        let schema = &database.schema;
        let kind = schema.of(of);
        let key = kind
            .key
            .map_or(&[][..], |key| data.get(key.offset..key.offset + key.len).unwrap_or(&[]));
        if let Some(status) = put_front(database, of, key, part) {
            return Ok(status);
        }
        if of == TypeAt::ROOT && !self.may_use_root(database, part) {
            return Ok(Status::FM);
        }
        schema.put_key(of, key, part);
        if !kind.has_position() && !single {
            return Ok(Status::OK);
        }
        let mut twins = above.to_vec();
        if of != TypeAt::ROOT {
            twins.push(of.code());
        }
        if single && self.find_twin(context, database, of, &twins, part)? {
            return Ok(Status::II);
        }
        if kind.has_position() {
            twins.extend_from_slice(part);
            let here = here.and_then(|here| here.strip_prefix(&part[..]));
            let mut position = Vec::new();
            self.choose_position(context, database, &twins, place, here, &mut position)?;
            part.extend_from_slice(&position);
        }
        Ok(Status::OK)
    }

    /// Finds the only twin that may be, and its part of the path.
    fn find_twin(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &hierarchy::Database,
        of: TypeAt,
        twins: &[u8],
        part: &mut Vec<u8>,
    ) -> Result<bool> {
        let (set, prefix) = database.locate(twins)?;
        let cursor = self.search.cursors.get(context.store, set)?;
        cursor.seek(Place::Before(prefix));
        let entry = context.unit.next(cursor, Read::Unlocked)?;
        let Some(rest) = entry.and_then(|entry| entry.key.strip_prefix(prefix)) else {
            return Ok(false);
        };
        part.clear();
        let len = database.schema.tree_part_len(of, rest).unwrap_or(rest.len());
        part.extend_from_slice(&rest[..len]);
        Ok(true)
    }

    /// The part of the twin that the path is on, if it is a twin of a new segment of this node.
    pub(crate) fn twin_here(&self, node: &Node) -> Option<Vec<u8>> {
        let here = self.present_of(*node.path.last()?, node.level)?;
        let from = self.search.stack.end(node.level - 1) + usize::from(node.level > 1);
        Some(here[from..].to_vec())
    }

    /// The position of a new twin among those whose paths begin with `twins` (DLI-12.29).
    pub(crate) fn choose_position(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &hierarchy::Database,
        twins: &[u8],
        place: TwinPlace,
        here: Option<&[u8]>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        let (set, prefix) = database.locate(twins)?;
        let cursor = self.search.cursors.get(context.store, set)?;
        let mut buffer = prefix.to_vec();
        match (place, here) {
            (TwinPlace::Last, _) => seek_behind(cursor, &mut buffer),
            (TwinPlace::Here, Some(here)) => {
                buffer.extend_from_slice(here);
                cursor.seek(Place::Before(&buffer));
                match context.unit.previous(cursor, Read::Unlocked)? {
                    Some(entry) if entry.key.starts_with(prefix) => {
                        twin::between(position(&entry.key[prefix.len()..]), here, to);
                    }
                    _ => twin::in_front(here, to),
                }
                return Ok(());
            }
            (TwinPlace::First | TwinPlace::Here, _) => cursor.seek(Place::Before(&buffer)),
        }
        let entry = match place {
            TwinPlace::Last => context.unit.previous(cursor, Read::Unlocked)?,
            TwinPlace::First | TwinPlace::Here => context.unit.next(cursor, Read::Unlocked)?,
        };
        match entry.filter(|entry| entry.key.starts_with(prefix)) {
            None => twin::only(to),
            Some(entry) => {
                let other = position(&entry.key[prefix.len()..]);
                match place {
                    TwinPlace::Last => twin::behind(other, to),
                    TwinPlace::First | TwinPlace::Here => twin::in_front(other, to),
                }
            }
        }
        Ok(())
    }
}

/// Writes what stands in front of a root's key; a status if that key cannot be a root.
pub(crate) fn put_front(
    database: &hierarchy::Database,
    of: TypeAt,
    key: &[u8],
    part: &mut Vec<u8>,
) -> Option<Status> {
    use definitions::Organization::{Hidam, Hisam, Phidam, Shisam};
    if of != TypeAt::ROOT {
        return None;
    }
    let highest = matches!(database.schema.organization(), Hisam | Shisam | Hidam | Phidam);
    if highest && !key.is_empty() && key.iter().all(|byte| *byte == 0xFF) {
        return Some(Status::II);
    }
    (!database.put_front(key, part)).then_some(Status::FM)
}

/// The position at the beginning of what stands behind a key.
fn position(bytes: &[u8]) -> &[u8] {
    &bytes[..twin::len(bytes).unwrap_or(0)]
}
