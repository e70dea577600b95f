//! Attributes of objects: their tables and their values.
//!
//! 1. An object has a value for each attribute of its table, in the table's order.
//! 2. A value has passed the rules of its attribute: a number lies in its range, a text fits, a
//!    word is one of the list.

use std::fmt;

/// What values an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A number from the first to the second.
    Number(i64, i64),
    /// A text of at most so many bytes.
    Text(usize),
    /// The name of an object, in at most so many characters.
    Name(usize),
    /// One of these words, each with the number that stands for it.
    Word(&'static [(&'static str, i32)]),
    /// A list of texts, each of at most so many bytes.
    List(usize),
}

/// Who may set an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The command that defines or alters the object.
    Settable,
    /// The command that defines it; it does not change afterwards.
    Fixed,
    /// The queue manager alone.
    Shown,
}

/// An attribute of a kind of object.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its keyword.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ValueKind,
    /// What it has when no command says, as it would be written.
    pub default: &'static str,
    /// Its selector for inquiries; 0: none.
    pub selector: i32,
    /// Who may set it.
    pub access: Access,
}

impl Attribute {
    /// What it has when no command says.
    #[must_use]
    pub fn default_value(&self) -> Value {
        self.parse(self.default).unwrap_or_else(|_| Value::Text(self.default.to_owned()))
    }

    /// Reads a value as a command writes it.
    ///
    /// # Errors
    /// If the attribute does not take it.
    pub fn parse(&self, text: &str) -> Result<Value, BadValue> {
        let bad = |why: String| Err(BadValue { attribute: self.name, value: text.to_owned(), why });
        match self.kind {
            ValueKind::Number(low, high) => match text.trim().parse::<i64>() {
                Ok(number) if (low..=high).contains(&number) => Ok(Value::Number(number)),
                _ => bad(format!("it takes a number from {low} to {high}")),
            },
            ValueKind::Text(most) | ValueKind::Name(most) => {
                let text = text.trim_end_matches(' ');
                if text.len() > most {
                    return bad(format!("it takes at most {most} characters"));
                }
                let name = matches!(self.kind, ValueKind::Name(_));
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"./_%*".contains(&byte);
                if name && !text.bytes().all(allowed) {
                    return bad("a name has letters, digits and . / _ % only".into());
                }
                Ok(Value::Text(text.to_owned()))
            }
            ValueKind::Word(words) => {
                let upper = text.trim().to_ascii_uppercase();
                match words.iter().find(|(word, _)| *word == upper) {
                    Some((word, _)) => Ok(Value::Word(word)),
                    None => {
                        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                        bad(format!("it takes {}", all.join(", ")))
                    }
                }
            }
            ValueKind::List(most) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                let list: Vec<String> = parts.map(str::to_owned).collect();
                if list.iter().any(|part| part.len() > most) {
                    return bad(format!("each takes at most {most} characters"));
                }
                Ok(Value::List(list))
            }
        }
    }

    /// Checks a value against the attribute's rules, and turns numbers into words and back.
    ///
    /// # Errors
    /// If the attribute does not take it.
    pub fn check(&self, value: &Value) -> Result<Value, BadValue> {
        match (self.kind, value) {
            (ValueKind::Word(words), Value::Number(number)) => {
                match words.iter().find(|(_, known)| i64::from(*known) == *number) {
                    Some((word, _)) => Ok(Value::Word(word)),
                    None => self.parse(&number.to_string()),
                }
            }
            (ValueKind::List(_), Value::List(list)) => self.parse(&list.join(",")),
            _ => self.parse(&value.to_string()),
        }
    }

    /// Bytes of its value in an inquiry for characters.
    #[must_use]
    pub fn length(&self) -> usize {
        match self.kind {
            ValueKind::Text(most) | ValueKind::Name(most) | ValueKind::List(most) => most,
            ValueKind::Number(..) | ValueKind::Word(_) => 4,
        }
    }

    /// The number that stands for a value in an inquiry.
    #[must_use]
    pub fn number_of(&self, value: &Value) -> Option<i32> {
        match (self.kind, value) {
            (_, Value::Number(number)) => i32::try_from(*number).ok(),
            (ValueKind::Word(words), Value::Word(word)) => {
                words.iter().find(|(known, _)| known == word).map(|(_, number)| *number)
            }
            _ => None,
        }
    }
}

/// A value that an attribute does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}({value}) is not valid: {why}")]
pub struct BadValue {
    /// The attribute.
    pub attribute: &'static str,
    /// The value.
    pub value: String,
    /// The rule that it breaks.
    pub why: String,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A text, without blanks at its end.
    Text(String),
    /// A word of the attribute's list.
    Word(&'static str),
    /// Texts.
    List(Vec<String>),
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> i64 {
        if let Value::Number(number) = self { *number } else { 0 }
    }

    /// The text or word; empty for others.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            Value::Word(word) => word,
            _ => "",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Word(word) => f.write_str(word),
            Value::List(list) => f.write_str(&list.join(",")),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}
