//! Groups in flight: sealed, being written, not yet durable; and who waits for them.
//!
//! A *lane* is one copy of one stripe. Where the disk can, one thread writes a group on all lanes
//! of its stripe at once; otherwise each lane has a thread of its own. A lane holds at most
//! [`LANE_DEPTH`] groups: while one is being written the next full one is sealed and written beside
//! it, so that the device never idles.
//!
//! Invariants:
//! 1. `flight` holds the groups from the first that is not durable to the last that is sealed,
//!    without gaps, fewer than W of them (K7).
//! 2. A group's `pending` names the copies that do not have it yet. It loses a copy when the write
//!    there has returned, or when the loss of that copy is recorded (K9).
//! 3. The log is durable up to the end of the longest prefix of groups with nothing pending.
//! 4. Sinks are told in the order of their positions, by one thread at a time, with no lock held.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seam::failpoint::{Failpoint, armed};
use seam::mem::{AlignedBuf, HUGE_BYTES};

use crate::commit_delay::CommitDelay;
use crate::config::{LANE_DEPTH, window_of};
use crate::recent::Recent;
use crate::segment::{FileAt, SegmentId, SlotFiles};
use crate::waiters::Waiting;
use crate::{LogConfig, LogError, STRIPES_MAX};

/// What is known about a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyState {
    /// It gets every group.
    Living,
    /// A write failed; the loss is being recorded.
    Losing,
    /// It gets nothing any more; the loss is recorded.
    Lost,
}

/// A group to be written on one lane, or on all lanes of its stripe at once.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) number: GroupNumber,
    /// The copies to write, a bit for each.
    pub(crate) copies: u8,
    pub(crate) stripe: u8,
    pub(crate) files: Arc<SlotFiles>,
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) buffer: Arc<AlignedBuf>,
    /// The file's header, when this is the first group in it.
    pub(crate) head: Option<SegmentId>,
}

impl Job {
    /// Which file a copy of it goes to.
    pub(crate) fn at(&self, copy: u8) -> FileAt {
        FileAt { copy, slot: self.files.slot, stripe: self.stripe }
    }
}

struct Flight {
    end: Lsn,
    pending: u8,
    /// Bytes of it on disk.
    len: usize,
    buffer: Arc<AlignedBuf>,
}

#[derive(Default)]
struct Lane {
    /// Groups that are being written.
    writing: usize,
    /// Groups that wait for a writer.
    queue: VecDeque<Job>,
}

impl Lane {
    fn load(&self) -> usize {
        self.writing + self.queue.len()
    }
}

/// The state of the flight, under one mutex that is held for moments only.
pub(crate) struct FlushState {
    copies: Vec<CopyState>,
    stripes: u8,
    window: u64,
    lanes: Vec<Lane>,
    flight: VecDeque<Flight>,
    /// The number of the first group in `flight`, or of the next group.
    first: u64,
    /// The number of the next group to be sealed.
    pub(crate) next: u64,
    free: Vec<Arc<AlignedBuf>>,
    buffer_bytes: usize,
    recent: Recent,
    pub(crate) sinks: VecDeque<Waiting>,
    pub(crate) delivering: bool,
    pub(crate) ready: Vec<Waiting>,
    pub(crate) commit_delay: CommitDelay,
    ahead: Ahead,
    /// Nothing is sealed now.
    paused: bool,
}

/// Whether there is a write-ahead data set, and an entry under way to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    None,
    Idle,
    Writing,
}

impl FlushState {
    /// A state for groups from `next` on; `archives` if there is an archive.
    pub(crate) fn new(
        config: &LogConfig,
        next: u64,
        copies: Vec<CopyState>,
        archives: bool,
    ) -> FlushState {
        let lanes = copies.len() * usize::from(STRIPES_MAX);
        let window = window_of(config.stripes);
        let mut free = Vec::with_capacity(window as usize);
        add_buffers(&mut free, config.group_bytes_max, window as usize);
        FlushState {
            copies,
            stripes: config.stripes,
            window,
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            flight: VecDeque::with_capacity(window as usize),
            first: next,
            next,
            free,
            buffer_bytes: config.group_bytes_max,
            recent: Recent::new(if archives { config.recent_bytes } else { 0 }),
            sinks: VecDeque::with_capacity(256),
            delivering: false,
            ready: Vec::with_capacity(256),
            commit_delay: CommitDelay::default(),
            ahead: Ahead::None,
            paused: false,
        }
    }

    /// All lanes that there can be, by their index.
    pub(crate) fn lanes(&self) -> std::ops::Range<usize> {
        0..self.lanes.len()
    }

    /// The lane of a stripe on a copy.
    pub(crate) fn lane_index(&self, stripe: u8, copy: u8) -> usize {
        usize::from(stripe) * self.copies.len() + usize::from(copy)
    }

    fn lane(&mut self, stripe: u8, copy: u8) -> &mut Lane {
        let index = self.lane_index(stripe, copy);
        &mut self.lanes[index]
    }

    /// The copies that get new groups.
    pub(crate) fn living(&self) -> impl Iterator<Item = u8> + use<> {
        each(self.mask())
    }

    fn mask(&self) -> u8 {
        let living = self.copies.iter().enumerate().filter(|(_, s)| **s == CopyState::Living);
        living.fold(0, |mask, (copy, _)| mask | 1 << copy)
    }

    /// The copy whose writers also seal.
    pub(crate) fn lead(&self) -> Option<u8> {
        self.living().next()
    }

    /// What is known about each copy.
    pub(crate) fn copies(&self) -> &[CopyState] {
        &self.copies
    }

    /// How many stripes the next group's segment has.
    pub(crate) fn stripes(&self) -> u8 {
        self.stripes
    }

    /// Groups rotate over another number of stripes from the next one on.
    pub(crate) fn set_stripes(&mut self, stripes: u8) {
        assert!(self.flight.is_empty(), "no group is under way between two layouts");
        (self.stripes, self.window) = (stripes, window_of(stripes));
    }

    /// The stripe that the next group goes to.
    pub(crate) fn next_stripe(&self) -> u8 {
        (self.next % u64::from(self.stripes)) as u8
    }

    /// The first group that is not durable.
    pub(crate) fn undurable(&self) -> GroupNumber {
        GroupNumber(self.first)
    }

    /// Groups sealed and not durable.
    pub(crate) fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// Whether a group may be sealed now: a full one while its stripe has a place free on every
    /// copy, a partial one when its stripe is idle on every copy; with a write-ahead data set, when
    /// nothing at all is under way.
    pub(crate) fn admits(&self, full: bool) -> bool {
        if self.paused {
            return false;
        }
        let stripe = self.next_stripe();
        let load = |copy| self.lanes[self.lane_index(stripe, copy)].load();
        let most = self.living().map(load).max();
        let window = self.next < self.first + self.window;
        let alone = match self.ahead {
            Ahead::None => true,
            Ahead::Idle => self.flight.is_empty(),
            Ahead::Writing => false,
        };
        let partial = |most| most == 0 && alone;
        window && most.is_some_and(|most| if full { most < LANE_DEPTH } else { partial(most) })
    }

    /// Nothing is sealed from now on, or again.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Whether partial groups become entries of a write-ahead data set.
    pub(crate) fn set_ahead(&mut self, ahead: bool) {
        self.ahead = if ahead { Ahead::Idle } else { Ahead::None };
    }

    /// Whether an entry is under way.
    pub(crate) fn writes_ahead(&self) -> bool {
        self.ahead == Ahead::Writing
    }

    /// An entry is under way.
    pub(crate) fn ahead_begins(&mut self) {
        assert!(self.ahead == Ahead::Idle, "one entry at a time");
        self.ahead = Ahead::Writing;
    }

    /// It is no more; its buffer is free.
    pub(crate) fn ahead_ends(&mut self, buffer: AlignedBuf) {
        self.return_buffer(buffer);
        if self.ahead == Ahead::Writing {
            self.ahead = Ahead::Idle;
        }
    }

    /// A buffer that nobody else uses.
    pub(crate) fn take_buffer(&mut self) -> AlignedBuf {
        loop {
            // The others wait for the archive; and the writer of a lost copy may still hold on to
            // its own, which it then keeps to itself.
            match self.free.pop().map(Arc::into_inner) {
                Some(Some(buffer)) => return buffer,
                Some(None) => {}
                None => add_buffers(&mut self.free, self.buffer_bytes, 1),
            }
        }
    }

    /// Gives back a buffer that was not used.
    pub(crate) fn return_buffer(&mut self, buffer: AlignedBuf) {
        self.free.push(Arc::new(buffer));
    }

    /// Puts a sealed group into flight. The caller gets the lead copy's job, to write it itself, or
    /// the job for all copies `together`.
    pub(crate) fn launch(&mut self, end: Lsn, job: &Job, together: bool) -> Option<Job> {
        assert_eq!(job.number.0, self.next, "groups fly in order");
        assert!(self.next < self.first + self.window, "no more than W groups in flight (K7)");
        let pending = self.mask();
        let buffer = Arc::clone(&job.buffer);
        if armed(Failpoint::ArchivedUndurable) {
            self.recent.push(job.number.0, job.len, Arc::clone(&buffer), &mut Vec::new());
        }
        self.flight.push_back(Flight { end, pending, len: job.len, buffer });
        self.next += 1;
        let lead = self.lead()?;
        for copy in self.living() {
            let lane = self.lane(job.stripe, copy);
            assert!(lane.load() < LANE_DEPTH, "a lane takes {LANE_DEPTH} groups");
            if together || copy == lead {
                lane.writing += 1;
            } else {
                lane.queue.push_back(Job { copies: 1 << copy, ..job.clone() });
            }
        }
        Some(Job { copies: if together { pending } else { 1 << lead }, ..job.clone() })
    }

    /// The newest durable groups, and where buffers go that nobody needs.
    pub(crate) fn with_recent<R>(
        &mut self,
        with: impl FnOnce(&mut Recent, &mut Vec<Arc<AlignedBuf>>) -> R,
    ) -> R {
        with(&mut self.recent, &mut self.free)
    }

    /// Whether there is enough to archive to call the archiver.
    pub(crate) fn calls_archiver(&self) -> bool {
        self.recent.calls()
    }

    /// The next job that waits on a lane.
    pub(crate) fn next_job(&mut self, stripe: u8, copy: u8) -> Option<Job> {
        let lane = self.lane(stripe, copy);
        let job = lane.queue.pop_front()?;
        lane.writing += 1;
        Some(job)
    }

    /// Whether a job waits on a lane.
    pub(crate) fn has_job(&self, stripe: u8, copy: u8) -> bool {
        !self.lanes[self.lane_index(stripe, copy)].queue.is_empty()
    }

    /// A thread that wrote on a lane is done.
    pub(crate) fn lane_done(&mut self, stripe: u8, copy: u8) {
        self.lane(stripe, copy).writing -= 1;
    }

    /// Some copies have a group. Returns how far the log is durable now, if that is further than
    /// before.
    pub(crate) fn landed(&mut self, number: GroupNumber, copies: u8) -> Option<Lsn> {
        let index = number.0.checked_sub(self.first)? as usize;
        self.flight.get_mut(index)?.pending &= !copies;
        self.settle()
    }

    fn settle(&mut self) -> Option<Lsn> {
        let mut durable = None;
        while self.flight.front().is_some_and(|flight| flight.pending == 0) {
            let Some(flight) = self.flight.pop_front() else { break };
            if armed(Failpoint::ArchivedUndurable) {
                self.free.push(flight.buffer);
            } else {
                self.recent.push(self.first, flight.len, flight.buffer, &mut self.free);
            }
            self.first += 1;
            durable = Some(flight.end);
        }
        durable
    }

    /// A write on a copy failed. `false` if that is known already, or if it is the last copy.
    pub(crate) fn start_losing(&mut self, copy: u8) -> Losing {
        if self.copies[usize::from(copy)] != CopyState::Living {
            return Losing::Known;
        }
        if self.mask() == 1 << copy {
            return Losing::Last;
        }
        self.copies[usize::from(copy)] = CopyState::Losing;
        for stripe in 0..self.stripes {
            self.lane(stripe, copy).queue.clear();
        }
        Losing::From(self.undurable())
    }

    /// The loss is recorded: nothing waits for that copy any more.
    pub(crate) fn lost(&mut self, copy: u8) -> Option<Lsn> {
        self.copies[usize::from(copy)] = CopyState::Lost;
        for flight in &mut self.flight {
            flight.pending &= !(1 << copy);
        }
        self.settle()
    }

    /// Whether some thread still writes to a copy.
    pub(crate) fn is_written(&self, copy: u8) -> bool {
        // Its last write may be on a stripe that is not used any more.
        (0..STRIPES_MAX).any(|stripe| self.lanes[self.lane_index(stripe, copy)].load() > 0)
    }

    /// Whether a copy can be brought back: it is lost, and nothing writes to it.
    pub(crate) fn may_return(&self, copy: u8) -> Result<(), LogError> {
        match self.copies().get(usize::from(copy)) {
            Some(CopyState::Lost) if !self.is_written(copy) => Ok(()),
            Some(CopyState::Lost | CopyState::Losing) => Err(LogError::CopyBusy { copy: copy + 1 }),
            _ => Err(LogError::NotLost { copy: copy + 1 }),
        }
    }

    /// A lost copy gets the next groups again.
    pub(crate) fn returned(&mut self, copy: u8) {
        self.copies[usize::from(copy)] = CopyState::Living;
    }

    /// Adds somebody who waits, in the order of positions.
    pub(crate) fn enlist(&mut self, waiting: Waiting) {
        let behind = self.sinks.iter().rev().take_while(|w| w.up_to > waiting.up_to).count();
        let at = self.sinks.len() - behind;
        self.sinks.insert(at, waiting);
    }
}

/// Groups from this size on gain from huge pages.
const LARGE_BYTES: usize = 64 << 10;

/// Adds at least `count` buffers of `bytes`. Those for large groups come together in a huge page:
/// writing one costs a half to a third then.
fn add_buffers(free: &mut Vec<Arc<AlignedBuf>>, bytes: usize, count: usize) {
    let together = if bytes < LARGE_BYTES { count } else { count.max(HUGE_BYTES / bytes) };
    free.extend(AlignedBuf::several(together, bytes).into_iter().map(Arc::new));
}

/// The copies that a mask names.
pub(crate) fn each(mask: u8) -> impl Iterator<Item = u8> + use<> {
    (0..8).filter(move |copy| mask & (1 << copy) != 0)
}

/// What losing a copy means.
#[derive(Clone, Copy)]
pub(crate) enum Losing {
    /// Somebody else has noticed first.
    Known,
    /// There is no other copy.
    Last,
    /// The loss from this group on has to be recorded.
    From(GroupNumber),
}
