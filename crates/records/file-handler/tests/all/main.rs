//! The handler over clusters of a store in memory: requests as programs make them.

#![allow(clippy::disallowed_methods)] // folders of the tests

mod apart;
mod clusters;
mod emptied;
mod ends;
mod hostile;
mod machine;
mod program;
