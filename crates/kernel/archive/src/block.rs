//! Compressed blocks: a group whose payload was compressed before it was sealed again.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `HFLZ` |
//! | 4 | 4 | length of the compressed payload |
//! | 8 | 128 | the group's header, as it stands in the log |
//! | 136 | 16 | tag |
//! | 152 | | the payload, compressed by zstd, then sealed |
//!
//! The key is the file's, the counter the group's number, the associated data what stands before
//! the tag. So the chain of tags goes on through compressed blocks, although the tags in it are
//! those of bytes that are kept no longer.

use base::bytes::{get_u32, put_u32};
use seal::{Tag, WorkingKey};
use wal::{Flaw, GROUP_HEADER, GroupHead};
use zstd::bulk::{Compressor, Decompressor};

/// Bytes before the sealed part.
pub(crate) const BLOCK_HEADER: usize = 152;
pub(crate) const MAGIC: [u8; 4] = *b"HFLZ";
/// No group has a longer payload.
pub(crate) const PAYLOAD_MAX: usize = 16 << 20;

const HEAD_AT: usize = 8;
const TAG_AT: usize = 136;

/// Compresses groups.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    block: Vec<u8>,
}

impl Packer {
    pub(crate) fn new(level: i32) -> std::io::Result<Packer> {
        Ok(Packer { compressor: Compressor::new(level)?, block: Vec::new() })
    }

    /// The block of a group, given its header as it stands in the log and its payload; `None` if
    /// it would not be shorter than the group.
    pub(crate) fn pack(
        &mut self,
        key: &WorkingKey,
        head: &[u8],
        number: u64,
        payload: &[u8],
    ) -> Option<&[u8]> {
        self.block.clear();
        self.block.resize(BLOCK_HEADER + payload.len(), 0);
        let room = &mut self.block[BLOCK_HEADER..];
        // Too little room is the compressor's way to say that it does not pay.
        let packed = self.compressor.compress_to_buffer(payload, room).ok()?;
        if BLOCK_HEADER + packed >= GROUP_HEADER + payload.len() {
            return None;
        }
        self.block.truncate(BLOCK_HEADER + packed);
        let (clear, sealed) = self.block.split_at_mut(BLOCK_HEADER);
        clear[..4].copy_from_slice(&MAGIC);
        put_u32(clear, 4, packed as u32);
        clear[HEAD_AT..TAG_AT].copy_from_slice(head);
        let tag = key.seal(number, &clear[..TAG_AT], sealed);
        clear[TAG_AT..].copy_from_slice(&tag.0);
        Some(&self.block)
    }
}

/// The length of the block that begins with `bytes`, and the header of its group.
pub(crate) fn peek(bytes: &[u8]) -> Result<(usize, GroupHead), Flaw> {
    let Some(clear) = bytes.get(..BLOCK_HEADER) else { return Err(Flaw::Length) };
    let len = get_u32(clear, 4) as usize;
    if len > PAYLOAD_MAX {
        return Err(Flaw::Length);
    }
    Ok((BLOCK_HEADER + len, GroupHead::decode(&clear[HEAD_AT..TAG_AT])?))
}

/// Opens a block and puts its payload in `out`.
pub(crate) fn unpack(
    key: &WorkingKey,
    head: &GroupHead,
    block: &mut [u8],
    unpacker: &mut Decompressor<'static>,
    out: &mut Vec<u8>,
) -> Result<(), Flaw> {
    let (clear, sealed) = block.split_at_mut(BLOCK_HEADER);
    let mut tag = Tag([0; 16]);
    tag.0.copy_from_slice(&clear[TAG_AT..]);
    key.open(head.number.0, &clear[..TAG_AT], sealed, &tag).map_err(|_| Flaw::Tag)?;
    let len = head.payload_len as usize;
    if len > PAYLOAD_MAX {
        return Err(Flaw::Length);
    }
    out.clear();
    out.resize(len, 0);
    match unpacker.decompress_to_buffer(sealed, &mut out[..]) {
        Ok(unpacked) if unpacked == len => Ok(()),
        _ => Err(Flaw::Length),
    }
}
