//! Redirected clusters: what a handler has, what is sent on, what is lost when.
#![allow(clippy::unwrap_used)] // a test that fails says where

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use seam::sync::Mutex;
use store::{Store, Unit};
use vsam::handler::{Change, Changed, Described, Edge, Handler, HandlerError, Handlers, Row};
use vsam::{
    Catalog, CatalogError, ClusterAttributes, Definition, Direction, Failure, Feedback, File,
    Intent, LogicalReason, Match, OpenError, OpenMode, OpenOptions, Organization, Position, Rba,
    RecordNumber, RecordOwner, Redirection, Search, SourceId, Target,
};

use crate::common::{
    self, Folder, KEY, begin, catalog, define, index, keyed, name, record, within,
};

/// Tables of handlers in memory, and what is wrong with them.
#[derive(Default)]
struct Tables {
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    received: BTreeMap<SourceId, u64>,
    /// Nothing answers.
    lost: bool,
    /// The connections that were made before this one are gone.
    life: u32,
    connections: u32,
    /// What is answered in place of rows.
    forged: Option<Vec<Row>>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Tables>>);

struct Link {
    tables: Shared,
    life: u32,
}

impl Link {
    fn reach(&self) -> Result<seam::sync::MutexGuard<'_, Tables>, HandlerError> {
        let tables = self.tables.0.lock();
        match tables.lost || tables.life != self.life {
            true => Err(HandlerError::Lost("cut".into())),
            false => Ok(tables),
        }
    }
}

impl Handlers for Shared {
    fn connect(&self, _: &Described) -> Result<Box<dyn Handler>, HandlerError> {
        let mut tables = self.0.lock();
        if tables.lost {
            return Err(HandlerError::Lost("nobody is there".into()));
        }
        tables.connections += 1;
        Ok(Box::new(Link { tables: self.clone(), life: tables.life }))
    }

    fn prepare(&self, _: &Described) -> Result<(), HandlerError> {
        Ok(())
    }
}

impl Handler for Link {
    fn read(
        &mut self,
        from: Edge<'_>,
        backward: bool,
        most: u32,
        rows: &mut Vec<Row>,
    ) -> Result<(), HandlerError> {
        let tables = self.reach()?;
        if let Some(forged) = &tables.forged {
            rows.extend_from_slice(forged);
            return Ok(());
        }
        let row =
            |(key, record): (&Vec<u8>, &Vec<u8>)| Row { key: key.clone(), record: record.clone() };
        let those = tables.rows.iter().filter(|(key, _)| from.admits(key, backward));
        match backward {
            false => rows.extend(those.take(most as usize).map(row)),
            true => rows.extend(those.rev().take(most as usize).map(row)),
        }
        Ok(())
    }

    fn insert(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        let mut tables = self.reach()?;
        if tables.rows.contains_key(key) {
            return Ok(Changed::Exists);
        }
        tables.rows.insert(key.to_vec(), record.to_vec());
        Ok(Changed::Done)
    }

    fn replace(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        match self.reach()?.rows.get_mut(key) {
            None => Ok(Changed::Absent),
            Some(row) => {
                record.clone_into(row);
                Ok(Changed::Done)
            }
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<Changed, HandlerError> {
        let gone = self.reach()?.rows.remove(key).is_some();
        Ok(if gone { Changed::Done } else { Changed::Absent })
    }

    fn clear(&mut self) -> Result<(), HandlerError> {
        self.reach()?.rows.clear();
        Ok(())
    }

    fn received(&mut self, source: SourceId) -> Result<u64, HandlerError> {
        Ok(self.reach()?.received.get(&source).copied().unwrap_or(0))
    }

    fn apply(
        &mut self,
        source: SourceId,
        number: u64,
        changes: &[Change],
    ) -> Result<(), HandlerError> {
        let has = self.received(source)?;
        if has >= number {
            return Ok(());
        }
        if has + 1 != number {
            return Err(HandlerError::Gap { has, sent: number });
        }
        let mut tables = self.reach()?;
        for change in changes {
            match change {
                Change::Put(row) => {
                    tables.rows.insert(row.key.clone(), row.record.clone());
                }
                Change::Delete(key) => {
                    tables.rows.remove(key);
                }
                Change::Clear => tables.rows.clear(),
            }
        }
        tables.received.insert(source, number);
        Ok(())
    }
}

fn redirection(owner: RecordOwner) -> Redirection {
    Redirection {
        owner,
        to: "memory:".into(),
        object: "T".into(),
        page: None,
        source: SourceId([7; 16]),
    }
}

fn redirect<S: Store>(catalog: &Catalog<S>, named: &str, owner: RecordOwner) -> Shared {
    let tables = Shared::default();
    catalog.set_handlers(Arc::new(tables.clone()));
    catalog.redirect(&name(named), &redirection(owner)).unwrap();
    tables
}

/// A request, the same for both clusters.
#[derive(Clone, Debug)]
enum Ask {
    Put(u8, u8),
    Get(u8, bool),
    Point(u8, u8, bool),
    Next(bool, bool),
    Rewrite(u8),
    RewriteOf(u8, u8),
    Erase,
    EraseOf(u8),
    Area(bool),
    Reopen,
}

fn ask() -> impl Strategy<Value = Ask> {
    let key = 0_u8..12;
    prop_oneof![
        4 => (key.clone(), any::<u8>()).prop_map(|(key, rest)| Ask::Put(key, rest)),
        2 => (key.clone(), any::<bool>()).prop_map(|(key, update)| Ask::Get(key, update)),
        2 => (key.clone(), 0_u8..8, any::<bool>())
            .prop_map(|(key, by, back)| Ask::Point(key, by, back)),
        6 => (any::<bool>(), any::<bool>()).prop_map(|(back, update)| Ask::Next(back, update)),
        2 => any::<u8>().prop_map(Ask::Rewrite),
        1 => (key.clone(), any::<u8>()).prop_map(|(key, rest)| Ask::RewriteOf(key, rest)),
        1 => Just(Ask::Erase),
        1 => key.prop_map(Ask::EraseOf),
        1 => any::<bool>().prop_map(Ask::Area),
        1 => Just(Ask::Reopen),
    ]
}

struct Side<S: Store> {
    catalog: Catalog<S>,
    named: &'static str,
    open: Option<(Position<S>, File<S>)>,
    record: Vec<u8>,
    /// The addresses of records of an entry-sequenced cluster.
    addresses: Vec<u64>,
}

fn bytes(organization: Organization, key: u8, rest: u8) -> Vec<u8> {
    let length = match organization {
        Organization::Relative => 80,
        _ => 20 + usize::from(rest % 5),
    };
    let mut record = format!("K{key:03}").into_bytes();
    record.resize(length, rest);
    record
}

impl<S: Store> Side<S> {
    fn new(catalog: &Catalog<S>, named: &'static str) -> Side<S> {
        let mut side = Side {
            catalog: catalog.clone(),
            named,
            open: None,
            record: Vec::new(),
            addresses: vec![0],
        };
        side.reopen();
        side
    }

    fn reopen(&mut self) {
        self.open = None;
        let file = common::open(&self.catalog, self.named, OpenMode::InputOutput);
        self.open = Some((file.position().unwrap(), file));
    }

    fn search<'k>(&self, key: &'k [u8], number: u8, file: &File<S>) -> Target<'k> {
        match file.organization() {
            Organization::Keyed => Target::Key(key),
            Organization::EntrySequenced => {
                Target::Rba(Rba(self.addresses[usize::from(number) % self.addresses.len()]))
            }
            _ => Target::Number(RecordNumber(u32::from(number))),
        }
    }

    fn ask(&mut self, unit: &mut S::Unit, ask: &Ask) -> Result<(Feedback, Vec<u8>), String> {
        if matches!(ask, Ask::Reopen) {
            self.reopen();
            return Ok((Feedback::default(), Vec::new()));
        }
        let (mut position, file) = self.open.take().unwrap();
        let answer = self.request(unit, &file, &mut position, ask);
        self.open = Some((position, file));
        let feedback = answer.map_err(|failure| failure.to_string())?;
        let is_read = matches!(ask, Ask::Get(..) | Ask::Next(..));
        if let (Ask::Put(..), Some(Rba(address))) = (ask, feedback.rba) {
            self.addresses.push(address);
        }
        Ok((feedback, if is_read { self.record.clone() } else { Vec::new() }))
    }

    fn request(
        &mut self,
        unit: &mut S::Unit,
        file: &File<S>,
        position: &mut Position<S>,
        ask: &Ask,
    ) -> Result<Feedback, Failure> {
        let organization = file.organization();
        let intent = |update| if update { Intent::Update } else { Intent::Look };
        let mut read = std::mem::take(&mut self.record);
        let answer = match *ask {
            Ask::Put(key, rest) if organization.is_relative() && rest % 3 > 0 => {
                let record = bytes(organization, key, rest);
                file.put_number(unit, position, RecordNumber(u32::from(key)), &record)
            }
            Ask::Put(key, rest) => file.put(unit, position, &bytes(organization, key, rest)),
            Ask::Get(key, update) => {
                let text = format!("K{key:03}").into_bytes();
                let search = Search::equal(self.search(&text, key, file));
                file.get(unit, position, &search, intent(update), &mut read)
            }
            Ask::Point(key, by, backward) => {
                let text = format!("K{key:03}").into_bytes();
                let target = match by {
                    5 => Target::First,
                    6 => Target::Last,
                    7 if organization == Organization::Keyed => Target::Generic(&text[..3]),
                    _ => self.search(&text, key, file),
                };
                let by = [
                    Match::Equal,
                    Match::GreaterOrEqual,
                    Match::Greater,
                    Match::LessOrEqual,
                    Match::Less,
                ][usize::from(by) % 5];
                let direction = if backward { Direction::Backward } else { Direction::Forward };
                file.point(unit, position, &Search { target, by, direction })
            }
            Ask::Next(false, update) => file.get_next(unit, position, intent(update), &mut read),
            Ask::Next(true, update) => file.get_previous(unit, position, intent(update), &mut read),
            Ask::Rewrite(rest) => {
                let mut record = read.clone();
                record.iter_mut().skip(4).for_each(|byte| *byte = rest);
                file.rewrite(unit, position, &record)
            }
            Ask::RewriteOf(key, rest) if organization.is_relative() => {
                let record = bytes(organization, key, rest);
                file.rewrite_number(unit, position, RecordNumber(u32::from(key)), &record)
            }
            Ask::RewriteOf(key, rest) => {
                file.rewrite_keyed(unit, position, &bytes(organization, key, rest))
            }
            Ask::Erase => file.erase(unit, position),
            Ask::EraseOf(key) if organization.is_relative() => {
                file.erase_number(unit, position, RecordNumber(u32::from(key)))
            }
            Ask::EraseOf(key) => file.erase_keyed(unit, position, format!("K{key:03}").as_bytes()),
            Ask::Area(small) => {
                position.set_area(Some(if small { 21 } else { 100 }));
                Ok(Feedback::default())
            }
            Ask::Reopen => Ok(Feedback::default()),
        };
        self.record = read;
        answer
    }

    fn all(&mut self) -> Vec<Vec<u8>> {
        self.reopen();
        let (mut records, mut record) = (Vec::new(), Vec::new());
        let Some((position, file)) = &mut self.open else { return records };
        within(&self.catalog, |unit| {
            while file.get_next(unit, position, Intent::Look, &mut record).is_ok() {
                records.push(record.clone());
            }
        });
        records
    }
}

fn of(organization: Organization) -> ClusterAttributes {
    match organization {
        Organization::Keyed => ClusterAttributes::keyed(KEY, 80),
        other => ClusterAttributes::new(other).with_records(80),
    }
}

const ORGANIZATIONS: [Organization; 4] = [
    Organization::Keyed,
    Organization::EntrySequenced,
    Organization::Relative,
    Organization::VariableRelative,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_cluster_at_a_handler_answers_as_one_that_is_here(
        asks in prop::collection::vec(ask(), 1..60),
        organization in 0_usize..4,
    ) {
        let organization = ORGANIZATIONS[organization];
        let catalog = catalog();
        define(&catalog, "A.HERE", of(organization));
        define(&catalog, "A.THERE", of(organization));
        redirect(&catalog, "A.THERE", RecordOwner::Handler);
        let mut here = Side::new(&catalog, "A.HERE");
        let mut there = Side::new(&catalog, "A.THERE");
        for ask in &asks {
            let mut unit = begin(&catalog);
            let wanted = here.ask(&mut unit, ask);
            let got = there.ask(&mut unit, ask);
            unit.commit().unwrap();
            prop_assert_eq!(got, wanted, "{:?}", ask);
        }
        prop_assert_eq!(there.all(), here.all());
    }

    #[test]
    fn what_is_sent_on_makes_the_same_records_there(
        asks in prop::collection::vec((ask(), any::<bool>(), 0_u8..4), 1..60),
        organization in 0_usize..4,
    ) {
        let organization = ORGANIZATIONS[organization];
        let catalog = catalog();
        define(&catalog, "A.HERE", of(organization));
        let tables = redirect(&catalog, "A.HERE", RecordOwner::Vsam);
        let entry = catalog.get(&name("A.HERE")).unwrap().unwrap();
        let unsent = catalog.unsent().unwrap();
        let mut here = Side::new(&catalog, "A.HERE");
        let mut link = tables.connect(&Described::of(&entry).unwrap()).unwrap();
        let source = redirection(RecordOwner::Vsam).source;
        let mut send = |settles: bool| {
            let Some(batch) = unsent.next_batch(entry.number).unwrap() else { return false };
            link.apply(source, batch.number, &batch.changes).unwrap();
            if settles {
                unsent.settle(entry.number, &batch).unwrap();
            }
            true
        };
        for (ask, commits, sends) in &asks {
            let mut unit = begin(&catalog);
            let _ = here.ask(&mut unit, ask);
            match commits {
                true => unit.commit().map(drop).unwrap(),
                false => {
                    here.open = None;
                    unit.backout().unwrap();
                    here.reopen();
                }
            }
            if *sends < 2 {
                send(*sends == 0);
            }
        }
        while send(true) {}
        prop_assert_eq!(unsent.count(entry.number).unwrap(), 0);
        let there: Vec<Vec<u8>> = tables.0.lock().rows.values().cloned().collect();
        prop_assert_eq!(there, here.all());
    }

    #[test]
    fn a_hostile_handler_is_a_failure_and_no_record(
        rows in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..9), prop::collection::vec(any::<u8>(), 0..90)),
            0..4,
        ),
        organization in 0_usize..4,
        asks in prop::collection::vec(ask(), 1..8),
    ) {
        let organization = ORGANIZATIONS[organization];
        let catalog = catalog();
        define(&catalog, "A.THERE", of(organization));
        let tables = redirect(&catalog, "A.THERE", RecordOwner::Handler);
        let forged = rows.into_iter().map(|(key, record)| Row { key, record }).collect();
        tables.0.lock().forged = Some(forged);
        let mut there = Side::new(&catalog, "A.THERE");
        for ask in &asks {
            let mut unit = begin(&catalog);
            if let Ok((_, record)) = there.ask(&mut unit, ask) {
                prop_assert!(record.len() <= 80);
            }
            unit.commit().unwrap();
        }
    }
}

#[test]
fn a_lost_handler_is_a_failure_and_is_connected_again() {
    let catalog = catalog();
    keyed(&catalog, "A.THERE");
    let tables = redirect(&catalog, "A.THERE", RecordOwner::Handler);
    let file = common::open(&catalog, "A.THERE", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut unit = begin(&catalog);
    file.put(&mut unit, &mut position, &record("1", "A", "X")).unwrap();
    // The connection is cut, and the handler is there again: a read does not notice.
    tables.0.lock().life += 1;
    let mut read = Vec::new();
    file.get_next(&mut unit, &mut position, Intent::Look, &mut read).unwrap();
    assert_eq!(tables.0.lock().connections, 2);
    // A change is never sent twice.
    tables.0.lock().life += 1;
    let lost = file.put(&mut unit, &mut position, &record("2", "B", "X")).unwrap_err();
    assert!(matches!(lost, Failure::Handler(HandlerError::Lost(_))), "{lost}");
    assert_eq!(lost.return_code(), 12);
    file.put(&mut unit, &mut position, &record("2", "B", "X")).unwrap();
    // Nobody is there; the unit of work goes on.
    tables.0.lock().lost = true;
    let lost = file.get_next(&mut unit, &mut position, Intent::Look, &mut read).unwrap_err();
    assert!(matches!(lost, Failure::Handler(HandlerError::Lost(_))), "{lost}");
    let refused = catalog.open_file(&name("A.THERE"), OpenMode::Input, &OpenOptions::default());
    assert!(matches!(refused, Err(OpenError::Shared(_) | OpenError::Handler { .. })));
    tables.0.lock().lost = false;
    file.get_next(&mut unit, &mut position, Intent::Look, &mut read).unwrap();
    assert_eq!(&read[..8], b"2   B   ");
    unit.commit().unwrap();
    assert_eq!(tables.0.lock().rows.len(), 2);
}

#[test]
fn a_record_at_a_handler_is_locked_among_programs() {
    let catalog = catalog();
    keyed(&catalog, "A.THERE");
    redirect(&catalog, "A.THERE", RecordOwner::Handler);
    let options = OpenOptions { record_level: true, ..OpenOptions::default() };
    let open = || catalog.open_file(&name("A.THERE"), OpenMode::InputOutput, &options).unwrap();
    let (one, other) = (open(), open());
    let (mut first, mut second) = (one.position().unwrap(), other.position().unwrap());
    let mut unit = begin(&catalog);
    one.put(&mut unit, &mut first, &record("1", "A", "X")).unwrap();
    let mut beside = begin(&catalog);
    // The lock is named; a unit of work that waits for it in vain would take half a minute here.
    let mut read = Vec::new();
    let search = Search::equal(Target::Key(b"1   "));
    other.get(&mut beside, &mut second, &search, Intent::Look, &mut read).unwrap();
    unit.commit().unwrap();
    other.get(&mut beside, &mut second, &search, Intent::Update, &mut read).unwrap();
    other.rewrite(&mut beside, &mut second, &record("1", "B", "X")).unwrap();
    beside.commit().unwrap();
}

#[test]
fn what_depends_on_it_stays_while_a_cluster_is_redirected() {
    let catalog = catalog();
    keyed(&catalog, "A.HERE");
    let tables = redirect(&catalog, "A.HERE", RecordOwner::Vsam);
    let here = name("A.HERE");
    let refused = catalog.delete(&here, vsam::DeleteOptions::default()).unwrap_err();
    assert!(matches!(refused, CatalogError::Redirected(_)), "{refused}");
    let refused = catalog.alter(&here, &mut |definition| {
        if let Definition::Cluster(cluster) = definition {
            cluster.record_map = Some("01 R PIC X.".into());
        }
    });
    assert!(matches!(refused, Err(CatalogError::Attributes { .. })));
    let other = Redirection { source: SourceId([8; 16]), ..redirection(RecordOwner::Vsam) };
    assert!(matches!(catalog.redirect(&here, &other), Err(CatalogError::Redirected(_))));
    common::fill(&catalog, "A.HERE", &[record("1", "A", "X")]);
    let left = catalog.end_redirection(&here, false).unwrap_err();
    assert!(matches!(left, CatalogError::Unsent { left: 1, .. }), "{left}");
    assert!(catalog.end_redirection(&here, true).unwrap().redirection.is_none());
    common::fill(&catalog, "A.HERE", &[record("2", "A", "X")]);
    let entry = catalog.get(&here).unwrap().unwrap();
    assert_eq!(catalog.unsent().unwrap().count(entry.number).unwrap(), 0);
    assert!(tables.0.lock().rows.is_empty());
    catalog.delete(&here, vsam::DeleteOptions::default()).unwrap();
}

#[test]
fn a_refused_change_is_not_sent_on_and_an_emptied_cluster_is() {
    let catalog = catalog();
    define(&catalog, "A.HERE", ClusterAttributes { reuse: true, ..of(Organization::Keyed) });
    index(&catalog, "A.INDEX", "A.HERE", |index| index.unique = true);
    let _ = catalog.build_index(&name("A.INDEX"));
    redirect(&catalog, "A.HERE", RecordOwner::Vsam);
    let entry = catalog.get(&name("A.HERE")).unwrap().unwrap();
    let unsent = catalog.unsent().unwrap();
    let file = common::open(&catalog, "A.HERE", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.put(unit, &mut position, &record("1", "A", "X")).unwrap();
        let again = file.put(unit, &mut position, &record("2", "A", "X")).unwrap_err();
        assert_eq!(again.reason(), Some(LogicalReason::Duplicate));
    });
    drop(position);
    file.close().unwrap();
    let first = unsent.next_batch(entry.number).unwrap().unwrap();
    assert_eq!((first.number, first.changes.len()), (1, 1));
    // Until it is settled, it is the one that is sent.
    common::fill(&catalog, "A.HERE", &[record("3", "C", "X")]);
    assert_eq!(unsent.next_batch(entry.number).unwrap(), Some(first.clone()));
    unsent.settle(entry.number, &first).unwrap();
    let load = common::open(&catalog, "A.HERE", OpenMode::Output);
    drop(load);
    let second = unsent.next_batch(entry.number).unwrap().unwrap();
    assert_eq!((second.number, second.changes.len()), (2, 1));
    unsent.settle(entry.number, &second).unwrap();
    let third = unsent.next_batch(entry.number).unwrap().unwrap();
    assert_eq!((third.number, &third.changes[..]), (3, &[Change::Clear][..]));
}

#[test]
fn a_batch_on_its_way_is_the_same_after_a_crash() {
    let folder = Folder::new("redirected");
    let batch = {
        let system = common::run_in(&folder);
        keyed(&system.catalog, "A.HERE");
        redirect(&system.catalog, "A.HERE", RecordOwner::Vsam);
        common::fill(&system.catalog, "A.HERE", &[record("1", "A", "X"), record("2", "B", "X")]);
        let file = common::open(&system.catalog, "A.HERE", OpenMode::InputOutput);
        let mut position = file.position().unwrap();
        let mut unit = begin(&system.catalog);
        file.put(&mut unit, &mut position, &record("0", "-", "X")).unwrap();
        // It is not committed, so it is not sent.
        let entry = system.catalog.get(&name("A.HERE")).unwrap().unwrap();
        let batch = system.catalog.unsent().unwrap().next_batch(entry.number).unwrap().unwrap();
        assert_eq!(batch.changes.len(), 2);
        system.crash();
        drop((unit, position, file));
        batch
    };
    let system = common::run_in(&folder);
    let entry = system.catalog.get(&name("A.HERE")).unwrap().unwrap();
    let unsent = system.catalog.unsent().unwrap();
    assert_eq!(unsent.next_batch(entry.number).unwrap(), Some(batch.clone()));
    unsent.settle(entry.number, &batch).unwrap();
    assert_eq!(unsent.next_batch(entry.number).unwrap(), None);
    assert_eq!(unsent.count(entry.number).unwrap(), 0);
    common::fill(&system.catalog, "A.HERE", &[record("3", "A", "X")]);
    assert_eq!(unsent.next_batch(entry.number).unwrap().unwrap().number, batch.number + 1);
}

/// Programs change the same few records at once, some of them in vain, while batches are sent.
fn race<S: Store>(catalog: &Catalog<S>) {
    const PROGRAMS: u32 = 3;
    const UNITS: u32 = 150;
    keyed(catalog, "A.HERE");
    let tables = redirect(catalog, "A.HERE", RecordOwner::Vsam);
    let entry = catalog.get(&name("A.HERE")).unwrap().unwrap();
    let left = std::sync::atomic::AtomicU32::new(PROGRAMS);
    let relaxed = std::sync::atomic::Ordering::SeqCst;
    let send = || {
        let unsent = catalog.unsent().unwrap();
        let mut link = tables.connect(&Described::of(&entry).unwrap()).unwrap();
        while let Some(batch) = unsent.next_batch(entry.number).unwrap() {
            let source = redirection(RecordOwner::Vsam).source;
            link.apply(source, batch.number, &batch.changes).unwrap();
            unsent.settle(entry.number, &batch).unwrap();
        }
        unsent.count(entry.number).unwrap()
    };
    std::thread::scope(|scope| {
        for program in 0..PROGRAMS {
            let left = &left;
            scope.spawn(move || {
                let options = OpenOptions { record_level: true, ..OpenOptions::default() };
                let file = catalog.open_file(&name("A.HERE"), OpenMode::InputOutput, &options);
                let (file, mut old) = (file.unwrap(), Vec::new());
                let mut position = file.position().unwrap();
                for number in 0..UNITS {
                    let mut unit = catalog.store().begin(vsam::unit_options()).unwrap();
                    let which = (number * 7 + program * 3) % 5;
                    let key = format!("{which:04}");
                    let new = record(&key, &format!("{program}{number:03}"), "X");
                    let search = Search::equal(Target::Key(key.as_bytes()));
                    let found =
                        file.get(&mut unit, &mut position, &search, Intent::Update, &mut old);
                    let done = match (found, number % 4) {
                        (Ok(_), 0) => file.erase(&mut unit, &mut position).map(drop),
                        (Ok(_), _) => file.rewrite(&mut unit, &mut position, &new).map(drop),
                        (Err(_), _) => file.put(&mut unit, &mut position, &new).map(drop),
                    };
                    match done.is_ok() && number % 7 > 0 {
                        true => drop(unit.commit()),
                        false => unit.backout().unwrap(),
                    }
                }
                left.fetch_sub(1, relaxed);
            });
        }
        while left.load(relaxed) > 0 {
            send();
        }
    });
    while send() > 0 {}
    let there: Vec<Vec<u8>> = tables.0.lock().rows.values().cloned().collect();
    assert_eq!(there, Side::new(catalog, "A.HERE").all());
}

#[test]
fn programs_that_change_the_same_records_at_once_are_followed_in_order() {
    race(&catalog());
    let folder = Folder::new("race");
    race(&common::run_in(&folder).catalog);
}
