//! The header that every interval begins with, and the header interval of a data set.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | LSN of the latest change |
//! | 8 | 1 | kind |
//! | 9 | 1 | level (of a tree's node; 0 elsewhere) |
//! | 10 | 2 | layout version |
//! | 12 | 4 | own interval number |
//!
//! Interval 0 goes on with `HOLDFAST` (8), the system's identity (16), the length of the definition
//! (4) and the [`Definition`]. It is written when the data set is made and says to a person, or to
//! a tool that has lost everything else, what the file is; nothing in it is trusted by the kernel.

use base::bytes::{get_u16, get_u32, get_u64, put_u16, put_u32};
use base::{CiNumber, Lsn, SystemId};

use crate::{Definition, SpaceError};

/// How many bytes the common header has.
pub const HEADER_BYTES: usize = 16;
/// The layout of intervals that this release writes.
pub const LAYOUT_VERSION: u16 = 1;

/// What an interval holds.
pub mod kind {
    /// The data set's definition.
    pub const HEADER: u8 = 1;
    /// Map, level 1.
    pub const MAP1: u8 = 2;
    /// Map, level 2.
    pub const MAP2: u8 = 3;
    /// Map, level 3.
    pub const MAP3: u8 = 4;
    /// A leaf of a tree.
    pub const LEAF: u8 = 5;
    /// An inner node of a tree.
    pub const INNER: u8 = 6;
    /// A piece of a value that is larger than an interval.
    pub const OVERFLOW: u8 = 7;
    /// Nothing: it was given back.
    pub const FREE: u8 = 8;
}

/// The decoded common header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// LSN of the latest change.
    pub lsn: Lsn,
    /// One of [`kind`].
    pub kind: u8,
    /// Level in a tree.
    pub level: u8,
    /// Layout version.
    pub version: u16,
    /// Own number.
    pub ci: CiNumber,
}

impl Header {
    /// Reads the header of an interval. `page` has at least 16 bytes.
    #[must_use]
    pub fn read(page: &[u8]) -> Header {
        Header {
            lsn: Lsn(get_u64(page, 0)),
            kind: page[8],
            level: page[9],
            version: get_u16(page, 10),
            ci: CiNumber(get_u32(page, 12)),
        }
    }

    /// Writes kind, level, version and number; the LSN stays as it is.
    pub fn write(page: &mut [u8], kind: u8, level: u8, ci: CiNumber) {
        page[8] = kind;
        page[9] = level;
        put_u16(page, 10, LAYOUT_VERSION);
        put_u32(page, 12, ci.0);
    }
}

const MAGIC: &[u8; 8] = b"HOLDFAST";

/// Fills the header interval.
pub fn write_header_interval(page: &mut [u8], system: SystemId, definition: &Definition) {
    page.fill(0);
    Header::write(page, kind::HEADER, 0, CiNumber(0));
    page[16..24].copy_from_slice(MAGIC);
    page[24..40].copy_from_slice(&system.0);
    let bytes = definition.encode();
    put_u32(page, 40, bytes.len() as u32);
    page[44..44 + bytes.len()].copy_from_slice(&bytes);
}

/// Whether a header interval with so many usable bytes can hold a definition.
#[must_use]
pub fn fits_header_interval(definition: &Definition, usable_bytes: usize) -> bool {
    44 + definition.encode().len() <= usable_bytes
}

/// Reads an opened header interval.
///
/// # Errors
/// [`SpaceError::Decode`].
pub fn read_header_interval(page: &[u8]) -> Result<(SystemId, Definition), SpaceError> {
    let bad =
        |why: &str| SpaceError::Decode { what: "the header interval".into(), why: why.into() };
    if page.len() < 44 || page[16..24] != MAGIC[..] {
        return Err(bad("it does not begin as one"));
    }
    let mut system = SystemId::default();
    system.0.copy_from_slice(&page[24..40]);
    let len = get_u32(page, 40) as usize;
    let bytes = page[44..].get(..len).ok_or_else(|| bad("its length leads out of the interval"))?;
    Ok((system, Definition::decode(bytes)?))
}
