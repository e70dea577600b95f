//! What the working process tells the watching one, through a pipe.
//!
//! A frame is one byte of kind, four bytes of length (little-endian), and so many bytes:
//!
//! | kind | body |
//! |---|---|
//! | `R` | ready: JSON of [`Ready`] |
//! | `A` | acknowledged: thread 2, number 8, repeated |
//! | `S` | so far: JSON of [`Progress`] |
//! | `F` | finished in order: JSON of [`Progress`] |
//! | `E` | an error: text, a line feed, what to do |
//!
//! A process that is killed may leave half a frame: it counts as none.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// The working process has opened the system.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// How long opening took, with everything.
    pub(crate) open_ms: f64,
}

/// What the working process has done since it was ready.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Transfers acknowledged.
    pub(crate) transfers: u64,
    /// Transfers refused because the payer had too little.
    pub(crate) refused: u64,
    /// Time in which that was done.
    pub(crate) seconds: f64,
    /// CPU time in which that was done.
    pub(crate) cpu_us: u64,
    /// Response times: from the first call to the acknowledgement.
    pub(crate) response_us_p50: u64,
    /// And the tail.
    pub(crate) response_us_p99: u64,
    /// Bytes written to each copy of the log.
    pub(crate) log_bytes: u64,
    /// Log groups written.
    pub(crate) log_groups: u64,
    /// The serial share.
    pub(crate) serial_share: f64,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    Ready(String),
    Acknowledged(Vec<(u16, u64)>),
    SoFar(String),
    Finished(String),
    Error(String),
}

/// No frame is longer.
const BYTES_MAX: u32 = 16 << 20;
const ACKNOWLEDGED_BYTES: usize = 10;

impl Frame {
    /// Writes it whole.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (kind, body) = match self {
            Frame::Ready(text) => (b'R', text.clone().into_bytes()),
            Frame::SoFar(text) => (b'S', text.clone().into_bytes()),
            Frame::Finished(text) => (b'F', text.clone().into_bytes()),
            Frame::Error(text) => (b'E', text.clone().into_bytes()),
            Frame::Acknowledged(numbers) => {
                let mut body = Vec::with_capacity(numbers.len() * ACKNOWLEDGED_BYTES);
                for (thread, sequence) in numbers {
                    body.extend_from_slice(&thread.to_le_bytes());
                    body.extend_from_slice(&sequence.to_le_bytes());
                }
                (b'A', body)
            }
        };
        let mut frame = Vec::with_capacity(5 + body.len());
        frame.push(kind);
        frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
        frame.extend_from_slice(&body);
        out.write_all(&frame)?;
        out.flush()
    }

    /// Reads the next one; `None` at the end, or behind the last whole one.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Frame>> {
        let mut head = [0; 5];
        if !filled(from, &mut head)? {
            return Ok(None);
        }
        let [kind, length @ ..] = head;
        let length = u32::from_le_bytes(length);
        let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        if length > BYTES_MAX {
            return Err(bad("a frame is too long"));
        }
        let mut body = vec![0; length as usize];
        if !filled(from, &mut body)? {
            return Ok(None);
        }
        if kind == b'A' {
            let number = |bytes: &[u8]| {
                let thread = base::bytes::get_u16(bytes, 0);
                (thread, base::bytes::get_u64(bytes, 2))
            };
            let numbers = body.chunks_exact(ACKNOWLEDGED_BYTES).map(number).collect();
            return Ok(Some(Frame::Acknowledged(numbers)));
        }
        let text = String::from_utf8(body).map_err(|_| bad("a frame is no text"))?;
        Ok(Some(match kind {
            b'R' => Frame::Ready(text),
            b'S' => Frame::SoFar(text),
            b'F' => Frame::Finished(text),
            b'E' => Frame::Error(text),
            _ => return Err(bad("a frame is of no known kind")),
        }))
    }
}

/// Fills the buffer; `false` if the stream ends before.
fn filled(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_a_cut_one_counts_as_none() {
        let frames = [
            Frame::Ready("{}".into()),
            Frame::Acknowledged(vec![(1, 2), (u16::MAX, u64::MAX)]),
            Frame::SoFar(String::new()),
            Frame::Error("no\nwhy".into()),
        ];
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut bytes).unwrap());
        let mut stream = &bytes[..];
        for frame in &frames {
            assert_eq!(Frame::read(&mut stream).unwrap().as_ref(), Some(frame));
        }
        assert_eq!(Frame::read(&mut stream).unwrap(), None);
        let whole = bytes.len();
        for cut in whole - 11..whole {
            let mut stream = &bytes[..cut];
            let mut count = 0;
            while Frame::read(&mut stream).unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, 3, "{cut}");
        }
        assert!(Frame::read(&mut &[b'A', 0xff, 0xff, 0xff, 0xff][..]).is_err());
    }
}
