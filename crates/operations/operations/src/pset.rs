//! The PSET report: what the queue manager's page sets have had read and written, and what sealing
//! adds to that or would add.
//!
//! A page set is a data set of the queue manager. Its pages are counted since the system was
//! started: read (GET) and written. Why pages were written is known of their pool: for checkpoints,
//! so that a restart has little to redo; because too large a share of the pool held changes; or
//! immediately, because a thread waited for a frame.
//!
//! Invariants:
//! 1. The cost of a page is measured when the report is made, on the machine it is made on: a page
//!    of the pool's size is sealed and opened, and checked in clear, with a key of the page set's.
//! 2. Sealing costs a page that is written immediately what it costs any other: both are sealed
//!    alone, one by one, by the page writer.

use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, KeyGeneration};
use seal::{Format, KeyProvider, PageSealer, SealError};
use serde::{Deserialize, Serialize};
use system::{System, SystemError};

use crate::Result;

/// What the names of the queue manager's data sets begin with.
const PREFIX: &str = "HOLDFAST.MQ.";
/// Pages that each measurement takes at once, and how often it is made: the least counts.
const PAGES: u32 = 64;
const TIMES: u32 = 9;
/// No data set has this number: what is sealed for a measurement fits nowhere.
const NOWHERE: DataSetId = DataSetId(u32::MAX);

/// A request for the report.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PsetRequest {}

/// The report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pset {
    /// The page sets, in the order of their names.
    pub page_sets: Vec<PageSet>,
    /// The pools that they are in.
    pub pools: Vec<PagePool>,
}

/// A page set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageSet {
    /// Its name.
    pub name: String,
    /// The pool of its pages.
    pub pool: String,
    /// Pages on disk.
    pub pages: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// Whether its pages are sealed.
    pub sealed: bool,
    /// Pages written.
    pub pages_written: u64,
    /// Input operations.
    pub get_requests: u64,
    /// Pages that they brought.
    pub pages_got: u64,
    /// Microseconds of CPU that sealing adds to what was counted, or would add.
    pub sealing_us: f64,
}

/// A pool with page sets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PagePool {
    /// Its name.
    pub name: String,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages written for checkpoints, and so that a restart has little to redo.
    pub written_in_checkpoint: u64,
    /// Pages written because too large a share of the pool held changes.
    pub written_not_in_checkpoint: u64,
    /// Pages written because a thread waited for a frame.
    pub written_immediately: u64,
    /// Microseconds of CPU that sealing adds to a page that is read.
    pub get_us: f64,
    /// Microseconds of CPU that sealing adds to a page that is written, immediately or not.
    pub write_us: f64,
}

/// Makes the report.
///
/// # Errors
/// If the key of a page set is not to be had.
pub fn report(system: &System) -> Result<Pset> {
    let kernel = system.kernel();
    let figures = kernel.statistics().pools;
    let mut report = Pset { page_sets: Vec::new(), pools: Vec::new() };
    let mut sets = kernel.all_sets();
    sets.retain(|set| set.name().starts_with(PREFIX));
    sets.sort_by(|one, other| one.name().cmp(other.name()));
    for set in sets {
        let (definition, counted) = (set.definition(), set.statistics());
        let (pool, page_bytes) = (set.pool().name().to_owned(), set.pool().unit_bytes());
        let known = report.pools.iter().position(|one| one.name == pool);
        let at = match known {
            Some(at) => at,
            None => {
                let (get_us, write_us) = costs(system, &definition.label, page_bytes)?;
                let of = figures.iter().find(|one| one.name == pool);
                let [all, crowded, pressed] =
                    of.map_or([0; 3], |of| [of.writes, of.writes_crowded, of.writes_pressed]);
                report.pools.push(PagePool {
                    name: pool.clone(),
                    page_bytes: page_bytes as u64,
                    written_in_checkpoint: all.saturating_sub(crowded + pressed),
                    written_not_in_checkpoint: crowded,
                    written_immediately: pressed,
                    get_us,
                    write_us,
                });
                report.pools.len() - 1
            }
        };
        let costs = &report.pools[at];
        report.page_sets.push(PageSet {
            name: set.name().to_owned(),
            pool,
            pages: u64::from(counted.intervals),
            bytes: u64::from(counted.intervals) * page_bytes as u64,
            sealed: definition.format == Format::Sealed,
            pages_written: counted.intervals_written,
            get_requests: counted.reads,
            pages_got: counted.intervals_read,
            sealing_us: counted.intervals_read as f64 * costs.get_us
                + counted.intervals_written as f64 * costs.write_us,
        });
    }
    Ok(report)
}

/// Microseconds that sealing adds to a page that is read and to one that is written.
fn costs(system: &System, label: &str, page_bytes: usize) -> Result<(f64, f64)> {
    let keys = Arc::clone(system.keys()) as Arc<dyn KeyProvider>;
    let refused = |error: SealError| SystemError::from(error);
    let generation = keys.current(label).map_err(refused)?;
    let measured = |format| {
        let keys = Arc::clone(&keys);
        measure(system, PageKey { keys, label, generation }, format, page_bytes).map_err(refused)
    };
    let (clear, sealed) = (measured(Format::Plain)?, measured(Format::Sealed)?);
    let more = |sealed: Duration, clear: Duration| {
        sealed.saturating_sub(clear).as_nanos() as f64 / 1e3 / f64::from(PAGES)
    };
    Ok((more(sealed.0, clear.0), more(sealed.1, clear.1)))
}

struct PageKey<'l> {
    keys: Arc<dyn KeyProvider>,
    label: &'l str,
    generation: KeyGeneration,
}

/// How long it takes to open so many pages, and to make them ready to be written.
fn measure(
    system: &System,
    key: PageKey<'_>,
    format: Format,
    page_bytes: usize,
) -> std::result::Result<(Duration, Duration), SealError> {
    let seam = system.kernel().seam();
    let entropy = Arc::clone(&seam.entropy);
    let PageKey { keys, label, generation } = key;
    let sealer =
        PageSealer::new(keys, entropy, system.config().system, NOWHERE, label, format, generation);
    let clear = vec![0x5A; page_bytes];
    let (mut copy, mut opened) = (vec![0; page_bytes], vec![0; page_bytes]);
    let (mut reads, mut writes) = (Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        let begun = seam.clock.monotonic();
        for page in 0..PAGES {
            sealer.seal_into(CiNumber(page), &clear, &mut copy)?;
        }
        let between = seam.clock.monotonic();
        for _ in 0..PAGES {
            opened.copy_from_slice(&copy);
            sealer.open(CiNumber(PAGES - 1), &mut opened)?;
        }
        let ended = seam.clock.monotonic();
        writes = writes.min(between.saturating_sub(begun));
        reads = reads.min(ended.saturating_sub(between));
    }
    Ok((reads, writes))
}
