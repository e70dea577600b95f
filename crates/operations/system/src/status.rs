//! How a system is: what `holdfast status` shows, for people and as JSON.
//!
//! Serial share: the time that threads spent under latches which all threads share (the log's one
//! ordered step, each pool's latch, the lock manager's graph latch, and its shards' latches divided
//! by their number), over the CPU time of the process since it was opened. It is Amdahl's serial
//! fraction of the work, measured by sampling: with a share of 0.02, more than 50 CPUs cannot help.

use std::collections::BTreeMap;

use base::stats::Quantiles;
use lock::LockStatistics;
use pool::PoolStatistics;
use seal::Format;
use serde::{Deserialize, Serialize};
use space::{DataSet, Definition};
use uow::{KernelStatistics, RestartReport};
use wal::{LogStatistics, SegmentInfo};

use crate::archives::ArchivesStatus;
use crate::bound::ProtectionStatus;
use crate::limits::UnitLimits;

/// How a system is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SystemStatus {
    /// A process has it open.
    Running(Box<RunningStatus>),
    /// Nobody has it open, and everything is on disk.
    StoppedInOrder(Box<StoppedStatus>),
    /// Nobody has it open; the next start has something to recover.
    NeedsRestart(Box<StoppedStatus>),
}

/// A system that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningStatus {
    /// Its identity.
    pub system: String,
    /// Its folder.
    pub dir: String,
    /// Why the kernel has stopped by itself, if it has: nothing is acknowledged any more.
    pub stopped: Option<String>,
    /// How long it has been open.
    pub uptime_seconds: f64,
    /// The process.
    pub process: ProcessStatus,
    /// What the restart found and did.
    pub restart: Option<RestartStatus>,
    /// What its bytes must prove.
    #[serde(default)]
    pub protection: ProtectionStatus,
    /// Units of work since the start.
    pub units: UnitStatus,
    /// The log.
    pub log: LogStatus,
    /// The archive, if the log is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchivesStatus>,
    /// The buffer pools.
    pub pools: Vec<PoolStatus>,
    /// The page writer.
    pub page_writer: WriterStatus,
    /// Locks.
    pub locks: LockStatus,
    /// The serial share.
    pub serial: SerialStatus,
    /// The data sets.
    pub data_sets: Vec<DataSetStatus>,
    /// The cipher.
    pub cipher: CipherStatus,
    /// The doors that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doors: Vec<crate::DoorStatus>,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

/// A system that nobody has open, as its files tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoppedStatus {
    /// Its identity.
    pub system: String,
    /// Its folder.
    pub dir: String,
    /// When it was written last, in microseconds since 1970-01-01 UTC.
    pub written_utc_us: u64,
    /// Where the log ends.
    pub log_end: u64,
    /// Where restart begins to read.
    pub restart_from: u64,
    /// Where restart begins to repeat changes.
    pub redo_from: u64,
    /// What its bytes must prove, if the control file can be read.
    #[serde(default)]
    pub protection: Option<ProtectionStatus>,
    /// Log records that restart reads.
    pub records: u64,
    /// Units of work that restart backs out.
    pub units_in_flight: Vec<u64>,
    /// A log copy that is recorded as stale, from which group on.
    pub stale_copy: Option<StaleCopy>,
    /// The log's segments that restart needs.
    pub segments: Vec<SegmentStatus>,
    /// The data sets.
    pub data_sets: Vec<DataSetStatus>,
    /// Copies of the log that cannot be used, and where it is damaged on one of them.
    pub damages: Vec<String>,
    /// What an operator should know, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What is said of a data set that waits for its recovery.
pub(crate) fn offline_note(name: &str) -> String {
    format!("data set {name} is offline: `holdfast recover --set {name}`")
}

/// What is said of a data set whose conversion somebody has stopped: part of it keeps its old form.
pub(crate) fn paused_note(definition: &Definition) -> Option<String> {
    let conversion = definition.conversion.filter(|conversion| conversion.paused)?;
    let (name, next) = (&definition.name, conversion.next.0);
    let (from, to) = (uow::describe(conversion.from), uow::describe(definition.form()));
    Some(format!(
        "data set {name} is {to} up to interval {next} and {from} behind it: its conversion is \
         paused; `holdfast rekey resume --set {name}` has it go on"
    ))
}

/// A stale copy of the log (K9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StaleCopy {
    /// Its folder.
    pub path: String,
    /// The first group that it lacks.
    pub from_group: u64,
}

/// The process that has a system open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Its number.
    pub pid: u32,
    /// CPU time since the system was opened, all threads, user and system.
    pub cpu_us: u64,
    /// Memory that it has resident.
    pub resident_bytes: u64,
}

/// What a restart found and did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestartStatus {
    /// Whether the system had been stopped in order.
    pub orderly: bool,
    /// Where redo began.
    pub redo_from: u64,
    /// Where the log ended.
    pub log_end: u64,
    /// Log records read.
    pub records: u64,
    /// Changes repeated.
    pub redone: u64,
    /// Units of work backed out.
    pub backed_out: u64,
    /// Intervals put back from the double-write area.
    pub intervals_repaired: u64,
    /// Log groups copied from one copy to the other.
    pub groups_repaired: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: f64,
}

/// Units of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitStatus {
    /// Committed with changes.
    pub commits: u64,
    /// Ended without changes.
    pub read_only: u64,
    /// Backed out.
    pub backouts: u64,
    /// Checkpoints taken.
    pub checkpoints: u64,
    /// Bytes of log that a restart now would redo.
    pub redo_bytes: u64,
    /// What one of them may take.
    #[serde(default)]
    pub limits: UnitLimits,
}

/// A histogram in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistogramStatus {
    /// How many values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their median, to within a quarter.
    pub p50: u64,
    /// What 99 of 100 do not exceed.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// The log of an open system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogStatus {
    /// Where the next record goes.
    pub next_lsn: u64,
    /// How far it is durable.
    pub durable_lsn: u64,
    /// Groups written since the start.
    pub groups: u64,
    /// Bytes of records in them.
    pub bytes: u64,
    /// Bytes of headers and padding, on each copy.
    pub padding_bytes: u64,
    /// How long writes took.
    pub flush_us: HistogramStatus,
    /// How large groups were.
    pub group_bytes: HistogramStatus,
    /// Times that a thread slept for a position.
    pub waits: u64,
    /// Times that an appender slept because the memory for records was full.
    pub ring_waits: u64,
    /// Bytes kept for undo.
    pub reserved_bytes: u64,
    /// Bytes of all segments that may be used.
    pub capacity_bytes: u64,
    /// Bytes of segments in use.
    pub used_bytes: u64,
    /// The copies.
    pub copies: Vec<CopyStatus>,
    /// The write-ahead data set, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ahead: Option<WriteAheadStatus>,
    /// The segments in use, oldest first.
    pub segments: Vec<SegmentStatus>,
}

/// The write-ahead data set (K11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteAheadStatus {
    /// Its files.
    pub files: Vec<String>,
    /// Entries written since the start.
    pub entries: u64,
    /// Bytes of them in each file.
    pub bytes: u64,
    /// Why it is not used, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// How far the log itself is durable.
    pub landed_lsn: u64,
}

/// A copy of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyStatus {
    /// Its folder.
    pub path: String,
    /// Whether it gets every group.
    pub living: bool,
}

/// A segment of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentStatus {
    /// Its file on the first copy that has it, without stripes: `segment-000`.
    pub name: String,
    /// Where it begins.
    pub first_lsn: u64,
    /// Where the next one begins, or the log ends.
    pub end_lsn: Option<u64>,
    /// Its first group.
    pub first_group: u64,
    /// How many files side by side it has.
    #[serde(default)]
    pub stripes: u8,
    /// Whether groups are still written to it.
    pub current: bool,
}

/// A buffer pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// Its name.
    pub name: String,
    /// The unit of its intervals.
    pub unit_bytes: usize,
    /// Its frames.
    pub frames: usize,
    /// Frames that hold nothing.
    pub free: usize,
    /// Intervals found in memory.
    pub hits: u64,
    /// Intervals read.
    pub reads: u64,
    /// Intervals written.
    pub writes: u64,
    /// Frames taken from an interval for another.
    pub steals: u64,
    /// Waits for a frame or for another's read.
    pub waits: u64,
    /// Reads of several intervals at once.
    pub multi_block_reads: u64,
    /// Intervals that they brought.
    pub multi_block_intervals: u64,
}

/// The page writer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriterStatus {
    /// Batches written.
    pub batches: u64,
    /// Intervals in them.
    pub intervals: u64,
    /// How long they took.
    pub batch_us: HistogramStatus,
}

/// Locks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockStatus {
    /// Held at this moment.
    pub held: u64,
    /// Waits at this moment.
    pub waiting: u64,
    /// Granted so far.
    pub acquired: u64,
    /// Requests that had to wait.
    pub waits: u64,
    /// Waits ended to break a deadlock.
    pub deadlocks: u64,
    /// Waits that took too long.
    pub timeouts: u64,
    /// Locks on keys turned into one on their data set.
    pub escalations: u64,
    /// How long waits took.
    pub wait_us: HistogramStatus,
}

/// Time that cannot be shared between CPUs. See the head of this file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SerialStatus {
    /// In the log's ordered step.
    pub log_ns: u64,
    /// Under the pools' latches.
    pub pool_ns: u64,
    /// Under the lock manager's latches.
    pub lock_ns: u64,
    /// All of it.
    pub total_ns: u64,
    /// CPU time of the process since it was opened.
    pub cpu_ns: u64,
    /// The first over the second.
    pub share: f64,
    /// How many CPUs this much serial work leaves room for; none if nothing was measured.
    pub cpus_useful: Option<f64>,
}

/// A data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSetStatus {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// `sealed` or `plain`.
    pub format: String,
    /// The label of its key.
    pub label: String,
    /// The generation of its key.
    pub generation: u32,
    /// Its pool.
    pub pool: String,
    /// Bytes of its control intervals.
    pub interval_bytes: u32,
    /// Intervals on disk.
    pub intervals: u32,
    /// Its first file.
    pub file: String,
    /// Input operations since the start.
    pub reads: u64,
    /// Intervals that they brought.
    pub intervals_read: u64,
    /// Intervals written since the start.
    pub intervals_written: u64,
}

/// The cipher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CipherStatus {
    /// Whether the processor helps.
    pub instructions: bool,
    /// What one processor seals, measured when the system was opened.
    pub megabytes_per_second: u64,
}

impl From<&Quantiles> for HistogramStatus {
    fn from(quantiles: &Quantiles) -> HistogramStatus {
        let Quantiles { count, sum, p50, p99, max } = *quantiles;
        let mean = if count == 0 { 0.0 } else { sum as f64 / count as f64 };
        HistogramStatus { count, mean, p50, p99, max }
    }
}

impl RestartStatus {
    pub(crate) fn of(report: &RestartReport) -> RestartStatus {
        RestartStatus {
            orderly: report.orderly,
            redo_from: report.redo_from.0,
            log_end: report.log_end.0,
            records: report.records,
            redone: report.redone,
            backed_out: report.backed_out.len() as u64,
            intervals_repaired: report.repaired,
            groups_repaired: report.log.repaired,
            elapsed_ms: report.elapsed_us as f64 / 1_000.0,
        }
    }
}

impl LogStatus {
    pub(crate) fn of(log: &LogStatistics, running: &wal::Log) -> LogStatus {
        let space = running.space();
        LogStatus {
            next_lsn: running.next_lsn().0,
            durable_lsn: running.durable().0,
            groups: log.groups,
            bytes: log.bytes,
            padding_bytes: log.padding_bytes,
            flush_us: (&log.flush_us).into(),
            group_bytes: (&log.group_bytes).into(),
            waits: log.waits,
            ring_waits: log.ring_waits,
            reserved_bytes: log.reserved_bytes,
            capacity_bytes: space.capacity_bytes,
            used_bytes: space.used_bytes,
            copies: log
                .copies
                .iter()
                .map(|copy| CopyStatus {
                    path: copy.path.display().to_string(),
                    living: copy.living,
                })
                .collect(),
            write_ahead: log.ahead.as_ref().map(|ahead| WriteAheadStatus {
                files: ahead.paths.iter().map(|path| path.display().to_string()).collect(),
                entries: ahead.entries,
                bytes: ahead.bytes,
                trouble: ahead.trouble.clone(),
                landed_lsn: running.landed().0,
            }),
            segments: log.segments.iter().map(SegmentStatus::of).collect(),
        }
    }
}

impl SegmentStatus {
    pub(crate) fn of(segment: &SegmentInfo) -> SegmentStatus {
        SegmentStatus {
            name: format!("segment-{:03}", segment.slot),
            first_lsn: segment.first.0,
            end_lsn: segment.end.map(|end| end.0),
            first_group: segment.first_group.0,
            stripes: segment.stripes,
            current: segment.current,
        }
    }
}

impl PoolStatus {
    pub(crate) fn of(pool: &PoolStatistics) -> PoolStatus {
        PoolStatus {
            name: pool.name.clone(),
            unit_bytes: pool.unit_bytes,
            frames: pool.frames,
            free: pool.free,
            hits: pool.hits,
            reads: pool.reads,
            writes: pool.writes,
            steals: pool.steals,
            waits: pool.waits,
            multi_block_reads: pool.multi_block_reads,
            multi_block_intervals: pool.multi_block_intervals,
        }
    }
}

impl LockStatus {
    pub(crate) fn of(locks: &LockStatistics) -> LockStatus {
        LockStatus {
            held: locks.held,
            waiting: locks.waiting,
            acquired: locks.acquired,
            waits: locks.waits,
            deadlocks: locks.deadlocks,
            timeouts: locks.timeouts,
            escalations: locks.escalations,
            wait_us: (&locks.wait_us).into(),
        }
    }
}

impl SerialStatus {
    pub(crate) fn of(statistics: &KernelStatistics, cpu_ns: u64) -> SerialStatus {
        let locks = &statistics.locks;
        let shards = locks.shard_latch_us / locks.shards.max(1) as u64;
        let log_ns = statistics.log.serial_ns;
        let pool_ns = statistics.pools.iter().map(|pool| pool.latch_ns).sum();
        SerialStatus::from_times(log_ns, pool_ns, (locks.graph_latch_us + shards) * 1_000, cpu_ns)
    }

    fn from_times(log_ns: u64, pool_ns: u64, lock_ns: u64, cpu_ns: u64) -> SerialStatus {
        let total_ns = log_ns + pool_ns + lock_ns;
        let share = if cpu_ns == 0 { 0.0 } else { (total_ns as f64 / cpu_ns as f64).min(1.0) };
        let cpus_useful = (share > 0.0).then(|| 1.0 / share);
        SerialStatus { log_ns, pool_ns, lock_ns, total_ns, cpu_ns, share, cpus_useful }
    }
}

impl DataSetStatus {
    pub(crate) fn of_definition(definition: &Definition) -> DataSetStatus {
        DataSetStatus {
            number: definition.id.0,
            name: definition.name.clone(),
            format: definition.format.to_string(),
            label: definition.label.clone(),
            generation: if definition.format == Format::Plain {
                0
            } else {
                definition.generation.0
            },
            pool: definition.pool.clone(),
            interval_bytes: definition.ci_bytes,
            intervals: 0,
            file: definition.file_name(0),
            reads: 0,
            intervals_read: 0,
            intervals_written: 0,
        }
    }

    pub(crate) fn of_open(set: &DataSet) -> DataSetStatus {
        let statistics = set.statistics();
        DataSetStatus {
            pool: set.pool().name().to_owned(),
            intervals: statistics.intervals,
            reads: statistics.reads,
            intervals_read: statistics.intervals_read,
            intervals_written: statistics.intervals_written,
            ..DataSetStatus::of_definition(&set.definition())
        }
    }
}

/// Counts of log records by their kind's name.
pub type KindCounts = BTreeMap<String, u64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_share_is_serial_time_over_cpu_time() {
        let serial = SerialStatus::from_times(10, 20, 70, 1_000);
        assert_eq!((serial.total_ns, serial.share, serial.cpus_useful), (100, 0.1, Some(10.0)));
        let idle = SerialStatus::from_times(0, 0, 0, 0);
        assert_eq!((idle.share, idle.cpus_useful), (0.0, None));
    }
}
