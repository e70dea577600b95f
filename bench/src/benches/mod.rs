//! The benchmarks: each a name, a workload and the promises it checks.
//!
//! 1. A benchmark fills a [`Document`] whose head is already there; it never judges beyond its
//!    checks, and a check that fails is not an error.
//! 2. Without a kernel built in, the device and the peers are measured all the same.
//! 3. What a benchmark writes lies in a folder of its own below the data folder, removed at its
//!    end.

mod archive;
mod bmp;
mod bureau;
mod child;
mod cobol;
mod commit;
mod device;
mod dli;
mod engine;
mod extfh;
mod fullfunction;
mod ims_connect;
mod log;
mod memory;
mod mq;
mod mqlog;
mod mqpage;
mod mqput;
mod msgqueue;
mod openpgp;
mod openpgp_async;
mod openpgp_tools;
mod pool;
mod recover;
mod redirect;
mod rekey;
mod restart;
mod scan;
mod seal;
mod sharing;
mod started;
mod syncpoint;
mod tls;
mod vsam;
mod wads;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(crate) use child::{ChildArguments, run_child};

use crate::document::{Document, Peer, Plot, Run, Series, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Sample, Settings, Track};
use crate::kernel;
use crate::machine::{self, Machine};
use crate::ours::Kernel;
use crate::peers::{self, Embedded, postgres};

/// One benchmark of the list.
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it does, for the list and the report.
    pub(crate) about: &'static str,
    /// About how long a full run takes here.
    pub(crate) takes: &'static str,
    run: fn(&Context, &mut Document) -> Result<()>,
}

/// Every benchmark, in the order in which all of them run.
pub(crate) const ALL: &[Benchmark] = &[
    device::BENCHMARK,
    seal::BENCHMARK,
    log::BENCHMARK,
    archive::BENCHMARK,
    wads::BENCHMARK,
    commit::BENCHMARK,
    scan::BENCHMARK,
    restart::BENCHMARK,
    recover::BENCHMARK,
    rekey::BENCHMARK,
    memory::BENCHMARK,
    pool::BENCHMARK,
    dli::BENCHMARK,
    bmp::BENCHMARK,
    cobol::BENCHMARK,
    vsam::BENCHMARK,
    extfh::BENCHMARK,
    redirect::BENCHMARK,
    fullfunction::BENCHMARK,
    ims_connect::BENCHMARK,
    msgqueue::BENCHMARK,
    mqput::BENCHMARK,
    mqlog::BENCHMARK,
    mqpage::BENCHMARK,
    syncpoint::BENCHMARK,
    engine::BENCHMARK,
    sharing::BENCHMARK,
    openpgp::BENCHMARK,
    openpgp_async::BENCHMARK,
    tls::BENCHMARK,
];

/// What a benchmark has at hand.
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) kernel: Option<&'static dyn Kernel>,
    /// This benchmark's own folder, empty.
    pub(crate) folder: PathBuf,
}

impl Context {
    /// The embedded peers, each with so many records, unless Holdfast runs alone.
    fn embedded(&self, records: u64) -> Result<Embedded> {
        match self.settings.alone {
            true => Ok(Embedded::default()),
            false => peers::open_all(&self.folder.join("peers"), records),
        }
    }

    /// A PostgreSQL server, unless Holdfast runs alone.
    fn postgres(&self) -> Result<postgres::Server> {
        match self.settings.alone {
            true => Err(BenchError::Missing { peer: postgres::NAME, reason: "--alone".into() }),
            false => postgres::Server::create(&self.folder.join("postgresql")),
        }
    }
}

/// Finds a benchmark by its name.
pub(crate) fn find(name: &str) -> Result<&'static Benchmark> {
    ALL.iter().find(|benchmark| benchmark.name == name).ok_or_else(|| {
        let known = ALL.iter().map(|benchmark| benchmark.name).collect::<Vec<_>>().join(", ");
        BenchError::UnknownBenchmark { name: name.into(), known }
    })
}

impl Benchmark {
    /// Runs it and writes its result; the path of the result comes back.
    pub(crate) fn run(&self, settings: &Settings) -> Result<PathBuf> {
        let folder = settings.data.join(self.name);
        // What an interrupted run left behind.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let begin = Instant::now();
        let mut document = self.head(settings);
        let context = Context {
            settings: settings.clone(),
            kernel: kernel::built_in(),
            folder: folder.clone(),
        };
        match context.kernel {
            Some(kernel) => document.notes.push(format!("Holdfast: {}.", kernel.version())),
            None => document.notes.push(NO_KERNEL.into()),
        }
        let outcome = (self.run)(&context, &mut document);
        fs::remove_dir_all(&folder).map_err(BenchError::system("remove", &folder))?;
        outcome?;
        document.run.took_seconds = begin.elapsed().as_secs_f64();
        document.write(&settings.results)
    }

    fn head(&self, settings: &Settings) -> Document {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Document {
            bench: self.name.into(),
            title: self.title.into(),
            about: self.about.into(),
            figures: BTreeMap::new(),
            peers: BTreeMap::new(),
            checks: Vec::new(),
            plots: Vec::new(),
            notes: Vec::new(),
            machine: Machine::look(&settings.data),
            commit: machine::commit(),
            run: Run {
                quick: settings.quick,
                rounds: settings.rounds,
                slice_seconds: settings.slice.as_secs_f64(),
                started_unix_seconds: now.as_secs(),
                took_seconds: 0.0,
            },
        }
    }
}

const NO_KERNEL: &str = "This program was built without a kernel: the device and the peers were \
                         measured, Holdfast was not.";

impl Document {
    /// Files a track's figures under Holdfast's own.
    fn add_ours(&mut self, track: &Track, suffix: &str) {
        self.figures.extend(track.figures(suffix));
    }

    /// Files a track's figures under a peer.
    fn add_peer(&mut self, peer: &str, track: &Track, suffix: &str) {
        track.add_to(self.peers.entry(peer.into()).or_default(), suffix);
    }

    /// Says what each embedded peer is and how it was set, or why it is missing.
    fn describe_embedded(&mut self, peers: &Embedded) {
        for peer in &peers.open {
            let settings = format!("{}; in flight: {}", peer.settings(), peer.grouping());
            self.describe_peer(peer.name(), &peer.version(), &settings);
        }
        for (name, reason) in &peers.missing {
            self.add_missing(name, reason);
        }
    }

    /// Says why a peer has no figures.
    fn add_missing(&mut self, peer: &str, reason: &str) {
        let missing = Some(reason.to_owned());
        self.peers.insert(peer.into(), Peer { missing, ..Peer::default() });
    }

    /// Says what a peer is and how it was set.
    fn describe_peer(&mut self, peer: &str, version: &str, settings: &str) {
        let entry = self.peers.entry(peer.into()).or_default();
        entry.version = version.into();
        entry.settings = settings.into();
    }
}

/// A plot that grows column by column; every column has one value for each track.
struct PlotBuilder {
    plot: Plot,
}

impl PlotBuilder {
    fn new(title: &str, unit: &str, shape: Shape, across: &str) -> PlotBuilder {
        let (title, unit, across) = (title.into(), unit.into(), across.into());
        let plot = Plot { title, unit, shape, across, x: Vec::new(), series: Vec::new() };
        PlotBuilder { plot }
    }

    /// Opens the next column.
    fn column(&mut self, x: impl Into<String>) {
        self.plot.x.push(x.into());
        for series in &mut self.plot.series {
            series.values.push(None);
            series.quartiles.push(None);
        }
    }

    /// Sets a value of the open column; a name not seen before begins a series.
    fn value(&mut self, name: &str, value: f64, quartiles: Option<[f64; 2]>) {
        let columns = self.plot.x.len();
        assert!(columns > 0, "a value stands in a column");
        let at = self.plot.series.iter().position(|series| series.name == name);
        let at = at.unwrap_or_else(|| {
            let name = name.to_owned();
            let (values, quartiles) = (vec![None; columns], vec![None; columns]);
            self.plot.series.push(Series { name, values, quartiles });
            self.plot.series.len() - 1
        });
        self.plot.series[at].values[columns - 1] = Some(value);
        self.plot.series[at].quartiles[columns - 1] = quartiles;
    }

    /// Sets the open column's value of each track.
    fn tracks(&mut self, tracks: &[Track], of: impl Fn(&Sample) -> f64) {
        for track in tracks {
            let spread = track.spread(&of);
            let quartiles = [spread.first_quartile, spread.third_quartile];
            self.value(&track.name, spread.median, Some(quartiles));
        }
    }

    fn finish(self, document: &mut Document) {
        if !self.plot.series.is_empty() {
            document.plots.push(self.plot);
        }
    }
}

/// The track of a name among those measured.
fn track<'a>(tracks: &'a [Track], name: &str) -> Option<&'a Track> {
    tracks.iter().find(|track| track.name == name)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A context with a fake kernel and the shortest slices that mean something.
    pub(super) fn context(name: &str) -> Context {
        let folder = std::env::temp_dir().join(format!("holdfast-{name}-{}", std::process::id()));
        let (data, results) = (folder.clone(), folder.clone());
        let slice = Duration::from_millis(4);
        let settings = Settings { quick: true, alone: false, rounds: 2, slice, data, results };
        Context { settings, kernel: Some(&crate::fake::FakeKernel), folder }
    }

    /// A document with nothing but its head.
    pub(super) fn empty_document() -> Document {
        ALL[0].head(&context("head").settings)
    }

    #[test]
    fn names_are_unique_and_found() {
        for benchmark in ALL {
            assert_eq!(find(benchmark.name).unwrap().title, benchmark.title);
        }
        let error = find("nothing").err().unwrap().to_string();
        assert!(error.contains("nothing") && error.contains("commit"), "{error}");
    }

    #[test]
    fn a_series_that_begins_late_has_gaps_before() {
        let mut builder = PlotBuilder::new("t", "u", Shape::Bars, "x");
        builder.column("1");
        builder.value("a", 1.0, None);
        builder.column("2");
        builder.value("b", 2.0, None);
        let series = &builder.plot.series;
        assert_eq!(series[0].values, [Some(1.0), None]);
        assert_eq!(series[1].values, [None, Some(2.0)]);
    }
}
