//! `holdfast-bench`: measures Holdfast and its peers in the same run, and reports.
//!
//! 1. A figure comes with its spread, the machine, the scheduling class and the commit.
//! 2. A promise that is not kept is reported, not an error: exit code 0 means measured, 1 that
//!    something could not be measured, 2 a wrong command line.
//! 3. This program stands outside the product: nothing depends on it, and the product's rules on
//!    the seam do not bind it.
#![allow(clippy::disallowed_methods)] // measuring needs the real clock, threads and files
#![allow(clippy::disallowed_types)] // and nothing here has to run in the simulator

mod benches;
mod copies;
mod cpu;
mod customers;
mod databases;
mod document;
mod dynamic;
mod error;
#[cfg(test)]
mod fake;
mod harness;
mod kernel;
mod ledger;
mod machine;
mod ours;
mod peers;
mod raw;
mod report;
mod spread;
mod svg;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use base::Coded;
use clap::{Args, Parser, Subcommand};

use crate::benches::{ALL, ChildArguments, run_child};
use crate::error::{BenchError, Result};
use crate::harness::Settings;

/// Measures Holdfast beside its peers.
#[derive(Parser)]
#[command(version, about, after_help = "Example:\n  holdfast-bench run seal commit --quick")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run benchmarks and write their results and the report.
    #[command(
        after_help = "Examples:\n  holdfast-bench run\n  holdfast-bench run commit --quick\n  \
                            chrt -f 10 holdfast-bench run commit log"
    )]
    Run(RunArguments),
    /// Write the report of the results that are there.
    #[command(after_help = "Example:\n  holdfast-bench report --results target/bench")]
    Report {
        /// Folder of the results.
        #[arg(long, default_value = "target/bench")]
        results: PathBuf,
    },
    /// Say which benchmarks there are.
    #[command(after_help = "Example:\n  holdfast-bench list")]
    List,
    /// A load in a process of its own; used by benchmarks that kill it.
    #[command(hide = true)]
    Child(ChildArguments),
}

#[derive(Args)]
struct RunArguments {
    /// Benchmarks to run; all of them if none is named.
    names: Vec<String>,
    /// Seconds instead of minutes: fewer rounds, shorter slices, less data. Not for quoting.
    #[arg(long)]
    quick: bool,
    /// Rounds of each interleaved comparison [default: 9, quick 3].
    #[arg(long)]
    rounds: Option<usize>,
    /// Without the peers: for profiles of Holdfast itself.
    #[arg(long)]
    alone: bool,
    /// Folder for data while measuring, on the disk to be measured.
    #[arg(long, env = "HOLDFAST_BENCH_DATA", default_value = "target/bench/data")]
    data: PathBuf,
    /// Folder for results and the report.
    #[arg(long, default_value = "target/bench")]
    results: PathBuf,
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Command::Run(arguments) => run(&arguments),
        Command::Report { results } => write_report(&results),
        Command::List => {
            list();
            Ok(())
        }
        Command::Child(arguments) => run_child(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            let usage = matches!(error, BenchError::UnknownBenchmark { .. });
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}

fn complain(error: &BenchError) {
    eprintln!("holdfast-bench: {} {error}\n  {}", error.code(), error.remedy());
}

fn list() {
    for benchmark in ALL {
        println!("{:8}  {} (about {})", benchmark.name, benchmark.title, benchmark.takes);
        println!("          {}", benchmark.about);
    }
}

fn run(arguments: &RunArguments) -> Result<()> {
    let names = if arguments.names.is_empty() {
        ALL.iter().map(|benchmark| benchmark.name.to_owned()).collect()
    } else {
        arguments.names.clone()
    };
    let chosen: Vec<_> = names.iter().map(|name| benches::find(name)).collect::<Result<_>>()?;
    let quick = arguments.quick;
    // Systems that are started here take paths as they stand in their configuration.
    let data = std::path::absolute(&arguments.data)
        .map_err(BenchError::system("find", &arguments.data))?;
    let settings = Settings {
        quick,
        alone: arguments.alone,
        rounds: arguments.rounds.unwrap_or(if quick { 3 } else { 9 }).max(1),
        slice: Duration::from_millis(if quick { 200 } else { 1000 }),
        data,
        results: arguments.results.clone(),
    };
    std::fs::create_dir_all(&settings.data)
        .map_err(BenchError::system("create", &settings.data))?;
    let mut failed = None;
    for benchmark in chosen {
        eprintln!("{}: {}", benchmark.name, benchmark.title);
        match benchmark.run(&settings) {
            Ok(path) => print_checks(&document::Document::read(&path)?),
            Err(error) => {
                complain(&error);
                failed = Some(error);
            }
        }
    }
    write_report(&settings.results)?;
    failed.map_or(Ok(()), Err)
}

fn print_checks(document: &document::Document) {
    for check in &document.checks {
        let verdict = match (check.holds, check.value) {
            (true, _) => "holds",
            (false, Some(_)) => "FALLS SHORT",
            (false, None) => "not measured",
        };
        let value = check.value.map_or(String::new(), |value| format!("{value:.3}, "));
        let (unit, sense) = (&check.unit, check.sense.words());
        println!("{verdict:12} {}: {value}{sense} {} {unit}", check.name, check.limit);
    }
}

fn write_report(results: &std::path::Path) -> Result<()> {
    let path = report::write(results)?;
    println!("report: {}", path.display());
    Ok(())
}
