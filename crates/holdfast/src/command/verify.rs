//! `holdfast verify`: proves a stopped system.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use system::{Finding, VerifyReport};

use super::{Context, DONE};
use crate::failure::Result;
use crate::output::{Output, count};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;

/// Prove a stopped system: every byte that it would rely on
///
/// Reads key file, control file, log, double-write area and data sets, and names each damaged
/// object with its place. Changes nothing. The exit code is 1 if anything is wrong.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast verify /srv/bank --json")]
pub(crate) struct VerifyArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    let passphrase = args.passphrase.get()?;
    let mut progress = Progress::new(&context.seam);
    let report = system::verify(&context.seam, &args.dir, &passphrase, &mut |phase| {
        progress.show(phase.object, phase.done, phase.total, phase.unit);
    })?;
    drop(progress);
    match context.output.is_json() {
        true => context.output.document(&report)?,
        false => tell(&mut context.output, &report)?,
    }
    if report.findings.is_empty() { DONE } else { Ok(ExitCode::FAILURE) }
}

fn tell(output: &mut Output, report: &VerifyReport) -> Result<()> {
    for finding in &report.findings {
        tell_finding(output, finding)?;
    }
    for note in &report.notes {
        output.line(format!("note: {note}"))?;
    }
    output.line(format!(
        "system {}: {} keys, {} log groups with {} records, {} intervals in the double-write area",
        report.system,
        report.keys,
        count(report.log_groups),
        count(report.log_records),
        count(report.double_write_intervals)
    ))?;
    let or_dash = |value: Option<u64>| value.map_or("-".to_owned(), count);
    let row = |set: &system::SetReport| {
        vec![
            set.name.clone(),
            count(set.intervals),
            count(set.proven),
            or_dash(set.records),
            or_dash(set.levels.map(u64::from)),
        ]
    };
    let rows: Vec<Vec<String>> = report.data_sets.iter().map(row).collect();
    if !rows.is_empty() {
        output.table(&["data set", "intervals", "proven", "records", "levels"], &rows)?;
    }
    let seconds = report.elapsed_ms as f64 / 1e3;
    output.line(match report.findings.len() {
        0 => format!("all of it proves itself ({seconds:.1} s)"),
        1 => format!("1 thing is wrong ({seconds:.1} s)"),
        many => format!("{many} things are wrong ({seconds:.1} s)"),
    })
}

fn tell_finding(output: &mut Output, finding: &Finding) -> Result<()> {
    let mut place = String::new();
    if let Some(interval) = finding.interval {
        place += &format!(", interval {interval}");
    }
    if let Some(file) = &finding.file {
        place += &format!(", {}", file.display());
    }
    if let Some(offset) = finding.offset {
        place += &format!(" at {offset}");
    }
    output.line(format!("DAMAGED {}{place}: {}", finding.object, finding.what))?;
    output.line(format!("        {}", finding.remedy))
}
