//! The text of operands to values.
//!
//! Invariants:
//!
//! 1. Every comma outside of apostrophes and parentheses ends an operand; a null operand is kept,
//!    unless it is the last.
//! 2. Values nest at most [`DEPTH_MAX`] deep, which bounds the recursion here and for whoever
//!    reads them.
//! 3. Whatever is wrong, all of the text is taken, and a value comes out.

use std::ops::Range;

use crate::diagnostic::{Log, code};
use crate::metadata::keeps_case;
use crate::statement::{Operand, Place, Value, Word};
use crate::text::{Cell, Origin, Scan, Text, end_of_part, is_letter, is_symbol, shown, string};

/// How deep parentheses may nest; four are known to be in use.
const DEPTH_MAX: usize = 16;

/// An operand whose value is still text.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its keyword ends, if it has one.
    pub(crate) keyword: Option<usize>,
    /// Its value.
    pub(crate) value: Range<usize>,
}

impl Part {
    /// The keyword's text.
    pub(crate) fn keyword_of(&self, cells: &[Cell]) -> Option<String> {
        Some(string(cells.get(self.start..self.keyword?)?))
    }
}

/// Cuts the text of operands at its outer commas.
pub(crate) fn split(cells: &[Cell]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < cells.len() {
        let mut end = end_of_part(cells, start);
        // A parenthesis that nothing opened belongs to the value, where it is called wrong.
        while end < cells.len() && cells[end].ch != ',' {
            end = end_of_part(cells, end + 1);
        }
        let keyword = keyword(&cells[start..end]).map(|len| start + len);
        let value = keyword.map_or(start, |keyword| keyword + 1)..end;
        parts.push(Part { start, keyword, value });
        start = end + 1;
    }
    parts
}

/// The length of the keyword before an equals sign.
fn keyword(cells: &[Cell]) -> Option<usize> {
    let len = cells.iter().take_while(|cell| is_symbol(cell.ch)).count();
    let begins = cells.first().is_some_and(|cell| is_letter(cell.ch));
    (begins && cells.get(len)?.ch == '=').then_some(len)
}

/// The operand of a part of the operation `op`; `value` is its value's text, in which variables
/// were replaced.
pub(crate) fn operand(
    op: &str,
    cells: &[Cell],
    part: &Part,
    value: &[Cell],
    origin: &Origin,
    log: &mut Log,
) -> Operand {
    let keyword = part.keyword_of(cells).map(|text| Word {
        text,
        place: origin.place(cells, part.start, part.keyword.unwrap_or(part.start)),
    });
    let place = origin.place(cells, part.start, part.value.end);
    // No value stands behind the equals sign, or where the comma does that follows nothing.
    let known = if part.keyword.is_some() { &cells[..part.value.start] } else { cells };
    let empty = origin.place(known, part.value.start, part.value.end);
    if value.is_empty() {
        return Operand { keyword, value: Value::Empty(empty), place };
    }
    let name = keyword.as_ref().map_or("", |word| &word.text);
    let mut parser = Parser { cells: value, at: 0, keeps_case: keeps_case(op, name), origin, log };
    let read = parser.value(0);
    parser.rest_is_stray(value.len());
    Operand { keyword, value: read, place }
}

struct Parser<'p> {
    cells: &'p [Cell],
    at: usize,
    /// Whether small letters stay.
    keeps_case: bool,
    origin: &'p Origin,
    log: &'p mut Log,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.cells.get(self.at).map(|cell| cell.ch)
    }

    fn place(&self, start: usize, end: usize) -> Place {
        self.origin.place(self.cells, start, end)
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.peek() {
            None | Some(',') => Value::Empty(self.place(self.at, self.at + 1)),
            Some(')') if depth > 0 => Value::Empty(self.place(self.at, self.at + 1)),
            Some('(') => self.list(depth),
            Some('\'') => self.quoted().unwrap_or_else(|| self.word()),
            Some(_) => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Value {
        let open = self.at;
        if depth == DEPTH_MAX {
            self.log.error(
                code::TOO_DEEP,
                self.place(open, open + 1),
                format!("parentheses nest deeper than {DEPTH_MAX}"),
                "Remove redundant parentheses.",
            );
            self.at = self.cells.len();
            return Value::Empty(self.place(open, open + 1));
        }
        self.at += 1;
        let mut values = Vec::new();
        if self.peek() == Some(')') {
            self.at += 1;
            return Value::List(values, self.place(open, self.at));
        }
        loop {
            values.push(self.value(depth + 1));
            let end = end_of_part(self.cells, self.at);
            self.rest_is_stray(end);
            match self.peek() {
                Some(',') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    break;
                }
                None => {
                    self.log.error(
                        code::PARENTHESIS,
                        self.place(open, open + 1),
                        "this parenthesis is not closed",
                        "Close it; a blank outside of apostrophes ends the operands, and what \
                         stands behind is comment.",
                    );
                    break;
                }
            }
        }
        Value::List(values, self.place(open, self.at))
    }

    /// A text in apostrophes, unless more stands behind it.
    fn quoted(&mut self) -> Option<Value> {
        let start = self.at;
        let mut text = String::new();
        let mut at = start + 1;
        let has_end = loop {
            let ch = self.cells.get(at).map(|cell| cell.ch);
            let next = self.cells.get(at + 1).map(|cell| cell.ch);
            match (ch, next) {
                (None, _) => break false,
                (Some('\''), Some('\'')) => at += 1,
                (Some('\''), _) => break true,
                (Some('&'), Some('&')) => at += 1,
                _ => {}
            }
            text.extend(ch);
            at += 1;
        };
        let end = if has_end { at + 1 } else { at };
        if !matches!(self.cells.get(end).map(|cell| cell.ch), None | Some(',' | ')')) {
            return None;
        }
        self.at = end;
        if !has_end {
            // Cards of which one misses its apostrophe were called wrong already.
            self.log.error(
                code::QUOTE,
                self.place(start, start + 1),
                "the text that begins at this apostrophe has no end",
                "Close it; an apostrophe inside of a text is written twice.",
            );
        }
        Some(Value::Quoted(Word { text, place: self.place(start, end) }))
    }

    fn word(&mut self) -> Value {
        let start = self.at;
        let mut scan = Scan::default();
        let mut text = String::new();
        while let Some(ch) = self.peek() {
            if !scan.quoted && scan.depth == 0 && matches!(ch, ',' | ')') {
                break;
            }
            // Variables may bring in small letters.
            let stays = scan.quoted || self.keeps_case;
            text.push(if stays { ch } else { ch.to_ascii_uppercase() });
            scan.step_cell(self.cells, self.at);
            self.at += 1;
        }
        if scan.depth > 0 {
            self.log.error(
                code::PARENTHESIS,
                self.place(start, self.at),
                "a parenthesis in this value is not closed",
                "Close it.",
            );
        }
        let text = text.replace("&&", "&");
        Value::Word(Word { text, place: self.place(start, self.at) })
    }

    /// Takes what stands up to `end`, where a value should have ended.
    fn rest_is_stray(&mut self, end: usize) {
        if self.at < end {
            let text = shown(&self.cells[self.at..end]);
            let help = "Put a comma before it, or a blank if it is a comment.";
            let place = self.place(self.at, end);
            self.log.error(code::STRAY_TEXT, place, format!("{text} follows a value"), help);
            self.at = end;
        }
    }
}

/// The cells of a value's text, which all stand where `like` does.
pub(crate) fn cells_at(text: &str, like: Cell) -> Text {
    text.chars().map(|ch| Cell { ch, ..like }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::statement::SourceId;
    use crate::text::cells;

    const ORIGIN: Origin = Origin { source: SourceId(0), card: 1, anchor: None };

    fn read(text: &str) -> (Vec<Operand>, Vec<Diagnostic>) {
        let cells = cells(text);
        let mut log = Log::default();
        let read = |part: &Part| {
            operand("SEGM", &cells, part, &cells[part.value.clone()], &ORIGIN, &mut log)
        };
        let operands = split(&cells).iter().map(read).collect();
        (operands, log.into_diagnostics())
    }

    /// A value as it could be written.
    fn written(value: &Value) -> String {
        match value {
            Value::Empty(_) => "-".into(),
            Value::Word(word) => word.text.clone(),
            Value::Quoted(word) => format!("<{}>", word.text),
            Value::List(values, _) => {
                format!("[{}]", values.iter().map(written).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[track_caller]
    fn assert_reads(text: &str, expected: &str, codes: &[&str]) {
        let (operands, reported) = read(text);
        let one = |operand: &Operand| {
            let keyword = operand.keyword.as_ref().map(|word| format!("{}=", word.text));
            keyword.unwrap_or_default() + &written(&operand.value)
        };
        let all: Vec<String> = operands.iter().map(one).collect();
        assert_eq!(all.join(" "), expected, "{text}");
        assert_eq!(
            reported.iter().map(|reported| reported.code).collect::<Vec<_>>(),
            codes,
            "{text}"
        );
    }

    #[test]
    fn operands_are_words_texts_and_lists() {
        assert_reads("NAME=A,BYTES=40", "NAME=A BYTES=40", &[]);
        assert_reads("A,NAME=B", "A NAME=B", &[]);
        assert_reads("PARENT=((A,SNGL),(B,V,C))", "PARENT=[[A SNGL] [B V C]]", &[]);
        assert_reads("N=((((A))))", "N=[[[[A]]]]", &[]);
        assert_reads("N=X'40',M=C'a,b'", "N=X'40' M=C'a,b'", &[]);
        assert_reads("A=L'FIELD,B=(L'X,Y)", "A=L'FIELD B=[L'X Y]", &[]);
        assert_reads("N=A(1,2)", "N=A(1,2)", &[]);
        assert_reads("RULES=(LLL,LAST)", "RULES=[LLL LAST]", &[]);
    }

    #[test]
    fn operands_may_be_null() {
        assert_reads("NAME=,BYTES=", "NAME=- BYTES=-", &[]);
        assert_reads("A,,B", "A - B", &[]);
        assert_reads(",A", "- A", &[]);
        assert_reads("A,", "A", &[]);
        assert_reads("", "", &[]);
        assert_reads("N=(A,,C)", "N=[A - C]", &[]);
        assert_reads("N=(,)", "N=[- -]", &[]);
        assert_reads("N=()", "N=[]", &[]);
        assert_reads("N=(,,C)", "N=[- - C]", &[]);
    }

    #[test]
    fn texts_keep_what_is_in_them() {
        assert_reads("P='yyyy-MM-dd''T''HH:mm'", "P=<yyyy-MM-dd'T'HH:mm>", &[]);
        assert_reads("P='a,b (c'", "P=<a,b (c>", &[]);
        assert_reads("P='',Q=''''", "P=<> Q=<'>", &[]);
        assert_reads("P='R&&D'", "P=<R&D>", &[]);
        assert_reads("P='L'", "P=<L>", &[]);
        assert_reads("P=('a','b')", "P=[<a> <b>]", &[]);
    }

    #[test]
    fn wrong_operands_are_named_and_all_is_read() {
        assert_reads("N=(A,B,M=C", "N=[A B M=C]", &[code::PARENTHESIS]);
        assert_reads("N=(A)B,M=C", "N=[A] M=C", &[code::STRAY_TEXT]);
        assert_reads("N=A),M=C", "N=A M=C", &[code::STRAY_TEXT]);
        assert_reads("N=((A)B,C)", "N=[[A] C]", &[code::STRAY_TEXT]);
        assert_reads("N='A", "N=<A>", &[code::QUOTE]);
        assert_reads("N='A'B", "N='A'B", &[]);
        assert_reads("N=A(B", "N=A(B", &[code::PARENTHESIS]);
        let deep = format!("N={}", "(".repeat(100_000));
        let (operands, reported) = read(&deep[..200]);
        assert_eq!((operands.len(), reported[0].code), (1, code::TOO_DEEP));
    }

    #[test]
    fn places_are_those_of_the_words() {
        let (operands, _) = read("A=B,NAME=(C,,'D'),E=");
        let place = |place: Place| (place.column, place.len);
        assert_eq!(place(operands[1].place), (5, 13));
        assert_eq!(operands[1].keyword.as_ref().map(|word| place(word.place)), Some((5, 4)));
        let Value::List(values, list) = &operands[1].value else { panic!("a list") };
        assert_eq!(place(*list), (10, 8));
        let places: Vec<_> = values.iter().map(|value| place(value.place())).collect();
        assert_eq!(places, [(11, 1), (13, 1), (14, 3)]);
        assert_eq!(place(operands[2].value.place()), (21, 1));
    }
}
