//! Every crash point of every scenario.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_sim::scenario::{self, Scenario};
use holdfast_sim::sweep::{Thoroughness, sweep};
use holdfast_sim::{ahead, forms, parallel};

fn every_crash_point(scenario: &Scenario) {
    let seeds = std::env::var("SEEDS").map_or(2, |seeds| seeds.parse().unwrap());
    for seed in 1..=seeds {
        match sweep(scenario, seed, Thoroughness::USUAL) {
            Ok(swept) => eprintln!("{}: {swept:?}", scenario.name),
            Err(failure) => panic!("{failure}"),
        }
    }
}

#[test]
fn every_crash_point_of_checkpoints() {
    every_crash_point(&scenario::CHECKPOINT);
}

#[test]
fn every_crash_point_of_a_pool_that_changes_its_size() {
    every_crash_point(&scenario::RESIZE);
}

#[test]
fn every_crash_point_of_a_data_set_that_moves_to_another_pool() {
    every_crash_point(&scenario::ASSIGN);
}

#[test]
fn every_crash_point_of_segment_switches() {
    every_crash_point(&scenario::SEGMENTS);
}

#[test]
fn every_crash_point_of_splits() {
    every_crash_point(&scenario::SPLIT);
}

#[test]
fn every_crash_point_of_range_deletes() {
    every_crash_point(&scenario::RANGE_DELETE);
}

#[test]
fn every_crash_point_of_backouts() {
    every_crash_point(&scenario::BACKOUT);
}

#[test]
fn every_crash_point_of_long_values() {
    every_crash_point(&scenario::OVERFLOW);
}

#[test]
fn every_crash_point_of_bulk_loads() {
    every_crash_point(&scenario::LOAD);
}

#[test]
fn every_crash_point_of_loads_longer_than_the_log() {
    every_crash_point(&scenario::LONG_LOAD);
}

#[test]
fn every_crash_point_of_a_file_that_is_cut_and_grows_again() {
    every_crash_point(&scenario::REGROW);
}

#[test]
fn every_crash_point_of_making_and_dropping_data_sets() {
    every_crash_point(&scenario::SETS);
}

#[test]
fn every_crash_point_of_page_writes() {
    every_crash_point(&scenario::PAGES);
}

#[test]
fn every_crash_point_of_losing_the_first_log_copy() {
    every_crash_point(&scenario::LOST_FIRST);
}

#[test]
fn every_crash_point_of_losing_the_second_log_copy() {
    every_crash_point(&scenario::LOST_SECOND);
}

#[test]
fn every_crash_point_of_an_orderly_stop() {
    every_crash_point(&scenario::ORDERLY_STOP);
}

#[test]
fn every_crash_point_of_restart_itself() {
    every_crash_point(&scenario::RESTART);
}

#[test]
fn every_crash_point_of_a_conversion() {
    every_crash_point(&forms::CONVERT);
}

#[test]
fn every_crash_point_of_a_re_key() {
    every_crash_point(&forms::REKEY);
}

#[test]
fn what_a_conversion_wipes_is_not_lost() {
    let seen = parallel::each(1..40, forms::what_is_wiped_is_not_lost);
    assert!(seen.iter().any(|seen| *seen > 0), "no proof met a conversion at work");
}

#[test]
fn a_key_that_nothing_uses_any_more_is_not_needed() {
    assert_eq!(forms::old_key_is_not_needed(), Ok(()));
}

#[test]
fn every_crash_point_of_commits_that_go_ahead_of_the_log() {
    every_crash_point(&ahead::COMMITS);
}

#[test]
fn every_crash_point_of_backouts_ahead_of_the_log() {
    every_crash_point(&ahead::BACKOUT);
}

#[test]
fn every_crash_point_of_segment_switches_with_commits_ahead() {
    every_crash_point(&ahead::SEGMENTS);
}

#[test]
fn every_crash_point_of_a_restart_from_ahead_of_the_log() {
    every_crash_point(&ahead::RESTART);
}
