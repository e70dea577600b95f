//! The extension of a descriptor, in front of a message's data: what programs that know the first
//! version of descriptors alone, and transmission queues, are told by.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4, 4, 4 | `MDE `, version 2, length 72 |
//! | 12 | 4, 4, 8 | encoding, code page and format of what follows |
//! | 28 | 4 | flags, 0 |
//! | 32 | 24, 4, 4, 4, 4 | group, sequence number, offset, flags, original length |
//!
//! 1. Numbers are little endian, as this queue manager writes them; what has other ones, or is cut
//!    short, is no extension.
//! 2. A descriptor without groups and segments has none.

use base::bytes::Reader;

use crate::descriptor::{MessageDescriptor, value};

/// How long it is.
pub(crate) const EXTENSION_BYTES: usize = 72;

/// Whether a descriptor of the first version cannot say what this one does.
pub(crate) fn is_needed(of: &MessageDescriptor) -> bool {
    let usual = MessageDescriptor::default();
    of.group_id != usual.group_id
        || of.msg_seq_number != usual.msg_seq_number
        || of.offset != usual.offset
        || of.msg_flags != usual.msg_flags
        || of.original_length != usual.original_length
}

/// Writes what the newer form of a descriptor adds.
pub(crate) fn write(of: &MessageDescriptor, data: &mut Vec<u8>) {
    let number = |data: &mut Vec<u8>, number: i32| data.extend_from_slice(&number.to_le_bytes());
    data.extend_from_slice(b"MDE ");
    number(data, 2);
    number(data, EXTENSION_BYTES as i32);
    number(data, of.encoding);
    number(data, of.ccsid);
    data.extend_from_slice(&of.format);
    number(data, 0);
    data.extend_from_slice(&of.group_id);
    for field in [of.msg_seq_number, of.offset, of.msg_flags, of.original_length] {
        number(data, field);
    }
}

/// Takes over what the extension in front of data says; `None` if there is none.
pub(crate) fn read(of: &mut MessageDescriptor, data: &[u8]) -> Option<()> {
    let number = |reader: &mut Reader<'_>| Some(i32::from_le_bytes(reader.array()?));
    let mut reader = Reader::new(data);
    if reader.take(4)? != b"MDE " || number(&mut reader)? != 2 || number(&mut reader)? != 72 {
        return None;
    }
    let (encoding, ccsid) = (number(&mut reader)?, number(&mut reader)?);
    let (format, _flags) = (reader.array()?, number(&mut reader)?);
    let group_id = reader.array()?;
    let mut numbers = [0; 4];
    for field in &mut numbers {
        *field = number(&mut reader)?;
    }
    (of.encoding, of.ccsid, of.format, of.group_id) = (encoding, ccsid, format, group_id);
    [of.msg_seq_number, of.offset, of.msg_flags, of.original_length] = numbers;
    Some(())
}

/// What a descriptor of the first version says in front of an extension.
pub(crate) fn leave_to_extension(of: &mut MessageDescriptor, ccsid: i32) {
    let usual = MessageDescriptor::default();
    of.format = value::format::MD_EXTENSION;
    (of.encoding, of.ccsid) = (value::ENCODING_NATIVE, ccsid);
    (of.group_id, of.msg_seq_number) = (usual.group_id, usual.msg_seq_number);
    (of.offset, of.msg_flags) = (usual.offset, usual.msg_flags);
    of.original_length = usual.original_length;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_read_as_it_was_written_or_not_at_all() {
        let of = MessageDescriptor {
            encoding: 785,
            ccsid: 500,
            format: *b"MQSTR   ",
            group_id: [7; 24],
            msg_seq_number: 3,
            offset: 9,
            msg_flags: 25,
            original_length: 11,
            ..MessageDescriptor::default()
        };
        assert!(is_needed(&of) && !is_needed(&MessageDescriptor::default()));
        let mut bytes = Vec::new();
        write(&of, &mut bytes);
        assert_eq!(bytes.len(), EXTENSION_BYTES);
        for cut in 0..EXTENSION_BYTES {
            let mut there = MessageDescriptor::default();
            assert_eq!(read(&mut there, &bytes[..cut]), None);
            assert_eq!(there, MessageDescriptor::default(), "{cut}");
        }
        let mut there = MessageDescriptor::default();
        assert_eq!(read(&mut there, &bytes), Some(()));
        assert_eq!(there, of);
        leave_to_extension(&mut there, 1208);
        assert!(!is_needed(&there));
        assert_eq!((there.format, there.ccsid), (*b"MQHMDE  ", 1208));
    }
}
