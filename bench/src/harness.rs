//! Interleaved measuring: contestants take turns in short slices, and medians are compared.
//!
//! 1. In every round each contestant runs one slice, in the same order: A B C, A B C, ... A slow
//!    minute of the machine so falls on all of them.
//! 2. A ratio is the median of the ratios within rounds, never the ratio of two medians.
//! 3. One shorter slice of each contestant runs before the first round and is thrown away.
//! 4. CPU time is that of the whole process, and for a server of its whole tree as well.
//! 5. What others used of the machine meanwhile stands beside every series as `neighbours`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base::stats::Quantiles;

use crate::cpu::{self, CpuScope};
use crate::document::{Figure, Peer};
use crate::error::Result;
use crate::machine;
pub(crate) use crate::spread::Spread;

/// How much is measured, and where files go.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Seconds instead of minutes; good for trying, not for quoting.
    pub(crate) quick: bool,
    /// Without the peers.
    pub(crate) alone: bool,
    /// Rounds of an interleaved comparison.
    pub(crate) rounds: usize,
    /// Length of one slice.
    pub(crate) slice: Duration,
    /// Folder for everything written while measuring; emptied afterwards.
    pub(crate) data: PathBuf,
    /// Folder of the results and the report.
    pub(crate) results: PathBuf,
}

impl Settings {
    /// `full` or, when quick, `quick`.
    pub(crate) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// These settings with slices of another length.
    pub(crate) fn with_slice(&self, full: Duration, quick: Duration) -> Settings {
        Settings { slice: self.pick(full, quick), ..self.clone() }
    }
}

/// What one slice achieved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Latency of single operations in nanoseconds, where they were timed.
    pub(crate) latency: Option<Quantiles>,
}

/// One slice, measured.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) work: Work,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    /// Share of the machine that others used meanwhile, 0 to 1.
    pub(crate) neighbours: f64,
}

impl Sample {
    /// Operations a second.
    pub(crate) fn rate(&self) -> f64 {
        self.work.operations as f64 / self.seconds
    }

    /// Megabytes (10^6) a second.
    pub(crate) fn megabytes_per_second(&self) -> f64 {
        self.work.bytes as f64 / 1e6 / self.seconds
    }

    /// Elapsed microseconds for one operation.
    pub(crate) fn elapsed_us(&self) -> f64 {
        self.seconds * 1e6 / self.work.operations as f64
    }

    /// CPU microseconds for one operation.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.work.operations as f64
    }

    /// Rate divided by the busy share of the machine's CPUs: the internal throughput rate.
    pub(crate) fn internal_throughput_rate(&self) -> f64 {
        let busy = self.cpu_seconds / (self.seconds * machine::cores() as f64);
        self.rate() / busy
    }
}

/// A contestant: a name, whose CPU counts, and what it does in a slice.
pub(crate) struct Entry<'a> {
    pub(crate) name: String,
    pub(crate) scope: CpuScope,
    pub(crate) run: Box<dyn FnMut(Duration) -> Result<Work> + 'a>,
}

impl<'a> Entry<'a> {
    /// A contestant inside this process.
    pub(crate) fn new(
        name: impl Into<String>,
        run: impl FnMut(Duration) -> Result<Work> + 'a,
    ) -> Entry<'a> {
        Entry { name: name.into(), scope: CpuScope::Own, run: Box::new(run) }
    }

    /// The same contestant with a server whose CPU counts too.
    pub(crate) fn with_scope(mut self, scope: CpuScope) -> Entry<'a> {
        self.scope = scope;
        self
    }
}

/// All slices of one contestant, in the order of the rounds.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) samples: Vec<Sample>,
}

impl Track {
    /// The spread of anything that can be said of a sample.
    pub(crate) fn spread(&self, of: impl Fn(&Sample) -> f64) -> Spread {
        Spread::of(self.samples.iter().map(of).collect())
    }

    /// Median operations a second.
    pub(crate) fn rate(&self) -> f64 {
        self.spread(Sample::rate).median
    }

    /// The spread of a latency quantile in microseconds, if latencies were taken.
    pub(crate) fn latency_us(&self, of: impl Fn(&Quantiles) -> u64) -> Option<Spread> {
        let values: Vec<f64> = self
            .samples
            .iter()
            .filter_map(|sample| sample.work.latency.as_ref())
            .map(|latency| of(latency) as f64 / 1e3)
            .collect();
        (!values.is_empty()).then(|| Spread::of(values))
    }

    /// The figures that every contestant has, each name ending in `suffix`.
    pub(crate) fn figures(&self, suffix: &str) -> Vec<(String, Figure)> {
        let mut figures = Vec::new();
        let mut add = |name: &str, spread: &Spread, unit: &str| {
            figures.push((format!("{name}{suffix}"), Figure::new(spread, unit)));
        };
        add("rate", &self.spread(Sample::rate), "1/s");
        add("cpu_per_operation", &self.spread(Sample::cpu_us), "us");
        add("itr", &self.spread(Sample::internal_throughput_rate), "1/s");
        add("neighbours", &self.spread(|sample| sample.neighbours * 100.0), "%");
        if self.samples.iter().any(|sample| sample.work.bytes > 0) {
            add("throughput", &self.spread(Sample::megabytes_per_second), "MB/s");
        }
        if let Some(spread) = self.latency_us(|latency| latency.p50) {
            add("latency_p50", &spread, "us");
        }
        if let Some(spread) = self.latency_us(|latency| latency.p99) {
            add("latency_p99", &spread, "us");
        }
        figures
    }

    /// Adds this track's figures to a peer's entry.
    pub(crate) fn add_to(&self, peer: &mut Peer, suffix: &str) {
        peer.figures.extend(self.figures(suffix));
    }
}

/// Runs the contestants in interleaved rounds; the tracks come back in their order.
pub(crate) fn interleave(settings: &Settings, entries: &mut [Entry<'_>]) -> Result<Vec<Track>> {
    let mut tracks: Vec<Track> = entries
        .iter()
        .map(|entry| Track { name: entry.name.clone(), samples: Vec::new() })
        .collect();
    for entry in entries.iter_mut() {
        (entry.run)(settings.slice / 4)?;
    }
    for _ in 0..settings.rounds {
        for (entry, track) in entries.iter_mut().zip(&mut tracks) {
            track.samples.push(measure(settings.slice, entry)?);
        }
    }
    for track in &tracks {
        eprintln!(
            "    {:44} {:>12.0} /s {:>10.3} us CPU each",
            track.name,
            track.rate(),
            track.spread(Sample::cpu_us).median
        );
    }
    Ok(tracks)
}

/// Runs one slice of one contestant.
pub(crate) fn measure(slice: Duration, entry: &mut Entry<'_>) -> Result<Sample> {
    let machine_before = cpu::machine_busy_seconds();
    let cpu_before = cpu::seconds(entry.scope);
    let start = Instant::now();
    let work = (entry.run)(slice)?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu_seconds = cpu::seconds(entry.scope) - cpu_before;
    let others = cpu::machine_busy_seconds() - machine_before - cpu_seconds;
    let neighbours = (others / (seconds * machine::cores() as f64)).clamp(0.0, 1.0);
    Ok(Sample { work, seconds, cpu_seconds, neighbours })
}

/// The ratio a/b within each round.
pub(crate) fn ratio(a: &Track, b: &Track, of: impl Fn(&Sample) -> f64) -> Spread {
    assert_eq!(a.samples.len(), b.samples.len(), "a ratio needs as many slices on both sides");
    Spread::of(a.samples.iter().zip(&b.samples).map(|(a, b)| of(a) / of(b)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(rounds: usize) -> Settings {
        Settings {
            quick: true,
            alone: false,
            rounds,
            slice: Duration::from_millis(4),
            data: PathBuf::new(),
            results: PathBuf::new(),
        }
    }

    fn track(rates: &[u64]) -> Track {
        let sample = |operations: &u64| Sample {
            work: Work { operations: *operations, ..Work::default() },
            seconds: 1.0,
            cpu_seconds: 0.5,
            neighbours: 0.0,
        };
        Track { name: "t".into(), samples: rates.iter().map(sample).collect() }
    }

    #[test]
    fn a_spread_is_the_median_and_the_quartiles() {
        let spread = Spread::of(vec![5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!((spread.median, spread.first_quartile, spread.third_quartile), (3.0, 2.0, 4.0));
        assert_eq!(Spread::of(vec![1.0, 2.0]).median, 1.5);
    }

    #[test]
    fn a_ratio_is_taken_within_rounds() {
        // The machine is three times slower in the second round, for both alike.
        let ratio = ratio(&track(&[300, 100, 300]), &track(&[150, 50, 150]), Sample::rate);
        assert_eq!((ratio.median, ratio.first_quartile, ratio.third_quartile), (2.0, 2.0, 2.0));
    }

    #[test]
    fn contestants_take_turns_after_one_slice_to_warm_up() {
        let order = std::cell::RefCell::new(String::new());
        let turn = |letter: char| {
            let order = &order;
            Entry::new(letter, move |_| {
                order.borrow_mut().push(letter);
                Ok(Work { operations: 1, ..Work::default() })
            })
        };
        let tracks = interleave(&settings(3), &mut [turn('A'), turn('B')]).unwrap();
        assert_eq!(*order.borrow(), "ABABABAB");
        assert!(tracks.iter().all(|track| track.samples.len() == 3));
    }

    #[test]
    fn the_internal_rate_is_the_rate_of_a_fully_busy_machine() {
        let sample = &track(&[1_000]).samples[0];
        let expected = 1_000.0 * 2.0 * machine::cores() as f64;
        assert!((sample.internal_throughput_rate() - expected).abs() < 1e-6);
    }
}
