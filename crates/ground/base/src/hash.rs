//! One fast hash with a fixed seed, for tables in memory. Never for security, never on disk.

use std::hash::{BuildHasherDefault, Hasher};

/// A hash map whose order is the same in every run with the same insertions.
#[allow(clippy::disallowed_types)] // the one place where the type is given its fixed hasher
pub type FixedMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Mix>>;

/// Mixes eight bytes at a time by multiplication and rotation; `finish` avalanches.
#[derive(Clone, Copy)]
pub struct Mix(u64);

impl Default for Mix {
    fn default() -> Mix {
        Mix(0x9e37_79b9_7f4a_7c15)
    }
}

const MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;

/// Spreads the bits of `value` over the whole word.
#[inline]
#[must_use]
pub fn avalanche(value: u64) -> u64 {
    let mut x = value;
    x ^= x >> 32;
    x = x.wrapping_mul(MULTIPLIER);
    x ^= x >> 32;
    x = x.wrapping_mul(MULTIPLIER);
    x ^ (x >> 32)
}

/// Hashes a byte string.
#[inline]
#[must_use]
pub fn bytes(data: &[u8]) -> u64 {
    let mut mix = Mix::default();
    mix.write(data);
    mix.finish()
}

impl Mix {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(MULTIPLIER).rotate_left(29);
    }
}

impl Hasher for Mix {
    #[inline]
    fn write(&mut self, data: &[u8]) {
        let mut chunks = data.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        let mut tail = [0; 8];
        let rest = chunks.remainder();
        tail[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(tail) ^ ((data.len() as u64) << 56));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.word(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    #[inline]
    fn finish(&self) -> u64 {
        avalanche(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_contents_both_count() {
        assert_ne!(bytes(b""), bytes(b"\0"));
        assert_ne!(bytes(b"a"), bytes(b"a\0"));
        assert_ne!(bytes(b"12345678"), bytes(b"12345679"));
        assert_eq!(bytes(b"same bytes, same hash"), bytes(b"same bytes, same hash"));
    }
}
