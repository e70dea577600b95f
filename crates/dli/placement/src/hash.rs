//! The randomizer that this product brings: `kind = "hash"`.
//!
//! The bytes of a root key, as the program gives them, become a number of 64 bits by the public
//! domain function MurmurHash64A with the seed 0:
//!
//! ```text
//!   M = c6a4a7935bd1e995
//!   h = length * M                                      (all arithmetic modulo 2^64)
//!   for each 8 bytes, a little-endian number k:         k *= M; k ^= k >> 47; k *= M
//!                                                       h ^= k; h *= M
//!   if 1 to 7 bytes t are left, little-endian:          h ^= t; h *= M
//!   at last                                             h ^= h >> 47; h *= M; h ^= h >> 47
//! ```
//!
//! A share of the whole, `h / 2^64`, then chooses one of `blocks` blocks and, with what is left
//! of it, one of `anchors` anchor points in that block, both counted from 1:
//!
//! ```text
//!   block  = 1 + floor(h * blocks / 2^64)
//!   anchor = 1 + floor((h * blocks mod 2^64) * anchors / 2^64)
//! ```
//!
//! | offset | bytes | in front of the root key |
//! |---|---|---|
//! | 0 | 3 | block, big-endian |
//! | 3 | 1 | anchor |
//!
//! An example: the key `0000012345` in ASCII, `RMNAME=(any,3,500)`.
//!
//! ```text
//!   h after the length                     c26e8bc196331fd2
//!   k = 3332313030303030, mixed            35dcb80fe3918771     h = 8399e0d502a231df
//!   t = 3534                                                    h = 08d299568ba1bfc7
//!   at last                                                     h = ecce8cb7a0d26897
//!   block 463 of 500, anchor 2 of 3:       00 01 cf 02
//! ```
//!
//! Invariants:
//! 1. None of this ever changes: it is part of keys on disk.
//! 2. `block` is 1 to 16,777,215 and `anchor` 1 to 255, as RMNAME allows.

/// Blocks at most, and where nothing says how many.
pub(crate) const BLOCKS_MAX: u32 = 0x00ff_ffff;
/// Anchor points of a block at most.
pub(crate) const ANCHORS_MAX: u32 = 255;

const M: u64 = 0xc6a4_a793_5bd1_e995;

/// The number of a root key: MurmurHash64A with the seed 0.
#[inline]
#[must_use]
pub fn hash(key: &[u8]) -> u64 {
    let mut h = (key.len() as u64).wrapping_mul(M);
    let (words, tail) = key.as_chunks::<8>();
    for word in words {
        let mut k = u64::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> 47;
        h = (h ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let t = tail.iter().rev().fold(0, |t, byte| (t << 8) | u64::from(*byte));
        h = (h ^ t).wrapping_mul(M);
    }
    h = (h ^ (h >> 47)).wrapping_mul(M);
    h ^ (h >> 47)
}

/// Where the hash of a key falls among so many blocks and anchor points.
#[inline]
pub(crate) fn anchor(key: &[u8], blocks: u32, anchors: u32) -> [u8; 4] {
    let share = u128::from(hash(key)) * u128::from(blocks);
    let block = 1 + (share >> 64) as u32;
    let rest = u128::from(share as u64);
    let anchor = 1 + ((rest * u128::from(anchors)) >> 64) as u32;
    ((block << 8) | anchor).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key, its number, its anchors among 500 blocks of 3 anchor points and among the most.
    type Vector = (&'static [u8], u64, [u8; 4], [u8; 4]);

    /// Computed by a program of its own in another language.
    const VECTORS: [Vector; 8] = [
        (b"", 0, [0, 0, 1, 1], [0, 0, 1, 1]),
        (b"A", 0x3715_0ad2_4f8a_8007, [0, 0, 0x6c, 2], [0x37, 0x15, 0x0b, 0x9b]),
        (b"1234567", 0xae9e_bd20_9527_9402, [0, 1, 0x56, 1], [0xae, 0x9e, 0xbd, 0x72]),
        (b"12345678", 0x758f_67d1_62b2_d202, [0, 0, 0xe6, 2], [0x75, 0x8f, 0x68, 0x5c]),
        (b"0000012345", 0xecce_8cb7_a0d2_6897, [0, 1, 0xcf, 2], [0xec, 0xce, 0x8c, 0xcb]),
        (b"BRANCH0001", 0xa30e_01d0_8694_2ee3, [0, 1, 0x3f, 2], [0xa3, 0x0e, 0x02, 0x2e]),
        (
            b"\xc2\xd9\xc1\xd5\xc3\xc8\xf0\xf0\xf0\xf1",
            0x8047_0027_bb46_8018,
            [0, 0, 0xfb, 2],
            [0x80, 0x47, 0x00, 0xa7],
        ),
        (
            b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\
              \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
            0x5d40_fb1b_040e_bc29,
            [0, 0, 0xb7, 1],
            [0x5d, 0x40, 0xfb, 0xbe],
        ),
    ];

    #[test]
    fn known_keys_stay_where_they_are() {
        for (key, number, few, many) in VECTORS {
            assert_eq!(hash(key), number, "{key:x?}");
            assert_eq!(anchor(key, 500, 3), few, "{key:x?}");
            assert_eq!(anchor(key, BLOCKS_MAX, ANCHORS_MAX), many, "{key:x?}");
            assert_eq!(anchor(key, 1, 1), [0, 0, 1, 1], "{key:x?}");
        }
    }

    /// Chi-squared over 64 blocks: for keys that differ as little as numbered keys do, no more
    /// uneven than chance (63 degrees of freedom: 120 is beyond one in a hundred thousand).
    #[test]
    fn numbered_keys_spread_evenly() {
        const KEYS: u32 = 64_000;
        let ascii = |n: u32| format!("{n:010}").into_bytes();
        let host = |n: u32| ascii(n).iter().map(|b| b + 0xc0).collect::<Vec<u8>>();
        let named = |n: u32| format!("CUST{n:06}").into_bytes();
        let packed = |n: u32| {
            let digits = format!("{n:07}C");
            (0..4).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect()
        };
        let binary = |n: u32| n.to_be_bytes().to_vec();
        type Key<'a> = &'a dyn Fn(u32) -> Vec<u8>;
        let kinds: [(&str, Key<'_>); 5] = [
            ("ascii", &ascii),
            ("host", &host),
            ("named", &named),
            ("packed", &packed),
            ("binary", &binary),
        ];
        for (name, key) in kinds {
            let mut blocks = [0_u32; 64];
            for n in 0..KEYS {
                let [high, middle, low, _] = anchor(&key(n), 64, 1);
                blocks[u32::from_be_bytes([0, high, middle, low]) as usize - 1] += 1;
            }
            let expected = f64::from(KEYS) / 64.0;
            let chi: f64 =
                blocks.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
            assert!(chi < 120.0, "{name}: {chi}");
        }
    }
}
