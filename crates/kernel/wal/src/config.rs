//! What whoever opens a log says about it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::{GroupNumber, Lsn, SystemId};
use seal::{Format, KeyProvider, Tag};
use seam::Seam;
use seam::disk::{BLOCK, Disk, is_same_place};
use seam::stop::StopSwitch;
use seam::sync::Mutex;

use crate::LogError;
use crate::beginning::Beginning;
use crate::group::GROUP_HEADER;
use crate::group_source::Elsewhere;
use crate::record::RECORD_BYTES_MAX;

/// Most copies of a log.
pub const COPIES_MAX: usize = 2;
/// Most stripes of a log.
pub const STRIPES_MAX: u8 = 8;

/// Groups that may be on one lane at a time.
pub(crate) const LANE_DEPTH: usize = 2;
/// Bytes before the first group of a file.
pub(crate) const SEGMENT_HEADER: usize = 4096;
/// Most files of a write-ahead data set.
pub const WADS_COPIES_MAX: usize = 2;
/// The largest one, in bytes.
pub(crate) const WADS_BYTES_MAX: u64 = 1 << 30;

/// How a log is laid out. Folders and segment size stay as they were when it was made.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// One folder, or two for dual logging; on different devices, if they are to help.
    pub copies: Vec<PathBuf>,
    /// Files side by side that groups rotate over in the segments that are begun from now on,
    /// 1 to 8; more than one helps on several devices. Each segment says how many it has.
    pub stripes: u8,
    /// Where stripes stand that are not in the folders of their copies: the first entry is for
    /// the second stripe, with a folder for each copy. Those of stripes that are not written any
    /// more stay here while segments have them.
    pub stripe_folders: Vec<Vec<PathBuf>>,
    /// Length of each file of a segment, in bytes: a multiple of 4,096.
    pub segment_bytes: u64,
    /// Segments that are made at once: three at least, four with a write-ahead data set.
    pub segments_min: u32,
    /// Segments that ordinary records may fill. Undo may go beyond (K15).
    pub segments_max: u32,
    /// Memory in which records gather, in bytes: a power of two, at least two groups.
    pub ring_bytes: usize,
    /// The largest group on disk, header and padding included, in bytes: a multiple of 4,096.
    pub group_bytes_max: usize,
    /// Memory for groups that are durable and wait for the archive to take them, in bytes; what
    /// does not fit it reads back. 0: it reads everything back. Without an archive none is used.
    pub recent_bytes: usize,
    /// Where commits become durable before their group is full; `None`: in the log (K11).
    pub wads: Option<WadsConfig>,
    /// Copies that were made anew in other folders since the log was opened.
    pub moved: Moved,
    /// Where groups may be had that all copies have lost.
    pub elsewhere: Elsewhere,
    /// Whether new groups are sealed or plain.
    pub format: Format,
    /// Where plain groups are believed although `format` is sealed (K4).
    pub plain: PlainSpan,
    /// The label of the log's data key.
    pub key_label: String,
}

/// The name of a write-ahead data set in its folder.
pub const WADS_FILE: &str = "write-ahead.hfw";

/// A write-ahead data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WadsConfig {
    /// One folder, or two for dual ones; on devices that are quick to flush.
    pub copies: Vec<PathBuf>,
    /// Bytes of each file, a multiple of 4,096. When all of it waits for the log, a group goes to
    /// the log before it is full.
    pub bytes: u64,
}

impl WadsConfig {
    /// Files of 8 MiB.
    #[must_use]
    pub fn new(copies: Vec<PathBuf>) -> WadsConfig {
        WadsConfig { copies, bytes: 8 << 20 }
    }

    /// Its files.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.copies.iter().map(|folder| folder.join(WADS_FILE))
    }

    /// What is wrong with it, for a log with groups of at most `group_bytes_max`.
    pub(crate) fn fault(&self, group_bytes_max: usize) -> Option<String> {
        let same = self.copies.len() == 2 && self.copies[0] == self.copies[1];
        if self.copies.is_empty() || self.copies.len() > WADS_COPIES_MAX {
            let count = self.copies.len();
            Some(format!("{count} folders for the write-ahead data set; it has one or two"))
        } else if same {
            Some(format!("both write-ahead data sets in {}", self.copies[0].display()))
        } else if !self.bytes.is_multiple_of(BLOCK as u64)
            || self.bytes < 2 * group_bytes_max as u64
            || self.bytes > WADS_BYTES_MAX
        {
            let text = "a multiple of 4,096, from two groups to 1 GiB";
            Some(format!("a write-ahead data set of {} bytes; {text}", self.bytes))
        } else {
            None
        }
    }
}

/// Where copies are now that were made anew in another folder while the log was in use: all clones
/// of a configuration know it at once. What is configured anew says it in [`LogConfig::copies`].
#[derive(Clone, Default)]
pub struct Moved(Arc<Folders>);

#[derive(Default)]
struct Folders {
    /// Some copy has moved; spares everybody else the lock.
    any: AtomicBool,
    folders: Mutex<[Option<PathBuf>; COPIES_MAX]>,
}

impl fmt::Debug for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Moved")
    }
}

/// The piece of a log that is, or once was, plain. Anybody can make plain groups, so they are
/// believed wholly within it and nowhere else (K4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainSpan {
    /// Where it begins.
    pub from: Lsn,
    /// Where it ends; for a log that is plain now, anything.
    pub until: Lsn,
}

impl PlainSpan {
    /// The log was never plain.
    pub const NONE: PlainSpan = PlainSpan { from: Lsn::NONE, until: Lsn::NONE };

    /// The span as it counts for a log that has this form now: a plain one has no end of it.
    #[must_use]
    pub fn of_log(self, format: Format) -> PlainSpan {
        match format {
            Format::Plain => PlainSpan { until: Lsn(u64::MAX), ..self },
            Format::Sealed => self,
        }
    }

    /// Whether a plain group may stand there.
    #[must_use]
    pub fn has_group(&self, first: Lsn, end: Lsn) -> bool {
        self.from <= first && end <= self.until
    }

    /// Whether a plain segment may begin there: of its groups each is judged by itself.
    #[must_use]
    pub fn has_segment(&self, first: Lsn) -> bool {
        self.from <= first && first < self.until
    }

    /// Whether a plain file of an archive may end there. It may begin with sealed groups.
    #[must_use]
    pub fn has_file(&self, end: Lsn) -> bool {
        self.from < end && end <= self.until
    }
}

impl LogConfig {
    /// Where plain groups are believed.
    #[must_use]
    pub fn plain_span(&self) -> PlainSpan {
        self.plain.of_log(self.format)
    }

    /// The folder of a copy (0 or 1).
    ///
    /// # Panics
    /// If there is no such copy.
    #[must_use]
    pub fn folder(&self, copy: u8) -> PathBuf {
        let Folders { any, folders } = &*self.moved.0;
        let index = usize::from(copy);
        let moved = any.load(SeqCst).then(|| folders.lock().get(index).cloned().flatten());
        moved.flatten().unwrap_or_else(|| self.copies[index].clone())
    }

    /// A copy is in another folder from now on.
    pub(crate) fn move_copy(&self, copy: u8, folder: &Path) {
        if let Some(moved) = self.moved.0.folders.lock().get_mut(usize::from(copy)) {
            *moved = Some(folder.to_owned());
        }
        self.moved.0.any.store(true, SeqCst);
    }

    /// A sealed log of 4 to 16 segments of 64 MiB, groups of 256 KiB, a ring of 4 MiB, 8 MiB for
    /// the archive.
    #[must_use]
    pub fn new(copies: Vec<PathBuf>) -> LogConfig {
        LogConfig {
            copies,
            stripes: 1,
            stripe_folders: Vec::new(),
            segment_bytes: 64 << 20,
            segments_min: 4,
            segments_max: 16,
            ring_bytes: 4 << 20,
            group_bytes_max: 256 << 10,
            recent_bytes: 8 << 20,
            wads: None,
            moved: Moved::default(),
            elsewhere: Elsewhere::default(),
            format: Format::Sealed,
            plain: PlainSpan::NONE,
            key_label: "log".into(),
        }
    }

    /// Most bytes of stream that one group holds.
    pub(crate) fn payload_max(&self) -> usize {
        self.group_bytes_max - GROUP_HEADER
    }

    /// The longest record that this log takes, header included.
    #[must_use]
    pub fn record_bytes_max(&self) -> usize {
        RECORD_BYTES_MAX.min(self.ring_bytes / 2)
    }

    /// Bytes for groups in one segment of so many stripes.
    pub(crate) fn segment_area(&self, stripes: u8) -> u64 {
        u64::from(stripes) * (self.segment_bytes - SEGMENT_HEADER as u64)
    }

    /// Slots that a log has from its beginning: one is written, one waits to be free, and one is
    /// there meanwhile; and one more where a restart walks the segment before the oldest needed.
    pub(crate) fn slots_at_once(&self) -> u32 {
        self.segments_min.max(self.slots_wanted())
    }

    fn slots_wanted(&self) -> u32 {
        if self.wads.is_some() { 4 } else { 3 }
    }

    /// The folder of a stripe on a copy.
    pub(crate) fn folder_of(&self, copy: u8, stripe: u8) -> PathBuf {
        let own = usize::from(stripe).checked_sub(1).and_then(|at| self.stripe_folders.get(at));
        let own = own.and_then(|folders| folders.get(usize::from(copy)));
        own.cloned().unwrap_or_else(|| self.folder(copy))
    }

    /// The folders of a copy, that of its first stripe first.
    pub(crate) fn folders(&self, copy: u8) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for folder in (0..STRIPES_MAX).map(|stripe| self.folder_of(copy, stripe)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// What is wrong with the folders of stripes.
    fn stripe_folders_fault(&self) -> Option<String> {
        if self.stripe_folders.len() >= usize::from(STRIPES_MAX) {
            let (count, most) = (self.stripe_folders.len(), STRIPES_MAX - 1);
            return Some(format!("folders of {count} more stripes; at most {most} are possible"));
        }
        for (stripe, folders) in (2..).zip(&self.stripe_folders) {
            if folders.len() != self.copies.len() {
                let (count, copies) = (folders.len(), self.copies.len());
                return Some(format!("{count} folders of stripe {stripe} for {copies} copies"));
            }
            if let [first, second] = &folders[..]
                && first == second
            {
                let folder = first.display();
                return Some(format!("both copies of stripe {stripe} in {folder}"));
            }
        }
        None
    }

    /// Says which folder new segments would have files of both copies in, if any: who loses it
    /// loses both. A log that was made so is read all the same.
    pub(crate) fn shared_folder(&self, disk: &dyn Disk) -> Option<String> {
        if self.copies.len() < 2 {
            return None;
        }
        let own =
            |copy| (0..self.stripes).map(move |stripe| (stripe + 1, self.folder_of(copy, stripe)));
        let other = |folder: &PathBuf| {
            own(1).find(|(_, other)| is_same_place(disk, folder, other)).map(|(stripe, _)| stripe)
        };
        own(0).find_map(|(stripe, folder)| {
            let other = other(&folder)?;
            let folder = folder.display();
            Some(format!("stripe {stripe} of copy 1 and stripe {other} of copy 2 in {folder}"))
        })
    }

    /// # Errors
    /// [`LogError::Config`] with what is wrong.
    pub(crate) fn check(&self) -> Result<(), LogError> {
        let block = BLOCK as u64;
        let fault = if self.copies.is_empty() || self.copies.len() > COPIES_MAX {
            format!("{} copies; a log has one or two", self.copies.len())
        } else if self.copies.len() == 2 && self.copies[0] == self.copies[1] {
            format!("both copies in {}", self.copies[0].display())
        } else if !(1..=STRIPES_MAX).contains(&self.stripes) {
            format!("{} stripes; 1 to {STRIPES_MAX} are possible", self.stripes)
        } else if self.group_bytes_max < 2 * BLOCK || !self.group_bytes_max.is_multiple_of(BLOCK) {
            format!("groups of {} bytes; a multiple of 4,096 from 8,192", self.group_bytes_max)
        } else if self.group_bytes_max > 16 << 20 {
            format!("groups of {} bytes; at most 16 MiB", self.group_bytes_max)
        } else if !self.segment_bytes.is_multiple_of(block)
            || self.segment_bytes > 1 << 40
            || self.segment_bytes < block + self.group_bytes_max as u64
        {
            let text = "a multiple of 4,096 that holds a group and a header";
            format!("segments of {} bytes; {text}", self.segment_bytes)
        } else if !self.ring_bytes.is_power_of_two() || self.ring_bytes < 2 * self.group_bytes_max {
            format!("a ring of {} bytes; a power of two, two groups or more", self.ring_bytes)
        } else if self.segments_min < 2 || self.segments_max < self.segments_min {
            let (min, max) = (self.segments_min, self.segments_max);
            format!("{min} to {max} segments; at least two, and no fewer at most than at once")
        } else if self.segments_max < self.slots_wanted() {
            let wanted = self.slots_wanted();
            format!("at most {} segments; this log has at least {wanted}", self.segments_max)
        } else if self.segments_max > 1 << 16 {
            format!("{} segments; at most 65,536", self.segments_max)
        } else if let Some(why) = self.stripe_folders_fault() {
            why
        } else if let Some(why) = self.wads.as_ref().and_then(|w| w.fault(self.group_bytes_max)) {
            why
        } else {
            return Ok(());
        };
        Err(LogError::Config { why: fault })
    }
}

/// Groups that may be sealed and not yet durable in a segment of so many stripes (K7's W). A
/// segment of another number begins when all groups before it are durable.
pub(crate) fn window_of(stripes: u8) -> u64 {
    LANE_DEPTH as u64 * u64::from(stripes)
}

/// What the log needs of the system around it.
#[derive(Clone)]
pub struct LogEnv {
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Where the log's data key comes from.
    pub keys: Arc<dyn KeyProvider>,
    /// The system that the log belongs to.
    pub system: SystemId,
    /// Set when the log may no longer be trusted; asked before every acknowledgement.
    pub stop: Arc<StopSwitch>,
    /// Who records what must not be forgotten.
    pub events: Arc<dyn LogEvents>,
}

/// What the log tells the system around it.
pub trait LogEvents: Send + Sync {
    /// Copy `copy` (0 or 1) misses groups from `from` on. Called before the first acknowledgement
    /// that rests on the other copy alone, and durable, not on the lost copy, when it returns (K9).
    /// Locks of the log are held meanwhile: it must not call the log.
    ///
    /// # Errors
    /// Why it could not be recorded; the log then stops the kernel.
    fn copy_lost(&self, copy: u8, from: GroupNumber, why: &str) -> Result<(), String>;

    /// Copy `copy` has every group again. Durable when it returns, like the loss.
    /// Called before the first group that it gets again, with locks of the log held.
    ///
    /// # Errors
    /// Why it could not be recorded; the copy then stays lost.
    fn copy_back(&self, copy: u8) -> Result<(), String>;

    /// The write-ahead data set `holds` from now on what the log may lack, or does not any more.
    /// Durable when it returns; the next start is told by [`LogStart::ahead`].
    ///
    /// # Errors
    /// Why it could not be recorded; nothing is written ahead then.
    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        if holds.is_some() { Err("nobody records it".into()) } else { Ok(()) }
    }
}

/// Where a log begins that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The position of its first record.
    pub first: Lsn,
    /// The number of its first group.
    pub group: GroupNumber,
    /// The tag of the group before, which is elsewhere: in an archive.
    pub previous: Tag,
}

impl Origin {
    /// A log that goes on from nothing.
    pub const NEW: Origin =
        Origin { first: Lsn::FIRST, group: GroupNumber(1), previous: Tag([0; 16]) };
}

/// Where a log ends that everything has landed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The group that it would have next.
    pub next: GroupNumber,
    /// The tag of its last group.
    pub last: Tag,
}

/// What is known about a log before it is read.
#[derive(Clone, Copy, Debug)]
pub struct LogStart {
    /// The oldest position that restart will read.
    pub from: Lsn,
    /// Every group before this one is archived: no segment is used again before all its groups
    /// are. [`LogStart::NO_ARCHIVE`] if there is no archive.
    pub archived: GroupNumber,
    /// A position that the log must reach, or it was rolled back (K6).
    pub proven: Lsn,
    /// The copy (0 or 1) that is recorded as stale, and from which group on (K9).
    pub stale: Option<(u8, GroupNumber)>,
    /// Whether a stale copy may be used if there is no other, and a write-ahead data set that is
    /// gone be done without. What they lack is lost.
    pub override_stale: bool,
    /// Where the log ended when the system was stopped in order, if it was: then the rest of its
    /// last segment need not be read to know that (K7).
    pub ended: Option<LogEnd>,
    /// The beginning of the write-ahead data set since which that may hold what the log lacks:
    /// without it the log is then not opened.
    pub ahead: Option<Beginning>,
}

impl LogStart {
    /// Nothing waits for an archive.
    pub const NO_ARCHIVE: GroupNumber = GroupNumber(u64::MAX);

    /// The start of a log that has just been made.
    pub const NEW: LogStart = LogStart {
        from: Lsn::FIRST,
        archived: LogStart::NO_ARCHIVE,
        proven: Lsn::NONE,
        stale: None,
        override_stale: false,
        ended: None,
        ahead: None,
    };
}

/// What opening found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Where the log ends: the position of the next record.
    pub end: Lsn,
    /// The next group's number.
    pub next_group: GroupNumber,
    /// Groups that were written again on one copy from the other (K8).
    pub repaired: u64,
    /// Whether the log runs on fewer copies than configured.
    pub single: bool,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_group_stands_wholly_within_the_span_that_was_plain() {
        let sealed = PlainSpan { from: Lsn(100), until: Lsn(200) };
        let cases = [
            (100, 200, true),
            (150, 150, true),
            (99, 150, false),
            (150, 201, false),
            (150, 9_999, false),
        ];
        for (first, end, believed) in cases {
            assert_eq!(sealed.has_group(Lsn(first), Lsn(end)), believed, "{first} to {end}");
        }
        assert!(!PlainSpan::NONE.has_group(Lsn::FIRST, Lsn(200)));
        let plain = sealed.of_log(Format::Plain);
        assert!(plain.has_group(Lsn(150), Lsn(9_999)) && !plain.has_group(Lsn(99), Lsn(150)));
        assert!(sealed.has_segment(Lsn(100)) && !sealed.has_segment(Lsn(200)));
        assert!(
            sealed.has_file(Lsn(200)) && !sealed.has_file(Lsn(201)) && !sealed.has_file(Lsn(100))
        );
    }
}
