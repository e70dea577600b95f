//! The header in front of a message on a transmission queue, read: its layout stands in
//! `core::dead_letter`, which writes it.
//!
//! 1. Numbers are little endian, as this queue manager writes them; whatever else stands there is
//!    no header.

use base::bytes::Reader;

use crate::descriptor::{MessageDescriptor, value};
use crate::extension::{self, EXTENSION_BYTES};
use crate::message::read_first_version;
use crate::name::ObjectName;

/// Bytes of the header, its descriptor of version 1 among them.
pub(crate) const HEADER_BYTES: usize = 428;
/// Where the expiry of the message stands.
const EXPIRY_AT: usize = 104 + 16;

/// A message for another queue manager.
pub(crate) struct Transmitted {
    pub(crate) queue: ObjectName,
    pub(crate) manager: ObjectName,
    pub(crate) descriptor: MessageDescriptor,
    /// Where its data begins.
    pub(crate) data_at: usize,
}

fn number(reader: &mut Reader<'_>) -> Option<i32> {
    Some(i32::from_le_bytes(reader.array()?))
}

/// Reads the header; `None` if there is none.
pub(crate) fn read(bytes: &[u8]) -> Option<Transmitted> {
    let mut reader = Reader::new(bytes);
    if reader.take(4)? != b"XQH " || number(&mut reader)? != 1 {
        return None;
    }
    let (queue, manager) = (ObjectName(reader.array()?), ObjectName(reader.array()?));
    let mut descriptor = descriptor(&mut reader)?;
    let mut data_at = HEADER_BYTES;
    if descriptor.format == value::format::MD_EXTENSION {
        extension::read(&mut descriptor, bytes.get(HEADER_BYTES..)?)?;
        data_at += EXTENSION_BYTES;
    }
    Some(Transmitted { queue, manager, descriptor, data_at })
}

fn descriptor(reader: &mut Reader<'_>) -> Option<MessageDescriptor> {
    if reader.take(4)? != b"MD  " || number(reader)? != 1 {
        return None;
    }
    read_first_version(reader)
}

/// Notes in a header how long its message still lives.
pub(crate) fn set_expiry(bytes: &mut [u8], tenths: i32) {
    if let Some(field) = bytes.get_mut(EXPIRY_AT..EXPIRY_AT + 4) {
        field.copy_from_slice(&tenths.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_is_no_header() {
        let mut bytes = b"XQH ".to_vec();
        bytes.extend_from_slice(&1_i32.to_le_bytes());
        bytes.extend_from_slice(&ObjectName::from("Q").0);
        bytes.extend_from_slice(&ObjectName::from("M").0);
        bytes.extend_from_slice(b"MD  ");
        bytes.extend_from_slice(&1_i32.to_le_bytes());
        bytes.resize(HEADER_BYTES, b' ');
        for cut in 0..HEADER_BYTES {
            assert!(read(&bytes[..cut]).is_none());
        }
        set_expiry(&mut bytes, 77);
        let read = read(&bytes).unwrap();
        assert_eq!((read.queue, read.manager), ("Q".into(), "M".into()));
        assert_eq!((read.descriptor.expiry, read.data_at), (77, HEADER_BYTES));
    }
}
