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

use std::io::IoSliceMut;

use base::{CiNumber, DataSetId, Lsn};

use crate::frame::Frame;
use crate::frame_id::FrameId;
use crate::home::Entry;
use crate::key::Key;
use crate::pool::{Asker, Pool};
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
        (bytes / self.config.unit_bytes).min(self.frames() / 32).max(1) as u32
    }

    /// Claims frames for those of `count` consecutive intervals that are not in memory, as far as
    /// frames can be had without waiting.
    pub fn claim_window(&self, set: &dyn Backing, first: CiNumber, count: u32) -> Window {
        let mut window = Window { first, count, claimed: Vec::with_capacity(count as usize) };
        let ahead_max = self.frames() / 8;
        let mut state = self.state.lock();
        if !matches!(self.entry(set, None), Entry::Open) {
            return window; // Its data set is moving: whoever wants an interval looks in both pools.
        }
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

    /// Reads a window, run by run, each run in one input operation into its frames (sequential
    /// buffering). Errors are left to whoever wants the interval.
    pub fn read_window(&self, set: &dyn Backing, window: &Window) {
        latches::assert_none_held("a read");
        let mut run: Vec<&Frame> = Vec::with_capacity(window.claimed.len());
        let mut claimed = window.claimed.iter().map(|id| self.frames.get(*id)).peekable();
        for ci in window.first.0..window.first.0.saturating_add(window.count) {
            let key = Key::new(set.id(), CiNumber(ci));
            let mine = claimed.next_if(|frame| frame.key() == key);
            if mine.is_none() {
                self.read_run(set, &mut run);
            }
            match mine {
                Some(frame) => run.push(frame),
                // The map says what the intervals behind it must be.
                None if set.is_map(CiNumber(ci)) => drop(self.pin(set, CiNumber(ci))),
                None => {}
            }
        }
        self.read_run(set, &mut run);
    }

    /// Reads those of `count` consecutive intervals that are not in memory, now.
    pub fn read_ahead(&self, set: &dyn Backing, first: CiNumber, count: u32) {
        let window = self.claim_window(set, first, count);
        self.read_window(set, &window);
    }

    /// Frees the frame of an interval that nobody will want soon, if it is clean and nobody has it:
    /// a pass over a whole data set then costs the others no frames.
    pub fn let_go(&self, set: DataSetId, ci: CiNumber) {
        let mut state = self.state.lock();
        let Some(frame) = self.table.probe(&self.frames, Key::new(set, ci)) else { return };
        if frame.is_sticky() || !frame.try_claim() {
            return;
        }
        if frame.rec_lsn() != Lsn::NONE || frame.is_loading() {
            frame.end_claim(0);
            return;
        }
        self.table.remove(&self.frames, frame);
        self.release(&mut state, frame);
    }

    /// Reads consecutive intervals in one operation into the frames claimed for them, and opens
    /// them there.
    #[allow(unsafe_code)]
    fn read_run(&self, set: &dyn Backing, run: &mut Vec<&Frame>) {
        let Some(first) = run.first() else { return };
        // SAFETY: whoever claimed the window set each of its frames loading, and no two frames
        // share their memory.
        let units = run.iter().map(|frame| unsafe { frame.unit_of_loader() });
        let mut units: Vec<IoSliceMut<'_>> = units.map(IoSliceMut::new).collect();
        let read = set.read_into(first.key().ci(), &mut units);
        self.counters.reads.add(run.len() as u64);
        if run.len() > 1 {
            self.counters.multi_reads.one();
            self.counters.multi_intervals.add(run.len() as u64);
        }
        let mut units = units.into_iter();
        for frames in run.chunks(HANDED_OVER) {
            let mut good = [false; HANDED_OVER];
            for ((frame, mut unit), good) in frames.iter().zip(&mut units).zip(&mut good) {
                *good = read.is_ok() && set.open(frame.key().ci(), &mut unit).is_ok();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Memory, SET, UNIT, pool};

    #[test]
    fn what_is_let_go_is_read_again_and_what_is_changed_or_in_use_stays() {
        let (pool, _) = pool(1024);
        let set = Memory::default();
        set.units.lock().extend((0..4).map(|ci| (ci, vec![ci as u8; UNIT])));
        drop(pool.shared(&set, CiNumber(0)).unwrap());
        let pin = pool.pin(&set, CiNumber(1)).unwrap();
        pool.exclusive(&set, CiNumber(2)).unwrap().begin_change(Lsn(9));
        (0..4).for_each(|ci| pool.let_go(SET, CiNumber(ci)));
        let resident = (0..4).map(|ci| pool.is_resident(SET, CiNumber(ci)));
        assert_eq!(resident.collect::<Vec<_>>(), [false, true, true, false]);
        drop(pin);
        assert_eq!(pool.shared(&set, CiNumber(0)).unwrap().bytes()[9], 0);
        assert_eq!(set.reads.lock().iter().filter(|read| read.0 == 0).count(), 2);
    }

    #[test]
    fn a_window_is_read_into_its_frames_around_what_is_there_and_without_what_is_damaged() {
        let (pool, _) = pool(1024);
        let set = Memory { damaged: vec![22], ..Memory::default() };
        set.units.lock().extend((0..64).map(|ci| (ci, vec![ci as u8; UNIT])));
        drop(pool.shared(&set, CiNumber(25)).unwrap());
        pool.read_ahead(&set, CiNumber(20), 40);
        assert_eq!(*set.reads.lock(), [(25, 1), (20, 5), (26, 34)]);
        for ci in (20..60).filter(|ci| *ci != 22) {
            assert!(pool.is_resident(SET, CiNumber(ci)), "{ci}");
            assert_eq!(pool.shared(&set, CiNumber(ci)).unwrap().bytes()[9], ci as u8);
        }
        assert!(!pool.is_resident(SET, CiNumber(22)));
        assert!(pool.shared(&set, CiNumber(22)).is_err());
        assert_eq!(pool.pins(), 0);
    }
}
