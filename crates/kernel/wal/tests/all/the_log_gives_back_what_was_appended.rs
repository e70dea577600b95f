//! Real files: what was appended is read back, over groups, segments, stripes, copies and restarts.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::common::Bench;
use base::{Lsn, UowId};
use holdfast_wal::{LogConfig, LogError, LogStart, RECORD_BYTES_MAX, RECORD_HEADER};

fn every_shape(segments_max: u32, mut test: impl FnMut(Bench)) {
    for stripes in [1, 2, 3, 8] {
        for copies in [1, 2] {
            test(Bench::new(copies, |config: &mut LogConfig| {
                config.stripes = stripes;
                config.segments_max = segments_max;
            }));
        }
    }
}

#[test]
fn records_come_back_in_order_and_after_a_restart() {
    every_shape(64, |bench| {
        let mut expected = Vec::new();
        let mut start = LogStart::NEW;
        for round in 0..3_u64 {
            let (log, opened) = bench.open(start).unwrap();
            assert_eq!(opened.end, expected.last().map_or(Lsn::FIRST, |(_, end, _)| *end));
            for index in 0..200_u64 {
                let body =
                    crate::common::body(round * 1_000 + index, (index as usize * 53) % 3_000);
                let place = log.append(1, 2, UowId(index), Lsn::NONE, &[&body]).unwrap();
                expected.push((place.lsn, place.end, body));
                if index % 7 == 0 {
                    log.wait_durable(place.end).unwrap();
                    assert!(log.durable() >= place.end);
                }
            }
            log.wait_durable(log.next_lsn()).unwrap();
            let mut reader = log.read(Lsn::FIRST, log.durable());
            for (lsn, end, body) in &expected {
                let record = reader.next().unwrap().unwrap();
                assert_eq!((record.lsn, record.end, record.body), (*lsn, *end, &body[..]));
            }
            assert!(reader.next().unwrap().is_none());
            log.close().unwrap();
            start.proven = expected.last().unwrap().1;
        }
    });
}

#[test]
fn single_records_are_read_backwards_and_force_the_log() {
    every_shape(64, |bench| {
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        let mut places = Vec::new();
        let mut previous = Lsn::NONE;
        for index in 0..300_u64 {
            let body = crate::common::body(index, (index as usize * 91) % 2_000);
            let place = log.append(
                3,
                0,
                UowId(5),
                previous,
                &[&body[..5.min(body.len())], &body[5.min(body.len())..]],
            );
            previous = place.unwrap().lsn;
            places.push((previous, body));
        }
        let mut out = Vec::new();
        let mut at = previous;
        for (lsn, body) in places.iter().rev() {
            assert_eq!(at, *lsn);
            let head = log.read_record(at, &mut out).unwrap();
            assert_eq!((head.lsn, head.kind, head.uow), (*lsn, 3, UowId(5)));
            assert_eq!(&out, body);
            at = head.previous;
        }
        assert_eq!(at, Lsn::NONE);
        assert!(matches!(log.read_record(log.next_lsn(), &mut out), Err(LogError::Beyond { .. })));
        log.close().unwrap();
    });
}

#[test]
fn a_log_much_longer_than_its_segments_goes_round() {
    every_shape(6, |bench| {
        let (log, _) = bench.open(LogStart::NEW).unwrap();
        let mut last = Lsn::FIRST;
        let wanted = 6 * log.space().capacity_bytes;
        let mut index = 0;
        while log.next_lsn().0 < wanted {
            let body = crate::common::body(index, (index as usize * 131) % 3_000);
            let place = log.append(1, 0, UowId::NONE, Lsn::NONE, &[&body]).unwrap();
            index += 1;
            if index % 20 == 0 {
                log.wait_durable(place.end).unwrap();
                last = place.end;
                log.truncate(last);
            }
        }
        assert_eq!(log.statistics().overflow_segments, 0);
        log.close().unwrap();
        drop(log);
        let (log, opened) = bench.open(LogStart { from: last, ..LogStart::NEW }).unwrap();
        let mut reader = log.read(last, opened.end);
        while reader.next().unwrap().is_some() {}
        assert!(matches!(log.read(Lsn::FIRST, opened.end).next(), Err(LogError::Gone { .. })));
        log.close().unwrap();
    });
}

#[test]
fn records_from_24_bytes_to_one_mebibyte_come_back() {
    let bench = Bench::new(2, |config| {
        config.group_bytes_max = 256 << 10;
        config.ring_bytes = 2 << 20;
        config.segment_bytes = 1 << 20;
        config.segments_max = 200;
    });
    assert_eq!(bench.config.record_bytes_max(), RECORD_BYTES_MAX);
    let (log, _) = bench.open(LogStart::NEW).unwrap();
    let longest = RECORD_BYTES_MAX - RECORD_HEADER;
    let mut expected = Vec::new();
    for index in 0..120_u64 {
        let len = match index % 4 {
            0 => 0,
            1 => longest >> (index % 20),
            2 => (index as usize * 7_919) % 100_000,
            _ => longest - index as usize,
        };
        let body = crate::common::body(index, len);
        let place = log.append(9, 9, UowId(index), Lsn::NONE, &[&body]).unwrap();
        expected.push((place, body));
    }
    log.close().unwrap();
    drop(log);
    let (log, opened) = bench.open(LogStart::NEW).unwrap();
    assert_eq!(opened.end, expected.last().unwrap().0.end);
    let mut reader = log.read(Lsn::FIRST, opened.end);
    let mut out = Vec::new();
    for (place, body) in &expected {
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.lsn, record.end), (place.lsn, place.end));
        assert!(record.body == body, "{}", place.lsn);
    }
    assert!(reader.next().unwrap().is_none());
    for (place, body) in expected.iter().rev() {
        log.read_record(place.lsn, &mut out).unwrap();
        assert!(&out == body, "{}", place.lsn);
    }
    log.close().unwrap();
}
