//! `holdfast restart`: recovers a system and stops it in order.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use operations::dry_run::{Site, start_without};
use system::status::RestartStatus;
use system::{OpenOptions, System};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::options;
use crate::output::warn;
use crate::passphrase::PassphraseArgs;
use crate::text::count;

/// Recover a system that was not stopped in order, and stop it in order
///
/// Every start does the same first; this is for systems that nobody wants to start now: before
/// they are copied, verified or handed on.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast restart /srv/bank
         holdfast restart /srv/bank --without HISTORY --yes")]
pub(crate) struct RestartArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Go on with a copy of the log that is known to lack groups, because the other one is gone
    /// for good: everything behind its end is lost, acknowledged or not
    #[arg(long)]
    accept_loss_with_stale_log_copy: bool,
    /// Begin the anchor with the system as it is now, because it is new or lost: whether the
    /// system was put back to an older state before is not noticed
    #[arg(long)]
    begin_anchor: bool,
    /// Take a data set offline that keeps the system from starting, because its file is lost or
    /// damaged: everything else can be used again, and it waits for its recovery
    #[arg(long, value_name = "SET")]
    without: Vec<String>,
    /// Take it offline even if nothing is known that would bring it back
    #[arg(long, requires = "without")]
    yes: bool,
}

pub(super) fn run(context: &mut Context, args: &RestartArgs) -> Result<ExitCode> {
    let options = OpenOptions {
        override_stale: args.accept_loss_with_stale_log_copy,
        begin_anchor: args.begin_anchor,
        ..options()
    };
    let passphrase = args.passphrase.get()?;
    let (dir, without) = (&args.dir, &args.without);
    let system = match without.is_empty() {
        true => System::open(&context.seam, dir, &passphrase, options)?,
        false => {
            let site = Site { seam: &context.seam, dir, options };
            start_without(site, &passphrase, without, args.yes)?
        }
    };
    system.notes().iter().for_each(warn);
    let restart = system.status().restart;
    system.close()?;
    let output = &mut context.output;
    let Some(restart) = restart else { return DONE };
    if output.is_json() {
        output.document(&restart)?;
        return DONE;
    }
    output.line(text(&restart))?;
    DONE
}

fn text(restart: &RestartStatus) -> String {
    if restart.orderly {
        return "the system had been stopped in order; there was nothing to recover".into();
    }
    format!(
        "recovered in {:.0} ms: {} log records read, {} changes repeated, {} units of work backed \
         out, {} intervals and {} log groups repaired; stopped in order",
        restart.elapsed_ms,
        count(restart.records),
        count(restart.redone),
        count(restart.backed_out),
        count(restart.intervals_repaired),
        count(restart.groups_repaired)
    )
}
