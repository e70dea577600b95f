//! ISRT outside load mode (DLI-12.27 to DLI-12.31).
//!
//! Invariants:
//! 1. All or nothing: a path insert that fails below leaves nothing above.
//! 2. An ISRT leaves the parentage unless it carries a P, and ends the hold.

use definitions::{Organization, TwinPlace};

use crate::area::{self, Given};
use crate::bytes::{Status, part};
use crate::forest::{Id, Type};
use crate::lens::{Lens, Node, Path};
use crate::logical;
use crate::model::{End, Model};
use crate::position::Tail;
use crate::search::{Direction, Search, implied, levels};
use crate::ssa::{self, Purpose, Ssa};
use crate::types::twin_rule;

/// The codes of an ISRT's lowest SSA that decide where a twin goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Override {
    first: bool,
    last: bool,
}

/// What stands in the way of a new twin.
pub(crate) enum Refused {
    /// This twin has the unique key, or is the only one that may be (DLI-12.30).
    Twin(Node),
    /// A key of X'FF' (DLI-12.30).
    HighKey,
}

impl Model {
    pub(crate) fn insert(&mut self, pcb: usize, area: &[u8], ssas: &[Vec<u8>]) -> End {
        self.pcbs[pcb].hold = None;
        if ssas.is_empty() {
            return End::status(b"AH");
        }
        let (ssas, first_new) = match self.read_insert(pcb, ssas, Purpose::Insert) {
            Ok(read) => read,
            Err(fault) => return self.fault(pcb, fault),
        };
        let new: Vec<usize> = ssas[first_new..].iter().map(|ssa| ssa.seg).collect();
        if !self.may_insert(pcb, &new) {
            return End::status(b"AM");
        }
        // decision: an area that cannot be used is found before the parent is looked for.
        let given = match take_all(&self.lens(pcb), &new, area) {
            Ok(given) => given,
            Err(status) => return End::status(status),
        };
        let parent = match self.parent_for(pcb, new[0], &ssas[..first_new]) {
            Ok(parent) => parent,
            Err(end) => return end,
        };
        self.insert_under(pcb, &parent, &ssas, &new, &given)
    }

    /// The SSAs, and the place of the first that stands for a new segment.
    pub(crate) fn read_insert(
        &self,
        pcb: usize,
        ssas: &[Vec<u8>],
        purpose: Purpose,
    ) -> Result<(Vec<Ssa>, usize), ssa::Fault> {
        let view = &self.pcbs[pcb].view;
        let read = ssa::read(view, ssas, purpose)?;
        // DLI-12.28: only the highest new segment needs D; the others follow.
        let first_new = read.iter().position(|ssa| ssa.has(b'D')).unwrap_or(read.len() - 1);
        for (at, ssa) in read.iter().enumerate().skip(first_new) {
            let segment = &view.segments[ssa.seg];
            // DLI-3: the last SSA is unqualified, and so is every one for a new segment.
            if ssa.is_qualified() {
                return Err(ssa::Fault::of(b"AJ", at));
            }
            // decision: a gap between new segments is AC, for the level in between is missing.
            let above = at.checked_sub(1).filter(|_| at > first_new).map(|up| read[up].seg);
            if above.is_some() && segment.parent.map(usize::from) != above {
                return Err(ssa::Fault::of(b"AC", at));
            }
        }
        Ok((read, first_new))
    }

    /// DLI-12.28, DLI-12.31 and DLI-12.69.
    fn may_insert(&self, pcb: usize, new: &[usize]) -> bool {
        let view = &self.pcbs[pcb].view;
        let path_needs_p =
            self.online || new.iter().any(|seg| !view.segments[*seg].access.seen.is_empty());
        new.iter().all(|seg| {
            let segment = &view.segments[*seg];
            let key_seen = segment.key.is_none() || area::seen_key(segment).is_some();
            let has_p = new.len() == 1 || !path_needs_p || segment.access.options.has('P');
            segment.access.options.allows('I')
                && key_seen
                && has_p
                && !logical::is_fixed(&self.lens(pcb), *seg)
        })
    }

    /// The parent of a new segment: like a GU where the root's SSA is there, else from the path.
    fn parent_for(&mut self, pcb: usize, seg: usize, ssas: &[Ssa]) -> Result<Path, End> {
        let lens = self.lens(pcb);
        let Some(above) = lens.seg(seg).parent.map(usize::from) else { return Ok(Path::new()) };
        let position = self.pcbs[pcb].position.clone();
        let levels = levels(&lens, above, ssas);
        // decision: GD leaves the position, and the PCB as it was.
        let Ok(stays) = implied(&lens, &position, Direction::Parent, &levels) else {
            return Err(End::status(b"GD"));
        };
        let mut search = Search::new(&lens, &position, Direction::Parent, &levels, &stays);
        let (best, give_up) = match search.run() {
            Ok(Some(path)) => return Ok(path),
            Err(_) => return Err(End::status(b"GD")),
            Ok(None) => (search.best.clone(), search.give_up),
        };
        let mut position = position.clone();
        position.go(&lens, best.clone(), give_up);
        self.pcbs[pcb].position = position;
        self.show(pcb, &best);
        Err(End::status(b"GE"))
    }

    fn insert_under(
        &mut self,
        pcb: usize,
        parent: &[Node],
        ssas: &[Ssa],
        new: &[usize],
        given: &[Given],
    ) -> End {
        let before = self.forest.clone();
        let mut path = parent.to_vec();
        let lowest = &ssas[ssas.len() - new.len()..];
        for ((ssa, seg), given) in lowest.iter().zip(new).zip(given) {
            let place = Override { first: ssa.has(b'F'), last: ssa.has(b'L') };
            match self.add(pcb, &path, *seg, given, place) {
                Ok(node) => path.push(node),
                Err(Stop::Refused(refused)) => {
                    self.forest = before;
                    return self.refuse(pcb, parent, &refused);
                }
                Err(Stop::Status(status)) => {
                    self.forest = before;
                    return End::status(status);
                }
            }
        }
        if !self.index() {
            // DLI-12.67.
            self.forest = before;
            return End::status(b"NI");
        }
        let mut position = self.pcbs[pcb].position.clone();
        position.go(&self.lens(pcb), path.clone(), Tail::Inside);
        self.pcbs[pcb].position = position;
        self.show(pcb, &path);
        let with_p = |node: &Node| ssas.iter().any(|ssa| ssa.seg == node.seg && ssa.has(b'P'));
        if let Some(level) = path.iter().rposition(with_p) {
            self.pcbs[pcb].parentage = Some(path[..=level].to_vec());
        }
        End::status(b"  ")
    }

    /// II: the point is in front of the twin that has the key, and the PCB shows it (DLI-12.8).
    ///
    /// decision: for a key of X'FF' the PCB shows the parent, and the point is behind the last
    /// twin.
    fn refuse(&mut self, pcb: usize, parent: &[Node], refused: &Refused) -> End {
        let lens = self.lens(pcb);
        let mut shown = parent.to_vec();
        let tail = match refused {
            Refused::Twin(node) => {
                shown.push(*node);
                Tail::Before(*node)
            }
            Refused::HighKey => Tail::BehindAll(0),
        };
        let mut position = self.pcbs[pcb].position.clone();
        position.go(&lens, parent.to_vec(), tail);
        self.pcbs[pcb].position = position;
        self.show(pcb, &shown);
        End::status(b"II")
    }

    /// Stores one new segment under the last node of a path.
    pub(crate) fn add(
        &mut self,
        pcb: usize,
        above: &[Node],
        seg: usize,
        given: &Given,
        place: Override,
    ) -> Result<Node, Stop> {
        let lens = self.lens(pcb);
        let at =
            place_for(&lens, above, seg, given, place, self.pcbs[pcb].position.here(seg, above))
                .map_err(Stop::Refused)?;
        let id = self.store(pcb, above, seg, given, at).map_err(Stop::Status)?;
        Ok(Node { seg, id, entry: None })
    }

    /// Stores the segment in place `at` of its chain.
    fn store(
        &mut self,
        pcb: usize,
        above: &[Node],
        seg: usize,
        given: &Given,
        at: usize,
    ) -> Result<Id, Status> {
        let view = self.pcbs[pcb].view.clone();
        let home = Type::of(&view.segments[seg].home);
        let parent = logical::end_of_type(&self.lens(pcb), above.last(), home);
        logical::store(self, pcb, (seg, parent), given, at)
    }
}

/// Why a segment was not stored.
pub(crate) enum Stop {
    Refused(Refused),
    Status(Status),
}

/// The segments of an insert, taken off the area one behind the other.
pub(crate) fn take_all(
    lens: &Lens<'_>,
    new: &[usize],
    mut area: &[u8],
) -> Result<Vec<Given>, Status> {
    new.iter().map(|seg| area::take(lens, *seg, &mut area)).collect()
}

/// The place of a new twin in its chain (DLI-12.29 and DLI-12.30).
fn place_for(
    lens: &Lens<'_>,
    above: &[Node],
    seg: usize,
    given: &Given,
    place: Override,
    here: Option<Node>,
) -> Result<usize, Refused> {
    let segment = lens.seg(seg);
    let chain = lens.twins(seg, above);
    let here = here.filter(|node| !lens.is_gone(node));
    let rule = twin_rule(lens.dbds, Type::of(&segment.home));
    if let Some(twin) = chain.iter().find(|node| segment.form.single && !lens.is_gone(node)) {
        return Err(Refused::Twin(*twin));
    }
    let Some(key) = segment.key else {
        return Ok(by_rule(&chain, 0..chain.len(), here, rule, place));
    };
    let value = part(&given.image, usize::from(key.offset), usize::from(key.len));
    if above.is_empty() && has_high_key(lens, value) {
        return Err(Refused::HighKey);
    }
    let rank = lens.rank(seg, value);
    let of = |node: &Node| lens.rank(seg, &lens.key(node));
    let from = chain.iter().position(|node| of(node) >= rank).unwrap_or(chain.len());
    let to = chain.iter().position(|node| of(node) > rank).unwrap_or(chain.len());
    if key.unique {
        let twin = chain[from..to].iter().find(|node| !lens.is_gone(node));
        return twin.map_or(Ok(from), |twin| Err(Refused::Twin(*twin)));
    }
    Ok(by_rule(&chain, from..to, here, rule, place))
}

/// DLI-12.29, among the twins in `range`.
fn by_rule(
    chain: &[Node],
    range: std::ops::Range<usize>,
    here: Option<Node>,
    rule: TwinPlace,
    place: Override,
) -> usize {
    let on = here.and_then(|node| chain.iter().position(|one| *one == node));
    match (rule, on.filter(|at| range.contains(at))) {
        (TwinPlace::Last, _) => range.end,
        (TwinPlace::First | TwinPlace::Here, _) if place.last => range.end,
        (TwinPlace::Here, Some(at)) if !place.first => at,
        (TwinPlace::First | TwinPlace::Here, _) => range.start,
    }
}

/// DLI-12.30: X'FF' in every byte of the root key.
fn has_high_key(lens: &Lens<'_>, key: &[u8]) -> bool {
    let organization = lens.dbds.get(&lens.seg(0).home.dbd).map(|dbd| dbd.organization);
    let matters = matches!(
        organization,
        Some(Organization::Hisam | Organization::Hidam | Organization::Phidam)
    );
    matters && key.iter().all(|byte| *byte == 0xFF)
}
