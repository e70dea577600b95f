//! Where a log ended is known after an orderly stop, so that the next start need not read the rest
//! of its last segment. That word is worth something only at the very group that it names: a log
//! that went on, or lost its end, is judged as ever (K7).

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::machine::{Machine, small};
use base::{Lsn, UowId};
use holdfast_wal::{GROUP_HEADER, GroupHead, Log, LogConfig, LogEnd, LogError, LogStart, disk_len};
use seam::sim::{self, CrashStyle, End, SimConfig, SimDisk};

const BLOCK: usize = 4096;

fn config(stripes: u8) -> LogConfig {
    LogConfig { segment_bytes: 4 << 20, segments_max: 4, ..small(1, stripes) }
}

/// Commits some records, each of which is a group; then stops in order, or crashes.
fn lived(machine: &mut Machine, records: u64, ended: Option<LogEnd>, crashes: bool) -> LogEnd {
    let mut last = None;
    let outcome = sim::run(SimConfig::new(3), machine.disk.clone(), |seam| {
        let start = LogStart { ended, ..machine.start() };
        let opened = Log::open(machine.env(&seam), machine.config(), start);
        let (log, _) = opened.unwrap();
        for index in 0..records {
            let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
        }
        last = Some(log.last_group());
        if crashes {
            sim::crash();
        }
        log.close().unwrap();
    });
    assert_eq!(outcome.end, if crashes { End::Crashed } else { End::Completed }, "{outcome}");
    machine.crash(3, CrashStyle::DropAll);
    last.unwrap()
}

/// Opens a log of which that is known. Answers where it ends, and how many bytes were read.
fn open(machine: &Machine, ended: Option<LogEnd>) -> (Result<Lsn, LogError>, u64) {
    let mut opened = None;
    let before = machine.disk.counts().bytes_read;
    let mut read = 0;
    sim::run(SimConfig::new(9), machine.disk.clone(), |seam| {
        let start = LogStart { ended, ..machine.start() };
        let log = Log::open(machine.env(&seam), machine.config(), start);
        read = machine.disk.counts().bytes_read - before;
        opened = Some(log.map(|(log, found)| {
            log.close().unwrap();
            found.end
        }));
    })
    .expect_completed();
    (opened.unwrap(), read)
}

/// The groups of the first segment: where they stand, and their numbers.
fn groups(disk: &SimDisk) -> Vec<(u64, u64)> {
    let (path, mut at, mut found) = (file(0), BLOCK as u64, Vec::new());
    while let Ok(head) = GroupHead::decode(&disk.read_raw(&path, at, GROUP_HEADER)) {
        found.push((at, head.number.0));
        at += disk_len(head.payload_len as usize) as u64;
    }
    found
}

fn file(stripe: u8) -> String {
    format!("/log-1/segment-000.stripe-{stripe}")
}

#[test]
fn a_start_after_an_orderly_stop_leaves_the_rest_of_the_segment_unread() {
    for stripes in [1, 3] {
        let mut machine = Machine::new(config(stripes));
        let ended = lived(&mut machine, 12, None, false);
        let (all, whole) = open(&machine.fork(), None);
        let (known, little) = open(&machine.fork(), Some(ended));
        assert_eq!(known.unwrap(), all.unwrap(), "the same end");
        // All of its segment but its groups, on each stripe.
        let spared = u64::from(stripes) * (3 << 20);
        assert!(little + spared < whole, "{stripes} stripes: {little} of {whole} bytes");
    }
}

#[test]
fn a_log_that_went_on_is_judged_as_ever() {
    let mut machine = Machine::new(config(1));
    let ended = lived(&mut machine, 6, None, false);
    lived(&mut machine, 8, Some(ended), true);
    let all = groups(&machine.disk);
    let (behind, _) = *all.iter().find(|(_, number)| *number == ended.next.0).unwrap();
    assert!(all.last().unwrap().1 > ended.next.0 + 4, "several groups follow it: {all:?}");
    let (whole, _) = open(&machine.fork(), Some(ended));
    assert_eq!(whole.unwrap(), open(&machine.fork(), None).0.unwrap(), "all of it is found");
    // An old control file would have the log end here.
    let damages: [&dyn Fn(&SimDisk); 3] = [
        &|disk| disk.corrupt(file(0), behind + 130, &[0x10]),
        &|disk| disk.write_raw(file(0), behind, &[0; BLOCK]),
        &|disk| disk.write_raw(file(0), behind, &[0xA5; BLOCK]),
    ];
    for damage in damages {
        let spoilt = machine.fork();
        damage(&spoilt.disk);
        for known in [None, Some(ended)] {
            let refused = open(&spoilt, known).0.unwrap_err();
            let LogError::Damaged { group, .. } = &refused else { panic!("{refused}") };
            assert_eq!(*group, ended.next, "{refused}");
        }
    }
}

#[test]
fn a_log_that_lost_its_known_end_is_refused() {
    let mut machine = Machine::new(config(1));
    let ended = lived(&mut machine, 6, None, false);
    let proven = open(&machine.fork(), Some(ended)).0.unwrap();
    let all = groups(&machine.disk);
    let (last, number) = *all.last().unwrap();
    assert_eq!(number + 1, ended.next.0);
    for (cut, zeros) in [(last, true), (last, false), (all[2].0, true)] {
        let spoilt = machine.fork();
        match zeros {
            true => {
                let rest = (4 << 20) - cut as usize;
                spoilt.disk.write_raw(file(0), cut, &vec![0; rest]);
            }
            false => spoilt.disk.corrupt(file(0), cut + 130, &[1]),
        }
        sim::run(SimConfig::new(9), spoilt.disk.clone(), |seam| {
            // The control file proves that position, too.
            let start = LogStart { ended: Some(ended), proven, ..spoilt.start() };
            let opened = Log::open(spoilt.env(&seam), spoilt.config(), start);
            let refused = opened.map(|_| ()).unwrap_err();
            assert!(matches!(refused, LogError::RolledBack { .. }), "{refused}");
        })
        .expect_completed();
    }
}

#[test]
fn a_tail_that_follows_another_group_is_no_known_end() {
    let mut machine = Machine::new(config(1));
    let ended = lived(&mut machine, 6, None, false);
    let other = LogEnd { last: seal::Tag([7; 16]), ..ended };
    let (_, whole) = open(&machine.fork(), None);
    // The number alone is no proof: the rest is read.
    assert_eq!(open(&machine.fork(), Some(other)).1, whole);
}
