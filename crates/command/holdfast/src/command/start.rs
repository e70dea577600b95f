//! `holdfast start`: a system that many programs use at once.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use base::Coded as _;
use clap::Args;
use jobs::leftovers::{self, Detail};
use jobs::terms::Shared;
use operations::selection::register_databases;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use system::AnySystem;

use super::DONE;
use super::doors::Doors;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::any_options;
use crate::output::{NOTICES, say as tell, warn};
use crate::passphrase::PassphraseArgs;

/// Start a system, for programs that use it at the same time (--type bmp)
///
/// Runs in the foreground until it is stopped, by `holdfast stop`, SIGTERM or Ctrl-C: programs
/// that are running then are backed out, and everything is written to disk. Killed, it loses
/// nothing: the next start backs out what was in flight.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast start -s /srv/bank & holdfast batch -s /srv/bank \
--type bmp --psb TELLER --program teller.cbl; holdfast stop -s /srv/bank")]
pub(crate) struct StartArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &StartArgs) -> Result<ExitCode> {
    let passphrase = args.passphrase.get()?;
    // Taken before the system is open: no signal may end it out of order.
    // A job in the background of a shell does not hear its Ctrl-C; `stop` must be heard.
    let heeded = [&[SIGTERM][..], &seam::process::not_ignored(&[SIGINT])].concat();
    let mut signals = Signals::new(heeded).map_err(|error| {
        Failure::other(format!("signals cannot be received: {error}"), "Try again.")
    })?;
    raise_open_files();
    let system = AnySystem::open(&context.seam, &args.system, &passphrase, any_options())?;
    system.notes().iter().for_each(warn);
    leftovers::clear(&*context.seam.disk, &args.system, Detail::All).iter().for_each(warn);
    if let AnySystem::Kernel(system) = &system {
        register_databases(system);
    }
    let shared = Shared::of(&system, NOTICES);
    let doors = match Doors::open(context, &system, &shared) {
        Ok(doors) => doors,
        Err(failure) => {
            if let Err(error) = system.close() {
                warn(error.with_code());
            }
            return Err(failure);
        }
    };
    say(context, &args.system, "started", &doors.addresses())?;
    wait_for_end(&system, &mut signals);
    let programs = doors.close(&system, &shared);
    if programs > 0 {
        warn(format!("programs that were running are backed out: {programs}"));
    }
    system.close()?;
    say(context, &args.system, "stopped", &[])?;
    DONE
}

/// Waits until an operator stops the system, and it can be started again.
fn wait_for_end(system: &AnySystem, signals: &mut Signals) {
    for _ in signals.forever() {
        match system.keep_key_file() {
            Ok(None) => return,
            Ok(Some(document)) => return warn(document),
            Err(error) => warn(format!(
                "the system goes on, because it could not be started again: {error} ({}); give the \
                 key file its place back, and stop it then",
                error.code()
            )),
        }
    }
}

/// Has this process have as many files open as it may have: each client is one.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let shown = |limit: Option<u64>| limit.map_or("any number of".to_owned(), |n| n.to_string());
    if limit.current == limit.maximum {
        return;
    }
    let before = std::mem::replace(&mut limit.current, limit.maximum);
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => tell(format!(
            "the system may have {} open files and connections, not {}",
            shown(limit.current),
            shown(before)
        )),
        Err(errno) => warn(format!(
            "the system may have {} open files and connections, and cannot raise that: {errno}",
            shown(before)
        )),
    }
}

/// Says what the system does now, at once: a reader may wait for it.
fn say(
    context: &mut Context,
    dir: &std::path::Path,
    what: &str,
    addresses: &[(&str, SocketAddr)],
) -> Result<()> {
    let process = std::process::id();
    let dir = dir.display().to_string();
    match context.output.is_json() {
        true => {
            let mut document =
                serde_json::json!({ "system": dir, "state": what, "process": process });
            for (door, address) in addresses {
                document[*door] = address.to_string().into();
            }
            context.output.value(&document)?;
        }
        false => {
            context.output.line(format_args!("system {dir} {what}, process {process}"))?;
            for (door, address) in addresses {
                context.output.line(format_args!("{door} at {address}"))?;
            }
        }
    }
    context.output.flush()
}
