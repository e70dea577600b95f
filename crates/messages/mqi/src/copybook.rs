//! COBOL copybooks, made from the declarations of structures and the list of constants.
//!
//! For a structure there are two: `CMQxxxL` declares its fields without values, for the linkage
//! section; `CMQxxxV` declares them with their initial values. Each has its fields at level 15
//! below one group at level 10, as programs write level 01 above the COPY themselves. `CMQV` has
//! the constants. Numbers are binary as the machine has them (COMP-5): a program compiled for
//! big-endian binary numbers still passes what the interface wants.
//!
//! Invariants:
//! 1. Every line fits columns 8 to 72.
//! 2. A field stands in the copybook as many bytes from the start as in C: what C pads, a FILLER
//!    pads.

use std::fmt::Write as _;

use crate::constants::{self, Constant};
use crate::structures::layouts;
use crate::table::{Field, Kind, Layout};

/// Every copybook: its name and its text.
#[must_use]
pub fn copybooks() -> Vec<(String, String)> {
    let mut all = vec![("CMQV".to_owned(), values())];
    for layout in layouts() {
        let short = layout.name.trim_start_matches("MQ");
        all.push((format!("CMQ{short}L"), structure(&layout, false)));
        all.push((format!("CMQ{short}V"), structure(&layout, true)));
    }
    all
}

const NOTE: &str =
    "      * Holdfast: the message queue interface.\n      * Made from the tables of crate mqi.\n";

/// `CMQV`: the constants. Names are cut to COBOL's 30 characters where that leaves them apart.
fn values() -> String {
    let mut out = NOTE.to_owned();
    let mut seen = std::collections::BTreeSet::new();
    for (name, constant) in constants::interface() {
        let cobol = cobol_name(name);
        let is_length = name.contains("_LENGTH") && !name.ends_with("_LENGTH_ERROR");
        if is_length || cobol.len() > 30 || !seen.insert(cobol.clone()) {
            continue;
        }
        let (picture, value) = match constant {
            Constant::Number(value) if i32::try_from(value).is_ok() => {
                ("PIC S9(9) COMP-5".to_owned(), value.to_string())
            }
            Constant::Number(value) => ("PIC S9(18) COMP-5".to_owned(), value.to_string()),
            Constant::Text(text) => (format!("PIC X({})", text.len()), format!("'{text}'")),
            Constant::Character(byte) if (b' '..=b'~').contains(&byte) => {
                ("PIC X".to_owned(), format!("'{}'", char::from(byte)))
            }
            Constant::Character(byte) => ("PIC X".to_owned(), format!("X'{byte:02X}'")),
            Constant::Zero(len) => (format!("PIC X({len})"), "LOW-VALUES".to_owned()),
        };
        item(&mut out, "10", &cobol, &picture, Some(&value));
    }
    out
}

fn structure(layout: &Layout, with_values: bool) -> String {
    let mut out = NOTE.to_owned();
    let name = layout.name;
    let _ = writeln!(out, "      * {name} {}.", layout.about);
    let _ = writeln!(out, "       10 {name}.");
    let mut at = 0;
    for field in &layout.fields {
        if field.offset > at {
            item(&mut out, "15", "FILLER", &format!("PIC X({})", field.offset - at), None);
        }
        member(&mut out, name, field, with_values);
        at = field.end();
    }
    if layout.len() > at {
        item(&mut out, "15", "FILLER", &format!("PIC X({})", layout.len() - at), None);
    }
    out
}

fn member(out: &mut String, of: &str, field: &Field, with_values: bool) {
    let name = format!("{of}-{}", cobol_name(field.name));
    let value = with_values.then(|| initial(field));
    let value = value.as_deref();
    match field.kind {
        Kind::Long => item(out, "15", &name, "PIC S9(9) COMP-5", value),
        Kind::Handle => item(out, "15", &name, "PIC S9(18) COMP-5", value),
        Kind::Pointer(_) => item(out, "15", &name, "POINTER", value.map(|_| "NULL")),
        Kind::Character => item(out, "15", &name, "PIC X", value),
        Kind::Text(len) | Kind::Bytes(len) => {
            item(out, "15", &name, &format!("PIC X({len})"), value);
        }
        Kind::Longs(count) => {
            item(out, "15", &name, &format!("PIC S9(9) COMP-5 OCCURS {count}"), None);
        }
        Kind::Descriptor => item(out, "15", &name, "PIC X(324)", None),
        Kind::Variable => {
            let _ = writeln!(out, "       15 {name}.");
            let number = |value: &'static str| with_values.then_some(value);
            item(out, "20", &format!("{name}-VSPTR"), "POINTER", number("NULL"));
            for (part, value) in
                [("VSOFFSET", "0"), ("VSBUFSIZE", "0"), ("VSLENGTH", "0"), ("VSCCSID", "1208")]
            {
                let part = format!("{name}-{part}");
                item(out, "20", &part, "PIC S9(9) COMP-5", number(value));
            }
        }
    }
}

fn initial(field: &Field) -> String {
    let number = field.default.get(..4).and_then(|four| four.try_into().ok());
    match field.kind {
        Kind::Long => number.map_or(0, i32::from_le_bytes).to_string(),
        Kind::Handle => "0".into(),
        Kind::Bytes(_) => "LOW-VALUES".into(),
        _ if field.default.iter().all(|byte| *byte == b' ') => "SPACES".into(),
        _ => format!("'{}'", String::from_utf8_lossy(&field.default).trim_end()),
    }
}

/// One item; its value goes to a line of its own where both do not fit.
fn item(out: &mut String, level: &str, name: &str, picture: &str, value: Option<&str>) {
    let first = format!("       {level} {name} {picture}");
    let Some(value) = value else {
        fit(out, &format!("{first}."), level, name, picture);
        return;
    };
    let whole = format!("{first} VALUE {value}.");
    if whole.len() <= 72 {
        let _ = writeln!(out, "{whole}");
    } else {
        fit(out, &first, level, name, picture);
        let _ = writeln!(out, "           VALUE {value}.");
    }
}

fn fit(out: &mut String, line: &str, level: &str, name: &str, picture: &str) {
    if line.len() <= 72 {
        let _ = writeln!(out, "{line}");
    } else {
        let end = if line.ends_with('.') { "." } else { "" };
        let _ = writeln!(out, "       {level} {name}\n           {picture}{end}");
    }
}

fn cobol_name(name: &str) -> String {
    name.to_ascii_uppercase().replace('_', "-")
}
