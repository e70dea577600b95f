//! Data description entries: level, name, clauses; the words as they are written.
//!
//! Invariants:
//! 1. Every word of an entry is understood, or the entry is refused with its line.

use crate::error::{CopybookError, Place};
use crate::picture::Picture;
use crate::source::{Kind, Token};

/// The most entries of a description.
const ENTRIES_MAX: usize = 20_000;

/// How an item is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Display,
    Binary,
    /// COMP-5: binary in the machine's own order.
    Native,
    Packed,
    Single,
    Double,
    Pointer,
    Index,
    National,
    Dbcs,
}

/// Where a number's sign is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignClause {
    /// In front of the digits, or in the first of them.
    pub leading: bool,
    /// A character of its own.
    pub separate: bool,
}

/// How often an item is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurs {
    /// At least.
    pub min: usize,
    /// At most.
    pub max: usize,
    /// The item that says how often, if one does.
    pub depending: Option<String>,
}

/// A value, or the first and the last of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value, or the lowest one.
    pub from: Literal,
    /// The highest one of a range.
    pub through: Option<Literal>,
}

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// Characters.
    Text(String),
    /// Digits with sign and point, as they are written.
    Number(String),
    /// A figurative constant such as `SPACES`, or `ALL` and characters; in upper case.
    Figurative(String),
    /// Bytes, national or double-byte characters, as they are written.
    Other(String),
}

/// One entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) level: u8,
    /// `None` for FILLER.
    pub(crate) name: Option<String>,
    pub(crate) place: Place,
    pub(crate) redefines: Option<String>,
    pub(crate) picture: Option<Picture>,
    pub(crate) usage: Option<Usage>,
    pub(crate) sign: Option<SignClause>,
    pub(crate) occurs: Option<Occurs>,
    pub(crate) synchronized: bool,
    pub(crate) justified: bool,
    pub(crate) blank_when_zero: bool,
    pub(crate) values: Vec<Value>,
}

/// The entries of a description, those of level 66 left out.
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
}

pub(crate) fn entries(tokens: &[Token]) -> Result<Entries, CopybookError> {
    let mut all = Entries { entries: Vec::new(), notes: Vec::new() };
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        if first.kind == Kind::Period {
            rest = &rest[1..];
            continue;
        }
        if all.entries.len() == ENTRIES_MAX {
            let what = format!("the description has more than {ENTRIES_MAX} entries");
            return Err(CopybookError::TooLarge { place: first.place(), what });
        }
        let end = rest.iter().position(|token| token.kind == Kind::Period);
        let Some(end) = end else {
            return Err(wrong(first, "the entry has no period at its end"));
        };
        let level = match first.text.parse::<u8>() {
            Ok(level) if first.kind == Kind::Word && first.text.len() <= 2 => level,
            _ => {
                return Err(wrong(first, &format!("{} is no level number", first.text)));
            }
        };
        let words = Words { first, rest: &rest[1..end] };
        rest = &rest[end + 1..];
        match level {
            1..=49 | 77 | 88 => all.entries.push(words.entry(level)?),
            66 => all.notes.push(format!(
                "{}: level 66 only gives other names to items, and is left out",
                first.place()
            )),
            78 => {
                let what = "level 78 is no data; write the value in its place";
                return Err(unsupported(first, what));
            }
            _ => return Err(wrong(first, &format!("there is no level {level:02}"))),
        }
    }
    Ok(all)
}

fn wrong(at: &Token, what: &str) -> CopybookError {
    CopybookError::Syntax { place: at.place(), what: what.into() }
}

fn unsupported(at: &Token, what: &str) -> CopybookError {
    CopybookError::Unsupported { place: at.place(), what: what.into() }
}

/// The words of an entry behind its level number.
struct Words<'a> {
    first: &'a Token,
    rest: &'a [Token],
}

/// Words that a data name cannot be, because a clause begins with them.
const CLAUSES: &[&str] = &[
    "REDEFINES",
    "PIC",
    "PICTURE",
    "USAGE",
    "SIGN",
    "OCCURS",
    "SYNC",
    "SYNCHRONIZED",
    "JUST",
    "JUSTIFIED",
    "BLANK",
    "VALUE",
    "VALUES",
    "DISPLAY",
    "BINARY",
    "PACKED-DECIMAL",
    "INDEX",
    "POINTER",
    "NATIONAL",
    "IS",
    "EXTERNAL",
    "GLOBAL",
    "LEADING",
    "TRAILING",
    "GROUP-USAGE",
];

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.rest.first()
    }

    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn take(&mut self, words: &[&str]) -> bool {
        let found = self.peek().is_some_and(|token| words.iter().any(|word| token.is(word)));
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn name(&mut self, of: &str) -> Result<String, CopybookError> {
        let token = self.next().filter(|token| is_name(token));
        let token = token.ok_or_else(|| wrong(self.first, &format!("{of} needs a name")))?;
        Ok(token.text.to_ascii_uppercase())
    }

    fn number(&mut self, of: &str) -> Result<usize, CopybookError> {
        let number = self.next().and_then(|token| token.text.parse::<u32>().ok());
        let number = number.ok_or_else(|| wrong(self.first, &format!("{of} needs a number")))?;
        usize::try_from(number).map_err(|_| wrong(self.first, "a number is too large"))
    }

    fn entry(mut self, level: u8) -> Result<Entry, CopybookError> {
        let named = self.peek().filter(|token| {
            token.kind == Kind::Word && !CLAUSES.iter().any(|clause| token.is(clause)) && {
                usage_of(token).is_none()
            }
        });
        let name = match named {
            Some(token) if token.is("FILLER") => {
                self.next();
                None
            }
            Some(_) => Some(self.name("the entry")?),
            None => None,
        };
        let mut entry = Entry {
            level,
            name,
            place: self.first.place(),
            redefines: None,
            picture: None,
            usage: None,
            sign: None,
            occurs: None,
            synchronized: false,
            justified: false,
            blank_when_zero: false,
            values: Vec::new(),
        };
        while let Some(word) = self.next() {
            self.clause(word, &mut entry)?;
        }
        if level == 88 && (entry.name.is_none() || entry.values.is_empty()) {
            return Err(wrong(self.first, "level 88 needs a name and a value"));
        }
        Ok(entry)
    }

    fn clause(&mut self, word: &Token, entry: &mut Entry) -> Result<(), CopybookError> {
        if let Some(usage) = usage_of(word) {
            return self.usage(word, usage, entry);
        }
        match word.text.to_ascii_uppercase().as_str() {
            _ if word.kind != Kind::Word => {
                return Err(wrong(
                    word,
                    &format!("the literal '{}' belongs to nothing", word.text),
                ));
            }
            "REDEFINES" => entry.redefines = Some(self.name("REDEFINES")?),
            "PIC" | "PICTURE" => {
                self.take(&["IS"]);
                let text = self.next().filter(|token| token.kind == Kind::Word);
                let text = text.ok_or_else(|| wrong(word, "PICTURE needs a character string"))?;
                let picture = Picture::parse(&text.text).map_err(|why| wrong(text, &why))?;
                entry.picture = Some(picture);
            }
            "USAGE" => {
                self.take(&["IS"]);
                let token = self.next().ok_or_else(|| wrong(word, "USAGE needs a word"))?;
                let usage = usage_of(token);
                let what = format!("USAGE {} is not supported", token.text);
                let usage = usage.ok_or_else(|| unsupported(token, &what))?;
                self.usage(token, usage, entry)?;
            }
            "GROUP-USAGE" => {
                self.take(&["IS"]);
                self.take(&["NATIONAL"]);
                entry.usage = Some(Usage::National);
            }
            "SIGN" => {
                self.take(&["IS"]);
                let leading = self.take(&["LEADING"]);
                if !leading && !self.take(&["TRAILING"]) {
                    return Err(wrong(word, "SIGN needs LEADING or TRAILING"));
                }
                self.sign(leading, entry);
            }
            "LEADING" => self.sign(true, entry),
            "TRAILING" => self.sign(false, entry),
            "OCCURS" => entry.occurs = Some(self.occurs(word)?),
            "SYNC" | "SYNCHRONIZED" => {
                self.take(&["LEFT", "RIGHT"]);
                entry.synchronized = true;
            }
            "JUST" | "JUSTIFIED" => {
                self.take(&["RIGHT"]);
                entry.justified = true;
            }
            "BLANK" => {
                self.take(&["WHEN"]);
                if !self.take(&["ZERO", "ZEROS", "ZEROES"]) {
                    return Err(wrong(word, "BLANK needs WHEN ZERO"));
                }
                entry.blank_when_zero = true;
            }
            "VALUE" | "VALUES" => entry.values = self.values(word)?,
            "IS" | "EXTERNAL" | "GLOBAL" => {}
            other => {
                return Err(unsupported(word, &format!("the clause {other} is not supported")));
            }
        }
        Ok(())
    }

    fn usage(&self, at: &Token, usage: Usage, entry: &mut Entry) -> Result<(), CopybookError> {
        if entry.usage.is_some_and(|known| known != usage) {
            return Err(wrong(at, "the entry has two usages"));
        }
        entry.usage = Some(usage);
        Ok(())
    }

    fn sign(&mut self, leading: bool, entry: &mut Entry) {
        let separate = self.take(&["SEPARATE"]);
        if separate {
            self.take(&["CHARACTER"]);
        }
        entry.sign = Some(SignClause { leading, separate });
    }

    fn occurs(&mut self, at: &Token) -> Result<Occurs, CopybookError> {
        let first = self.number("OCCURS")?;
        let to = if self.take(&["TO"]) { Some(self.number("OCCURS .. TO")?) } else { None };
        self.take(&["TIMES"]);
        let mut depending = None;
        loop {
            if self.take(&["DEPENDING"]) {
                self.take(&["ON"]);
                depending = Some(self.name("DEPENDING ON")?);
                while self.take(&["OF", "IN"]) {
                    self.name("OF")?;
                }
            } else if self.take(&["ASCENDING", "DESCENDING"]) {
                self.take(&["KEY"]);
                self.take(&["IS"]);
                self.names();
            } else if self.take(&["INDEXED"]) {
                self.take(&["BY"]);
                self.names();
            } else {
                break;
            }
        }
        let (min, max) = match (to, &depending) {
            (Some(to), _) => (first, to),
            (None, Some(_)) => (1, first),
            (None, None) => (first, first),
        };
        if max == 0 || min > max || to.is_some() && depending.is_none() {
            return Err(wrong(at, "OCCURS needs a number, or MIN TO MAX with DEPENDING ON"));
        }
        Ok(Occurs { min, max, depending })
    }

    /// Names up to the next clause.
    fn names(&mut self) {
        let more = ["DEPENDING", "ASCENDING", "DESCENDING", "INDEXED"];
        while let Some(token) = self.peek() {
            let clause = CLAUSES.iter().chain(&more).any(|clause| token.is(clause));
            if clause || usage_of(token).is_some() || !is_name(token) {
                return;
            }
            self.rest = &self.rest[1..];
        }
    }

    fn values(&mut self, at: &Token) -> Result<Vec<Value>, CopybookError> {
        self.take(&["IS", "ARE"]);
        let mut all = Vec::new();
        while let Some(from) = self.literal() {
            let through = if self.take(&["THRU", "THROUGH"]) {
                let through = self.literal();
                Some(through.ok_or_else(|| wrong(at, "THRU needs a literal behind it"))?)
            } else {
                None
            };
            all.push(Value { from, through });
        }
        if all.is_empty() {
            return Err(wrong(at, "VALUE needs a literal"));
        }
        Ok(all)
    }

    fn literal(&mut self) -> Option<Literal> {
        const FIGURATIVES: [&str; 13] = [
            "ZERO",
            "ZEROS",
            "ZEROES",
            "SPACE",
            "SPACES",
            "LOW-VALUE",
            "LOW-VALUES",
            "HIGH-VALUE",
            "HIGH-VALUES",
            "QUOTE",
            "QUOTES",
            "NULL",
            "NULLS",
        ];
        let token = self.peek()?;
        let literal = match &token.kind {
            Kind::Literal { prefix } if prefix.is_empty() => Literal::Text(token.text.clone()),
            Kind::Literal { prefix } => Literal::Other(format!("{prefix}'{}'", token.text)),
            Kind::Word if token.is("ALL") => {
                self.rest = &self.rest[1..];
                let behind = self.literal()?;
                return Some(match behind {
                    Literal::Text(text) => Literal::Figurative(format!("ALL {text}")),
                    other => other,
                });
            }
            Kind::Word if FIGURATIVES.iter().any(|word| token.is(word)) => {
                Literal::Figurative(token.text.to_ascii_uppercase())
            }
            Kind::Word if is_number(&token.text) => Literal::Number(token.text.clone()),
            _ => return None,
        };
        self.rest = &self.rest[1..];
        Some(literal)
    }
}

pub(crate) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let points = digits.matches(['.', ',']).count();
    digits.bytes().any(|byte| byte.is_ascii_digit())
        && points <= 1
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

fn is_name(token: &Token) -> bool {
    token.kind == Kind::Word
        && token.text.len() <= 60
        && token
            .text
            .chars()
            .all(|one| one.is_alphanumeric() || matches!(one, '-' | '_' | '#' | '@' | '$'))
        && token.text.chars().any(char::is_alphabetic)
}

fn usage_of(token: &Token) -> Option<Usage> {
    if token.kind != Kind::Word {
        return None;
    }
    let text = token.text.to_ascii_uppercase().replace("COMPUTATIONAL", "COMP");
    Some(match text.as_str() {
        "DISPLAY" => Usage::Display,
        "COMP" | "COMP-4" | "BINARY" => Usage::Binary,
        "COMP-5" => Usage::Native,
        "COMP-3" | "PACKED-DECIMAL" => Usage::Packed,
        "COMP-1" => Usage::Single,
        "COMP-2" => Usage::Double,
        "POINTER" | "PROCEDURE-POINTER" | "FUNCTION-POINTER" => Usage::Pointer,
        "INDEX" => Usage::Index,
        "NATIONAL" => Usage::National,
        "DISPLAY-1" => Usage::Dbcs,
        _ => return None,
    })
}
