//! The path that a search is trying, level by level.

use std::cmp::Ordering;

use hierarchy::{Levels, TypeAt};

use crate::plan::Plan;
use crate::view::{Chain, CompiledView, Node};

/// Where the occurrence of a derived level is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// Its path in the database that stores it.
    pub(crate) path: Vec<u8>,
    /// The path of the destination parent that is joined to it.
    pub(crate) joined: Vec<u8>,
}

impl Carried {
    /// Stands at a path of two pieces.
    pub(crate) fn set(&mut self, front: &[u8], rest: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(front);
        self.path.extend_from_slice(rest);
        self.joined.clear();
    }
}

/// The bounds of one level within its chain, as bytes of virtual keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// Where the search begins.
    pub(crate) lower: Vec<u8>,
    pub(crate) has_lower: bool,
    pub(crate) lower_inclusive: bool,
    /// Where it ends.
    pub(crate) upper: Vec<u8>,
    pub(crate) has_upper: bool,
    pub(crate) upper_inclusive: bool,
    /// Whether an occurrence within them still has to be looked at.
    pub(crate) test: bool,
    /// No partition or anchor for the key: FM.
    pub(crate) rejected: bool,
    /// Whether the last walk of this level met an occurrence behind the upper bound, and which.
    pub(crate) passed: bool,
    pub(crate) passed_part: Vec<u8>,
    /// Whether that is the occurrence that the point was within already.
    pub(crate) passed_within: bool,
}

/// The path that is being tried.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchStack {
    pub(crate) key: Vec<u8>,
    pub(crate) levels: StackLevels,
    /// The data of each level, as far as it is wanted.
    pub(crate) data: Vec<Vec<u8>>,
    /// The data of each level's destination parent.
    pub(crate) joined: Vec<Vec<u8>>,
    pub(crate) carried: Vec<Carried>,
    pub(crate) limits: Vec<Limits>,
    /// The deepest path that matched in this call (DLI-12.16).
    pub(crate) best: Vec<u8>,
    pub(crate) best_levels: StackLevels,
}

/// Levels that begin empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackLevels(pub(crate) Levels);

impl Default for StackLevels {
    fn default() -> StackLevels {
        StackLevels(Levels::NONE)
    }
}

impl Limits {
    /// Whether a part, of which the first bytes stand in `front`, lies above the upper bound.
    pub(crate) fn are_passed_by(&self, front: &[u8], part: &[u8]) -> bool {
        if !self.has_upper {
            return false;
        }
        let (limit_front, limit) = self.upper.split_at(front.len().min(self.upper.len()));
        let head = &part[..part.len().min(limit.len())];
        match front.cmp(limit_front).then_with(|| head.cmp(limit)) {
            Ordering::Less => false,
            Ordering::Equal => !self.upper_inclusive,
            Ordering::Greater => true,
        }
    }

    /// Remembers the occurrence behind the upper bound; its part may stand in two pieces.
    pub(crate) fn pass(&mut self, front: &[u8], part: &[u8], within: Option<&[u8]>) {
        self.passed = true;
        self.passed_part.clear();
        self.passed_part.extend_from_slice(front);
        self.passed_part.extend_from_slice(part);
        self.passed_within = within == Some(&self.passed_part);
    }
}

impl SearchStack {
    /// Makes room for so many levels.
    pub(crate) fn reserve(&mut self, levels: usize) {
        if self.data.len() < levels {
            self.data.resize_with(levels, Vec::new);
            self.joined.resize_with(levels, Vec::new);
            self.carried.resize_with(levels, Carried::default);
            self.limits.resize_with(levels, Limits::default);
        }
    }

    /// Begins with the first levels of another path.
    pub(crate) fn start(&mut self, path: &[u8], levels: &Levels) {
        self.key.clear();
        self.key.extend_from_slice(path);
        self.levels.0 = *levels;
        self.note_best();
    }

    /// Where the path of a level ends.
    pub(crate) fn end(&self, level: usize) -> usize {
        self.levels.0.end(level)
    }

    pub(crate) fn len(&self) -> usize {
        self.levels.0.len()
    }

    /// Goes back to a level.
    pub(crate) fn truncate(&mut self, level: usize) {
        self.levels.0.truncate(level);
        let end = self.end(self.len());
        self.key.truncate(end);
    }

    /// Adds a level.
    pub(crate) fn push(&mut self, node: &Node, part: &[u8]) {
        if node.level > 1 {
            self.key.push(node.code);
        }
        self.key.extend_from_slice(part);
        let of = TypeAt::of_code(node.code).unwrap_or(TypeAt::ROOT);
        self.levels.0.push(of, self.key.len());
    }

    /// The part of the lowest level, without its code.
    pub(crate) fn part(&self, level: usize) -> &[u8] {
        let from = self.end(level - 1) + usize::from(level > 1);
        &self.key[from..self.end(level)]
    }

    /// Remembers the path if none matched deeper, or as deep and earlier.
    pub(crate) fn note_best(&mut self) {
        if self.len() >= self.best_levels.0.len() {
            self.best.clone_from(&self.key);
            self.best_levels = self.levels;
        }
    }

    /// Forgets what matched deepest.
    pub(crate) fn forget_best(&mut self) {
        self.best.clear();
        self.best_levels = StackLevels::default();
    }

    /// Writes the bounds of each level as bytes of virtual keys.
    pub(crate) fn limit(&mut self, view: &CompiledView, plan: &Plan<'_, '_>) {
        self.reserve(plan.target());
        for level in plan.base + 1..=plan.target() {
            let step = plan.level(level);
            let node = view.node(step.node);
            let limits = &mut self.limits[level - 1];
            *limits = Limits {
                lower: std::mem::take(&mut limits.lower),
                upper: std::mem::take(&mut limits.upper),
                passed_part: std::mem::take(&mut limits.passed_part),
                lower_inclusive: true,
                upper_inclusive: true,
                test: !matches!(step.need, crate::plan::Need::Any),
                ..Limits::default()
            };
            limits.lower.clear();
            limits.upper.clear();
            let exact = step.bounds.exact();
            let in_order = match node.chain {
                Chain::Root => root_order(view, node, exact.is_some()),
                _ => node.is_ordered,
            };
            if !in_order {
                continue;
            }
            if let Some(bound) = step.bounds.lower {
                limits.has_lower = true;
                limits.lower_inclusive = bound.inclusive;
                limits.rejected |= !put(view, node, bound.value, &mut limits.lower);
            }
            if let Some(bound) = step.bounds.upper {
                limits.has_upper = true;
                limits.upper_inclusive = bound.inclusive;
                let fits = put(view, node, bound.value, &mut limits.upper);
                // Above the last partition lies nothing that a limit would keep out.
                limits.has_upper = fits;
            }
            limits.test &= !step.bounds.decides;
        }
    }
}

/// Whether keys of a root lead to a place in the tree: all of them, or this exact one.
fn root_order(view: &CompiledView, node: &Node, exact: bool) -> bool {
    let schema = &view.database(node).schema;
    let by_key = schema.placement.keeps_key_order();
    node.key_len > 0 && (by_key || exact)
}

/// Appends a key as it stands in virtual keys; `false` if no partition or anchor takes it.
fn put(view: &CompiledView, node: &Node, key: &[u8], to: &mut Vec<u8>) -> bool {
    let database = view.database(node);
    let schema = &database.schema;
    match node.chain {
        Chain::Root => {
            if !database.put_front(key, to) {
                return false;
            }
            schema.put_key(TypeAt::ROOT, key, to);
        }
        Chain::Index(at) => {
            let tree = &database.indexes[at];
            let from = to.len();
            // The key of an entry begins with the constant; the search fields do not.
            to.extend(tree.index.constant.filter(|_| view.resolved.entries.is_none()));
            to.extend_from_slice(key);
            tree.apply(schema.placement.collation(), &mut to[from..]);
        }
        Chain::Child { .. } => schema.put_key(node.of, key, to),
        Chain::Relation { .. } | Chain::Up { .. } => to.extend_from_slice(key),
    }
    true
}
