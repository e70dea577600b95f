//! `holdfast recover`: brings data sets to the end of the log, to a moment or to a position.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use operations::dry_run::{self, Site};
use operations::recover::{Point, RecoverRequest};

use super::DONE;
use super::image_copy::WhichArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::options;
use crate::output::{moment_of, warn};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::text::{bytes, count};

/// Recover data sets and databases from image copies and the log
///
/// What is named lands on one point, all of it or nothing; units of work that were not over there
/// are backed out. Everything else stays in use. If the system is stopped and does not start
/// because of what is named, it is started without it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: holdfast recover -s /srv/bank --db CUSTDB --to '2026-03-01 12:00:00'"
)]
pub(crate) struct RecoverArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Where to: `now`, a moment in UTC, or a position in the log such as 0x4711
    #[arg(long, value_name = "POINT", default_value = "now")]
    to: String,
    /// Only say what would be read, and about how long it would take
    #[arg(long)]
    check: bool,
    /// Take a part of a database to another time than the rest of it
    #[arg(long)]
    yes: bool,
    /// Start without this data set, too, which also keeps the system from starting and stays
    /// offline
    #[arg(long, value_name = "SET")]
    without: Vec<String>,
    /// How many seconds to wait for programs that use what is named
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &RecoverArgs) -> Result<ExitCode> {
    let request = RecoverRequest {
        which: args.which.which()?,
        to: point(&args.to)?,
        check: args.check,
        prove: false,
        apart: args.yes,
        wait_seconds: args.wait,
    };
    let mut progress = Progress::new(&context.seam);
    let recovered = dry_run::recover(
        Site { seam: &context.seam, dir: &args.system, options: options() },
        &mut || args.passphrase.get(),
        &request,
        &args.without,
        &mut |at| progress.show(&at.object, at.done, at.total, &at.unit),
    );
    drop(progress);
    let recovered = recovered?;
    if context.output.is_json() {
        context.output.document(&recovered)?;
        return DONE;
    }
    recovered.warnings.iter().for_each(warn);
    let output = &mut context.output;
    let verb = if recovered.done { "recovered to" } else { "would be recovered to" };
    output.line(format!("{} data sets {verb} {:#x}", recovered.sets.len(), recovered.to))?;
    output.line(format!(
        "  from {} of image copies and {} of log from {:#x} on{}",
        bytes(recovered.copy_bytes),
        bytes(recovered.log_bytes),
        recovered.log_from,
        if recovered.done { String::new() } else { format!(", about {} s", recovered.seconds) }
    ))?;
    let rows: Vec<Vec<String>> = recovered
        .sets
        .iter()
        .map(|set| {
            let copies: Vec<String> = set.copies.iter().map(u32::to_string).collect();
            vec![
                set.name.clone(),
                copies.join("+"),
                count(set.intervals),
                count(set.redone),
                count(set.backed_out),
            ]
        })
        .collect();
    output.table(&["data set", "copies", "intervals", "changes", "backed out"], &rows)?;
    for unit in &recovered.spanning {
        output.line(format!(
            "note: uow{unit} was in flight there and had changed other data sets, too"
        ))?;
    }
    DONE
}

pub(super) fn point(text: &str) -> Result<Point> {
    if text.eq_ignore_ascii_case("now") {
        return Ok(Point::Now);
    }
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    if let Some(number) = number {
        return Ok(Point::Lsn(number));
    }
    moment_of(text).map(Point::Time).ok_or_else(|| {
        let remedy = "Say `now`, `2026-03-01 12:00:00` in UTC, or a log position such as 0x4711.";
        Failure::usage(format!("\"{text}\" is no point in time and none in the log"), remedy)
    })
}
