//! The simulated machine's clock and randomness.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::rng::Rng;
use super::scheduler::Runtime;
use crate::clock::Clock;
use crate::entropy::Entropy;

/// Virtual time. It stands still after the run, for objects that outlive it.
pub(super) struct SimClock {
    now_ns: Arc<AtomicU64>,
    utc_us: u64,
}

impl SimClock {
    pub(super) fn new(run: &Runtime) -> SimClock {
        SimClock { now_ns: Arc::clone(&run.now_ns), utc_us: run.config.utc_us }
    }
}

impl Clock for SimClock {
    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.now_ns.load(Relaxed))
    }

    fn utc_us(&self) -> u64 {
        self.utc_us + self.now_ns.load(Relaxed) / 1_000
    }

    fn sleep(&self, time: Duration) {
        if super::active() {
            super::sleep(time);
        }
    }
}

/// Seeded bytes. Two lives on one disk never draw the same ones, even from the same seed, or else
/// salts would repeat as they never do on a real machine (K3).
pub(super) struct SimEntropy {
    rng: parking_lot::Mutex<Rng>,
}

impl SimEntropy {
    pub(super) fn new(seed: u64, life: u64) -> SimEntropy {
        let rng = Rng::stream(seed ^ base::hash::avalanche(life), "entropy");
        SimEntropy { rng: parking_lot::Mutex::new(rng) }
    }
}

impl Entropy for SimEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        self.rng.lock().fill(bytes);
        Ok(())
    }
}

impl Runtime {
    /// Whether the rare branch `name` is taken this time. A quarter of the branches is enabled in
    /// a run, whatever else happens in it, and those are taken once in eight.
    pub(super) fn rarely(&self, name: &'static str) -> bool {
        if !self.config.rarely || self.is_dying() {
            return false;
        }
        let enabled = Rng::stream(self.config.seed, name).one_in(4);
        let taken = enabled && self.draw(|rng| rng.one_in(8));
        self.trace.rarely(name, taken);
        taken
    }
}
