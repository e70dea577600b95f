//! `holdfast status`: how a system is, running or not.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use system::status::{DataSetStatus, HistogramStatus, PoolStatus, RunningStatus, StoppedStatus};
use system::{SystemConfig, SystemStatus};

use super::{DONE, on_engine};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{Output, utc};
use crate::passphrase::PassphraseArgs;
use crate::text::{bytes, count, microseconds};

/// Show how a system is
///
/// A running system is asked through the socket in its folder, without a passphrase. Of a stopped
/// one the control file and the log are read, for which the passphrase is needed.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast status /srv/bank --json")]
pub(crate) struct StatusArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn run(context: &mut Context, args: &StatusArgs) -> Result<ExitCode> {
    if SystemConfig::read_any(&*context.seam.disk, &args.dir)?.engine.is_some() {
        return on_engine::status(context, &args.dir, &args.passphrase);
    }
    let status = of(context, &args.dir, &args.passphrase)?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&status)?;
        return DONE;
    }
    match &status {
        SystemStatus::Running(status) => running(output, status)?,
        SystemStatus::StoppedInOrder(status) => stopped(output, status, true)?,
        SystemStatus::NeedsRestart(status) => stopped(output, status, false)?,
    }
    DONE
}

/// How the system in `dir` is. The passphrase is asked for only if it is needed.
pub(super) fn of(
    context: &Context,
    dir: &std::path::Path,
    passphrase: &PassphraseArgs,
) -> Result<SystemStatus> {
    let mut refusal: Option<Failure> = None;
    let status = system::status(&context.seam, dir, || {
        passphrase.get().map_err(|failure| {
            refusal = Some(failure);
            system::SystemError::NotASystem { dir: dir.to_owned() }
        })
    });
    match (refusal, status) {
        (Some(failure), _) => Err(failure),
        (None, status) => Ok(status?),
    }
}

fn stopped(output: &mut Output, status: &StoppedStatus, orderly: bool) -> Result<()> {
    let state = if orderly { "stopped in order" } else { "not stopped in order: needs a restart" };
    output.line(format!("system {} in {}: {state}", status.system, status.dir))?;
    output.line(format!("  last written  {}", utc(status.written_utc_us)))?;
    let span = status.log_end.saturating_sub(status.restart_from);
    output.line(format!(
        "  log           ends at {:#x}; restart reads {} of it, {} records",
        status.log_end,
        bytes(span),
        count(status.records)
    ))?;
    if !orderly {
        let units = status.units_in_flight.len() as u64;
        output
            .line(format!("  restart       backs out {} units of work in flight", count(units)))?;
        output.line("                the next start does it; nothing acknowledged is lost")?;
    }
    if let Some(protection) = &status.protection {
        output.line(format!("  protection    {protection}"))?;
    }
    if let Some(stale) = &status.stale_copy {
        let from = stale.from_group;
        output.line(format!("  log copy      {} is stale from group {from} on", stale.path))?;
    }
    for damage in &status.damages {
        output.line(format!("  log damage    {damage}"))?;
    }
    data_sets(output, &status.data_sets)?;
    notes(output, &status.notes)
}

fn notes(output: &mut Output, notes: &[String]) -> Result<()> {
    notes.iter().try_for_each(|note| output.line(format!("  note          {note}")))
}

fn running(output: &mut Output, status: &RunningStatus) -> Result<()> {
    let state = match &status.stopped {
        None => "running".to_owned(),
        Some(reason) => format!("STOPPED ITSELF: {reason}"),
    };
    output.line(format!("system {} in {}: {state}", status.system, status.dir))?;
    let process = &status.process;
    output.line(format!(
        "  process       {}, up {:.0} s, {:.2} s CPU, {} of memory",
        process.pid,
        status.uptime_seconds,
        process.cpu_us as f64 / 1e6,
        bytes(process.resident_bytes)
    ))?;
    if let Some(restart) = &status.restart {
        output.line(format!(
            "  restart       {}: {} records read, {} changes repeated, {} backed out, {:.0} ms",
            if restart.orderly { "in order" } else { "after a crash" },
            count(restart.records),
            count(restart.redone),
            count(restart.backed_out),
            restart.elapsed_ms
        ))?;
    }
    let units = &status.units;
    output.line(format!(
        "  units         {} committed, {} read only, {} backed out; {} checkpoints",
        count(units.commits),
        count(units.read_only),
        count(units.backouts),
        count(units.checkpoints)
    ))?;
    output.line(format!("  protection    {}", status.protection))?;
    let limits = &units.limits;
    let when_full = match limits.log_bytes_max_when_full {
        // An older system does not say it.
        0 => String::new(),
        alike if alike == limits.log_bytes_max => String::new(),
        less => format!(", {} while it keeps the log full", bytes(less)),
    };
    output.line(format!(
        "                one may span {} of log ({}){} and hold {} locks \
         (locks.locks_per_unit_max) of {} (locks.locks_max)",
        bytes(limits.log_bytes_max),
        limits.log_set_by,
        when_full,
        count(limits.locks_max as u64),
        count(limits.locks_of_all_max as u64)
    ))?;
    log(output, status)?;
    locks_and_serial(output, status)?;
    pools(output, status)?;
    for door in &status.doors {
        output.line(format!(
            "  door          {} at {}: {} connections, {} let in, {} refused; messages {} in, {} \
             out",
            door.name,
            door.addresses.join(", "),
            count(door.connections),
            count(door.accepted),
            count(door.refused),
            count(door.received),
            count(door.sent)
        ))?;
    }
    data_sets(output, &status.data_sets)?;
    notes(output, &status.notes)
}

fn log(output: &mut Output, status: &RunningStatus) -> Result<()> {
    let log = &status.log;
    output.line(format!(
        "  log           {} of {} used; durable to {:#x}, {} behind",
        bytes(log.used_bytes),
        bytes(log.capacity_bytes),
        log.durable_lsn,
        bytes(log.next_lsn.saturating_sub(log.durable_lsn))
    ))?;
    for copy in &log.copies {
        let state =
            if copy.living { "in use" } else { "LOST: the log runs on the other copy alone" };
        output.line(format!("    copy        {}: {state}", copy.path))?;
    }
    if let Some(ahead) = &log.write_ahead {
        let state = match &ahead.trouble {
            Some(_) => "NOT IN USE: commits wait for the log".to_owned(),
            None => format!("{} entries, {}", count(ahead.entries), bytes(ahead.bytes)),
        };
        output.line(format!("    write-ahead {}: {state}", ahead.files.join(" and ")))?;
    }
    let flush = times(&log.flush_us);
    output.line(format!("    writes      {} groups, {flush}", count(log.groups)))?;
    let group = &log.group_bytes;
    output.line(format!(
        "    groups      mean {}, half up to {}, 99 % up to {}, most {}",
        bytes(group.mean as u64),
        bytes(group.p50),
        bytes(group.p99),
        bytes(group.max)
    ))
}

fn locks_and_serial(output: &mut Output, status: &RunningStatus) -> Result<()> {
    let locks = &status.locks;
    output.line(format!(
        "  locks         {} held, {} waiting; {} granted, {} waited, {} deadlocks, {} timeouts",
        count(locks.held),
        count(locks.waiting),
        count(locks.acquired),
        count(locks.waits),
        count(locks.deadlocks),
        count(locks.timeouts)
    ))?;
    output.line(format!("    waits       {}", times(&locks.wait_us)))?;
    let serial = &status.serial;
    let part = |ns: u64| 100.0 * ns as f64 / serial.cpu_ns.max(1) as f64;
    output.line(format!(
        "  serial share  {:.4} (log {:.2} %, pools {:.2} %, locks {:.2} % of the CPU time){}",
        serial.share,
        part(serial.log_ns),
        part(serial.pool_ns),
        part(serial.lock_ns),
        serial.cpus_useful.map_or(String::new(), |cpus| format!(": up to {cpus:.0} CPUs help"))
    ))
}

fn pools(output: &mut Output, status: &RunningStatus) -> Result<()> {
    pool_table(output, &status.pools)?;
    let writer = &status.page_writer;
    output.line(format!(
        "  page writer   {} batches, {} intervals, {}",
        count(writer.batches),
        count(writer.intervals),
        times(&writer.batch_us)
    ))
}

/// A table of pools.
pub(super) fn pool_table(output: &mut Output, pools: &[PoolStatus]) -> Result<()> {
    let row = |pool: &PoolStatus| {
        let wanted = pool.hits + pool.reads;
        let hits = if wanted == 0 { 0.0 } else { 100.0 * pool.hits as f64 / wanted as f64 };
        vec![
            pool.name.clone(),
            bytes(pool.unit_bytes as u64),
            count(pool.frames as u64),
            count(pool.free as u64),
            format!("{hits:.1} %"),
            count(pool.reads),
            count(pool.writes),
            count(pool.steals),
            count(pool.waits),
        ]
    };
    let rows: Vec<Vec<String>> = pools.iter().map(row).collect();
    let head = ["pool", "unit", "frames", "free", "hits", "reads", "writes", "steals", "waits"];
    output.table(&head, &rows)
}

/// A table of data sets.
pub(super) fn data_sets(output: &mut Output, sets: &[DataSetStatus]) -> Result<()> {
    if sets.is_empty() {
        return output.line("  no data sets");
    }
    let row = |set: &DataSetStatus| {
        let key = match set.generation {
            0 => "-".to_owned(),
            generation => format!("{} {generation}", set.label),
        };
        vec![
            set.name.clone(),
            set.format.clone(),
            key,
            bytes(u64::from(set.interval_bytes)),
            count(u64::from(set.intervals)),
            set.pool.clone(),
            set.file.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = sets.iter().map(row).collect();
    output.table(&["data set", "format", "key", "interval", "intervals", "pool", "file"], &rows)
}

fn times(histogram: &HistogramStatus) -> String {
    if histogram.count == 0 {
        return "none yet".into();
    }
    format!(
        "half up to {}, 99 % up to {}, longest {}",
        microseconds(histogram.p50),
        microseconds(histogram.p99),
        microseconds(histogram.max)
    )
}
