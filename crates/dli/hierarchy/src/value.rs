//! A segment as it is stored: its data, and what some types carry in front of it.
//!
//! Most segments are stored as the program sees them. Those whose type
//! [has a header](crate::SegmentType::has_header) begin with one:
//!
//! | part | bytes | where |
//! |---|---|---|
//! | flags | 1 | always: 1 compressed, 2 deleted physically, 4 deleted logically, 8 orders |
//! | identity | 8, big endian | sources of an index that needs one |
//! | length, orders | 2, big endian; n | flag 8: sources whose entries have moved ([`crate::order`]) |
//! | length, path | 2, big endian; n | logical children: the path of the logical parent |
//! | length | 4, big endian | compressed data: its length when expanded |
//! | data | the rest | compressed or not |
//!
//! Invariants:
//! 1. Compressed data expands to at most [`SEGMENT_BYTES_MAX`]; anything else is damage.
//! 2. What compression does not make shorter is stored as it is.
//! 3. What was deleted on its physical path stays as long as something leads to it on another one,
//!    or something beneath it stays; a logical child that was deleted on its logical path stays as
//!    long as it lives on its physical one. Deleted on both it is a *remnant* for what is beneath.

use crate::error::Damaged;
use crate::order::Orders;
use crate::schema::SegmentType;

/// Bytes of a segment at most.
pub const SEGMENT_BYTES_MAX: usize = 1 << 16;

const COMPRESSED: u8 = 1;
const DELETED_PHYSICALLY: u8 = 2;
const DELETED_LOGICALLY: u8 = 4;
const ORDERS: u8 = 8;
const KNOWN: u8 = COMPRESSED | DELETED_PHYSICALLY | DELETED_LOGICALLY | ORDERS;

/// On which of its paths a segment was deleted; on none is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// On its physical path.
    pub physically: bool,
    /// A logical child: on its logical path.
    pub logically: bool,
}

impl Deleted {
    /// Whether it was deleted on any of them.
    #[must_use]
    pub fn anywhere(self) -> bool {
        self.physically || self.logically
    }
}

/// A stored segment, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'v> {
    /// Whether it was deleted on its physical path.
    pub is_deleted: bool,
    /// Whether a logical child was deleted on its logical path.
    pub is_deleted_logically: bool,
    /// Its number, 0 if its type has none.
    pub identity: u64,
    /// The order of its entries in indexes where they have moved.
    pub orders: Orders<'v>,
    /// The path of its logical parent, empty if it has none.
    pub logical_parent: &'v [u8],
    pub(crate) data: &'v [u8],
    pub(crate) compressed: bool,
}

impl<'v> Stored<'v> {
    /// A segment that is to be stored.
    #[must_use]
    pub fn new(data: &'v [u8]) -> Stored<'v> {
        Stored {
            is_deleted: false,
            is_deleted_logically: false,
            identity: 0,
            orders: Orders::default(),
            logical_parent: &[],
            data,
            compressed: false,
        }
    }

    /// Takes a stored value apart.
    ///
    /// # Errors
    /// If it is no value of that type.
    pub fn read(kind: &SegmentType, value: &'v [u8]) -> Result<Stored<'v>, Damaged> {
        if !kind.has_header() {
            return Ok(Stored::new(value));
        }
        let short = Damaged("a segment is shorter than its header");
        let (flags, mut rest) = value.split_first().ok_or(short)?;
        if flags & !KNOWN != 0 {
            return Err(Damaged("a segment has flags that this release does not know"));
        }
        let mut stored = Stored::new(&[]);
        stored.is_deleted = flags & DELETED_PHYSICALLY != 0;
        stored.is_deleted_logically = flags & DELETED_LOGICALLY != 0;
        stored.compressed = flags & COMPRESSED != 0;
        if kind.has_identity {
            let (identity, behind) = rest.split_first_chunk().ok_or(short)?;
            (stored.identity, rest) = (u64::from_be_bytes(*identity), behind);
        }
        if flags & ORDERS != 0 {
            let (orders, behind) = counted(rest).ok_or(short)?;
            let bad = Damaged("the orders of a segment's index entries are cut off");
            (stored.orders, rest) = (Orders::read(orders).ok_or(bad)?, behind);
        }
        if kind.is_logical_child {
            (stored.logical_parent, rest) = counted(rest).ok_or(short)?;
        }
        stored.data = rest;
        Ok(stored)
    }

    /// The data, in `scratch` if it had to be expanded.
    ///
    /// # Errors
    /// If compressed data does not expand.
    pub fn data<'s>(&self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8], Damaged>
    where
        'v: 's,
    {
        if !self.compressed {
            return Ok(self.data);
        }
        let bad = Damaged("a compressed segment does not expand");
        let (len, packed) = self.data.split_first_chunk().ok_or(bad)?;
        let len = usize::try_from(u32::from_be_bytes(*len)).map_err(|_| bad)?;
        if len > SEGMENT_BYTES_MAX {
            return Err(bad);
        }
        scratch.clear();
        scratch.resize(len, 0);
        let got = lz4_flex::block::decompress_into(packed, scratch).map_err(|_| bad)?;
        if got != len {
            return Err(bad);
        }
        Ok(scratch)
    }

    /// Writes the value to store.
    pub fn write(&self, kind: &SegmentType, to: &mut Vec<u8>) {
        to.clear();
        if !kind.has_header() {
            to.extend_from_slice(self.data);
            return;
        }
        to.push(self.flags());
        if kind.has_identity {
            to.extend_from_slice(&self.identity.to_be_bytes());
        }
        if !self.orders.is_empty() {
            put_counted(self.orders.bytes(), to);
        }
        if kind.is_logical_child {
            put_counted(self.logical_parent, to);
        }
        if kind.compression.is_some() && self.compress(to) {
            to[0] |= COMPRESSED;
            return;
        }
        to.extend_from_slice(self.data);
    }

    /// On which of its paths it was deleted.
    #[must_use]
    pub fn deleted(&self) -> Deleted {
        Deleted { physically: self.is_deleted, logically: self.is_deleted_logically }
    }

    /// Whether it was deleted on every path that leads to it.
    #[must_use]
    pub fn is_remnant(&self) -> bool {
        self.is_deleted && self.is_deleted_logically
    }

    /// The same segment with other data.
    #[must_use]
    pub(crate) fn with<'d>(&self, data: &'d [u8]) -> Stored<'d>
    where
        'v: 'd,
    {
        Stored { data, compressed: false, ..*self }
    }

    fn flags(&self) -> u8 {
        let physically = if self.is_deleted { DELETED_PHYSICALLY } else { 0 };
        let logically = if self.is_deleted_logically { DELETED_LOGICALLY } else { 0 };
        let orders = if self.orders.is_empty() { 0 } else { ORDERS };
        physically | logically | orders
    }

    /// Appends the data compressed, if that makes it shorter.
    fn compress(&self, to: &mut Vec<u8>) -> bool {
        let start = to.len();
        // A segment has 64 KiB at most.
        to.extend_from_slice(&(self.data.len() as u32).to_be_bytes());
        let packed = to.len();
        to.resize(packed + lz4_flex::block::get_maximum_output_size(self.data.len()), 0);
        match lz4_flex::block::compress_into(self.data, &mut to[packed..]) {
            Ok(len) if packed - start + len < self.data.len() => to.truncate(packed + len),
            _ => {
                to.truncate(start);
                return false;
            }
        }
        true
    }
}

/// Bytes with their length in front, and what stands behind them.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))
}

/// Appends bytes with their length: a path, or the orders in the indexes of a database, both of
/// which are shorter than a key of the store may be, or 255 indexes need.
fn put_counted(bytes: &[u8], to: &mut Vec<u8>) {
    let len = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    to.extend_from_slice(&len.to_be_bytes());
    to.extend_from_slice(&bytes[..usize::from(len)]);
}

/// Gives a stored value an identity: `kind` is its type without one.
///
/// # Errors
/// If it is no value of that type.
pub(crate) fn numbered(
    kind: &SegmentType,
    value: &[u8],
    identity: u64,
    to: &mut Vec<u8>,
) -> Result<(), Damaged> {
    Stored::read(kind, value)?;
    let (flags, rest) = match value.split_first() {
        Some((flags, rest)) if kind.has_header() => (*flags, rest),
        _ => (0, value),
    };
    to.push(flags);
    to.extend_from_slice(&identity.to_be_bytes());
    to.extend_from_slice(rest);
    Ok(())
}

/// Marks a stored value, of a type that [may outlive](SegmentType::may_outlive), as deleted.
pub(crate) fn mark(value: &mut [u8], physically: bool, logically: bool) {
    if let Some(flags) = value.first_mut() {
        *flags |= if physically { DELETED_PHYSICALLY } else { 0 };
        *flags |= if logically { DELETED_LOGICALLY } else { 0 };
    }
}
