//! What the archive gets of the log: every durable group once, proven, without padding.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::sync::Arc;

use crate::common::{Bench, body, spoil};
use base::{GroupNumber, Lsn, UowId};
use holdfast_wal::{GROUP_HEADER, GroupHead, KeyBook, Log, LogError, LogStart};
use seal::TestKeys;

const WAITS: LogStart = LogStart { archived: GroupNumber(1), ..LogStart::NEW };

fn filled(bench: &Bench) -> Arc<Log> {
    let (log, _) = bench.open(WAITS).unwrap();
    for index in 0..200 {
        let body = body(index, 700 + index as usize);
        let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
        log.wait_durable(place.end).unwrap();
    }
    log
}

/// The stream of records that the groups of `log` hold, opened from their sealed bytes.
fn stream(bench: &Bench, log: &Log) -> Result<Vec<u8>, LogError> {
    let mut book = KeyBook::new(Arc::new(TestKeys::new(1)), "log", bench.system);
    let mut stream = Vec::new();
    let mut groups = log.sealed(GroupNumber(1), GroupNumber(u64::MAX));
    let mut sealed = Vec::new();
    while let Some(head) = groups.next(&mut |bytes| sealed = bytes.to_vec())? {
        assert_eq!(sealed.len(), GROUP_HEADER + head.payload_len as usize);
        let read = GroupHead::decode(&sealed).unwrap();
        assert_eq!(read, head);
        book.open(&read, &mut sealed).unwrap();
        assert_eq!(&sealed[GROUP_HEADER..], groups.payload());
        stream.extend_from_slice(&sealed[GROUP_HEADER..]);
    }
    Ok(stream)
}

#[test]
fn every_durable_group_comes_once_also_from_a_copy_with_damage() {
    let bench = Bench::new(2, |_| {});
    let log = filled(&bench);
    let whole = stream(&bench, &log).unwrap();
    assert_eq!(whole.len() as u64, log.next_lsn().0 - Lsn::FIRST.0);
    spoil(&bench.file(0, 0, 0), 4096 + 300, &[0xff; 8]);
    assert_eq!(stream(&bench, &log).unwrap(), whole);
    spoil(&bench.file(1, 0, 0), 4096 + 300, &[0xff; 8]);
    assert!(matches!(stream(&bench, &log), Err(LogError::Damaged { .. })));
    log.close().unwrap();
}

#[test]
fn what_waits_is_known_again_after_a_restart() {
    let bench = Bench::new(1, |_| {});
    let log = filled(&bench);
    let first = log.to_archive(false).unwrap();
    log.archived(first.to);
    let second = log.to_archive(false).unwrap();
    assert_eq!(second.from, first.to);
    let end = log.next_lsn();
    log.close().unwrap();
    let start = LogStart { from: end, archived: first.to, ..LogStart::NEW };
    let (log, _) = bench.open(start).unwrap();
    assert_eq!(log.to_archive(false), Some(second));
    let partial = loop {
        let next = log.to_archive(true).unwrap();
        log.archived(next.to);
        if log.to_archive(true).is_none() {
            break next;
        }
    };
    // The rest of a segment that was archived in part comes later, and nothing twice.
    let mut place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body(1, 9_000)]).unwrap();
    while log.to_archive(false).is_none() {
        log.wait_durable(place.end).unwrap();
        place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body(1, 9_000)]).unwrap();
    }
    assert_eq!(log.to_archive(false).unwrap().from, partial.to);
    log.close().unwrap();
}
