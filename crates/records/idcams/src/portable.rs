//! Portable copies: what EXPORT and BACKUP write, and IMPORT and RESTORE read.
//!
//! | bytes | of the file |
//! |---|---|
//! | 8 | `HFVSAM01` |
//! | frames | to the end; nothing follows an `E` |
//!
//! | bytes | of a frame; numbers are big-endian |
//! |---|---|
//! | 1 | kind |
//! | 4 | length of the data |
//! | n | data |
//!
//! | kind | data |
//! |---|---|
//! | `H` | when it was made: microseconds since 1970, UTC (8) |
//! | `C` | a cluster: the DEFINE statement that makes it again, as text |
//! | `M` | the cluster's record description, as text |
//! | `R` | a record |
//! | `N` | a record with its relative record number (4) in front |
//! | `Z` | the end of the records: how many (8), CRC-32 of all frames since `C` (4) |
//! | `A` | an alternate index or a path of the cluster: its DEFINE statement |
//! | `E` | the end: how many clusters (4), CRC-32 of the `Z` and `A` frames (4) |
//!
//! A `C` is followed by at most one `M`, records, one `Z`, and any number of `A`.
//!
//! Invariants:
//! 1. A file without its `E`, with a frame that was changed, or with bytes behind its end, is an
//!    error before its object counts as read.
//! 2. A frame has at most [`FRAME_BYTES_MAX`] bytes, whatever a file says.

use std::io::{self, BufReader, Read, Write};

use crate::form::RECORD_BYTES_MAX;

const MAGIC: &[u8; 8] = b"HFVSAM01";
/// Bytes of the longest frame.
const FRAME_BYTES_MAX: usize = RECORD_BYTES_MAX + 4;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A cluster begins.
    Cluster(String),
    /// Its record description.
    Map(String),
    /// A record, perhaps with its number; it stands in the caller's buffer.
    Record(Option<u32>),
    /// Its records end; so many there were.
    End(u64),
    /// What stands over it.
    Above(String),
}

/// Writes a copy.
pub(crate) struct Writer<W: Write> {
    out: W,
    /// Of the cluster, and of the ends of all.
    crc: Crc,
    outer: Crc,
    records: u64,
    clusters: u32,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(mut out: W, now_us: u64) -> io::Result<Writer<W>> {
        out.write_all(MAGIC)?;
        let mut writer =
            Writer { out, crc: Crc::new(), outer: Crc::new(), records: 0, clusters: 0 };
        writer.frame(b'H', &[&now_us.to_be_bytes()])?;
        Ok(writer)
    }

    fn frame(&mut self, kind: u8, parts: &[&[u8]]) -> io::Result<()> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if len > FRAME_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a record is too long"));
        }
        let head = head_of(kind, len);
        self.out.write_all(&head)?;
        let outer = matches!(kind, b'Z' | b'A');
        let crc = if outer { &mut self.outer } else { &mut self.crc };
        crc.add(&head);
        for part in parts {
            crc.add(part);
            self.out.write_all(part)?;
        }
        Ok(())
    }

    pub(crate) fn cluster(&mut self, statement: &str, map: Option<&str>) -> io::Result<()> {
        (self.crc, self.records) = (Crc::new(), 0);
        self.frame(b'C', &[statement.as_bytes()])?;
        map.map_or(Ok(()), |map| self.frame(b'M', &[map.as_bytes()]))
    }

    pub(crate) fn record(&mut self, number: Option<u32>, record: &[u8]) -> io::Result<()> {
        self.records += 1;
        match number {
            Some(number) => self.frame(b'N', &[&number.to_be_bytes(), record]),
            None => self.frame(b'R', &[record]),
        }
    }

    /// Ends the records of a cluster; answers how many there were.
    pub(crate) fn end_records(&mut self) -> io::Result<u64> {
        self.clusters += 1;
        let (records, crc) = (self.records, self.crc.value());
        self.frame(b'Z', &[&records.to_be_bytes(), &crc.to_be_bytes()])?;
        Ok(records)
    }

    pub(crate) fn above(&mut self, statement: &str) -> io::Result<()> {
        self.frame(b'A', &[statement.as_bytes()])
    }

    /// Ends the copy.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let (clusters, crc) = (self.clusters, self.outer.value());
        self.frame(b'E', &[&clusters.to_be_bytes(), &crc.to_be_bytes()])?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn head_of(kind: u8, len: usize) -> [u8; 5] {
    let [a, b, c, d] = u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes();
    [kind, a, b, c, d]
}

/// Reads a copy.
pub(crate) struct Reader<R: Read> {
    input: BufReader<R>,
    pub(crate) made_us: u64,
    crc: Crc,
    outer: Crc,
    records: u64,
    clusters: u32,
    /// Whether the records of a cluster are being read.
    within: bool,
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is no whole portable copy: {what}"))
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: R) -> io::Result<Reader<R>> {
        let mut reader = Reader {
            input: BufReader::with_capacity(1 << 20, input),
            made_us: 0,
            crc: Crc::new(),
            outer: Crc::new(),
            records: 0,
            clusters: 0,
            within: false,
        };
        let mut magic = [0; 8];
        let read = reader.input.read_exact(&mut magic);
        if read.is_err() || magic != *MAGIC {
            return Err(bad("it does not begin with HFVSAM01"));
        }
        let mut data = Vec::new();
        match (reader.raw(&mut data)?, <[u8; 8]>::try_from(data.as_slice())) {
            (b'H', Ok(made)) => reader.made_us = u64::from_be_bytes(made),
            _ => return Err(bad("it has no head")),
        }
        Ok(reader)
    }

    /// A frame's kind; its data comes into `data`.
    fn raw(&mut self, data: &mut Vec<u8>) -> io::Result<u8> {
        let mut head = [0; 5];
        self.input.read_exact(&mut head).map_err(|_| bad("it ends too early"))?;
        let [kind, a, b, c, d] = head;
        let len = u32::from_be_bytes([a, b, c, d]) as usize;
        if len > FRAME_BYTES_MAX {
            return Err(bad("a frame is too long"));
        }
        data.clear();
        let got = (&mut self.input).take(len as u64).read_to_end(data)?;
        if got != len {
            return Err(bad("it ends too early"));
        }
        if kind == b'C' {
            self.crc = Crc::new();
        }
        let outer = matches!(kind, b'Z' | b'A');
        if !outer && kind != b'E' {
            self.crc.add(&head);
            self.crc.add(data);
        }
        if outer {
            self.outer.add(&head);
            self.outer.add(data);
        }
        Ok(kind)
    }

    /// The next frame; `None` behind the last. A record comes into `data`.
    pub(crate) fn next_frame(&mut self, data: &mut Vec<u8>) -> io::Result<Option<Frame>> {
        let outer = self.outer.value();
        let kind = self.raw(data)?;
        let text = |data: &[u8]| {
            String::from_utf8(data.to_vec()).map_err(|_| bad("a statement is no text"))
        };
        let frame = match (kind, self.within) {
            (b'C', false) => {
                (self.within, self.records) = (true, 0);
                Frame::Cluster(text(data)?)
            }
            (b'M', true) if self.records == 0 => Frame::Map(text(data)?),
            (b'R', true) => {
                self.records += 1;
                Frame::Record(None)
            }
            (b'N', true) => {
                self.records += 1;
                let Some(number) = data.first_chunk::<4>().copied() else {
                    return Err(bad("a record has no number"));
                };
                data.drain(..4);
                Frame::Record(Some(u32::from_be_bytes(number)))
            }
            (b'Z', true) => {
                self.end_records(data)?;
                Frame::End(self.records)
            }
            (b'A', false) if self.clusters > 0 => Frame::Above(text(data)?),
            (b'E', false) => {
                let mut end = self.clusters.to_be_bytes().to_vec();
                end.extend_from_slice(&outer.to_be_bytes());
                if *data != end {
                    return Err(bad("its end does not fit"));
                }
                return self.nothing_follows().map(|()| None);
            }
            _ => return Err(bad("a frame stands where it cannot")),
        };
        Ok(Some(frame))
    }

    fn nothing_follows(&mut self) -> io::Result<()> {
        match (&mut self.input).take(1).read_to_end(&mut Vec::new())? {
            0 => Ok(()),
            _ => Err(bad("something follows its end")),
        }
    }

    fn end_records(&mut self, data: &[u8]) -> io::Result<()> {
        let mut end = self.records.to_be_bytes().to_vec();
        end.extend_from_slice(&self.crc.value().to_be_bytes());
        if data != end {
            return Err(bad("records are missing or changed"));
        }
        self.within = false;
        self.clusters = self.clusters.saturating_add(1);
        Ok(())
    }
}

/// Reads a whole copy, and answers how many clusters and records it has.
///
/// # Errors
/// If it is none, is not whole, or was changed.
pub fn scan(input: impl Read) -> io::Result<(u64, u64)> {
    let mut reader = Reader::new(input)?;
    let (mut clusters, mut records, mut data) = (0, 0, Vec::new());
    while let Some(frame) = reader.next_frame(&mut data)? {
        match frame {
            Frame::Cluster(_) => clusters += 1,
            Frame::Record(_) => records += 1,
            _ => {}
        }
    }
    Ok((clusters, records))
}

/// CRC-32 as IEEE 802.3 has it.
#[derive(Clone, Copy)]
struct Crc(u32);

static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
}

impl Crc {
    fn new() -> Crc {
        Crc(u32::MAX)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = (self.0 ^ u32::from(*byte)) & 0xFF;
            self.0 = self.0 >> 8 ^ TABLE[at as usize];
        }
    }

    fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn copy() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), 7).unwrap();
        writer.cluster(" DEFINE CLUSTER (NAME(A))\n", Some("01 R PIC X.")).unwrap();
        writer.record(None, b"one").unwrap();
        writer.record(None, b"").unwrap();
        assert_eq!(writer.end_records().unwrap(), 2);
        writer.above(" DEFINE PATH (NAME(P) PATHENTRY(A))\n").unwrap();
        writer.cluster(" DEFINE CLUSTER (NAME(B) NUMBERED)\n", None).unwrap();
        writer.record(Some(5), b"five").unwrap();
        writer.end_records().unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<(Frame, Vec<u8>)>> {
        let mut reader = Reader::new(bytes)?;
        let (mut all, mut data) = (Vec::new(), Vec::new());
        while let Some(frame) = reader.next_frame(&mut data)? {
            let of_record = matches!(frame, Frame::Record(_));
            all.push((frame, if of_record { data.clone() } else { Vec::new() }));
        }
        Ok(all)
    }

    #[test]
    fn a_copy_comes_back() {
        let mut crc = Crc::new();
        crc.add(b"123456789");
        assert_eq!(crc.value(), 0xCBF4_3926);
        let all = read(&copy()).unwrap();
        assert_eq!(all.len(), 9);
        assert_eq!(all[2], (Frame::Record(None), b"one".to_vec()));
        assert_eq!(all[4].0, Frame::End(2));
        assert_eq!(all[7], (Frame::Record(Some(5)), b"five".to_vec()));
        assert_eq!(scan(&copy()[..]).unwrap(), (2, 3));
    }

    #[test]
    fn a_copy_that_is_cut_or_changed_is_refused() {
        let copy = copy();
        for end in 0..copy.len() {
            assert!(read(&copy[..end]).is_err(), "cut at {end}");
        }
        // The time when it was made may be another; everything else is proven.
        for at in (0..8).chain(21..copy.len()) {
            let mut changed = copy.clone();
            changed[at] ^= 0x20;
            assert!(read(&changed).is_err(), "changed at {at}");
        }
        let followed = [&copy[..], b"\n"].concat();
        let error = read(&followed).unwrap_err().to_string();
        assert!(error.contains("something follows its end"), "{error}");
        assert!(scan(&followed[..]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_copy_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in 0_usize..150,
        ) {
            let _ = scan(&bytes[..]);
            let mut spliced = copy();
            spliced.splice(at.min(spliced.len()).., bytes);
            let _ = scan(&spliced[..]);
        }
    }
}
