//! RECON through every crash: what was recorded is there, nothing else is, and a copy that was
//! away is never believed when it comes back.
//!
//! The script records changes one by one; the state tells by itself how many of them it holds. A
//! sweep crashes it at each write, goes on with one of the two devices dead, crashes that too, and
//! goes on with both.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use recon::{Archive, ArchiveFile, Reached, Recon, Record, Setup, State};
use seal::TestKeys;
use seam::Seam;
use seam::disk::BLOCK;
use seam::sim::{self, CrashStyle, End, Fault, FaultKind, Rng, SimConfig, SimDisk};

const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];
/// Changes in each life.
const CHANGES: u64 = 9;

fn setup(seam: &Seam) -> Setup {
    Setup {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(4)),
        label: "system".into(),
        system: SystemId([8; 16]),
        folders: [PathBuf::from("/one"), PathBuf::from("/two")],
        // So that files are compacted within the script.
        compact_bytes: 5 * 4096,
    }
}

/// The records of the change of that number, from 1. An archive comes, an older one goes; now and
/// then one is longer than a block.
fn change(number: u64) -> Vec<Record> {
    let long = if number.is_multiple_of(3) { 3_000 } else { 10 };
    let name = "x".repeat(long);
    let files = ["a", "b"]
        .map(|copy| ArchiveFile { path: PathBuf::from(format!("/{copy}/{name}")), lost: false });
    let archive = Archive {
        number: number as u32,
        files: files.into(),
        first: Lsn(number * 100),
        end: Lsn(number * 100 + 100),
        first_group: GroupNumber(number),
        last_group: GroupNumber(number),
        from_us: number,
        to_us: number,
        label: "log".into(),
        generations: vec![KeyGeneration(1)],
        bytes: 4711,
        tag: [number as u8; 16],
    };
    let reached = Record::Reached(Reached { lsn: Lsn(number * 100 + 100), utc_us: number });
    let gone = number.checked_sub(2).map(|old| Record::ArchiveGone(old as u32));
    [Some(reached), Some(Record::Archive(archive)), gone].into_iter().flatten().collect()
}

/// How many changes a state holds; an error if they are not exactly the first ones.
fn count(state: &State) -> Result<u64, String> {
    let count = (state.reached.lsn.0 / 100).saturating_sub(1);
    let records: Vec<Record> = (1..=count).flat_map(change).collect();
    let expected = State { stale: state.stale, ..State::of(&records) };
    if *state != expected {
        return Err(format!("after {count} changes it says {state:?}"));
    }
    Ok(count)
}

/// What was promised, outside of the machine.
#[derive(Default)]
struct Ledger {
    acknowledged: AtomicU64,
    attempted: AtomicU64,
}

/// One life: opens, checks, records changes. Says whether it crashed.
fn live(disk: &SimDisk, seed: u64, ledger: &Ledger, changes: u64) -> Result<bool, String> {
    let mut wrong = Ok(());
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), |seam| {
        wrong = open_and_change(&seam, ledger, changes);
    });
    match outcome.end {
        End::Completed => wrong.map(|()| false),
        End::Crashed => Ok(true),
        _ => Err(outcome.to_string()),
    }
}

fn open_and_change(seam: &Seam, ledger: &Ledger, changes: u64) -> Result<(), String> {
    let (recon, opened) = Recon::open(setup(seam)).map_err(|error| error.to_string())?;
    let found = count(&opened.reading.state)?;
    let promised = ledger.acknowledged.load(SeqCst)..=ledger.attempted.load(SeqCst);
    if !promised.contains(&found) {
        return Err(format!("it holds {found} changes, promised were {promised:?}"));
    }
    // What is there once stays.
    ledger.acknowledged.store(found, SeqCst);
    for number in found + 1..=found + changes {
        ledger.attempted.store(number, SeqCst);
        recon.add(change(number)).map_err(|error| error.to_string())?;
        ledger.acknowledged.store(number, SeqCst);
        if count(&recon.state())? != number {
            return Err(format!("it does not say what was recorded as change {number}"));
        }
    }
    Ok(())
}

/// A machine with an empty RECON.
fn machine() -> SimDisk {
    let disk = SimDisk::new();
    sim::run(SimConfig::new(1), disk.clone(), |seam| {
        Recon::create(&setup(&seam), &[]).expect("an empty disk takes it");
    })
    .expect_completed();
    disk.settle();
    disk
}

/// Crashes at every write; see the head of this file.
///
/// # Errors
/// The first broken promise.
pub fn every_crash() -> Result<(), String> {
    let base = machine();
    for n in 1.. {
        let (disk, ledger) = (base.snapshot(), Ledger::default());
        disk.crash_after(n);
        if !live(&disk, n, &ledger, CHANGES)? {
            return if n > 2 * CHANGES { Ok(()) } else { Err("the script is too short".into()) };
        }
        for (turn, style) in STYLES.into_iter().enumerate() {
            let ledger = Ledger {
                acknowledged: AtomicU64::new(ledger.acknowledged.load(SeqCst)),
                attempted: AtomicU64::new(ledger.attempted.load(SeqCst)),
            };
            let seed = n * 8 + turn as u64;
            let disk = disk.crash_image(&mut Rng::new(seed), style);
            after_the_crash(&disk, seed, &ledger)
                .map_err(|why| format!("crash at write {n}, {style:?}: {why}"))?;
        }
    }
    Ok(())
}

/// A crash cuts the newest entry short: of both copies, or of one while the other has nothing of it
/// yet. It may be there or not; what is recorded next is there.
///
/// # Errors
/// The first broken promise.
pub fn every_cut() -> Result<(), String> {
    const SECTOR: u64 = 512;
    for cut in (SECTOR..=BLOCK as u64).step_by(SECTOR as usize) {
        for second in [cut, BLOCK as u64] {
            let (disk, ledger) = (machine(), Ledger::default());
            let described = |why: String| format!("cut by {cut} and {second} bytes: {why}");
            live(&disk, 1, &ledger, 2).map_err(described)?;
            let disk = disk.snapshot();
            for (path, cut) in [("/one/recon.1", cut), ("/two/recon.2", second)] {
                disk.truncate(path, end_of_entries(&disk, path) - cut);
            }
            ledger.acknowledged.store(1, SeqCst);
            live(&disk, 2, &ledger, 3).map_err(described)?;
            live(&disk.snapshot(), 3, &ledger, 0).map_err(described)?;
        }
    }
    Ok(())
}

/// Where the entries of a copy end: behind them is room.
fn end_of_entries(disk: &SimDisk, path: &str) -> u64 {
    let len = disk.len_raw(path);
    let bytes = disk.read_raw(path, 0, len as usize);
    let last = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1);
    last.next_multiple_of(BLOCK as u64)
}

/// Goes on with one device dead, crashes again, goes on with both, and looks twice.
fn after_the_crash(disk: &SimDisk, seed: u64, ledger: &Ledger) -> Result<(), String> {
    let dead = if seed.is_multiple_of(2) { "/one" } else { "/two" };
    // The copy that is away may be the only one with the newest, unacknowledged change, or the
    // one that tore.
    disk.inject(Fault::new(FaultKind::Dead, dead));
    disk.crash_after(1 + seed % 5);
    live(disk, seed, ledger, 2 + seed % 3)?;
    let disk = disk.crash_image(&mut Rng::new(seed + 1), STYLES[(seed / 4) as usize % 4]);
    disk.heal_all();
    live(&disk, seed + 1, ledger, 3)?;
    live(&disk, seed + 2, ledger, 0)?;
    let mut looked = Ok(String::new());
    sim::run(SimConfig::new(seed), disk.clone(), |seam| {
        looked = recon::read(&setup(&seam)).map_err(|error| error.to_string()).map(|reading| {
            let wrong: Vec<_> = reading.copies.into_iter().filter_map(|copy| copy.wrong).collect();
            wrong.join("; ")
        });
    })
    .expect_completed();
    match looked {
        Ok(wrong) if wrong.is_empty() => Ok(()),
        Ok(wrong) | Err(wrong) => Err(wrong),
    }
}
