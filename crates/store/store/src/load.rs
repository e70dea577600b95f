//! Bulk load: a set filled at once from entries in key order.

use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::key::Entry;

/// Where a bulk load reads from. It lends each entry until the next call, so that a source can use
/// one buffer for all.
///
/// Lines of a text as entries, numbered:
///
/// ```
/// use holdfast_store::{Entry, LoadSource, Result};
///
/// struct Lines<'t> {
///     lines: std::iter::Enumerate<std::str::Lines<'t>>,
///     key: [u8; 8],
/// }
///
/// impl LoadSource for Lines<'_> {
///     fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
///         let Some((number, line)) = self.lines.next() else { return Ok(None) };
///         self.key = (number as u64).to_be_bytes(); // sorted, as keys have to come
///         Ok(Some(Entry { key: &self.key, value: line.as_bytes() }))
///     }
/// }
///
/// let mut lines = Lines { lines: "bolt\nnut".lines().enumerate(), key: [0; 8] };
/// assert_eq!(lines.next_entry()?.map(|entry| entry.value), Some(&b"bolt"[..]));
/// assert_eq!(lines.next_entry()?.map(|entry| entry.key[7]), Some(1));
/// assert!(lines.next_entry()?.is_none());
/// # Ok::<(), holdfast_store::StoreError>(())
/// ```
pub trait LoadSource {
    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    /// Whatever keeps the source from going on, best as [`source_error`].
    fn next_entry(&mut self) -> Result<Option<Entry<'_>>>;
}

/// Entries from an iterator over pairs of key and value.
///
/// ```
/// # use holdfast_store::{LoadSource, Pairs};
/// let mut pairs = Pairs::new([("a", "1"), ("b", "2")]);
/// assert_eq!(pairs.next_entry()?.map(|entry| entry.key.to_vec()), Some(b"a".to_vec()));
/// # Ok::<(), holdfast_store::StoreError>(())
/// ```
pub struct Pairs<I, K, V> {
    pairs: I,
    lent: Option<(K, V)>,
}

impl<I, K, V> Pairs<I, K, V>
where
    I: Iterator<Item = (K, V)>,
{
    /// Entries from `pairs`, which are sorted by key.
    pub fn new(pairs: impl IntoIterator<IntoIter = I, Item = (K, V)>) -> Pairs<I, K, V> {
        Pairs { pairs: pairs.into_iter(), lent: None }
    }
}

impl<I, K, V> LoadSource for Pairs<I, K, V>
where
    I: Iterator<Item = (K, V)>,
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        self.lent = self.pairs.next();
        Ok(self
            .lent
            .as_ref()
            .map(|(key, value)| Entry { key: key.as_ref(), value: value.as_ref() }))
    }
}

/// Wraps what went wrong in a source.
#[must_use]
pub fn source_error(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Source(Arc::new(error))
}
