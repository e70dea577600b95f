//! A folder that is unmounted in use fails no write: what is written there goes on into files that
//! nobody will find. A look finds it, the copy counts as lost from then on, and comes back as a
//! lost one does; what had been there when it was unmounted is never taken for the log.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use crate::machine::{Machine, small};
use base::{Lsn, UowId};
use holdfast_wal::{CopyInfo, Log, LogConfig};
use seam::Seam;
use seam::sim::{self, CrashStyle, Fault, FaultKind, SimConfig};

fn commit(log: &Log, count: u64) {
    for index in 0..count {
        let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&[7; 3_000]]).unwrap();
        log.wait_durable(place.end).unwrap();
    }
}

fn copy(log: &Log, copy: usize) -> CopyInfo {
    log.statistics().copies[copy].clone()
}

/// One life; afterwards the machine has crashed.
fn life(machine: &mut Machine, seed: u64, body: impl FnOnce(&Machine, &Log, &Seam) + Send) {
    let inside: &Machine = machine;
    sim::run(SimConfig::new(seed), inside.disk.clone(), |seam| {
        let (log, _) = inside.open(&seam).unwrap();
        body(inside, &log, &seam);
        log.close().unwrap();
    })
    .expect_completed();
    machine.crash(seed, CrashStyle::Random);
}

/// What a start finds of the log.
fn records(machine: &Machine, seed: u64) -> u64 {
    let found = AtomicU64::new(0);
    sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
        let (log, opened) = machine.open(&seam).unwrap();
        let mut reader = log.read(Lsn::FIRST, opened.end);
        while reader.next().unwrap().is_some() {
            found.fetch_add(1, SeqCst);
        }
        log.close().unwrap();
    })
    .expect_completed();
    found.into_inner()
}

#[test]
fn the_copy_counts_as_lost_and_comes_back_when_it_is_mounted_again() {
    for folder in ["/log-1", "/log-2"] {
        let index = usize::from(folder == "/log-2");
        let mut machine = Machine::new(small(2, 1));
        life(&mut machine, 1, |machine, log, _| {
            commit(log, 5);
            log.look_around();
            assert_eq!(copy(log, index).trouble, None);
            machine.disk.unmount(Path::new(folder));
            commit(log, 5);
            assert!(copy(log, index).living, "no write has failed");
            log.look_around();
            let info = copy(log, index);
            assert!(!info.living);
            assert!(info.trouble.unwrap().contains("unmounted"));
            assert!(machine.ledger.stale.lock().is_some(), "that is recorded");
            commit(log, 5);
            machine.disk.mount(Path::new(folder));
            log.resync(index as u8, 0, &mut |_, _| true).unwrap();
            log.look_around();
            let info = copy(log, index);
            assert!(info.living && info.trouble.is_none(), "{info:?}");
            commit(log, 5);
        });
        // Everything is there, and there alone.
        machine.disk.inject(Fault::new(FaultKind::Dead, ["/log-2", "/log-1"][index]));
        assert_eq!(records(&machine, 2), 20);
    }
}

#[test]
fn an_old_copy_that_is_mounted_again_is_never_taken_for_the_log() {
    for folder in ["/log-1", "/log-2"] {
        let mut machine = Machine::new(small(2, 1));
        life(&mut machine, 1, |machine, log, _| {
            commit(log, 5);
            machine.disk.unmount(Path::new(folder));
            commit(log, 5);
            log.look_around();
            commit(log, 10);
        });
        machine.disk.mount(Path::new(folder));
        assert_eq!(records(&machine, 2), 20, "the other one has everything");
        assert_eq!(records(&machine, 3), 20);
    }
}

#[test]
fn the_last_copy_goes_on_and_says_what_is_wrong() {
    let mut machine = Machine::new(small(1, 1));
    life(&mut machine, 1, |machine, log, _| {
        commit(log, 5);
        machine.disk.unmount(Path::new("/log-1"));
        log.look_around();
        let info = copy(log, 0);
        assert!(info.living && info.trouble.is_some(), "{info:?}");
        commit(log, 5);
        machine.disk.mount(Path::new("/log-1"));
        log.look_around();
        assert_eq!(copy(log, 0).trouble, None);
        commit(log, 5);
    });
    assert_eq!(records(&machine, 2), 15);
}

#[test]
fn a_log_that_met_a_full_disk_grows_once_there_is_room_for_several_segments() {
    let mut machine = Machine::new(LogConfig { segments_min: 4, ..small(1, 1) });
    let faults: Vec<_> = (4..40)
        .map(|slot| {
            let path = format!("/log-1/segment-{slot:03}.stripe-0*");
            machine.disk.inject(Fault::new(FaultKind::NoSpace, path))
        })
        .collect();
    life(&mut machine, 1, move |machine, log, seam| {
        let segment = machine.config.segment_bytes;
        let whole = log.capacity_bytes();
        let settle = || seam.clock.sleep(Duration::from_millis(50));
        // The last of the segments that there are is begun, so another one is wanted.
        commit(log, 25);
        settle();
        let small = log.capacity_bytes();
        assert!(log.statistics().cramped && small < whole, "{small} of {whole}");
        // As long as there is room for one only, nothing is tried.
        faults.into_iter().for_each(|fault| machine.disk.heal(fault));
        let room = |free: u64| {
            machine.disk.set_capacity(Some(1 << 40));
            let disk: &dyn seam::disk::Disk = &machine.disk;
            let used = (1 << 40) - disk.room(Path::new("/")).unwrap().free_bytes;
            machine.disk.set_capacity(Some(used + free));
        };
        let failed = log.statistics().growth_failed;
        room(2 * segment);
        log.look_around();
        settle();
        assert!(log.statistics().cramped);
        assert_eq!(log.statistics().growth_failed, failed);
        room(5 * segment);
        log.look_around();
        settle();
        assert!(!log.statistics().cramped);
        assert_eq!(log.capacity_bytes(), whole);
        // They are made one by one as they are wanted.
        machine.disk.set_capacity(None);
        commit(log, 40);
    });
    assert_eq!(records(&machine, 2), 65);
}
