//! COPY and COPY REPLACING, done on tokens before they are parsed.
//!
//! | operand | replaces |
//! |---|---|
//! | `==a b== BY ==c==` | these words, one behind the other |
//! | `==:TAG:== BY ==X==`, `==(T)== BY ..` | also where it is a part of a word |
//! | `LEADING`, `TRAILING ==A== BY ==B==` | the front or the end of words |
//! | `A BY B`, literals likewise | that word |
//!
//! Invariants:
//! 1. Members that copy each other, and replacements that make texts grow, end in an error.

use std::rc::Rc;

use crate::error::{CopybookError, Place};
use crate::source::{Kind, Token, tokens};

/// How deep members may copy members.
const DEPTH_MAX: usize = 16;
/// The most tokens of a description.
const TOKENS_MAX: usize = 400_000;
/// The most bytes that are read of members, however often each is copied.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// The most words that one REPLACING may look for.
const WANTED_MAX: usize = 500;
/// The longest word that a replacement may make.
const WORD_BYTES_MAX: usize = 4_096;

/// Finds members: by name, in upper case.
pub type Members<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// The tokens of a member with everything that it copies in its place.
pub(crate) fn expanded(
    name: &str,
    text: &[u8],
    members: Members<'_>,
) -> Result<Vec<Token>, CopybookError> {
    let mut copier = Copier { members, out: Vec::new(), work: 0, bytes: 0 };
    copier.add(tokens(name, text), 0)?;
    Ok(copier.out)
}

struct Copier<'a> {
    members: Members<'a>,
    out: Vec<Token>,
    /// How many tokens were looked at.
    work: usize,
    /// How many bytes of members were read.
    bytes: usize,
}

/// One pair of REPLACING.
struct Replacement {
    from: Vec<Token>,
    to: Vec<Token>,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Inside,
    Leading,
    Trailing,
}

impl Copier<'_> {
    fn add(&mut self, tokens: Vec<Token>, depth: usize) -> Result<(), CopybookError> {
        self.work += tokens.len();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            if self.out.len() >= TOKENS_MAX || self.work > TOKENS_MAX {
                let what = format!("the description has more than {TOKENS_MAX} words");
                return Err(CopybookError::TooLarge { place: token.place(), what });
            }
            if token.is("REPLACE") {
                let what = "the statement REPLACE is not supported".into();
                return Err(CopybookError::Unsupported { place: token.place(), what });
            }
            if !token.is("COPY") {
                self.out.push(token);
                continue;
            }
            let mut statement = Vec::new();
            for one in tokens.by_ref() {
                if one.kind == Kind::Period {
                    break;
                }
                statement.push(one);
            }
            self.copy(&token, &statement, depth)?;
        }
        Ok(())
    }

    fn copy(&mut self, at: &Token, rest: &[Token], depth: usize) -> Result<(), CopybookError> {
        let place = at.place();
        let member =
            rest.first().filter(|one| matches!(one.kind, Kind::Word | Kind::Literal { .. }));
        let member = member.ok_or_else(|| syntax(&place, "COPY names no member"))?;
        let name = member.text.to_ascii_uppercase();
        if depth == DEPTH_MAX {
            let what = format!("members copy each other {DEPTH_MAX} deep, {name} among them");
            return Err(CopybookError::TooLarge { place, what });
        }
        let mut rest = &rest[1..];
        while let Some(word) = rest.first().filter(|word| !word.is("REPLACING")) {
            let len = if word.is("OF") || word.is("IN") { 2 } else { 1 };
            if len == 1 && !word.is("SUPPRESS") && !word.is("PRINTING") {
                return Err(syntax(&place, &format!("COPY {name} goes on with {}", word.text)));
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        let replacements = match rest.split_first() {
            Some((_, pairs)) => pairs_of(pairs, &place)?,
            None => Vec::new(),
        };
        let text = (self.members)(&name);
        let missing = || CopybookError::NoMember { place: place.clone(), member: name.clone() };
        let text = text.ok_or_else(missing)?;
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > TEXT_BYTES_MAX {
            let what = format!("it copies more than {TEXT_BYTES_MAX} bytes");
            return Err(CopybookError::TooLarge { place, what });
        }
        let replaced = replace(tokens(&name, &text), &replacements)?;
        self.add(replaced, depth + 1)
    }
}

fn syntax(place: &Place, what: &str) -> CopybookError {
    CopybookError::Syntax { place: place.clone(), what: what.into() }
}

fn pairs_of(mut rest: &[Token], place: &Place) -> Result<Vec<Replacement>, CopybookError> {
    let mut pairs = Vec::new();
    let mut wanted = 0;
    while !rest.is_empty() {
        let part = match &rest[0] {
            word if word.is("LEADING") => Part::Leading,
            word if word.is("TRAILING") => Part::Trailing,
            _ => Part::Whole,
        };
        if part != Part::Whole {
            rest = &rest[1..];
        }
        let from = operand(&mut rest, place)?;
        if !rest.first().is_some_and(|word| word.is("BY")) {
            return Err(syntax(place, "REPLACING needs BY behind what is replaced"));
        }
        rest = &rest[1..];
        let to = operand(&mut rest, place)?;
        if from.is_empty() {
            return Err(syntax(place, "REPLACING replaces nothing"));
        }
        wanted += from.len();
        if wanted > WANTED_MAX {
            let what = format!("REPLACING looks for more than {WANTED_MAX} words");
            return Err(CopybookError::TooLarge { place: place.clone(), what });
        }
        let is_tag = |text: &str| {
            text.len() > 2
                && (text.starts_with(':') && text.ends_with(':')
                    || text.starts_with('(') && text.ends_with(')'))
        };
        let inside = part == Part::Whole && from.len() == 1 && is_tag(&from[0].text);
        let part = if inside { Part::Inside } else { part };
        pairs.push(Replacement { from, to, part });
    }
    Ok(pairs)
}

/// Takes pseudo-text or one word off the front.
fn operand(rest: &mut &[Token], place: &Place) -> Result<Vec<Token>, CopybookError> {
    let (first, behind) =
        rest.split_first().ok_or_else(|| syntax(place, "REPLACING ends too early"))?;
    *rest = behind;
    if first.kind != Kind::Pseudo {
        return Ok(vec![first.clone()]);
    }
    let end = behind.iter().position(|one| one.kind == Kind::Pseudo);
    let end = end.ok_or_else(|| syntax(place, "pseudo-text has no end (==)"))?;
    *rest = &behind[end + 1..];
    Ok(behind[..end].to_vec())
}

fn same(one: &Token, other: &Token) -> bool {
    match (&one.kind, &other.kind) {
        (Kind::Literal { .. }, Kind::Literal { .. }) => one.text == other.text,
        (kind, others) => kind == others && one.text.eq_ignore_ascii_case(&other.text),
    }
}

fn replace(text: Vec<Token>, pairs: &[Replacement]) -> Result<Vec<Token>, CopybookError> {
    if pairs.is_empty() {
        return Ok(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    'next: while let Some(token) = text.get(at) {
        if out.len() > TOKENS_MAX {
            let what = format!("replacing makes more than {TOKENS_MAX} words");
            return Err(CopybookError::TooLarge { place: token.place(), what });
        }
        for pair in pairs.iter().filter(|pair| pair.part == Part::Whole) {
            let here = &text[at..];
            let matches = here.len() >= pair.from.len()
                && pair.from.iter().zip(here).all(|(from, one)| same(from, one));
            if matches {
                let moved = pair.to.iter().cloned();
                out.extend(moved.map(|to| Token {
                    line: token.line,
                    member: Rc::clone(&token.member),
                    ..to
                }));
                at += pair.from.len();
                continue 'next;
            }
        }
        at += 1;
        let changed = match token.kind {
            Kind::Word => within(token, pairs)?,
            _ => None,
        };
        match changed {
            None => out.push(token.clone()),
            Some(text) => {
                // What was put in may be several words.
                let words = text.split_whitespace().map(str::to_owned);
                out.extend(words.map(|text| Token { text, ..token.clone() }));
            }
        }
    }
    Ok(out)
}

/// A word with parts of it replaced, if any are.
fn within(token: &Token, pairs: &[Replacement]) -> Result<Option<String>, CopybookError> {
    let mut text = token.text.clone();
    let mut changed = false;
    for pair in pairs.iter().filter(|pair| pair.part != Part::Whole) {
        let [from] = &pair.from[..] else { continue };
        let (upper, wanted) = (text.to_ascii_uppercase(), from.text.to_ascii_uppercase());
        let to: Vec<&str> = pair.to.iter().map(|one| one.text.as_str()).collect();
        let to = to.join(" ");
        let replaced = match pair.part {
            Part::Leading => upper
                .starts_with(&wanted)
                .then(|| format!("{to}{}", text.get(wanted.len()..).unwrap_or_default())),
            Part::Trailing => upper.ends_with(&wanted).then(|| {
                format!("{}{to}", text.get(..text.len() - wanted.len()).unwrap_or_default())
            }),
            _ => upper.contains(&wanted).then(|| {
                let mut out = String::new();
                let mut from = 0;
                for (at, _) in upper.match_indices(&wanted) {
                    out += text.get(from..at).unwrap_or_default();
                    out += &to;
                    from = at + wanted.len();
                }
                out + text.get(from..).unwrap_or_default()
            }),
        };
        if let Some(replaced) = replaced {
            if replaced.len() > WORD_BYTES_MAX {
                let what = format!("replacing makes a word of {} bytes", replaced.len());
                return Err(CopybookError::TooLarge { place: token.place(), what });
            }
            text = replaced;
            changed = true;
        }
    }
    Ok(changed.then_some(text))
}
