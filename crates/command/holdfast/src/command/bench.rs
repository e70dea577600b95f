//! `holdfast bench`: runs the benchmarks, which are a program of their own because their peers
//! (other databases) have no place in this one.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::context::Context;
use crate::failure::{Failure, Result};

/// Run the benchmarks
///
/// Everything behind `bench` goes to holdfast-bench, which stands beside this program or in PATH.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast bench run commit seal")]
pub(crate) struct BenchArgs {
    /// What holdfast-bench is told; "run" runs all of them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

const PROGRAM: &str = "holdfast-bench";

pub(super) fn run(_context: &Context, args: &BenchArgs) -> Result<ExitCode> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join(PROGRAM)));
    let program = beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let default = [OsString::from("run")];
    let arguments = if args.arguments.is_empty() { &default[..] } else { &args.arguments };
    // Comes back only if it could not be started.
    let error = seam::process::ourselves(&program).args(arguments).exec();
    Err(Failure::other(
        format!("{PROGRAM} cannot be started: {error}"),
        "In the source tree, `make bench` builds and runs it; otherwise put it beside holdfast.",
    ))
}
