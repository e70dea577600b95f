//! The log never fills to where backout cannot run (K15).

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::common::{Bench, body};
use base::{GroupNumber, Lsn, UowId};
use holdfast_wal::{LogError, LogStart};
use seam::sim::{self, SimConfig, SimDisk};

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
            if !log.reserve(record) {
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
        for _ in 0..undo {
            let place = log.append_reserved(2, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
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
fn a_record_that_is_too_long_is_refused() {
    let bench = Bench::new(1, |_| {});
    let (log, _) = bench.open(LogStart::NEW).unwrap();
    let long = vec![0; bench.config.record_bytes_max()];
    let error = log.append(1, 0, UowId(1), Lsn::NONE, &[&long]).unwrap_err();
    assert!(matches!(error, LogError::RecordTooLong { .. }), "{error}");
    log.append(1, 0, UowId(1), Lsn::NONE, &[&long[24..]]).unwrap();
    log.close().unwrap();
}
