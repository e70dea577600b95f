//! Relative files: slots of one length, found by number.
//!
//! | offset | bytes | of a slot |
//! |---|---|---|
//! | 0 | 8 | the record's length in the machine's order, 0 for none |
//! | 8 | longest record | the record |
//!
//! Invariants:
//! 1. Slot 1 is the first. A slot behind the file's end is empty.
//! 2. A file that ends inside a slot is told: what reads that slot, or would write over it, has
//!    status 30. All others are there.
//! 3. A slot that has no room is as it was before, and so is the file's length.

use super::device::Before;
use super::{Device, Shape};
use crate::body::{Body, Done, Found, Place, Which};
use crate::fcd::OpenMode;
use crate::opcode::Relation;
use crate::status::FileStatus;

const HEADER: usize = 8;
/// How many slots are read at once when the next record is sought.
const SLOTS: u64 = 64;

/// An open relative file.
pub struct Relative {
    device: Device,
    most: usize,
    /// Where the next record is sought, forward; the one before is sought in front of `last`.
    next: u64,
    /// The record that was read last, or that START found: it is read by both directions then.
    last: u64,
    started: bool,
    end: u64,
    /// There is a part of a slot behind the last one.
    is_cut: bool,
    slots: Vec<u8>,
    /// The first slot in `slots`.
    first: u64,
}

impl Relative {
    /// Over an open file.
    #[must_use]
    pub fn new(device: Device, shape: &Shape, mode: OpenMode) -> Relative {
        let mut file = Relative {
            device,
            most: shape.most,
            next: 1,
            last: 0,
            started: false,
            end: 0,
            is_cut: false,
            slots: Vec::new(),
            first: 0,
        };
        if mode != OpenMode::Output {
            file.measure(file.device.size().unwrap_or(0));
        }
        file
    }

    fn slot_bytes(&self) -> u64 {
        (HEADER + self.most) as u64
    }

    fn measure(&mut self, bytes: u64) {
        let slot = self.slot_bytes();
        self.end = self.end.max(bytes / slot);
        self.is_cut = self.end == bytes / slot && !bytes.is_multiple_of(slot);
    }

    fn place(&self, number: u64) -> u64 {
        (number - 1) * self.slot_bytes()
    }

    /// The record of a slot, if it has one.
    fn slot(&mut self, number: u64, direction: Relation) -> Done<Option<&[u8]>> {
        if self.is_cut && number == self.end + 1 {
            return Err(FileStatus::ERROR);
        }
        if number == 0 || number > self.end {
            return Ok(None);
        }
        let slot = self.slot_bytes() as usize;
        let held = (self.slots.len() / slot) as u64;
        if !(self.first..self.first + held).contains(&number) || self.first == 0 {
            let (first, count) = match direction {
                Relation::Less => (number.saturating_sub(SLOTS - 1).max(1), SLOTS),
                Relation::Equal => (number, 1),
                _ => (number, SLOTS),
            };
            let bytes = (count as usize).min((self.end - first + 1) as usize) * slot;
            self.slots.resize(bytes, 0);
            let read = self.device.read_at(self.place(first), &mut self.slots)?;
            self.slots[read..].fill(0);
            self.first = first;
        }
        let at = (number - self.first) as usize * slot;
        let bytes = self.slots.get(at..at + slot).ok_or(FileStatus::ERROR)?;
        let (header, record) = bytes.split_first_chunk::<HEADER>().ok_or(FileStatus::ERROR)?;
        match usize::try_from(u64::from_ne_bytes(*header)).unwrap_or(usize::MAX) {
            0 => Ok(None),
            len if len <= record.len() => Ok(Some(&record[..len])),
            _ => Err(FileStatus::ERROR),
        }
    }

    /// Writes a slot, which was sought before if the file has it.
    fn put(&mut self, number: u64, record: &[u8]) -> Done<()> {
        let mut bytes = Vec::with_capacity(HEADER + self.most);
        bytes.extend_from_slice(&(record.len() as u64).to_ne_bytes());
        bytes.extend_from_slice(record);
        bytes.resize(HEADER + self.most, 0);
        let place = self.place(number);
        let slot = self.slot_bytes() as usize;
        let at = number.checked_sub(self.first).map_or(usize::MAX, |at| at as usize * slot);
        let before = match self.slots.get(at..at.saturating_add(slot)) {
            Some(old) if number <= self.end => Before::Bytes(old),
            None if number <= self.end => return Err(FileStatus::ERROR),
            _ => Before::End(self.end * self.slot_bytes()),
        };
        let written = self.device.write_at(place, &bytes, before);
        self.slots.clear();
        self.first = 0;
        written?;
        self.end = self.end.max(number);
        Ok(())
    }

    fn number(&self, which: Which<'_>) -> u64 {
        match which {
            Which::Number(number) => number,
            _ => self.last,
        }
    }

    /// The first record from a number on, upwards or downwards.
    fn seek(&mut self, from: u64, downwards: bool) -> Done<Option<u64>> {
        let mut number = from.min(self.end + u64::from(!downwards));
        while (1..=self.end).contains(&number) {
            let direction = if downwards { Relation::Less } else { Relation::Greater };
            if self.slot(number, direction)?.is_some() {
                return Ok(Some(number));
            }
            number = if downwards { number - 1 } else { number + 1 };
        }
        if self.is_cut && !downwards && number == self.end + 1 {
            return Err(FileStatus::ERROR);
        }
        Ok(None)
    }

    fn take(&mut self, number: u64, record: &mut Vec<u8>) -> Done<Option<Found>> {
        let Some(bytes) = self.slot(number, Relation::Greater)? else { return Ok(None) };
        record.clear();
        record.extend_from_slice(bytes);
        (self.last, self.next, self.started) = (number, number + 1, false);
        Ok(Some(Found { status: FileStatus::DONE, number: Some(number) }))
    }
}

impl Body for Relative {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        self.measure(self.device.size()?);
        let from = match (previous, self.started) {
            (false, _) => self.next,
            (true, true) => self.last,
            (true, false) if self.last == 0 => self.end,
            (true, false) => self.last - 1,
        };
        let found = self.seek(from, previous)?.ok_or(FileStatus::END)?;
        self.take(found, record)?.ok_or(FileStatus::END)
    }

    fn read(&mut self, which: Which<'_>, record: &mut Vec<u8>) -> Done<Found> {
        let number = self.number(which);
        if self.slot(number, Relation::Equal)?.is_none() {
            return Err(FileStatus::NOT_FOUND);
        }
        self.take(number, record)?.ok_or(FileStatus::NOT_FOUND)
    }

    fn start(&mut self, relation: Relation, which: Which<'_>) -> Done<()> {
        let number = self.number(which);
        let found = match relation {
            Relation::Equal => self.slot(number, Relation::Equal)?.is_some().then_some(number),
            Relation::Greater => self.seek(number.saturating_add(1), false)?,
            Relation::GreaterOrEqual => self.seek(number.max(1), false)?,
            Relation::Less => self.seek(number.saturating_sub(1), true)?,
            Relation::LessOrEqual => self.seek(number, true)?,
            Relation::First => self.seek(1, false)?,
            Relation::Last => self.seek(self.end, true)?,
        };
        let found = found.ok_or(FileStatus::NOT_FOUND)?;
        (self.last, self.next, self.started) = (found, found, true);
        Ok(())
    }

    fn write(&mut self, record: &[u8], place: Place) -> Done<Found> {
        let (number, most) = match place.in_sequence {
            true => (self.end + 1, place.number),
            false => (place.number, u64::MAX),
        };
        // libcob has four bytes with a sign for a number.
        if number == 0 || number > u64::from(u32::MAX >> 1).min(most) {
            return Err(FileStatus::KEY_BOUNDARY);
        }
        // A gap would make a whole slot of the cut one.
        if self.is_cut && number > self.end {
            return Err(FileStatus::ERROR);
        }
        if self.slot(number, Relation::Equal)?.is_some() {
            return Err(FileStatus::KEY_EXISTS);
        }
        self.put(number, record)?;
        Ok(Found { status: FileStatus::DONE, number: Some(number) })
    }

    fn rewrite(&mut self, record: &[u8], which: Which<'_>) -> Done<FileStatus> {
        let number = self.number(which);
        if self.slot(number, Relation::Equal)?.is_none() {
            return Err(FileStatus::NOT_FOUND);
        }
        self.put(number, record)?;
        Ok(FileStatus::DONE)
    }

    fn delete(&mut self, which: Which<'_>) -> Done<()> {
        let number = self.number(which);
        if self.slot(number, Relation::Equal)?.is_none() {
            return Err(FileStatus::NOT_FOUND);
        }
        self.put(number, &[])
    }

    fn close(&mut self) -> Done<()> {
        self.device.output().clear();
        self.device.close()
    }
}
