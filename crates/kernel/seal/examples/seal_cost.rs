//! What sealing and opening costs beside the cipher alone.
//!
//! ```text
//! cargo run --release -p holdfast-seal --example seal_cost
//! ```
//!
//! Prints nanoseconds a block: the best and the median of 31 rounds, in which the variants take
//! turns, so that a busy machine slows all of them alike.

#![allow(clippy::unwrap_used)] // what fails here ends the measurement

use std::hint::black_box;
use std::sync::Arc;

use base::{CiNumber, DataSetId, KeyGeneration, SystemId};
use holdfast_seal::{Format, Gcm, NONCE_BYTES, PageSealer, TRAILER_BYTES, TestKeys};
use seam::Seam;
use seam::clock::Clock;

const ROUNDS: usize = 31;
const BLOCKS: u32 = 2_000;

fn main() {
    let seam = Seam::real();
    for unit_bytes in [4096, 32768] {
        let mut variants = variants(&seam, unit_bytes);
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); variants.len()];
        for _ in 0..ROUNDS {
            for ((_, run), times) in variants.iter_mut().zip(&mut times) {
                times.push(nanoseconds(seam.clock.as_ref(), run));
            }
        }
        for ((name, _), times) in variants.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            let (best, median) = (times[0], times[ROUNDS / 2]);
            println!("{unit_bytes:6} bytes  {name:34} best {best:7.0} ns  median {median:7.0} ns");
        }
    }
}

type Run = Box<dyn FnMut(u32)>;

fn variants(seam: &Seam, unit_bytes: usize) -> Vec<(&'static str, Run)> {
    let raw = Arc::new(Gcm::new(&[7; 32]).unwrap());
    let nonce = |number: u32| {
        let mut nonce = [0; NONCE_BYTES];
        nonce[..4].copy_from_slice(&number.to_le_bytes());
        nonce
    };
    let body = unit_bytes - TRAILER_BYTES;
    let associated = [1; 60];

    let (key, mut block) = (Arc::clone(&raw), vec![1; body]);
    let raw_seal: Run = Box::new(move |number| {
        black_box(key.seal(nonce(number), &associated, &mut block));
    });
    let (key, sealed) = (raw, vec![1; body]);
    let mut block = sealed.clone();
    let tag = key.seal(nonce(0), &associated, &mut block);
    let (sealed, mut block) = (block, sealed);
    let raw_open: Run = Box::new(move |_| {
        block.copy_from_slice(&sealed);
        assert!(key.open(nonce(0), &associated, &mut block, &tag));
    });
    let mut list =
        vec![("cipher alone, seal", raw_seal), ("cipher alone, copy and open", raw_open)];
    for (format, seal, open) in [
        (Format::Sealed, "page sealer, seal", "page sealer, copy and open"),
        (Format::Plain, "page sealer, plain, checksum", "page sealer, plain, copy and check"),
    ] {
        let sealer = Arc::new(sealer(seam, format));
        let mut page = vec![1; unit_bytes];
        sealer.seal(CiNumber(1), &mut page).unwrap();
        list.push((open, opening(Arc::clone(&sealer), page.clone())));
        let seal_run = Box::new(move |number| {
            black_box(sealer.seal(CiNumber(number), &mut page).unwrap());
        });
        list.push((seal, seal_run));
    }
    // As after a restart: the page was sealed by an earlier open.
    let mut page = vec![1; unit_bytes];
    sealer(seam, Format::Sealed).seal(CiNumber(1), &mut page).unwrap();
    let reader = Arc::new(sealer(seam, Format::Sealed));
    list.push(("page sealer, copy and open earlier", opening(reader, page)));
    list
}

fn opening(sealer: Arc<PageSealer>, sealed: Vec<u8>) -> Run {
    let mut page = sealed.clone();
    Box::new(move |_| {
        page.copy_from_slice(&sealed);
        black_box(sealer.open(CiNumber(1), &mut page).unwrap());
    })
}

fn sealer(seam: &Seam, format: Format) -> PageSealer {
    let keys = Arc::new(TestKeys::new(1));
    let entropy = Arc::clone(&seam.entropy);
    let (system, set) = (SystemId([1; 16]), DataSetId(1));
    PageSealer::new(keys, entropy, system, set, "LABEL", format, KeyGeneration(1))
}

fn nanoseconds(clock: &dyn Clock, run: &mut Run) -> f64 {
    let start = clock.monotonic();
    (0..BLOCKS).for_each(run);
    (clock.monotonic() - start).as_nanos() as f64 / f64::from(BLOCKS)
}
