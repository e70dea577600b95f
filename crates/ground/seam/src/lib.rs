//! The seam: disk, clock, entropy, threads and locks, the only doors to the outside (rule K1).
//!
//! Kernel code is plain blocking code. It gets its files from [`disk::Disk`], its time from
//! [`clock::Clock`], its randomness from [`entropy::Entropy`], and its threads, mutexes, condition
//! variables and latches from [`thread`] and [`sync`]. Behind these stands the real machine
//! ([`Seam::real`]) or, with the feature `sim`, a seeded simulator (`sim`) in which every thread is
//! a coroutine, every call here may be a scheduling point, and every disk fault can be injected.
//!
//! Invariants:
//! 1. No other crate of the kernel names `std::fs`, `std::thread`, `std::time::Instant` or a source
//!    of randomness; `clippy.toml` disallows them.
//! 2. Without the features `sim` and `failpoints` nothing of either is compiled in.
//! 3. A failed sync is reported once and never retried here; [`stop::StopSwitch`] is how the
//!    kernel stops for good.

pub mod clock;
pub mod disk;
pub mod entropy;
pub mod failpoint;
pub mod family;
pub mod fence;
mod file_holder;
pub mod fresh;
pub mod keyring;
pub mod link;
pub mod made;
pub mod mem;
pub mod ordered;
pub mod owner;
mod panic_text;
pub mod process;
mod rare;
pub mod real;
pub mod reserve;
pub mod sessions;
#[cfg(feature = "sim")]
pub mod sim;
pub mod socket;
pub mod standard;
pub mod stop;
pub mod sync;
pub mod system_files;
pub mod thread;
mod uring;
pub mod user;

use std::sync::Arc;

pub use rare::rarely;

/// The outside as one value, handed down from the caller that opens a system.
#[derive(Clone)]
pub struct Seam {
    /// Files and folders.
    pub disk: Arc<dyn disk::Disk>,
    /// Time.
    pub clock: Arc<dyn clock::Clock>,
    /// Randomness.
    pub entropy: Arc<dyn entropy::Entropy>,
}

impl Seam {
    /// The machine this process runs on.
    #[must_use]
    pub fn real() -> Seam {
        Seam {
            disk: Arc::new(real::RealDisk::new()),
            clock: Arc::new(clock::RealClock::new()),
            entropy: Arc::new(entropy::OsEntropy),
        }
    }
}
