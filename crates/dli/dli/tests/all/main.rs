//! The call engine, held against the facts and against the model.

mod programs;
mod programs_at_once;
mod relatives_at_once;
mod rules;
mod ssa;
mod support;
