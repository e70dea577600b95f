//! The door as clients see it: over sockets, with every answer held against the description.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // a test that fails says where

mod administration;
mod clients_of_every_day;
mod commands;
mod common;
mod messages;
mod nothing_malformed_is_done;
mod on_the_kernel;
mod schema;
mod the_description_is_true;
mod waiting;
mod who_may_come_in;
