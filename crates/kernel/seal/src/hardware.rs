//! What the cipher gives on this machine, for the warning that K22 asks for.

use std::fmt;

use seam::clock::Clock;

use crate::{DataKey, Salt, WorkingKey};

/// Whether the machine helps with AES, and how fast blocks are sealed here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CipherCheck {
    /// Whether the processor has instructions for AES and for GCM's multiplication.
    pub instructions: bool,
    /// Blocks of 4 KiB sealed on one processor, in millions of bytes a second; 0 if the clock
    /// does not move (in the simulator).
    pub megabytes_per_second: u64,
}

const BLOCK_BYTES: usize = 4096;
const BLOCKS: u64 = 512;
/// The best of a few rounds is what the machine can do when nothing else runs.
const ROUNDS: u32 = 5;

impl CipherCheck {
    /// Looks at the processor and seals 10 MB. Takes about a millisecond, without the
    /// instructions about a tenth of a second.
    #[must_use]
    pub fn run(clock: &dyn Clock) -> CipherCheck {
        let key = DataKey::from_bytes([0; 32]);
        let key = WorkingKey::derive(&key, &Salt::default(), b"holdfast cipher check 1");
        let mut block = vec![0; BLOCK_BYTES];
        let mut best_ns = u128::MAX;
        for round in 0..u64::from(ROUNDS) {
            let start = clock.monotonic();
            for number in 0..BLOCKS {
                key.seal(round * BLOCKS + number, &[], &mut block);
            }
            best_ns = best_ns.min((clock.monotonic() - start).as_nanos());
        }
        let bytes = u128::from(BLOCKS) * BLOCK_BYTES as u128;
        let rate = (bytes * 1_000).checked_div(best_ns).unwrap_or(0);
        let megabytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX);
        CipherCheck { instructions: has_instructions(), megabytes_per_second }
    }
}

impl fmt::Display for CipherCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.megabytes_per_second;
        if self.instructions {
            return write!(f, "AES-256-GCM with the processor's instructions, {rate} MB/s");
        }
        write!(f, "this processor has no AES instructions: sealing takes {rate} MB/s of one CPU")
    }
}

fn has_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_instructions_is_warned_about_with_its_rate() {
        let check = CipherCheck { instructions: false, megabytes_per_second: 120 };
        let text = check.to_string();
        assert!(text.contains("no AES instructions") && text.contains("120 MB/s"), "{text}");
    }

    #[test]
    fn a_clock_that_stands_gives_no_rate_and_a_moving_one_does() {
        let standing = crate::testing::outside(1).0;
        assert_eq!(CipherCheck::run(standing.clock.as_ref()).megabytes_per_second, 0);
        let moving = CipherCheck::run(seam::Seam::real().clock.as_ref());
        assert!(moving.megabytes_per_second > 0);
    }
}
