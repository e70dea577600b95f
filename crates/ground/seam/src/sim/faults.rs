//! Faults of the simulated disk: what to spoil, where and when.
//!
//! Crash faults need no entry here: they are what [`super::CrashStyle`] does to unsynced writes.
//! These are the errors a disk reports and the damage it does not report (K20).
//!
//! Invariants:
//! 1. A fault counts the calls that it could hit, and its schedule looks at that count and at the
//!    disk's seeded dice only, so a seed replays with its faults.
//! 2. A damaged write is damaged for good: what is stored is what every later read sees.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::rng::Rng;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Every call on the file or folder fails with an I/O error: a dead device.
    Dead,
    /// Opening fails with an I/O error.
    OpenError,
    /// A read fails with an I/O error.
    ReadError,
    /// A write fails with an I/O error; some of its first sectors may have been written.
    WriteError,
    /// A write is stored as a whole, and fails with an I/O error all the same.
    StoredWriteError,
    /// A write or an allocation finds no space.
    NoSpace,
    /// A sync of the file fails, and each unsynced write of it may be dropped for good.
    SyncError,
    /// Reads and writes take so much longer, in virtual time.
    SlowIo(Duration),
    /// Syncs and writes to files opened `dsync` take so much longer, in virtual time.
    SlowSync(Duration),
    /// A write is reported done, but nothing changes.
    LostWrite,
    /// A write lands at another place of the same file, a multiple of 4 KiB away.
    MisdirectedWrite,
    /// A read returns what the blocks held before the last write to each of them.
    StaleRead,
    /// A read returns one bit wrong; the next read is right again.
    FlipOnRead,
    /// A write stores one bit wrong.
    FlipAtRest,
}

/// When, among the calls that a fault could hit, it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Each time.
    Always,
    /// The `n`th time only; the first is 1.
    Nth(u64),
    /// The `n`th time and ever after.
    From(u64),
    /// So many times in a thousand, drawn from the seed.
    Chance(u32),
}

/// One fault to be injected by [`super::SimDisk::inject`].
///
/// ```
/// # use holdfast_seam as seam;
/// use seam::sim::{Fault, FaultKind, SimDisk, When};
///
/// let disk = SimDisk::new();
/// let second_copy = disk.inject(Fault::new(FaultKind::Dead, "/system/log/copy2"));
/// disk.inject(Fault::new(FaultKind::FlipAtRest, "*.data").when(When::Chance(5)));
/// assert_eq!(disk.hits(second_copy), 0);
/// disk.heal(second_copy);
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// With which files: a path, which stands for all below it, too; `*` stands for any text.
    pub paths: String,
    /// Which bytes of the files: only reads and writes that touch them are hit, and counted.
    pub range: Option<Range<u64>>,
    /// How often.
    pub when: When,
}

impl Fault {
    /// This fault, each time, on these paths.
    #[must_use]
    pub fn new(kind: FaultKind, paths: impl Into<String>) -> Fault {
        Fault { kind, paths: paths.into(), range: None, when: When::Always }
    }

    /// The same fault for these bytes only: a bad sector, say.
    #[must_use]
    pub fn within(self, range: Range<u64>) -> Fault {
        Fault { range: Some(range), ..self }
    }

    /// The same fault at other times.
    #[must_use]
    pub fn when(self, when: When) -> Fault {
        Fault { when, ..self }
    }
}

/// What a call touches of a file: an offset and a length, if it names a place.
pub(super) type Place = Option<(u64, usize)>;

/// Which fault, for asking and healing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(usize);

/// The calls that faults can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    Read,
    Write,
    /// A write to a file opened `dsync`.
    WriteDurable,
    Sync,
    SyncDir,
    Allocate,
    /// Anything else: length, names, locks.
    Other,
}

impl FaultKind {
    fn hits(self, call: Call) -> bool {
        let write = matches!(call, Call::Write | Call::WriteDurable);
        match self {
            FaultKind::Dead => true,
            FaultKind::OpenError => call == Call::Open,
            FaultKind::ReadError | FaultKind::StaleRead | FaultKind::FlipOnRead => {
                call == Call::Read
            }
            FaultKind::WriteError
            | FaultKind::StoredWriteError
            | FaultKind::LostWrite
            | FaultKind::MisdirectedWrite
            | FaultKind::FlipAtRest => write,
            FaultKind::NoSpace => write || call == Call::Allocate,
            FaultKind::SyncError => matches!(call, Call::Sync | Call::SyncDir),
            FaultKind::SlowIo(_) => write || call == Call::Read,
            FaultKind::SlowSync(_) => {
                matches!(call, Call::Sync | Call::SyncDir | Call::WriteDurable)
            }
        }
    }
}

/// What is to go wrong with one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) io_error: bool,
    /// The write is stored though it fails.
    pub(super) stored: bool,
    pub(super) no_space: bool,
    pub(super) delay_ns: u64,
    pub(super) lost: bool,
    pub(super) misdirected: bool,
    pub(super) stale: bool,
    pub(super) flip: bool,
}

impl Verdict {
    fn add(&mut self, kind: FaultKind) {
        match kind {
            FaultKind::Dead
            | FaultKind::OpenError
            | FaultKind::ReadError
            | FaultKind::WriteError
            | FaultKind::SyncError => self.io_error = true,
            FaultKind::StoredWriteError => (self.io_error, self.stored) = (true, true),
            FaultKind::NoSpace => self.no_space = true,
            FaultKind::SlowIo(time) | FaultKind::SlowSync(time) => {
                self.delay_ns += time.as_nanos() as u64;
            }
            FaultKind::LostWrite => self.lost = true,
            FaultKind::MisdirectedWrite => self.misdirected = true,
            FaultKind::StaleRead => self.stale = true,
            FaultKind::FlipOnRead | FaultKind::FlipAtRest => self.flip = true,
        }
    }
}

struct Injected {
    id: FaultId,
    fault: Fault,
    asked: u64,
}

/// The faults of one disk.
#[derive(Default)]
pub(super) struct Faults {
    injected: Vec<Injected>,
    /// Hits by fault number; kept after healing.
    hits: Vec<u64>,
}

impl Faults {
    pub(super) fn inject(&mut self, fault: Fault) -> FaultId {
        let id = FaultId(self.hits.len());
        self.hits.push(0);
        self.injected.push(Injected { id, fault, asked: 0 });
        id
    }

    pub(super) fn heal(&mut self, id: FaultId) {
        self.injected.retain(|injected| injected.id != id);
    }

    pub(super) fn heal_all(&mut self) {
        self.injected.clear();
    }

    pub(super) fn hits(&self, id: FaultId) -> u64 {
        self.hits[id.0]
    }

    /// Whether earlier contents of blocks must be kept for a stale read.
    pub(super) fn want_history(&self) -> bool {
        self.injected.iter().any(|injected| injected.fault.kind == FaultKind::StaleRead)
    }

    /// Draws what goes wrong with this call.
    pub(super) fn ask(&mut self, call: Call, path: &Path, place: Place, rng: &mut Rng) -> Verdict {
        let mut verdict = Verdict::default();
        for injected in &mut self.injected {
            let Fault { kind, paths, range, when } = &injected.fault;
            if !kind.hits(call) || !touches(range.as_ref(), place) || !matches(paths, path) {
                continue;
            }
            injected.asked += 1;
            let now = match *when {
                When::Always => true,
                When::Nth(n) => injected.asked == n,
                When::From(n) => injected.asked >= n,
                When::Chance(per_mille) => rng.chance(per_mille),
            };
            if now {
                verdict.add(*kind);
                self.hits[injected.id.0] += 1;
            }
        }
        verdict
    }
}

/// Whether a call at `place` touches the range of a fault, if it has one.
fn touches(range: Option<&Range<u64>>, place: Place) -> bool {
    match (range, place) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(range), Some((offset, len))) => {
            offset < range.end && range.start < offset + len as u64
        }
    }
}

/// Whether the pattern, in which `*` stands for any text, names the path or a folder above it.
fn matches(pattern: &str, path: &Path) -> bool {
    let mut above = path.ancestors().filter_map(Path::to_str);
    let fits = |path: &str| base::wildcard::text_fits(pattern.as_bytes(), path.as_bytes(), None);
    above.any(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_files_and_whole_folders() {
        let matches = |pattern, path: &str| matches(pattern, Path::new(path));
        assert!(matches("/log/one", "/log/one"));
        assert!(matches("/log", "/log/one"));
        assert!(!matches("/log/one", "/log/one2"));
        assert!(!matches("/lo", "/log/one"));
        assert!(matches("*.data", "/a/b.data"));
        assert!(matches("*copy2*", "/system/copy2/log"));
        assert!(!matches("*.data", "/a/b.date"));
    }

    #[test]
    fn a_fault_comes_when_its_schedule_says() {
        let count = |when| {
            let mut faults = Faults::default();
            let id = faults.inject(Fault::new(FaultKind::ReadError, "/a").when(when));
            let mut rng = Rng::new(1);
            for _ in 0..1_000 {
                faults.ask(Call::Write, Path::new("/a"), None, &mut rng);
                faults.ask(Call::Read, Path::new("/b"), None, &mut rng);
                faults.ask(Call::Read, Path::new("/a"), None, &mut rng);
            }
            faults.hits(id)
        };
        assert_eq!(count(When::Always), 1_000);
        assert_eq!(count(When::Nth(7)), 1);
        assert_eq!(count(When::From(991)), 10);
        assert!((50..200).contains(&count(When::Chance(100))));
    }
}
