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
//! | `data` | the I/O area as far as the call filled it, in hexadecimal digits; of a call that returns nothing, such as ISRT, REPL and DLET, what it was given |
//! | `compared` | the comparisons with the call, if there are any: the `card` of each, whether it is `equal`, and its `differences` as text |
//!
//! Invariants:
//!
//! 1. The lines are calls and nothing else. Wrong cards, differences and lists of PCBs go to the
//!    notes; comments go nowhere.
//! 2. A line is written when the call's comparisons are known: with the next call, or at the end
//!    of the run, however that ends.

use std::io::{self, Write};

use base::Coded;
use serde::Serialize;

use crate::run::{Compared, Event, Feedback, Observer};
use crate::statement::Call;

/// Writes calls as lines of JSON, and what else must be said as notes.
#[derive(Debug)]
pub struct JsonLines<W, N> {
    lines: W,
    notes: N,
    /// The call whose comparisons may still come.
    waiting: Option<Line>,
}

impl<W: Write, N: Write> JsonLines<W, N> {
    /// Writes calls to `lines`, wrong cards and differences to `notes`.
    pub fn new(lines: W, notes: N) -> Self {
        JsonLines { lines, notes, waiting: None }
    }

    /// Writes the line of the call that is done.
    fn write_waiting(&mut self) -> io::Result<()> {
        let Some(line) = self.waiting.take() else { return Ok(()) };
        serde_json::to_writer(&mut self.lines, &line)?;
        self.lines.write_all(b"\n")
    }

    fn compared(&mut self, compared: &Compared) -> io::Result<()> {
        let Compared { card, differences } = compared;
        if let Some(line) = &mut self.waiting {
            let (card, equal, differences) = (*card, differences.is_empty(), differences.clone());
            line.compared.push(Comparison { card, equal, differences });
        }
        differences
            .iter()
            .try_for_each(|difference| writeln!(self.notes, "card {card}: {difference}"))
    }
}

#[derive(Debug, Serialize)]
struct Line {
    call: String,
    ssas: Vec<String>,
    status: String,
    level: u8,
    segment: String,
    kfb_len: usize,
    key: String,
    data: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Comparison>,
}

#[derive(Debug, Serialize)]
struct Comparison {
    card: u32,
    equal: bool,
    differences: Vec<String>,
}

impl<W: Write, N: Write> Observer for JsonLines<W, N> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Called { call, feedback, data, given, .. } => {
                self.write_waiting()?;
                let data = if data.is_empty() { given } else { data };
                self.waiting = Some(line_of(call, feedback, data));
                Ok(())
            }
            Event::Compared(compared) => self.compared(compared),
            Event::Ended => self.write_waiting(),
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

fn line_of(call: &Call, feedback: &Feedback, data: &[u8]) -> Line {
    let trimmed = |bytes: &[u8]| text(bytes).trim_end().to_owned();
    Line {
        call: trimmed(&call.function.bytes()),
        ssas: call.ssas.iter().map(|ssa| trimmed(ssa)).collect(),
        status: text(&feedback.status),
        level: feedback.level,
        segment: trimmed(&feedback.segment),
        kfb_len: feedback.key.len(),
        key: base::hex::lower(&feedback.key),
        data: base::hex::lower(data),
        compared: Vec::new(),
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
