//! One, two and three systems that share records in one PostgreSQL, and what becomes of them when
//! it is killed.
//!
//! Each system has records of its own and may take some that all have. A unit of work locks five
//! of them in the order of their keys, reads and replaces each: it adds one to a number there, so
//! that what was acknowledged can be counted afterwards.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use seam::Seam;
use store::{
    LockMode, LockName, Locking, Read, Resolution, SetAttributes, SetId, Store, StoreError, Unit,
    UnitOptions, Wait,
};
use store_postgres::{EngineOptions, EngineStore};

use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave};
use crate::kernel::failed;
use crate::peers::postgres;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "sharing",
    title: "Systems that share an engine",
    about: "One, two and three systems update records in one PostgreSQL, five in a unit of work, \
            durable, one caller each, with none, 1 % and 10 % of what they take shared by all: \
            rate and retries. Then the engine is killed under two of them and started again: how \
            long nobody commits, and what is lost or stays in doubt.",
    takes: "2 minutes",
    run,
};

const SYSTEMS: usize = 3;
const VISITED: usize = 5;
/// Shares of records that all take from, in percent.
const SHARES: [u64; 3] = [0, 1, 10];
/// Of these they take.
const SHARED: u64 = 100;
/// How long a caller goes on trying while the engine is away.
const AWAY: Duration = Duration::from_secs(60);

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let mut server = match context.postgres() {
        Ok(server) => server,
        Err(error @ BenchError::Missing { .. }) => {
            document.notes.push(format!("Nothing was measured: {error}."));
            return lose(document, None);
        }
        Err(error) => return Err(error),
    };
    let version = server.version()?;
    let settings = postgres::Server::settings();
    document.notes.push(format!("PostgreSQL {version} stands for the engine; {settings}."));
    let own = context.settings.pick(10_000, 1_000);
    let mut systems = open(&server.url(), own)?;
    let mut rates = PlotBuilder::new("Units of work", "1/s", Shape::Bars, "systems");
    for count in 1..=SYSTEMS {
        rates.column(count.to_string());
        for share in SHARES {
            level(context, document, &server, &mut systems[..count], (share, &mut rates))?;
        }
    }
    rates.finish(document);
    confirm(&mut systems)?;
    let away = kill(context, &mut server, &mut systems)?;
    lose(document, Some(&away))
}

fn level(
    context: &Context,
    document: &mut Document,
    server: &postgres::Server,
    systems: &mut [System],
    (share, rates): (u64, &mut PlotBuilder),
) -> Result<()> {
    let count = systems.len();
    let retried = |systems: &[System]| systems.iter().map(System::retried).sum::<u64>();
    let (before, mut done) = (retried(systems), 0);
    let tracks = {
        let mut entries = [Entry::new(format!("{share} % shared"), |slice| {
            let work = together(systems, share, slice)?;
            done += work.operations;
            Ok(work)
        })
        .with_scope(server.scope())];
        interleave(&context.settings, &mut entries)?
    };
    let suffix = format!("_{count}_systems_{share}_percent");
    document.add_ours(&tracks[0], &suffix);
    let retries = (retried(systems) - before) as f64 * 100.0 / done.max(1) as f64;
    document.figures.insert(format!("retries{suffix}"), Figure::single(retries, "%"));
    let spread = tracks[0].spread(Sample::rate);
    let quartiles = [spread.first_quartile, spread.third_quartile];
    rates.value(&tracks[0].name, spread.median, Some(quartiles));
    Ok(())
}

/// The checks of the failure.
fn lose(document: &mut Document, away: Option<&Away>) -> Result<()> {
    if let Some(away) = away {
        let figure = |value: f64, unit: &str| Figure::single(value, unit);
        document.figures.insert("failover_gap".into(), figure(away.gap.as_secs_f64() * 1e3, "ms"));
        let engine = away.engine.as_secs_f64() * 1e3;
        document.figures.insert("failover_engine_away".into(), figure(engine, "ms"));
        document.figures.insert("failover_asked".into(), figure(away.asked as f64, "units"));
    }
    let name = "units of work lost when the engine is killed";
    let lost = away.map(|away| away.lost as f64);
    document.checks.push(Check::at_most(name, lost, 0.0, "units"));
    let name = "units of work in doubt after resolution";
    let doubt = away.map(|away| away.in_doubt as f64);
    document.checks.push(Check::at_most(name, doubt, 0.0, "units"));
    Ok(())
}

/// A system: a store of its own over the engine, and one caller.
struct System {
    store: EngineStore,
    set: SetId,
    /// The first of its own records, and how many there are.
    first: u64,
    own: u64,
    random: Random,
    /// Units of work that were begun anew.
    again: u64,
    committed: u64,
    /// Those whose commit had to be asked about, and those of which that was in vain.
    asked: u64,
    in_doubt: u64,
}

fn options(number: usize) -> EngineOptions {
    EngineOptions {
        schema: "sharing".into(),
        system: format!("SYS{number}"),
        resolve_within: Duration::from_secs(1),
        ..EngineOptions::default()
    }
}

fn open(url: &str, own: u64) -> Result<Vec<System>> {
    let seam = Seam::real();
    EngineStore::create(url, &options(0), &seam).map_err(failed)?;
    let mut systems = Vec::new();
    for number in 0..SYSTEMS {
        let store = EngineStore::open(url, options(number), &seam).map_err(failed)?;
        let set = match store.set("RECORDS").map_err(failed)? {
            Some(set) => set,
            None => {
                let locking = Locking::Caller;
                let attributes = SetAttributes { locking, ..SetAttributes::default() };
                let set = store.create_set("RECORDS", &attributes).map_err(failed)?;
                let all = SHARED + SYSTEMS as u64 * own;
                let entries = (0..all).map(|record| (key(record), value(0)));
                store.load_sorted(set, &mut store::Pairs::new(entries)).map_err(failed)?;
                set
            }
        };
        let (first, random) = (SHARED + number as u64 * own, Random::new(number as u64));
        let (again, committed, asked, in_doubt) = (0, 0, 0, 0);
        let system = System { store, set, first, own, random, again, committed, asked, in_doubt };
        systems.push(system);
    }
    Ok(systems)
}

fn key(record: u64) -> Vec<u8> {
    format!("RECORD {record:08}").into_bytes()
}

/// A record's value: a number and what it is kept for.
fn value(number: u64) -> Vec<u8> {
    let mut value = vec![b'v'; 100];
    value[..8].copy_from_slice(&number.to_be_bytes());
    value
}

fn number_in(value: &[u8]) -> u64 {
    value.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

impl System {
    fn retried(&self) -> u64 {
        self.again + self.store.figures().commit_retries
    }

    /// Records to take, no two of them the same, in the order of their keys.
    fn choose(&mut self, share: u64) -> Vec<u64> {
        let mut chosen = std::collections::BTreeSet::new();
        while chosen.len() < VISITED {
            chosen.insert(match self.random.below(100) < share {
                true => self.random.below(SHARED),
                false => self.first + self.random.below(self.own),
            });
        }
        chosen.into_iter().collect()
    }

    fn attempt(&self, chosen: &[u64]) -> store::Result<()> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        let mut old = Vec::new();
        for record in chosen {
            let key = key(*record);
            let name = LockName { space: self.set.0, name: &key };
            let _ = unit.lock(name, LockMode::Exclusive, Wait::Forever)?;
            if !unit.get(self.set, &key, Read::Unlocked, &mut old)? {
                return Err(StoreError::Unsupported("a record that has gone"));
            }
            let _ = unit.replace(self.set, &key, &value(number_in(&old) + 1))?;
        }
        unit.commit().map(drop)
    }

    /// One unit of work, begun anew as often as it takes.
    fn work(&mut self, share: u64) -> Result<()> {
        let (chosen, begun) = (self.choose(share), Instant::now());
        loop {
            match self.attempt(&chosen) {
                Ok(()) => {
                    self.committed += 1;
                    return Ok(());
                }
                Err(StoreError::Conflict(_) | StoreError::Deadlock | StoreError::TooOld(_)) => {
                    self.again += 1;
                }
                Err(StoreError::CommitUnknown(token)) => {
                    self.asked += 1;
                    return self.ask(token, begun);
                }
                Err(StoreError::Unavailable(_)) if begun.elapsed() < AWAY => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// What became of a unit of work whose answer was lost.
    fn ask(&mut self, token: store::CommitToken, begun: Instant) -> Result<()> {
        loop {
            match self.store.resolve(token) {
                Ok(Resolution::Committed) => {
                    self.committed += 1;
                    return Ok(());
                }
                Ok(Resolution::BackedOut) => return Ok(()),
                Err(_) if begun.elapsed() < AWAY => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => {
                    self.in_doubt += 1;
                    return Ok(());
                }
            }
        }
    }
}

/// All of them work until the slice is over.
fn together(systems: &mut [System], share: u64, slice: Duration) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let before: u64 = systems.iter().map(|system| system.committed).sum();
    each(systems, |system| {
        deadline.until(|| {
            system.work(share)?;
            Ok(())
        })?;
        Ok(())
    })?;
    let after: u64 = systems.iter().map(|system| system.committed).sum();
    Ok(Work { operations: after - before, ..Work::default() })
}

/// Each in a thread of its own.
fn each(systems: &mut [System], body: impl Fn(&mut System) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> =
            systems.iter_mut().map(|system| scope.spawn(move || body(system))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(failed("a system's caller ended")))
        })
    })
}

/// How many units of work the records have that nobody knows of (negative: that have gone).
fn difference(systems: &[System]) -> Result<i64> {
    let committed: u64 = systems.iter().map(|system| system.committed).sum();
    let Some(system) = systems.first() else { return Ok(0) };
    let mut unit = system.store.begin(UnitOptions::READ_ONLY).map_err(failed)?;
    let mut cursor = system.store.cursor(system.set).map_err(failed)?;
    let mut sum = 0;
    while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).map_err(failed)? {
        sum += number_in(entry.value);
    }
    unit.backout().map_err(failed)?;
    Ok(sum as i64 / VISITED as i64 - committed as i64)
}

/// What was acknowledged is there, and nothing else.
fn confirm(systems: &mut [System]) -> Result<()> {
    match difference(systems)? {
        0 => Ok(()),
        more => Err(failed(format!("the records have {more} units of work more than were told"))),
    }
}

/// What a kill of the engine cost.
struct Away {
    /// From the last commit before it to the first one after it.
    gap: Duration,
    /// Of that, until the engine took connections again.
    engine: Duration,
    asked: u64,
    lost: u64,
    in_doubt: u64,
}

/// Kills the engine under two systems and starts it again.
fn kill(context: &Context, server: &mut postgres::Server, systems: &mut [System]) -> Result<Away> {
    let load = context.settings.pick(Duration::from_secs(3), Duration::from_millis(400));
    let (over, commits, begun) = (AtomicBool::new(false), AtomicU64::new(0), Instant::now());
    let (last, first) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
    let (down, up) = (AtomicBool::new(false), AtomicBool::new(false));
    let now = || begun.elapsed().as_micros() as u64;
    let two = &mut systems[..2];
    let engine = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            each(two, |system| {
                while !over.load(Relaxed) {
                    system.work(SHARES[1])?;
                    commits.fetch_add(1, Relaxed);
                    if up.load(Relaxed) {
                        first.fetch_min(now(), Relaxed);
                    } else if !down.load(Relaxed) {
                        last.fetch_max(now(), Relaxed);
                    }
                }
                Ok(())
            })
        });
        let outcome = (|| {
            std::thread::sleep(load);
            down.store(true, Relaxed);
            let since = Instant::now();
            server.crash()?;
            up.store(true, Relaxed);
            server.start()?;
            let away = since.elapsed();
            let resumed = Instant::now();
            while first.load(Relaxed) == u64::MAX && resumed.elapsed() < AWAY {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(load);
            Ok(away)
        })();
        over.store(true, Relaxed);
        let worked = worker.join().unwrap_or_else(|_| Err(failed("a system's caller ended")));
        outcome.and_then(|away| worked.map(|()| away))
    })?;
    let gap = first.load(Relaxed).saturating_sub(last.load(Relaxed));
    let sum = |of: fn(&System) -> u64| systems.iter().map(of).sum();
    let (asked, in_doubt) = (sum(|one| one.asked), sum(|one| one.in_doubt));
    let lost = difference(systems)?.unsigned_abs();
    let gap = Duration::from_micros(gap);
    eprintln!(
        "    killed: {} ms without a commit, {asked} asked about, {lost} lost",
        gap.as_millis()
    );
    Ok(Away { gap, engine, asked, lost, in_doubt })
}
