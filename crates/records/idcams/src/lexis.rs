//! Lines of control statements as words: margins, continuations, comments, quoted values.
//!
//! | rule | what it says |
//! |---|---|
//! | margins | columns 2 to 72 are read, unless `PARM MARGINS(l r)` says otherwise |
//! | end | a statement ends with its line, or at `;` |
//! | `-` last | the statement goes on in the next line, behind a blank |
//! | `+` last | the statement goes on at the first character of the next line, without a blank |
//! | `/* */` | a comment, over as many lines as it takes; it stands for a blank |
//! | `'text'` | a value as it is written; an apostrophe in it is doubled |
//! | `X'C1C2'` | bytes |
//! | `/*` or `//` alone at column 1 | the end of the statements |
//!
//! Invariants:
//! 1. Any text is a list of statements; what cannot be read is a token that says why.
//! 2. A token knows the line and the column where it begins, both from 1.
//! 3. Time and memory are bounded by the length of the text.

use crate::fault::{Fault, Place};

/// What a word of a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme {
    /// A keyword, a name or a number, as it is written.
    Word(String),
    /// A value in apostrophes.
    Quoted(String),
    /// Bytes: `X'..'`.
    Hex(Vec<u8>),
    /// `(`
    Open,
    /// `)`
    Close,
    /// A comparison, in signs.
    Compare(Compare),
    /// What cannot be read.
    Wrong(Fault),
}

/// How IF compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `=`, EQ.
    Equal,
    /// `<>`, NE.
    NotEqual,
    /// `<`, LT.
    Less,
    /// `<=`, LE.
    LessOrEqual,
    /// `>`, GT.
    Greater,
    /// `>=`, GE.
    GreaterOrEqual,
}

impl Compare {
    /// The comparison of that name.
    pub(crate) fn named(word: &str) -> Option<Compare> {
        Some(match word.to_ascii_uppercase().as_str() {
            "=" | "EQ" => Compare::Equal,
            "<>" | "^=" | "~=" | "¬=" | "!=" | "NE" => Compare::NotEqual,
            "<" | "LT" => Compare::Less,
            "<=" | "LE" => Compare::LessOrEqual,
            ">" | "GT" => Compare::Greater,
            ">=" | "GE" => Compare::GreaterOrEqual,
            _ => return None,
        })
    }

    /// Whether it holds.
    #[must_use]
    pub fn holds(self, left: u32, right: u32) -> bool {
        match self {
            Compare::Equal => left == right,
            Compare::NotEqual => left != right,
            Compare::Less => left < right,
            Compare::LessOrEqual => left <= right,
            Compare::Greater => left > right,
            Compare::GreaterOrEqual => left >= right,
        }
    }
}

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) lexeme: Lexeme,
    /// Where it begins.
    pub(crate) place: Place,
}

impl Token {
    /// The word, if it is one, in upper case.
    pub(crate) fn word(&self) -> Option<String> {
        match &self.lexeme {
            Lexeme::Word(word) => Some(word.to_ascii_uppercase()),
            _ => None,
        }
    }
}

/// The words of one statement, never empty, and the lines that it stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its words.
    pub(crate) tokens: Vec<Token>,
    /// Its first line, from 1.
    pub(crate) first: u32,
    /// Its last line.
    pub(crate) last: u32,
}

/// Reads all of it.
#[must_use]
pub(crate) fn lines_of(text: &str) -> Vec<Line> {
    read(text, Lexer::default())
}

/// Reads all columns of statements that nobody has punched.
#[must_use]
pub(crate) fn lines_without_margins(text: &str) -> Vec<Line> {
    read(text, Lexer { margins: (1, usize::MAX), ..Lexer::default() })
}

fn read(text: &str, mut lexer: Lexer) -> Vec<Line> {
    let mut number = 0_u32;
    for line in text.lines() {
        number = number.saturating_add(1);
        if ends_all(line) && !lexer.is_within() {
            break;
        }
        lexer.line(line.trim_end_matches('\r'), number);
    }
    lexer.end(number);
    lexer.done
}

/// Whether a line ends the statements, as the end of a file among job control does.
fn ends_all(line: &str) -> bool {
    let line = line.trim_end();
    line == "/*" || line == "//" || line == "/&"
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    None,
    Hyphen,
    Plus,
}

#[derive(Debug)]
enum State {
    Between,
    Word(String, Place),
    /// A value in apostrophes, and whether it is `X'..'`.
    Quoted(String, bool, Place),
    Comment(Place),
}

#[derive(Debug)]
struct Lexer {
    margins: (usize, usize),
    state: State,
    /// Whether the last line ended with `+`, which leaves its word open.
    joins: bool,
    current: Line,
    done: Vec<Line>,
}

impl Default for Lexer {
    fn default() -> Lexer {
        Lexer {
            margins: (2, 72),
            state: State::Between,
            joins: false,
            current: Line::default(),
            done: Vec::new(),
        }
    }
}

impl Lexer {
    /// Whether a statement or a comment goes on.
    fn is_within(&self) -> bool {
        !self.current.tokens.is_empty() || !matches!(self.state, State::Between)
    }

    fn line(&mut self, line: &str, number: u32) {
        let (from, to) = match line.starts_with("/*") && !self.is_within() {
            // A comment that begins in column 1 is one, though that column is not read.
            true => (1, self.margins.1),
            false => self.margins,
        };
        let places = line.chars().enumerate().map(|(index, letter)| (index + 1, letter));
        let within = places.filter(|(column, _)| (from..=to).contains(column));
        let mut letters: Vec<(usize, char)> = within.collect();
        let blank = |letter: &(usize, char)| letter.1.is_whitespace();
        let mark = take_mark(&mut letters);
        let skipped = letters.iter().take_while(|letter| blank(letter)).count();
        let start = if std::mem::take(&mut self.joins) { skipped } else { 0 };
        let mut at = start;
        while let Some((column, letter)) = letters.get(at).copied() {
            let next = letters.get(at + 1).map(|(_, next)| *next);
            let column = u32::try_from(column).unwrap_or(u32::MAX);
            at += self.letter(letter, next, Place { line: number, column });
        }
        self.finish(mark, number);
    }

    /// Takes one letter, or two, and answers how many.
    fn letter(&mut self, letter: char, next: Option<char>, place: Place) -> usize {
        match &mut self.state {
            State::Comment(_) => {
                if letter == '*' && next == Some('/') {
                    self.state = State::Between;
                    return 2;
                }
                return 1;
            }
            State::Quoted(text, ..) => {
                return match (letter, next) {
                    ('\'', Some('\'')) => {
                        text.push('\'');
                        2
                    }
                    ('\'', _) => {
                        self.close();
                        1
                    }
                    _ => {
                        text.push(letter);
                        1
                    }
                };
            }
            _ => {}
        }
        self.outside(letter, next, place)
    }

    fn outside(&mut self, letter: char, next: Option<char>, place: Place) -> usize {
        match letter {
            '/' if next == Some('*') => {
                self.close();
                self.state = State::Comment(place);
                return 2;
            }
            '(' => self.sign(Lexeme::Open, place),
            ')' => self.sign(Lexeme::Close, place),
            ';' => {
                self.close();
                self.end_statement(place.line);
            }
            ',' => self.close(),
            '\'' => {
                let hex = matches!(&self.state,
                    State::Word(word, _) if word.eq_ignore_ascii_case("X"));
                let begin = match &self.state {
                    State::Word(_, begin) if hex => *begin,
                    _ => place,
                };
                match hex {
                    true => self.state = State::Between,
                    false => self.close(),
                }
                self.state = State::Quoted(String::new(), hex, begin);
            }
            '=' | '<' | '>' | '¬' | '^' | '~' | '!' => {
                let both: String = [Some(letter), next].into_iter().flatten().collect();
                if let Some(compare) = Compare::named(&both).filter(|_| both.chars().count() > 1) {
                    self.sign(Lexeme::Compare(compare), place);
                    return 2;
                }
                match Compare::named(&letter.to_string()) {
                    Some(compare) => self.sign(Lexeme::Compare(compare), place),
                    None => self.more(letter, place),
                }
            }
            letter if letter.is_whitespace() => self.close(),
            letter => self.more(letter, place),
        }
        1
    }

    fn more(&mut self, letter: char, place: Place) {
        match &mut self.state {
            State::Word(word, _) => word.push(letter),
            _ => self.state = State::Word(letter.to_string(), place),
        }
    }

    fn sign(&mut self, lexeme: Lexeme, place: Place) {
        self.close();
        self.push(lexeme, place);
    }

    fn push(&mut self, lexeme: Lexeme, place: Place) {
        if self.current.tokens.is_empty() {
            self.current.first = place.line;
        }
        self.current.last = self.current.last.max(place.line);
        self.current.tokens.push(Token { lexeme, place });
    }

    /// Ends a word or a value.
    fn close(&mut self) {
        match std::mem::replace(&mut self.state, State::Between) {
            State::Between | State::Comment(_) => {}
            State::Word(word, place) => self.push(Lexeme::Word(word), place),
            State::Quoted(text, false, place) => self.push(Lexeme::Quoted(text), place),
            State::Quoted(text, true, place) => {
                let lexeme = match bytes_of(&text) {
                    Some(bytes) => Lexeme::Hex(bytes),
                    None => Lexeme::Wrong(Fault::new("IDC3208I", place, not_hex(&text))),
                };
                self.push(lexeme, place);
            }
        }
    }

    /// Ends a line.
    fn finish(&mut self, mark: Mark, number: u32) {
        let mark = match self.lone_mark() {
            Some(lone) if mark == Mark::None => lone,
            _ => mark,
        };
        match (&mut self.state, mark) {
            (State::Comment(_), _) => {}
            (State::Word(..) | State::Quoted(..), Mark::Plus) => self.joins = true,
            (State::Quoted(..), Mark::Hyphen) => {}
            (_, Mark::Hyphen | Mark::Plus) => self.close(),
            (_, Mark::None) => {
                self.unclosed();
                self.close();
                self.end_statement(number);
            }
        }
        if self.is_within() {
            self.current.last = self.current.last.max(number);
        }
    }

    /// `-` or `+` that is last but for comments.
    fn lone_mark(&mut self) -> Option<Mark> {
        if !matches!(self.state, State::Between) {
            return None;
        }
        let mark = match &self.current.tokens.last()?.lexeme {
            Lexeme::Word(word) if word == "-" => Mark::Hyphen,
            Lexeme::Word(word) if word == "+" => Mark::Plus,
            _ => return None,
        };
        self.current.tokens.pop();
        Some(mark)
    }

    /// A value that its line leaves open says so.
    fn unclosed(&mut self) {
        if let State::Quoted(_, _, place) = self.state {
            self.state = State::Between;
            let text = "the apostrophe that ends a value is missing";
            self.push(Lexeme::Wrong(Fault::new("IDC3206I", place, text)), place);
        }
    }

    fn end_statement(&mut self, number: u32) {
        if self.current.tokens.is_empty() {
            return;
        }
        let mut line = std::mem::take(&mut self.current);
        line.last = line.last.max(number);
        if let Some(margins) = margins_of(&line.tokens) {
            self.margins = margins;
        }
        self.done.push(line);
    }

    fn end(&mut self, number: u32) {
        if let State::Comment(place) = self.state {
            self.state = State::Between;
            let text = "a comment is not closed: what follows it was not read";
            self.push(Lexeme::Wrong(Fault::new("IDC3206I", place, text)), place);
        }
        self.unclosed();
        self.close();
        self.end_statement(number);
    }
}

/// Takes the mark of continuation off a line, and the blanks before and behind it.
fn take_mark(letters: &mut Vec<(usize, char)>) -> Mark {
    let trim = |letters: &mut Vec<(usize, char)>| {
        while letters.last().is_some_and(|(_, letter)| letter.is_whitespace()) {
            letters.pop();
        }
    };
    trim(letters);
    let mark = match letters.last() {
        Some((_, '-')) => Mark::Hyphen,
        Some((_, '+')) => Mark::Plus,
        _ => return Mark::None,
    };
    letters.pop();
    mark
}

/// What `PARM MARGINS(l r)` says, if a statement is that.
fn margins_of(tokens: &[Token]) -> Option<(usize, usize)> {
    if tokens.first()?.word()? != "PARM" {
        return None;
    }
    let at = tokens
        .iter()
        .position(|token| token.word().is_some_and(|word| word == "MARGINS" || word == "MARG"))?;
    let number = |token: Option<&Token>| token?.word()?.parse::<usize>().ok();
    let left = number(tokens.get(at + 2))?;
    let right = number(tokens.get(at + 3))?;
    (1 <= left && left < right && right <= 100).then_some((left, right))
}

/// The bytes of hexadecimal digits; blanks between them count for nothing.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    base::hex::read(&digits).filter(|bytes| !bytes.is_empty())
}

fn not_hex(text: &str) -> String {
    format!("X'{text}' is not an even number of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let show = |token: &Token| match &token.lexeme {
            Lexeme::Word(word) => word.clone(),
            Lexeme::Quoted(text) => format!("'{text}'"),
            Lexeme::Hex(bytes) => format!("{bytes:02x?}"),
            Lexeme::Open => "(".into(),
            Lexeme::Close => ")".into(),
            Lexeme::Compare(compare) => format!("{compare:?}"),
            Lexeme::Wrong(fault) => format!("!{}", fault.id),
        };
        lines_of(text).iter().map(|line| line.tokens.iter().map(show).collect()).collect()
    }

    #[test]
    fn a_statement_goes_on_behind_a_hyphen_and_a_plus_joins_a_value() {
        let text = " REPRO -\n   INDATASET(BANK.+\n      ACCOUNT) /* c */ -\n COUNT(3)\n VERIFY\n";
        let repro =
            ["REPRO", "INDATASET", "(", "BANK.ACCOUNT", ")", "COUNT", "(", "3", ")"].to_vec();
        assert_eq!(words(text), vec![repro, vec!["VERIFY"]]);
    }

    #[test]
    fn column_one_and_columns_behind_the_margin_are_not_read() {
        let long = format!("*VERIFY{}12345678\n", " ".repeat(65));
        assert_eq!(words(&long), vec![vec!["VERIFY"]]);
        let wide = " PARM MARGINS(1 80)\nVERIFY\n";
        assert_eq!(words(wide)[1], vec!["VERIFY"]);
    }

    #[test]
    fn values_are_taken_as_they_are_written() {
        let text = " PRINT FROMKEY('it''s (1)') TOKEY(X'C1 c2') ; VERIFY A\n";
        let all = words(text);
        assert_eq!(all[0][3], "'it's (1)'");
        assert_eq!(all[0][7], "[c1, c2]");
        assert_eq!(all[1], vec!["VERIFY", "A"]);
    }

    #[test]
    fn what_is_left_open_is_said_with_its_place() {
        let lines = lines_of(" PRINT FROMKEY('abc\n VERIFY\n");
        assert_eq!(lines.len(), 2);
        let wrong = lines[0].tokens.last().expect("a token");
        assert_eq!(wrong.place, Place { line: 1, column: 16 });
        assert!(matches!(&wrong.lexeme, Lexeme::Wrong(fault) if fault.id == "IDC3206I"));
        assert_eq!(
            words(" VERIFY /* never closed\n DELETE X\n"),
            vec![vec!["VERIFY", "!IDC3206I"]]
        );
    }

    #[test]
    fn the_end_of_a_file_among_job_control_ends_the_statements() {
        assert_eq!(words(" VERIFY\n/*\n DELETE X\n"), vec![vec!["VERIFY"]]);
        assert_eq!(words("/* a comment in column 1 */\n VERIFY\n"), vec![vec!["VERIFY"]]);
    }

    #[test]
    fn comments_span_lines_and_comparisons_are_signs() {
        let text = " IF LASTCC>=8 /* of\n the last one */ THEN\n";
        assert_eq!(words(text), vec![vec!["IF", "LASTCC", "GreaterOrEqual", "8", "THEN"]]);
    }

    #[test]
    fn a_mark_before_a_comment_continues_too() {
        assert_eq!(words(" REPRO - /* copies */\n COUNT(1)\n").len(), 1);
    }
}
