//! What a signal to a command that runs a program means.
//!
//! | when it comes | what happens |
//! |---|---|
//! | before the program runs: compiling | the command says so and ends; nothing was changed |
//! | while it runs | the program gets it, is backed out, and how it ended is told |
//! | afterwards | nothing: what is left to do is told and done |
//! | though the command's parent had it ignored | nothing, nor to the program |

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::{Failure, Result};

/// No program runs yet; above it is the number of its process.
const NONE_YET: i32 = 0;
/// It has ended.
const OVER: i32 = -1;
/// How a command ends that did not do what it was asked.
const FAILED: i32 = 1;

/// Whom signals are for.
pub(crate) struct Cancel {
    process: Arc<AtomicI32>,
}

impl Cancel {
    /// Watches signals from now on.
    ///
    /// # Errors
    /// If the system does not let it.
    pub(crate) fn watch() -> Result<Cancel> {
        // What `nohup`, or a shell for its background jobs, has had ignored stays so.
        let heeded = seam::process::not_ignored(&[SIGTERM, SIGINT, SIGHUP]);
        let mut signals = Signals::new(heeded)
            .map_err(|error| Failure::other(format!("signals cannot be received: {error}"), ""))?;
        let process = Arc::new(AtomicI32::new(NONE_YET));
        let shared = Arc::clone(&process);
        // Without the thread a signal goes nowhere, but the program still ends by itself.
        let _ = seam::thread::spawn("signals", move || {
            signals.forever().for_each(|number| received(number, shared.load(Ordering::Acquire)));
        });
        Ok(Cancel { process })
    }

    /// The program runs in this process.
    pub(crate) fn pass_to(&self, process: u32) {
        self.process.store(i32::try_from(process).unwrap_or(OVER), Ordering::Release);
    }

    /// It has ended.
    pub(crate) fn over(&self) {
        self.process.store(OVER, Ordering::Release);
    }
}

fn received(number: i32, process: i32) {
    let (signal, name) = match number {
        SIGINT => (Signal::INT, "SIGINT"),
        SIGHUP => (Signal::HUP, "SIGHUP"),
        _ => (Signal::TERM, "SIGTERM"),
    };
    if process == NONE_YET {
        eprintln!("error: cancelled by {name} before the program began; nothing was changed");
        // Nothing is open that an end could harm: a program's copy gets its name when it is whole.
        std::process::exit(FAILED);
    }
    if let Some(pid) = Pid::from_raw(process.max(NONE_YET)) {
        let _ = kill_process(pid, signal);
    }
}
