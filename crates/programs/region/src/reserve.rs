//! Processes for message regions, started and fenced in ahead: a region whose process has ended
//! goes on with the next one at once.
//!
//! Invariants:
//! 1. No program gets a process that has not said that it is ready.
//! 2. All processes end with the thread that starts them: with the reserve, or with the system.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use seam::family::Process;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::assignment::{READY, receive_signal};
use crate::error::RegionError;
use crate::ledger::STARTER;

/// How long a process may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait before another one is tried when one could not be started.
const PAUSE: Duration = Duration::from_secs(1);

/// Makes the command that leads to [`crate::worker::run`] in a process.
pub type MakeCommand = dyn Fn() -> Command + Send + Sync;
/// Told of a process, by its number, before anything of a program is in it; what it answers is
/// kept until the process has ended.
pub type Admit = dyn Fn(u32) -> Box<dyn Send> + Send + Sync;

/// A process that waits for a program.
pub(crate) struct Spare {
    pub(crate) child: Child,
    pub(crate) process: Process,
    pub(crate) socket: UnixStream,
    _pass: Box<dyn Send>,
}

impl Drop for Spare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes that wait for programs.
pub struct Reserve {
    inner: Arc<Inner>,
    thread: Option<JoinHandle>,
}

struct Inner {
    make: Box<MakeCommand>,
    admit: Box<Admit>,
    wanted: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    spares: VecDeque<Spare>,
    /// Why the last one could not be started.
    failure: Option<RegionError>,
    /// How many are waited for.
    waiting: usize,
    is_closing: bool,
}

impl Reserve {
    /// Keeps this many processes ready.
    ///
    /// # Errors
    /// If there can be no thread that starts them.
    pub fn start(
        wanted: usize,
        make: Box<MakeCommand>,
        admit: Box<Admit>,
    ) -> Result<Reserve, RegionError> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let inner = Arc::new(Inner { make, admit, wanted: wanted.max(1), state, changed });
        let own = Arc::clone(&inner);
        let thread = seam::thread::spawn("reserve", move || own.keep());
        let thread = thread.map_err(|error| RegionError::Process(error.to_string()))?;
        Ok(Reserve { inner, thread: Some(thread) })
    }

    /// A process that is ready.
    pub(crate) fn take(&self) -> Result<Spare, RegionError> {
        let mut state = self.inner.state.lock();
        state.waiting += 1;
        self.inner.changed.notify_all();
        let taken = loop {
            if let Some(spare) = state.spares.pop_front() {
                if spare.process.ends_within(Duration::ZERO) {
                    continue;
                }
                break Ok(spare);
            }
            if let Some(failure) = state.failure.take() {
                break Err(failure);
            }
            if state.is_closing {
                break Err(RegionError::Gone);
            }
            self.inner.changed.wait(&mut state);
        };
        state.waiting -= 1;
        self.inner.changed.notify_all();
        taken
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        self.inner.state.lock().is_closing = true;
        self.inner.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
        self.inner.state.lock().spares.clear();
    }
}

impl Inner {
    /// Starts processes as they are wanted, until the reserve is closed.
    fn keep(&self) {
        let mut state = self.state.lock();
        while !state.is_closing {
            if state.spares.len() >= self.wanted.max(state.waiting) {
                self.changed.wait(&mut state);
                continue;
            }
            drop(state);
            let started = self.start_one();
            state = self.state.lock();
            match started {
                Ok(spare) => {
                    state.failure = None;
                    state.spares.push_back(spare);
                    self.changed.notify_all();
                }
                Err(error) => {
                    state.failure = Some(error);
                    self.changed.notify_all();
                    self.changed.wait_for(&mut state, PAUSE);
                }
            }
        }
    }

    fn start_one(&self) -> Result<Spare, RegionError> {
        let failed = |error: std::io::Error| RegionError::Process(error.to_string());
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = (self.make)();
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        crate::host::without_files(&mut command);
        command.env(STARTER, std::process::id().to_string());
        // A terminal's signals are for the system.
        command.process_group(0);
        let child = command.spawn().map_err(failed)?;
        // The process holds the only other end from here on.
        drop(command);
        let number = child.id();
        let mut child = Started(Some(child));
        let process = Process::of(number).map_err(failed)?;
        let pass = (self.admit)(number);
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        if receive_signal(&socket) != Some(READY) {
            let text = "a region's process ended, or was not ready in time, before any program";
            return Err(RegionError::Process(text.to_owned()));
        }
        socket.set_read_timeout(None).map_err(failed)?;
        let child = child.0.take().ok_or(RegionError::Gone)?;
        Ok(Spare { child, process, socket, _pass: pass })
    }
}

/// A process that is ended unless it becomes a spare.
struct Started(Option<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
