//! GU, GN, GNP and their hold forms.

use crate::ssa::{Calling, Ssa, Ssas};
use definitions::Organization;
use hierarchy::{Result, Stored};
use store::{Read, Store, Unit};

use crate::context::CallContext;
use crate::hold_state::Held;
use crate::pcb::DbPcb;
use crate::plan::Plan;
use crate::position::{Cut, Side};
use crate::search::Found;
use crate::status::Status;
use crate::view::CompiledView;

/// The kinds of get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Get {
    /// GU: from the front.
    Unique,
    /// GN: from the point.
    Next,
    /// GNP: from the point, below the parent.
    WithinParent,
}

/// What a call answers: its status and how many bytes of the area it filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    pub(crate) filled: usize,
}

impl Answer {
    pub(crate) fn of(status: Status) -> Answer {
        Answer { status, filled: 0 }
    }
}

impl<S: Store> DbPcb<S> {
    /// A get call.
    pub(crate) fn get(
        &mut self,
        context: &mut CallContext<'_, S>,
        get: Get,
        hold: bool,
        ssas: &[&[u8]],
        area: &mut [u8],
    ) -> Result<Answer> {
        let view = context.view;
        self.hold.release();
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&view.table, Calling::Get, ssas, &mut list) {
            return Ok(self.refuse(&refusal));
        }
        // DLI-12.80: what lies in sequence only can be read, not held.
        let in_sequence =
            matches!(view.resolved.organization, Organization::Hsam | Organization::Shsam);
        if hold && in_sequence {
            return Ok(Answer::of(Status::AM));
        }
        if let Some(status) = self.forbids_get(view, &list) {
            return Ok(Answer::of(status));
        }
        if get == Get::WithinParent && !self.has_parent(context)? {
            self.feedback.mask.clear();
            return Ok(Answer::of(Status::GP));
        }
        let answer = match list.is_empty() {
            true if get == Get::Unique => self.first_root(context, area)?,
            true => self.next_segment(context, get == Get::WithinParent, area)?,
            false => self.qualified(context, get, &list, area)?,
        };
        self.hold.found = hold && answer.status.is_ok();
        if answer.status.is_ok() {
            self.sharing.read_at = context.changes;
        }
        Ok(answer)
    }

    /// An SSA that could not be taken apart.
    pub(crate) fn refuse(&mut self, refusal: &crate::ssa::Refusal) -> Answer {
        self.fault(usize::from(refusal.ssa), refusal.status.into())
    }

    /// The SSA in place `at` of the call, from 0, is wrong: the PCB shows its ordinal as the level,
    /// and what the level table holds there (DLI-2.5).
    pub(crate) fn fault(&mut self, at: usize, status: Status) -> Answer {
        self.feedback.show_fault(at);
        Answer::of(status)
    }

    /// Whether there is parentage, and the parent still is.
    fn has_parent(&mut self, context: &mut CallContext<'_, S>) -> Result<bool> {
        let view = context.view;
        if self.parentage.levels.is_empty() {
            return Ok(false);
        }
        if !self.may_be_gone(context) {
            return Ok(true);
        }
        let (path, levels) = (std::mem::take(&mut self.parentage.path), self.parentage.levels);
        let there = match view.is_plain {
            true => {
                let node = self.node_at(&levels, levels.len());
                self.load(context, node, levels.len(), &path)?
            }
            false => self.carry(context, &path, &levels)?,
        };
        self.parentage.path = path;
        Ok(there)
    }

    /// Whether options forbid a get (DLI-12.25, DLI-12.37, DLI-12.40).
    fn forbids_get(&self, view: &CompiledView, list: &Ssas<'_>) -> Option<Status> {
        if view.resolved.options.is_load() {
            return Some(Status::AM);
        }
        let reads = |at: u16| {
            let options = view.node(at).options;
            options.allows('G') || options.has('K')
        };
        let Some(last) = list.last() else {
            return (!view.reads_some).then_some(Status::AM);
        };
        let above = list.len() - 1;
        let wanted = list[..above].iter().filter(|ssa| ssa.codes.has(crate::ssa::Code::D));
        for ssa in wanted {
            // P of the PCB, or of the SENSEG that replaces its options.
            if !view.node(ssa.segment).options.has('P') || !reads(ssa.segment) {
                return Some(Status::AM);
            }
        }
        (!reads(last.segment)).then_some(Status::AM)
    }

    /// GU without SSAs.
    fn first_root(&mut self, context: &mut CallContext<'_, S>, area: &mut [u8]) -> Result<Answer> {
        let view = context.view;
        self.parentage.cancel();
        self.search.stack.forget_best();
        self.search.stack.start(&[], &hierarchy::Levels::NONE);
        let plan = Plan::new(view, 0, &[]);
        self.finish(context, Get::Unique, &plan, area)
    }

    /// A get with SSAs.
    fn qualified(
        &mut self,
        context: &mut CallContext<'_, S>,
        get: Get,
        list: &[Ssa<'_>],
        area: &mut [u8],
    ) -> Result<Answer> {
        let view = context.view;
        let Some(last) = list.last() else { return Ok(Answer::of(Status::AH)) };
        let mut plan = Plan::new(view, last.segment, list);
        plan.from_point = get != Get::Unique && !plan.afresh;
        self.search.stack.forget_best();
        self.search.stack.start(&[], &hierarchy::Levels::NONE);
        if get == Get::WithinParent {
            if let Some(status) = self.enter_parent(context, &mut plan)? {
                return Ok(Answer::of(status));
            }
        } else {
            self.parentage.cancel();
        }
        if get == Get::Unique {
            self.imply(context, &mut plan)?;
        }
        self.finish(context, get, &plan, area)
    }

    /// Makes the parent's levels the base of a GNP. Answers a status if that does not fit.
    fn enter_parent(
        &mut self,
        context: &mut CallContext<'_, S>,
        plan: &mut Plan<'_, '_>,
    ) -> Result<Option<Status>> {
        let levels = self.parentage.levels;
        let depth = levels.len();
        let parent = self.node_at(&levels, depth);
        let within = plan.levels.get(depth - 1).is_some_and(|level| level.node == parent);
        if plan.target() <= depth || !within {
            // DLI-12.12: the parent's own type, or one that is not beneath it.
            self.feedback.mask.clear();
            return Ok(Some(Status::GP));
        }
        plan.base = depth;
        // With the point elsewhere the parent's dependents are read from the first on, or all of
        // them are in front of it.
        let outside = !self.position.path.starts_with(&self.parentage.path);
        plan.nowhere = plan.from_point && outside && self.is_behind_parent();
        plan.from_point &= !outside;
        let path = std::mem::take(&mut self.parentage.path);
        let there = self.carry(context, &path, &levels)?;
        self.search.stack.start(&path, &levels);
        let fits = match there && !plan.nowhere {
            true => self.fits(context, plan, &path)?,
            false => depth,
        };
        self.parentage.path = path;
        if fits < depth {
            // DLI-12.13.
            plan.nowhere = true;
            self.search.stack.truncate(fits);
            self.search.stack.forget_best();
            self.search.stack.note_best();
        }
        Ok(None)
    }

    /// Whether the point lies behind everything beneath the parent.
    pub(crate) fn is_behind_parent(&self) -> bool {
        if self.marks.are_kept() {
            return self.marks.are_behind(&self.view, &self.position, &self.parentage);
        }
        let parent = Cut { key: &self.parentage.path, side: Side::Behind };
        self.position.is_at_end()
            || self.position.cut().is_some_and(|cut| parent.order(&cut).is_le())
    }

    /// How many levels of the established path satisfy their SSAs, from the top (DLI-12.13).
    fn fits(
        &mut self,
        context: &mut CallContext<'_, S>,
        plan: &Plan<'_, '_>,
        path: &[u8],
    ) -> Result<usize> {
        let view = context.view;
        let levels = self.parentage.levels;
        for level in 1..=plan.base {
            let step = plan.level(level);
            if matches!(step.need, crate::plan::Need::Any) && !step.wanted {
                continue;
            }
            if view.is_plain && !self.load(context, step.node, level, &path[..levels.end(level)])? {
                return Ok(level - 1);
            }
            let stored = match view.is_plain {
                true => path[..levels.end(level)].to_vec(),
                false => self.search.stack.carried[level - 1].path.clone(),
            };
            let part = &path[levels.end(level - 1) + usize::from(level > 1)..levels.end(level)];
            let indexed = crate::subject::indexed(context, step, &stored, Some(part))?;
            let (data, joined) =
                (&self.search.stack.data[level - 1], &self.search.stack.joined[level - 1]);
            let (node, indexed) = (step.node, indexed.as_ref());
            let occurrence = crate::subject::Occurrence { view, node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(level - 1);
            }
        }
        Ok(plan.base)
    }

    /// Reads the segment of a plain path into the search stack's data of that level.
    pub(crate) fn load(
        &mut self,
        context: &mut CallContext<'_, S>,
        node: u16,
        level: usize,
        path: &[u8],
    ) -> Result<bool> {
        let view = context.view;
        let database = view.database(view.node(node));
        let (set, key) = database.locate(path)?;
        let mut value = std::mem::take(&mut self.search.seek);
        let mut there = context.unit.get(set, key, Read::Unlocked, &mut value)?;
        if there {
            let kind = database.schema.of(view.node(node).of);
            let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
            there = !stored.is_deleted;
            let data =
                stored.data(&mut self.search.expanded).map_err(|what| database.damaged(what))?;
            let kept = &mut self.search.stack.data[level - 1];
            kept.clear();
            kept.extend_from_slice(data);
        }
        self.search.seek = value;
        Ok(there)
    }

    /// Searches, and settles position, feedback and area.
    fn finish(
        &mut self,
        context: &mut CallContext<'_, S>,
        get: Get,
        plan: &Plan<'_, '_>,
        area: &mut [u8],
    ) -> Result<Answer> {
        let view = context.view;
        self.search.wanted_level = plan.target();
        self.search.was_held = false;
        let found = self.search(context, plan)?;
        if found != Found::Path {
            return self.miss(context, get, plan, found, area);
        }
        self.take_stack();
        self.position.settle();
        self.marks.note(&self.view, &self.position, None);
        let levels = self.position.levels;
        self.show_path(levels.len());
        if get != Get::WithinParent {
            self.parentage.set(&self.position, plan.parentage.unwrap_or(plan.target()));
        } else if let Some(level) = plan.parentage {
            self.parentage.set(&self.position, level);
        }
        let mut filled = 0;
        for level in 1..=plan.target() {
            let step = plan.level(level);
            let node = step.node;
            let wanted = step.wanted || level == plan.target();
            if wanted && !view.node(node).options.has('K') {
                filled = self.put_area(view, node, level, area, filled);
                self.hold.segments.push(Held { level, node });
            }
            if let Some(class) = step.class {
                context.locks.hold(self.number, class);
            }
        }
        Ok(Answer { status: Status::OK, filled })
    }

    /// GE, GB or FM: DLI-12.6, DLI-12.7, DLI-12.15 and DLI-12.16.
    pub(crate) fn miss(
        &mut self,
        context: &mut CallContext<'_, S>,
        get: Get,
        plan: &Plan<'_, '_>,
        found: Found,
        area: &mut [u8],
    ) -> Result<Answer> {
        let view = context.view;
        let best = self.search.stack.best_levels.0;
        let depth = best.len();
        let wanted = |level: &crate::plan::LevelPlan<'_, '_>| level.wanted;
        let put = plan.levels[..depth].iter().any(wanted);
        let at_end = get == Get::Next && !plan.is_limited() && !put && !self.search.was_held;
        if at_end && found == Found::Nothing {
            self.position.reset();
            self.feedback.forget();
            self.marks.forget();
            self.parentage.cancel();
            return Ok(Answer::of(Status::GB));
        }
        let best_path = std::mem::take(&mut self.search.stack.best);
        self.show(&best_path, &best);
        if get == Get::WithinParent {
            // DLI-12.7: behind the parent's last dependent.
            self.position.replace_path(&self.parentage.path, self.parentage.levels);
        } else {
            self.position.replace_path(&best_path, best);
        }
        match found {
            Found::Rejected if view.lies_in_front(&self.search.stack.limits[0].lower) => {
                self.position.reset();
            }
            _ => self.point_behind_miss(view, get, plan, depth),
        }
        let within = get == Get::WithinParent;
        self.marks.note(&self.view, &self.position, within.then(|| plan.level(plan.base + 1).node));
        if let Some(level) = plan.parentage.filter(|level| *level <= depth) {
            self.parentage.path = best_path[..best.end(level)].to_vec();
            self.parentage.levels = best;
            self.parentage.levels.truncate(level);
        }
        self.search.stack.best = best_path;
        let mut filled = 0;
        for level in 1..=depth.min(plan.target()) {
            let step = plan.level(level);
            if step.wanted && level != plan.target() {
                self.again(context, level)?;
                filled = self.put_area(view, step.node, level, area, filled);
            }
        }
        let status = if found == Found::Rejected { Status::FM } else { Status::GE };
        Ok(Answer { status, filled })
    }

    /// Reads a level of the deepest path that matched: the search has gone on since.
    fn again(&mut self, context: &mut CallContext<'_, S>, level: usize) -> Result<()> {
        let view = context.view;
        let (path, levels) = (self.search.stack.best.clone(), self.search.stack.best_levels.0);
        let mut above = levels;
        above.truncate(level);
        match view.is_plain {
            true => {
                let node = self.node_at(&levels, level);
                self.load(context, node, level, &path[..levels.end(level)])?
            }
            false => self.carry(context, &path[..levels.end(level)], &above)?,
        };
        Ok(())
    }

    /// Puts the point where the search gave up (DLI-12.6 and DLI-12.7).
    fn point_behind_miss(
        &mut self,
        view: &CompiledView,
        get: Get,
        plan: &Plan<'_, '_>,
        depth: usize,
    ) {
        if get == Get::WithinParent {
            let end = self.position.levels.end(plan.base);
            self.search.seek.clear();
            self.search.seek.extend_from_slice(&self.position.path[..end]);
            return self.position.point_at(&self.search.seek, Side::Behind);
        }
        let failed = depth + 1;
        if failed > plan.target() {
            return;
        }
        let step = plan.level(failed);
        let node = view.node(step.node);
        let limits = &self.search.stack.limits[failed - 1];
        self.search.seek.clear();
        self.search.seek.extend_from_slice(self.position.down_to(depth));
        if failed > 1 {
            self.search.seek.push(node.code);
        }
        if !limits.passed || step.last {
            match failed {
                1 => self.position.point_at_end(),
                _ => self.position.point_at(&self.search.seek, Side::Behind),
            }
            return;
        }
        // Where the point is within that twin already, it goes behind it: GN goes only forward.
        let side = if limits.passed_within { Side::Behind } else { Side::Before };
        self.search.seek.extend_from_slice(&limits.passed_part);
        self.position.point_at(&self.search.seek, side);
    }

    /// GN and GNP without SSAs: the next segment in hierarchic order.
    fn next_segment(
        &mut self,
        context: &mut CallContext<'_, S>,
        within_parent: bool,
        area: &mut [u8],
    ) -> Result<Answer> {
        let view = context.view;
        let before = (self.feedback.mask.level, self.feedback.mask.segment);
        let found = match view.is_plain {
            true => self.scan(context, within_parent, area)?,
            false => {
                let found = self.scan_derived(context, within_parent)?;
                found.then(|| self.put_lowest(view, area))
            }
        };
        if !within_parent {
            self.parentage.cancel();
        }
        let Some(filled) = found else {
            if within_parent {
                let (path, levels) =
                    (std::mem::take(&mut self.parentage.path), self.parentage.levels);
                self.show(&path, &levels);
                self.position.replace_path(&path, levels);
                self.position.point_at(&path, Side::Behind);
                self.marks.note(&self.view, &self.position, None);
                self.parentage.path = path;
                return Ok(Answer::of(Status::GE));
            }
            self.position.reset();
            self.feedback.forget();
            self.marks.forget();
            return Ok(Answer::of(Status::GB));
        };
        self.position.settle();
        self.marks.note(&self.view, &self.position, None);
        let level = self.position.levels.len();
        self.show_path(level);
        let node = self.node_at(&self.position.levels, level);
        if !within_parent {
            self.parentage.set(&self.position, level);
        }
        self.hold.segments.push(Held { level, node });
        Ok(Answer { status: crossed(before, level, self.feedback.mask.segment), filled })
    }
}

/// GA, GK or blank, by what the PCB showed before (DLI-2.6).
fn crossed(before: (u8, [u8; 8]), level: usize, segment: [u8; 8]) -> Status {
    let (old_level, old_segment) = (usize::from(before.0), before.1);
    match level.cmp(&old_level) {
        std::cmp::Ordering::Less => Status::GA,
        std::cmp::Ordering::Equal if segment != old_segment => Status::GK,
        _ => Status::OK,
    }
}
