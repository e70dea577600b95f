//! SYSPRINT: lines of text without carriage control, and messages by their ids.
//!
//! Invariants:
//! 1. No line has more than [`COLUMNS`] columns; what is longer goes on in the next, indented.
//! 2. The first failure of the writer is kept, and nothing is written behind it.
//! 3. Of one command at most [`MESSAGES_MAX`] messages are kept; all are printed.

use std::io::{self, Write};

/// Columns of a line.
pub(crate) const COLUMNS: usize = 120;
/// How many messages of a command are kept.
pub(crate) const MESSAGES_MAX: usize = 100;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Such as `IDC0001I`.
    pub id: &'static str,
    /// What it says.
    pub text: String,
}

/// Where text goes.
pub(crate) struct Sysprint<'w> {
    out: &'w mut dyn Write,
    failed: Option<io::Error>,
    messages: Vec<Message>,
}

impl<'w> Sysprint<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Sysprint<'w> {
        Sysprint { out, failed: None, messages: Vec::new() }
    }

    /// A line, or as many as it takes.
    pub(crate) fn line(&mut self, text: &str) {
        if self.failed.is_some() {
            return;
        }
        let mut rest = text.trim_end();
        let mut indent = "";
        loop {
            let room = COLUMNS - indent.len();
            let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            let (now, later) = rest.split_at(end);
            // Between words, if there is a blank not far from the end.
            let cut = match later.is_empty() {
                true => end,
                false => now.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end),
            };
            let (now, later) = rest.split_at(cut);
            if let Err(error) = writeln!(self.out, "{indent}{}", now.trim_end()) {
                self.failed = Some(error);
                return;
            }
            rest = later.trim_start();
            if rest.is_empty() {
                return;
            }
            indent = "          ";
        }
    }

    /// A message.
    pub(crate) fn message(&mut self, id: &'static str, text: impl Into<String>) {
        let text = text.into();
        self.line(&format!("{id} {text}"));
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(Message { id, text });
        }
    }

    /// The messages since this was last asked for.
    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    /// Whether everything could be written so far.
    pub(crate) fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Whether something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes what is left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_between_words_and_nothing_is_lost() {
        let mut out = Vec::new();
        let words: Vec<String> = (0..80).map(|number| format!("word{number}")).collect();
        Sysprint::new(&mut out).message("IDC0001I", words.join(" "));
        let text = String::from_utf8(out).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS));
        assert!(text.lines().count() > 3);
        let again: Vec<&str> = text.split_whitespace().skip(1).collect();
        assert_eq!(again, words);
        let mut out = Vec::new();
        Sysprint::new(&mut out).line(&"ä".repeat(300));
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.matches('ä').count(), 300);
    }
}
