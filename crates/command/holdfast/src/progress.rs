//! A line on standard error that says how far long work is, if a person sees it.

use std::io::{self, Write as _};
use std::time::Duration;

use seam::Seam;

use crate::output::is_watched;
use crate::text::count;

/// A line that is written over and over.
pub(crate) struct Progress {
    seam: Seam,
    watched: bool,
    last: Option<Duration>,
    width: usize,
}

const STEP: Duration = Duration::from_millis(100);
const BAR: usize = 24;

impl Progress {
    pub(crate) fn new(seam: &Seam) -> Progress {
        Progress { seam: seam.clone(), watched: is_watched(), last: None, width: 0 }
    }

    /// So much of `object` is done; `total` is 0 if it is not known how much there is.
    pub(crate) fn show(&mut self, object: &str, done: u64, total: u64, unit: &str) {
        if !self.is_due() {
            return;
        }
        let text = if total > 1 {
            let filled = (done.min(total) as usize).saturating_mul(BAR) / total as usize;
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
            format!("[{bar}] {object}: {} of {} {unit}", count(done), count(total))
        } else if done > 0 {
            format!("{object}: {} {unit}", count(done))
        } else {
            format!("{object} ...")
        };
        self.put(&text);
    }

    /// A line of the caller's own making.
    pub(crate) fn say(&mut self, text: &str) {
        if self.is_due() {
            self.put(text);
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.width > 0 {
            let _ = write!(io::stderr(), "\r{:width$}\r", "", width = self.width);
            self.width = 0;
        }
        self.last = None;
    }

    fn is_due(&mut self) -> bool {
        let now = self.seam.clock.monotonic();
        let due = self.last.is_none_or(|last| now.saturating_sub(last) >= STEP);
        if due {
            self.last = Some(now);
        }
        due && self.watched
    }

    fn put(&mut self, text: &str) {
        let width = text.chars().count();
        let pad = self.width.saturating_sub(width);
        let mut stderr = io::stderr();
        let _ = write!(stderr, "\r{text}{:pad$}", "");
        let _ = stderr.flush();
        self.width = width;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
