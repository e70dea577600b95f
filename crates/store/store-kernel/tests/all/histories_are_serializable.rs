//! Random units of work over ranges that grow, shrink and move, on real threads and in simulation:
//! their histories are serializable, also in real time. With a bug planted they are not.
//!
//! `HOLDFAST_SEEDS=100..200` runs those seeds instead of the usual few.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use std::sync::Arc;

use crate::common::lists;
use crate::common::{fresh, seeds, simulated};
use holdfast_store_kernel::KernelStore;
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, End, SimConfig, SimDisk};
use store::{SetAttributes, Store};
use store_suite::conformance::{Subject, expect};
use store_suite::history::{Fate, Order, check};

/// Runs workers on a store and panics if what they did is not serializable.
fn examine(store: &KernelStore, seed: u64, workers: u64, units: u64) -> usize {
    let set = store.create_set("LISTS", &SetAttributes::default()).expect("a set");
    let recorder = lists::run_all(store, set, seed, workers, units);
    let history = recorder.history();
    if let Some(anomaly) = check(&history, Order::StrictSerial).first() {
        panic!("not serializable: {anomaly}");
    }
    let kernel = store.kernel();
    crate::common::expect_quiet(kernel);
    kernel.locks().check();
    let data = kernel.set_named("LISTS").expect("the set");
    btree::Tree::new(kernel, &data).check().expect("a sound tree");
    history.units.iter().filter(|unit| unit.fate == Fate::Committed).count()
}

#[test]
fn histories_on_real_threads_are_serializable() {
    for seed in seeds(0..3) {
        let (store, _running) = fresh("histories");
        let committed = examine(&store, seed, 4, 400);
        assert!(committed > 200, "only {committed} units of work were committed");
    }
}

fn simulate(seed: u64, bug: Option<Failpoint>) -> End {
    arm(bug);
    let outcome = sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let store = simulated(&seam);
        let committed = examine(&store, seed, 3, 25);
        assert!(bug.is_some() || committed > 10, "only {committed} units were committed");
        store.kernel().close().expect("the system closes in order");
    });
    arm(None);
    outcome.end
}

#[test]
fn histories_in_simulation_are_serializable() {
    for seed in seeds(0..60) {
        let end = simulate(seed, None);
        assert_eq!(end, End::Completed, "seed {seed}");
    }
}

#[test]
fn a_gap_that_is_not_locked_is_found() {
    let found = (0..40).any(|seed| match simulate(seed, Some(Failpoint::NextKeyNotLocked)) {
        End::Panicked { message, .. } => {
            assert!(message.contains("not serializable"), "{message}");
            true
        }
        _ => false,
    });
    assert!(found, "phantoms are not found");
}

#[test]
fn locks_that_are_dropped_before_the_commit_are_found() {
    arm(Some(Failpoint::LocksDroppedEarly));
    let found = (0..40).any(|seed| {
        let outcome = sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
            let store = simulated(&seam);
            let kernel = Arc::clone(store.kernel());
            let subject = Subject::new(store).on_clock(seam.clock).with_seed(seed);
            let subject = subject.with_effort(6, 3);
            expect(&subject, "the_order_of_commits_is_that_of_their_changes");
            kernel.close().expect("the system closes in order");
        });
        matches!(outcome.end, End::Panicked { .. })
    });
    arm(None);
    assert!(found, "commits out of order are not found");
}
