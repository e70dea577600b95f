//! A data set whose records are gone gives its space back to the device.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use crate::common::fresh;
use store::{KeyRange, Pairs, SetAttributes, Store, Unit, UnitOptions};

#[test]
fn files_shrink_when_their_end_is_free() {
    let (store, _running) = fresh("shrink");
    let set = store.create_set("BIG", &SetAttributes::default()).unwrap();
    let records = (0..60_000_u64).map(|number| (number.to_be_bytes(), [7_u8; 100]));
    assert_eq!(store.load_sorted(set, &mut Pairs::new(records)).unwrap(), 60_000);
    let kernel = store.kernel();
    let data = kernel.set_named("BIG").unwrap();
    let full = data.intervals();

    let mut unit = store.begin(UnitOptions::default()).unwrap();
    let first = 1_000_u64.to_be_bytes();
    assert_eq!(unit.delete_range(set, KeyRange::from(&first)).unwrap(), 59_000);
    unit.commit().unwrap();

    // One checkpoint sees the free end, the next one knows that no restart can want it.
    for _ in 0..3 {
        kernel.write_out().unwrap();
        kernel.checkpoint_now(false).unwrap();
    }
    let left = data.intervals();
    assert!(left < full / 2, "{left} of {full} intervals are still there");

    // What is left is whole, and the set grows again.
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    for number in 1_000..40_000_u64 {
        let outcome = unit.insert(set, &number.to_be_bytes(), &[9; 100]).unwrap();
        assert!(outcome.is_done());
    }
    unit.commit().unwrap();
    assert!(data.intervals() > left);
    let report = btree::Tree::new(kernel, &data).check().unwrap();
    assert_eq!(report.records, 40_000);
}
