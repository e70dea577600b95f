//! Commit delay: whether a partial group waits a moment for those who were just told.
//!
//! When a group has landed, those who waited for it come back with their next commits, a little
//! after those who gathered while it was being written. Sealed at once, the two crowds take turns
//! for ever, each group with half of everybody; a moment's waiting brings them together, with half
//! as many flushes. That is faster where callers mostly wait for the disk and slower where they
//! mostly compute, so both ways are tried now and then and the better one is kept for a
//! while; waiting must be better by an eighth.
//!
//! Invariants:
//! 1. Nobody waits unless others have gathered and the log is at rest: who comes alone is written
//!    at once, and a full group never waits.
//! 2. A wait ends when as much has gathered as was in flight and waiting together, or after a
//!    quarter of the time that a write takes here.

use std::time::Duration;

/// What the flush state remembers about it, under the flush state's mutex.
#[derive(Default)]
pub(crate) struct CommitDelay {
    waiting: Option<Wait>,
    /// A moving mean of how long a write takes.
    write_ns: u64,
    trial: Trial,
}

struct Wait {
    /// The lane whose thread looks at the clock.
    lane: usize,
    /// Enough has gathered when the next record would begin here.
    enough: u64,
    until: Duration,
}

/// What is newly durable, and what has gathered meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Landing {
    pub(crate) bytes: u64,
    pub(crate) taken: u64,
    pub(crate) next: u64,
    pub(crate) now: Duration,
}

impl CommitDelay {
    /// A write took so long.
    pub(crate) fn wrote(&mut self, took: Duration) {
        let took = took.as_nanos() as u64;
        self.write_ns = match self.write_ns {
            0 => took,
            mean => mean - mean / 8 + took / 8,
        };
    }

    /// The log has come to rest: is a delay worth it? Then `lane`'s thread looks at the clock, and
    /// the position comes back at which there is enough.
    pub(crate) fn landed(&mut self, lane: usize, landing: Landing) -> Option<u64> {
        self.trial.landed(landing);
        let Landing { bytes, taken, next, now } = landing;
        // What comes back is seldom the same to the byte.
        let enough = taken + (next - taken + bytes) / 8 * 7;
        if next == taken || next >= enough || !self.trial.waits() {
            return None;
        }
        let until = now + Duration::from_nanos(self.write_ns / 4);
        self.waiting = Some(Wait { lane, enough, until });
        Some(enough)
    }

    /// Whether a partial group should wait, with the next record to begin at `next`.
    pub(crate) fn is_expected(&self, next: u64) -> bool {
        self.waiting.as_ref().is_some_and(|wait| next < wait.enough)
    }

    /// The lane whose thread looks at the clock, and until when.
    pub(crate) fn watch(&self) -> Option<(usize, Duration)> {
        self.waiting.as_ref().map(|wait| (wait.lane, wait.until))
    }

    /// A group is sealed, or nobody will come.
    pub(crate) fn end(&mut self) {
        self.waiting = None;
    }
}

/// Groups for which one way is tried.
const TRIED_GROUPS: u32 = 96;
/// Groups for which the better way is kept.
const KEPT_GROUPS: u32 = 4096;

/// Tries both ways and keeps the better one.
struct Trial {
    phase: Phase,
    groups: u32,
    /// Bytes made durable in this phase, and the time that took while somebody always waited.
    bytes: u64,
    busy: Duration,
    /// The last landing, if somebody waited for the next one then.
    last: Option<Duration>,
}

#[derive(Clone, Copy)]
enum Phase {
    Without,
    /// Bytes a millisecond without waiting.
    With(u64),
    Kept(bool),
}

impl Default for Trial {
    fn default() -> Trial {
        let (phase, groups, bytes) = (Phase::Without, 0, 0);
        Trial { phase, groups, bytes, busy: Duration::ZERO, last: None }
    }
}

impl Trial {
    fn waits(&self) -> bool {
        matches!(self.phase, Phase::With(_) | Phase::Kept(true))
    }

    fn landed(&mut self, landing: Landing) {
        if let Some(last) = self.last {
            self.busy += landing.now.saturating_sub(last);
            self.bytes += landing.bytes;
            self.groups += 1;
        }
        self.last = (landing.next > landing.taken).then_some(landing.now);
        let rate = self.bytes * 1_000_000 / (self.busy.as_nanos() as u64).max(1);
        self.phase = match self.phase {
            Phase::Without if self.groups >= TRIED_GROUPS => Phase::With(rate),
            Phase::With(without) if self.groups >= TRIED_GROUPS => {
                Phase::Kept(rate > without + without / 8)
            }
            Phase::Kept(_) if self.groups >= KEPT_GROUPS => Phase::Without,
            _ => return,
        };
        (self.groups, self.bytes, self.busy) = (0, 0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: Duration = Duration::from_micros(160);

    /// Lets groups land, each after `with` or `without` waiting; how often there was a wait.
    fn run(delay: &mut CommitDelay, groups: u32, with: Duration, without: Duration) -> u32 {
        let (mut now, mut waits) = (Duration::ZERO, 0);
        let mut waited = false;
        for _ in 0..groups {
            now += if waited { with } else { without };
            let landing = Landing { bytes: 800, taken: 1_000, next: 1_800, now };
            waited = delay.landed(0, landing).is_some();
            waits += u32::from(waited);
            delay.end();
        }
        waits
    }

    #[test]
    fn who_comes_alone_waits_for_nobody() {
        let mut delay = CommitDelay::default();
        delay.trial.phase = Phase::Kept(true);
        let landing = Landing { bytes: 800, taken: 1_000, next: 1_000, now: WRITE };
        assert_eq!(delay.landed(0, landing), None);
    }

    #[test]
    fn a_wait_ends_when_as_much_has_come_as_was_out() {
        let mut delay = CommitDelay::default();
        delay.trial.phase = Phase::Kept(true);
        delay.wrote(WRITE);
        let landing = Landing { bytes: 800, taken: 1_000, next: 1_800, now: WRITE };
        assert_eq!(delay.landed(3, landing), Some(2_400));
        assert!(delay.is_expected(2_399) && !delay.is_expected(2_400));
        assert_eq!(delay.watch(), Some((3, WRITE + WRITE / 4)));
        delay.end();
        assert_eq!(delay.watch(), None);
    }

    #[test]
    fn the_better_way_is_kept() {
        let mut delay = CommitDelay::default();
        let groups = 10 * (KEPT_GROUPS + 2 * TRIED_GROUPS);
        let waits = run(&mut delay, groups, WRITE, WRITE * 2);
        assert!(waits > groups / 10 * 9, "waiting pays: {waits} of {groups}");
        let waits = run(&mut CommitDelay::default(), groups, WRITE * 2, WRITE);
        assert!(waits < groups / 10, "waiting does not pay: {waits} of {groups}");
    }
}
