//! A load keeps no log: checkpoints carry all that its undo needs, and the log behind them is used
//! again while the load goes on.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use crate::common::{Running, expect_quiet, fresh_with};
use base::CiNumber;
use holdfast_store_kernel::KernelStore;
use store::{Entry, LoadSource};
use store::{KeyRange, Pairs, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions};

/// A log of six segments of 1 MiB.
const LOG_BYTES: u64 = 6 << 20;
/// What is loaded is five times as long.
const RECORDS: u64 = 60_000;
const VALUE: [u8; 500] = [7; 500];

fn with_small_log(name: &str) -> (KernelStore, Running) {
    fresh_with(name, |config| {
        config.log.segment_bytes = 1 << 20;
        config.log.ring_bytes = 1 << 20;
        config.log.segments_max = 6;
        config.checkpoint_bytes = 1 << 20;
        config.writer.redo_bytes_max = 1 << 20;
    })
}

/// A source of records that ends with an error if it shall.
struct Source {
    next: u64,
    fails: bool,
    key: [u8; 8],
}

impl LoadSource for Source {
    fn next_entry(&mut self) -> store::Result<Option<Entry<'_>>> {
        if self.next == RECORDS {
            let why = "the tape is torn";
            return if self.fails { Err(StoreError::Conflict(why.into())) } else { Ok(None) };
        }
        self.key = self.next.to_be_bytes();
        self.next += 1;
        Ok(Some(Entry { key: &self.key, value: &VALUE }))
    }
}

fn load(store: &KernelStore, set: SetId, fails: bool) -> store::Result<u64> {
    let kernel = store.kernel();
    let (begin, checkpoints) = (kernel.log().next_lsn(), kernel.statistics().checkpoints);
    let loaded = store.load_sorted(set, &mut Source { next: 0, fails, key: [0; 8] });
    let logged = kernel.log().next_lsn().0 - begin.0;
    assert!(logged > 4 * LOG_BYTES, "only {logged} bytes were logged: {loaded:?}");
    assert!(kernel.log().segments()[0].first > begin, "the log was not used again");
    assert!(kernel.statistics().checkpoints > checkpoints + 4);
    loaded
}

#[test]
fn a_load_may_be_longer_than_the_log() {
    let (store, _running) = with_small_log("long-load");
    let set = store.create_set("BIG", &SetAttributes::default()).unwrap();
    assert_eq!(load(&store, set, false).unwrap(), RECORDS);
    let data = store.kernel().set_named("BIG").unwrap();
    let report = btree::Tree::new(store.kernel(), &data).check().unwrap();
    assert_eq!(report.records, RECORDS);
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    let first = 59_990_u64.to_be_bytes();
    assert_eq!(unit.delete_range(set, KeyRange::from(&first)).unwrap(), 10);
    unit.commit().unwrap();
    store.empty_set(set).unwrap();
    assert_eq!(btree::Tree::new(store.kernel(), &data).check().unwrap().records, 0);
    assert_eq!(store.load_sorted(set, &mut Pairs::new([("a", "1")])).unwrap(), 1);
    expect_quiet(store.kernel());
}

#[test]
fn a_load_longer_than_the_log_that_fails_leaves_an_empty_set_and_no_space_in_use() {
    let (store, _running) = with_small_log("torn-load");
    let set = store.create_set("BIG", &SetAttributes::default()).unwrap();
    let failed = load(&store, set, true).unwrap_err();
    assert!(failed.to_string().contains("the tape is torn"), "{failed}");
    let kernel = store.kernel();
    let data = kernel.set_named("BIG").unwrap();
    let in_use = (0..data.intervals()).map(CiNumber).filter(|ci| {
        let is_reserved = data.layout().is_reserved(*ci);
        !is_reserved && data.is_used(*ci).unwrap()
    });
    assert_eq!(in_use.collect::<Vec<_>>(), []);
    assert_eq!(btree::Tree::new(kernel, &data).check().unwrap().records, 0);
    // Checkpoints cut the free end of its files off; it is loaded again all the same.
    for _ in 0..3 {
        kernel.write_out().unwrap();
        kernel.checkpoint_now(false).unwrap();
    }
    assert_eq!(load(&store, set, false).unwrap(), RECORDS);
    assert_eq!(btree::Tree::new(kernel, &data).check().unwrap().records, RECORDS);
    expect_quiet(kernel);
}
