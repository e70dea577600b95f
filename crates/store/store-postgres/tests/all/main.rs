//! store-postgres: tried from outside.
#![allow(clippy::needless_pass_by_value, clippy::unwrap_used)] // tests

mod a_commit_is_never_guessed;
mod a_lost_engine_is_told_clearly;
mod an_engine_can_be_certified;
mod common;
mod names_ahead_keep_nobody_out;
mod round_trips_are_few;
mod the_engine_is_a_store;
mod three_nodes_lose_nothing;
mod values_leave_the_process_sealed;
mod what_two_units_do_is_serializable;
