//! What is done every second while a system runs.

use std::sync::Arc;
use std::time::Duration;

use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

/// How often.
const TICK: Duration = Duration::from_secs(1);

/// Does something every second, until it is dropped.
pub struct Ticker {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle>,
}

impl Ticker {
    /// Begins.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(name: &str, tick: impl Fn() + Send + 'static) -> std::io::Result<Ticker> {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let own = Arc::clone(&over);
        let thread = seam::thread::spawn(name, move || {
            let (over, changed) = &*own;
            let mut is_over = over.lock();
            while !*is_over {
                changed.wait_for(&mut is_over, TICK);
                drop(is_over);
                tick();
                is_over = over.lock();
            }
        });
        Ok(Ticker { over, thread: Some(thread?) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let (over, changed) = &*self.over;
        *over.lock() = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}
