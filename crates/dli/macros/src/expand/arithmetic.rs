//! Arithmetic expressions: SETA, subscripts, comparisons of numbers.
//!
//! Invariants:
//!
//! 1. Numbers are 32 bits with a sign; what leaves that range is an error.
//! 2. Division cuts, and division by zero gives zero, as in the assembler.

use super::expression::{Env, Expression};
use super::failure::Failure;
use super::variables::Datum;
use crate::text::string;

impl Expression<'_> {
    /// The value of the arithmetic expression that begins here.
    pub(crate) fn arithmetic(&mut self) -> Result<i32, Failure> {
        self.deeper(|inner| {
            let mut sum = inner.product()?;
            loop {
                inner.skip_blanks();
                let start = inner.at;
                let operation: fn(i32, i32) -> Option<i32> = match inner.peek() {
                    Some('+') => i32::checked_add,
                    Some('-') => i32::checked_sub,
                    _ => return Ok(sum),
                };
                inner.at += 1;
                let right = inner.product()?;
                sum = operation(sum, right).ok_or_else(|| inner.overflow(start))?;
            }
        })
    }

    fn product(&mut self) -> Result<i32, Failure> {
        let mut product = self.signed()?;
        loop {
            self.skip_blanks();
            let start = self.at;
            let operator = self.peek();
            if !matches!(operator, Some('*' | '/')) {
                return Ok(product);
            }
            self.at += 1;
            let right = self.signed()?;
            let result = match (operator, right) {
                (Some('*'), _) => product.checked_mul(right),
                (_, 0) => Some(0),
                _ => product.checked_div(right),
            };
            product = result.ok_or_else(|| self.overflow(start))?;
        }
    }

    fn signed(&mut self) -> Result<i32, Failure> {
        let mut is_minus = false;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('-') => is_minus = !is_minus,
                Some('+') => {}
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let value = self.term()?;
        if is_minus { value.checked_neg().ok_or_else(|| self.overflow(start)) } else { Ok(value) }
    }

    fn term(&mut self) -> Result<i32, Failure> {
        match (self.peek(), self.peek_at(1)) {
            (Some('('), _) => {
                self.at += 1;
                let value = self.arithmetic()?;
                self.skip_blanks();
                if self.take(')') { Ok(value) } else { Err(self.expected("a closing parenthesis")) }
            }
            (Some('&'), _) => {
                let start = self.at;
                let reference = self.reference()?;
                let datum = self.value(&reference)?;
                self.number_of(datum, start)
            }
            (Some('X' | 'B' | 'C'), Some('\'')) => self.self_defining(),
            (Some(_), Some('\'')) => {
                let start = self.at;
                let datum = self.attribute()?;
                self.number_of(datum, start)
            }
            (Some('0'..='9'), _) => {
                let start = self.at;
                let rest = &self.cells[start..];
                let len = rest.iter().take_while(|cell| cell.ch.is_ascii_digit()).count();
                self.at += len;
                let digits = string(&rest[..len]);
                digits.parse().map_err(|_| self.overflow(start))
            }
            _ => Err(self.expected("a number or a variable")),
        }
    }

    fn self_defining(&mut self) -> Result<i32, Failure> {
        let start = self.at;
        let rest = self.cells.get(start + 2..).unwrap_or_default();
        let Some(len) = rest.iter().position(|cell| cell.ch == '\'') else {
            return Err(self.expected("a number"));
        };
        self.at = start + 2 + len + 1;
        let text = string(&self.cells[start..self.at]);
        Env::number(&text).ok_or_else(|| {
            self.wrong(start, self.at, format!("{text} is no number of at most 32 bits"))
        })
    }

    fn number_of(&self, datum: Datum, start: usize) -> Result<i32, Failure> {
        match datum {
            Datum::Number(number) => Ok(number),
            Datum::Truth(truth) => Ok(truth.into()),
            Datum::Text(text) => Env::number(&text).ok_or_else(|| {
                let what = string(&self.cells[start..self.at]);
                let shown: String = text.chars().take(40).collect();
                let message = format!("{what} is '{shown}', which is no number");
                let mut failure = self.wrong(start, self.at, message);
                failure.help = "Put the variable in apostrophes to compare it as a text.";
                failure
            }),
        }
    }

    fn overflow(&self, start: usize) -> Failure {
        self.wrong(start, self.at, "the value does not fit into 32 bits")
    }
}
