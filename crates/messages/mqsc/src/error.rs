//! What is wrong with a command: its form, or what it asks for.

use base::{Code, Coded};
use thiserror::Error;

use crate::reply::{MessageId, Reply, Severity};

/// Why a text is no command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SyntaxError {
    /// A command that is longer than any may be.
    #[error("the command has more than {most} bytes")]
    Overlong {
        /// How many it may have.
        most: usize,
    },
    /// A parenthesis that is not closed.
    #[error("a closing parenthesis is missing")]
    Unclosed {
        /// Where the command shows it.
        end: usize,
    },
    /// A quote that is not closed.
    #[error("a closing quotation mark is missing")]
    Unquoted {
        /// Where the command shows it.
        end: usize,
    },
    /// A letter where none of its kind can stand.
    #[error("{letter:?} cannot stand here")]
    Stray {
        /// The letter.
        letter: char,
        /// Where the command shows it.
        end: usize,
    },
    /// A word that is no verb.
    #[error("{word} is no command; one begins with {valid}")]
    Verb {
        /// The word.
        word: String,
        /// What there is.
        valid: String,
        /// Where the command shows it.
        end: usize,
    },
    /// A word that names no object for this verb.
    #[error("{verb} takes no {word}; it takes {valid}")]
    Object {
        /// The verb.
        verb: &'static str,
        /// The word.
        word: String,
        /// What there is.
        valid: String,
        /// Where the command shows it.
        end: usize,
    },
    /// A keyword that this command does not have.
    #[error("{keyword} is no keyword of {command}")]
    Keyword {
        /// The keyword.
        keyword: String,
        /// The command.
        command: String,
        /// Where the command shows it.
        end: usize,
    },
    /// A keyword that stands twice, or with another that says the opposite.
    #[error("{keyword} is given twice, or with its opposite")]
    Twice {
        /// The keyword.
        keyword: String,
        /// Where the command shows it.
        end: usize,
    },
    /// A keyword without the value that it must have, or with one that it cannot have.
    #[error("{keyword} {needs}")]
    Shape {
        /// The keyword.
        keyword: String,
        /// What it needs.
        needs: &'static str,
        /// Where the command shows it.
        end: usize,
    },
    /// A value that the keyword cannot have.
    #[error("{keyword} cannot be {value}: {why}")]
    Value {
        /// The keyword.
        keyword: String,
        /// The value.
        value: String,
        /// What it can be.
        why: String,
        /// Where the command shows it.
        end: usize,
    },
    /// A name that no object can have.
    #[error("{name} is no name: {why}")]
    Name {
        /// The name.
        name: String,
        /// What a name is.
        why: &'static str,
        /// Where the command shows it.
        end: usize,
    },
    /// A keyword without which the command says nothing.
    #[error("{command} needs {keyword}")]
    Missing {
        /// The command.
        command: String,
        /// The keyword.
        keyword: &'static str,
        /// Where the command shows it.
        end: usize,
    },
}

impl SyntaxError {
    /// Where the command shows the error: it stands at, or before, this byte.
    pub fn end(&self) -> usize {
        match self {
            SyntaxError::Overlong { .. } => 0,
            SyntaxError::Unclosed { end }
            | SyntaxError::Unquoted { end }
            | SyntaxError::Stray { end, .. }
            | SyntaxError::Verb { end, .. }
            | SyntaxError::Object { end, .. }
            | SyntaxError::Keyword { end, .. }
            | SyntaxError::Twice { end, .. }
            | SyntaxError::Shape { end, .. }
            | SyntaxError::Value { end, .. }
            | SyntaxError::Name { end, .. }
            | SyntaxError::Missing { end, .. } => *end,
        }
    }

    /// How a session says it: the part of the command that leads to the error, then what it is.
    pub fn reply(&self, command: &str) -> Reply {
        let mut end = self.end().min(command.len());
        while !command.is_char_boundary(end) {
            end -= 1;
        }
        let id = match self {
            SyntaxError::Verb { .. } => MessageId::error(8426),
            _ => MessageId { number: 8405, severity: Severity::Information },
        };
        let text =
            format!("Syntax error at or near the end of what follows: {self} ({}).", self.code().0);
        let mut reply = Reply::new(id, text);
        if !command.is_empty() {
            reply.lines.push(command[..end].to_owned());
        }
        reply
    }
}

impl Coded for SyntaxError {
    fn code(&self) -> Code {
        match self {
            SyntaxError::Overlong { .. } => Code("HFMC001"),
            SyntaxError::Unclosed { .. } => Code("HFMC002"),
            SyntaxError::Unquoted { .. } => Code("HFMC003"),
            SyntaxError::Stray { .. } => Code("HFMC004"),
            SyntaxError::Verb { .. } => Code("HFMC005"),
            SyntaxError::Object { .. } => Code("HFMC006"),
            SyntaxError::Keyword { .. } => Code("HFMC007"),
            SyntaxError::Twice { .. } => Code("HFMC008"),
            SyntaxError::Shape { .. } => Code("HFMC009"),
            SyntaxError::Value { .. } => Code("HFMC010"),
            SyntaxError::Name { .. } => Code("HFMC011"),
            SyntaxError::Missing { .. } => Code("HFMC012"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            SyntaxError::Overlong { .. } => {
                "Look for a line that ends in + or - where the command ought to end.".into()
            }
            SyntaxError::Unclosed { .. } => "Close the parenthesis.".into(),
            SyntaxError::Unquoted { .. } => {
                "Close the quotation; a quotation mark within it is written twice.".into()
            }
            SyntaxError::Stray { .. } => {
                "Put values with blanks, commas, quotation marks or parentheses in quotes.".into()
            }
            SyntaxError::Verb { .. }
            | SyntaxError::Object { .. }
            | SyntaxError::Keyword { .. }
            | SyntaxError::Value { .. } => "Write one of those that there are.".into(),
            SyntaxError::Twice { .. } => "Say it once.".into(),
            SyntaxError::Shape { .. } => "Write the keyword as it must be.".into(),
            SyntaxError::Name { .. } => {
                "Use letters, digits and . / _ % only, and the length that the object has.".into()
            }
            SyntaxError::Missing { .. } => "Add the keyword.".into(),
        }
    }
}
