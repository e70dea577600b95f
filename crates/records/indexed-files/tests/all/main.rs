//! Indexed files as a program uses them.

#![allow(clippy::unwrap_used)] // a test that fails says where

mod common;
mod model;
mod sharing;
