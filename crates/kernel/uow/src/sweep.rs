//! A sweep: changes are gathered while the log is read, and repeated in the order of their
//! intervals.
//!
//! In the order of the log changes go to and fro. A data set that is larger than its pool would be
//! read and written again for almost every one of them. A sweep comes to an interval once, with all
//! that it has for it, and neighbours are read and written in one piece. The more is gathered, the
//! fewer sweeps there are. While one goes on the next is gathered.
//!
//! Changes are gathered by stretches of neighbouring intervals from the beginning, so whoever works
//! on a stretch has all that it needs side by side in the processor's caches.
//!
//! Invariants:
//! 1. Changes of one interval are repeated in the order in which they were given, by one thread at
//!    a time; a sweep is over before the next one begins.
//! 2. No more is gathered than was agreed, but for the last change.
//! 3. After an error nothing more is repeated, and whoever gives or finishes is told of it.

use std::sync::Arc;

use base::hash::FixedMap;
use base::{CiNumber, DataSetId, Lsn};
use seam::failpoint::{Failpoint, armed};
use seam::sync::Mutex;
use seam::thread::JoinHandle;

use crate::UowError;
use crate::runs::runs;

/// Threads of a sweep: while one of them waits for the disk, others work.
const WORKERS: usize = 4;
/// The intervals of a stretch.
const STRETCH: u32 = 256;

/// A change of one interval, as it was gathered.
pub(crate) struct Gathered {
    pub(crate) ci: CiNumber,
    pub(crate) lsn: Lsn,
    /// Where its body begins, and where it ends.
    body: (usize, usize),
    pub(crate) kind: u8,
    /// The record holds all of the interval.
    pub(crate) fresh: bool,
    /// The interval held something before.
    pub(crate) known: bool,
}

/// What a sweep does with what it comes to.
pub(crate) trait Repeat: Send + Sync {
    /// Some of these intervals are wanted soon: has them read.
    fn fetch(&self, set: DataSetId, first: CiNumber, count: u32);
    /// Repeats those changes of one interval that it lacks, each with its body, in this order.
    fn repeat<'g>(
        &self,
        set: DataSetId,
        changes: &mut dyn Iterator<Item = (&'g Gathered, &'g [u8])>,
    ) -> Result<(), UowError>;
}

/// A data set, and which stretch of its intervals.
type Place = (DataSetId, u32);

/// What is gathered for a stretch, in the order in which it was given.
#[derive(Default)]
struct Stretch {
    changes: Vec<Gathered>,
    bodies: Vec<u8>,
}

/// What is being gathered, and the sweep of what was gathered before.
pub(crate) struct Sweep {
    work: Arc<dyn Repeat>,
    gathered: FixedMap<Place, Stretch>,
    bytes: usize,
    /// The bytes that are gathered before a sweep.
    bytes_max: usize,
    running: Option<(Arc<Sweeping>, Option<JoinHandle>)>,
}

/// What the threads of one sweep share.
struct Sweeping {
    work: Arc<dyn Repeat>,
    state: Mutex<State>,
}

struct State {
    /// What nobody has taken, the first of it last.
    left: Vec<(Place, Stretch)>,
    failed: Option<UowError>,
}

impl Sweep {
    /// Gathers at most so many bytes, half of them while the other half is repeated.
    pub(crate) fn new(work: Arc<dyn Repeat>, bytes_max: usize) -> Sweep {
        let gathered = FixedMap::default();
        Sweep { work, gathered, bytes: 0, bytes_max: bytes_max / 2, running: None }
    }

    /// Takes a change; its `body` is not needed any more. Sweeps if enough was gathered.
    pub(crate) fn give(
        &mut self,
        (set, ci): (DataSetId, CiNumber),
        (kind, lsn): (u8, Lsn),
        (fresh, known): (bool, bool),
        body: &[u8],
    ) -> Result<(), UowError> {
        let stretch = self.gathered.entry((set, ci.0 / STRETCH)).or_default();
        let before = stretch.memory_bytes();
        let from = stretch.bodies.len();
        make_room(&mut stretch.bodies, body.len());
        stretch.bodies.extend_from_slice(body);
        let body = (from, stretch.bodies.len());
        make_room(&mut stretch.changes, 1);
        stretch.changes.push(Gathered { ci, lsn, body, kind, fresh, known });
        self.bytes += stretch.memory_bytes() - before;
        if self.bytes < self.bytes_max { Ok(()) } else { self.sweep() }
    }

    /// Repeats what was gathered last, and waits for it.
    pub(crate) fn finish(mut self) -> Result<(), UowError> {
        self.sweep()?;
        self.settle()
    }

    /// Begins a sweep when the one before is over.
    fn sweep(&mut self) -> Result<(), UowError> {
        self.settle()?;
        self.bytes = 0;
        let mut left: Vec<_> = std::mem::take(&mut self.gathered).into_iter().collect();
        left.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(*place));
        let state = Mutex::new(State { left, failed: None });
        let sweeping = Arc::new(Sweeping { work: Arc::clone(&self.work), state });
        let own = Arc::clone(&sweeping);
        let thread = seam::thread::spawn("redo-0", move || own.sweep()).ok();
        if thread.is_none() {
            sweeping.sweep();
        }
        self.running = Some((sweeping, thread));
        Ok(())
    }

    /// Waits for the sweep that is under way.
    fn settle(&mut self) -> Result<(), UowError> {
        let Some((sweeping, thread)) = self.running.take() else { return Ok(()) };
        if let Some(thread) = thread {
            thread.join();
        }
        sweeping.state.lock().failed.take().map_or(Ok(()), Err)
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        // Whoever gives up does not leave somebody behind who is at the intervals.
        if let Some((_, Some(thread))) = self.running.take()
            && !std::thread::panicking()
        {
            thread.join();
        }
    }
}

impl Sweeping {
    /// All of a sweep, with as many threads as there is work for.
    fn sweep(self: &Arc<Sweeping>) {
        let stretches = self.state.lock().left.len();
        let threads: Vec<JoinHandle> = (1..WORKERS.min(stretches))
            .filter_map(|number| {
                let own = Arc::clone(self);
                seam::thread::spawn(&format!("redo-{number}"), move || own.run()).ok()
            })
            .collect();
        self.run();
        threads.into_iter().for_each(JoinHandle::join);
    }

    /// Takes stretches until none is left.
    fn run(&self) {
        while let Some(((set, _), mut stretch)) = self.take() {
            if let Err(error) = stretch.repeat(set, &*self.work) {
                self.state.lock().failed = Some(error);
            }
        }
    }

    fn take(&self) -> Option<(Place, Stretch)> {
        let mut state = self.state.lock();
        if state.failed.is_some() { None } else { state.left.pop() }
    }
}

impl Stretch {
    /// What it takes of memory.
    fn memory_bytes(&self) -> usize {
        self.changes.capacity() * size_of::<Gathered>() + self.bodies.capacity()
    }

    fn repeat(&mut self, set: DataSetId, work: &dyn Repeat) -> Result<(), UowError> {
        if armed(Failpoint::SweepBackwards) {
            self.changes.reverse();
        }
        // Changes of one interval stay in their order.
        self.changes.sort_by_key(|change| change.ci);
        self.fetch(set, work);
        for of_one in self.changes.chunk_by(|one, next| one.ci == next.ci) {
            let mut changes = of_one.iter().map(|one| (one, &self.bodies[one.body.0..one.body.1]));
            work.repeat(set, &mut changes)?;
        }
        Ok(())
    }

    /// Has its intervals read, neighbours in one piece.
    fn fetch(&self, set: DataSetId, work: &dyn Repeat) {
        // The first change of each says whether what it held is of interest.
        let intervals = self.changes.chunk_by(|one, next| one.ci == next.ci).map(|of| &of[0]);
        let wanted = intervals.filter(|one| !one.fresh || one.known).map(|one| one.ci);
        for (first, count) in runs(wanted, STRETCH) {
            work.fetch(set, first, count);
        }
    }
}

/// Makes room for some more, by a quarter at a time: twice of everything would be too much here.
fn make_room<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + vec.len() / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes what is asked of it.
    #[derive(Default)]
    struct Notes {
        fetched: Mutex<Vec<(u32, u32)>>,
        repeated: Mutex<Vec<(u32, u64)>>,
    }

    impl Repeat for Notes {
        fn fetch(&self, _: DataSetId, first: CiNumber, count: u32) {
            self.fetched.lock().push((first.0, count));
        }
        fn repeat<'g>(
            &self,
            _: DataSetId,
            changes: &mut dyn Iterator<Item = (&'g Gathered, &'g [u8])>,
        ) -> Result<(), UowError> {
            for (change, body) in changes {
                assert_eq!(body, change.lsn.0.to_le_bytes());
                if change.kind == 99 {
                    let (object, why) = ("a change".into(), "it was made to".into());
                    return Err(UowError::Damaged { object, why });
                }
                self.repeated.lock().push((change.ci.0, change.lsn.0));
            }
            Ok(())
        }
    }

    fn give(sweep: &mut Sweep, kind: u8, ci: u32, lsn: u64, fresh: bool) -> Result<(), UowError> {
        let place = (DataSetId(7), CiNumber(ci));
        sweep.give(place, (kind, Lsn(lsn)), (fresh, false), &lsn.to_le_bytes())
    }

    #[test]
    fn intervals_come_in_their_order_and_changes_of_each_in_that_of_the_log() {
        let notes = Arc::new(Notes::default());
        let mut sweep = Sweep::new(Arc::clone(&notes) as Arc<dyn Repeat>, 1 << 20);
        for lsn in 0..20_000 {
            give(&mut sweep, 40, (lsn * 7_919 % 3_001) as u32, lsn, false).unwrap();
        }
        sweep.finish().unwrap();
        let repeated = notes.repeated.lock();
        assert_eq!(repeated.len(), 20_000);
        let mut last = vec![None; 3_001];
        for (ci, lsn) in repeated.iter() {
            assert!(last[*ci as usize] < Some(*lsn), "interval {ci}");
            last[*ci as usize] = Some(*lsn);
        }
    }

    #[test]
    fn neighbours_are_read_in_one_piece_and_what_is_written_anew_is_not_read() {
        let notes = Arc::new(Notes::default());
        let mut sweep = Sweep::new(Arc::clone(&notes) as Arc<dyn Repeat>, 1 << 20);
        for ci in [30, 5, 7, 12, 100, 101, 6, 103] {
            give(&mut sweep, 40, ci, u64::from(ci), ci == 100 || ci == 6).unwrap();
        }
        sweep.finish().unwrap();
        assert_eq!(*notes.fetched.lock(), [(5, 8), (30, 1), (101, 3)]);
    }

    #[test]
    fn an_error_ends_it_and_is_told() {
        let notes = Arc::new(Notes::default());
        let mut sweep = Sweep::new(Arc::clone(&notes) as Arc<dyn Repeat>, 1 << 20);
        (0..9).for_each(|ci| give(&mut sweep, 40, ci, 1, false).unwrap());
        give(&mut sweep, 99, 4, 2, false).unwrap();
        assert!(sweep.finish().unwrap_err().to_string().contains("it was made to"));
        assert_eq!(notes.repeated.lock().len(), 5);
    }
}
