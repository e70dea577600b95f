//! `holdfast image-copy`: copies data sets while they are in use.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use operations::Selection;
use operations::image_copy::{Copied, CopyRequest};
use operations::verbs::Operation;
use system::Bytes;

use super::DONE;
use crate::advice;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{absolute, perform};
use crate::output::warn;
use crate::passphrase::PassphraseArgs;
use crate::pipe::ToStdout;
use crate::text::{bytes, count};

/// Copy data sets and databases while they are in use
///
/// A copy holds the sealed intervals of its data sets and says where in the log their recovery
/// goes on. RECON knows it from then on. Nobody waits for it.
#[derive(Args, Debug)]
#[command(
    name = "image-copy",
    after_help = "Example: holdfast image-copy -s /srv/bank --db CUSTDB --to /backup"
)]
pub(crate) struct ImageCopyArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// A folder for the copy; a second one gets the same file; or `-` for standard output
    #[arg(long, value_name = "FOLDER", required = true)]
    to: Vec<PathBuf>,
    /// Copy only what has changed since the newest copy of the same data sets
    #[arg(long)]
    incremental: bool,
    /// Read at most so much in a second, such as 50 MiB
    #[arg(long, value_name = "BYTES")]
    rate: Option<String>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Which data sets.
#[derive(Args, Clone, Debug)]
pub(super) struct WhichArgs {
    /// A data set
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// A database, with its indexes and relations
    #[arg(long, value_name = "DBD")]
    db: Vec<String>,
    /// All data sets of the system
    #[arg(long, conflicts_with_all = ["set", "db"])]
    all: bool,
}

impl WhichArgs {
    pub(super) fn which(&self) -> Result<Selection> {
        if !self.all && self.set.is_empty() && self.db.is_empty() {
            let remedy = "Name data sets with --set, databases with --db, or say --all.";
            return Err(Failure::usage("nothing was named", remedy));
        }
        Ok(Selection { sets: self.set.clone(), databases: self.db.clone(), all: self.all })
    }
}

pub(super) fn run(context: &mut Context, args: &ImageCopyArgs) -> Result<ExitCode> {
    let rate = match &args.rate {
        None => 0,
        Some(text) => {
            let read = text.parse::<Bytes>();
            let wrong = |why| Failure::usage(format!("--rate {text}: {why}"), "Say 50 MiB.");
            read.map_err(wrong)?.0
        }
    };
    if args.to.len() > 2 {
        return Err(Failure::usage("a copy has one file or two", "Name one or two folders."));
    }
    let folders = absolute(&args.to)?;
    if let [one, other] = &folders[..]
        && one == other
    {
        let what = format!("{} is named twice", one.display());
        return Err(Failure::usage(what, "Name another folder for the second file, or one alone."));
    }
    let which = args.which.which()?;
    let request =
        CopyRequest { which, folders: Vec::new(), pipe: None, incremental: args.incremental, rate };
    if args.to.iter().any(|to| to.as_os_str() == "-") {
        return to_stdout(context, args, request);
    }
    let request = CopyRequest { folders, ..request };
    let copied: Copied =
        perform(context, &args.system, &args.passphrase, &Operation::ImageCopy(request))?;
    tell_offline(&copied);
    if context.output.is_json() {
        context.output.document(&copied)?;
        return DONE;
    }
    let what = if copied.base == 0 {
        "full copy".to_owned()
    } else {
        format!("copy of what has changed since copy {}", copied.base)
    };
    context.output.line(format!(
        "image copy {}: {what} of {} data sets, {} intervals, {}",
        copied.number,
        copied.sets.len(),
        count(copied.intervals),
        bytes(copied.bytes)
    ))?;
    for file in &copied.files {
        context.output.line(format!("  {}", file.display()))?;
    }
    context.output.line(format!(
        "  recovery goes on in the log at {:#x}, and to any point from {:#x} on",
        copied.start, copied.end
    ))?;
    DONE
}

/// Says what the copy lacks, and what brings it back.
fn tell_offline(copied: &Copied) {
    for name in &copied.offline {
        let command = format!("`holdfast recover --set {name}`");
        warn(format!("data set {name} is offline, and not in the copy: {command} brings it back"));
    }
}

/// The copy goes to standard output, and what there is to say about it to standard error.
fn to_stdout(context: &Context, args: &ImageCopyArgs, request: CopyRequest) -> Result<ExitCode> {
    if args.to.len() > 1 {
        let remedy = "Name folders, or `-` alone.";
        return Err(Failure::usage("a copy to standard output has no second file", remedy));
    }
    let through = ToStdout::begin(&context.seam, &args.system)?;
    let request = CopyRequest { pipe: Some(through.path.clone()), ..request };
    let copied: Result<Copied> =
        perform(context, &args.system, &args.passphrase, &Operation::ImageCopy(request));
    // If it was standard output that failed, that is what there is to say.
    let copied = copied.map_err(|error| through.failure().unwrap_or(error))?;
    through.wait(copied.bytes)?;
    tell_offline(&copied);
    let use_it = format!("`holdfast recon change --copy {} --file FILE`", copied.number);
    eprintln!(
        "image copy {}: {} data sets, {} intervals, {}; to use it: {}",
        copied.number,
        copied.sets.len(),
        count(copied.intervals),
        bytes(copied.bytes),
        advice::typed(&use_it)
    );
    DONE
}
