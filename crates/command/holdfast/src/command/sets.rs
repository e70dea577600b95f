//! `holdfast sets`: the data sets of a system.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::Databases;
use operations::reinitialize::{self, is_index};
use operations::selection::database_of;
use seal::Passphrase;
use store::{SetAttributes, Store};
use system::{Bytes, System, SystemStatus};

use super::{DONE, status};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::options;
use crate::output::warn;
use crate::passphrase::PassphraseArgs;

/// List, make and drop data sets
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast sets list /srv/bank")]
pub(crate) struct SetsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// List the data sets of a running or a stopped system
    #[command(after_help = "Example: holdfast sets list /srv/bank --json")]
    List {
        /// The system's folder
        dir: PathBuf,
        #[command(flatten)]
        passphrase: PassphraseArgs,
    },
    Create(CreateArgs),
    /// Drop a data set and everything in it; the system must be stopped
    ///
    /// One that belongs to a database is dropped only with --yes: the database is not whole then.
    #[command(after_help = "Example: holdfast sets drop /srv/bank ACCOUNTS")]
    Drop {
        /// The system's folder
        dir: PathBuf,
        #[command(flatten)]
        passphrase: PassphraseArgs,
        /// The data set
        name: String,
        /// Drop it even if it belongs to a database
        #[arg(long)]
        yes: bool,
    },
}

/// Make an empty data set; the system must be stopped
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast sets create /srv/bank ACCOUNTS --interval-bytes 4096 --label payroll")]
struct CreateArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The data set's name
    name: String,
    /// Bytes of a control interval, 512 B to 32 KiB
    #[arg(long, value_name = "BYTES")]
    interval_bytes: Option<Bytes>,
    /// Keep it in clear
    #[arg(long)]
    plain: bool,
    /// The label of the key that seals it
    #[arg(long)]
    label: Option<String>,
    /// The pool that holds its intervals
    #[arg(long)]
    pool: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &SetsArgs) -> Result<ExitCode> {
    match &args.what {
        What::List { dir, passphrase } => {
            let status = status::of(context, dir, passphrase)?;
            let sets = match &status {
                SystemStatus::Running(running) => &running.data_sets,
                SystemStatus::StoppedInOrder(stopped) | SystemStatus::NeedsRestart(stopped) => {
                    &stopped.data_sets
                }
            };
            match context.output.is_json() {
                true => context.output.document(sets)?,
                false => status::data_sets(&mut context.output, sets)?,
            }
            DONE
        }
        What::Create(args) => create(context, args),
        What::Drop { dir, passphrase, name, yes } => {
            let system = open(context, dir, &passphrase.get()?)?;
            let dropped = drop_set(&system, name, *yes);
            system.close()?;
            dropped?;
            report(context, name, "dropped")
        }
    }
}

fn create(context: &mut Context, args: &CreateArgs) -> Result<ExitCode> {
    let too_large =
        || Failure::usage("an interval of that size is not possible", "Choose 512 B to 32 KiB.");
    let interval = args.interval_bytes.map(|bytes| u32::try_from(bytes.0).map_err(|_| too_large()));
    let attributes = SetAttributes {
        interval_bytes: interval.transpose()?,
        pool: args.pool.clone(),
        key_label: args.label.clone(),
        plain: args.plain.then_some(true),
        ..SetAttributes::default()
    };
    let system = open(context, &args.dir, &args.passphrase.get()?)?;
    let made = system.store().create_set(&args.name, &attributes);
    system.close()?;
    made?;
    report(context, &args.name, "made")
}

fn drop_set(system: &System, name: &str, yes: bool) -> Result<()> {
    let is_there = system.store().set(name)?.is_some();
    let is_offline = system.kernel().offline_sets().iter().any(|set| set.name == name);
    if !is_there && !is_offline {
        let what = format!("there is no data set {name}");
        return Err(Failure::other(what, "`holdfast sets list` names those that there are."));
    }
    if !yes && is_offline {
        let what = format!("data set {name} waits for its recovery: nothing was dropped");
        let remedy = format!(
            "`holdfast recover --set {name}` brings it back. If nothing does: `holdfast sets drop \
             DIR {name} --yes`."
        );
        return Err(Failure::other(what, remedy));
    }
    let of = database_of(system, name);
    if !yes && let Some(database) = &of {
        let what = format!("data set {name} belongs to database {database}: nothing was dropped");
        let remedy = format!(
            "`holdfast db empty {database} --yes` empties all of the database. To drop the data \
             set alone: `holdfast sets drop DIR {name} --yes`."
        );
        return Err(Failure::other(what, remedy));
    }
    let databases = Databases::of(system)?;
    reinitialize::drop_set(&databases, name)?;
    let database = of.unwrap_or_else(|| name.split('.').next().unwrap_or_default().to_owned());
    if !is_index(&databases, name) && databases.named(&database).is_ok() {
        warn(format!(
            "{database} lacks what stood in {name}, and programs do not notice: prove it with \
             `holdfast db verify {database}`; unload it, `holdfast db empty {database} --yes`, and \
             load it anew"
        ));
    }
    Ok(())
}

fn open(context: &Context, dir: &std::path::Path, passphrase: &Passphrase) -> Result<System> {
    let system = System::open(&context.seam, dir, passphrase, options())?;
    system.notes().iter().for_each(warn);
    Ok(system)
}

fn report(context: &mut Context, name: &str, what: &str) -> Result<ExitCode> {
    match context.output.is_json() {
        true => context.output.document(&serde_json::json!({ "name": name, "state": what }))?,
        false => context.output.line(format!("data set {name} is {what}"))?,
    }
    DONE
}
