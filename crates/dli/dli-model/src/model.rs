//! The model itself: databases, PCBs, and the calls they get.
//!
//! Invariants:
//! 1. A call that fails leaves the databases as they were.
//! 2. What a PCB shows is kept apart from where it stands: GA and GK are computed against what
//!    was shown (DLI-2.6).

use definitions::DbdName;
use definitions::resolve::{Index, ResolvedKind, View};

use crate::forest::{Forest, Type};
use crate::lens::{Lens, Path};
use crate::position::Position;
use crate::ssa::Fault;
use crate::types::Databases;
use crate::{Feedback, RootOrder, Setup, Subject, index};

/// DL/I as a plain tree in memory.
pub struct Model {
    pub(crate) dbds: Databases,
    indexes: Vec<Index>,
    pub(crate) order: RootOrder,
    /// Whether a path insert needs P (DLI-12.28): BMP, MPP and IFP.
    pub(crate) online: bool,
    pub(crate) forest: Forest,
    committed: Forest,
    pub(crate) pcbs: Vec<Pcb>,
}

/// A PCB.
pub(crate) struct Pcb {
    pub(crate) view: View,
    pub(crate) position: Position,
    /// The path to the parent that GNP goes by (DLI-12.10 and DLI-12.11).
    pub(crate) parentage: Option<Path>,
    /// What the last get-hold returned (DLI-12.32).
    pub(crate) hold: Option<Hold>,
    pub(crate) shown: Shown,
    /// The level table: the last occurrence of each level, as the PCB showed it. It outlives the
    /// calls that end further up (DLI-2.5).
    pub(crate) table: Vec<Option<Shown>>,
    /// Load mode: whether the first call found its databases empty (DLI-12.40).
    pub(crate) may_load: Option<bool>,
}

/// What REPL and DLET refer to.
#[derive(Clone)]
pub(crate) struct Hold {
    pub(crate) path: Path,
    /// The levels returned, from 0, with the bytes that went into the area.
    pub(crate) levels: Vec<(usize, Vec<u8>)>,
}

/// What the PCB shows.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) level: u8,
    pub(crate) segment: [u8; 8],
    pub(crate) key: Vec<u8>,
}

impl Shown {
    pub(crate) fn nothing() -> Shown {
        Shown { level: 0, segment: [b' '; 8], key: Vec::new() }
    }

    /// The lowest level of a path.
    pub(crate) fn of(lens: &Lens<'_>, path: &[crate::lens::Node]) -> Shown {
        let Some(node) = path.last() else { return Shown::nothing() };
        let segment = lens.seg(node.seg);
        let key = lens.concatenated_key(path);
        Shown { level: segment.level, segment: *segment.name.bytes(), key }
    }
}

/// What a call ends with: the status, and what a get puts into the area.
pub(crate) struct End {
    pub(crate) status: [u8; 2],
    pub(crate) area: Option<Vec<u8>>,
}

impl End {
    pub(crate) fn status(status: &[u8; 2]) -> End {
        End { status: *status, area: None }
    }
}

/// The functions of a database PCB.
const FUNCTIONS: &[&str] = &["GU", "GN", "GNP", "GHU", "GHN", "GHNP", "ISRT", "REPL", "DLET"];

impl Model {
    /// Empty databases, and the PCBs of a program in front of them.
    #[must_use]
    pub fn new(setup: &Setup, order: RootOrder) -> Model {
        let views = setup.psb.pcbs.iter().filter_map(|pcb| match &pcb.kind {
            ResolvedKind::Database(view) => Some(view.as_ref().clone()),
            ResolvedKind::Terminal(_) | ResolvedKind::Gsam(_) => None,
        });
        let pcb = |view: View| Pcb {
            position: Position::front(view.multiple_positions),
            view,
            parentage: None,
            hold: None,
            shown: Shown::nothing(),
            table: Vec::new(),
            may_load: None,
        };
        let dbds: Databases = setup.dbds.iter().map(|dbd| (dbd.name, dbd.clone())).collect();
        Model {
            indexes: index::of(&dbds),
            dbds,
            order,
            online: setup.online,
            forest: Forest::default(),
            committed: Forest::default(),
            pcbs: views.map(pcb).collect(),
        }
    }

    pub(crate) fn lens(&self, pcb: usize) -> Lens<'_> {
        let view = &self.pcbs[pcb].view;
        Lens { view, forest: &self.forest, dbds: &self.dbds, order: &self.order }
    }

    fn dispatch(&mut self, pcb: usize, function: &str, area: &[u8], ssas: &[Vec<u8>]) -> End {
        if !FUNCTIONS.contains(&function) {
            // AD leaves level, segment and key as they were (DLI-2.5).
            return End::status(b"AD");
        }
        let one = &self.pcbs[pcb];
        if one.view.options.is_load() {
            return self.load(pcb, function, area, ssas);
        }
        match function {
            "ISRT" => self.insert(pcb, area, ssas),
            "REPL" => self.replace(pcb, area, ssas),
            "DLET" => self.delete(pcb, area, ssas),
            _ => self.get(pcb, function, ssas),
        }
    }

    /// Shows an SSA that is wrong: as the level its place among the SSAs, with what the level
    /// table holds there (DLI-2.5).
    pub(crate) fn fault(&mut self, pcb: usize, fault: Fault) -> End {
        let at = usize::from(fault.ordinal).saturating_sub(1);
        let held = self.pcbs[pcb].table.get(at).cloned().flatten();
        let shown = held.unwrap_or_else(Shown::nothing);
        self.pcbs[pcb].shown = Shown { level: fault.ordinal, ..shown };
        End::status(&fault.status)
    }

    /// Shows the lowest level of a path, and keeps all of it in the level table.
    ///
    /// decision: a level's entry stays when another occurrence comes to stand above it.
    pub(crate) fn show(&mut self, pcb: usize, path: &[crate::lens::Node]) {
        let shown: Vec<Shown> =
            (1..=path.len()).map(|level| Shown::of(&self.lens(pcb), &path[..level])).collect();
        let one = &mut self.pcbs[pcb];
        one.table.resize(one.table.len().max(shown.len()), None);
        one.shown = shown.last().cloned().unwrap_or_else(Shown::nothing);
        for (entry, shown) in one.table.iter_mut().zip(shown) {
            *entry = Some(shown);
        }
    }

    /// Brings the indexes up to date; `false` if a unique one would have a duplicate (DLI-12.67).
    pub(crate) fn index(&mut self) -> bool {
        index::maintain(&mut self.forest, &self.dbds, &self.indexes)
    }

    /// Whether the databases beneath a PCB are empty.
    pub(crate) fn is_empty(&self, pcb: usize) -> bool {
        let databases: &[DbdName] = &self.pcbs[pcb].view.databases;
        databases.iter().all(|dbd| self.forest.is_empty(*dbd))
    }

    /// DLI-12.1 and DLI-12.32: position, parentage and hold are lost, and what the level table
    /// holds.
    ///
    /// decision: what the PCB shows is cleared too, so that the next GN is no GA.
    fn lose_positions(&mut self) {
        for pcb in &mut self.pcbs {
            pcb.position.reset();
            pcb.parentage = None;
            pcb.hold = None;
            pcb.shown = Shown::nothing();
            pcb.table.clear();
        }
    }

    /// How many occurrences of a type there are, for harnesses that compare whole databases.
    #[must_use]
    pub fn count(&self, dbd: DbdName, code: u8) -> usize {
        self.forest.of_type(Type { dbd, code }).count()
    }
}

impl Subject for Model {
    fn call(&mut self, pcb: usize, function: &str, area: &[u8], ssas: &[Vec<u8>]) -> Feedback {
        // A number without a PCB can only be a mistake of the harness; it gets what a wrong
        // function gets.
        if pcb >= self.pcbs.len() {
            let shown = Shown::nothing();
            return Feedback::new(*b"AD", shown.level, shown.segment, shown.key, None);
        }
        let end = self.dispatch(pcb, function.trim_end(), area, ssas);
        let shown = self.pcbs[pcb].shown.clone();
        Feedback::new(end.status, shown.level, shown.segment, shown.key, end.area)
    }

    fn checkpoint(&mut self) {
        self.forest.forget_the_gone();
        self.committed = self.forest.clone();
        self.lose_positions();
    }

    fn rollback(&mut self) {
        self.forest = self.committed.clone();
        self.lose_positions();
    }
}
