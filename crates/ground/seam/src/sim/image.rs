//! The content of a simulated file: blocks shared between copies until one of them changes.
//!
//! Invariants:
//! 1. A copy costs one pointer per 256 KiB and shares all blocks; a write copies one block and the
//!    64 pointers of its chunk, never more.
//! 2. Bytes past `len` are zero, so that growing shows zeros.

use std::sync::Arc;

use crate::disk::BLOCK;

/// One physical block.
pub(super) type Block = [u8; BLOCK];

/// Blocks per chunk.
const CHUNK: usize = 64;

#[derive(Clone)]
struct Chunk([Option<Arc<Block>>; CHUNK]);

impl Default for Chunk {
    fn default() -> Chunk {
        Chunk([const { None }; CHUNK])
    }
}

/// The content of one file. Missing blocks are zeros that take no space.
#[derive(Clone, Default)]
pub(super) struct Image {
    chunks: Vec<Option<Arc<Chunk>>>,
    len: u64,
}

impl Image {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Cuts or extends with zeros.
    pub(super) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let blocks = len.div_ceil(BLOCK as u64);
            self.chunks.truncate((blocks as usize).div_ceil(CHUNK));
            let end = (self.chunks.len() * CHUNK) as u64;
            (blocks..end).for_each(|block| self.set_block(block, None));
            let within = (len % BLOCK as u64) as usize;
            if within != 0 && self.block(blocks - 1).is_some() {
                self.block_mut(blocks - 1)[within..].fill(0);
            }
        }
        self.len = len;
    }

    pub(super) fn block(&self, number: u64) -> Option<&Arc<Block>> {
        let number = number as usize;
        self.chunks.get(number / CHUNK)?.as_ref()?.0[number % CHUNK].as_ref()
    }

    /// Replaces a whole block; the length stays.
    pub(super) fn set_block(&mut self, number: u64, block: Option<Arc<Block>>) {
        let number = number as usize;
        if self.chunks.len() <= number / CHUNK {
            if block.is_none() {
                return;
            }
            self.chunks.resize(number / CHUNK + 1, None);
        }
        let place = &mut self.chunks[number / CHUNK];
        if block.is_none() && place.is_none() {
            return;
        }
        Arc::make_mut(place.get_or_insert_default()).0[number % CHUNK] = block;
    }

    fn block_mut(&mut self, number: u64) -> &mut Block {
        if self.block(number).is_none() {
            self.set_block(number, Some(Arc::new([0; BLOCK])));
        }
        let number = number as usize;
        let chunk = self.chunks[number / CHUNK].get_or_insert_default();
        let block = Arc::make_mut(chunk).0[number % CHUNK].get_or_insert_with(zero_block);
        Arc::make_mut(block)
    }

    /// Copies from `offset` on; zeros stand for what is past the end.
    pub(super) fn read(&self, offset: u64, buf: &mut [u8]) {
        for_each_part(offset, buf.len(), |block, within, part| {
            let place = &mut buf[part.clone()];
            match self.block(block) {
                Some(block) => place.copy_from_slice(&block[within..within + part.len()]),
                None => place.fill(0),
            }
        });
    }

    /// Copies to `offset`, growing the file if need be.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        for_each_part(offset, bytes.len(), |block, within, part| {
            let len = part.len();
            self.block_mut(block)[within..within + len].copy_from_slice(&bytes[part]);
        });
        self.len = self.len.max(offset + bytes.len() as u64);
    }

    /// Extends the length and takes space for what is within.
    pub(super) fn allocate(&mut self, offset: u64, len: u64) {
        let end = offset + len;
        for block in offset / BLOCK as u64..end.div_ceil(BLOCK as u64) {
            if self.block(block).is_none() {
                self.set_block(block, Some(zero_block()));
            }
        }
        self.len = self.len.max(end);
    }

    /// Blocks that take space within a range of bytes.
    pub(super) fn blocks_within(&self, offset: u64, len: u64) -> u64 {
        let blocks = offset / BLOCK as u64..(offset + len).div_ceil(BLOCK as u64);
        blocks.filter(|block| self.block(*block).is_some()).count() as u64
    }

    /// Blocks that take space.
    pub(super) fn blocks(&self) -> u64 {
        let chunks = self.chunks.iter().flatten();
        chunks.map(|chunk| chunk.0.iter().flatten().count() as u64).sum()
    }

    /// The whole content.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(0, &mut bytes);
        bytes
    }
}

fn zero_block() -> Arc<Block> {
    Arc::new([0; BLOCK])
}

/// Splits a range of a file at block borders: block number, offset within it, range of the buffer.
pub(super) fn for_each_part(
    offset: u64,
    len: usize,
    mut body: impl FnMut(u64, usize, std::ops::Range<usize>),
) {
    let mut done = 0;
    while done < len {
        let place = offset + done as u64;
        let within = (place % BLOCK as u64) as usize;
        let part = (BLOCK - within).min(len - done);
        body(place / BLOCK as u64, within, done..done + part);
        done += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_its_content_when_the_other_changes() {
        let mut one = Image::default();
        one.write(5_000, &[7; 9_000]);
        let two = one.clone();
        one.write(6_000, &[8; 10]);
        let mut byte = [0];
        two.read(6_000, &mut byte);
        assert_eq!((byte, two.len()), ([7], 14_000));
        one.read(6_000, &mut byte);
        assert_eq!(byte, [8]);
    }

    #[test]
    fn what_was_cut_off_comes_back_as_zeros() {
        let mut image = Image::default();
        image.write(0, &[7; 3 * BLOCK]);
        image.set_len(5_000);
        image.set_len(3 * BLOCK as u64);
        let bytes = image.bytes();
        assert!(bytes[..5_000].iter().all(|byte| *byte == 7));
        assert!(bytes[5_000..].iter().all(|byte| *byte == 0));
        assert_eq!(image.blocks(), 2);
    }
}
