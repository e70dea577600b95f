//! EXEC DLI commands, from the source to the call: what the crate `exec-dli` says, done here.
//!
//! Items of the program are counted behind the descriptor: 0 is the DIB, 1 the numbers, and item n
//! of the command is n + 2.
//!
//! | the PSB | SCHD of it | other commands | TERM |
//! |---|---|---|---|
//! | is there from the start | blank, and scheduled | work | commits, given up |
//! | scheduled | TC | work | commits, given up |
//! | given up | blank, and scheduled | TH | TG |
//!
//! Invariants:
//! 1. Every command that returns has set the DIB; a status that does not return is an abend.
//! 2. PCBs are counted as the program was given them, from 1.

use std::path::Path;

use base::Coded;
use definitions::Function;
use exec_dli::dib::{self, ByteOrder, Dib, Outcome};
use exec_dli::plan::{Action, Argument, Call, Items, Pcb, Plan, Room, SegmentSize, Segments};
use exec_dli::plan::{plan, scatter};
use exec_dli::{Command, CompilerOptions, Foreign, HEADER, Members, Options};

use crate::abends::abend;
use crate::exec::{Commands, Program};
use crate::interface::{DirectAnswer, DirectCall};
use crate::layout::{Name, PcbKind, PcbLayout, text};
use crate::masks::Order;
use crate::program::{COMPILED_NAME, Translate, Translated, Untranslated};
use crate::server::Abend;
use crate::wire::AREA_BYTES_MAX;

const DIB_ITEM: usize = 0;
const NUMBERS_ITEM: usize = 1;
const FIRST_ITEM: usize = 2;
/// The program's I/O PCB among all of its PCBs.
const IO_PCB: usize = 0;

/// Prepares COBOL sources: EXEC DLI commands, CBL and PROCESS cards.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preprocessor {
    /// Whether sources are in free format from their first line on.
    pub is_free: bool,
}

struct Found<'a>(&'a dyn Fn(&str) -> Option<Vec<u8>>);

impl Members for Found<'_> {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        (self.0)(name)
    }
}

impl Translate for Preprocessor {
    fn translate(
        &self,
        _: &Path,
        source: &[u8],
        member: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Translated, Untranslated> {
        let options = Options { file: COMPILED_NAME, is_free: self.is_free };
        let translation = exec_dli::translate(source, &options, &Found(member));
        if let Some(Foreign { system, line, count }) = translation.foreign {
            let others =
                if count == 1 { String::new() } else { format!(" and {} more", count - 1) };
            let text = format!("it has EXEC {system} in line {line}{others}");
            return Err(Untranslated::Elsewhere { system, text });
        }
        if !translation.diagnostics.is_empty() {
            let shown = translation.diagnostics.iter().map(ToString::to_string);
            let shown = shown.collect::<Vec<_>>().join("\n");
            return Err(Untranslated::Wrong(shown.trim_end().to_owned()));
        }
        let members = translation.members.into_iter();
        let members = members.map(|member| (member.name, member.text)).collect();
        let asked = CompilerOptions::of_source(source, self.is_free);
        let display = [
            (asked.shows_all_digits, "HF_ALL_DIGITS"),
            (asked.separate_signs, "HF_SEPARATE_SIGNS"),
            (asked.checks_zoned, "HF_CHECK_ZONED"),
        ];
        let display = display.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name);
        Ok(Translated {
            text: translation.text,
            members,
            display: display.collect(),
            options: asked.apostrophe.then_some("-fsingle-quote").into_iter().collect(),
            warnings: asked.warning().unwrap_or_default(),
        })
    }

    fn configuration(&self, texts: &[&[u8]]) -> String {
        let asked = texts.first().map(|source| CompilerOptions::of_source(source, self.is_free));
        let asked = asked.unwrap_or_default();
        exec_dli::configuration_for(texts.iter().copied()) + asked.configuration()
    }
}

/// Carries out the commands of a program.
#[derive(Clone, Debug)]
pub struct ExecDli {
    psb: Name,
    schedule: Schedule,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    FromTheStart,
    ByCommand,
    GivenUp,
}

/// What a command leaves in the DIB.
struct DibOutcome {
    dib: Dib,
    /// The PCB whose database it names.
    pcb: Option<usize>,
}

impl DibOutcome {
    fn status(status: [u8; 2]) -> DibOutcome {
        DibOutcome { dib: Dib::of_status(status), pcb: None }
    }
}

impl ExecDli {
    /// For a program that runs under the PSB of this name.
    #[must_use]
    pub fn new(psb: &str) -> ExecDli {
        ExecDli {
            psb: crate::layout::name(psb),
            schedule: Schedule::FromTheStart,
            seen: Seen::default(),
        }
    }

    fn carry_out(
        &mut self,
        command: &Command,
        numbers: &[i32],
        program: &mut Program<'_>,
    ) -> Result<DibOutcome, Abend> {
        if self.seen.0.is_empty() {
            self.seen = Seen::of(program.pcbs());
        }
        let order = byte_order(program.order());
        let plan = plan(command, &mut Passed { numbers, order, program }, &self.seen);
        let Plan { action, outputs, feedback } = match plan {
            Ok(plan) => plan,
            Err(status) => return Ok(DibOutcome::status(status)),
        };
        let given_up = self.schedule == Schedule::GivenUp;
        let call = match action {
            Action::Schedule(psb) => return Ok(DibOutcome::status(self.schedule(psb))),
            Action::Terminate if given_up => return Ok(DibOutcome::status(*b"TG")),
            _ if given_up => return Ok(DibOutcome::status(*b"TH")),
            Action::Terminate => {
                let sync = on_io_pcb(Function::Sync);
                let answer = program.call(&sync)?;
                self.schedule = Schedule::GivenUp;
                return Ok(DibOutcome::status(answer.status));
            }
            Action::Query(number) => return query(number, &self.seen, program),
            Action::Call(call) => call,
        };
        let number = match call.pcb {
            Pcb::Number(number) => number,
            Pcb::Io => 0,
        };
        let Some(pcb) = (if number == 0 { Some(IO_PCB) } else { self.seen.pcb(number) }) else {
            return Ok(DibOutcome::status(*b"TP"));
        };
        let answer = make(&call, pcb, order, program)?;
        for (room, bytes) in scatter(&outputs, number, &answer.area, &self.seen, order) {
            program.write(FIRST_ITEM + usize::from(room.parameter), bytes);
        }
        if let Some(room) = feedback {
            let key = &answer.key[..answer.key.len().min(room.length)];
            program.write(FIRST_ITEM + usize::from(room.parameter), key);
        }
        let dib = Dib {
            segment: answer.segment.to_vec(),
            level: answer.level,
            key_length: answer.key.len() as u16,
            ..Dib::of_status(answer.status)
        };
        Ok(DibOutcome { dib, pcb: Some(pcb) })
    }

    fn schedule(&mut self, psb: Name) -> [u8; 2] {
        match self.schedule {
            Schedule::ByCommand => *b"TC",
            _ if psb != self.psb => *b"TA",
            _ => {
                self.schedule = Schedule::ByCommand;
                *b"  "
            }
        }
    }
}

impl Commands for ExecDli {
    fn command(&mut self, descriptor: &[u8], program: &mut Program<'_>) -> Result<(), Abend> {
        let damaged = |error: exec_dli::DescriptorError| abend(error.code().0, &error.to_string());
        let head = descriptor.first_chunk::<HEADER>();
        let head =
            head.ok_or_else(|| abend("U0474", "an EXEC DLI command without a descriptor"))?;
        let header = exec_dli::header(head).map_err(damaged)?;
        let descriptor = &descriptor[..descriptor.len().min(header.length)];
        let command = exec_dli::decode(descriptor).map_err(damaged)?;
        let numbers = program.read(NUMBERS_ITEM, usize::from(header.numbers) * 4);
        let number =
            |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
        let numbers: Vec<i32> = numbers.chunks(4).map(number).collect();
        let DibOutcome { mut dib, pcb } = self.carry_out(&command, &numbers, program)?;
        if let Some(PcbKind::Database(database)) = pcb.map(|pcb| &program.pcbs()[pcb].kind) {
            dib.database = database.dbd.to_vec();
            dib.organization = database.organization.to_vec();
        }
        if dib::outcome(dib.status) == Outcome::Abend {
            let code = format!("U{:04}", dib::ABEND);
            let text = format!("EXEC DLI {} got status {}", command.verb, text(&dib.status));
            return Err(abend(&code, &text));
        }
        if !program.write(DIB_ITEM, &dib.encode(byte_order(program.order()))) {
            return Err(abend("U0474", "the DIB is not in the program's memory"));
        }
        Ok(())
    }
}

/// Makes the call of a command, and brings back what it says in places of its own.
fn make(
    call: &Call,
    pcb: usize,
    order: ByteOrder,
    program: &mut Program<'_>,
) -> Result<DirectAnswer, Abend> {
    let longest = program.pcbs()[pcb].area_max as usize;
    let mut area: Option<(Vec<u8>, usize)> = None;
    let mut more = Vec::new();
    // Where area and further parameters go when the call has returned.
    let mut backs: Vec<Option<Room>> = Vec::new();
    for argument in &call.arguments {
        let (bytes, room, back) = match argument {
            // The lengths in front of areas are those of the items themselves.
            Argument::Length(_) => continue,
            Argument::Buffer => (Vec::new(), longest, None),
            Argument::Bytes(bytes) => (bytes.clone(), bytes.len(), None),
            Argument::Work(bytes, back) => (bytes.clone(), bytes.len(), *back),
            Argument::Message(text) => (message(text, order), text.len() + 4, None),
            Argument::Item(room) => {
                let length = room.length.min(AREA_BYTES_MAX);
                let item = FIRST_ITEM + usize::from(room.parameter);
                (program.read(item, length), length, Some(*room))
            }
        };
        backs.push(back);
        if area.is_none() {
            area = Some((bytes, room));
        } else {
            more.push(bytes);
        }
    }
    let ssas: Vec<&[u8]> = call.ssas.iter().map(Vec::as_slice).collect();
    let more: Vec<&[u8]> = more.iter().map(Vec::as_slice).collect();
    let answer = program.call(&DirectCall {
        function: call.function,
        pcb,
        ssas: &ssas,
        more: &more,
        area: area.as_ref().map(|(bytes, _)| bytes.as_slice()),
        room: area.as_ref().map_or(0, |(_, room)| *room),
    })?;
    let results = std::iter::once(&answer.area).chain(&answer.more);
    for (bytes, back) in results.zip(backs) {
        if let Some(room) = back {
            let bytes = &bytes[..bytes.len().min(room.length)];
            program.write(FIRST_ITEM + usize::from(room.parameter), bytes);
        }
    }
    Ok(answer)
}

/// Length, two zero bytes, text.
fn message(text: &[u8], order: ByteOrder) -> Vec<u8> {
    let length = (text.len() + 4) as u16;
    let length = match order {
        ByteOrder::Big => length.to_be_bytes(),
        ByteOrder::Native => length.to_ne_bytes(),
    };
    [&length[..], &[0, 0], text].concat()
}

/// The state of a PCB's database.
fn query(number: u16, seen: &Seen, program: &mut Program<'_>) -> Result<DibOutcome, Abend> {
    let Some(pcb) = seen.pcb(number) else { return Ok(DibOutcome::status(*b"TP")) };
    let request = message(b"DBQUERY", byte_order(program.order()));
    let call =
        DirectCall { area: Some(&request), room: request.len(), ..on_io_pcb(Function::Init) };
    let answer = program.call(&call)?;
    let own = answer.statuses.iter().find(|(changed, _)| *changed == pcb && pcb != IO_PCB);
    let status = own.map_or(*b"  ", |(_, status)| *status);
    Ok(DibOutcome { dib: Dib::of_status(status), pcb: Some(pcb) })
}

fn on_io_pcb(function: Function) -> DirectCall<'static> {
    DirectCall { function, pcb: IO_PCB, ssas: &[], more: &[], area: None, room: 0 }
}

fn byte_order(order: Order) -> ByteOrder {
    match order {
        Order::Big => ByteOrder::Big,
        Order::Native => ByteOrder::Native,
    }
}

/// What the program passed with a command.
struct Passed<'a, 'p> {
    numbers: &'a [i32],
    order: ByteOrder,
    program: &'a mut Program<'p>,
}

impl Items for Passed<'_, '_> {
    fn number(&mut self, slot: u8) -> i32 {
        self.numbers.get(usize::from(slot)).copied().unwrap_or_default()
    }

    fn item(&mut self, parameter: u8, length: usize) -> Option<Vec<u8>> {
        let bytes = self.program.read(FIRST_ITEM + usize::from(parameter), length);
        (bytes.len() == length).then_some(bytes)
    }

    fn order(&self) -> ByteOrder {
        self.order
    }
}

/// The PCBs that the program was given, in their order.
#[derive(Clone, Debug, Default)]
struct Seen(Vec<(usize, PcbLayout)>);

impl Seen {
    fn of(layouts: &[PcbLayout]) -> Seen {
        let listed = layouts.iter().enumerate().filter(|(_, layout)| layout.listed);
        Seen(listed.map(|(pcb, layout)| (pcb, layout.clone())).collect())
    }

    fn get(&self, number: u16) -> Option<&(usize, PcbLayout)> {
        self.0.get(usize::from(number).checked_sub(1)?)
    }

    fn pcb(&self, number: u16) -> Option<usize> {
        self.get(number).map(|(pcb, _)| *pcb)
    }
}

impl Segments for Seen {
    fn size(&self, pcb: u16, segment: &[u8; 8]) -> Option<SegmentSize> {
        let PcbKind::Database(database) = &self.get(pcb)?.1.kind else { return None };
        let known = database.segments.iter().find(|known| known.name == *segment)?;
        let fixed = SegmentSize::Fixed(usize::from(known.bytes_max));
        Some(if known.variable { SegmentSize::Variable } else { fixed })
    }
}
