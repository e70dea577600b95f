//! What version 1 of the encrypted container is made of: AES in CFB mode, and SHA-1 (PGP-4).
//!
//! 1. Enciphering is serial by its nature: each block needs the one before. So is the sum. But
//!    they do not need each other, so both go over each 64 bytes together: a processor that works
//!    out of order does the one while the other waits, and the sum costs next to nothing.
//! 2. Deciphering is not serial: a piece needs only the last block of ciphertext before it, so
//!    pieces go to many threads.
//! 3. SHA-1 is here what the format demands to find changes (RFC 9580, 5.13.1); it signs nothing.

use aes::Block;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockSizeUser};
use sha1::block_api::compress;

use crate::error::{Error, Result};
use crate::ocb::Aes;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Bytes that the sum takes at once.
pub(crate) const SUM_BLOCK: usize = 64;
/// Bytes of the sum.
pub(crate) const SUM: usize = 20;
/// The packet that ends the contents: its header, before the sum.
pub(crate) const SUM_HEADER: [u8; 2] = [0xd3, 0x14];
const GROUP: usize = 64;

/// What SHA-1 begins with (FIPS 180-4, 5.3.1).
const SUM_BEGIN: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// Contents that are being enciphered and summed (1).
pub(crate) struct Encipher {
    aes: Aes,
    /// The last block of ciphertext.
    last: Block,
    sum: [u32; 5],
    done: u64,
}

impl Encipher {
    /// Contents under a key of 16, 24 or 32 bytes, from an initial vector of zeros.
    pub(crate) fn new(key: &[u8]) -> Result<Encipher> {
        let unfit = || Error::Unsupported("the cipher library does not take this key".to_owned());
        let aes = Aes::new(key).ok_or_else(unfit)?;
        Ok(Encipher { aes, last: Block::default(), sum: SUM_BEGIN, done: 0 })
    }

    /// Enciphers in place what comes next. Its length is a multiple of [`SUM_BLOCK`]; what is over
    /// is given back, as it was.
    fn whole<'d>(&mut self, data: &'d mut [u8]) -> &'d mut [u8] {
        let (groups, rest) = data.as_chunks_mut::<SUM_BLOCK>();
        self.done += (groups.len() * SUM_BLOCK) as u64;
        self.aes.run(Chain { last: &mut self.last, sum: &mut self.sum, groups });
        rest
    }

    /// Enciphers in place what comes next, a multiple of [`SUM_BLOCK`] bytes.
    pub(crate) fn next(&mut self, data: &mut [u8]) -> Result<()> {
        let rest = self.whole(data);
        let odd = || Error::Unsupported("contents were not cut as they have to be".to_owned());
        rest.is_empty().then_some(()).ok_or_else(odd)
    }

    /// Enciphers in place what comes last, from `start` on, with the sum behind it.
    pub(crate) fn finish(mut self, data: &mut Vec<u8>, start: usize) {
        data.extend(SUM_HEADER);
        let begin = data.len() - self.whole(&mut data[start..]).len();
        let bits = (self.done + (data.len() - begin) as u64) * 8;
        let mut end = data[begin..].to_vec();
        end.push(0x80);
        end.resize((end.len() + 8).next_multiple_of(SUM_BLOCK) - 8, 0);
        end.extend(bits.to_be_bytes());
        compress(&mut self.sum, end.as_chunks().0);
        data.extend(self.sum.map(u32::to_be_bytes).as_flattened());
        for block in data[begin..].chunks_mut(BLOCK) {
            let pad = self.aes.one(u128::from_ne_bytes(self.last.0)).to_ne_bytes();
            block.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
            self.last[..block.len()].copy_from_slice(block);
        }
    }
}

/// Both serial works over 64 bytes after the other.
struct Chain<'a> {
    last: &'a mut Block,
    sum: &'a mut [u32; 5],
    groups: &'a mut [[u8; SUM_BLOCK]],
}

impl BlockSizeUser for Chain<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Chain<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let mut last = *self.last;
        for group in self.groups {
            compress(self.sum, std::slice::from_ref(group));
            for block in group.as_chunks_mut::<BLOCK>().0 {
                backend.encrypt_block_inplace(&mut last);
                let sealed = u128::from_ne_bytes(last.0) ^ u128::from_ne_bytes(*block);
                *block = sealed.to_ne_bytes();
                last.0 = *block;
            }
        }
        *self.last = last;
    }
}

/// Deciphers a piece in place; `before` is the block of ciphertext before it (2).
pub(crate) fn decipher(aes: &Aes, before: [u8; BLOCK], data: &mut [u8]) {
    let mut before = before;
    for group in data.chunks_mut(GROUP * BLOCK) {
        let mut pad = [[0_u8; BLOCK]; GROUP];
        pad[0] = before;
        let (blocks, tail) = group.as_chunks::<BLOCK>();
        for (slot, block) in pad[1..].iter_mut().zip(blocks) {
            *slot = *block;
        }
        if let (Some(last), true) = (blocks.last(), tail.is_empty()) {
            before = *last;
        }
        let used = blocks.len() + usize::from(!tail.is_empty());
        aes.encrypt(&mut pad[..used]);
        for (byte, mask) in group.iter_mut().zip(pad.as_flattened()) {
            *byte ^= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What contents of this length come to, in pieces of this size.
    fn sealed(key: &[u8], plain: &[u8], piece: usize) -> Vec<u8> {
        let mut stream = Encipher::new(key).unwrap();
        let mut out = Vec::new();
        let mut rest = plain;
        while rest.len() > piece {
            let (now, later) = rest.split_at(piece);
            let mut now = now.to_vec();
            stream.next(&mut now).unwrap();
            out.extend(now);
            rest = later;
        }
        let mut last = rest.to_vec();
        stream.finish(&mut last, 0);
        out.extend(last);
        out
    }

    #[test]
    fn pieces_decipher_on_their_own_and_the_sum_is_that_of_another_library() {
        use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

        for (size, length) in [(16, 5000), (24, 4992), (32, 640), (16, 0), (16, 53), (16, 61)] {
            let key = vec![9; size];
            let plain: Vec<u8> = (0..length).map(|i: u32| (i % 253) as u8).collect();
            let mut data = sealed(&key, &plain, 1600);
            let ciphertext = data.clone();
            let aes = Aes::new(&key).unwrap();
            let mut before = [0; BLOCK];
            for (index, piece) in data.chunks_mut(800).enumerate() {
                decipher(&aes, before, piece);
                let end = ((index + 1) * 800).min(ciphertext.len());
                before.copy_from_slice(&ciphertext[end - BLOCK..end]);
            }
            let summed = [&plain[..], &SUM_HEADER].concat();
            let sum = digest(&SHA1_FOR_LEGACY_USE_ONLY, &summed);
            assert_eq!(data, [&summed, sum.as_ref()].concat(), "{length} bytes");
        }
    }
}
