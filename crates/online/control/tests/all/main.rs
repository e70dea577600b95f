//! control: tried from outside.

mod common;
mod conversations;
mod databases;
mod exactly_once;
mod regions;
mod tpipes;
mod transactions;
