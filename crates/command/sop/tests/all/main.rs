//! What the command `holdfast-sop` does, tried from outside.

mod common;
mod every_command_does_what_the_specification_says;
mod nothing_gets_out_that_is_not_proven;
mod other_programs_understand_us;
