//! `holdfast stop`: stops a started system in order.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jobs::job::SOCKET;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use system::operator;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};

/// Stop a system that was started
///
/// Programs that are running are backed out; when this command ends, everything is on disk.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast stop -s /srv/bank")]
pub(crate) struct StopArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    /// How long to wait for the end
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
}

/// Whether no process has the system open any more.
fn is_free(context: &Context, dir: &Path) -> bool {
    let holder = operator::holder(dir).ok().flatten();
    holder.is_none() && context.seam.disk.lock_folder(dir, "lock").is_ok()
}

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn run(context: &mut Context, args: &StopArgs) -> Result<ExitCode> {
    let dir = &args.system;
    system::SystemConfig::read_any(context.seam.disk.as_ref(), dir)?;
    let holder = operator::holder(dir).map_err(|error| {
        let what = format!("the system in {} cannot be asked: {error}", dir.display());
        Failure::other(what, "Look with `holdfast status` at what it does.")
    })?;
    let Some(process) = holder else {
        if context.seam.disk.lock_folder(dir, "lock").is_err() {
            let what = format!("the system in {} is being opened, or closed", dir.display());
            return Err(Failure::other(what, "Wait until it is; `holdfast status` tells."));
        }
        let what = format!("the system in {} is not started", dir.display());
        return Err(Failure::other(what, "There is nothing to do."));
    };
    if seam::socket::connect(&dir.join(SOCKET)).is_err() {
        let what = format!("process {process} uses {} alone", dir.display());
        return Err(Failure::other(what, "It is a command that ends by itself; wait for it."));
    }
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or_else(|| {
        Failure::other(format!("{process} is no process"), "Start the system again.")
    })?;
    kill_process(pid, Signal::TERM).map_err(|errno| {
        let what = format!("process {process} cannot be stopped: {errno}");
        Failure::other(what, "Stop it as the user that has started it.")
    })?;
    let begun = context.seam.clock.monotonic();
    while test_kill_process(pid).is_ok() && !is_free(context, dir) {
        if context.seam.clock.monotonic().saturating_sub(begun) > Duration::from_secs(args.wait) {
            let what = format!("process {process} has not stopped within {} s", args.wait);
            return Err(Failure::other(what, "Wait for it; killing it loses nothing either."));
        }
        context.seam.clock.sleep(LOOK);
    }
    match context.output.is_json() {
        true => context
            .output
            .value(&serde_json::json!({ "system": dir, "state": "stopped", "process": process }))?,
        false => context.output.line(format_args!("system {} stopped", dir.display()))?,
    }
    DONE
}
