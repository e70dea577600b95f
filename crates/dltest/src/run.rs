//! Issues the calls of a deck through a program's PCBs, and compares what comes back.
//!
//! Invariants:
//!
//! 1. What happens is told to the observer in the order of the cards; a call's comparisons
//!    directly behind it.
//! 2. After an `S` card whose PCB is not known, no call is issued until another one is chosen.
//! 3. A call whose data does not fit is not issued.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;

use base::{Code, Coded};
use thiserror::Error;

use crate::fault::{self, CardError};
use crate::piece::Piece;
use crate::statement::{Call, Deck, Item, PcbCheck, PcbChoice, Status};

/// The I/O area, longer than any path of segments that IMS gives a program room for.
pub const AREA_BYTES: usize = 256_000;

/// Something that issues DL/I calls.
pub trait Program {
    /// Why it cannot go on, such as an abend.
    type Error: Error;

    /// Makes the calls that follow use that PCB; `false` if there is none, and nothing changes.
    ///
    /// # Errors
    /// If the program cannot go on.
    fn choose(&mut self, pcb: &PcbChoice) -> Result<bool, Self::Error>;

    /// Issues a call. The area holds what the call is given, and then what it returns.
    ///
    /// # Errors
    /// If the program cannot go on. A status code is no error.
    fn call(&mut self, request: &Request<'_>, area: &mut [u8]) -> Result<Feedback, Self::Error>;
}

/// A call to issue.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The function as the card has it, padded with blanks.
    pub function: [u8; 4],
    /// The SSAs as a program passes them.
    pub ssas: &'a [Vec<u8>],
    /// How long each `DATA` card's part of the area is, in their order; nothing if there was
    /// none, and the area is what calls before left there.
    pub data: &'a [usize],
}

/// What a call left in the PCB and the I/O area.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The level.
    pub level: u8,
    /// The status code.
    pub status: [u8; 2],
    /// The segment name, padded with blanks.
    pub segment: [u8; 8],
    /// The key feedback, as long as the PCB says.
    pub key: Vec<u8>,
    /// How far the call filled the I/O area; 0 if it returned nothing.
    pub filled: usize,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A comment.
    Comment {
        /// Its text.
        text: &'a str,
        /// Whether it is shown only if the status says so.
        is_conditional: bool,
    },
    /// An `S` card.
    Status(&'a Status),
    /// A call was issued.
    Called {
        /// The call.
        call: &'a Call,
        /// Which repetition of it, from 1.
        nth: u32,
        /// What it left in the PCB.
        feedback: &'a Feedback,
        /// The I/O area as far as it filled it.
        data: &'a [u8],
    },
    /// A comparison was made with the call before.
    Compared(&'a Compared),
    /// A card is wrong.
    Wrong(&'a CardError),
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The card that asked for it.
    pub card: u32,
    /// What differs; nothing if all is as expected.
    pub differences: Vec<String>,
}

/// Who is told what happens.
pub trait Observer {
    /// Takes notice.
    ///
    /// # Errors
    /// If it cannot be written down.
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()>;
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The calls that were issued.
    pub calls: u64,
    /// The comparisons that were made.
    pub compared: u64,
    /// Those of them that found a difference.
    pub different: u64,
    /// What was wrong with cards.
    pub wrong: u64,
    /// The comparison that ended the run, by its card.
    pub ended_by: Option<u32>,
}

impl Summary {
    /// Whether every card was right and every comparison found what it expected.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.different == 0 && self.wrong == 0
    }
}

/// Why a run could not go on.
#[derive(Debug, Error)]
pub enum RunError<E: Error> {
    /// The program could not.
    #[error("card {card}: {error}")]
    Program {
        /// The card whose call or choice it was.
        card: u32,
        /// Why not.
        #[source]
        error: E,
    },
    /// The report could not be written.
    #[error("the report cannot be written: {0}")]
    Report(#[from] io::Error),
}

impl<E: Coded + 'static> Coded for RunError<E> {
    fn code(&self) -> Code {
        match self {
            RunError::Program { error, .. } => error.code(),
            RunError::Report(_) => Code(fault::REPORT),
        }
    }

    fn remedy(&self) -> String {
        match self {
            RunError::Program { error, .. } => error.remedy(),
            RunError::Report(_) => fault::remedy(fault::REPORT),
        }
    }
}

/// Issues the calls of a deck, one after the other.
///
/// # Errors
/// If the program cannot go on, or the observer.
pub fn run<P: Program>(
    deck: &Deck,
    program: &mut P,
    observer: &mut dyn Observer,
) -> Result<Summary, RunError<P::Error>> {
    let area = vec![b' '; AREA_BYTES];
    let (held, summary) = (None, Summary::default());
    let mut run = Run { program, observer, area, held, is_pcb_known: true, summary };
    for item in &deck.items {
        if run.item(item)?.is_break() {
            break;
        }
    }
    Ok(run.summary)
}

struct Run<'a, P> {
    program: &'a mut P,
    observer: &'a mut dyn Observer,
    area: Vec<u8>,
    held: Option<PcbCheck>,
    is_pcb_known: bool,
    summary: Summary,
}

type Flow<P> = Result<ControlFlow<()>, RunError<<P as Program>::Error>>;

impl<P: Program> Run<'_, P> {
    fn item(&mut self, item: &Item) -> Flow<P> {
        match item {
            Item::Comment { text, is_conditional } => {
                let is_conditional = *is_conditional;
                self.observer.notice(&Event::Comment { text, is_conditional })?;
            }
            Item::Wrong(error) => self.wrong(error)?,
            Item::Status(status) => self.status(status)?,
            Item::Call(call) => return self.call(call),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn wrong(&mut self, error: &CardError) -> io::Result<()> {
        self.summary.wrong += 1;
        self.observer.notice(&Event::Wrong(error))
    }

    fn status(&mut self, status: &Status) -> Result<(), RunError<P::Error>> {
        self.observer.notice(&Event::Status(status))?;
        let Some(pcb) = &status.pcb else { return Ok(()) };
        let card = status.card;
        self.is_pcb_known =
            self.program.choose(pcb).map_err(|error| RunError::Program { card, error })?;
        if !self.is_pcb_known {
            let message = format!("the program has no PCB {pcb}");
            self.wrong(&CardError { card, column: 16, code: fault::PCB, message })?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Flow<P> {
        let card = call.card;
        if !self.is_pcb_known {
            let message = "the call is left out: its PCB is not known".to_owned();
            self.wrong(&CardError { card, column: 1, code: fault::NOT_ISSUED, message })?;
            return Ok(ControlFlow::Continue(()));
        }
        for nth in 1..=call.repeat {
            let data = match self.fill(&call.data) {
                Ok(data) => data,
                Err(error) => {
                    self.wrong(&error)?;
                    break;
                }
            };
            let request = Request { function: call.function, ssas: &call.ssas, data: &data };
            let feedback = self
                .program
                .call(&request, &mut self.area)
                .map_err(|error| RunError::Program { card, error })?;
            self.summary.calls += 1;
            let filled = feedback.filled.min(self.area.len());
            let data = &self.area[..filled];
            self.observer.notice(&Event::Called { call, nth, feedback: &feedback, data })?;
            if self.compare(call, &feedback, filled)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if feedback.status == *b"GB" {
                break;
            }
        }
        if let Some(check) = call.pcb_checks.last() {
            self.held = check.is_held.then(|| check.clone());
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Puts a call's data into the I/O area, blanks behind it, and says how long each piece is.
    fn fill(&mut self, pieces: &[Piece]) -> Result<Vec<usize>, CardError> {
        let mut at = 0;
        let mut lengths = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let length = piece.put(&mut self.area[at..]).ok_or_else(|| CardError {
                card: piece.card,
                column: 5,
                code: fault::TOO_LONG,
                message: format!("the data does not fit into the I/O area of {AREA_BYTES} bytes"),
            })?;
            at += length;
            lengths.push(length);
        }
        if !pieces.is_empty() {
            self.area[at..].fill(b' ');
        }
        Ok(lengths)
    }

    fn compare(&mut self, call: &Call, feedback: &Feedback, filled: usize) -> Flow<P> {
        let mut made = Vec::new();
        let held = self.held.as_slice();
        let checks = if call.pcb_checks.is_empty() { held } else { &call.pcb_checks };
        for check in checks {
            made.push((check.card, check.ends_at_difference, check.differences(feedback)));
        }
        let mut at = 0;
        for piece in &call.data_checks {
            let (length, difference) = piece.compare(&self.area[at..filled]);
            at += length;
            made.push((piece.card, call.ends_at_difference, Vec::from_iter(difference)));
        }
        for (card, ends, differences) in made {
            self.summary.compared += 1;
            let differs = !differences.is_empty();
            self.summary.different += u64::from(differs);
            self.observer.notice(&Event::Compared(&Compared { card, differences }))?;
            if differs && ends {
                self.summary.ended_by = Some(card);
            }
        }
        let is_ended = self.summary.ended_by.is_some();
        Ok(if is_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

impl PcbCheck {
    /// What of a PCB is not as expected.
    fn differences(&self, feedback: &Feedback) -> Vec<String> {
        let text = |bytes: &[u8]| format!("'{}'", bytes.escape_ascii());
        let mut differences = Vec::new();
        let mut differ = |what: &str, expected: String, returned: String| {
            differences.push(format!("{what}: {expected} expected, {returned} returned"));
        };
        if let Some(level) = self.level.filter(|level| *level != feedback.level) {
            differ("level", format!("{level:02}"), format!("{:02}", feedback.level));
        }
        if !self.status.accepts(feedback.status) {
            differ("status", self.status.to_string(), text(&feedback.status));
        }
        let segment = feedback.segment.trim_ascii_end();
        if let Some(name) = self.segment.as_ref().filter(|name| *name != segment) {
            differ("segment", text(name), text(segment));
        }
        let length = feedback.key.len();
        if let Some(expected) = self.key_length.filter(|expected| *expected != length) {
            differ("key length", expected.to_string(), length.to_string());
        }
        if let Some(key) = self.key.as_ref().filter(|key| !feedback.key.starts_with(key)) {
            differ("key", text(key), text(&feedback.key));
        }
        differences
    }
}
