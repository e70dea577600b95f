//! The Encryption Facility's ways of saying what is to be done: its command line, its configuration
//! file, and the control cards of its older programs.
//!
//! Nothing here touches a file or a key. A command line becomes the words of the clear command
//! `holdfast pgp`, so both run through the same code, and names of data sets in it become paths;
//! cards become a [`Job`].
//!
//! ```
//! use holdfast_facility::{Configuration, Line};
//!
//! let line = Line::parse(&["-e", "-rA", "payroll", "-o", "out.pgp", "in.dat"].map(Into::into))?;
//! let configuration = Configuration::parse(b"USE_ASYNC_IO false\nCIPHER_NAME AES_128\n")?;
//! let call = line.call(&configuration, &|_| None)?;
//! assert_eq!(call.words[0], "encrypt");
//! assert!(call.words.iter().any(|word| word == "--recipient=alias:payroll"));
//! assert!(call.words.iter().any(|word| word == "--async-io=off"));
//! # Ok::<(), holdfast_facility::Error>(())
//! ```
//!
//! Invariants:
//! 1. What the command line says wins over the configuration, and that over defaults.
//! 2. A name that is not known is an error, which says the nearest one that is.
//! 3. What is accepted and means nothing here is told, once; nothing is left out silently.
//! 4. Secrets stand in no error and no note, and are wiped.

#![forbid(unsafe_code)]

mod cards;
mod configuration;
mod data_sets;
mod error;
mod line;
mod nearest;
mod settings;
mod table;
mod words;

pub use cards::{Job, Program, Protection};
pub use configuration::Configuration;
pub use data_sets::Variable;
pub use error::{CODES, Error, Result};
pub use line::{Call, Line, Secrets};
pub use table::help;
