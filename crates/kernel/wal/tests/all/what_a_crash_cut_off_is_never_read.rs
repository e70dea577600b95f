//! The story: two groups were in flight, the first one was torn, the second one reached its place;
//! restart cut both off. The next run read a record in front of them, which brought the leftover
//! into view, and then gave the same number to a group of its own. Backout found the leftover in
//! its view and "no log record begins" where its record stood.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::sync::Arc;
use std::time::Duration;

use crate::machine::{Machine, small};
use base::{Lsn, UowId};
use holdfast_wal::{DurableSink, Log, LogError, LogStart, Place, Scanned, scan};
use seam::sim::{self, Fault, FaultKind, SimConfig};

struct Deaf;

impl DurableSink for Deaf {
    fn durable(&self, _token: u64, _outcome: Result<(), &LogError>) {}
}

fn append(log: &Log, byte: u8) -> Place {
    log.append(1, 0, UowId::NONE, Lsn::NONE, &[&[byte; 300]]).unwrap()
}

fn append_and_wait(log: &Log, byte: u8) -> Place {
    let place = append(log, byte);
    log.wait_durable(place.end).unwrap();
    place
}

#[test]
fn a_group_that_was_cut_off_is_not_taken_for_the_one_that_has_its_number_now() {
    let machine = Machine::new(small(1, 2));
    let (mut cut, mut third) = (None, Lsn::NONE);
    sim::run(SimConfig::new(3), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        for byte in 1..=3 {
            third = append_and_wait(&log, byte).lsn;
        }
        // The fourth group takes long; the fifth is on the other stripe and overtakes it.
        machine.disk.inject(Fault::new(FaultKind::SlowIo(Duration::from_millis(20)), "*stripe-0"));
        let sink: Arc<dyn DurableSink> = Arc::new(Deaf);
        log.when_durable(append(&log, 4).end, &sink, 0);
        seam.clock.sleep(Duration::from_millis(2));
        append_and_wait(&log, 5);
        scan(&machine.env(&seam), &machine.config, &LogStart::NEW, &mut |seen| {
            if let Scanned::Group(group) = seen
                && group.number.0 == 4
            {
                cut = Some((group.path.clone(), group.offset));
            }
        })
        .unwrap();
    })
    .expect_completed();
    machine.disk.settle();
    machine.disk.heal_all();
    let (path, offset) = cut.expect("there is a fourth group");
    machine.disk.corrupt(path, offset + 200, &[0xff; 64]);
    sim::run(SimConfig::new(4), machine.disk.clone(), |seam| {
        let (log, opened) = machine.open(&seam).unwrap();
        assert_eq!(opened.next_group.0, 4, "the fourth group is torn, the fifth goes with it");
        let mut body = Vec::new();
        // The third group stands before the leftover and brings it into view.
        log.read_record(third, &mut body).unwrap();
        assert_eq!(body, [3; 300]);
        for byte in 14..=15 {
            let place = append_and_wait(&log, byte);
            log.read_record(place.lsn, &mut body).unwrap();
            assert_eq!(body, [byte; 300]);
        }
        log.close().unwrap();
    })
    .expect_completed();
}
