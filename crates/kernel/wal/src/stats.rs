//! What the log counts about itself.

use std::time::Duration;

use base::stats::{Counter, Histogram, Quantiles};
use base::{GroupNumber, Lsn};

/// Counters that the log feeds while it runs.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) groups: Counter,
    pub(crate) bytes: Counter,
    pub(crate) disk_bytes: Counter,
    pub(crate) flush_us: Histogram,
    pub(crate) group_bytes: Histogram,
    pub(crate) waits: Counter,
    pub(crate) ring_waits: Counter,
    pub(crate) full: Counter,
    pub(crate) overflowed: Counter,
    pub(crate) growth_failed: Counter,
    pub(crate) failed_writes: Counter,
    pub(crate) entries: Counter,
    pub(crate) ahead_bytes: Counter,
    reserve_ns: Counter,
    reserve_samples: Counter,
}

/// One reservation in about so many is timed.
const SAMPLE: u64 = 64;

impl Stats {
    pub(crate) fn sealed(&self, bytes: u64, disk_bytes: u64) {
        self.groups.one();
        self.bytes.add(bytes);
        self.disk_bytes.add(disk_bytes);
        self.group_bytes.record(bytes);
    }

    /// An entry of the write-ahead data set.
    pub(crate) fn went_ahead(&self, bytes: u64, disk_bytes: u64) {
        self.entries.one();
        self.ahead_bytes.add(disk_bytes);
        self.group_bytes.record(bytes);
    }

    /// Whether the reservation at this position is timed: positions are as good as a die.
    #[inline]
    pub(crate) fn samples(&self, position: u64) -> bool {
        (position >> 3).is_multiple_of(SAMPLE)
    }

    pub(crate) fn sampled(&self, time: Duration) {
        self.reserve_ns.add(time.as_nanos() as u64);
        self.reserve_samples.one();
    }

    /// Time in the one step that appenders do one after the other, estimated from the samples.
    pub(crate) fn reserve_ns_estimate(&self) -> u64 {
        self.reserve_ns.get().saturating_mul(SAMPLE)
    }

    pub(crate) fn reserve_samples(&self) -> u64 {
        self.reserve_samples.get()
    }
}

/// The log at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatistics {
    /// Groups sealed since the log was opened.
    pub groups: u64,
    /// Bytes of records in them.
    pub bytes: u64,
    /// Bytes of headers and padding around them, on each copy.
    pub padding_bytes: u64,
    /// How long writes took, in microseconds.
    pub flush_us: Quantiles,
    /// How much of the stream each group holds, in bytes.
    pub group_bytes: Quantiles,
    /// Times that a thread slept for a position.
    pub waits: u64,
    /// Times that an appender slept because the ring was full.
    pub ring_waits: u64,
    /// Records refused because the log was full.
    pub full: u64,
    /// Segments made beyond the configured number, for undo.
    pub overflow_segments: u64,
    /// Times that no segment could be made ahead: the log stays smaller than configured.
    pub growth_failed: u64,
    /// Whether it is smaller than configured for that reason now.
    pub cramped: bool,
    /// Time in the one step that appenders do one after the other, in nanoseconds, estimated from
    /// every 64th append: the log's share of the system's serial time.
    pub serial_ns: u64,
    /// How many appends that estimate rests on.
    pub serial_samples: u64,
    /// Bytes kept for undo.
    pub reserved_bytes: u64,
    /// Each configured copy.
    pub copies: Vec<CopyInfo>,
    /// The write-ahead data set, if one is configured.
    pub ahead: Option<AheadInfo>,
    /// Groups sealed and not yet durable.
    pub in_flight: u64,
    /// The segments in use, oldest first.
    pub segments: Vec<SegmentInfo>,
}

/// The write-ahead data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AheadInfo {
    /// Its files.
    pub paths: Vec<std::path::PathBuf>,
    /// Entries written since the log was opened.
    pub entries: u64,
    /// Bytes of them in each file.
    pub bytes: u64,
    /// Why it is not used, if it is not: then commits wait for the log.
    pub trouble: Option<String>,
}

/// One copy of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyInfo {
    /// Its folder.
    pub path: std::path::PathBuf,
    /// Whether it gets every group. If not, the log is single.
    pub living: bool,
    /// Why it was lost, or what is wrong with it although it still gets every group.
    pub trouble: Option<String>,
}

/// One segment in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its place in the order of segments, from 1.
    pub sequence: u64,
    /// The number in its files' names.
    pub slot: u32,
    /// Where it begins.
    pub first: Lsn,
    /// Its first group.
    pub first_group: GroupNumber,
    /// How many stripes it has.
    pub stripes: u8,
    /// Where the next segment begins, unless this is the current one.
    pub end: Option<Lsn>,
    /// Whether groups are still written to it.
    pub current: bool,
}

/// How much room the log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSpace {
    /// Bytes of all segments that the configuration allows; or of those that there are, once the
    /// disk had no room for another one.
    pub capacity_bytes: u64,
    /// Bytes of segments in use, the current one as far as it is written.
    pub used_bytes: u64,
    /// Bytes of full segments that wait for the archive.
    pub unarchived_bytes: u64,
    /// Bytes of records that may still be appended, what is kept for undo not counted.
    pub ordinary_bytes: u64,
    /// Bytes kept for undo.
    pub reserved_bytes: u64,
}
