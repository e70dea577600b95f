//! `holdfast verify`: proves a system, stopped or in use, and has what is damaged repaired.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jobs::leftovers::{self, Detail};
use operations::verbs::settings_that_differ;
use operations::verbs::{Operation, answer_of};
use serde_json::json;
use system::operator;
use system::{
    Bytes, Finding, OpenOptions, Repair, System, SystemConfig, VerifyReport, VerifyRequest,
};

use super::{DONE, again, on_engine};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate;
use crate::operate::options;
use crate::output::{Output, warn};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::text::count;

/// Prove a system: every byte that it would rely on
///
/// Reads key file, control file, log, double-write area, data sets, RECON, archives and image
/// copies, and names each damaged object with its place and the commands that repair it. Works on a
/// stopped system and on one in use, where nobody waits for it; of the latter intervals are proven
/// one by one, and trees as a whole are not. Changes nothing unless --repair is given, but removes
/// what killed programs have left in clear. The exit code is 1 if anything is wrong.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast verify /srv/bank --json; holdfast verify /srv/bank --rate '50 MiB' --repair")]
pub(crate) struct VerifyArgs {
    /// The system's folder
    dir: PathBuf,
    /// Only this data set; a stopped system is started for that
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Only this database, with its indexes and relations; a stopped system is started for that
    #[arg(long, value_name = "DBD")]
    db: Vec<String>,
    /// Read at most so much in a second, such as 50 MiB, if the system is in use
    #[arg(long, value_name = "BYTES")]
    rate: Option<Bytes>,
    /// Run the commands that repair what is damaged, and prove it again
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// What was tried to repair what is damaged.
#[derive(serde::Serialize)]
struct Tried {
    command: Repair,
    /// Why it failed, if it did.
    error: Option<String>,
}

/// A repaired system may show what the damage hid: it is proven so many times.
const ROUNDS: usize = 4;

/// A command that failed is tried once more, when others have worked.
const TRIES: usize = 2;

/// The order of commands: what a start needs comes first, copies of what is sound again come last,
/// and behind them what has image copies forgotten that a recovery may need.
const ORDER: [&str; 7] = ["recon", "recover", "restart", "repair", "log", "archive", "index"];
/// The same for a system in use: what it alone knows is written first.
const ORDER_IN_USE: [&str; 7] =
    ["repair", "log", "archive", "recon", "recover", "restart", "index"];

pub(super) fn run(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    if SystemConfig::read_any(&*context.seam.disk, &args.dir)?.engine.is_some() {
        return on_engine::verify(context, &args.dir, &args.passphrase, &args.set);
    }
    SystemConfig::read(&*context.seam.disk, &args.dir)?;
    leftovers::clear(&*context.seam.disk, &args.dir, Detail::All).iter().for_each(warn);
    let mut report = look(context, args)?;
    let mut tried: Vec<Tried> = Vec::new();
    for _ in 0..ROUNDS {
        let commands = commands(&report, &tried);
        if !args.repair || commands.is_empty() {
            break;
        }
        for command in commands {
            if forgets(&command) && tried.iter().any(is_lacking) {
                continue;
            }
            let error = repair(context, args, &command).err().map(|failure| {
                let (code, what, _) = failure.parts();
                format!("{what} ({code})")
            });
            tried.push(Tried { command, error });
        }
        report = look(context, args)?;
    }
    match context.output.is_json() {
        true => {
            let mut document = serde_json::to_value(&report).map_err(std::io::Error::from)?;
            if args.repair {
                document["repairs"] = json!(tried);
            }
            context.output.document(&document)?;
        }
        false => {
            for Tried { command, error } in &tried {
                let outcome = error.as_ref().map_or("done".into(), |why| format!("FAILED: {why}"));
                context.output.line(format!("{command}\n        {outcome}"))?;
            }
            tell(&mut context.output, &report)?;
        }
    }
    if report.findings.is_empty() { DONE } else { Ok(ExitCode::FAILURE) }
}

fn look(context: &Context, args: &VerifyArgs) -> Result<VerifyReport> {
    let request = VerifyRequest {
        sets: args.set.clone(),
        databases: args.db.clone(),
        bytes_per_second: args.rate.map_or(0, |rate| rate.0),
    };
    if !(request.sets.is_empty() && request.databases.is_empty()) {
        return operate::inspect(context, &args.dir, &args.passphrase, &Operation::Verify(request));
    }
    SystemConfig::read(&*context.seam.disk, &args.dir)?;
    let request = Operation::Verify(request).request()?;
    let mut progress = Progress::new(&context.seam);
    let answer = operator::call(
        &context.seam,
        &args.dir,
        &request,
        &mut || args.passphrase.get(),
        &mut |at| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        },
    );
    if let Some(answer) = answer? {
        progress.clear();
        return Ok(answer_of(&args.dir, answer)?);
    }
    let passphrase = args.passphrase.get()?;
    let mut report = system::verify(&context.seam, &args.dir, &passphrase, &mut |phase| {
        progress.show(phase.object, phase.done, phase.total, phase.unit);
    })?;
    if report.findings.is_empty() {
        // What the settings say about the data shows in a system that is open, if only in memory.
        let options = OpenOptions { in_memory: true, ..options() };
        let system = System::open(&context.seam, &args.dir, &passphrase, options)?;
        report.findings = settings_that_differ(&system);
        system.close()?;
    }
    Ok(report)
}

/// What repairs all findings: each command once, in the order in which they work.
fn commands(report: &VerifyReport, tried: &[Tried]) -> Vec<Repair> {
    let given_up = |command: &Repair| {
        let tries = tried.iter().filter(|one| one.command == *command);
        tries.filter(|one| one.error.is_some()).count() >= TRIES
    };
    let mut all: Vec<Repair> = Vec::new();
    for command in report.findings.iter().flat_map(|finding| &finding.repair) {
        if !given_up(command) && !all.contains(command) {
            all.push(command.clone());
        }
    }
    let order = if report.in_use { ORDER_IN_USE } else { ORDER };
    let place = |command: &Repair| {
        if forgets(command) {
            return usize::MAX;
        }
        let verb = command.0.get(1).map(String::as_str);
        order.iter().position(|known| Some(*known) == verb).unwrap_or(order.len())
    };
    all.sort_by_key(place);
    all
}

/// Whether a command has an image copy forgotten.
fn forgets(command: &Repair) -> bool {
    command.0.iter().any(|word| word == "--gone")
}

/// Whether it failed to bring data back, or to copy it: what is left of damaged copies, others may
/// still make something of.
fn is_lacking(tried: &Tried) -> bool {
    let verb = tried.command.0.get(1).map(String::as_str);
    tried.error.is_some() && matches!(verb, Some("recover" | "image-copy"))
}

/// Runs a command as if it had been typed, without its output.
fn repair(context: &Context, args: &VerifyArgs, command: &Repair) -> Result<()> {
    if !context.output.is_json() {
        warn(format!("repairing: {command}"));
    }
    let mut words = command.0.clone();
    let PassphraseArgs { passphrase_file, token_module } = &args.passphrase;
    let options = [("--passphrase-file", passphrase_file), ("--token-module", token_module)];
    for (option, path) in options {
        if let Some(path) = path {
            words.extend([option.to_owned(), path.display().to_string()]);
        }
    }
    let code = again(context, &words)?;
    match code == ExitCode::SUCCESS {
        true => Ok(()),
        false => Err(Failure::other("it found something wrong", "Run it by itself.")),
    }
}

fn tell(output: &mut Output, report: &VerifyReport) -> Result<()> {
    for finding in &report.findings {
        tell_finding(output, finding)?;
    }
    for note in &report.notes {
        output.line(format!("note: {note}"))?;
    }
    output.line(format!(
        "system {}{}: {} keys, {} log groups with {} records, {} intervals in the double-write \
         area, {} files of archives, {} of image copies",
        report.system,
        if report.in_use { ", in use" } else { "" },
        report.keys,
        count(report.log_groups),
        count(report.log_records),
        count(report.double_write_intervals),
        count(report.archive_files),
        count(report.copy_files),
    ))?;
    if let Some(protection) = &report.protection {
        output.line(format!("protection {protection}"))?;
    }
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
    output.line(format!("        {}", finding.remedy))?;
    finding.repair.iter().try_for_each(|command| output.line(format!("        {command}")))
}
