//! The log, in use, in crashes and damaged.

mod a_copy_whose_folder_is_unmounted_counts_as_lost;
mod a_crash_at_every_write_loses_nothing;
mod a_header_that_the_disk_withholds_is_no_end;
mod a_lost_copy_comes_back_in_use;
mod a_lost_copy_is_recorded_and_healed;
mod a_planted_bug_is_found;
mod a_stop_from_outside_wakes_whoever_waits;
mod commits_may_go_ahead_of_the_log;
mod common;
mod damage_is_never_taken_for_the_end;
mod machine;
mod random_faults_never_lie;
mod sealed_groups_are_handed_out_whole;
mod stripes_change_in_use;
mod the_log_gives_back_what_was_appended;
mod undo_always_has_room;
mod what_a_crash_cut_off_is_never_read;
