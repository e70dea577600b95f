//! A lost copy of the log is brought back while programs go on: whatever crashes meanwhile, the
//! copy is either recorded as stale, or it has everything, alone (K9).

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::time::Duration;

use crate::machine::{Machine, Script, crashed, small};
use base::{Lsn, UowId};
use holdfast_wal::{Log, LogError};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig, When};

const SCRIPT: Script = Script { seed: 11, records: 80, body_max: 3_000 };
const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

/// A life in which copy 1 is lost at a write and brought back, with a power failure after `n`
/// writes; then only the other copy's device is left to fail. `None` if the life ended by itself.
fn one(stripes: u8, truncates: bool, n: u64) -> Result<Option<bool>, String> {
    let mut machine = Machine::new(small(2, stripes));
    (machine.resyncs, machine.truncates) = (true, truncates);
    let lost = Fault::new(FaultKind::WriteError, "/log-1").when(When::Nth(2 + n % 9));
    machine.disk.inject(lost);
    let script = Script { seed: SCRIPT.seed + n, ..SCRIPT };
    let ended = !crashed(&machine.live(script, Some(n)))?;
    machine.crash(n, STYLES[n as usize % 4]);
    machine.resyncs = false;
    let whole = machine.ledger.stale.lock().is_none();
    if whole {
        machine.disk.inject(Fault::new(FaultKind::Dead, "/log-2"));
    }
    machine.restart(n)?;
    Ok((!ended).then_some(whole))
}

fn sweep(stripes: u8, truncates: bool, step: u64) -> Result<(u64, u64), String> {
    let (mut whole, mut stale) = (0, 0);
    for n in (1..).step_by(step as usize) {
        match one(stripes, truncates, n).map_err(|why| format!("crash after write {n}: {why}"))? {
            Some(true) => whole += 1,
            Some(false) => stale += 1,
            None => break,
        }
    }
    Ok((whole, stale))
}

#[test]
fn a_crash_at_any_write_leaves_the_copy_whole_or_stale() {
    for (stripes, truncates) in [(1, false), (2, true)] {
        let (whole, stale) = sweep(stripes, truncates, 1).unwrap();
        assert!(whole > 10 && stale > 10, "{whole} whole, {stale} stale");
    }
}

fn commit(log: &Log) {
    let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&[7; 3_000]]).unwrap();
    log.wait_durable(place.end).unwrap();
}

#[test]
fn a_copy_that_is_not_lost_is_left_alone() {
    let machine = Machine::new(small(2, 1));
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        let refused = |log: &Log, copy| log.resync(copy, 0, &mut |_, _| true).unwrap_err();
        assert!(matches!(refused(&log, 1), LogError::NotLost { copy: 2 }));
        assert!(matches!(refused(&log, 5), LogError::NotLost { copy: 6 }));
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_copy_comes_back_no_faster_than_it_was_told_to() {
    let machine = Machine::new(small(2, 1));
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        let commit = || commit(&log);
        (0..30).for_each(|_| commit());
        machine.disk.inject(Fault::new(FaultKind::Dead, "/log-1"));
        commit();
        assert!(!log.statistics().copies[0].living);
        machine.disk.heal_all();
        let begun = seam.clock.monotonic();
        let mut asked = 0;
        let copied = log.resync(0, 256 << 10, &mut |_, _| {
            asked += 1;
            commit();
            true
        });
        // Files of 36 KiB are made, and then written.
        let least = Duration::from_secs_f64(copied.unwrap() as f64 * 2.0 / f64::from(256 << 10));
        assert!(seam.clock.monotonic() - begun >= least);
        assert!(asked > 3, "somebody is asked now and then: {asked}");
        assert!(log.statistics().copies[0].living);
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn planted_bugs_around_a_copy_that_comes_back_are_found() {
    for bug in [Failpoint::CopyBackTooEarly, Failpoint::CopyBackWithGap] {
        arm(Some(bug));
        let found = (1..400).any(|n| one(1, false, n).is_err());
        arm(None);
        assert!(found, "{bug:?}");
    }
}

#[test]
fn a_copy_that_lacks_a_file_is_given_up_and_made_anew() {
    let machine = Machine::new(small(2, 1));
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        let commit = || commit(&log);
        (0..5).for_each(|_| commit());
        assert!(log.missing_files().is_empty());
        let path: std::path::PathBuf = "/log-1/segment-000.stripe-0".into();
        seam.disk.remove(&path).unwrap();
        commit();
        assert_eq!(log.missing_files(), [(0, path)]);
        assert!(log.lose_copy(0).unwrap());
        assert!(machine.ledger.stale.lock().is_some(), "that is recorded first");
        assert!(!log.lose_copy(1).unwrap(), "the last one is kept");
        commit();
        log.resync(0, 0, &mut |_, _| true).unwrap();
        assert!(log.missing_files().is_empty());
        machine.disk.inject(Fault::new(FaultKind::Dead, "/log-2"));
        commit();
        assert!(log.statistics().copies[0].living);
        log.close().unwrap();
    })
    .expect_completed();
}
