//! Files of lines.
//!
//! Invariants:
//! 1. What is written is what libcob writes, byte for byte: blanks at the end of a record are left
//!    out, ADVANCING moves in front of a line or behind it, and a line that was begun is ended when
//!    the file is closed.
//! 2. A line without an end is a record as others are, to whoever reads it and to whoever extends
//!    the file: the first record that is written begins a line of its own.
//! 3. A line longer than the program's record is cut, and told by status 04.

use super::ending::{self, LineEnd};
use super::{Advancing, Device, LineForm, Shape};
use crate::body::{Body, Done, Found, Place};
use crate::status::FileStatus;

/// An open file of lines.
pub struct Lines {
    device: Device,
    most: usize,
    form: LineForm,
    needs_line: bool,
    /// The last line of a file that is extended has no end: the first record that is written makes
    /// one.
    unended: bool,
}

impl Lines {
    /// Over an open file.
    #[must_use]
    pub fn new(device: Device, shape: &Shape, form: LineForm) -> Lines {
        Lines { device, most: shape.most, form, needs_line: false, unended: false }
    }

    /// The same over a file that records are written behind.
    ///
    /// # Errors
    /// 30 if it ends inside what stands for one character; what the system says.
    pub fn extend(device: Device, shape: &Shape, form: LineForm) -> Done<Lines> {
        let unended = match ending::of_lines(&device, form)? {
            LineEnd::Ended => false,
            LineEnd::Open => true,
            LineEnd::Cut => return Err(FileStatus::ERROR),
        };
        Ok(Lines { unended, ..Lines::new(device, shape, form) })
    }

    /// Reads on to the end of the line; whether there was one, or at least a part of one.
    fn line(&mut self, record: &mut Vec<u8>) -> Done<Option<bool>> {
        let (mut any, mut cut) = (false, false);
        while let Some(byte) = self.device.byte()? {
            let byte = match byte {
                0 if self.form.nulls => self.device.byte()?.ok_or(FileStatus::ERROR)?,
                b'\r' => continue,
                b'\n' => return Ok(Some(cut)),
                byte => byte,
            };
            any = true;
            if record.len() < self.most {
                record.push(byte);
            } else {
                cut = true;
            }
        }
        Ok(any.then_some(cut))
    }
}

impl Body for Lines {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        if previous {
            return Err(FileStatus::LOGIC);
        }
        record.clear();
        match self.line(record)? {
            None => Err(FileStatus::END),
            Some(false) => Ok(Found::plain()),
            Some(true) => Ok(Found { status: FileStatus::LENGTH, number: None }),
        }
    }

    fn write(&mut self, record: &[u8], place: Place) -> Done<Found> {
        let advancing = Advancing::of(place.options);
        let end = record.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        let record = if self.form.keep_blanks { record } else { &record[..end] };
        let (form, needed_line) = (self.form, self.needs_line);
        let out = self.device.output();
        let begun_at = out.len();
        if self.unended {
            out.extend_from_slice(if form.carriage_return { &b"\r\n"[..] } else { b"\n" });
        }
        if advancing.is_after() {
            advancing.push(out);
            self.needs_line = true;
        }
        if form.nulls {
            for byte in record {
                if *byte < b' ' {
                    out.push(0);
                }
                out.push(*byte);
            }
        } else {
            out.extend_from_slice(record);
        }
        let begun = needed_line || advancing.is_after();
        let returns = advancing.is_page() || advancing.is_none() || advancing.is_before() && begun;
        if form.carriage_return && returns {
            out.push(b'\r');
        }
        if advancing.is_none() {
            out.push(b'\n');
            self.needs_line = false;
        }
        if advancing.is_before() {
            advancing.push(out);
            self.needs_line = false;
        }
        if let Err(status) = self.device.wrote(begun_at) {
            self.needs_line = needed_line;
            return Err(status);
        }
        self.unended = false;
        Ok(Found::plain())
    }

    fn close(&mut self) -> Done<()> {
        if std::mem::take(&mut self.needs_line) {
            self.device.output().push(b'\n');
        }
        self.device.close()
    }
}
