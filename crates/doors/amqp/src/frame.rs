//! Frames: a length, where the body begins, a type, a channel, the body.
//!
//! 1. A frame that is longer than was agreed is refused before it is read.
//! 2. A body is one performative; what stands behind it is the payload.

use crate::value::{Reader, Value, write};

/// The longest frame that is taken.
pub(crate) const FRAME_BYTES_MAX: u32 = 64 * 1024;
/// A frame's type: performatives.
pub(crate) const AMQP: u8 = 0;
/// A frame's type: authentication.
pub(crate) const SASL: u8 = 1;
/// What begins a conversation, and its authentication.
pub(crate) const AMQP_HEADER: [u8; 8] = *b"AMQP\x00\x01\x00\x00";
pub(crate) const SASL_HEADER: [u8; 8] = *b"AMQP\x03\x01\x00\x00";

/// A frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) channel: u16,
    /// The performative: its number and fields; none: the frame is empty.
    pub(crate) body: Option<(u64, Vec<Value>)>,
    pub(crate) payload: Vec<u8>,
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadFrame(pub(crate) &'static str);

/// The frame that `bytes` begin with, and its length; `None` if it has not all come.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Frame, usize)>, BadFrame> {
    let Some((head, _)) = bytes.split_first_chunk::<8>() else { return Ok(None) };
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    if !(8..=FRAME_BYTES_MAX).contains(&length) {
        return Err(BadFrame("its length is not one that was agreed"));
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let begin = usize::from(head[4]) * 4;
    if begin < 8 || begin > length {
        return Err(BadFrame("its body begins where none can"));
    }
    let Some(frame) = bytes.get(..length) else { return Ok(None) };
    let (kind, channel) = (head[5], u16::from_be_bytes([head[6], head[7]]));
    let mut reader = Reader::new(&frame[begin..]);
    if reader.bytes.is_empty() {
        return Ok(Some((Frame { kind, channel, body: None, payload: Vec::new() }, length)));
    }
    let value = reader.value().ok_or(BadFrame("its body is no value"))?;
    let (code, fields) = value.as_composite().ok_or(BadFrame("its body is no performative"))?;
    let body = Some((code, fields.to_vec()));
    Ok(Some((Frame { kind, channel, body, payload: reader.bytes.to_vec() }, length)))
}

/// Writes a frame behind `out`.
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, channel: u16, body: &Value, payload: &[u8]) {
    let begin = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, 2, kind]);
    out.extend_from_slice(&channel.to_be_bytes());
    write(body, out);
    out.extend_from_slice(payload);
    let length = u32::try_from(out.len() - begin).unwrap_or(u32::MAX);
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

/// Writes a frame without a body: a sign of life.
pub(crate) fn put_empty(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0, 0, 8, 2, AMQP, 0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_are_waited_for() {
        let mut bytes = Vec::new();
        put(&mut bytes, AMQP, 3, &Value::composite(0x14, vec![Value::Uint(1)]), b"payload");
        put_empty(&mut bytes);
        let (frame, length) = read(&bytes).unwrap().expect("it is whole");
        assert_eq!((frame.kind, frame.channel, &*frame.payload), (AMQP, 3, &b"payload"[..]));
        assert_eq!(frame.body, Some((0x14, vec![Value::Uint(1)])));
        let (empty, _) = read(&bytes[length..]).unwrap().expect("it is whole");
        assert_eq!(empty.body, None);
        for end in 0..length {
            assert_eq!(read(&bytes[..end]), Ok(None));
        }
    }

    #[test]
    fn frames_that_cannot_be_are_refused() {
        assert!(read(&[0xFF; 8]).is_err());
        assert!(read(&[0, 0, 0, 4, 2, 0, 0, 0]).is_err());
        assert!(read(&[0, 0, 0, 8, 1, 0, 0, 0]).is_err());
        assert!(read(&[0, 0, 0, 9, 2, 0, 0, 0, 0x40]).is_err());
        // Billions of elements that take no byte, and one byte behind them.
        let bomb = [0, 0, 0, 19, 2, 1, 0, 0, 0xf0, 0, 0, 0, 6, 255, 255, 255, 255, 0x40, 0];
        assert!(read(&bomb).is_err());
    }
}
