//! What a batch is made of, and in which order it goes to disk.

use base::SystemId;
use seal::{Format, TestKeys};
use seam::sim::SimDisk;

use super::*;
use crate::double_write::DoubleWriteKeys;
use crate::testing::{Memory, NoLog, Only, SET, UNIT, config, pools};

/// A page writer of one pool and one data set.
fn writer(pools: &Arc<Pools>, dirty: &Arc<DirtyQueue>, set: &Arc<Memory>) -> PageWriter {
    let seam = Seam { disk: Arc::new(SimDisk::new()), ..Seam::real() };
    let keys = DoubleWriteKeys {
        keys: Arc::new(TestKeys::new(1)),
        label: "system".into(),
        format: Format::Sealed,
        system: SystemId([1; 16]),
    };
    let area = DoubleWrite::open(&seam, "/double-write".as_ref(), keys).unwrap();
    PageWriter::new(
        seam,
        WriterConfig::default(),
        Arc::clone(pools),
        Arc::clone(dirty),
        Arc::new(NoLog),
        Arc::new(Only(Arc::clone(set))),
        Arc::default(),
        area,
        0,
    )
}

/// Changes an interval: its number stands in its tenth byte.
fn change(pool: &Pool, set: &Memory, ci: u32) {
    let mut page = pool.exclusive(set, CiNumber(ci)).unwrap();
    page.begin_change(Lsn(5));
    page.bytes_mut()[10] = ci as u8;
    page.set_lsn(Lsn(5));
}

#[test]
fn neighbours_are_written_together_in_whatever_order_they_were_changed() {
    let (pools, dirty) = pools();
    let pool = pools.add(config("default", 64)).unwrap();
    let set = Arc::new(Memory::default());
    let writer = writer(&pools, &dirty, &set);
    [9, 4, 20, 6, 5, 21, 30].iter().for_each(|ci| change(&pool, &set, *ci));
    change(&pool, &set, 4);
    writer.write_all().unwrap();
    assert_eq!(*set.writes.lock(), [(4, 3), (9, 1), (20, 2), (30, 1)]);
    for (ci, unit) in set.units.lock().iter() {
        assert_eq!((u32::from(unit[10]), u32::from(unit[UNIT - 1])), (*ci, *ci));
    }
    let found = &writer.found_batches().unwrap()[0];
    let places: Vec<u32> = found.units.iter().map(|(.., ci, _, _)| ci.0).collect();
    assert_eq!(places, [4, 5, 6, 9, 20, 21, 30]);
    let units = set.units.lock();
    assert!(found.units.iter().all(|(_, ci, _, unit)| units[&ci.0] == *unit));
    assert_eq!((pool.pins(), dirty.oldest()), (0, None));
}

#[test]
fn a_frame_that_stands_in_the_queue_twice_is_written_once() {
    let (pools, dirty) = pools();
    let pool = pools.add(config("default", 16)).unwrap();
    let set = Arc::new(Memory::default());
    let writer = writer(&pools, &dirty, &set);
    change(&pool, &set, 3);
    // Its frame is the first to be used again.
    pool.forget(SET, CiNumber(0)).unwrap();
    change(&pool, &set, 8);
    assert_eq!(dirty.len_of(0), 2);
    writer.write_all().unwrap();
    assert_eq!(*set.writes.lock(), [(8, 1)]);
    assert_eq!((writer.statistics().intervals, pool.pins()), (1, 0));
}

#[test]
fn changes_are_written_from_where_they_were_carried_to() {
    let (pools, dirty) = pools();
    let pool = pools.add(config("default", 200)).unwrap();
    let set = Arc::new(Memory::default());
    let writer = writer(&pools, &dirty, &set);
    (0..150).for_each(|ci| change(&pool, &set, ci));
    // 150 changes do not fit, so some are written first, by whoever runs beside it.
    let (theirs, flag) = (Arc::clone(&pool), Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let done = Arc::clone(&flag);
    let thread = seam::thread::spawn("resize", move || {
        assert_eq!(theirs.resize(60).unwrap().now, 60);
        done.store(true, Release);
    });
    while !flag.load(Acquire) {
        writer.write_batch(None).unwrap();
    }
    thread.unwrap().join();
    writer.write_all().unwrap();
    let units = set.units.lock();
    assert!((0..150).all(|ci| u32::from(units[&ci][10]) == ci));
    assert_eq!((pool.pins(), dirty.oldest(), pool.frames()), (0, None, 60));
}

#[test]
fn a_pool_that_is_gone_leaves_nothing_to_write() {
    let (pools, dirty) = pools();
    let set = Arc::new(Memory::default());
    let writer = writer(&pools, &dirty, &set);
    let (stays, goes) =
        (pools.add(config("stays", 20)).unwrap(), pools.add(config("goes", 20)).unwrap());
    assert!(matches!(pools.add(config("goes", 20)), Err(PoolError::Exists { .. })));
    change(&goes, &set, 3);
    goes.forget(SET, CiNumber(0)).unwrap();
    pools.delete(&goes).unwrap();
    assert_eq!((goes.frames(), pools.all().len()), (0, 1));
    change(&stays, &set, 4);
    writer.write_all().unwrap();
    assert_eq!(*set.writes.lock(), [(4, 1)]);
    let again = pools.add(config("goes", 20)).unwrap();
    change(&again, &set, 5);
    writer.write_all().unwrap();
    assert_eq!(*set.writes.lock(), [(4, 1), (5, 1)]);
}
