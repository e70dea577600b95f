//! How a command has something done in a system, whether it is in use or stopped.
//!
//! Invariants:
//! 1. A command closes the system that it has opened, whatever became of its work.

use std::path::{Path, PathBuf};

use clap::Args;
use operations::Databases;
use operations::selection::register;
use operations::verbs::{Operation, answer_of};
use serde::de::DeserializeOwned;
use store_any::AnyStore;
use system::operator::{Request, SystemOperation};
use system::{AnyOptions, AnySystem, OpenOptions};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{warn, warn_once};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;

/// Which system an operator's command is for.
#[derive(Args, Debug)]
pub(crate) struct Where {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) system: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
}

/// Has an operation done in the system in `dir`: by the process that has it open or, if there is
/// none, here; only then is the passphrase asked for. Shows how far it is.
pub(crate) fn operate<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    operation: &SystemOperation,
) -> Result<T> {
    operated(context, dir, passphrase, &operation.request()?, any_options())
}

/// The same for one that changes nothing as it is asked for: also where nothing can be written, or
/// no room is left for what an open system writes.
pub(crate) fn look<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    operation: &SystemOperation,
) -> Result<T> {
    looked(context, dir, passphrase, &operation.request()?)
}

/// Has an operation over databases done, as [`operate`].
pub(crate) fn perform<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    operation: &Operation,
) -> Result<T> {
    operated(context, dir, passphrase, &operation.request()?, any_options())
}

/// The same for an operation that changes nothing, as [`look`].
pub(crate) fn inspect<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    operation: &Operation,
) -> Result<T> {
    looked(context, dir, passphrase, &operation.request()?)
}

fn looked<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    request: &Request,
) -> Result<T> {
    let options = looking(context, dir);
    let seen = operated(context, dir, passphrase, request, options);
    if seen.is_ok() || options.options.in_memory || !system::is_full(&*context.seam.disk, dir) {
        return seen;
    }
    operated(context, dir, passphrase, request, in_memory(options, true))
}

fn operated<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    request: &Request,
    options: AnyOptions,
) -> Result<T> {
    let mut progress = Progress::new(&context.seam);
    let answer =
        system::run(&context.seam, dir, options, request, || passphrase.get(), &mut |at| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        });
    progress.clear();
    Ok(answer_of(dir, answer?)?)
}

/// How a system is opened only to be looked at: in memory where its folder is mounted read-only, as
/// backups and snapshots are.
fn looking(context: &Context, dir: &Path) -> AnyOptions {
    in_memory(any_options(), context.seam.disk.is_read_only(dir).unwrap_or(false))
}

fn in_memory(how: AnyOptions, in_memory: bool) -> AnyOptions {
    AnyOptions { options: OpenOptions { in_memory, ..how.options }, ..how }
}

/// Folders as the process that has the system open finds them, wherever it stands.
pub(crate) fn absolute(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let absolute = |folder: &PathBuf| {
        std::path::absolute(folder).map_err(|error| {
            Failure::other(format!("{}: {error}", folder.display()), "Name another folder.")
        })
    };
    folders.iter().map(absolute).collect()
}

/// How the command opens a system: with all verbs.
pub(crate) fn options() -> OpenOptions {
    operations::verbs::options(warn_once)
}

/// The same, whichever system it is.
pub(crate) fn any_options() -> AnyOptions {
    operations::verbs::any_options(warn_once)
}

/// The arguments of a command that works on the databases of a stopped system.
#[derive(Args, Clone, Debug)]
pub(crate) struct SystemArgs {
    /// The system's folder; the system must be stopped
    #[arg(short, long, value_name = "DIR")]
    pub(crate) system: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
}

/// Opens the system, lets `body` work on its databases alone, and closes the system in any case.
pub(crate) fn with<T>(
    context: &mut Context,
    args: &SystemArgs,
    body: impl FnOnce(&mut Context, &AnySystem, &Databases<AnyStore>) -> Result<T>,
) -> Result<T> {
    let passphrase = args.passphrase.get()?;
    let dir: &Path = &args.system;
    let system = AnySystem::open(&context.seam, dir, &passphrase, any_options())?;
    system.notes().iter().for_each(warn);
    let done = system.alone().map_err(Failure::from).and_then(|_alone| {
        let databases = Databases::of(&system)?;
        let answer = body(context, &system, &databases)?;
        // What was made by it, RECON knows for the time when it is damaged.
        if let AnySystem::Kernel(system) = &system {
            register(system, &databases);
        }
        Ok(answer)
    });
    match (done, system.close()) {
        (Ok(answer), Ok(())) => Ok(answer),
        (Ok(_), Err(error)) => Err(error.into()),
        (Err(failure), _) => Err(failure),
    }
}
