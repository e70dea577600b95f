//! A system of the command `holdfast` that a benchmark starts and drives through IMS Connect.
//!
//! 1. It is sealed, with two copies of its log, and as `init` makes it but for what a benchmark
//!    says.
//! 2. It is killed if the benchmark fails, and never outlives it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ::drive::{Pace, Plan, Report};
use base::stats::Quantiles;
use otma::{Encoding, Name};

use super::Context;
use super::cobol::{complete, find_compiler, find_holdfast, write};
use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::kernel::failed;

const PASSPHRASE: &str = "benchmarks have no secrets";
/// How long a terminal waits: the first transaction waits for the compiler.
const PATIENCE: Duration = Duration::from_secs(60);

/// A system, started or not.
pub(super) struct System {
    holdfast: PathBuf,
    folder: PathBuf,
    process: Option<Child>,
    /// The port of its first door.
    port: u16,
}

impl System {
    /// A new system in a folder of its own.
    pub(super) fn create(context: &Context, name: &str, pool_bytes: u64) -> Result<System> {
        let holdfast = find_holdfast()?;
        find_compiler()?;
        let folder = context.folder.join(name);
        let system = System { holdfast, folder, process: None, port: 0 };
        let mut init = system.command("init");
        let pool = pool_bytes.to_string();
        init.args(["--pool-bytes", &pool, "--guess-memory", "8 MiB", "--guess-passes", "1"]);
        complete(init.arg(&system.folder))?;
        Ok(system)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.holdfast);
        command.env("HOLDFAST_PASSPHRASE", PASSPHRASE).stdin(Stdio::null()).arg(name);
        command
    }

    /// Runs a command on it.
    pub(super) fn run(&self, verb: &str, arguments: &[&str]) -> Result<()> {
        complete(self.command(verb).arg("-s").arg(&self.folder).args(arguments))
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("holdfast.toml")
    }

    /// Changes its configuration: settings of `[online]`, and what is added behind all others.
    pub(super) fn configure(&self, settings: &[(&str, String)], added: &str) -> Result<()> {
        let path = self.configuration();
        let text = std::fs::read_to_string(&path).map_err(BenchError::system("read", &path))?;
        let set = |line: &str| {
            let wanted = settings.iter().find(|(name, _)| {
                line.strip_prefix("#: ").is_some_and(|rest| rest.starts_with(&format!("{name} = ")))
            });
            wanted.map_or_else(|| line.to_owned(), |(name, value)| format!("{name} = {value}"))
        };
        let lines: Vec<String> = text.lines().map(set).collect();
        write(&path, &format!("{}\n{added}", lines.join("\n")))
    }

    /// Starts it; answers the address of its first door.
    pub(super) fn start(&mut self) -> Result<SocketAddr> {
        let mut command = Command::new(&self.holdfast);
        command.env("HOLDFAST_PASSPHRASE", PASSPHRASE).stdin(Stdio::null());
        command.args(["--json", "start", "-s"]).arg(&self.folder).stdout(Stdio::piped());
        let spawned = command.spawn().map_err(BenchError::system("start", &self.holdfast))?;
        let process = self.process.insert(spawned);
        let mut printed = String::new();
        if let Some(output) = process.stdout.take() {
            let read = BufReader::new(output).read_line(&mut printed);
            read.map_err(BenchError::system("listen to", &self.holdfast))?;
        }
        let answer: Option<serde_json::Value> = serde_json::from_str(&printed).ok();
        let address = answer.as_ref().and_then(|answer| answer["ims_connect"].as_str());
        let address: Option<SocketAddr> = address.and_then(|text| text.parse().ok());
        self.port = address.map_or(0, |address| address.port());
        address.ok_or_else(|| failed(format!("the system did not start: {}", printed.trim_end())))
    }

    /// The port of its doors.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub(super) fn process(&self) -> u32 {
        self.process.as_ref().map_or(0, Child::id)
    }

    /// Its CPU alone.
    pub(super) fn scope(&self) -> CpuScope {
        CpuScope::Server(self.process())
    }

    /// Bytes of memory that its process has.
    pub(super) fn resident_bytes(&self) -> Result<u64> {
        let path = PathBuf::from(format!("/proc/{}/status", self.process()));
        let text = std::fs::read_to_string(&path).map_err(BenchError::system("read", &path))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kib.map(|kib| kib << 10).ok_or_else(|| failed("the process tells nothing of its memory"))
    }

    /// Stops it in an orderly way.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.run("stop", &[])?;
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.wait().map(drop).map_err(BenchError::system("wait for", &self.folder))
    }
}

impl Drop for System {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Nothing more can be done here.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A path as the configuration has it.
pub(super) fn quoted(path: &Path) -> String {
    format!("[{:?}]", path.display().to_string())
}

/// Terminals without think time that send what `work` says until the slice is over.
pub(super) fn terminals(
    address: SocketAddr,
    count: u32,
    slice: Duration,
    work: &Arc<dyn ::drive::Work>,
) -> Result<Work> {
    let plan = Plan {
        tls: None,
        address,
        terminals: count,
        threads: 1,
        encoding: Encoding::Ascii,
        data_store: Name(*b"HOLDFAST"),
        user: Name::BLANK,
        group: Name::BLANK,
        password: Name::BLANK,
        prefix: "HF".into(),
        mix: vec![::drive::Kind { name: "all".into(), weight: 1, work: Arc::clone(work) }],
        pace: Pace::Think(Duration::ZERO),
        ramp: Duration::ZERO,
        warm_up: Duration::ZERO,
        time: slice,
        patience: PATIENCE,
        seed: 1,
    };
    let (report, _) = ::drive::run(plan).map_err(failed)?;
    confirmed(&report)
}

/// What was confirmed; anything else than right replies is an error.
fn confirmed(report: &Report) -> Result<Work> {
    if report.unknown > 0 || report.wrong > 0 || report.broken > 0 {
        let first = report.wrong_first.first().map_or("", String::as_str);
        let Report { unknown, wrong, broken, refused, .. } = report;
        let what = format!(
            "{unknown} transactions unknown, {wrong} replies wrong, {broken} connections broken, \
             refused {refused:?} {first}"
        );
        return Err(failed(what));
    }
    let (count, times) = (report.transactions, &report.response);
    // The driver keeps times of its own, in microseconds.
    let latency = (count > 0).then(|| Quantiles {
        count,
        sum: (times.mean * 1e3 * count as f64) as u64,
        p50: times.p50 * 1_000,
        p99: times.p99 * 1_000,
        max: times.max * 1_000,
    });
    Ok(Work { operations: count, bytes: 0, latency })
}
