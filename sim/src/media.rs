//! Media faults at rest: somebody or something changes the disk while the system is down (K20).
//!
//! What must hold then: either everything that was acknowledged is there and right, or the system
//! says what is damaged. Never is anything silently wrong. What the other log copy can repair is
//! repaired.
//!
//! Two systems are spoilt. One was stopped in order, so the control file proves how far its log
//! reached. The other one crashed with work to redo and to back out, and has two log copies, of
//! which one is spoilt: with one copy the last groups of a crashed log cannot be told from groups
//! that were never whole (K7).

use std::path::PathBuf;
use std::sync::Arc;

use btree::TreeError;
use parking_lot::Mutex;
use seam::sim::{CrashStyle, End, Rng, SimConfig, SimDisk};

use crate::history::{History, LEDGER};
use crate::machine::Make;
use crate::scenario::{key, records, value};
use crate::verify::{self, Claim, Proven, Wrong};
use crate::world::{Commit, World};

/// A system at rest.
pub struct Rested {
    /// How it is made, and what happened to it.
    pub claim: Claim,
    /// Its disk.
    pub disk: SimDisk,
    /// Its disk some time before.
    pub earlier: SimDisk,
}

/// What a spoilt system did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// All is there and right.
    Right,
    /// It says what is wrong.
    Named(String),
}

const BLOCK: u64 = 4096;

fn work(world: &World, disk: &SimDisk, earlier: &Mutex<Option<SimDisk>>) -> Result<(), TreeError> {
    world.make_set(LEDGER)?;
    let one = world.make_set("one")?;
    world.commit(|work| work.load(&one, &records(0, 120, 200)))?;
    for n in 0..20 {
        world.commit(|work| {
            work.put(&one, &key(n * 5), &value(n, 1, 300))?;
            work.put(&one, &key(200 + n), &value(n, 1, 300))
        })?;
    }
    world.commit(|work| work.put(&one, &key(7), &value(7, 2, 9_000)))?;
    *earlier.lock() = Some(disk.snapshot());
    for n in 0..25 {
        world.commit(|work| {
            work.put(&one, &key(n * 4), &value(n, 3, 280))?;
            work.remove(&one, &key(n * 4 + 1)).map(|_| ())
        })?;
    }
    world.commit(|work| work.put(&one, &key(9), &value(9, 4, 9_000)))
}

/// A system that was stopped in order.
///
/// # Panics
/// If it cannot be made.
#[must_use]
pub fn stopped(make: &Make, seed: u64) -> Rested {
    rested(make, seed, true)
}

/// A system that crashed in the middle of its work.
///
/// # Panics
/// If it cannot be made.
#[must_use]
pub fn crashed(make: &Make, seed: u64) -> Rested {
    rested(make, seed, false)
}

fn rested(make: &Make, seed: u64, orderly: bool) -> Rested {
    let disk = SimDisk::new();
    let history = History::new();
    let earlier = Arc::new(Mutex::new(None));
    let (medium, before) = (disk.clone(), Arc::clone(&earlier));
    let (made, noted) = (make.clone(), history.clone());
    let (outcome, result) = verify::run_to_end(SimConfig::new(seed), &disk, move |seam| {
        made.create(seam)?;
        let kernel = made.open(seam)?;
        let world = World::new(Arc::clone(&kernel), noted, made);
        work(&world, &medium, &before)?;
        if orderly {
            return Ok(kernel.close()?);
        }
        let one = world.set("one");
        let mut unfinished = world.begin()?;
        unfinished.put(&one, &key(50), b"unfinished")?;
        world.commit(|work| work.put(&one, &key(51), b"finished"))?;
        unfinished.put(&one, &key(52), b"unfinished")?;
        world.begin()?.commit(Commit::Wait)
    });
    let result: Option<Result<(), TreeError>> = result;
    assert!(outcome.end == End::Completed && matches!(result, Some(Ok(()))), "{outcome}");
    let mut rng = Rng::stream(seed, "rest");
    let earlier = earlier.lock().take().expect("the work took it");
    Rested {
        claim: Claim { make: make.clone(), history: history.clone(), moment: history.moment() },
        disk: disk.crash_image(&mut rng, CrashStyle::DropAll),
        earlier: earlier.crash_image(&mut rng, CrashStyle::DropAll),
    }
}

/// The system's files that hold anything.
#[must_use]
pub fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let all = disk.paths().into_iter();
    all.filter(|path| disk.len_raw(path) > 0).collect()
}

/// Spoils one file in a way that is drawn. Returns what was done.
///
/// # Panics
/// If the file is empty or not there.
pub fn spoil(disk: &SimDisk, earlier: &SimDisk, path: &PathBuf, rng: &mut Rng) -> String {
    let name = path.display();
    let blocks = disk.len_raw(path).div_ceil(BLOCK);
    // Blocks that hold something are worth more than those that never did.
    let holds = |block: &u64| {
        disk.read_raw(path, block * BLOCK, BLOCK as usize).iter().any(|byte| *byte != 0)
    };
    let used: Vec<u64> = (0..blocks).filter(holds).collect();
    let block = match used.is_empty() {
        true => rng.below(blocks),
        false => used[rng.index(used.len())],
    };
    let at = block * BLOCK;
    match rng.below(9) {
        0 => {
            let byte = at + rng.below(BLOCK.min(disk.len_raw(path) - at));
            disk.corrupt(path, byte, &[1 << rng.below(8)]);
            format!("a bit of byte {byte} of {name} turned over")
        }
        1 => {
            let mut garbage = vec![0; 512];
            rng.fill(&mut garbage);
            let sector = at + rng.below(8) * 512;
            disk.corrupt(path, sector, &garbage);
            format!("sector at {sector} of {name} full of garbage")
        }
        2 => {
            disk.write_raw(path, at, &vec![0; BLOCK.min(disk.len_raw(path) - at) as usize]);
            format!("block {block} of {name} zero")
        }
        3 if used.len() > 1 => {
            let other = used[rng.index(used.len())];
            disk.swap_blocks(path, block, other);
            format!("blocks {block} and {other} of {name} exchanged")
        }
        4 if earlier.paths().contains(path) && earlier.len_raw(path) > at => {
            let old = earlier.read_raw(path, at, BLOCK as usize);
            disk.write_raw(path, at, &old);
            format!("block {block} of {name} put back to what it was")
        }
        5 => {
            disk.truncate(path, at);
            format!("{name} cut at {at}")
        }
        6 => {
            disk.lose(path);
            format!("{name} lost")
        }
        7 if earlier.paths().contains(path) => {
            disk.take_from(earlier, path);
            format!("{name} put back whole to what it was")
        }
        _ => {
            let other = used.get(rng.index(used.len().max(1))).copied().unwrap_or(0);
            let bytes = disk.read_raw(path, other * BLOCK, BLOCK as usize);
            disk.write_raw(path, at, &bytes);
            format!("block {other} of {name} also at block {block}")
        }
    }
}

/// Starts a spoilt system, reads everything, and judges.
///
/// # Errors
/// If something is wrong and the system does not say so.
pub fn meet(rested: &Rested, disk: &SimDisk, seed: u64) -> Result<Met, String> {
    match verify::restart(&rested.claim, disk, seed) {
        Ok(Proven { .. }) => Ok(Met::Right),
        Err(Wrong::Refused { code, text }) if names_an_object(&text) => {
            Ok(Met::Named(format!("{code} {text}")))
        }
        Err(Wrong::Refused { code, text }) => {
            Err(format!("an error names no object: {code} {text}"))
        }
        Err(Wrong::Broken(why)) => Err(why),
    }
}

/// Whether an error says which object is meant.
fn names_an_object(text: &str) -> bool {
    let objects =
        ["data set", "/system/", "/log1/", "/log2/", "of the log", "the log ", "checkpoint at"];
    objects.iter().any(|object| text.contains(object))
}
