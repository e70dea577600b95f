//! The reference formats of COBOL: which bytes of a line are code.
//!
//! | columns of fixed format | what |
//! |---|---|
//! | 1-6 | sequence numbers, ignored |
//! | 7 | indicator: `*` and `/` comment, `-` continuation, `D` debugging line, `$` directive |
//! | 8-72 | code |
//! | 73- | identification, ignored |
//!
//! Invariants:
//!
//! 1. The lines of a source, put behind one another, are the source; nothing is lost or changed.
//! 2. A line's code lies within the line, and never holds its line end.
//! 3. Only lines that are code or continuation have code that is not empty.
//! 4. A tab goes on to the next column that is a multiple of eight plus one.

use std::ops::Range;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Code that begins anew.
    Code,
    /// Code that continues the last word or literal of the line before.
    Continuation,
    /// A comment, a blank line, a debugging line, or a directive to the compiler.
    Silent,
    /// A CBL or PROCESS card, or `*CBL`, `*CONTROL`: for another compiler than ours.
    Card,
}

/// One line, in offsets into its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: Kind,
    /// The whole line without its line end.
    pub(crate) all: Range<usize>,
    /// Its code.
    pub(crate) code: Range<usize>,
}

/// The reference format that holds at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Fixed,
    Free,
}

/// Takes a source apart; also says which format holds behind its last line.
pub(crate) fn lines(source: &[u8], mut format: Format) -> (Vec<Line>, Format) {
    let mut out = Vec::new();
    let mut start = 0;
    let mut outside = true;
    while start < source.len() {
        let rest = &source[start..];
        let len = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let end = start + len - usize::from(rest[..len].ends_with(b"\r"));
        let mut line = split(source, start..end, format);
        if let Some(next) = directive(&source[start..end]) {
            line.kind = Kind::Silent;
            format = next.unwrap_or(format);
        } else if is_listing_card(&source[line.code.clone()])
            || outside && is_card(&source[start..end], &source[line.code.clone()])
        {
            line.kind = Kind::Card;
        } else if line.kind == Kind::Code {
            outside = ends_program(&source[line.code.clone()]);
        }
        if matches!(line.kind, Kind::Silent | Kind::Card) {
            line.code.end = line.code.start;
        }
        out.push(line);
        start += len + 1;
    }
    (out, format)
}

fn split(source: &[u8], all: Range<usize>, format: Format) -> Line {
    let text = &source[all.clone()];
    let (from, to, indicator) = match format {
        Format::Free => (0, text.len(), b' '),
        Format::Fixed => (byte_at(text, 7), byte_at(text, 72), indicator(text)),
    };
    let code = all.start + from..all.start + to;
    let blank = source[code.clone()].iter().all(u8::is_ascii_whitespace);
    let kind = match indicator {
        b'-' if !blank => Kind::Continuation,
        b' ' if !blank => Kind::Code,
        // The compiler refuses other indicators; the words behind them are none of ours.
        _ => Kind::Silent,
    };
    Line { kind, all, code }
}

/// The offset of the byte in this column, counted from 0; the end if the line is shorter.
fn byte_at(text: &[u8], column: usize) -> usize {
    let mut at = 0;
    for (offset, byte) in text.iter().enumerate() {
        if at >= column {
            return offset;
        }
        at = if *byte == b'\t' { at / 8 * 8 + 8 } else { at + 1 };
    }
    text.len()
}

fn indicator(text: &[u8]) -> u8 {
    let at = byte_at(text, 6);
    // A tab that leaps over column 7 leaves it blank.
    if byte_at(text, 7) <= at { b' ' } else { text.get(at).copied().map_or(b' ', blank_tab) }
}

fn blank_tab(byte: u8) -> u8 {
    if byte == b'\t' { b' ' } else { byte }
}

/// Words of a line in upper case, without periods.
fn upper_words(text: &[u8]) -> Vec<Vec<u8>> {
    let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b'.' || *b == b',';
    let words = text.split(is_gap).filter(|word| !word.is_empty()).take(8);
    words.map(<[u8]>::to_ascii_uppercase).collect()
}

/// Whether a line is a compiler directive, and which format it sets if any.
fn directive(text: &[u8]) -> Option<Option<Format>> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b">>").or_else(|| text.strip_prefix(b"$"))?;
    let words = upper_words(text);
    let text = words.concat();
    let sets = text.strip_prefix(b"SOURCE").or_else(|| text.strip_prefix(b"SETSOURCE"));
    let Some(rest) = sets else { return Some(None) };
    let rest = rest.strip_prefix(b"FORMAT").unwrap_or(rest);
    let rest = rest.strip_prefix(b"IS").unwrap_or(rest);
    let format: Vec<u8> = rest.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    Some(match format.as_slice() {
        b"FREE" => Some(Format::Free),
        b"FIXED" => Some(Format::Fixed),
        _ => None,
    })
}

/// `*CBL` and `*CONTROL` may begin in any column.
fn is_listing_card(code: &[u8]) -> bool {
    let words = upper_words(code);
    matches!(words.first().map(Vec::as_slice), Some(b"*CBL" | b"*CONTROL"))
}

/// CBL and PROCESS stand in columns 1-72, behind a sequence number if there is one.
fn is_card(line: &[u8], code: &[u8]) -> bool {
    let is_option = |text: &[u8]| {
        matches!(upper_words(text).first().map(Vec::as_slice), Some(b"CBL" | b"PROCESS"))
    };
    let numbered = line.len() > 6 && line[..6].iter().all(u8::is_ascii_digit);
    is_option(line) || is_option(code) || numbered && is_option(&line[6..])
}

fn ends_program(code: &[u8]) -> bool {
    let words = upper_words(code);
    words.len() > 1 && words[0] == b"END" && words[1] == b"PROGRAM"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind> {
        lines(source.as_bytes(), Format::Fixed).0.iter().map(|line| line.kind).collect()
    }

    fn code(source: &str) -> Vec<&str> {
        let (lines, _) = lines(source.as_bytes(), Format::Fixed);
        lines.iter().map(|line| &source[line.code.clone()]).collect()
    }

    #[test]
    fn only_columns_8_to_72_are_code() {
        let wide = format!("000100 {:<65}IDENTITY", "    MOVE 1 TO A.");
        assert_eq!(code(&wide)[0].trim(), "MOVE 1 TO A.");
        assert_eq!(code("000100*    MOVE\n000200/\n000300D    MOVE\n"), ["", "", ""]);
        assert_eq!(code("\tMOVE 1 TO A.\r\n\n"), ["MOVE 1 TO A.", ""]);
        assert_eq!(kinds("000100-    'REST'\n      - \n"), [Kind::Continuation, Kind::Silent]);
    }

    #[test]
    fn cards_stand_outside_of_programs() {
        let source = "CBL LIB,APOST\n000001 PROCESS XREF\n000001 CBL X\n000100 IDENTIFICATION \
                      DIVISION.\n       CBL X.\n       END PROGRAM A.\n PROCESS LIST\n";
        let cards: Vec<bool> = kinds(source).iter().map(|kind| *kind == Kind::Card).collect();
        assert_eq!(cards, [true, true, true, false, false, false, true]);
        assert_eq!(kinds("       IF\n       *CBL NOLIST\n")[1], Kind::Card);
    }

    #[test]
    fn a_directive_changes_the_format() {
        let source = "       >>SOURCE FORMAT IS FREE\nA\n>>SOURCE FIXED\nB\n      $SET \
                      SOURCEFORMAT\"FREE\"\nC\n";
        assert_eq!(code(source), ["", "A", "", "", "", "C"]);
    }
}
