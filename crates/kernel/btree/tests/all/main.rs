//! Trees, held against a model, in crashes and under forgery.

mod a_kernel_that_has_lost_its_lock_stops;
mod common;
mod node_model;
mod tree_concurrent;
mod tree_crash;
mod tree_forged;
mod tree_load;
mod tree_model;
mod what_is_in_the_way_is_not_written_over;
