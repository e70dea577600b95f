//! A data set that goes from pool to pool while programs use it: each of them finds what it wrote.
//!
//! Nothing of the data set is on disk but zeros: whoever has lost sight of an interval in memory
//! reads that. There is nothing else on the machine, so threads meet in pools and nowhere else.

use std::io::IoSliceMut;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use base::{CiNumber, DataSetId, Lsn};
use pool::dirty::DirtyQueue;
use pool::{Backing, Home, PoolConfig, PoolError, Pools};
use seam::Seam;
use seam::sim::{self, End, SimConfig, SimDisk};

const SET: DataSetId = DataSetId(7);
const UNIT: usize = 4096;
const PROGRAMS: u32 = 3;
/// Intervals of each program.
const OWN: u32 = 3;
const MOVES: usize = 60;

/// A data set that was never written.
#[derive(Default)]
struct Zeros {
    home: OnceLock<Home>,
}

impl Backing for Zeros {
    fn id(&self) -> DataSetId {
        SET
    }

    fn name(&self) -> &'static str {
        "ZEROS"
    }

    fn home(&self) -> Option<&Home> {
        self.home.get()
    }

    fn read_into(&self, _: CiNumber, bufs: &mut [IoSliceMut<'_>]) -> Result<(), PoolError> {
        bufs.iter_mut().for_each(|buf| buf.fill(0));
        Ok(())
    }

    fn open(&self, _: CiNumber, _: &mut [u8]) -> Result<(), PoolError> {
        Ok(())
    }

    fn is_map(&self, _: CiNumber) -> bool {
        false
    }

    fn seal(&self, _: CiNumber, clear: &[u8], copy: &mut [u8]) -> Result<u64, PoolError> {
        copy.copy_from_slice(clear);
        Ok(0)
    }

    fn write_raw(&self, _: &[(CiNumber, &[u8])]) -> std::io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn prepare_write(&self, _: CiNumber) -> bool {
        true
    }

    fn finish_write(&self, _: CiNumber) {}
}

/// Runs programs and moves of many seeds.
///
/// # Errors
/// The first interval that was lost sight of.
pub fn everybody_finds_what_they_wrote(seeds: u64) -> Result<(), String> {
    for seed in 1..=seeds {
        // Whoever is put aside stays so for a while: long enough for two moves.
        let config = SimConfig { switch_per_mille: 15, ..SimConfig::new(seed) };
        let outcome = sim::run(config, SimDisk::new(), |seam| work(&seam));
        if outcome.end != End::Completed {
            return Err(outcome.to_string());
        }
    }
    Ok(())
}

fn work(seam: &Seam) {
    let dirty = Arc::new(DirtyQueue::new());
    let pools = Pools::new(dirty, Arc::default(), Arc::clone(&seam.clock));
    let add = |name: &str| {
        let name = name.to_owned();
        let plan = PoolConfig { name, unit_bytes: UNIT, usable_bytes: UNIT - 48, frames: 40 };
        pools.add(plan).unwrap_or_else(|error| panic!("{error}"))
    };
    let both = [add("one"), add("two")];
    let set = Arc::new(Zeros::default());
    assert!(set.home.set(Home::new(Arc::clone(&both[0]))).is_ok());
    let over = Arc::new(AtomicBool::new(false));
    let programs = (0..PROGRAMS).map(|number| {
        let (set, over) = (Arc::clone(&set), Arc::clone(&over));
        let started = seam::thread::spawn("program", move || program(&set, number, &over));
        started.unwrap_or_else(|error| panic!("{error}"))
    });
    let programs: Vec<_> = programs.collect();
    for step in 1..=MOVES {
        let moved = home(&set).move_to(SET, &both[step % 2]);
        moved.map(drop).unwrap_or_else(|error| panic!("{error}"));
    }
    over.store(true, SeqCst);
    programs.into_iter().for_each(seam::thread::JoinHandle::join);
    assert_eq!(both[0].pins() + both[1].pins(), 0, "pins are left");
}

fn home(set: &Zeros) -> &Home {
    set.home.get().unwrap_or_else(|| panic!("it has a home"))
}

/// Counts up in each interval of its own, until it is over.
fn program(set: &Zeros, number: u32, over: &AtomicBool) {
    let mut rounds = 0_u32;
    while !over.load(SeqCst) {
        rounds += 1;
        for ci in (number * OWN..(number + 1) * OWN).map(CiNumber) {
            let found = home(set).pool().exclusive(set, ci);
            let mut page = found.unwrap_or_else(|error| panic!("{error}"));
            let before = base::bytes::get_u32(page.bytes(), 16);
            assert_eq!(before, rounds - 1, "{ci:?} is not what was written");
            page.begin_change(Lsn(u64::from(rounds)));
            base::bytes::put_u32(page.bytes_mut(), 16, rounds);
            page.set_lsn(Lsn(u64::from(rounds)));
        }
    }
}
