//! Sequential files: records of one length, or with their lengths in front.
//!
//! | form | in front of each record |
//! |---|---|
//! | 0 | its length in 2 bytes, the greatest first, and 2 bytes of zero |
//! | 1 | its length in 4 bytes, the greatest first |
//! | 2 | its length in 4 bytes, as the machine has them |
//! | 3 | its length in 2 bytes, the greatest first |
//! | rdw | as 0, but the length counts these 4 bytes too: a record descriptor word |
//!
//! | bdw | as rdw, and in front of each block of them the block's length, which counts its own 4 bytes |
//!
//! Forms 0 to 3 are those of `COB_VARSEQ_FORMAT`.
//!
//! Invariants:
//! 1. A record longer than the program's is cut and told by status 04; the next READ begins behind
//!    it all the same.
//! 2. A file that ends inside a record is told. Of a record of fixed length there is what there is,
//!    blanks behind it, and status 04. One whose length stands in front of it is no record then:
//!    status 30, and nothing is brought to the program. It is not extended ([`super::ending`]).

use super::device::Before;
use super::{Advancing, Device, Shape};
use crate::body::{Body, Done, Found, Place, Which};
use crate::status::FileStatus;

/// What stands in front of records of different lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableForm {
    /// Two bytes of length, two of zero.
    #[default]
    Standard,
    /// Four bytes of length, the greatest first.
    Four,
    /// Four bytes of length in the machine's order.
    Native,
    /// Two bytes of length.
    Two,
    /// A record descriptor word.
    Rdw,
    /// The same, in blocks with a block descriptor word in front.
    Bdw,
}

/// How long a block becomes: half a track.
const BLOCK_BYTES: usize = 27_998;
/// The longest block, with its word: a record that needs more cannot be written.
const BLOCK_BYTES_MAX: usize = 32_760;
/// The bytes of a word.
pub(super) const WORD: usize = 4;

/// How much a block has behind its word; `None` if that is no word. A length of four bytes has its
/// first bit set.
pub(super) fn block_bytes(word: &[u8]) -> Option<usize> {
    let word: [u8; WORD] = word.try_into().ok()?;
    let bytes = match word {
        [front, ..] if front & 0x80 != 0 => u32::from_be_bytes(word) & !(1 << 31),
        [high, low, 0, 0] => u32::from(u16::from_be_bytes([high, low])),
        _ => return None,
    };
    (bytes as usize).checked_sub(WORD)
}

impl VariableForm {
    /// By the number that `COB_VARSEQ_FORMAT` has.
    #[must_use]
    pub fn of(number: &str) -> VariableForm {
        match number.trim() {
            "1" => VariableForm::Four,
            "2" => VariableForm::Native,
            "3" => VariableForm::Two,
            _ => VariableForm::Standard,
        }
    }

    /// How much stands in front of a record.
    pub(super) fn bytes(self) -> usize {
        if self == VariableForm::Two { 2 } else { 4 }
    }

    /// The length of a record, from what stands in front of it.
    pub(super) fn length(self, header: &[u8]) -> Option<usize> {
        let two = u16::from_be_bytes(*header.first_chunk()?);
        let four = || Some(*header.first_chunk::<4>()?);
        Some(match self {
            VariableForm::Standard | VariableForm::Two => usize::from(two),
            VariableForm::Four => u32::from_be_bytes(four()?) as usize,
            VariableForm::Native => u32::from_ne_bytes(four()?) as usize,
            VariableForm::Rdw | VariableForm::Bdw => usize::from(two).checked_sub(WORD)?,
        })
    }

    /// Writes what stands in front of a record; `None` if it is too long for that.
    fn push(self, bytes: usize, out: &mut Vec<u8>) -> Option<()> {
        match self {
            VariableForm::Standard => {
                out.extend_from_slice(&u16::try_from(bytes).ok()?.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            VariableForm::Rdw | VariableForm::Bdw => {
                out.extend_from_slice(&u16::try_from(bytes + WORD).ok()?.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            VariableForm::Two => {
                out.extend_from_slice(&u16::try_from(bytes).ok()?.to_be_bytes());
            }
            VariableForm::Four => {
                out.extend_from_slice(&u32::try_from(bytes).ok()?.to_be_bytes());
            }
            VariableForm::Native => {
                out.extend_from_slice(&u32::try_from(bytes).ok()?.to_ne_bytes());
            }
        }
        Some(())
    }
}

/// An open sequential file.
pub struct Sequential {
    device: Device,
    most: usize,
    form: Option<VariableForm>,
    needs_line: bool,
    /// Where the record that was read last stands, and how long it is.
    current: Option<(u64, usize)>,
    header: Vec<u8>,
    /// What a record was before it is replaced.
    old: Vec<u8>,
    /// Bytes of the block that is read which were not read yet.
    block_left: usize,
    /// The block that is written, with room for its word.
    block: Vec<u8>,
}

impl Sequential {
    /// Over an open file.
    #[must_use]
    pub fn new(device: Device, shape: &Shape, form: VariableForm) -> Sequential {
        Sequential {
            device,
            most: shape.most,
            form: shape.is_variable().then_some(form),
            needs_line: false,
            current: None,
            header: Vec::new(),
            old: Vec::new(),
            block_left: 0,
            block: Vec::new(),
        }
    }

    /// The next record's length; `None` at the end.
    fn length(&mut self) -> Done<Option<usize>> {
        let Some(form) = self.form else { return Ok(Some(self.most)) };
        if form == VariableForm::Bdw && !self.is_in_block()? {
            return Ok(None);
        }
        self.header.clear();
        let bytes = match self.device.read(form.bytes(), &mut self.header)? {
            0 if self.block_left == 0 => return Ok(None),
            read if read < form.bytes() => return Err(FileStatus::ERROR),
            _ => form.length(&self.header).ok_or(FileStatus::ERROR)?,
        };
        if form == VariableForm::Bdw {
            let left = self.block_left.checked_sub(WORD + bytes);
            self.block_left = left.ok_or(FileStatus::ERROR)?;
        }
        Ok(Some(bytes))
    }

    /// Reads on to a block that has something; `false` at the end.
    fn is_in_block(&mut self) -> Done<bool> {
        while self.block_left == 0 {
            self.header.clear();
            match self.device.read(WORD, &mut self.header)? {
                0 => return Ok(false),
                _ => self.block_left = block_bytes(&self.header).ok_or(FileStatus::ERROR)?,
            }
        }
        Ok(true)
    }

    /// Puts a record into the block that is written.
    fn write_in_block(&mut self, record: &[u8]) -> Done<Found> {
        let bytes = WORD + record.len();
        if WORD + bytes > BLOCK_BYTES_MAX {
            return Err(FileStatus::RECORD_LENGTH);
        }
        if self.block.len() + bytes > BLOCK_BYTES {
            self.end_block()?;
        }
        if self.block.is_empty() {
            self.block.resize(WORD, 0);
        }
        VariableForm::Bdw.push(record.len(), &mut self.block).ok_or(FileStatus::RECORD_LENGTH)?;
        self.block.extend_from_slice(record);
        Ok(Found::plain())
    }

    /// Writes the block, if there is one. If that fails it stays, and is tried again.
    fn end_block(&mut self) -> Done<()> {
        let bytes = u16::try_from(self.block.len()).map_err(|_| FileStatus::ERROR)?;
        let Some(word) = self.block.first_chunk_mut() else { return Ok(()) };
        *word = bytes.to_be_bytes();
        let out = self.device.output();
        let begun = out.len();
        out.extend_from_slice(&self.block);
        self.device.wrote(begun)?;
        self.block.clear();
        Ok(())
    }
}

impl Body for Sequential {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        if previous {
            return Err(FileStatus::LOGIC);
        }
        self.current = None;
        record.clear();
        let Some(bytes) = self.length()? else { return Err(FileStatus::END) };
        let place = self.device.place();
        let wanted = bytes.min(self.most);
        let read = self.device.read(wanted, record)?;
        if read < wanted && self.form.is_some() {
            return Err(FileStatus::ERROR);
        }
        if read == 0 && wanted > 0 {
            return Err(FileStatus::END);
        }
        let mut rest = bytes - wanted;
        while rest > 0 {
            let hand = self.device.at_hand()?.len().min(rest);
            if hand == 0 {
                return Err(FileStatus::ERROR);
            }
            self.device.pass(hand);
            rest -= hand;
        }
        self.current = Some((place, read));
        let is_whole = read == wanted && bytes == wanted;
        let status = if is_whole { FileStatus::DONE } else { FileStatus::LENGTH };
        Ok(Found { status, number: None })
    }

    fn write(&mut self, record: &[u8], place: Place) -> Done<Found> {
        if self.form == Some(VariableForm::Bdw) {
            // There is no paper between blocks.
            return self.write_in_block(record);
        }
        let advancing = Advancing::of(place.options);
        let (form, needed_line) = (self.form, self.needs_line);
        let out = self.device.output();
        let begun = out.len();
        if advancing.is_after() {
            advancing.push(out);
            self.needs_line = true;
        }
        if let Some(form) = form
            && form.push(record.len(), out).is_none()
        {
            out.truncate(begun);
            self.needs_line = needed_line;
            return Err(FileStatus::RECORD_LENGTH);
        }
        out.extend_from_slice(record);
        if advancing.is_before() {
            advancing.push(out);
            self.needs_line = false;
        }
        if let Err(status) = self.device.wrote(begun) {
            self.needs_line = needed_line;
            return Err(status);
        }
        Ok(Found::plain())
    }

    fn rewrite(&mut self, record: &[u8], which: Which<'_>) -> Done<FileStatus> {
        let (place, bytes) = match (which, self.current) {
            (Which::Current, Some(current)) => current,
            _ => return Err(FileStatus::NO_READ),
        };
        if record.len() != bytes {
            return Err(FileStatus::RECORD_LENGTH);
        }
        self.old.resize(bytes, 0);
        if self.device.read_at(place, &mut self.old)? < bytes {
            return Err(FileStatus::ERROR);
        }
        self.device.write_at(place, record, Before::Bytes(&self.old))?;
        Ok(FileStatus::DONE)
    }

    fn close(&mut self) -> Done<()> {
        if std::mem::take(&mut self.needs_line) {
            self.device.output().push(b'\n');
        }
        let ended = self.end_block();
        self.device.close().and(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_what_it_writes() {
        let forms = [
            (VariableForm::Standard, vec![1, 4, 0, 0]),
            (VariableForm::Four, vec![0, 0, 1, 4]),
            (VariableForm::Native, 260u32.to_ne_bytes().to_vec()),
            (VariableForm::Two, vec![1, 4]),
            (VariableForm::Rdw, vec![1, 8, 0, 0]),
            (VariableForm::Bdw, vec![1, 8, 0, 0]),
        ];
        for (form, expected) in forms {
            let mut out = Vec::new();
            form.push(260, &mut out).expect("short enough");
            assert_eq!(out, expected, "{form:?}");
            assert_eq!(form.length(&out), Some(260), "{form:?}");
        }
        assert_eq!(VariableForm::Rdw.length(&[0, 3, 0, 0]), None);
        assert_eq!(block_bytes(&[0x7f, 0xf8, 0, 0]), Some(32_756));
        assert_eq!(block_bytes(&[0x80, 1, 0, 4]), Some(65_536));
        assert_eq!([block_bytes(&[0, 3, 0, 0]), block_bytes(&[0, 9, 0, 1])], [None, None]);
        assert!(VariableForm::Two.push(70_000, &mut Vec::new()).is_none());
    }
}
