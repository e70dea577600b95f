//! control: tried from outside.

mod common;
mod databases;
mod exactly_once;
mod regions;
mod tpipes;
mod transactions;
