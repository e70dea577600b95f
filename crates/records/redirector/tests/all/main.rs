//! Another system as the handler, and the thread that sends on.
#![allow(clippy::disallowed_methods)] // folders of the real machine
#![allow(clippy::unwrap_used)] // a test that fails says where

mod another_system;
