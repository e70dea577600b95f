//! Frames: what two ends of a channel say to each other.
//!
//! | bytes of a frame | |
//! |---|---|
//! | 4 | `HFC1` |
//! | 1, 3 | kind; zero |
//! | 4 | length of the body |
//!
//! | kind | body |
//! |---|---|
//! | 1 hello | version (2), role (1), terms, channel, queue manager |
//! | 2 welcome | terms, last batch (8), its sequence number (8), queue manager |
//! | 3 refused | code, text |
//! | 4 take over | last batch (8), sequence number (8) |
//! | 5 taken | |
//! | 6 message | sequence number (8), 0: outside of the batch; header and data |
//! | 7 end of batch | batch (8), sequence number of its last message (8) |
//! | 8 confirmed | batch (8) |
//! | 9 heartbeat, 10 alive | |
//! | 11 ping, 12 pong | bytes |
//! | 13 close | 1: the end that says so is stopped (1) |
//!
//! Terms are batch size (4), heartbeat interval in seconds (4), longest message (4), highest
//! sequence number (8), fast (1). Numbers are little endian; texts stand behind their length (2).
//!
//! 1. What was written is read as it was; whatever else comes is an error, never a frame.

use base::bytes::Reader;

/// Bytes in front of a body.
pub const HEADER_BYTES: usize = 12;
/// The version of the protocol.
pub const VERSION: u16 = 1;
/// Bytes of the longest body that is no message.
pub const CONTROL_BYTES_MAX: usize = 64 << 10;

const MAGIC: &[u8; 4] = b"HFC1";

/// What the end that connects wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// To send.
    Sends,
    /// To be sent to.
    Requests,
    /// Only to know whether the other end is there.
    Pings,
}

/// What both ends have to agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Messages of a batch.
    pub batch_size: u32,
    /// Seconds between signs of life.
    pub heartbeat_s: u32,
    /// Bytes of the longest message, with its header.
    pub length_max: u32,
    /// The highest sequence number.
    pub sequence_max: u64,
    /// Messages that are not kept travel outside of batches.
    pub fast: bool,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the table above says it
pub enum Frame {
    Hello { version: u16, role: Role, terms: Terms, channel: String, manager: String },
    Welcome { terms: Terms, last: u64, sequence: u64, manager: String },
    Refused { code: String, text: String },
    TakeOver { last: u64, sequence: u64 },
    Taken,
    Message { sequence: u64, data: Vec<u8> },
    EndOfBatch { batch: u64, sequence: u64 },
    Confirmed { batch: u64 },
    Heartbeat,
    Alive,
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close { stopped: bool },
}

/// What stands in front of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind.
    pub kind: u8,
    /// Bytes of the body.
    pub length: usize,
}

impl Header {
    /// Reads a header; `None` if it is none.
    #[must_use]
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let mut reader = Reader::new(bytes);
        if reader.take(4)? != MAGIC {
            return None;
        }
        let kind = reader.u8()?;
        if reader.take(3)? != [0; 3] {
            return None;
        }
        Some(Header { kind, length: usize::try_from(reader.u32()?).ok()? })
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    let bytes = &text.as_bytes()[..text.len().min(4_096)];
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn read_text(reader: &mut Reader<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(reader.string16()?).into_owned())
}

fn put_terms(out: &mut Vec<u8>, terms: &Terms) {
    for number in [terms.batch_size, terms.heartbeat_s, terms.length_max] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&terms.sequence_max.to_le_bytes());
    out.push(u8::from(terms.fast));
}

fn read_terms(reader: &mut Reader<'_>) -> Option<Terms> {
    Some(Terms {
        batch_size: reader.u32()?,
        heartbeat_s: reader.u32()?,
        length_max: reader.u32()?,
        sequence_max: reader.u64()?,
        fast: reader.u8()? != 0,
    })
}

impl Frame {
    fn kind(&self) -> u8 {
        match self {
            Frame::Hello { .. } => 1,
            Frame::Welcome { .. } => 2,
            Frame::Refused { .. } => 3,
            Frame::TakeOver { .. } => 4,
            Frame::Taken => 5,
            Frame::Message { .. } => 6,
            Frame::EndOfBatch { .. } => 7,
            Frame::Confirmed { .. } => 8,
            Frame::Heartbeat => 9,
            Frame::Alive => 10,
            Frame::Ping(_) => 11,
            Frame::Pong(_) => 12,
            Frame::Close { .. } => 13,
        }
    }

    /// Appends the frame.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[self.kind(), 0, 0, 0, 0, 0, 0, 0]);
        let at = out.len();
        self.write_body(out);
        let length = (out.len() - at) as u32;
        out[at - 4..at].copy_from_slice(&length.to_le_bytes());
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        let number = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
        match self {
            Frame::Hello { version, role, terms, channel, manager } => {
                out.extend_from_slice(&version.to_le_bytes());
                out.push(match role {
                    Role::Sends => 1,
                    Role::Requests => 2,
                    Role::Pings => 3,
                });
                put_terms(out, terms);
                text(out, channel);
                text(out, manager);
            }
            Frame::Welcome { terms, last, sequence, manager } => {
                put_terms(out, terms);
                number(out, *last);
                number(out, *sequence);
                text(out, manager);
            }
            Frame::Refused { code, text: why } => {
                text(out, code);
                text(out, why);
            }
            Frame::TakeOver { last, sequence } => {
                number(out, *last);
                number(out, *sequence);
            }
            Frame::Message { sequence, data } => {
                number(out, *sequence);
                out.extend_from_slice(data);
            }
            Frame::EndOfBatch { batch, sequence } => {
                number(out, *batch);
                number(out, *sequence);
            }
            Frame::Confirmed { batch } => number(out, *batch),
            Frame::Ping(bytes) | Frame::Pong(bytes) => out.extend_from_slice(bytes),
            Frame::Close { stopped } => out.push(u8::from(*stopped)),
            Frame::Taken | Frame::Heartbeat | Frame::Alive => {}
        }
    }

    /// Reads a body; `None` if it is none of that kind.
    #[must_use]
    pub fn read(kind: u8, body: &[u8]) -> Option<Frame> {
        let mut reader = Reader::new(body);
        let frame = match kind {
            1 => Frame::Hello {
                version: reader.u16()?,
                role: match reader.u8()? {
                    1 => Role::Sends,
                    2 => Role::Requests,
                    3 => Role::Pings,
                    _ => return None,
                },
                terms: read_terms(&mut reader)?,
                channel: read_text(&mut reader)?,
                manager: read_text(&mut reader)?,
            },
            2 => Frame::Welcome {
                terms: read_terms(&mut reader)?,
                last: reader.u64()?,
                sequence: reader.u64()?,
                manager: read_text(&mut reader)?,
            },
            3 => Frame::Refused { code: read_text(&mut reader)?, text: read_text(&mut reader)? },
            4 => Frame::TakeOver { last: reader.u64()?, sequence: reader.u64()? },
            5 => Frame::Taken,
            6 => {
                return Some(Frame::Message {
                    sequence: reader.u64()?,
                    data: reader.rest().to_vec(),
                });
            }
            7 => Frame::EndOfBatch { batch: reader.u64()?, sequence: reader.u64()? },
            8 => Frame::Confirmed { batch: reader.u64()? },
            9 => Frame::Heartbeat,
            10 => Frame::Alive,
            11 => return Some(Frame::Ping(body.to_vec())),
            12 => return Some(Frame::Pong(body.to_vec())),
            13 => Frame::Close { stopped: reader.u8()? != 0 },
            _ => return None,
        };
        reader.is_empty().then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_what_is_cut_is_none() {
        let terms = Terms {
            batch_size: 50,
            heartbeat_s: 300,
            length_max: 4 << 20,
            sequence_max: 999,
            fast: true,
        };
        let (channel, manager) = ("TO.QM2".to_owned(), "QM1".to_owned());
        let all = [
            Frame::Hello { version: 1, role: Role::Sends, terms, channel, manager },
            Frame::Welcome { terms, last: 7, sequence: 8, manager: "QM2".into() },
            Frame::Refused { code: "HFQC003".into(), text: "in use".into() },
            Frame::TakeOver { last: 1, sequence: 2 },
            Frame::Taken,
            Frame::Message { sequence: 3, data: vec![1, 2, 3] },
            Frame::EndOfBatch { batch: 4, sequence: 5 },
            Frame::Confirmed { batch: 6 },
            Frame::Heartbeat,
            Frame::Alive,
            Frame::Ping(vec![9]),
            Frame::Pong(vec![9]),
            Frame::Close { stopped: true },
        ];
        for frame in all {
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            let header = Header::read(bytes[..HEADER_BYTES].try_into().unwrap()).unwrap();
            let body = &bytes[HEADER_BYTES..];
            assert_eq!(header.length, body.len());
            assert_eq!(Frame::read(header.kind, body), Some(frame.clone()));
            let free = matches!(frame, Frame::Message { .. } | Frame::Ping(_) | Frame::Pong(_));
            for cut in (0..body.len()).filter(|_| !free) {
                assert_eq!(Frame::read(header.kind, &body[..cut]), None, "{frame:?}");
            }
        }
        assert_eq!(Header::read(b"HTTP/1.1 200"), None);
        assert_eq!(Frame::read(99, &[]), None);
    }
}
