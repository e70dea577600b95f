//! Logical expressions: SETB and AIF.
//!
//! Invariants:
//!
//! 1. NOT binds tighter than AND, AND tighter than OR and XOR; comparisons bind tightest.
//! 2. Texts compare as on the host: the shorter one is less, then by EBCDIC.

use std::cmp::Ordering;

use codec::CodePage;

use super::expression::Expression;
use super::failure::Failure;

impl Expression<'_> {
    /// The truth of the logical expression that takes all of the cells.
    pub(crate) fn logical_all(&mut self) -> Result<bool, Failure> {
        let truth = self.logical()?;
        self.end()?;
        Ok(truth)
    }

    fn logical(&mut self) -> Result<bool, Failure> {
        self.deeper(|inner| {
            let mut truth = inner.conjunction()?;
            loop {
                if inner.operator("OR") {
                    truth |= inner.conjunction()?;
                } else if inner.operator("XOR") {
                    truth ^= inner.conjunction()?;
                } else {
                    return Ok(truth);
                }
            }
        })
    }

    fn conjunction(&mut self) -> Result<bool, Failure> {
        let mut truth = self.negation()?;
        while self.operator("AND") {
            truth &= self.negation()?;
        }
        Ok(truth)
    }

    fn negation(&mut self) -> Result<bool, Failure> {
        let mut is_negated = false;
        while self.operator("NOT") {
            is_negated = !is_negated;
        }
        Ok(self.primary()? != is_negated)
    }

    /// Takes a word if it stands here.
    fn operator(&mut self, word: &str) -> bool {
        let start = self.at;
        self.skip_blanks();
        if self.symbol() == word {
            return true;
        }
        self.at = start;
        false
    }

    /// A comparison, an expression in parentheses, or a number that is true unless it is 0.
    fn primary(&mut self) -> Result<bool, Failure> {
        self.skip_blanks();
        let start = self.at;
        // A parenthesis may belong to a number as well as to a condition, so one is tried first.
        let (failure, reached) = match self.comparison() {
            Ok(truth) => return Ok(truth),
            Err(failure) => (failure, self.at),
        };
        self.at = start;
        if self.peek() != Some('(') {
            return Err(failure);
        }
        self.at += 1;
        let result = self.logical().and_then(|truth| {
            self.skip_blanks();
            if self.take(')') { Ok(truth) } else { Err(self.expected("a closing parenthesis")) }
        });
        // Of two errors, the one that came further knows more.
        result.map_err(|other| if self.at >= reached { other } else { failure })
    }

    fn comparison(&mut self) -> Result<bool, Failure> {
        if self.is_characters() {
            let left = self.characters()?;
            let start = self.at;
            let Some(relation) = self.relation() else {
                self.at = start;
                self.skip_blanks();
                return Err(self.expected("EQ, NE, LT, GT, LE or GE"));
            };
            self.skip_blanks();
            let right = self.characters()?;
            return Ok(relation(compare(&left, &right)));
        }
        let left = self.arithmetic()?;
        let start = self.at;
        let Some(relation) = self.relation() else {
            self.at = start;
            return Ok(left != 0);
        };
        self.skip_blanks();
        let right = self.arithmetic()?;
        Ok(relation(left.cmp(&right)))
    }

    fn relation(&mut self) -> Option<fn(Ordering) -> bool> {
        self.skip_blanks();
        Some(match self.symbol().as_str() {
            "EQ" => Ordering::is_eq,
            "NE" => Ordering::is_ne,
            "LT" => Ordering::is_lt,
            "GT" => Ordering::is_gt,
            "LE" => Ordering::is_le,
            "GE" => Ordering::is_ge,
            _ => return None,
        })
    }
}

fn compare(left: &str, right: &str) -> Ordering {
    let rank = |ch: char| CodePage::Cp037.byte(ch).map_or(u32::from(ch) + 256, u32::from);
    let length = left.chars().count().cmp(&right.chars().count());
    length.then_with(|| left.chars().map(rank).cmp(right.chars().map(rank)))
}
