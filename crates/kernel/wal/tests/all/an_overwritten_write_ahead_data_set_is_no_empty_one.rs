//! A write-ahead data set that was overwritten as a whole after a crash was once taken for an empty
//! one: what only it had was gone, and nobody said so. It has to prove that it is of the last
//! start; and no crash of a start, wherever it falls, leaves one that cannot prove it.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::sync::Arc;

use crate::machine::{Machine, crashed, small};
use base::{Lsn, SystemId, UowId};
use holdfast_wal::{Beginning, Log, LogConfig, LogEnv, LogError, LogStart, WadsConfig, look_ahead};
use seal::TestKeys;
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};

const FILES: [&str; 2] = ["/ahead-1/write-ahead.hfw", "/ahead-2/write-ahead.hfw"];
const BYTES: u64 = 24 << 10;

fn config(files: usize) -> LogConfig {
    let folders = (0..files).map(|file| format!("/ahead-{}", file + 1).into()).collect();
    let wads = WadsConfig { bytes: BYTES, ..WadsConfig::new(folders) };
    LogConfig { wads: Some(wads), ..small(1, 1) }
}

/// Commits that are in no group when the power fails. Returns where the last one ends.
fn crash_ahead(machine: &mut Machine, system: SystemId, seed: u64) -> Lsn {
    let mut end = Lsn::NONE;
    let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
        let env = LogEnv { system, ..machine.env(&seam) };
        let (log, _) = Log::open(env, machine.config(), machine.start()).unwrap();
        for index in 0..4 {
            let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
            end = place.end;
        }
        assert!(log.landed() < end);
        sim::crash();
    });
    assert_eq!(outcome.end, End::Crashed, "{outcome}");
    machine.crash(seed, CrashStyle::DropAll);
    end
}

/// A system that crashed, its disk as it was after the crash before, and where it ends.
fn crashed_twice(files: usize) -> (Machine, SimDisk, Lsn) {
    let mut machine = Machine::new(config(files));
    let system = SystemId([3; 16]);
    crash_ahead(&mut machine, system, 3);
    let earlier = machine.disk.snapshot();
    let end = crash_ahead(&mut machine, system, 4);
    (machine, earlier, end)
}

/// The same file of another system, which crashed alike.
fn foreign() -> SimDisk {
    let mut machine = Machine::new(config(2));
    let disk = SimDisk::new();
    machine.disk = disk.clone();
    let system = SystemId([4; 16]);
    sim::run(SimConfig::new(1), disk, |seam| {
        Log::create(&LogEnv { system, ..machine.env(&seam) }, &machine.config).unwrap();
    })
    .expect_completed();
    crash_ahead(&mut machine, system, 7);
    machine.disk
}

/// Opens what a machine has; where it ends.
fn open(machine: &Machine, start: LogStart) -> Result<Lsn, LogError> {
    let mut opened = None;
    sim::run(SimConfig::new(9), machine.disk.clone(), |seam| {
        opened =
            Some(Log::open(machine.env(&seam), machine.config(), start).map(|(log, found)| {
                log.close().unwrap();
                found.end
            }));
    })
    .expect_completed();
    opened.unwrap()
}

/// Overwrites a file as a whole.
type Attack = Box<dyn Fn(&SimDisk, &str)>;

/// Ways to do that, by name.
fn attacks(earlier: SimDisk) -> Vec<(&'static str, Attack)> {
    let other = foreign();
    let whole = |disk: &SimDisk, path: &str, of: &SimDisk| {
        disk.write_raw(path, 0, &of.read_raw(path, 0, BYTES as usize));
    };
    vec![
        ("zeros", Box::new(|disk, path| disk.write_raw(path, 0, &[0; BYTES as usize]))),
        (
            "random bytes",
            Box::new(|disk, path| {
                let mut bytes = vec![0; BYTES as usize];
                Rng::new(11).fill(&mut bytes);
                disk.write_raw(path, 0, &bytes);
            }),
        ),
        ("an earlier start's", Box::new(move |disk, path| whole(disk, path, &earlier))),
        ("another system's", Box::new(move |disk, path| whole(disk, path, &other))),
    ]
}

#[test]
fn a_start_after_a_crash_refuses_one_that_was_overwritten_as_a_whole() {
    for files in 1..=2 {
        let (machine, earlier, end) = crashed_twice(files);
        for (name, attack) in attacks(earlier) {
            let spoilt = machine.fork();
            FILES[..files].iter().for_each(|path| attack(&spoilt.disk, path));
            let refused = open(&spoilt, spoilt.start()).unwrap_err();
            let LogError::NoWads { why } = &refused else { panic!("{name}: {refused}") };
            assert!(FILES[..files].iter().all(|path| why.contains(path)), "{name}: {why}");
            let known = LogStart { override_stale: true, ..spoilt.start() };
            let reached = open(&spoilt, known).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(reached < end, "{name}: what it had is given up knowingly");
        }
        assert_eq!(open(&machine, machine.start()).unwrap(), end, "the file itself is whole");
    }
}

#[test]
fn one_file_that_is_whole_serves_beside_one_that_was_overwritten() {
    let (machine, earlier, end) = crashed_twice(2);
    for (name, attack) in attacks(earlier) {
        for path in FILES {
            let spoilt = machine.fork();
            attack(&spoilt.disk, path);
            assert_eq!(open(&spoilt, spoilt.start()).unwrap(), end, "{name} in {path}");
        }
    }
}

#[test]
fn an_entry_that_was_written_later_serves_where_the_first_one_is_damaged() {
    let (machine, _, end) = crashed_twice(1);
    machine.disk.write_raw(FILES[0], 0, &[0; 4096]);
    assert_eq!(open(&machine, machine.start()).unwrap(), end);
}

#[test]
fn a_bug_that_believes_what_was_overwritten_is_found() {
    let (machine, _, end) = crashed_twice(1);
    machine.disk.write_raw(FILES[0], 0, &[0; BYTES as usize]);
    arm(Some(Failpoint::WadsOverwritten));
    let opened = open(&machine.fork(), machine.start());
    arm(None);
    assert!(opened.unwrap() < end, "work that was acknowledged is gone, and nobody says so");
    assert!(matches!(open(&machine, machine.start()), Err(LogError::NoWads { .. })));
}

/// Crashes a start that follows a crash, after each of its writes. Returns how often.
fn starts_that_crash() -> Result<u64, String> {
    let styles =
        [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];
    let mut crashes = 0;
    for files in 1..=2 {
        let (base, _, end) = crashed_twice(files);
        for n in 1.. {
            let mut outcomes = Vec::new();
            for style in styles {
                let mut machine = base.fork();
                machine.disk.crash_after(n);
                let started = sim::run(SimConfig::new(n), machine.disk.clone(), |seam| {
                    let (log, opened) = machine.open(&seam).unwrap();
                    assert_eq!(opened.end, end);
                    // The first commit has the new beginning recorded.
                    let place = log.append(1, 0, UowId(9), Lsn::NONE, &[&[8; 100]]).unwrap();
                    log.wait_durable(place.end).unwrap();
                    sim::crash();
                });
                outcomes.push(crashed(&started)?);
                machine.crash(n, style);
                let reached = open(&machine, machine.start());
                let reached = reached.map_err(|error| format!("write {n}, {style:?}: {error}"))?;
                if reached < end {
                    return Err(format!("write {n}, {style:?}: ends at {reached}, not {end}"));
                }
                crashes += 1;
            }
            let writes = base.fork();
            writes.disk.crash_after(n);
            let outcome = sim::run(SimConfig::new(n), writes.disk.clone(), |seam| {
                let (log, _) = writes.open(&seam).unwrap();
                log.close().unwrap();
            });
            if outcome.end == End::Completed {
                break;
            }
        }
    }
    Ok(crashes)
}

#[test]
fn a_crash_at_every_write_of_a_start_leaves_one_that_can_be_started() {
    assert!(starts_that_crash().unwrap() > 40);
}

#[test]
fn a_bug_that_empties_the_files_too_early_is_found() {
    arm(Some(Failpoint::WadsOverLate));
    let found = starts_that_crash();
    arm(None);
    assert!(found.unwrap_err().contains("write-ahead"));
}

#[test]
fn one_that_is_overwritten_in_use_is_seen_and_begins_anew() {
    let machine = Machine::new(config(1));
    sim::run(SimConfig::new(6), machine.disk.clone(), |seam| {
        let (log, _) = machine.open(&seam).unwrap();
        assert_eq!(log.prove_ahead(), [], "nothing was written yet but the first entry");
        machine.disk.write_raw(FILES[0], 0, &[0; BYTES as usize]);
        assert_eq!(log.prove_ahead().len(), 1);
        assert_eq!(log.renew_ahead().unwrap(), None);
        assert_eq!(log.prove_ahead(), []);
        log.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_new_key_of_the_log_leaves_no_entry_under_the_old_one() {
    let machine = Machine::new(config(1));
    sim::run(SimConfig::new(6), machine.disk.clone(), |seam| {
        let keys = Arc::new(TestKeys::new(5));
        let env = LogEnv { keys: keys.clone(), ..machine.env(&seam) };
        let (log, _) = Log::open(env.clone(), machine.config(), machine.start()).unwrap();
        let commit = || {
            let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&[7; 100]]).unwrap();
            log.wait_durable(place.end).unwrap();
        };
        commit();
        let generation = keys.new_generation();
        assert_eq!(log.renew_key().unwrap(), generation);
        commit();
        let first = machine.disk.read_raw(FILES[0], 24, 4);
        assert_eq!(first, generation.0.to_le_bytes(), "the first entry is under the new key");
        let held = *machine.ledger.ahead.try_lock().unwrap();
        let looked = look_ahead(&env, &machine.config(), held);
        assert_eq!(looked.len(), 1);
        assert!(looked[0].1.as_ref().is_ok_and(|entries| *entries > 0), "{looked:?}");
        let others = look_ahead(&env, &machine.config(), Some(Beginning([9; 5])));
        assert!(others[0].1.is_err(), "{others:?}");
        log.close().unwrap();
    })
    .expect_completed();
}
