//! SSAs of a small shop's databases, through all steps of this crate.

mod bounds;
mod matching;
mod parsing;
mod random;
mod refusals;
mod views;
