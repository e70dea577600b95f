//! Where the two sides of a mailbox run: on one processor while a message is processed.
//!
//! One side works while the other waits. On two processors the one that waits either looks for the
//! turn, which costs as much as the other side's work, or sleeps, and to wake it on another
//! processor costs many times a call. On one processor it lets the other side run, which costs
//! less than a microsecond and nothing besides.
//!
//! | the region | may run |
//! |---|---|
//! | waits for its program's next input | everywhere: whoever wakes it finds it a processor that is free |
//! | has an input | where it woke, and so may its program's process |
//! | has one in several inputs | everywhere, both: so that a processor that has nothing to do finds them where several regions share one |
//!
//! Invariants:
//! 1. Neither side gets a processor that it did not have before.
//! 2. Both have all of theirs again when the program is over: a process that others follow in, or
//!    an executable with threads, is never kept on one.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// One in so many inputs is processed wherever there is room.
const APART: u32 = 16;

/// A region's thread and its program's process.
pub(crate) struct Pair {
    process: Option<Pid>,
    /// The processors that both may have; none if there is nothing to choose.
    all: Option<CpuSet>,
    /// Where the process is kept.
    kept: Option<usize>,
    /// Whether this thread is.
    is_kept: bool,
    inputs: u32,
}

impl Pair {
    /// This thread, and a process. With `alone` nothing is done: the process has threads, or starts
    /// others.
    pub(crate) fn new(process: u32, alone: bool) -> Pair {
        let process = i32::try_from(process).ok().and_then(Pid::from_raw);
        let all = if alone { None } else { common(process) };
        Pair { process, all, kept: None, is_kept: false, inputs: 0 }
    }

    /// This thread is about to wait.
    pub(crate) fn part(&mut self) {
        if let (true, Some(all)) = (self.is_kept, &self.all) {
            // Whatever it is refused, it runs somewhere.
            self.is_kept = sched_setaffinity(None, all).is_err();
        }
    }

    /// This thread has something for the process to do. Answers whether both run on one processor
    /// from now on.
    pub(crate) fn join(&mut self) -> bool {
        self.inputs = self.inputs.wrapping_add(1);
        if self.inputs.is_multiple_of(APART) {
            self.free();
            return false;
        }
        let Some(all) = &self.all else { return false };
        let here = sched_getcpu();
        let mut one = CpuSet::new();
        if here >= CpuSet::MAX_CPU || !all.is_set(here) {
            return false;
        }
        one.set(here);
        if self.kept != Some(here) {
            if sched_setaffinity(self.process, &one).is_err() {
                return false;
            }
            self.kept = Some(here);
        }
        self.is_kept = self.is_kept || sched_setaffinity(None, &one).is_ok();
        self.is_kept
    }

    /// Both may run everywhere.
    fn free(&mut self) {
        self.part();
        if let (Some(_), Some(all)) = (self.kept.take(), &self.all) {
            // It may have ended.
            let _ = sched_setaffinity(self.process, all);
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.free();
    }
}

/// The processors of this thread, if the process has the same and there are several.
fn common(process: Option<Pid>) -> Option<CpuSet> {
    let own = sched_getaffinity(None).ok()?;
    let its = sched_getaffinity(Some(process?)).ok()?;
    (own == its && own.count() > 1).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_run_on_one_processor_until_the_pair_parts() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("a process");
        let process = Pid::from_raw(child.id() as i32);
        let its = || sched_getaffinity(process).expect("it lives");
        let own = || sched_getaffinity(None).expect("this thread");
        let all = own();
        let mut pair = Pair::new(child.id(), false);
        assert_eq!(pair.join(), all.count() > 1);
        if all.count() > 1 {
            assert_eq!((its().count(), own()), (1, its()));
            pair.part();
            assert_eq!((its().count(), own()), (1, all));
            assert!(pair.join());
            for input in 3..APART {
                pair.part();
                assert!(pair.join(), "{input}");
            }
            assert!(!pair.join(), "it is time to be found by others");
            assert_eq!((its(), own()), (all, all));
            assert!(pair.join());
        }
        drop(pair);
        assert_eq!((its(), own()), (all, all));
        assert!(!Pair::new(child.id(), true).join());
        assert_eq!(own(), all);
        child.kill().expect("it lives");
        child.wait().expect("it has ended");
    }
}
