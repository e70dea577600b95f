//! A disk that once did not give the header of the newest segment cost the log's last groups: the
//! file was taken for a free one and the log for shorter. What cannot be read is not the end.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::cell::Cell;

use crate::machine::{Machine, Script, crashed, small};
use holdfast_wal::LogError;
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig, When};

/// A life of so many writes, and then a start with one read that fails; whether it was refused.
fn refused(writes: u64, nth: u64) -> bool {
    let mut machine = Machine::new(small(1, 1));
    crashed(&machine.live(Script { seed: 7, records: 80, body_max: 3_000 }, Some(writes))).unwrap();
    machine.crash(nth, CrashStyle::KeepAll);
    let fault = Fault::new(FaultKind::ReadError, "/log-1").when(When::Nth(nth));
    machine.disk.inject(fault);
    let refused = Cell::new(false);
    let config = SimConfig::new(nth);
    let outcome = sim::run(config, machine.disk.clone(), |seam| match machine.open(&seam) {
        Err(LogError::Io { .. } | LogError::Damaged { .. }) => refused.set(true),
        Err(error) => panic!("{error}"),
        Ok((log, opened)) => {
            machine.check(&log, &opened);
            log.close().unwrap();
        }
    });
    crashed(&outcome).unwrap();
    machine.restart(nth).unwrap();
    refused.get()
}

#[test]
fn a_header_that_the_disk_withholds_is_no_end() {
    // At some of these ends a segment has just been begun.
    let starts = (20..90).flat_map(|writes| (1..6).map(move |nth| (writes, nth)));
    let refused = starts.filter(|(writes, nth)| refused(*writes, *nth)).count();
    assert!(refused > 100, "{refused}");
}
