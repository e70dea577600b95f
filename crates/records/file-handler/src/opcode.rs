//! What a program asks for: two bytes in front of the control block.
//!
//! | bytes | operation |
//! |---|---|
//! | `FA00` `04` `08`, `FA01` `05`, `FA02`, `FA03` | OPEN INPUT, OUTPUT, I-O, EXTEND; `04`, `05` with NO REWIND, `08` REVERSED |
//! | `FA80`, `81`, `82`, `84` | CLOSE, WITH LOCK, NO REWIND, REEL |
//! | `FAF5` `8D` `D8` `D9`, `CA` `90` `D4` `D5` | READ NEXT |
//! | `FAF9` `8C` `DE` `DF` | READ PREVIOUS |
//! | `FAF6` `8E` `DA` `DB` | READ by key |
//! | `FACC` `92` `D0` `D1` | READ FIRST |
//! | `FAF3`, `F4`, `F7`, `F8` | WRITE, REWRITE, DELETE, DELETE FILE |
//! | `FAE8` `E9`, `EA`, `EB`, `FE`, `FF`, `ED`, `EC` | START =, >, >=, <, <=, first, last |
//! | `FA0E` `0F`, `DC`, `DD` | UNLOCK, COMMIT, ROLLBACK |

pub use indexed_files::Relation;

use crate::fcd::OpenMode;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// OPEN.
    Open(OpenMode),
    /// CLOSE; how, the options say too.
    Close(Closing),
    /// READ NEXT.
    ReadNext,
    /// READ PREVIOUS.
    ReadPrevious,
    /// READ FIRST.
    ReadFirst,
    /// READ by key or number.
    ReadKey,
    /// WRITE.
    Write,
    /// REWRITE.
    Rewrite,
    /// DELETE.
    Delete,
    /// DELETE FILE.
    DeleteFile,
    /// START.
    Start(Relation),
    /// Gives back record locks.
    Unlock,
    /// Commits.
    Commit,
    /// Backs out.
    Rollback,
}

/// How a file is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// For now.
    Plain,
    /// Not to be opened again in this run.
    Lock,
    /// Without rewinding a tape that a disk is not.
    NoRewind,
    /// A reel or unit only: the file stays open.
    Unit,
}

impl Operation {
    /// From a request's two bytes.
    #[must_use]
    pub fn of(code: [u8; 2]) -> Option<Operation> {
        use Operation::{Close, Open, Start};
        if code[0] != 0xfa {
            return None;
        }
        Some(match code[1] {
            0x00 | 0x04 | 0x08 => Open(OpenMode::Input),
            0x01 | 0x05 => Open(OpenMode::Output),
            0x02 => Open(OpenMode::InputOutput),
            0x03 => Open(OpenMode::Extend),
            0x80 => Close(Closing::Plain),
            0x81 => Close(Closing::Lock),
            0x82 => Close(Closing::NoRewind),
            0x84 => Close(Closing::Unit),
            0xf5 | 0x8d | 0xd8 | 0xd9 | 0xca | 0x90 | 0xd4 | 0xd5 => Operation::ReadNext,
            0xf9 | 0x8c | 0xde | 0xdf => Operation::ReadPrevious,
            0xcc | 0x92 | 0xd0 | 0xd1 => Operation::ReadFirst,
            0xf6 | 0x8e | 0xda | 0xdb => Operation::ReadKey,
            0xf3 => Operation::Write,
            0xf4 => Operation::Rewrite,
            0xf7 => Operation::Delete,
            0xf8 => Operation::DeleteFile,
            0xe8 | 0xe9 => Start(Relation::Equal),
            0xea => Start(Relation::Greater),
            0xeb => Start(Relation::GreaterOrEqual),
            0xfe => Start(Relation::Less),
            0xff => Start(Relation::LessOrEqual),
            0xed => Start(Relation::First),
            0xec => Start(Relation::Last),
            0x0e | 0x0f => Operation::Unlock,
            0xdc => Operation::Commit,
            0xdd => Operation::Rollback,
            _ => return None,
        })
    }
}

/// Whether an OPEN says that a tape, which a disk is not, stays where it is.
#[must_use]
pub fn opens_without_rewind(code: [u8; 2]) -> bool {
    matches!(code, [0xfa, 0x04 | 0x05])
}

impl Closing {
    /// As the options of a CLOSE say it, which libcob gives in place of another operation.
    #[must_use]
    pub fn with(self, options: u32) -> Closing {
        match (self, options) {
            (Closing::Plain, 1) => Closing::Lock,
            (Closing::Plain, 2) => Closing::NoRewind,
            (Closing::Plain, 3 | 4) => Closing::Unit,
            _ => self,
        }
    }
}
