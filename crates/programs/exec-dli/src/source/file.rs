//! A source with its tokens, and with what a translation changes in it.
//!
//! Invariants:
//!
//! 1. A change never moves anything: the text stays as long as it was, and its lines where they
//!    were. Sequence numbers, comments and identification areas are never touched.
//! 2. A source in which nothing was changed is given back byte for byte.

use std::ops::Range;
use std::rc::Rc;

use super::lines::{Format, Kind as LineKind, Line, lines};
use super::words::{Token, tokens};
use crate::diagnostic::Diagnostic;

/// The longest line that a diagnostic shows.
const LINE_SHOWN: usize = 400;

/// A file or a COPY member.
pub(crate) struct File {
    /// As it is shown.
    pub(crate) name: String,
    pub(crate) tokens: Rc<[Token]>,
    source: Vec<u8>,
    lines: Vec<Line>,
    text: Vec<u8>,
}

impl File {
    /// Reads a source; CBL and PROCESS cards are blanked at once.
    pub(crate) fn new(name: &str, source: Vec<u8>, format: Format) -> File {
        let (lines, _) = lines(&source, format);
        let tokens = tokens(&source, &lines).into();
        let mut text = source.clone();
        for line in lines.iter().filter(|line| line.kind == LineKind::Card) {
            text[line.all.clone()].fill(b' ');
        }
        File { name: name.to_owned(), tokens, source, lines, text }
    }

    /// Whether anything was changed.
    pub(crate) fn is_changed(&self) -> bool {
        self.text != self.source
    }

    /// With all changes.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// With all changes so far.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The number of the line that holds this offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.all.start <= offset).max(1)
    }

    /// Whether a word stands in one piece, so that it can be written over.
    pub(crate) fn is_whole(&self, token: &Token) -> bool {
        token.end - token.start == token.text.len()
    }

    /// Blanks the code in a range. Tabs stay, so that what follows keeps its column.
    pub(crate) fn erase(&mut self, range: Range<usize>) {
        let first = self.lines.partition_point(|line| line.all.end < range.start);
        let touched = self.lines[first..].iter().take_while(|line| line.all.start < range.end);
        for line in touched {
            let from = line.code.start.max(range.start);
            let to = line.code.end.min(range.end);
            if from >= to {
                continue;
            }
            for byte in self.text[from..to].iter_mut().filter(|byte| **byte != b'\t') {
                *byte = b' ';
            }
            if line.kind == LineKind::Continuation && range.start < line.code.start {
                let before = &mut self.text[line.all.start..line.code.start];
                if let Some(indicator) = before.iter_mut().rev().find(|byte| **byte == b'-') {
                    *indicator = b' ';
                }
            }
        }
    }

    /// Writes over a word that stands in one piece and is at least as long.
    pub(crate) fn write_over(&mut self, token: &Token, word: &str) {
        debug_assert!(word.len() <= token.end - token.start, "there is room for {word}");
        self.erase(token.start..token.end);
        let room = &mut self.text[token.start..token.end];
        for (to, from) in room.iter_mut().zip(word.bytes()) {
            *to = from;
        }
    }

    /// A diagnostic about a token.
    pub(crate) fn wrong(
        &self,
        code: &'static str,
        token: &Token,
        message: impl Into<String>,
        help: &str,
    ) -> Box<Diagnostic> {
        let number = self.line(token.start);
        let line = self.lines.get(number - 1).map_or(0..0, |line| line.all.clone());
        let column = token.start.saturating_sub(line.start) + 1;
        // Tabs would put the carets elsewhere; a line that fills a page shows nobody anything.
        let shown = if line.len() > LINE_SHOWN { &[] } else { &self.source[line] };
        let card = String::from_utf8_lossy(shown).replace('\t', " ");
        Box::new(Diagnostic {
            code,
            file: self.name.clone(),
            line: number,
            column,
            len: token.end - token.start,
            message: message.into(),
            help: help.to_owned(),
            card,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_every_line_in_its_place() {
        let [first, second] = ["000100     MOVE 'A", "000200-    'C' TO D END-MOVE."];
        let source = format!("{first:<72}FIRST\n{second:<72}SECOND\r\n");
        let mut file = File::new("a", source.clone().into_bytes(), Format::Fixed);
        assert_eq!(file.text(), source.as_bytes());
        let tokens = Rc::clone(&file.tokens);
        let (begin, end) = (&tokens[0], &tokens[tokens.len() - 2]);
        file.erase(begin.start..end.end);
        file.write_over(begin, "COPY");
        file.write_over(end, "HFX1.");
        let text = String::from_utf8(file.into_text()).expect("text");
        let [first, second] = ["000100     COPY", "000200              HFX1.   ."];
        assert_eq!(text, format!("{first:<72}FIRST\n{second:<72}SECOND\r\n"));
    }

    #[test]
    fn cards_are_blanked() {
        let file =
            File::new("a", b"       CBL APOST,LIB\n       ID DIVISION.".into(), Format::Fixed);
        assert!(file.is_changed());
        assert_eq!(file.text(), b"                    \n       ID DIVISION.");
    }
}
