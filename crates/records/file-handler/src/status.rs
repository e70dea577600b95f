//! File status: the two characters that a COBOL program sees of each request.
//!
//! | status | means |
//! |---|---|
//! | 00 | done |
//! | 02 | done; another record has the same alternate key |
//! | 04 | done; the record is longer or shorter than the program's |
//! | 05 | open; the optional file was not there |
//! | 07 | done; there is no reel |
//! | 10, 14 | the file's end; its number has too many digits for the relative key |
//! | 21, 22, 23, 24 | out of sequence; key is there already; no such record; boundary |
//! | 30, 34, 35, 37, 38, 39 | error; no space; no file; mode; closed with lock; attributes |
//! | 41, 42, 43, 44, 46, 47, 48, 49 | order of requests, lengths, modes |
//! | 90 to 97 | of VSAM |

use std::fmt;

/// A file status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileStatus(pub [u8; 2]);

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl FileStatus {
            $($(#[$doc])* pub const $name: FileStatus = FileStatus(*$code);)*
        }
    };
}

statuses! {
    /// Done.
    DONE = b"00";
    /// Done; a duplicate alternate key.
    DUPLICATE = b"02";
    /// Done; the record has another length.
    LENGTH = b"04";
    /// Open; the optional file was not there.
    OPTIONAL = b"05";
    /// Done; there is no reel.
    NO_REEL = b"07";
    /// The end of the file.
    END = b"10";
    /// The record's number does not fit into the relative key.
    NUMBER_TOO_LONG = b"14";
    /// Keys out of sequence, or the prime key was changed.
    SEQUENCE = b"21";
    /// The key is there already.
    KEY_EXISTS = b"22";
    /// No such record.
    NOT_FOUND = b"23";
    /// Beyond the boundaries of a keyed file.
    KEY_BOUNDARY = b"24";
    /// A permanent error.
    ERROR = b"30";
    /// No space.
    NO_SPACE = b"34";
    /// No such file.
    NO_FILE = b"35";
    /// The file cannot be opened this way.
    MODE = b"37";
    /// It was closed with lock.
    LOCKED = b"38";
    /// Its attributes are others.
    ATTRIBUTES = b"39";
    /// It is open already.
    IS_OPEN = b"41";
    /// It is not open.
    NOT_OPEN = b"42";
    /// No record was read before.
    NO_READ = b"43";
    /// A length that cannot be.
    RECORD_LENGTH = b"44";
    /// There is no next record.
    NO_NEXT = b"46";
    /// Not open to be read.
    NOT_INPUT = b"47";
    /// Not open to be written.
    NOT_OUTPUT = b"48";
    /// Not open to be changed.
    NOT_INPUT_OUTPUT = b"49";
    /// The file's records cannot be reached.
    UNREACHABLE = b"90";
    /// A request that makes no sense.
    LOGIC = b"92";
    /// Something that is needed is not to be had: a lock, above all.
    RESOURCE = b"93";
    /// No position.
    NO_POSITION = b"94";
    /// The file's description is wrong or incomplete.
    INVALID = b"95";
    /// No DD.
    NO_DD = b"96";
}

impl FileStatus {
    /// Whether the request was carried out.
    #[must_use]
    pub fn is_done(self) -> bool {
        self.0[0] == b'0'
    }

    /// For an error of the machine.
    #[must_use]
    pub fn of_errno(errno: rustix::io::Errno) -> FileStatus {
        use rustix::io::Errno;
        match errno {
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => FileStatus::NO_SPACE,
            Errno::PERM | Errno::ACCESS | Errno::ISDIR | Errno::ROFS => FileStatus::MODE,
            Errno::NOENT | Errno::NOTDIR => FileStatus::NO_FILE,
            Errno::AGAIN | Errno::DEADLK | Errno::TXTBSY => FileStatus::RESOURCE,
            _ => FileStatus::ERROR,
        }
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
