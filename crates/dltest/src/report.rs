//! The readable report.
//!
//! Invariants:
//!
//! 1. Differences and wrong cards are always shown; the rest as the status says.
//! 2. Data and keys are shown in the code page that was given. A byte without a character is a
//!    point, and two lines below show the digits of each byte of the line, one above the other.

use std::io::{self, Write};

use base::Coded;
use codec::CodePage;

use crate::run::{Compared, Event, Feedback, Observer};
use crate::ssa::{Condition, take_apart};
use crate::statement::{Call, PrintOptions};

/// The bytes of a line of data.
const LINE: usize = 100;
/// The columns in front of data.
const INDENT: &str = "        ";

/// Writes the report.
#[derive(Debug)]
pub struct Report<W> {
    out: W,
    page: CodePage,
    print: PrintOptions,
}

impl<W: Write> Report<W> {
    /// Writes to `out`, and shows data and keys in that code page.
    pub fn new(out: W, page: CodePage) -> Self {
        Report { out, page, print: PrintOptions::default() }
    }

    fn call(&mut self, call: &Call, nth: u32) -> io::Result<()> {
        let function = plain(&call.function);
        write!(self.out, "CALL    {function}  card {}", call.card)?;
        if call.repeat > 1 {
            write!(self.out, ", {nth} of {}", call.repeat)?;
        }
        writeln!(self.out)?;
        call.ssas.iter().try_for_each(|ssa| self.ssa(ssa))
    }

    fn ssa(&mut self, ssa: &[u8]) -> io::Result<()> {
        let parts = take_apart(ssa);
        let codes = match parts.codes {
            [] => String::new(),
            codes => format!("*{}", plain(codes)),
        };
        let front = format!("  SSA   {:8}  {codes:6}", plain(parts.segment));
        let rest = plain(parts.rest);
        let (first, more) = match parts.conditions.split_first() {
            Some((first, more)) => (condition(first), more),
            None => (String::new(), &[][..]),
        };
        writeln!(self.out, "{}", format!("{front}{first}  {rest}").trim_end())?;
        let width = front.chars().count();
        more.iter().try_for_each(|more| writeln!(self.out, "{:width$}{}", "", condition(more)))
    }

    fn data(&mut self, data: &[u8]) -> io::Result<()> {
        for (index, line) in data.chunks(LINE).enumerate() {
            let front = if index == 0 { "  DATA  " } else { INDENT };
            self.bytes(front, line)?;
        }
        Ok(())
    }

    fn pcb(&mut self, feedback: &Feedback) -> io::Result<()> {
        let Feedback { level, key, .. } = feedback;
        let (segment, status) = (plain(&feedback.segment), plain(&feedback.status));
        let length = key.len();
        writeln!(
            self.out,
            "  PCB   LEVEL {level:02}  SEGMENT {segment:8}  STATUS '{status}'  KEY LENGTH {length}"
        )?;
        for (index, line) in key.chunks(LINE).enumerate() {
            self.bytes(if index == 0 { "  KEY   " } else { INDENT }, line)?;
        }
        Ok(())
    }

    fn bytes(&mut self, front: &str, bytes: &[u8]) -> io::Result<()> {
        let shown = |byte: &u8| Some(self.page.character(*byte)).filter(|c| is_shown(*c));
        let text: String = bytes.iter().map(|byte| shown(byte).unwrap_or('.')).collect();
        let needs_digits = bytes.iter().any(|byte| shown(byte).is_none());
        writeln!(self.out, "{front}{text}")?;
        if needs_digits {
            let row = |shift: u8| -> String {
                let digit = |byte: &u8| char::from_digit(u32::from(byte >> shift & 15), 16);
                bytes.iter().filter_map(digit).collect()
            };
            writeln!(self.out, "{INDENT}{}\n{INDENT}{}", row(4), row(0))?;
        }
        Ok(())
    }

    fn compared(&mut self, compared: &Compared) -> io::Result<()> {
        let Compared { card, differences } = compared;
        for difference in differences {
            writeln!(self.out, "  DIFFERENT  card {card}: {difference}")?;
        }
        if differences.is_empty() && self.print.compare {
            writeln!(self.out, "  EQUAL  card {card}")?;
        }
        Ok(())
    }
}

impl<W: Write> Observer for Report<W> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Comment { is_conditional: true, .. } if !self.print.comments => Ok(()),
            Event::Comment { text, .. } => writeln!(self.out, "U{text}"),
            Event::Status(status) => {
                self.print = status.print.unwrap_or(self.print);
                match &status.pcb {
                    Some(pcb) if self.print.call => writeln!(self.out, "PCB     {pcb}"),
                    _ => Ok(()),
                }
            }
            Event::Called { call, nth, feedback, data } => {
                let PrintOptions { call: calls, segment, pcb, .. } = self.print;
                if calls {
                    self.call(call, *nth)?;
                }
                if segment {
                    self.data(data)?;
                }
                if pcb { self.pcb(feedback) } else { Ok(()) }
            }
            Event::Compared(compared) => self.compared(compared),
            Event::Wrong(error) => {
                writeln!(self.out, "WRONG   {} {error}. {}", error.code(), error.remedy())
            }
        }
    }
}

fn condition(condition: &Condition<'_>) -> String {
    let boolean = condition.boolean.map_or(' ', |boolean| show(char::from(boolean)));
    let [field, operator, value] =
        [condition.field, condition.operator, condition.value].map(plain);
    format!("  {boolean} {field:8} {operator:2} '{value}'")
}

/// What stands on cards.
fn plain(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| show(CodePage::Ascii.character(*byte))).collect()
}

fn show(character: char) -> char {
    if is_shown(character) { character } else { '.' }
}

fn is_shown(character: char) -> bool {
    !character.is_control() && character != char::REPLACEMENT_CHARACTER
}
