//! Who runs a program, in what kind of region, and how its PSB is scheduled.
//!
//! Invariants:
//! 1. Nothing of it changes while the program runs.

use std::io::Write as _;

use placement::BatchLog;
use region::layout::Name;

/// Who runs a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The user's group.
    pub group: String,
}

/// The kind of region that a program runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegionKind {
    /// Alone with its databases: types DLI and DBB.
    #[default]
    Batch,
    /// Beside other programs, started by a user.
    Bmp,
    /// Beside other programs, started for messages.
    Mpp,
    /// The same, for messages of Fast Path.
    Ifp,
}

impl RegionKind {
    /// Beside other programs, with locks, and always with an I/O PCB.
    #[must_use]
    pub fn is_online(self) -> bool {
        self != RegionKind::Batch
    }

    /// Started for messages.
    #[must_use]
    pub fn is_for_messages(self) -> bool {
        matches!(self, RegionKind::Mpp | RegionKind::Ifp)
    }

    /// As programs see it.
    pub(crate) fn name(self) -> Name {
        match self {
            RegionKind::Batch => *b"BATCH   ",
            RegionKind::Bmp => *b"BMP     ",
            RegionKind::Mpp => *b"MPP     ",
            RegionKind::Ifp => *b"IFP     ",
        }
    }
}

/// When a program that reads messages commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// MODE=SNGL: at every GU of the I/O PCB.
    #[default]
    Single,
    /// MODE=MULT: at checkpoints and at its end.
    Multiple,
}

/// How a PSB is scheduled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind of region.
    pub kind: RegionKind,
    /// The transaction whose messages the program reads; empty if there is none.
    pub transaction: String,
    /// When it commits if it reads messages.
    pub mode: Mode,
    /// Whom to name in messages about locks.
    pub owner: u64,
    /// The program's name, for INQY.
    pub program: String,
    /// The step's name: with the PSB's it tells whose checkpoints are whose.
    pub step: String,
    /// Whom the I/O PCB names; the PSB itself if no user is given.
    pub user: Option<User>,
    /// The checkpoint to restart from, given from outside: it wins over the program's (DLI-12.52).
    pub checkpoint: Option<String>,
    /// Whether ROLB, SETS and ROLS work in batch (DLI-12.56).
    pub batch_log: BatchLog,
    /// After how many inserts a load is committed by itself.
    pub load_commit: u32,
    /// Whether each change of a cluster is a unit of work of its own: the program has no sync
    /// points.
    pub files_apart: bool,
    /// Tells the operator what a status code does not tell the program.
    pub tell: fn(&str),
}

impl Options {
    /// Whether it runs as real batch without what a log makes possible (DLI-12.56).
    pub(crate) fn is_without_log(&self) -> bool {
        !self.kind.is_online() && self.batch_log == BatchLog::None
    }

    /// Whether its input comes as messages, if it has any.
    pub(crate) fn has_input(&self) -> bool {
        self.kind.is_for_messages() || !self.transaction.is_empty()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kind: RegionKind::Batch,
            transaction: String::new(),
            mode: Mode::Single,
            owner: 0,
            program: String::new(),
            step: String::new(),
            user: None,
            checkpoint: None,
            batch_log: BatchLog::Disk,
            load_commit: 10_000,
            files_apart: false,
            tell: |text| {
                // Whom nobody hears has nobody to tell.
                let _ = writeln!(std::io::stderr(), "{text}");
            },
        }
    }
}
