//! EXEC DLI at run time: from a descriptor to calls, and from their answers to the program's items.
//!
//! Invariants:
//! 1. Every command that returns has set all of the DIB.
//! 2. Only what a command names is written: the areas of gets, the key feedback, and the areas that
//!    XRST, ROLS, STAT and POS give back.

use exec_dli::dib::{ABEND, ByteOrder, Dib, Outcome, outcome};
use exec_dli::plan::{
    Action, Argument, Call, Items, Pcb, Plan, Room, SegmentSize, Segments, plan, scatter,
};
use exec_dli::{Command, DescriptorError, Verb, decode};
use region::exec::{Commands, Program};
use region::shape::{DatabaseShape, PcbKind, PcbShape, text};
use region::{Abend, DirectAnswer, DirectCall};

use crate::error::{abend, because};

/// Where the DIB, the numbers and the first parameter stand among a command's items.
const DIB: usize = 0;
const NUMBERS: usize = 1;
const PARAMETERS: usize = 2;
/// The longest I/O area.
const AREA_MAX: usize = 64 << 10;

type Status = [u8; 2];
const DONE: Status = *b"  ";

/// Carries out the EXEC DLI commands of a program.
pub struct ExecDli {
    schedule: exec_dli::Schedule,
    listed: Option<Listed>,
}

/// The PCBs of the program as its commands name them.
struct Listed {
    /// Their numbers, in the order of the program's list.
    numbers: Vec<usize>,
    shapes: Vec<PcbShape>,
}

impl Listed {
    fn of(shapes: &[PcbShape]) -> Listed {
        let listed = shapes.iter().enumerate().filter(|(_, shape)| shape.listed);
        Listed { numbers: listed.map(|(number, _)| number).collect(), shapes: shapes.to_vec() }
    }

    /// The number of the n-th PCB of the list, from 1.
    fn number(&self, nth: u16) -> Option<usize> {
        self.numbers.get(usize::from(nth).checked_sub(1)?).copied()
    }

    /// What the n-th PCB of the list sees, if it is for a database.
    fn database(&self, nth: u16) -> Option<&DatabaseShape> {
        match &self.shapes.get(self.number(nth)?)?.kind {
            PcbKind::Database(database) => Some(database),
            _ => None,
        }
    }
}

impl Segments for Listed {
    fn size(&self, pcb: u16, segment: &[u8; 8]) -> Option<SegmentSize> {
        let mut segments = self.database(pcb)?.segments.iter();
        let segment = segments.find(|one| one.name == *segment)?;
        Some(match segment.variable {
            true => SegmentSize::Variable,
            false => SegmentSize::Fixed(usize::from(segment.bytes_max)),
        })
    }
}

/// The items of a command.
struct Reached<'a, 'p>(&'a mut Program<'p>);

impl Items for Reached<'_, '_> {
    fn number(&mut self, slot: u8) -> i32 {
        let at = usize::from(slot) * 4;
        let bytes = self.0.read(NUMBERS, at + 4);
        let word = bytes.get(at..).and_then(|word| word.first_chunk::<4>());
        word.map_or(0, |word| i32::from_ne_bytes(*word))
    }

    fn item(&mut self, parameter: u8, length: usize) -> Option<Vec<u8>> {
        let index = usize::from(parameter) + PARAMETERS;
        (index < self.0.items()).then(|| self.0.read(index, length))
    }
}

/// What a command came to.
struct Came {
    status: Status,
    /// The n-th PCB of the list, and what its call answered.
    answer: Option<(u16, DirectAnswer)>,
}

impl From<Status> for Came {
    fn from(status: Status) -> Came {
        Came { status, answer: None }
    }
}

impl ExecDli {
    /// For a program with this PSB.
    #[must_use]
    pub fn new(psb: &str) -> ExecDli {
        let psb = crate::shapes::named(psb);
        ExecDli { schedule: exec_dli::Schedule::new(psb), listed: None }
    }

    fn carry_out(
        &mut self,
        command: &Command,
        listed: &Listed,
        program: &mut Program<'_>,
    ) -> Result<Came, Abend> {
        let planned = match plan(command, &mut Reached(program), listed) {
            Ok(planned) => planned,
            Err(status) => return Ok(status.into()),
        };
        if !matches!(planned.action, Action::Schedule(_) | Action::Terminate) {
            let status = self.schedule.check();
            if status != DONE {
                return Ok(status.into());
            }
        }
        match &planned.action {
            Action::Schedule(psb) => Ok(self.schedule.schedule(psb).into()),
            Action::Terminate => {
                let status = self.schedule.terminate();
                if status != DONE {
                    return Ok(status.into());
                }
                let sync = Call {
                    function: *b"SYNC",
                    pcb: Pcb::Io,
                    arguments: Vec::new(),
                    ssas: Vec::new(),
                };
                Ok(Came { status: call(&sync, 0, 0, program)?.status, answer: None })
            }
            Action::Query(pcb) => {
                // A PSB is scheduled only if all its databases can be used.
                Ok(if listed.database(*pcb).is_some() { DONE } else { *b"TP" }.into())
            }
            Action::Call(made) => self.make(made, &planned, listed, program),
        }
    }

    /// Makes a command's call and brings its results to the program's items.
    fn make(
        &mut self,
        made: &Call,
        planned: &Plan,
        listed: &Listed,
        program: &mut Program<'_>,
    ) -> Result<Came, Abend> {
        let (nth, number) = match made.pcb {
            Pcb::Io => (0, 0),
            Pcb::Number(nth) => match listed.number(nth) {
                Some(number) => (nth, number),
                None => return Ok((*b"TP").into()),
            },
        };
        let room = program.pcbs().get(number).map_or(0, |shape| shape.area_max as usize);
        let answer = call(made, number, room.min(AREA_MAX), program)?;
        if made.arguments.first() == Some(&Argument::Buffer) {
            let pieces = scatter(&planned.outputs, nth, &answer.area, listed, ByteOrder::Big);
            for (room, bytes) in pieces {
                write(room, bytes, program)?;
            }
        } else {
            give_back(made, &answer, program)?;
        }
        if let Some(room) = planned.feedback {
            write(room, &answer.key, program)?;
        }
        Ok(Came { status: answer.status, answer: Some((nth, answer)) })
    }
}

impl Commands for ExecDli {
    fn command(&mut self, descriptor: &[u8], program: &mut Program<'_>) -> Result<(), Abend> {
        let command =
            decode(descriptor).map_err(|error: DescriptorError| because("U0474", &error))?;
        let listed = self.listed.take().unwrap_or_else(|| Listed::of(program.pcbs()));
        let came = self.carry_out(&command, &listed, program);
        let told = came.and_then(|came| tell(&came, command.verb, &listed, program));
        self.listed = Some(listed);
        told
    }
}

/// Makes a call.
fn call(
    made: &Call,
    pcb: usize,
    room: usize,
    program: &mut Program<'_>,
) -> Result<DirectAnswer, Abend> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    let mut is_buffer = false;
    for argument in &made.arguments {
        match argument {
            Argument::Buffer => {
                is_buffer = true;
                values.push(Vec::new());
            }
            Argument::Bytes(bytes) | Argument::Work(bytes, _) => values.push(bytes.clone()),
            Argument::Message(text) => values.push(message(text)),
            Argument::Item(room) => values.push(read(*room, program)?),
            // Lengths are in the areas' own.
            Argument::Length(_) => {}
        }
    }
    let mut values = values.iter().map(Vec::as_slice);
    let area = values.next();
    let more: Vec<&[u8]> = values.collect();
    let ssas: Vec<&[u8]> = made.ssas.iter().map(Vec::as_slice).collect();
    let room = if is_buffer { room } else { area.map_or(0, <[u8]>::len) };
    program.call(&DirectCall { function: made.function, pcb, ssas: &ssas, more: &more, area, room })
}

/// A text with LL and ZZ in front.
fn message(text: &[u8]) -> Vec<u8> {
    let len = u16::try_from(text.len() + 4).unwrap_or(u16::MAX);
    let mut bytes = len.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(text);
    bytes
}

fn read(room: Room, program: &mut Program<'_>) -> Result<Vec<u8>, Abend> {
    let bytes = program.read(usize::from(room.parameter) + PARAMETERS, room.length);
    if bytes.len() < room.length {
        return Err(out_of_reach());
    }
    Ok(bytes)
}

fn write(room: Room, bytes: &[u8], program: &mut Program<'_>) -> Result<(), Abend> {
    let bytes = &bytes[..bytes.len().min(room.length)];
    match program.write(usize::from(room.parameter) + PARAMETERS, bytes) {
        true => Ok(()),
        false => Err(out_of_reach()),
    }
}

fn out_of_reach() -> Abend {
    abend("U0474", "an item of an EXEC DLI command is not in the program's memory")
}

/// Areas that a call has changed go back to the items that they are.
fn give_back(made: &Call, answer: &DirectAnswer, program: &mut Program<'_>) -> Result<(), Abend> {
    if !matches!(&made.function, b"XRST" | b"ROLS" | b"STAT" | b"POS ") {
        return Ok(());
    }
    let areas = std::iter::once(&answer.area).chain(&answer.more);
    let given = made.arguments.iter().filter(|one| !matches!(one, Argument::Length(_)));
    for (argument, bytes) in given.zip(areas) {
        match argument {
            Argument::Item(room) | Argument::Work(_, Some(room)) => write(*room, bytes, program)?,
            _ => {}
        }
    }
    Ok(())
}

/// Fills the DIB, or ends the program if the status is none that a command returns.
fn tell(came: &Came, verb: Verb, listed: &Listed, program: &mut Program<'_>) -> Result<(), Abend> {
    let mut dib = Dib::of_status(came.status);
    if let Some((nth, answer)) = &came.answer
        && let Some(database) = listed.database(*nth)
    {
        dib.segment = text(&answer.segment).into_bytes();
        dib.level = answer.level;
        dib.key_length = u16::try_from(answer.key.len()).unwrap_or(u16::MAX);
        dib.database = text(&database.dbd).into_bytes();
        dib.organization = text(&database.organization).into_bytes();
    }
    if !program.write(DIB, &dib.encode(ByteOrder::Big)) {
        return Err(out_of_reach());
    }
    if outcome(came.status) == Outcome::Returned {
        return Ok(());
    }
    let status = String::from_utf8_lossy(&came.status).into_owned();
    let text = format!("EXEC DLI {verb:?} got status {status}, which does not return");
    Err(abend(&format!("U{ABEND}"), text))
}
