//! Frames: how calls and their answers go over a connection.
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0-3 | length | of everything behind this field |
//! | 4-7 | fields | how many bytes of fields there are; what is behind them is message data |
//! | 8 | kind | of a request: the call; of an answer: the same number |
//! | 9 | version | of this format: 1 |
//! | 10-11 | zero | |
//! | 12- | fields | see `codec`; which a call has: see `request` and `reply` |
//! | then | data | of the message |
//!
//! Numbers are little endian.
//!
//! Invariants:
//! 1. A frame is never longer than [`FRAME_BYTES_MAX`], its fields never more than
//!    [`FIELDS_BYTES_MAX`].
//! 2. Memory for a frame is used as its bytes come in. Because a header claims them, no more is set
//!    aside than `SET_ASIDE_BYTES`.
//! 3. Message data is not copied into a frame to be sent, and is read to where it is wanted.

use std::io::{self, IoSlice, Read, Write};

/// The version of the format.
pub const VERSION: u8 = 1;
/// The most message data that goes in one frame.
pub const DATA_BYTES_MAX: usize = 100 * 1024 * 1024;
/// The most fields of a frame.
pub const FIELDS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest frame.
pub const FRAME_BYTES_MAX: usize = HEADER_BYTES + FIELDS_BYTES_MAX + DATA_BYTES_MAX;
/// What stands in front of the fields.
pub const HEADER_BYTES: usize = 12;

/// How much is read at once, and how much memory is taken ahead of what has come.
const PIECE_BYTES: usize = 64 * 1024;
/// How much memory is set aside for data before it has come; none of it is touched before.
const SET_ASIDE_BYTES: usize = 4 * 1024 * 1024;

/// The beginning of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Which call it is of.
    pub kind: u8,
    /// Bytes of fields.
    pub fields: usize,
    /// Bytes of message data.
    pub data: usize,
}

impl Header {
    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> [u8; HEADER_BYTES] {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&number(HEADER_BYTES - 4 + self.fields + self.data));
        bytes[4..8].copy_from_slice(&number(self.fields));
        bytes[8] = self.kind;
        bytes[9] = VERSION;
        bytes
    }

    /// What the bytes say; `None` if that is no header of this version.
    #[must_use]
    pub fn read(bytes: [u8; HEADER_BYTES]) -> Option<Header> {
        let number = |at: usize| {
            let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            usize::try_from(u32::from_le_bytes(four)).ok()
        };
        let (length, fields) = (number(0)?, number(4)?);
        let data = length.checked_sub(HEADER_BYTES - 4)?.checked_sub(fields)?;
        let holds = bytes[9] == VERSION
            && bytes[10..] == [0, 0]
            && fields <= FIELDS_BYTES_MAX
            && data <= DATA_BYTES_MAX;
        holds.then_some(Header { kind: bytes[8], fields, data })
    }
}

/// Sends a frame: header and fields in one write with the data.
///
/// # Errors
/// What the connection says, or that the frame is longer than any may be.
pub fn send(to: &mut impl Write, kind: u8, fields: &[u8], data: &[u8]) -> io::Result<()> {
    if fields.len() > FIELDS_BYTES_MAX || data.len() > DATA_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a frame would be too long"));
    }
    let header = Header { kind, fields: fields.len(), data: data.len() }.bytes();
    let total = header.len() + fields.len() + data.len();
    let mut done = 0;
    while done < total {
        let mut parts = [IoSlice::new(&[]); 3];
        let mut skip = done;
        for (part, whole) in parts.iter_mut().zip([&header[..], fields, data]) {
            let from = skip.min(whole.len());
            *part = IoSlice::new(whole.get(from..).unwrap_or_default());
            skip -= from;
        }
        match to.write_vectored(&parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => done += sent,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    to.flush()
}

/// The side of a connection that frames come in at.
#[derive(Debug)]
pub struct Incoming<R> {
    from: R,
    ahead: Vec<u8>,
    at: usize,
}

impl<R: Read> Incoming<R> {
    /// Of a connection.
    #[must_use]
    pub fn new(from: R) -> Incoming<R> {
        Incoming { from, ahead: Vec::new(), at: 0 }
    }

    /// What it reads from.
    #[must_use]
    pub fn get_ref(&self) -> &R {
        &self.from
    }

    /// Whether bytes have come that were not read.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.at < self.ahead.len()
    }

    /// The next frame's header and fields; `None` if the other side has ended between frames.
    ///
    /// # Errors
    /// What the connection says; `InvalidData` if what comes is no frame.
    pub fn begin(&mut self) -> io::Result<Option<(Header, Vec<u8>)>> {
        self.begin_within(FIELDS_BYTES_MAX, DATA_BYTES_MAX)
    }

    /// The same, of a frame that may have so many bytes of fields and of data at most: of one that
    /// claims more, nothing but its header is read.
    ///
    /// # Errors
    /// As for [`begin`](Incoming::begin).
    pub fn begin_within(
        &mut self,
        fields_max: usize,
        data_max: usize,
    ) -> io::Result<Option<(Header, Vec<u8>)>> {
        self.begin_asking(|_, header| {
            let fits = header.fields <= fields_max && header.data <= data_max;
            if fits { Ok(()) } else { Err(invalid()) }
        })
    }

    /// The next frame's header and fields; `asks` is asked before more than the header is read.
    ///
    /// # Errors
    /// As for [`begin`](Incoming::begin), and what `asks` says.
    pub fn begin_asking(
        &mut self,
        asks: impl FnOnce(&R, &Header) -> io::Result<()>,
    ) -> io::Result<Option<(Header, Vec<u8>)>> {
        if !self.has_more() && self.refill()? == 0 {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header)?;
        let header = Header::read(header).ok_or_else(invalid)?;
        asks(&self.from, &header)?;
        let mut fields = Vec::new();
        self.append(header.fields, &mut fields)?;
        Ok(Some((header, fields)))
    }

    /// The data of the frame that was begun, behind what `into` has.
    ///
    /// # Errors
    /// What the connection says.
    pub fn append(&mut self, len: usize, into: &mut Vec<u8>) -> io::Result<()> {
        into.reserve(len.min(SET_ASIDE_BYTES));
        let mut left = len;
        while left > 0 {
            let ready = self.ahead.get(self.at..).unwrap_or_default();
            let ready = ready.get(..left).unwrap_or(ready);
            if !ready.is_empty() {
                into.extend_from_slice(ready);
                self.at += ready.len();
                left -= ready.len();
            } else if left >= PIECE_BYTES {
                // Into memory that need not be cleared first.
                let got = self.from.by_ref().take(left as u64).read_to_end(into)?;
                if got < left {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                left = 0;
            } else if self.refill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// The data of the frame that was begun: as much as there is room for; the rest is dropped.
    ///
    /// # Errors
    /// What the connection says.
    pub fn fill_and_drop(&mut self, len: usize, into: &mut [u8]) -> io::Result<()> {
        let kept = len.min(into.len());
        self.fill(into.get_mut(..kept).unwrap_or_default())?;
        let mut left = len - kept;
        let mut waste = vec![0; left.min(PIECE_BYTES)];
        while left > 0 {
            let piece = left.min(waste.len());
            self.fill(waste.get_mut(..piece).unwrap_or_default())?;
            left -= piece;
        }
        Ok(())
    }

    fn fill(&mut self, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let rest = into.get_mut(done..).unwrap_or_default();
            let ready = self.ahead.get(self.at..).unwrap_or_default();
            if !ready.is_empty() {
                let step = ready.len().min(rest.len());
                if let (Some(to), Some(from)) = (rest.get_mut(..step), ready.get(..step)) {
                    to.copy_from_slice(from);
                }
                self.at += step;
                done += step;
            } else if rest.len() >= PIECE_BYTES {
                match self.from.read(rest) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(got) => done += got,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            } else if self.refill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    fn refill(&mut self) -> io::Result<usize> {
        self.ahead.resize(PIECE_BYTES, 0);
        self.at = 0;
        loop {
            match self.from.read(&mut self.ahead) {
                Ok(got) => {
                    self.ahead.truncate(got);
                    return Ok(got);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ahead.clear();
                    return Err(error);
                }
            }
        }
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what came is no frame of this format")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_out_as_it_went_in_however_it_is_cut() {
        let data: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut sent = Vec::new();
        send(&mut sent, 7, b"fields", &data).unwrap();
        send(&mut sent, 8, b"", b"").unwrap();
        struct Dribble<'a>(&'a [u8], usize);
        impl Read for Dribble<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let n = self.1.min(self.0.len()).min(into.len());
                into[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        for step in [1, 11, 13, 4096, 1 << 20] {
            let mut incoming = Incoming::new(Dribble(&sent, step));
            let (header, fields) = incoming.begin().unwrap().unwrap();
            assert_eq!((header.kind, &fields[..]), (7, &b"fields"[..]));
            let mut got = Vec::new();
            incoming.append(header.data, &mut got).unwrap();
            assert!(got == data);
            assert_eq!(incoming.begin().unwrap().unwrap().0.kind, 8);
            assert!(incoming.begin().unwrap().is_none());
        }
    }

    #[test]
    fn nothing_of_a_frame_is_read_that_there_is_no_room_for() {
        let mut sent = Vec::new();
        send(&mut sent, 7, b"fields", &[]).unwrap();
        let full = |_: &&[u8], header: &Header| match header.fields {
            6 => Err(io::Error::from(io::ErrorKind::TimedOut)),
            _ => Ok(()),
        };
        let refused = Incoming::new(&sent[..]).begin_asking(full).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        assert!(Incoming::new(&sent[..]).begin_within(5, 0).is_err());
        assert!(Incoming::new(&sent[..]).begin_within(6, 0).unwrap().is_some());
    }

    #[test]
    fn a_header_that_claims_too_much_is_refused() {
        for length in [0_u32, 3, 8, u32::MAX, 200 << 20] {
            let mut bytes = Header { kind: 1, fields: 9, data: 0 }.bytes();
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            assert_eq!(Header::read(bytes), None, "{length}");
        }
    }
}
