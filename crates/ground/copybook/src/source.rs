//! Lines of COBOL become tokens: columns, comments, continuations, literals.
//!
//! | columns of the fixed form | hold |
//! |---|---|
//! | 1-6 | a sequence number or a mark; ignored |
//! | 7 | `*` or `/` comment, `D` debugging line, `-` continuation, `$` directive |
//! | 8-72 | the text |
//!
//! A text whose lines begin before column 7 is of the free form.
//!
//! Invariants:
//! 1. No bytes are refused here: what is not UTF-8 is read as ISO 8859-1, what is open at the end
//!    of the text ends there.
//! 2. Time and memory grow with the text's length.

use std::rc::Rc;

use crate::error::Place;

/// The last column of text in the fixed form.
const TEXT_END: usize = 72;
const TEXT_BEGIN: usize = 7;
const TAB: usize = 8;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word, a number, a picture.
    Word,
    /// A literal; its text stands without quotes, its prefix such as `X` apart.
    Literal {
        /// In upper case; empty for plain text.
        prefix: String,
    },
    /// The period that ends an entry.
    Period,
    /// `==`, the delimiter of pseudo-text.
    Pseudo,
}

/// A token of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: u32,
    pub(crate) member: Rc<str>,
}

impl Token {
    pub(crate) fn place(&self) -> Place {
        Place { member: self.member.to_string(), line: self.line }
    }

    /// Whether it is that word, in whatever case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }
}

/// The tokens of a member.
pub(crate) fn tokens(member: &str, text: &[u8]) -> Vec<Token> {
    let text = readable(text);
    let lines: Vec<&str> = text.lines().collect();
    let free = is_free(&lines);
    let mut joined = Joined::default();
    for (number, line) in lines.iter().enumerate() {
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        if free {
            joined.free(number, line);
        } else {
            joined.fixed(number, line);
        }
    }
    scan(&Rc::from(member), &joined.chars)
}

fn readable(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().copied().map(char::from).collect(),
    }
}

/// Whether a text is of the free form: something stands where only marks may stand.
fn is_free(lines: &[&str]) -> bool {
    lines.iter().any(|line| {
        let upper = line.trim_start().to_ascii_uppercase();
        if upper.starts_with(">>SOURCE") {
            return upper.contains("FREE");
        }
        let line = expand(line);
        let front: String = line.iter().take(TEXT_BEGIN - 1).collect();
        if front.trim_start().starts_with("*>") {
            return true;
        }
        let front = front.trim_start();
        let digits = front.chars().take_while(char::is_ascii_digit).count();
        let mut behind = front.chars().skip(digits);
        let gap = behind.next() == Some(' ');
        let level = (1..=2).contains(&digits) && gap;
        let word = behind.find(|one| *one != ' ').is_some_and(|one| one.is_ascii_alphabetic());
        let indicator = line.get(TEXT_BEGIN - 1).copied().unwrap_or(' ');
        level && word || !matches!(indicator, ' ' | '*' | '/' | '-' | 'D' | 'd' | '$')
    })
}

/// A line's characters with tabs as the compiler takes them.
fn expand(line: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(line.len());
    for one in line.chars() {
        if one == '\t' {
            out.resize((out.len() / TAB + 1) * TAB, ' ');
        } else {
            out.push(one);
        }
    }
    out
}

/// The text of all lines, each character with its line.
#[derive(Default)]
struct Joined {
    chars: Vec<(char, u32)>,
    /// The quote of a literal that is open at the end of the last line.
    open: Option<char>,
}

impl Joined {
    fn free(&mut self, number: u32, line: &str) {
        if line.trim_start().starts_with(">>") || line.trim_start().starts_with('$') {
            return;
        }
        let chars: Vec<char> = line.chars().collect();
        self.open = None;
        self.line(number, &chars);
    }

    fn fixed(&mut self, number: u32, line: &str) {
        let mut chars = expand(line);
        chars.truncate(TEXT_END);
        let indicator = chars.get(TEXT_BEGIN - 1).copied().unwrap_or(' ');
        let text = chars.get(TEXT_BEGIN..).unwrap_or_default().to_vec();
        if text.iter().collect::<String>().trim_start().starts_with(">>") {
            return;
        }
        match indicator {
            '*' | '/' | 'D' | 'd' | '$' => {}
            '-' => self.continued(number, &text),
            _ => {
                self.open = None;
                self.line(number, &text);
            }
        }
    }

    /// A line of its own, with what ends the last one in front of it.
    fn line(&mut self, number: u32, text: &[char]) {
        self.chars.push(('\n', number));
        self.add(number, text);
    }

    fn continued(&mut self, number: u32, text: &[char]) {
        let begin = text.iter().position(|one| *one != ' ').unwrap_or(text.len());
        let mut text = &text[begin..];
        match self.open {
            Some(quote) => {
                if text.first() == Some(&quote) {
                    text = &text[1..];
                }
            }
            None => {
                while self.chars.last().is_some_and(|(one, _)| *one == ' ') {
                    self.chars.pop();
                }
            }
        }
        self.add(number, text);
    }

    fn add(&mut self, number: u32, text: &[char]) {
        for (at, one) in text.iter().enumerate() {
            match self.open {
                Some(quote) if *one == quote => self.open = None,
                None if matches!(one, '"' | '\'') => self.open = Some(*one),
                None if *one == '*' && text.get(at + 1) == Some(&'>') => return,
                _ => {}
            }
            self.chars.push((*one, number));
        }
        if self.open.is_some() {
            // A literal goes on from the end of the text area.
            let missing = (TEXT_END - TEXT_BEGIN).saturating_sub(text.len());
            self.chars.extend(std::iter::repeat_n((' ', number), missing));
        }
    }
}

fn is_gap(one: char) -> bool {
    one.is_whitespace() || one.is_control()
}

fn scan(member: &Rc<str>, chars: &[(char, u32)]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut push = |kind, text: String, line| {
        out.push(Token { kind, text, line, member: Rc::clone(member) });
    };
    while let Some(&(one, line)) = chars.get(at) {
        if is_gap(one) || matches!(one, ',' | ';') {
            at += 1;
        } else if one == '.' && chars.get(at + 1).is_none_or(|(next, _)| is_gap(*next)) {
            push(Kind::Period, ".".into(), line);
            at += 1;
        } else if one == '=' && chars.get(at + 1).is_some_and(|(next, _)| *next == '=') {
            push(Kind::Pseudo, "==".into(), line);
            at += 2;
        } else if matches!(one, '"' | '\'') {
            let text;
            (text, at) = literal(chars, at);
            push(Kind::Literal { prefix: String::new() }, text, line);
        } else {
            let begin = at;
            at = word_end(chars, at);
            let text: String = chars[begin..at].iter().map(|(one, _)| *one).collect();
            let is_prefix = ["X", "N", "G", "Z", "NX", "B", "U"]
                .iter()
                .any(|prefix| text.eq_ignore_ascii_case(prefix));
            if is_prefix && chars.get(at).is_some_and(|(next, _)| matches!(next, '"' | '\'')) {
                let value;
                (value, at) = literal(chars, at);
                push(Kind::Literal { prefix: text.to_ascii_uppercase() }, value, line);
            } else {
                push(Kind::Word, text, line);
            }
        }
    }
    out
}

/// Where a word ends: before a gap, a quote, `==`, or a separator with a gap behind it.
fn word_end(chars: &[(char, u32)], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(&(one, _)) = chars.get(at) {
        let gap_behind = chars.get(at + 1).is_none_or(|(next, _)| is_gap(*next));
        let pseudo = one == '=' && chars.get(at + 1).is_some_and(|(next, _)| *next == '=');
        if is_gap(one) || matches!(one, '"' | '\'') || pseudo {
            break;
        }
        if matches!(one, '.' | ',' | ';') && gap_behind {
            break;
        }
        at += 1;
    }
    at
}

/// The text of a literal that begins at `at`, and where it ends.
fn literal(chars: &[(char, u32)], at: usize) -> (String, usize) {
    let quote = chars[at].0;
    let mut text = String::new();
    let mut at = at + 1;
    while let Some(&(one, _)) = chars.get(at) {
        at += 1;
        if one != quote {
            if one != '\n' {
                text.push(one);
            }
        } else if chars.get(at).is_some_and(|(next, _)| *next == quote) {
            text.push(quote);
            at += 1;
        } else {
            break;
        }
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens("T", source.as_bytes()).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn columns_comments_and_continuations_count_in_the_fixed_form() {
        let source = "000100 01  REC-A.                 *> a record                            X\n\
                      000200* a comment\n\
                      000300     05  LONG-NA\n\
                      000400-        ME PIC X(03) VALUE 'A''B'.\n";
        let all = ["01", "REC-A", ".", "05", "LONG-NAME", "PIC", "X(03)", "VALUE", "A'B", "."];
        assert_eq!(texts(source), all);
    }

    #[test]
    fn a_literal_goes_on_from_column_72() {
        let source = format!("       01  A PIC X(60) VALUE 'AB{}\n      -    'CD'.\n", "");
        let all = texts(&source);
        assert_eq!(all[5], format!("AB{}CD", " ".repeat(72 - 32)));
    }

    #[test]
    fn the_free_form_is_known_by_its_margin() {
        assert_eq!(
            texts("01 A.\n  05 B PIC 9,9.\n"),
            ["01", "A", ".", "05", "B", "PIC", "9,9", "."]
        );
        assert_eq!(texts("ABC123 05  B PIC X."), ["05", "B", "PIC", "X", "."]);
        assert_eq!(texts("05 B VALUE X'0A'."), ["05", "B", "VALUE", "0A", "."]);
    }
}
