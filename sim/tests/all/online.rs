//! The transaction manager over the kernel, crashed at random writes and at every write.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::machine::Make;
use holdfast_sim::online::{live_through, sweep};
use holdfast_sim::parallel;

#[test]
fn what_clients_were_told_is_there_exactly_once_after_random_crashes() {
    let lived = parallel::each(1..60, live_through);
    assert!(lived.iter().map(|one| one.inputs).sum::<usize>() > lived.len());
}

#[test]
fn what_clients_were_told_is_there_exactly_once_after_a_crash_at_every_write() {
    for (seed, make) in [(1, Make::small()), (2, Make::dual())] {
        let make = Make { frames: 48, segments_max: 16, ..make };
        let images = sweep(&make, seed, 6).unwrap_or_else(|why| panic!("{why}"));
        assert!(images > 50, "{images}");
    }
}
