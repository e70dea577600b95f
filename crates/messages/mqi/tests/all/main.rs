//! Tests of the message queue interface against its facts.
#![allow(clippy::disallowed_methods)] // headers are files of the repository

mod headers_say_what_the_tables_say;
mod structures_stand_where_programs_have_them;
mod what_travels_comes_out_as_it_went_in;
