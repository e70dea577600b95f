//! What a command answers: a message with its number, and the attributes of one object.
//!
//! 1. A message is `AMQnnnnS: text`, S being I, W, E or S for information, warning, error, severe.
//! 2. Attributes stand in two columns, each three blanks in, the second [`COLUMN`] behind the
//!    first. An attribute that leaves fewer than three blanks to the second column has a line of
//!    its own, and so has one that would begin in the second and is as long.
//! 3. A value of blanks is shown as one blank; a value with letters that a terminal would obey is
//!    shown with dots in their place.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How wide the first column is.
pub const COLUMN: usize = 40;

/// How much a message weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// It was done.
    Information,
    /// It was done, with something to be known.
    Warning,
    /// It was not done.
    Error,
    /// It was not done, and something is broken.
    Severe,
}

/// The number of a message, with its severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageId {
    /// The number behind `AMQ`.
    pub number: u16,
    /// How much it weighs.
    pub severity: Severity,
}

impl MessageId {
    /// One that says that something was done.
    pub const fn done(number: u16) -> MessageId {
        MessageId { number, severity: Severity::Information }
    }

    /// One that says why something was not done.
    pub const fn error(number: u16) -> MessageId {
        MessageId { number, severity: Severity::Error }
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.severity {
            Severity::Information => 'I',
            Severity::Warning => 'W',
            Severity::Error => 'E',
            Severity::Severe => 'S',
        };
        write!(f, "AMQ{:04}{letter}", self.number)
    }
}

/// An attribute as it is shown: `MAXDEPTH(5000)`, or `SHARE` alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its keyword.
    pub name: String,
    /// Its value; keywords that stand for themselves have none.
    pub value: Option<String>,
}

impl Field {
    /// An attribute with a value.
    pub fn new(name: impl Into<String>, value: impl fmt::Display) -> Field {
        Field { name: name.into(), value: Some(value.to_string()) }
    }

    /// A keyword that stands for itself.
    pub fn word(name: impl Into<String>) -> Field {
        Field { name: name.into(), value: None }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            None => f.write_str(&self.name),
            Some(value) if value.trim().is_empty() => write!(f, "{}( )", self.name),
            Some(value) => write!(f, "{}({})", self.name, harmless(value.trim_end())),
        }
    }
}

/// A text without letters that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '.' } else { letter }).collect()
}

/// What a command answers, or one object of what it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The message's number.
    pub id: MessageId,
    /// What it says.
    pub text: String,
    /// The attributes of the object that it is about.
    pub fields: Vec<Field>,
    /// Further lines, as they are.
    pub lines: Vec<String>,
}

impl Reply {
    /// A message alone.
    pub fn new(id: MessageId, text: impl Into<String>) -> Reply {
        Reply { id, text: text.into(), fields: Vec::new(), lines: Vec::new() }
    }

    /// A message with attributes.
    pub fn with(mut self, fields: Vec<Field>) -> Reply {
        self.fields = fields;
        self
    }

    /// Whether what was asked for was not done.
    pub fn is_error(&self) -> bool {
        self.id.severity >= Severity::Error
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.id, harmless(&self.text))?;
        for line in columns(&self.fields) {
            writeln!(f, "   {line}")?;
        }
        for line in &self.lines {
            writeln!(f, "{}", harmless(line))?;
        }
        Ok(())
    }
}

/// The attributes in lines of two columns.
fn columns(fields: &[Field]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut half: Option<String> = None;
    for field in fields {
        let text = field.to_string();
        let is_long = text.chars().count() > COLUMN - 3;
        match half.take() {
            Some(left) if is_long => lines.extend([left, text]),
            Some(left) => {
                let blanks = COLUMN - left.chars().count();
                lines.push(format!("{left}{}{text}", " ".repeat(blanks)));
            }
            None if is_long => lines.push(text),
            None => half = Some(text),
        }
    }
    lines.extend(half);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(fields: Vec<Field>) -> String {
        Reply::new(MessageId::done(8409), "Display Queue details.").with(fields).to_string()
    }

    #[test]
    fn attributes_stand_in_two_columns() {
        let fields = vec![
            Field::new("QUEUE", "Q1"),
            Field::new("TYPE", "QLOCAL"),
            Field::new("CURDEPTH", 0),
        ];
        assert_eq!(
            shown(fields),
            "AMQ8409I: Display Queue details.\n   QUEUE(Q1)                               \
             TYPE(QLOCAL)\n   CURDEPTH(0)\n"
        );
    }

    #[test]
    fn a_long_attribute_has_a_line_of_its_own() {
        // The widths at which a queue manager of the host's kind was seen to break its lines.
        let fits = Field::new("LISTENER", "SYSTEM.DEFAULT.LISTENER.TCP");
        let long = Field::new("QUEUE", "SYSTEM.DEFAULT.INITIATION.QUEUE");
        let other = || Field::new("TYPE", "QLOCAL");
        assert!(shown(vec![fits, other()]).contains("LISTENER.TCP)   TYPE(QLOCAL)\n"));
        assert!(shown(vec![long, other()]).contains("INITIATION.QUEUE)\n   TYPE(QLOCAL)\n"));
    }

    #[test]
    fn a_blank_value_is_one_blank_and_control_letters_are_dots() {
        let fields = vec![Field::new("DESCR", "   "), Field::new("CUSTOM", "a\u{1b}[2J")];
        assert!(shown(fields).contains("DESCR( )  "));
        assert_eq!(Field::new("CUSTOM", "a\u{1b}b").to_string(), "CUSTOM(a.b)");
        assert_eq!(Field::word("SHARE").to_string(), "SHARE");
    }
}
