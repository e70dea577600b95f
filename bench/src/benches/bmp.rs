//! A batch message program that reads all of a partitioned database and replaces some of it.

use std::path::Path;
use std::time::Duration;

use ::dli::SessionOptions;

use super::{Benchmark, Context, PlotBuilder, track};
use crate::databases::{Program, Site};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::kernel::failed;
use crate::ledger;
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::peers::paths::{self, CALLS_PER_REPLACE, PathPeer, PathPeers, Row};
use crate::workload::Deadline;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "bmp",
    title: "A BMP over a partitioned database",
    about: "One embedded program of type bmp goes through a PHIDAM in 32 partitions that is more \
            than eight times its pool: ten get-hold-nexts of segments of 100 to 200 bytes, then a \
            replace of the last, and so on, with locks; a durable commit and a return to the \
            position every 4,400 calls, 400 of them replaces. Sealed and plain, with and without \
            sequential buffering, two copies of the log. Peers: the same reads and replaces on \
            rows keyed by path.",
    takes: "6 minutes",
    run,
};

/// Calls of a unit of work.
const CALLS_PER_UNIT: u64 = 400 * CALLS_PER_REPLACE;
/// The database is at least so many times its pool.
const POOLS: u64 = 8;
const CPU_US_LIMIT: f64 = 0.4;
const SEALING_PERCENT_LIMIT: f64 = 5.0;
const PCB: usize = 0;

/// One of Holdfast's contestants.
#[derive(Clone, Copy)]
struct Variant {
    form: Form,
    /// With sequential buffering.
    buffered: bool,
}

const VARIANTS: [Variant; 4] = [
    Variant { form: Form::Sealed, buffered: true },
    Variant { form: Form::Plain, buffered: true },
    Variant { form: Form::Sealed, buffered: false },
    Variant { form: Form::Plain, buffered: false },
];

impl Variant {
    fn name(self) -> String {
        let buffering = if self.buffered { "" } else { ", no sequential buffering" };
        format!("Holdfast, {}{buffering}", self.form.words())
    }

    /// What its figures end in.
    fn suffix(self) -> String {
        format!("_{}{}", self.form.words(), if self.buffered { "" } else { "_unbuffered" })
    }
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let pool_bytes: u64 = context.settings.pick(64 << 20, 8 << 20);
    // Keys are stored shortened, so the data alone has to be large enough.
    let ledgers = (POOLS * pool_bytes).div_ceil(ledger::BYTES).next_multiple_of(ledger::PARTITIONS);
    let mut ours = Vec::new();
    for variant in VARIANTS {
        eprintln!("  {}: loading {} segments", variant.name(), ledgers * ledger::SEGMENTS);
        let setup = setup(context, variant, pool_bytes)?;
        let bmp = Bmp::new(ledger::create(&setup, ledgers)?)?;
        if ours.is_empty() {
            document.notes.push(size_note(&setup.folder, pool_bytes)?);
        }
        ours.push((variant, Count::of(bmp)));
    }
    let peers = open_peers(context, pool_bytes, ledgers)?;
    describe(document, &peers);
    let mut theirs: Vec<Count<Theirs>> =
        peers.open.into_iter().map(|peer| Count::of(Theirs { peer, at: Row::none() })).collect();

    let mut entries = Vec::new();
    for (variant, bmp) in &mut ours {
        entries.push(Entry::new(variant.name(), |slice| {
            bmp.slice(slice, |bmp| bmp.unit(CALLS_PER_UNIT))
        }));
    }
    for count in &mut theirs {
        entries.push(Entry::new(count.of.peer.name(), |slice| {
            count.slice(slice, |theirs| theirs.peer.unit(&mut theirs.at, CALLS_PER_UNIT))
        }));
    }
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    file(document, &tracks);
    add_checks(document, &tracks);
    let segments = ledgers * ledger::SEGMENTS;
    for (_, bmp) in &ours {
        bmp.confirm("holdfast", segments, ledger::total(&bmp.of.site)?)?;
    }
    for mut count in theirs {
        let total = count.of.peer.total()?;
        count.confirm(count.of.peer.name(), segments, total)?;
    }
    document.notes.push(CACHES.into());
    Ok(())
}

const CACHES: &str = "SQLite and RocksDB have a cache as large as Holdfast's pool. Theirs are not \
                      all the memory they use: both read through the cache of the operating \
                      system, as LMDB does, and their data fit into it. Holdfast reads and writes \
                      past it.";

fn setup(context: &Context, variant: Variant, pool_bytes: u64) -> Result<StoreSetup> {
    let folder = context.folder.join(format!("ours{}", variant.suffix()));
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (checkpoints, Variant { form, buffered }) = (Checkpoints::Default, variant);
    Ok(StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered })
}

/// How large the database is, which has to be enough.
fn size_note(folder: &Path, pool_bytes: u64) -> Result<String> {
    let data = folder.join("data");
    let files = std::fs::read_dir(&data).map_err(BenchError::system("list", &data))?;
    let bytes: u64 =
        files.flatten().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    let times = bytes as f64 / pool_bytes as f64;
    match bytes >= POOLS * pool_bytes {
        true => Ok(format!(
            "The database has {} MiB, {times:.1} times its pool of {} MiB.",
            bytes >> 20,
            pool_bytes >> 20
        )),
        false => Err(failed(format!("the database is only {times:.1} times its pool"))),
    }
}

fn open_peers(context: &Context, pool_bytes: u64, ledgers: u64) -> Result<PathPeers> {
    match context.settings.alone {
        true => Ok(PathPeers::default()),
        false => paths::open_all(&context.folder.join("peers"), pool_bytes, ledgers),
    }
}

fn describe(document: &mut Document, peers: &PathPeers) {
    for peer in &peers.open {
        document.describe_peer(peer.name(), &peer.version(), &peer.settings());
    }
    for (name, reason) in &peers.missing {
        document.add_missing(name, reason);
    }
}

/// A peer, and the row that it read last.
struct Theirs {
    peer: Box<dyn PathPeer>,
    at: Row,
}

/// A contestant, and how many replaces it was asked for.
struct Count<T> {
    of: T,
    replaces: u64,
}

impl<T> Count<T> {
    fn of(of: T) -> Count<T> {
        Count { of, replaces: 0 }
    }

    /// Units of work until the slice is over.
    fn slice(
        &mut self,
        slice: Duration,
        mut unit: impl FnMut(&mut T) -> Result<()>,
    ) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut operations = 0;
        deadline.until(|| {
            unit(&mut self.of)?;
            operations += CALLS_PER_UNIT;
            Ok(())
        })?;
        self.replaces += operations / CALLS_PER_REPLACE;
        Ok(Work { operations, ..Work::default() })
    }

    /// Every replace is in the data, and every segment still there.
    fn confirm(&self, name: &'static str, segments: u64, total: (u64, u64)) -> Result<()> {
        let expected = (segments, self.replaces);
        if total == expected {
            return Ok(());
        }
        let reason = format!("{expected:?} segments and replaces expected, {total:?} found");
        Err(BenchError::subject(name, "keep every replace", reason))
    }
}

/// Holdfast's contestant: a program that goes on where it was, around and around.
struct Bmp {
    // The program ends before its databases are closed.
    program: Program,
    site: Site,
    /// By level, an SSA with command code C and room for a concatenated key.
    ssas: [Vec<u8>; 3],
}

/// Where the concatenated key stands in an SSA with command code C.
const SSA_KEY: usize = 11;

impl Bmp {
    fn new(site: Site) -> Result<Bmp> {
        let options = SessionOptions { shared: true, online: true, owner: 0 };
        let program = site.program(ledger::PSB, options)?;
        let key_bytes = [8, 12, 16];
        let ssas = [0, 1, 2].map(|at| {
            let (name, bytes): (&str, usize) = (ledger::NAMES[at], key_bytes[at]);
            format!("{name:8}*C({:bytes$})", "").into_bytes()
        });
        Ok(Bmp { program, site, ssas })
    }

    /// A unit of work: calls, a commit, and a return to the position that it took.
    fn unit(&mut self, calls: u64) -> Result<()> {
        let mut filled = 0;
        for call in 1..=calls {
            if call % CALLS_PER_REPLACE > 0 {
                filled = self.next()?;
                continue;
            }
            ledger::change(&mut self.program.area[..filled]);
            self.program.put(PCB, b"REPL", filled, &[])?;
        }
        let (level, key) = self.program.place(PCB);
        let ssa = level.checked_sub(1).and_then(|at| self.ssas.get_mut(at));
        let ssa = ssa.ok_or_else(|| failed("a replace left no position"))?;
        ssa[SSA_KEY..][..key.len()].copy_from_slice(key);
        self.program.commit()?;
        match self.program.get(PCB, b"GHU ", &[ssa])? {
            0 => Err(failed("the position was not found after a commit")),
            _ => Ok(()),
        }
    }

    /// The next segment; behind the last one the first.
    fn next(&mut self) -> Result<usize> {
        for _ in 0..2 {
            let filled = self.program.get(PCB, b"GHN ", &[])?;
            if filled > 0 {
                return Ok(filled);
            }
        }
        Err(failed("the database is empty"))
    }
}

fn file(document: &mut Document, tracks: &[Track]) {
    for track in tracks {
        let elapsed = Figure::new(&track.spread(Sample::elapsed_us), "us");
        match VARIANTS.iter().find(|variant| variant.name() == track.name) {
            Some(variant) => {
                let suffix = variant.suffix();
                document.add_ours(track, &suffix);
                document.figures.insert(format!("elapsed_per_operation{suffix}"), elapsed);
            }
            None => document.add_peer(&track.name, track, ""),
        }
    }
    let mut costs = PlotBuilder::new("CPU for a call", "us", Shape::Bars, "");
    costs.column("");
    costs.tracks(tracks, Sample::cpu_us);
    costs.finish(document);
    let mut times = PlotBuilder::new("Time for a call", "us", Shape::Bars, "");
    times.column("");
    times.tracks(tracks, Sample::elapsed_us);
    times.finish(document);
}

fn add_checks(document: &mut Document, tracks: &[Track]) {
    let [sealed, plain, unbuffered, plain_unbuffered] =
        VARIANTS.map(|variant| track(tracks, &variant.name()));
    let both =
        [("with", "", sealed, plain), ("without", "_unbuffered", unbuffered, plain_unbuffered)];
    for (with, suffix, sealed, plain) in both {
        let cpu = sealed.map(|track| track.spread(Sample::cpu_us).median);
        let name = format!("sealed, {with} sequential buffering, CPU for a call");
        document.checks.push(Check::at_most(&name, cpu, CPU_US_LIMIT, "us"));
        let added = sealed.zip(plain).map(|(sealed, plain)| {
            let spread = ratio(sealed, plain, Sample::cpu_us);
            let name = format!("sealed_against_plain{suffix}");
            document.figures.insert(name, Figure::new(&spread, "x"));
            (spread.median - 1.0) * 100.0
        });
        let name = format!("CPU that sealing adds, {with} sequential buffering");
        document.checks.push(Check::at_most(&name, added, SEALING_PERCENT_LIMIT, "%"));
    }
    let Some((unbuffered, sealed)) = unbuffered.zip(sealed) else { return };
    let mut compare = |what: &str, of: fn(&Sample) -> f64| {
        let name = format!("unbuffered_against_buffered_{what}");
        document.figures.insert(name, Figure::new(&ratio(unbuffered, sealed, of), "x"));
    };
    compare("cpu", Sample::cpu_us);
    compare("elapsed", Sample::elapsed_us);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_goes_around_and_loses_no_replace() {
        let context = super::super::tests::context("bmp");
        for variant in [VARIANTS[0], VARIANTS[2]] {
            let setup = setup(&context, variant, 2 << 20).unwrap();
            let site = ledger::create(&setup, ledger::PARTITIONS).unwrap();
            let mut bmp = Count::of(Bmp::new(site).unwrap());
            let slice = Duration::from_millis(20);
            let work = bmp.slice(slice, |bmp| bmp.unit(CALLS_PER_UNIT)).unwrap();
            assert!(work.operations > 0);
            let segments = ledger::PARTITIONS * ledger::SEGMENTS;
            let total = ledger::total(&bmp.of.site).unwrap();
            bmp.confirm("holdfast", segments, total).unwrap();
            assert!(bmp.confirm("holdfast", segments, (segments, total.1 + 1)).is_err());
        }
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
