//! The lock manager, held against a model.

mod common;
mod deadlocks;
mod model;
mod queues;
mod simulation;
mod stress;
