//! Writing: the lanes' own threads, and whoever else has sealed a group.
//!
//! Invariants:
//! 1. A group's bytes are handed to the disk once for each copy and never again.
//! 2. No write is retried. A failed one costs the copy; on the last copy it stops the kernel (K9).
//! 3. The loss of a copy is durable somewhere else before anything is acknowledged without it.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use base::Lsn;
use seam::disk::File;
use seam::plant::{Plant, planted};
use seam::sync::MutexGuard;

use crate::LogError;
use crate::company::Landing;
use crate::core::{Core, HOLE_POLL};
use crate::flow::{Board, Job, Losing, Waiting, each};
use crate::sealer::{Sealed, Why};

/// So many of those told next are looked at, whether they are the same sink.
const SINKS_LOOKED_AT: usize = 16;

impl Core {
    /// The body of a thread for one lane. The lead copy's threads also seal.
    pub(crate) fn lane_loop(&self, stripe: u8, copy: u8) {
        let mut board = self.board.lock();
        let lane = board.lane_index(stripe, copy);
        loop {
            if let Some(job) = board.next_job(stripe, copy) {
                drop(board);
                self.run(job, Some(lane));
                board = self.board.lock();
                continue;
            }
            if self.closed.load(SeqCst) {
                return;
            }
            let leads = board.lead() == Some(copy) && board.next_stripe() == stripe;
            if leads && self.demand(&board) {
                drop(board);
                let sealed = self.seal_next(Why::Wanted, &mut self.sealer.lock());
                let Some(sealed) = sealed else {
                    board = self.board.lock();
                    if !board.has_job(stripe, copy) && self.demand(&board) {
                        // A record is reserved and not yet whole.
                        self.lanes[lane].wait_for(&mut board, HOLE_POLL);
                    }
                    continue;
                };
                self.send(sealed, Some(lane));
                board = self.board.lock();
                continue;
            }
            match board.company.watch() {
                Some((watching, until)) if watching == lane => {
                    let now = self.env.seam.clock.monotonic();
                    if now >= until {
                        self.end_wait(&mut board);
                        self.refresh_idle(&board);
                        // The next group may be another lane's.
                        self.nudge(&board);
                        continue;
                    }
                    self.lanes[lane].wait_for(&mut board, until - now);
                }
                _ => self.lanes[lane].wait(&mut board),
            }
        }
    }

    /// Nobody is waited for any longer.
    pub(crate) fn end_wait(&self, board: &mut Board) {
        self.enough.store(u64::MAX, SeqCst);
        board.company.end();
    }

    /// Whether a group should be sealed now and nobody is at it.
    pub(crate) fn demand(&self, board: &Board) -> bool {
        let taken = self.taken.load(SeqCst);
        let next = self.ring.next();
        let full = next.saturating_sub(taken) >= self.payload_max as u64;
        let waited = self.wanted.load(SeqCst) > self.covered() && !board.company.is_expected(next);
        let wanted = waited || self.wads.wanted.load(SeqCst) > taken;
        let admitted = (full && board.admits(true)) || (wanted && board.admits(false));
        admitted && !self.env.stop.is_set()
    }

    /// Wakes the writer that seals next.
    pub(crate) fn nudge(&self, board: &Board) {
        if let Some(lead) = board.lead() {
            self.lanes[board.lane_index(board.next_stripe(), lead)].notify_one();
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
            let mut board = self.board.lock();
            each(copies).for_each(|copy| board.lane_done(stripe, copy));
            if copies & !lost != 0 {
                self.stats.flush_us.record(took.as_micros() as u64);
                board.company.wrote(took);
                let durable = self.grown(board.landed(number, copies & !lost));
                if let (Some(durable), Some(lane)) = (durable, lane)
                    && board.in_flight() == 0
                {
                    self.expect_company(&mut board, lane, durable);
                }
                self.settled(board, durable);
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
                    self.together.store(false, SeqCst);
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
            let gone = std::io::ErrorKind::NotFound.into();
            return Err(LogError::io("write", at.path(&self.layout()), gone));
        };
        if let Some(id) = &job.head {
            self.heads.write(&self.layout(), id, at, file.as_ref())?;
        }
        Ok(file.as_ref())
    }

    /// The log is at rest: shall those who are there wait for those who are told now?
    pub(crate) fn expect_company(&self, board: &mut Board, lane: usize, durable: Lsn) {
        let (taken, next) = (self.covered(), self.ring.next());
        let landed = durable.0.saturating_sub(self.durable.load(SeqCst));
        let now = self.env.seam.clock.monotonic();
        let landing = Landing { bytes: landed, taken, next, now };
        if let Some(enough) = board.company.landed(lane, landing) {
            self.enough.store(enough, SeqCst);
        }
    }

    /// After the flight has changed: moves the durable end, keeps the device busy, tells who
    /// waits.
    pub(crate) fn settled<'a>(&'a self, board: MutexGuard<'a, Board>, durable: Option<Lsn>) {
        if let Some(durable) = durable
            && !self.env.stop.is_set()
        {
            self.durable.fetch_max(durable.0, SeqCst);
        }
        for stripe in 0..board.stripes() {
            for copy in 0..self.config.copies.len() as u8 {
                if board.has_job(stripe, copy) {
                    self.lanes[board.lane_index(stripe, copy)].notify_one();
                }
            }
        }
        if board.calls_archiver() {
            self.archive_wake.notify_all();
        }
        self.refresh_idle(&board);
        if self.demand(&board) {
            self.nudge(&board);
        }
        self.deliver(board);
    }

    /// Tells everybody whose position is durable, in order; or that the kernel has stopped.
    pub(crate) fn deliver<'a>(&'a self, mut board: MutexGuard<'a, Board>) {
        while !board.delivering {
            let stopped = self.env.stop.check().err().map(LogError::Stopped);
            let durable = self.durable();
            let mut ready = std::mem::take(&mut board.ready);
            while let Some(first) = board.sinks.front()
                && (stopped.is_some() || first.up_to <= durable)
            {
                ready.extend(board.sinks.pop_front());
            }
            if ready.is_empty() {
                board.ready = ready;
                return;
            }
            board.delivering = true;
            drop(board);
            for (at, waiting) in ready.iter().enumerate() {
                waiting.sink.durable(waiting.token, stopped.as_ref().map_or(Ok(()), Err));
                let same = |later: &Waiting| Arc::ptr_eq(&later.sink, &waiting.sink);
                if !ready[at + 1..].iter().take(SINKS_LOOKED_AT).any(same) {
                    waiting.sink.told();
                }
            }
            ready.clear();
            board = self.board.lock();
            board.ready = ready;
            board.delivering = false;
        }
    }

    /// A copy cannot be written any more. Goes on with the other one, once that is recorded.
    pub(crate) fn lose(&self, copy: u8, error: &LogError) -> Result<(), LogError> {
        let losing = self.board.lock().start_losing(copy);
        self.lost_from(copy, losing, error)
    }

    /// Records that a copy is being lost, and goes on without it.
    pub(crate) fn lost_from(
        &self,
        copy: u8,
        losing: Losing,
        error: &LogError,
    ) -> Result<(), LogError> {
        let from = match losing {
            Losing::Known => return Ok(()),
            Losing::Last => return Err(self.stop(error)),
            Losing::From(from) => from,
        };
        if !planted(Plant::LostCopyUnrecorded) {
            let recorded = self.env.events.copy_lost(copy, from, &error.to_string());
            if let Err(why) = recorded {
                return Err(self.stop(&LogError::Unrecorded { copy: copy + 1, why }));
            }
        }
        self.say(copy, Some(error.to_string()));
        let mut board = self.board.lock();
        let durable = self.grown(board.lost(copy));
        // It may have been this copy's thread that looked at the clock.
        self.end_wait(&mut board);
        self.lanes.iter().for_each(seam::sync::Condvar::notify_all);
        self.settled(board, durable);
        Ok(())
    }

    /// Tells everybody who waits that the kernel has stopped, if it has.
    pub(crate) fn wake_stopped(&self) {
        if let Err(stopped) = self.env.stop.check() {
            self.stop(&LogError::Stopped(stopped));
        }
    }

    /// Stops the kernel for good and tells everybody who waits.
    pub(crate) fn stop(&self, error: &LogError) -> LogError {
        let stopped = self.env.stop.stop(error.to_string());
        let board = self.board.lock();
        self.lanes.iter().for_each(seam::sync::Condvar::notify_all);
        self.ring_room.notify_all();
        self.wads.wake.notify_all();
        self.deliver(board);
        LogError::Stopped(stopped)
    }
}
