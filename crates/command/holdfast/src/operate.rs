//! How a command has something done in a system, whether it is in use or stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use seal::Passphrase;
use serde::Serialize;
use serde::de::DeserializeOwned;
use system::operator::{self, Request};
use system::{OpenOptions, SystemConfig, SystemError};

use crate::command::Context;
use crate::failure::{Failure, Result};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::verbs::options;

/// Which system an operator's command is for.
#[derive(Args, Debug)]
pub(crate) struct Where {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) system: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
}

/// Has `verb` done in the system in `dir`: by the process that has it open or, if there is none,
/// here; only then is the passphrase asked for. Shows how far it is.
pub(crate) fn operate<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    verb: &str,
    arguments: &impl Serialize,
) -> Result<T> {
    operated(context, dir, passphrase, (verb, arguments), options())
}

/// The same for a verb that changes nothing as it is asked for: also where nothing can be written,
/// or no room is left for what an open system writes.
pub(crate) fn look<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    verb: &str,
    arguments: &impl Serialize,
) -> Result<T> {
    let options = looking(context, dir);
    let seen = operated(context, dir, passphrase, (verb, arguments), options);
    if seen.is_ok() || options.in_memory || !system::is_full(&*context.seam.disk, dir) {
        return seen;
    }
    let options = OpenOptions { in_memory: true, ..options };
    operated(context, dir, passphrase, (verb, arguments), options)
}

fn operated<T: DeserializeOwned>(
    context: &Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    (verb, arguments): (&str, &impl Serialize),
    options: OpenOptions,
) -> Result<T> {
    let request = Request::new(verb).with(arguments)?;
    let mut progress = Progress::new(&context.seam);
    let answer =
        operator::run(&context.seam, dir, options, &request, || passphrase.get(), &mut |at| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        });
    progress.clear();
    understood(dir, answer?)
}

/// How a system is opened only to be looked at: in memory where its folder is mounted read-only, as
/// backups and snapshots are.
fn looking(context: &Context, dir: &Path) -> OpenOptions {
    let in_memory = context.seam.disk.is_read_only(dir).unwrap_or(false);
    OpenOptions { in_memory, ..options() }
}

/// What RECON says, read from its files; the system may be damaged, or in use.
pub(crate) fn recon_of(
    context: &Context,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<recon::Reading> {
    let config = SystemConfig::read(&*context.seam.disk, dir)?;
    let keys = Arc::new(system::look_at_key_ring(&context.seam, dir, passphrase)?);
    Ok(recon::read(&system::recon_setup(&context.seam, dir, &config, keys))?)
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

/// An answer as the command wants it.
pub(crate) fn understood<T: DeserializeOwned>(dir: &Path, answer: serde_json::Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| {
        let (dir, why) = (dir.to_owned(), format!("its answer is not understood: {error}"));
        Failure::from(SystemError::NoAnswer { dir, why })
    })
}
