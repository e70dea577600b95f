//! Image copies and recovery: how fast, and what a copy takes from those who work.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::commit::drive;
use super::{Benchmark, Context, track};
use crate::document::{Check, Document, Figure};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Spread, Work, interleave, ratio};
use crate::ours::{Checkpoints, Form, Store, StoreSetup};
use crate::raw::RawFiles;
use crate::workload;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "recover",
    title: "Image copies and recovery",
    about: "A data set four times as large as its pool is copied while nobody works: to nowhere, \
            which shows how fast a copy reads, beside the device's own sequential rate, and to a \
            file on the same device. Then updates of single records write some hundred megabytes \
            of log, and the data set is recovered from the copy and that log. Last, updates with 8 \
            in flight go on beside copies that are held to half the device's rate, in turn with \
            slices without, and with slices beside reads of that rate that nothing is done with.",
    takes: "3 minutes",
    run,
};

const REDO_MB_S: f64 = 150.0;
const OF_DEVICE: f64 = 0.8;
const DIP_MAX: f64 = 0.05;
const POOL_BYTES: u64 = 128 << 20;
const IN_FLIGHT: usize = 8;
const READERS: usize = 4;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let redo = "redo of a recovery";
    let reading = "rate of a copy against the device's sequential rate";
    let dip = "rate of updates lost beside a copy at half the device's rate";
    let Some(kernel) = context.kernel else {
        document.checks.push(Check::at_least(redo, None, REDO_MB_S, "MB/s"));
        document.checks.push(Check::at_least(reading, None, OF_DEVICE, "x"));
        document.checks.push(Check::at_most(dip, None, DIP_MAX, ""));
        return Ok(());
    };
    let device = device(context)?;
    document.figures.insert("device_sequential".into(), Figure::new(&device, "MB/s"));
    let folder = context.folder.join("store");
    let records = context.settings.pick(4_000_000, 400_000);
    let store = kernel.create_store(&StoreSetup {
        folder,
        form: Form::Sealed,
        copies: 1,
        pool_bytes: POOL_BYTES,
        checkpoints: Checkpoints::OnlyWhenAsked,
        buffered: true,
    })?;
    let store = &*store;
    store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
    store.checkpoint()?;
    let rounds = context.settings.pick(7, 2);
    let nowhere = copies(store, None, rounds)?;
    let file = copies(store, Some(&context.folder.join("copies")), rounds)?;
    document.figures.insert("copy_to_nowhere".into(), Figure::new(&nowhere, "MB/s"));
    document.figures.insert("copy_to_a_file".into(), Figure::new(&file, "MB/s"));
    let of_device = Some(nowhere.median / device.median);
    document.checks.push(Check::at_least(reading, of_device, OF_DEVICE, "x"));

    let rate = recover(context, store, records, document)?;
    document.checks.push(Check::at_least(redo, Some(rate), REDO_MB_S, "MB/s"));

    store.checkpoint()?;
    let limit = (device.median * 1e6 / 2.0) as u64;
    let lost = beside(context, store, (records, limit), document)?;
    document.checks.push(Check::at_most(dip, lost, DIP_MAX, ""));
    Ok(())
}

/// What the device reads in a second by itself.
fn device(context: &Context) -> Result<Spread> {
    let bytes = context.settings.pick(1 << 30, 128 << 20);
    let files = RawFiles::prepare(context.folder.join("raw"), 1, bytes)?;
    let slice = context.settings.pick(Duration::from_secs(1), Duration::from_millis(200));
    let mut rates = Vec::new();
    for _ in 0..context.settings.pick(5, 2) {
        let begin = Instant::now();
        let work = files.read_sequentially(READERS, slice)?;
        rates.push(work.bytes as f64 / 1e6 / begin.elapsed().as_secs_f64());
    }
    Ok(Spread::of(rates))
}

/// Makes copies one after the other; megabytes a second.
fn copies(store: &dyn Store, to: Option<&Path>, rounds: usize) -> Result<Spread> {
    let mut rates = Vec::new();
    for round in 0..rounds {
        let path = to.map(|folder| folder.join(format!("{round}.copy")));
        let begin = Instant::now();
        let bytes = store.image_copy(path.as_deref(), 0)?;
        rates.push(bytes as f64 / 1e6 / begin.elapsed().as_secs_f64());
        // The newest one is what a recovery begins with.
        if let Some(path) = path.filter(|_| round + 1 < rounds) {
            std::fs::remove_file(&path).map_err(BenchError::system("remove", &path))?;
        }
    }
    Ok(Spread::of(rates))
}

/// Has updates write some log, and recovers. Redo in megabytes of log a second.
fn recover(
    context: &Context,
    store: &dyn Store,
    records: u64,
    document: &mut Document,
) -> Result<f64> {
    let wanted = context.settings.pick(400_u64 << 20, 20 << 20);
    let begun = store.durable().0;
    while store.durable().0 - begun < wanted {
        drive(store, records, IN_FLIGHT, Duration::from_millis(500))?;
    }
    let done = store.recover()?;
    let restore = done.copy_bytes as f64 / 1e6 / done.copy_seconds.max(1e-9);
    let redo = done.log_bytes as f64 / 1e6 / done.log_seconds.max(1e-9);
    document.figures.insert("restore_rate".into(), Figure::single(restore, "MB/s"));
    document.figures.insert("redo_rate".into(), Figure::single(redo, "MB/s"));
    document.figures.insert("last_step".into(), Figure::single(done.last_seconds, "s"));
    Ok(redo)
}

/// Updates beside copies, beside reads of the device that nothing is done with, and alone. What
/// part of their rate is lost beside copies.
fn beside(
    context: &Context,
    store: &dyn Store,
    (records, limit): (u64, u64),
    document: &mut Document,
) -> Result<Option<f64>> {
    let bytes = context.settings.pick(1 << 30, 128 << 20);
    let files = RawFiles::prepare(context.folder.join("raw"), 1, bytes)?;
    let update = |slice| drive(store, records, IN_FLIGHT, slice);
    let copied = Mutex::new(Vec::new());
    let mut entries = [
        Entry::new("updates", update),
        Entry::new("updates beside a copy", |slice| {
            let copy = |ended: &AtomicBool| -> Result<()> {
                while !ended.load(SeqCst) {
                    let begin = Instant::now();
                    let bytes = store.image_copy(None, limit)?;
                    let rate = bytes as f64 / 1e6 / begin.elapsed().as_secs_f64();
                    copied.lock().unwrap_or_else(PoisonError::into_inner).push(rate);
                }
                Ok(())
            };
            with_other_work(&copy, || update(slice))
        }),
        Entry::new("updates beside reads", |slice| {
            let read = |ended: &AtomicBool| files.read_at_rate(limit, ended).map(drop);
            with_other_work(&read, || update(slice))
        }),
    ];
    let settings = context.settings.with_slice(Duration::from_secs(2), Duration::from_millis(300));
    let tracks = interleave(&settings, &mut entries)?;
    drop(entries);
    let copied = Spread::of(copied.into_inner().unwrap_or_else(PoisonError::into_inner));
    document.figures.insert("copy_beside_updates".into(), Figure::new(&copied, "MB/s"));
    let found = ["updates", "updates beside a copy", "updates beside reads"]
        .map(|name| track(&tracks, name));
    let [Some(alone), Some(copy), Some(reads)] = found else { return Ok(None) };
    document.add_ours(alone, "_without_copy");
    document.add_ours(copy, "_beside_copy");
    document.add_ours(reads, "_beside_reads");
    let kept = ratio(copy, alone, Sample::rate);
    let by_reads = ratio(reads, alone, Sample::rate);
    document.figures.insert("rate_beside_copy_against_without".into(), Figure::new(&kept, "x"));
    document
        .figures
        .insert("rate_beside_reads_against_without".into(), Figure::new(&by_reads, "x"));
    Ok(Some(1.0 - kept.median))
}

/// Does `work` while `other` works in a thread of its own, until it is told to end.
fn with_other_work(
    other: &(impl Fn(&AtomicBool) -> Result<()> + Sync),
    work: impl FnOnce() -> Result<Work>,
) -> Result<Work> {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| other(&ended));
        let work = work();
        ended.store(true, SeqCst);
        let others = other.join();
        others.map_err(|_| BenchError::subject("holdfast", "copy", "it panicked"))??;
        work
    })
}
