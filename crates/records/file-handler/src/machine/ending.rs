//! Whether a file ends between two records: what is written behind anything else would make wrong
//! records of all that follows.
//!
//! Invariants:
//! 1. Only what is a file is looked at: a device has no end.
//! 2. A file of fixed records ends between two of them if its length is a multiple of theirs. The
//!    lengths of others are walked through, from the first to the last.
//! 3. Between the records of a printer's file there are characters that move the paper: a file that
//!    is whole with them is whole.

use super::sequential::{VariableForm, WORD, block_bytes};
use super::{Device, LineForm, Shape};
use crate::body::Done;

/// How much is read at once.
const WINDOW_BYTES: usize = 256 << 10;
/// What moves the paper.
const MOVES: &[u8] = b"\n\r\x0c";

/// What a file of lines ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// An end of line, or of a page; or there is nothing in it.
    Ended,
    /// A line that goes on.
    Open,
    /// X'00' in front of a character that is missing.
    Cut,
}

/// Whether a sequential file ends between records.
pub(super) fn is_whole(device: &Device, shape: &Shape, form: VariableForm) -> Done<bool> {
    if !device.is_regular() || shape.most == 0 {
        return Ok(true);
    }
    let mut window = Window { device, size: device.size()?, begins: 0, bytes: Vec::new() };
    let form = shape.is_variable().then_some(form);
    let is_whole = match form {
        None => window.size.is_multiple_of(shape.most as u64),
        Some(_) => walk(&mut window, shape.most, form, false)?,
    };
    if form == Some(VariableForm::Bdw) {
        return Ok(is_whole);
    }
    Ok(is_whole || walk(&mut window, shape.most, form, true)?)
}

fn walk(
    window: &mut Window<'_>,
    most: usize,
    form: Option<VariableForm>,
    is_printed: bool,
) -> Done<bool> {
    let (mut at, mut block_end) = (0, 0);
    let is_blocked = form == Some(VariableForm::Bdw);
    while at < window.size {
        if is_printed && window.at(at, 1)?.iter().all(|byte| MOVES.contains(byte)) {
            at += 1;
            continue;
        }
        if is_blocked && at == block_end {
            let Some(bytes) = block_bytes(window.at(at, WORD)?) else { return Ok(false) };
            at += WORD as u64;
            block_end = at + bytes as u64;
            continue;
        }
        let length = match form {
            None => Some(most),
            Some(form) => {
                let header = window.at(at, form.bytes())?;
                at += form.bytes() as u64;
                form.length(header)
            }
        };
        let Some(length) = length else { return Ok(false) };
        at += length as u64;
        if is_blocked && at > block_end {
            return Ok(false);
        }
    }
    Ok(at == window.size && (!is_blocked || at == block_end))
}

/// What a file of lines ends with.
pub(super) fn of_lines(device: &Device, form: LineForm) -> Done<LineEnd> {
    if !device.is_regular() {
        return Ok(LineEnd::Ended);
    }
    let size = device.size()?;
    let Some(last) = byte_at(device, size.checked_sub(1))? else { return Ok(LineEnd::Ended) };
    if form.nulls {
        // What is behind an odd number of zeros belongs to the last of them.
        let mut zeros = 0;
        let behind = if last == 0 { size } else { size - 1 };
        while byte_at(device, behind.checked_sub(zeros + 1))? == Some(0) {
            zeros += 1;
        }
        match (last, zeros % 2) {
            (0, 1) => return Ok(LineEnd::Cut),
            (_, 1) => return Ok(LineEnd::Open),
            _ => (),
        }
    }
    Ok(match last {
        b'\n' | b'\x0c' => LineEnd::Ended,
        // A line that the next one is printed over.
        b'\r' if !form.carriage_return => LineEnd::Ended,
        _ => LineEnd::Open,
    })
}

fn byte_at(device: &Device, at: Option<u64>) -> Done<Option<u8>> {
    let (Some(at), mut byte) = (at, [0]) else { return Ok(None) };
    Ok((device.read_at(at, &mut byte)? == 1).then_some(byte[0]))
}

/// A part of a file that is walked through.
struct Window<'d> {
    device: &'d Device,
    size: u64,
    begins: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// Bytes at a place; fewer at the file's end.
    fn at(&mut self, at: u64, len: usize) -> Done<&[u8]> {
        let end = self.begins + self.bytes.len() as u64;
        if at < self.begins || at + len as u64 > end {
            self.bytes.resize(WINDOW_BYTES.max(len), 0);
            let read = self.device.read_at(at, &mut self.bytes)?;
            self.bytes.truncate(read);
            self.begins = at;
        }
        let first = (at - self.begins) as usize;
        Ok(&self.bytes[first..(first + len).min(self.bytes.len())])
    }
}
