//! What the write-ahead data set saves and costs: the same commits with one and without.
//!
//! Both sides write a sealed log in two copies; one of them has two write-ahead data sets beside
//! it. A caller appends the records of a small commit and waits until they are durable. Bytes are
//! those that go to the device: groups with headers and padding, and entries, in all copies.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use base::stats::Histogram;
use base::{Lsn, SystemId, UowId};
use seal::TestKeys;
use seam::Seam;
use wal::{Log, LogConfig, LogEnv, LogError, LogStart, WadsConfig};

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::kernel::NoEvents;
use crate::workload::Deadline;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "wads",
    title: "The write-ahead data set",
    about: "Commits of two records, 600 bytes together, sealed, two copies of the log: with two \
            write-ahead data sets on the same device and without. 1, 8 and 64 callers, each \
            waits for its commit.",
    takes: "2 minutes",
    run,
};

const SYSTEM: SystemId = SystemId(*b"holdfast w-ahead");
/// Bytes of each of a commit's two records.
const RECORD_BYTES: usize = 276;
const WITHOUT: &str = "log alone";
const WITH: &str = "log and write-ahead data set";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(800), Duration::from_millis(200));
    if context.kernel.is_none() {
        return Ok(());
    }
    let mut times = PlotBuilder::new("Response", "us", Shape::Bars, "callers");
    let mut bytes = PlotBuilder::new("Written", "bytes a commit", Shape::Bars, "callers");
    for callers in [1, 8, 64] {
        eprintln!("  {callers} callers");
        let folder = |name: &str| context.folder.join(format!("{name}-{callers}"));
        let plans = [(WITHOUT, false), (WITH, true)];
        let sides = plans.map(|(name, ahead)| Ok((name, Side::new(&folder(name), ahead)?)));
        let sides = sides.into_iter().collect::<Result<Vec<_>>>()?;
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (name, side) in &sides {
            entries.push(Entry::new(*name, move |slice| side.commit(callers, slice)));
        }
        let tracks = interleave(&settings, &mut entries)?;
        drop(entries);
        times.column(callers.to_string());
        times.tracks(&tracks, median_us);
        bytes.column(callers.to_string());
        bytes.tracks(&tracks, bytes_a_commit);
        let (Some(without), Some(with)) = (track(&tracks, WITHOUT), track(&tracks, WITH)) else {
            continue;
        };
        for one in &tracks {
            let suffix = format!("_{}_{callers}", one.name.replace(' ', "_"));
            document.add_ours(one, &suffix);
            let name = format!("bytes_a_commit{suffix}");
            document.figures.insert(name, Figure::new(&one.spread(bytes_a_commit), "bytes"));
        }
        // Nothing is promised: these say what the default should be.
        for (what, of) in [("response", median_us as fn(&Sample) -> f64), ("bytes", bytes_a_commit)]
        {
            let share = ratio(with, without, of);
            eprintln!("    {what} with it of that without: {:.2}", share.median);
            document.figures.insert(format!("{what}_share_{callers}"), Figure::new(&share, "x"));
        }
    }
    times.finish(document);
    bytes.finish(document);
    Ok(())
}

fn median_us(sample: &Sample) -> f64 {
    sample.work.latency.as_ref().map_or(0.0, |latency| latency.p50 as f64 / 1e3)
}

fn bytes_a_commit(sample: &Sample) -> f64 {
    sample.work.bytes as f64 / sample.work.operations.max(1) as f64
}

/// A log, alone or with its write-ahead data set.
struct Side {
    log: Arc<Log>,
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::subject("Holdfast", "wads", error.to_string())
}

impl Side {
    fn new(folder: &Path, ahead: bool) -> Result<Side> {
        let folders = |name: &str| (1..=2).map(|n| folder.join(format!("{name}-{n}"))).collect();
        let config = LogConfig {
            segment_bytes: 32 << 20,
            segments_min: 4,
            segments_max: 8,
            wads: ahead.then(|| WadsConfig::new(folders("ahead"))),
            ..LogConfig::new(folders("log"))
        };
        let env = LogEnv {
            seam: Seam::real(),
            keys: Arc::new(TestKeys::new(1)),
            system: SYSTEM,
            stop: Arc::default(),
            events: Arc::new(NoEvents),
        };
        Log::create(&env, &config).map_err(failed)?;
        let (log, _) = Log::open(env, config, LogStart::NEW).map_err(failed)?;
        Ok(Side { log })
    }

    /// Bytes that went to the device.
    fn written(&self) -> u64 {
        let statistics = self.log.statistics();
        let log = (statistics.bytes + statistics.padding_bytes) * statistics.copies.len() as u64;
        log + statistics.ahead.map_or(0, |ahead| ahead.bytes * ahead.paths.len() as u64)
    }

    fn commit(&self, callers: usize, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let (latency, operations) = (Histogram::default(), AtomicU64::new(0));
        let before = self.written();
        let caller = || -> std::result::Result<(), LogError> {
            let record = [7; RECORD_BYTES];
            while !deadline.passed() {
                let begun = Instant::now();
                let one = || self.log.append(200, 0, UowId::NONE, Lsn::NONE, &[&record]);
                one()?;
                let place = one()?;
                self.log.wait_durable(place.end)?;
                latency.record(begun.elapsed().as_nanos() as u64);
                operations.fetch_add(1, Relaxed);
                self.log.truncate(self.log.landed());
            }
            Ok(())
        };
        let outcomes = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..callers).map(|_| scope.spawn(caller)).collect();
            callers.into_iter().map(|caller| caller.join()).collect::<Vec<_>>()
        });
        for outcome in outcomes {
            outcome.map_err(|_| failed("a caller panicked"))?.map_err(failed)?;
        }
        // What is still ahead of the log belongs to these commits, too.
        self.log.land(self.log.next_lsn()).map_err(failed)?;
        let bytes = self.written() - before;
        let operations = operations.load(Relaxed);
        Ok(Work { operations, bytes, latency: Some(latency.quantiles()) })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.log.close();
    }
}
