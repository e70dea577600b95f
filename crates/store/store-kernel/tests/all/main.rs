//! The store over the kernel, in use and in crashes.

mod a_load_may_be_longer_than_the_log;
mod common;
mod files_shrink_when_their_end_is_free;
mod histories_are_serializable;
mod many_locks_become_one;
mod nothing_appears_in_a_range_that_was_read;
mod sets_survive_crashes;
mod the_kernel_is_a_store;
mod the_store_conforms_in_the_simulator;
mod what_locks_of_others_cover;
mod who_is_kept_open_hears_that_it_holds_the_log;
