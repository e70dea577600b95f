//! Keys, ranges of keys and positions between keys.
//!
//! Keys are byte strings of any length from zero up to the store's limit, in the order of their
//! bytes as unsigned numbers; a key comes before every longer key that starts with it. There is no
//! other order: what sorts differently is encoded so that it does not.

/// A key and its value, lent by a cursor until its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// A half-open range of keys: from the first that is not less than `from` up to but without `to`.
/// A range that ends before it begins is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange<'a> {
    /// The lowest key that belongs to the range.
    pub from: &'a [u8],
    /// The lowest key above it that does not; `None` if there is no such key.
    pub to: Option<&'a [u8]>,
}

impl<'a> KeyRange<'a> {
    /// Every key.
    pub const ALL: KeyRange<'static> = KeyRange { from: &[], to: None };

    /// The keys from `from` on.
    #[must_use]
    pub const fn from(from: &'a [u8]) -> KeyRange<'a> {
        KeyRange { from, to: None }
    }

    /// The keys below `to`.
    #[must_use]
    pub const fn below(to: &'a [u8]) -> KeyRange<'a> {
        KeyRange { from: &[], to: Some(to) }
    }

    /// The keys from `from` up to but without `to`.
    #[must_use]
    pub const fn between(from: &'a [u8], to: &'a [u8]) -> KeyRange<'a> {
        KeyRange { from, to: Some(to) }
    }

    /// The keys that start with `prefix`; `end` receives the key where they end, so that no
    /// memory is allocated when it is used again.
    ///
    /// ```
    /// use holdfast_store::KeyRange;
    /// let mut end = Vec::new();
    /// assert_eq!(KeyRange::prefix(b"ab", &mut end), KeyRange::between(b"ab", b"ac"));
    /// assert_eq!(KeyRange::prefix(b"a\xff", &mut end), KeyRange::between(b"a\xff", b"b"));
    /// assert_eq!(KeyRange::prefix(b"\xff", &mut end), KeyRange::from(b"\xff"));
    /// ```
    pub fn prefix(prefix: &'a [u8], end: &'a mut Vec<u8>) -> KeyRange<'a> {
        let significant = prefix.iter().rposition(|byte| *byte != 0xff);
        let Some(last) = significant else { return KeyRange::from(prefix) };
        end.clear();
        end.extend_from_slice(&prefix[..=last]);
        end[last] += 1;
        KeyRange::between(prefix, end)
    }

    /// Whether `key` belongs to the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.from <= key && self.to.is_none_or(|to| key < to)
    }

    /// Whether no key can belong to the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to.is_some_and(|to| to <= self.from)
    }
}

/// Where a cursor stands: at a key or between two, whether or not an entry is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position<'a> {
    /// In front of every key.
    Front,
    /// Just before this key: a step forward may return it, a step backward may not.
    Before(&'a [u8]),
    /// On this key, as after reading it: no step returns it.
    On(&'a [u8]),
    /// Just after this key: a step backward may return it, a step forward may not.
    After(&'a [u8]),
    /// Behind every key.
    Back,
}

/// A position without its key: what a cursor keeps of one, with the key in a buffer beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In front of every key.
    Front,
    /// Just before the key.
    Before,
    /// On the key.
    On,
    /// Just after the key.
    After,
    /// Behind every key.
    Back,
}

impl<'a> Position<'a> {
    /// The place, and the key; the empty one where the position has none.
    ///
    /// ```
    /// use holdfast_store::{Place, Position};
    /// let (place, key) = Position::After(b"a").parts();
    /// assert_eq!((place, key), (Place::After, &b"a"[..]));
    /// assert_eq!(place.at(key), Position::After(b"a"));
    /// ```
    #[inline]
    #[must_use]
    pub fn parts(self) -> (Place, &'a [u8]) {
        match self {
            Position::Front => (Place::Front, &[]),
            Position::Before(key) => (Place::Before, key),
            Position::On(key) => (Place::On, key),
            Position::After(key) => (Place::After, key),
            Position::Back => (Place::Back, &[]),
        }
    }
}

impl Place {
    /// The position with this key, if it has one.
    #[inline]
    #[must_use]
    pub fn at(self, key: &[u8]) -> Position<'_> {
        match self {
            Place::Front => Position::Front,
            Place::Before => Position::Before(key),
            Place::On => Position::On(key),
            Place::After => Position::After(key),
            Place::Back => Position::Back,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_contains_what_starts_with_it_and_nothing_else() {
        for prefix in [&b""[..], b"a", b"a\xff", b"\xff\xff", b"\x00"] {
            let mut end = Vec::new();
            let range = KeyRange::prefix(prefix, &mut end);
            for key in [&b""[..], b"\x00", b"\x01", b"a", b"a\xfe", b"a\xff", b"a\xff\xff", b"b"] {
                assert_eq!(range.contains(key), key.starts_with(prefix), "{prefix:?} {key:?}");
            }
        }
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_empty() {
        assert!(KeyRange::between(b"b", b"a").is_empty());
        assert!(KeyRange::below(b"").is_empty());
        assert!(!KeyRange::ALL.is_empty());
        assert!(!KeyRange::between(b"b", b"a").contains(b"a"));
    }
}
