//! What a message on a bridge queue asks for: its header, its transaction, its segments.
//!
//! | format | the data |
//! |---|---|
//! | `MQIMS` | a header ([`iih`](crate::iih)), then segments |
//! | `MQIMSVS`, `MQSTR`, none | segments |
//!
//! Each segment is LL (two bytes, as the message's encoding says, LL and ZZ included), ZZ, data.
//! The first begins with the transaction's code, up to eight characters that end with a blank or
//! with the segment.
//!
//! Invariants:
//! 1. Bytes of whatever kind are a request, or have a reason why they are none.

use otma::{Name, SEGMENT_HEAD, Segments};
use queue_manager::{MessageDescriptor, Reason};

use crate::feedback::{
    BUFFER_OVERFLOW, DATA_LENGTH_NEGATIVE, DATA_LENGTH_TOO_BIG, DATA_LENGTH_ZERO, IIH_ERROR,
    IMS_REJECTED, LENGTH_OFF_BY_ONE,
};
use crate::iih::{ByteOrder, IIH_BYTES, IMS, IMS_VAR_STRING, Iih, Reading};

/// Bytes of all segments of an input, at most.
pub const INPUT_BYTES_MAX: usize = 15 << 20;

const STRING: [u8; 8] = *b"MQSTR   ";
const NO_FORMAT: [u8; 8] = [b' '; 8];

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its header, if it has one.
    pub header: Option<Iih>,
    /// How its bytes are read.
    pub reading: Reading,
    /// The transaction's code.
    pub transaction: Name,
    /// The segments, as programs get them.
    pub segments: Segments,
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// The feedback of one that is none.
    pub fn read(of: &MessageDescriptor, data: &[u8]) -> Result<Request, Reason> {
        let reading = Reading::of(of.encoding, of.ccsid).ok_or(Reason::SOURCE_CCSID_ERROR)?;
        let (header, rest) = match of.format {
            IMS => {
                let header = Iih::read(data, reading).ok_or(IIH_ERROR)?;
                let known = [IMS_VAR_STRING, STRING, NO_FORMAT].contains(&header.format);
                if !known {
                    return Err(IIH_ERROR);
                }
                (Some(header), &data[IIH_BYTES..])
            }
            IMS_VAR_STRING | STRING | NO_FORMAT => (None, data),
            _ => return Err(Reason::FORMAT_ERROR),
        };
        let segments = segments(rest, reading.order)?;
        let transaction = transaction(&segments, reading).ok_or(IMS_REJECTED)?;
        Ok(Request { header, reading, transaction, segments })
    }

    /// The first segment as text, for a command.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let first = self.segments.data().next()?;
        let text: String = first.iter().map(|byte| char::from(self.reading.ascii(*byte))).collect();
        text.starts_with('/').then(|| text.trim_end().to_owned())
    }
}

fn segments(data: &[u8], order: ByteOrder) -> Result<Segments, Reason> {
    if data.is_empty() {
        return Err(DATA_LENGTH_ZERO);
    }
    if data.len() > INPUT_BYTES_MAX {
        return Err(BUFFER_OVERFLOW);
    }
    let mut segments = Segments::new();
    let mut rest = data;
    while !rest.is_empty() {
        if rest.len() == 1 {
            return Err(LENGTH_OFF_BY_ONE);
        }
        let length = order.short([rest[0], rest[1]]);
        if length < 0 {
            return Err(DATA_LENGTH_NEGATIVE);
        }
        let length = usize::from(length.unsigned_abs());
        if length < SEGMENT_HEAD {
            return Err(DATA_LENGTH_ZERO);
        }
        let Some((segment, behind)) = rest.split_at_checked(length) else {
            let short = length == rest.len() + 1;
            return Err(if short { LENGTH_OFF_BY_ONE } else { DATA_LENGTH_TOO_BIG });
        };
        let (zz, data) = ([segment[2], segment[3]], &segment[SEGMENT_HEAD..]);
        segments.push(zz, data).map_err(|_| DATA_LENGTH_TOO_BIG)?;
        rest = behind;
    }
    Ok(segments)
}

fn transaction(segments: &Segments, reading: Reading) -> Option<Name> {
    let first = segments.data().next()?;
    let code: Vec<u8> = first
        .iter()
        .take(8)
        .map(|byte| reading.ascii(*byte))
        .take_while(|byte| !matches!(byte, b' ' | 0))
        .collect();
    let name = Name::new(std::str::from_utf8(&code).ok()?)?;
    (!name.is_blank()).then_some(name)
}

/// Segments as a message has them.
#[must_use]
pub fn write_segments(segments: &Segments, order: ByteOrder) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(segments.as_bytes().len());
    for segment in segments.iter() {
        let length = i16::try_from(segment.len()).unwrap_or(i16::MAX);
        bytes.extend_from_slice(&order.of_short(length));
        bytes.extend_from_slice(&segment[2..]);
    }
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that fails says where
mod tests {
    use super::*;

    fn read(format: [u8; 8], data: &[u8]) -> Result<Request, Reason> {
        let descriptor =
            MessageDescriptor { format, encoding: 785, ccsid: 1_208, ..Default::default() };
        Request::read(&descriptor, data)
    }

    #[test]
    fn segments_are_read_in_the_messages_own_order_of_bytes() {
        let data = b"\0\x0b\0\0PART 12\0\x06\x01\x02of";
        let request = read(IMS_VAR_STRING, data).unwrap();
        assert_eq!(request.transaction, Name(*b"PART    "));
        let all: Vec<&[u8]> = request.segments.data().collect();
        assert_eq!(all, [&b"PART 12"[..], b"of"]);
        assert_eq!(write_segments(&request.segments, ByteOrder::Big), data);
        let little = write_segments(&request.segments, ByteOrder::Little);
        assert_eq!(little, b"\x0b\0\0\0PART 12\x06\0\x01\x02of");
        let native = MessageDescriptor { ccsid: 1_208, ..Default::default() };
        assert_eq!(Request::read(&native, &little).unwrap().segments, request.segments);
    }

    #[test]
    fn a_transaction_is_named_in_the_messages_code_page() {
        let descriptor = MessageDescriptor {
            format: IMS_VAR_STRING,
            encoding: 785,
            ccsid: 37,
            ..Default::default()
        };
        let request = Request::read(&descriptor, b"\0\x09\0\0\xd7\xc1\x5b\x40\xf1").unwrap();
        assert_eq!(request.transaction, Name(*b"PA$     "));
        assert_eq!(request.reading.encoding(), otma::Encoding::Ebcdic);
    }

    #[test]
    fn wrong_lengths_have_their_feedback() {
        for (data, feedback) in [
            (&b""[..], 291),
            (b"\0\0\0\0PART", 291),
            (b"\0\x03\0PART", 291),
            (b"\xff\xf0\0\0PART", 292),
            (b"\0\x20\0\0PART", 293),
            (b"\0\x09\0\0PART", 295),
            (b"\0\x08\0\0PARTX", 295),
            (b"\0\x08\0\0    ", 326),
            (b"\0\x04\0\0", 326),
            (b"\0\x08\0\0\xff\xff\xff\xff", 326),
        ] {
            assert_eq!(read(IMS_VAR_STRING, data), Err(Reason(feedback)), "{data:?}");
        }
        assert_eq!(read(IMS, b"\0\x08\0\0PART"), Err(IIH_ERROR));
        assert_eq!(read(*b"MQDEAD  ", b"\0\x08\0\0PART"), Err(Reason::FORMAT_ERROR));
    }
}
