//! A program that goes on when the system that it calls has gone: it is given a while, and ended.
//!
//! A program hears of it by its next call. One that makes none would compute for ever, for
//! nothing: its unit of work is backed out. Its parent looks after that.
//!
//! Invariants:
//! 1. A program is ended only after the system's end, and after it could have ended by itself.
//! 2. It ends within twice that time.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use seam::family::Process;
use seam::thread::JoinHandle;

use crate::bmp;
use crate::error::RegionError;

/// How long a program may go on without its system, and again when it was asked to end.
const GRACE: Duration = Duration::from_secs(5);

/// A program's process that is watched as long as its system is there.
pub struct Watch {
    thread: JoinHandle,
    has_ended_it: Arc<AtomicBool>,
}

impl Watch {
    /// Watches the process of a program, which has just been started, of the running system whose
    /// socket is at `path`; `None` if there is no such system, or no handle of processes here.
    #[must_use]
    pub fn over(path: &Path, process: u32) -> Option<Watch> {
        let program = Process::of(process).ok()?;
        let mut system = bmp::stays(path).ok()?;
        let has_ended_it = Arc::new(AtomicBool::new(false));
        let ended = has_ended_it.clone();
        let watch = move || {
            // A system of an earlier release says that it does not know what is wanted.
            let is_over = program.ends_before(&system)
                || matches!(system.read(&mut [0]), Ok(count) if count > 0)
                || program.ends_within(GRACE);
            if !is_over {
                ended.store(true, SeqCst);
                program.end_with_all_below(GRACE);
            }
        };
        let thread = seam::thread::spawn("outlive", watch).ok()?;
        Some(Watch { thread, has_ended_it })
    }

    /// The program's process has ended: why, if it was ended from here.
    #[must_use]
    pub fn over_with(self) -> Option<RegionError> {
        self.thread.join();
        let has_ended_it = self.has_ended_it.load(SeqCst);
        has_ended_it.then_some(RegionError::Outlived { seconds: GRACE.as_secs() })
    }
}
