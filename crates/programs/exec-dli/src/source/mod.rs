//! COBOL sources: from bytes to words that know where they stand.
//!
//! `lines` knows the reference formats, `words` what a word is, `file` keeps a source with both and
//! with the changes that are to be made in it, `walk` goes through a source and the members that it
//! copies and finds programs and commands, `obsolete` knows words that only old compilers took.

pub(crate) mod file;
pub(crate) mod lines;
mod obsolete;
pub(crate) mod walk;
pub(crate) mod words;
