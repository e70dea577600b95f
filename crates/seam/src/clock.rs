//! The door to time.

use std::time::Duration;

/// Time as the kernel sees it.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment of this process; never goes back.
    fn monotonic(&self) -> Duration;
    /// Microseconds since 1970-01-01 UTC; may jump.
    fn utc_us(&self) -> u64;
    /// Lets at least `time` pass.
    fn sleep(&self, time: Duration);
}

/// The machine's clocks.
pub struct RealClock {
    start: std::time::Instant,
}

impl RealClock {
    /// A clock that starts now.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // this is the seam
    pub fn new() -> RealClock {
        RealClock { start: std::time::Instant::now() }
    }
}

impl Default for RealClock {
    fn default() -> RealClock {
        RealClock::new()
    }
}

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    #[allow(clippy::disallowed_methods)] // this is the seam
    fn utc_us(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |time| time.as_micros() as u64)
    }

    #[allow(clippy::disallowed_methods)] // this is the seam
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// CPU time that this process has used, in user and system mode together, in microseconds.
#[must_use]
pub fn process_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}
