//! The words of a selector.

use super::BadSelector;

/// A word, and where it begins, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A word of the language, in capitals.
    Keyword(&'static str),
    Name(String),
    Text(String),
    Integer(i64),
    Real(f64),
    Sign(&'static str),
    End,
}

const KEYWORDS: [&str; 11] =
    ["AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE"];

const SIGNS: [&str; 13] = ["<>", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "(", ")", ","];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, BadSelector> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len() + 1;
        let Some(first) = rest.chars().next() else {
            found.push(Token { at, kind: TokenKind::End });
            return Ok(found);
        };
        let (kind, used) = if first == '\'' {
            string(rest).ok_or(BadSelector { at, why: "the text has no end" })?
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            number(rest).ok_or(BadSelector { at, why: "this is no number" })?
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (TokenKind::Sign(sign), sign.len())
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            word(rest)
        } else {
            return Err(BadSelector { at, why: "no selector has this character" });
        };
        found.push(Token { at, kind });
        rest = &rest[used..];
    }
}

/// A text; two quotes within stand for one.
fn string(rest: &str) -> Option<(TokenKind, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == '\'').is_some() {
            text.push('\'');
        } else {
            return Some((TokenKind::Text(text), at + 1));
        }
    }
    None
}

fn number(rest: &str) -> Option<(TokenKind, usize)> {
    if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        let digits = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let value = i64::from_str_radix(&hex[..digits], 16).ok()?;
        return Some((TokenKind::Integer(value), 2 + digits));
    }
    let bytes = rest.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let mut real = false;
    if bytes.get(end) == Some(&b'.') {
        real = true;
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + signed);
        if exponent > end + 1 + signed {
            real = true;
            end = exponent;
        }
    }
    let text = &rest[..end];
    // A letter may follow that says what type the number has.
    let suffix = bytes.get(end).filter(|byte| b"lLfFdD".contains(byte));
    let used = end + usize::from(suffix.is_some());
    let real = real || suffix.is_some_and(|byte| b"fFdD".contains(byte));
    if rest[used..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let kind = if real {
        TokenKind::Real(text.parse().ok()?)
    } else {
        TokenKind::Integer(text.parse().ok()?)
    };
    Some((kind, used))
}

fn word(rest: &str) -> (TokenKind, usize) {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let end = rest.find(|c: char| !inner(c)).unwrap_or(rest.len());
    let word = &rest[..end];
    let keyword = KEYWORDS.into_iter().find(|keyword| word.eq_ignore_ascii_case(keyword));
    (keyword.map_or_else(|| TokenKind::Name(word.to_owned()), TokenKind::Keyword), end)
}
