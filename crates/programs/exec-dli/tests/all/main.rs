//! EXEC DLI, translated and compiled.

mod compile;
mod free_words;
mod plan;
mod properties;
mod translate;
