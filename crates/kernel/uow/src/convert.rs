//! Conversion of data sets while they are in use: from plain to sealed, back, or to another
//! generation of their key (K4).
//!
//! A conversion is part of a data set's definition: the form before, and a cursor. A thread takes
//! chunk after chunk of intervals through the pool and has the page writer write them again, as
//! batches of their own. It starts when there is something to convert, also after a restart, and
//! ends when there is nothing: who converts nothing pays nothing.
//!
//! Invariants:
//! 1. From the record that begins a conversion on, everything is written in the new form. Only what
//!    the cursor has not passed may still have the old one, on the word of the log, not its own.
//! 2. The cursor is logged behind an interval only when a batch with its new form is on disk.
//! 3. A free interval that was ever written is given out, wiped, written and taken back: what it
//!    held in the old form does not stay behind.
//! 4. A conversion ends when nothing in the old form is left in the double-write area either.
//! 5. Chunks, beginnings and ends of conversions, and ends of data sets exclude each other.

use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, Lsn};
use pool::double_write::{BATCH_BYTES_MAX, BATCH_INTERVALS_MAX};
use pool::{Pinned, PoolError};
use seal::{Form, Format};
use seam::failpoint::{Failpoint, armed};
use seam::sync::MutexGuard;
use space::header::{fits_header_interval, write_header_interval};
use space::{Conversion, DataSet, Definition, Header};

use crate::converter::{Troubles, Turn};
use crate::record::{CatalogRecord, KernelRecord};
use crate::{Kernel, UowError};

/// How far the conversion of a data set is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionStatus {
    /// The data set.
    pub set: DataSetId,
    /// Its name.
    pub name: String,
    /// The label of its key.
    pub label: String,
    /// The form before.
    pub from: Form,
    /// The form to be.
    pub to: Form,
    /// Intervals that are done.
    pub done: u32,
    /// Intervals there are.
    pub intervals: u32,
    /// How many bytes an interval takes.
    pub unit_bytes: usize,
    /// The most bytes to convert in a second; 0: no limit.
    pub bytes_per_second: u64,
    /// Somebody has stopped it for now.
    pub paused: bool,
    /// Why it cannot go on, if it cannot.
    pub trouble: Option<String>,
}

/// What came of one look at a conversion.
enum Step {
    /// So many bytes were written.
    Went(u64),
    /// It is over, or not to be gone on with.
    Over,
}

/// What is to be done for an interval.
enum Interval<'s> {
    /// Write it again.
    Rewrite(Pinned<'s>),
    /// Nothing: nothing of it is on disk.
    Blank,
    /// Look again later: somebody is about to make something of it.
    NotNow,
}

/// A pause when somebody else has to be waited for.
const PAUSE: Duration = Duration::from_millis(1);
/// A chunk takes at most this share of a pool's frames.
const SHARE_OF_POOL: usize = 8;

impl Kernel {
    /// Changes what a data set is, in the log and at once in memory. Returns the log's end, which
    /// must be durable before anybody is told. Not for number, name, files or interval size.
    ///
    /// # Errors
    /// What `change` says; [`UowError::NoSuchSet`]; if the log refuses.
    pub fn redefine_set(
        &self,
        set: &DataSet,
        change: impl FnOnce(&mut Definition) -> Result<(), UowError>,
    ) -> Result<Lsn, UowError> {
        self.stop.check()?;
        // Under the registry's mutex, so that a checkpoint sees the record and the change, or none.
        let sets = self.sets.lock();
        if sets.get(set.id()).is_none() {
            return Err(UowError::NoSuchSet { name: set.name().to_owned() });
        }
        let mut definition = (*set.definition()).clone();
        change(&mut definition)?;
        let record = CatalogRecord::Changed(Box::new(definition.clone()));
        let end = if armed(Failpoint::ConversionUnlogged) {
            self.log.next_lsn()
        } else {
            KernelRecord::from(record).append_reserved(&self.log)?.end
        };
        let redefined = set.redefine(definition);
        redefined.map_err(|error| UowError::Stopped(self.stop.stop(error.to_string())))?;
        Ok(end)
    }

    /// Begins to convert a data set to another form; it goes on by itself, over restarts, too.
    /// `bytes_per_second` is the most to convert in a second, 0 for no limit.
    ///
    /// # Errors
    /// [`UowError::Converting`] if another conversion of it is under way, [`UowError::SameForm`],
    /// a key that is not there.
    pub fn convert(
        self: &Arc<Self>,
        set: &DataSet,
        to: Form,
        bytes_per_second: u64,
    ) -> Result<(), UowError> {
        let _work = self.upkeep.converter.work.lock();
        if to.format == Format::Sealed {
            // Before the log says that it is going to be used.
            self.parts.keys.key(&set.definition().label, to.generation)?;
        }
        let end = self.redefine_set(set, |definition| {
            let name = || set.name().to_owned();
            if definition.conversion.is_some() {
                return Err(UowError::Converting { name: name() });
            }
            let from = definition.form();
            if from == to {
                return Err(UowError::SameForm { name: name(), form: describe(to) });
            }
            let (next, paused) = (CiNumber(0), false);
            definition.conversion = Some(Conversion { from, next, bytes_per_second, paused });
            (definition.format, definition.generation) = (to.format, to.generation);
            self.check_form(definition)?;
            self.permit(definition)
        })?;
        // What was sealed before still goes to disk in the old form, behind the cursor perhaps.
        self.buffers.writer.settle();
        self.log.wait_durable(end)?;
        self.wake_converter(Some(set.id()))
    }

    /// Has a conversion wait, or go on, and how fast; `None` leaves the rate as it is.
    ///
    /// # Errors
    /// [`UowError::NotConverting`].
    pub fn steer_conversion(
        self: &Arc<Self>,
        set: &DataSet,
        paused: bool,
        bytes_per_second: Option<u64>,
    ) -> Result<(), UowError> {
        let _work = self.upkeep.converter.work.lock();
        let end = self.redefine_set(set, |definition| {
            let Some(conversion) = &mut definition.conversion else {
                return Err(UowError::NotConverting { name: set.name().to_owned() });
            };
            conversion.paused = paused;
            if let Some(rate) = bytes_per_second {
                conversion.bytes_per_second = rate;
            }
            Ok(())
        })?;
        self.log.wait_durable(end)?;
        self.wake_converter(Some(set.id()))
    }

    /// The conversions that are not over.
    #[must_use]
    pub fn conversions(&self) -> Vec<ConversionStatus> {
        let sets = self.all_sets();
        let under_way = sets.iter().filter_map(|set| {
            let definition = set.definition();
            let conversion = definition.conversion?;
            let trouble = self.upkeep.converter.trouble_of(set.id());
            Some(ConversionStatus {
                set: set.id(),
                name: set.name().to_owned(),
                label: definition.label.clone(),
                from: conversion.from,
                to: definition.form(),
                done: conversion.next.0.min(set.intervals()),
                intervals: set.intervals(),
                unit_bytes: set.unit_bytes(),
                bytes_per_second: conversion.bytes_per_second,
                paused: conversion.paused,
                trouble,
            })
        });
        under_way.collect()
    }

    /// Starts the thread if there is work and it does not run. `retry` is a data set whose trouble
    /// is to be forgotten.
    pub(crate) fn wake_converter(
        self: &Arc<Self>,
        retry: Option<DataSetId>,
    ) -> Result<(), UowError> {
        let weak = Arc::downgrade(self);
        let woken = self.upkeep.converter.wake(
            retry,
            |troubles| self.next_to_convert(troubles),
            |set| self.first_due(set),
            move || weak.upgrade().is_some_and(|kernel| kernel.convert_on()),
        );
        Ok(woken?)
    }

    /// The data set that is converted next.
    fn next_to_convert(&self, troubles: &Troubles) -> Option<Arc<DataSet>> {
        let wants = |set: &Arc<DataSet>| {
            let conversion = set.definition().conversion;
            conversion.is_some_and(|c| !c.paused) && !troubles.contains_key(&set.id())
        };
        self.all_sets().into_iter().find(wants)
    }

    /// One round of the thread; `false` when it shall end.
    fn convert_on(&self) -> bool {
        let next =
            |troubles: &Troubles| self.next_to_convert(troubles).filter(|_| !self.stop.is_set());
        let set = match self.upkeep.converter.turn(&*self.parts.seam.clock, next) {
            Turn::Waited => return true,
            Turn::End => return false,
            Turn::Chunk(set) => set,
        };
        let begun = self.parts.seam.clock.monotonic();
        match self.convert_chunk(&set) {
            Ok(Step::Went(bytes)) => self.pace(&set, begun, bytes),
            Ok(Step::Over) => {}
            Err(error) if error.is_stopped() => {}
            Err(UowError::Pool(PoolError::NoFrames { .. })) => self.seam().clock.sleep(PAUSE),
            Err(error) => {
                self.upkeep.converter.give_up(set.id(), error.to_string());
            }
        }
        true
    }

    /// When the first chunk after a restart may begin: one may just have been written before it.
    fn first_due(&self, set: &DataSet) -> Duration {
        let all = u64::from(set.intervals()) * set.unit_bytes() as u64;
        self.parts.seam.clock.monotonic() + time_for(set, all.min(BATCH_BYTES_MAX as u64))
    }

    /// Says when the next chunk may begin.
    fn pace(&self, set: &DataSet, begun: Duration, bytes: u64) {
        let time = time_for(set, bytes);
        if time > Duration::ZERO {
            // What a slow disk has cost is not made up for later.
            self.upkeep.converter.wait_until(begun + time);
        }
    }

    /// Converts the next intervals of a data set, or ends its conversion.
    fn convert_chunk(&self, set: &Arc<DataSet>) -> Result<Step, UowError> {
        if !self.has_log_room(0) {
            self.ask_for_log_room();
            return Ok(Step::Went(0));
        }
        let work = self.upkeep.converter.work.lock();
        let definition = set.definition();
        let Some(conversion) = definition.conversion.filter(|c| !c.paused) else {
            return Ok(Step::Over);
        };
        if self.set(set.id()).is_none() {
            return Ok(Step::Over);
        }
        let (first, end) = (conversion.next, set.intervals());
        if first.0 >= end {
            return self.end_conversion(set, work);
        }
        let share = set.pool().frames() / SHARE_OF_POOL;
        let count_max = (BATCH_BYTES_MAX / set.unit_bytes()).min(BATCH_INTERVALS_MAX).min(share);
        let count = (count_max.max(1) as u32).min(end - first.0);
        if armed(Failpoint::CursorTooEarly) {
            self.move_cursor(set, CiNumber(first.0 + count))?;
        }
        let mut wiped = Vec::new();
        let written = self.rewrite(set, first, count, &mut wiped);
        for ci in wiped {
            self.release_interval(set, ci)?;
        }
        let (next, written) = written?;
        match next > first {
            true => self.move_cursor(set, next)?,
            false => self.seam().clock.sleep(PAUSE),
        }
        Ok(Step::Went(written * set.unit_bytes() as u64))
    }

    fn move_cursor(&self, set: &DataSet, next: CiNumber) -> Result<(), UowError> {
        self.redefine_set(set, |definition| {
            if let Some(conversion) = &mut definition.conversion {
                conversion.next = next;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Writes `count` intervals again. Returns the one behind the last that is done, and how many
    /// were written.
    fn rewrite(
        &self,
        set: &Arc<DataSet>,
        first: CiNumber,
        count: u32,
        wiped: &mut Vec<CiNumber>,
    ) -> Result<(CiNumber, u64), UowError> {
        let pool = set.pool();
        let behind = first.0 + count;
        let cold = |ci: &CiNumber| !pool.is_resident(set.id(), *ci);
        let cold: Vec<CiNumber> = (first.0..behind).map(CiNumber).filter(cold).collect();
        pool.read_ahead(&**set, first, count);
        let mut pins = Vec::with_capacity(count as usize);
        let mut next = first;
        let mut failed = None;
        while next.0 < behind {
            match self.to_rewrite(set, next, wiped) {
                Ok(Interval::Rewrite(pin)) => pins.push(pin),
                Ok(Interval::Blank) => {}
                Ok(Interval::NotNow) => break,
                // What others need just now they give back soon.
                Err(UowError::Pool(PoolError::NoFrames { .. })) if !pins.is_empty() => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            next.0 += 1;
        }
        let mut left = &pins[..];
        while !left.is_empty() {
            let written = self.buffers.writer.write_again(left)?;
            if written == 0 {
                self.seam().clock.sleep(PAUSE);
            }
            left = &left[written..];
        }
        let count = pins.len() as u64;
        drop(pins);
        cold.into_iter().for_each(|ci| pool.let_go(set.id(), ci));
        match failed {
            // What stands before it is done: the cursor says where the trouble is.
            Some(error) if next == first => Err(error),
            _ => Ok((next, count)),
        }
    }

    /// Looks what has to be done for an interval; pins it if it has to be written again.
    fn to_rewrite<'s>(
        &self,
        set: &'s DataSet,
        ci: CiNumber,
        wiped: &mut Vec<CiNumber>,
    ) -> Result<Interval<'s>, UowError> {
        if set.expected_prefix(ci)? == 0 || ci.0 >= set.intervals() {
            return Ok(Interval::Blank);
        }
        if !set.is_used(ci)? {
            if armed(Failpoint::FreeNotConverted) {
                return Ok(Interval::Blank);
            }
            return match self.wipe(set, ci, wiped)? {
                true => Ok(Interval::Rewrite(set.pin(ci)?)),
                false => Ok(Interval::NotNow),
            };
        }
        match set.pin(ci) {
            Ok(pin) => Ok(Interval::Rewrite(pin)),
            // Given out and not written since: what stands on disk need not make sense.
            Err(PoolError::Damaged { .. }) if self.work.transit.has((set.id(), ci)) => {
                Ok(Interval::NotNow)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives out a free interval and wipes it; `false` if somebody else has it by now (3).
    fn wipe(
        &self,
        set: &DataSet,
        ci: CiNumber,
        wiped: &mut Vec<CiNumber>,
    ) -> Result<bool, UowError> {
        let mut given_out = Lsn::NONE;
        let given = set.allocate_this(ci, &mut |page, ci| {
            self.log_given_out((set.id(), ci), page)?;
            given_out = page.lsn();
            Ok::<(), UowError>(())
        })?;
        if given {
            wiped.push(ci);
            let mut page = set.pin_fresh(ci)?.exclusive();
            page.begin_change(given_out);
            page.bytes_mut().fill(0);
            Header::write(page.bytes_mut(), space::kind::FREE, 0, ci);
            page.set_lsn(given_out);
        }
        Ok(given)
    }

    /// Everything is converted: what is left of the old form elsewhere goes (4).
    fn end_conversion(
        &self,
        set: &Arc<DataSet>,
        _work: MutexGuard<'_, ()>,
    ) -> Result<Step, UowError> {
        let mut done = Definition { conversion: None, ..(*set.definition()).clone() };
        done.drop_permit();
        self.renew_header(set, &done)?;
        if !armed(Failpoint::SlotsNotCleared) {
            self.buffers.writer.clear_area()?;
        }
        let end = self.redefine_set(set, |definition| {
            definition.conversion = None;
            definition.drop_permit();
            Ok(())
        })?;
        self.log.wait_durable(end)?;
        Ok(Step::Over)
    }

    /// The header interval says what the data set is, to whoever has nothing else.
    fn renew_header(&self, set: &DataSet, definition: &Definition) -> Result<(), UowError> {
        if !fits_header_interval(definition, set.usable_bytes()) {
            return Ok(());
        }
        let mut page = set.exclusive(CiNumber(0))?;
        page.begin_change(self.log.next_lsn());
        write_header_interval(page.bytes_mut(), self.parts.system, definition);
        drop(page);
        let pin = set.pin(CiNumber(0))?;
        while self.buffers.writer.write_again(std::slice::from_ref(&pin))? == 0 {
            self.seam().clock.sleep(PAUSE);
        }
        Ok(())
    }
}

/// How long converting so many bytes takes by the limit on the rate; nothing without one.
fn time_for(set: &DataSet, bytes: u64) -> Duration {
    let rate = set.definition().conversion.map_or(0, |conversion| conversion.bytes_per_second);
    let us = (u128::from(bytes) * 1_000_000).checked_div(u128::from(rate)).unwrap_or(0);
    Duration::from_micros(us as u64)
}

/// A form, for people.
#[must_use]
pub fn describe(form: Form) -> String {
    match form.format {
        Format::Plain => "plain".into(),
        Format::Sealed => format!("sealed with key {}", form.generation),
    }
}
