//! What `status` and `verify` say of a system on an engine.

use std::path::Path;
use std::process::ExitCode;

use operations::verbs::answer_of;
use system::operator::Request;
use system::{EngineStatus, EngineSystem, EngineVerified, OpenOptions, SystemError, VerifyRequest};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{any_options, options};
use crate::output::{Output, utc};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::text::count;

/// How the system in `dir` is, with all that share its databases: the process that has it open is
/// asked, which takes no passphrase; or else the engine.
pub(super) fn status(
    context: &mut Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
) -> Result<ExitCode> {
    let no_answer = |error: std::io::Error| {
        Failure::from(SystemError::NoAnswer { dir: dir.to_owned(), why: error.to_string() })
    };
    let status = match system::ask_engine(dir).map_err(no_answer)? {
        Some(status) => *status,
        None => {
            let options = OpenOptions { serve: false, ..options() };
            let secret = passphrase.get()?;
            let system = EngineSystem::open(&context.seam, dir, &secret, options, &[])?;
            let status = system.status(false);
            system.close()?;
            status?
        }
    };
    match context.output.is_json() {
        true => context.output.document(&status)?,
        false => tell(&mut context.output, &status)?,
    }
    DONE
}

fn tell(output: &mut Output, status: &EngineStatus) -> Result<()> {
    let EngineStatus { system, dir, engine, schema, process, figures, .. } = status;
    let state = if status.started { "running" } else { "not started" };
    output.line(format!("system {system} in {dir}: {state}"))?;
    output.line(format!("  engine        {engine}, schema {schema}"))?;
    if status.started {
        output.line(format!(
            "  process       {}, up {:.0} s, {:.2} s CPU",
            process.pid,
            status.uptime_seconds,
            process.cpu_us as f64 / 1e6
        ))?;
        output.line(format!(
            "  asked         {} round trips, {} commits, {} of them repeated, {} waits for names",
            count(figures.round_trips),
            count(figures.commits),
            count(figures.commit_retries),
            count(figures.lock_waits)
        ))?;
    }
    let row = |one: &system::LivingStatus| {
        vec![
            one.number.to_string(),
            one.name.clone(),
            utc(one.since_utc_us),
            count(one.at_work),
            count(one.held),
            count(one.waiting),
        ]
    };
    let rows: Vec<Vec<String>> = status.systems.iter().map(row).collect();
    output.table(&["number", "system", "since", "programs", "locks", "waiting"], &rows)?;
    status.notes.iter().try_for_each(|note| output.line(format!("  note          {note}")))
}

/// Reads every entry of the data sets of a system on an engine.
pub(super) fn verify(
    context: &mut Context,
    dir: &Path,
    passphrase: &PassphraseArgs,
    sets: &[String],
) -> Result<ExitCode> {
    let request = VerifyRequest { sets: sets.to_vec(), ..VerifyRequest::default() };
    let request = Request::new("verify").with(&request)?;
    let mut progress = Progress::new(&context.seam);
    let secret = || passphrase.get();
    let answer = system::run(&context.seam, dir, any_options(), &request, secret, &mut |at| {
        progress.show(&at.object, at.done, at.total, &at.unit);
    });
    progress.clear();
    let report: EngineVerified = answer_of(dir, answer?)?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&report)?;
    } else {
        for finding in &report.findings {
            output.line(format!("DAMAGED {finding}"))?;
        }
        let row = |one: &system::VerifiedSet| vec![one.name.clone(), count(one.entries)];
        let rows: Vec<Vec<String>> = report.data_sets.iter().map(row).collect();
        output.table(&["data set", "entries"], &rows)?;
        output.line(match report.findings.len() {
            0 => "all of it proves itself".to_owned(),
            many => format!("{many} data sets are damaged"),
        })?;
    }
    if report.findings.is_empty() { DONE } else { Ok(ExitCode::FAILURE) }
}
