//! The contents of a message as packets: the literal data with its signatures, and the compressed
//! packet around it (PGP-6).
//!
//! 1. A block is one piece of the literal packet, header included, so that blocks can be compressed
//!    on their own without a copy; the first one also carries what announces the signatures.
//! 2. Before a block there is room for what the stage behind has left of the one before ([`ROOM`]),
//!    so that no block is copied to put the two together.
//! 3. Input that fills the last block exactly is followed by an empty one: the end has to be known.

use std::io::{self, Read};

use pgp::types::CompressionAlgorithm;

use crate::buffers::{Block, Buffers, PLACES, place_of};
use crate::deflate::Adler;
use crate::error::{Error, Result};
use crate::packet::{FIRST_MIN, Pieces, read_full, to_bytes};
use crate::sign::Signing;
use crate::stage::Feed;
use crate::stats::{Stage, Stats};
use crate::writing::Writing;

/// The bytes of a block's piece: a power of two.
const PIECE: usize = 1 << 20;
/// The bytes before a block that stages may use (2): a message gets a byte longer than its input
/// with each block, so this is enough for 64 GiB; what is longer costs copies.
const ROOM: usize = 64 << 10;
/// The header of a piece, and of the last one: a mark and four bytes.
const LENGTH: usize = 5;
/// The kinds of packets, as their first byte.
const LITERAL: u8 = 0xc0 | 11;
/// The kind of a compressed packet.
const COMPRESSED: u8 = 8;

/// Input as blocks of packets.
pub(crate) struct Plain<'a> {
    input: Box<dyn Read + Send + 'a>,
    signing: Option<Signing>,
    /// What stands before the first piece, and the fields that begin its body.
    before: Vec<u8>,
    fields: Vec<u8>,
    /// How much of the input has been read.
    position: u64,
    buffers: Buffers,
    stats: &'a Stats,
}

impl<'a> Plain<'a> {
    /// The input, announced and named as the writing says.
    pub(crate) fn new(
        input: &'a mut (dyn Read + Send),
        signing: Signing,
        writing: &Writing,
        buffers: Buffers,
        stats: &'a Stats,
    ) -> Result<Plain<'a>> {
        let mut before = signing.announcements()?;
        before.push(LITERAL);
        let name = &writing.name[..writing.name.len().min(255)];
        let mut fields = vec![if writing.text { b'u' } else { b'b' }, name.len() as u8];
        fields.extend(name);
        fields.extend([0; 4]);
        let input: Box<dyn Read + Send + 'a> =
            if writing.text { Box::new(Canonical::new(input)) } else { Box::new(input) };
        Ok(Plain { input, signing: Some(signing), before, fields, position: 0, buffers, stats })
    }

    fn block(&mut self, signing: &mut Signing) -> Result<(Block, bool)> {
        let before = std::mem::take(&mut self.before);
        let fields = std::mem::take(&mut self.fields);
        let head = before.len() + LENGTH + fields.len();
        let room = ROOM.max(head);
        let mut data = self.buffers.take_full(room + PLACES + PIECE);
        let begin = place_of(self.position, &data, room);
        let body = begin - fields.len();
        data[body..begin].copy_from_slice(&fields);
        let read = read_full(&mut self.input, &mut data[begin..body + PIECE]);
        let read = read.map_err(Error::io("reading the input"))?;
        self.position += read as u64;
        self.stats.count_in(read);
        data.truncate(begin + read);
        signing.update(&data[begin..]);
        let last = data.len() < body + PIECE;
        let length = data.len() - body;
        let header = if last {
            data[body - LENGTH] = 255;
            data[body - 4..body].copy_from_slice(&(length as u32).to_be_bytes());
            LENGTH
        } else {
            data[body - 1] = 224 | PIECE.ilog2() as u8;
            1
        };
        let start = body - header - before.len();
        data[start..start + before.len()].copy_from_slice(&before);
        Ok((Block { data, start, last }, last))
    }
}

impl Iterator for Plain<'_> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut signing = self.signing.take()?;
        let stats = self.stats;
        Some(stats.time(Stage::Read, || {
            let (mut block, last) = self.block(&mut signing)?;
            if last {
                for signature in signing.finish()? {
                    block.data.extend(to_bytes(&signature)?);
                }
            } else {
                self.signing = Some(signing);
            }
            Ok(block)
        }))
    }
}

/// A block that has been compressed.
pub(crate) struct Packed {
    pub(crate) data: Vec<u8>,
    pub(crate) sum: Adler,
    pub(crate) last: bool,
}

/// The compressed packet around compressed blocks.
pub(crate) fn frame<'s>(
    packed: Feed<'s, Packed>,
    algorithm: CompressionAlgorithm,
    buffers: Buffers,
) -> Feed<'s, Block> {
    let is_zlib = algorithm == CompressionAlgorithm::ZLIB;
    let mut lead = vec![algorithm.into()];
    if is_zlib {
        lead.extend([0x78, 0x01]);
    }
    let mut pieces = Pieces::new(COMPRESSED, lead);
    let mut sum = Adler::EMPTY;
    let mut held = Vec::new();
    Box::new(packed.filter_map(move |packed| {
        let step = || {
            let mut packed = packed?;
            sum = sum.then(packed.sum);
            if packed.last && is_zlib {
                packed.data.extend(sum.bytes());
            }
            if !held.is_empty() {
                held.append(&mut packed.data);
                std::mem::swap(&mut held, &mut packed.data);
            }
            if !pieces.has_begun() && packed.data.len() < FIRST_MIN && !packed.last {
                held = packed.data;
                return Ok(None);
            }
            let mut data = buffers.take();
            pieces.put(&[&packed.data], packed.last, |bytes| {
                data.extend_from_slice(bytes);
                Ok(())
            })?;
            buffers.give(packed.data);
            Ok(Some(Block { data, start: 0, last: packed.last }))
        };
        step().transpose()
    }))
}

/// Text whose lines all end with CR LF.
struct Canonical<R> {
    source: R,
    block: Vec<u8>,
    at: usize,
    after_cr: bool,
}

impl<R: Read> Canonical<R> {
    fn new(source: R) -> Canonical<R> {
        Canonical { source, block: Vec::new(), at: 0, after_cr: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut raw = vec![0; 64 << 10];
        let read = self.source.read(&mut raw)?;
        self.block.clear();
        self.at = 0;
        for byte in &raw[..read] {
            if *byte == b'\n' && !self.after_cr {
                self.block.push(b'\r');
            }
            self.block.push(*byte);
            self.after_cr = *byte == b'\r';
        }
        Ok(())
    }
}

impl<R: Read> Read for Canonical<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            self.fill()?;
        }
        let rest = &self.block[self.at..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        Ok(length)
    }
}
