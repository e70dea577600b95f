//! `holdfast manual` and `holdfast completions`: made from the command line's own description.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, DONE};
use crate::context::Context;
use crate::failure::Result;

/// Write a manual page for each command
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast manual --to ~/.local/share/man/man1 && man holdfast-image-copy")]
pub(crate) struct ManualArgs {
    /// A folder that exists; pages that stand there already are replaced
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
}

pub(super) fn run(context: &mut Context, args: &ManualArgs) -> Result<ExitCode> {
    clap_mangen::generate_to(Cli::command(), &args.to)?;
    let page = args.to.join("holdfast.1");
    match context.output.is_json() {
        true => context.output.value(&serde_json::json!({ "page": page }))?,
        false => context.output.line(format_args!("Read it with: man {}", page.display()))?,
    }
    DONE
}

/// Print what makes a shell complete commands and options
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast completions bash > ~/.local/share/bash-completion/completions/holdfast")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn completions(context: &mut Context, args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "holdfast", &mut script);
    let script = String::from_utf8_lossy(&script);
    match context.output.is_json() {
        true => context.output.value(&serde_json::json!({ "script": script }))?,
        false => context.output.raw(script.trim_end())?,
    }
    DONE
}
