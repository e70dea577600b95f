//! Media faults on real files: a damaged group is repaired from the other copy or named, a log that
//! was cut or put back is refused, and files that do not belong here are not overwritten.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::common::{Bench, body, bytes, spoil};
use base::{Coded, Lsn, SystemId, UowId};
use holdfast_wal::{GroupInfo, LogConfig, LogError, LogStart, Scanned, scan};
use seal::Format;
use seam::failpoint::{Failpoint, arm};

/// Appends records that are each in a group of their own; returns their positions.
fn fill(bench: &Bench, count: u64) -> Vec<Lsn> {
    let (log, _) = bench.open(LogStart::NEW).unwrap();
    let mut ends = Vec::new();
    for index in 0..count {
        let body = body(index, 500);
        let place = log.append(1, 0, UowId::NONE, Lsn::NONE, &[&body]).unwrap();
        log.wait_durable(place.end).unwrap();
        ends.push(place.end);
    }
    log.close().unwrap();
    ends
}

fn groups(bench: &Bench) -> Vec<GroupInfo> {
    let mut groups = Vec::new();
    scan(&bench.env(), &bench.config, &LogStart::NEW, &mut |seen| {
        if let Scanned::Group(group) = seen {
            groups.push(group.clone());
        }
    })
    .unwrap();
    groups
}

fn plain(_: &mut LogConfig) {}

#[test]
fn a_damaged_group_without_another_copy_stops_the_start() {
    for stripes in [1, 2, 3] {
        let bench = Bench::new(1, |config| config.stripes = stripes);
        fill(&bench, 30);
        let victim = groups(&bench)[10].clone();
        let before = bytes(&victim.path);
        spoil(&victim.path, victim.offset + 200, &[0xee; 8]);
        let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
        let LogError::Damaged { group, path, offset, .. } = &error else { panic!("{error}") };
        assert_eq!((*group, path, *offset), (victim.number, &victim.path, victim.offset));
        assert_eq!(error.code().0, "HFL011");

        arm(Some(Failpoint::EndTooEarly));
        let shorter = bench.open(LogStart::NEW).map(|(_, opened)| opened.end);
        arm(None);
        assert_eq!(shorter.unwrap(), victim.first, "the planted bug cuts the log here");
        spoil(&victim.path, 0, &before);
    }
}

/// What no start needs does not keep the system from starting: it is named, and the log goes on.
#[test]
fn damaged_groups_in_front_of_what_a_start_needs_are_passed_over() {
    for (stripes, count) in [(1, 1), (2, 1), (3, 1), (1, 3), (2, 4)] {
        let bench = Bench::new(1, |config| config.stripes = stripes);
        let ends = fill(&bench, 30);
        let all = groups(&bench);
        let hurt = &all[4..4 + count];
        hurt.iter().for_each(|group| spoil(&group.path, group.offset + 200, &[0xee; 8]));
        let last = hurt.last().unwrap();
        let needs_it = LogStart { from: last.first, ..LogStart::NEW };
        assert!(bench.open(needs_it).is_err(), "{stripes} stripes, {count} groups");
        let start = LogStart { from: last.end, proven: ends[29], ..LogStart::NEW };
        let mut passed = Vec::new();
        let end = scan(&bench.env(), &bench.config, &start, &mut |seen| {
            if let Scanned::Passed { number, end, .. } = seen {
                passed.push((number, end));
            }
        });
        assert_eq!(end.unwrap(), ends[29]);
        assert_eq!(passed[0].0, hurt[0].number);
        assert_eq!(passed.last().unwrap().1, last.end);
        let (log, opened) = bench.open(start).unwrap();
        assert_eq!(opened.end, ends[29]);
        assert!(opened.notes.iter().any(|note| note.contains("image-copy")), "{:?}", opened.notes);
        // What is whole is read; what is not is named by whoever reads it.
        let mut reader = log.read(last.end, ends[29]);
        let mut records = 0;
        while reader.next().unwrap().is_some() {
            records += 1;
        }
        assert_eq!(records, 30 - (4 + count));
        let mut reader = log.read(Lsn::FIRST, ends[29]);
        let error = loop {
            match reader.next() {
                Ok(record) => assert!(record.is_some(), "it is not read across"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code().0, "HFL011", "{error}");
        let place = log.append(1, 0, UowId::NONE, Lsn::NONE, &[b"on"]).unwrap();
        log.wait_durable(place.end).unwrap();
        assert_eq!(log.repair(&mut |_| true).unwrap().lost.len(), count);
        log.close().unwrap();
        let (log, opened) = bench.open(LogStart { proven: place.end, ..start }).unwrap();
        assert_eq!(opened.end, place.end);
        log.close().unwrap();
    }
}

#[test]
fn a_damaged_group_is_repaired_from_the_other_copy() {
    for stripes in [1, 2] {
        let bench = Bench::new(2, |config| config.stripes = stripes);
        let ends = fill(&bench, 30);
        let whole: Vec<_> = groups(&bench);
        for (turn, victim) in whole.iter().step_by(7).enumerate() {
            let copy = turn % 2;
            let name = victim.path.file_name().unwrap();
            let path = bench.config.copies[copy].join(name);
            let twin = bench.config.copies[1 - copy].join(name);
            spoil(&path, victim.offset + 4, &[0xee; 300]);
            let mut damage = Vec::new();
            scan(&bench.env(), &bench.config, &LogStart::NEW, &mut |seen| {
                if let Scanned::Damage { number, path, offset, .. } = seen {
                    damage.push((number, path, offset));
                }
            })
            .unwrap();
            assert_eq!(damage, [(victim.number, path.clone(), victim.offset)]);
            let (log, opened) = bench.open(LogStart::NEW).unwrap();
            assert_eq!((opened.end, opened.repaired), (*ends.last().unwrap(), 1));
            log.close().unwrap();
            assert_eq!(bytes(&path)[4096..], bytes(&twin)[4096..]);
        }
    }
}

#[test]
fn a_damaged_segment_header_is_no_end_either() {
    let bench = Bench::new(1, plain);
    fill(&bench, 40);
    let second = groups(&bench).iter().find(|group| group.path != bench.file(0, 0, 0)).cloned();
    let second = second.unwrap();
    spoil(&second.path, 40, &[0xee; 4]);
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Damaged { group, .. } if group == second.number), "{error}");
}

/// One bit of the system's name in the only header of a copy that can be read makes that copy none
/// of another system: the other one is whole.
#[test]
fn a_damaged_name_of_the_system_is_damage_and_no_other_system() {
    for format in [Format::Sealed, Format::Plain] {
        let bench = Bench::new(2, |config| config.format = format);
        let ends = fill(&bench, 5);
        let folder = bench.config.copies[1].clone();
        let mut names = bench.env().seam.disk.list(&folder).unwrap();
        names.sort();
        for (index, path) in names.iter().map(|name| folder.join(name)).enumerate() {
            match index {
                0 => spoil(&path, 16, &[bytes(&path)[16] ^ 1]),
                _ => spoil(&path, 40, &[0xee; 4]),
            }
        }
        let (log, opened) = bench.open(LogStart::NEW).unwrap();
        assert_eq!(opened.end, *ends.last().unwrap());
        log.close().unwrap();
        let (log, opened) = bench.open(LogStart::NEW).unwrap();
        assert_eq!((opened.end, opened.repaired), (*ends.last().unwrap(), 0));
        log.close().unwrap();
    }
}

#[test]
fn a_cut_log_is_refused_if_something_proves_more() {
    let bench = Bench::new(1, plain);
    fill(&bench, 10);
    let last = groups(&bench).last().unwrap().clone();
    spoil(&last.path, last.offset, &[0; 4096]);
    let (log, opened) = bench.open(LogStart::NEW).unwrap();
    assert_eq!(opened.end, last.first, "alone, a missing last group looks like a crash");
    drop(log);
    let proven = LogStart { proven: last.end, ..LogStart::NEW };
    let error = bench.open(proven).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::RolledBack { .. }), "{error}");
}

#[test]
fn groups_cannot_be_exchanged_or_moved() {
    let bench = Bench::new(1, plain);
    fill(&bench, 12);
    let all = groups(&bench);
    let (one, other) = (&all[3], &all[5]);
    let file = bytes(&one.path);
    let block = |group: &GroupInfo| &file[group.offset as usize..][..4096];
    spoil(&one.path, one.offset, block(other));
    spoil(&one.path, other.offset, block(one));
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Damaged { group, .. } if group == one.number), "{error}");
}

#[test]
fn a_file_from_elsewhere_is_refused() {
    let mut bench = Bench::new(2, plain);
    fill(&bench, 3);
    bench.config.copies.swap(0, 1);
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Foreign { .. }), "{error}");
    bench.config.copies.swap(0, 1);
    bench.system = SystemId([8; 16]);
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Foreign { .. }), "{error}");
    bench.system = SystemId([9; 16]);
    bench.config.segment_bytes += 4096;
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Mismatch { field: "segment_bytes", .. }), "{error}");
    let error = holdfast_wal::Log::create(&bench.env(), &bench.config).unwrap_err();
    assert!(matches!(error, LogError::Exists { .. }), "{error}");
}

#[test]
fn a_version_from_the_future_is_refused() {
    let bench = Bench::new(1, plain);
    fill(&bench, 5);
    let third = groups(&bench)[2].clone();
    for offset in [0, third.offset] {
        let before = bytes(&third.path);
        spoil(&third.path, offset + 4, &[9, 0]);
        let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
        assert!(matches!(error, LogError::FutureVersion { found: 9, known: 1, .. }), "{error}");
        spoil(&third.path, 0, &before);
    }
}

#[test]
fn a_plain_log_is_refused_where_a_sealed_one_is_expected() {
    let mut bench = Bench::new(1, |config| config.format = Format::Plain);
    let end = *fill(&bench, 5).last().unwrap();
    bench.config.format = Format::Sealed;
    let error = bench.open(LogStart::NEW).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("plain in a sealed log"), "{error}");
    // A conversion says how far plain groups reach; what is appended from then on is sealed.
    bench.config.plain.until = end;
    let (log, _) = bench.open(LogStart::NEW).unwrap();
    let place = log.append(1, 0, UowId::NONE, Lsn::NONE, &[b"now sealed"]).unwrap();
    log.wait_durable(place.end).unwrap();
    log.close().unwrap();
    let formats: Vec<Format> = groups(&bench).iter().map(|group| group.format).collect();
    assert_eq!(formats[4..], [Format::Plain, Format::Sealed]);
}

#[test]
fn an_empty_folder_is_no_log() {
    let bench = Bench::new(1, plain);
    let mut config = bench.config.clone();
    config.copies = vec![bench.dir.join("elsewhere")];
    bench.seam.disk.create_dir(&config.copies[0]).unwrap();
    let error = holdfast_wal::Log::open(bench.env(), config, LogStart::NEW).map(|_| ());
    assert!(matches!(error, Err(LogError::Missing { .. })));
}
