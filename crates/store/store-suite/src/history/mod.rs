//! Was it serializable? A checker for histories of units of work that append to lists.
//!
//! The method is Elle's (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from
//! Experimental Observations", 2020), written anew. Units of work append elements, each of them
//! unique, to lists, and read whole lists. A list that was read shows the order in which all its
//! elements were appended; from that follows who must stand before whom:
//!
//! * `ww`: who appended an element stands before who appended the next one;
//! * `wr`: who appended the last element of what was read stands before the reader;
//! * `rw`: who read a list stands before who appended the first element that it did not see;
//! * `rt`: who ended before another began stands before it, if real time is to count.
//!
//! If the units of work had been run in some order one after another, these arrows would agree
//! with it. A circle of arrows is a proof that there is no such order; the arrows in it tell what
//! kind of anomaly it is (Adya's names):
//!
//! | kind | circle of | or |
//! |---|---|---|
//! | G0 | `ww` only: dirty write | |
//! | G1a | | a read saw what was backed out |
//! | G1b | | a read saw a unit of work's append, but not its last one |
//! | G1c | `ww` and `wr`: circular information | |
//! | G-single | just one `rw`: lost update, read skew | |
//! | G2 | two or more `rw`: write skew, phantoms | |
//!
//! The checker is sound: what it reports is one. It is as complete as the reads are many.
//!
//! ```
//! use holdfast_store_suite::history::{Fate, Order, Recorder, check};
//!
//! // Two units of work that both read an empty list, then both append to it.
//! let recorder = Recorder::new();
//! let (mut one, mut two) = (recorder.begin(1), recorder.begin(2));
//! one.read(7, vec![]);
//! two.read(7, vec![]);
//! one.append(7, 1);
//! two.append(7, 2);
//! one.end(Fate::Committed);
//! two.end(Fate::Committed);
//! let mut reader = recorder.begin(1);
//! reader.read(7, vec![1, 2]);
//! reader.end(Fate::Committed);
//!
//! let anomalies = check(&recorder.history(), Order::Serial);
//! assert_eq!(anomalies[0].to_string().lines().next(), Some("G-single: lost update or read skew"));
//! ```

mod check;
mod edn;
mod graph;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seam::sync::Mutex;

pub use check::{Anomaly, Kind, Order, check};

/// One step of a unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It appended an element to a list. No element may be appended to a list twice.
    Append {
        /// The list.
        list: u64,
        /// The element.
        element: u64,
    },
    /// It read a list and saw these elements, its own among them.
    Read {
        /// The list.
        list: u64,
        /// The elements, first to last.
        elements: Vec<u64>,
    },
}

/// How a unit of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was committed.
    Committed,
    /// It was backed out.
    BackedOut,
    /// Nobody knows: the answer was lost, or there was a crash.
    Unknown,
}

/// A unit of work as its caller saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Who ran it, one after another.
    pub process: u64,
    /// A moment before it began; moments are numbered by a clock that all processes share.
    pub start: u64,
    /// A moment after it ended.
    pub end: u64,
    /// What it did, in order.
    pub steps: Vec<Step>,
    /// How it ended.
    pub fate: Fate,
}

/// All units of work of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// In the order of their ends.
    pub units: Vec<Observed>,
}

/// Records a history while several threads make it.
#[derive(Clone, Default)]
pub struct Recorder {
    shared: Arc<RecorderShared>,
}

#[derive(Default)]
struct RecorderShared {
    clock: AtomicU64,
    units: Mutex<Vec<Observed>>,
}

/// A unit of work being recorded. Dropped before its end, as by a crash, its fate is unknown.
pub struct Recording {
    recorder: Recorder,
    observed: Observed,
}

impl Recorder {
    /// An empty history.
    #[must_use]
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// Notes that a process is about to begin a unit of work.
    #[must_use]
    pub fn begin(&self, process: u64) -> Recording {
        let (start, fate) = (self.tick(), Fate::Unknown);
        let observed = Observed { process, start, end: start, steps: Vec::new(), fate };
        Recording { recorder: self.clone(), observed }
    }

    /// What has been recorded of units of work that have ended.
    #[must_use]
    pub fn history(&self) -> History {
        History { units: self.shared.units.lock().clone() }
    }

    fn tick(&self) -> u64 {
        self.shared.clock.fetch_add(1, Ordering::SeqCst)
    }
}

impl Recording {
    /// Notes an append that succeeded.
    pub fn append(&mut self, list: u64, element: u64) {
        self.observed.steps.push(Step::Append { list, element });
    }

    /// Notes a read and what it saw.
    pub fn read(&mut self, list: u64, elements: Vec<u64>) {
        self.observed.steps.push(Step::Read { list, elements });
    }

    /// Notes that the unit of work has ended.
    pub fn end(mut self, fate: Fate) {
        self.observed.fate = fate;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let (process, fate) = (self.observed.process, self.observed.fate);
        let steps = std::mem::take(&mut self.observed.steps);
        let mut units = self.recorder.shared.units.lock();
        let (start, end) = (self.observed.start, self.recorder.tick());
        units.push(Observed { process, start, end, steps, fate });
    }
}
