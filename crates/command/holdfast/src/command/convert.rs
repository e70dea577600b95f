//! `holdfast convert` and `holdfast rekey`: the form of data sets, while they are in use.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use operations::verbs::Operation;
use system::Bytes;
use system::operator::SystemOperation;
use system::operator::forms::{Conversion, Converted, Converting, Steering};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{Where, look, operate, perform};
use crate::output::Output;
use crate::passphrase::PassphraseArgs;
use crate::text::{bytes, count};

/// Make data sets plain or sealed, while they are in use
///
/// Interval after interval is written again in the new form; programs go on meanwhile. What is
/// begun goes on by itself, also over a stop or a crash. Image copies and archives keep the form
/// that they were made in.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast convert -s /srv/bank --db ACCOUNTS --to sealed")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    which: Which,
    /// What they become
    #[arg(long, value_name = "FORM")]
    to: To,
    #[command(flatten)]
    how: How,
}

/// Have data sets, and the log, go over to new keys, while they are in use
///
/// Draws a new generation of the key and writes everything again with it; programs go on
/// meanwhile. What is begun goes on by itself, also over a stop or a crash; a command that is
/// repeated takes up what was left. The log uses its new key for what it writes from then on.
#[derive(Args, Debug)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Example: holdfast rekey -s /srv/bank --all --rate \"50 MiB\"
Example: holdfast rekey status -s /srv/bank")]
pub(crate) struct RekeyArgs {
    #[command(subcommand)]
    what: Option<What>,
    /// The system's folder
    #[arg(short, long, value_name = "DIR", required = true)]
    system: Option<PathBuf>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    #[command(flatten)]
    which: Which,
    /// The log
    #[arg(long)]
    log: bool,
    /// Every sealed data set, the log, and the system's own files
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show the conversions and re-keys that are not over
    #[command(after_help = "Example: holdfast rekey status -s /srv/bank --json")]
    Status(Where),
    /// Have conversions and re-keys wait
    #[command(after_help = "Example: holdfast rekey pause -s /srv/bank")]
    Pause(SteerArgs),
    /// Have them go on, as fast as is said
    #[command(after_help = "Example: holdfast rekey resume -s /srv/bank --rate \"20 MiB\"")]
    Resume {
        #[command(flatten)]
        which: SteerArgs,
        /// The most to convert in a second from now on, for each data set; 0 for no limit
        #[arg(long, value_name = "BYTES")]
        rate: Option<Bytes>,
    },
}

/// Which data sets.
#[derive(Args, Debug)]
struct Which {
    /// A data set
    #[arg(long = "set", value_name = "NAME", num_args = 1)]
    sets: Vec<String>,
    /// A database: its partitions, its indexes and its logical relationships
    #[arg(long = "db", value_name = "NAME", num_args = 1)]
    databases: Vec<String>,
}

#[derive(Args, Debug)]
struct SteerArgs {
    #[command(flatten)]
    place: Where,
    /// A data set; all, if none is named
    #[arg(long = "set", value_name = "NAME", num_args = 1)]
    sets: Vec<String>,
}

#[derive(Args, Debug)]
struct How {
    /// The most to convert in a second, for each data set, such as "50 MiB"
    #[arg(long, value_name = "BYTES")]
    rate: Option<Bytes>,
    /// Do not wait for the end
    #[arg(long)]
    no_wait: bool,
}

/// What data sets become.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// In clear, with a checksum
    Plain,
    /// Encrypted and authenticated
    Sealed,
}

pub(super) fn run(context: &mut Context, args: &ConvertArgs) -> Result<ExitCode> {
    let asked = Conversion { plain: args.to == To::Plain, ..asked(&args.which, &args.how) };
    if asked.sets.is_empty() && asked.databases.is_empty() {
        return Err(Failure::usage("nothing is named", "Give --set NAME or --db NAME."));
    }
    let Where { system, passphrase } = &args.place;
    let converted: Converted = perform(context, system, passphrase, &Operation::Convert(asked))?;
    report(&mut context.output, &converted)
}

pub(super) fn rekey(context: &mut Context, args: &RekeyArgs) -> Result<ExitCode> {
    let Some(what) = &args.what else { return begin(context, args) };
    let (place, operation) = match what {
        What::Status(place) => {
            let status = SystemOperation::RekeyStatus {};
            let all = look(context, &place.system, &place.passphrase, &status)?;
            return under_way(&mut context.output, &all);
        }
        What::Pause(which) => {
            let steering = Steering { sets: which.sets.clone(), ..Steering::default() };
            (&which.place, SystemOperation::RekeyPause(steering))
        }
        What::Resume { which, rate } => {
            let bytes_per_second = rate.map(|rate| rate.0);
            let sets = which.sets.clone();
            let steering = Steering { sets, bytes_per_second };
            (&which.place, SystemOperation::RekeyResume(steering))
        }
    };
    let all = operate(context, &place.system, &place.passphrase, &operation)?;
    under_way(&mut context.output, &all)
}

fn begin(context: &mut Context, args: &RekeyArgs) -> Result<ExitCode> {
    let asked = Conversion { log: args.log, all: args.all, ..asked(&args.which, &args.how) };
    if asked.sets.is_empty() && asked.databases.is_empty() && !asked.log && !asked.all {
        let remedy = "Give --set NAME, --db NAME, --log or --all.";
        return Err(Failure::usage("nothing is named", remedy));
    }
    let Some(system) = &args.system else {
        return Err(Failure::usage("no system is named", "Give -s DIR."));
    };
    let converted: Converted =
        perform(context, system, &args.passphrase, &Operation::Rekey(asked))?;
    report(&mut context.output, &converted)
}

fn asked(which: &Which, how: &How) -> Conversion {
    Conversion {
        sets: which.sets.clone(),
        databases: which.databases.clone(),
        bytes_per_second: how.rate.map_or(0, |rate| rate.0),
        no_wait: how.no_wait,
        ..Conversion::default()
    }
}

/// Says what came of a request.
fn report(output: &mut Output, converted: &Converted) -> Result<ExitCode> {
    if output.is_json() {
        output.document(converted)?;
        return DONE;
    }
    for (label, generation) in &converted.generations {
        output.line(format!("label {label} has generation {generation}; copy the key file"))?;
    }
    for set in &converted.done {
        output.line(format!("data set {set} is converted"))?;
    }
    for set in &converted.unchanged {
        output.line(format!("data set {set} was so before"))?;
    }
    table(output, &converted.under_way)?;
    DONE
}

fn under_way(output: &mut Output, all: &Vec<Converting>) -> Result<ExitCode> {
    match output.is_json() {
        true => output.document(all)?,
        false if all.is_empty() => output.line("nothing is being converted")?,
        false => table(output, all)?,
    }
    DONE
}

fn table(output: &mut Output, all: &[Converting]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let row = |one: &Converting| {
        let state = match (&one.trouble, one.paused) {
            (Some(why), _) => format!("stuck: {why}"),
            (None, true) => "paused".into(),
            (None, false) => "at work".into(),
        };
        let rate = match one.bytes_per_second {
            0 => "none".into(),
            rate => format!("{}/s", bytes(rate)),
        };
        let change = format!("{} to {}", one.from, one.to);
        let done = format!("{} of {}", count(u64::from(one.done)), count(u64::from(one.intervals)));
        vec![one.set.clone(), change, done, rate, state]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    output.table(&["data set", "conversion", "intervals", "limit", "state"], &rows)
}
