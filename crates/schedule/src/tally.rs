//! How many calls a program made, by function.
//!
//! Invariants:
//! 1. Every call is counted once, wrong ones too.

use std::collections::BTreeMap;
use std::fmt;

/// Calls by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<[u8; 4], u64>,
}

impl Tally {
    /// Counts a call. A program that invents functions does not make this grow without bound.
    pub(crate) fn count(&mut self, function: [u8; 4]) {
        const FUNCTIONS_MAX: usize = 64;
        let is_known = self.counts.contains_key(&function) || self.counts.len() < FUNCTIONS_MAX;
        let shown = if is_known { function } else { *b"****" };
        *self.counts.entry(shown).or_default() += 1;
    }

    /// All calls.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Calls of one function, its name padded with blanks.
    #[must_use]
    pub fn of(&self, function: [u8; 4]) -> u64 {
        self.counts.get(&function).copied().unwrap_or(0)
    }

    /// Each function with its calls, by name.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.counts.iter().map(|(function, count)| (region::shape::text(function), *count))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (function, count)) in self.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{function} {count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_function() {
        let mut tally = Tally::default();
        for function in [*b"GU  ", *b"GN  ", *b"GN  "] {
            tally.count(function);
        }
        assert_eq!((tally.all(), tally.of(*b"GN  ")), (3, 2));
        assert_eq!(tally.to_string(), "GN 2, GU 1");
        for number in 0..1000_u32 {
            tally.count(number.to_be_bytes());
        }
        assert_eq!(tally.all(), 1003);
        assert!(tally.iter().count() <= 65);
    }
}
