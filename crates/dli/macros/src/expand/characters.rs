//! Character expressions: SETC, comparisons of texts.
//!
//! Invariants:
//!
//! 1. A doubled apostrophe is one in the value; a doubled ampersand stays doubled until a
//!    statement is made of it.
//! 2. A part of a text that lies behind its end is empty, one that reaches over it is cut.

use super::expression::{Expression, VALUE_MAX};
use super::failure::Failure;
use crate::text::{Text, closing, string};

impl Expression<'_> {
    /// Whether a character expression begins here.
    pub(crate) fn is_characters(&self) -> bool {
        let duplicates = || {
            let close = closing(self.cells, self.at)?;
            Some(self.cells.get(close + 1)?.ch == '\'')
        };
        match (self.peek(), self.peek_at(1)) {
            (Some('\''), _) | (Some('T' | 't'), Some('\'')) => true,
            (Some('('), _) => duplicates().unwrap_or(false),
            _ => false,
        }
    }

    /// The value of the character expression that begins here.
    pub(crate) fn characters(&mut self) -> Result<String, Failure> {
        let start = self.at;
        let mut value = String::new();
        loop {
            let times = self.duplication()?;
            let text = match (self.peek(), self.peek_at(1)) {
                (Some('\''), _) => self.quoted()?,
                (Some('T' | 't'), Some('\'')) => self.attribute()?.into_text(),
                _ => {
                    let mut failure = self.expected("a text in apostrophes");
                    failure.help = "Write '&VARIABLE' for the value of a variable.";
                    return Err(failure);
                }
            };
            if value.len() + text.len().saturating_mul(times) > VALUE_MAX {
                return Err(self.too_long(start, self.at));
            }
            value.push_str(&text.repeat(times));
            let goes_on = match (self.peek(), self.peek_at(1)) {
                (Some('.'), Some('\'' | '(' | 'T')) => self.take('.'),
                (Some('\''), _) => true,
                _ => false,
            };
            if !goes_on {
                return Ok(value);
            }
        }
    }

    /// How often the text behind `(n)` is repeated.
    fn duplication(&mut self) -> Result<usize, Failure> {
        if self.peek() != Some('(') || !self.is_characters() {
            return Ok(1);
        }
        let start = self.at;
        self.at += 1;
        let times = self.arithmetic()?;
        if !self.take(')') {
            return Err(self.expected("a closing parenthesis"));
        }
        let times = usize::try_from(times).ok().filter(|times| *times <= VALUE_MAX);
        times.ok_or_else(|| self.wrong(start, self.at, "this repetition factor makes no sense"))
    }

    /// A text in apostrophes, and the part of it that is asked for.
    fn quoted(&mut self) -> Result<String, Failure> {
        let start = self.at;
        self.at += 1;
        let mut inner = Text::new();
        loop {
            let Some(&cell) = self.cells.get(self.at) else {
                return Err(self.wrong(start, start + 1, "this text has no end"));
            };
            self.at += 1;
            if cell.ch == '\'' {
                if self.peek() != Some('\'') {
                    break;
                }
                self.at += 1;
            }
            inner.push(cell);
        }
        let text = {
            let mut inside = Expression { env: self.env, cells: &inner, at: 0, depth: self.depth };
            string(&inside.deeper(Expression::substitute)?)
        };
        if text.len() > VALUE_MAX {
            return Err(self.too_long(start, self.at));
        }
        self.pay(text.len())?;
        if self.peek() == Some('(') { self.part_of(&text) } else { Ok(text) }
    }

    /// `(start,length)` behind a text; `*` is the rest of it.
    fn part_of(&mut self, text: &str) -> Result<String, Failure> {
        let open = self.at;
        self.at += 1;
        let first = self.arithmetic()?;
        if !self.take(',') {
            return Err(self.expected("a comma and a length"));
        }
        self.skip_blanks();
        let is_rest = self.take('*');
        let count = if is_rest { i32::MAX } else { self.arithmetic()? };
        self.skip_blanks();
        if !self.take(')') {
            return Err(self.expected("a closing parenthesis"));
        }
        match (usize::try_from(first), usize::try_from(count)) {
            (Ok(first @ 1..), Ok(count)) => Ok(text.chars().skip(first - 1).take(count).collect()),
            _ => {
                let message =
                    format!("no part of a text begins at {first} and has {count} characters");
                Err(self.wrong(open, self.at, message))
            }
        }
    }
}
