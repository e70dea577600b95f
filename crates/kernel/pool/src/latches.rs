//! The proof of invariant 5 in debug builds: how many latches each thread holds.

#[cfg(debug_assertions)]
mod counted {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    const THREADS: usize = 1024;

    /// One process may run several kernels at once in tests; a thread belongs to one of them.
    static HELD: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

    fn mine() -> Option<&'static AtomicU32> {
        // Simulated threads share one machine thread and numbers start again with each run, so
        // runs on parallel machine threads could meet: they are not counted.
        if seam::thread::is_simulated() { None } else { HELD.get(seam::thread::slot()) }
    }

    pub(crate) fn took() {
        if let Some(count) = mine() {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn gave() {
        if let Some(count) = mine() {
            count.fetch_sub(1, Relaxed);
        }
    }

    pub(crate) fn held() -> u32 {
        mine().map_or(0, |count| count.load(Relaxed))
    }
}

/// A latch was taken by this thread.
#[inline]
pub(crate) fn took() {
    #[cfg(debug_assertions)]
    counted::took();
}

/// A latch was given back by this thread.
#[inline]
pub(crate) fn gave() {
    #[cfg(debug_assertions)]
    counted::gave();
}

/// Asserts, in debug builds, that this thread holds no latch. Called before every wait for a lock,
/// for the log or for the disk (K16).
#[inline]
pub fn assert_none_held(before: &str) {
    #[cfg(debug_assertions)]
    assert_eq!(counted::held(), 0, "a latch is held before {before}");
    #[cfg(not(debug_assertions))]
    let _ = before;
}
