//! REPL and DLET (DLI-12.32 to DLI-12.36).
//!
//! Invariants:
//! 1. Both leave what the PCB shows as it was; REPL leaves the position too (DLI-12.4 and
//!    DLI-12.5).

use definitions::resolve::ViewSegment;

use crate::area;
use crate::bytes::{self, Status};
use crate::lens::Node;
use crate::model::{End, Hold, Model, Shown};
use crate::position::Tail;
use crate::ssa::{self, Fault, Purpose, Ssa};
use crate::{logical, remove};

/// A level of the hold as the area gives it back.
struct Part<'a> {
    node: Node,
    /// What the get put into the area.
    before: &'a [u8],
    now: &'a [u8],
    /// How much of it is the segment itself; the rest is its destination parent.
    own: usize,
}

impl Model {
    /// The hold, or DJ; AM where the PCB cannot have one for this call.
    ///
    /// decision: a PCB none of whose segments may be replaced or deleted gives AM, hold or not.
    fn held(&mut self, pcb: usize, letter: char) -> Result<Hold, End> {
        let view = &self.pcbs[pcb].view;
        if !view.segments.iter().any(|segment| segment.access.options.allows(letter)) {
            return Err(End::status(b"AM"));
        }
        let hold = self.pcbs[pcb].hold.clone();
        // decision: what another PCB deleted is held no longer.
        let lens = self.lens(pcb);
        let without_entry = |node: &Node| match lens.entry_of(node) {
            Some(_) => *node,
            None => Node { entry: None, ..*node },
        };
        let is_there =
            |hold: &Hold| !hold.path.iter().any(|node| lens.is_gone(&without_entry(node)));
        if let Some(hold) = hold.filter(is_there) {
            return Ok(hold);
        }
        // DLI-2.2: without position the PCB shows nothing; else it stays (DLI-2.12).
        if self.pcbs[pcb].position.path.is_empty() {
            self.pcbs[pcb].shown = Shown::nothing();
        }
        Err(End::status(b"DJ"))
    }

    /// The SSAs of a REPL or DLET, which must name levels that were retrieved (DLI-12.34).
    ///
    /// decision: a level that was not is AJ.
    fn held_ssas(
        &self,
        pcb: usize,
        ssas: &[Vec<u8>],
        purpose: Purpose,
        hold: &Hold,
    ) -> Result<Vec<Ssa>, Fault> {
        let view = &self.pcbs[pcb].view;
        let read = ssa::read(view, ssas, purpose)?;
        for (at, ssa) in read.iter().enumerate() {
            let was_held = hold.levels.iter().any(|(level, _)| hold.path[*level].seg == ssa.seg);
            if !was_held || (purpose == Purpose::Delete && at > 0) {
                return Err(Fault::of(b"AJ", at));
            }
        }
        Ok(read)
    }

    pub(crate) fn replace(&mut self, pcb: usize, area: &[u8], ssas: &[Vec<u8>]) -> End {
        let hold = match self.held(pcb, 'R') {
            Ok(hold) => hold,
            Err(end) => return end,
        };
        let ssas = match self.held_ssas(pcb, ssas, Purpose::Replace, &hold) {
            Ok(ssas) => ssas,
            Err(fault) => return self.fault(pcb, fault),
        };
        let before = self.forest.clone();
        match self.replace_parts(pcb, &hold, &ssas, area) {
            Ok(new_hold) => {
                follow(self, pcb);
                self.pcbs[pcb].hold = Some(new_hold);
                End::status(b"  ")
            }
            Err(status) => {
                self.forest = before;
                End::status(status)
            }
        }
    }

    /// Replaces level by level; the first offence ends it (DLI-12.33).
    fn replace_parts(
        &mut self,
        pcb: usize,
        hold: &Hold,
        ssas: &[Ssa],
        mut area: &[u8],
    ) -> Result<Hold, Status> {
        let mut new_hold = hold.clone();
        let (mut asked, mut may_replace) = (false, false);
        for (at, (level, before)) in hold.levels.iter().enumerate() {
            let node = hold.path[*level];
            let segment = self.pcbs[pcb].view.segments[node.seg].clone();
            let skipped = ssas.iter().any(|ssa| ssa.seg == node.seg && ssa.has(b'N'));
            if skipped {
                // DLI-2.15: it has its room, as the get filled it.
                area::split(&mut area, before.len())?;
                continue;
            }
            let fields = !segment.access.seen.is_empty();
            let (own, joined) = match fields {
                true => (before.len(), 0),
                false => area::lengths_in_area(&self.lens(pcb), node.seg, area)?,
            };
            let now = area::split(&mut area, own + joined)?;
            asked = true;
            may_replace |= segment.access.options.allows('R');
            if now != before {
                self.replace_one(pcb, &segment, &Part { node, before, now, own })?;
                new_hold.levels[at].1 = self.lens(pcb).area(&node);
            }
        }
        // decision: a REPL of levels none of which has R is AM, even if nothing was changed.
        if asked && !may_replace {
            return Err(b"AM");
        }
        if self.index() { Ok(new_hold) } else { Err(b"NI") }
    }

    fn replace_one(
        &mut self,
        pcb: usize,
        segment: &ViewSegment,
        part: &Part<'_>,
    ) -> Result<(), Status> {
        if !segment.access.options.allows('R') {
            return Err(b"AM");
        }
        let old = self.lens(pcb).image(&part.node);
        let (own, rest) = part.now.split_at(part.own);
        let (image, joined) = match segment.access.seen.is_empty() {
            false => (area::replaced(segment, &old, part.before, part.now)?, None),
            true if own.is_empty() => (old.clone(), Some(rest.to_vec())),
            true => (own.to_vec(), (!rest.is_empty()).then(|| rest.to_vec())),
        };
        if let Some(key) = segment.key {
            let (at, len) = (usize::from(key.offset), usize::from(key.len));
            if bytes::part(&old, at, len) != bytes::part(&image, at, len) {
                // V1 before DA: a segment that ends within its key has none to compare.
                area::check(segment, &image)?;
                return Err(b"DA");
            }
        }
        if self.pcbs[pcb].view.entries.is_some() {
            return replace_entry(self, pcb, &part.node, &image);
        }
        logical::replace(self, pcb, &part.node, &image, joined)
    }

    pub(crate) fn delete(&mut self, pcb: usize, area: &[u8], ssas: &[Vec<u8>]) -> End {
        let hold = match self.held(pcb, 'D') {
            Ok(hold) => hold,
            Err(end) => return end,
        };
        let ssas = match self.held_ssas(pcb, ssas, Purpose::Delete, &hold) {
            Ok(ssas) => ssas,
            Err(fault) => return self.fault(pcb, fault),
        };
        // DLI-12.35: the highest segment returned, or the one that the SSA names.
        let named = |(level, _): &&(usize, Vec<u8>)| {
            ssas.first().is_none_or(|ssa| hold.path[*level].seg == ssa.seg)
        };
        let Some((level, before)) = hold.levels.iter().find(named) else {
            return End::status(b"DJ");
        };
        let node = hold.path[*level];
        let segment = &self.pcbs[pcb].view.segments[node.seg];
        let fixed = logical::is_fixed(&self.lens(pcb), node.seg);
        if !segment.access.options.allows('D') || fixed {
            return End::status(b"AM");
        }
        let in_front = hold.levels.iter().take_while(|(one, _)| one < level);
        let offset: usize = in_front.map(|(_, bytes)| bytes.len()).sum();
        if let Some((at, len)) = area::seen_key(segment)
            && bytes::part(area, offset + at, len) != bytes::part(before, at, len)
        {
            return End::status(b"DA");
        }
        self.delete_node(pcb, &hold.path[..*level], node)
    }

    /// DLI-12.4 and DLI-12.10: the point is behind the deleted subtree, the levels above stay; the
    /// parentage goes if it was on or beneath the segment.
    fn delete_node(&mut self, pcb: usize, above: &[Node], node: Node) -> End {
        let before = self.forest.clone();
        if let Err(status) = remove::delete(self, pcb, &node) {
            self.forest = before;
            return End::status(status);
        }
        // A deletion adds no entry to an index, so that none can be there twice.
        self.index();
        let mut position = self.pcbs[pcb].position.clone();
        position.go(&self.lens(pcb), above.to_vec(), Tail::Behind(node));
        let one = &mut self.pcbs[pcb];
        one.position = position;
        one.hold = None;
        let within = |path: &Vec<Node>| path.contains(&node);
        one.parentage = one.parentage.take().filter(|path| !within(path));
        End::status(b"  ")
    }
}

/// DLI-12.70: of an entry nothing but the user data is replaced.
///
/// decision: anything else that was changed is DA.
fn replace_entry(model: &mut Model, pcb: usize, node: &Node, image: &[u8]) -> Result<(), Status> {
    let old = model.lens(pcb).image(node);
    let (Some(index), Some(entry)) = (&model.pcbs[pcb].view.entries, node.entry) else {
        return Ok(());
    };
    let at = index.user_data().start;
    if old.len() != image.len() || old[..at] != image[..at] {
        return Err(b"DA");
    }
    model.forest.entries[entry].user_data = image[at..].to_vec();
    Ok(())
}

/// DLI-12.14: under PROCSEQ a REPL that changes the indexed field cancels the parentage.
fn follow(model: &mut Model, pcb: usize) {
    let lens = model.lens(pcb);
    let moved = model.pcbs[pcb].position.path.first().is_some_and(|root| lens.is_gone(root));
    if moved {
        model.pcbs[pcb].parentage = None;
    }
}
