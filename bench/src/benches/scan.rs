//! Random gets and scans through the store: in memory, and over data four times the pool.

use std::time::Duration;

use super::device::{PEER, SETTINGS};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Spread, Track, Work, interleave};
use crate::ours::{Checkpoints, Form, Kernel, Store, StoreSetup};
use crate::peers::{gets, scans};
use crate::raw::RawFiles;
use crate::workload;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "scan",
    title: "Gets and scans",
    about: "One caller. Random gets and forward scans of 100-byte records in memory, beside the \
            embedded peers; then a scan over a bulk-loaded data set four times its pool, against \
            the lower of the device's sequential rate and the scan in memory. Sealed.",
    takes: "4 minutes",
    run,
};

const GET_US_LIMIT: f64 = 1.0;
const SCAN_US_LIMIT: f64 = 0.1;
const LARGE_SHARE: f64 = 0.8;
/// The data set is this many times its pool.
const POOLS: u64 = 4;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let records = context.settings.pick(1_000_000, 100_000);
    let memory = in_memory(context, document, records)?;
    beyond_memory(context, document, memory.as_deref(), records)
}

fn create(
    context: &Context,
    kernel: &dyn Kernel,
    name: &str,
    records: u64,
    pool_bytes: u64,
) -> Result<Box<dyn Store>> {
    let folder = context.folder.join(name);
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
    let setup = StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true };
    let store = kernel.create_store(&setup)?;
    store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
    Ok(store)
}

fn get_ours(store: &dyn Store, records: u64, slice: Duration) -> Result<Work> {
    let mut session = store.session()?;
    gets(records, slice, |id| {
        let mut seen = 0;
        session.get(&workload::key(id), &mut |value| seen = u64::from(value[8]))?;
        Ok(seen)
    })
}

fn scan_ours(store: &dyn Store, slice: Duration) -> Result<Work> {
    let mut session = store.session()?;
    scans(slice, |see| session.scan(&workload::key(0), &mut |_, value| see(value)))
}

fn in_memory(
    context: &Context,
    document: &mut Document,
    records: u64,
) -> Result<Option<Box<dyn Store>>> {
    let pool_bytes = records * 400;
    let create = |kernel| create(context, kernel, "memory", records, pool_bytes);
    let store = context.kernel.map(create).transpose()?;
    let embedded = context.embedded(records)?;
    document.describe_embedded(&embedded);
    let operations = [("get", false, GET_US_LIMIT), ("scan", true, SCAN_US_LIMIT)];
    for (operation, scans, limit) in operations {
        eprintln!("  {operation} in memory");
        let mut entries = Vec::new();
        if let Some(store) = &store {
            entries.push(Entry::new("Holdfast", move |slice| match scans {
                true => scan_ours(&**store, slice),
                false => get_ours(&**store, records, slice),
            }));
        }
        for peer in &embedded.open {
            let run = move |slice| if scans { peer.scan(slice) } else { peer.get(slice) };
            entries.push(Entry::new(peer.name(), run));
        }
        let tracks = interleave(&context.settings, &mut entries)?;
        let title = format!("CPU for a record, {operation} in memory");
        let mut plot = PlotBuilder::new(&title, "us", Shape::Bars, "");
        plot.column("");
        plot.tracks(&tracks, Sample::cpu_us);
        plot.finish(document);
        for track in &tracks {
            match track.name.as_str() {
                "Holdfast" => document.add_ours(track, &format!("_{operation}")),
                peer => document.add_peer(peer, track, &format!("_{operation}")),
            }
        }
        let value = track(&tracks, "Holdfast").map(|ours| ours.spread(Sample::cpu_us).median);
        let name = format!("{operation} of a record in memory, CPU");
        document.checks.push(Check::at_most(&name, value, limit, "us"));
    }
    Ok(store)
}

fn beyond_memory(
    context: &Context,
    document: &mut Document,
    memory: Option<&dyn Store>,
    records: u64,
) -> Result<()> {
    let pool_bytes: u64 = context.settings.pick(256 << 20, 16 << 20);
    let settings = context.settings.with_slice(Duration::from_secs(2), Duration::from_millis(200));
    let file_bytes = POOLS * pool_bytes;
    let files = RawFiles::prepare(context.folder.join("files"), 1, file_bytes)?;
    document.describe_peer(PEER, "", SETTINGS);
    let large_records = POOLS * pool_bytes / workload::RECORD_BYTES as u64;
    let create = |kernel| create(context, kernel, "large", large_records, pool_bytes);
    let large = context.kernel.map(create).transpose()?;
    eprintln!("  scan of {large_records} records beyond the pool ({records} in memory)");

    let mut entries = Vec::new();
    if let (Some(large), Some(memory)) = (&large, memory) {
        entries.push(Entry::new(LARGE, move |slice| scan_ours(&**large, slice)));
        entries.push(Entry::new(MEMORY, move |slice| scan_ours(memory, slice)));
    }
    for readers in READERS {
        let files = &files;
        entries.push(Entry::new(reader_name(readers), move |slice| {
            files.read_sequentially(readers, slice)
        }));
    }
    let tracks = interleave(&settings, &mut entries)?;
    let mut plot = PlotBuilder::new("Scan over four times the pool", "MB/s", Shape::Bars, "");
    plot.column("");
    plot.tracks(&tracks, Sample::megabytes_per_second);
    plot.finish(document);
    for readers in READERS {
        if let Some(track) = track(&tracks, &reader_name(readers)) {
            document.add_peer(PEER, track, &format!("_read_1m_{readers}_outstanding"));
        }
    }
    let share = share_of_lower(&tracks);
    if let (Some(share), Some(large)) = (&share, track(&tracks, LARGE)) {
        document.add_ours(large, "_scan_beyond_pool");
        document.figures.insert("scan_share_of_lower".into(), Figure::new(share, "x"));
    }
    let name = "scan beyond the pool against the lower of device and memory";
    let value = share.map(|share| share.median);
    document.checks.push(Check::at_least(name, value, LARGE_SHARE, "x"));
    Ok(())
}

pub(super) const LARGE: &str = "Holdfast, beyond the pool";
pub(super) const MEMORY: &str = "Holdfast, in memory";
pub(super) const READERS: [usize; 3] = [1, 2, 4];

pub(super) fn reader_name(readers: usize) -> String {
    format!("device, {readers} outstanding")
}

/// In each round: the large scan over min(scan in memory, best sequential read).
pub(super) fn share_of_lower(tracks: &[Track]) -> Option<Spread> {
    let (large, memory) = (track(tracks, LARGE)?, track(tracks, MEMORY)?);
    let readers: Vec<&Track> =
        READERS.iter().filter_map(|readers| track(tracks, &reader_name(*readers))).collect();
    let shares = (0..large.samples.len()).map(|round| {
        let rate = |track: &Track| track.samples[round].megabytes_per_second();
        let device = readers.iter().map(|reader| rate(reader)).fold(0.0, f64::max);
        rate(large) / rate(memory).min(device)
    });
    Some(Spread::of(shares.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> Box<dyn Store> {
        let store = crate::fake::FakeStore::default();
        let mut records = (0..10_000).map(|id| (workload::key(id), workload::value(id)));
        store.load(&mut records).unwrap();
        Box::new(store)
    }

    #[test]
    fn gets_and_scans_are_counted_in_records_of_100_bytes() {
        let slice = Duration::from_millis(5);
        for work in [get_ours(&*store(), 10_000, slice), scan_ours(&*store(), slice)] {
            let work = work.unwrap();
            assert!(work.operations > 0);
            assert_eq!(work.bytes, work.operations * 100);
        }
    }

    #[test]
    fn the_share_is_of_the_lower_of_memory_and_the_best_reader() {
        let fixed = |name: &str, megabytes: u64| {
            let work = Work { bytes: megabytes * 1_000_000, ..Work::default() };
            let (seconds, cpu_seconds, neighbours) = (1.0, 1.0, 0.0);
            let sample = Sample { work, seconds, cpu_seconds, neighbours };
            Track { name: name.into(), samples: vec![sample] }
        };
        let mut tracks = vec![fixed(LARGE, 800), fixed(MEMORY, 3_000)];
        tracks.push(fixed(&reader_name(1), 500));
        tracks.push(fixed(&reader_name(4), 1_000));
        assert_eq!(share_of_lower(&tracks).unwrap().median, 0.8);
        tracks[1] = fixed(MEMORY, 900);
        assert_eq!(share_of_lower(&tracks).unwrap().median, 800.0 / 900.0);
        assert!(share_of_lower(&tracks[1..]).is_none());
    }
}
