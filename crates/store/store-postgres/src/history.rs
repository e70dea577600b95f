//! What a store has seen of its engine: the newest timeline, and what was confirmed to the store.
//!
//! An engine of several nodes promises that the node which leads has every commit that was ever
//! confirmed. The promise can be broken: a leader that was frozen may lead again beside, or in
//! place of, the one that replaced it, and what that one has confirmed is gone. The store cannot
//! keep an engine from that. It notices, and goes no further.
//!
//! Invariants:
//! 1. No connection is used whose server has an older timeline than another one had before.
//! 2. No connection is used whose server lacks a commit that was confirmed to this store, of the
//!    lanes that [`LANES_MAX`] and [`KEPT_FOR`] leave in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use seam::sync::Mutex;

use crate::error::Fault;

/// Lanes whose last commit is remembered: more than a store has connections, many times.
const LANES_MAX: usize = 1_024;
/// How long a lane's last commit is remembered. The engine keeps the lanes of ended systems longer.
const KEPT_FOR: Duration = Duration::from_hours(24);

/// A line of history of an engine: each promotion of a standby begins one with a greater number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timeline(pub(crate) u32);

impl Timeline {
    /// For engines that have none, and servers that do not say.
    pub(crate) const UNKNOWN: Timeline = Timeline(0);

    /// Asks for the current one: the name of a file of the log begins with it.
    pub(crate) const QUESTION: &str = "SELECT pg_catalog.substr(\
         pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8)";

    /// From the answer to [`Timeline::QUESTION`].
    pub(crate) fn of_answer(answer: &str) -> Timeline {
        u32::from_str_radix(answer, 16).map_or(Timeline::UNKNOWN, Timeline)
    }
}

/// The last commit of a lane that was confirmed.
#[derive(Clone, Copy)]
struct Confirmed {
    number: i64,
    at: Duration,
}

/// What one store has seen.
#[derive(Default)]
pub(crate) struct History {
    newest: AtomicU32,
    confirmed: Mutex<BTreeMap<i64, Confirmed>>,
}

impl History {
    /// Notes the timeline of a server that leads.
    ///
    /// # Errors
    /// If another one was seen to lead a newer one: this one was replaced.
    pub(crate) fn see(&self, timeline: Timeline) -> Result<(), Fault> {
        let newest = Timeline(self.newest.fetch_max(timeline.0, SeqCst));
        if self.is_current(timeline) {
            return Ok(());
        }
        Err(Fault::Lost(format!(
            "a server leads timeline {}, but another one led timeline {} before: it was replaced \
             and does not know it, or it leads again without what the other one has confirmed",
            timeline.0, newest.0
        )))
    }

    /// Whether no newer timeline was seen.
    pub(crate) fn is_current(&self, timeline: Timeline) -> bool {
        timeline == Timeline::UNKNOWN || timeline.0 >= self.newest.load(SeqCst)
    }

    /// Notes that a commit was confirmed.
    pub(crate) fn confirm(&self, lane: i64, number: i64, at: Duration) {
        let mut confirmed = self.confirmed.lock();
        confirmed.insert(lane, Confirmed { number, at });
        // Lanes are numbered as they come, so that the first ones are those that have ended.
        if confirmed.len() > LANES_MAX {
            confirmed.pop_first();
        }
    }

    /// Lanes and numbers of what was confirmed, in the columns that the engine takes; none of what
    /// is too long ago.
    pub(crate) fn confirmed(&self, now: Duration) -> (Vec<i64>, Vec<i64>) {
        let mut confirmed = self.confirmed.lock();
        confirmed.retain(|_, last| now.saturating_sub(last.at) < KEPT_FOR);
        confirmed.iter().map(|(lane, last)| (*lane, last.number)).unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_an_older_timeline_is_refused_and_one_that_has_none_is_not() {
        let history = History::default();
        for timeline in [0, 4, 4, 6, 0, 6] {
            assert!(history.see(Timeline(timeline)).is_ok(), "{timeline}");
        }
        let refused = history.see(Timeline(5));
        assert!(matches!(refused, Err(Fault::Lost(why)) if why.contains("timeline 5")));
        assert!(!history.is_current(Timeline(5)) && history.is_current(Timeline(6)));
    }

    #[test]
    fn an_answer_that_is_no_number_is_no_timeline() {
        assert_eq!(Timeline::of_answer("0000001F"), Timeline(31));
        assert_eq!(Timeline::of_answer("public"), Timeline::UNKNOWN);
        assert_eq!(Timeline::of_answer(""), Timeline::UNKNOWN);
    }

    #[test]
    fn the_last_commit_of_a_lane_is_remembered_for_a_day() {
        let history = History::default();
        let hours = |hours| Duration::from_hours(hours);
        history.confirm(7, 1, hours(0));
        history.confirm(7, 2, hours(1));
        history.confirm(8, 1, hours(20));
        assert_eq!(history.confirmed(hours(24)), (vec![7, 8], vec![2, 1]));
        assert_eq!(history.confirmed(hours(25)), (vec![8], vec![1]));
        for lane in 9..9 + LANES_MAX as i64 {
            history.confirm(lane, 1, hours(25));
        }
        let (lanes, _) = history.confirmed(hours(25));
        assert_eq!((lanes.len(), lanes[0]), (LANES_MAX, 9));
    }
}
