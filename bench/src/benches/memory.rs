//! Memory under a long load: budgets are kept, nothing grows.

use std::fs;
use std::time::{Duration, Instant};

use super::child::{ChildArguments, Load};
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "memory",
    title: "Memory under load",
    about: "Ten minutes of updates with 64 in flight over data larger than its pool, in a process \
            of its own whose resident memory is weighed four times a second. It must stay within \
            the sum of the configured budgets and 64 MiB.",
    takes: "11 minutes",
    run,
};

const SLACK_BYTES: u64 = 64 << 20;
const WEIGH_EVERY: Duration = Duration::from_millis(250);
const POINTS_OF_THE_PLOT: usize = 60;
const MIB: f64 = 1_048_576.0;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let name = "resident memory beyond the budgets, largest";
    let limit = SLACK_BYTES as f64 / MIB;
    if context.kernel.is_none() {
        document.checks.push(Check::at_most(name, None, limit, "MiB"));
        return Ok(());
    }
    let seconds = context.settings.pick(600, 15);
    let records = context.settings.pick(4_000_000, 400_000);
    let pool_bytes = context.settings.pick(256 << 20, 32 << 20);
    let folder = context.folder.join("store");
    fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let arguments = ChildArguments::for_seconds(&folder, records, pool_bytes, seconds);
    let mut load = Load::start(&arguments)?;
    let begin = Instant::now();
    let mut weights = Vec::new();
    // Loading and warming up count as well: a budget is a budget.
    while begin.elapsed() < Duration::from_secs(seconds) {
        if !load.runs() {
            return Err(BenchError::subject("holdfast", "keep up a load", "its process ended"));
        }
        weights.push((begin.elapsed().as_secs_f64(), resident_bytes(load.id())));
        std::thread::sleep(WEIGH_EVERY);
    }
    let budget = load.budget_bytes;
    load.kill()?;
    let largest = weights.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let mut plot = PlotBuilder::new("Resident memory", "MiB", Shape::Lines, "seconds");
    let step = weights.len().div_ceil(POINTS_OF_THE_PLOT).max(1);
    for (at, bytes) in weights.iter().step_by(step) {
        plot.column(format!("{at:.0}"));
        plot.value("resident", *bytes as f64 / MIB, None);
        plot.value("budgets + 64 MiB", (budget + SLACK_BYTES) as f64 / MIB, None);
    }
    plot.finish(document);
    let figures = [("budgets", budget), ("resident_largest", largest)];
    for (name, bytes) in figures {
        document.figures.insert(name.into(), Figure::single(bytes as f64 / MIB, "MiB"));
    }
    let beyond = (largest as f64 - budget as f64) / MIB;
    document.checks.push(Check::at_most(name, Some(beyond), limit, "MiB"));
    Ok(())
}

/// Memory of a process that is its own: anonymous and shared, without pages of files.
fn resident_bytes(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    (kib("RssAnon:").unwrap_or(0) + kib("RssShmem:").unwrap_or(0)) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_touched_weighs() {
        // Tests beside this one give memory back meanwhile, so one look may miss it. What was
        // weighed is kept: given back, it may stay resident and weigh nothing the next time.
        let mut kept = Vec::new();
        let mut weighs = || {
            let before = resident_bytes(std::process::id());
            kept.push(std::hint::black_box(vec![1_u8; 32 << 20]));
            resident_bytes(std::process::id()) >= before + (30 << 20)
        };
        assert!((0..20).any(|_| weighs()));
    }
}
