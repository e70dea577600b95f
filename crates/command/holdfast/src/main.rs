//! The command `holdfast`: makes systems, shows how they are, proves them, demonstrates them.
//!
//! Glue only: each subcommand is a file in `command/` that reads its arguments, calls the crates
//! below and prints what they answer. What every subcommand keeps:
//!
//! 1. Exit codes are 0 for done, 1 for failed, 2 for wrong usage; one place decides ([`main`]).
//! 2. Results go to standard output, as text for people or with `--json` for programs; progress,
//!    warnings and errors go to standard error.
//! 3. An error says what happened, to which object, and what to do ([`failure`]).
//! 4. A passphrase is never shown, neither typed nor in an error ([`passphrase`]).
//! 5. A reader that goes away (`holdfast log print DIR | head`) ends the command, quietly.

mod advice;
mod cancel;
mod command;
mod context;
mod failure;
mod input;
mod open_files;
mod operate;
mod output;
mod passphrase;
mod pipe;
mod progress;
mod standard;
mod text;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use facility::Secrets;

use command::Rewritten;
use failure::Failure;
use text::harmless;

fn main() -> ExitCode {
    // Before anything else: whatever comes into this process's memory may be a secret (K22). What
    // the operating system refuses is said by the command that opens a system.
    seam::process::rely_on_signals();
    let _notes = system::hygiene::protect_process();
    advice::describe(command::Cli::command);
    let typed: Vec<OsString> = command::mqsc_words(std::env::args_os().collect());
    text::remember_names(&typed);
    let (words, given) = match pgp_words(typed) {
        Ok(rewritten) => rewritten,
        Err(code) => return code,
    };
    let parsed = command::Cli::command().try_get_matches_from(words).and_then(|matches| {
        advice::remember(&matches);
        command::Cli::from_arg_matches(&matches)
    });
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end well; a reader that went away is nobody's fault.
            let _ = match error.use_stderr() && text::has_strange_names() {
                true => writeln!(std::io::stderr(), "{}", harmless(&error.to_string())),
                false => error.print(),
            };
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let json = cli.json;
    match command::run(cli, given) {
        Ok(code) => code,
        Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell(json);
            failure.exit_code()
        }
    }
}

/// The words of a clear command line: those of the Encryption Facility are put into them.
fn pgp_words(words: Vec<OsString>) -> Result<(Vec<OsString>, Secrets), ExitCode> {
    let json = words.iter().any(|word| word == "--json");
    match command::facility_words(words) {
        Ok(Rewritten::Words(words, given)) => Ok((words, given)),
        Ok(Rewritten::Help(text)) => {
            // A reader that went away is nobody's fault.
            let _ = std::io::stdout().write_all(text.as_bytes());
            Err(ExitCode::SUCCESS)
        }
        Err(failure) => {
            failure.tell(json);
            Err(failure.exit_code())
        }
    }
}
