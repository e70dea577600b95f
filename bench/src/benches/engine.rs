//! The store over PostgreSQL, beside hand-written SQL for the same work through the same driver.
//!
//! Records are a root and nine children each, in a set under its callers' locks, as a database is.
//! A unit of work of 24 calls visits five of them: lock, step to the root and a child, read the
//! root again, replace it. Both sides run on one connection at a time; the server is
//! one, its CPU counts on both sides. The twin keeps its values in the clear, and so does the store
//! here; what sealing costs is a figure of its own.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use seal::TestKeys;
use seam::Seam;
use store::{
    Cursor, KeyRange, LockMode, LockName, Locking, Position, Read, SetAttributes, SetId, Store,
    StoreError, Unit, UnitOptions, Wait,
};
use store_postgres::twin::Twin;
use store_postgres::{EngineOptions, EngineStore, Sealing};

use super::{Benchmark, Context};
use crate::document::{Check, Document, Figure};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::peers::postgres;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "engine",
    title: "The store on PostgreSQL",
    about: "Gets, scans and units of work of 24 calls on PostgreSQL by one caller, with the round \
            trips that each takes, beside hand-written SQL for the same work through the same \
            driver.",
    takes: "2 minutes",
    run,
};

const TWIN: &str = "hand-written SQL";
const CHILDREN: u32 = 9;
const VISITED: usize = 5;
const CALLS: u64 = 24;
const ROUND_TRIPS_LIMIT: f64 = 12.0;
const SCAN_LIMIT: f64 = 1.0;
const RATIO_LIMIT: f64 = 1.3;

fn failed(action: &'static str) -> impl Fn(StoreError) -> BenchError {
    move |error| BenchError::subject("holdfast", action, error.to_string())
}

fn root(record: u64) -> Vec<u8> {
    format!("RECORD {record:08}").into_bytes()
}

fn entries_of(records: u64) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    (0..records).flat_map(|record| {
        let child =
            move |number: u32| [&root(record)[..], format!("/{number}").as_bytes()].concat();
        std::iter::once(root(record))
            .chain((0..CHILDREN).map(child))
            .map(|key| (key, vec![b'v'; 100]))
    })
}

struct Side {
    store: EngineStore,
    set: SetId,
    records: u64,
    random: Random,
}

impl Side {
    fn open(
        url: &str,
        records: u64,
        sealed: bool,
    ) -> std::result::Result<(Side, EngineOptions), StoreError> {
        let seam = Seam::real();
        let schema = if sealed { "bench_sealed" } else { "bench_plain" }.to_owned();
        let mut options = EngineOptions { schema, ..EngineOptions::default() };
        EngineStore::create(url, &options, &seam)?;
        if sealed {
            let keys = Arc::new(TestKeys::new(1));
            options.sealing = Some(Sealing { keys, label: "bench".into(), identity: None });
        }
        let store = EngineStore::open(url, options.clone(), &seam)?;
        let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
        let set = store.create_set("RECORDS", &attributes)?;
        store.load_sorted(set, &mut store::Pairs::new(entries_of(records)))?;
        Ok((Side { store, set, records, random: Random::new(1) }, options))
    }

    fn get(&mut self) -> std::result::Result<(), StoreError> {
        let key = root(self.random.below(self.records));
        let mut value = Vec::new();
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        assert!(unit.get(self.set, &key, Read::Shared, &mut value)?, "the record is there");
        unit.commit().map(drop)
    }

    /// A scan of so many entries.
    fn scan(&mut self, entries: u64) -> std::result::Result<u64, StoreError> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(self.set)?;
        let mut read = 0;
        while read < entries && unit.next(&mut cursor, Read::Shared)?.is_some() {
            read += 1;
        }
        unit.commit()?;
        Ok(read)
    }

    /// A unit of work of 24 calls: five for each of four records, four for the last.
    fn transaction(&mut self) -> std::result::Result<(), StoreError> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        let mut value = Vec::new();
        for (number, record) in visited(&mut self.random, self.records).into_iter().enumerate() {
            let (root, mut end) = (root(record), Vec::new());
            let name = LockName { space: self.set.0, name: &root };
            let _ = unit.lock(name, LockMode::Exclusive, Wait::Forever)?;
            let mut cursor = self.store.cursor(self.set)?;
            cursor.limit(KeyRange::prefix(&root, &mut end));
            cursor.seek(Position::Front);
            unit.next(&mut cursor, Read::Shared)?;
            unit.next(&mut cursor, Read::Shared)?;
            if number + 1 < VISITED {
                unit.get(self.set, &root, Read::Shared, &mut value)?;
            }
            let _ = unit.replace(self.set, &root, &[b'w'; 100])?;
        }
        unit.commit().map(drop)
    }
}

/// Records to visit, no two of them the same, in the order of their keys.
fn visited(random: &mut Random, records: u64) -> Vec<u64> {
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < VISITED {
        chosen.insert(random.below(records));
    }
    chosen.into_iter().collect()
}

/// Runs something until the slice is over.
fn until(
    slice: Duration,
    each: u64,
    mut body: impl FnMut() -> std::result::Result<(), StoreError>,
) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let mut work = Work::default();
    deadline.until(|| {
        body().map_err(failed("do the work"))?;
        work.operations += each;
        Ok(())
    })?;
    Ok(work)
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let records = context.settings.pick(20_000, 2_000);
    let server = match postgres::Server::create(&context.folder.join("postgresql")) {
        Ok(server) => server,
        Err(error @ BenchError::Missing { .. }) => {
            document.add_missing(TWIN, &error.to_string());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    document.notes.push(format!(
        "PostgreSQL {}; {}",
        server.version()?,
        postgres::Server::settings()
    ));
    let url = server.url();
    let opened = failed("open a store");
    let (plain, options) = Side::open(&url, records, false).map_err(&opened)?;
    let (sealed, _) = Side::open(&url, records, true).map_err(&opened)?;
    let entries: Vec<_> = entries_of(records).collect();
    let mut twin = Twin::open(&url, &options, Some(&entries), &Seam::real())
        .map_err(failed("fill a table"))?;
    document.describe_peer(TWIN, &twin.version().map_err(&opened)?, "prepared, one by one");
    let (plain, sealed, twin) = (RefCell::new(plain), RefCell::new(sealed), RefCell::new(twin));
    count_round_trips(document, &mut plain.borrow_mut())?;
    let (scope, random) = (server.scope(), RefCell::new(Random::new(1)));
    for (name, suffix) in [("get", "_get"), ("scan", "_scan"), ("transaction", "_transaction")] {
        eprintln!("  {name}");
        let ours = |side: &RefCell<Side>, slice| {
            let mut side = side.borrow_mut();
            match name {
                "get" => until(slice, 1, || side.get()),
                "scan" => until(slice, 10_000, || side.scan(10_000).map(drop)),
                _ => until(slice, 1, || side.transaction()),
            }
        };
        let theirs = |slice| {
            let (mut twin, mut random) = (twin.borrow_mut(), random.borrow_mut());
            match name {
                "get" => until(slice, 1, || twin.get(&root(random.below(records))).map(drop)),
                "scan" => until(slice, 10_000, || {
                    let mut last = Vec::new();
                    for _ in 0..10 {
                        last = twin.scan(&last)?.1.unwrap_or_default();
                    }
                    Ok(())
                }),
                _ => until(slice, 1, || {
                    let range = |record| (root(record), [&root(record)[..], b"0"].concat());
                    let some = visited(&mut random, records).into_iter().map(range);
                    twin.transaction(&some.collect::<Vec<_>>(), &[b'w'; 100])
                }),
            }
        };
        let mut contestants = [
            Entry::new("Holdfast", |slice| ours(&plain, slice)).with_scope(scope),
            Entry::new(TWIN, theirs).with_scope(scope),
            Entry::new("Holdfast, sealed", |slice| ours(&sealed, slice)).with_scope(scope),
        ];
        let tracks = interleave(&context.settings, &mut contestants)?;
        document.add_ours(&tracks[0], suffix);
        document.add_peer(TWIN, &tracks[1], suffix);
        document.add_ours(&tracks[2], &format!("{suffix}_sealed"));
        let elapsed = ratio(&tracks[0], &tracks[1], Sample::elapsed_us);
        let what = format!("elapsed time of a {name}, beside hand-written SQL");
        document.checks.push(Check::at_most(&what, Some(elapsed.median), RATIO_LIMIT, "times"));
    }
    Ok(())
}

/// What each kind of work asks of the engine, and how much CPU of this process it takes.
fn count_round_trips(document: &mut Document, side: &mut Side) -> Result<()> {
    const TIMES: u64 = 200;
    let trips = |side: &Side| side.store.figures().round_trips;
    let mut measure =
        |name: &str,
         side: &mut Side,
         times: u64,
         work: fn(&mut Side) -> std::result::Result<u64, StoreError>| {
            work(side)?;
            let (before, cpu) = (trips(side), crate::cpu::own_seconds());
            let mut done = 0;
            for _ in 0..times {
                done += work(side)?;
            }
            let each = (trips(side) - before) as f64 / done as f64;
            let cpu = (crate::cpu::own_seconds() - cpu) * 1e6 / done as f64;
            document.figures.insert(format!("round_trips_{name}"), Figure::single(each, "each"));
            document.figures.insert(format!("own_cpu_{name}"), Figure::single(cpu, "us"));
            Ok::<f64, StoreError>(each)
        };
    let count = failed("count round trips");
    measure("get", side, TIMES, |side| side.get().map(|()| 1)).map_err(&count)?;
    let scan = measure("scan_entry", side, 3, |side| side.scan(10_000)).map_err(&count)?;
    let whole = measure("transaction", side, TIMES, |side| side.transaction().map(|()| 1));
    let whole = whole.map_err(&count)?;
    let call = Figure::single(whole / CALLS as f64, "each");
    document.figures.insert("round_trips_call".into(), call);
    let name = "round trips of a scan for 100 entries";
    document.checks.push(Check::at_most(name, Some(scan * 100.0), SCAN_LIMIT, "each"));
    let name = "round trips of a unit of work of 24 calls";
    document.checks.push(Check::at_most(name, Some(whole), ROUND_TRIPS_LIMIT, "each"));
    Ok(())
}
