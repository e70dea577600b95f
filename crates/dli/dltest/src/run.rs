//! Issues the calls of a deck through a program's PCBs, and compares what comes back.
//!
//! Invariants:
//!
//! 1. What happens is told to the observer in the order of the cards; a call's comparisons
//!    directly behind it.
//! 2. After an `S` card whose PCB is not known, no call is issued until another one is chosen.
//! 3. A call whose data does not fit is not issued.
//! 4. GB ends the innermost repetition: the call's own, or else that of the stack it is in.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;

use base::{Code, Coded};
use definitions::Function;
use thiserror::Error;

use crate::fault::{self, CardError};
use crate::piece::Piece;
use crate::statement::{
    AibCheck, Call, Checks, Deck, Item, PcbCheck, PcbChoice, Punching, Stack, Status,
};

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

    /// Its PCBs, a line for each, in the order of the list that begins with the I/O PCB.
    fn pcbs(&self) -> Vec<String>;

    /// Issues a call. The area holds what the call is given, and then what it returns.
    ///
    /// # Errors
    /// If the program cannot go on. A status code is no error.
    fn call(&mut self, request: &Request<'_>, area: &mut [u8]) -> Result<Feedback, Self::Error>;
}

/// A call to issue.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The function as the card has it.
    pub function: Function,
    /// The SSAs as a program passes them.
    pub ssas: &'a [Vec<u8>],
    /// How long each `DATA` card's part of the area is, in their order; nothing if there was
    /// none, and the area is what calls before left there.
    pub data: &'a [usize],
    /// Whether it names its PCB in an AIB.
    pub uses_aib: bool,
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
    /// How much of the I/O area the call was given, of ISRT, REPL, DLET and whatever else takes
    /// data; 0 if it takes none.
    pub given: usize,
    /// What the AIB says, if the call used one.
    pub aib: Option<AibCodes>,
}

/// What a call left in its AIB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AibCodes {
    /// AIBRETRN.
    pub return_code: u32,
    /// AIBREASN.
    pub reason: u32,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A comment.
    Comment {
        /// Its card.
        card: u32,
        /// Its text.
        text: &'a str,
        /// Whether it is shown only if the status says so.
        is_conditional: bool,
    },
    /// An `S` card.
    Status(&'a Status),
    /// A PCB of the list that an `S` card asked for: its number, from 1, and what it is.
    Pcb {
        /// The number.
        number: usize,
        /// What it is.
        title: &'a str,
    },
    /// An `O` card, by its number.
    Options(u32),
    /// A `CTL` card.
    Punch(&'a Punching),
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
        /// The I/O area as far as the call was given it.
        given: &'a [u8],
    },
    /// A comparison was made with the call before.
    Compared(&'a Compared),
    /// A card is wrong.
    Wrong(&'a CardError),
    /// The run is over, well or not; nothing comes behind it.
    Ended,
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

/// Two observers that are told the same, one after the other.
pub struct Both<'a>(pub &'a mut dyn Observer, pub &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.0.notice(event)?;
        self.1.notice(event)
    }
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
    /// An `ABEND` card asked for it.
    #[error("card {0}: abend U0252, as the card asks")]
    Abend(u32),
    /// The report could not be written.
    #[error("the report cannot be written: {0}")]
    Report(#[from] io::Error),
}

impl<E: Coded + 'static> Coded for RunError<E> {
    fn code(&self) -> Code {
        match self {
            RunError::Program { error, .. } => error.code(),
            RunError::Abend(_) => Code(fault::ABEND),
            RunError::Report(_) => Code(fault::REPORT),
        }
    }

    fn remedy(&self) -> String {
        match self {
            RunError::Program { error, .. } => error.remedy(),
            RunError::Abend(_) => fault::remedy(fault::ABEND),
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
    let mut run = Run {
        program,
        observer,
        area: vec![b' '; AREA_BYTES],
        held_pcb: None,
        held_aib: None,
        is_pcb_known: true,
        uses_aib: false,
        limit: 0,
        last: None,
        summary: Summary::default(),
    };
    let done = run.items(&deck.items);
    let ended = run.observer.notice(&Event::Ended);
    done?;
    ended?;
    Ok(run.summary)
}

struct Run<'a, P> {
    program: &'a mut P,
    observer: &'a mut dyn Observer,
    area: Vec<u8>,
    held_pcb: Option<PcbCheck>,
    held_aib: Option<AibCheck>,
    is_pcb_known: bool,
    uses_aib: bool,
    /// After how many differences the run ends; 0 is never.
    limit: u64,
    /// What the last call left.
    last: Option<Feedback>,
    summary: Summary,
}

/// What does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Run,
    Stack,
}

type Flow<P> = Result<ControlFlow<Stop>, RunError<<P as Program>::Error>>;

impl<P: Program> Run<'_, P> {
    fn items(&mut self, items: &[Item]) -> Result<(), RunError<P::Error>> {
        for item in items {
            if self.item(item)? == ControlFlow::Break(Stop::Run) {
                break;
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Flow<P> {
        match item {
            Item::Comment { card, text, is_conditional } => {
                let (card, is_conditional) = (*card, *is_conditional);
                self.observer.notice(&Event::Comment { card, text, is_conditional })?;
            }
            Item::Wrong(error) => self.wrong(error)?,
            Item::Status(status) => self.status(status)?,
            Item::Options(options) => {
                self.limit = options.abort.unwrap_or(self.limit);
                self.observer.notice(&Event::Options(options.card))?;
            }
            Item::Punch(punching) => self.observer.notice(&Event::Punch(punching))?,
            Item::Abend { card } => return Err(RunError::Abend(*card)),
            Item::Stack(stack) => return self.stack(stack),
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
        self.uses_aib = status.uses_aib.unwrap_or(self.uses_aib);
        let all = if status.lists { self.program.pcbs() } else { Vec::new() };
        for (at, title) in all.iter().enumerate() {
            self.observer.notice(&Event::Pcb { number: at + 1, title })?;
        }
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

    fn stack(&mut self, stack: &Stack) -> Flow<P> {
        self.last = None;
        'rounds: for _ in 0..stack.repeat {
            for item in &stack.items {
                match self.item(item)? {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(Stop::Stack) => break 'rounds,
                    ControlFlow::Break(Stop::Run) => return Ok(ControlFlow::Break(Stop::Run)),
                }
            }
        }
        if stack.checks == Checks::default() {
            return Ok(ControlFlow::Continue(()));
        }
        match self.last.take() {
            Some(feedback) => self.compare(&stack.checks, &feedback),
            None => {
                self.not_issued(stack.card, "nothing is compared: the stack issued no call")?;
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn not_issued(&mut self, card: u32, message: &str) -> io::Result<()> {
        let (code, message) = (fault::NOT_ISSUED, message.to_owned());
        self.wrong(&CardError { card, column: 1, code, message })
    }

    fn call(&mut self, call: &Call) -> Flow<P> {
        if !self.is_pcb_known {
            self.not_issued(call.card, "the call is left out: its PCB is not known")?;
            return Ok(ControlFlow::Continue(()));
        }
        let mut flow = ControlFlow::Continue(());
        for nth in 1..=call.repeat {
            let Some(feedback) = self.issue(call, nth)? else { break };
            if self.compare_call(&call.checks, &feedback)?.is_break() {
                return Ok(ControlFlow::Break(Stop::Run));
            }
            let is_end = feedback.status == *b"GB";
            self.last = Some(feedback);
            if is_end {
                let is_stack = call.repeat == 1;
                flow = if is_stack { ControlFlow::Break(Stop::Stack) } else { flow };
                break;
            }
        }
        if let Some(check) = call.checks.pcb.last() {
            self.held_pcb = check.is_held.then(|| check.clone());
        }
        if let Some(check) = call.checks.aib.last() {
            self.held_aib = check.is_held.then_some(*check);
        }
        Ok(flow)
    }

    /// Issues a call once; `None` if its data does not fit.
    fn issue(&mut self, call: &Call, nth: u32) -> Result<Option<Feedback>, RunError<P::Error>> {
        let data = match self.fill(&call.data) {
            Ok(data) => data,
            Err(error) => {
                self.wrong(&error)?;
                return Ok(None);
            }
        };
        let (function, uses_aib) = (call.function, self.uses_aib);
        let request = Request { function, ssas: &call.ssas, data: &data, uses_aib };
        let mut feedback = self
            .program
            .call(&request, &mut self.area)
            .map_err(|error| RunError::Program { card: call.card, error })?;
        feedback.filled = feedback.filled.min(self.area.len());
        feedback.given = feedback.given.min(self.area.len());
        self.summary.calls += 1;
        let data = &self.area[..feedback.filled];
        let given = &self.area[..feedback.given];
        self.observer.notice(&Event::Called { call, nth, feedback: &feedback, data, given })?;
        Ok(Some(feedback))
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

    /// Compares with what the call's cards say, and where they say nothing, with what is held.
    fn compare_call(&mut self, checks: &Checks, feedback: &Feedback) -> Flow<P> {
        let held = (self.held_pcb.as_ref(), self.held_aib);
        if (checks.pcb.is_empty() && held.0.is_some())
            || (checks.aib.is_empty() && held.1.is_some())
        {
            let mut checks = checks.clone();
            if checks.pcb.is_empty() {
                checks.pcb.extend(held.0.cloned());
            }
            if checks.aib.is_empty() {
                checks.aib.extend(held.1);
            }
            return self.compare(&checks, feedback);
        }
        self.compare(checks, feedback)
    }

    fn compare(&mut self, checks: &Checks, feedback: &Feedback) -> Flow<P> {
        let mut made = Vec::new();
        for check in &checks.pcb {
            made.push((check.card, check.ends_at_difference, check.differences(feedback)));
        }
        for check in &checks.aib {
            let Some(codes) = feedback.aib else {
                let (card, message) = (check.card, "the call used no AIB".to_owned());
                self.wrong(&CardError { card, column: 4, code: fault::AIB, message })?;
                continue;
            };
            made.push((check.card, false, check.differences(codes)));
        }
        let mut at = 0;
        for check in &checks.data {
            let (mut piece, mut differences) = (&check.piece, Vec::new());
            let area = &self.area[at..feedback.filled];
            let data;
            if check.compares_length {
                let (rest, difference) = piece.compare_length(area);
                data = rest;
                piece = &data;
                differences.extend(difference);
            }
            let (length, difference) = piece.compare(area);
            at += length;
            differences.extend(difference);
            made.push((check.piece.card, check.ends_at_difference, differences));
        }
        for (card, ends, differences) in made {
            self.summary.compared += 1;
            let differs = !differences.is_empty();
            self.summary.different += u64::from(differs);
            self.observer.notice(&Event::Compared(&Compared { card, differences }))?;
            let is_enough = self.limit > 0 && self.summary.different >= self.limit;
            if differs && (ends || is_enough) {
                self.summary.ended_by = Some(card);
            }
        }
        let is_ended = self.summary.ended_by.is_some();
        Ok(if is_ended { ControlFlow::Break(Stop::Run) } else { ControlFlow::Continue(()) })
    }
}

impl AibCheck {
    /// What of an AIB is not as expected.
    fn differences(&self, codes: AibCodes) -> Vec<String> {
        let differ = |what: &str, expected: Option<u32>, returned: u32| {
            let expected = expected.filter(|expected| *expected != returned)?;
            Some(format!("{what}: x'{expected:04x}' expected, x'{returned:04x}' returned"))
        };
        let return_code = differ("return code", self.return_code, codes.return_code);
        let reason = differ("reason code", self.reason, codes.reason);
        return_code.into_iter().chain(reason).collect()
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
