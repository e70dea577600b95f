//! DL/I calls of an embedded caller on a database in memory, and its load and unload.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use ::dli::SessionOptions;

use super::{Benchmark, Context, PlotBuilder, track};
use crate::cpu;
use crate::customers::{self, BY_KEY, BY_NAME, POSTING_BYTES, SSA_VALUE, qualified};
use crate::databases::{Program, Site};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Settings, Spread, Track, Work, interleave};
use crate::kernel::failed;
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "dli",
    title: "DL/I calls in memory",
    about: "One embedded program of type dli on a sealed HIDAM of 200,000 customers (1,500,000 \
            segments) that fits into the pool: gets with random keys, directly, through a \
            secondary index and within a parent, and inserts of dependents, logged and committed \
            every 500. Before that, the database is loaded from an unload file and unloaded.",
    takes: "2 minutes",
    run,
};

const CUSTOMERS: u64 = 200_000;
const LOAD_SECONDS_LIMIT: f64 = 10.0;
const UNLOAD_SECONDS_LIMIT: f64 = 5.0;
/// Calls of a get between looks at the clock.
const CALLS_PER_GLANCE: u64 = 256;
/// Inserts of a unit of work.
const INSERTS_PER_UNIT: u64 = 500;

/// The calls, and at most how many microseconds of CPU each may take.
const CALLS: [(Call, f64); 5] = [
    (Call::Root, 1.0),
    (Call::Third, 1.5),
    (Call::Within, 0.25),
    (Call::Index, 2.0),
    (Call::Insert, 2.0),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Root,
    Third,
    Within,
    Index,
    Insert,
}

impl Call {
    fn words(self) -> &'static str {
        match self {
            Call::Root => "GU of a root",
            Call::Third => "GU of a third-level child",
            Call::Within => "GNP",
            Call::Index => "GU through a secondary index",
            Call::Insert => "ISRT of a dependent, logged",
        }
    }

    fn figure(self) -> &'static str {
        match self {
            Call::Root => "gu_root",
            Call::Third => "gu_third_level",
            Call::Within => "gnp",
            Call::Index => "gu_index",
            Call::Insert => "isrt",
        }
    }
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let count = context.settings.pick(CUSTOMERS, CUSTOMERS / 10);
    let site =
        customers::create(&setup(context, "database", context.settings.pick(1 << 30, 192 << 20))?)?;
    fill(context, document, &site, count)?;
    let tracks = calls(&context.settings, &site, count)?;
    let mut plot = PlotBuilder::new("CPU for a call", "us", Shape::Bars, "");
    plot.column("");
    for (call, limit) in CALLS {
        let Some(track) = track(&tracks, call.words()) else { continue };
        let spread = cost(&tracks, track, call);
        let quartiles = [spread.first_quartile, spread.third_quartile];
        plot.value(call.words(), spread.median, Some(quartiles));
        document.add_ours(track, &format!("_{}", call.figure()));
        let name = format!("cpu_{}", call.figure());
        document.figures.insert(name, Figure::new(&spread, "us"));
        let name = format!("{}, CPU", call.words());
        document.checks.push(Check::at_most(&name, Some(spread.median), limit, "us"));
    }
    plot.finish(document);
    document.notes.push(PARENTS.into());
    Ok(())
}

const PARENTS: &str = "GNP: after a GU of a random root, its dependents are read to the last. The \
                       cost of a GNP is what is left when the GU is taken off, at the cost of a \
                       GU of a root in the same round; `cpu_per_operation_gnp` has both.";

/// A store in a folder of its own, sealed, two copies of the log, checkpoints as shipped.
pub(super) fn setup(context: &Context, name: &str, pool_bytes: u64) -> Result<StoreSetup> {
    let folder = context.folder.join(name);
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
    Ok(StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true })
}

/// Loads and unloads the database some times; it is loaded at the end.
fn fill(context: &Context, document: &mut Document, site: &Site, count: u64) -> Result<()> {
    let (from, to) = (context.folder.join("generated"), context.folder.join("unloaded"));
    let segments = customers::generate(site.database(customers::DATABASE)?, &from, count)?;
    let mut taken = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let rounds = context.settings.pick(3, 1);
    for round in 0..rounds {
        if round > 0 {
            site.database(customers::DATABASE)?.empty(&site.store).map_err(failed)?;
        }
        let loading = timed(segments, || customers::load(site, &from))?;
        let unloading = timed(segments, || customers::unload(site, &to))?;
        for (all, one) in taken.iter_mut().zip([loading, unloading].as_flattened()) {
            all.push(*one);
        }
    }
    same(&from, &to)?;
    let [load, load_cpu, unload, unload_cpu] = taken.map(Spread::of);
    eprintln!("  {segments} segments: load {:.2} s, unload {:.2} s", load.median, unload.median);
    for (name, spread) in
        [("load", &load), ("load_cpu", &load_cpu), ("unload", &unload), ("unload_cpu", &unload_cpu)]
    {
        document.figures.insert(format!("{name}_seconds"), Figure::new(spread, "s"));
    }
    // What is measured with fewer segments says nothing of the promise.
    let full = |seconds: f64| (!context.settings.quick).then_some(seconds);
    let name = "load of 1,500,000 segments with a secondary index, elapsed";
    document.checks.push(Check::at_most(name, full(load.median), LOAD_SECONDS_LIMIT, "s"));
    let name = "unload of 1,500,000 segments, elapsed";
    document.checks.push(Check::at_most(name, full(unload.median), UNLOAD_SECONDS_LIMIT, "s"));
    Ok(())
}

/// Elapsed and CPU seconds of something that handles so many segments.
fn timed(segments: u64, work: impl FnOnce() -> Result<u64>) -> Result<[f64; 2]> {
    let (begin, before) = (Instant::now(), cpu::own_seconds());
    let done = work()?;
    let taken = [begin.elapsed().as_secs_f64(), cpu::own_seconds() - before];
    match done == segments {
        true => Ok(taken),
        false => Err(failed(format!("{done} of {segments} segments were loaded or unloaded"))),
    }
}

/// What was unloaded is what was loaded, byte for byte.
fn same(from: &Path, to: &Path) -> Result<()> {
    let read = |path: &Path| std::fs::read(path).map_err(BenchError::system("read", path));
    match read(from)? == read(to)? {
        true => Ok(()),
        false => Err(failed("what was unloaded is not what was loaded")),
    }
}

fn calls(settings: &Settings, site: &Site, count: u64) -> Result<Vec<Track>> {
    let caller = RefCell::new(Caller::new(site, count)?);
    let mut entries: Vec<Entry<'_>> = CALLS
        .iter()
        .map(|(call, _)| {
            let caller = &caller;
            Entry::new(call.words(), move |slice| caller.borrow_mut().slice(*call, slice))
        })
        .collect();
    interleave(settings, &mut entries)
}

/// Microseconds of CPU for a call. Without the GU that a GNP needs before it.
fn cost(tracks: &[Track], track: &Track, call: Call) -> Spread {
    let roots = tracks.iter().find(|one| one.name == Call::Root.words());
    let Some(roots) = roots.filter(|_| call == Call::Within) else {
        return track.spread(Sample::cpu_us);
    };
    let rounds = track.samples.iter().zip(&roots.samples);
    let own = |(within, root): (&Sample, &Sample)| {
        // `bytes` counts the GUs.
        let gets = within.work.bytes as f64 * root.cpu_us();
        (within.cpu_seconds * 1e6 - gets) / within.work.operations as f64
    };
    Spread::of(rounds.map(own).collect())
}

/// A program that makes the calls, with its SSAs.
pub(super) struct Caller {
    program: Program,
    customers: u64,
    random: Random,
    /// The posting that is inserted next.
    next_posting: u64,
    customer: Vec<u8>,
    account: Vec<u8>,
    posting: Vec<u8>,
    name: Vec<u8>,
}

impl Caller {
    pub(super) fn new(site: &Site, customers: u64) -> Result<Caller> {
        let program = site.program(customers::PSB, SessionOptions::default())?;
        Ok(Caller {
            program,
            customers,
            random: Random::new(5),
            next_posting: 10_000_000,
            customer: qualified("CUSTOMER", "CUSTNO", 8),
            account: qualified("ACCOUNT", "ACCTNO", 4),
            posting: qualified("POSTING", "POSTNO", 8),
            name: qualified("CUSTOMER", "XNAME", 16),
        })
    }

    /// Makes calls of one sort until the slice is over, and commits.
    fn slice(&mut self, call: Call, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        deadline.until(|| {
            for _ in 0..CALLS_PER_GLANCE {
                match call {
                    Call::Root => self.root()?,
                    Call::Third => self.third()?,
                    Call::Index => self.index()?,
                    Call::Insert => self.insert()?,
                    Call::Within => {
                        work.operations += self.within()?;
                        work.bytes += 1;
                        continue;
                    }
                }
                work.operations += 1;
            }
            Ok(())
        })?;
        self.program.commit()?;
        Ok(work)
    }

    fn choose_customer(&mut self) -> u64 {
        let customer = self.random.below(self.customers);
        customers::digits(customer, &mut self.customer[SSA_VALUE..][..8]);
        customer
    }

    fn choose_account(&mut self) -> (u64, u64) {
        let (customer, account) = (self.choose_customer(), self.random.below(2));
        customers::digits(account, &mut self.account[SSA_VALUE..][..4]);
        (customer, account)
    }

    fn found(filled: usize) -> Result<()> {
        match filled {
            0 => Err(failed("a segment was not found")),
            _ => Ok(()),
        }
    }

    pub(super) fn root(&mut self) -> Result<()> {
        self.choose_customer();
        Self::found(self.program.get(BY_KEY, b"GU  ", &[&self.customer])?)
    }

    fn third(&mut self) -> Result<()> {
        let (customer, account) = self.choose_account();
        let posting = self.random.below(customers::postings(customer, account));
        let key = customers::posting_key(posting);
        customers::digits(key, &mut self.posting[SSA_VALUE..][..8]);
        let ssas: [&[u8]; 3] = [&self.customer, &self.account, &self.posting];
        Self::found(self.program.get(BY_KEY, b"GU  ", &ssas)?)
    }

    /// All dependents of a root; how many GNPs that took.
    fn within(&mut self) -> Result<u64> {
        self.root()?;
        let mut calls = 1;
        while self.program.get(BY_KEY, b"GNP ", &[])? > 0 {
            calls += 1;
        }
        Ok(calls)
    }

    fn index(&mut self) -> Result<()> {
        let customer = self.random.below(self.customers);
        customers::name(customer, &mut self.name[SSA_VALUE..][..16]);
        Self::found(self.program.get(BY_NAME, b"GU  ", &[&self.name])?)
    }

    fn insert(&mut self) -> Result<()> {
        self.choose_account();
        customers::digits(self.next_posting, &mut self.program.area[..8]);
        self.next_posting += 1;
        let ssas: [&[u8]; 3] = [&self.customer, &self.account, b"POSTING "];
        self.program.put(BY_KEY, b"ISRT", POSTING_BYTES, &ssas)?;
        match self.next_posting.is_multiple_of(INSERTS_PER_UNIT) {
            true => self.program.commit(),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_finds_or_inserts_what_it_is_after() {
        let context = super::super::tests::context("dli");
        let site = customers::create(&setup(&context, "database", 8 << 20).unwrap()).unwrap();
        let mut document = super::super::tests::empty_document();
        fill(&context, &mut document, &site, 50).unwrap();
        let tracks = calls(&context.settings, &site, 50).unwrap();
        for (call, _) in CALLS {
            let track = track(&tracks, call.words()).unwrap();
            assert!(track.samples.iter().all(|sample| sample.work.operations > 0), "{call:?}");
            assert!(cost(&tracks, track, call).median.is_finite());
        }
        drop(site);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }

    #[test]
    fn a_gnp_is_what_is_left_without_the_get_before_it() {
        let fixed = |name: &str, operations, bytes, cpu_seconds| {
            let work = Work { operations, bytes, latency: None };
            let (seconds, neighbours) = (1.0, 0.0);
            let samples = vec![Sample { work, seconds, cpu_seconds, neighbours }];
            Track { name: name.into(), samples }
        };
        let roots = fixed(Call::Root.words(), 1_000, 0, 0.001);
        let within = fixed(Call::Within.words(), 8_000, 1_000, 0.003);
        let tracks = [roots, within];
        assert!((cost(&tracks, &tracks[1], Call::Within).median - 0.25).abs() < 1e-9);
        assert!((cost(&tracks, &tracks[0], Call::Root).median - 1.0).abs() < 1e-9);
    }
}
