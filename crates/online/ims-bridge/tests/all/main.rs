//! The IMS bridge between a queue manager and a transaction manager of one store.
#![allow(clippy::unwrap_used)] // a test that fails says where

mod answers;
mod common;
mod conversations;
mod exactly_once;
mod refusals;
