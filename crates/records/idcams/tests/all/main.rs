//! What control statements do, on the model of a store and on the kernel.

mod any_text_is_read;
mod catalogs_are_listed_and_changed;
mod common;
mod conditions_decide_what_is_done;
mod objects_are_carried_elsewhere;
mod records_are_copied;
mod records_are_printed;
