//! Making an image copy while everything is in use (K18).
//!
//! The state of the kernel is noted first; from its redo point on the log has whatever the copied
//! intervals lack. Intervals are read past the pool, many at once. One that does not prove itself
//! was being written: it is read again, and then taken from the pool, which has it. So no program
//! waits for the copy, and it takes no program's frames. Several threads read and prove; this one
//! writes what they have proven, in the order of the intervals.
//!
//! Invariants:
//! 1. Which intervals are in use is looked up block by block, before they are read; what comes to
//!    be used later is in the log from its first byte.
//! 2. The copy ends with an LSN that is durable and that nothing in it is newer than.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::bytes::push_string16;
use base::{CiNumber, KeyGeneration, Lsn};
use recon::{ArchiveFile, CopyKind, ImageCopy, Recon, Record, SetExtent, State};
use seal::{Form, Format, Salt, Tag};
use seam::failpoint::{Failpoint, armed};
use space::{DataSet, map};
use uow::Kernel;
use uow::checkpoint::Checkpoint;

use crate::envelope::{CopyKeys, Kind, Sealer};
use crate::prove::{Buffers, Provers, RunWanted, provers};
use crate::{CopySink, RecoveryError};

/// How a copy is to be made.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// The number of a copy in RECON that this one goes on from: only what has changed since is
    /// copied. `None`: all of it.
    pub since: Option<u32>,
    /// The most bytes to read in a second; 0: as fast as it goes.
    pub bytes_per_second: u64,
}

/// What was copied.
#[derive(Clone, Debug)]
pub struct CopyReport {
    /// What RECON says of the copy.
    pub copy: ImageCopy,
    /// Intervals that were looked at.
    pub looked_at: u64,
    /// Intervals that are in the copy.
    pub copied: u64,
    /// Intervals that were taken from the pool because they were being written.
    pub from_pool: u64,
}

/// How far a long piece of work is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done, to what.
    pub what: &'a str,
    /// Bytes done.
    pub done: u64,
    /// Bytes in all, as far as that is known.
    pub total: u64,
}

/// Intervals in use are read in runs of at most so many bytes.
const RUN_BYTES: usize = 1 << 20;
/// The same of a copy that is throttled.
const THROTTLED_RUN_BYTES: usize = 128 << 10;
/// The longest rest of a copy that is throttled before it asks whether to go on.
const REST: Duration = Duration::from_millis(100);
/// Runs that are being read and proven while one is written.
const RUNS_AHEAD: usize = 6;

/// Copies data sets to a sink and registers the copy in RECON. `watch` hears how far it is, ten
/// times a second at least, and says whether to go on.
///
/// # Errors
/// A base that does not fit, a damaged interval, whatever sink, disk and RECON say;
/// [`RecoveryError::Interrupted`] if `watch` says so.
pub fn copy_sets(
    kernel: &Arc<Kernel>,
    keys: &CopyKeys,
    recon: &Recon,
    names: &[String],
    sink: &mut dyn CopySink,
    options: &CopyOptions,
    watch: &mut dyn FnMut(Progress<'_>) -> bool,
) -> Result<CopyReport, RecoveryError> {
    let mut sets = Vec::new();
    for name in names {
        let set = kernel.set_named(name);
        sets.push(set.ok_or_else(|| RecoveryError::NoSuchSet { name: name.clone() })?);
    }
    let since = since(recon, options.since, &sets)?;
    let salt = Salt::draw(kernel.seam().entropy.as_ref()).map_err(seal::SealError::Entropy)?;
    let held = recon.hold_log();
    let moment = moment_of(kernel, &sets)?;
    held.begin_at(moment.needed_from());
    let mut copy = Copying {
        kernel,
        sink,
        sealer: Sealer::new(keys, salt)?,
        since,
        rate: options.bytes_per_second,
        begun: kernel.seam().clock.monotonic(),
        provers: provers(options.bytes_per_second > 0),
        buffers: Vec::new(),
        started: 0,
        done: 0,
        total: sets.iter().map(|set| u64::from(set.intervals()) * set.unit_bytes() as u64).sum(),
        written: 0,
        report: (0, 0, 0),
        extents: Vec::new(),
        watch,
    };
    let from_us = kernel.seam().clock.utc_us();
    let number = draw_number(recon)?;
    copy.begin(&moment, &sets, (number, options.since.unwrap_or(0)), from_us)?;
    copy.copy_all(&sets)?;
    let _placing = recon.placing();
    still_of_use(kernel, recon, options.since, &sets)?;
    // Nothing that was copied is newer than the log's end now; of what the pool gave it need not
    // have been durable yet (2).
    let end = kernel.log().next_lsn();
    kernel.log().wait_durable(end)?;
    let end = if armed(Failpoint::CopyEndTooEarly) { moment.begin } else { end };
    let (to_us, tag) = copy.end(end)?;
    let files = copy.sink.finish()?;
    let (generation, bytes) = (copy.sealer.generation, copy.written);
    let (looked_at, copied, from_pool) = copy.report;
    let entry = ImageCopy {
        number,
        kind: if options.since.is_some() { CopyKind::Incremental } else { CopyKind::Full },
        base: options.since.unwrap_or(0),
        files: files.into_iter().map(|path| ArchiveFile { path, lost: false }).collect(),
        sets: copy.extents,
        start: moment.needed_from(),
        end,
        from_us,
        to_us,
        label: keys.label.clone(),
        generation,
        bytes,
        tag: tag.0,
    };
    record(recon, &entry, &sets)?;
    Ok(CopyReport { copy: entry, looked_at, copied, from_pool })
}

/// The number of the copy. It stands in the copy itself, so that RECON can be made anew from it.
fn draw_number(recon: &Recon) -> Result<u32, RecoveryError> {
    let draw = |state: &State| (vec![Record::Numbers(state.next_number())], state.next_number());
    Ok(recon.change(draw)?)
}

/// Whether the copy is of what is there, and goes on from what is there.
fn still_of_use(
    kernel: &Kernel,
    recon: &Recon,
    base: Option<u32>,
    sets: &[Arc<DataSet>],
) -> Result<(), RecoveryError> {
    if !armed(Failpoint::CopyOfReplaced) {
        sets.iter().try_for_each(|set| still_there(kernel, set))?;
    }
    rests_on_something(&recon.state(), base, sets)
}

/// Whether a data set is what it was when its copy was begun. Of one that was recovered since, the
/// copy would hold what is of no use: it would end behind the point up to which that counts.
fn still_there(kernel: &Kernel, set: &DataSet) -> Result<(), RecoveryError> {
    match kernel.set(set.id()) {
        Some(_) => Ok(()),
        None => Err(RecoveryError::Replaced { name: set.name().to_owned() }),
    }
}

/// Whether all that an incremental copy goes on from is there yet: an operator may have it
/// forgotten meanwhile, and then the copy serves nothing.
fn rests_on_something(
    state: &State,
    base: Option<u32>,
    sets: &[Arc<DataSet>],
) -> Result<(), RecoveryError> {
    let Some(number) = base.filter(|base| state.chain_of(*base).is_none()) else { return Ok(()) };
    let name = sets.first().map(|set| set.name().to_owned()).unwrap_or_default();
    Err(RecoveryError::NoCopy { name, why: format!("has number {number} any more") })
}

/// Tells RECON of a copy, unless what it goes on from has been forgotten by then.
fn record(recon: &Recon, copy: &ImageCopy, sets: &[Arc<DataSet>]) -> Result<(), RecoveryError> {
    let base = (copy.kind == CopyKind::Incremental).then_some(copy.base);
    recon.change(|state| match rests_on_something(state, base, sets) {
        Ok(()) => (vec![Record::ImageCopy(copy.clone())], Ok(())),
        refused => (Vec::new(), refused),
    })?
}

/// The LSN before which changes are in the base already.
fn since(recon: &Recon, base: Option<u32>, sets: &[Arc<DataSet>]) -> Result<Lsn, RecoveryError> {
    let Some(number) = base else { return Ok(Lsn::NONE) };
    let state = recon.state();
    let refuse =
        |set: &DataSet, why: String| RecoveryError::NoCopy { name: set.name().to_owned(), why };
    let chain = state.chain_of(number);
    for set in sets {
        let chain = chain.as_ref().ok_or_else(|| refuse(set, format!("has number {number}")))?;
        let holds = |copy: &&&ImageCopy| copy.sets.iter().any(|extent| extent.set == set.id());
        if chain.iter().filter(holds).count() != chain.len() {
            return Err(refuse(set, format!("has number {number} and holds it as it is now")));
        }
    }
    Ok(chain.and_then(|chain| chain.last().map(|copy| copy.start)).unwrap_or(Lsn::NONE))
}

/// The state of the kernel, as far as it is about these data sets.
fn moment_of(kernel: &Kernel, sets: &[Arc<DataSet>]) -> Result<Checkpoint, RecoveryError> {
    let mut moment = kernel.moment()?;
    let ours = |id: base::DataSetId| sets.iter().any(|set| set.id() == id);
    if armed(Failpoint::CopyRedoTooNew) {
        moment.redo = moment.begin;
    }
    moment.sets.clear();
    moment.building.clear();
    moment.offline.clear();
    moment.transit.retain(|(set, _)| ours(*set));
    for places in moment.frees.values_mut() {
        places.retain(|(set, _)| ours(*set));
    }
    moment.frees.retain(|_, places| !places.is_empty());
    for records in moment.anchored.values_mut() {
        records.retain(|record| ours(record.set));
    }
    Ok(moment)
}

struct Copying<'c> {
    kernel: &'c Arc<Kernel>,
    sink: &'c mut dyn CopySink,
    sealer: Sealer,
    since: Lsn,
    rate: u64,
    begun: Duration,
    provers: Provers,
    /// What was used before, to be used again.
    buffers: Vec<Buffers>,
    /// Bytes of the intervals that are read or on their way, those that were looked at, and all.
    started: u64,
    done: u64,
    total: u64,
    written: u64,
    /// Intervals looked at, copied, taken from the pool.
    report: (u64, u64, u64),
    extents: Vec<SetExtent>,
    watch: &'c mut dyn FnMut(Progress<'_>) -> bool,
}

/// What is to be written next.
enum Next {
    /// A map's payload.
    Map(Vec<u8>),
    /// The oldest run that is not taken from the provers.
    Run,
}

/// A data set that is being copied.
struct OneSet {
    index: u16,
    set: Arc<DataSet>,
    forms: Vec<Form>,
    intervals: u32,
    next: VecDeque<Next>,
}

impl Copying<'_> {
    fn piece(&mut self, kind: Kind, payload: &[u8], units: &[u8]) -> Result<Tag, RecoveryError> {
        let (piece, tag) = self.sealer.seal(kind, payload, units.len());
        self.sink.write(&piece)?;
        self.sink.write(units)?;
        self.written += (piece.len() + units.len()) as u64;
        Ok(tag)
    }

    fn begin(
        &mut self,
        moment: &Checkpoint,
        sets: &[Arc<DataSet>],
        (number, base): (u32, u32),
        utc_us: u64,
    ) -> Result<(), RecoveryError> {
        let mut out = vec![if base == 0 { 1 } else { 2 }];
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&base.to_le_bytes());
        out.extend_from_slice(&utc_us.to_le_bytes());
        out.extend_from_slice(&self.since.0.to_le_bytes());
        let state = moment.encode();
        out.extend_from_slice(&(state.len() as u32).to_le_bytes());
        out.extend_from_slice(&state);
        out.extend_from_slice(&(sets.len() as u16).to_le_bytes());
        sets.iter().for_each(|set| push_string16(&mut out, &set.definition().encode()));
        self.piece(Kind::Beginning, &out, &[]).map(|_| ())
    }

    /// The last piece.
    fn end(&mut self, end: Lsn) -> Result<(u64, Tag), RecoveryError> {
        let utc_us = self.kernel.seam().clock.utc_us();
        let mut out = self.sealer.pieces.to_le_bytes().to_vec();
        out.extend_from_slice(&end.0.to_le_bytes());
        out.extend_from_slice(&utc_us.to_le_bytes());
        self.extents.iter().for_each(|set| out.extend_from_slice(&set.intervals.to_le_bytes()));
        Ok((utc_us, self.piece(Kind::Manifest, &out, &[])?))
    }

    fn copy_all(&mut self, sets: &[Arc<DataSet>]) -> Result<(), RecoveryError> {
        for (index, set) in sets.iter().enumerate() {
            let copied = self.copy_set(index as u16, set);
            // Its files may be gone by now: that is no damage.
            copied.map_err(|error| still_there(self.kernel, set).err().unwrap_or(error))?;
        }
        Ok(())
    }

    fn copy_set(&mut self, index: u16, set: &Arc<DataSet>) -> Result<(), RecoveryError> {
        let (set, next) = (Arc::clone(set), VecDeque::new());
        let mut one = OneSet { index, set, forms: Vec::new(), intervals: 0, next };
        let run_max = (self.run_bytes() / one.set.unit_bytes()).max(1);
        let per_map = one.set.layout().per_map();
        let high = one.set.high_water().map_err(uow::UowError::from)?;
        for block in 0..high.div_ceil(per_map) {
            let used = self.map_of(&mut one, block * per_map)?;
            let mut at = 0;
            while let Some(first) = used.get(at).copied() {
                let follow = used[at..].iter().zip(first..).take(run_max);
                let count = follow.take_while(|(ci, expected)| **ci == *expected).count();
                self.have_proven(&mut one, CiNumber(first), count)?;
                at += count;
            }
        }
        while !one.next.is_empty() {
            self.write_next(&mut one)?;
        }
        let generations: Vec<KeyGeneration> = one
            .forms
            .iter()
            .filter(|form| form.format == Format::Sealed)
            .map(|form| form.generation)
            .collect();
        self.extents.push(SetExtent {
            set: one.set.id(),
            name: one.set.name().to_owned(),
            intervals: one.intervals,
            label: one.set.definition().label.clone(),
            generations,
        });
        Ok(())
    }

    /// Which intervals of a block are in use and hold something; the copy will say so, too.
    fn map_of(&mut self, one: &mut OneSet, first: u32) -> Result<Vec<u32>, RecoveryError> {
        let layout = one.set.layout();
        let per_map = layout.per_map();
        let mut bits = vec![0_u8; per_map.div_ceil(8) as usize];
        let mut used = Vec::new();
        {
            let page = one.set.shared(layout.map1_of(CiNumber(first)))?;
            for index in 0..per_map {
                let ci = CiNumber(first + index);
                let root = ci == space::ROOT;
                if root || (!layout.is_reserved(ci) && map::is_used(page.bytes(), layout, index)) {
                    bits[index as usize / 8] |= 1 << (index % 8);
                    used.push(ci.0);
                }
            }
        }
        let mut out = one.index.to_le_bytes().to_vec();
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&per_map.to_le_bytes());
        out.extend_from_slice(&bits);
        one.next.push_back(Next::Map(out));
        Ok(used)
    }

    /// Has a run read and proven. Writes what is proven by now if enough is on its way.
    fn have_proven(
        &mut self,
        one: &mut OneSet,
        first: CiNumber,
        count: usize,
    ) -> Result<(), RecoveryError> {
        self.throttle(one.set.name(), (count * one.set.unit_bytes()) as u64)?;
        while self.provers.waiting() == RUNS_AHEAD {
            self.write_next(one)?;
        }
        let unit = one.set.unit_bytes();
        let fits = |buffers: &Buffers| buffers.unit_bytes() == unit;
        let buffers = self.buffers.pop().filter(fits);
        let buffers = buffers.unwrap_or_else(|| Buffers::new(self.run_bytes(), unit));
        self.provers.give(RunWanted {
            set: Arc::clone(&one.set),
            first,
            count,
            since: self.since,
            buffers,
        });
        self.started += (count * unit) as u64;
        one.next.push_back(Next::Run);
        Ok(())
    }

    /// Writes the oldest of what is to be written.
    fn write_next(&mut self, one: &mut OneSet) -> Result<(), RecoveryError> {
        let run = match one.next.pop_front() {
            Some(Next::Map(payload)) => return self.piece(Kind::Map, &payload, &[]).map(|_| ()),
            Some(Next::Run) => self.provers.take(),
            None => None,
        };
        let Some(run) = run.transpose()? else { return Ok(()) };
        let copied = run.entries.len() as u64;
        if copied > 0 {
            let mut payload = one.index.to_le_bytes().to_vec();
            for entry in &run.entries {
                entry.encode(&mut payload);
                if !one.forms.contains(&entry.form) {
                    one.forms.push(entry.form);
                }
            }
            self.piece(Kind::Intervals, &payload, run.units())?;
        }
        let (looked_at, sum, from_pool) = &mut self.report;
        *looked_at += run.looked_at;
        *sum += copied;
        *from_pool += run.from_pool;
        one.intervals += copied as u32;
        self.done += run.looked_at * one.set.unit_bytes() as u64;
        self.buffers.push(run.buffers);
        self.ask(one.set.name())
    }

    /// Says how far it is, and hears whether to go on.
    fn ask(&mut self, what: &str) -> Result<(), RecoveryError> {
        let (done, total) = (self.done, self.total.max(self.done));
        let go_on = (self.watch)(Progress { what, done, total });
        if go_on { Ok(()) } else { Err(RecoveryError::Interrupted) }
    }

    /// What is read at once: of a copy that is throttled so little that programs, who may wait for
    /// the device behind it, hardly feel it.
    fn run_bytes(&self) -> usize {
        if self.rate == 0 { RUN_BYTES } else { THROTTLED_RUN_BYTES }
    }

    /// Waits so that no more than the rate is read in a second, in short rests: nobody who wants
    /// the copy to end waits for a rate.
    fn throttle(&mut self, what: &str, bytes: u64) -> Result<(), RecoveryError> {
        if self.rate == 0 {
            return Ok(());
        }
        let due = (self.started + bytes).saturating_mul(1_000_000) / self.rate;
        loop {
            let clock = &self.kernel.seam().clock;
            let gone = clock.monotonic().saturating_sub(self.begun);
            let wait = Duration::from_micros(due).saturating_sub(gone);
            if wait.is_zero() {
                return Ok(());
            }
            clock.sleep(wait.min(REST));
            self.ask(what)?;
        }
    }
}
