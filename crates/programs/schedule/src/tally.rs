//! How many calls a program made, by function.
//!
//! Invariants:
//! 1. Every call is counted once, wrong ones too.

use std::fmt;

use definitions::Function;

/// Functions that are told apart; a program that invents some does not make this grow.
const FUNCTIONS_MAX: usize = 64;
/// What stands for all others.
const OTHERS: Function = Function::Unknown(*b"****");

/// Calls by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs use few functions: looking at each is faster than any map.
    counts: Vec<(Function, u64)>,
}

impl Tally {
    /// Counts a call.
    pub(crate) fn count(&mut self, function: Function) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(known, _)| *known == function) {
            *count += 1;
        } else if self.counts.len() < FUNCTIONS_MAX {
            self.counts.push((function, 1));
        } else if function == OTHERS {
            self.counts[FUNCTIONS_MAX - 1].1 += 1;
        } else {
            self.counts[FUNCTIONS_MAX - 1].0 = OTHERS;
            self.count(OTHERS);
        }
    }

    /// All calls.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Calls of one function.
    #[must_use]
    pub fn of(&self, function: Function) -> u64 {
        self.counts.iter().find(|(known, _)| *known == function).map_or(0, |(_, count)| *count)
    }

    /// Each function with its calls, by name.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let mut counts = self.counts.clone();
        counts.sort_unstable_by_key(|(function, _)| function.bytes());
        counts.into_iter().map(|(function, count)| (function.to_string(), count))
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
        for function in [Function::Gu, Function::Gn, Function::Gn] {
            tally.count(function);
        }
        assert_eq!((tally.all(), tally.of(Function::Gn)), (3, 2));
        assert_eq!(tally.to_string(), "GN 2, GU 1");
        for number in 0..1000_u32 {
            tally.count(Function::of(number.to_be_bytes()));
        }
        assert_eq!(tally.all(), 1003);
        assert_eq!((tally.iter().count(), tally.of(Function::Gn)), (64, 2));
    }
}
