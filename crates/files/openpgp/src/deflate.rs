//! Compression: blocks that are compressed on their own and still form one legal stream
//! (PGP-5).
//!
//! A block of deflate ends with an empty stored block (a full flush), which brings the stream to
//! a byte's end and forgets the history; only the last one carries the mark of the end. So any
//! number of threads can compress neighbours, and the reader that inflates notices nothing.
//!
//! 1. What is made is one stream of RFC 1951 (ZIP), RFC 1950 (ZLIB) or one bzip2 stream.
//! 2. Level 1 uses ISA-L where the machine has it; the result is as legal, its bytes differ. Where
//!    it has not, the library that is built in does what it calls its second level: its first one
//!    makes files a fifth larger than others' first levels do ([`BUILT_IN_MIN`]).
//! 3. What was inflated and then does not end with the mark of the end is damaged.

use std::io::{self, BufRead, Read};

use bzip2::{Action, Compress as BzCompress, Compression as BzLevel, Decompress as BzDecompress};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use pgp::types::CompressionAlgorithm;

use crate::error::{Error, Result};
use crate::isal;

fn gave_up<E: std::fmt::Display>(error: E) -> Error {
    Error::Unsupported(format!("compression failed: {error}"))
}

/// The least level of the library that is built in whose output is no larger, give or take a few
/// percent, than what zlib makes at its level 1.
const BUILT_IN_MIN: u32 = 2;

/// Compresses blocks in turn.
pub(crate) enum Packer {
    Isal(isal::Deflater<'static>),
    Zlib(Box<Compress>),
    Bzip2(Box<BzCompress>),
}

impl Packer {
    /// A packer for one of the algorithms, level 0 to 9.
    pub(crate) fn new(algorithm: CompressionAlgorithm, level: u32) -> Packer {
        if algorithm == CompressionAlgorithm::BZip2 {
            let level = BzLevel::new(level.clamp(1, 9));
            return Packer::Bzip2(Box::new(BzCompress::new(level, 0)));
        }
        match (level, isal::Deflater::new()) {
            (1, Some(deflater)) => Packer::Isal(deflater),
            _ => Packer::built_in(level),
        }
    }

    /// A packer of the library that is built in.
    fn built_in(level: u32) -> Packer {
        let level = if level == 0 { 0 } else { level.clamp(BUILT_IN_MIN, 9) };
        Packer::Zlib(Box::new(Compress::new(Compression::new(level), false)))
    }

    /// Whether blocks may be dealt to several packers.
    pub(crate) fn is_parallel(algorithm: CompressionAlgorithm) -> bool {
        algorithm != CompressionAlgorithm::BZip2
    }

    /// Appends the block, compressed.
    pub(crate) fn block(&mut self, block: &[u8], last: bool, out: &mut Vec<u8>) -> Result<()> {
        out.reserve(block.len() / 2 + 1024);
        match self {
            Packer::Isal(deflater) => {
                let done = deflater.block(block, last, out);
                done.then_some(()).ok_or_else(|| gave_up("ISA-L refused a block"))
            }
            Packer::Zlib(stream) => {
                stream.reset();
                zlib_block(stream, block, last, out)
            }
            Packer::Bzip2(stream) => bzip2_block(stream, block, last, out),
        }
    }
}

fn zlib_block(stream: &mut Compress, block: &[u8], last: bool, out: &mut Vec<u8>) -> Result<()> {
    let flush = if last { FlushCompress::Finish } else { FlushCompress::Full };
    loop {
        let taken = stream.total_in() as usize;
        let status = stream.compress_vec(&block[taken..], out, flush).map_err(gave_up)?;
        // A flush is complete when it did not need all the room that it had.
        let has_room = out.len() < out.capacity();
        let is_done = stream.total_in() as usize == block.len() && has_room;
        match status {
            Status::StreamEnd => return Ok(()),
            Status::Ok | Status::BufError if is_done && !last => return Ok(()),
            Status::Ok | Status::BufError => out.reserve(64 << 10),
        }
    }
}

fn bzip2_block(stream: &mut BzCompress, block: &[u8], last: bool, out: &mut Vec<u8>) -> Result<()> {
    let begin = stream.total_in();
    loop {
        let taken = (stream.total_in() - begin) as usize;
        if taken == block.len() && !last {
            return Ok(());
        }
        let action = if last { Action::Finish } else { Action::Run };
        let status = stream.compress_vec(&block[taken..], out, action).map_err(gave_up)?;
        match status {
            bzip2::Status::StreamEnd => return Ok(()),
            _ => out.reserve(64 << 10),
        }
    }
}

/// The sum at the end of a ZLIB stream (RFC 1950), over blocks that were summed on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adler {
    low: u32,
    high: u32,
    bytes: u64,
}

const ADLER_PRIME: u32 = 65_521;

impl Adler {
    /// The sum of no bytes.
    pub(crate) const EMPTY: Adler = Adler { low: 1, high: 0, bytes: 0 };

    /// The sum of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Adler {
        let (mut low, mut high) = (1_u32, 0_u32);
        // As many as surely stay below 2^32.
        for piece in bytes.chunks(5552) {
            for byte in piece {
                low += u32::from(*byte);
                high += low;
            }
            low %= ADLER_PRIME;
            high %= ADLER_PRIME;
        }
        Adler { low, high, bytes: bytes.len() as u64 }
    }

    /// The sum of these bytes and then those of `next`.
    pub(crate) fn then(self, next: Adler) -> Adler {
        let prime = u64::from(ADLER_PRIME);
        let low = u64::from(self.low) + u64::from(next.low) + prime - 1;
        let carried = (u64::from(self.low) + prime - 1) % prime * (next.bytes % prime);
        let high = u64::from(self.high) + u64::from(next.high) + carried;
        let bytes = self.bytes + next.bytes;
        Adler { low: (low % prime) as u32, high: (high % prime) as u32, bytes }
    }

    /// As it stands in the stream.
    pub(crate) fn bytes(self) -> [u8; 4] {
        (self.high << 16 | self.low).to_be_bytes()
    }
}

/// Decompresses what it reads.
pub(crate) struct Unpacker<R> {
    source: R,
    engine: Engine,
    ended: bool,
    /// Bytes that went in, and came out.
    taken: u64,
    made: u64,
}

/// What may go in beside twice what comes out: blocks without contents cost time, too.
const IDLE_BYTES_MAX: u64 = 4 << 20;

enum Engine {
    /// What is only framed, and ends with the packet.
    Stored,
    Isal(isal::Inflater<'static>),
    Zlib(Box<Decompress>),
    Bzip2(Box<BzDecompress>),
}

impl<R: BufRead> Unpacker<R> {
    /// Decompresses `source`.
    pub(crate) fn new(source: R, algorithm: CompressionAlgorithm) -> Result<Unpacker<R>> {
        let engine = match (algorithm, isal::Inflater::new()) {
            (CompressionAlgorithm::Uncompressed, _) => Engine::Stored,
            (CompressionAlgorithm::ZIP, Some(inflater)) => Engine::Isal(inflater),
            (CompressionAlgorithm::ZIP, None) => Engine::Zlib(Box::new(Decompress::new(false))),
            (CompressionAlgorithm::ZLIB, _) => Engine::Zlib(Box::new(Decompress::new(true))),
            (CompressionAlgorithm::BZip2, _) => Engine::Bzip2(Box::new(BzDecompress::new(false))),
            (other, _) => {
                let number = u8::from(other);
                let what = format!("the compression of number {number} is not known");
                return Err(Error::Unsupported(what));
            }
        };
        Ok(Unpacker { source, engine, ended: false, taken: 0, made: 0 })
    }

    /// What was read from, once everything has been read.
    pub(crate) fn into_source(self) -> R {
        self.source
    }

    fn step(&mut self, out: &mut [u8]) -> Result<isal::Step> {
        let damaged = || Error::damaged("its compressed contents do not decompress");
        let input = self.source.fill_buf().map_err(Error::io("reading the message"))?;
        let at_end = input.is_empty();
        let step = match &mut self.engine {
            Engine::Stored => {
                let length = input.len().min(out.len());
                out[..length].copy_from_slice(&input[..length]);
                isal::Step { taken: length, made: length, ended: at_end }
            }
            Engine::Isal(inflater) => inflater.next(input, out).ok_or_else(damaged)?,
            Engine::Zlib(stream) => {
                let before = (stream.total_in(), stream.total_out());
                let status = stream.decompress(input, out, FlushDecompress::None);
                let status = status.map_err(|_| damaged())?;
                let taken = (stream.total_in() - before.0) as usize;
                let made = (stream.total_out() - before.1) as usize;
                isal::Step { taken, made, ended: status == Status::StreamEnd }
            }
            Engine::Bzip2(stream) => {
                let before = (stream.total_in(), stream.total_out());
                let status = stream.decompress(input, out).map_err(|_| damaged())?;
                let taken = (stream.total_in() - before.0) as usize;
                let made = (stream.total_out() - before.1) as usize;
                isal::Step { taken, made, ended: status == bzip2::Status::StreamEnd }
            }
        };
        self.source.consume(step.taken);
        if at_end && step.made == 0 && !step.ended {
            return Err(Error::damaged("its compressed contents end too early"));
        }
        Ok(step)
    }
}

impl<R: BufRead> Read for Unpacker<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            let step = self.step(out)?;
            self.ended = step.ended;
            self.taken += step.taken as u64;
            self.made += step.made as u64;
            if self.taken > IDLE_BYTES_MAX + 2 * self.made {
                return Err(Error::damaged("its compressed contents are mostly empty").into());
            }
            if step.made > 0 {
                return Ok(step.made);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        (0..400_000_u32).map(|i| ((i / 7).wrapping_mul(i) % 97) as u8).collect()
    }

    #[test]
    fn blocks_without_contents_are_bounded() {
        let mut idle = [0, 0, 0, 0xFF, 0xFF].repeat(1 << 20);
        idle.extend([1, 0, 0, 0xFF, 0xFF]);
        let mut unpacker = Unpacker::new(&idle[..], CompressionAlgorithm::ZIP).unwrap();
        let error = unpacker.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("mostly empty"), "{error}");
    }

    #[test]
    fn blocks_that_were_packed_alone_are_one_stream() {
        let plain = sample();
        for algorithm in
            [CompressionAlgorithm::ZIP, CompressionAlgorithm::ZLIB, CompressionAlgorithm::BZip2]
        {
            for level in [0, 1, 6, 9] {
                let mut packer = Packer::new(algorithm, level);
                let mut packed = Vec::new();
                let mut sum = Adler::EMPTY;
                if algorithm == CompressionAlgorithm::ZLIB {
                    packed.extend([0x78, 0x01]);
                }
                let mut blocks = plain.chunks(90_000).peekable();
                while let Some(block) = blocks.next() {
                    let last = blocks.peek().is_none();
                    packer.block(block, last, &mut packed).unwrap();
                    sum = sum.then(Adler::of(block));
                }
                if algorithm == CompressionAlgorithm::ZLIB {
                    packed.extend(sum.bytes());
                }
                let mut found = Vec::new();
                let mut unpacker = Unpacker::new(&packed[..], algorithm).unwrap();
                unpacker.read_to_end(&mut found).unwrap();
                assert_eq!(found, plain, "{algorithm:?} {level}");
                assert!(unpacker.into_source().is_empty());
                for cut in [0, 1, packed.len() / 2, packed.len() - 1] {
                    let mut unpacker = Unpacker::new(&packed[..cut], algorithm).unwrap();
                    assert!(unpacker.read_to_end(&mut Vec::new()).is_err(), "cut at {cut}");
                }
            }
        }
    }

    /// Draws, and makes samples of three mebibytes of them.
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn sample(mut put: impl FnMut(&mut Draws, &mut Vec<u8>)) -> Vec<u8> {
            const LENGTH: usize = 3 << 20;
            let mut draws = Draws(88_172_645_463_325_252);
            let mut bytes = Vec::new();
            while bytes.len() < LENGTH {
                put(&mut draws, &mut bytes);
            }
            bytes.truncate(LENGTH);
            bytes
        }
    }

    fn records() -> Vec<u8> {
        let mut number = 0;
        Draws::sample(|draws, bytes| {
            let value = draws.next();
            number += 1;
            let (account, whole, part) =
                (format!("ACCT{}", value % 5000), (value >> 20) % 1_000_000, (value >> 50) % 100);
            bytes.extend(format!("{number:08} {account:<12} {whole:10}.{part:02} EUR\n").bytes());
        })
    }

    fn text() -> Vec<u8> {
        let mut words: Vec<Vec<u8>> = Vec::new();
        Draws::sample(|draws, bytes| {
            while words.len() < 2000 {
                let value = draws.next();
                let letters = (0..2 + value % 8).map(|at| b'a' + ((value >> (5 * at)) % 26) as u8);
                words.push(letters.collect());
            }
            let value = draws.next();
            let rank = [value, value >> 16, value >> 32].map(|one| (one % 2000) as usize);
            bytes.extend_from_slice(&words[rank[0].min(rank[1]).min(rank[2])]);
            bytes.push(b' ');
        })
    }

    fn binary() -> Vec<u8> {
        let mut number = 0_u32;
        Draws::sample(|draws, bytes| {
            let value = draws.next();
            number += 1;
            bytes.extend(number.to_be_bytes());
            bytes.extend([0, 1]);
            bytes.extend(((value % 4000) as u32 * 7919).to_be_bytes());
            let packed = |shift: u32, sign: u8| (value >> shift) as u8 & 0x99 | sign;
            bytes.extend([0, packed(20, 0), packed(30, 0), packed(40, 0xc)]);
            bytes.extend(format!("{:<16}", format!("NAME OF {}", value >> 50 & 511)).bytes());
            bytes.extend([0; 14]);
            bytes.extend([if value >> 60 & 3 > 0 { 0x40 } else { 0xc1 }; 3]);
        })
    }

    /// Without ISA-L files were a quarter larger than those that GnuPG makes with zlib.
    #[test]
    fn no_file_is_larger_than_what_zlib_makes_at_its_first_level() {
        // What zlib 1.2.13 makes of the samples at level 1, in bytes.
        for (name, sample, zlib) in [
            ("records", records(), 1_050_824),
            ("text", text(), 1_235_815),
            ("binary", binary(), 934_641),
        ] {
            let isal = isal::Deflater::new().map(Packer::Isal);
            let built_in = (1..=9).map(Packer::built_in);
            for (at, mut packer) in isal.into_iter().chain(built_in).enumerate() {
                let mut packed = Vec::new();
                let mut blocks = sample.chunks(1 << 20).peekable();
                while let Some(block) = blocks.next() {
                    packer.block(block, blocks.peek().is_none(), &mut packed).unwrap();
                }
                let most = zlib + zlib * 3 / 100;
                assert!(packed.len() <= most, "{name}, packer {at}: {} bytes", packed.len());
            }
        }
    }

    #[test]
    fn sums_of_parts_make_the_sum_of_the_whole() {
        let plain = sample();
        let whole = Adler::of(&plain);
        for cut in [0, 1, 5552, 399_999] {
            let (head, tail) = plain.split_at(cut);
            assert_eq!(Adler::of(head).then(Adler::of(tail)), whole);
        }
    }
}
