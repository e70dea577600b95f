//! Re-key of a data set while it is in use: how fast, and what it takes from those who work.

use std::time::{Duration, Instant};

use super::commit::drive;
use super::{Benchmark, Context, track};
use crate::document::{Check, Document, Figure};
use crate::error::Result;
use crate::harness::{Entry, Sample, Spread, interleave, ratio};
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::workload;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rekey",
    title: "Re-key while in use",
    about: "A data set four times as large as its pool goes over to another key: first with \
            nobody else at work, then, with a limit of 100 MB/s, beside updates of single records \
            with 8 in flight, in turn with slices in which nothing is re-keyed.",
    takes: "2 minutes",
    run,
};

const RATE_MB_S: f64 = 100.0;
const DIP_MAX: f64 = 0.10;
const LIMIT_BYTES: u64 = 100_000_000;
const POOL_BYTES: u64 = 128 << 20;
const IN_FLIGHT: usize = 8;
/// Between two looks whether it is done.
const LOOK: Duration = Duration::from_millis(5);

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let alone = "re-key with nobody else at work";
    let dip = "rate of updates lost while a re-key goes on at its limit";
    let Some(kernel) = context.kernel else {
        document.checks.push(Check::at_least(alone, None, RATE_MB_S, "MB/s"));
        document.checks.push(Check::at_most(dip, None, DIP_MAX, ""));
        return Ok(());
    };
    let records = context.settings.pick(4_000_000, 400_000);
    let setup = StoreSetup {
        folder: context.folder.join("store"),
        form: Form::Sealed,
        copies: 2,
        pool_bytes: POOL_BYTES,
        checkpoints: Checkpoints::Default,
        buffered: true,
    };
    let store = kernel.create_store(&setup)?;
    store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
    store.checkpoint()?;
    let store = &*store;
    let mut rates = Vec::new();
    for _ in 0..context.settings.pick(5, 2) {
        let begin = Instant::now();
        let bytes = store.rekey(0)?;
        while store.is_rekeying() {
            std::thread::sleep(LOOK);
        }
        rates.push(bytes as f64 / 1e6 / begin.elapsed().as_secs_f64());
    }
    let rates = Spread::of(rates);
    document.figures.insert("rekey_rate".into(), Figure::new(&rates, "MB/s"));
    let mut entries = [
        Entry::new("updates", |slice| {
            store.pause_rekey(true)?;
            drive(store, records, IN_FLIGHT, slice)
        }),
        Entry::new("updates beside a re-key", |slice| {
            if store.is_rekeying() {
                store.pause_rekey(false)?;
            } else {
                store.rekey(LIMIT_BYTES)?;
            }
            drive(store, records, IN_FLIGHT, slice)
        }),
    ];
    let settings = context.settings.with_slice(Duration::from_secs(2), Duration::from_millis(300));
    let tracks = interleave(&settings, &mut entries)?;
    store.pause_rekey(true)?;
    if let (Some(without), Some(beside)) =
        (track(&tracks, "updates"), track(&tracks, "updates beside a re-key"))
    {
        document.add_ours(without, "_without_rekey");
        document.add_ours(beside, "_beside_rekey");
        let kept = ratio(beside, without, Sample::rate);
        document
            .figures
            .insert("rate_beside_rekey_against_without".into(), Figure::new(&kept, "x"));
        document.checks.push(Check::at_most(dip, Some(1.0 - kept.median), DIP_MAX, ""));
    }
    document.checks.push(Check::at_least(alone, Some(rates.median), RATE_MB_S, "MB/s"));
    Ok(())
}
