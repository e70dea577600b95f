//! What the log writes a second, beside the same writes to the raw device.

use std::time::Duration;

use super::device::{PEER, SETTINGS};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::Result;
use crate::harness::{Entry, Sample, Settings, Track, Work, interleave, ratio};
use crate::ours::{Form, Kernel, Log, LogSetup};
use crate::raw::{GROUP_BYTES, RawFiles};
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "log",
    title: "The log",
    about: "Transactions of 25, 50 and 74 KB, sealed, two copies, 1 to 8 stripes, against raw \
            writes of 256 KiB to as many files with the same flags. Both count the bytes of one \
            copy. The raw side has a thread for every file and never waits for another file.",
    takes: "6 minutes",
    run,
};

const COPIES: usize = 2;
/// A transaction's log comes in records of at most this size.
const RECORD_BYTES: usize = 8 << 10;
/// Share of the raw device's rate that the log has to reach.
const SHARE: f64 = 0.9;
/// Megabytes a second to exceed where the device allows it.
const RATE_MB_S: f64 = 350.0;

/// Published rates of a striped mainframe log, MB/s: stripes (0 means none), then 25, 50, 74 KB.
const PUBLISHED: &[(usize, [f64; 3])] = &[
    (1, [156.0, 155.0, 154.0]),
    (2, [244.0, 238.0, 228.0]),
    (4, [280.0, 289.0, 277.0]),
    (6, [309.0, 323.0, 329.0]),
];
const PUBLISHED_NAME: &str = "IMS 12 logger, published";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(600), Duration::from_millis(100));
    let file_bytes = settings.pick(256 << 20, 32 << 20);
    let kilobytes: &[usize] = settings.pick(&[25, 50, 74], &[50]);
    let stripes: &[usize] = settings.pick(&[1, 2, 4, 8], &[1, 4]);
    document.describe_peer(PEER, "", SETTINGS);
    let mut worst: Option<f64> = None;
    let (mut best, mut best_raw) = (None, 0.0_f64);
    for (column, size) in kilobytes.iter().enumerate() {
        let title = format!("Transactions of {size} KB");
        let mut plot = PlotBuilder::new(&title, "MB/s", Shape::Lines, "stripes");
        for count in stripes {
            let tracks = one(context, &settings, *size, *count, file_bytes)?;
            let suffix = format!("_{size}kb_{count}_stripes");
            plot.column(count.to_string());
            plot.tracks(&tracks, Sample::megabytes_per_second);
            if let Some((_, rates)) = PUBLISHED.iter().find(|(of, _)| of == count) {
                let at = if settings.quick { 1 } else { column };
                plot.value(PUBLISHED_NAME, rates[at], None);
            }
            let raw = track(&tracks, PEER);
            if let Some(raw) = raw {
                document.add_peer(PEER, raw, &suffix);
                best_raw = best_raw.max(raw.spread(Sample::megabytes_per_second).median);
            }
            if let (Some(raw), Some(ours)) = (raw, track(&tracks, "Holdfast")) {
                document.add_ours(ours, &suffix);
                let share = ratio(ours, raw, Sample::megabytes_per_second);
                let name = format!("share_of_raw{suffix}");
                document.figures.insert(name, Figure::new(&share, "x"));
                worst = Some(worst.map_or(share.median, |worst| worst.min(share.median)));
                let rate = ours.spread(Sample::megabytes_per_second).median;
                best = Some(best.map_or(rate, |best: f64| best.max(rate)));
            }
        }
        plot.finish(document);
    }
    add_checks(document, worst, best, best_raw);
    Ok(())
}

fn add_checks(document: &mut Document, worst: Option<f64>, best: Option<f64>, best_raw: f64) {
    let name = "sealed dual log against raw writes, worst of all sizes and stripes";
    document.checks.push(Check::at_least(name, worst, SHARE, "x"));
    let name = "sealed dual log, best of all sizes and stripes";
    let mut check = Check::at_least(name, best, RATE_MB_S, "MB/s");
    if best_raw * SHARE < RATE_MB_S {
        let note = format!("the raw device gives {best_raw:.0} MB/s and so does not allow it");
        check = check.noted(note);
        check.holds = best.is_some();
    }
    document.checks.push(check);
}

fn one(
    context: &Context,
    settings: &Settings,
    kilobytes: usize,
    stripes: usize,
    file_bytes: u64,
) -> Result<Vec<Track>> {
    eprintln!("  {kilobytes} KB, {stripes} stripes");
    let folder = context.folder.join(format!("raw-{kilobytes}-{stripes}"));
    let files = RawFiles::prepare(folder, stripes * COPIES, file_bytes)?;
    let log = context.kernel.map(|kernel| create(context, kernel, stripes, file_bytes));
    let log = log.transpose()?;
    let mut entries = Vec::new();
    if let Some(log) = &log {
        let transaction = kilobytes * 1000;
        entries.push(Entry::new("Holdfast", move |slice| append(&**log, transaction, slice)));
    }
    entries.push(Entry::new(PEER, |slice| {
        let mut work = files.write(stripes * COPIES, GROUP_BYTES, slice)?;
        work.bytes /= COPIES as u64;
        work.operations = work.bytes / (kilobytes as u64 * 1000);
        Ok(work)
    }));
    let tracks = interleave(settings, &mut entries)?;
    drop(entries);
    drop(log);
    let _ = std::fs::remove_dir_all(context.folder.join("log"));
    Ok(tracks)
}

fn create(
    context: &Context,
    kernel: &dyn Kernel,
    stripes: usize,
    file_bytes: u64,
) -> Result<Box<dyn Log>> {
    let folder = context.folder.join("log");
    std::fs::create_dir_all(&folder)
        .map_err(crate::error::BenchError::system("create", &folder))?;
    let form = Form::Sealed;
    kernel.create_log(&LogSetup { folder, stripes, copies: COPIES, form, file_bytes })
}

/// Appends transactions as fast as the log takes them; counts only what became durable.
fn append(log: &dyn Log, transaction_bytes: usize, slice: Duration) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let mut record = vec![0; RECORD_BYTES];
    Random::new(5).fill(&mut record);
    let mut operations = 0;
    let mut last = None;
    deadline.until(|| {
        let mut left = transaction_bytes;
        while left > 0 {
            let length = left.min(RECORD_BYTES);
            last = Some(log.append(&record[..length])?);
            left -= length;
        }
        operations += 1;
        Ok(())
    })?;
    if let Some(last) = last {
        log.wait_durable(last)?;
    }
    Ok(Work { operations, bytes: operations * transaction_bytes as u64, latency: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::tests::empty_document;
    use crate::fake::FakeLog;
    use crate::ours::Position;

    #[test]
    fn what_is_counted_was_appended_and_is_durable() {
        let log = FakeLog::default();
        let work = append(&log, 25_000, Duration::from_millis(5)).unwrap();
        assert!(work.operations > 0);
        assert_eq!(work.bytes, work.operations * 25_000);
        assert_eq!(log.append(&[]).unwrap(), Position(work.bytes));
    }

    #[test]
    fn a_slow_device_excuses_the_rate_but_not_the_share() {
        let mut document = empty_document();
        add_checks(&mut document, Some(0.95), Some(190.0), 200.0);
        assert!(document.checks.iter().all(|check| check.holds));
        let mut document = empty_document();
        add_checks(&mut document, Some(0.5), Some(340.0), 680.0);
        assert!(document.checks.iter().all(|check| !check.holds));
        let mut document = empty_document();
        add_checks(&mut document, None, None, 200.0);
        assert!(document.checks.iter().all(|check| !check.holds));
    }
}
