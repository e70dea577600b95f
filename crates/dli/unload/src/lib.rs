//! Database unload files in the format that HD unload writes: a header, the segments of a
//! database in hierarchic order, a trailer with their counts. Read and written as a stream.
//!
//! Numbers are big endian. Every record begins with a descriptor word:
//!
//! | offset | length | every record |
//! |---|---|---|
//! | 0 | 2 | length of the record with this word |
//! | 2 | 2 | zeros |
//! | 4 | 1 | segment code; 00 in header and trailer |
//! | 5 | 1 | 80 in segments and the header, 98 in the trailer; marks of a segment are added |
//!
//! | offset | length | a segment's record |
//! |---|---|---|
//! | 6 | 2 | 0023, length of what stands between the descriptor word and the data |
//! | 8 | 2 | length of the data |
//! | 10 | 8 | segment name |
//! | 18 | 21 | copy of the prefix: 17 zeros and where the segment was; zeros when written here |
//! | 39 | n | data; with its length in front if the segment's length varies |
//! | 39+n | 1 | pad, 00 |
//!
//! | mark | a segment that was deleted |
//! |---|---|
//! | 01 | on its physical path |
//! | 02 | on its logical path: a logical child |
//!
//! A segment that was deleted on one of its paths lives on the other one, or for what is beneath
//! it. Hosts write no such marks: the format has none that is known.
//!
//! | offset | length | header and trailer |
//! |---|---|---|
//! | 6 | 2 | length of the table of segment types, 40 bytes each |
//! | 8 | 40 | a segment type, in order of codes; and so on |
//!
//! | offset | length | a segment type; the counts are zeros in the header |
//! |---|---|---|
//! | 0 | 8 | name |
//! | 8 | 4 | the most twins under one parent; 1 for the root |
//! | 12 | 4 | twins in all |
//! | 16 | 4 | a counter of twins while counting goes on; zeros |
//! | 20 | 4 | the most children of one segment |
//! | 24 | 4 | children in all |
//! | 28 | 4 | a counter of children while counting goes on; zeros |
//! | 32 | 4 | segments |
//! | 36 | 1 | segment code |
//! | 37 | 1 | level |
//! | 38 | 2 | the longest segment with its prefix; the first bit marks the last of the table |
//!
//! Invariants:
//!
//! 1. No bytes make reading panic or take memory beyond one buffer. What is wrong is an error
//!    that names the record by number and offset, and what was expected there.
//! 2. A record is lent out only after its code, name, lengths and place in the hierarchy were
//!    found good, and reading ends well only behind a trailer that counts what was read.
//! 3. A file that was read and is written again has the same codes, names, lengths, order, data
//!    and counts.
//! 4. Data is bytes: nothing here looks into it but for the length of a segment whose caller
//!    declared that it varies.
//! 5. Files and devices are the caller's; only `std::io` traits are known here.

mod counts;
mod deleted;
mod error;
mod exercise;
mod hierarchy;
mod input;
mod name;
mod reader;
mod tally;
mod writer;

pub use counts::Counts;
pub use deleted::Deleted;
pub use error::{Place, UnloadError};
pub use exercise::exercise;
pub use hierarchy::{Form, SegmentType};
pub use name::{Encoding, Name};
pub use reader::{Reader, Record};

pub use writer::Writer;

/// Where things stand in records; the crate's documentation has the tables.
mod layout {
    /// The descriptor word.
    pub(crate) const DESCRIPTOR: usize = 4;
    /// Segment code and flags behind the descriptor word, and the length at offset 6.
    pub(crate) const HEAD: usize = 8;
    /// Where a segment's name stands in its record.
    pub(crate) const NAME: usize = 10;
    /// Where a segment's data begins in its record.
    pub(crate) const DATA: usize = 39;
    /// What the length at offset 6 of a segment's record says.
    pub(crate) const PREFIX: u16 = 0x23;
    /// A segment type in the header and the trailer.
    pub(crate) const ENTRY: usize = 40;
    /// The flags of segments and the header.
    pub(crate) const PLAIN: u8 = 0x80;
    /// Marks of a segment that was deleted on its physical path, and on its logical one.
    pub(crate) const PHYSICALLY: u8 = 0x01;
    pub(crate) const LOGICALLY: u8 = 0x02;
    /// The flags of the trailer.
    pub(crate) const TRAILER: u8 = 0x98;
    /// The bit that marks the last entry of the table.
    pub(crate) const LAST: u16 = 0x8000;
}
