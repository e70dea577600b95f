//! Records that another system has, over its socket.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use owner::{Admission, Applid, Files, Options, Places, Server, Service, Who};
use redirector::system::{SCHEME, Systems};
use redirector::{Registry, Sender, send};
use seam::Seam;
use store::{Capabilities, Store, Unit};
use store_suite::model::ModelStore;
use vsam::handler::{Change, Changed, Described, Edge, HandlerError, Handlers, Row};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, Direction,
    Entry, Feedback, File, Intent, KeyField, Match, OpenMode, OpenOptions, Organization, Position,
    RecordNumber, RecordOwner, Redirection, Search, SourceId, Target,
};

fn name(text: &str) -> DataSetName {
    DataSetName::parse(text).unwrap()
}

fn catalog() -> Catalog<ModelStore> {
    let limits = Capabilities { savepoints_max: u32::MAX, ..ModelStore::CAPABILITIES };
    let clock = Seam::real().clock;
    Catalog::open(ModelStore::with(limits, Arc::clone(&clock)), clock).unwrap()
}

struct Everybody;

impl Admission for Everybody {
    fn admits(&self, _: &Who<'_>) -> bool {
        true
    }
}

/// A system that others reach.
struct There {
    catalog: Catalog<ModelStore>,
    server: Option<Server<ModelStore>>,
    folder: PathBuf,
}

impl There {
    fn new(attributes: &ClusterAttributes) -> There {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let folder = format!("holdfast-redirector-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let catalog = catalog();
        let definition = Definition::Cluster(attributes.clone());
        catalog.define(&name("T.FILE"), definition, None).unwrap();
        let mut there = There { catalog, server: None, folder };
        there.start();
        there
    }

    fn start(&mut self) {
        let catalog = self.catalog.clone();
        let applid = Applid::parse("THERE").unwrap();
        let service = Service {
            files: Arc::new(Files { applid, names: BTreeMap::new() }),
            catalog: Box::new(move || Some(catalog.clone())),
            admission: Box::new(Everybody),
            clock: Seam::real().clock,
        };
        let socket = self.folder.join(owner::place::SOCKET);
        self.server =
            Some(Server::start(Options { socket, ..Options::default() }, service).unwrap());
    }

    fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.close();
        }
    }

    fn handlers(&self) -> Arc<dyn Handlers> {
        let known = [("HOLDFAST_OWNER_THERE".to_owned(), OsString::from(&self.folder))];
        let systems = Systems::new(Places::given(known.into()));
        Arc::new(Registry::default().with(SCHEME, Arc::new(systems)))
    }
}

impl Drop for There {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn redirected(
    catalog: &Catalog<ModelStore>,
    there: &There,
    attributes: &ClusterAttributes,
    owner: RecordOwner,
) -> Entry {
    let definition = Definition::Cluster(attributes.clone());
    catalog.define(&name("H.FILE"), definition, None).unwrap();
    catalog.set_handlers(there.handlers());
    let redirection = Redirection {
        owner,
        to: format!("{SCHEME}THERE"),
        object: "T.FILE".into(),
        page: None,
        source: SourceId([3; 16]),
    };
    let entry = catalog.redirect(&name("H.FILE"), &redirection).unwrap();
    there.handlers().prepare(&Described::of(&entry).unwrap()).unwrap();
    entry
}

fn keyed() -> ClusterAttributes {
    ClusterAttributes {
        reuse: true,
        ..ClusterAttributes::keyed(KeyField { offset: 1, bytes: 4 }, 40)
    }
}

fn numbered() -> ClusterAttributes {
    ClusterAttributes {
        reuse: true,
        ..ClusterAttributes::new(Organization::VariableRelative).with_records(40)
    }
}

struct Side {
    file: File<ModelStore>,
    position: Position<ModelStore>,
    record: Vec<u8>,
}

/// A sequence of numbers that looks like chance, the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % below
    }
}

fn record(key: u64, rest: u64) -> Vec<u8> {
    let mut record = format!("-{key:04}").into_bytes();
    record.resize(10 + usize::try_from(rest % 20).unwrap(), rest as u8);
    record
}

impl Side {
    fn new(catalog: &Catalog<ModelStore>, named: &str) -> Side {
        let options = OpenOptions { record_level: true, ..OpenOptions::default() };
        let file = catalog.open_file(&name(named), OpenMode::InputOutput, &options).unwrap();
        Side { position: file.position().unwrap(), file, record: Vec::new() }
    }

    fn ask(
        &mut self,
        unit: &mut <ModelStore as Store>::Unit,
        [what, key, rest]: [u64; 3],
    ) -> String {
        let Side { file, position, record: read } = self;
        let (whole, text) = (record(key, rest), format!("{key:04}"));
        let number = RecordNumber(u32::try_from(key).unwrap());
        let is_relative = file.organization().is_relative();
        let target = match (is_relative, rest % 5) {
            (_, 0) => Target::First,
            (_, 1) => Target::Last,
            (true, _) => Target::Number(number),
            (false, 2) => Target::Generic(&text.as_bytes()[..3]),
            (false, _) => Target::Key(text.as_bytes()),
        };
        let ways =
            [Match::Equal, Match::GreaterOrEqual, Match::Greater, Match::LessOrEqual, Match::Less];
        let by = ways[usize::try_from(rest / 5 % 5).unwrap()];
        let direction = if rest % 2 == 0 { Direction::Forward } else { Direction::Backward };
        let search = Search { target, by, direction };
        let answer: Result<Feedback, vsam::Failure> = match what {
            0 | 1 if is_relative => file.put_number(unit, position, number, &whole),
            0 | 1 => file.put(unit, position, &whole),
            2 => file.get(unit, position, &search, Intent::Update, read),
            3 => file.point(unit, position, &search),
            4 | 5 => file.get_next(unit, position, Intent::Look, read),
            6 => file.get_previous(unit, position, Intent::Look, read),
            7 => {
                let front = read.get(..5).unwrap_or_default();
                file.rewrite(unit, position, &[front, &whole[5..]].concat())
            }
            _ => file.erase(unit, position),
        };
        match answer {
            Ok(feedback) => format!("{feedback:?} {read:?}"),
            Err(failure) => {
                read.clear();
                failure.to_string()
            }
        }
    }
}

#[test]
fn a_cluster_of_another_system_answers_as_one_that_is_here() {
    for (attributes, seed) in [(keyed(), 1), (numbered(), 2), (keyed(), 3)] {
        let (here, there) = (catalog(), There::new(&attributes));
        redirected(&here, &there, &attributes, RecordOwner::Handler);
        let definition = Definition::Cluster(attributes.clone());
        here.define(&name("H.PLAIN"), definition, None).unwrap();
        let mut plain = Side::new(&here, "H.PLAIN");
        let mut remote = Side::new(&here, "H.FILE");
        let mut chance = Chance(seed);
        for step in 0..600 {
            let ask = [chance.next(9), chance.next(12), chance.next(250)];
            let mut unit = here.store().begin(vsam::unit_options()).unwrap();
            let wanted = plain.ask(&mut unit, ask);
            let got = remote.ask(&mut unit, ask);
            unit.commit().unwrap();
            assert_eq!(got, wanted, "step {step}: {ask:?}");
        }
    }
}

fn change(catalog: &Catalog<ModelStore>, keys: std::ops::Range<u64>) {
    let mut side = Side::new(catalog, "H.FILE");
    for key in keys {
        let mut unit = catalog.store().begin(vsam::unit_options()).unwrap();
        side.file.put(&mut unit, &mut side.position, &record(key, 1)).unwrap();
        unit.commit().unwrap();
    }
}

fn rows(entry: &Entry, there: &There) -> Vec<Vec<u8>> {
    let mut link = there.handlers().connect(&Described::of(entry).unwrap()).unwrap();
    let mut rows = Vec::new();
    link.read(Edge::End, false, 1000, &mut rows).unwrap();
    rows.into_iter().map(|row| row.record).collect()
}

#[test]
fn batches_come_to_another_system_once_each_and_in_order() {
    let (here, there) = (catalog(), There::new(&keyed()));
    let entry = redirected(&here, &there, &keyed(), RecordOwner::Vsam);
    change(&here, 0..20);
    let sent = send(&here, &entry, &mut |_| true).unwrap();
    assert_eq!((sent.batches, sent.changes), (1, 20));
    let wanted: Vec<Vec<u8>> = (0..20).map(|key| record(key, 1)).collect();
    assert_eq!(rows(&entry, &there), wanted);
    let described = Described::of(&entry).unwrap();
    let mut link = there.handlers().connect(&described).unwrap();
    let source = described.redirection.source;
    assert_eq!(link.received(source), Ok(1));
    // The same batch again, with something else in it, is known; one too far ahead is refused.
    let other = Change::Put(Row { key: b"9999".to_vec(), record: record(9999, 1) });
    link.apply(source, 1, std::slice::from_ref(&other)).unwrap();
    let gap = link.apply(source, 3, std::slice::from_ref(&other)).unwrap_err();
    assert_eq!(gap, HandlerError::Gap { has: 1, sent: 3 });
    // What cannot be put there is put there not at all, nor is its batch noted.
    let long = Change::Put(Row { key: b"9999".to_vec(), record: vec![b'-'; 41] });
    assert!(link.apply(source, 2, &[other.clone(), long]).is_err());
    assert_eq!((link.received(source), rows(&entry, &there).len()), (Ok(1), 20));
    link.apply(source, 2, &[Change::Clear]).unwrap();
    link.apply(source, 3, &[other]).unwrap();
    assert_eq!(rows(&entry, &there), [record(9999, 1)]);
}

#[test]
fn a_record_that_is_refused_there_is_not_taken_for_sent() {
    let (here, there) = (catalog(), There::new(&keyed()));
    // The byte behind the key, with an index that is unique.
    let key = KeyField { offset: 5, bytes: 1 };
    let index = AlternateIndexAttributes::new(name("T.FILE"), key);
    let index = AlternateIndexAttributes { unique: true, upgrade: true, ..index };
    let index = Definition::AlternateIndex(index);
    there.catalog.define(&name("T.INDEX"), index, None).unwrap();
    there.catalog.build_index(&name("T.INDEX")).unwrap();
    let entry = redirected(&here, &there, &keyed(), RecordOwner::Vsam);
    let put = |key: u64, rest: u64| {
        let mut side = Side::new(&here, "H.FILE");
        let mut unit = here.store().begin(vsam::unit_options()).unwrap();
        side.file.put(&mut unit, &mut side.position, &record(key, rest)).unwrap();
        unit.commit().unwrap();
    };
    put(1, 1);
    assert_eq!(send(&here, &entry, &mut |_| true).unwrap().changes, 1);
    put(2, 2);
    put(3, 1);
    let unsent = here.unsent().unwrap();
    for _ in 0..2 {
        let error = send(&here, &entry, &mut |_| true).unwrap_err().to_string();
        assert!(error.contains("0003") && error.contains("alternate key"), "{error}");
        // The batch is backed out as a whole, is kept, and is told to the caller.
        assert_eq!(rows(&entry, &there), [record(1, 1)]);
        assert_eq!(unsent.count(entry.number).unwrap(), 2);
        assert!(error.ends_with(&unsent.failure(entry.number).unwrap().unwrap()));
    }
    // What stands in the way there goes.
    let mut link = there.handlers().connect(&Described::of(&entry).unwrap()).unwrap();
    assert_eq!(link.delete(b"0001"), Ok(Changed::Done));
    assert_eq!(send(&here, &entry, &mut |_| true).unwrap().changes, 2);
    assert_eq!(rows(&entry, &there), [record(2, 2), record(3, 1)]);
    assert_eq!(unsent.failure(entry.number).unwrap(), None);
    assert_eq!(unsent.count(entry.number).unwrap(), 0);
}

#[test]
fn a_sender_goes_on_when_the_other_system_is_there_again() {
    let (here, mut there) = (catalog(), There::new(&keyed()));
    let entry = redirected(&here, &there, &keyed(), RecordOwner::Vsam);
    there.stop();
    change(&here, 0..5);
    assert!(send(&here, &entry, &mut |_| true).is_err());
    let unsent = here.unsent().unwrap();
    assert_eq!(unsent.count(entry.number).unwrap(), 5);
    let catalog = here.clone();
    let sender =
        Sender::start(here.store().clone(), Box::new(move || Some(catalog.clone())), |_| {});
    let sender = sender.unwrap();
    there.start();
    // It is asked for as long as it takes.
    while unsent.count(entry.number).unwrap() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    sender.close();
    assert_eq!(rows(&entry, &there).len(), 5);
}

#[test]
fn a_cluster_of_another_shape_is_refused() {
    let there = There::new(&numbered());
    let here = catalog();
    here.define(&name("H.FILE"), Definition::Cluster(keyed()), None).unwrap();
    let redirection = Redirection {
        owner: RecordOwner::Handler,
        to: format!("{SCHEME}THERE"),
        object: "T.FILE".into(),
        page: None,
        source: SourceId([3; 16]),
    };
    let entry = here.redirect(&name("H.FILE"), &redirection).unwrap();
    let refused = there.handlers().prepare(&Described::of(&entry).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("are others there"), "{refused}");
    let missing = Redirection { object: "T.NONE".into(), ..redirection.clone() };
    let entry = here.redirect(&name("H.FILE"), &missing).unwrap();
    let refused = there.handlers().prepare(&Described::of(&entry).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("there is no"), "{refused}");
    let nobody = Redirection { to: format!("{SCHEME}NOBODY"), ..redirection };
    let entry = here.redirect(&name("H.FILE"), &nobody).unwrap();
    let lost = there.handlers().prepare(&Described::of(&entry).unwrap()).unwrap_err();
    assert!(matches!(lost, HandlerError::Lost(_)), "{lost}");
}
