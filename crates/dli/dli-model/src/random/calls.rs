//! Random calls that are likely to find something: drawn from numbers, made with a model at
//! hand that tells what is in the area and which keys exist.
//!
//! Invariants:
//! 1. The same numbers make the same script.
//! 2. Zeros are the simplest: GU of the root by `=` on its key.

use super::shape::{Kind, Seen, World};
use crate::script::{Call, Case, Script, Sources, Step};
use crate::{Feedback, Model, RootOrder, Setup, Subject};

/// Numbers from which one call is drawn.
pub type Numbers = [u8; 12];

/// Reads the numbers one behind the other; zeros follow.
struct Dice<'a> {
    numbers: std::slice::Iter<'a, u8>,
}

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == sides - 1
    }
}

/// A segment that was inserted: its type, and the keys from the root down.
#[derive(Clone)]
struct Known {
    kind: usize,
    keys: Vec<[u8; 2]>,
}

/// Makes a script while a model runs it.
struct Maker<'w> {
    world: &'w World,
    model: Model,
    known: Vec<Known>,
    steps: Vec<Step>,
    /// What the last get put into the area.
    last: Vec<u8>,
}

/// A script of inserts and then calls of every kind.
#[must_use]
pub fn script(
    world: &World,
    setup: &Setup,
    order: RootOrder,
    (inserts, calls): (&[Numbers], &[Numbers]),
    load: bool,
) -> Script {
    let model = Model::new(setup, order);
    let mut maker = Maker { world, model, known: Vec::new(), steps: Vec::new(), last: Vec::new() };
    for numbers in inserts {
        let mut dice = Dice { numbers: numbers.iter() };
        match load {
            true => maker.load(&mut dice),
            false => maker.insert(0, &mut dice),
        }
    }
    maker.steps.push(Step::Checkpoint);
    maker.model.checkpoint();
    for numbers in calls {
        let mut dice = Dice { numbers: numbers.iter() };
        match load {
            true => maker.get(1, "GN", &mut dice),
            false => maker.any(&mut dice),
        }
    }
    let case = Case { title: "random".to_owned(), steps: maker.steps };
    Script {
        sources: Sources::Text(world.source.clone()),
        online: setup.online,
        given: Vec::new(),
        cases: vec![case],
    }
}

impl Maker<'_> {
    fn run(&mut self, call: Call) -> Feedback {
        let feedback = self.model.call(call.pcb, &call.function, &call.area, &call.ssas);
        if let Some(area) = &feedback.area {
            self.last.clone_from(area);
        }
        self.steps.push(Step::Call(call));
        feedback
    }

    fn any(&mut self, dice: &mut Dice<'_>) {
        let function = dice.roll(32);
        // The first PCB is used more often than the others.
        let pcb = dice.roll(self.world.pcbs.len() * 2) % self.world.pcbs.len();
        match function {
            0..=4 => self.get(pcb, "GU", dice),
            5..=10 => self.get(pcb, "GN", dice),
            11..=14 => self.get(pcb, "GNP", dice),
            15..=17 => self.get(pcb, "GHN", dice),
            18 => self.get(pcb, "GHNP", dice),
            19..=23 => self.insert(pcb, dice),
            24..=26 => {
                let function = ["GHU", "GHN", "GHNP"][dice.roll(3)];
                self.get(pcb, function, dice);
                self.replace(pcb, dice);
            }
            27..=28 => {
                self.get(pcb, ["GHU", "GHN"][dice.roll(2)], dice);
                self.delete(pcb, dice);
            }
            29 => self.replace(pcb, dice),
            30 => self.delete(pcb, dice),
            _ if dice.one_in(3) => {
                self.model.rollback();
                self.steps.push(Step::Rollback);
            }
            _ => {
                self.model.checkpoint();
                self.steps.push(Step::Checkpoint);
            }
        }
    }

    fn get(&mut self, pcb: usize, function: &str, dice: &mut Dice<'_>) {
        let bare = function != "GU" && function != "GHU" && dice.roll(2) == 1;
        let seen = self.world.pcbs[pcb].clone();
        let target = self.target(&seen, dice, |kind| Some(kind.number));
        let ssas = if bare { Vec::new() } else { self.ssas(pcb, target.kind, true, dice) };
        let function = function.to_owned();
        self.run(Call { pcb, function, ssas, ..Call::default() });
    }

    /// A type; the root if there is nothing of the type that it needs, mostly.
    fn target<'s>(
        &self,
        seen: &'s [Seen],
        dice: &mut Dice<'_>,
        needs: impl Fn(&Kind) -> Option<usize>,
    ) -> &'s Seen {
        let target = &seen[dice.roll(seen.len())];
        let needed = needs(&self.world.kinds[target.kind]);
        let number = |known: &Known| self.world.kinds[known.kind].number;
        let there = |one| self.known.iter().any(|known| number(known) == one);
        if needed.is_none_or(there) { target } else { &seen[0] }
    }

    /// The keys of a path to a segment of that type, of one that is there if possible.
    fn keys(&self, kind: usize, dice: &mut Dice<'_>) -> Vec<[u8; 2]> {
        let fits: Vec<&Known> = self.known.iter().filter(|known| known.kind == kind).collect();
        let choice = dice.roll(fits.len());
        let other = dice.one_in(8);
        match fits.get(choice) {
            Some(known) if !other => known.keys.clone(),
            _ => {
                let kinds = self.path(kind).into_iter().map(|at| &self.world.kinds[at]);
                kinds.map(|kind| [kind.first_of_key(), key(dice.roll(5))[1]]).collect()
            }
        }
    }

    fn path(&self, kind: usize) -> Vec<usize> {
        let up = |at: &usize| self.world.kinds[*at].parent;
        let mut path: Vec<usize> = std::iter::successors(Some(kind), up).collect();
        path.reverse();
        path
    }

    /// SSAs for the levels down to a type; the last is always there.
    fn ssas(&self, pcb: usize, kind: usize, get: bool, dice: &mut Dice<'_>) -> Vec<Vec<u8>> {
        let keys = self.keys(kind, dice);
        let path = self.path(kind);
        let mut ssas = Vec::new();
        if get && dice.one_in(16) {
            return vec![self.concatenated(kind, &path, &keys)];
        }
        for (at, (level, key)) in path.iter().zip(&keys).enumerate() {
            let last = at + 1 == path.len();
            let choice = dice.roll(8);
            if (choice == 7 || dice.one_in(8)) && !last {
                continue;
            }
            let kind = &self.world.kinds[*level];
            let by_index = self.world.by_index[pcb].filter(|_| at == 0);
            let mut ssa = format!("{:<8}", kind.name).into_bytes();
            let codes = self.codes(get, choice, dice);
            ssa.extend_from_slice(codes.as_bytes());
            // U and V go with unqualified SSAs.
            let plain = codes.contains(['U', 'V']);
            match (if plain { 6 } else { choice }, by_index) {
                (5..=7, _) => ssa.push(b' '),
                (_, Some(field)) => ssa.extend(by_search_field(field, choice, dice)),
                (choice, None) => ssa.extend(qualification(kind, *key, choice, dice)),
            }
            ssas.push(ssa);
        }
        if dice.one_in(24) {
            spoil(&mut ssas, dice);
        }
        ssas
    }

    fn concatenated(&self, kind: usize, path: &[usize], keys: &[[u8; 2]]) -> Vec<u8> {
        let mut ssa = format!("{:<8}*C(", self.world.kinds[kind].name).into_bytes();
        for (level, key) in path.iter().zip(keys) {
            if self.world.kinds[*level].keyed {
                ssa.extend_from_slice(key);
            }
        }
        ssa.push(b')');
        ssa
    }

    fn codes(&self, get: bool, choice: usize, dice: &mut Dice<'_>) -> &'static str {
        const OF_GETS: &[&str] = &["*D", "*F", "*L", "*P", "*-", "*U", "*V", "*DP", "*DL", "*G"];
        const OF_INSERTS: &[&str] = &["*-", "*L", "*F", "*P", "*U", "*V"];
        if !dice.one_in(4) {
            return "";
        }
        let words = if get { OF_GETS } else { OF_INSERTS };
        words[(choice + dice.roll(words.len())) % words.len()]
    }

    /// An insert under a parent that is there, mostly.
    fn insert(&mut self, pcb: usize, dice: &mut Dice<'_>) {
        let seen = self.world.pcbs[pcb].clone();
        let target = self
            .target(&seen, dice, |kind| kind.parent.map(|parent| self.world.kinds[parent].number));
        let kind = &self.world.kinds[target.kind];
        let path = self.path(target.kind);
        let (mut ssas, mut keys) = match kind.parent {
            None => (Vec::new(), Vec::new()),
            Some(parent) => {
                let keys = self.keys(parent, dice);
                let by_path = pcb > 0 && dice.one_in(3);
                let ssas = match (by_path, self.world.by_index[pcb].is_some()) {
                    (true, _) => Vec::new(),
                    (false, true) => self.ssas(pcb, parent, false, dice),
                    (false, false) => self.exact(&path[..path.len() - 1], &keys),
                };
                (ssas, keys)
            }
        };
        let key = key(dice.roll(5));
        keys.push(key);
        let mut area = area(kind, target, key, dice);
        let codes = ["", "", "", "*D", "*L", "*F", "*P", "*-"][dice.roll(8)];
        ssas.push(format!("{:<8}{codes} ", kind.name).into_bytes());
        // Sometimes a dependent comes along.
        let beneath = |one: &&Seen| self.world.kinds[one.kind].parent == Some(target.kind);
        if let Some(child) = seen.iter().find(beneath).filter(|_| codes == "*D") {
            let kind = &self.world.kinds[child.kind];
            area.extend(self::area(kind, child, key, dice));
            ssas.push(format!("{:<8} ", kind.name).into_bytes());
        }
        let function = "ISRT".to_owned();
        let feedback = self.run(Call { pcb, function, area, ssas, expected: None });
        if feedback.status == *b"  " {
            self.known.push(Known { kind: target.kind, keys });
        }
    }

    /// An insert in load mode: mostly a dependent of the segment loaded last, or its next twin.
    fn load(&mut self, dice: &mut Dice<'_>) {
        let last = self.known.last().cloned();
        let beneath = |kind: usize| {
            let kinds = self.world.kinds.iter().enumerate();
            kinds.filter(|(_, one)| one.parent == Some(kind)).map(|(at, _)| at).collect()
        };
        let (kind, above, from) = match (last, dice.roll(4)) {
            (None, _) => (0, Vec::new(), 0),
            (Some(last), 0 | 1) => {
                let below: Vec<usize> = beneath(last.kind);
                match below.get(dice.roll(below.len())) {
                    Some(kind) => (*kind, last.keys, 0),
                    None => (0, Vec::new(), self.loaded_roots()),
                }
            }
            (Some(mut last), 2) => {
                let key = last.keys.pop().unwrap_or_default();
                (last.kind, last.keys, usize::from(key[1].saturating_sub(b'0')) + 1)
            }
            (Some(last), _) => {
                // Somewhere on the path, or quite out of order.
                let kind = dice.roll(self.world.kinds.len());
                let level = self.path(kind).len() - 1;
                (kind, last.keys.get(..level).unwrap_or(&[]).to_vec(), dice.roll(5))
            }
        };
        let key = [b'K', b'0' + u8::try_from(from % 10).unwrap_or(0)];
        let one = self.world.kinds[kind].clone();
        let seen = Seen { kind, fields: false };
        let area = area(&one, &seen, key, dice);
        let mut ssas = Vec::new();
        if dice.one_in(4) {
            let path = self.path(kind);
            ssas = self.exact(&path[..path.len() - 1], &above);
        }
        ssas.push(format!("{:<8} ", one.name).into_bytes());
        let function = "ISRT".to_owned();
        let feedback = self.run(Call { pcb: 0, function, area, ssas, expected: None });
        if feedback.status == *b"  " {
            let keys = above.into_iter().chain([key]).collect();
            self.known.push(Known { kind, keys });
        }
    }

    fn loaded_roots(&self) -> usize {
        self.known.iter().filter(|known| known.kind == 0).count()
    }

    /// `=` on every key; an unkeyed level is unqualified.
    fn exact(&self, path: &[usize], keys: &[[u8; 2]]) -> Vec<Vec<u8>> {
        let levels = path.iter().zip(keys).map(|(level, key)| {
            let kind = &self.world.kinds[*level];
            let mut ssa = format!("{:<8}", kind.name).into_bytes();
            match kind.keyed {
                true => {
                    ssa.extend(format!("(K{:<7}= ", kind.number).into_bytes());
                    ssa.extend_from_slice(key);
                    ssa.push(b')');
                }
                false => ssa.push(b' '),
            }
            ssa
        });
        levels.collect()
    }

    fn replace(&mut self, pcb: usize, dice: &mut Dice<'_>) {
        let mut area = self.last.clone();
        let len = area.len();
        // Mostly behind the key of the lowest segment, where it may move an index entry.
        let (far, near) = (dice.roll(len), len.saturating_sub(1 + dice.roll(3)));
        let place = if dice.one_in(8) { far } else { near };
        if let Some(byte) = area.get_mut(place) {
            *byte = b"xyz w"[dice.roll(5)];
        }
        let mut ssas = Vec::new();
        if dice.one_in(8) {
            let seen = &self.world.pcbs[pcb];
            let kind = &self.world.kinds[seen[dice.roll(seen.len())].kind];
            ssas.push(format!("{:<8}*N ", kind.name).into_bytes());
        }
        let function = "REPL".to_owned();
        self.run(Call { pcb, function, area, ssas, expected: None });
    }

    fn delete(&mut self, pcb: usize, dice: &mut Dice<'_>) {
        let mut area = self.last.clone();
        let place = dice.roll(area.len());
        if dice.one_in(8) {
            area[place..].iter_mut().take(1).for_each(|byte| *byte = b'?');
        }
        let function = "DLET".to_owned();
        self.run(Call { pcb, function, area, ..Call::default() });
    }
}

/// One of five keys.
fn key(number: usize) -> [u8; 2] {
    [b'K', b"01234"[number % 5]]
}

/// One of three values of the field `F`.
fn letter(dice: &mut Dice<'_>) -> u8 {
    b"xyz"[dice.roll(3)]
}

fn area(kind: &Kind, seen: &Seen, key: [u8; 2], dice: &mut Dice<'_>) -> Vec<u8> {
    let letter = letter(dice);
    if seen.fields {
        return vec![key[0], key[1], b' ', letter];
    }
    let tail = dice.roll(4);
    let mut area = Vec::new();
    let short = kind.variable && tail == 3;
    if kind.variable {
        area.extend_from_slice(&[0, if short { 5 } else { 7 }]);
    }
    area.extend_from_slice(&key);
    area.push(letter);
    if !short {
        area.extend_from_slice([b"t0", b"t1", b"t2", b"t0"][tail]);
    }
    area
}

/// Makes one of the SSAs wrong: the PCB then shows what the level table holds.
fn spoil(ssas: &mut [Vec<u8>], dice: &mut Dice<'_>) {
    let at = dice.roll(ssas.len());
    let Some(ssa) = ssas.get_mut(at) else { return };
    match dice.roll(3) {
        0 => *ssa = b"NOSUCH   ".to_vec(),
        1 => {
            ssa.truncate(8);
            ssa.push(b'?');
        }
        _ => {
            ssa.truncate(8);
            ssa.extend_from_slice(b"(NOSUCH  = XX)");
        }
    }
}

fn qualification(kind: &Kind, key: [u8; 2], choice: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    let n = kind.number;
    let key = String::from_utf8_lossy(&key).into_owned();
    let operator = ["= ", ">=", "<=", "> ", "< ", "^="][dice.roll(6)];
    let text = match choice {
        0 | 1 => format!("(K{n:<7}= {key})"),
        2 => format!("(K{n:<7}{operator}{key})"),
        3 => format!("(F{n:<7}{operator}{})", char::from(letter(dice))),
        _ => {
            let boolean = ['*', '+', '&', '|'][dice.roll(4)];
            format!("(K{n:<7}{operator}{key}{boolean}F{n:<7}= {})", char::from(letter(dice)))
        }
    };
    text.into_bytes()
}

fn by_search_field(field: &str, choice: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    let operator = ["= ", ">=", "<=", "> ", "< ", "^="][choice % 6];
    let letter = char::from(letter(dice));
    let value = if field == "XT" { format!("t{}", u32::from(letter) % 3) } else { letter.into() };
    format!("({field:<8}{operator}{value})").into_bytes()
}
