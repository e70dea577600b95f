//! The write-ahead data set: commits are durable there before their groups are full, and whatever
//! crashes, nothing that was acknowledged is missing from the log.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::machine::{Machine, Script, small, sweep};
use base::{Lsn, UowId};
use holdfast_wal::{LogConfig, LogError, WadsConfig};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, End, Fault, FaultKind, SimConfig};

fn ahead(copies: usize, stripes: u8, files: usize) -> LogConfig {
    let folders = (0..files).map(|file| format!("/ahead-{}", file + 1).into()).collect();
    let wads = WadsConfig { bytes: 24 << 10, ..WadsConfig::new(folders) };
    LogConfig { wads: Some(wads), ..small(copies, stripes) }
}

fn every_write(config: LogConfig, truncates: bool) -> Result<u64, String> {
    let mut base = Machine::new(config);
    base.truncates = truncates;
    let script = Script { seed: 17, records: 40, body_max: 3_000 };
    sweep(&base, script)
}

#[test]
fn a_crash_at_every_write_loses_nothing() {
    assert!(every_write(ahead(1, 1, 1), false).unwrap() > 20);
    assert!(every_write(ahead(2, 1, 2), false).unwrap() > 30);
    assert!(every_write(ahead(2, 3, 1), false).unwrap() > 20);
}

#[test]
fn a_crash_at_every_write_loses_nothing_while_segments_are_used_again() {
    assert!(every_write(ahead(2, 1, 2), true).unwrap() > 30);
    assert!(every_write(ahead(1, 2, 1), true).unwrap() > 10);
}

#[test]
fn small_commits_and_long_records_survive_every_crash() {
    for seed in 0..6 {
        let base = Machine::new(ahead(1, 1, 1));
        sweep(&base, Script { seed: 100 * seed, records: 25, body_max: 100 }).unwrap();
        let base = Machine::new(ahead(2, 1, 2));
        sweep(&base, Script { seed: 100 * seed, records: 20, body_max: 8_000 }).unwrap();
    }
}

#[test]
fn a_planted_bug_is_found() {
    for bug in [Failpoint::WadsNotRead, Failpoint::WadsReusedEarly, Failpoint::WadsUnrecorded] {
        arm(Some(bug));
        let found = (0..20).any(|seed| {
            let base = Machine::new(ahead(1, 1, 1));
            sweep(&base, Script { seed: 100 * seed, records: 25, body_max: 100 }).is_err()
        });
        arm(None);
        assert!(found, "{bug:?}");
    }
}

/// Runs a log that holds `records` small commits when the power fails.
fn cut_off(machine: &mut Machine, records: u64) -> Lsn {
    let mut end = Lsn::NONE;
    let outcome = sim::run(SimConfig::new(3), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        for index in 0..records {
            let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
            end = place.end;
        }
        let statistics = log.statistics();
        assert_eq!(statistics.groups, 0, "nothing was full");
        assert_eq!(statistics.ahead.unwrap().entries, records);
        assert!(log.landed() < end);
        sim::crash();
    });
    assert_eq!(outcome.end, End::Crashed);
    machine.crash(5, CrashStyle::DropAll);
    end
}

#[test]
fn a_restart_takes_what_only_the_write_ahead_data_set_has() {
    let mut machine = Machine::new(ahead(2, 1, 2));
    let end = cut_off(&mut machine, 5);
    sim::run(SimConfig::new(4), machine.disk.clone(), |seam| {
        let (log, opened) = machine.open(&seam).unwrap();
        assert_eq!(opened.end, end);
        assert!(opened.notes.iter().any(|note| note.contains("write-ahead")), "{opened:?}");
        assert_eq!(log.landed(), end, "the log itself has it now");
        let mut reader = log.read(Lsn::FIRST, end);
        assert_eq!((0..5).filter(|_| reader.next().unwrap().is_some()).count(), 5);
        log.close().unwrap();
        assert!(machine.ledger.ahead.lock().is_none(), "a log that was closed needs it no more");
    })
    .expect_completed();
}

#[test]
fn one_of_two_files_is_enough_and_none_is_refused() {
    let mut machine = Machine::new(ahead(1, 1, 2));
    let end = cut_off(&mut machine, 4);
    let mut single = machine.fork();
    sim::run(SimConfig::new(4), single.disk.clone(), |seam| {
        seam.disk.remove("/ahead-1/write-ahead.hfw".as_ref()).unwrap();
        let (log, opened) = single.open(&seam).unwrap();
        assert_eq!(opened.end, end);
        log.close().unwrap();
    })
    .expect_completed();
    single = machine.fork();
    sim::run(SimConfig::new(4), single.disk.clone(), |seam| {
        for file in ["/ahead-1/write-ahead.hfw", "/ahead-2/write-ahead.hfw"] {
            seam.disk.remove(file.as_ref()).unwrap();
        }
        let refused = single.open(&seam).map(|_| ()).unwrap_err();
        assert!(matches!(refused, LogError::NoWads { .. }), "{refused}");
    })
    .expect_completed();
    machine.config.wads = None;
    sim::run(SimConfig::new(4), machine.disk.clone(), |seam| {
        let refused = machine.open(&seam).map(|_| ()).unwrap_err();
        assert!(matches!(refused, LogError::NoWads { .. }), "{refused}");
    })
    .expect_completed();
}

#[test]
fn a_file_that_refuses_is_left_alone_and_the_log_goes_on() {
    let machine = Machine::new(ahead(2, 1, 2));
    sim::run(SimConfig::new(6), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        let commit = || {
            let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
        };
        commit();
        machine.disk.inject(Fault::new(FaultKind::Dead, "/ahead-2"));
        commit();
        commit();
        let statistics = log.statistics();
        assert_eq!(log.landed(), log.durable());
        assert!(statistics.ahead.unwrap().trouble.is_some());
        assert!(statistics.copies.iter().all(|copy| copy.living));
        machine.disk.heal_all();
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_damaged_or_failed_data_set_is_seen_in_use_and_begins_anew() {
    let mut machine = Machine::new(ahead(2, 1, 2));
    let paths = ["/ahead-1/write-ahead.hfw", "/ahead-2/write-ahead.hfw"];
    let mut end = Lsn::NONE;
    let outcome = sim::run(SimConfig::new(6), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        let mut commit = || {
            let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
            end = place.end;
        };
        let faults: [&dyn Fn(&str); 3] = [
            &|path| machine.disk.corrupt(path, 4096 + 150, &[1]),
            &|path| machine.disk.truncate(path, 8192),
            &|path| seam.disk.remove(path.as_ref()).unwrap(),
        ];
        for (fault, path) in faults.iter().zip(paths.iter().cycle()) {
            (0..3).for_each(|_| commit());
            assert!(log.prove_ahead().is_empty(), "all is well");
            fault(path);
            let found = log.prove_ahead();
            assert!(found.len() == 1 && found[0].path == std::path::Path::new(path), "{found:?}");
            assert_eq!(log.renew_ahead().unwrap(), None);
            assert_eq!(log.landed(), log.durable(), "the log has what it had");
        }
        commit();
        machine.disk.inject(Fault::new(FaultKind::Dead, "/ahead-2"));
        commit();
        assert_eq!(log.prove_ahead().len(), 2, "nothing is written ahead");
        machine.disk.heal_all();
        assert_eq!(log.renew_ahead().unwrap(), None);
        (0..3).for_each(|_| commit());
        assert!(log.landed() < log.durable(), "commits go ahead again");
        sim::crash();
    });
    assert_eq!(outcome.end, End::Crashed, "{outcome}");
    machine.crash(5, CrashStyle::DropAll);
    sim::run(SimConfig::new(4), machine.disk.clone(), |seam| {
        let (log, opened) = machine.open(&seam).unwrap();
        assert_eq!(opened.end, end, "whatever was acknowledged is there");
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_data_set_whose_folder_is_unmounted_in_use_is_left_and_missed_by_nobody() {
    for files in 1..=2 {
        let mut machine = Machine::new(ahead(2, 1, files));
        let mut end = Lsn::NONE;
        let outcome = sim::run(SimConfig::new(8), machine.disk.clone(), |seam| {
            let (log, _) = machine.open(&seam).unwrap();
            let mut commit = || {
                let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&[7; 100]]).unwrap();
                log.wait_durable(place.end).unwrap();
                end = place.end;
            };
            let trouble = || log.statistics().ahead.unwrap().trouble;
            commit();
            log.look_around();
            assert!(log.landed() < log.durable() && trouble().is_none(), "all is well");
            machine.disk.unmount(std::path::Path::new("/ahead-1"));
            commit();
            assert_eq!(trouble(), None, "no write has failed");
            log.look_around();
            assert!(trouble().unwrap().contains("unmounted"));
            assert_eq!(log.landed(), log.durable(), "the log has what it had");
            commit();
            assert_eq!(log.landed(), log.durable(), "and goes on alone");
            sim::crash();
        });
        assert_eq!(outcome.end, End::Crashed, "{outcome}");
        assert!(machine.ledger.ahead.lock().is_none(), "that is recorded");
        machine.crash(5, CrashStyle::DropAll);
        sim::run(SimConfig::new(4), machine.disk.clone(), |seam| {
            // Nobody needs the folder, whether it is there or not.
            let (log, opened) = machine.open(&seam).unwrap();
            assert_eq!(opened.end, end, "whatever was acknowledged is there");
            log.close().unwrap();
        })
        .expect_completed();
    }
}
