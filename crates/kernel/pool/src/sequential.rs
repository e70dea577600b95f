//! Sequential buffering: noticing a scan and asking for the next intervals in one read.
//!
//! A [`Detector`] belongs to one cursor. After a few intervals in ascending, nearly consecutive
//! order it asks for a window ahead, which grows while the scan goes on and shrinks to nothing when
//! it jumps. Windows are read by [`ReadAhead`]'s threads, so that reading overlaps with the
//! program's work on the intervals before. Without threads there are no windows: a scan reads each
//! interval when it comes to it.

use std::collections::VecDeque;
use std::sync::Arc;

use base::CiNumber;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::ahead::Window;
use crate::{Backing, Pool};

/// Intervals in order before a scan is believed.
const RUN_MIN: u32 = 3;
/// How far from consecutive a step may be: map intervals lie between data intervals.
const STEP_MAX: u32 = 4;
/// The first window, in bytes.
const WINDOW_BYTES_MIN: u32 = 64 << 10;
/// The largest window, in bytes.
pub const WINDOW_BYTES_MAX: usize = 1 << 20;
/// Windows that are asked for ahead of the scan.
const WINDOWS_AHEAD: u32 = 6;

/// What one cursor has seen lately.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    last: u32,
    run: u32,
    window: u32,
    /// Everything below has been asked for.
    asked: u32,
}

impl Detector {
    /// The cursor moved onto `ci`. Returns the window that should be read now, if any.
    /// No window is larger than `window_max` intervals.
    pub fn step(
        &mut self,
        ci: CiNumber,
        unit_bytes: usize,
        window_max: u32,
    ) -> Option<(CiNumber, u32)> {
        let ahead = ci.0.wrapping_sub(self.last);
        self.last = ci.0;
        if ahead == 0 {
            return None;
        }
        if ahead > STEP_MAX {
            *self = Detector { last: ci.0, ..Detector::default() };
            return None;
        }
        self.run += 1;
        if self.run < RUN_MIN {
            return None;
        }
        let unit = unit_bytes as u32;
        if self.window == 0 {
            self.window = (WINDOW_BYTES_MIN / unit).min(window_max);
            self.asked = ci.0 + 1;
        }
        // One window is being worked on, the others are ready or being read: the device never
        // idles.
        if ci.0 + self.window * WINDOWS_AHEAD <= self.asked {
            return None;
        }
        let first = self.asked.max(ci.0 + 1);
        let count = self.window;
        self.asked = first + count;
        self.window = (self.window * 2).min(window_max);
        Some((CiNumber(first), count))
    }
}

/// The threads that read windows.
pub struct ReadAhead {
    shared: Arc<Shared>,
    /// Whether there is anybody to read windows.
    is_on: bool,
    threads: Mutex<Vec<JoinHandle>>,
}

struct Shared {
    state: Mutex<State>,
    wanted: Condvar,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Request>,
    ended: bool,
}

struct Request {
    pool: Arc<Pool>,
    set: Arc<dyn Backing>,
    window: Window,
}

/// More requests than this waiting means that reading ahead does not keep up: new ones are dropped.
const REQUESTS_MAX: usize = 32;

impl ReadAhead {
    /// Starts the threads; with 0 of them there is no sequential buffering.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn start(threads: usize) -> std::io::Result<ReadAhead> {
        let shared = Arc::new(Shared { state: Mutex::default(), wanted: Condvar::new() });
        let handles = (0..threads)
            .map(|number| {
                let shared = Arc::clone(&shared);
                seam::thread::spawn(&format!("read-ahead-{number}"), move || shared.run())
            })
            .collect::<std::io::Result<Vec<_>>>()?;
        Ok(ReadAhead { shared, is_on: threads > 0, threads: Mutex::new(handles) })
    }

    /// Asks for a window. Never waits.
    pub fn request(&self, pool: &Arc<Pool>, set: Arc<dyn Backing>, first: CiNumber, count: u32) {
        if !self.is_on {
            return;
        }
        let mut state = self.shared.state.lock();
        if state.requests.len() < REQUESTS_MAX && !state.ended {
            let window = pool.claim_window(&*set, first, count);
            state.requests.push_back(Request { pool: Arc::clone(pool), set, window });
            drop(state);
            self.shared.wanted.notify_one();
        }
    }

    /// Ends the threads.
    pub fn end(&self) {
        self.shared.state.lock().ended = true;
        self.shared.wanted.notify_all();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            match state.requests.pop_front() {
                None if state.ended => return,
                None => self.wanted.wait(&mut state),
                // Also at the end: a window that is claimed gets read.
                Some(request) => {
                    drop(state);
                    let Request { pool, set, window } = &request;
                    pool.read_window(&**set, window);
                    drop(request);
                    state = self.state.lock();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_is_noticed_and_its_windows_follow_each_other() {
        let mut detector = Detector::default();
        let mut next = None;
        for ci in 10..2_000 {
            if let Some((first, count)) = detector.step(CiNumber(ci), 4096, 256) {
                assert!(first.0 > ci, "only what lies ahead is read");
                if let Some(end) = next {
                    assert_eq!(first.0, end, "windows leave no gap and do not overlap");
                }
                assert!(count <= 256);
                next = Some(first.0 + count);
            }
            if let Some(end) = next {
                assert!(end > ci, "the scan never overtakes its windows");
            }
        }
        assert!(next.is_some());
    }

    #[test]
    fn without_threads_no_frame_waits_for_a_window_that_nobody_reads() {
        let (pool, _) = crate::testing::pool(256);
        let set = Arc::new(crate::testing::Memory::default());
        let read_ahead = ReadAhead::start(0).unwrap();
        read_ahead.request(&pool, Arc::clone(&set) as Arc<dyn Backing>, CiNumber(5), 8);
        assert_eq!(pool.pins(), 0);
        assert!(pool.shared(&*set, CiNumber(6)).is_ok());
        assert_eq!(*set.reads.lock(), [(6, 1)]);
        read_ahead.end();
    }

    #[test]
    fn jumping_about_asks_for_nothing() {
        let mut detector = Detector::default();
        for step in 0..100_u32 {
            assert_eq!(detector.step(CiNumber(step * 7_919 % 10_007), 4096, 256), None);
        }
    }
}
