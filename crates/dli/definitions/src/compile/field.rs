//! FIELD.

use macros::{Statement, Value};

use super::card::Card;
use super::database::Compiler;
use super::sink::Sink;
use super::values::{self, at_most, is_empty, items, place_of};
use crate::codes;
use crate::finding::{Spot, nth};
use crate::model::{Field, FieldKind, FieldName, FieldType, Organization};

/// Keywords that only describe.
const METADATA: &[&str] = &[
    "DATATYPE",
    "CASENAME",
    "DEPENDSON",
    "MINOCCURS",
    "MAXOCCURS",
    "MAXBYTES",
    "PARENT",
    "REDEFINES",
    "RELSTART",
    "PRECISION",
    "SCALE",
];

impl Compiler<'_> {
    pub(super) fn field(&mut self, statement: &Statement) {
        let Some(at) = self.last_segment() else {
            let message = "FIELD stands before the first SEGM";
            self.sink.error(codes::OUTSIDE, statement.op.place, message);
            return;
        };
        self.after_field = true;
        let organization = self.dbd.organization;
        if organization == Organization::Logical {
            let message = "a logical database takes its fields from its source segments";
            self.sink.error(codes::NOT_HERE, statement.op.place, message);
        }
        let segment = &mut self.dbd.segments[usize::from(at)];
        let spot = Spot::Field(at, nth(segment.fields.len()));
        let mut card = Card::new(statement, spot, self.places, self.sink);
        let sink = &mut *self.sink;
        let (name, kind) = match card.take("NAME") {
            Some(value) => name_and_kind(value, sink),
            None => (None, FieldKind::Data),
        };
        let kind_of_data = card
            .take("TYPE")
            .and_then(|value| values::choice(value, "TYPE=", "C, X, P, F, H", FieldType::of, sink))
            .unwrap_or(FieldType::Character);
        let start_after = card.take("STARTAFTER").map(values::written);
        let start =
            card.take("START").and_then(|value| values::short(value, "START=", 1..=32_767, sink));
        let len =
            card.take("BYTES").and_then(|value| values::short(value, "BYTES=", 1..=32_767, sink));
        let metadata = card.metadata(METADATA);
        tell_missing(statement, kind, kind_of_data, sink);
        card.finish(sink);
        let usual = match (kind, kind_of_data) {
            // DLI-12.68: 4 bytes, 8 in a HALDB.
            (FieldKind::Unique, _) => {
                if organization.is_partitioned() {
                    8
                } else {
                    4
                }
            }
            (_, FieldType::Fullword) => 4,
            (_, FieldType::Halfword) => 2,
            _ => 1,
        };
        let len = len.unwrap_or(usual);
        let start = start.unwrap_or(u16::from(kind != FieldKind::Data));
        segment.fields.push(Field {
            name,
            kind,
            start,
            start_after,
            len,
            kind_of_data,
            metadata,
            marshal: None,
        });
    }
}

/// Errors for operands that are not there; those that are there and wrong were told.
fn tell_missing(statement: &Statement, kind: FieldKind, of: FieldType, sink: &mut Sink) {
    let given =
        |keyword: &str| statement.operand(keyword).is_some_and(|operand| !is_empty(&operand.value));
    let place = statement.op.place;
    if !given("NAME") {
        // With an external name alone it can only be looked at from outside.
        if !given("EXTERNALNAME") {
            sink.error(codes::MISSING, place, "FIELD needs NAME=");
        }
        return;
    }
    if kind == FieldKind::Unique {
        return;
    }
    if !["START", "STARTAFTER", "RELSTART"].into_iter().any(given) {
        sink.error(codes::MISSING, place, "FIELD needs START=");
    }
    let has_length = matches!(of, FieldType::Fullword | FieldType::Halfword);
    if !has_length && !given("BYTES") && !given("MAXBYTES") {
        sink.error(codes::MISSING, place, "FIELD needs BYTES=");
    }
}

/// `NAME=name`, `NAME=(name,SEQ)`, `NAME=(name,SEQ,U|M)`, `/CKxxx`, `/SXxxx`.
fn name_and_kind(value: &Value, sink: &mut Sink) -> (Option<FieldName>, FieldKind) {
    let items = items(value);
    at_most(&items, 3, "FIELD NAME=", sink);
    let Some(first) = items.first() else { return (None, FieldKind::Data) };
    if let Some(word) = values::word(first).filter(|word| word.text.starts_with('/')) {
        let kind = match word.text.get(..3) {
            Some("/CK") => FieldKind::ConcatenatedKey,
            Some("/SX") => FieldKind::Unique,
            _ => {
                let message = format!("{} is no system field", word.text);
                sink.error(codes::SYSTEM_FIELD, word.place, message);
                sink.help("system fields begin with /CK or /SX");
                return (None, FieldKind::Data);
            }
        };
        if items.len() > 1 {
            let message = "a system field is never the sequence field";
            sink.error(codes::SYSTEM_FIELD, place_of(value), message);
        }
        let name = FieldName::new(&word.text);
        if name.is_none() {
            let message = format!("FIELD NAME=: \"{}\" is no name", word.text);
            sink.error(codes::BAD_NAME, word.place, message);
        }
        return (name, kind);
    }
    let name = values::name(first, "FIELD NAME=", FieldName::new, sink);
    let mut sequence = false;
    if let Some(value) = items.get(1).filter(|value| !is_empty(value)) {
        let of = |text: &str| (text == "SEQ").then_some(true);
        sequence = values::choice(value, "FIELD NAME=", "SEQ", of, sink).unwrap_or(false);
    }
    let mut unique = true;
    if let Some(value) = items.get(2).filter(|value| !is_empty(value)) {
        let of = |text: &str| match text {
            "U" => Some(true),
            "M" => Some(false),
            _ => None,
        };
        unique = values::choice(value, "FIELD NAME=", "U, M", of, sink).unwrap_or(true);
    }
    (name, if sequence { FieldKind::Key { unique } } else { FieldKind::Data })
}
