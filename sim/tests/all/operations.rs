//! What operators order crashes meanwhile, in the verbs that are shipped.

use holdfast_sim::{operations, parallel};

#[test]
fn image_copy_and_recover_crash_at_every_write_and_lose_nothing() {
    let points = parallel::each(1..5, |seed| operations::every_crash_of_copy_and_recover(seed, 1));
    assert!(points.iter().all(|points| *points > 50), "{points:?}");
}
