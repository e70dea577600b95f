//! The log never fills to where backout cannot run (K15).

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::common::{Bench, body};
use base::{GroupNumber, Lsn, UowId};
use holdfast_wal::{Log, LogConfig, LogError, LogStart, WadsConfig};
use seam::disk::{Create, Open};
use seam::sim::{self, Fault, FaultKind, SimConfig, SimDisk};

/// Reserves so much, if need be in a segment that is just being made; `false` if the log is full.
fn reserved(log: &Log, bytes: u64) -> bool {
    while !log.reserve(bytes) {
        if log.room() < bytes {
            return false;
        }
        seam::thread::yield_now();
    }
    true
}

#[test]
fn ordinary_records_stop_where_the_reserve_begins() {
    for (stripes, wait) in [(1, true), (1, false), (3, true)] {
        let bench = Bench::new(1, |config| {
            config.segments_max = 6;
            config.stripes = stripes;
        });
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        assert!(!log.reserve(1 << 40), "more than the log holds");
        let body = body(7, 700);
        let record = body.len() as u64 + 24;
        let mut undo = 0;
        // Each update keeps room for its undo, as a unit of work does.
        let refused = loop {
            if !reserved(&log, record) {
                break None;
            }
            match log.append(1, 0, UowId(1), Lsn::NONE, &[&body]) {
                Ok(place) if wait => log.wait_durable(place.end).unwrap(),
                Ok(_) => {}
                Err(error) => break Some(error),
            }
            undo += 1;
        };
        assert!(refused.is_none_or(|error| matches!(error, LogError::Full { .. })));
        assert!(matches!(
            log.append(1, 0, UowId(1), Lsn::NONE, &[&vec![0; 8_000]]),
            Err(LogError::Full { .. })
        ));
        assert!(undo > 20, "{undo}");
        let reserved = log.space().reserved_bytes;
        log.append_reserved(3, 0, UowId::NONE, Lsn::NONE, &[&body]).unwrap();
        assert_eq!(
            log.space().reserved_bytes,
            reserved,
            "what the kernel logs takes nothing of it"
        );
        for _ in 0..undo {
            let place = log.append_reserved(2, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
            log.release(record);
            if wait {
                log.wait_durable(place.end).unwrap();
            }
        }
        log.wait_durable(log.next_lsn()).unwrap();
        let space = log.space();
        assert!(space.reserved_bytes <= record, "{space:?}");
        // With everything undone and truncated, ordinary work goes on.
        log.truncate(log.durable());
        log.release(record);
        log.append(1, 0, UowId(2), Lsn::NONE, &[&body]).unwrap();
        log.close().unwrap();
    }
}

#[test]
fn the_log_says_from_where_on_its_oldest_segment_is_not_needed() {
    for ahead in [false, true] {
        let bench = Bench::new(1, |config| {
            let folder = config.copies[0].with_file_name("ahead");
            let wads = WadsConfig { bytes: 64 << 10, ..WadsConfig::new(vec![folder]) };
            config.wads = ahead.then_some(wads);
        });
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        let body = body(1, 3_000);
        while log.segments().len() < 4 {
            let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
            log.land(place.end).unwrap();
        }
        let oldest = || log.segments()[0].sequence;
        let (relief, first, used) = (log.first_relief().unwrap(), oldest(), log.space().used_bytes);
        assert_eq!(log.area_from(Lsn(relief.0 - 1)), used);
        assert!(log.area_from(relief) < used);
        log.truncate(Lsn(relief.0 - 1));
        assert_eq!(oldest(), first);
        log.truncate(relief);
        assert!(oldest() > first, "with a write-ahead data set: {ahead}");
        log.close().unwrap();
    }
}

#[test]
fn the_archive_holds_segments_back() {
    let bench = Bench::new(1, |config| config.segments_max = 5);
    let (log, _) = bench.open(LogStart { archived: GroupNumber(1), ..LogStart::NEW }).unwrap();
    log.set_archive_trouble(Some("/archive is full".into()));
    let body = body(1, 3_000);
    let error = loop {
        match log.append(1, 0, UowId(1), Lsn::NONE, &[&body]) {
            Ok(place) => {
                log.wait_durable(place.end).unwrap();
                log.truncate(place.end);
            }
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::ArchiveBehind { .. }), "{error}");
    assert!(error.to_string().contains("/archive is full"), "{error}");
    assert!(log.space().unarchived_bytes > 0);
    // Backout goes on all the same.
    log.append_reserved(2, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
    let mut waiting = Vec::new();
    while let Some(next) = log.to_archive(false) {
        log.archived(next.to);
        waiting.push(next);
    }
    assert!(waiting.windows(2).all(|pair| pair[0].to == pair[1].from), "{waiting:?}");
    assert_eq!(log.space().unarchived_bytes, 0);
    log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
    log.close().unwrap();
}

#[test]
fn a_full_disk_makes_the_log_smaller_but_stops_nothing() {
    let disk = SimDisk::new();
    let outcome = sim::run(SimConfig::new(3), disk.clone(), |seam| {
        let bench = Bench::on(seam, |config| config.segments_max = 40);
        disk.set_capacity(Some(5 * bench.config.segment_bytes));
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        let body = body(1, 2_000);
        assert!(log.reserve(4_000));
        let error = loop {
            match log.append(1, 0, UowId(1), Lsn::NONE, &[&body]) {
                Ok(place) => log.wait_durable(place.end).unwrap(),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, LogError::Full { .. }), "{error}");
        assert!(log.statistics().growth_failed > 0);
        let place = log.append_reserved(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
        log.wait_durable(place.end).unwrap();
        log.truncate(place.end);
        log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
        log.close().unwrap();
    });
    outcome.expect_completed();
}

#[test]
fn a_segment_that_was_being_made_in_a_crash_and_has_no_room_locks_nobody_out() {
    let disk = SimDisk::new();
    let outcome = sim::run(SimConfig::new(4), disk.clone(), |seam| {
        let bench = Bench::on(seam.clone(), |_| {});
        let half = bench.file(0, 3, 0);
        drop(seam.disk.open(&half, Open::DATA.create(Create::New)).unwrap());
        disk.inject(Fault::new(FaultKind::NoSpace, half.display().to_string()));
        let (log, opened) = bench.open(LogStart::NEW).unwrap();
        assert_eq!(opened.notes, Vec::<String>::new());
        let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body(1, 500)]).unwrap();
        log.wait_durable(place.end).unwrap();
        log.close().unwrap();
        assert!(!seam.disk.exists(&half).unwrap(), "it takes room for nothing");
    });
    outcome.expect_completed();
}

#[test]
fn a_copy_without_room_for_all_segments_is_lost_and_takes_none_from_the_other() {
    let disk = SimDisk::new();
    let outcome = sim::run(SimConfig::new(4), disk.clone(), |seam| {
        let two = |config: &mut LogConfig| {
            let other = config.copies[0].with_file_name("copy-1");
            config.copies.push(other);
            config.segments_min = 8;
        };
        let bench = Bench::on(seam.clone(), two);
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        log.close().unwrap();
        for slot in 0..8 {
            seam.disk.remove(&bench.file(1, slot, 0)).unwrap();
        }
        for slot in 5..8 {
            let path = bench.file(1, slot, 0).display().to_string();
            disk.inject(Fault::new(FaultKind::NoSpace, path));
        }
        let (log, opened) = bench.open(LogStart::NEW).unwrap();
        assert!(opened.single && !opened.notes.is_empty());
        log.close().unwrap();
        assert!((0..8).all(|slot| seam.disk.exists(&bench.file(0, slot, 0)).unwrap()));
    });
    outcome.expect_completed();
}

#[test]
fn a_record_that_is_too_long_is_refused() {
    let bench = Bench::new(1, |_| {});
    let (log, _) = bench.open(LogStart::NEW).unwrap();
    let long = vec![0; bench.config.record_bytes_max()];
    let error = log.append(1, 0, UowId(1), Lsn::NONE, &[&long]).unwrap_err();
    assert!(matches!(error, LogError::RecordTooLong { .. }), "{error}");
    log.append(1, 0, UowId(1), Lsn::NONE, &[&long[24..]]).unwrap();
    log.close().unwrap();
}
