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
            VariableForm::Rdw => usize::from(two).checked_sub(4)?,
        })
    }

    /// Writes what stands in front of a record; `None` if it is too long for that.
    fn push(self, bytes: usize, out: &mut Vec<u8>) -> Option<()> {
        match self {
            VariableForm::Standard => {
                out.extend_from_slice(&u16::try_from(bytes).ok()?.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            VariableForm::Rdw => {
                out.extend_from_slice(&u16::try_from(bytes + 4).ok()?.to_be_bytes());
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
}

impl Sequential {
    /// Over an open file.
    #[must_use]
    pub fn new(device: Device, shape: &Shape, form: VariableForm) -> Sequential {
        let form = shape.is_variable().then_some(form);
        let most = shape.most;
        let (header, old) = (Vec::new(), Vec::new());
        Sequential { device, most, form, needs_line: false, current: None, header, old }
    }

    /// The next record's length; `None` at the end.
    fn length(&mut self) -> Done<Option<usize>> {
        let Some(form) = self.form else { return Ok(Some(self.most)) };
        self.header.clear();
        match self.device.read(form.bytes(), &mut self.header)? {
            0 => Ok(None),
            read if read < form.bytes() => Err(FileStatus::ERROR),
            _ => form.length(&self.header).map(Some).ok_or(FileStatus::ERROR),
        }
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
        self.device.close()
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
        ];
        for (form, expected) in forms {
            let mut out = Vec::new();
            form.push(260, &mut out).expect("short enough");
            assert_eq!(out, expected, "{form:?}");
            assert_eq!(form.length(&out), Some(260), "{form:?}");
        }
        assert_eq!(VariableForm::Rdw.length(&[0, 3, 0, 0]), None);
        assert!(VariableForm::Two.push(70_000, &mut Vec::new()).is_none());
    }
}
