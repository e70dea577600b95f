//! Random databases with a logical relationship, and calls over all four views of it.
//!
//! ```text
//!   LEFT:  A ── B (logical child) ── E          RIGHT:  [P ──] L ── V (virtual, or the pair)
//!               └───────────────▶ L                            └─── R
//!   over both:  A ── B+L ── R                   and     [P ──] L ── V+A
//! ```
//!
//! Invariants:
//! 1. No segment comes back under a key that was deleted before: no rule says whether it
//!    is the old one then.

use proptest::collection::vec;
use proptest::prelude::*;

use super::Numbers;
use super::ends::Form;
use crate::script::{Call, Case, Script, Sources, Step};
use crate::{Feedback, Model, RootOrder, Setup, SetupError, Subject};

/// A relationship and a program's calls, as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Rules of A, of B and of L: insert, delete, replace of each.
    pub rules: [[u8; 3]; 3],
    /// The pairing; the keys of B and of V; where new V go; LL of B and of L; P.
    pub forms: [u8; 7],
    /// The inserts at the beginning.
    pub inserts: Vec<Numbers>,
    /// The calls behind them.
    pub calls: Vec<Numbers>,
}

/// Relationships with at most that many calls.
pub fn related(calls: usize) -> impl Strategy<Value = Related> {
    let inserts = vec(any::<Numbers>(), 4..16);
    let calls = vec(any::<Numbers>(), 1..=calls);
    let all = (any::<[[u8; 3]; 3]>(), any::<[u8; 7]>(), inserts, calls);
    all.prop_map(|(rules, forms, inserts, calls)| Related { rules, forms, inserts, calls })
}

/// What there is at the beginning: what is inserted, and the keys of A and of L.
const BEGINNING: [[u8; 3]; 9] = [
    [0, 0, 0],
    [0, 1, 0],
    [1, 0, 0],
    [1, 0, 1],
    [2, 0, 0],
    [2, 0, 1],
    [2, 1, 0],
    [4, 0, 0],
    [5, 0, 0],
];

impl Related {
    /// The setup, and the script of its calls.
    ///
    /// # Errors
    /// Never, as long as the sources compile.
    pub fn make(&self, order: RootOrder) -> Result<(Setup, Script), SetupError> {
        let source = self.source();
        let setup = Setup::from_source(&source)?;
        let model = Model::new(&setup, order);
        let (form, steps) = (self.form(), Vec::new());
        let mut maker =
            Maker { form, model, steps, used: Vec::new(), last: [const { Vec::new() }; 4] };
        // Two of A and of L, children between them, and something beneath, so that calls find it.
        for [what, a, l] in BEGINNING {
            maker.insert(&[0, what, a, l, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        for numbers in &self.inserts {
            maker.insert(numbers);
        }
        maker.sync(Step::Checkpoint);
        for numbers in &self.calls {
            maker.any(numbers);
        }
        let case = Case { title: "random".to_owned(), steps: maker.steps };
        let (sources, given) = (Sources::Text(source), Vec::new());
        Ok((setup, Script { sources, online: false, given, cases: vec![case] }))
    }
}

/// What is inserted: a type and the keys of A or P, of L and of the segment itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    what: u8,
    keys: [[u8; 2]; 3],
}

/// Makes a script while a model runs it.
struct Maker {
    form: Form,
    model: Model,
    steps: Vec<Step>,
    used: Vec<Known>,
    /// What the last get of each PCB put into the area.
    last: [Vec<u8>; 4],
}

impl Maker {
    fn sync(&mut self, step: Step) {
        match step {
            Step::Rollback => self.model.rollback(),
            _ => self.model.checkpoint(),
        }
        self.steps.push(step);
    }

    fn call(&mut self, pcb: usize, function: &str, area: Vec<u8>, ssas: Vec<Vec<u8>>) -> Feedback {
        let feedback = self.model.call(pcb, function, &area, &ssas);
        if let Some(area) = &feedback.area {
            self.last[pcb].clone_from(area);
        }
        let function = function.to_owned();
        self.steps.push(Step::Call(Call { pcb, function, area, ssas, expected: None }));
        feedback
    }

    fn any(&mut self, numbers: &Numbers) {
        let [what, first, ..] = *numbers;
        let pcb = usize::from(numbers[2] % 4);
        let hold = ["GHU", "GHN", "GHNP"][usize::from(first % 3)];
        match what % 16 {
            0..=2 => self.insert(numbers),
            3 | 4 => self.get(pcb, "GU", numbers),
            5 | 6 => self.get(pcb, "GN", numbers),
            7 => self.get(pcb, "GNP", numbers),
            8..=10 => {
                self.get(pcb, hold, numbers);
                self.replace(pcb, numbers);
            }
            11..=14 => {
                self.get(pcb, hold, numbers);
                let area = self.last[pcb].clone();
                self.call(pcb, "DLET", area, Vec::new());
            }
            // The model forgets at a commit what was deleted on one path and lives on another,
            // and its physical parent would go without it.
            _ if first % 4 == 3 || self.form.bidirectional => self.sync(Step::Rollback),
            _ => self.sync(Step::Checkpoint),
        }
    }

    fn replace(&mut self, pcb: usize, numbers: &Numbers) {
        let mut area = self.last[pcb].clone();
        let places = area.len();
        let place =
            if numbers[9] % 8 == 7 { usize::from(numbers[10]) } else { places - places.min(1) };
        if let Some(byte) = area.get_mut(place % places.max(1)) {
            *byte = b"xyz"[usize::from(numbers[11] % 3)];
        }
        self.call(pcb, "REPL", area, Vec::new());
    }

    /// The names of a view's levels, from the root down to one of its types.
    fn path(&self, pcb: usize, number: u8) -> Vec<&'static str> {
        let paths: &[&[&'static str]] = match (pcb, self.form.has_path) {
            (0, _) => &[&["A"], &["A", "B"], &["A", "B", "E"]],
            (1, true) => &[&["L"], &["L", "V"], &["L", "R"]],
            (2, _) => &[&["A"], &["A", "BL"], &["A", "BL", "R"], &["A", "BL", "E"]],
            (_, true) => &[&["L"], &["L", "VA"]],
            (_, false) => &[&["L"], &["L", "R"]],
        };
        // The logical child more often than the others.
        let at = if number % 2 == 1 { 1 } else { usize::from(number / 2) };
        let path = paths[at % paths.len()];
        let front: &[&str] = if self.form.below_p && pcb % 2 == 1 { &["P"] } else { &[] };
        [front, path].concat()
    }

    fn get(&mut self, pcb: usize, function: &str, numbers: &Numbers) {
        let bare = !function.ends_with('U') && numbers[3] % 2 == 1;
        let mut ssas = Vec::new();
        if !bare {
            let path = self.path(pcb, numbers[4]);
            for (at, name) in path.iter().enumerate() {
                let number = if *name == "P" { 0 } else { numbers[5 + at] };
                ssas.push(match number % 8 {
                    7 => format!("{name:<8} ").into_bytes(),
                    _ => self.qualified(name, number, numbers[9 + at % 3]),
                });
            }
        }
        self.call(pcb, function, Vec::new(), ssas);
    }

    /// An SSA with `=` on a key; unqualified where there is none of two bytes.
    fn qualified(&self, name: &str, number: u8, field: u8) -> Vec<u8> {
        let key = match name {
            "A" | "P" | "L" | "R" | "E" => format!("K{name}"),
            "V" | "VA" => "KV".to_owned(),
            _ if self.form.below_p => return format!("{name:<8} ").into_bytes(),
            _ => "KB".to_owned(),
        };
        // Fields of the destination parent can be asked for, too.
        let key = match name {
            "BL" if field % 4 == 3 => "TL".to_owned(),
            "VA" if field % 4 == 3 => "TA".to_owned(),
            _ => key,
        };
        let value = match (key.as_str(), name) {
            ("TL" | "TA", _) => "t0".to_owned(),
            ("KB", _) => text(of('L', number)),
            ("KV", _) => text(of('A', number)),
            _ => text(of(name.chars().next().unwrap_or('A'), number)),
        };
        format!("{name:<8}({key:<8}= {value})").into_bytes()
    }

    fn insert(&mut self, numbers: &Numbers) {
        let [_, what, a, l, own, pcb, tail, data, ..] = *numbers;
        let what = what % 6;
        // Nearly always the same P, for what is beneath it is sought there.
        let p = u8::from(self.form.below_p && numbers[8] % 16 == 15);
        let (a, p, l) = (of('A', a), of('P', p), of('L', l));
        let known = match what {
            0 => Known { what, keys: [a, [0; 2], [0; 2]] },
            1 => Known { what, keys: [p, l, [0; 2]] },
            2 | 3 => Known { what: 2, keys: [a, p, l] },
            4 => Known { what, keys: [p, l, of('R', own)] },
            _ => Known { what, keys: [a, l, of('E', own)] },
        };
        if self.used.contains(&known) && !self.is_there(&known) {
            return;
        }
        let second = pcb % 2 == 1;
        let (pcb, area, ssas) = match what {
            0 => {
                (if second { 2 } else { 0 }, [&a[..], b"t", &[tail_of(tail)]].concat(), Vec::new())
            }
            1 => (1, self.parent_data(l, tail, data), self.above('P', p)),
            2 => self.child((if second { 2 } else { 0 }, numbers), a, p, l),
            3 if self.form.has_path => self.child((if second { 3 } else { 1 }, numbers), a, p, l),
            4 => (1, [&known.keys[2][..], b"ro"].concat(), self.above_and('P', p, &[("L", l)])),
            5 => {
                let mut above = vec![ssa("A", "KA", a)];
                above.push(if self.form.below_p {
                    b"B        ".to_vec()
                } else {
                    ssa("B", "KB", l)
                });
                (0, [&known.keys[2][..], b"en"].concat(), above)
            }
            _ => return,
        };
        if what == 1 && self.form.below_p && !self.has_p(p) {
            self.call(1, "ISRT", [&p[..], b"pp"].concat(), vec![b"P        ".to_vec()]);
        }
        let name = match (what, pcb) {
            (0, _) => "A",
            (1, _) => "L",
            (4, _) => "R",
            (5, _) => "E",
            (_, 0) => "B",
            (_, 1) => "V",
            (_, 2) => "BL",
            _ => "VA",
        };
        let ssas = [ssas, vec![format!("{name:<8} ").into_bytes()]].concat();
        let feedback = self.call(pcb, "ISRT", area, ssas);
        if feedback.status == *b"  " {
            // Whatever may have come along with it.
            self.used.push(Known { what: 0, keys: [a, [0; 2], [0; 2]] });
            self.used.push(Known { what: 1, keys: [p, l, [0; 2]] });
            self.used.push(known);
        }
    }

    /// The PCB, the area and the SSAs above for a logical child, with its destination parent.
    fn child(
        &self,
        (pcb, numbers): (usize, &Numbers),
        a: [u8; 2],
        p: [u8; 2],
        l: [u8; 2],
    ) -> (usize, Vec<u8>, Vec<Vec<u8>>) {
        let right = if self.form.below_p { [p, l].concat() } else { l.to_vec() };
        let from_left = pcb % 2 == 0;
        let key = if from_left { right } else { a.to_vec() };
        let data = if numbers[6] % 2 == 0 { &b"d1"[..] } else { b"d2" };
        let mut area = Vec::new();
        if self.form.variable_child {
            let len = u8::try_from(key.len() + 4).unwrap_or(u8::MAX);
            area.extend([0, len]);
        }
        area.extend([&key[..], data].concat());
        match pcb {
            2 => area.extend(self.parent_data(l, numbers[7], numbers[9])),
            3 => area.extend([&a[..], b"t", &[tail_of(numbers[7])]].concat()),
            _ => {}
        }
        let ssas = match from_left {
            true => vec![ssa("A", "KA", a)],
            false => self.above_and('P', p, &[("L", l)]),
        };
        (pcb, area, ssas)
    }

    fn parent_data(&self, key: [u8; 2], tail: u8, len: u8) -> Vec<u8> {
        let data = [&key[..], b"t", &[tail_of(tail)]].concat();
        match self.form.variable_parent {
            true if len.is_multiple_of(2) => [&[0, 6][..], &data].concat(),
            true => [&[0, 8][..], &data, b"++"].concat(),
            false => data,
        }
    }

    fn above(&self, name: char, key: [u8; 2]) -> Vec<Vec<u8>> {
        match self.form.below_p {
            true => vec![ssa(&name.to_string(), &format!("K{name}"), key)],
            false => Vec::new(),
        }
    }

    fn above_and(&self, name: char, key: [u8; 2], below: &[(&str, [u8; 2])]) -> Vec<Vec<u8>> {
        let below = below.iter().map(|(name, key)| ssa(name, &format!("K{name}"), *key));
        self.above(name, key).into_iter().chain(below).collect()
    }

    fn has_p(&mut self, key: [u8; 2]) -> bool {
        let ssas = [ssa("P", "KP", key)];
        self.model.call(5, "GU", &[], &ssas).status == *b"  "
    }

    /// Whether a segment is there on every path that leads to it.
    fn is_there(&mut self, known: &Known) -> bool {
        let [first, second, third] = known.keys;
        let right = |maker: &Maker, p, l, more: &[Vec<u8>]| {
            [maker.above_and('P', p, &[("L", l)]), more.to_vec()].concat()
        };
        let ssas = match known.what {
            0 => vec![(4, vec![ssa("A", "KA", first)])],
            1 => vec![(5, right(self, first, second, &[]))],
            2 => {
                let concatenated =
                    if self.form.below_p { [second, third].concat() } else { third.to_vec() };
                let child = [b"B       (KB      = ", &concatenated[..], b")"].concat();
                let mut ways = vec![(4, vec![ssa("A", "KA", first), child])];
                if self.form.has_path {
                    ways.push((5, right(self, second, third, &[ssa("V", "KV", first)])));
                }
                ways
            }
            4 => vec![(5, right(self, first, second, &[ssa("R", "KR", third)]))],
            _ => return false,
        };
        ssas.into_iter().all(|(pcb, ssas)| self.model.call(pcb, "GU", &[], &ssas).status == *b"  ")
    }
}

/// One of three keys of a type.
fn of(name: char, number: u8) -> [u8; 2] {
    // Names are letters.
    let second = if number % 16 == 15 { b'2' } else { b"01"[usize::from(number % 2)] };
    [u8::try_from(name).unwrap_or(b'?'), second]
}

fn text(key: [u8; 2]) -> String {
    key.iter().map(|byte| char::from(*byte)).collect()
}

fn tail_of(number: u8) -> u8 {
    b"012"[usize::from(number % 3)]
}

fn ssa(name: &str, field: &str, key: [u8; 2]) -> Vec<u8> {
    format!("{name:<8}({field:<8}= {})", text(key)).into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn random_relationships_meet_the_statuses_of_their_rules() {
        let mut runner = TestRunner::deterministic();
        let mut met: BTreeMap<(String, String), usize> = BTreeMap::new();
        for _ in 0..300 {
            let trial = related(40).new_tree(&mut runner).unwrap().current();
            let order: RootOrder = Arc::new(|_, key: &[u8]| key.to_vec());
            let (setup, script) = trial.make(Arc::clone(&order)).unwrap();
            let mut model = Model::new(&setup, order);
            for step in &script.cases[0].steps {
                if let Step::Call(call) = step {
                    let feedback = model.call(call.pcb, &call.function, &call.area, &call.ssas);
                    let status = String::from_utf8_lossy(&feedback.status).into_owned();
                    *met.entry((call.function.clone(), status)).or_default() += 1;
                }
            }
        }
        let expected = [
            ("ISRT", "  "),
            ("ISRT", "IX"),
            ("ISRT", "II"),
            ("ISRT", "GE"),
            ("REPL", "  "),
            ("REPL", "RX"),
            ("REPL", "DA"),
            ("DLET", "  "),
            ("DLET", "DX"),
            ("GU", "  "),
        ];
        for (function, status) in expected {
            let many = met.get(&(function.to_owned(), status.to_owned()));
            assert!(many.is_some_and(|many| *many > 20), "{function} {status}: {met:?}");
        }
    }
}
