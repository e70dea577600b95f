//! A graph of units of work: arrows with reasons, strong components, shortest circles.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Why one unit of work stands before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arrow {
    /// Its element stands directly before that of the other.
    WriteWrite { list: u64, before: u64, after: u64 },
    /// The other saw its element last.
    WriteRead { list: u64, element: u64 },
    /// It did not see the other's element, which came next.
    ReadWrite { list: u64, element: u64 },
    /// It ended before the other began.
    RealTime,
}

/// Which arrows a search may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) write_read: bool,
    pub(super) read_write: bool,
    pub(super) real_time: bool,
}

impl Allowed {
    pub(super) fn allows(self, arrow: Arrow) -> bool {
        match arrow {
            Arrow::WriteWrite { .. } => true,
            Arrow::WriteRead { .. } => self.write_read,
            Arrow::ReadWrite { .. } => self.read_write,
            Arrow::RealTime => self.real_time,
        }
    }
}

/// A circle: each unit of work with the arrow to the one after it; the last leads to the first.
pub(super) type Circle = Vec<(usize, Arrow)>;

/// How many units of work of a component a search for its shortest circle starts from.
const STARTS_MAX: usize = 400;

#[derive(Default)]
pub(super) struct Graph {
    /// For each unit of work those that must come after it, and why.
    arrows: BTreeMap<usize, Vec<(usize, Arrow)>>,
}

impl Graph {
    pub(super) fn add(&mut self, from: usize, to: usize, arrow: Arrow) {
        if from != to {
            self.arrows.entry(from).or_default().push((to, arrow));
        }
    }

    /// Drops arrows that say the same.
    pub(super) fn tidy(&mut self) {
        for arrows in self.arrows.values_mut() {
            arrows.sort_unstable();
            arrows.dedup();
        }
    }

    fn from(&self, unit: usize) -> &[(usize, Arrow)] {
        self.arrows.get(&unit).map_or(&[], |arrows| arrows)
    }

    /// The sets of units of work that lie on circles with each other, by Tarjan's algorithm with a
    /// stack of its own: histories are longer than a thread's stack is deep.
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        let mut search = Tarjan::default();
        for unit in self.arrows.keys() {
            if !search.seen.contains_key(unit) {
                search.run(self, *unit);
            }
        }
        search.components
    }

    /// The shortest circle within a component over the arrows allowed.
    pub(super) fn circle(&self, component: &[usize], allowed: Allowed) -> Option<Circle> {
        let starts = component.iter().take(STARTS_MAX);
        let circles = starts.filter_map(|start| self.path(*start, *start, component, allowed));
        circles.min_by_key(Vec::len)
    }

    /// The shortest circle within a component with exactly one read-write arrow.
    pub(super) fn circle_with_one_read_write(
        &self,
        component: &[usize],
        real_time: bool,
    ) -> Option<Circle> {
        let others = Allowed { write_read: true, read_write: false, real_time };
        let mut best: Option<Circle> = None;
        for from in component.iter().take(STARTS_MAX) {
            for (to, arrow) in self.from(*from) {
                if !matches!(arrow, Arrow::ReadWrite { .. }) {
                    continue;
                }
                let Some(back) = self.path(*to, *from, component, others) else { continue };
                if best.as_ref().is_none_or(|best| back.len() + 1 < best.len()) {
                    best = Some([vec![(*from, *arrow)], back].concat());
                }
            }
        }
        best
    }

    /// The shortest way from one unit of work to another, of at least one arrow. `component` is
    /// sorted.
    fn path(
        &self,
        from: usize,
        to: usize,
        component: &[usize],
        allowed: Allowed,
    ) -> Option<Circle> {
        let mut came: BTreeMap<usize, (usize, Arrow)> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(unit) = queue.pop_front() {
            for (next, arrow) in self.from(unit) {
                let inside = component.binary_search(next).is_ok();
                if !inside || !allowed.allows(*arrow) || came.contains_key(next) {
                    continue;
                }
                came.insert(*next, (unit, *arrow));
                if *next == to {
                    return Some(walk_back(&came, from, to));
                }
                queue.push_back(*next);
            }
        }
        None
    }
}

fn walk_back(came: &BTreeMap<usize, (usize, Arrow)>, from: usize, to: usize) -> Circle {
    let mut path = Vec::new();
    let mut at = to;
    loop {
        let (before, arrow) = came[&at];
        path.push((before, arrow));
        at = before;
        if at == from {
            break;
        }
    }
    path.reverse();
    path
}

#[derive(Default)]
struct Tarjan {
    /// For each unit of work its number in the order of discovery and its lowest reachable one.
    seen: BTreeMap<usize, (usize, usize)>,
    stack: Vec<usize>,
    on_stack: BTreeSet<usize>,
    components: Vec<Vec<usize>>,
}

impl Tarjan {
    fn discover(&mut self, unit: usize) {
        let number = self.seen.len();
        self.seen.insert(unit, (number, number));
        self.stack.push(unit);
        self.on_stack.insert(unit);
    }

    fn run(&mut self, graph: &Graph, root: usize) {
        self.discover(root);
        let mut calls = vec![(root, 0)];
        while let Some((unit, at)) = calls.pop() {
            if let Some((next, _)) = graph.from(unit).get(at) {
                calls.push((unit, at + 1));
                if !self.seen.contains_key(next) {
                    self.discover(*next);
                    calls.push((*next, 0));
                } else if self.on_stack.contains(next) {
                    self.lower(unit, self.seen[next].0);
                }
                continue;
            }
            let (number, lowest) = self.seen[&unit];
            if let Some((caller, _)) = calls.last() {
                self.lower(*caller, lowest);
            }
            if number == lowest {
                self.close(unit);
            }
        }
    }

    fn lower(&mut self, unit: usize, to: usize) {
        if let Some((_, lowest)) = self.seen.get_mut(&unit) {
            *lowest = to.min(*lowest);
        }
    }

    /// Takes the component whose first discovered member is `unit` off the stack.
    fn close(&mut self, unit: usize) {
        let at = self.stack.iter().rposition(|on_stack| *on_stack == unit);
        let mut component = self.stack.split_off(at.expect("a member is on the stack"));
        for member in &component {
            self.on_stack.remove(member);
        }
        if component.len() > 1 {
            component.sort_unstable();
            self.components.push(component);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Allowed = Allowed { write_read: true, read_write: true, real_time: true };
    const SAW: Arrow = Arrow::WriteRead { list: 1, element: 1 };
    const MISSED: Arrow = Arrow::ReadWrite { list: 1, element: 1 };

    fn graph(arrows: &[(usize, usize, Arrow)]) -> Graph {
        let mut graph = Graph::default();
        arrows.iter().for_each(|(from, to, arrow)| graph.add(*from, *to, *arrow));
        graph.tidy();
        graph
    }

    #[test]
    fn components_are_found_in_deep_and_tangled_graphs() {
        let chain = (0..100_000).map(|unit| (unit, unit + 1, Arrow::RealTime));
        let mut arrows: Vec<_> = chain.collect();
        assert!(graph(&arrows).components().is_empty());
        arrows.extend([(20, 10, SAW), (15, 12, SAW), (60_000, 50_000, SAW)]);
        let components = graph(&arrows).components();
        let mut sizes: Vec<_> = components.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [11, 10_001]);
    }

    #[test]
    fn the_shortest_circle_is_shown() {
        let arrows = [(1, 2, SAW), (2, 3, SAW), (3, 1, MISSED), (2, 1, MISSED), (3, 3, SAW)];
        let graph = graph(&arrows);
        let component = &graph.components()[0];
        assert_eq!(graph.circle(component, ALL), Some(vec![(1, SAW), (2, MISSED)]));
        let no_missed = Allowed { read_write: false, ..ALL };
        assert_eq!(graph.circle(component, no_missed), None);
        let one = graph.circle_with_one_read_write(component, false);
        assert_eq!(one, Some(vec![(2, MISSED), (1, SAW)]));
    }
}
