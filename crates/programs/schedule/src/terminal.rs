//! Calls for messages, of programs that have some: the I/O PCB and alternate PCBs (DLI-5).
//!
//! | call | does |
//! |---|---|
//! | GU | in mode SNGL a sync point; then the next message's first segment, QC without one |
//! | GN | its next segment; QD behind the last, QE before the first GU |
//! | ISRT | adds a segment to the PCB's message |
//! | PURG | ends the PCB's message, and may begin the next |
//! | CHNG, SETO | give an alternate PCB its destination, its options |
//! | AUTH | says whether the input's user may use a resource |
//!
//! | status | because |
//! |---|---|
//! | QF, QH | LL is no length of 5 and more, or more than there is; LL is zero |
//! | A2 | CHNG of a PCB without MODIFY=YES, CHNG or SETO of one whose message has begun |
//! | A3 | ISRT, PURG of an alternate PCB without a destination |
//! | A5 | a MOD name with another than the first segment |
//! | others | as the keeper of the messages says |
//!
//! Invariants:
//! 1. There is an entry for each PCB of the program, the I/O PCB first, as number 0.
//! 2. What a program inserts is checked here, and reaches the keeper of the messages with its LL
//!    most significant byte first.
//! 3. The I/O PCB shows at every call what came with the last message.

use std::sync::Arc;

use definitions::Function;
use definitions::resolve::{ResolvedKind, ResolvedPsb};
use region::layout::{NO_NAME, Name};
use region::{Abend, AibReply, Feedback, IoFeedback, Reply, Request};
use store::{CommitSink, Store};

use crate::messages::{Messages, Segment, TerminalPcb};

/// The shortest segment: LL, ZZ and a byte of data.
const SEGMENT_MIN: usize = 5;
/// An AIB's area took only a part of what there was. \[K\]
const PARTIAL: (u32, u32) = (0x100, 0x0C);
/// AUTH: the resource is not protected; the user may not use it. \[K\]
const NOT_PROTECTED: u16 = 4;
const REFUSED: u16 = 8;
/// Bytes of AUTH's area: LL, ZZ, class, resource.
const AUTH_BYTES: usize = 20;

/// Who hears of a queued commit, and by which token.
pub(crate) type Queued = (Arc<dyn CommitSink>, u64);

fn pcb_of(number: usize) -> TerminalPcb {
    if number == 0 { TerminalPcb::Io } else { TerminalPcb::Alternate(number) }
}

/// The messages of a program, and what is known of them between calls.
pub(crate) struct Terminals<S: Store> {
    /// None of a program without messages.
    messages: Option<Box<dyn Messages<S>>>,
    /// What the I/O PCB shows since the last message.
    io: Option<IoFeedback>,
    /// By PCB: whether its message has begun.
    building: Vec<bool>,
    /// By PCB: whether CHNG may give it a destination.
    modifiable: Vec<bool>,
    /// A message was got since the last sync point, or one was made.
    touched: bool,
}

impl<S: Store> Terminals<S> {
    /// Without messages.
    pub(crate) fn of(psb: &ResolvedPsb) -> Terminals<S> {
        let is_modifiable =
            |kind: &ResolvedKind| matches!(kind, ResolvedKind::Terminal(pcb) if pcb.modifiable);
        let alternates = psb.pcbs.iter().map(|pcb| is_modifiable(&pcb.kind));
        let modifiable: Vec<bool> = std::iter::once(false).chain(alternates).collect();
        let building = vec![false; modifiable.len()];
        Terminals { messages: None, io: None, building, modifiable, touched: false }
    }

    /// Has the program get and send messages.
    pub(crate) fn connect(&mut self, messages: Box<dyn Messages<S>>) {
        self.messages = Some(messages);
    }

    /// Whether the program has messages.
    pub(crate) fn are_there(&self) -> bool {
        self.messages.is_some()
    }

    /// What came with the last message.
    pub(crate) fn io(&self) -> Option<&IoFeedback> {
        self.io.as_ref()
    }

    /// Whether a message was got since the last sync point, or one was made.
    pub(crate) fn are_touched(&self) -> bool {
        self.touched
    }

    /// What the I/O PCB shows with a status.
    pub(crate) fn io_feedback(&self, status: [u8; 2]) -> Feedback<'_> {
        Feedback { io: self.io.as_ref(), ..Feedback::status(status) }
    }

    /// Where an alternate PCB's messages go now, if the program has messages.
    pub(crate) fn destination(&self, number: usize) -> Name {
        self.messages.as_ref().map_or(NO_NAME, |messages| messages.destination(pcb_of(number)))
    }

    /// A call for messages but for GU of the I/O PCB, which may be a sync point.
    pub(crate) fn call(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> [u8; 2] {
        let with_aib = request.aib.is_some();
        match (request.function, number) {
            (Function::Gn, 0) => self.next_segment(request.area, with_aib, reply),
            (Function::Isrt, _) => self.insert(number, request),
            (Function::Purg, _) => self.purge(number, request),
            (Function::Chng, 1..) => self.change(number, &request),
            (Function::Seto, _) if self.is_building(number) => *b"A2",
            (Function::Seto, _) => *b"  ",
            (Function::Auth, 0) => self.authorize(request.area, reply),
            _ => *b"AD",
        }
    }

    /// The next message's first segment, in this unit of work; none if there is no message.
    pub(crate) fn next_message(
        &mut self,
        unit: &mut S::Unit,
        (area, with_aib): (&mut [u8], bool),
        reply: &mut Reply,
    ) -> Result<Option<[u8; 2]>, Abend> {
        let Some(messages) = &mut self.messages else { return Ok(None) };
        let Some(segment) = messages.next_message(unit)? else { return Ok(None) };
        self.touched = true;
        if let Some(io) = segment.io {
            self.io = Some(*io);
        }
        Ok(Some(deliver(&segment, area, with_aib, reply)))
    }

    /// The present message's next segment.
    fn next_segment(
        &mut self,
        area: Option<&mut [u8]>,
        with_aib: bool,
        reply: &mut Reply,
    ) -> [u8; 2] {
        let Some(area) = area else { return *b"AB" };
        let Some(messages) = &mut self.messages else { return *b"QE" };
        match messages.next_segment() {
            Ok(segment) => deliver(&segment, area, with_aib, reply),
            Err(status) => status,
        }
    }

    /// After ROLB with an area: the present message's first segment once more.
    pub(crate) fn again(
        &mut self,
        area: &mut [u8],
        with_aib: bool,
        reply: &mut Reply,
    ) -> Option<[u8; 2]> {
        Some(match self.messages.as_mut()?.first_segment() {
            Ok(segment) => deliver(&segment, area, with_aib, reply),
            Err(status) => status,
        })
    }

    fn insert(&mut self, number: usize, request: Request<'_>) -> [u8; 2] {
        let Request { area: Some(area), more, .. } = request else { return *b"AB" };
        let segment = match counted(area) {
            Ok(segment) => segment,
            Err(status) => return status,
        };
        if number > 0 && self.destination(number) == NO_NAME {
            return *b"A3";
        }
        let mod_name = mod_name_of(more);
        if mod_name.is_some() && self.is_building(number) {
            return *b"A5";
        }
        let Some(messages) = &mut self.messages else { return *b"QH" };
        let status = messages.insert(pcb_of(number), segment, mod_name);
        if status == *b"  " {
            self.touched = true;
            if !messages.is_scratch_pad(segment) {
                self.build(number, true);
            }
        }
        status
    }

    fn purge(&mut self, number: usize, request: Request<'_>) -> [u8; 2] {
        let Request { area, more, .. } = request;
        let segment = match area.map(counted).transpose() {
            Ok(segment) => segment.map(|segment| &*segment),
            Err(status) => return status,
        };
        if number > 0 && self.destination(number) == NO_NAME {
            return *b"A3";
        }
        let Some(messages) = &mut self.messages else { return *b"A3" };
        let status = messages.purge(pcb_of(number), segment, mod_name_of(more));
        if status == *b"  " {
            self.touched = true;
            self.build(number, segment.is_some());
        }
        status
    }

    fn change(&mut self, number: usize, request: &Request<'_>) -> [u8; 2] {
        let destination = request.area.as_deref().and_then(|area| area.first_chunk::<8>());
        let Some(destination) = destination.copied() else { return *b"AB" };
        let is_modifiable = self.modifiable.get(number).copied().unwrap_or_default();
        if !is_modifiable || self.is_building(number) {
            return *b"A2";
        }
        if destination == NO_NAME {
            return *b"A1";
        }
        let Some(messages) = &mut self.messages else { return *b"A1" };
        messages.change(number, destination)
    }

    fn authorize(&self, area: Option<&mut [u8]>, reply: &mut Reply) -> [u8; 2] {
        let Some(area) = area else { return *b"AB" };
        if area.len() < AUTH_BYTES {
            return *b"QF";
        }
        let name = |at: usize| -> Name { std::array::from_fn(|index| area[at + index]) };
        let may = self.messages.as_ref().and_then(|messages| messages.may_use(name(4), name(12)));
        let verdict = match may {
            None => NOT_PROTECTED,
            Some(true) => 0,
            Some(false) => REFUSED,
        };
        // Behind LL and ZZ: what was found, and what an exit, which there is none of, says.
        area[4..8].fill(0);
        area[4..6].copy_from_slice(&verdict.to_be_bytes());
        reply.fill(area.len());
        if verdict == REFUSED { *b"A4" } else { *b"  " }
    }

    /// Puts what the messages owe into the unit of work.
    pub(crate) fn prepare(&mut self, unit: &mut S::Unit) -> Result<(), Abend> {
        self.messages.as_mut().map_or(Ok(()), |messages| messages.prepare(unit))
    }

    /// Who hears of the commit if the program does not wait for it.
    pub(crate) fn queue(&mut self) -> Option<Queued> {
        self.messages.as_mut()?.queue()
    }

    /// The program has waited for its commit, which is durable.
    pub(crate) fn committed(&mut self) {
        if let Some(messages) = &mut self.messages {
            messages.committed();
        }
    }

    /// A sync point: no message has begun.
    pub(crate) fn sync(&mut self) {
        self.touched = false;
        self.building.fill(false);
    }

    /// Everything was backed out; by ROLB the input stays the program's.
    pub(crate) fn backed_out(&mut self, again: bool) {
        if let Some(messages) = &mut self.messages {
            messages.backed_out(again);
        }
        self.building.fill(false);
    }

    /// The program ends by this abend.
    pub(crate) fn abends(&mut self, abend: &Abend) {
        if let Some(messages) = &mut self.messages {
            messages.abends(abend);
        }
    }

    /// Where the outputs stand: none of a program without messages, and nothing inside if they
    /// cannot be undone.
    pub(crate) fn mark(&mut self) -> Option<Option<u64>> {
        self.messages.as_mut().map(|messages| messages.mark())
    }

    /// Outputs behind the mark go.
    pub(crate) fn return_to(&mut self, mark: u64) {
        if let Some(messages) = &mut self.messages {
            messages.return_to(mark);
        }
    }

    fn is_building(&self, number: usize) -> bool {
        self.building.get(number).copied().unwrap_or_default()
    }

    fn build(&mut self, number: usize, is_begun: bool) {
        if let Some(building) = self.building.get_mut(number) {
            *building = is_begun;
        }
    }
}

/// Puts a segment into the program's area. Without an AIB the area is as long as the segment.
fn deliver(segment: &Segment<'_>, area: &mut [u8], with_aib: bool, reply: &mut Reply) -> [u8; 2] {
    let len = segment.bytes.len().min(area.len());
    area[..len].copy_from_slice(&segment.bytes[..len]);
    reply.fill(len);
    if with_aib && len < segment.bytes.len() {
        let (return_code, reason) = PARTIAL;
        let area_used = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
        reply.aib(AibReply { return_code, reason, extension: 0, area_used });
    }
    segment.status
}

/// A segment of a program: as long as its LL says, which comes in either order of bytes.
fn counted(area: &mut [u8]) -> Result<&mut [u8], [u8; 2]> {
    let ll = *area.first_chunk::<2>().ok_or(*b"QF")?;
    let (big, little) = (usize::from(u16::from_be_bytes(ll)), u16::from_le_bytes(ll));
    let len = match (big, usize::from(little)) {
        (0, _) => return Err(*b"QH"),
        (big, _) if big == area.len() => big,
        (_, little) if little == area.len() => {
            area[..2].copy_from_slice(&[ll[1], ll[0]]);
            little
        }
        (big, _) if big <= area.len() => big,
        _ => return Err(*b"QF"),
    };
    if len < SEGMENT_MIN { Err(*b"QF") } else { Ok(&mut area[..len]) }
}

/// The MOD name behind the area; a blank one is none.
fn mod_name_of(more: &[&mut [u8]]) -> Option<Name> {
    let name = more.first().and_then(|name| name.first_chunk::<8>()).copied();
    name.filter(|name| *name != NO_NAME && *name != [0; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_as_long_as_it_says() {
        let of = |area: &[u8]| counted(&mut area.to_vec()).map(|segment| segment.to_vec());
        assert_eq!(of(b"\0\x06\0\0AB"), Ok(b"\0\x06\0\0AB".to_vec()));
        assert_eq!(of(b"\x06\0\0\0AB"), Ok(b"\0\x06\0\0AB".to_vec()));
        assert_eq!(of(b"\0\x06\0\0ABCD"), Ok(b"\0\x06\0\0AB".to_vec()));
        assert_eq!(of(b"\0\0\0\0AB"), Err(*b"QH"));
        assert_eq!(of(b"\0\x04\0\0"), Err(*b"QF"));
        assert_eq!(of(b"\0\x40\0\0AB"), Err(*b"QF"));
        assert_eq!(of(b"\0"), Err(*b"QF"));
    }

    #[test]
    fn a_blank_mod_name_is_none() {
        let of = |name: &[u8]| mod_name_of(&[&mut name.to_vec()[..]]);
        assert_eq!(of(b"MODNAME1"), Some(*b"MODNAME1"));
        assert_eq!(
            (of(b"        "), of(&[0; 8]), of(b"SHORT"), mod_name_of(&[])),
            Default::default()
        );
    }
}
