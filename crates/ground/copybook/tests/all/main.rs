//! Copybooks, held against the compiler.

mod fields;
mod maps;
mod places_are_those_of_the_compiler;
