//! The order of index entries among equal ones, of sources whose entries have moved.
//!
//! In an index that is not unique the newest of equal entries stands first (DLI-12.65).
//! An entry is as new as its source, whose identity tells, until a REPL moves it; then it is
//! new itself, in that index alone, and the source keeps its number:
//!
//! | part | bytes | holds |
//! |---|---|---|
//! | index | 8 | the name of its DBD |
//! | number | 8, big endian | drawn when the entry moved there |
//!
//! and so on for each index in which the entry has moved.
//!
//! Invariants:
//! 1. A source has one number at most for each index. The name tells which: other indexes may
//!    come and go.
//! 2. The identity stays as it is (`/SX`, DLI-12.68).

use definitions::DbdName;

/// Bytes of a name, and of a number.
const PART: usize = 8;

/// The numbers of a source's moved entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders<'o>(&'o [u8]);

impl<'o> Orders<'o> {
    /// As stored bytes; `None` if they are none.
    pub(crate) fn read(bytes: &'o [u8]) -> Option<Orders<'o>> {
        bytes.len().is_multiple_of(2 * PART).then_some(Orders(bytes))
    }

    /// As bytes that [`renew`] has written.
    pub(crate) fn of_bytes(bytes: &'o [u8]) -> Orders<'o> {
        Orders(bytes)
    }

    /// As bytes.
    pub(crate) fn bytes(self) -> &'o [u8] {
        self.0
    }

    /// Whether no entry has moved.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The number of the entry in an index, if it has moved there.
    #[must_use]
    pub fn of(self, index: DbdName) -> Option<u64> {
        let mut all = self.0.chunks_exact(2 * PART);
        let found = all.find(|one| one[..PART] == index.bytes()[..])?;
        Some(u64::from_be_bytes(*found.last_chunk()?))
    }
}

/// Sets the number of an entry that moves.
pub(crate) fn renew(orders: &mut Vec<u8>, index: DbdName, number: u64) {
    let known = orders.chunks_exact_mut(2 * PART).find(|one| one[..PART] == index.bytes()[..]);
    match known {
        Some(one) => one[PART..].copy_from_slice(&number.to_be_bytes()),
        None => {
            orders.extend_from_slice(index.bytes());
            orders.extend_from_slice(&number.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_has_the_number_it_was_given_last() {
        let name = |text| DbdName::new(text).unwrap();
        let mut bytes = Vec::new();
        for (index, number) in [("ONEIX", 7), ("TWOIX", 8), ("ONEIX", 9)] {
            renew(&mut bytes, name(index), number);
        }
        let orders = Orders::read(&bytes).unwrap();
        assert_eq!((orders.of(name("ONEIX")), orders.of(name("TWOIX"))), (Some(9), Some(8)));
        assert_eq!(orders.of(name("OTHER")), None);
        assert_eq!(Orders::read(&bytes[1..]), None);
    }
}
