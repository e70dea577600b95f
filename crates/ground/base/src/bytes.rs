//! Byte strings: reading little-endian fields of what came from outside, where short input is
//! `None`, and comparing.

/// Walks over a byte slice; every step says `None` instead of panicking at the end.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

macro_rules! integer {
    ($name:ident, $int:ty) => {
        /// The next little-endian integer.
        #[inline]
        pub fn $name(&mut self) -> Option<$int> {
            Some(<$int>::from_le_bytes(self.array()?))
        }
    };
}

impl<'a> Reader<'a> {
    /// A reader at the front of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    integer!(u8, u8);
    integer!(u16, u16);
    integer!(u32, u32);
    integer!(u64, u64);

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    /// A byte string that is preceded by its length in two bytes.
    #[inline]
    pub fn string16(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.u16()?);
        self.take(len)
    }

    /// What has not been read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

macro_rules! fixed {
    ($get:ident, $put:ident, $int:ty) => {
        /// The little-endian integer at `at`. The caller has checked the bounds.
        #[inline]
        #[must_use]
        pub fn $get(bytes: &[u8], at: usize) -> $int {
            let mut array = [0; size_of::<$int>()];
            array.copy_from_slice(&bytes[at..at + size_of::<$int>()]);
            <$int>::from_le_bytes(array)
        }

        /// Stores a little-endian integer at `at`. The caller has checked the bounds.
        #[inline]
        pub fn $put(bytes: &mut [u8], at: usize, value: $int) {
            bytes[at..at + size_of::<$int>()].copy_from_slice(&value.to_le_bytes());
        }
    };
}

fixed!(get_u16, put_u16, u16);
fixed!(get_u32, put_u32, u32);
fixed!(get_u64, put_u64, u64);

/// Appends a byte string preceded by its length in two bytes.
///
/// # Panics
/// If the string is longer than 65,535 bytes; callers bound it by the limits of the structure.
pub fn push_string16(out: &mut Vec<u8>, string: &[u8]) {
    let len = u16::try_from(string.len()).expect("strings in records are shorter than 64 KiB");
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(string);
}

/// Copies what is mostly a few bytes, where a call to copy them would cost more than the copy.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn copy_short(to: &mut [u8], from: &[u8]) {
    let len = from.len();
    if (8..=16).contains(&len) && to.len() == len {
        // Two words that may overlap.
        to[..8].copy_from_slice(&from[..8]);
        to[len - 8..].copy_from_slice(&from[len - 8..]);
    } else if len < 8 && to.len() == len {
        to.iter_mut().zip(from).for_each(|(place, byte)| *place = *byte);
    } else {
        to.copy_from_slice(from);
    }
}

/// How many leading bytes two strings have in common.
#[must_use]
#[inline]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let (words_a, tail_a) = a.as_chunks::<8>();
    let (words_b, tail_b) = b.as_chunks::<8>();
    let mut same = 0;
    for (x, y) in words_a.iter().zip(words_b) {
        let differs = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differs != 0 {
            return same + (differs.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + tail_a.iter().zip(tail_b).take_while(|(x, y)| x == y).count()
}

/// Whether a string begins with another one. For short strings that have just been written, of
/// which a comparison of wide words would have to wait for the writes.
#[must_use]
#[inline]
pub fn begins_with(string: &[u8], prefix: &[u8]) -> bool {
    common_prefix(string, prefix) == prefix.len()
}

/// How many bytes at the end two strings have in common.
#[must_use]
#[inline]
pub fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[a.len() - len..], &b[b.len() - len..]);
    let (head_a, words_a) = a.as_rchunks::<8>();
    let (head_b, words_b) = b.as_rchunks::<8>();
    let mut same = 0;
    for (x, y) in words_a.iter().zip(words_b).rev() {
        let differs = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differs != 0 {
            return same + (differs.leading_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + head_a.iter().zip(head_b).rev().take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_suffix_is_counted_across_words() {
        let a: Vec<u8> = (0..40).collect();
        for at in 0..40 {
            let mut b = a.clone();
            b[at] ^= 0x80;
            assert_eq!(common_suffix(&a, &b), 39 - at);
            assert_eq!(common_suffix(&a[at..], &a), 40 - at);
        }
    }

    #[test]
    fn short_copies_of_every_length_are_whole() {
        let from: Vec<u8> = (1..=20).collect();
        for len in 0..=20 {
            let mut to = vec![0; len];
            copy_short(&mut to, &from[..len]);
            assert_eq!(to, from[..len]);
        }
    }

    #[test]
    fn the_common_prefix_is_counted_across_words() {
        let a: Vec<u8> = (0..40).collect();
        for at in 0..40 {
            let mut b = a.clone();
            b[at] ^= 0x80;
            assert_eq!(common_prefix(&a, &b), at);
            assert_eq!(common_prefix(&a[..at], &a), at);
        }
        assert_eq!(common_prefix(&a, &a), 40);
    }

    #[test]
    fn short_input_is_none_and_moves_nothing() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u32(), None);
        assert_eq!(reader.u16(), Some(0x0201));
        assert_eq!(reader.string16(), None);
        assert_eq!(reader.u8(), Some(3));
        assert!(reader.is_empty());
    }

    #[test]
    fn a_string_comes_back() {
        let mut out = Vec::new();
        push_string16(&mut out, b"abc");
        assert_eq!(Reader::new(&out).string16(), Some(&b"abc"[..]));
    }
}
