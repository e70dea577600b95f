//! A sweep: changes are gathered while the log is read, put in the order of their intervals, and
//! repeated in that order.
//!
//! In the order of the log changes go to and fro. A data set that is larger than its pool would be
//! read and written again for almost every one of them. A sweep comes to an interval once, with all
//! that it has for it, and neighbours are read and written in one piece. The more is gathered, the
//! fewer sweeps there are.
//!
//! Invariants:
//! 1. Changes of one interval are repeated in the order in which they were given, by one thread at
//!    a time; a sweep is over before the next one begins.
//! 2. No more is gathered than was agreed, but for the last change.
//! 3. After an error nothing more is repeated, and whoever gives or finishes is told of it.

use std::ops::Range;
use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn};
use seam::plant::{Plant, planted};
use seam::sync::Mutex;

use crate::UowError;
use crate::runs::runs;

/// Threads that sweep, the one that reads the log among them: while one of them waits for the disk,
/// others work.
const HANDS: usize = 4;
/// The intervals that a thread takes at once.
const STRETCH: u32 = 256;

/// A change of one interval, as it was gathered.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) set: DataSetId,
    pub(crate) ci: CiNumber,
    pub(crate) lsn: Lsn,
    pub(crate) kind: u8,
    /// The record holds all of the interval.
    pub(crate) fresh: bool,
    /// The interval held something before.
    pub(crate) known: bool,
    number: u32,
    body: (usize, usize),
}

impl Gathered {
    fn place(&self) -> (DataSetId, CiNumber) {
        (self.set, self.ci)
    }
}

/// What a sweep does with what it comes to.
pub(crate) trait Repeat: Send + Sync {
    /// Some of these intervals are wanted soon: has them read.
    fn fetch(&self, set: DataSetId, first: CiNumber, count: u32);
    /// Repeats changes of one interval, each with its body, in this order. Returns how many it
    /// lacked.
    fn repeat(&self, changes: &mut dyn Iterator<Item = (&Gathered, &[u8])>)
    -> Result<u64, UowError>;
}

/// What is being gathered.
pub(crate) struct Sweep {
    work: Arc<dyn Repeat>,
    gathered: Gathering,
    bytes_max: usize,
    repeated: u64,
}

#[derive(Default)]
struct Gathering {
    changes: Vec<Gathered>,
    bodies: Vec<u8>,
}

/// What the threads of one sweep share.
struct Sweeping {
    work: Arc<dyn Repeat>,
    gathered: Gathering,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The first change that nobody has taken.
    next: usize,
    repeated: u64,
    failed: Option<UowError>,
}

impl Sweep {
    /// Gathers at most `bytes_max` at once.
    pub(crate) fn new(work: Arc<dyn Repeat>, bytes_max: usize) -> Sweep {
        Sweep { work, gathered: Gathering::default(), bytes_max, repeated: 0 }
    }

    /// Takes a change; its own `body` is not needed any more. Sweeps if enough was gathered.
    pub(crate) fn give(
        &mut self,
        (set, ci): (DataSetId, CiNumber),
        (kind, lsn): (u8, Lsn),
        (fresh, known): (bool, bool),
        body: &[u8],
    ) -> Result<(), UowError> {
        let Gathering { changes, bodies } = &mut self.gathered;
        let number = changes.len() as u32;
        let body_at = (bodies.len(), bodies.len() + body.len());
        bodies.extend_from_slice(body);
        changes.push(Gathered { set, ci, lsn, kind, fresh, known, number, body: body_at });
        let bytes = bodies.len() + changes.len() * size_of::<Gathered>();
        if bytes < self.bytes_max { Ok(()) } else { self.sweep() }
    }

    /// Repeats what was gathered last. Returns how many changes there were in all.
    pub(crate) fn finish(mut self) -> Result<u64, UowError> {
        self.sweep()?;
        Ok(self.repeated)
    }

    fn sweep(&mut self) -> Result<(), UowError> {
        let mut gathered = std::mem::take(&mut self.gathered);
        if planted(Plant::SweepBackwards) {
            gathered.changes.sort_unstable_by_key(|one| (one.place(), u32::MAX - one.number));
        } else {
            gathered.changes.sort_unstable_by_key(|one| (one.place(), one.number));
        }
        let work = Arc::clone(&self.work);
        let sweeping = Arc::new(Sweeping { work, gathered, state: Mutex::default() });
        // Without further threads this one does it all.
        let stretches = sweeping.gathered.changes.len() / STRETCH as usize;
        let threads: Vec<_> = (1..HANDS.min(stretches))
            .filter_map(|number| {
                let own = Arc::clone(&sweeping);
                seam::thread::spawn(&format!("redo-{number}"), move || own.run()).ok()
            })
            .collect();
        sweeping.run();
        threads.into_iter().for_each(seam::thread::JoinHandle::join);
        let mut state = sweeping.state.lock();
        self.repeated += state.repeated;
        state.failed.take().map_or(Ok(()), Err)
    }
}

impl Sweeping {
    /// Takes stretches until none is left.
    fn run(&self) {
        while let Some(stretch) = self.take() {
            let done = self.repeat(&self.gathered.changes[stretch]);
            let mut state = self.state.lock();
            match done {
                Ok(repeated) => state.repeated += repeated,
                Err(error) => state.failed = Some(error),
            }
        }
    }

    /// The changes of some neighbouring intervals, all that there are of each.
    fn take(&self) -> Option<Range<usize>> {
        let changes = &self.gathered.changes;
        let mut state = self.state.lock();
        let from = state.next;
        let first = changes.get(from).filter(|_| state.failed.is_none())?;
        let near = |one: &Gathered| one.set == first.set && one.ci.0 - first.ci.0 < STRETCH;
        state.next = from + changes[from..].partition_point(near);
        Some(from..state.next)
    }

    fn repeat(&self, stretch: &[Gathered]) -> Result<u64, UowError> {
        self.fetch(stretch);
        let bodies = &self.gathered.bodies;
        let mut repeated = 0;
        for changes in stretch.chunk_by(|one, next| one.ci == next.ci) {
            let mut changes = changes.iter().map(|one| (one, &bodies[one.body.0..one.body.1]));
            repeated += self.work.repeat(&mut changes)?;
        }
        Ok(repeated)
    }

    /// Has the intervals of a stretch read, neighbours in one piece.
    fn fetch(&self, stretch: &[Gathered]) {
        // The first change of each says whether what it held is of interest.
        let intervals = stretch.chunk_by(|one, next| one.ci == next.ci).map(|of| &of[0]);
        let wanted = intervals.filter(|one| !one.fresh || one.known).map(|one| one.ci);
        for (first, count) in runs(wanted, STRETCH) {
            self.work.fetch(stretch[0].set, first, count);
        }
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
        fn repeat(
            &self,
            changes: &mut dyn Iterator<Item = (&Gathered, &[u8])>,
        ) -> Result<u64, UowError> {
            let mut count = 0;
            for (change, body) in changes {
                assert_eq!(body, change.lsn.0.to_le_bytes());
                if change.kind == 99 {
                    let (object, why) = ("a change".into(), "it was made to".into());
                    return Err(UowError::Damaged { object, why });
                }
                self.repeated.lock().push((change.ci.0, change.lsn.0));
                count += 1;
            }
            Ok(count)
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
        assert_eq!(sweep.finish().unwrap(), 20_000);
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
