//! What a call asks of each level of a path, made from its SSAs.
//!
//! Code G says nothing here: a root has one place, by whatever way it is searched.
//!
//! Invariants:
//! 1. A plan has one entry for each level below its base, down to the target, without gaps.

use crate::ssa::{Bounds, Code, Qualification, Ssa};
use definitions::TwinPlace;
use hierarchy::{Database, TypeAt};
use smallvec::SmallVec;

use crate::view::CompiledView;

/// What an occurrence must satisfy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need<'p, 'v> {
    /// Nothing.
    Any,
    /// An SSA.
    Ssa(&'p Ssa<'v>),
    /// This key: the piece of a concatenated key that belongs to its level (DLI-12.20).
    Key(&'v [u8]),
}

/// One level of a plan.
#[derive(Clone, Debug)]
pub(crate) struct LevelPlan<'p, 'v> {
    pub(crate) node: u16,
    pub(crate) need: Need<'p, 'v>,
    pub(crate) bounds: Bounds<'v>,
    /// F: go back to the first twin under the present parent.
    pub(crate) first: bool,
    /// L: the last twin only.
    pub(crate) last: bool,
    /// U or V: the present occurrence only.
    pub(crate) held: bool,
    /// D: the segment is wanted too.
    pub(crate) wanted: bool,
    /// Q: the class that keeps it.
    pub(crate) class: Option<u8>,
    /// Whether an SSA names this level.
    pub(crate) named: bool,
    /// Whether it asks about indexed fields.
    pub(crate) indexed: bool,
    /// A level of an ISRT that no SSA names: only the first occurrence counts (DLI-12.27).
    pub(crate) only_first: bool,
}

/// The levels of a call.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'p, 'v> {
    pub(crate) levels: SmallVec<[LevelPlan<'p, 'v>; 4]>,
    /// Levels that are fixed before the search begins.
    pub(crate) base: usize,
    /// Whether the search begins at the point, not at the front.
    pub(crate) from_point: bool,
    /// The level of the lowest P.
    pub(crate) parentage: Option<usize>,
    /// A: position is forgotten first.
    pub(crate) afresh: bool,
    /// Nothing can be found: the point lies behind the parent.
    pub(crate) nowhere: bool,
    /// The point of the whole view decides, not that of each type (`POS=MULTIPLE`).
    pub(crate) in_view: bool,
}

impl LevelPlan<'_, '_> {
    /// Whether a level above an implied one keeps its occurrence, if that satisfies it (DLI-12.2):
    /// an SSA that asks for nothing goes to the first twin, one with L to the last.
    pub(crate) fn keeps_its_occurrence(&self) -> bool {
        match self.need {
            Need::Any => !self.named || self.held,
            Need::Ssa(_) | Need::Key(_) => !self.last,
        }
    }
}

impl<'p, 'v> Plan<'p, 'v> {
    /// The plan of SSAs for a path down to `target`.
    pub(crate) fn new(view: &CompiledView, target: u16, ssas: &'p [Ssa<'v>]) -> Plan<'p, 'v> {
        let mut plan = Plan {
            levels: SmallVec::new(),
            base: 0,
            from_point: false,
            parentage: None,
            afresh: false,
            nowhere: false,
            in_view: false,
        };
        let path = &view.node(target).path;
        let (list, mut ssas) = (ssas, ssas.iter().peekable());
        for node in path {
            let ssa = ssas.next_if(|ssa| ssa.segment == *node);
            plan.push(view, *node, ssa);
        }
        plan.spread_key(view);
        plan.hold_above(list, view);
        plan
    }

    fn push(&mut self, view: &CompiledView, node: u16, ssa: Option<&'p Ssa<'v>>) {
        let any = Bounds { lower: None, upper: None, decides: true };
        let mut level = LevelPlan {
            node,
            need: Need::Any,
            bounds: any,
            first: false,
            last: false,
            held: false,
            wanted: false,
            class: None,
            named: ssa.is_some(),
            indexed: false,
            only_first: false,
        };
        if let Some(ssa) = ssa {
            if ssa.qualification != Qualification::None {
                level.need = Need::Ssa(ssa);
                level.bounds = ssa.key_bounds(&view.table);
                level.indexed = asks_indexes(ssa);
            }
            let is_root = view.node(node).parent.is_none();
            level.first = ssa.codes.has(Code::F) && !is_root;
            level.last = ssa.codes.has(Code::L) && !is_root;
            level.held = ssa.codes.has(Code::U) || ssa.codes.has(Code::V);
            level.wanted = ssa.codes.has(Code::D);
            level.class = ssa.lock_class;
            self.afresh |= ssa.codes.has(Code::A);
            if ssa.codes.has(Code::P) {
                self.parentage = Some(view.node(node).level);
            }
        }
        self.levels.push(level);
    }

    /// A concatenated key says the key of every level above its own (DLI-12.20).
    fn spread_key(&mut self, view: &CompiledView) {
        let whole = self.levels.iter().enumerate().find_map(|(at, level)| match level.need {
            Need::Ssa(Ssa { qualification: Qualification::ConcatenatedKey(key), .. }) => {
                Some((at, *key))
            }
            _ => None,
        });
        let Some((at, whole)) = whole else { return };
        for level in &mut self.levels[..=at] {
            level.named = true;
            let key = view.table.key_in(level.node, whole).filter(|key| !key.is_empty());
            if let Some(key) = key {
                let bound = Some(crate::ssa::Bound { value: key, inclusive: true });
                level.need = Need::Key(key);
                level.bounds = Bounds { lower: bound, upper: bound, decides: true };
            } else {
                level.need = Need::Any;
            }
        }
    }

    /// V holds all levels above its own, too (DLI-12.24).
    fn hold_above(&mut self, ssas: &[Ssa<'_>], view: &CompiledView) {
        let lowest = ssas
            .iter()
            .filter(|ssa| ssa.codes.has(Code::V))
            .map(|ssa| view.node(ssa.segment).level)
            .max();
        if let Some(lowest) = lowest {
            for level in self.levels.iter_mut().take(lowest) {
                level.held = true;
            }
        }
    }

    /// Levels of an ISRT that no SSA names, and that position does not imply, are the first
    /// occurrence (DLI-12.27).
    pub(crate) fn take_first_of_unnamed(&mut self) {
        for level in self.levels.iter_mut().filter(|level| !level.named) {
            level.only_first = true;
        }
    }

    /// The lowest level that no SSA names; 0 if there is none.
    pub(crate) fn lowest_unnamed(&self) -> usize {
        self.levels.iter().rposition(|level| !level.named).map_or(0, |at| at + 1)
    }

    /// The plan of one level, from 1.
    pub(crate) fn level(&self, level: usize) -> &LevelPlan<'p, 'v> {
        &self.levels[level - 1]
    }

    /// The level of the target.
    pub(crate) fn target(&self) -> usize {
        self.levels.len()
    }

    /// Whether something limits the search at the root: it then ends with GE, not GB (DLI-12.15).
    pub(crate) fn is_limited(&self) -> bool {
        self.levels.first().is_some_and(|root| root.bounds.is_limited())
    }
}

/// Whether an SSA compares indexed fields.
fn asks_indexes(ssa: &Ssa<'_>) -> bool {
    match &ssa.qualification {
        Qualification::Sets(sets) => {
            sets.conditions().iter().any(|condition| condition.operand.is_indexed())
        }
        Qualification::None | Qualification::ConcatenatedKey(_) => false,
    }
}

/// A segment that is inserted, as its database knows it.
pub(crate) struct NewSegment<'n> {
    pub(crate) database: &'n Database,
    pub(crate) of: TypeAt,
    /// The path of its physical parent.
    pub(crate) above: &'n [u8],
    pub(crate) data: &'n [u8],
    pub(crate) place: TwinPlace,
    pub(crate) here: Option<&'n [u8]>,
    pub(crate) single: bool,
}

/// Where a twin goes: the rule, or the command code that overrides it.
pub(crate) fn place_of(ssa: &Ssa<'_>, rule: TwinPlace) -> TwinPlace {
    if ssa.codes.has(Code::L) {
        TwinPlace::Last
    } else if ssa.codes.has(Code::F) && rule == TwinPlace::Here {
        TwinPlace::First
    } else {
        rule
    }
}
