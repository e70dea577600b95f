//! The log goes over to more stripes or fewer while programs go on: segments of both numbers stand
//! side by side, whatever crashes meanwhile.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::machine::{Machine, Script, crashed, own_folders, small};
use base::{Lsn, UowId};
use holdfast_wal::{Log, LogConfig, LogError, Opened};
use seam::Seam;
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig, When};

const SCRIPT: Script = Script { seed: 5, records: 100, body_max: 3_000 };
const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

/// Rounds of a sweep: with each the schedule is another one.
const ROUNDS: u64 = 4;

/// What happens besides in a life.
#[derive(Clone, Copy)]
struct Life {
    copies: usize,
    truncates: bool,
    /// A copy is lost and comes back, and is then the only one that is left.
    resyncs: bool,
}

/// A life with an operator who changes stripes, and a power failure after `n` writes. `false` if
/// it ended by itself.
fn one(life: Life, round: u64, n: u64) -> Result<bool, String> {
    let mut machine = Machine::new(small(life.copies, 1 + (n % 3) as u8));
    (machine.restripes, machine.truncates, machine.resyncs) = (true, life.truncates, life.resyncs);
    if life.resyncs {
        let lost = Fault::new(FaultKind::WriteError, "/log-1").when(When::Nth(2 + n % 9));
        machine.disk.inject(lost);
    }
    let ended = !crashed(
        &machine.live(Script { seed: SCRIPT.seed + n + 1_000 * round, ..SCRIPT }, Some(n)),
    )?;
    machine.crash(n, STYLES[n as usize % 4]);
    (machine.resyncs, machine.restripes) = (false, false);
    let alone = life.resyncs && machine.ledger.stale.lock().is_none();
    if alone {
        machine.disk.inject(Fault::new(FaultKind::Dead, "/log-2"));
    }
    machine.restart(n)?;
    if !alone {
        machine.restripes = true;
        machine.live(Script { seed: n, records: 4, ..SCRIPT }, None);
        machine.restripes = false;
        machine.restart(n)?;
    }
    Ok(!ended)
}

fn sweep(life: Life, round: u64, step: usize) -> u64 {
    for (count, n) in (0..).zip((1..).step_by(step)) {
        if !one(life, round, n).unwrap_or_else(|why| panic!("{round}, write {n}: {why}")) {
            return count;
        }
    }
    unreachable!("a script has an end")
}

#[test]
fn a_crash_at_any_write_loses_nothing() {
    let life = Life { copies: 1, truncates: false, resyncs: false };
    let dual = Life { truncates: true, copies: 2, ..life };
    let crashes: u64 = (0..ROUNDS).map(|round| sweep(life, round, 1) + sweep(dual, round, 2)).sum();
    assert!(crashes > 200, "{crashes} crashes");
}

#[test]
fn a_copy_comes_back_whatever_the_stripes_are() {
    let life = Life { copies: 2, truncates: true, resyncs: true };
    let crashes: u64 = (0..ROUNDS).map(|round| sweep(life, round, 2)).sum();
    assert!(crashes > 50, "{crashes} crashes");
}

/// What happens to a log in use.
fn in_use<R>(machine: &Machine, with: impl FnOnce(&Seam, &Arc<Log>, &Opened) -> R) -> R {
    let mut result = None;
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let (log, opened) = machine.open(&seam).unwrap();
        result = Some(with(&seam, &log, &opened));
        log.close().unwrap();
    })
    .expect_completed();
    result.unwrap()
}

fn fill(log: &Log, records: u64) {
    for index in 0..records {
        let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&[7; 3_000]]).unwrap();
        log.wait_durable(place.end).unwrap();
    }
}

fn change(machine: &Machine, log: &Log, stripes: u8, own: bool) -> Result<(), LogError> {
    let folders = if own { own_folders(stripes, machine.config.copies.len()) } else { Vec::new() };
    let recorded = (stripes, folders.clone());
    let keep = || {
        *machine.ledger.layout.lock() = Some(recorded);
        Ok(())
    };
    log.restripe(stripes, folders, keep, &mut |_, _| true)
}

fn stripes_of(log: &Log) -> Vec<u8> {
    log.segments().iter().map(|segment| segment.stripes).collect()
}

fn records(log: &Log) -> u64 {
    let mut reader = log.read(Lsn::FIRST, log.durable());
    let mut count = 0;
    while reader.next().unwrap().is_some() {
        count += 1;
    }
    count
}

fn files(machine: &Machine, end: &str) -> Vec<PathBuf> {
    let paths = machine.disk.paths().into_iter();
    paths.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

#[test]
fn each_segment_says_how_many_stripes_it_has() {
    let machine = Machine::new(small(2, 1));
    in_use(&machine, |_, log, _| {
        fill(log, 5);
        change(&machine, log, 3, false).unwrap();
        fill(log, 5);
        change(&machine, log, 2, false).unwrap();
        fill(log, 5);
        assert_eq!(stripes_of(log), [1, 3, 2]);
        assert_eq!(records(log), 15);
    });
    // What is configured counts for new segments only.
    *machine.ledger.layout.lock() = None;
    in_use(&machine, |_, log, _| {
        assert_eq!(records(log), 15);
        assert!(!files(&machine, "stripe-2").is_empty(), "the second segment needs them");
        fill(log, 5);
        assert_eq!(stripes_of(log), [1, 3, 2, 1]);
        // All slots are used again.
        log.truncate(log.durable());
        fill(log, 40);
        machine.ledger.from.store(log.durable().0, SeqCst);
    });
    in_use(&machine, |_, _, _| {
        assert_eq!(
            files(&machine, "stripe-2"),
            Vec::<PathBuf>::new(),
            "nobody needs them any more"
        );
    });
}

#[test]
fn a_change_that_cannot_be_made_changes_nothing() {
    let machine = Machine::new(small(1, 1));
    in_use(&machine, |_, log, _| {
        fill(log, 5);
        let error = change(&machine, log, 9, false).unwrap_err();
        assert!(matches!(error, LogError::Config { .. }), "{error}");
        // The device of the new stripe is full.
        machine.disk.inject(Fault::new(FaultKind::NoSpace, "/stripe-2-of-1"));
        let error = change(&machine, log, 2, true).unwrap_err();
        assert!(error.to_string().contains("/stripe-2-of-1"), "{error}");
        assert_eq!(files(&machine, "stripe-1"), Vec::<PathBuf>::new());
        machine.disk.heal_all();
        fill(log, 5);
        assert_eq!(stripes_of(log)[0], 1);
        assert_eq!(*machine.ledger.layout.lock(), None);
        // Whoever cannot record it has nothing changed.
        let error = log.restripe(2, vec![], || Err("no".into()), &mut |_, _| true).unwrap_err();
        assert!(matches!(error, LogError::Stripes { .. }), "{error}");
        let error = log.restripe(2, vec![], || Ok(()), &mut |_, _| false).unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(files(&machine, "stripe-1"), Vec::<PathBuf>::new());
        // A folder stays as long as there are files.
        change(&machine, log, 2, true).unwrap();
        let error = log.restripe(2, vec![], || Ok(()), &mut |_, _| true).unwrap_err();
        assert!(error.to_string().contains("stays there"), "{error}");
        fill(log, 5);
        assert_eq!(records(log), 15);
    });
    assert_eq!(in_use(&machine, |_, log, _| records(log)), 15);
}

#[test]
fn no_folder_gets_stripes_of_both_copies() {
    let machine = Machine::new(small(2, 1));
    let crosswise = vec![machine.config.copies.iter().rev().cloned().collect()];
    let in_one = |error: &LogError| match error {
        LogError::Config { why } => why.contains("of copy 2 in"),
        _ => false,
    };
    in_use(&machine, |_, log, _| {
        let error = log.restripe(2, crosswise, || Ok(()), &mut |_, _| true).unwrap_err();
        assert!(in_one(&error), "{error}");
        assert_eq!(files(&machine, "stripe-1"), Vec::<PathBuf>::new());
        fill(log, 3);
    });
    let made = |stripes, folder: &str| {
        let mut result = Ok(());
        sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
            let copies = [1, 2].map(|copy| PathBuf::from(format!("{folder}-{copy}")));
            let folders = vec![copies.iter().rev().cloned().collect()];
            let mut config = LogConfig { stripes, stripe_folders: folders, ..small(2, 1) };
            config.copies = copies.to_vec();
            result = Log::create(&machine.env(&seam), &config);
        })
        .expect_completed();
        result
    };
    assert!(made(2, "/crossed").is_err_and(|error| in_one(&error)));
    // What is not written over is in nobody's way.
    made(1, "/single").unwrap();
}

#[test]
fn the_log_of_another_system_is_never_written_over() {
    let machine = Machine::new(small(1, 1));
    let other = small(1, 2);
    sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
        let mut env = machine.env(&seam);
        env.system = base::SystemId([9; 16]);
        let mut config = other.clone();
        config.copies = vec!["/stripe-2-of-1".into()];
        Log::create(&env, &config).unwrap();
    })
    .expect_completed();
    in_use(&machine, |_, log, _| {
        let before = files(&machine, "stripe-1");
        let error = change(&machine, log, 2, true).unwrap_err();
        assert!(matches!(error, LogError::Exists { .. }), "{error}");
        assert!(!before.is_empty() && before == files(&machine, "stripe-1"), "they are there");
        fill(log, 5);
    });
}

#[test]
fn a_stripe_whose_folder_is_gone_is_no_end_of_the_log() {
    let machine = Machine::new(small(1, 1));
    in_use(&machine, |_, log, _| {
        change(&machine, log, 2, true).unwrap();
        fill(log, 6);
    });
    let (_, folders) = machine.ledger.layout.lock().clone().unwrap();
    for layout in [(2, vec![vec!["/elsewhere".into()]]), (1, vec![])] {
        *machine.ledger.layout.lock() = Some(layout);
        sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
            let error = machine.open(&seam).map(|_| ()).unwrap_err();
            let code = base::Coded::code(&error).0;
            assert!(["HFL010", "HFL011"].contains(&code), "{error}");
        })
        .expect_completed();
    }
    *machine.ledger.layout.lock() = Some((2, folders));
    assert_eq!(in_use(&machine, |_, log, _| records(log)), 6);
}

#[test]
fn planted_bugs_around_new_stripes_are_found() {
    let life = Life { copies: 1, truncates: false, resyncs: false };
    for bug in [Failpoint::StripesUnrecorded, Failpoint::StripesUnsynced, Failpoint::StripesOfNow] {
        arm(Some(bug));
        let found = (1..400).any(|n| one(life, 0, n).is_err());
        arm(None);
        assert!(found, "{bug:?}");
    }
}
