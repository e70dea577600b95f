//! The form of a command: words, and values in parentheses.
//!
//! ```text
//! command   = word { word } ;
//! word      = name [ "(" { value [ "," ] } ")" ] ;
//! value     = quoted | plain ;
//! quoted    = "'" { any | "''" } "'" ;
//! plain     = letters other than blanks, commas and quotes, with parentheses in pairs ;
//! ```
//!
//! 1. Names and plain values are folded to upper case; quoted values stay as they are.
//! 2. Each word and value knows where it ends in the command, so that an error can show the part
//!    of the command that leads to it.
//! 3. Parentheses nest at most [`NESTING_MAX`] deep.

use crate::error::SyntaxError;

/// How deep parentheses nest within a value, as in `CONNAME(host(1414))`.
pub const NESTING_MAX: usize = 8;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its text, folded unless it was quoted.
    pub text: String,
    /// Whether it stood in quotes.
    pub quoted: bool,
    /// Where it ends in the command.
    pub end: usize,
}

/// A word, perhaps with values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its name in upper case.
    pub name: String,
    /// What stood in parentheses, if there were any.
    pub values: Option<Vec<Value>>,
    /// Where its name ends in the command.
    pub name_end: usize,
    /// Where all of it ends in the command.
    pub end: usize,
}

/// The words of a command.
///
/// # Errors
/// If quotes or parentheses do not match, or something stands where no word can begin.
pub fn words(command: &str) -> Result<Vec<Word>, SyntaxError> {
    let mut scanner = Scanner { text: command, at: 0 };
    let mut words = Vec::new();
    loop {
        scanner.skip(|letter| letter.is_whitespace() || letter == ',');
        match scanner.peek() {
            None => return Ok(words),
            Some(letter) if is_name(letter) => words.push(scanner.word()?),
            Some(letter) => {
                scanner.step();
                return Err(SyntaxError::Stray { letter, end: scanner.at });
            }
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '/' | '%' | '*' | '-' | '+')
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn step(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn skip(&mut self, passes: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&passes) {
            self.step();
        }
    }

    fn word(&mut self) -> Result<Word, SyntaxError> {
        let from = self.at;
        self.skip(is_name);
        let name = self.text[from..self.at].to_ascii_uppercase();
        let name_end = self.at;
        self.skip(char::is_whitespace);
        let values = match self.peek() {
            Some('(') => {
                self.step();
                Some(self.values()?)
            }
            _ => {
                self.at = name_end;
                None
            }
        };
        Ok(Word { name, values, name_end, end: self.at })
    }

    /// What stands in parentheses; the opening one has been read.
    fn values(&mut self) -> Result<Vec<Value>, SyntaxError> {
        let mut values = Vec::new();
        loop {
            self.skip(|letter| letter.is_whitespace() || letter == ',');
            match self.peek() {
                None => return Err(SyntaxError::Unclosed { end: self.at }),
                Some(')') => {
                    self.step();
                    return Ok(values);
                }
                Some('\'') => values.push(self.quoted()?),
                Some(_) => values.push(self.plain()?),
            }
        }
    }

    fn quoted(&mut self) -> Result<Value, SyntaxError> {
        let from = self.at;
        self.step();
        let mut text = String::new();
        loop {
            let Some(letter) = self.peek() else {
                return Err(SyntaxError::Unquoted { end: from + 1 });
            };
            self.step();
            if letter != '\'' {
                text.push(letter);
            } else if self.peek() == Some('\'') {
                self.step();
                text.push('\'');
            } else {
                return Ok(Value { text, quoted: true, end: self.at });
            }
        }
    }

    fn plain(&mut self) -> Result<Value, SyntaxError> {
        let from = self.at;
        let mut depth = 0_usize;
        while let Some(letter) = self.peek() {
            match letter {
                '(' if depth == NESTING_MAX => {
                    return Err(SyntaxError::Stray { letter, end: self.at + 1 });
                }
                '(' => depth += 1,
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                ',' if depth == 0 => break,
                '\'' => {
                    return Err(SyntaxError::Stray { letter, end: self.at + 1 });
                }
                _ if letter.is_whitespace() => break,
                _ => {}
            }
            self.step();
        }
        if depth > 0 {
            return Err(SyntaxError::Unclosed { end: self.at });
        }
        let text = self.text[from..self.at].to_ascii_uppercase();
        Ok(Value { text, quoted: false, end: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: &str) -> String {
        let all = words(command).expect("the command is well formed");
        let one = |word: &Word| match &word.values {
            None => word.name.clone(),
            Some(values) => {
                let texts: Vec<&str> = values.iter().map(|value| &*value.text).collect();
                format!("{}[{}]", word.name, texts.join("|"))
            }
        };
        all.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_are_folded_and_quotes_keep_case() {
        assert_eq!(shown("def ql( my.q ) descr('It''s Ok')"), "DEF QL[MY.Q] DESCR[It's Ok]");
        assert_eq!(shown("DEFINE QLOCAL ('lower')"), "DEFINE QLOCAL[lower]");
    }

    #[test]
    fn values_are_lists_and_may_nest() {
        assert_eq!(shown("DEF NL(A) NAMES(X,Y , 'z')"), "DEF NL[A] NAMES[X|Y|z]");
        assert_eq!(shown("ALTER CHL(C) CONNAME(Host(1414))"), "ALTER CHL[C] CONNAME[HOST(1414)]");
        assert_eq!(shown("DIS QL(*) WHERE(CURDEPTH GT 0)"), "DIS QL[*] WHERE[CURDEPTH|GT|0]");
        assert_eq!(shown("ALTER QMGR DESCR()"), "ALTER QMGR DESCR[]");
    }

    #[test]
    fn what_does_not_match_is_named() {
        let end = "DEF QL(A".len();
        assert_eq!(words("DEF QL(A"), Err(SyntaxError::Unclosed { end }));
        assert_eq!(words("DEF QL('A)"), Err(SyntaxError::Unquoted { end: 8 }));
        assert_eq!(words("DEF )"), Err(SyntaxError::Stray { letter: ')', end: 5 }));
        assert_eq!(words("DEF QL(A'B')"), Err(SyntaxError::Stray { letter: '\'', end: 9 }));
    }
}
