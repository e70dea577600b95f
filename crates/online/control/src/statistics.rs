//! Figures of the transaction manager, for metrics.

use std::time::Duration;

use queues::Totals;

/// Upper ends of the classes of transit times, in microseconds; the last class has none.
pub const TRANSIT_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// What has happened since the start, and what is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Inputs that were taken in.
    pub submitted: u64,
    /// Inputs that were refused at once.
    pub refused: u64,
    /// Commands.
    pub commands: u64,
    /// Inputs whose unit of work is committed.
    pub committed: u64,
    /// Inputs that were backed out for good.
    pub backed_out: u64,
    /// Inputs that were given out again after a deadlock.
    pub rescheduled: u64,
    /// Inputs that have expired.
    pub expired: u64,
    /// Outputs that were sent or settled as delivered.
    pub delivered: u64,
    /// Dead letters that were written.
    pub dead_letters: u64,
    /// Times programs were scheduled.
    pub schedules: u64,
    /// How many inputs took how long from arrival to commit, by class of [`TRANSIT_US`].
    pub transit: [u64; TRANSIT_US.len() + 1],
    /// All these times together, in microseconds.
    pub transit_us: u64,
    /// Regions, and how many of them run a program now.
    pub regions: u64,
    /// Those that run a program.
    pub occupied: u64,
    /// How long regions have been occupied, all together, in microseconds.
    pub occupied_us: u64,
    /// The message queues.
    pub queues: Totals,
    /// How old the oldest waiting input is, in milliseconds.
    pub oldest_input_ms: u64,
    /// Conversations that go on.
    pub conversations: u64,
}

impl Statistics {
    pub(crate) fn took(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let class = TRANSIT_US.partition_point(|end| *end < micros);
        self.transit[class] += 1;
        self.transit_us = self.transit_us.saturating_add(micros);
    }
}
