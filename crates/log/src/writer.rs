//! Writing: the lanes' own threads, and whoever else has sealed a group.
//!
//! Invariants:
//! 1. A group's bytes are handed to the disk once for each copy and never again.
//! 2. No write is retried. A failed one costs the copy; on the last copy it stops the kernel (K9).
//! 3. The loss of a copy is durable somewhere else before anything is acknowledged without it.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use base::{GroupNumber, Lsn};
use seam::plant::{Plant, planted};
use seam::sync::MutexGuard;

use crate::LogError;
use crate::core::{Core, HOLE_POLL};
use crate::flow::{Board, Job, Losing, Waiting};
use crate::sealer::Why;
use crate::segment::FileAt;

/// So many of those told next are looked at, whether they are the same sink.
const SINKS_LOOKED_AT: usize = 16;

impl Core {
    /// The body of a thread for one lane. The lead copy's threads also seal.
    pub(crate) fn lane_loop(&self, stripe: u8, copy: u8) {
        let mut board = self.board.lock();
        loop {
            if let Some(job) = board.next_job(stripe, copy) {
                drop(board);
                self.run(job);
                board = self.board.lock();
                continue;
            }
            if self.closed.load(SeqCst) {
                return;
            }
            let leads = board.lead() == Some(copy) && board.next_stripe() == stripe;
            if leads && self.demand(&board) {
                drop(board);
                let job = self.seal_next(Why::Wanted, &mut self.sealer.lock());
                let Some(job) = job else {
                    board = self.board.lock();
                    if !board.has_job(stripe, copy) && self.demand(&board) {
                        // A record is reserved and not yet whole.
                        let lane = &self.lanes[board.lane_index(stripe, copy)];
                        lane.wait_for(&mut board, HOLE_POLL);
                    }
                    continue;
                };
                self.run(job);
                board = self.board.lock();
                continue;
            }
            self.lanes[board.lane_index(stripe, copy)].wait(&mut board);
        }
    }

    /// Whether a group should be sealed now and nobody is at it.
    pub(crate) fn demand(&self, board: &Board) -> bool {
        let taken = self.taken.load(SeqCst);
        let full = self.ring.next().saturating_sub(taken) >= self.payload_max as u64;
        let wanted = self.wanted.load(SeqCst) > taken;
        let admitted = (full && board.admits(true)) || (wanted && board.admits(false));
        admitted && !self.env.stop.is_set()
    }

    /// Wakes the writer that seals next.
    pub(crate) fn nudge(&self, board: &Board) {
        if let Some(lead) = board.lead() {
            self.lanes[board.lane_index(board.next_stripe(), lead)].notify_one();
        }
    }

    /// Writes one group on one copy and tells everybody.
    pub(crate) fn run(&self, job: Job) {
        let begin = self.env.seam.clock.monotonic();
        let outcome = self.write(&job);
        let took = self.env.seam.clock.monotonic().saturating_sub(begin);
        let Job { number, copy, stripe, buffer, .. } = job;
        drop(buffer);
        match outcome {
            Ok(()) => self.stats.flush_us.record(took.as_micros() as u64),
            Err(error) => {
                self.stats.failed_writes.one();
                self.board.lock().lane_done(stripe, copy);
                // The error has stopped the kernel if there was no other copy.
                let _ = self.lose(copy, &error);
                return;
            }
        }
        self.landed(number, stripe, copy);
    }

    fn write(&self, job: &Job) -> Result<(), LogError> {
        let at = FileAt { copy: job.copy, slot: job.files.slot, stripe: job.stripe };
        let Some(file) = job.files.get(job.copy, job.stripe) else {
            let gone = std::io::ErrorKind::NotFound.into();
            return Err(LogError::io("write", at.path(&self.config), gone));
        };
        if let Some(id) = &job.head {
            self.heads.write(&self.config, id, at, file.as_ref())?;
        }
        let written = file.write_at(&job.buffer[..job.len], job.offset);
        written.map_err(|error| LogError::io("write", at.path(&self.config), error))
    }

    fn landed(&self, number: GroupNumber, stripe: u8, copy: u8) {
        let mut board = self.board.lock();
        board.lane_done(stripe, copy);
        let durable = board.landed(number, copy);
        self.settled(board, durable);
    }

    /// After the flight has changed: moves the durable end, keeps the device busy, tells who
    /// waits.
    pub(crate) fn settled<'a>(&'a self, board: MutexGuard<'a, Board>, durable: Option<Lsn>) {
        if let Some(durable) = durable
            && !self.env.stop.is_set()
        {
            self.durable.fetch_max(durable.0, SeqCst);
        }
        for stripe in 0..self.config.stripes {
            for copy in 0..self.config.copies.len() as u8 {
                if board.has_job(stripe, copy) {
                    self.lanes[board.lane_index(stripe, copy)].notify_one();
                }
            }
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
        let mut board = self.board.lock();
        let durable = board.lost(copy);
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
        self.deliver(board);
        LogError::Stopped(stopped)
    }
}
