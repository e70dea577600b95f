//! What a word is: a source's code as words, literals, marks and periods.
//!
//! Only what is needed to find commands and to hand on their arguments is told apart; a PICTURE
//! comes out as some words or other, which are not asked for.
//!
//! Invariants:
//!
//! 1. Tokens stand in the order of the source and do not overlap.
//! 2. A literal is one token with its quotes, however many lines it goes over; one that is not
//!    closed ends with its line.
//! 3. Comments, also those behind `*>`, yield no tokens.

use super::lines::{Kind as LineKind, Line};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, a number, a keyword.
    Word,
    /// A literal with its quotes and prefix.
    Literal,
    /// One of `( ) : = < > + * / , & | ! ^ ...`, or two of them that belong together.
    Mark,
    /// The end of a sentence.
    Period,
}

/// A piece of code, with its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: Vec<u8>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// Whether it is this keyword, in whatever case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether it is this mark.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark.as_bytes()
    }

    /// As text for people.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// A word in upper case; nothing for other tokens.
    pub(crate) fn upper(&self) -> Option<String> {
        let upper = || String::from_utf8_lossy(&self.text.to_ascii_uppercase()).into_owned();
        (self.kind == Kind::Word).then(upper)
    }
}

/// Marks of two characters.
const PAIRS: &[&[u8]] =
    &[b"==", b">=", b"<=", b"=>", b"=<", b"<>", b"^=", b"=^", b"!=", b"**", b"&&", b"||"];

/// The tokens of a source.
pub(crate) fn tokens(source: &[u8], lines: &[Line]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    // The quote of a literal that the line before left open.
    let mut open = None;
    for line in lines {
        if line.code.is_empty() {
            continue;
        }
        let mut reader = Reader { source, at: line.code.start, end: line.code.end };
        if line.kind == LineKind::Continuation {
            reader.blanks();
            match (open.take(), out.last_mut()) {
                (Some(quote), Some(last)) => {
                    let again = reader.peek() == Some(quote);
                    reader.at += usize::from(again);
                    open = reader.literal(quote, last);
                }
                (None, Some(last)) if last.kind == Kind::Word => reader.word(last),
                _ => {}
            }
        } else {
            open = None;
        }
        while let Some(byte) = reader.next_start() {
            let kind = reader.kind(byte);
            let at = reader.at;
            let mut token = Token { kind, text: Vec::new(), start: at, end: at };
            open = reader.fill(byte, &mut token);
            out.push(token);
        }
    }
    out
}

/// Goes through the code of one line.
struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    end: usize,
}

impl Reader<'_> {
    fn peek_at(&self, offset: usize) -> Option<u8> {
        let at = self.at + offset;
        (at < self.end).then(|| self.source[at])
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace() || b == 0) {
            self.at += 1;
        }
    }

    /// The first byte of the next token; nothing at the end of the line and before a comment.
    fn next_start(&mut self) -> Option<u8> {
        self.blanks();
        let byte = self.peek()?;
        (!(byte == b'*' && self.peek_at(1) == Some(b'>'))).then_some(byte)
    }

    fn ends_here(&self, offset: usize) -> bool {
        self.peek_at(offset).is_none_or(|b| b.is_ascii_whitespace())
    }

    fn kind(&self, byte: u8) -> Kind {
        match byte {
            b'\'' | b'"' => Kind::Literal,
            b'.' if self.ends_here(1) => Kind::Period,
            b'.' => Kind::Mark,
            _ if is_word(byte) => Kind::Word,
            _ => Kind::Mark,
        }
    }

    /// Takes a token in; answers the quote of a literal that is still open.
    fn fill(&mut self, byte: u8, token: &mut Token) -> Option<u8> {
        match token.kind {
            Kind::Word => {
                self.word(token);
                let quote = self.peek().filter(|b| matches!(b, b'\'' | b'"'))?;
                let prefixes: [&[u8]; 7] = [b"X", b"Z", b"N", b"G", b"B", b"NX", b"H"];
                if !prefixes.iter().any(|prefix| token.text.eq_ignore_ascii_case(prefix)) {
                    return None;
                }
                token.kind = Kind::Literal;
                token.text.push(quote);
                self.at += 1;
                self.literal(quote, token)
            }
            Kind::Literal => {
                token.text.push(byte);
                self.at += 1;
                self.literal(byte, token)
            }
            Kind::Mark | Kind::Period => {
                let rest = &self.source[self.at..self.end];
                let len = PAIRS.iter().find(|pair| rest.starts_with(pair)).map_or(1, |p| p.len());
                token.text.extend_from_slice(&rest[..len]);
                self.at += len;
                token.end = self.at;
                None
            }
        }
    }

    fn word(&mut self, token: &mut Token) {
        while let Some(byte) = self.peek().filter(|b| is_word(*b)) {
            token.text.push(byte);
            self.at += 1;
        }
        token.end = self.at;
    }

    /// The rest of a literal; its quote if the line ends before it does.
    fn literal(&mut self, quote: u8, token: &mut Token) -> Option<u8> {
        while let Some(byte) = self.peek() {
            token.text.push(byte);
            self.at += 1;
            token.end = self.at;
            if byte != quote {
                continue;
            }
            if self.peek() != Some(quote) {
                return None;
            }
            token.text.push(quote);
            self.at += 1;
        }
        Some(quote)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'$' | b'#' | b'@') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::super::lines::{Format, lines};
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let (lines, _) = lines(source.as_bytes(), Format::Fixed);
        tokens(source.as_bytes(), &lines).iter().map(Token::shown).collect()
    }

    #[test]
    fn words_literals_and_marks() {
        let source = "       MOVE X'00' TO A(I:2), B. *> IT'S\n           WHERE(K>=V-1) 'IT''S'";
        let expected = [
            "MOVE", "X'00'", "TO", "A", "(", "I", ":", "2", ")", ",", "B", ".", "WHERE", "(", "K",
            ">=", "V-1", ")", "'IT''S'",
        ];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn literals_and_words_are_continued() {
        let first = format!("{:<72}", "           DISPLAY 'LONG");
        let source = format!("{first}SEQ00001\n      -    ' TEXT' END-DIS\n      -    PLAY.\n");
        let gap = " ".repeat(72 - "           DISPLAY 'LONG".len());
        assert_eq!(texts(&source), ["DISPLAY", &format!("'LONG{gap} TEXT'"), "END-DISPLAY", "."]);
    }

    #[test]
    fn an_open_literal_ends_with_its_line() {
        assert_eq!(
            texts("       AUTHOR. DON'T\n       DATA"),
            ["AUTHOR", ".", "DON", "'T", "DATA"]
        );
    }
}
