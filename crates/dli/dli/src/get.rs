//! GU, GN, GNP and their hold forms.

use crate::ssa::{Calling, Ssa, Ssas};
use definitions::Organization;
use hierarchy::{Result, Stored};
use store::{Read, Store, Unit};

use crate::pcb::{DbPcb, Held, show_levels};
use crate::plan::Plan;
use crate::position::{Cut, Side};
use crate::search::{Found, Reach};
use crate::shape::Shape;
use crate::status::Status;

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
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (get, hold): (Get, bool),
        ssas: &[&[u8]],
        area: &mut [u8],
    ) -> Result<Answer> {
        self.holding = false;
        self.held.clear();
        let mut list = Ssas::default();
        if let Err(refusal) = crate::ssa::parse_into(&shape.table, Calling::Get, ssas, &mut list) {
            return Ok(self.refuse(&refusal));
        }
        // DLI-12.80: what lies in sequence only can be read, not held.
        let in_sequence =
            matches!(shape.view.organization, Organization::Hsam | Organization::Shsam);
        if hold && in_sequence {
            return Ok(Answer::of(Status::AM));
        }
        if let Some(status) = self.forbids_get(shape, &list) {
            return Ok(Answer::of(status));
        }
        if get == Get::WithinParent && !self.has_parent(reach, shape)? {
            self.mask.clear();
            return Ok(Answer::of(Status::GP));
        }
        let answer = match list.is_empty() {
            true if get == Get::Unique => self.first_root(reach, shape, area)?,
            true => self.next_segment(reach, shape, get == Get::WithinParent, area)?,
            false => self.qualified(reach, shape, get, &list, area)?,
        };
        self.holding = hold && answer.status.is_ok();
        if answer.status.is_ok() {
            self.known_at = reach.changes;
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
        self.mask.clear();
        if let Some((segment, key)) = self.table.at(at + 1) {
            self.mask.put_bytes(0, key);
            self.mask.show(at + 1, segment);
        }
        self.mask.level = u8::try_from(at + 1).unwrap_or(u8::MAX);
        Answer::of(status)
    }

    /// Shows the path down to a level.
    pub(crate) fn show_path(&mut self, depth: usize) {
        let DbPcb { shape, mask, table, trail, position, .. } = self;
        show_levels(shape, (mask, table, trail), (&position.path, &position.levels), depth);
    }

    /// Whether there is parentage, and the parent still is.
    fn has_parent(&mut self, reach: &mut Reach<'_, S>, shape: &Shape) -> Result<bool> {
        if self.parentage.levels.is_empty() {
            return Ok(false);
        }
        if !self.may_be_gone(reach) {
            return Ok(true);
        }
        let (path, levels) = (std::mem::take(&mut self.parentage.path), self.parentage.levels);
        let there = match shape.is_plain {
            true => {
                let node = self.node_at(&levels, levels.len());
                self.load(reach, shape, (node, levels.len()), &path)?
            }
            false => self.carry(reach, shape, &path, &levels)?,
        };
        self.parentage.path = path;
        Ok(there)
    }

    /// Whether options forbid a get (DLI-12.25, DLI-12.37, DLI-12.40).
    fn forbids_get(&self, shape: &Shape, list: &Ssas<'_>) -> Option<Status> {
        if shape.view.options.is_load() {
            return Some(Status::AM);
        }
        let reads = |at: u16| {
            let options = shape.node(at).options;
            options.allows('G') || options.has('K')
        };
        let Some(last) = list.last() else {
            return (!shape.reads_some).then_some(Status::AM);
        };
        let above = list.len() - 1;
        let wanted = list[..above].iter().filter(|ssa| ssa.codes.has(crate::ssa::Code::D));
        for ssa in wanted {
            // P of the PCB, or of the SENSEG that replaces its options.
            if !shape.node(ssa.segment).options.has('P') || !reads(ssa.segment) {
                return Some(Status::AM);
            }
        }
        (!reads(last.segment)).then_some(Status::AM)
    }

    /// GU without SSAs.
    fn first_root(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        area: &mut [u8],
    ) -> Result<Answer> {
        self.cancel_parentage();
        self.trail.forget_best();
        self.trail.start(&[], &hierarchy::Levels::NONE);
        let plan = Plan::new(shape, 0, &[]);
        self.finish(reach, shape, (Get::Unique, &plan), area)
    }

    /// A get with SSAs.
    fn qualified(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        get: Get,
        list: &[Ssa<'_>],
        area: &mut [u8],
    ) -> Result<Answer> {
        let Some(last) = list.last() else { return Ok(Answer::of(Status::AH)) };
        let mut plan = Plan::new(shape, last.segment, list);
        plan.from_point = get != Get::Unique && !plan.afresh;
        self.trail.forget_best();
        self.trail.start(&[], &hierarchy::Levels::NONE);
        if get == Get::WithinParent {
            if let Some(status) = self.enter_parent(reach, shape, &mut plan)? {
                return Ok(Answer::of(status));
            }
        } else {
            self.cancel_parentage();
        }
        if get == Get::Unique {
            self.imply(reach, shape, &mut plan)?;
        }
        self.finish(reach, shape, (get, &plan), area)
    }

    /// Makes the parent's levels the base of a GNP. Answers a status if that does not fit.
    fn enter_parent(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        plan: &mut Plan<'_, '_>,
    ) -> Result<Option<Status>> {
        let levels = self.parentage.levels;
        let depth = levels.len();
        let parent = self.node_at(&levels, depth);
        let within = plan.levels.get(depth - 1).is_some_and(|level| level.node == parent);
        if plan.target() <= depth || !within {
            // DLI-12.12: the parent's own type, or one that is not beneath it.
            self.mask.clear();
            return Ok(Some(Status::GP));
        }
        plan.base = depth;
        // With the point elsewhere the parent's dependents are read from the first on, or all of
        // them are in front of it.
        let outside = !self.position.path.starts_with(&self.parentage.path);
        plan.nowhere = plan.from_point && outside && self.is_behind_parent();
        plan.from_point &= !outside;
        let path = std::mem::take(&mut self.parentage.path);
        let there = self.carry(reach, shape, &path, &levels)?;
        self.trail.start(&path, &levels);
        let fits = match there && !plan.nowhere {
            true => self.fits(reach, shape, plan, &path)?,
            false => depth,
        };
        self.parentage.path = path;
        if fits < depth {
            // DLI-12.13.
            plan.nowhere = true;
            self.trail.truncate(fits);
            self.trail.forget_best();
            self.trail.note_best();
        }
        Ok(None)
    }

    /// Whether the point lies behind everything beneath the parent.
    pub(crate) fn is_behind_parent(&self) -> bool {
        if self.is_multiple() {
            return self.is_marked_behind(&self.parentage.path, &self.parentage.levels);
        }
        let parent = Cut { key: &self.parentage.path, side: Side::Behind };
        self.position.is_at_end()
            || self.position.cut().is_some_and(|cut| parent.order(&cut).is_le())
    }

    /// How many levels of the established path satisfy their SSAs, from the top (DLI-12.13).
    fn fits(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        plan: &Plan<'_, '_>,
        path: &[u8],
    ) -> Result<usize> {
        let levels = self.parentage.levels;
        for level in 1..=plan.base {
            let step = plan.level(level);
            if matches!(step.need, crate::plan::Need::Any) && !step.wanted {
                continue;
            }
            if shape.is_plain
                && !self.load(reach, shape, (step.node, level), &path[..levels.end(level)])?
            {
                return Ok(level - 1);
            }
            let stored = match shape.is_plain {
                true => path[..levels.end(level)].to_vec(),
                false => self.trail.carried[level - 1].path.clone(),
            };
            let part = &path[levels.end(level - 1) + usize::from(level > 1)..levels.end(level)];
            let indexed = crate::subject::indexed(reach, shape, step, &stored, Some(part))?;
            let (data, joined) = (&self.trail.data[level - 1], &self.trail.joined[level - 1]);
            let (node, indexed) = (step.node, indexed.as_ref());
            let occurrence = crate::subject::Occurrence { shape, node, data, joined, indexed };
            if !occurrence.satisfies(step) {
                return Ok(level - 1);
            }
        }
        Ok(plan.base)
    }

    /// Reads the segment of a plain path into the trail's data of that level.
    pub(crate) fn load(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (node, level): (u16, usize),
        path: &[u8],
    ) -> Result<bool> {
        let database = shape.database(shape.node(node));
        let (set, key) = database.locate(path)?;
        let mut value = std::mem::take(&mut self.seek);
        let mut there = reach.unit.get(set, key, Read::Unlocked, &mut value)?;
        if there {
            let kind = database.schema.of(shape.node(node).of);
            let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
            there = !stored.is_deleted;
            let data = stored.data(&mut self.expanded).map_err(|what| database.damaged(what))?;
            let kept = &mut self.trail.data[level - 1];
            kept.clear();
            kept.extend_from_slice(data);
        }
        self.seek = value;
        Ok(there)
    }

    /// Searches, and settles position, feedback and area.
    fn finish(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (get, plan): (Get, &Plan<'_, '_>),
        area: &mut [u8],
    ) -> Result<Answer> {
        self.wanted_level = plan.target();
        self.was_held = false;
        let found = self.search(reach, shape, plan)?;
        if found != Found::Path {
            return self.miss(reach, shape, (get, plan), found, area);
        }
        self.take_trail();
        self.position.settle();
        self.note_marks();
        let levels = self.position.levels;
        self.show_path(levels.len());
        if get != Get::WithinParent {
            self.set_parentage(plan.parentage.unwrap_or(plan.target()));
        } else if let Some(level) = plan.parentage {
            self.set_parentage(level);
        }
        let mut filled = 0;
        for level in 1..=plan.target() {
            let step = plan.level(level);
            let node = step.node;
            let wanted = step.wanted || level == plan.target();
            if wanted && !shape.node(node).options.has('K') {
                filled = self.put_area(shape, (node, level), area, filled);
                self.held.push(Held { level, node });
            }
            if let Some(class) = step.class {
                reach.locks.hold(self.number, class);
            }
        }
        Ok(Answer { status: Status::OK, filled })
    }

    /// GE, GB or FM: DLI-12.6, DLI-12.7, DLI-12.15 and DLI-12.16.
    pub(crate) fn miss(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        (get, plan): (Get, &Plan<'_, '_>),
        found: Found,
        area: &mut [u8],
    ) -> Result<Answer> {
        let best = self.trail.best_levels.0;
        let depth = best.len();
        let wanted = |level: &crate::plan::LevelPlan<'_, '_>| level.wanted;
        let put = plan.levels[..depth].iter().any(wanted);
        let at_end = get == Get::Next && !plan.is_limited() && !put && !self.was_held;
        if at_end && found == Found::Nothing {
            self.position.reset();
            self.table.forget();
            self.marks.iter_mut().for_each(|mark| *mark = None);
            self.mask.clear();
            self.cancel_parentage();
            return Ok(Answer::of(Status::GB));
        }
        let best_path = std::mem::take(&mut self.trail.best);
        self.show(&best_path, &best);
        if get == Get::WithinParent {
            // DLI-12.7: behind the parent's last dependent.
            self.position.replace_path(&self.parentage.path, self.parentage.levels);
        } else {
            self.position.replace_path(&best_path, best);
        }
        match found {
            Found::Rejected if shape.lies_in_front(&self.trail.limits[0].lower) => {
                self.position.reset();
            }
            _ => self.point_behind_miss(shape, get, plan, depth),
        }
        let within = get == Get::WithinParent;
        self.note_marks_of(within.then(|| plan.level(plan.base + 1).node));
        if let Some(level) = plan.parentage.filter(|level| *level <= depth) {
            self.parentage.path = best_path[..best.end(level)].to_vec();
            self.parentage.levels = best;
            self.parentage.levels.truncate(level);
        }
        self.trail.best = best_path;
        let mut filled = 0;
        for level in 1..=depth.min(plan.target()) {
            let step = plan.level(level);
            if step.wanted && level != plan.target() {
                self.again(reach, shape, level)?;
                filled = self.put_area(shape, (step.node, level), area, filled);
            }
        }
        let status = if found == Found::Rejected { Status::FM } else { Status::GE };
        Ok(Answer { status, filled })
    }

    /// Reads a level of the deepest path that matched: the search has gone on since.
    fn again(&mut self, reach: &mut Reach<'_, S>, shape: &Shape, level: usize) -> Result<()> {
        let (path, levels) = (self.trail.best.clone(), self.trail.best_levels.0);
        let mut above = levels;
        above.truncate(level);
        match shape.is_plain {
            true => {
                let node = self.node_at(&levels, level);
                self.load(reach, shape, (node, level), &path[..levels.end(level)])?
            }
            false => self.carry(reach, shape, &path[..levels.end(level)], &above)?,
        };
        Ok(())
    }

    /// Puts the point where the search gave up (DLI-12.6 and DLI-12.7).
    fn point_behind_miss(&mut self, shape: &Shape, get: Get, plan: &Plan<'_, '_>, depth: usize) {
        if get == Get::WithinParent {
            let end = self.position.levels.end(plan.base);
            self.seek.clear();
            self.seek.extend_from_slice(&self.position.path[..end]);
            return self.position.point_at(&self.seek, Side::Behind);
        }
        let failed = depth + 1;
        if failed > plan.target() {
            return;
        }
        let step = plan.level(failed);
        let node = shape.node(step.node);
        let limits = &self.trail.limits[failed - 1];
        self.seek.clear();
        self.seek.extend_from_slice(self.position.down_to(depth));
        if failed > 1 {
            self.seek.push(node.code);
        }
        if !limits.passed || step.last {
            match failed {
                1 => self.position.point_at_end(),
                _ => self.position.point_at(&self.seek, Side::Behind),
            }
            return;
        }
        // Where the point is within that twin already, it goes behind it: GN goes only forward.
        let side = if limits.passed_within { Side::Behind } else { Side::Before };
        self.seek.extend_from_slice(&limits.passed_part);
        self.position.point_at(&self.seek, side);
    }

    /// GN and GNP without SSAs: the next segment in hierarchic order.
    fn next_segment(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
        within_parent: bool,
        area: &mut [u8],
    ) -> Result<Answer> {
        let before = (self.mask.level, self.mask.segment);
        let found = match shape.is_plain {
            true => self.scan(reach, shape, within_parent, area)?,
            false => {
                let found = self.scan_woven(reach, shape, within_parent)?;
                found.then(|| self.put_lowest(shape, area))
            }
        };
        if !within_parent {
            self.cancel_parentage();
        }
        let Some(filled) = found else {
            if within_parent {
                let (path, levels) =
                    (std::mem::take(&mut self.parentage.path), self.parentage.levels);
                self.show(&path, &levels);
                self.position.replace_path(&path, levels);
                self.position.point_at(&path, Side::Behind);
                self.note_marks();
                self.parentage.path = path;
                return Ok(Answer::of(Status::GE));
            }
            self.position.reset();
            self.table.forget();
            self.marks.iter_mut().for_each(|mark| *mark = None);
            self.mask.clear();
            return Ok(Answer::of(Status::GB));
        };
        self.position.settle();
        self.note_marks();
        let level = self.position.levels.len();
        self.show_path(level);
        let node = self.node_at(&self.position.levels, level);
        if !within_parent {
            self.set_parentage(level);
        }
        self.held.push(Held { level, node });
        Ok(Answer { status: crossed(before, level, self.mask.segment), filled })
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
