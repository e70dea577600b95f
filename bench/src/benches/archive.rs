//! What archiving costs the log: the same records with and without an archive.
//!
//! Both sides write a sealed log in two copies. One has an archiver beside it that writes every
//! full segment to two folders; its slice ends when nothing waits to be archived any more, so that
//! its CPU time is that of all four copies.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::archive::{ArchiveCatalog, ArchiveConfig, ArchiveEnv, Archiver, NoRegistry};
use base::{GroupNumber, Lsn, SystemId, UowId};
use seal::{Format, TestKeys};
use seam::Seam;
use wal::{Log, LogConfig, LogEnv, LogError, LogStart};

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::kernel::NoEvents;
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "archive",
    title: "The archive",
    about: "Records of 300 bytes and of 8 KiB, sealed, two copies of the log: alone, with an \
            archive in two folders on the same device, and with a compressed one. The CPU time is \
            that of the whole process until nothing waits to be archived.",
    takes: "3 minutes",
    run,
};

const SYSTEM: SystemId = SystemId(*b"holdfast archive");
/// CPU time for a megabyte of records in two log copies and two archives, in microseconds.
const CPU_US_A_MB: f64 = 600.0;
/// CPU time that archiving may add.
const SHARE: f64 = 1.08;
/// Rate of the log beside its archive, of what it has alone, where the device allows it.
const RATE: f64 = 0.9;

const ALONE: &str = "log alone";
const ARCHIVED: &str = "log and archive";
const COMPRESSED: &str = "log and compressed archive";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(800), Duration::from_millis(200));
    if context.kernel.is_none() {
        return Ok(());
    }
    let mut plot = PlotBuilder::new("CPU time", "us a MB", Shape::Bars, "bytes of a record");
    let sizes: &[usize] = settings.pick(&[300, 8 << 10], &[8 << 10]);
    for size in sizes {
        eprintln!("  records of {size} bytes");
        let folder = |name: &str| context.folder.join(format!("{name}-{size}"));
        let plans = [(ALONE, None), (ARCHIVED, Some(None)), (COMPRESSED, Some(Some(1)))];
        let sides = plans.map(|(name, archive)| Ok((name, Side::new(&folder(name), archive)?)));
        let sides = sides.into_iter().collect::<Result<Vec<_>>>()?;
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (name, side) in &sides {
            entries.push(Entry::new(*name, move |slice| side.write(*size, slice)));
        }
        let tracks = interleave(&settings, &mut entries)?;
        drop(entries);
        plot.column(size.to_string());
        plot.tracks(&tracks, cpu_a_megabyte);
        judge(document, *size, &tracks);
    }
    plot.finish(document);
    Ok(())
}

fn cpu_a_megabyte(sample: &Sample) -> f64 {
    sample.cpu_seconds * 1e6 / (sample.work.bytes as f64 / 1e6)
}

fn judge(document: &mut Document, size: usize, tracks: &[crate::harness::Track]) {
    let (Some(alone), Some(archived)) = (track(tracks, ALONE), track(tracks, ARCHIVED)) else {
        return;
    };
    for one in tracks {
        let suffix = format!("_{}_{size}", one.name.replace(' ', "_"));
        document.add_ours(one, &suffix);
        let name = format!("cpu_a_mb{suffix}");
        document.figures.insert(name, Figure::new(&one.spread(cpu_a_megabyte), "us"));
    }
    let cpu = archived.spread(cpu_a_megabyte).median;
    let share = ratio(archived, alone, cpu_a_megabyte).median;
    let rate = ratio(archived, alone, Sample::megabytes_per_second).median;
    let of = format!("records of {size} bytes");
    let checks = &mut document.checks;
    let name = format!("two sealed log copies and two archives, {of}");
    checks.push(Check::at_most(&name, Some(cpu), CPU_US_A_MB, "us a MB"));
    let name = format!("CPU time with the archive of that without, {of}");
    checks.push(Check::at_most(&name, Some(share), SHARE, "x"));
    let name = format!("rate with the archive of that without, {of}");
    let note = "log and archive share one device here, which writes twice as much";
    checks.push(Check::at_least(&name, Some(rate), RATE, "x").noted(note));
}

/// A log, alone or with its archive.
struct Side {
    log: Arc<Log>,
    archiver: Option<Archiver>,
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::subject("Holdfast", "archive", error.to_string())
}

impl Side {
    fn new(folder: &Path, archive: Option<Option<i32>>) -> Result<Side> {
        let folders = |name: &str| (1..=2).map(|n| folder.join(format!("{name}-{n}"))).collect();
        let config = LogConfig {
            segment_bytes: 32 << 20,
            segments_min: 4,
            segments_max: 8,
            ..LogConfig::new(folders("log"))
        };
        let (seam, keys) = (Seam::real(), Arc::new(TestKeys::new(1)));
        let env = LogEnv {
            seam: seam.clone(),
            keys: Arc::<TestKeys>::clone(&keys),
            system: SYSTEM,
            stop: Arc::default(),
            events: Arc::new(NoEvents),
        };
        Log::create(&env, &config).map_err(failed)?;
        let waits = archive.map_or(LogStart::NO_ARCHIVE, |_| GroupNumber(1));
        let start = LogStart { archived: waits, ..LogStart::NEW };
        let (log, _) = Log::open(env, config, start).map_err(failed)?;
        let Some(compress) = archive else { return Ok(Side { log, archiver: None }) };
        let env = ArchiveEnv {
            seam,
            keys,
            system: SYSTEM,
            key_label: "log".into(),
            format: Format::Sealed,
            plain: wal::PlainSpan::NONE,
            dated: |_| None,
        };
        let config = ArchiveConfig { compress, ..ArchiveConfig::new(folders("archive")) };
        let catalog = ArchiveCatalog::open(env, config).map_err(failed)?;
        catalog.prepare().map_err(failed)?;
        let archiver = Archiver::start(Arc::new(catalog), Arc::clone(&log), Arc::new(NoRegistry));
        Ok(Side { log, archiver: Some(archiver.map_err(failed)?) })
    }

    /// Appends records as fast as the log takes them; ends when all is durable and archived.
    fn write(&self, size: usize, slice: Duration) -> Result<Work> {
        self.forget_archives();
        let deadline = Deadline::after(slice);
        // Half of it compresses.
        let mut record = vec![7; size];
        Random::new(5).fill(&mut record[..size / 2]);
        let begun = self.log.next_lsn();
        let mut operations = 0;
        deadline.until(|| {
            self.log.truncate(self.log.durable());
            match self.log.append(200, 0, UowId::NONE, Lsn::NONE, &[&record]) {
                Ok(_) => operations += 1,
                Err(LogError::Full { .. } | LogError::ArchiveBehind { .. }) => {
                    std::thread::sleep(Duration::from_millis(3));
                }
                Err(error) => return Err(failed(error)),
            }
            Ok(())
        })?;
        let end = self.log.next_lsn();
        self.log.wait_durable(end).map_err(failed)?;
        while self.log.to_archive(false).is_some() {
            std::thread::sleep(Duration::from_millis(3));
        }
        Ok(Work { operations, bytes: end.0 - begun.0, latency: None })
    }

    /// The device is not for keeping what nobody reads.
    fn forget_archives(&self) {
        let list = self.archiver.iter().flat_map(|archiver| archiver.catalog().list());
        for path in list.flat_map(|copy| copy.files) {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.archiver.iter().for_each(Archiver::end);
        let _ = self.log.close();
    }
}
