//! The watching side of the working process: starts it, listens to it, kills it.

use std::io::{self, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;

use seam::sync::Mutex;
use seam::thread::JoinHandle;

use super::bank::Number;
use super::frames::{Frame, Progress, Ready};
use super::{Setup, WORKER};
use crate::failure::{Failure, Result};

/// A working process.
pub(crate) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    state: Arc<Mutex<WorkerState>>,
    listener: Option<JoinHandle>,
}

/// What has been heard of a working process.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerState {
    pub(crate) ready: Option<Ready>,
    pub(crate) so_far: Progress,
    pub(crate) finished: bool,
    pub(crate) acknowledged: Vec<Number>,
    pub(crate) error: Option<String>,
}

impl Worker {
    /// Starts the process on the system in `dir`.
    pub(crate) fn start(dir: &Path, setup: &Setup, run: u32) -> Result<Worker> {
        let cannot = |error: io::Error| {
            Failure::other(format!("the working process cannot be started: {error}"), "Try again.")
        };
        let program = std::env::current_exe().map_err(cannot)?;
        let mut child = seam::process::command(program)
            .arg(WORKER)
            .arg(dir)
            .args(["--run", &run.to_string()])
            .args(["--threads", &setup.threads.to_string()])
            .args(["--accounts", &setup.accounts.to_string()])
            .args(setup.transfers.map(|max| format!("--transfers={max}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            // A process that dies at once says why in a frame, or not at all.
            let _ = stdin.write_all(format!("{}\n", setup.passphrase).as_bytes());
        }
        let state = Arc::new(Mutex::new(WorkerState::default()));
        let (theirs, stdout) = (Arc::clone(&state), child.stdout.take());
        let listen = move || {
            let Some(stdout) = stdout else { return };
            let mut stream = BufReader::new(stdout);
            while let Ok(Some(frame)) = Frame::read(&mut stream) {
                theirs.lock().hear(frame, run);
            }
        };
        let listener = Some(seam::thread::spawn("listener", listen).map_err(cannot)?);
        Ok(Worker { child, stdin, state, listener })
    }

    /// What has been heard so far. The acknowledgements stay where they are.
    pub(crate) fn so_far(&self) -> (Option<Ready>, Progress, usize) {
        let state = self.state.lock();
        (state.ready.clone(), state.so_far.clone(), state.acknowledged.len())
    }

    /// Whether it has ended by itself, which it should not.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it with SIGKILL, as a crash would, and answers everything that it had said.
    pub(crate) fn kill(mut self) -> Result<WorkerState> {
        self.child.kill().map_err(|error| {
            Failure::other(format!("the working process cannot be killed: {error}"), "Try again.")
        })?;
        Ok(self.end())
    }

    /// Asks it to end in order.
    pub(crate) fn finish(mut self) -> Result<WorkerState> {
        drop(self.stdin.take());
        let state = self.end();
        match (&state.error, state.finished) {
            (None, true) => Ok(state),
            (Some(text), _) => Err(reported(text)),
            (None, false) => Err(Failure::other(
                "the working process ended without a word",
                "Look at its system.",
            )),
        }
    }

    fn end(&mut self) -> WorkerState {
        let _ = self.child.wait();
        if let Some(listener) = self.listener.take() {
            listener.join();
        }
        std::mem::take(&mut *self.state.lock())
    }
}

impl Drop for Worker {
    /// Whatever goes wrong here, the working process does not stay behind.
    fn drop(&mut self) {
        if self.listener.is_some() {
            let _ = self.child.kill();
            self.end();
        }
    }
}

impl WorkerState {
    fn hear(&mut self, frame: Frame, run: u32) {
        let figures = |text: &str| serde_json::from_str(text).unwrap_or_default();
        match frame {
            Frame::Ready(text) => self.ready = serde_json::from_str(&text).ok(),
            Frame::SoFar(text) => self.so_far = figures(&text),
            Frame::Finished(text) => (self.so_far, self.finished) = (figures(&text), true),
            Frame::Error(text) => self.error = Some(text),
            Frame::Acknowledged(numbers) => {
                let number = |(thread, sequence)| Number { run, thread, sequence };
                self.acknowledged.extend(numbers.into_iter().map(number));
            }
        }
    }
}

/// The working process's own words.
pub(crate) fn reported(text: &str) -> Failure {
    let (what, remedy) = text.split_once('\n').unwrap_or((text, ""));
    Failure::other(what, remedy)
}
