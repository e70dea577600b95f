//! Parameters in the form of command messages, as events and statistics carry them.
//!
//! 1. Numbers are little endian, as the encoding of these messages says.

/// A message in the making: a header of 36 bytes, then parameters.
pub(crate) struct Message {
    bytes: Vec<u8>,
    count: i32,
}

const INTEGER: i32 = 3;
const TEXT: i32 = 4;
const INTEGERS: i32 = 5;
const TEXTS: i32 = 6;
const BYTES: i32 = 9;
const GROUP: i32 = 20;
const LONGS: i32 = 25;
const CCSID: i32 = 1208;
/// Where the header says which part of several a message is, and whether the last.
const SEQUENCE_AT: usize = 16;
const CONTROL_AT: usize = 20;
/// Where the header counts parameters.
const COUNT_AT: usize = 32;

impl Message {
    /// Begins a message of that type and command.
    pub(crate) fn new(kind: i32, command: i32, (completion, reason): (i32, i32)) -> Message {
        let mut message = Message { bytes: Vec::with_capacity(512), count: 0 };
        for field in [kind, 36, 1, command, 1, 1, completion, reason, 0] {
            message.number(field);
        }
        message
    }

    fn number(&mut self, number: i32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn integer(&mut self, id: i32, value: i32) {
        for field in [INTEGER, 16, id, value] {
            self.number(field);
        }
        self.count += 1;
    }

    pub(crate) fn integers(&mut self, id: i32, values: &[i32]) {
        let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
        for field in [INTEGERS, 16 + 4 * count, id, count] {
            self.number(field);
        }
        values.iter().for_each(|value| self.number(*value));
        self.count += 1;
    }

    pub(crate) fn longs(&mut self, id: i32, values: &[u64]) {
        let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
        for field in [LONGS, 16 + 8 * count, id, count] {
            self.number(field);
        }
        values.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        self.count += 1;
    }

    /// A text of a fixed width, filled with blanks.
    pub(crate) fn text(&mut self, id: i32, text: &str, width: usize) {
        let mut field = text.as_bytes().to_vec();
        field.resize(width, b' ');
        let padded = width.next_multiple_of(4);
        for number in [TEXT, 20 + padded as i32, id, CCSID, width as i32] {
            self.number(number);
        }
        field.resize(padded, 0);
        self.bytes.extend_from_slice(&field);
        self.count += 1;
    }

    /// Which part it is of several that belong together.
    pub(crate) fn part(&mut self, number: i32, is_last: bool) {
        self.set(SEQUENCE_AT, number);
        self.set(CONTROL_AT, i32::from(is_last));
    }

    fn set(&mut self, at: usize, number: i32) {
        if let Some(field) = self.bytes.get_mut(at..at + 4) {
            field.copy_from_slice(&number.to_le_bytes());
        }
    }

    pub(crate) fn bytes(&mut self, id: i32, bytes: &[u8]) {
        let padded = bytes.len().next_multiple_of(4);
        for field in [BYTES, 16 + padded as i32, id, bytes.len() as i32] {
            self.number(field);
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len() + padded - bytes.len(), 0);
        self.count += 1;
    }

    /// Texts, each of the same width.
    pub(crate) fn texts(&mut self, id: i32, texts: &[String], width: usize) {
        let width = texts.iter().map(String::len).max().unwrap_or(0).max(width);
        let padded = (width * texts.len()).next_multiple_of(4);
        let count = texts.len() as i32;
        for field in [TEXTS, 24 + padded as i32, id, CCSID, count, width as i32] {
            self.number(field);
        }
        let end = self.bytes.len() + padded;
        for text in texts {
            let to = self.bytes.len() + width;
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.resize(to, b' ');
        }
        self.bytes.resize(end, 0);
        self.count += 1;
    }

    /// Parameters as another message has them, and how many they are.
    pub(crate) fn parameters(&mut self, (bytes, count): (&[u8], i32)) -> i32 {
        self.bytes.extend_from_slice(bytes);
        self.count += count;
        count
    }

    /// Begins a group whose members are counted later.
    pub(crate) fn begin_group(&mut self, id: i32) -> usize {
        let at = self.bytes.len();
        self.group(id, 0);
        at
    }

    /// So many parameters came since it was begun.
    pub(crate) fn end_group(&mut self, begun_at: usize, members: i32) {
        self.set(begun_at + 12, members);
        self.count -= members;
    }

    /// So many of the parameters behind it belong to it.
    pub(crate) fn group(&mut self, id: i32, count: i32) {
        for field in [GROUP, 16, id, count] {
            self.number(field);
        }
        self.count += 1;
        // A header counts groups, not what stands in them.
        self.count -= count;
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes[COUNT_AT..COUNT_AT + 4].copy_from_slice(&self.count.to_le_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_what_follows() {
        let mut message = Message::new(7, 46, (1, 2282));
        message.text(3501, "TO.QM2", 20);
        message.integer(1020, 3);
        message.longs(777, &[1 << 40]);
        let bytes = message.finish();
        assert_eq!(bytes.len(), 36 + 40 + 16 + 24);
        let at = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([at(0), at(4), at(12), at(24), at(28), at(32)], [7, 36, 46, 1, 2282, 3]);
        assert_eq!([at(36), at(40), at(44), at(52)], [4, 40, 3501, 20]);
        assert_eq!([at(76), at(88), at(92), at(96)], [3, 3, 25, 24]);
    }

    #[test]
    fn a_group_counts_as_one_parameter() {
        let mut message = Message::new(22, 113, (0, 0));
        message.group(8000, 2);
        message.integer(1, 1);
        message.integer(2, 2);
        let bytes = message.finish();
        assert_eq!(i32::from_le_bytes(bytes[32..36].try_into().unwrap()), 1);
    }
}
