//! From a command to the DL/I call that it means, and from the call's I/O area to the program's.
//!
//! | command | call |
//! |---|---|
//! | GU, GN, GNP | GHU, GHN, GHNP: every get holds |
//! | ISRT, LOAD | ISRT |
//! | REPL, DLET | the same, each segment that is meant named by an unqualified SSA |
//! | CHKP, SYMCHKP, XRST, ROLL, ROLB, ROLS, SETS, SETU, LOG, DEQ | the same, on the I/O PCB |
//! | ACCEPT, REFRESH | INIT |
//! | QUERY, SCHD, TERM | none: the region answers |
//!
//! | option | in the SSA | option | in the SSA |
//! |---|---|---|---|
//! | INTO, FROM above the lowest segment | D | LOCKED, LOCKCLASS | Q and the class |
//! | FIRST, LAST | F, L | MOVENEXT, GETFIRST | M, R and numbers |
//! | CURRENT | V | SET, SETCOND, SETZERO | S, W, Z and numbers |
//! | SETPARENT | P | KEYS | C and the concatenated key |
//!
//! | status | when |
//! |---|---|
//! | V2 | a length of a segment or area is not positive, or too short for the segment |
//! | V3 | a FIELDLENGTH is not positive |
//! | V4 | the length in a segment of variable length is larger than its area |
//! | V5 | an OFFSET is not positive |
//! | V6 | a KEYLENGTH or FEEDBACKLEN is not positive |
//! | V7 | the area of STAT is too short |
//! | TN | a parameter is missing |
//! | TP | the number of the PCB is not positive |
//! | TZ | an item, or the segments together, are longer than 64 KiB |
//!
//! Invariants:
//!
//! 1. No byte beyond an item's stated length is asked for, nor more than 64 KiB of it; none beyond
//!    it is given back.
//! 2. What a segment of fixed length sends is exactly its length; of variable length, its LL.

use std::cell::RefCell;

use definitions::Function;

use crate::command::{Area, Command, Number, Segment, Text, Verb};
use crate::dib::ByteOrder;

/// The longest item that is read.
const ITEM_MOST: usize = 64 << 10;

/// A status code.
pub type Status = [u8; 2];

/// What the running program passed.
pub trait Items {
    /// The number at this index; the region has as many as the descriptor's header says.
    fn number(&mut self, slot: u8) -> i32;
    /// The first bytes of an item, all of them; nothing if the parameter was not passed.
    fn item(&mut self, parameter: u8, length: usize) -> Option<Vec<u8>>;
    /// How the program stores the length in front of a segment of variable length.
    fn order(&self) -> ByteOrder {
        ByteOrder::Big
    }
}

/// How long a segment is in the I/O area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSize {
    /// Always so long.
    Fixed(usize),
    /// As long as the two bytes in front say.
    Variable,
}

/// What is known of the segments of a PCB.
pub trait Segments {
    /// The size of a segment, its name blank-padded; nothing if the PCB does not see it.
    fn size(&self, pcb: u16, segment: &[u8; 8]) -> Option<SegmentSize>;
}

/// An item of the program that receives something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The index of its parameter.
    pub parameter: u8,
    /// How many bytes it holds.
    pub length: usize,
}

/// What stands in the I/O area behind a get, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The segment; nothing if the call named none.
    pub segment: Option<[u8; 8]>,
    /// Where it goes; nothing if the program does not want it.
    pub room: Option<Room>,
}

/// A parameter of a call, behind the PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The region's I/O area, to be filled.
    Buffer,
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes; the call may change them, and their beginning then goes back to an item.
    Work(Vec<u8>, Option<Room>),
    /// This text with its length in front, as INIT wants it.
    Message(Vec<u8>),
    /// A length, a fullword.
    Length(u32),
    /// The program's own item.
    Item(Room),
}

/// Which PCB a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pcb {
    /// The PCB of that number, from 1. The I/O PCB counts if it is in the list.
    Number(u16),
    /// The I/O PCB, whether or not it is in the list.
    Io,
}

/// A DL/I call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its function.
    pub function: Function,
    /// Its PCB.
    pub pcb: Pcb,
    /// Its parameters.
    pub arguments: Vec<Argument>,
    /// Its SSAs.
    pub ssas: Vec<Vec<u8>>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// This call.
    Call(Call),
    /// Give the state of that PCB's database: blank, NA or NU.
    Query(u16),
    /// Schedule that PSB; see [`Schedule`](crate::Schedule).
    Schedule([u8; 8]),
    /// Commit, and give up the PSB; see [`Schedule`](crate::Schedule).
    Terminate,
}

/// What a command means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is to be done.
    pub action: Action,
    /// What the I/O area holds afterwards.
    pub outputs: Vec<Output>,
    /// Where the key feedback goes.
    pub feedback: Option<Room>,
}

/// What a command means with these values.
///
/// # Errors
///
/// The status that the command gets instead, if a value is impossible.
pub fn plan(
    command: &Command,
    items: &mut dyn Items,
    segments: &dyn Segments,
) -> Result<Plan, Status> {
    Planner { command, items: RefCell::new(items), segments }.plan()
}

/// The pieces of an I/O area that go back to the program, each with its item.
#[must_use]
pub fn scatter<'b>(
    outputs: &[Output],
    pcb: u16,
    buffer: &'b [u8],
    segments: &dyn Segments,
    order: ByteOrder,
) -> Vec<(Room, &'b [u8])> {
    let mut out = Vec::new();
    let mut rest = buffer;
    for output in outputs {
        let size = output.segment.and_then(|segment| segments.size(pcb, &segment));
        let len = match size {
            Some(SegmentSize::Fixed(len)) => len,
            Some(SegmentSize::Variable) => leading_length(rest, order).unwrap_or(rest.len()),
            None => rest.len(),
        };
        let (piece, behind) = rest.split_at(len.min(rest.len()));
        if let Some(room) = output.room {
            out.push((room, &piece[..piece.len().min(room.length)]));
        }
        rest = behind;
    }
    out
}

/// The length in front of a segment of variable length.
fn leading_length(bytes: &[u8], order: ByteOrder) -> Option<usize> {
    let first = *bytes.first_chunk()?;
    Some(usize::from(match order {
        ByteOrder::Big => u16::from_be_bytes(first),
        ByteOrder::Native => u16::from_ne_bytes(first),
    }))
}

struct Planner<'a> {
    command: &'a Command,
    items: RefCell<&'a mut dyn Items>,
    segments: &'a dyn Segments,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan, Status> {
        let command = self.command;
        let action = match command.verb {
            Verb::GetUnique => self.get(Function::Ghu)?,
            Verb::GetNext => self.get(Function::Ghn)?,
            Verb::GetNextInParent => self.get(Function::Ghnp)?,
            Verb::Insert | Verb::Load => self.store(Function::Isrt)?,
            Verb::Replace => self.store(Function::Repl)?,
            Verb::Delete => self.store(Function::Dlet)?,
            Verb::Position => self.position()?,
            Verb::Statistics => self.statistics()?,
            Verb::Query => Action::Query(self.pcb()?),
            Verb::Schedule => Action::Schedule(padded(&self.name()?)),
            Verb::Terminate => Action::Terminate,
            _ => self.service()?,
        };
        let feedback = command.feedback.map(|area| self.room(area, *b"V6")).transpose()?;
        Ok(Plan { action, outputs: self.outputs()?, feedback })
    }

    /// Calls on the I/O PCB.
    fn service(&self) -> Result<Action, Status> {
        let bytes = |bytes: &[u8]| vec![Argument::Bytes(bytes.to_vec())];
        let (function, arguments) = match self.command.verb {
            Verb::Checkpoint => (Function::Chkp, bytes(&padded(&self.name()?))),
            Verb::SymbolicCheckpoint => (Function::Chkp, self.symbolic()?),
            Verb::Restart => (Function::Xrst, self.restart()?),
            Verb::Roll => (Function::Roll, Vec::new()),
            Verb::RollBack => (Function::Rolb, Vec::new()),
            Verb::RollToPoint => (Function::Rols, self.point()?),
            Verb::SetPoint => (Function::Sets, self.point()?),
            Verb::SetPointUnconditional => (Function::Setu, self.point()?),
            Verb::Log => (Function::Log, self.own_area()?),
            Verb::Dequeue => (Function::Deq, bytes(&self.name()?)),
            Verb::Accept => {
                let group = [b"STATUS GROUP", self.name()?.as_slice()].concat();
                (Function::Init, vec![Argument::Message(group)])
            }
            // The verbs that are left are none of the I/O PCB's.
            _ => (Function::Init, vec![Argument::Message(b"DBQUERY".to_vec())]),
        };
        let pcb = match self.command.pcb {
            Some(_) => Pcb::Number(self.pcb()?),
            None => Pcb::Io,
        };
        Ok(Action::Call(Call { function, pcb, arguments, ssas: Vec::new() }))
    }

    fn get(&self, function: Function) -> Result<Action, Status> {
        let pcb = Pcb::Number(self.pcb()?);
        let arguments = vec![Argument::Buffer];
        Ok(Action::Call(Call { function, pcb, arguments, ssas: self.ssas()? }))
    }

    fn store(&self, function: Function) -> Result<Action, Status> {
        let pcb = self.pcb()?;
        let mut area = Vec::new();
        for segment in &self.command.segments {
            if let Some(from) = segment.area {
                self.gather(&mut area, pcb, segment, from)?;
            }
        }
        if area.len() > ITEM_MOST {
            return Err(*b"TZ");
        }
        let arguments = vec![Argument::Bytes(area)];
        let pcb = Pcb::Number(pcb);
        Ok(Action::Call(Call { function, pcb, arguments, ssas: self.ssas()? }))
    }

    /// Puts a segment behind those in the I/O area.
    fn gather(
        &self,
        out: &mut Vec<u8>,
        pcb: u16,
        segment: &Segment,
        from: Area,
    ) -> Result<(), Status> {
        let room = self.room(from, *b"V2")?;
        let item = self.item(room)?;
        let size = self.segments.size(pcb, &self.segment_name(segment)?);
        if segment.is_variable || size == Some(SegmentSize::Variable) {
            let length = leading_length(&item, self.items.borrow().order()).ok_or(*b"V2")?;
            // A length that is too small is V1, which the call finds.
            let bytes = item.get(..length.max(2)).ok_or(*b"V4")?;
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let Some(SegmentSize::Fixed(length)) = size else {
            out.extend_from_slice(&item);
            return Ok(());
        };
        match item.get(..length) {
            Some(bytes) => out.extend_from_slice(bytes),
            // Of a segment to delete only the key counts.
            None if self.command.verb == Verb::Delete => {
                out.extend_from_slice(&item);
                out.resize(out.len() + length - item.len(), 0);
            }
            None => return Err(*b"V2"),
        }
        Ok(())
    }

    /// What the I/O area holds after a get: the segments that are asked for, and the lowest one.
    fn outputs(&self) -> Result<Vec<Output>, Status> {
        if !self.command.verb.is_get() {
            return Ok(Vec::new());
        }
        let room = |area: Option<Area>| area.map(|area| self.room(area, *b"V2")).transpose();
        let segments = &self.command.segments;
        if segments.is_empty() {
            return Ok(vec![Output { segment: None, room: room(self.command.area)? }]);
        }
        let mut out = Vec::new();
        for (level, segment) in segments.iter().enumerate() {
            let room = room(segment.area)?;
            if room.is_some() || level + 1 == segments.len() {
                out.push(Output { segment: Some(self.segment_name(segment)?), room });
            }
        }
        Ok(out)
    }

    fn ssas(&self) -> Result<Vec<Vec<u8>>, Status> {
        let segments = &self.command.segments;
        let highest = segments.iter().position(|segment| segment.area.is_some());
        let last = segments.len().saturating_sub(1);
        let mut out = Vec::with_capacity(segments.len());
        for (level, segment) in segments.iter().enumerate() {
            let path = level < last
                && match self.command.verb {
                    Verb::Insert | Verb::Load => highest == Some(level),
                    verb => verb.is_get() && segment.area.is_some(),
                };
            out.push(self.ssa(segment, path)?);
        }
        Ok(out)
    }

    fn ssa(&self, segment: &Segment, path: bool) -> Result<Vec<u8>, Status> {
        if let Some(offset) = segment.offset {
            self.positive(offset, *b"V5")?;
        }
        let mut out = self.segment_name(segment)?.to_vec();
        let codes = self.codes(segment, path)?;
        if !codes.is_empty() {
            out.push(b'*');
            out.extend_from_slice(&codes);
        }
        if let Some(keys) = &segment.keys {
            out.push(b'(');
            out.extend_from_slice(&self.text(keys, *b"V6")?);
        }
        for (index, condition) in segment.conditions.iter().enumerate() {
            out.push(if index == 0 { b'(' } else { condition.join as u8 });
            out.extend_from_slice(&padded(&condition.field));
            out.extend_from_slice(condition.operator.in_ssa());
            out.extend_from_slice(&self.text(&condition.value, *b"V3")?);
        }
        let is_qualified = segment.keys.is_some() || !segment.conditions.is_empty();
        out.push(if is_qualified { b')' } else { b' ' });
        Ok(out)
    }

    fn codes(&self, segment: &Segment, path: bool) -> Result<Vec<u8>, Status> {
        let flags = [
            (path, b'D'),
            (segment.is_first, b'F'),
            (segment.is_last, b'L'),
            (segment.is_current, b'V'),
            (segment.sets_parent, b'P'),
            (segment.keys.is_some(), b'C'),
        ];
        let mut codes: Vec<u8> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
        if let Some(class) = &segment.lock {
            codes.push(b'Q');
            codes.extend_from_slice(&self.text(class, *b"V3")?);
        }
        for subset in &segment.subsets {
            for pointer in self.text(&subset.pointers, *b"V3")?.trim_ascii() {
                codes.extend_from_slice(&[subset.code, *pointer]);
            }
        }
        Ok(codes)
    }

    fn position(&self) -> Result<Action, Status> {
        let pcb = Pcb::Number(self.pcb()?);
        let (arguments, ssas) = (self.own_area()?, self.ssas()?);
        Ok(Action::Call(Call { function: Function::Pos, pcb, arguments, ssas }))
    }

    fn statistics(&self) -> Result<Action, Status> {
        let mut function = self.name()?;
        let least = match function.last() {
            Some(b'U') => 72,
            Some(b'S') => 180,
            _ => 360,
        };
        let area = self.command.area.ok_or(*b"V7")?;
        let room = self.room(area, *b"V7")?;
        if room.length < least {
            return Err(*b"V7");
        }
        function.resize(9, b' ');
        let pcb = Pcb::Number(self.pcb()?);
        let arguments = vec![Argument::Item(room), Argument::Bytes(function)];
        Ok(Action::Call(Call { function: Function::Stat, pcb, arguments, ssas: Vec::new() }))
    }

    fn own_area(&self) -> Result<Vec<Argument>, Status> {
        let area = self.command.area.map(|area| self.room(area, *b"V2")).transpose()?;
        Ok(area.map(Argument::Item).into_iter().collect())
    }

    /// The area and the token of SETS, SETU and ROLS.
    fn point(&self) -> Result<Vec<Argument>, Status> {
        let mut out = self.own_area()?;
        if let Some(token) = &self.command.name {
            if out.is_empty() {
                // A token without user data: an area that holds nothing but its own length.
                out.push(Argument::Message(Vec::new()));
            }
            let mut token = self.text(token, *b"V2")?;
            token.resize(4, b' ');
            out.push(Argument::Bytes(token));
        }
        Ok(out)
    }

    fn symbolic(&self) -> Result<Vec<Argument>, Status> {
        let pairs = self.saved()?;
        let longest = pairs.iter().filter_map(|pair| match pair {
            Argument::Length(length) => Some(*length),
            _ => None,
        });
        let longest = longest.max().unwrap_or(0).max(8);
        let most = self.most()?.unwrap_or(longest);
        let id = padded(&self.name()?).to_vec();
        let mut out = vec![Argument::Length(most), Argument::Bytes(id)];
        out.extend(pairs);
        Ok(out)
    }

    /// XRST: its work area has 14 bytes, the program's ID only eight.
    fn restart(&self) -> Result<Vec<Argument>, Status> {
        let mut work = match &self.command.name {
            Some(_) => self.name()?,
            None => Vec::new(),
        };
        work.resize(14, b' ');
        let back = match &self.command.name {
            Some(Text::Area(area)) => Some(self.room(*area, *b"V2")?),
            _ => None,
        };
        let most = self.most()?.unwrap_or(512);
        let mut out = vec![Argument::Length(most), Argument::Work(work, back)];
        out.extend(self.saved()?);
        Ok(out)
    }

    fn saved(&self) -> Result<Vec<Argument>, Status> {
        let mut out = Vec::new();
        for area in &self.command.saved {
            let room = self.room(*area, *b"V2")?;
            let length = u32::try_from(room.length).map_err(|_| *b"V2")?;
            out.extend([Argument::Length(length), Argument::Item(room)]);
        }
        Ok(out)
    }

    fn most(&self) -> Result<Option<u32>, Status> {
        let most = self.command.most.map(|most| self.positive(most, *b"V2")).transpose()?;
        Ok(most.and_then(|most| u32::try_from(most).ok()))
    }

    fn pcb(&self) -> Result<u16, Status> {
        let number = self.command.pcb.ok_or(*b"TP")?;
        u16::try_from(self.positive(number, *b"TP")?).map_err(|_| *b"TP")
    }

    /// The command's own argument.
    fn name(&self) -> Result<Vec<u8>, Status> {
        self.text(self.command.name.as_ref().ok_or(*b"TN")?, *b"V2")
    }

    fn segment_name(&self, segment: &Segment) -> Result<[u8; 8], Status> {
        Ok(padded(&self.text(&segment.name, *b"V2")?))
    }

    fn number(&self, number: Number) -> i32 {
        match number {
            Number::Literal(value) => value,
            Number::Slot(slot) => self.items.borrow_mut().number(slot),
        }
    }

    /// A number above zero, or the status of one that is not.
    fn positive(&self, number: Number, status: Status) -> Result<usize, Status> {
        usize::try_from(self.number(number)).ok().filter(|value| *value > 0).ok_or(status)
    }

    fn room(&self, area: Area, status: Status) -> Result<Room, Status> {
        let length = self.positive(area.length, status)?;
        Ok(Room { parameter: area.parameter, length })
    }

    fn text(&self, text: &Text, status: Status) -> Result<Vec<u8>, Status> {
        match text {
            Text::Literal(bytes) => Ok(bytes.clone()),
            Text::Area(area) => {
                let room = self.room(*area, status)?;
                self.item(room)
            }
        }
    }

    fn item(&self, room: Room) -> Result<Vec<u8>, Status> {
        if room.length > ITEM_MOST {
            return Err(*b"TZ");
        }
        let item = self.items.borrow_mut().item(room.parameter, room.length);
        item.filter(|item| item.len() == room.length).ok_or(*b"TN")
    }
}

/// Eight bytes, blank-padded.
fn padded(name: &[u8]) -> [u8; 8] {
    let mut out = [b' '; 8];
    let len = name.len().min(8);
    out[..len].copy_from_slice(&name[..len]);
    out
}
