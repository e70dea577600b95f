//! Lines of MQSC into commands.
//!
//! 1. A line whose first character is `*` is a comment, and a line of blanks is nothing; both may
//!    stand between the lines of a command.
//! 2. A line whose last character is `+` goes on with the first character of the next line that is
//!    no blank; one whose last is `-` goes on with the first column of the next.
//! 3. A semicolon outside of quotes ends a command, even one that would go on. What stands behind
//!    it begins the next.
//! 4. A command has at most [`COMMAND_BYTES_MAX`] bytes; the rest of a longer one is passed over
//!    and the command is refused as a whole, so nothing of it is done.

use crate::error::SyntaxError;

/// How long a command may be.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// What came of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Whether the line began a command, so that it has a number.
    pub begins: bool,
    /// The commands that end in this line, as single lines.
    pub commands: Vec<Result<String, SyntaxError>>,
}

/// Joins lines to commands.
#[derive(Debug, Default)]
pub struct Gatherer {
    text: String,
    open: bool,
    overlong: bool,
    quoted: bool,
    /// Whether the next line goes on with its first column, not with its first letter.
    from_column_one: bool,
}

impl Gatherer {
    /// Takes a line without its end.
    pub fn line(&mut self, line: &str) -> Gathered {
        let line = line.trim_end_matches(['\r', '\n']);
        let mut gathered = Gathered::default();
        if line.starts_with('*') || line.trim().is_empty() {
            return gathered;
        }
        gathered.begins = !self.open;
        let body = line.trim_end();
        let (body, goes_on) = match body.as_bytes().last() {
            Some(b'+') => (&body[..body.len() - 1], Some(false)),
            Some(b'-') => (&body[..body.len() - 1], Some(true)),
            _ => (body, None),
        };
        let mut rest = match self.open && self.from_column_one {
            true => body,
            false => body.trim_start(),
        };
        while let Some(end) = self.end_of_command(rest) {
            self.push(&rest[..end]);
            gathered.commands.extend(self.take());
            rest = rest[end + 1..].trim_start();
        }
        if goes_on.is_some() || !rest.trim().is_empty() {
            self.push(rest);
            self.open = true;
        }
        match goes_on {
            Some(from_column_one) => self.from_column_one = from_column_one,
            None => gathered.commands.extend(self.take()),
        }
        gathered
    }

    /// What is left where the input ends in the middle of a command.
    pub fn finish(&mut self) -> Option<Result<String, SyntaxError>> {
        self.take()
    }

    /// Where the semicolon is that ends the command; remembers whether a quote is open.
    fn end_of_command(&mut self, text: &str) -> Option<usize> {
        let mut quoted = self.quoted;
        for (at, letter) in text.char_indices() {
            match letter {
                '\'' => quoted = !quoted,
                ';' if !quoted => {
                    self.quoted = false;
                    return Some(at);
                }
                _ => {}
            }
        }
        self.quoted = quoted;
        None
    }

    fn push(&mut self, text: &str) {
        self.open = true;
        match self.text.len() + text.len() > COMMAND_BYTES_MAX {
            true => self.overlong = true,
            false => self.text.push_str(text),
        }
    }

    fn take(&mut self) -> Option<Result<String, SyntaxError>> {
        let text = std::mem::take(&mut self.text);
        let overlong = std::mem::take(&mut self.overlong);
        self.open = false;
        self.quoted = false;
        match overlong {
            true => Some(Err(SyntaxError::Overlong { most: COMMAND_BYTES_MAX })),
            false => (!text.trim().is_empty()).then_some(Ok(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let mut gatherer = Gatherer::default();
        let mut all: Vec<_> = text.lines().flat_map(|line| gatherer.line(line).commands).collect();
        all.extend(gatherer.finish());
        all.into_iter().map(|one| one.expect("no command is too long")).collect()
    }

    #[test]
    fn a_plus_joins_at_the_first_letter_and_a_minus_at_the_first_column() {
        assert_eq!(commands("DEF QL(A) +\n   DESCR('x')"), ["DEF QL(A) DESCR('x')"]);
        assert_eq!(commands("DEF QL(A) DESCR('x-\n  y')"), ["DEF QL(A) DESCR('x  y')"]);
        assert_eq!(commands("DEF QL(AB+\n  CD)"), ["DEF QL(ABCD)"]);
    }

    #[test]
    fn comments_and_empty_lines_may_stand_within_a_command() {
        assert_eq!(commands("* one\nDEF QL(A) +\n* two\n\n REPLACE\n"), ["DEF QL(A) REPLACE"]);
    }

    #[test]
    fn a_star_is_a_comment_in_the_first_column_alone() {
        assert_eq!(commands(" * no"), ["* no"]);
    }

    #[test]
    fn a_semicolon_ends_a_command_even_one_that_goes_on() {
        assert_eq!(commands("DIS QMGR; DIS QL(*)"), ["DIS QMGR", "DIS QL(*)"]);
        assert_eq!(commands("DIS QMGR +\n;\nPING QMGR"), ["DIS QMGR ", "PING QMGR"]);
        assert_eq!(commands("DEF QL(A) DESCR('a;b')"), ["DEF QL(A) DESCR('a;b')"]);
        assert_eq!(commands("DEF QL(A) DESCR('a +\n;b')"), ["DEF QL(A) DESCR('a ;b')"]);
    }

    #[test]
    fn a_command_at_the_end_of_the_input_is_done() {
        assert_eq!(commands("DIS QMGR +"), ["DIS QMGR "]);
    }

    #[test]
    fn a_command_that_is_too_long_is_refused_and_the_next_is_read() {
        let mut gatherer = Gatherer::default();
        let long = format!("DEF QL({})+", "A".repeat(COMMAND_BYTES_MAX));
        assert!(gatherer.line(&long).commands.is_empty());
        let gathered = gatherer.line("REPLACE");
        assert_eq!(gathered.commands, [Err(SyntaxError::Overlong { most: COMMAND_BYTES_MAX })]);
        assert_eq!(gatherer.line("PING QMGR").commands, [Ok("PING QMGR".to_owned())]);
    }
}
