//! `holdfast engine`: engines beyond this machine, before anything is kept there.

use std::process::ExitCode;

use clap::{Args, Subcommand, value_parser};
use serde::Serialize;
use store_postgres::certify::{Effort, Verdict, certify};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;

/// Work with a database engine that systems keep their data in
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast engine certify postgres://holdfast@db.example/bank")]
pub(crate) struct EngineArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Certify(CertifyArgs),
}

/// Find out whether an engine keeps what Holdfast relies on: yes or no
///
/// Runs the conformance suite of Holdfast's store against it, with one system and then with two:
/// what is read and written, write skew, phantoms, lost updates, deadlocks, and random histories
/// that are checked for serializability. Everything happens in a schema named
/// holdfast_certify_..., which is made for it and dropped afterwards; no other table is read or
/// written. The user needs the right to create schemas. The exit code is 0 for yes and 1 for no.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: holdfast engine certify postgres://holdfast@db.example/bank --rounds 200"
)]
struct CertifyArgs {
    /// The engine: postgres://USER@HOST:PORT/DATABASE, with sslmode and sslrootcert if wanted
    #[arg(value_name = "URL", env = "HOLDFAST_ENGINE", hide_env_values = true)]
    url: String,
    /// Where chance begins
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// How often what depends on chance is repeated
    #[arg(long, default_value_t = 40, value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    rounds: u32,
    /// With how many threads
    #[arg(long, default_value_t = 4, value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(2..=64))]
    threads: u32,
}

#[derive(Serialize)]
struct Answer<'a> {
    certified: bool,
    seed: u64,
    rounds: u32,
    threads: u32,
    checks: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    part: &'a str,
    check: &'a str,
    systems: u32,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

pub(super) fn run(context: &mut Context, args: &EngineArgs) -> Result<ExitCode> {
    match &args.verb {
        Verb::Certify(args) => run_certify(context, args),
    }
}

fn run_certify(context: &mut Context, args: &CertifyArgs) -> Result<ExitCode> {
    let CertifyArgs { seed, rounds, threads, .. } = *args;
    let effort = Effort { seed, rounds, threads };
    let mut printed = Ok(());
    let (seam, output) = (context.seam.clone(), &mut context.output);
    let verdicts = certify(&args.url, effort, &seam, |verdict| {
        if !output.is_json() && printed.is_ok() {
            printed = output.line(line_of(verdict)).and_then(|()| output.flush());
        }
    })?;
    printed?;
    let failed = verdicts.iter().filter(|verdict| verdict.failure.is_some()).count();
    let certified = failed == 0;
    if context.output.is_json() {
        let checks = verdicts.iter().map(entry_of).collect();
        context.output.document(&Answer { certified, seed, rounds, threads, checks })?;
    } else if certified {
        let checks = verdicts.len();
        context.output.line(format!("yes: the engine passed all {checks} checks"))?;
    } else {
        let checks = verdicts.len();
        context.output.line(format!(
            "no: the engine failed {failed} of {checks} checks; keep nothing there"
        ))?;
    }
    if certified { DONE } else { Ok(ExitCode::FAILURE) }
}

fn entry_of(verdict: &Verdict) -> Line<'_> {
    let failure = verdict.failure.as_deref();
    let (part, check, systems) = (verdict.part, verdict.name, verdict.systems);
    Line { part, check, systems, passed: failure.is_none(), failure }
}

fn line_of(verdict: &Verdict) -> String {
    let systems = if verdict.systems == 1 { "1 system " } else { "2 systems" };
    let what = verdict.name.replace('_', " ");
    match &verdict.failure {
        None => format!("passed  {systems}  {}: {what}", verdict.part),
        Some(failure) => format!("FAILED  {systems}  {}: {what}\n        {failure}", verdict.part),
    }
}
