//! LCHILD and XDFLD.

use macros::{Statement, Value};

use super::card::Card;
use super::database::Compiler;
use super::sink::Sink;
use super::values::{self, at_most, is_empty, items, place_of};
use crate::codes;
use crate::finding::{Spot, nth};
use crate::model::{
    DbdName, FieldName, IndexedField, LchildPointer, LogicalChild, ModuleName, NullValue,
    SegmentName, TwinPlace,
};

impl Compiler<'_> {
    pub(super) fn child(&mut self, statement: &Statement) {
        let Some(at) = self.last_segment() else {
            let message = "LCHILD stands before the first SEGM";
            self.sink.error(codes::OUTSIDE, statement.op.place, message);
            return;
        };
        self.after_field = false;
        let segment = &mut self.dbd.segments[usize::from(at)];
        let spot = Spot::Child(at, nth(segment.children.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        if !self.dbd.organization.takes_lchild() {
            let message = format!("LCHILD is not for {}", self.dbd.organization);
            sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        let named = child_name(&mut card, self.dbd.name, sink);
        let pointer = card.take_any(&["POINTER", "PTR"]).and_then(|value| {
            let choices = "SNGL, DBLE, NONE, INDX, SYMB";
            values::choice(value, "LCHILD POINTER=", choices, LchildPointer::of, sink)
        });
        let pair = card
            .take("PAIR")
            .and_then(|value| values::name(value, "PAIR=", SegmentName::new, sink));
        let index = card
            .take("INDEX")
            .and_then(|value| values::name(value, "INDEX=", FieldName::new, sink));
        let place = card.take("RULES").and_then(|value| {
            values::choice(value, "LCHILD RULES=", "FIRST, LAST, HERE", TwinPlace::of, sink)
        });
        let root_key_size =
            card.take("RKSIZE").and_then(|value| values::short(value, "RKSIZE=", 1..=255, sink));
        let metadata = card.metadata(&["PSELRTN", "PSELOPT", "MULTISEG"]);
        card.finish(sink);
        // Without a name it still holds the XDFLD that follows.
        let unnamed = SegmentName::new(super::UNNAMED).zip(DbdName::new(super::UNNAMED));
        let Some((name, dbd)) = named.or(unnamed) else { return };
        segment.children.push(LogicalChild {
            segment: name,
            dbd,
            pointer,
            pair,
            index,
            place,
            root_key_size,
            metadata,
            indexed: None,
        });
    }

    pub(super) fn indexed(&mut self, statement: &Statement) {
        self.after_field = false;
        let child = self.dbd.segments.last().and_then(|segment| segment.children.last());
        if child.is_none_or(|child| child.indexed.is_some()) {
            let message = "XDFLD does not follow an LCHILD of its segment";
            self.sink.error(codes::XDFLD_ALONE, statement.op.place, message);
            self.sink.help("each secondary index is an LCHILD and the XDFLD behind it");
            return;
        }
        let at = nth(self.dbd.segments.len() - 1);
        let last = self.dbd.segments[usize::from(at)].children.len() - 1;
        let spot = Spot::Indexed(at, nth(last));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let indexed = read_indexed(&mut card, self.sink);
        card.finish(self.sink);
        if let Some(child) = self.dbd.segments[usize::from(at)].children.last_mut() {
            child.indexed = indexed;
        }
    }
}

/// `NAME=(segment,database)`; the database is the own one if it is left out.
fn child_name(
    card: &mut Card<'_>,
    own: DbdName,
    sink: &mut Sink,
) -> Option<(SegmentName, DbdName)> {
    let items = items(card.need(&["NAME"], sink)?);
    let what = "LCHILD NAME=";
    at_most(&items, 2, what, sink);
    let name = values::name(items.first()?, what, SegmentName::new, sink);
    let dbd = match items.get(1).filter(|value| !is_empty(value)) {
        Some(value) => values::name(value, what, DbdName::new, sink),
        None => Some(own),
    };
    name.zip(dbd)
}

fn read_indexed(card: &mut Card<'_>, sink: &mut Sink) -> Option<IndexedField> {
    let name = card
        .need(&["NAME"], sink)
        .and_then(|value| values::name(value, "XDFLD NAME=", FieldName::new, sink));
    let source = card
        .take("SEGMENT")
        .and_then(|value| values::name(value, "SEGMENT=", SegmentName::new, sink));
    let constant = card.take("CONST").and_then(|value| byte(value, "CONST=", sink));
    let search = card.need(&["SRCH"], sink).map(|value| fields(value, "SRCH=", sink));
    let subsequence = card.take("SUBSEQ").map(|value| fields(value, "SUBSEQ=", sink));
    let data = card.take("DDATA").map(|value| fields(value, "DDATA=", sink));
    let null = card.take("NULLVAL").and_then(|value| match values::word(value) {
        Some(word) if word.text == "BLANK" => Some(NullValue::Blank),
        Some(word) if word.text == "ZERO" => Some(NullValue::Zero),
        _ => byte(value, "NULLVAL=", sink).map(NullValue::Byte),
    });
    let exit =
        card.take("EXTRTN").and_then(|value| values::name(value, "EXTRTN=", ModuleName::new, sink));
    let metadata = card.metadata(&["PSELRTN", "PSELOPT"]);
    Some(IndexedField {
        name: name?,
        source,
        constant,
        search: search.unwrap_or_default(),
        subsequence: subsequence.unwrap_or_default(),
        data: data.unwrap_or_default(),
        null,
        exit,
        metadata,
    })
}

/// One to five fields.
fn fields(value: &Value, what: &str, sink: &mut Sink) -> Vec<FieldName> {
    let items = items(value);
    at_most(&items, 5, what, sink);
    let mut names = Vec::new();
    for value in items.into_iter().take(5) {
        // System fields have a slash in front.
        let name = match values::word(value) {
            Some(word) if word.text.starts_with('/') && word.text.len() <= 8 => {
                FieldName::new(&word.text)
            }
            _ => values::name(value, what, FieldName::new, sink),
        };
        names.extend(name);
    }
    names
}

/// A self-defining term of one byte: `X'40'`, `C'A'`, `B'01000000'` or a number.
fn byte(value: &Value, what: &str, sink: &mut Sink) -> Option<u8> {
    let word = values::need_word(value, what, sink)?;
    let found = term(&word.text);
    if found.is_none() {
        let message = format!("{what}: \"{}\" is no byte", word.text);
        sink.error(codes::BAD_NUMBER, place_of(value), message);
        sink.help("a byte is written X'40', C'A' or as a number up to 255");
    }
    found
}

fn term(text: &str) -> Option<u8> {
    let quoted = |kind: char| {
        let rest = text.strip_prefix(kind)?;
        rest.strip_prefix('\'')?.strip_suffix('\'')
    };
    if let Some(digits) = quoted('X').filter(|digits| digits.len() <= 2) {
        return u8::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = quoted('B').filter(|digits| digits.len() <= 8) {
        return u8::from_str_radix(digits, 2).ok();
    }
    if let Some(character) = quoted('C') {
        // Characters of sources stand in ASCII here; data may be EBCDIC, so a code point above
        // ASCII has no meaning that would hold for both.
        let mut bytes = character.bytes().filter(u8::is_ascii);
        return bytes.next().filter(|_| character.len() == 1);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::term;

    #[test]
    fn bytes_in_every_form() {
        assert_eq!(term("X'40'"), Some(0x40));
        assert_eq!(term("X'F'"), Some(0x0F));
        assert_eq!(term("C'A'"), Some(b'A'));
        assert_eq!(term("B'1000'"), Some(8));
        assert_eq!(term("255"), Some(255));
        for bad in ["256", "X'140'", "C'AB'", "X''", "", "+1", "X'4", "C''"] {
            assert_eq!(term(bad), None, "{bad}");
        }
    }
}
