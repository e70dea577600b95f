//! The suite on the model: on real threads, in the simulator, and with the model spoiled.

use std::sync::Arc;

use seam::sim::{self, End, SimConfig, SimDisk};

use super::spoiled::{Flaw, SpoiledStore};
use super::*;
use crate::model::ModelStore;

crate::conformance_tests!(model, Subject::new(ModelStore::new()));

#[test]
fn every_check_passes_on_one_store_one_after_another() {
    let subject = Subject::new(ModelStore::new()).with_seed(7).with_effort(5, 2);
    for finding in run_all(&subject) {
        assert_eq!(finding.result, Ok(()), "{} {}", finding.part, finding.name);
    }
}

#[test]
fn names_of_checks_are_unique() {
    let mut names: Vec<_> = checks::<ModelStore>().iter().map(|check| check.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Runs a check on a simulated machine, where the seed decides who goes first.
fn simulate<S: Store>(seed: u64, name: &str, store: impl FnOnce(ModelStore) -> S) -> End {
    let outcome = sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let model = ModelStore::with(ModelStore::CAPABILITIES, Arc::clone(&seam.clock));
        let subject = Subject::new(store(model)).on_clock(seam.clock);
        expect(&subject.with_seed(seed).with_effort(6, 3), name);
    });
    outcome.end
}

#[test]
fn checks_with_threads_pass_under_many_schedules() {
    let concurrent = ["isolation", "locks", "commits", "histories"];
    for check in checks::<ModelStore>().iter().filter(|check| concurrent.contains(&check.part)) {
        for seed in 0..12 {
            let end = simulate(seed, check.name, |model| model);
            assert_eq!(end, End::Completed, "{}, seed {seed}", check.name);
        }
    }
}

/// Every flaw with the checks that must find it, each of them alone.
const FLAWS: [(Flaw, &[&str]); 20] = [
    (
        Flaw::ReadsDoNotLock,
        &[
            "nobody_sees_what_is_not_committed",
            "increments_are_not_lost",
            "crosswise_writes_do_not_both_commit",
            "totals_survive_transfers",
            "histories_of_values_are_serializable",
            "histories_of_ranges_are_serializable",
        ],
    ),
    (Flaw::IntentionIsForgotten, &["intending_updaters_do_not_deadlock"]),
    (Flaw::GapsAreNotLocked, &["a_range_that_was_read_gains_no_entry"]),
    (Flaw::AbsenceIsNotLocked, &["an_absent_key_that_was_read_stays_absent"]),
    (Flaw::DeletedRangesAreNotLocked, &["a_range_that_was_deleted_gains_no_entry"]),
    (Flaw::BackoutKeepsInserts, &["backout_undoes_everything", "random_calls_agree_with_a_map"]),
    (
        Flaw::RollbackKeepsRemovals,
        &["savepoints_nest", "rollback_restores_what_a_range_delete_removed"],
    ),
    (Flaw::SavepointsAreNotChecked, &["a_savepoint_that_was_rolled_back_past_is_refused"]),
    (Flaw::UnlockDoesNothing, &["a_name_given_back_is_free_at_once"]),
    (Flaw::ClaimsWait, &["a_claim_passes_over_what_is_locked"]),
    (Flaw::TheEndMovesTheCursor, &["a_step_that_finds_nothing_keeps_the_place"]),
    (
        Flaw::SettledTwice,
        &["a_queued_commit_is_settled_once", "queued_commits_are_settled_in_order"],
    ),
    (Flaw::OrderIsMadeUp, &["the_order_of_commits_is_that_of_their_changes"]),
    (Flaw::NumbersRepeat, &["numbers_are_drawn_once"]),
    (Flaw::CallersAreNotTrusted, &["a_set_locked_by_its_callers_makes_nobody_wait"]),
    (Flaw::ReadOnlyMayWrite, &["a_read_only_unit_refuses_changes"]),
    (Flaw::ValuesAreCut, &["long_values_come_back"]),
    (Flaw::LoadsAreNotChecked, &["a_load_that_fails_loads_nothing"]),
    (Flaw::NothingIsEverInUse, &["a_set_in_use_is_neither_dropped_nor_emptied"]),
    (Flaw::LockedNamesAreAlwaysBusy, &["modes_are_compatible_as_documented"]),
];

#[test]
fn every_flaw_is_found_by_the_checks_that_are_meant_for_it() {
    for (flaw, names) in FLAWS {
        for name in names {
            let found = (0..40).any(|seed| {
                let end = simulate(seed, name, |inner| SpoiledStore { inner, flaw });
                matches!(end, End::Panicked { .. })
            });
            assert!(found, "{name} does not find that {flaw:?}");
        }
    }
}
