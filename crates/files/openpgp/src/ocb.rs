//! AES in OCB mode (RFC 7253), 64 blocks at a time, with a tag of 16 bytes.
//!
//! The offsets of 64 neighbouring blocks that begin at a multiple of 64 differ from the one before
//! them by constants of the key, all but the last one's; so a group costs a table look-up a block
//! and the cipher gets its blocks in a row, which keeps every AES unit of the processor busy.
//!
//! 1. Offsets, masks and sums are kept as memory order (`from_ne_bytes`), where exclusive-or does
//!    not care; only [`double`] looks at their bits, big-endian.
//! 2. [`Ocb::open`] leaves garbage in the buffer if the tag is wrong; callers release nothing then.

use aes::cipher::array::Array;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncClosure, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};

/// Blocks that are enciphered at once.
const GROUP: usize = 64;
const LANES: usize = 16;

/// AES with a key of one of its three sizes.
pub(crate) enum Aes {
    K128(Aes128),
    K192(Aes192),
    K256(Aes256),
}

impl Aes {
    /// The cipher for a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Option<Aes> {
        match key.len() {
            16 => Aes128::new_from_slice(key).ok().map(Aes::K128),
            24 => Aes192::new_from_slice(key).ok().map(Aes::K192),
            32 => Aes256::new_from_slice(key).ok().map(Aes::K256),
            _ => None,
        }
    }

    /// Does a work that enciphers blocks one after the other.
    pub(crate) fn run(&self, work: impl BlockCipherEncClosure<BlockSize = U16>) {
        match self {
            Aes::K128(aes) => aes.encrypt_with_backend(work),
            Aes::K192(aes) => aes.encrypt_with_backend(work),
            Aes::K256(aes) => aes.encrypt_with_backend(work),
        }
    }

    pub(crate) fn encrypt(&self, blocks: &mut [[u8; LANES]]) {
        let blocks: &mut [Block] = Array::cast_slice_from_core_mut(blocks);
        match self {
            Aes::K128(aes) => aes.encrypt_blocks(blocks),
            Aes::K192(aes) => aes.encrypt_blocks(blocks),
            Aes::K256(aes) => aes.encrypt_blocks(blocks),
        }
    }

    fn decrypt(&self, blocks: &mut [[u8; LANES]]) {
        let blocks: &mut [Block] = Array::cast_slice_from_core_mut(blocks);
        match self {
            Aes::K128(aes) => aes.decrypt_blocks(blocks),
            Aes::K192(aes) => aes.decrypt_blocks(blocks),
            Aes::K256(aes) => aes.decrypt_blocks(blocks),
        }
    }

    /// One block on its own.
    pub(crate) fn one(&self, block: u128) -> u128 {
        let mut bytes = [block.to_ne_bytes()];
        self.encrypt(&mut bytes);
        u128::from_ne_bytes(bytes[0])
    }
}

/// Where a group is worked on: data lie anywhere, and the cipher is slower there.
#[repr(align(64))]
struct Room([[u8; LANES]; GROUP]);

/// A key of OCB.
pub(crate) struct Ocb {
    aes: Aes,
    star: u128,
    dollar: u128,
    /// L_0, L_1, ... of the RFC.
    masks: [u128; 58],
    /// What the offset of block j of a group differs by from the one before the group; of the last
    /// block it lacks the mask that depends on the group's number.
    steps: [u128; GROUP],
}

/// Multiplication by x in the field of 2^128 elements.
fn double(value: u128) -> u128 {
    let value = u128::from_be_bytes(value.to_ne_bytes());
    let doubled = (value << 1) ^ if value >> 127 == 1 { 0x87 } else { 0 };
    u128::from_ne_bytes(doubled.to_be_bytes())
}

/// A nonce as the block that it is enciphered as: a bit that ends the zeros before it stands
/// between them.
fn first_block<const N: usize>(nonce: &[u8; N]) -> [u8; LANES] {
    let mut block = [0; LANES];
    block[LANES - 1 - N] = 1;
    block[LANES - N..].copy_from_slice(nonce);
    block
}

impl Ocb {
    /// The mode for a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Option<Ocb> {
        let aes = Aes::new(key)?;
        let star = aes.one(0);
        let dollar = double(star);
        let mut masks = [0; 58];
        let mut last = dollar;
        for mask in &mut masks {
            last = double(last);
            *mask = last;
        }
        let mut steps = [0; GROUP];
        let mut sum = 0;
        for (index, step) in steps.iter_mut().enumerate() {
            if index + 1 < GROUP {
                sum ^= masks[(index + 1).trailing_zeros() as usize];
            }
            *step = sum;
        }
        Some(Ocb { aes, star, dollar, masks, steps })
    }

    /// Enciphers `data` in place and gives the tag.
    pub(crate) fn seal(&self, nonce: &[u8; 15], extra: &[u8], data: &mut [u8]) -> [u8; 16] {
        self.run(first_block(nonce), extra, data, true).to_ne_bytes()
    }

    /// Deciphers `data` in place; whether the tag is right (2).
    #[must_use]
    pub(crate) fn open(&self, nonce: &[u8; 15], extra: &[u8], data: &mut [u8], tag: &[u8]) -> bool {
        let found = self.run(first_block(nonce), extra, data, false).to_ne_bytes();
        aws_lc_rs::constant_time::verify_slices_are_equal(&found, tag).is_ok()
    }

    fn run(&self, nonce: [u8; LANES], extra: &[u8], data: &mut [u8], sealing: bool) -> u128 {
        let mut offset = self.first_offset(nonce);
        let mut sum = 0_u128;
        let (blocks, tail) = data.as_chunks_mut::<LANES>();
        for (number, group) in blocks.chunks_mut(GROUP).enumerate() {
            offset = self.group(number, group, offset, &mut sum, sealing);
        }
        if !tail.is_empty() {
            offset ^= self.star;
            let pad = self.aes.one(offset).to_ne_bytes();
            let mut plain = [0; LANES];
            for (index, byte) in tail.iter_mut().enumerate() {
                let other = *byte ^ pad[index];
                plain[index] = if sealing { *byte } else { other };
                *byte = other;
            }
            plain[tail.len()] = 0x80;
            sum ^= u128::from_ne_bytes(plain);
        }
        self.aes.one(sum ^ offset ^ self.dollar) ^ self.hash(extra)
    }

    /// One group of blocks; gives the offset of its last.
    #[inline]
    fn group(
        &self,
        number: usize,
        group: &mut [[u8; LANES]],
        before: u128,
        sum: &mut u128,
        sealing: bool,
    ) -> u128 {
        let mut offsets = [0_u128; GROUP];
        for (offset, step) in offsets.iter_mut().zip(&self.steps) {
            *offset = before ^ step;
        }
        if group.len() == GROUP {
            let last = (number + 1) * GROUP;
            offsets[GROUP - 1] ^= self.masks[last.trailing_zeros() as usize];
        }
        let mut room = Room([[0; LANES]; GROUP]);
        let work = &mut room.0[..group.len()];
        let mut total = 0;
        for ((block, offset), place) in group.iter().zip(&offsets).zip(&mut *work) {
            let value = u128::from_ne_bytes(*block);
            total ^= value;
            *place = (value ^ offset).to_ne_bytes();
        }
        if sealing {
            *sum ^= total;
            self.aes.encrypt(work);
        } else {
            self.aes.decrypt(work);
        }
        total = 0;
        for ((block, offset), place) in group.iter_mut().zip(&offsets).zip(&*work) {
            let value = u128::from_ne_bytes(*place) ^ offset;
            total ^= value;
            *block = value.to_ne_bytes();
        }
        if !sealing {
            *sum ^= total;
        }
        offsets[group.len() - 1]
    }

    fn first_offset(&self, mut block: [u8; LANES]) -> u128 {
        let bottom = u32::from(block[15] & 0x3f);
        block[15] &= 0xc0;
        let top = self.aes.one(u128::from_ne_bytes(block));
        let top = u128::from_be_bytes(top.to_ne_bytes());
        // 192 bits of stretch: the high 128 are the block itself, the low 64 are made from it.
        let low = ((top >> 64) ^ (top >> 56)) as u64;
        let shifted = match bottom {
            0 => top,
            _ => (top << bottom) | u128::from(low >> (64 - bottom)),
        };
        u128::from_ne_bytes(shifted.to_be_bytes())
    }

    /// The associated data's part of the tag.
    fn hash(&self, extra: &[u8]) -> u128 {
        let mut offset = 0;
        let mut sum = 0;
        let (blocks, tail) = extra.as_chunks::<LANES>();
        for (index, block) in blocks.iter().enumerate() {
            offset ^= self.masks[(index + 1).trailing_zeros() as usize];
            sum ^= self.aes.one(u128::from_ne_bytes(*block) ^ offset);
        }
        if !tail.is_empty() {
            offset ^= self.star;
            let mut block = [0; LANES];
            block[..tail.len()].copy_from_slice(tail);
            block[tail.len()] = 0x80;
            sum ^= self.aes.one(u128::from_ne_bytes(block) ^ offset);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    }

    /// The samples of RFC 7253, appendix A; their nonces have 12 bytes, ours 15.
    #[test]
    fn the_samples_of_the_rfc_come_out() {
        let ocb = Ocb::new(&bytes("000102030405060708090A0B0C0D0E0F")).unwrap();
        let eight = "0001020304050607";
        let sixteen = "000102030405060708090A0B0C0D0E0F";
        for (last, extra, plain, sealed) in [
            (0, "", "", "785407BFFFC8AD9EDCC5520AC9111EE6"),
            (1, eight, eight, "6820B3657B6F615A5725BDA0D3B4EB3A257C9AF1F8F03009"),
            (2, eight, "", "81017F8203F081277152FADE694A0A00"),
            (3, "", eight, "45DD69F8F5AAE72414054CD1F35D82760B2CD00D2F99BFA9"),
            (
                4,
                sixteen,
                sixteen,
                "571D535B60B277188BE5147170A9A22C3AD7A4FF3835B8C5701C1CCEC8FC3358",
            ),
        ] {
            let mut nonce = [0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0];
            nonce[11] = last;
            let mut data = bytes(plain);
            let tag = ocb.run(first_block(&nonce), &bytes(extra), &mut data, true).to_ne_bytes();
            assert_eq!([&data[..], &tag].concat(), bytes(sealed), "{last}");
        }
    }

    /// The last sample iterates over lengths, for each size of key.
    #[test]
    fn the_wide_sample_of_the_rfc_comes_out() {
        for (size, result) in [
            (16, "67E944D23256C5E0B6C61FA22FDF1EA2"),
            (24, "F673F2C3E7174AAE7BAE986CA9F29E17"),
            (32, "D90EB8E9C977C88B79DD793D7FFA161C"),
        ] {
            let mut key = vec![0; size];
            key[size - 1] = 128;
            let ocb = Ocb::new(&key).unwrap();
            let seal = |number: u32, extra: &[u8], plain: &[u8]| {
                let mut nonce = [0; 12];
                nonce[8..].copy_from_slice(&number.to_be_bytes());
                let mut data = plain.to_vec();
                let tag = ocb.run(first_block(&nonce), extra, &mut data, true).to_ne_bytes();
                [data, tag.to_vec()].concat()
            };
            let mut all = Vec::new();
            for i in 0..128 {
                let zeros = vec![0; i as usize];
                all.extend(seal(3 * i + 1, &zeros, &zeros));
                all.extend(seal(3 * i + 2, &[], &zeros));
                all.extend(seal(3 * i + 3, &zeros, &[]));
            }
            assert_eq!(seal(385, &all, &[]), bytes(result), "a key of {size} bytes");
        }
    }

    #[test]
    fn lengths_around_groups_come_back_and_any_change_is_found() {
        let ocb = Ocb::new(&bytes("000102030405060708090A0B0C0D0E0F")).unwrap();
        let nonce = [7; 15];
        for length in [0, 1, 15, 16, 17, 1023, 1024, 1025, 2048, 2049, 70_000] {
            let plain: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
            let mut data = plain.clone();
            let tag = ocb.seal(&nonce, b"extra data of more than a block", &mut data);
            let mut bad = data.clone();
            let good = ocb.open(&nonce, b"extra data of more than a block", &mut data, &tag);
            assert!(good && data == plain, "{length}");
            if let Some(byte) = bad.last_mut() {
                *byte ^= 1;
                assert!(!ocb.open(&nonce, b"extra data of more than a block", &mut bad, &tag));
            }
            assert!(!ocb.open(&nonce, b"other", &mut data, &tag));
        }
    }
}
