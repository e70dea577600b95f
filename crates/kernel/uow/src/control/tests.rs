//! A control file whose disk fails.

use std::path::PathBuf;

use base::SystemId;
use seal::TestKeys;
use seam::sim::{self, CrashStyle, End, Fault, FaultKind, Rng, SimConfig, SimDisk, When};

use super::*;

const PATH: &str = "/control";

fn keys() -> ControlKeys {
    let system = SystemId(*b"holdfast-control");
    ControlKeys { keys: Arc::new(TestKeys::new(1)), label: "system".into(), system }
}

/// A disk with a new control file, whose log has a stale copy.
fn made() -> SimDisk {
    let disk = SimDisk::new();
    let outcome = sim::run(SimConfig::new(1), disk.clone(), |seam| {
        ControlFile::create(&seam, Path::new(PATH), &keys(), &Protection::SEALED).unwrap();
        let control = open(&seam);
        control.copy_lost(1, GroupNumber(7), "it is gone").unwrap();
    });
    outcome.expect_completed();
    disk.settle();
    disk
}

fn open(seam: &Seam) -> ControlFile {
    ControlFile::open(seam, &PathBuf::from(PATH), &keys()).unwrap().0
}

fn fail_once(disk: &SimDisk) {
    disk.inject(Fault::new(FaultKind::WriteError, PATH).when(When::Nth(1)));
}

#[test]
fn a_write_that_fails_changes_nothing_of_what_the_file_says() {
    let disk = made();
    let medium = disk.clone();
    let outcome = sim::run(SimConfig::new(2), disk, move |seam| {
        let control = open(&seam);
        let stale = Some((1, GroupNumber(7)));
        fail_once(&medium);
        control.copy_back(1).unwrap_err();
        assert_eq!(control.block().stale, stale);
        fail_once(&medium);
        control.ahead(Some(Beginning([1; wal::BEGINNING_BYTES]))).unwrap_err();
        fail_once(&medium);
        let asked = Protection { log_copies: 2, ..Protection::SEALED };
        control.bind(&asked).unwrap_err();
        assert_eq!(control.protection(), open(&seam).protection());
        control.update(|block| block.proven = Lsn(500)).unwrap();
        let found = open(&seam).block();
        assert_eq!((found.stale, found.ahead, found.proven), (stale, None, Lsn(500)));
    });
    outcome.expect_completed();
}

#[test]
fn the_write_behind_one_that_failed_may_be_torn() {
    let mut torn = 0;
    for seed in 0..40 {
        let disk = made();
        let medium = disk.clone();
        let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
            let control = open(&seam);
            // What was said before cannot be written again either.
            let fault = medium.inject(Fault::new(FaultKind::WriteError, PATH));
            control.copy_back(1).unwrap_err();
            medium.heal(fault);
            medium.crash_after(1);
            let _ = control.update(|block| block.proven = Lsn(500));
        });
        assert_eq!(outcome.end, End::Crashed, "{outcome}");
        let disk = disk.crash_image(&mut Rng::new(seed), CrashStyle::TearAll);
        let outcome = sim::run(SimConfig::new(seed), disk, |seam| {
            let control = open(&seam);
            assert_eq!(control.block().stale, Some((1, GroupNumber(7))));
            torn += u32::from(control.block().proven == Lsn::NONE);
        });
        outcome.expect_completed();
    }
    assert!(torn > 0, "no write was torn");
}

#[test]
fn a_write_that_arrived_though_it_failed_is_taken_back() {
    for seed in 0..4 {
        let disk = made();
        let medium = disk.clone();
        let outcome = sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
            let control = open(&seam);
            let arrives = Fault::new(FaultKind::StoredWriteError, PATH).when(When::Nth(1));
            let asked = Protection { log_copies: 2, ..Protection::SEALED };
            let fault = medium.inject(arrives.clone());
            control.bind(&asked).unwrap_err();
            assert_eq!(medium.hits(fault), 1);
            medium.inject(arrives);
            control.copy_back(1).unwrap_err();
            sim::crash();
        });
        assert_eq!(outcome.end, End::Crashed, "{outcome}");
        let disk = disk.crash_image(&mut Rng::new(seed), CrashStyle::DropAll);
        let outcome = sim::run(SimConfig::new(seed), disk, |seam| {
            let control = open(&seam);
            assert_eq!(control.block().stale, Some((1, GroupNumber(7))));
            assert_eq!(control.protection().log_copies, Protection::SEALED.log_copies);
            // Neither slot says what was refused, and the next block is the newest one.
            control.update(|block| block.proven = Lsn(500)).unwrap();
            assert_eq!(open(&seam).block().proven, Lsn(500));
        });
        outcome.expect_completed();
    }
}

#[test]
fn what_must_not_be_forgotten_stands_in_both_slots() {
    for slot in 0..2 {
        let disk = made();
        disk.write_raw(PATH, slot * BLOCK as u64, &[0; BLOCK]);
        let outcome = sim::run(SimConfig::new(3), disk, |seam| {
            assert_eq!(open(&seam).block().stale, Some((1, GroupNumber(7))));
        });
        outcome.expect_completed();
    }
}
