//! A disk that once did not give the header of the newest segment cost the log's last groups: the
//! file was taken for a free one and the log for shorter. What cannot be read is not the end.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

mod machine;

use std::cell::Cell;

use holdfast_log::LogError;
use machine::{Machine, Script, crashed, small};
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig, When};

#[test]
fn a_header_that_the_disk_withholds_is_no_end() {
    let mut refused = 0;
    for nth in 1..12 {
        let mut machine = Machine::new(small(1, 1));
        crashed(&machine.live(Script { seed: nth, records: 40, body_max: 3_000 }, Some(60)))
            .unwrap();
        machine.crash(nth, CrashStyle::KeepAll);
        let fault = Fault::new(FaultKind::ReadError, "/log-1").when(When::Nth(nth));
        machine.disk.inject(fault);
        let was_refused = Cell::new(false);
        let outcome = sim::run(SimConfig::new(nth), machine.disk.clone(), |seam| {
            match machine.open(&seam) {
                Err(LogError::Io { .. } | LogError::Damaged { .. }) => was_refused.set(true),
                Err(error) => panic!("{error}"),
                Ok((log, opened)) => {
                    machine.check(&log, &opened);
                    log.close().unwrap();
                }
            }
        });
        crashed(&outcome).unwrap();
        refused += u32::from(was_refused.get());
        machine.restart(nth).unwrap();
    }
    assert!(refused >= 3, "{refused}");
}
