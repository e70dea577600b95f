//! Alternate indexes that follow their base, and bulk loads, crashed at every write.

use holdfast_sim::clusters::{Script, every_crash};

fn sweep(script: Script, least: usize) {
    match every_crash(script, 1) {
        Ok(images) => assert!(images > least, "{images} images are too few"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn indexes_agree_with_their_base_whenever_the_machine_crashes() {
    sweep(Script::Upkeep, 20);
}

#[test]
fn a_bulk_load_is_whole_or_nothing_whenever_the_machine_crashes() {
    sweep(Script::Load, 20);
}

#[test]
fn a_cluster_that_is_loaded_anew_is_the_old_one_or_none_or_the_new_one() {
    sweep(Script::Reload, 20);
}

#[test]
fn a_cluster_is_emptied_with_its_indexes_or_not_at_all() {
    sweep(Script::Empty, 10);
}

#[test]
fn a_cluster_whose_delete_is_refused_stays_whenever_the_machine_crashes() {
    sweep(Script::Refuse, 0);
}
