//! The archiver: a thread that writes full segments of the log to archives, and tells the log.
//!
//! Invariants:
//! 1. The log hears that groups are archived only after their file is durable and named in at least
//!    one folder and the registry knows it. A crash before leaves groups in the log and at most an
//!    archive that is found again at the next start.
//! 2. Whatever goes wrong is said (`trouble`), to the log too, whose errors then name it; and tried
//!    again, for as long as the system runs. Nothing here stops the kernel.
//! 3. A copy that one folder refused is made from the other one later.
//! 4. The throttle ends where the log would have to wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use base::GroupNumber;
use log::{GroupHead, Log, LogError, Record, ToArchive, decode_record, record_length};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::writer::{Writer, Written};
use crate::{ArchiveEnv, ArchiveError, Registry, Shelf, ShelfCopy};

/// How often the archiver looks when nobody calls it.
const LOOK: Duration = Duration::from_millis(200);
/// How soon it tries again what was refused.
const AGAIN: Duration = Duration::from_secs(1);
/// In so many groups at the end of an archive its last commit is looked for.
const DATED_AT_END: u64 = 4;

/// What the archiver has done and what it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiverStatus {
    /// Archives written since it was started.
    pub archives: u64,
    /// Bytes of them, in each folder.
    pub bytes: u64,
    /// Why it cannot go on, if it cannot.
    pub trouble: Option<String>,
    /// Copies that are missing, and why.
    pub missing: Vec<String>,
}

/// Archives a running log.
pub struct Archiver {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle>>,
}

struct Shared {
    shelf: Arc<Shelf>,
    log: Arc<Log>,
    registry: Arc<dyn Registry>,
    /// One archive at a time.
    work: Mutex<()>,
    ended: AtomicBool,
    status: Mutex<ArchiverStatus>,
    /// Called at the end; waits under the status's mutex.
    wake: Condvar,
}

impl Archiver {
    /// Starts to archive `log`, from where the shelf ends. The shelf has been prepared.
    ///
    /// # Errors
    /// If the registry cannot be told of the newest archive, or no thread can be had.
    pub fn start(
        shelf: Arc<Shelf>,
        log: Arc<Log>,
        registry: Arc<dyn Registry>,
    ) -> Result<Archiver, ArchiveError> {
        let shared = Arc::new(Shared {
            shelf,
            log,
            registry,
            work: Mutex::new(()),
            ended: AtomicBool::new(false),
            status: Mutex::new(ArchiverStatus::default()),
            wake: Condvar::new(),
        });
        if let Some(newest) = shared.shelf.newest() {
            // The last life may have ended before it could be recorded.
            shared.record(&newest)?;
        }
        shared.complete();
        let runner = Arc::clone(&shared);
        let thread = seam::thread::spawn("archiver", move || runner.run());
        let thread = thread.map_err(ArchiveError::Thread)?;
        Ok(Archiver { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Archives everything that was logged before this call, also from a segment that is not full.
    /// Returns the archives that were written.
    ///
    /// # Errors
    /// Whatever keeps the archive from going on.
    pub fn archive_now(&self) -> Result<Vec<ShelfCopy>, ArchiveError> {
        let shared = &self.shared;
        let goal = shared.log.next_lsn();
        shared.log.wait_durable(goal)?;
        let _work = shared.work.lock();
        let mut made = Vec::new();
        while let Some(next) = shared.log.to_archive(true) {
            let Some(copy) = shared.archive(next)? else { break };
            let reached = copy.info.end >= goal;
            made.push(copy);
            if reached {
                break;
            }
        }
        Ok(made)
    }

    /// The archives.
    #[must_use]
    pub fn shelf(&self) -> &Arc<Shelf> {
        &self.shared.shelf
    }

    /// Who is told about them.
    #[must_use]
    pub fn registry(&self) -> &Arc<dyn Registry> {
        &self.shared.registry
    }

    /// What it has done and what it waits for.
    #[must_use]
    pub fn status(&self) -> ArchiverStatus {
        self.shared.status.lock().clone()
    }

    /// Ends the thread. What is being written is given up; the log keeps it.
    pub fn end(&self) {
        self.shared.ended.store(true, SeqCst);
        drop(self.shared.status.lock());
        self.shared.wake.notify_all();
        self.shared.log.wake_archiver();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.join();
        }
    }
}

impl Drop for Archiver {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

impl Shared {
    fn run(&self) {
        while !self.ended() {
            match self.round() {
                Ok(()) => {
                    self.trouble(None);
                    if self.status.lock().missing.is_empty() {
                        self.log.await_full_segment(LOOK, || self.ended());
                    } else {
                        self.rest(AGAIN);
                        self.complete();
                    }
                }
                Err(ArchiveError::Log(LogError::Stopped(_)) | ArchiveError::Stopped(_)) => return,
                Err(error) => {
                    self.trouble(Some(error.to_string()));
                    self.rest(AGAIN);
                }
            }
        }
    }

    /// Archives what is full.
    fn round(&self) -> Result<(), ArchiveError> {
        loop {
            let _work = self.work.lock();
            let Some(next) = self.log.to_archive(false) else { return Ok(()) };
            if self.archive(next)?.is_none() {
                return Ok(());
            }
        }
    }

    /// Archives some groups; `None` if the archiver is to end meanwhile. The caller holds `work`.
    fn archive(&self, next: ToArchive) -> Result<Option<ShelfCopy>, ArchiveError> {
        let Some(written) = self.write(next)? else { return Ok(None) };
        {
            let mut status = self.status.lock();
            status.archives += 1;
            status.bytes += written.info.file_bytes();
            status.missing.extend(written.refused.iter().map(ToString::to_string));
        }
        let copy = self.shelf.add(&written);
        self.record(&copy)?;
        self.log.archived(copy.info.to);
        Ok(Some(copy))
    }

    fn record(&self, copy: &ShelfCopy) -> Result<(), ArchiveError> {
        let told = self.registry.archived(&copy.info, &copy.files);
        told.map_err(|why| ArchiveError::Unrecorded { group: copy.info.from, why })
    }

    /// Writes one archive file.
    fn write(&self, next: ToArchive) -> Result<Option<Written>, ArchiveError> {
        let env = &self.shelf.env;
        let mut book = env.book();
        let mut writer = Writer::begin(env, &self.shelf.config, &mut book, next.from)?;
        match self.fill(&mut writer, next) {
            Ok(true) => writer.finish().map(Some),
            Ok(false) => {
                writer.abandon();
                Ok(None)
            }
            Err(error) => {
                writer.abandon();
                Err(error)
            }
        }
    }

    /// Takes all groups; `false` if the archiver is to end.
    fn fill(&self, writer: &mut Writer<'_>, next: ToArchive) -> Result<bool, ArchiveError> {
        let env = &self.shelf.env;
        let begun = env.seam.clock.monotonic();
        let mut groups = self.log.sealed(next.from, next.to);
        let mut expected = next.from;
        while let Some(head) = writer.take(&mut groups)? {
            if head.number == next.from {
                self.check_chain(&head)?;
            }
            if writer.is_undated() || head.number.0 + DATED_AT_END >= next.to.0 {
                dates(env, &head, groups.payload(), &mut |utc_us| writer.date(utc_us));
            }
            expected = GroupNumber(head.number.0 + 1);
            self.throttle(begun, writer.bytes());
            if self.ended() {
                return Ok(false);
            }
        }
        Ok(expected == next.to)
    }

    /// The log must go on from the newest archive.
    fn check_chain(&self, head: &GroupHead) -> Result<(), ArchiveError> {
        let newest = self.shelf.newest().filter(|newest| newest.info.to == head.number);
        match newest {
            Some(newest) if newest.info.last != head.previous => {
                let path = newest.files.first().cloned().unwrap_or_default();
                Err(ArchiveError::Fork { group: head.number, path })
            }
            _ => Ok(()),
        }
    }

    /// Rests for as long as what was written should have taken, unless the log fills up.
    fn throttle(&self, begun: Duration, bytes: u64) {
        let Some(rate) = self.shelf.config.bytes_per_second else { return };
        let clock = &self.shelf.env.seam.clock;
        let due = Duration::from_secs_f64(bytes as f64 / rate as f64);
        while !self.ended() {
            let space = self.log.space();
            let left = due.saturating_sub(clock.monotonic().saturating_sub(begun));
            if left.is_zero() || space.unarchived_bytes * 2 > space.capacity_bytes {
                return;
            }
            self.rest(left.min(LOOK));
        }
    }

    /// Makes the copies that are missing.
    fn complete(&self) {
        let _work = self.work.lock();
        let still = self.shelf.complete();
        self.status.lock().missing = still.iter().map(ToString::to_string).collect();
    }

    fn trouble(&self, trouble: Option<String>) {
        self.status.lock().trouble.clone_from(&trouble);
        self.log.set_archive_trouble(trouble);
    }

    fn rest(&self, time: Duration) {
        let mut status = self.status.lock();
        if !self.ended() {
            self.wake.wait_for(&mut status, time);
        }
    }

    fn ended(&self) -> bool {
        self.ended.load(SeqCst)
    }
}

/// Tells `found` of each commit among the records that are whole in a group.
fn dates(env: &ArchiveEnv, head: &GroupHead, payload: &[u8], found: &mut dyn FnMut(u64)) {
    let Some(begins) = head.first_record else { return };
    let mut at = begins as usize;
    while let Some(field) = payload.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let Ok(len) = record_length(u32::from_le_bytes(*field)) else { return };
        let Some(bytes) = payload.get(at..at + len as usize) else { return };
        let lsn = head.first.plus(at as u64);
        let dated = decode_record(lsn, bytes).ok().and_then(|r: Record<'_>| (env.dated)(&r));
        dated.into_iter().for_each(&mut *found);
        at += len as usize;
    }
}
