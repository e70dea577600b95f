//! Writing: the lanes' own threads, and whoever else has sealed a group.
//!
//! Invariants:
//! 1. A group's bytes are handed to the disk once for each copy and never again.
//! 2. No write is retried. A failed one costs the copy; on the last copy it stops the kernel (K9).
//! 3. Entries of the write-ahead data set are written like groups; what may not be forgotten about
//!    them is in `ahead.rs` and `ahead_care.rs`.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use base::{GroupNumber, Lsn};
use seal::{Salt, Tag};
use seam::disk::{File, missing_file};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use seam::sync::{Mutex, MutexGuard};

use crate::LogError;
use crate::ahead::{Ahead, Entry, FIRST_COUNTER, Position, Salted};
use crate::beginning::Beginning;
use crate::flush_state::{Job, each};
use crate::group::{KeyBook, Purpose};
use crate::sealer::{Sealed, Sealer, Sealing, Why};
use crate::wads::{self, EntryHead, WadsFile, prepare};
use crate::waiters::{DurableSink, Parker, Waiting};

/// How soon a writer looks again at a record that was reserved and is not whole: its appender has
/// lost its processor between two instructions.
const HOLE_POLL: Duration = Duration::from_micros(50);
/// How often somebody who waits for the log to land looks whether the kernel has stopped.
const LOOK: Duration = Duration::from_millis(100);
/// How often somebody who waits for an entry looks whether it is over.
const ENTRY_LOOK: Duration = Duration::from_millis(20);
/// Threads that wait for the log and keep their parking place.
const PARKERS_KEPT: usize = 256;

/// Writes what was sealed.
pub(crate) struct Writing {
    sealing: Sealing,
    parkers: Mutex<Vec<Arc<Parker>>>,
}

impl Deref for Writing {
    type Target = Sealing;

    #[inline]
    fn deref(&self) -> &Sealing {
        &self.sealing
    }
}

/// Nothing is under way; what its owner changes of the sealer counts for the next group.
pub(crate) struct Rest<'w> {
    pub(crate) sealer: MutexGuard<'w, Sealer>,
    _pause: Pause<'w>,
}

/// Nothing is sealed.
struct Pause<'w> {
    writing: &'w Writing,
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut state = self.writing.flush_state.lock();
        state.set_paused(false);
        self.writing.refresh_writers(&state);
        self.writing.writers.nudge(&state);
    }
}

impl Writing {
    pub(crate) fn new(sealing: Sealing) -> Writing {
        Writing { sealing, parkers: Mutex::new(Vec::new()) }
    }

    /// The body of a thread for one lane. The lead copy's threads also seal.
    pub(crate) fn lane_loop(&self, stripe: u8, copy: u8) {
        let mut state = self.flush_state.lock();
        let lane = state.lane_index(stripe, copy);
        loop {
            if let Some(job) = state.next_job(stripe, copy) {
                drop(state);
                self.run(job, Some(lane));
                state = self.flush_state.lock();
                continue;
            }
            if self.writers.are_closed() {
                return;
            }
            let leads = state.lead() == Some(copy) && state.next_stripe() == stripe;
            if leads && self.demand(&state) {
                drop(state);
                let sealed = self.seal_next(Why::Wanted, &mut self.sealer.lock());
                let Some(sealed) = sealed else {
                    state = self.flush_state.lock();
                    if !state.has_job(stripe, copy) && self.demand(&state) {
                        // A record is reserved and not yet whole.
                        self.writers.wait_for(lane, &mut state, HOLE_POLL);
                    }
                    continue;
                };
                self.send(sealed, Some(lane));
                state = self.flush_state.lock();
                continue;
            }
            match state.commit_delay.watch() {
                Some((watching, until)) if watching == lane => {
                    let now = self.env.seam.clock.monotonic();
                    if now >= until {
                        self.end_wait(&mut state);
                        self.refresh_writers(&state);
                        // The next group may be another lane's.
                        self.writers.nudge(&state);
                        continue;
                    }
                    self.writers.wait_for(lane, &mut state, until - now);
                }
                _ => self.writers.wait(lane, &mut state),
            }
        }
    }

    /// Writes what was sealed.
    pub(crate) fn send(&self, sealed: Sealed, lane: Option<usize>) {
        match sealed {
            Sealed::Group(job) => self.run(job, lane),
            Sealed::Entry(entry) => self.run_ahead(entry, lane),
        }
    }

    /// Writes one group on one copy, or on all of them, and tells everybody. `lane` is the
    /// lane that the thread serves, if it serves one.
    pub(crate) fn run(&self, job: Job, lane: Option<usize>) {
        let begin = self.env.seam.clock.monotonic();
        let failed = self.write(&job);
        let took = self.env.seam.clock.monotonic().saturating_sub(begin);
        let Job { number, copies, stripe, buffer, .. } = job;
        drop(buffer);
        let lost = failed.iter().fold(0, |mask, (copy, _)| mask | 1 << copy);
        {
            let mut state = self.flush_state.lock();
            each(copies).for_each(|copy| state.lane_done(stripe, copy));
            if copies & !lost != 0 {
                self.stats.flush_us.record(took.as_micros() as u64);
                state.commit_delay.wrote(took);
                let durable = self.grown(state.landed(number, copies & !lost));
                if let (Some(durable), Some(lane)) = (durable, lane)
                    && state.in_flight() == 0
                {
                    self.begin_delay(&mut state, lane, durable);
                }
                self.settled(state, durable);
            }
        }
        for (copy, error) in failed {
            self.stats.failed_writes.one();
            // The error has stopped the kernel if there was no other copy.
            let _ = self.lose(copy, &error);
        }
    }

    /// Writes a group; the copies on which that failed come back.
    fn write(&self, job: &Job) -> Vec<(u8, LogError)> {
        let mut failed = Vec::new();
        let mut sound = Vec::with_capacity(job.copies.count_ones() as usize);
        for copy in each(job.copies) {
            match self.file_of(job, copy) {
                Ok(file) => sound.push((copy, file)),
                Err(error) => failed.push((copy, error)),
            }
        }
        let bytes = &job.buffer[..job.len];
        let outcomes = match &sound[..] {
            [(_, only)] => vec![only.write_at(bytes, job.offset)],
            several => {
                let files: Vec<&dyn File> = several.iter().map(|(_, file)| *file).collect();
                let written = self.env.seam.disk.write_copies(&files, job.offset, &[bytes]);
                written.unwrap_or_else(|| {
                    // From the next group on each copy has its thread.
                    self.writers.write_apart();
                    files.iter().map(|file| file.write_at(bytes, job.offset)).collect()
                })
            }
        };
        for ((copy, _), outcome) in sound.into_iter().zip(outcomes) {
            if let Err(error) = outcome {
                let path = job.at(copy).path(&self.layout());
                failed.push((copy, LogError::io("write", path, error)));
            }
        }
        failed
    }

    /// The file that a copy of a group goes to, with its header if the group is the first there.
    fn file_of<'j>(&self, job: &'j Job, copy: u8) -> Result<&'j dyn File, LogError> {
        let at = job.at(copy);
        let Some(file) = job.files.get(copy, job.stripe) else {
            let gone = missing_file();
            return Err(LogError::io("write", at.path(&self.layout()), gone));
        };
        if let Some(id) = &job.head {
            self.heads.write(&self.layout(), id, at, file.as_ref())?;
        }
        Ok(file.as_ref())
    }

    /// Seals and writes what has gathered, if nobody else is at it; whoever is goes on with it.
    pub(crate) fn drive(&self) -> bool {
        let end = self.ring.next();
        if end == self.positions.covered() {
            return false;
        }
        self.positions.want(end);
        if !self.writers.are_idle() {
            return false;
        }
        let Some(mut sealer) = self.sealer.try_lock() else {
            self.kick();
            return false;
        };
        let sealed = self.seal_next(Why::Driven, &mut sealer);
        drop(sealer);
        let Some(sealed) = sealed else { return false };
        self.send(sealed, None);
        true
    }

    pub(crate) fn wait_durable(&self, up_to: Lsn) -> Result<(), LogError> {
        self.check_wanted(up_to)?;
        if self.positions.durable() >= up_to {
            return Ok(());
        }
        self.positions.want(up_to.0);
        // With nobody writing, the shortest way to the disk is to go there oneself.
        if self.writers.are_idle()
            && let Some(mut sealer) = self.sealer.try_lock()
        {
            let sealed = self.seal_next(Why::Wanted, &mut sealer);
            drop(sealer);
            if let Some(sealed) = sealed {
                self.send(sealed, None);
            }
        }
        if self.positions.durable() < up_to {
            self.stats.waits.one();
            let parker = self.parkers.lock().pop().unwrap_or_default();
            let sink: Arc<dyn DurableSink> = parker.clone();
            self.enlist(Waiting { up_to, sink, token: 0 }, true);
            if !parker.wait(|| self.env.stop.is_set()) {
                // Stopped for a reason outside of the log, and perhaps nobody writes any more.
                self.wake_stopped();
                parker.wait(|| false);
            }
            let mut parkers = self.parkers.lock();
            if parkers.len() < PARKERS_KEPT {
                parkers.push(parker);
            }
        }
        Ok(self.env.stop.check()?)
    }

    /// Waits until nothing that was sealed is under way; nothing is sealed while that is held. The
    /// sealer is not held meanwhile: the threads that write wait for it now and then.
    pub(crate) fn come_to_rest(&self) -> Result<Rest<'_>, LogError> {
        self.flush_state.lock().set_paused(true);
        let pause = Pause { writing: self };
        loop {
            let sealer = self.sealer.lock();
            let taken = Lsn(self.positions.taken());
            if self.positions.landed() >= taken {
                return Ok(Rest { sealer, _pause: pause });
            }
            drop(sealer);
            self.land(taken)?;
        }
    }

    /// Waits until the log itself holds everything before `up_to`.
    pub(crate) fn land(&self, up_to: Lsn) -> Result<(), LogError> {
        self.wait_durable(up_to)?;
        if self.positions.landed() >= up_to {
            return Ok(());
        }
        self.positions.want_landed(up_to.0);
        let mut state = self.flush_state.lock();
        while self.positions.landed() < up_to {
            self.env.stop.check()?;
            if self.demand(&state) {
                self.writers.nudge(&state);
            }
            self.wads.wake.wait_for(&mut state, LOOK);
        }
        Ok(())
    }

    /// Writes an entry and tells everybody. If a file refuses, the log goes on alone.
    fn run_ahead(&self, entry: Entry, lane: Option<usize>) {
        let begin = self.env.seam.clock.monotonic();
        let written = self.record_ahead(entry.beginning).and_then(|()| self.write_entry(&entry));
        let took = self.env.seam.clock.monotonic().saturating_sub(begin);
        let Entry { end, buffer, .. } = entry;
        if let Err(error) = written {
            return self.stay_behind(buffer, &error);
        }
        let mut state = self.flush_state.lock();
        state.ahead_ends(buffer);
        self.stats.flush_us.record(took.as_micros() as u64);
        state.commit_delay.wrote(took);
        if let Some(lane) = lane
            && state.in_flight() == 0
        {
            self.begin_delay(&mut state, lane, end);
        }
        self.settled(state, Some(end));
    }

    fn write_entry(&self, entry: &Entry) -> Result<(), LogError> {
        let bytes = &entry.buffer[..entry.len];
        let files: Vec<&dyn File> = entry.files.iter().map(|one| one.file.as_ref()).collect();
        let together = match &files[..] {
            [_] => None,
            several => self.env.seam.disk.write_copies(several, entry.offset, &[bytes]),
        };
        let outcomes = together.unwrap_or_else(|| {
            files.iter().map(|file| file.write_at(bytes, entry.offset)).collect()
        });
        for (one, outcome) in entry.files.iter().zip(outcomes) {
            outcome.map_err(|error| LogError::io("write", &one.path, error))?;
        }
        Ok(())
    }

    /// Has it recorded, once, that the write-ahead data set may hold what the log lacks (see
    /// `ahead.rs`).
    fn record_ahead(&self, beginning: Beginning) -> Result<(), LogError> {
        let mut recorded = self.wads.recorded.lock();
        if !*recorded && !armed(Failpoint::WadsUnrecorded) {
            // Also if that fails: what is recorded then nobody knows, and nothing goes ahead before
            // it is recorded again that there is nothing.
            *recorded = true;
            let noted = self.env.events.ahead(Some(beginning));
            noted.map_err(|why| LogError::NoWads { why })?;
        }
        Ok(())
    }

    /// Nothing is written ahead any more; what would have been goes to the log at once.
    fn stay_behind(&self, buffer: AlignedBuf, error: &LogError) {
        *self.wads.trouble.lock() = Some(error.to_string());
        let mut sealer = self.sealer.lock();
        sealer.ahead = None;
        self.positions.set_ahead(0);
        self.positions.want_landed(self.ring.next());
        let mut state = self.flush_state.lock();
        state.ahead_ends(buffer);
        state.set_ahead(false);
        drop(sealer);
        self.settled(state, None);
    }

    /// Makes the write-ahead data set part of a log that was just opened: what it held is landed,
    /// then it begins anew. Returns what an operator should know if it cannot be used.
    pub(crate) fn go_ahead(&self, held: bool) -> Result<Option<String>, LogError> {
        self.land(Lsn(self.ring.next()))?;
        // Not before what it held has landed; from here on it may be missing, so not after the
        // files are made anew.
        let late = armed(Failpoint::WadsOverLate);
        if held && !late {
            self.ahead_is_over()?;
        }
        let Some(wads) = &self.config.wads else { return Ok(None) };
        let begun = prepare(&self.env, wads).and_then(|files| self.begin_ahead(files, wads.bytes));
        if held && late {
            self.ahead_is_over()?;
        }
        let Err(error) = begun else { return Ok(None) };
        *self.wads.trouble.lock() = Some(error.to_string());
        Ok(Some(format!("the write-ahead data set is not used: {error}")))
    }

    /// Writes the first entry of a new beginning to files of so many bytes, which are empty; from
    /// then on commits go ahead.
    fn begin_ahead(&self, files: Vec<WadsFile>, bytes: u64) -> Result<(), LogError> {
        let (env, config) = (&self.env, &self.config);
        let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
        let entropy = env.seam.entropy.as_ref();
        let salt = Salt::draw(entropy).map_err(LogError::Entropy)?;
        let beginning = Beginning::draw(entropy).map_err(LogError::Entropy)?;
        let generation = book.current(config.format)?;
        let key = book.working(Purpose::Wads, config.format, generation, &salt)?;
        let head = {
            let sealer = self.sealer.lock();
            EntryHead {
                format: config.format,
                is_first: true,
                system: env.system,
                generation,
                payload_len: 0,
                salt,
                counter: FIRST_COUNTER,
                first: Lsn(sealer.taker.taken()),
                group: GroupNumber(sealer.next),
                before: sealer.previous,
                index: 0,
                beginning,
                tag: Tag([0; 16]),
            }
        };
        wads::begin(&files, &key, &head)?;
        let mut sealer = self.sealer.lock();
        let at = Position { scout: sealer.taker.scout(), group: sealer.next, bytes };
        let salted = Salted { key, generation, salt };
        sealer.ahead = Some(Ahead::new(files.into(), beginning, salted, at));
        self.flush_state.lock().set_ahead(true);
        Ok(())
    }

    /// Lands everything and writes nothing ahead any more.
    pub(crate) fn end_ahead(&self) -> Result<(), LogError> {
        self.land(Lsn(self.ring.next()))?;
        self.sealer.lock().ahead = None;
        self.flush_state.lock().set_ahead(false);
        if *self.wads.recorded.lock() { self.ahead_is_over() } else { Ok(()) }
    }

    /// The log holds everything that the write-ahead data set held.
    fn ahead_is_over(&self) -> Result<(), LogError> {
        let mut recorded = self.wads.recorded.lock();
        let noted = self.env.events.ahead(None);
        noted.map_err(|why| LogError::NoWads { why })?;
        *recorded = false;
        Ok(())
    }

    /// Has the log alone go on, and waits for the entry that is under way: after that there is
    /// none, so no entry comes late.
    pub(crate) fn stop_ahead(&self) -> Result<(), LogError> {
        {
            let mut sealer = self.sealer.lock();
            sealer.ahead = None;
            self.positions.set_ahead(0);
            self.positions.want_landed(self.ring.next());
        }
        let mut state = self.flush_state.lock();
        while state.writes_ahead() && !armed(Failpoint::WadsRenewedEarly) {
            self.env.stop.check()?;
            self.wads.wake.wait_for(&mut state, ENTRY_LOOK);
        }
        state.set_ahead(false);
        Ok(())
    }
}
