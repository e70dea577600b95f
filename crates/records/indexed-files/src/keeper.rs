//! What commits a file's changes when a second has passed and no request has done so.
//!
//! Invariants:
//! 1. A file that cannot be committed is tried again a second later. Its changes are kept, and the
//!    next request of the program, or its CLOSE, tells of it.
//! 2. Between two attempts the lock is free, whatever they came to.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

/// How long a change waits at most.
pub(crate) const DELAY: Duration = Duration::from_secs(1);

/// Something that is committed in time.
pub(crate) trait Kept: Send + 'static {
    /// How long the oldest change may wait still; `None` without one.
    fn left(&self) -> Option<Duration>;

    /// Commits.
    fn keep(&mut self);
}

/// What a keeper watches, together with the threads that change it.
pub(crate) struct Watched<T> {
    pub(crate) value: Mutex<T>,
    changed: Condvar,
    ended: Mutex<bool>,
}

impl<T: Kept> Watched<T> {
    pub(crate) fn new(value: T) -> Arc<Watched<T>> {
        let (changed, ended) = (Condvar::new(), Mutex::new(false));
        Arc::new(Watched { value: Mutex::new(value), changed, ended })
    }

    /// There is a change, where there was none.
    pub(crate) fn notify(&self) {
        self.changed.notify_one();
    }
}

/// A thread that watches.
pub(crate) struct Keeper<T> {
    watched: Arc<Watched<T>>,
    thread: Option<JoinHandle>,
}

impl<T: Kept> Keeper<T> {
    pub(crate) fn start(watched: &Arc<Watched<T>>) -> io::Result<Keeper<T>> {
        let theirs = Arc::clone(watched);
        let thread = seam::thread::spawn("indexed file", move || {
            // What a damaged file may bring about is no affair of the program's other files.
            let _ = seam::thread::catch(|| watch(&theirs));
        })?;
        Ok(Keeper { watched: Arc::clone(watched), thread: Some(thread) })
    }
}

impl<T> Drop for Keeper<T> {
    fn drop(&mut self) {
        *self.watched.ended.lock() = true;
        {
            // The keeper has either seen that it is over, or waits.
            let _value = self.watched.value.lock();
            self.watched.changed.notify_one();
        }
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

fn watch<T: Kept>(watched: &Watched<T>) {
    let mut value = watched.value.lock();
    while !*watched.ended.lock() {
        match value.left() {
            None => watched.changed.wait(&mut value),
            Some(Duration::ZERO) => {
                value.keep();
                if value.left() == Some(Duration::ZERO) {
                    watched.changed.wait_for(&mut value, DELAY);
                }
            }
            Some(left) => {
                watched.changed.wait_for(&mut value, left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is due at once, and stays so, as after a failure that moved nothing.
    struct Stubborn {
        attempts: u32,
    }

    impl Kept for Stubborn {
        fn left(&self) -> Option<Duration> {
            Some(Duration::ZERO)
        }

        fn keep(&mut self) {
            self.attempts += 1;
        }
    }

    #[test]
    fn whoever_asks_gets_the_lock_between_attempts_that_fail() {
        let watched = Watched::new(Stubborn { attempts: 0 });
        let keeper = Keeper::start(&watched).expect("a thread");
        let mut seen = 0;
        for _ in 0..20 {
            while watched.value.lock().attempts == seen {
                seam::thread::yield_now();
            }
            seen = watched.value.lock().attempts;
            watched.notify();
        }
        drop(keeper);
    }
}
