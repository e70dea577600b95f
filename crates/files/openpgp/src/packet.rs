//! Packets as a stream: headers, bodies of partial lengths, and the writing of both.
//!
//! 1. A body that ends before its length says so is an error, never an end.
//! 2. What is read whole is bounded ([`SMALL_MAX`]), whatever a length says.
//! 3. A body of unknown length is written as pieces of powers of two, the first of at least 512
//!    bytes, and a last one of any length (RFC 9580, 4.2.1.4). Smaller pieces are read, too, and
//!    put together; a body that is hardly more than the lengths of its pieces is refused.
//! 4. What follows a body is had only when all of the body was read; a layer is read from only
//!    through [`Source`], which notes that its end has come ([`crate::ledger`]).

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};

use pgp::packet::{OnePassSignature, Packet, PacketHeader, Signature, SignatureVersion};
use pgp::types::{PacketLength, Tag};

use crate::buffers::{Block, Buffers};
use crate::embedded;
use crate::error::{Error, Result};
use crate::ledger::{Ledger, Owed};
use crate::stage::Feed;
use crate::tee::Tee;

/// The largest packet that is read whole: keys and signatures are far smaller.
const SMALL_MAX: u64 = 256 << 10;
/// Pieces of a body that are put together, in bytes, and how many of them at once (3).
const PIECE_MIN: u64 = 4 << 10;
const TOGETHER: usize = 64 << 10;
/// What pieces have to hold on an average once there are many.
const PIECES_MANY: u64 = 64 << 10;
const PIECE_MEAN_MIN: u64 = 64;

fn reading(error: io::Error) -> Error {
    Error::io("reading the message")(error)
}

/// The header of the next packet, and its bytes as they stand there.
pub(crate) fn next_header_and_bytes(
    source: &mut impl BufRead,
) -> Result<Option<(Tag, PacketLength, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut tap = Tee { source, take: |some: &[u8]| bytes.extend_from_slice(some) };
    let next = next_header(&mut tap)?;
    Ok(next.map(|(tag, length)| (tag, length, bytes)))
}

/// The header of the next packet, `None` at the end of the source.
pub(crate) fn next_header(source: &mut impl BufRead) -> Result<Option<(Tag, PacketLength)>> {
    if source.fill_buf().map_err(reading)?.is_empty() {
        return Ok(None);
    }
    let header = PacketHeader::try_from_reader(source).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::damaged("it ends too early"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Error::damaged("something in it is no packet")
        }
        _ => reading(error),
    })?;
    Ok(Some((header.tag(), header.packet_length())))
}

/// The bytes of one packet's body.
pub(crate) struct Body<S> {
    source: S,
    left: u64,
    after: After,
    /// What has been taken from the source; those before `given` have been read.
    ahead: Vec<u8>,
    given: usize,
    /// The pieces so far, and what they hold.
    pieces: u64,
    bytes: u64,
}

/// What comes after the bytes that are left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// The end of the body.
    End,
    /// The length of another piece.
    Piece,
    /// Nothing is known; the body ends with the source.
    Source,
}

impl<S: BufRead> Body<S> {
    /// The body that follows a header with this length.
    pub(crate) fn new(source: S, length: PacketLength) -> Body<S> {
        let (left, after) = sort(length);
        let (ahead, given) = (Vec::new(), 0);
        Body { source, left, after, ahead, given, pieces: 1, bytes: left }
    }

    /// The next bytes, or as many as there are, which are still read afterwards.
    pub(crate) fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        let mut ahead = vec![0; bytes];
        let filled = read_full(self, &mut ahead)?;
        ahead.truncate(filled);
        // Reading so far has left something only of what was put together.
        ahead.extend_from_slice(&self.ahead[self.given..]);
        (self.ahead, self.given) = (ahead, 0);
        Ok(&self.ahead[..filled])
    }

    /// What follows the body, everything of which must have been read (4).
    pub(crate) fn into_source(mut self) -> Result<S> {
        let left = || Error::damaged("a packet is longer than what is in it");
        let is_over = self.fill_buf().map_err(reading)?.is_empty();
        is_over.then_some(self.source).ok_or_else(left)
    }
}

fn sort(length: PacketLength) -> (u64, After) {
    match length {
        PacketLength::Fixed(bytes) => (u64::from(bytes), After::End),
        PacketLength::Partial(bytes) => (u64::from(bytes), After::Piece),
        PacketLength::Indeterminate => (0, After::Source),
    }
}

impl<S: BufRead> Body<S> {
    /// Finds out how many bytes are left of this piece, or of the next one.
    fn find_piece(&mut self) -> io::Result<u64> {
        while self.left == 0 && self.after == After::Piece {
            let length = PacketLength::try_from_reader(&mut self.source)?;
            (self.left, self.after) = sort(length);
            if self.after == After::Source {
                return Err(Error::damaged("a piece of it has no length").into());
            }
            self.pieces += 1;
            self.bytes += self.left;
            let is_mere_lengths = self.bytes / self.pieces < PIECE_MEAN_MIN;
            if self.after == After::Piece && self.pieces > PIECES_MANY && is_mere_lengths {
                return Err(Error::damaged("it is cut into pieces of a few bytes").into());
            }
        }
        Ok(self.left)
    }

    /// What the source has of this piece.
    fn piece(&mut self, left: u64) -> io::Result<&[u8]> {
        let bytes = self.source.fill_buf()?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let length = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        Ok(&bytes[..length])
    }

    /// Whether small pieces follow, which are to be put together (3).
    fn is_crumbs(&mut self) -> io::Result<bool> {
        let left = self.find_piece()?;
        Ok(self.after == After::Piece && (1..PIECE_MIN).contains(&left))
    }

    /// Puts small pieces together.
    fn gather(&mut self) -> io::Result<()> {
        let mut together = std::mem::take(&mut self.ahead);
        together.clear();
        while together.len() < TOGETHER {
            let left = self.find_piece()?;
            if left == 0 || left >= PIECE_MIN {
                break;
            }
            let bytes = self.piece(left)?;
            let length = bytes.len();
            together.extend_from_slice(bytes);
            self.source.consume(length);
            self.left -= length as u64;
        }
        (self.ahead, self.given) = (together, 0);
        Ok(())
    }
}

impl<S: BufRead> BufRead for Body<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given == self.ahead.len() && self.is_crumbs()? {
            self.gather()?;
        }
        if self.given < self.ahead.len() {
            return Ok(&self.ahead[self.given..]);
        }
        if self.after == After::Source {
            return self.source.fill_buf();
        }
        match self.find_piece()? {
            0 => Ok(&[]),
            left => self.piece(left),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if self.given < self.ahead.len() {
            self.given = (self.given + bytes).min(self.ahead.len());
            return;
        }
        self.source.consume(bytes);
        if self.after != After::Source {
            self.left = self.left.saturating_sub(bytes as u64);
        }
    }
}

impl<S: BufRead> Read for Body<S> {
    /// Large pieces come from the source itself, past its buffer.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given < self.ahead.len() || self.is_crumbs()? {
            let bytes = self.fill_buf()?;
            let length = bytes.len().min(out.len());
            out[..length].copy_from_slice(&bytes[..length]);
            self.consume(length);
            return Ok(length);
        }
        if self.after == After::Source {
            return self.source.read(out);
        }
        let left = self.find_piece()?;
        let room = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        if room == 0 {
            return Ok(0);
        }
        let read = self.source.read(&mut out[..room])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        Ok(read)
    }
}

/// Reads until `out` is full or the source ends; how much there is now.
pub(crate) fn read_full(source: &mut (impl Read + ?Sized), out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match source.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The body of a packet, read whole (2).
fn read_body(source: &mut impl BufRead, tag: Tag, length: PacketLength) -> Result<Vec<u8>> {
    let mut body = Body::new(source, length).take(SMALL_MAX + 1);
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes).map_err(reading)?;
    if bytes.len() as u64 > SMALL_MAX {
        return Err(Error::damaged(format!("{} is too long", kind_of(tag))));
    }
    Ok(bytes)
}

/// A signature on a key that cannot be read as it is, without what of it is not signed, if it can
/// be read then.
pub(crate) fn repaired_signature(mut packet: &[u8]) -> Option<Signature> {
    let (tag, length) = next_header(&mut packet).ok()??;
    embedded::repaired(&read_body(&mut packet, tag, length).ok()?)
}

/// What all packets of a message that are read whole may come to, in bytes.
pub(crate) struct Room(usize);

impl Default for Room {
    fn default() -> Room {
        Room(2 << 20)
    }
}

impl Room {
    /// The body of a packet, read whole, if there is room for it.
    fn body(
        &mut self,
        source: &mut impl BufRead,
        tag: Tag,
        length: PacketLength,
    ) -> Result<Vec<u8>> {
        let bytes = read_body(source, tag, length)?;
        let full = || Error::damaged("its session keys and signatures are longer than any are");
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(full)?;
        Ok(bytes)
    }
}

/// The packet with this header, read whole (2).
pub(crate) fn read_small(
    source: &mut impl BufRead,
    tag: Tag,
    length: PacketLength,
    room: &mut Room,
) -> Result<Packet> {
    let bytes = room.body(source, tag, length)?;
    let header = PacketHeader::new_fixed(tag, bytes.len() as u32);
    Packet::from_reader(header, &bytes[..]).map_err(Error::from)
}

/// A signature. One that cannot be read is one of an unknown sort, which is never good, and hides
/// no other (RFC 9580, 5.2).
pub(crate) fn read_signature(
    source: &mut impl BufRead,
    length: PacketLength,
    room: &mut Room,
) -> Result<Signature> {
    let bytes = room.body(source, Tag::Signature, length)?;
    let header = PacketHeader::new_fixed(Tag::Signature, bytes.len() as u32);
    let read = match Packet::from_reader(header, &bytes[..]) {
        Ok(Packet::Signature(signature)) => Some(signature),
        _ => embedded::read(header, &bytes).or_else(|| embedded::repaired(&bytes)),
    };
    Ok(read.unwrap_or_else(|| {
        let (version, rest) = bytes.split_first().unwrap_or((&0, &[]));
        Signature::unknown(header, SignatureVersion::from(*version), rest.to_vec().into())
    }))
}

/// The announcement of a signature; nothing if it cannot be read, though the signature comes.
pub(crate) fn read_announcement(
    source: &mut impl BufRead,
    length: PacketLength,
    room: &mut Room,
) -> Result<Option<OnePassSignature>> {
    let bytes = room.body(source, Tag::OnePassSignature, length)?;
    let header = PacketHeader::new_fixed(Tag::OnePassSignature, bytes.len() as u32);
    Ok(match Packet::from_reader(header, &bytes[..]) {
        Ok(Packet::OnePassSignature(announced)) => Some(announced),
        _ => None,
    })
}

/// Reads past a packet.
pub(crate) fn skip(source: &mut impl BufRead, length: PacketLength) -> Result<()> {
    let mut body = Body::new(source, length);
    io::copy(&mut body, &mut io::sink()).map(drop).map_err(reading)
}

/// Whether a packet of this kind may stand anywhere and means nothing.
pub(crate) fn is_noise(tag: Tag) -> bool {
    matches!(tag, Tag::Marker | Tag::Padding | Tag::UnassignedNonCritical(_) | Tag::Experimental(_))
}

/// What a packet is, in words.
pub(crate) fn kind_of(tag: Tag) -> String {
    let words = match tag {
        Tag::PublicKeyEncryptedSessionKey | Tag::SymKeyEncryptedSessionKey => "a session key",
        Tag::Signature => "a signature",
        Tag::OnePassSignature => "the announcement of a signature",
        Tag::SecretKey | Tag::SecretSubkey => "a secret key",
        Tag::PublicKey | Tag::PublicSubkey => "a public key",
        Tag::CompressedData => "compressed data",
        Tag::SymEncryptedData | Tag::SymEncryptedProtectedData => "encrypted data",
        Tag::LiteralData => "data",
        Tag::UserId | Tag::UserAttribute => "a user id",
        other => return format!("a packet of type {}", u8::from(other)),
    };
    words.to_owned()
}

/// Makes sure that nothing follows but what means nothing.
pub(crate) fn expect_end(source: &mut impl BufRead, ledger: &Ledger) -> Result<()> {
    while let Some((tag, length)) = next_header(source)? {
        if !is_noise(tag) {
            return Err(Error::damaged(format!("{} follows where it should end", kind_of(tag))));
        }
        ledger.noise()?;
        skip(source, length)?;
    }
    Ok(())
}

/// What the packets of a message, or of a layer of it, are read from (4).
pub(crate) enum Source<'s> {
    /// The message as it comes.
    Input(Box<dyn BufRead + Send + 's>),
    /// What was deciphered or unpacked.
    Layer(FeedReader<'s>),
    /// One of these, while what is read of it is signed as it is.
    Signed(Box<Tee<Source<'s>, Taker>>),
}

/// Who is shown what is read.
pub(crate) type Taker = Box<dyn FnMut(&[u8]) + Send>;

impl<'s> Source<'s> {
    /// The same, with what is read shown.
    pub(crate) fn shown_to(self, take: Taker) -> Source<'s> {
        Source::Signed(Box::new(Tee { source: self, take }))
    }

    /// The same, with nothing shown any more.
    pub(crate) fn alone(self) -> Source<'s> {
        match self {
            Source::Signed(tap) => tap.source,
            other => other,
        }
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Source::Input(input) => input.fill_buf(),
            Source::Layer(layer) => layer.fill_buf(),
            Source::Signed(tap) => tap.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match self {
            Source::Input(input) => input.consume(bytes),
            Source::Layer(layer) => layer.consume(bytes),
            Source::Signed(tap) => tap.consume(bytes),
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Input(input) => input.read(out),
            Source::Layer(layer) => layer.read(out),
            Source::Signed(tap) => tap.read(out),
        }
    }
}

/// The blocks of a layer as something to read from.
pub(crate) struct FeedReader<'s> {
    feed: Feed<'s, Block>,
    buffers: Buffers,
    block: Block,
    at: usize,
    owed: Option<Owed>,
}

impl<'s> FeedReader<'s> {
    /// Reads from these blocks, one of which must be marked as the last: it comes when all of the
    /// layer, and of what the layer lies in, was proven.
    pub(crate) fn new(feed: Feed<'s, Block>, buffers: Buffers, ledger: &Ledger) -> FeedReader<'s> {
        let owed = Some(ledger.open());
        FeedReader { feed, buffers, block: Block::default(), at: 0, owed }
    }
}

impl BufRead for FeedReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.block.data.len() && !self.block.last {
            let next = match self.feed.next() {
                Some(next) => next?,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            };
            self.at = next.start;
            self.buffers.give(std::mem::replace(&mut self.block, next).data);
        }
        let rest = &self.block.data[self.at..];
        if rest.is_empty()
            && let Some(owed) = self.owed.take()
        {
            owed.settle();
        }
        Ok(rest)
    }

    fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.block.data.len());
    }
}

impl Read for FeedReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(out.len());
        out[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

/// Writes the body of a packet whose length is not known yet (3).
pub(crate) struct Pieces {
    /// The packet's kind, and bytes that come before the first block.
    lead: Vec<u8>,
    tag: Option<u8>,
}

/// The smallest first piece.
pub(crate) const FIRST_MIN: usize = 512;

impl Pieces {
    /// A packet of this kind whose body begins with `lead`.
    pub(crate) fn new(tag: u8, lead: Vec<u8>) -> Pieces {
        Pieces { lead, tag: Some(0xc0 | tag) }
    }

    /// Whether the packet has been begun, so that blocks may be of any length.
    pub(crate) fn has_begun(&self) -> bool {
        self.tag.is_none()
    }

    /// Hands on a block of the body, which is in parts, and headers where they belong. The first
    /// one, with the lead, needs [`FIRST_MIN`] bytes, unless it is the last.
    pub(crate) fn put(
        &mut self,
        data: &[&[u8]],
        last: bool,
        mut out: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Some(tag) = self.tag.take() {
            out(&[tag])?;
        }
        let lead = std::mem::take(&mut self.lead);
        let all = std::iter::once(&lead[..]).chain(data.iter().copied());
        let mut parts = Parts { all: all.collect() };
        let mut left = parts.all.iter().map(|part| part.len()).sum::<usize>();
        if !last {
            while left > 0 {
                let power = left.ilog2().min(30);
                out(&[224 | power as u8])?;
                parts.take(1 << power, &mut out)?;
                left -= 1 << power;
            }
            return Ok(());
        }
        let mut header = vec![255];
        let length = u32::try_from(left);
        let length = length.map_err(|_| Error::Unsupported("a block is too long".to_owned()))?;
        header.extend(length.to_be_bytes());
        out(&header)?;
        parts.take(left, &mut out)
    }
}

/// Slices, taken as one.
struct Parts<'a> {
    all: VecDeque<&'a [u8]>,
}

impl Parts<'_> {
    fn take(&mut self, bytes: usize, out: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut left = bytes;
        while let Some(part) = self.all.front_mut().filter(|_| left > 0) {
            let (now, later) = part.split_at(left.min(part.len()));
            *part = later;
            left -= now.len();
            if later.is_empty() {
                self.all.pop_front();
            }
            if !now.is_empty() {
                out(now)?;
            }
        }
        Ok(())
    }
}

/// A whole packet, written.
pub(crate) fn to_bytes(packet: &impl pgp::packet::PacketTrait) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    packet.to_writer_with_header(&mut bytes)?;
    Ok(bytes)
}

/// Writes everything, with the error that belongs to output.
pub(crate) fn write_all(out: &mut (impl Write + ?Sized), bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(Error::io("writing the output"))
}
