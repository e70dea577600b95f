//! What the demonstration measures and how it is told.

use std::path::Path;
use std::time::Duration;

use seal::Format;
use serde::Serialize;

use super::bank::Bank;
use super::child::Worker;
use super::frames::Progress;
use super::{Setup, make_system, open_system, remove_folder};
use crate::context::Context;
use crate::failure::Result;

/// What came out.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) accounts: u32,
    /// Loading the accounts.
    pub(crate) load_ms: f64,
    /// Times that the process was killed.
    pub(crate) kills: u32,
    /// Transfers that were acknowledged before a kill or the end.
    pub(crate) acknowledged: u64,
    /// Transfers in the journal: those, and some whose answer a kill cut off.
    pub(crate) journaled: u64,
    /// Violations; empty if the proof holds.
    pub(crate) violations: Vec<String>,
    /// Restarts after a kill.
    pub(crate) restart_ms: Vec<f64>,
    /// Units of work that restarts backed out.
    pub(crate) backed_out: u64,
    /// The load, while it was not killed.
    pub(crate) transfers_per_second: f64,
    pub(crate) response_us_p50: u64,
    pub(crate) response_us_p99: u64,
    pub(crate) cpu_us_per_transfer: f64,
    /// On each of the two copies.
    pub(crate) log_megabytes_per_second: f64,
    pub(crate) transfers_per_log_write: f64,
    pub(crate) serial_share: f64,
    /// The same load on a plain and on a sealed system, in turn.
    pub(crate) encryption: Option<Encryption>,
    /// Findings of `verify` at the end.
    pub(crate) findings: usize,
}

/// What sealing costs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Encryption {
    pub(crate) plain_cpu_us_per_transfer: f64,
    pub(crate) sealed_cpu_us_per_transfer: f64,
    /// How much more of the second.
    pub(crate) cost_percent: f64,
}

impl Figures {
    /// Takes over what a working process has done while it was not disturbed.
    pub(crate) fn add(&mut self, load: &Load) {
        self.transfers_per_second = load.rate(load.transfers as f64);
        self.cpu_us_per_transfer = load.per_transfer(load.cpu_us as f64);
        self.log_megabytes_per_second = load.rate(load.log_bytes as f64) / 1e6;
        self.transfers_per_log_write = load.transfers as f64 / load.log_groups.max(1) as f64;
    }
}

/// Sums over several working processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    pub(crate) transfers: u64,
    pub(crate) seconds: f64,
    pub(crate) cpu_us: u64,
    pub(crate) log_bytes: u64,
    pub(crate) log_groups: u64,
}

impl Load {
    pub(crate) fn add(&mut self, progress: &Progress) {
        self.transfers += progress.transfers;
        self.seconds += progress.seconds;
        self.cpu_us += progress.cpu_us;
        self.log_bytes += progress.log_bytes;
        self.log_groups += progress.log_groups;
    }

    fn rate(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 { amount / self.seconds } else { 0.0 }
    }

    fn per_transfer(&self, amount: f64) -> f64 {
        amount / self.transfers.max(1) as f64
    }
}

/// Pairs of slices, in clear and sealed, so that a busy neighbour hits both; every other pair the
/// other way round. The first pair warms up and does not count.
const PAIRS: u32 = 5;

/// Runs the load on a plain and a sealed system in turn, `seconds` in all.
pub(crate) fn cost_of_encryption(
    context: &Context,
    setup: &Setup,
    base: &Path,
    seconds: f64,
    say: &mut dyn FnMut(&str),
) -> Result<Encryption> {
    let folders = [base.join("plain"), base.join("sealed")];
    for (dir, format) in folders.iter().zip([Format::Plain, Format::Sealed]) {
        make_system(context, setup, dir, format)?;
        let system = open_system(context, setup, dir)?;
        Bank::found(system.store(), setup.accounts)?;
        system.close()?;
    }
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        let mut costs = [0.0; 2];
        for which in if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] } {
            say(["the same load in clear ...", "the same load sealed ..."][which]);
            let mut worker = Worker::start(&folders[which], setup, 1 + pair)?;
            // Opening the system does not count.
            while worker.so_far().0.is_none() && !worker.has_ended() {
                context.seam.clock.sleep(Duration::from_millis(5));
            }
            let time = Duration::from_secs_f64(seconds / f64::from(2 * PAIRS));
            context.seam.clock.sleep(time);
            let mut load = Load::default();
            load.add(&worker.finish()?.so_far);
            costs[which] = load.per_transfer(load.cpu_us as f64);
        }
        pairs.push(costs);
    }
    folders.iter().for_each(|dir| remove_folder(dir));
    Ok(Encryption::of(&pairs[1..]))
}

impl Encryption {
    /// Medians over pairs of CPU time a transfer, in clear and sealed.
    fn of(pairs: &[[f64; 2]]) -> Encryption {
        let ratio = |[plain, sealed]: [f64; 2]| if plain > 0.0 { sealed / plain } else { 1.0 };
        Encryption {
            plain_cpu_us_per_transfer: median(pairs.iter().map(|pair| pair[0])),
            sealed_cpu_us_per_transfer: median(pairs.iter().map(|pair| pair[1])),
            cost_percent: 100.0 * (median(pairs.iter().copied().map(ratio)) - 1.0),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_the_median_of_pairs() {
        let pairs = [[10.0, 10.3], [20.0, 20.8], [10.0, 17.0]];
        let cost = Encryption::of(&pairs);
        assert!((cost.cost_percent - 4.0).abs() < 1e-6, "{cost:?}");
        assert_eq!((cost.plain_cpu_us_per_transfer, cost.sealed_cpu_us_per_transfer), (10.0, 17.0));
    }
}
