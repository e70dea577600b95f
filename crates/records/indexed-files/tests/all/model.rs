//! Random requests against a model written from the rules alone.

use std::collections::BTreeMap;

use indexed_files::{IndexedFile, Purpose, Refusal, Relation};
use proptest::prelude::*;

use crate::common::Folder;

/// What the rules say: records by number, and their arrivals at the group.
#[derive(Default)]
struct Model {
    records: BTreeMap<String, (String, u64)>,
    arrivals: u64,
}

impl Model {
    fn name_is_taken(&self, number: &str, name: &str) -> bool {
        self.records.iter().any(|(key, (record, _))| key != number && &record[6..10] == name)
    }

    fn group_is_there(&self, number: &str, group: &str) -> bool {
        self.records.iter().any(|(key, (record, _))| key != number && &record[4..6] == group)
    }

    fn write(&mut self, record: &str) -> &'static str {
        let number = record[..4].to_owned();
        if self.records.contains_key(&number) || self.name_is_taken(&number, &record[6..10]) {
            return "duplicate";
        }
        let printed = if self.group_is_there(&number, &record[4..6]) { "02" } else { "00" };
        self.arrivals += 1;
        self.records.insert(number, (record.to_owned(), self.arrivals));
        printed
    }

    fn rewrite(&mut self, record: &str) -> &'static str {
        let number = &record[..4];
        let Some((old, arrival)) = self.records.get(number).cloned() else { return "not found" };
        if self.name_is_taken(number, &record[6..10]) {
            return "duplicate";
        }
        let moves = old[4..6] != record[4..6];
        let printed = if moves && self.group_is_there(number, &record[4..6]) { "02" } else { "00" };
        self.arrivals += u64::from(moves);
        let arrival = if moves { self.arrivals } else { arrival };
        self.records.insert(number.to_owned(), (record.to_owned(), arrival));
        printed
    }

    /// Records along a key, each with what orders it.
    fn along(&self, key: usize) -> Vec<(String, String)> {
        let order = |number: &String, record: &String, arrival: &u64| match key {
            0 => number.clone(),
            1 => format!("{}{arrival:020}", &record[4..6]),
            _ => record[6..10].to_owned(),
        };
        let all = self.records.iter();
        let mut all: Vec<_> = all
            .map(|(number, (record, arrival))| (order(number, record, arrival), record.clone()))
            .collect();
        all.sort();
        all
    }
}

fn printed(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Duplicate => "duplicate",
        Refusal::NotFound => "not found",
        Refusal::End => "end",
        other => panic!("{other}"),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u8, u8, u8, u8),
    Rewrite(u8, u8, u8, u8),
    Delete(u8),
    /// Relation, key, value, how many of its bytes; steps from there, forward or backward.
    Browse(u8, u8, u8, u8, Vec<bool>),
    Reopen,
    Commit,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let all = || (0..90_u8, 0..4_u8, 0..120_u8, any::<u8>());
    let turns = prop::collection::vec(any::<bool>(), 0..8);
    let step = prop_oneof![
        6 => all().prop_map(|(a, b, c, d)| Step::Write(a, b, c, d)),
        3 => all().prop_map(|(a, b, c, d)| Step::Rewrite(a, b, c, d)),
        3 => (0..90_u8).prop_map(Step::Delete),
        4 => (0..7_u8, 0..3_u8, 0..120_u8, 1..5_u8, turns)
            .prop_map(|(a, b, c, d, e)| Step::Browse(a, b, c, d, e)),
        1 => Just(Step::Reopen),
        1 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 1..150)
}

fn record(number: u8, group: u8, name: u8, fill: u8) -> String {
    format!("{number:04}{group:02}{name:04}{}", "f".repeat(usize::from(fill)))
}

/// Where a relation leads among ordered keys, of which the first bytes count.
fn sought(all: &[(String, String)], relation: Relation, value: &str) -> Option<usize> {
    let front = |at: &usize| &all[*at].0[..value.len()];
    let (mut forward, mut backward) = (0..all.len(), (0..all.len()).rev());
    match relation {
        Relation::Equal => forward.find(|at| front(at) == value),
        Relation::Greater => forward.find(|at| front(at) > value),
        Relation::GreaterOrEqual => forward.find(|at| front(at) >= value),
        Relation::Less => backward.find(|at| front(at) < value),
        Relation::LessOrEqual => backward.find(|at| front(at) <= value),
        Relation::First => forward.next(),
        Relation::Last => backward.next(),
    }
}

fn browse(
    file: &mut IndexedFile,
    model: &Model,
    (relation, key): (Relation, usize),
    value: &str,
    turns: &[bool],
) {
    let all = model.along(key);
    let expected = sought(&all, relation, value);
    let started = file.start(key, relation, value.as_bytes());
    assert_eq!(started.is_ok(), expected.is_some(), "{relation:?} {key} {value}");
    let Some(mut at) = expected else { return };
    let mut found = Vec::new();
    for (turn, before) in turns.iter().enumerate() {
        let next = match (turn, *before) {
            (0, _) => Some(at),
            (_, true) => at.checked_sub(1),
            (_, false) => Some(at + 1).filter(|at| *at < all.len()),
        };
        let read = file.next(*before, &mut found);
        match next {
            None => {
                assert_eq!(read.as_ref().map_err(printed).err(), Some("end"));
                return;
            }
            Some(next) => {
                let seen = read.unwrap_or_else(|refusal| panic!("{refusal}"));
                assert_eq!(String::from_utf8_lossy(&found), all[next].1);
                let beside = if *before { next.checked_sub(1) } else { Some(next + 1) };
                let beside = beside.and_then(|at| all.get(at));
                let same = beside.is_some_and(|other| other.0[..2] == all[next].0[..2]);
                assert_eq!(seen.duplicate_follows, key == 1 && same);
                at = next;
            }
        }
    }
}

fn play(steps: Vec<Step>) {
    let folder = Folder::new("model");
    let mut model = Model::default();
    let mut file = folder.open(Purpose::Create).unwrap();
    let written = |done: Result<indexed_files::Written, Refusal>| match done {
        Ok(written) => {
            if written.duplicate {
                "02"
            } else {
                "00"
            }
        }
        Err(refusal) => printed(&refusal),
    };
    for step in steps {
        match step {
            Step::Write(a, b, c, d) => {
                let record = record(a, b, c, d);
                assert_eq!(written(file.write(record.as_bytes(), false)), model.write(&record));
            }
            Step::Rewrite(a, b, c, d) => {
                let record = record(a, b, c, d);
                assert_eq!(written(file.rewrite(record.as_bytes(), false)), model.rewrite(&record));
            }
            Step::Delete(number) => {
                let key = format!("{number:04}");
                let done = file.delete(Some(key.as_bytes())).map_err(|refusal| printed(&refusal));
                let expected = model.records.remove(&key).map(drop).ok_or("not found");
                assert_eq!(done, expected);
            }
            Step::Browse(relation, key, value, bytes, turns) => {
                let key = usize::from(key);
                let whole =
                    if key == 1 { format!("{:02}", value & 3) } else { format!("{value:04}") };
                let value = &whole[..usize::from(bytes).min(whole.len())];
                let relation = Relation::ALL[usize::from(relation)];
                browse(&mut file, &model, (relation, key), value, &turns);
            }
            Step::Reopen => {
                file.close().unwrap();
                file = folder.open(Purpose::Change).unwrap();
            }
            Step::Commit => file.commit().unwrap(),
        }
    }
    file.close().unwrap();
    let mut file = folder.open(Purpose::Read).unwrap();
    for key in 0..3 {
        let mut found = Vec::new();
        let all = model.along(key);
        if !all.is_empty() {
            file.start(key, Relation::First, b"").unwrap();
        }
        for (_, expected) in &all {
            file.next(false, &mut found).unwrap();
            assert_eq!(String::from_utf8_lossy(&found), *expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_requests_have_the_results_that_the_rules_say(steps in steps()) {
        play(steps);
    }
}

#[test]
fn many_records_in_any_order_are_found_in_order() {
    let folder = Folder::new("many");
    let mut file = folder.open(Purpose::Create).unwrap();
    for number in 0..9000_u32 {
        let number = number * 7919 % 9000;
        let record = format!("{number:04}{:02}{number:04}{}", number % 3, "f".repeat(90));
        file.write(record.as_bytes(), false).unwrap();
        if number % 2500 == 0 {
            file.commit().unwrap();
        }
    }
    let mut record = Vec::new();
    for number in 0..9000_u32 {
        file.next(false, &mut record).unwrap();
        assert!(record.starts_with(format!("{number:04}").as_bytes()));
        if number % 3 == 0 {
            file.delete(None).unwrap();
        }
    }
    assert!(matches!(file.next(false, &mut record), Err(Refusal::End)));
    file.close().unwrap();
    let mut file = folder.open(Purpose::Read).unwrap();
    file.start(1, Relation::Last, b"").unwrap();
    let mut count = 0;
    while file.next(true, &mut record).is_ok() {
        count += 1;
    }
    assert_eq!(count, 6000);
}
