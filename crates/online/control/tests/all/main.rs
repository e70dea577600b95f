//! control: tried from outside.

mod common;
mod exactly_once;
mod regions;
mod transactions;
