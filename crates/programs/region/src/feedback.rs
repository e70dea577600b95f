//! What PCBs say after a call, and its bytes.
//!
//! | bytes | of a PCB |
//! |---|---|
//! | 2, 1, 1, 2, 2 | number, whether what an I/O PCB shows follows, level, status, key length |
//! | 8, n | name, key |
//! | 57 | I/O: terminal 8, date 4, time 4, number 4, MOD name, user, group 8 each, stamp 12, indicator |
//!
//! Invariants:
//! 1. A key is never longer than a mask has room for.

use base::bytes::Reader;

use crate::names::{NO_NAME, Name};

pub(crate) const KEY_AT: usize = 36;
/// The most key feedback that fits a PCB's room.
pub(crate) const KEY_BYTES_MAX: usize = 4096 - KEY_AT;

/// What a PCB says after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback<'a> {
    /// The status code.
    pub status: [u8; 2],
    /// The level, 0 to 15; databases only.
    pub level: u8,
    /// The segment's name; of an alternate PCB the destination.
    pub segment: Name,
    /// The concatenated key; of a sequential file the RSA, and behind it in 4 bytes, least first,
    /// the length of a record of undefined length.
    pub key: &'a [u8],
    /// What the I/O PCB says besides its status.
    pub io: Option<&'a IoFeedback>,
}

impl<'a> Feedback<'a> {
    /// A status without anything else.
    #[must_use]
    pub fn status(status: [u8; 2]) -> Feedback<'a> {
        Feedback { status, level: 0, segment: NO_NAME, key: &[], io: None }
    }
}

/// What the I/O PCB says besides its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoFeedback {
    /// The logical terminal.
    pub terminal: Name,
    /// Local date, packed 0yydddF.
    pub date: [u8; 4],
    /// Local time, packed HHMMSSt.
    pub time: [u8; 4],
    /// The input message's number.
    pub sequence: u32,
    /// The MOD name.
    pub mod_name: Name,
    /// The user.
    pub user: Name,
    /// The user's group.
    pub group: Name,
    /// Date, time and distance from UTC, packed.
    pub stamp: [u8; 12],
    /// U, L, P or O: what `user` is.
    pub indicator: u8,
}

impl Default for IoFeedback {
    fn default() -> IoFeedback {
        IoFeedback {
            terminal: NO_NAME,
            date: [0; 4],
            time: [0; 4],
            sequence: 0,
            mod_name: NO_NAME,
            user: NO_NAME,
            group: NO_NAME,
            stamp: [0; 12],
            indicator: b' ',
        }
    }
}

pub(crate) fn put_feedback(pcb: usize, feedback: &Feedback<'_>, out: &mut Vec<u8>) {
    let key = &feedback.key[..feedback.key.len().min(KEY_BYTES_MAX)];
    out.extend_from_slice(&(pcb as u16).to_le_bytes());
    out.extend_from_slice(&[u8::from(feedback.io.is_some()), feedback.level]);
    out.extend_from_slice(&feedback.status);
    out.extend_from_slice(&(key.len() as u16).to_le_bytes());
    out.extend_from_slice(&feedback.segment);
    out.extend_from_slice(key);
    if let Some(io) = feedback.io {
        put_io(io, out);
    }
}

/// The 57 bytes of what an I/O PCB shows.
pub(crate) fn put_io(io: &IoFeedback, out: &mut Vec<u8>) {
    out.extend_from_slice(&io.terminal);
    out.extend_from_slice(&io.date);
    out.extend_from_slice(&io.time);
    out.extend_from_slice(&io.sequence.to_le_bytes());
    for name in [io.mod_name, io.user, io.group] {
        out.extend_from_slice(&name);
    }
    out.extend_from_slice(&io.stamp);
    out.push(io.indicator);
}

pub(crate) fn read_feedback<'a>(
    reader: &mut Reader<'a>,
) -> Option<(usize, Feedback<'a>, Option<IoFeedback>)> {
    let pcb = usize::from(reader.u16()?);
    let [with_io, level] = reader.array()?;
    let status = reader.array()?;
    let key_len = usize::from(reader.u16()?);
    let segment = reader.array()?;
    let key = reader.take(key_len)?;
    let io = if with_io == 0 { None } else { Some(read_io(reader)?) };
    Some((pcb, Feedback { status, level, segment, key, io: None }, io))
}

pub(crate) fn read_io(reader: &mut Reader<'_>) -> Option<IoFeedback> {
    Some(IoFeedback {
        terminal: reader.array()?,
        date: reader.array()?,
        time: reader.array()?,
        sequence: reader.u32()?,
        mod_name: reader.array()?,
        user: reader.array()?,
        group: reader.array()?,
        stamp: reader.array()?,
        indicator: reader.u8()?,
    })
}
