//! Scenarios of commands over a queue manager, and what no text may do.

mod a_dump_makes_the_same_queue_manager_again;
mod channels_are_started_and_stopped;
mod commands_define_display_and_remove_objects;
mod common;
mod displays_show_what_is_asked_for;
mod messages_are_cleared_moved_and_counted;
mod no_text_ends_a_session;
mod page_sets_and_pools_are_told_of;
mod programs_send_commands_as_messages;
mod records_go_with_their_objects;
mod what_is_administered_is_told;
