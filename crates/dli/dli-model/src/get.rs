//! GU, GN, GNP and their hold forms.
//!
//! Invariants:
//! 1. A get ends the hold of its PCB, whatever comes of it (DLI-12.32).
//! 2. The parentage is cancelled by every GU and GN, and by no GNP (DLI-12.10).

use definitions::Organization;

use crate::lens::{Lens, Node, Path};
use crate::model::{End, Hold, Model, Shown};
use crate::position::{Position, Tail, following, is_behind};
use crate::search::{Direction, Search, implied, levels};
use crate::ssa::{self, Purpose, Ssa};

/// What a get found out, before the PCB is changed.
struct Outcome {
    status: [u8; 2],
    /// The path found, or the levels that matched.
    path: Path,
    /// Where the point is then; `None` leaves the position.
    point: Option<(Path, Tail)>,
}

/// What kind of get it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unique,
    Next,
    WithinParent,
}

impl Model {
    pub(crate) fn get(&mut self, pcb: usize, function: &str, ssas: &[Vec<u8>]) -> End {
        let kind = match function {
            "GU" | "GHU" => Kind::Unique,
            "GN" | "GHN" => Kind::Next,
            _ => Kind::WithinParent,
        };
        self.pcbs[pcb].hold = None;
        let ssas = match ssa::read(&self.pcbs[pcb].view, ssas, Purpose::Get) {
            Ok(ssas) => ssas,
            Err(fault) => return self.fault(pcb, fault),
        };
        // decision: a call with AC, AJ, AK or AM leaves the parentage as well as the position.
        if !self.may_get(pcb, &ssas) || self.is_hold_of_hsam(pcb, function) {
            return End::status(b"AM");
        }
        let parent = self.pcbs[pcb].parentage.clone();
        if kind != Kind::WithinParent {
            self.pcbs[pcb].parentage = None;
        }
        let Some(floor) = self.floor(pcb, kind, parent, &ssas) else {
            // DLI-2.2.
            // decision: GP leaves the position as it was.
            self.pcbs[pcb].shown = Shown::nothing();
            return End::status(b"GP");
        };
        let outcome = match ssas.last() {
            Some(last) => self.qualified(pcb, kind, &floor, last.seg, &ssas),
            None => self.unqualified(pcb, kind, &floor),
        };
        self.finish(pcb, function.starts_with("GH"), kind, &ssas, outcome)
    }

    /// DLI-12.25, DLI-12.37 and DLI-12.39: G for the segments returned, P for a path call.
    fn may_get(&self, pcb: usize, ssas: &[Ssa]) -> bool {
        let view = &self.pcbs[pcb].view;
        let readable = |seg: usize| view.segments[seg].access.options.allows('G');
        let Some((lowest, upper)) = ssas.split_last() else {
            // decision: without SSA the call goes past what may not be read, unless nothing may.
            return (0..view.segments.len()).any(readable);
        };
        let mut paths = upper.iter().filter(|ssa| ssa.has(b'D'));
        let seen = |seg: usize| readable(seg) || view.segments[seg].access.key_only;
        seen(lowest.seg)
            && paths.all(|ssa| view.segments[ssa.seg].access.options.has('P') && seen(ssa.seg))
    }

    /// DLI-12.80: HSAM and SHSAM know no hold.
    fn is_hold_of_hsam(&self, pcb: usize, function: &str) -> bool {
        let organization = self.pcbs[pcb].view.organization;
        let sequential = matches!(organization, Organization::Hsam | Organization::Shsam);
        sequential && function.starts_with("GH")
    }

    /// The path that the call must stay beneath: none but for GNP; `None` is GP (DLI-12.12).
    fn floor(&self, pcb: usize, kind: Kind, parent: Option<Path>, ssas: &[Ssa]) -> Option<Path> {
        if kind != Kind::WithinParent {
            return Some(Path::new());
        }
        let lens = self.lens(pcb);
        let parent = parent.filter(|path| !path.iter().any(|node| lens.is_gone(node)))?;
        let above = parent.last()?.seg;
        let fits = ssas.last().is_none_or(|ssa| lens.is_beneath(ssa.seg, above));
        fits.then_some(parent)
    }

    /// A call without SSA: the next segment in hierarchic order.
    fn unqualified(&self, pcb: usize, kind: Kind, floor: &[Node]) -> Outcome {
        let lens = self.lens(pcb);
        let start = self.start(pcb, kind, floor, false);
        // DLI-12.39: K is not returned.
        let readable = |seg: usize| lens.seg(seg).access.options.allows('G');
        let found = start.and_then(|start| following(&lens, &start, floor.len(), readable));
        match found {
            Some(path) => {
                let status = self.climb_status(pcb, kind, &path);
                Outcome { status, point: Some((path.clone(), Tail::Inside)), path }
            }
            None => missed(kind, floor, floor.to_vec(), Tail::End, kind == Kind::Unique),
        }
    }

    /// GA and GK, against what the PCB showed before (DLI-2.6).
    fn climb_status(&self, pcb: usize, kind: Kind, path: &[Node]) -> [u8; 2] {
        let before = &self.pcbs[pcb].shown;
        let now = Shown::of(&self.lens(pcb), path);
        match now.level.cmp(&before.level) {
            _ if kind == Kind::Unique => *b"  ",
            std::cmp::Ordering::Less => *b"GA",
            std::cmp::Ordering::Equal if now.segment != before.segment => *b"GK",
            _ => *b"  ",
        }
    }

    /// Where the call starts; `None` if nothing beneath the parent lies behind the point.
    ///
    /// decision: where an ISRT took the point out of the parent's dependents, GNP starts with the
    /// first of them if the point is in front of them, and finds none if it is behind them.
    fn start(&self, pcb: usize, kind: Kind, floor: &[Node], front: bool) -> Option<Position> {
        let position = &self.pcbs[pcb].position;
        let lens = self.lens(pcb);
        let fresh = Position::front(false);
        match kind {
            Kind::Unique => Some(fresh),
            Kind::Next if front => Some(fresh),
            Kind::Next => Some(position.clone()),
            Kind::WithinParent if !front && position.path.starts_with(floor) => {
                Some(position.clone())
            }
            Kind::WithinParent if !front && is_behind(&lens, position, floor) => None,
            Kind::WithinParent => {
                let mut inside = fresh;
                inside.path = floor.to_vec();
                Some(inside)
            }
        }
    }

    fn qualified(
        &self,
        pcb: usize,
        kind: Kind,
        floor: &[Node],
        target: usize,
        ssas: &[Ssa],
    ) -> Outcome {
        let lens = self.lens(pcb);
        let levels = levels(&lens, target, ssas);
        // A forgets the position.
        let front = ssas.iter().any(|ssa| ssa.has(b'A'));
        let start = match kind {
            // U and V look at the position even on GU.
            Kind::Unique if !front => Some(self.pcbs[pcb].position.clone()),
            _ => self.start(pcb, kind, floor, front),
        };
        // DLI-12.7; with POS=MULTIPLE the types that were not looked for keep their places.
        // decision: no rule says anything of that; each type has a position of its own.
        let end = levels.get(floor.len()).map_or(Tail::End, |level| Tail::EndOf(level.seg));
        let Some(start) = start else {
            return missed(kind, floor, floor.to_vec(), end, true);
        };
        let direction = match kind {
            Kind::Unique => Direction::Front,
            Kind::Next | Kind::WithinParent => Direction::Forward,
        };
        // Only an insert can lose its parent.
        let stays = match kind {
            Kind::Unique => implied(&lens, &start, direction, &levels).unwrap_or_default(),
            Kind::Next | Kind::WithinParent => floor.to_vec(),
        };
        let mut search = Search::new(&lens, &start, direction, &levels, &stays);
        if let Ok(Some(path)) = search.run() {
            return Outcome { status: *b"  ", point: Some((path.clone(), Tail::Inside)), path };
        }
        // DLI-12.15: GB only if nothing bounded the search.
        let limited = levels.first().is_some_and(|root| root.asked.is_limited());
        let moved = levels.iter().zip(&search.best).any(|(level, _)| level.has(b'D'));
        let bounded = kind == Kind::Unique || limited || moved || search.held;
        let give_up = if kind == Kind::WithinParent { end } else { search.give_up };
        missed(kind, floor, search.best, give_up, bounded)
    }

    /// Changes the PCB as the outcome says, and fills the area.
    fn finish(
        &mut self,
        pcb: usize,
        hold: bool,
        kind: Kind,
        ssas: &[Ssa],
        outcome: Outcome,
    ) -> End {
        let found = !matches!(&outcome.status, b"GE" | b"GB");
        let ended = outcome.point.is_none();
        let lens = self.lens(pcb);
        let mut position = self.pcbs[pcb].position.clone();
        match outcome.point {
            Some((path, tail)) => position.go(&lens, path, tail),
            None => position.reset(),
        }
        // DLI-12.25: the lowest segment, and the levels with D; K never (DLI-12.39).
        let mut returned = Vec::new();
        for (at, node) in outcome.path.iter().enumerate() {
            let lowest = found && at + 1 == outcome.path.len();
            let path_call = ssas.iter().any(|ssa| ssa.seg == node.seg && ssa.has(b'D'));
            if (lowest || path_call) && !lens.seg(node.seg).access.key_only {
                returned.push((at, lens.area(node)));
            }
        }
        let parentage = parentage(&lens, kind, ssas, &outcome.path, found);
        let area: Vec<u8> = returned.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        self.show(pcb, &outcome.path);
        let one = &mut self.pcbs[pcb];
        if ended {
            one.table.clear();
        }
        one.position = position;
        if parentage.is_some() {
            one.parentage = parentage;
        }
        if hold && found {
            one.hold = Some(Hold { path: outcome.path, levels: returned.clone() });
        }
        End { status: outcome.status, area: (!returned.is_empty()).then_some(area) }
    }
}

/// GE or GB, with the path that is left and the point.
fn missed(kind: Kind, floor: &[Node], best: Path, give_up: Tail, bounded: bool) -> Outcome {
    if kind == Kind::WithinParent {
        // DLI-12.7: behind the parent's last dependent.
        return Outcome { status: *b"GE", path: best, point: Some((floor.to_vec(), give_up)) };
    }
    if !bounded {
        return Outcome { status: *b"GB", path: Path::new(), point: None };
    }
    Outcome { status: *b"GE", path: best.clone(), point: Some((best, give_up)) }
}

/// DLI-12.10 and DLI-12.11: the parent that a get sets, if it sets one.
fn parentage(
    lens: &Lens<'_>,
    kind: Kind,
    ssas: &[Ssa],
    path: &[Node],
    found: bool,
) -> Option<Path> {
    let with_p = ssas.iter().filter(|ssa| ssa.has(b'P')).map(|ssa| lens.seg(ssa.seg).level);
    match with_p.max() {
        Some(level) => path.get(..usize::from(level)).map(<[Node]>::to_vec),
        None if found && kind != Kind::WithinParent => Some(path.to_vec()),
        None => None,
    }
}
