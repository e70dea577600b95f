//! The workload all contestants share: 100-byte records, a key generator and a time limit.
//!
//! A record is 100 bytes: a key of 8 (big-endian number) and a value of 92. The value's first 8
//! bytes are a balance (little-endian); a transaction reads the record of a random key and adds to
//! its balance. Keys are 0 .. records, all drawn with the same chance.

use std::time::{Duration, Instant};

use base::stats::{Histogram, Quantiles};

use crate::error::Result;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 8;
/// Bytes of a value.
pub(crate) const VALUE_BYTES: usize = 92;
/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = KEY_BYTES + VALUE_BYTES;

/// A key as stored: order of bytes is order of numbers.
pub(crate) type Key = [u8; KEY_BYTES];
/// A value as stored.
pub(crate) type Value = [u8; VALUE_BYTES];

/// The key of record `number`.
pub(crate) fn key(number: u64) -> Key {
    number.to_be_bytes()
}

/// The first value of record `number`: a zero balance and bytes that do not compress.
pub(crate) fn value(number: u64) -> Value {
    let mut value = [0; VALUE_BYTES];
    let mut random = Random::new(number);
    for chunk in value[8..].chunks_mut(8) {
        let word = random.next().to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    value
}

/// Adds `amount` to the balance in a value.
pub(crate) fn add_to_balance(value: &mut [u8], amount: u64) {
    let mut balance = [0; 8];
    balance.copy_from_slice(&value[..8]);
    let sum = u64::from_le_bytes(balance).wrapping_add(amount);
    value[..8].copy_from_slice(&sum.to_le_bytes());
}

/// A small generator (xorshift64*), seeded: two runs draw the same keys.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator of its own for each `seed`.
    pub(crate) fn new(seed: u64) -> Random {
        Random(base::hash::avalanche(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) | 1)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Fills a buffer with bytes that neither compress nor repeat.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// The end of a slice, asked for as rarely as is sensible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// `slice` from now.
    pub(crate) fn after(slice: Duration) -> Deadline {
        Deadline(Instant::now() + slice)
    }

    /// Whether the slice is over.
    pub(crate) fn passed(&self) -> bool {
        self.passed_at(Instant::now())
    }

    /// Does something until the slice is over, and at least once: a thread that is not scheduled
    /// for a whole slice has measured something all the same.
    pub(crate) fn until(self, mut operation: impl FnMut() -> Result<()>) -> Result<()> {
        loop {
            operation()?;
            if self.passed() {
                return Ok(());
            }
        }
    }

    /// Whether the slice is over at a moment that the caller already knows.
    pub(crate) fn passed_at(&self, now: Instant) -> bool {
        now >= self.0
    }
}

/// Runs `operation` until the slice is over, at least once, timing each; for operations of
/// microseconds and more.
pub(crate) fn timed_until<E>(
    deadline: Deadline,
    latency: &Histogram,
    mut operation: impl FnMut() -> Result<(), E>,
) -> Result<u64, E> {
    let mut operations = 0;
    let mut before = Instant::now();
    loop {
        operation()?;
        let after = Instant::now();
        latency.record((after - before).as_nanos() as u64);
        before = after;
        operations += 1;
        if deadline.passed_at(after) {
            return Ok(operations);
        }
    }
}

/// The quantiles of a histogram, or nothing if it is empty.
pub(crate) fn quantiles(latency: &Histogram) -> Option<Quantiles> {
    let quantiles = latency.quantiles();
    (quantiles.count > 0).then_some(quantiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_their_numbers() {
        assert!(key(255) < key(256) && key(1) < key(2));
    }

    #[test]
    fn random_keys_stay_below_the_limit_and_reach_both_halves() {
        let mut random = Random::new(7);
        let drawn: Vec<u64> = (0..1_000).map(|_| random.below(1_000)).collect();
        assert!(drawn.iter().all(|number| *number < 1_000));
        assert!(drawn.iter().any(|number| *number < 500));
        assert!(drawn.iter().any(|number| *number >= 500));
    }

    #[test]
    fn a_balance_adds_up_and_leaves_the_rest_alone() {
        let mut changed = value(3);
        add_to_balance(&mut changed, 5);
        add_to_balance(&mut changed, 6);
        assert_eq!(changed[..8], 11_u64.to_le_bytes());
        assert_eq!(changed[8..], value(3)[8..]);
    }
}
