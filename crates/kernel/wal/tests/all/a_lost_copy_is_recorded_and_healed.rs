//! Dual logging with a dying disk: the log goes on with one copy, loudly; what it acknowledged then
//! is never read from the copy that lacks it; a restart makes both alike again (K8, K9).

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::cell::Cell;

use crate::machine::{Machine, Script, crashed, small};
use holdfast_wal::{LogError, LogStart};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig, When};

const SCRIPT: Script = Script { seed: 5, records: 30, body_max: 3_000 };

/// A life in which copy `copy` dies at its `nth` write, ended by a power failure later on.
fn with_dying_copy(stripes: u8, copy: usize, nth: u64, kind: FaultKind) -> Result<Machine, String> {
    let mut machine = Machine::new(small(2, stripes));
    let fault = Fault::new(kind, format!("/log-{copy}")).when(When::From(nth));
    machine.disk.inject(fault);
    let script = Script { seed: SCRIPT.seed + nth, ..SCRIPT };
    crashed(&machine.live(script, Some(30 + nth)))?;
    machine.crash(nth, CrashStyle::Random);
    Ok(machine)
}

/// A restart with both disks in order.
fn healed(stripes: u8, copy: usize, nth: u64, kind: FaultKind) -> Result<(), String> {
    let mut machine = with_dying_copy(stripes, copy, nth, kind)?;
    machine.restart(nth)?;
    assert_eq!(*machine.ledger.stale.lock(), None, "both copies are whole again");
    Ok(())
}

/// A restart with the good copy's disk gone: whatever opens must not lack anything.
fn only_the_other_one_is_left(copy: usize, nth: u64) -> Result<bool, String> {
    let machine = with_dying_copy(1, copy, nth, FaultKind::WriteError)?;
    let stale = machine.ledger.stale.lock().is_some();
    machine.disk.inject(Fault::new(FaultKind::Dead, format!("/log-{}", 3 - copy)));
    let refused = Cell::new(false);
    let outcome =
        sim::run(SimConfig::new(nth), machine.disk.clone(), |seam| match machine.open(&seam) {
            Err(LogError::Stale { .. }) => refused.set(true),
            Err(error) => panic!("{error}"),
            Ok((log, opened)) => {
                machine.check(&log, &opened);
                log.close().unwrap();
            }
        });
    assert!(!refused.get() || stale, "refused without a record of the loss");
    crashed(&outcome).map(|_| refused.get())
}

#[test]
fn the_log_goes_on_and_a_restart_heals_it() {
    for kind in [FaultKind::WriteError, FaultKind::Dead] {
        for nth in 1..30 {
            for (stripes, copy) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
                // The files are opened at the start of the life, so a dead disk is met at once.
                let nth = if kind == FaultKind::Dead { 3 * nth } else { nth };
                healed(stripes, copy, nth, kind).unwrap();
            }
        }
    }
}

#[test]
fn the_copy_that_lacks_something_is_refused_alone() {
    let refused = (1..30).filter(|nth| only_the_other_one_is_left(1, *nth).unwrap()).count();
    assert!(refused > 10, "{refused}");
}

#[test]
fn the_override_takes_it_all_the_same() {
    let machine = with_dying_copy(1, 1, 6, FaultKind::WriteError).unwrap();
    assert!(machine.ledger.stale.lock().is_some());
    machine.disk.inject(Fault::new(FaultKind::Dead, "/log-2"));
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let start = LogStart { override_stale: true, ..machine.start() };
        let (log, opened) =
            holdfast_wal::Log::open(machine.env(&seam), machine.config.clone(), start).unwrap();
        assert!(opened.single);
        assert!(opened.notes.iter().any(|note| note.contains("is lost")), "{:?}", opened.notes);
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_copy_that_is_empty_is_made_anew() {
    let mut machine = Machine::new(small(2, 2));
    assert!(!crashed(&machine.live(SCRIPT, None)).unwrap());
    for path in machine.disk.paths() {
        if path.starts_with("/log-1") {
            machine.disk.lose(&path);
        }
    }
    machine.restart(1).unwrap();
    machine.disk.inject(Fault::new(FaultKind::Dead, "/log-2"));
    machine.restart(2).unwrap();
}

#[test]
fn planted_bugs_around_lost_copies_are_found() {
    arm(Some(Failpoint::LostCopyUnrecorded));
    let unrecorded = (1..30).any(|nth| only_the_other_one_is_left(1, nth).is_err());
    arm(Some(Failpoint::StaleCopyPreferred));
    let preferred = (1..30).any(|nth| healed(1, 1, nth, FaultKind::WriteError).is_err());
    arm(None);
    assert!(unrecorded && preferred, "{unrecorded} {preferred}");
}
