//! The check: what each read may show, the arrows that follow, the circles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::graph::{Allowed, Arrow, Circle, Graph};
use super::{Fate, History, Observed, Step};

/// Which order a history must have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any serial order.
    Serial,
    /// A serial order in which who ended before another began stands before it.
    StrictSerial,
}

/// What kind of anomaly it is, from what no store may do to what only serializability forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The history itself is wrong: the same element was appended to a list twice.
    BadHistory,
    /// A read saw an element that nobody appended.
    Garbage,
    /// A read saw an element twice.
    Duplicate,
    /// Two reads saw a list in orders that do not agree.
    Incompatible,
    /// A unit of work did not see its own appends, or not what it had read before.
    Internal,
    /// A read does not show what was committed before it began.
    Lost,
    /// Dirty write.
    G0,
    /// Aborted read.
    G1a,
    /// Intermediate read.
    G1b,
    /// Circular information flow.
    G1c,
    /// Lost update or read skew.
    GSingle,
    /// Write skew or phantom.
    G2,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::BadHistory => "bad history: an element was appended twice",
            Kind::Garbage => "garbage: an element that nobody appended",
            Kind::Duplicate => "duplicate: an element that was seen twice",
            Kind::Incompatible => "incompatible: reads that do not agree on the order of a list",
            Kind::Internal => "internal: a unit of work contradicts itself",
            Kind::Lost => "lost: a committed append that a later read does not show",
            Kind::G0 => "G0: dirty write",
            Kind::G1a => "G1a: aborted read",
            Kind::G1b => "G1b: intermediate read",
            Kind::G1c => "G1c: circular information flow",
            Kind::GSingle => "G-single: lost update or read skew",
            Kind::G2 => "G2: write skew or phantom",
        })
    }
}

/// Something that cannot have happened if the store did what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Its kind.
    pub kind: Kind,
    /// Whether it is one only because real time counts.
    pub real_time: bool,
    /// The units of work involved, by their places in the history.
    pub units: Vec<usize>,
    /// What happened, a line for each step of the argument.
    pub story: Vec<String>,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real_time = if self.real_time { ", in real time" } else { "" };
        write!(f, "{}{real_time}", self.kind)?;
        self.story.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// Looks for anomalies; the worst kinds stand first. A history without any is as if its units of
/// work had been run one after another.
#[must_use]
pub fn check(history: &History, order: Order) -> Vec<Anomaly> {
    let mut checker = Checker::new(history, order);
    checker.note_appends();
    checker.check_reads();
    checker.find_versions();
    checker.check_visibility();
    // Arrows drawn from reads that make no sense would tell stories that make none.
    if checker.anomalies.iter().all(|anomaly| anomaly.kind > Kind::Internal) {
        checker.draw_arrows();
        checker.find_circles();
    }
    checker.anomalies.sort_by_key(|anomaly| (anomaly.kind, anomaly.real_time));
    checker.anomalies
}

/// Who appended an element.
#[derive(Clone, Copy)]
struct Writer {
    unit: usize,
    /// It is the last one that this unit of work appended to the list.
    is_last: bool,
}

struct Checker<'a> {
    units: &'a [Observed],
    order: Order,
    /// By list and element.
    writers: BTreeMap<(u64, u64), Writer>,
    /// Each list as the longest read showed it: the order of its versions.
    versions: BTreeMap<u64, &'a [u64]>,
    /// What the longest reads showed, by list and element.
    shown: BTreeSet<(u64, u64)>,
    /// Units of work whose effect stands: committed, or unknown but seen by somebody.
    effective: BTreeSet<usize>,
    graph: Graph,
    anomalies: Vec<Anomaly>,
}

impl<'a> Checker<'a> {
    fn new(history: &'a History, order: Order) -> Checker<'a> {
        Checker {
            units: &history.units,
            order,
            writers: BTreeMap::new(),
            versions: BTreeMap::new(),
            shown: BTreeSet::new(),
            effective: BTreeSet::new(),
            graph: Graph::default(),
            anomalies: Vec::new(),
        }
    }

    fn report(&mut self, kind: Kind, units: Vec<usize>, story: String) {
        self.anomalies.push(Anomaly { kind, real_time: false, units, story: vec![story] });
    }

    fn name(&self, unit: usize) -> String {
        format!("unit {unit} (process {})", self.units[unit].process)
    }

    fn note_appends(&mut self) {
        for (unit, observed) in self.units.iter().enumerate() {
            let mut last: BTreeMap<u64, u64> = BTreeMap::new();
            for step in &observed.steps {
                let Step::Append { list, element } = *step else { continue };
                if let Some(other) = self.writers.get(&(list, element)) {
                    let (one, two) = (self.name(other.unit), self.name(unit));
                    let story = format!("{one} and {two} both appended {element} to list {list}");
                    self.report(Kind::BadHistory, vec![other.unit, unit], story);
                    continue;
                }
                self.writers.insert((list, element), Writer { unit, is_last: true });
                if let Some(before) = last.insert(list, element)
                    && let Some(writer) = self.writers.get_mut(&(list, before))
                {
                    writer.is_last = false;
                }
            }
            if observed.fate == Fate::Committed {
                self.effective.insert(unit);
            }
        }
    }

    /// The reads of units of work that were committed: only what they saw was promised.
    fn reads(&self) -> impl Iterator<Item = (usize, u64, &'a [u64])> + use<'a> {
        let committed = self.units.iter().enumerate();
        let committed = committed.filter(|(_, observed)| observed.fate == Fate::Committed);
        committed.flat_map(|(unit, observed)| {
            observed.steps.iter().filter_map(move |step| match step {
                Step::Read { list, elements } => Some((unit, *list, &elements[..])),
                Step::Append { .. } => None,
            })
        })
    }

    /// Each read by itself, and with what its unit of work did before.
    fn check_reads(&mut self) {
        for (unit, list, elements) in self.reads() {
            let reader = self.name(unit);
            let mut seen = BTreeSet::new();
            for element in elements {
                if !seen.insert(element) {
                    let story = format!("{reader} saw {element} twice in list {list}");
                    self.report(Kind::Duplicate, vec![unit], story);
                }
                if !self.writers.contains_key(&(list, *element)) {
                    let story = format!("{reader} saw {element} in list {list}");
                    self.report(Kind::Garbage, vec![unit], story);
                }
            }
        }
        for (unit, observed) in self.units.iter().enumerate() {
            if observed.fate == Fate::Committed
                && let Some(story) = contradiction(&observed.steps)
            {
                let story = format!("{}: {story}", self.name(unit));
                self.report(Kind::Internal, vec![unit], story);
            }
        }
    }

    fn find_versions(&mut self) {
        let mut longest: BTreeMap<u64, (usize, &'a [u64])> = BTreeMap::new();
        for (unit, list, elements) in self.reads() {
            let best = longest.entry(list).or_insert((unit, elements));
            if elements.len() > best.1.len() {
                *best = (unit, elements);
            }
        }
        for (unit, list, elements) in self.reads() {
            let (other, order) = longest[&list];
            if !order.starts_with(elements) {
                let (one, two) = (self.name(unit), self.name(other));
                let story = format!("{one} saw list {list} as {elements:?}, {two} as {order:?}");
                self.report(Kind::Incompatible, vec![unit, other], story);
            }
        }
        self.versions = longest.into_iter().map(|(list, (_, order))| (list, order)).collect();
        for (list, elements) in &self.versions {
            for element in *elements {
                self.shown.insert((*list, *element));
                if let Some(writer) = self.writers.get(&(*list, *element))
                    && self.units[writer.unit].fate == Fate::Unknown
                {
                    self.effective.insert(writer.unit);
                }
            }
        }
    }

    /// Aborted and intermediate reads, and appends that are lost.
    fn check_visibility(&mut self) {
        for (unit, list, elements) in self.reads() {
            let reader = self.name(unit);
            for element in elements {
                let Some(writer) = self.writers.get(&(list, *element)).copied() else { continue };
                if self.units[writer.unit].fate == Fate::BackedOut {
                    let name = self.name(writer.unit);
                    let story = format!(
                        "{reader} saw {element} in list {list}, but {name}, which appended it, \
                         was backed out"
                    );
                    self.report(Kind::G1a, vec![writer.unit, unit], story);
                }
            }
            let last = elements.last();
            let writer = last.and_then(|last| self.writers.get(&(list, *last))).copied();
            if let (Some(last), Some(writer)) = (last, writer)
                && writer.unit != unit
                && !writer.is_last
            {
                let name = self.name(writer.unit);
                let story = format!(
                    "{reader} saw list {list} up to {last}, but {name}, which appended that, \
                     appended more to it"
                );
                self.report(Kind::G1b, vec![writer.unit, unit], story);
            }
        }
        if self.order == Order::StrictSerial {
            self.check_lost();
        }
    }

    fn check_lost(&mut self) {
        let mut unseen: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
        for ((list, element), writer) in &self.writers {
            let committed = self.units[writer.unit].fate == Fate::Committed;
            if committed && !self.shown.contains(&(*list, *element)) {
                unseen.entry(*list).or_default().push((*element, writer.unit));
            }
        }
        let mut reported = BTreeSet::new();
        for (unit, list, _) in self.reads() {
            for (element, writer) in unseen.get(&list).into_iter().flatten() {
                let before = self.units[*writer].end < self.units[unit].start;
                if before && reported.insert((list, *element)) {
                    let (reader, writer_name) = (self.name(unit), self.name(*writer));
                    let story = format!(
                        "{writer_name} appended {element} to list {list} and was committed before \
                         {reader} began, which did not see it"
                    );
                    self.report(Kind::Lost, vec![*writer, unit], story);
                }
            }
        }
    }

    fn draw_arrows(&mut self) {
        let mut graph = Graph::default();
        for (list, order) in &self.versions {
            let writer = |element: &u64| self.effective_writer(*list, *element);
            for pair in order.windows(2) {
                if let (Some(one), Some(two)) = (writer(&pair[0]), writer(&pair[1])) {
                    let (before, after) = (pair[0], pair[1]);
                    graph.add(one, two, Arrow::WriteWrite { list: *list, before, after });
                }
            }
        }
        let mut unseen: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
        for ((list, element), writer) in &self.writers {
            let effective = self.effective.contains(&writer.unit);
            if effective && !self.shown.contains(&(*list, *element)) {
                unseen.entry(*list).or_default().push((*element, writer.unit));
            }
        }
        for (unit, list, elements) in self.reads() {
            let writer = |element: u64| self.effective_writer(list, element);
            if let Some(element) = elements.last().copied()
                && let Some(writer) = writer(element)
            {
                graph.add(writer, unit, Arrow::WriteRead { list, element });
            }
            let next = self.versions[&list].get(elements.len()).copied();
            if let Some(element) = next
                && let Some(writer) = writer(element)
            {
                graph.add(unit, writer, Arrow::ReadWrite { list, element });
            }
            // What no read shows comes after all that reads show.
            for (element, writer) in unseen.get(&list).into_iter().flatten() {
                graph.add(unit, *writer, Arrow::ReadWrite { list, element: *element });
            }
            if let (None, Some(last)) = (next, elements.last())
                && let Some(before) = writer(*last)
            {
                for (element, after) in unseen.get(&list).into_iter().flatten() {
                    let arrow = Arrow::WriteWrite { list, before: *last, after: *element };
                    graph.add(before, *after, arrow);
                }
            }
        }
        if self.order == Order::StrictSerial {
            self.draw_real_time(&mut graph);
        }
        graph.tidy();
        self.graph = graph;
    }

    fn effective_writer(&self, list: u64, element: u64) -> Option<usize> {
        let writer = self.writers.get(&(list, element))?;
        self.effective.contains(&writer.unit).then_some(writer.unit)
    }

    /// Arrows from who ended to who began after it, without those that follow from others.
    fn draw_real_time(&self, graph: &mut Graph) {
        let mut events: Vec<(u64, bool, usize)> = Vec::new();
        for unit in &self.effective {
            let observed = &self.units[*unit];
            events.push((observed.start, false, *unit));
            // Nobody knows when a commit took effect whose answer was lost.
            if observed.fate == Fate::Committed {
                events.push((observed.end, true, *unit));
            }
        }
        events.sort_unstable();
        let mut ended: Vec<usize> = Vec::new();
        for (_, is_end, unit) in events {
            if is_end {
                let start = self.units[unit].start;
                ended.retain(|earlier| self.units[*earlier].end >= start);
                ended.push(unit);
            } else {
                ended.iter().for_each(|earlier| graph.add(*earlier, unit, Arrow::RealTime));
            }
        }
    }

    fn find_circles(&mut self) {
        for component in self.graph.components() {
            let Some((kind, circle)) = self.worst_circle(&component) else { continue };
            let real_time = circle.iter().any(|(_, arrow)| *arrow == Arrow::RealTime);
            let units: Vec<usize> = circle.iter().map(|(unit, _)| *unit).collect();
            let next = |at: usize| units[(at + 1) % units.len()];
            let lines = circle.iter().enumerate();
            let story = lines.map(|(at, (unit, arrow))| self.tell(*unit, next(at), *arrow));
            let story = story.collect();
            self.anomalies.push(Anomaly { kind, real_time, units, story });
        }
    }

    /// A circle of the worst kind that a component has.
    fn worst_circle(&self, component: &[usize]) -> Option<(Kind, Circle)> {
        let strict = self.order == Order::StrictSerial;
        for real_time in [false, true].into_iter().take(1 + usize::from(strict)) {
            let writes = Allowed { write_read: false, read_write: false, real_time };
            let reads = Allowed { write_read: true, ..writes };
            let all = Allowed { read_write: true, ..reads };
            let found = (self.graph.circle(component, writes).map(|circle| (Kind::G0, circle)))
                .or_else(|| self.graph.circle(component, reads).map(|circle| (Kind::G1c, circle)))
                .or_else(|| {
                    let circle = self.graph.circle_with_one_read_write(component, real_time);
                    circle.map(|circle| (Kind::GSingle, circle))
                })
                .or_else(|| self.graph.circle(component, all).map(|circle| (Kind::G2, circle)));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn tell(&self, from: usize, to: usize, arrow: Arrow) -> String {
        let (from, to) = (self.name(from), self.name(to));
        let why = match arrow {
            Arrow::WriteWrite { list, before, after } => {
                format!("its {before} stands before the other's {after} in list {list} (ww)")
            }
            Arrow::WriteRead { list, element } => {
                format!("the other saw its {element} last in list {list} (wr)")
            }
            Arrow::ReadWrite { list, element } => {
                format!("it did not see the other's {element} in list {list} (rw)")
            }
            Arrow::RealTime => "it ended before the other began (rt)".into(),
        };
        format!("{from} stands before {to}: {why}")
    }
}

/// What a unit of work that saw itself correctly cannot have seen.
fn contradiction(steps: &[Step]) -> Option<String> {
    // What is known of each list: whole if it was read, otherwise only how it ends.
    let mut known: BTreeMap<u64, (bool, Vec<u64>)> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Append { list, element } => known.entry(*list).or_default().1.push(*element),
            Step::Read { list, elements } => {
                let expected = known.insert(*list, (true, elements.clone()));
                match expected {
                    Some((true, whole)) if whole != *elements => {
                        return Some(format!(
                            "it saw list {list} as {elements:?}, where it had to see {whole:?}"
                        ));
                    }
                    Some((false, end)) if !elements.ends_with(&end) => {
                        return Some(format!(
                            "it saw list {list} as {elements:?}, but had appended {end:?}"
                        ));
                    }
                    _ => (),
                }
            }
        }
    }
    None
}
