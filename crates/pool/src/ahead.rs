//! Windows: many consecutive intervals read in one operation, before anybody asks for them.
//!
//! A window's frames are claimed when it is asked for, so a scan that catches up with a window
//! waits for it instead of reading the intervals one by one beside it.
//!
//! Invariants:
//! 1. Whoever claims a window reads it or gives it up; frames of a window are pinned and loading
//!    until then.
//! 2. All windows together hold at most an eighth of the frames, so that they never starve those
//!    who need a frame now, the windows' own map intervals among them.

use base::CiNumber;
use seam::mem::AlignedBuf;

use crate::frame::{Frame, FrameId};
use crate::pool::{Asker, Pool};
use crate::table::Key;
use crate::{Backing, latches};

/// So many frames of a window are handed over at once: whoever waits for the first ones goes on
/// while the rest is being opened.
const HANDED_OVER: usize = 16;

/// The frames claimed for some of `count` intervals from `first` on; to be read.
#[must_use]
pub struct Window {
    first: CiNumber,
    count: u32,
    claimed: Vec<FrameId>,
}

impl Pool {
    /// The largest window for this pool, in intervals, if it may take at most `bytes`.
    #[must_use]
    pub fn window_max(&self, bytes: usize) -> u32 {
        (bytes / self.config.unit_bytes).min(self.config.frames / 32).max(1) as u32
    }

    /// Claims frames for those of `count` consecutive intervals that are not in memory, as far as
    /// frames can be had without waiting.
    pub fn claim_window(&self, set: &dyn Backing, first: CiNumber, count: u32) -> Window {
        let mut window = Window { first, count, claimed: Vec::with_capacity(count as usize) };
        let ahead_max = self.config.frames / 8;
        let mut state = self.state.lock();
        for ci in (first.0..first.0.saturating_add(count)).map(CiNumber) {
            let key = Key::new(set.id(), ci);
            if set.is_map(ci) || self.table.probe(&self.frames, key).is_some() {
                continue;
            }
            if state.ahead >= ahead_max {
                break;
            }
            let Some(frame) = self.take_frame(&mut state, Asker::Program) else { break };
            frame.set_loading(true);
            self.table.insert(frame, key);
            frame.end_claim(1);
            state.ahead += 1;
            window.claimed.push(frame.id());
        }
        window
    }

    /// Reads a window, run by run, each run in one input operation through `scratch` (sequential
    /// buffering). Errors are left to whoever wants the interval.
    pub fn read_window(&self, set: &dyn Backing, window: &Window, scratch: &mut AlignedBuf) {
        latches::assert_none_held("a read");
        let run_max = scratch.len() / self.config.unit_bytes;
        let mut run: Vec<&Frame> = Vec::with_capacity(run_max);
        let mut claimed = window.claimed.iter().map(|id| self.frames.get(*id)).peekable();
        for ci in window.first.0..window.first.0.saturating_add(window.count) {
            let key = Key::new(set.id(), CiNumber(ci));
            let mine = claimed.next_if(|frame| frame.key() == key);
            if mine.is_none() || run.len() == run_max {
                self.read_run(set, &mut run, scratch);
            }
            match mine {
                Some(frame) => run.push(frame),
                // The map says what the intervals behind it must be.
                None if set.is_map(CiNumber(ci)) => drop(self.pin(set, CiNumber(ci))),
                None => {}
            }
        }
        self.read_run(set, &mut run, scratch);
    }

    /// Reads those of `count` consecutive intervals that are not in memory, now.
    pub fn read_ahead(
        &self,
        set: &dyn Backing,
        first: CiNumber,
        count: u32,
        scratch: &mut AlignedBuf,
    ) {
        let window = self.claim_window(set, first, count);
        self.read_window(set, &window, scratch);
    }

    /// Reads consecutive intervals in one operation and opens them in the frames claimed for them.
    #[allow(unsafe_code)]
    fn read_run(&self, set: &dyn Backing, run: &mut Vec<&Frame>, scratch: &mut AlignedBuf) {
        let Some(first) = run.first() else { return };
        let unit_bytes = self.config.unit_bytes;
        let units = &mut scratch[..run.len() * unit_bytes];
        let read = set.read_raw(first.key().ci(), units);
        self.counters.reads.add(run.len() as u64);
        if run.len() > 1 {
            self.counters.multi_reads.one();
            self.counters.multi_intervals.add(run.len() as u64);
        }
        let raw = units.chunks(HANDED_OVER * unit_bytes);
        for (frames, raw) in run.chunks(HANDED_OVER).zip(raw) {
            let mut good = [false; HANDED_OVER];
            for ((frame, raw), good) in
                frames.iter().zip(raw.chunks_exact(unit_bytes)).zip(&mut good)
            {
                // SAFETY: whoever claimed the window set each of its frames loading.
                let unit = unsafe { frame.unit_of_loader() };
                unit.copy_from_slice(raw);
                *good = read.is_ok() && set.open(frame.key().ci(), unit).is_ok();
            }
            self.hand_over(frames, &good);
        }
        run.clear();
    }

    /// Ends the loads of some frames; they are not pinned afterwards.
    fn hand_over(&self, frames: &[&Frame], good: &[bool]) {
        let mut state = self.state.lock();
        state.ahead -= frames.len();
        for (frame, good) in frames.iter().zip(good) {
            match good {
                true => {
                    // Or the clock would take those first that nobody has come to yet.
                    frame.touch();
                    frame.set_loading(false);
                    frame.unpin();
                }
                false => self.give_up(&mut state, frame),
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}
