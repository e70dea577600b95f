//! The readable report.
//!
//! Invariants:
//!
//! 1. Differences and wrong cards are always shown; the rest as the status says. What is shown
//!    only with a difference comes in front of the first one.
//! 2. The data of a call is what it returned, or else what it was given.
//! 3. Data and keys are shown in the code page that was given. A byte without a character is a
//!    point, and two lines below show the digits of each byte of the line, one above the other.

use std::io::{self, Write};

use base::Coded;
use codec::CodePage;

use crate::run::{AibCodes, Compared, Event, Feedback, Observer};
use crate::ssa::{Condition, take_apart};
use crate::statement::{Call, Print, PrintOptions};

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
    /// What is shown if a comparison with the last call finds a difference.
    waiting: Vec<u8>,
    /// What will be, of the next call.
    waiting_next: Vec<u8>,
}

impl<W: Write> Report<W> {
    /// Writes to `out`, and shows data and keys in that code page.
    pub fn new(out: W, page: CodePage) -> Self {
        let print = PrintOptions::default();
        Report { out, page, print, waiting: Vec::new(), waiting_next: Vec::new() }
    }

    fn called(
        &mut self,
        call: &Call,
        nth: u32,
        feedback: &Feedback,
        data: &[u8],
    ) -> io::Result<()> {
        self.waiting = std::mem::take(&mut self.waiting_next);
        let (print, page) = (self.print, self.page);
        self.part(print.call, |out| show_call(out, call, nth))?;
        self.part(print.segment, |out| show_data(out, page, data))?;
        self.part(print.pcb, |out| show_pcb(out, page, feedback))?;
        match feedback.aib {
            Some(codes) => self.part(print.aib, |out| show_aib(out, codes)),
            None => Ok(()),
        }
    }

    /// Writes a part of what is known of a call, or lets it wait for a difference.
    fn part(
        &mut self,
        print: Print,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match print {
            Print::Never => Ok(()),
            Print::Always => write(&mut self.out),
            Print::IfDifferent => write(&mut self.waiting),
        }
    }

    fn compared(&mut self, compared: &Compared) -> io::Result<()> {
        let Compared { card, differences } = compared;
        if !differences.is_empty() {
            self.out.write_all(&std::mem::take(&mut self.waiting))?;
        }
        for difference in differences {
            writeln!(self.out, "  DIFFERENT  card {card}: {difference}")?;
        }
        if differences.is_empty() && self.print.compare == Print::Always {
            writeln!(self.out, "  EQUAL  card {card}")?;
        }
        Ok(())
    }
}

impl<W: Write> Observer for Report<W> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Comment { text, is_conditional, .. } => {
                let print = if *is_conditional { self.print.comments } else { Print::Always };
                match print {
                    Print::Never => Ok(()),
                    Print::Always => writeln!(self.out, "U{text}"),
                    Print::IfDifferent => writeln!(self.waiting_next, "U{text}"),
                }
            }
            Event::Status(status) => {
                self.print = status.print.unwrap_or(self.print);
                match &status.pcb {
                    Some(pcb) if self.print.call == Print::Always => {
                        writeln!(self.out, "PCB     {pcb}")
                    }
                    _ => Ok(()),
                }
            }
            Event::Pcb { number, title } => writeln!(self.out, "PCB     {number:<4}  {title}"),
            Event::Options(_) | Event::Punch(_) | Event::Ended => Ok(()),
            Event::Called { call, nth, feedback, data, given } => {
                let data = if data.is_empty() { given } else { data };
                self.called(call, *nth, feedback, data)
            }
            Event::Compared(compared) => self.compared(compared),
            Event::Wrong(error) => {
                writeln!(self.out, "WRONG   {} {error}. {}", error.code(), error.remedy())
            }
        }
    }
}

fn show_call(out: &mut dyn Write, call: &Call, nth: u32) -> io::Result<()> {
    let function = plain(&call.function.bytes());
    write!(out, "CALL    {function}  card {}", call.card)?;
    if call.repeat > 1 {
        write!(out, ", {nth} of {}", call.repeat)?;
    }
    writeln!(out)?;
    call.ssas.iter().try_for_each(|ssa| show_ssa(out, ssa))
}

fn show_ssa(out: &mut dyn Write, ssa: &[u8]) -> io::Result<()> {
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
    writeln!(out, "{}", format!("{front}{first}  {rest}").trim_end())?;
    let width = front.chars().count();
    more.iter().try_for_each(|more| writeln!(out, "{:width$}{}", "", condition(more)))
}

fn show_data(out: &mut dyn Write, page: CodePage, data: &[u8]) -> io::Result<()> {
    for (index, line) in data.chunks(LINE).enumerate() {
        let front = if index == 0 { "  DATA  " } else { INDENT };
        show_bytes(out, page, front, line)?;
    }
    Ok(())
}

fn show_pcb(out: &mut dyn Write, page: CodePage, feedback: &Feedback) -> io::Result<()> {
    let Feedback { level, key, .. } = feedback;
    let (segment, status) = (plain(&feedback.segment), plain(&feedback.status));
    let length = key.len();
    writeln!(
        out,
        "  PCB   LEVEL {level:02}  SEGMENT {segment:8}  STATUS '{status}'  KEY LENGTH {length}"
    )?;
    for (index, line) in key.chunks(LINE).enumerate() {
        show_bytes(out, page, if index == 0 { "  KEY   " } else { INDENT }, line)?;
    }
    Ok(())
}

fn show_aib(out: &mut dyn Write, codes: AibCodes) -> io::Result<()> {
    let AibCodes { return_code, reason } = codes;
    writeln!(out, "  AIB   RETURN CODE {return_code:08X}  REASON CODE {reason:08X}")
}

fn show_bytes(out: &mut dyn Write, page: CodePage, front: &str, bytes: &[u8]) -> io::Result<()> {
    let shown = |byte: &u8| Some(page.character(*byte)).filter(|c| is_shown(*c));
    let text: String = bytes.iter().map(|byte| shown(byte).unwrap_or('.')).collect();
    let needs_digits = bytes.iter().any(|byte| shown(byte).is_none());
    writeln!(out, "{front}{text}")?;
    if needs_digits {
        let row = |shift: u8| -> String {
            let digit = |byte: &u8| char::from_digit(u32::from(byte >> shift & 15), 16);
            bytes.iter().filter_map(digit).collect()
        };
        writeln!(out, "{INDENT}{}\n{INDENT}{}", row(4), row(0))?;
    }
    Ok(())
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
