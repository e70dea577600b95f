//! Trees, held against a model, in crashes and under forgery.

mod common;
mod node_model;
mod tree_concurrent;
mod tree_crash;
mod tree_forged;
mod tree_load;
mod tree_model;
mod what_is_in_the_way_is_not_written_over;
