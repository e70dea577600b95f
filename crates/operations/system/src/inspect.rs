//! A look at a system: asked of whoever has it open, or read from its files.
//!
//! Invariants:
//! 1. Who has it open is found before anybody is asked for a passphrase.

use std::path::Path;

use seal::Passphrase;
use seam::Seam;
use wal::CopyInfo;

use crate::bound::ProtectionStatus;
use crate::inner::Inner;
use crate::limits::{self, UnitLimits};
use crate::lock::lock;
use crate::remedy::bring_back;
use crate::status::{
    CipherStatus, DataSetStatus, LockStatus, LogStatus, PoolStatus, ProcessStatus, RestartStatus,
    RunningStatus, SerialStatus, SystemStatus, UnitStatus, WriterStatus, paused_note,
};
use crate::{Stopped, SystemConfig, SystemError, archives, hygiene, key_file_care, protocol, room};

/// How the system in `dir` is: asks the process that has it open, or looks at its files.
///
/// # Errors
/// [`SystemError::NoAnswer`] if it is open but does not answer; without a passphrase a stopped
/// system gives `passphrase`'s error; otherwise whatever is wrong with its files.
pub fn status(
    seam: &Seam,
    dir: &Path,
    passphrase: impl FnOnce() -> Result<Passphrase, SystemError>,
) -> Result<SystemStatus, SystemError> {
    SystemConfig::read(seam.disk.as_ref(), dir)?;
    let no_answer = |why: String| SystemError::NoAnswer { dir: dir.to_owned(), why };
    let ask = || protocol::ask(dir).map_err(|error| protocol::unanswered(dir, error));
    if let Some(status) = ask()? {
        return Ok(SystemStatus::Running(status));
    }
    // Who has it open is found before anybody is asked for a passphrase.
    match lock(seam, dir) {
        Err(SystemError::InUse { .. }) => {
            let status = ask()?.ok_or_else(|| no_answer("its socket does not listen".into()))?;
            return Ok(SystemStatus::Running(status));
        }
        other => drop(other?),
    }
    Stopped::look(seam, dir, &passphrase()?)?.status()
}

/// How an open system is.
pub(crate) fn of_running(inner: &Inner) -> RunningStatus {
    let kernel = &inner.kernel;
    let statistics = kernel.statistics();
    let seam = kernel.seam();
    let cpu_us = seam::clock::process_cpu_us().saturating_sub(inner.opened_cpu_us);
    let uptime = seam.clock.monotonic().saturating_sub(inner.opened);
    RunningStatus {
        system: inner.config.system.to_string(),
        dir: inner.dir.display().to_string(),
        stopped: kernel.stop_switch().check().err().map(|stopped| stopped.reason),
        uptime_seconds: uptime.as_secs_f64(),
        process: ProcessStatus {
            pid: std::process::id(),
            cpu_us,
            resident_bytes: hygiene::resident_bytes(),
        },
        restart: kernel.restart_report().map(RestartStatus::of),
        protection: ProtectionStatus::of(&kernel.protection()),
        units: UnitStatus {
            commits: statistics.commits,
            read_only: statistics.read_only,
            backouts: statistics.backouts,
            checkpoints: statistics.checkpoints,
            redo_bytes: statistics.redo_bytes,
            limits: UnitLimits::of(kernel, &inner.config),
        },
        log: LogStatus::of(&statistics.log, kernel.log()),
        serial: SerialStatus::of(&statistics, cpu_us * 1_000),
        locks: LockStatus::of(&statistics.locks),
        archive: inner.archive_status(),
        pools: statistics.pools.iter().map(PoolStatus::of).collect(),
        page_writer: WriterStatus {
            batches: statistics.writer.batches,
            intervals: statistics.writer.intervals,
            batch_us: (&statistics.writer.batch_us).into(),
        },
        data_sets: kernel.all_sets().iter().map(|set| DataSetStatus::of_open(set)).collect(),
        doors: inner.doors().status(),
        cipher: CipherStatus {
            instructions: inner.cipher.instructions,
            megabytes_per_second: inner.cipher.megabytes_per_second,
        },
        notes: notes(inner),
    }
}

/// What an operator should know: what the start noticed, and what is so now.
pub(crate) fn notes(inner: &Inner) -> Vec<String> {
    let log = inner.kernel.log();
    let statistics = log.statistics();
    let lost = statistics.copies.iter().filter_map(log_copy_note);
    let cramped = statistics.cramped.then(|| {
        "the disk of the log had no room for all of its segments; it grows when there is room"
            .to_owned()
    });
    let behind = statistics.ahead.and_then(|ahead| ahead.trouble).map(|trouble| {
        format!(
            "commits wait for the log; `holdfast repair --log` begins its write-ahead data set \
             anew, which is not used: {trouble}"
        )
    });
    let copies = statistics.copies.iter().map(|copy| copy.path.clone());
    let logs = copies.chain(log.stripes().1.into_iter().flatten()).collect();
    let disk = &*inner.kernel.seam().disk;
    let rooms = room::notes(disk, &inner.config, &inner.dir, logs).into_iter();
    let rooms = rooms.chain(room::log_note(&log.space(), inner.config.warn.log_used_percent));
    let archiver = inner.archiver.iter();
    let archive_notes = archiver.flat_map(|archiver| archives::notes(archiver, &inner.kernel));
    let now = archive_notes.chain(inner.kernel.anchor_trouble());
    let misplaced = inner.kernel.misplaced_files().into_iter().map(|(what, command)| {
        format!("the {what} was removed or replaced, and the next start needs it: `{command}`")
    });
    let now = now
        .chain(
            limits::capped_note(&inner.kernel, &inner.config)
                .into_iter()
                .chain(key_file_care::note(&inner.keys)),
        )
        .chain(cramped)
        .chain(misplaced)
        .chain(misplaced_sets(inner));
    let now = now.chain(inner.recon.state().forgotten()).chain(inner.attached_notes());
    let sets = inner.kernel.all_sets();
    let paused = sets.iter().filter_map(|set| paused_note(&set.definition()));
    let always = inner.notes.iter().cloned().chain(hygiene::lock_note(&*inner.lock));
    always.chain(lost).chain(behind).chain(rooms).chain(now).chain(paused).collect()
}

/// Files of data sets that nobody will find again once the system is stopped.
fn misplaced_sets(inner: &Inner) -> Vec<String> {
    let (kernel, mut notes) = (&inner.kernel, Vec::new());
    for set in kernel.all_sets() {
        let gone = set.misplaced_files();
        if gone.is_empty() || kernel.set(set.id()).is_none() {
            continue;
        }
        let state = inner.recon.state();
        let repair = bring_back(&inner.dir, kernel, Some(&state), set.name());
        let commands: Vec<String> = repair.iter().map(|one| format!("`{one}`")).collect();
        notes.extend(gone.iter().map(|path| {
            let (path, name) = (path.display(), set.name());
            format!(
                "{path} of data set {name} was removed or replaced; only the open system still \
                 has it: {}",
                commands.join(", then ")
            )
        }));
    }
    notes
}

fn log_copy_note(copy: &CopyInfo) -> Option<String> {
    let path = copy.path.display();
    match (&copy.trouble, copy.living) {
        (trouble, false) => {
            let why = trouble.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            Some(format!(
                "log copy {path} is lost{why}: `holdfast log resync` brings it back, with --to in \
                 another folder"
            ))
        }
        (Some(why), true) => Some(format!(
            "log copy {path}, the only one, goes on where nobody finds it: {why}; mount it again \
             before the system is stopped"
        )),
        (None, true) => None,
    }
}
