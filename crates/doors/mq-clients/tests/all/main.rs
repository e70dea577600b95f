//! Tests of the door: C programs with the client library, and clients that break its rules.
#![allow(clippy::disallowed_methods)] // programs and their sources are no part of a system

mod common;
mod connections_are_made_again;
mod cutter;
mod nobody_harms_others;
mod programs_come_over_the_network;
mod who_comes_in;
