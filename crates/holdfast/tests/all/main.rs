//! The command as its users meet it: scenarios with the real program, each in a file of its own.

mod common;
#[allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside
#[path = "../../../token/tests/softhsm/mod.rs"]
mod softhsm;

mod a_changed_definition_keeps_its_data;
mod a_damaged_system_has_a_doctor;
mod a_database_is_loaded_and_unloaded;
mod a_full_disk_loses_nothing;
mod a_killed_process_loses_nothing;
mod a_log_gets_more_stripes;
mod a_lost_recon_is_not_forgotten;
mod a_missing_or_foreign_file_is_named;
mod a_new_system_says_how_it_is;
mod a_recovery_takes_nothing_away;
mod a_stale_log_copy_is_never_taken_for_a_good_one;
mod a_system_comes_back_on_a_bare_machine;
mod a_system_in_use_is_verified_and_mended;
mod a_system_that_was_put_back_is_refused;
mod a_token_opens_a_system;
mod a_truncated_file_is_named_and_nothing_is_changed;
mod a_version_from_the_future_is_refused;
mod a_wrong_passphrase_opens_nothing;
mod an_unclean_stop_is_told_and_recovered;
mod cobol_programs_run_from_their_sources;
mod copies_bring_data_back;
mod copies_that_are_not_mounted_are_not_gone;
mod databases_are_taken_back;
mod definitions_are_stored_all_or_none;
mod files_at_rest;
mod files_at_rest_by_older_names;
mod files_at_rest_lose_nothing;
mod forms_change_while_a_system_is_in_use;
mod keys_change_and_old_passphrases_stop_working;
mod keys_come_from_elsewhere;
mod no_user_data_is_readable_in_a_sealed_system;
mod others_look_after_a_system;
mod partitions_and_pairs;
mod pools_change_while_the_bank_runs;
mod programs_run_as_job_steps;
mod recon_says_who_has_what_open;
mod secrets_come_from_elsewhere;
mod the_bank_runs;
mod the_bank_survives_damage;
mod the_command_line_is_polite;
mod the_log_is_archived;
mod two_processes_never_open_one_system;
mod units_of_work_are_taken_back;
mod verify_names_a_damaged_interval_with_its_place;
mod what_a_system_says_is_true_everywhere;
mod what_is_damaged_is_made_anew;
