//! What the headers of the log's files, of its groups and of archives begin with.
//!
//! | byte | field | |
//! |---|---|---|
//! | 0-3 | magic | what it is |
//! | 4-5 | version | of the layout that follows |
//! | 6 | form | plain or sealed |

use std::fmt;
use std::ops::RangeInclusive;

use base::bytes::{Reader, put_u16};
use base::{GroupNumber, Lsn, SystemId};
use seal::Format;

/// Why bytes are not what they should be. Not an error by itself: the log may simply end there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No header stands there.
    NoHeader,
    /// A version that is not known.
    Version(u16),
    /// Another system's.
    Foreign(SystemId),
    /// Another group.
    Number(GroupNumber),
    /// A position that does not follow.
    Position(Lsn),
    /// A length that cannot be.
    Length,
    /// It does not name its predecessor's tag.
    Chain,
    /// Another run's.
    Salt,
    /// Plain where it must be sealed.
    Plain,
    /// The tag does not fit.
    Tag,
    /// Its records do not fit together.
    Record,
    /// No key.
    Key(String),
    /// The disk does not give it.
    Io(String),
    /// No file.
    Absent,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NoHeader => f.write_str("there is no header"),
            Flaw::Version(version) => write!(f, "its version {version} is not known"),
            Flaw::Foreign(system) => write!(f, "it belongs to system {system}"),
            Flaw::Number(number) => write!(f, "{number} stands there"),
            Flaw::Position(lsn) => write!(f, "it says that it begins at {lsn}"),
            Flaw::Length => f.write_str("its length cannot be"),
            Flaw::Chain => f.write_str("it does not follow the group before it"),
            Flaw::Salt => f.write_str("it was sealed by another run of the log"),
            Flaw::Plain => f.write_str("it is plain in a sealed log"),
            Flaw::Tag => f.write_str("its tag does not fit"),
            Flaw::Record => f.write_str("its records do not fit together"),
            Flaw::Key(why) => write!(f, "its key cannot be had: {why}"),
            Flaw::Io(why) => write!(f, "it cannot be read: {why}"),
            Flaw::Absent => f.write_str("its file is not there"),
        }
    }
}

/// Reads a front; answers the form of what follows.
///
/// # Errors
/// [`Flaw::NoHeader`], or [`Flaw::Version`] of one that is not known.
pub fn read_front(
    reader: &mut Reader<'_>,
    magic: [u8; 4],
    versions: RangeInclusive<u16>,
) -> Result<Format, Flaw> {
    if reader.array() != Some(magic) {
        return Err(Flaw::NoHeader);
    }
    let version = reader.u16().ok_or(Flaw::NoHeader)?;
    if !versions.contains(&version) {
        return Err(Flaw::Version(version));
    }
    reader.u8().and_then(Format::from_byte).ok_or(Flaw::NoHeader)
}

/// Writes a front.
///
/// # Panics
/// If `out` is shorter than one.
pub fn write_front(out: &mut [u8], magic: [u8; 4], version: u16, format: Format) {
    out[..4].copy_from_slice(&magic);
    put_u16(out, 4, version);
    out[6] = format as u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_says_what_it_is_which_layout_follows_and_in_which_form() {
        let mut bytes = [0; 7];
        write_front(&mut bytes, *b"HFLX", 3, Format::Sealed);
        let read = |bytes: &[u8], versions| read_front(&mut Reader::new(bytes), *b"HFLX", versions);
        assert_eq!(read(&bytes, 1..=3), Ok(Format::Sealed));
        assert_eq!(read(&bytes, 1..=2), Err(Flaw::Version(3)));
        assert_eq!(read(&bytes[..6], 1..=3), Err(Flaw::NoHeader));
        assert_eq!(read(&[0; 7], 0..=3), Err(Flaw::NoHeader));
        bytes[6] = 0xEE;
        assert_eq!(read(&bytes, 1..=3), Err(Flaw::NoHeader));
    }
}
