//! The search of a call with SSAs: level by level, twin by twin.
//!
//! Invariants:
//! 1. `best` is the path to the last occurrence tried at the deepest level that matched
//!    (DLI-12.6 and DLI-12.16), and `give_up` the place beneath it where the search gave up.

use crate::lens::{Lens, Node, Path};
use crate::position::{Place, Position, Tail, first_behind};
use crate::qualify::Asked;
use crate::ssa::Ssa;

/// How a call looks for its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// GU: from the front, whatever the position (DLI-12.2).
    Front,
    /// GN and GNP: behind the point.
    Forward,
    /// ISRT: the parent of the new segment (DLI-12.27).
    Parent,
}

/// What is asked for at one level.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) seg: usize,
    pub(crate) asked: Asked,
    pub(crate) codes: Vec<u8>,
    /// Whether an SSA names it.
    pub(crate) given: bool,
    /// U here, or V here or below: the search must not leave the present occurrence (DLI-12.24).
    pub(crate) held: bool,
}

impl Level {
    pub(crate) fn has(&self, code: u8) -> bool {
        self.codes.contains(&code)
    }
}

/// The levels from the root down to `seg`, with what the SSAs ask of them.
pub(crate) fn levels(lens: &Lens<'_>, seg: usize, ssas: &[Ssa]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for seg in lens.types_to(seg) {
        let ssa = ssas.iter().find(|ssa| ssa.seg == seg);
        levels.push(Level {
            seg,
            asked: ssa.map_or_else(Asked::default, Asked::of),
            codes: ssa.map_or_else(Vec::new, |ssa| ssa.codes.clone()),
            given: ssa.is_some(),
            held: false,
        });
    }
    for ssa in ssas {
        let Some(mut key) = ssa.concatenated.as_deref() else { continue };
        for level in levels.iter_mut().take(usize::from(lens.seg(ssa.seg).level)) {
            let (own, rest) = key.split_at(lens.key_len(level.seg).min(key.len()));
            level.asked = Asked::key(lens, level.seg, own);
            level.given = true;
            key = rest;
        }
    }
    hold(&mut levels, ssas);
    levels
}

/// DLI-12.24. With a qualification U and V have no effect on that SSA (DLI-2.14).
///
/// decision: a V that stands with a qualification still holds the levels above it.
fn hold(levels: &mut [Level], ssas: &[Ssa]) {
    let mut below = false;
    for level in levels.iter_mut().rev() {
        let qualified = ssas.iter().any(|ssa| ssa.seg == level.seg && ssa.is_qualified());
        below |= level.has(b'V');
        level.held = (below || level.has(b'U')) && !qualified;
    }
}

/// The parent of a new segment was deleted, or its index entry went away (DLI-12.27): GD.
pub(crate) struct Lost;

/// DLI-12.2: the path down to the lowest level that a GU, or the search for an ISRT's parent, has
/// no SSA for and that position implies. The search stays beneath it.
///
/// A level above keeps its occurrence if it has no SSA either, is held by U or V, or is qualified
/// and met by that occurrence. An SSA that asks for nothing moves its level, for it begins with
/// the first twin; so does L below the root, for it goes to the last one.
pub(crate) fn implied(
    lens: &Lens<'_>,
    position: &Position,
    direction: Direction,
    levels: &[Level],
) -> Result<Path, Lost> {
    let (mut path, mut depth) = (Path::new(), 0);
    let omitted = levels.iter().rposition(|level| !level.given).map_or(0, |lowest| lowest + 1);
    for level in &levels[..omitted] {
        let searches = level.has(b'L') && !path.is_empty();
        let keeps = !level.given || level.held || (level.asked.is_something() && !searches);
        let Some(node) = position.here(level.seg, &path).filter(|_| keeps) else { break };
        if lens.is_gone(&node) {
            match direction {
                Direction::Parent if !level.given => return Err(Lost),
                _ => break,
            }
        }
        if !level.asked.is_met(lens, &node) {
            break;
        }
        path.push(node);
        depth = if level.given { depth } else { path.len() };
    }
    path.truncate(depth);
    Ok(path)
}

/// A search.
pub(crate) struct Search<'a> {
    pub(crate) lens: &'a Lens<'a>,
    pub(crate) position: &'a Position,
    pub(crate) direction: Direction,
    pub(crate) levels: &'a [Level],
    /// GNP: the path to the parent, which every level above must fit (DLI-12.13). GU and ISRT: what
    /// position implies (DLI-12.2).
    pub(crate) floor: &'a [Node],
    pub(crate) best: Path,
    pub(crate) give_up: Tail,
    /// Whether a level was really held.
    pub(crate) held: bool,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        lens: &'a Lens<'a>,
        position: &'a Position,
        direction: Direction,
        levels: &'a [Level],
        floor: &'a [Node],
    ) -> Search<'a> {
        let (best, give_up) = (Path::new(), Tail::Inside);
        Search { lens, position, direction, levels, floor, best, give_up, held: false }
    }

    /// The path of the segment that satisfies all levels.
    pub(crate) fn run(&mut self) -> Result<Option<Path>, Lost> {
        let mut path = Path::new();
        let bounded = self.direction == Direction::Forward;
        Ok(self.descend(&mut path, bounded)?.then_some(path))
    }

    /// Goes through the twins under the last node of `above`. `bounded`: only those behind the
    /// point, which lies within what stands under `above`.
    fn descend(&mut self, above: &mut Path, bounded: bool) -> Result<bool, Lost> {
        let Some(level) = self.levels.get(above.len()) else { return Ok(true) };
        let levels = self.levels;
        // DLI-12.22: F goes back to the first twin under the present parent; not at the root, not
        // on GU, where everything starts at the front anyway.
        let bounded = bounded && (!level.has(b'F') || level.has(b'L') || above.is_empty());
        let here = self.position.here(level.seg, above);
        let mut give_up = Tail::BehindAll(level.seg);
        for node in self.candidates(level, above, bounded)? {
            if !level.asked.is_met(self.lens, &node) {
                if level.asked.is_passed(self.lens, &node) {
                    // decision: where the point is within that twin already, it goes behind it,
                    // for GN goes only forward.
                    let passed = bounded && here == Some(node);
                    give_up = if passed { Tail::Behind(node) } else { Tail::Before(node) };
                    break;
                }
                continue;
            }
            above.push(node);
            if above.len() >= self.best.len() {
                self.best.clone_from(above);
                self.give_up = Tail::Inside;
            }
            let inside = bounded && here == Some(node);
            if above.len() == levels.len() || self.descend(above, inside)? {
                return Ok(true);
            }
            above.pop();
        }
        if self.best == *above {
            self.give_up = give_up;
        }
        Ok(false)
    }

    /// The twins that come into question, in their order.
    fn candidates(
        &mut self,
        level: &Level,
        above: &[Node],
        bounded: bool,
    ) -> Result<Vec<Node>, Lost> {
        if let Some(parent) = self.floor.get(above.len()) {
            return Ok(vec![*parent]);
        }
        let here = self.position.here(level.seg, above);
        // DLI-12.24. decision: U on the lowest level returns the present occurrence once more; on
        // GU it counts as long as the levels above are the occurrences of the path.
        if let Some(node) = here.filter(|_| level.held) {
            self.held = true;
            return match self.lens.is_gone(&node) {
                false => Ok(vec![node]),
                true if self.direction == Direction::Parent => Err(Lost),
                true => Ok(Vec::new()),
            };
        }
        let chain = self.lens.twins(level.seg, above);
        let from = if bounded { self.first(level, above, &chain) } else { 0 };
        let mut twins: Vec<Node> = chain[from..].to_vec();
        twins.retain(|node| !self.lens.is_gone(node));
        if self.direction == Direction::Parent && !level.given {
            // DLI-12.27: without path the first occurrence.
            twins.truncate(1);
        } else if level.has(b'L') && !above.is_empty() {
            // DLI-12.23: the last twin that satisfies the qualification; ignored at the root.
            // decision: it lies behind the point, for GN goes only forward; a failing search
            // goes on with the next parent.
            let last = twins.iter().rposition(|node| level.asked.is_met(self.lens, node));
            twins = last.map(|at| twins[at]).into_iter().collect();
        }
        Ok(twins)
    }

    /// Where the search begins: the occurrence that the point is in counts as long as its
    /// dependents are asked for.
    fn first(&self, level: &Level, above: &[Node], chain: &[Node]) -> usize {
        let place = self.position.place(level.seg, above);
        let from = first_behind(chain, place);
        let is_target = above.len() + 1 == self.levels.len();
        match place {
            Place::On(_) if !is_target => from.saturating_sub(1),
            _ => from,
        }
    }
}
