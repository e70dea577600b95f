//! What happens, as JSON: a line and an object for each call.
//!
//! | key | value |
//! |---|---|
//! | `call` | the function, without padding |
//! | `ssas` | the SSAs as text without blanks at the end; a byte is the character of its number |
//! | `status` | the two characters of the status code; two blanks if all is well |
//! | `level` | a number |
//! | `segment` | the segment name, without padding |
//! | `kfb_len` | the length of the key feedback |
//! | `key` | the key feedback of that length, in hexadecimal digits |
//! | `data` | the I/O area as far as the call filled it, in hexadecimal digits |
//!
//! Invariant: the lines are calls and nothing else. Wrong cards, differences and lists of PCBs go
//! to the notes; comments go nowhere.

use std::fmt::Write as _;
use std::io::{self, Write};

use base::Coded;
use serde::Serialize;

use crate::run::{Event, Feedback, Observer};
use crate::statement::Call;

/// Writes calls as lines of JSON, and what else must be said as notes.
#[derive(Debug)]
pub struct JsonLines<W, N> {
    lines: W,
    notes: N,
}

impl<W: Write, N: Write> JsonLines<W, N> {
    /// Writes calls to `lines`, wrong cards and differences to `notes`.
    pub fn new(lines: W, notes: N) -> Self {
        JsonLines { lines, notes }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    call: &'a str,
    ssas: Vec<String>,
    status: &'a str,
    level: u8,
    segment: &'a str,
    kfb_len: usize,
    key: String,
    data: String,
}

impl<W: Write, N: Write> Observer for JsonLines<W, N> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Called { call, feedback, data, .. } => {
                write_line(&mut self.lines, call, feedback, data)
            }
            Event::Compared(compared) => compared.differences.iter().try_for_each(|difference| {
                writeln!(self.notes, "card {}: {difference}", compared.card)
            }),
            Event::Wrong(error) => {
                writeln!(self.notes, "{} {error}. {}", error.code(), error.remedy())
            }
            Event::Pcb { number, title } => writeln!(self.notes, "PCB {number}: {title}"),
            Event::Comment { .. } | Event::Status(_) | Event::Options(_) | Event::Punch(_) => {
                Ok(())
            }
        }
    }
}

fn write_line(
    out: &mut impl Write,
    call: &Call,
    feedback: &Feedback,
    data: &[u8],
) -> io::Result<()> {
    let [function, status, segment] =
        [&call.function[..], &feedback.status, &feedback.segment].map(text);
    let line = Line {
        call: function.trim_end(),
        ssas: call.ssas.iter().map(|ssa| text(ssa).trim_end().to_owned()).collect(),
        status: &status,
        level: feedback.level,
        segment: segment.trim_end(),
        kfb_len: feedback.key.len(),
        key: digits(&feedback.key),
        data: digits(data),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn digits(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
