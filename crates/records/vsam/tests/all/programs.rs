//! Random clusters, indexes and programs of requests: what the engine answers is what plain sorted
//! maps say.

use proptest::prelude::*;
use store::{Store, Unit};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, Condition, Definition, Direction,
    Failure, Feedback, File, Intent, KeyField, LogicalReason as Reason, Match, OpenMode,
    Organization, PathAttributes, Position, Rba, RecordNumber, Search, Target,
};

use crate::common::{Folder, begin, catalog, name, open, run_in};
use crate::model::{Cluster, Found, Index, Place};

const BYTES_MAX: usize = 12;

#[derive(Clone, Debug)]
struct Shape {
    organization: Organization,
    key_offset: u32,
    /// Offset, bytes, unique.
    indexes: Vec<(u32, u32, bool)>,
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<u8>, u32),
    RewriteKeyed(Vec<u8>, u32),
    EraseKeyed(u8, u32),
    /// By which route, forward, for update.
    Step(usize, bool, bool),
    Rewrite(Vec<u8>),
    Erase,
    Search {
        route: usize,
        key: Vec<u8>,
        full: bool,
        by: Match,
        backward: bool,
        read: bool,
    },
    Commit,
    Backout,
    Build(usize),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let organization = prop_oneof![
        4 => Just(Organization::Keyed),
        2 => Just(Organization::EntrySequenced),
        1 => Just(Organization::Relative),
        1 => Just(Organization::VariableRelative),
    ];
    let index = (0_u32..8, 1_u32..4, any::<bool>());
    (organization, 0_u32..3, prop::collection::vec(index, 0..4)).prop_map(
        |(organization, key_offset, mut indexes)| {
            if !organization.takes_indexes() {
                indexes.clear();
            }
            Shape { organization, key_offset, indexes }
        },
    )
}

/// Few values, so that keys meet each other.
fn letters(bytes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    let letter = prop::sample::select(b"ABC\xff\0".to_vec());
    prop::collection::vec(letter, bytes)
}

fn records() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![6 => letters(BYTES_MAX..BYTES_MAX + 1), 2 => letters(3..12), 1 => letters(0..14)]
}

fn ops() -> impl Strategy<Value = Op> {
    let by = prop_oneof![
        3 => Just(Match::Equal),
        1 => Just(Match::GreaterOrEqual),
        1 => Just(Match::Greater),
        1 => Just(Match::LessOrEqual),
        1 => Just(Match::Less),
    ];
    let search = (0_usize..4, letters(1..4), any::<bool>(), by, any::<bool>(), any::<bool>());
    prop_oneof![
        8 => (records(), 0_u32..9).prop_map(|(record, number)| Op::Put(record, number)),
        2 => (records(), 0_u32..9).prop_map(|(record, number)| Op::RewriteKeyed(record, number)),
        2 => (any::<u8>(), 1_u32..9).prop_map(|(at, number)| Op::EraseKeyed(at, number)),
        8 => (0_usize..4, prop::bool::weighted(0.7), any::<bool>())
            .prop_map(|(route, forward, update)| Op::Step(route, forward, update)),
        3 => records().prop_map(Op::Rewrite),
        2 => Just(Op::Erase),
        6 => search.prop_map(|(route, key, full, by, backward, read)| {
            Op::Search { route, key, full, by, backward, read }
        }),
        1 => Just(Op::Commit),
        1 => Just(Op::Backout),
        1 => (0_usize..4).prop_map(Op::Build),
    ]
}

struct Run<S: Store> {
    catalog: Catalog<S>,
    named: String,
    model: Cluster,
    committed: Cluster,
    /// The base and its paths.
    files: Vec<File<S>>,
    positions: Vec<Position<S>>,
    places: Vec<Place>,
    /// The route whose position holds a record, and its key.
    held: Option<(usize, Vec<u8>)>,
    unit: Option<S::Unit>,
}

impl<S: Store> Run<S> {
    fn new(catalog: &Catalog<S>, named: &str, shape: &Shape) -> Run<S> {
        let key = (shape.organization == Organization::Keyed)
            .then_some(KeyField { offset: shape.key_offset, bytes: 3 });
        let attributes = ClusterAttributes { key, ..ClusterAttributes::new(shape.organization) };
        let attributes = attributes.with_records(BYTES_MAX as u32);
        catalog.define(&name(named), Definition::Cluster(attributes), None).unwrap();
        let mut indexes = Vec::new();
        for (at, (offset, bytes, unique)) in shape.indexes.iter().enumerate() {
            let key = KeyField { offset: *offset, bytes: *bytes };
            let mut attributes = AlternateIndexAttributes::new(name(named), key);
            attributes.unique = *unique;
            let index = name(&format!("{named}.I{at}"));
            catalog.define(&index, Definition::AlternateIndex(attributes), None).unwrap();
            let path = PathAttributes { entry: index.clone(), update: true };
            catalog.define(&name(&format!("{named}.P{at}")), Definition::Path(path), None).unwrap();
            indexes.push(Index { key, unique: *unique, entries: Default::default() });
        }
        let model = Cluster {
            organization: shape.organization,
            key,
            bytes_max: BYTES_MAX,
            records: Default::default(),
            indexes,
            next_address: 0,
            clock: 0,
        };
        let mut run = Run {
            catalog: catalog.clone(),
            named: named.to_owned(),
            committed: model.clone(),
            model,
            files: Vec::new(),
            positions: Vec::new(),
            places: Vec::new(),
            held: None,
            unit: None,
        };
        run.open();
        run
    }

    fn open(&mut self) {
        for at in 0..=self.model.indexes.len() {
            let named = match at.checked_sub(1) {
                None => self.named.clone(),
                Some(index) => format!("{}.P{index}", self.named),
            };
            let options = vsam::OpenOptions { record_level: true, ..Default::default() };
            let file =
                self.catalog.open_file(&name(&named), OpenMode::InputOutput, &options).unwrap();
            self.positions.push(file.position().unwrap());
            self.places.push(Place::Front);
            self.files.push(file);
        }
        self.unit = Some(begin(&self.catalog));
    }

    fn close(&mut self) {
        self.held = None;
        self.positions.clear();
        self.places.clear();
        self.files.drain(..).for_each(|file| file.close().unwrap());
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Put(record, number) => self.put(record, *number),
            Op::RewriteKeyed(record, number) => self.rewrite_keyed(record, *number),
            Op::EraseKeyed(at, number) => self.erase_keyed(*at, *number),
            Op::Step(route, forward, update) => self.step(*route, *forward, *update),
            Op::Rewrite(record) => self.rewrite(record),
            Op::Erase => self.erase(),
            Op::Search { .. } => self.search(op),
            Op::Commit => {
                self.unit.take().unwrap().commit().unwrap();
                self.committed = self.model.clone();
                self.renew_unit();
            }
            Op::Backout => {
                self.unit.take().unwrap().backout().unwrap();
                let (address, clock) = (self.model.next_address, self.model.clock);
                self.model = self.committed.clone();
                // What was given out is not given out again.
                (self.model.next_address, self.model.clock) = (address, clock);
                self.renew_unit();
            }
            Op::Build(at) => self.build(*at),
        }
    }

    fn renew_unit(&mut self) {
        self.unit = Some(begin(&self.catalog));
        // What was held is not any more; a program reads it again.
        self.held = None;
        for (file, position) in self.files.iter().zip(&mut self.positions) {
            file.end_request(position);
        }
        self.places.iter_mut().for_each(|place| *place = Place::Lost);
    }

    fn build(&mut self, at: usize) {
        if at >= self.model.indexes.len() {
            return;
        }
        self.apply(&Op::Commit);
        self.unit.take().unwrap().commit().unwrap();
        self.close();
        let built = self.catalog.build_index(&name(&format!("{}.I{at}", self.named))).unwrap();
        self.model.build(at);
        assert_eq!(built, self.model.indexes[at].entries.len() as u64);
        self.committed = self.model.clone();
        self.open();
    }

    /// The real thing and the model, with the unit of work.
    fn with<T>(
        &mut self,
        route: usize,
        body: impl FnOnce(&File<S>, &mut S::Unit, &mut Position<S>) -> T,
    ) -> T {
        let unit = self.unit.as_mut().unwrap();
        body(&self.files[route], unit, &mut self.positions[route])
    }

    fn put(&mut self, record: &[u8], number: u32) {
        let relative = self.model.organization.is_relative();
        let real = self.with(0, |file, unit, position| match relative {
            true => file.put_number(unit, position, RecordNumber(number), record),
            false => file.put(unit, position, record),
        });
        let wanted = match (relative, number) {
            (true, 0) => Err(Reason::BadNumber),
            (true, _) => self.model.put(record, Some(number)),
            (false, _) => self.model.put(record, None),
        };
        agree_changed(real, wanted);
    }

    fn rewrite_keyed(&mut self, record: &[u8], number: u32) {
        let relative = self.model.organization.is_relative();
        if self.model.organization == Organization::EntrySequenced || number == 0 {
            return;
        }
        let real = self.with(0, |file, unit, position| match relative {
            true => file.rewrite_number(unit, position, RecordNumber(number), record),
            false => file.rewrite_keyed(unit, position, record),
        });
        let key = match self.model.key {
            Some(key) => key.of(record).unwrap_or_default().to_vec(),
            None => number.to_be_bytes().to_vec(),
        };
        agree_changed(real, self.model.rewrite(&key, record));
    }

    fn erase_keyed(&mut self, at: u8, number: u32) {
        let key = match self.model.organization {
            Organization::Keyed if self.model.records.is_empty() => b"AAA".to_vec(),
            Organization::Keyed => {
                let at = usize::from(at) % self.model.records.len();
                self.model.records.keys().nth(at).unwrap().0.clone()
            }
            _ => number.to_be_bytes().to_vec(),
        };
        let relative = self.model.organization.is_relative();
        let real = self.with(0, |file, unit, position| match relative {
            true => file.erase_number(unit, position, RecordNumber(number)),
            false => file.erase_keyed(unit, position, &key),
        });
        agree_changed(real, self.model.erase(&key).map(|()| false));
    }

    fn step(&mut self, route: usize, forward: bool, update: bool) {
        let route = route % self.files.len();
        let intent = if update { Intent::Update } else { Intent::Look };
        let mut record = Vec::new();
        let real = self.with(route, |file, unit, position| match forward {
            true => file.get_next(unit, position, intent, &mut record),
            false => file.get_previous(unit, position, intent, &mut record),
        });
        if self.held.as_ref().is_some_and(|(of, _)| *of == route)
            && self.places[route] != Place::Lost
        {
            self.held = None;
        }
        let order = route.checked_sub(1);
        if self.places[route] == Place::Lost {
            assert_eq!(reason(real), Reason::NoPosition);
            return;
        }
        let found = match forward {
            true => self.model.next(order, &self.places[route]),
            false => self.model.previous(order, &self.places[route]),
        };
        let Some(found) = found else {
            assert_eq!(reason(real), Reason::EndOfData);
            return;
        };
        self.agree_read(route, real.unwrap(), &record, &found);
        self.places[route] = Place::On(found.spot);
        if update {
            self.hold(route, found.base);
        }
    }

    /// One position holds a record at a time here.
    fn hold(&mut self, route: usize, base: Vec<u8>) {
        if let Some((other, _)) = self.held.take()
            && other != route
        {
            let place = self.places[other].clone();
            self.with(other, |file, _, position| file.end_request(position));
            self.places[other] = if place == Place::Lost { place } else { Place::Lost };
        }
        self.held = Some((route, base));
    }

    fn agree_read(&self, route: usize, real: Feedback, record: &[u8], found: &Found) {
        assert_eq!(record, &found.record[..], "route {route}");
        let unique = route.checked_sub(1).is_some_and(|at| self.model.indexes[at].unique);
        let duplicate = real.condition == Condition::DuplicateKey;
        assert_eq!(duplicate, found.duplicate && !unique, "duplicates by route {route}");
        assert_eq!(real.bytes as usize, record.len());
        match self.model.organization {
            Organization::EntrySequenced => {
                let rba = u64::from_be_bytes(found.base.clone().try_into().unwrap());
                assert_eq!(real.rba, Some(Rba(rba)));
            }
            Organization::Relative | Organization::VariableRelative => {
                let number = u32::from_be_bytes(found.base.clone().try_into().unwrap());
                assert_eq!(real.number, Some(RecordNumber(number)));
            }
            _ => assert_eq!((real.rba, real.number), (None, None)),
        }
    }

    fn rewrite(&mut self, record: &[u8]) {
        let route = self.held.as_ref().map_or(0, |(route, _)| *route);
        let real = self.with(route, |file, unit, position| file.rewrite(unit, position, record));
        let Some((_, key)) = self.held.clone() else {
            assert_eq!(reason(real), Reason::NotReadForUpdate);
            return;
        };
        let wanted = self.model.rewrite(&key, record);
        if wanted.is_ok() {
            self.held = None;
        }
        agree_changed(real, wanted);
    }

    fn erase(&mut self) {
        let route = self.held.as_ref().map_or(0, |(route, _)| *route);
        let real = self.with(route, |file, unit, position| file.erase(unit, position));
        let wanted = match (&self.held, self.model.organization) {
            (_, Organization::EntrySequenced) => Err(Reason::EraseEntrySequenced),
            (None, _) => Err(Reason::NotReadForUpdate),
            (Some((_, key)), _) => self.model.erase(&key.clone()),
        };
        if wanted.is_ok() {
            self.held = None;
        }
        agree_changed(real, wanted.map(|()| false));
    }

    fn search(&mut self, op: &Op) {
        let Op::Search { route, key, full, by, backward, read } = op else { return };
        let route = route % self.files.len();
        let order = route.checked_sub(1);
        let (key, target) = self.target(order, key, *full);
        let direction = if *backward { Direction::Backward } else { Direction::Forward };
        let search = Search { target: target(&key), by: *by, direction };
        if self.held.as_ref().is_some_and(|(of, _)| *of == route) {
            self.held = None;
        }
        let found = self.model.search(order, &key, *by, *backward);
        let mut record = Vec::new();
        let real = self.with(route, |file, unit, position| match read {
            true => file.get(unit, position, &search, Intent::Look, &mut record),
            false => file.point(unit, position, &search),
        });
        let Some(found) = found else {
            self.places[route] = Place::Lost;
            let absent = match search.target {
                Target::Rba(_) => Reason::BadAddress,
                _ => Reason::NotFound,
            };
            assert_eq!(reason(real), absent, "{search:?}");
            return;
        };
        let real = real.unwrap();
        self.places[route] = match (read, backward) {
            (true, _) => Place::On(found.spot.clone()),
            (false, false) => Place::Before(found.spot.clone()),
            (false, true) => Place::After(found.spot.clone()),
        };
        if *read {
            self.agree_read(route, real, &record, &found);
        }
    }

    /// A key that fits the route, and how it is asked for.
    fn target(
        &self,
        order: Option<usize>,
        letters: &[u8],
        full: bool,
    ) -> (Vec<u8>, fn(&[u8]) -> Target<'_>) {
        let bytes = match order {
            Some(at) => self.model.indexes[at].key.bytes as usize,
            None => match self.model.organization {
                Organization::Keyed => 3,
                Organization::EntrySequenced => {
                    let address = u64::from(letters[0]) % 40;
                    return (address.to_be_bytes().to_vec(), |key| {
                        Target::Rba(Rba(u64::from_be_bytes(key.try_into().unwrap())))
                    });
                }
                _ => {
                    let number = u32::from(letters[0]) % 9 + 1;
                    return (number.to_be_bytes().to_vec(), |key| {
                        Target::Number(RecordNumber(u32::from_be_bytes(key.try_into().unwrap())))
                    });
                }
            },
        };
        let mut key = letters.to_vec();
        match full {
            true => {
                key.resize(bytes, b'A');
                (key, |key| Target::Key(key))
            }
            false => {
                key.truncate(bytes);
                (key, |key| Target::Generic(key))
            }
        }
    }

    /// Everything, in every order.
    fn compare(&mut self) {
        self.apply(&Op::Commit);
        for route in 0..self.files.len() {
            self.with(route, |file, unit, position| {
                let first = Search::equal(Target::First);
                let _ = file.point(unit, position, &first);
            });
            let order = route.checked_sub(1);
            let mut place = Place::Front;
            while let Some(found) = self.model.next(order, &place) {
                let mut record = Vec::new();
                let real = self.with(route, |file, unit, position| {
                    file.get_next(unit, position, Intent::Look, &mut record)
                });
                self.agree_read(route, real.unwrap(), &record, &found);
                place = Place::On(found.spot);
            }
        }
        self.unit.take().unwrap().commit().unwrap();
        self.close();
        let entry = self.catalog.get(&name(&self.named)).unwrap().unwrap();
        assert_eq!(
            self.catalog.verify(&entry.name).unwrap().records,
            self.model.records.len() as u64
        );
    }
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Failure>) -> Reason {
    answer.unwrap_err().reason().unwrap()
}

fn agree_changed(real: Result<Feedback, Failure>, wanted: Result<bool, Reason>) {
    match (real, wanted) {
        (Ok(real), Ok(duplicate)) => {
            assert_eq!(real.condition == Condition::DuplicateKey, duplicate);
        }
        (Err(failure), Err(wanted)) => assert_eq!(failure.reason(), Some(wanted)),
        (real, wanted) => panic!("{real:?} instead of {wanted:?}"),
    }
}

fn check<S: Store>(catalog: &Catalog<S>, named: &str, shape: &Shape, ops: &[Op]) {
    let mut run = Run::new(catalog, named, shape);
    ops.iter().for_each(|op| run.apply(op));
    run.compare();
    catalog.delete(&name(named), vsam::DeleteOptions::default()).unwrap();
    assert_eq!(catalog.list(&vsam::Filter::all(), None).unwrap(), vec![]);
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn requests_answer_what_sorted_maps_say(
        shape in shapes(),
        program in prop::collection::vec(ops(), 1..80),
    ) {
        check(&catalog(), "C", &shape, &program);
    }
}

#[test]
fn requests_on_the_kernel_answer_what_sorted_maps_say() {
    let folder = Folder::new("programs");
    let running = run_in(&folder);
    let strategy = (shapes(), prop::collection::vec(ops(), 1..60));
    proptest::test_runner::TestRunner::new_with_rng(
        config(24),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
    .run(&strategy, |(shape, program)| {
        check(&running.catalog, "C", &shape, &program);
        Ok(())
    })
    .unwrap();
}

/// Opened for nothing but its name.
#[test]
fn a_file_knows_what_it_is() {
    let catalog = catalog();
    crate::common::keyed(&catalog, "K");
    let file = open(&catalog, "K", OpenMode::Input);
    assert_eq!(file.base().name, name("K"));
    assert_eq!(file.organization(), Organization::Keyed);
    assert!(file.alternate_index().is_none());
}
