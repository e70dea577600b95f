//! Tests of the libraries: programs in C, COBOL and JavaScript, and callers that break rules.
#![allow(clippy::disallowed_methods)] // programs and their sources are no part of a system

mod c_programs_call;
mod cobol_programs_call;
mod consumers_have_little_room;
mod databases_take_part;
mod fake;
mod others_clients_run_unchanged;
mod place;
mod programs_meet_the_queue_manager;
mod programs_stop_what_calls_them;
#[path = "../../../../store/store-postgres/tests/all/common/server.rs"]
mod server;
mod transaction_managers_decide;
