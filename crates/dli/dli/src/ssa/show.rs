//! Prints an SSA: as the bytes that a program would pass, and for people to read.
//!
//! Invariants:
//! 1. The bytes parse back to an equal SSA, for calls that take its codes.
//! 2. For people, values that are no text stand in hexadecimal, and positions of code O as
//!    `position,length`.

use std::fmt;

use crate::ssa::argument::{Condition, Joined, Operand, Qualification, Ssa};
use crate::ssa::code::Code;
use crate::ssa::table::Table;

impl Ssa<'_> {
    /// The SSA in a form for people, names in full width: `CUSTOMER*D(CUSTKEY  =1234567890)`.
    pub fn show(&self, table: &Table) -> impl fmt::Display + use<> {
        let mut out = Shown { table, text: String::new() };
        self.print(table, &mut out);
        out.text
    }

    /// The bytes that a program would pass, in the table's alphabet, a blank at the end of what
    /// is not qualified.
    #[must_use]
    pub fn to_bytes(&self, table: &Table) -> Vec<u8> {
        let mut out = Written { table, bytes: Vec::new() };
        self.print(table, &mut out);
        if self.qualification == Qualification::None {
            out.syntax(" ");
        }
        out.bytes
    }

    fn print(&self, table: &Table, out: &mut impl Output) {
        let name = table.name(self.segment);
        out.name(name.as_ref().map_or("?", |name| name.text()));
        if !self.codes.is_empty() {
            out.syntax("*");
        }
        for code in self.codes.iter() {
            let letter = code.letter().to_string();
            if code == Code::Q {
                out.syntax(&letter);
                out.syntax(&char::from(self.lock_class.unwrap_or(b'A')).to_string());
            } else if code.subset().is_some() {
                for number in self.subsets.of(code) {
                    out.syntax(&format!("{letter}{number}"));
                }
            } else {
                out.syntax(&letter);
            }
        }
        match &self.qualification {
            Qualification::None => {}
            Qualification::ConcatenatedKey(key) => {
                out.syntax("(");
                out.value(key);
                out.syntax(")");
            }
            Qualification::Sets(sets) => {
                for (at, condition) in sets.conditions().iter().enumerate() {
                    out.syntax(match condition.joined {
                        _ if at == 0 => "(",
                        Joined::Or => "+",
                        Joined::And => "&",
                        Joined::Independent => "#",
                    });
                    self.condition(condition, table, out);
                }
                out.syntax(")");
            }
        }
    }

    fn condition(&self, condition: &Condition<'_>, table: &Table, out: &mut impl Output) {
        if let Operand::Bytes { offset, len, of_destination } = condition.operand {
            let segment = table.segment(self.segment).filter(|_| of_destination);
            let first = segment.map_or(0, |segment| segment.destination_start());
            out.position(first + u32::from(offset) + 1, u32::from(len));
        } else {
            let name = table.field_name(self.segment, condition.operand);
            out.name(name.as_ref().map_or("?", |name| name.text()));
        }
        out.syntax(condition.operator.spelling());
        out.value(condition.value);
    }
}

/// Where an SSA is printed to.
trait Output {
    /// Signs and letters of the syntax.
    fn syntax(&mut self, text: &str);
    /// A name, to be padded to eight characters.
    fn name(&mut self, name: &str);
    fn position(&mut self, position: u32, len: u32);
    fn value(&mut self, value: &[u8]);
}

struct Shown<'t> {
    table: &'t Table,
    text: String,
}

impl Output for Shown<'_> {
    fn syntax(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self, name: &str) {
        self.text.push_str(&format!("{name:8}"));
    }

    fn position(&mut self, position: u32, len: u32) {
        self.text.push_str(&format!("{position},{len}"));
    }

    fn value(&mut self, value: &[u8]) {
        match self.table.alphabet.text(value) {
            Some(text) => self.text.push_str(&text),
            None => {
                self.text.push_str(&format!("X'{}'", base::hex::upper(value)));
            }
        }
    }
}

struct Written<'t> {
    table: &'t Table,
    bytes: Vec<u8>,
}

impl Output for Written<'_> {
    fn syntax(&mut self, text: &str) {
        self.bytes.extend(text.chars().map(|character| self.table.alphabet.byte(character)));
    }

    fn name(&mut self, name: &str) {
        self.syntax(&format!("{name:8}"));
    }

    fn position(&mut self, position: u32, len: u32) {
        self.bytes.extend_from_slice(&position.to_be_bytes());
        self.bytes.extend_from_slice(&len.to_be_bytes());
    }

    fn value(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }
}
