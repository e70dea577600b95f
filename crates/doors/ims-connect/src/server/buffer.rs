//! What of a message has arrived.

use crate::wire::{HEAD_BYTES, MESSAGE_BYTES_MIN};

/// Bytes that a connection keeps while it is idle.
const KEPT_BYTES: usize = 1_024;
/// Bytes that are taken ahead of a message that cannot be begun yet.
const AHEAD_BYTES: usize = 4_096;

/// Bytes that have arrived.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// Where the first message begins. What is before it is cut off now and then, so that many
    /// small messages behind each other are not moved once each.
    at: usize,
}

/// What they are.
pub(super) enum Found {
    /// The beginning of a message.
    Part,
    /// A message of so many bytes.
    Whole(usize),
    /// No message: its length is no length.
    Short([u8; HEAD_BYTES]),
    /// A message that is too long.
    Long([u8; HEAD_BYTES]),
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The first bytes of a message, if there are enough to know its exit.
    pub(super) fn head(&self) -> Option<&[u8; HEAD_BYTES]> {
        self.rest().first_chunk()
    }

    pub(super) fn find(&self, bytes_max: usize) -> Found {
        let Some(head) = self.head() else { return Found::Part };
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match length {
            length if length < MESSAGE_BYTES_MIN => Found::Short(*head),
            length if length > bytes_max => Found::Long(*head),
            length if length <= self.rest().len() => Found::Whole(length),
            _ => Found::Part,
        }
    }

    pub(super) fn bytes(&self, length: usize) -> &[u8] {
        self.rest().get(..length).unwrap_or_default()
    }

    /// Forgets a message, and gives back the memory of a long one.
    pub(super) fn consume(&mut self, length: usize) {
        self.at = self.bytes.len().min(self.at + length);
        if self.at < self.bytes.len() / 2 {
            return;
        }
        self.bytes.drain(..self.at);
        self.at = 0;
        if self.bytes.capacity() > KEPT_BYTES && self.bytes.len() <= KEPT_BYTES {
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }

    /// Whether more may be read while a message cannot be begun.
    pub(super) fn has_room(&self) -> bool {
        self.rest().len() < AHEAD_BYTES
    }

    /// Where more bytes go. It grows with what has come, not with what a length promises.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        if self.bytes.len() == self.bytes.capacity() {
            self.bytes.reserve_exact(self.bytes.len().max(KEPT_BYTES));
        }
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_behind_each_other_are_found_one_by_one() {
        let mut buffer = Buffer::default();
        for number in 0..100_u8 {
            buffer.room().extend_from_slice(&[0, 0, 0, 0x58]);
            buffer.room().extend_from_slice(&[number; 0x54]);
        }
        for number in 0..100_u8 {
            assert!(matches!(buffer.find(1 << 10), Found::Whole(0x58)));
            assert_eq!(buffer.bytes(0x58)[4..], [number; 0x54]);
            buffer.consume(0x58);
        }
        assert!(buffer.is_empty() && buffer.bytes.capacity() <= KEPT_BYTES);
    }

    #[test]
    fn a_promise_of_much_costs_nothing_and_memory_is_given_back() {
        let mut buffer = Buffer::default();
        buffer.room().extend_from_slice(&[0, 0x10, 0, 0]);
        buffer.room().extend_from_slice(&[b'*'; 12]);
        assert!(matches!(buffer.find(10 << 20), Found::Part));
        assert!(matches!(buffer.find(1 << 10), Found::Long(_)));
        assert!(buffer.bytes.capacity() <= KEPT_BYTES);
        buffer.room().extend_from_slice(&vec![0; 0x10_0000]);
        assert!(matches!(buffer.find(10 << 20), Found::Whole(0x10_0000)));
        buffer.consume(0x10_0000);
        assert_eq!(buffer.bytes.len(), 16);
        assert!(buffer.bytes.capacity() <= KEPT_BYTES);
    }
}
