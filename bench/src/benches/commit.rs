//! Durable read + update transactions, beside every peer.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use base::stats::Histogram;

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::ours::{Checkpoints, Form, Store, StoreSetup};
use crate::peers::KeyedPeer;
use crate::peers::postgres::{self, Clients, Server, Variant};
use crate::raw::on_threads;
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "commit",
    title: "Durable transactions",
    about: "Read and update one of 1,000,000 records of 100 bytes, durable, with 1, 8 and 64 in \
            flight. Holdfast: sealed, two copies of the log, queued commits from one \
            thread. PostgreSQL and RocksDB: as many independent callers. SQLite, LMDB and redb: \
            as many transactions batched into one commit by one caller. No peer encrypts.",
    takes: "8 minutes",
    run,
};

const LEVELS: [usize; 3] = [1, 8, 64];
const POOL_BYTES: u64 = 512 << 20;
/// Threads that call the queued commit. One keeps all of them in flight; a second would win little
/// here, for both would pass the same lines of memory to and fro.
const THREADS_MAX: usize = 1;

const CPU_US_LIMIT: f64 = 5.0;
const RATE_LIMITS: [(usize, f64); 2] = [(64, 2.0), (8, 1.0)];
const SEALING_PERCENT_LIMIT: f64 = 4.0;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let records = context.settings.pick(1_000_000, 100_000);
    let stores = open_ours(context, records)?;
    let embedded = context.embedded(records)?;
    document.describe_embedded(&embedded);
    let server = open_postgres(context, records, document)?;
    let clients = match &server {
        Some(server) => Some(RefCell::new(Clients::open(server, LEVELS[2])?)),
        None => None,
    };

    let mut rates = PlotBuilder::new("Durable transactions", "1/s", Shape::Bars, "in flight");
    let mut costs = PlotBuilder::new("CPU for a transaction", "us", Shape::Bars, "in flight");
    let counted = RefCell::new(std::collections::BTreeMap::<String, u64>::new());
    let mut all = Vec::new();
    for level in LEVELS {
        eprintln!("  {level} in flight");
        let mut entries = our_entries(&stores, records, level);
        for peer in &embedded.open {
            entries.push(counting(&counted, peer.name(), move |slice| peer.commit(level, slice)));
        }
        if let (Some(server), Some(clients)) = (&server, &clients) {
            for variant in [Variant::FourStatements, Variant::OneStatement] {
                let commit = move |slice| clients.borrow_mut().commit(level, variant, slice);
                let mut entry = counting(&counted, postgres::NAME, commit);
                entry.name = variant.name().into();
                entries.push(entry.with_scope(server.scope()));
            }
        }
        let tracks = interleave(&context.settings, &mut entries)?;
        rates.column(level.to_string());
        rates.tracks(&tracks, Sample::rate);
        costs.column(level.to_string());
        costs.tracks(&tracks, Sample::cpu_us);
        file_figures(document, &tracks, level);
        all.push((level, tracks));
    }
    rates.finish(document);
    costs.finish(document);
    drop(clients);
    confirm(&counted.into_inner(), &embedded.open, server.as_ref(), records)?;
    add_checks(document, &all);
    document.notes.push(BATCHING.into());
    Ok(())
}

const BATCHING: &str = "Batching inside one caller (SQLite, LMDB, redb) is the best a group commit \
                        could do for that library; independent callers cannot have it.";

fn our_name(form: Form) -> String {
    format!("Holdfast, {}", form.words())
}

/// A sealed and a plain store, loaded, if there is a kernel.
fn open_ours(context: &Context, records: u64) -> Result<Vec<(Form, Box<dyn Store>)>> {
    let Some(kernel) = context.kernel else { return Ok(Vec::new()) };
    let mut stores = Vec::new();
    for form in [Form::Sealed, Form::Plain] {
        let folder = context.folder.join(form.words());
        std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let checkpoints = Checkpoints::Default;
        let setup = StoreSetup {
            folder,
            form,
            copies: 2,
            pool_bytes: POOL_BYTES,
            checkpoints,
            buffered: true,
        };
        let store = kernel.create_store(&setup)?;
        store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
        stores.push((form, store));
    }
    Ok(stores)
}

fn our_entries<'a>(
    stores: &'a [(Form, Box<dyn Store>)],
    records: u64,
    level: usize,
) -> Vec<Entry<'a>> {
    let entry = |(form, store): &'a (Form, Box<dyn Store>)| {
        Entry::new(our_name(*form), move |slice| drive(&**store, records, level, slice))
    };
    stores.iter().map(entry).collect()
}

fn open_postgres(
    context: &Context,
    records: u64,
    document: &mut Document,
) -> Result<Option<Server>> {
    match context.postgres() {
        Ok(mut server) => {
            eprintln!("  {}: loading {records} records", postgres::NAME);
            server.load(records)?;
            document.describe_peer(postgres::NAME, &server.version()?, &Server::settings());
            Ok(Some(server))
        }
        Err(error @ BenchError::Missing { .. }) => {
            document.add_missing(postgres::NAME, &error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A contestant whose transactions are added up under the peer's name.
fn counting<'a>(
    counted: &'a RefCell<std::collections::BTreeMap<String, u64>>,
    peer: &'static str,
    mut run: impl FnMut(Duration) -> Result<Work> + 'a,
) -> Entry<'a> {
    Entry::new(peer, move |slice| {
        let work = run(slice)?;
        *counted.borrow_mut().entry(peer.into()).or_default() += work.operations;
        Ok(work)
    })
}

/// Every update that was counted is in the data: a peer that only pretended is no peer.
fn confirm(
    counted: &std::collections::BTreeMap<String, u64>,
    embedded: &[Box<dyn KeyedPeer>],
    server: Option<&Server>,
    records: u64,
) -> Result<()> {
    let mut totals = Vec::new();
    for peer in embedded {
        totals.push((peer.name(), peer.total()?));
    }
    if let Some(server) = server {
        totals.push((postgres::NAME, server.total()?));
    }
    for (name, total) in totals {
        let expected = (records, counted.get(name).copied().unwrap_or(0));
        if total != expected {
            let reason = format!("{expected:?} records and updates expected, {total:?} found");
            return Err(BenchError::subject(name, "keep every update", reason));
        }
    }
    Ok(())
}

/// Queued commits from so many threads, together `level` of them not yet durable.
pub(super) fn drive(
    store: &dyn Store,
    records: u64,
    level: usize,
    slice: Duration,
) -> Result<Work> {
    let threads = level.min(THREADS_MAX);
    let window = level / threads;
    let latency = Histogram::default();
    let deadline = Deadline::after(slice);
    let caller = |number: usize| -> Result<u64> {
        let mut random = Random::new(number as u64);
        let mut session = store.session()?;
        let mut waiting = VecDeque::with_capacity(window);
        // The driver's own cost counts against Holdfast: one look at the clock for a transaction,
        // and a histogram that no other thread touches.
        let own = Histogram::default();
        let mut now = Instant::now();
        loop {
            let over = deadline.passed_at(now);
            if !over {
                let key = workload::key(random.below(records));
                let position =
                    session.update_queued(&key, &mut |value| workload::add_to_balance(value, 1))?;
                waiting.push_back((position, now));
                now = Instant::now();
            }
            let Some((oldest, _)) = waiting.front().copied() else { break };
            if !over && waiting.len() < window {
                continue;
            }
            store.wait_durable(oldest)?;
            let durable = store.durable();
            now = Instant::now();
            while let Some((_, since)) = waiting.pop_front_if(|(position, _)| *position <= durable)
            {
                own.record((now - since).as_nanos() as u64);
            }
        }
        latency.absorb(&own);
        Ok(own.quantiles().count)
    };
    let operations = on_threads(threads, &caller)?;
    Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
}

fn file_figures(document: &mut Document, tracks: &[Track], level: usize) {
    for track in tracks {
        let suffix = format!("_at_{level}");
        if let Some(form) = track.name.strip_prefix("Holdfast, ") {
            document.add_ours(track, &format!("_{form}{suffix}"));
        } else if let Some(variant) = track.name.strip_prefix("PostgreSQL, ") {
            let variant = variant.replace(' ', "_");
            document.add_peer(postgres::NAME, track, &format!("_{variant}{suffix}"));
        } else {
            document.add_peer(&track.name, track, &suffix);
        }
    }
}

/// The faster of those peers that group the commits of independent callers.
fn best_grouping(tracks: &[Track]) -> Option<&Track> {
    tracks
        .iter()
        .filter(|track| track.name.starts_with(postgres::NAME) || track.name == "RocksDB")
        .max_by(|a, b| a.rate().total_cmp(&b.rate()))
}

fn add_checks(document: &mut Document, all: &[(usize, Vec<Track>)]) {
    let at = |level: usize| all.iter().find(|(of, _)| *of == level).map(|(_, tracks)| tracks);
    let sealed = |level: usize| track(at(level)?, &our_name(Form::Sealed));
    let cpu = sealed(64).map(|track| track.spread(Sample::cpu_us).median);
    let name = "sealed, 64 in flight, CPU for a transaction";
    document.checks.push(Check::at_most(name, cpu, CPU_US_LIMIT, "us"));
    for (level, limit) in RATE_LIMITS {
        let best = at(level).and_then(|tracks| best_grouping(tracks));
        let name = format!("sealed, {level} in flight, rate against the best grouping peer");
        let spread = sealed(level).zip(best).map(|(ours, best)| ratio(ours, best, Sample::rate));
        let mut check = Check::at_least(&name, spread.map(|spread| spread.median), limit, "x");
        if let Some(spread) = spread {
            let figure = format!("rate_against_best_peer_at_{level}");
            document.figures.insert(figure, Figure::new(&spread, "x"));
            check = check.noted(format!("best: {}", best.map_or("", |best| &best.name)));
        }
        document.checks.push(check);
    }
    let plain = at(64).and_then(|tracks| track(tracks, &our_name(Form::Plain)));
    let added = sealed(64).zip(plain).map(|(sealed, plain)| {
        let spread = ratio(sealed, plain, Sample::cpu_us);
        document.figures.insert("sealed_against_plain_at_64".into(), Figure::new(&spread, "x"));
        (spread.median - 1.0) * 100.0
    });
    let name = "CPU that sealing adds, 64 in flight";
    document.checks.push(Check::at_most(name, added, SEALING_PERCENT_LIMIT, "%"));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;
    use crate::fake::FakeStore;

    #[test]
    fn every_counted_transaction_is_durable_and_no_more_are_in_flight_than_said() {
        for level in [1, 2, 8, 64] {
            let store = FakeStore::default();
            let mut records = (0..100).map(|id| (workload::key(id), workload::value(id)));
            store.load(&mut records).unwrap();
            let work = drive(&store, 100, level, Duration::from_millis(20)).unwrap();
            assert!(work.operations > 0);
            assert_eq!(work.operations, store.balances());
            assert_eq!(store.durable(), crate::ours::Position(work.operations));
            assert_eq!(work.latency.unwrap().count, work.operations);
            assert!(store.positions.waiting_max.load(SeqCst) <= level as u64, "{level}");
        }
    }

    #[test]
    fn a_zero_slice_does_nothing_and_ends() {
        let store = FakeStore::default();
        let work = drive(&store, 0, 8, Duration::ZERO).unwrap();
        assert_eq!((work.operations, work.latency), (0, None));
    }

    fn tracks(rates: &[(&str, u64, f64)]) -> Vec<Track> {
        let track = |(name, operations, cpu_seconds): &(&str, u64, f64)| {
            let work = Work { operations: *operations, ..Work::default() };
            let (seconds, cpu_seconds, neighbours) = (1.0, *cpu_seconds, 0.0);
            let sample = Sample { work, seconds, cpu_seconds, neighbours };
            Track { name: (*name).into(), samples: vec![sample] }
        };
        rates.iter().map(track).collect()
    }

    #[test]
    fn promises_are_checked_against_the_best_peer_that_groups() {
        let at_64 = tracks(&[
            ("Holdfast, sealed", 100_000, 0.4),
            ("Holdfast, plain", 100_000, 0.39),
            ("RocksDB", 40_000, 1.0),
            ("SQLite", 90_000, 1.0),
            ("PostgreSQL, 1 statement", 45_000, 2.0),
        ]);
        let at_8 = tracks(&[("Holdfast, sealed", 30_000, 0.4), ("RocksDB", 31_000, 1.0)]);
        let mut document = super::super::tests::empty_document();
        add_checks(&mut document, &[(8, at_8), (64, at_64)]);
        let verdicts: Vec<bool> = document.checks.iter().map(|check| check.holds).collect();
        assert_eq!(verdicts, [true, true, false, true]);
        let ratio = document.checks[1].value.unwrap();
        assert!((ratio - 100.0 / 45.0).abs() < 1e-9, "{ratio}");
        assert_eq!(document.checks[1].note.as_deref(), Some("best: PostgreSQL, 1 statement"));
    }
}
