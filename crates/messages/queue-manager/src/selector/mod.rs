//! Selectors: conditions over the properties and the descriptor of a message, in the subset of
//! SQL-92 that message selectors are written in.
//!
//! ```text
//! condition  = and { "OR" and }
//! and        = not { "AND" not }
//! not        = [ "NOT" ] predicate
//! predicate  = sum [ compare sum | [ "NOT" ] ( between | in | like ) | "IS" [ "NOT" ] "NULL" ]
//! between    = "BETWEEN" sum "AND" sum
//! in         = "IN" "(" string { "," string } ")"
//! like       = "LIKE" string [ "ESCAPE" string ]
//! compare    = "=" | "<>" | "<" | "<=" | ">" | ">="
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = [ "+" | "-" ] ( literal | identifier | "(" condition ")" )
//! ```
//!
//! 1. A condition is true, false or unknown; only true selects. What a message does not have is
//!    unknown, and so is a comparison of different types.
//! 2. A selector that was read never fails on a message.

mod evaluate;
mod lexer;
mod parser;

use crate::message::Message;
use parser::Condition;

/// A condition that was read.
#[derive(Clone, Debug)]
pub struct Selector {
    text: String,
    condition: Condition,
}

impl Selector {
    /// Reads a selector; `None` for one that selects everything.
    ///
    /// # Errors
    /// Where it cannot be read, and why.
    pub fn read(text: &str) -> Result<Option<Selector>, BadSelector> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let condition = parser::parse(text)?;
        Ok(Some(Selector { text: text.to_owned(), condition }))
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it selects a message.
    pub(crate) fn selects(&self, message: &Message) -> bool {
        evaluate::selects(&self.condition, message)
    }
}

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at} of the selector: {why}")]
pub struct BadSelector {
    /// Where, from 1.
    pub at: usize,
    /// Why.
    pub why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{MessageDescriptor, value};
    use crate::properties::{self, Properties, PropertyValue};

    fn message() -> Message {
        let mut all = Properties::default();
        let values = [
            ("color", PropertyValue::String("blue".into())),
            ("size", PropertyValue::Int32(7)),
            ("weight", PropertyValue::Float64(2.5)),
            ("hot", PropertyValue::Boolean(true)),
            ("rate", PropertyValue::String("50%".into())),
        ];
        for (name, value) in values {
            all.set(name, value).unwrap();
        }
        let mut descriptor = MessageDescriptor { priority: 4, ..Default::default() };
        descriptor.persistence = value::persistence::PERSISTENT;
        descriptor.msg_id[0] = 0xab;
        let data = properties::write(&all, &mut descriptor);
        Message { descriptor, put_ms: 1_000, expires_ms: 0, data }
    }

    fn selects(text: &str) -> bool {
        let selector = Selector::read(text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        selector.is_none_or(|selector| selector.selects(&message()))
    }

    #[test]
    fn conditions_that_hold_select() {
        for text in [
            "",
            "color = 'blue'",
            "color <> 'red' AND size > 6.5",
            "size = 7 OR nothing = 1",
            "size BETWEEN 7 AND 9 and not size between 8 and 9",
            "size NOT BETWEEN 8 AND 9",
            "color IN ('red', 'blue')",
            "color NOT IN ('red')",
            "color LIKE 'b%e'",
            "color like '_lue' AND color NOT LIKE '_b%'",
            "rate LIKE '50!%' ESCAPE '!'",
            "nothing IS NULL AND color IS NOT NULL",
            "hot",
            "hot = TRUE AND NOT (hot = FALSE)",
            "size * 2 + 1 = 15",
            "-size < -(3 + 3)",
            "weight / 2 = 1.25",
            "2 * (weight + 1) = size",
            "JMSPriority = 4 AND JMSDeliveryMode = 'PERSISTENT'",
            "Root.MQMD.Priority = 4",
            "JMSMessageID LIKE 'ID:ab%'",
            // Clients write identifiers in capitals or not.
            "JMSMessageID = 'ID:AB0000000000000000000000000000000000000000000000'",
            "JMSMessageID IN ('x', 'ID:Ab0000000000000000000000000000000000000000000000')",
            "NOT JMSMessageID <> 'ID:ab0000000000000000000000000000000000000000000000'",
            "color <> 'BLUE'",
            "JMSTimestamp = 1000",
            "usr.size = 7",
            "size = 0x7 AND size < 1e1",
        ] {
            assert!(selects(text), "{text}");
        }
    }

    #[test]
    fn what_is_unknown_or_false_selects_not() {
        for text in [
            "nothing = 1",
            "NOT (nothing = 1)",
            "nothing > 1 AND color = 'blue'",
            "color = 7",
            "color > 'a'",
            "size = '7'",
            "size IN ('7')",
            "nothing LIKE '%'",
            "nothing NOT IN ('a')",
            "hot = 1",
            "size / 0 = 1 AND FALSE",
            "color IS NULL",
        ] {
            assert!(!selects(text), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_place() {
        for (text, at) in [
            ("color = ", 9),
            ("= 7", 1),
            ("color = 'blue", 9),
            ("size BETWEEN 1", 15),
            ("color IN ()", 11),
            ("(size = 7", 10),
            ("size = 7)", 9),
            ("color LIKE 7", 12),
            ("size = 7 size", 10),
            ("a ? b", 3),
            ("x LIKE 'a' ESCAPE 'ab'", 19),
        ] {
            let bad = Selector::read(text).unwrap_err();
            assert_eq!(bad.at, at, "{text}: {bad}");
        }
        assert!(Selector::read(&"(".repeat(100_000)).is_err());
        assert!(Selector::read(&"NOT ".repeat(100_000)).is_err());
        assert!(Selector::read(&format!("{}1=1", "- ".repeat(100_000))).is_err());
    }
}
