//! The configuration with which the compiler reads programs of the mainframe.
//!
//! Invariants:
//!
//! 1. It builds on the compiler's own `ibm.conf` and only frees words: a word that the mainframe's
//!    compiler does not reserve can be a name of the program.
//! 2. Special registers stay what they are.

/// The name under which the configuration is to be stored, for `cobc -conf`.
pub const CONFIGURATION_NAME: &str = "holdfast.conf";

/// The configuration.
pub const CONFIGURATION: &str = include_str!("holdfast.conf");
