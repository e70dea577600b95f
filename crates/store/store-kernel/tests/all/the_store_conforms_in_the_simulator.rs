//! The checks with threads on simulated machines, where the seed decides who goes first.
//!
//! `HOLDFAST_SEEDS=100..200` runs those seeds instead of the usual few, `HOLDFAST_CHECK` one check.

use crate::common::{seeds, simulated};
use seam::sim::{self, End, SimConfig, SimDisk};
use store_suite::conformance::{Subject, checks, expect};

use holdfast_store_kernel::KernelStore;

/// Parts of the suite in which units of work meet.
const CONCURRENT: [&str; 5] = ["isolation", "locks", "commits", "histories", "sets"];

fn simulate(seed: u64, name: &str) -> End {
    let outcome = sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let store = simulated(&seam);
        let kernel = std::sync::Arc::clone(store.kernel());
        let subject = Subject::new(store).on_clock(seam.clock);
        expect(&subject.with_seed(seed).with_effort(4, 3), name);
        crate::common::expect_quiet(&kernel);
        kernel.close().expect("the system closes in order");
    });
    outcome.end
}

#[test]
fn checks_with_threads_pass_under_many_schedules() {
    let wanted = std::env::var("HOLDFAST_CHECK").ok();
    for seed in seeds(0..3) {
        for check in checks::<KernelStore>() {
            let chosen = match &wanted {
                Some(wanted) => check.name == wanted,
                None => CONCURRENT.contains(&check.part),
            };
            if chosen {
                let end = simulate(seed, check.name);
                assert_eq!(end, End::Completed, "{}, seed {seed}", check.name);
            }
        }
    }
}
