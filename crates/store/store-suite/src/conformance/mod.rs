//! The conformance suite: what every implementation of the store must do, as runnable checks.
//!
//! A check is a function that takes a [`Subject`], a store to be examined, and answers what it
//! found wrong. It assumes nothing but the trait and what the store states in its capabilities.
//! Each check makes sets of its own, so all can run on one store, one after another; operators use
//! that to certify an engine ([`run_all`]). In tests each check is a test of its own:
//!
//! ```
//! use holdfast_store_suite::{conformance::Subject, model::ModelStore};
//!
//! holdfast_store_suite::conformance_tests!(conformance, Subject::new(ModelStore::new()));
//! # fn main() {}
//! ```
//!
//! The checks start their threads and wait through the seam, so the suite also runs in the
//! simulator, where the seed decides who goes first.
//!
//! Invariants of the suite:
//! 1. No check depends on timing to pass. Where it needs two units of work to be in the middle of
//!    something together, it lets them meet, and goes on if they do not.
//! 2. No check waits forever for a lock: a deadlock that the store misses becomes a failure.

mod commits;
mod cursors;
mod entries;
mod histories;
mod isolation;
mod locks;
mod random;
mod sets;
#[cfg(test)]
mod spoiled;
pub mod subject;
mod units;

use std::fmt;

use store::error::StoreError;
use store::traits::Store;
pub use subject::Subject;

/// What a check answers.
pub type Checked = Result<(), Failure>;

/// What part of a check answers.
type Found<T> = Result<T, Failure>;

/// What a check found wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// What was expected, and what was seen instead.
    pub message: String,
    /// The place in the suite.
    pub place: String,
}

impl Failure {
    /// A failure at the caller's place.
    #[track_caller]
    #[must_use]
    pub fn new(message: impl Into<String>) -> Failure {
        let place = std::panic::Location::caller().to_string();
        Failure { message: message.into(), place }
    }
}

impl From<StoreError> for Failure {
    #[track_caller]
    fn from(error: StoreError) -> Failure {
        Failure::new(format!("a call failed that should not: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.place)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One check.
pub struct Check<S: Store> {
    /// The part of the suite that it belongs to.
    pub part: &'static str,
    /// What it shows, with underscores between the words.
    pub name: &'static str,
    /// The check itself.
    pub run: fn(&Subject<S>) -> Checked,
}

/// What [`run_all`] found out about one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part of the suite.
    pub part: &'static str,
    /// The check.
    pub name: &'static str,
    /// What it found.
    pub result: Checked,
}

/// The one list of all checks; everything else is made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_checks {
    ($callback:path, $($argument:tt)*) => {
        $callback! { ($($argument)*)
            entries {
                an_inserted_entry_is_read_back
                a_second_insert_of_a_key_is_refused_and_changes_nothing
                replace_and_delete_need_the_key
                put_adds_or_replaces
                keys_stand_in_the_order_of_their_bytes
                empty_keys_and_empty_values_are_entries
                long_values_come_back
                what_is_too_large_is_refused
                a_range_delete_removes_the_range_only
                thousands_of_entries_are_kept_in_order
            }
            cursors {
                every_place_has_its_next_and_its_previous
                limits_confine_both_directions
                a_step_that_finds_nothing_keeps_the_place
                a_cursor_survives_the_deletion_of_its_entry
                a_cursor_sees_what_its_unit_changes_on_the_way
                a_cursor_sees_what_others_commit_on_the_way
                a_cursor_keeps_its_place_over_a_commit
                changes_at_a_cursor_reach_its_entry
                a_cursor_without_an_entry_has_nothing_to_change
            }
            units {
                a_unit_sees_its_own_changes
                backout_undoes_everything
                dropping_a_unit_backs_it_out
                savepoints_nest
                a_savepoint_that_was_rolled_back_past_is_refused
                rollback_restores_what_a_range_delete_removed
                a_read_only_unit_refuses_changes
                many_sets_change_together
                a_failed_body_is_backed_out_and_answers
            }
            isolation {
                nobody_sees_what_is_not_committed
                an_unlocked_read_never_waits
                what_was_read_stays_as_it_was_read
                increments_are_not_lost
                crosswise_writes_do_not_both_commit
                a_range_that_was_read_gains_no_entry
                an_absent_key_that_was_read_stays_absent
                a_range_that_was_deleted_gains_no_entry
                totals_survive_transfers
                intending_updaters_do_not_deadlock
                claimed_entries_go_to_one_unit_each
                a_claim_passes_over_what_is_locked
            }
            locks {
                modes_are_compatible_as_documented
                a_name_is_held_once_in_the_join_of_its_modes
                a_name_given_back_is_free_at_once
                names_are_free_after_the_unit_of_work
                names_are_told_apart_by_space_and_bytes
                a_waiting_unit_gets_the_name_when_it_is_free
                a_wait_ends_when_its_time_is_over
                a_deadlock_over_names_has_one_victim
                a_deadlock_over_keys_has_one_victim
                a_deadlock_over_a_name_and_a_key_has_one_victim
                nobody_is_the_victim_three_times
                a_doomed_unit_repeats_its_error
                a_set_locked_by_its_callers_makes_nobody_wait
                a_lock_on_a_name_shows_what_its_last_holder_committed
                a_walk_under_locks_keeps_what_it_stands_on_alone
            }
            commits {
                a_commit_is_seen_by_later_units
                a_queued_commit_is_settled_once
                a_queued_commit_gives_its_locks_back
                queued_commits_are_settled_in_order
                a_reader_is_settled_after_what_it_read
                the_order_of_commits_is_that_of_their_changes
                what_is_backed_out_settles_nothing
                everything_committed_becomes_durable
            }
            sets {
                a_set_is_found_by_its_name
                a_dropped_set_is_gone_for_good
                a_set_in_use_is_neither_dropped_nor_emptied
                an_emptied_set_is_empty_and_its_sequence_goes_on
                a_sorted_load_fills_a_set
                a_load_that_fails_loads_nothing
                numbers_are_drawn_once
            }
            random {
                random_calls_agree_with_a_map
                random_calls_on_long_keys_and_values_agree_with_a_map
            }
            histories {
                histories_of_values_are_serializable
                histories_of_ranges_are_serializable
                histories_under_the_callers_locks_are_serializable
                histories_of_queued_commits_are_serializable
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_table {
    (($store:ident) $($part:ident { $($name:ident)* })*) => {
        vec![$($(Check {
            part: stringify!($part),
            name: stringify!($name),
            run: $part::$name::<$store>,
        }),*),*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($module:ident $subject:expr) $($part:ident { $($name:ident)* })*) => {
        mod $module {
            $(mod $part {
                $(#[test]
                fn $name() {
                    #[allow(unused_imports)]
                    use super::super::*;
                    $crate::conformance::expect(&$subject, stringify!($name));
                })*
            })*
        }
    };
}

/// Makes each check of the suite a test: `conformance_tests!(module, subject)`, where `module`
/// names the module for the tests, and `subject` is an expression for a [`Subject`] around a new
/// store, evaluated for every test in the scope where the macro stands.
#[macro_export]
macro_rules! conformance_tests {
    ($module:ident, $subject:expr) => {
        $crate::__conformance_checks! { $crate::__conformance_tests, $module $subject }
    };
}

/// Every check, in the order in which they are best run: the simple ones first.
#[must_use]
pub fn checks<S: Store>() -> Vec<Check<S>> {
    crate::__conformance_checks! { crate::__conformance_table, S }
}

/// Runs every check on one store.
pub fn run_all<S: Store>(subject: &Subject<S>) -> Vec<Finding> {
    let find = |check: Check<S>| {
        let result = (check.run)(subject);
        Finding { part: check.part, name: check.name, result }
    };
    checks().into_iter().map(find).collect()
}

/// Runs the check of that name.
///
/// # Panics
/// If the check finds something wrong, with what it is; or if there is no such check.
#[track_caller]
pub fn expect<S: Store>(subject: &Subject<S>, name: &str) {
    let check = checks::<S>().into_iter().find(|check| check.name == name);
    let check = check.unwrap_or_else(|| panic!("the suite has no check named {name}"));
    if let Err(failure) = (check.run)(subject) {
        panic!("{name}, seed {}: {failure}", subject.seed());
    }
}

/// Fails the check with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::conformance::Failure::new(format!($($message)+)));
        }
    };
}

/// Fails the check unless both sides are equal.
macro_rules! ensure_eq {
    ($seen:expr, $expected:expr, $($message:tt)+) => {
        match (&$seen, &$expected) {
            (seen, expected) => $crate::conformance::ensure!(
                seen == expected,
                "{}: expected {:?}, but saw {:?}", format_args!($($message)+), expected, seen
            ),
        }
    };
}

/// Fails the check unless the call fails with this error.
macro_rules! ensure_err {
    ($call:expr, $pattern:pat, $($message:tt)+) => {
        match $call {
            Err($pattern) => (),
            other => {
                let other = other.map(|_| "success");
                let message = format!("{}: got {:?}", format_args!($($message)+), other);
                return Err($crate::conformance::Failure::new(message));
            }
        }
    };
}

use {ensure, ensure_eq, ensure_err};

#[cfg(test)]
mod tests;
