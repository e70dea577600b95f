//! A load in a process of its own, so that it can be killed and its memory be weighed.
//!
//! The child is this same program. It speaks to its parent in lines on standard output:
//! `budget BYTES` once the store is open, `ready` when it has done what it was asked for; then
//! it goes on updating until it is killed, or with `--stop` ends.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::commit::drive;
use crate::error::{BenchError, Result};
use crate::kernel;
use crate::ours::{Checkpoints, Form, Store, StoreSetup};
use crate::workload;

/// What the child is to do.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ChildArguments {
    /// An empty folder for the store.
    #[arg(long)]
    folder: PathBuf,
    /// Records to load.
    #[arg(long)]
    records: u64,
    /// The budget of the buffer pool.
    #[arg(long)]
    pool_bytes: u64,
    /// Take checkpoints as shipped, instead of one after loading.
    #[arg(long)]
    default_checkpoints: bool,
    /// Transactions in flight.
    #[arg(long, default_value_t = 64)]
    in_flight: usize,
    /// Ready once a restart would have to read this much log.
    #[arg(long, default_value_t = 0)]
    log_bytes: u64,
    /// Ready after this many seconds of load at the earliest.
    #[arg(long, default_value_t = 0)]
    seconds: u64,
    /// End when ready instead of going on until killed.
    #[arg(long)]
    stop: bool,
}

impl ChildArguments {
    /// A load that is ready once its restart has `log_bytes` to read.
    pub(super) fn until_log(folder: &Path, records: u64, pool_bytes: u64, log_bytes: u64) -> Self {
        let checkpoints = false;
        Self::new(folder, records, pool_bytes, checkpoints, log_bytes, 0)
    }

    /// A load with checkpoints as shipped that is ready after `seconds`.
    pub(super) fn for_seconds(folder: &Path, records: u64, pool_bytes: u64, seconds: u64) -> Self {
        let checkpoints = true;
        Self::new(folder, records, pool_bytes, checkpoints, 0, seconds)
    }

    fn new(
        folder: &Path,
        records: u64,
        pool_bytes: u64,
        default_checkpoints: bool,
        log_bytes: u64,
        seconds: u64,
    ) -> Self {
        let folder = folder.to_path_buf();
        let (in_flight, stop) = (64, false);
        Self {
            folder,
            records,
            pool_bytes,
            default_checkpoints,
            in_flight,
            log_bytes,
            seconds,
            stop,
        }
    }

    /// The store that the child opens, for opening it again after the kill.
    pub(super) fn setup(&self) -> StoreSetup {
        let checkpoints = match self.default_checkpoints {
            true => Checkpoints::Default,
            false => Checkpoints::OnlyWhenAsked,
        };
        let (folder, pool_bytes) = (self.folder.clone(), self.pool_bytes);
        StoreSetup {
            folder,
            form: Form::Sealed,
            copies: 2,
            pool_bytes,
            checkpoints,
            buffered: true,
        }
    }

    fn command_line(&self) -> Vec<String> {
        let mut words = vec!["child".to_owned()];
        let mut add = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        add("folder", self.folder.display().to_string());
        add("records", self.records.to_string());
        add("pool-bytes", self.pool_bytes.to_string());
        add("in-flight", self.in_flight.to_string());
        add("log-bytes", self.log_bytes.to_string());
        add("seconds", self.seconds.to_string());
        if self.default_checkpoints {
            words.push("--default-checkpoints".into());
        }
        if self.stop {
            words.push("--stop".into());
        }
        words
    }
}

/// The child's side.
pub(crate) fn run_child(arguments: &ChildArguments) -> Result<()> {
    let missing = || BenchError::subject("holdfast", "open a store", "no kernel is built in");
    let kernel = kernel::built_in().ok_or_else(missing)?;
    let store = kernel.create_store(&arguments.setup())?;
    say(&format!("budget {}", store.budget_bytes()))?;
    let records = arguments.records;
    store.load(&mut (0..records).map(|id| (workload::key(id), workload::value(id))))?;
    store.checkpoint()?;
    let begin = Instant::now();
    let ready = AtomicBool::new(false);
    let is_ready = |store: &dyn Store| {
        begin.elapsed() >= Duration::from_secs(arguments.seconds)
            && store.log_bytes_since_checkpoint() >= arguments.log_bytes
    };
    loop {
        drive(&*store, records, arguments.in_flight, Duration::from_millis(100))?;
        if !ready.load(Ordering::Relaxed) && is_ready(&*store) {
            ready.store(true, Ordering::Relaxed);
            say("ready")?;
            if arguments.stop {
                return Ok(());
            }
        }
    }
}

fn say(line: &str) -> Result<()> {
    let mut output = std::io::stdout();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(BenchError::system("write to", Path::new("standard output")))
}

/// A running child; killed when dropped.
pub(super) struct Load {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// The sum of the store's budgets.
    pub(super) budget_bytes: u64,
}

impl Load {
    /// Starts a child and waits until its store is open.
    pub(super) fn start(arguments: &ChildArguments) -> Result<Load> {
        let program = std::env::current_exe()
            .map_err(BenchError::system("find", Path::new("this program")))?;
        let mut child = Command::new(&program)
            .args(arguments.command_line())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(BenchError::system("start", &program))?;
        let output = child.stdout.take().expect("standard output was asked for");
        let mut load = Load { child, lines: BufReader::new(output), budget_bytes: 0 };
        let line = load.line()?;
        let number = line.strip_prefix("budget ").and_then(|number| number.parse().ok());
        let strange = || BenchError::subject("holdfast", "start a load", line.clone());
        load.budget_bytes = number.ok_or_else(strange)?;
        Ok(load)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let pipe = Path::new("the load's output");
        let length = self.lines.read_line(&mut line).map_err(BenchError::system("read", pipe))?;
        if length == 0 {
            return Err(BenchError::subject("holdfast", "keep up a load", "its process ended"));
        }
        Ok(line.trim().to_owned())
    }

    /// Waits until the child has done what it was asked for.
    pub(super) fn wait_ready(&mut self) -> Result<()> {
        let line = self.line()?;
        assert_eq!(line, "ready", "a load says nothing else");
        Ok(())
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it is still running.
    pub(super) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it at once, as SIGKILL does, and waits for its end.
    pub(super) fn kill(mut self) -> Result<()> {
        let program = Path::new("the load");
        self.child.kill().map_err(BenchError::system("kill", program))?;
        self.child.wait().map(drop).map_err(BenchError::system("wait for", program))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // After kill() both fail harmlessly; after an error they keep the child from staying.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
