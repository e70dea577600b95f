//! The archiver: a thread that writes the log to archives, one for each segment, and tells the log.
//!
//! It follows the log: groups come from the log's memory as they become durable, so that they are
//! neither read nor opened. Where it is too slow, or begins anew, it reads them back.
//!
//! Invariants:
//! 1. The log hears that groups are archived only after their file is durable and named in at least
//!    one folder and the registry knows it. A crash before leaves groups in the log and at most an
//!    archive that is found again at the next start.
//! 2. Whatever goes wrong is said (`trouble`), to the log too, whose errors then name it; and tried
//!    again, for as long as the system runs. Nothing here stops the kernel.
//! 3. A copy that one folder refused is made from the other one later.
//! 4. The throttle ends where the log would have to wait for it.
//! 5. A file is begun before its segment is full only if its first group is in memory: a system
//!    that is opened often and briefly does not read the same groups again and again.
//! 6. Nothing is written to a folder that must hold archives and holds none; if that is so of all,
//!    it says so and waits.
//! 7. An archive that is lost is written again only on an operator's word, and only from groups
//!    that follow what is in front and lead to what is behind.
//! 8. A group that the log has lost is passed over only on an operator's word. The gap shows in the
//!    numbers of the archives, and whoever reads across it is refused.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use base::{GroupNumber, Lsn};
use seam::mem::AlignedBuf;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use wal::{
    GroupHead, Log, LogError, Record, SealedGroups, ToArchive, decode_record, record_length,
};

use crate::writer::{Writer, new_buffer};
use crate::{ArchiveCatalog, ArchiveEnv, ArchiveError, CatalogEntry, Registry};

/// How often the archiver looks when nobody calls it.
const LOOK: Duration = Duration::from_millis(200);
/// How soon it tries again what was refused.
const AGAIN: Duration = Duration::from_secs(1);
/// In so many bytes of records at each end of an archive commits are looked for.
const DATED_BYTES: u64 = 512 << 10;

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
    catalog: Arc<ArchiveCatalog>,
    log: Arc<Log>,
    registry: Arc<dyn Registry>,
    /// One archive at a time.
    work: Mutex<Work>,
    /// Groups up to this one are passed over if the log has lost them (8).
    given_up: AtomicU64,
    ended: AtomicBool,
    status: Mutex<ArchiverStatus>,
    /// Called at the end; waits under the status's mutex.
    wake: Condvar,
}

/// The file that grows, and what it takes to write it.
#[derive(Default)]
struct Work {
    writer: Option<Writer>,
    /// For groups that are not in memory any more.
    reader: Option<SealedGroups>,
    /// Memory for the next writer.
    buffer: Option<AlignedBuf>,
}

/// How far a file has come.
enum Filled {
    /// To where it was to go.
    Whole,
    /// Not so far yet.
    Part,
    /// To a group that was given up: it ends before.
    Cut,
    /// It is none yet: the group that it was to begin with was given up.
    Passed,
}

/// The first and the last commit, in microseconds of UTC.
type Dates = (Option<u64>, Option<u64>);

impl Work {
    /// Gives the file up; the log still has what it held.
    fn abandon(&mut self) {
        if let Some(writer) = self.writer.take() {
            self.buffer = Some(writer.abandon());
        }
    }
}

impl Archiver {
    /// Starts to archive `log`, from where the catalog ends. The catalog has been prepared.
    ///
    /// # Errors
    /// If the registry cannot be told of the newest archive, or no thread can be had.
    pub fn start(
        catalog: Arc<ArchiveCatalog>,
        log: Arc<Log>,
        registry: Arc<dyn Registry>,
    ) -> Result<Archiver, ArchiveError> {
        let shared = Arc::new(Shared {
            catalog,
            log,
            registry,
            work: Mutex::new(Work::default()),
            given_up: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            status: Mutex::new(ArchiverStatus::default()),
            wake: Condvar::new(),
        });
        if let Some(newest) = shared.catalog.newest() {
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
    pub fn archive_now(&self) -> Result<Vec<CatalogEntry>, ArchiveError> {
        let shared = &self.shared;
        let goal = shared.log.next_lsn();
        shared.log.land(goal)?;
        shared.go_on(Some(goal))
    }

    /// Goes on behind group `last` where the log has lost what stands before: archives end before
    /// what is damaged, and the next one begins behind it.
    pub fn give_up(&self, last: GroupNumber) {
        self.shared.given_up.fetch_max(last.0, SeqCst);
        let _ = self.shared.go_on(None);
    }

    /// Writes an archive again that is lost, from the log, which still has its groups: from `from`
    /// on and before `to`. What stands in its place is set aside.
    ///
    /// # Errors
    /// What the log does not have any more; whatever keeps archives from being written.
    pub fn write_again(
        &self,
        from: GroupNumber,
        to: GroupNumber,
    ) -> Result<CatalogEntry, ArchiveError> {
        // The file that grows meanwhile is left as it is, and nobody else finishes one.
        let _alone = self.shared.work.lock();
        let mut work = Work::default();
        let written = self.shared.write_again(&mut work, from, to);
        if written.is_err() {
            work.abandon();
        }
        written
    }

    /// Begins anew in a folder of the archive that is not mounted any more: what it held is lost.
    ///
    /// # Errors
    /// [`ArchiveError::NoFolder`]; if the registry cannot be told; whatever the disk says.
    pub fn accept_empty(&self, folder: &Path) -> Result<(), ArchiveError> {
        let shared = &self.shared;
        if !shared.catalog.away().iter().any(|away| away == folder) {
            // It is there, or made by the next archive; `accept_empty` says if it is none of ours.
            return shared.catalog.accept_empty(folder);
        }
        let recorded = shared.registry.folder_lost(folder);
        recorded.map_err(|why| ArchiveError::Unrecorded { group: GroupNumber(0), why })?;
        shared.catalog.accept_empty(folder)?;
        shared.complete();
        Ok(())
    }

    /// The archives.
    #[must_use]
    pub fn catalog(&self) -> &Arc<ArchiveCatalog> {
        &self.shared.catalog
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
        self.shared.work.lock().abandon();
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
            match self.go_on(None) {
                Ok(_) => {
                    self.trouble(None);
                    if self.status.lock().missing.is_empty() {
                        self.log.await_archivable(LOOK, || self.ended());
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

    /// Takes what there is to archive. A file ends with a segment; with `goal`, also where the log
    /// is durable now, until what is before `goal` is archived.
    fn go_on(&self, goal: Option<Lsn>) -> Result<Vec<CatalogEntry>, ArchiveError> {
        let mut work = self.work.lock();
        let gone_on = self.go_on_with(&mut work, goal);
        if gone_on.is_err() {
            work.abandon();
        }
        gone_on
    }

    fn go_on_with(
        &self,
        work: &mut Work,
        goal: Option<Lsn>,
    ) -> Result<Vec<CatalogEntry>, ArchiveError> {
        let mut made = Vec::new();
        loop {
            if work.writer.is_none() {
                self.look_at_folders()?;
            }
            let Some(next) = self.log.to_archive(true) else { break };
            let cut = next.full || goal.is_some();
            let filled = match self.fill(work, next, cut) {
                Err(ArchiveError::Log(LogError::Damaged { group, .. }))
                    if group.0 <= self.given_up.load(SeqCst) =>
                {
                    self.pass(work, group)
                }
                filled => filled?,
            };
            let ends = match filled {
                Filled::Whole => cut,
                Filled::Cut => true,
                Filled::Part => false,
                Filled::Passed => continue,
            };
            let Some(writer) = work.writer.take_if(|_| ends) else { break };
            let copy = self.finish(work, writer)?;
            let reached = goal.is_some_and(|goal| copy.info.end >= goal);
            made.push(copy);
            if reached {
                break;
            }
        }
        Ok(made)
    }

    /// Folders come and go with their devices. What one has that comes back is archived.
    fn look_at_folders(&self) -> Result<(), ArchiveError> {
        if !self.catalog.look_at_folders()? {
            return Ok(());
        }
        if let Some(to) = self.catalog.archived_to() {
            self.log.archived(to);
        }
        self.status.lock().missing.extend(self.away());
        Ok(())
    }

    /// What to say of folders that are away.
    fn away(&self) -> Vec<String> {
        let away = self.catalog.away().into_iter();
        away.map(|folder| ArchiveError::Away { folder }.to_string()).collect()
    }

    /// A group was given up: the file ends before it, or what comes next begins behind it.
    fn pass(&self, work: &mut Work, lost: GroupNumber) -> Filled {
        if work.writer.as_ref().is_some_and(|writer| writer.last().is_some()) {
            return Filled::Cut;
        }
        work.abandon();
        self.log.archived(GroupNumber(lost.0 + 1));
        Filled::Passed
    }

    /// Gives a file its name, and tells everybody.
    fn finish(&self, work: &mut Work, mut writer: Writer) -> Result<CatalogEntry, ArchiveError> {
        let (first, last) = self.dates(work, &writer);
        writer.date(first, last);
        let (copy, written) = self.catalog.add(|| writer.finish())?;
        {
            let mut status = self.status.lock();
            status.archives += 1;
            status.bytes += written.info.file_bytes();
            status.missing.extend(written.refused.iter().map(ToString::to_string));
            status.missing.extend(self.away());
        }
        work.buffer = Some(written.buffer);
        self.record(&copy)?;
        self.log.archived(copy.info.to);
        Ok(copy)
    }

    /// Tells the registry where an archive is, and where it is to be as soon as a folder is back:
    /// so the next start knows of that folder, too.
    fn record(&self, copy: &CatalogEntry) -> Result<(), ArchiveError> {
        let mut files = copy.files.clone();
        let away = self.catalog.away().into_iter();
        files.extend(away.map(|folder| folder.join(copy.info.file_name())));
        let recorded = self.registry.archived(&copy.info, &files);
        recorded.map_err(|why| ArchiveError::Unrecorded { group: copy.info.from, why })
    }

    /// Writes a file of these groups from the log.
    fn write_again(
        &self,
        work: &mut Work,
        from: GroupNumber,
        to: GroupNumber,
    ) -> Result<CatalogEntry, ArchiveError> {
        let config = self.catalog.mounted()?;
        let writer = Writer::begin(&self.catalog.env, &config, from, new_buffer())?;
        let writer = work.writer.insert(writer);
        let gone = |from| ArchiveError::Missing { from, why: "nor does the log".into() };
        while writer.next() < to {
            let reader = self.reader(&mut work.reader, writer.next(), to);
            let head = writer.take(reader)?.ok_or_else(|| gone(writer.next()))?;
            if head.number == from {
                self.check_chain(&head)?;
            }
        }
        let last = writer.last();
        if let Some(behind) = self.catalog.list().into_iter().find(|copy| copy.info.from == to)
            && last.is_some_and(|last| last != behind.info.previous)
        {
            let path = behind.files.first().cloned().unwrap_or_default();
            return Err(ArchiveError::Fork { group: to, path });
        }
        let writer = work.writer.take().ok_or_else(|| gone(from))?;
        let copy = self.finish(work, writer)?;
        // What was damaged is not there any more.
        self.catalog.look()?;
        Ok(copy)
    }

    /// Brings the file on to `next.to`, or to where the log's memory ends if it need not be `whole`
    /// yet: what is read back later costs no more, and may be in memory after all. It says
    /// how far it has come.
    fn fill(&self, work: &mut Work, next: ToArchive, whole: bool) -> Result<Filled, ArchiveError> {
        if work.writer.as_ref().is_none_or(|writer| writer.from() != next.from) {
            work.abandon();
            if !whole && !self.log.has_recent(next.from) {
                return Ok(Filled::Part);
            }
            let buffer = work.buffer.take().unwrap_or_else(new_buffer);
            let config = self.catalog.mounted()?;
            work.writer = Some(Writer::begin(&self.catalog.env, &config, next.from, buffer)?);
        }
        let Work { writer: Some(writer), reader, .. } = work else { return Ok(Filled::Part) };
        let (begun, before) = (self.catalog.env.seam.clock.monotonic(), writer.bytes());
        while writer.next() < next.to {
            let head = match writer.take_recent(&self.log)? {
                Some(head) => head,
                None => {
                    let reader = self.reader(reader, writer.next(), next.to);
                    let Some(head) = writer.take(reader)? else { return Ok(Filled::Part) };
                    head
                }
            };
            if head.number == next.from {
                self.check_chain(&head)?;
            }
            self.throttle(begun, writer.bytes() - before);
            if self.ended() {
                return Ok(Filled::Part);
            }
        }
        Ok(Filled::Whole)
    }

    /// Reads groups back.
    fn reader<'r>(
        &self,
        reader: &'r mut Option<SealedGroups>,
        from: GroupNumber,
        to: GroupNumber,
    ) -> &'r mut SealedGroups {
        let reader = reader.get_or_insert_with(|| self.log.sealed(from, to));
        if reader.at() != from || reader.end() != to {
            reader.seek(from, to);
        }
        reader
    }

    /// When something was first and last committed in a file, as far as its ends say so. A group
    /// that cannot be read back any more is in the archive all the same.
    fn dates(&self, work: &mut Work, writer: &Writer) -> Dates {
        let (from, to) = (writer.from(), writer.next());
        let (mut first, mut last) = (None, None);
        let mut read = 0;
        let reader = self.reader(&mut work.reader, from, to);
        while first.is_none()
            && read < DATED_BYTES
            && let Ok(Some(head)) = reader.next(&mut |_| ())
        {
            read += u64::from(head.payload_len);
            dates(&self.catalog.env, &head, reader.payload(), &mut |utc_us| {
                first.get_or_insert(utc_us);
                last = Some(utc_us);
            });
        }
        let reader = self.reader(&mut work.reader, writer.near_end(DATED_BYTES), to);
        while let Ok(Some(head)) = reader.next(&mut |_| ()) {
            dates(&self.catalog.env, &head, reader.payload(), &mut |utc_us| last = Some(utc_us));
        }
        (first, last)
    }

    /// The log must go on from the archive in front.
    fn check_chain(&self, head: &GroupHead) -> Result<(), ArchiveError> {
        let list = self.catalog.list();
        let before = list.iter().rev().find(|before| before.info.to == head.number);
        match before {
            Some(before) if before.info.last != head.previous => {
                let path = before.files.first().cloned().unwrap_or_default();
                Err(ArchiveError::Fork { group: head.number, path })
            }
            _ => Ok(()),
        }
    }

    /// Rests for as long as what was written should have taken, unless the log fills up.
    fn throttle(&self, begun: Duration, bytes: u64) {
        let Some(rate) = self.catalog.config.bytes_per_second else { return };
        let clock = &self.catalog.env.seam.clock;
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
        // What is wrong with them is said below.
        let _ = self.look_at_folders();
        let still = self.catalog.complete();
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
