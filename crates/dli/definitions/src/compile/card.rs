//! A statement whose operands are taken one after the other, so that what is left over is known.

use macros::{DESCRIBING_KEYWORDS, Statement, Value};

use super::sink::Sink;
use super::values::{flat, is_empty, place_of, written};
use crate::codes;
use crate::finding::{Places, Spot};
use crate::model::Attribute;

/// One keyword under two names: the first is the one that places are kept by.
const SYNONYMS: &[(&str, &str)] = &[
    ("POINTER", "PTR"),
    ("NAME", "DBDNAME"),
    ("NAME", "LTERM"),
    ("NAME", "PSBNAME"),
    ("REPLACE", "REPL"),
];

/// A statement being read.
pub(super) struct Card<'a> {
    pub(super) statement: &'a Statement,
    taken: Vec<bool>,
}

impl<'a> Card<'a> {
    /// Begins to read a statement that defines what is at `spot`.
    pub(super) fn new(
        statement: &'a Statement,
        spot: Spot,
        places: &mut Places,
        sink: &mut Sink,
    ) -> Card<'a> {
        places.note(spot, "", statement.op.place);
        let mut seen: Vec<&str> = Vec::new();
        for operand in &statement.operands {
            let Some(keyword) = &operand.keyword else { continue };
            let canonical = canonical(&keyword.text);
            places.note(spot, canonical, place_of(flat(&operand.value)));
            if seen.contains(&canonical) {
                let message = format!("{}= stands twice", keyword.text);
                sink.error(codes::TWICE, keyword.place, message);
            }
            seen.push(canonical);
        }
        Card { statement, taken: vec![false; statement.operands.len()] }
    }

    /// The value of a keyword; `None` if it is absent or empty.
    pub(super) fn take(&mut self, keyword: &str) -> Option<&'a Value> {
        let mut found = None;
        for (at, operand) in self.statement.operands.iter().enumerate() {
            let named = operand.keyword.as_ref().is_some_and(|word| word.text == keyword);
            if named {
                self.taken[at] = true;
                found = found.or_else(|| (!is_empty(&operand.value)).then_some(&operand.value));
            }
        }
        found
    }

    /// The value of the first keyword that is there.
    pub(super) fn take_any(&mut self, keywords: &[&str]) -> Option<&'a Value> {
        // All are taken, for the second of two synonyms was told as a repetition.
        let found: Vec<_> = keywords.iter().filter_map(|keyword| self.take(keyword)).collect();
        found.first().copied()
    }

    /// The value of a keyword that must be there.
    pub(super) fn need(&mut self, keywords: &[&str], sink: &mut Sink) -> Option<&'a Value> {
        let found = self.take_any(keywords);
        if found.is_none() {
            let op = &self.statement.op;
            let message = format!("{} needs {}=", op.text, keywords[0]);
            sink.error(codes::MISSING, op.place, message);
        }
        found
    }

    /// The value that stands without a keyword at the very front, such as `DATASET LOGICAL`.
    pub(super) fn take_positional(&mut self) -> Option<&'a Value> {
        let operand = self.statement.operands.first()?;
        if operand.keyword.is_some() || is_empty(&operand.value) {
            return None;
        }
        self.taken[0] = true;
        Some(&operand.value)
    }

    /// Warns about keywords that are accepted without effect, if they are there.
    pub(super) fn without_effect(&mut self, keywords: &[&str], sink: &mut Sink) {
        for keyword in keywords {
            if let Some(value) = self.take(keyword) {
                let message = format!("{keyword}= is accepted and has no effect");
                sink.warning(codes::NO_EFFECT, place_of(value), message);
            }
        }
    }

    /// Keywords that only describe, with their values as written.
    pub(super) fn metadata(&mut self, keywords: &[&str]) -> Vec<Attribute> {
        let mut found = Vec::new();
        for (at, operand) in self.statement.operands.iter().enumerate() {
            let Some(keyword) = &operand.keyword else { continue };
            let text = keyword.text.as_str();
            if !self.taken[at] && (keywords.contains(&text) || DESCRIBING_KEYWORDS.contains(&text))
            {
                self.taken[at] = true;
                let value = written(&operand.value);
                found.push(Attribute { keyword: keyword.text.clone(), value });
            }
        }
        found
    }

    /// Errors for what was not taken.
    pub(super) fn finish(self, sink: &mut Sink) {
        let op = &self.statement.op.text;
        for (operand, taken) in self.statement.operands.iter().zip(&self.taken) {
            if *taken {
                continue;
            }
            match &operand.keyword {
                Some(keyword) => {
                    let message = format!("{op} has no operand {}=", keyword.text);
                    sink.error(codes::UNKNOWN_OPERAND, keyword.place, message);
                }
                None if is_empty(&operand.value) => {}
                None => {
                    let message = format!("{op}: a value stands without a keyword");
                    sink.error(codes::POSITIONAL, place_of(&operand.value), message);
                    sink.help("operands are written KEYWORD=value, without blanks around");
                }
            }
        }
    }
}

/// All operands as they are written, for statements that only describe.
pub(super) fn everything(statement: &Statement) -> Vec<Attribute> {
    let operands = statement.operands.iter();
    operands
        .map(|operand| Attribute {
            keyword: operand.keyword.as_ref().map(|word| word.text.clone()).unwrap_or_default(),
            value: written(&operand.value),
        })
        .collect()
}

fn canonical(keyword: &str) -> &str {
    SYNONYMS.iter().find(|(_, other)| *other == keyword).map_or(keyword, |(name, _)| name)
}
