//! The door to time.

use std::time::Duration;

/// Time as the kernel sees it.
///
/// A clock of a test's own says what is to be shown, and lets nobody wait:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use std::time::Duration;
///
/// use holdfast_seam::clock::Clock;
///
/// struct Told(AtomicU64);
///
/// impl Clock for Told {
///     fn monotonic(&self) -> Duration {
///         Duration::from_micros(self.0.load(Relaxed))
///     }
///     fn utc_us(&self) -> u64 {
///         self.0.load(Relaxed)
///     }
///     fn sleep(&self, time: Duration) {
///         self.0.fetch_add(time.as_micros() as u64, Relaxed);
///     }
/// }
///
/// let clock = Told(AtomicU64::new(0));
/// clock.sleep(Duration::from_secs(86_400));
/// assert_eq!((clock.utc_us(), clock.offset_s(0)), (86_400_000_000, 0));
/// ```
pub trait Clock: Send + Sync {
    /// Time since some fixed moment of this process; never goes back.
    fn monotonic(&self) -> Duration;
    /// Microseconds since 1970-01-01 UTC; may jump.
    fn utc_us(&self) -> u64;
    /// Seconds that the local clock is ahead of UTC at a moment, given as by `utc_us`.
    fn offset_s(&self, _utc_us: u64) -> i32 {
        0
    }
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

    #[allow(unsafe_code)]
    fn offset_s(&self, utc_us: u64) -> i32 {
        let Ok(moment) = libc::time_t::try_from(utc_us / 1_000_000) else { return 0 };
        // SAFETY: all of it is numbers and a pointer, for which zeros are values.
        let mut local: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: both point to values of ours, which the call reads and writes and does not keep.
        let done = unsafe { libc::localtime_r(&raw const moment, &raw mut local) };
        if done.is_null() { 0 } else { i32::try_from(local.tm_gmtoff).unwrap_or(0) }
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

/// CPU time that the calling thread has used, in microseconds.
#[must_use]
pub fn thread_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}
