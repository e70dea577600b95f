//! What a machine that archives its log has promised, kept outside of it: whoever records for the
//! log and for the archive here, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use archive::{ArchiveInfo, Registry};
use base::{GroupNumber, Lsn};
use parking_lot::Mutex;
use wal::{Beginning, Log, LogEvents};

use super::striping::Layout;

/// What is known outside of the machine.
#[derive(Default)]
pub(super) struct Ledger {
    /// By life and task: how many records were acknowledged.
    pub(super) acked: Mutex<BTreeMap<(u64, u64), u64>>,
    /// The end of the last one that was.
    pub(super) reached: AtomicU64,
    /// Where the newest record begins.
    pub(super) newest: AtomicU64,
    /// Where restart begins.
    pub(super) from: AtomicU64,
    /// Where recoveries may begin; what an image copy would say.
    pub(super) needed: AtomicU64,
    pub(super) stale: Mutex<Option<(u8, GroupNumber)>>,
    /// The log that is running.
    pub(super) log: Mutex<Weak<Log>>,
    /// Where the first log copy is to be made anew if it is lost, and whether it is there.
    pub(super) spare: Mutex<Option<(PathBuf, bool)>>,
    /// Since which beginning the write-ahead data set may hold what the log lacks.
    pub(super) ahead: Mutex<Option<Beginning>>,
    /// Whether somebody changes stripes, and what was recorded of them last.
    pub(super) restripes: AtomicBool,
    pub(super) layout: Mutex<Option<Layout>>,
    /// The archives that were recorded, by their first groups.
    pub(super) archives: Mutex<BTreeSet<GroupNumber>>,
}

impl Ledger {
    /// Restart begins at `from` from now on, which is durable.
    pub(super) fn checkpoint(&self, log: &Log, from: Lsn) {
        self.from.fetch_max(from.0, SeqCst);
        log.truncate(from);
    }
}

impl LogEvents for Ledger {
    fn copy_lost(&self, copy: u8, from: GroupNumber, _: &str) -> Result<(), String> {
        self.stale.lock().get_or_insert((copy, from));
        Ok(())
    }

    fn copy_back(&self, copy: u8) -> Result<(), String> {
        self.stale.lock().take_if(|(stale, _)| *stale == copy);
        Ok(())
    }

    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        *self.ahead.lock() = holds;
        Ok(())
    }
}

impl Registry for Ledger {
    fn archived(&self, info: &ArchiveInfo, _: &[PathBuf]) -> Result<(), String> {
        self.archives.lock().insert(info.from);
        // Its end may be a piece of a record that a crash has cut off.
        let durable = self.log.lock().upgrade().map(|log| log.durable());
        assert!(durable.is_none_or(|durable| info.whole <= durable), "archived and not durable");
        Ok(())
    }

    fn deleting(&self, info: &ArchiveInfo) -> Result<(), String> {
        self.archives.lock().remove(&info.from);
        Ok(())
    }

    /// As a system says it: what a segment has lost, its archive gives back for as long as the log
    /// has the segment.
    fn needed_from(&self) -> Result<Lsn, String> {
        let needed = Lsn(self.needed.load(SeqCst));
        // Let go of before the log is asked, which may let others run.
        let log = self.log.lock().upgrade();
        let segments = log.map(|log| log.segments()).unwrap_or_default();
        Ok(segments.first().map_or(needed, |oldest| oldest.first.min(needed)))
    }
}
