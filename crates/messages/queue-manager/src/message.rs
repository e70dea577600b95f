//! A message, and how it stands in the store.
//!
//! | bytes of a record | |
//! |---|---|
//! | 1 | version, 1 |
//! | 1 | flags: 1 its data stands in chunks |
//! | 8 | when it was put, milliseconds since 1970 UTC |
//! | 8 | when it expires, the same; 0: never |
//! | 4 | length of its data |
//! | 387 | descriptor: numbers of four bytes, little endian, and texts, in their order there |
//! | rest | the data, unless it stands in chunks |
//!
//! 1. Data of more than [`INLINE_BYTES_MAX`] stands in chunks and nowhere else.

use base::bytes::Reader;
use base::calendar::Date;

use crate::descriptor::MessageDescriptor;
use crate::name::ObjectName;

/// Data up to this length stands beside the descriptor.
pub(crate) const INLINE_BYTES_MAX: usize = 32 << 10;
/// Bytes in front of the descriptor.
pub(crate) const HEAD_BYTES: usize = 22;

const VERSION: u8 = 1;
const IN_CHUNKS: u8 = 1;

/// A message as it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) descriptor: MessageDescriptor,
    pub(crate) put_ms: u64,
    /// 0: never.
    pub(crate) expires_ms: u64,
    pub(crate) data: Vec<u8>,
}

/// What stands in front of a message's descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) in_chunks: bool,
    pub(crate) put_ms: u64,
    pub(crate) expires_ms: u64,
    pub(crate) bytes: u32,
}

impl Head {
    pub(crate) fn read(record: &[u8]) -> Option<Head> {
        let mut reader = Reader::new(record);
        if reader.u8()? != VERSION {
            return None;
        }
        Some(Head {
            in_chunks: reader.u8()? & IN_CHUNKS != 0,
            put_ms: reader.u64()?,
            expires_ms: reader.u64()?,
            bytes: reader.u32()?,
        })
    }
}

impl Message {
    /// Whether its data stands in chunks.
    pub(crate) fn is_large(&self) -> bool {
        self.data.len() > INLINE_BYTES_MAX
    }

    /// The record, without data that stands in chunks.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let inline = if self.is_large() { &[][..] } else { &self.data };
        out.reserve(HEAD_BYTES + 400 + inline.len());
        out.push(VERSION);
        out.push(if self.is_large() { IN_CHUNKS } else { 0 });
        out.extend_from_slice(&self.put_ms.to_le_bytes());
        out.extend_from_slice(&self.expires_ms.to_le_bytes());
        out.extend_from_slice(&(self.data.len() as u32).to_le_bytes());
        write_descriptor(&self.descriptor, out);
        out.extend_from_slice(inline);
    }

    /// The message of a record; data that stands in chunks is still to be read.
    pub(crate) fn read(record: &[u8]) -> Option<(Head, Message)> {
        let head = Head::read(record)?;
        let mut reader = Reader::new(record.get(HEAD_BYTES..)?);
        let descriptor = read_descriptor(&mut reader)?;
        let data = reader.rest().to_vec();
        if !head.in_chunks && data.len() != head.bytes as usize {
            return None;
        }
        let message =
            Message { descriptor, put_ms: head.put_ms, expires_ms: head.expires_ms, data };
        Some((head, message))
    }

    /// Tenths of a second until it expires, as a getter sees it.
    pub(crate) fn expiry_at(&self, now_ms: u64) -> i32 {
        match self.expires_ms {
            0 => -1,
            at => i32::try_from(at.saturating_sub(now_ms).div_ceil(100)).unwrap_or(i32::MAX).max(1),
        }
    }
}

fn write_descriptor(of: &MessageDescriptor, out: &mut Vec<u8>) {
    write_first_version(of, out);
    out.extend_from_slice(&of.group_id);
    for field in [of.msg_seq_number, of.offset, of.msg_flags, of.original_length] {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

/// Writes the fields of a descriptor of version 1, as they are kept and as headers of transmission
/// have them.
pub(crate) fn write_first_version(of: &MessageDescriptor, out: &mut Vec<u8>) {
    let number = |out: &mut Vec<u8>, number: i32| out.extend_from_slice(&number.to_le_bytes());
    for field in [of.report, of.msg_type, of.expiry, of.feedback, of.encoding, of.ccsid] {
        number(out, field);
    }
    out.extend_from_slice(&of.format);
    number(out, of.priority);
    number(out, of.persistence);
    out.extend_from_slice(&of.msg_id);
    out.extend_from_slice(&of.correl_id);
    number(out, of.backout_count);
    out.extend_from_slice(&of.reply_to_q.0);
    out.extend_from_slice(&of.reply_to_q_mgr.0);
    out.extend_from_slice(&of.user_identifier);
    out.extend_from_slice(&of.accounting_token);
    out.extend_from_slice(&of.appl_identity_data);
    number(out, of.put_appl_type);
    out.extend_from_slice(&of.put_appl_name);
    out.extend_from_slice(&of.put_date);
    out.extend_from_slice(&of.put_time);
    out.extend_from_slice(&of.appl_origin_data);
}

fn number(reader: &mut Reader<'_>) -> Option<i32> {
    Some(i32::from_le_bytes(reader.array()?))
}

fn read_descriptor(reader: &mut Reader<'_>) -> Option<MessageDescriptor> {
    let first = read_first_version(reader)?;
    Some(MessageDescriptor {
        group_id: reader.array()?,
        msg_seq_number: number(reader)?,
        offset: number(reader)?,
        msg_flags: number(reader)?,
        original_length: number(reader)?,
        ..first
    })
}

/// The fields of a descriptor of version 1, as they are kept and as headers of transmission have
/// them.
pub(crate) fn read_first_version(reader: &mut Reader<'_>) -> Option<MessageDescriptor> {
    Some(MessageDescriptor {
        report: number(reader)?,
        msg_type: number(reader)?,
        expiry: number(reader)?,
        feedback: number(reader)?,
        encoding: number(reader)?,
        ccsid: number(reader)?,
        format: reader.array()?,
        priority: number(reader)?,
        persistence: number(reader)?,
        msg_id: reader.array()?,
        correl_id: reader.array()?,
        backout_count: number(reader)?,
        reply_to_q: ObjectName(reader.array()?),
        reply_to_q_mgr: ObjectName(reader.array()?),
        user_identifier: reader.array()?,
        accounting_token: reader.array()?,
        appl_identity_data: reader.array()?,
        put_appl_type: number(reader)?,
        put_appl_name: reader.array()?,
        put_date: reader.array()?,
        put_time: reader.array()?,
        appl_origin_data: reader.array()?,
        ..MessageDescriptor::default()
    })
}

/// Date and time of a moment as descriptors have them: `YYYYMMDD` and `HHMMSSth`.
pub(crate) fn date_and_time(utc_ms: u64) -> ([u8; 8], [u8; 8]) {
    let ms = utc_ms % 86_400_000;
    let Date { year, month, day } = Date::of_second(utc_ms / 1_000);
    let date = format!("{year:04}{month:02}{day:02}");
    let (hour, minute) = (ms / 3_600_000, ms / 60_000 % 60);
    let time = format!("{hour:02}{minute:02}{:02}{:02}", ms / 1_000 % 60, ms / 10 % 100);
    (crate::name::padded(&date), crate::name::padded(&time))
}

/// Date and time of a moment as displays have them: `YYYY-MM-DD` and `HH.MM.SS`.
pub(crate) fn display_date_and_time(utc_ms: u64) -> (String, String) {
    let (date, time) = date_and_time(utc_ms);
    let (date, time) = (String::from_utf8_lossy(&date), String::from_utf8_lossy(&time));
    (
        format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..8]),
        format!("{}.{}.{}", &time[..2], &time[2..4], &time[4..6]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Message {
        let mut descriptor = MessageDescriptor { report: 7, ..MessageDescriptor::default() };
        descriptor.msg_id = [3; 24];
        Message { descriptor, put_ms: 1, expires_ms: 2, data: vec![5; bytes] }
    }

    #[test]
    fn a_message_comes_back_as_it_was_written() {
        for bytes in [0, 1, 1_000, INLINE_BYTES_MAX, INLINE_BYTES_MAX + 1] {
            let one = message(bytes);
            let mut record = Vec::new();
            one.write(&mut record);
            let (head, read) = Message::read(&record).unwrap();
            assert_eq!((head.bytes as usize, head.in_chunks), (bytes, one.is_large()));
            assert_eq!(read.descriptor, one.descriptor);
            assert_eq!(read.data.len(), if one.is_large() { 0 } else { bytes });
            for cut in [0, 1, 20, 100] {
                assert!(Message::read(&record[..cut]).is_none());
            }
        }
    }

    #[test]
    fn moments_are_written_as_dates_and_times() {
        assert_eq!(date_and_time(951_827_696_780), (*b"20000229", *b"12345678"));
        assert_eq!(
            display_date_and_time(1_764_230_400_000),
            ("2025-11-27".to_owned(), "08.00.00".to_owned())
        );
    }
}
