//! `holdfast pool`: buffer pools.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use system::status::PoolStatus;

use super::status::pool_table;
use super::{Context, DONE};
use crate::failure::Result;
use crate::operate::operate;
use crate::passphrase::PassphraseArgs;

/// Buffer pools: how they are
///
/// Works on a system in use and on one that is stopped; the passphrase is needed for the latter.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast pool list -s /srv/bank")]
pub(crate) struct PoolArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show the pools
    #[command(after_help = "Example: holdfast pool list -s /srv/bank --json")]
    List(Where),
}

/// Which system.
#[derive(Args, Debug)]
struct Where {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &PoolArgs) -> Result<ExitCode> {
    match &args.what {
        What::List(place) => list(context, place),
    }
}

fn list(context: &mut Context, place: &Where) -> Result<ExitCode> {
    let pools: Vec<PoolStatus> =
        operate(context, &place.system, &place.passphrase, "pool list", &json!({}))?;
    match context.output.is_json() {
        true => context.output.document(&pools)?,
        false => pool_table(&mut context.output, &pools)?,
    }
    DONE
}
