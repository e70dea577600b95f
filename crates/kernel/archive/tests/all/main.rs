//! Archives of logs, whole and damaged.

mod archives_are_held_against_recon;
mod archives_give_back_what_was_logged;
mod archives_that_nobody_can_read_go;
mod common;
