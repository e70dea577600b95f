//! The price of sealing a 4 KiB block, beside the cipher library called alone.

use ::seal::{Gcm, NONCE_BYTES, TAG_BYTES};

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::ours::Sealer;
use crate::raw::AlignedBuffer;
use crate::workload::Deadline;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "seal",
    title: "Sealing a 4 KiB block",
    about: "AES-256-GCM over a 4 KiB block in place, bound to its place: Holdfast's seal and open \
            against the cipher library alone (aws-lc-rs or ring, whichever is faster on this \
            processor) with 24 bytes of associated data. An opened block is copied first, on both \
            sides, because opening uses it up.",
    takes: "40 seconds",
    run,
};

const PEER: &str = "the cipher library alone";
const BLOCK_BYTES: usize = 4096;
const BLOCKS_PER_GLANCE: u64 = 512;
/// How much dearer than the library alone sealing may be.
const LIMIT: f64 = 1.25;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let mut sealers: Vec<(&str, Box<dyn Sealer>)> = vec![(PEER, Box::new(Alone::new()?))];
    if let Some(kernel) = context.kernel {
        sealers.insert(0, ("Holdfast", kernel.sealer()?));
    }
    let versions = "aws-lc-rs 1.19 or ring 0.17";
    document.describe_peer(PEER, versions, "one key, counter nonces, in place");
    let mut plot = PlotBuilder::new("CPU for a 4 KiB block", "us", Shape::Bars, "");
    for (operation, opens) in [("seal", false), ("open", true)] {
        let mut entries: Vec<Entry<'_>> = sealers
            .iter_mut()
            .map(|(name, sealer)| Entry::new(*name, move |slice| work(&mut **sealer, opens, slice)))
            .collect();
        let tracks = interleave(&context.settings, &mut entries)?;
        plot.column(operation);
        plot.tracks(&tracks, Sample::cpu_us);
        document.add_peer(PEER, &tracks[tracks.len() - 1], &format!("_{operation}"));
        let mut value = None;
        if let (Some(ours), Some(alone)) = (track(&tracks, "Holdfast"), track(&tracks, PEER)) {
            let spread = ratio(ours, alone, Sample::cpu_us);
            document.add_ours(ours, &format!("_{operation}"));
            let name = format!("{operation}_against_alone");
            document.figures.insert(name, Figure::new(&spread, "x"));
            value = Some(spread.median);
        }
        let name = format!("{operation} of 4 KiB against {PEER}, CPU");
        document.checks.push(Check::at_most(&name, value, LIMIT, "x"));
    }
    plot.finish(document);
    Ok(())
}

fn work(sealer: &mut dyn Sealer, opens: bool, slice: std::time::Duration) -> Result<Work> {
    let deadline = Deadline::after(slice);
    let mut block = AlignedBuffer::random(BLOCK_BYTES, 1);
    let mut sealed = AlignedBuffer::random(BLOCK_BYTES, 2);
    sealer.seal(0, sealed.bytes_mut())?;
    let mut operations = 0;
    deadline.until(|| {
        for place in 0..BLOCKS_PER_GLANCE {
            if opens {
                block.bytes_mut().copy_from_slice(sealed.bytes());
                sealer.open(0, block.bytes_mut())?;
            } else {
                sealer.seal(place, block.bytes_mut())?;
            }
        }
        operations += BLOCKS_PER_GLANCE;
        Ok(())
    })?;
    std::hint::black_box(block.bytes());
    Ok(Work { operations, bytes: operations * BLOCK_BYTES as u64, latency: None })
}

/// The cipher with nothing around it; the last 16 bytes of the block take the tag.
struct Alone {
    key: Gcm,
    counter: u64,
    sealed_with: u64,
}

impl Alone {
    fn new() -> Result<Alone> {
        let key = Gcm::new(&[7; 32]).ok_or_else(|| refused("make a key"))?;
        Ok(Alone { key, counter: 0, sealed_with: 0 })
    }
}

impl Sealer for Alone {
    fn seal(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        self.counter += 1;
        self.sealed_with = self.counter;
        let (payload, tag_room) = block.split_at_mut(BLOCK_BYTES - TAG_BYTES);
        tag_room.copy_from_slice(&self.key.seal(nonce(self.counter), &associated(place), payload));
        Ok(())
    }

    fn open(&mut self, place: u64, block: &mut [u8]) -> Result<()> {
        let (payload, tag) = block.split_at_mut(BLOCK_BYTES - TAG_BYTES);
        let tag = (&*tag).try_into().map_err(|_| refused("open"))?;
        let is_good = self.key.open(nonce(self.sealed_with), &associated(place), payload, tag);
        is_good.then_some(()).ok_or_else(|| refused("open"))
    }
}

fn refused(action: &'static str) -> BenchError {
    BenchError::subject(PEER, action, "the library gives no reason")
}

fn nonce(counter: u64) -> [u8; NONCE_BYTES] {
    let mut bytes = [0; NONCE_BYTES];
    bytes[4..].copy_from_slice(&counter.to_be_bytes());
    bytes
}

fn associated(place: u64) -> [u8; 24] {
    let mut bytes = [1; 24];
    bytes[..8].copy_from_slice(&place.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::tests::{context, empty_document};

    #[test]
    fn a_kernel_is_measured_against_the_library() {
        let mut document = empty_document();
        run(&context("seal"), &mut document).unwrap();
        assert_eq!(document.checks.len(), 2);
        assert!(document.checks.iter().all(|check| check.value.is_some()));
        assert!(document.figures.contains_key("cpu_per_operation_open"));
        assert!(document.peers[PEER].figures.contains_key("cpu_per_operation_seal"));
    }

    #[test]
    fn the_library_alone_opens_what_it_sealed_and_nothing_else() {
        let mut alone = Alone::new().unwrap();
        let mut block = AlignedBuffer::random(BLOCK_BYTES, 3);
        let before = block.bytes().to_vec();
        alone.seal(9, block.bytes_mut()).unwrap();
        let mut moved = block.bytes().to_vec();
        assert!(alone.open(8, &mut moved).is_err());
        alone.open(9, block.bytes_mut()).unwrap();
        let payload = BLOCK_BYTES - TAG_BYTES;
        assert_eq!(block.bytes()[..payload], before[..payload]);
    }
}
