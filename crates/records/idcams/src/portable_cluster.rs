//! A portable copy within a cluster: its bytes, cut into records of an entry-sequenced one.
//!
//! Invariants:
//! 1. Records have the greatest length that they can have, but for the last one. What they are
//!    says the copy itself: one that is not whole proves it.
//! 2. A copy is there when it is whole; until then its cluster is empty.
//! 3. Nobody copies a cluster into itself.

use std::io::{self, Read, Write};

use store::{Store, Unit as _, UnitOptions};
use vsam::{Entry, Feedback, Organization};

use crate::form::Form;
use crate::locate::Located;
use crate::machine::Output;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::source::Source;
use crate::target::{How, Put, Target, is_empty};

/// After how many records a unit of work ends that only reads.
const READ_RECORDS: u64 = 1000;

/// The longest record of a cluster that can hold a copy, and whether it can be used again.
fn limits(entry: &Entry) -> Result<(usize, bool), Refusal> {
    match entry.cluster() {
        Some(cluster) if cluster.organization == Organization::EntrySequenced => {
            Ok((cluster.record_bytes_max as usize, cluster.reuse))
        }
        _ => {
            let name = &entry.name;
            let text = format!(
                "ERROR OPENING {name}: copies are in files and in entry-sequenced clusters"
            );
            Err(Refusal::severe("IDC3300I", text))
        }
    }
}

fn failed(refusal: Refusal) -> io::Error {
    io::Error::other(refusal.text)
}

/// Reads the copy that a cluster has.
pub(crate) fn read<S: Store>(
    session: &mut Session<'_, S>,
    entry: &Entry,
) -> Result<Box<dyn Read>, Refusal> {
    let _ = limits(entry)?;
    let located = Located::Entry(Box::new(entry.clone()));
    let source = Source::open(session, &located, Form::Variable, 0)?;
    let store = session.catalog.store().clone();
    Ok(Box::new(Bytes { source, store, unit: None, record: Vec::new(), at: 0, records: 0 }))
}

struct Bytes<S: Store> {
    source: Source<S>,
    store: S,
    unit: Option<S::Unit>,
    record: Vec<u8>,
    /// What of the record was read.
    at: usize,
    records: u64,
}

impl<S: Store> Read for Bytes<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.record.len() {
            if self.records.is_multiple_of(READ_RECORDS)
                && let Some(unit) = self.unit.take()
            {
                unit.backout().map_err(io::Error::other)?;
            }
            let unit = match &mut self.unit {
                Some(unit) => unit,
                none => {
                    let begun = self.store.begin(UnitOptions::READ_ONLY);
                    none.insert(begun.map_err(io::Error::other)?)
                }
            };
            (self.at, self.records) = (0, self.records + 1);
            self.record.clear();
            if self.source.next_record(unit, &mut self.record).map_err(failed)?.is_none() {
                self.record.clear();
                return Ok(0);
            }
        }
        let len = out.len().min(self.record.len() - self.at);
        out[..len].copy_from_slice(&self.record[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

/// Writes a copy of `objects` into a cluster, which is emptied if it may be used again.
pub(crate) fn write<S: Store>(
    session: &mut Session<'_, S>,
    entry: &Entry,
    objects: &[Entry],
) -> Result<Box<dyn Output>, Refusal> {
    let (most, reuse) = limits(entry)?;
    let name = &entry.name;
    if objects.iter().any(|object| object.number == entry.number) {
        let text = format!("ERROR OPENING {name}: it would be copied into itself; EXCLUDE it");
        return Err(Refusal::severe("IDC3300I", text));
    }
    let located = Located::Entry(Box::new(entry.clone()));
    if !reuse && !is_empty(session, &located)? {
        return Err(Refusal::severe("IDC3300I", format!("{name} IS NOT EMPTY")));
    }
    let how = How { reuse, bulk: true, ..How::default() };
    let target = Target::open(session, &located, Form::Variable, how)?;
    let unit = session.catalog.store().begin(vsam::unit_options())?;
    let open = Some((target, unit));
    Ok(Box::new(Records { open, part: Vec::with_capacity(most), most }))
}

struct Records<S: Store> {
    /// Until it is ended.
    open: Option<(Target<S>, S::Unit)>,
    /// The record that becomes full.
    part: Vec<u8>,
    most: usize,
}

impl<S: Store> Records<S> {
    fn put(&mut self) -> io::Result<()> {
        let Some((target, unit)) = &mut self.open else {
            return Err(io::Error::other("the copy was ended"));
        };
        match target.put(unit, &self.part, &Feedback::default()).map_err(failed)? {
            Put::Done => self.part.clear(),
            Put::Refused(_, text) => return Err(io::Error::other(text)),
        }
        Ok(())
    }
}

impl<S: Store> Write for Records<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.part.len() == self.most {
            self.put()?;
        }
        let len = bytes.len().min(self.most - self.part.len());
        self.part.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    /// A record that is not full waits for more.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Store> Output for Records<S> {
    fn finish(&mut self) -> io::Result<()> {
        if !self.part.is_empty() {
            self.put()?;
        }
        let Some((target, unit)) = self.open.take() else { return Ok(()) };
        unit.commit().map_err(io::Error::other)?;
        target.close().map_err(failed)
    }
}
