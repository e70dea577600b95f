//! What the device gives before anybody logs, seals or pools: the ceiling of everything else.

use std::time::Duration;

use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Document, Shape};
use crate::error::Result;
use crate::harness::{Entry, Sample, interleave};
use crate::raw::{GROUP_BYTES, RawFiles};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "device",
    title: "The raw device",
    about: "Durable writes (O_DIRECT|O_DSYNC) of 4 KiB to 1 MiB into one preallocated, prewritten \
            file, 256 KiB into 1 to 16 files at once, and sequential direct reads. It promises \
            nothing; everything else is read against it.",
    takes: "1 minute",
    run,
};

/// The name under which the device stands among the peers.
pub(crate) const PEER: &str = "raw device";
/// What was measured, for the peer's entry.
pub(crate) const SETTINGS: &str = "O_DIRECT|O_DSYNC writes and O_DIRECT reads by plain system \
                                   calls, one thread a file; preallocated, prewritten files";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(300), Duration::from_millis(60));
    let file_bytes = settings.pick(256 << 20, 32 << 20);
    let files = RawFiles::prepare(context.folder.join("files"), 16, file_bytes)?;
    document.describe_peer(PEER, "", SETTINGS);

    let blocks = [4 << 10, 16 << 10, 64 << 10, GROUP_BYTES, 1 << 20];
    let mut throughput =
        PlotBuilder::new("Durable writes, one file", "MB/s", Shape::Lines, "block");
    let mut latency = PlotBuilder::new("Time of a durable write", "us", Shape::Lines, "block");
    for block in blocks {
        let mut entries = [Entry::new("write", |slice| files.write(1, block, slice))];
        let tracks = interleave(&settings, &mut entries)?;
        let label = format!("{} KiB", block / 1024);
        document.add_peer(PEER, &tracks[0], &format!("_write_{}k_1_file", block / 1024));
        throughput.column(label.clone());
        throughput.tracks(&tracks, Sample::megabytes_per_second);
        latency.column(label);
        for (name, of) in [("p50", 0), ("p99", 1)] {
            let spread = tracks[0].latency_us(|times| [times.p50, times.p99][of]);
            if let Some(spread) = spread {
                let quartiles = [spread.first_quartile, spread.third_quartile];
                latency.value(name, spread.median, Some(quartiles));
            }
        }
    }
    throughput.finish(document);
    latency.finish(document);

    let mut many = PlotBuilder::new("256 KiB groups, files at once", "MB/s", Shape::Lines, "files");
    for count in [1, 2, 4, 8, 16] {
        let mut entries = [Entry::new("write", |slice| files.write(count, GROUP_BYTES, slice))];
        let tracks = interleave(&settings, &mut entries)?;
        document.add_peer(PEER, &tracks[0], &format!("_write_256k_{count}_files"));
        many.column(count.to_string());
        many.tracks(&tracks, Sample::megabytes_per_second);
    }
    many.finish(document);

    let mut reads =
        PlotBuilder::new("Sequential reads of 1 MiB", "MB/s", Shape::Lines, "outstanding");
    for readers in [1, 2, 4, 8] {
        let mut entries = [Entry::new("read", |slice| files.read_sequentially(readers, slice))];
        let tracks = interleave(&settings, &mut entries)?;
        document.add_peer(PEER, &tracks[0], &format!("_read_1m_{readers}_outstanding"));
        reads.column(readers.to_string());
        reads.tracks(&tracks, Sample::megabytes_per_second);
    }
    reads.finish(document);
    Ok(())
}
