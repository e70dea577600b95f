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
//! | others | as whoever keeps the messages says |
//!
//! Invariants:
//! 1. What a program inserts is checked here, and reaches whoever keeps the messages with its LL
//!    most significant byte first.
//! 2. The I/O PCB shows at every call what came with the last message.

use std::sync::Arc;

use definitions::Function;
use region::shape::{NO_NAME, Name};
use region::{Abend, AibReply, Reply, Request};
use store::{CommitSink, Store};

use crate::error::ended;
use crate::messages::{Messages, Segment, TerminalPcb};
use crate::schedule::{Mode, Schedule};

/// The shortest segment: LL, ZZ and a byte of data.
const SEGMENT_MIN: usize = 5;
/// An AIB's area took only a part of what there was. \[K\]
const PARTIAL: (u32, u32) = (0x100, 0x0C);
/// AUTH: nobody has protected the resource; the user may not use it. \[K\]
const NOT_PROTECTED: u16 = 4;
const REFUSED: u16 = 8;
/// Bytes of AUTH's area: LL, ZZ, class, resource.
const AUTH_BYTES: usize = 20;

/// Who hears of a queued commit, and by which token.
pub(crate) type Queued = (Arc<dyn CommitSink>, u64);

fn pcb_of(number: usize) -> TerminalPcb {
    if number == 0 { TerminalPcb::Io } else { TerminalPcb::Alternate(number) }
}

impl<S: Store> Schedule<S> {
    /// Has a program get and send messages.
    #[must_use]
    pub fn with_messages(mut self, messages: Box<dyn Messages<S>>) -> Schedule<S> {
        self.messages = Some(messages);
        self
    }

    /// Whether its input comes as messages: then SYNC is not for it, and CHKP gets the next one.
    pub(crate) fn is_message_driven(&self) -> bool {
        let has_input = self.options.kind.is_for_messages() || !self.options.transaction.is_empty();
        self.messages.is_some() && has_input
    }

    /// A call for messages, of a program that has some.
    pub(crate) fn terminal(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        self.need_restart()?;
        let with_aib = request.aib.is_some();
        let status = match (request.function, number) {
            (Function::Gu, 0) => self.next_message(request.area, true, with_aib, reply)?,
            (Function::Gn, 0) => self.next_segment(request.area, with_aib, reply),
            (Function::Isrt, _) => self.insert(number, request),
            (Function::Purg, _) => self.purge(number, request),
            (Function::Chng, 1..) => self.change(number, &request),
            (Function::Seto, _) if self.terminals.is_building(number) => *b"A2",
            (Function::Seto, _) => *b"  ",
            (Function::Auth, 0) => self.authorize(request.area, reply),
            _ => *b"AD",
        };
        self.show(number, status, reply);
        Ok(())
    }

    /// Where an alternate PCB's messages go now, if the program has messages.
    pub(crate) fn destination(&self, number: usize) -> Name {
        self.messages.as_ref().map_or(NO_NAME, |messages| messages.destination(pcb_of(number)))
    }

    /// The next message: after a sync point, if this call is one.
    pub(crate) fn next_message(
        &mut self,
        area: Option<&mut [u8]>,
        syncs: bool,
        with_aib: bool,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        let Some(area) = area else { return Ok(*b"AB") };
        if syncs && self.options.mode == Mode::Single && !self.is_untouched() {
            self.sync_files()?;
            self.commit()?;
        }
        let Schedule { session, messages: Some(messages), terminals, claimed, .. } = self else {
            return Ok(*b"QC");
        };
        let was_idle = session.is_idle();
        if was_idle {
            claimed.look();
        }
        let unit = session.unit().map_err(ended)?;
        let Some(segment) = messages.next_message(unit)? else {
            if was_idle {
                // An empty unit of work would be committed at the end, for nothing.
                session.backout().map_err(ended)?;
            }
            return Ok(*b"QC");
        };
        terminals.touched = true;
        if let Some(io) = segment.io {
            terminals.io = Some(*io);
        }
        Ok(deliver(&segment, area, with_aib, reply))
    }

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
        if mod_name.is_some() && self.terminals.is_building(number) {
            return *b"A5";
        }
        let Some(messages) = &mut self.messages else { return *b"QH" };
        let status = messages.insert(pcb_of(number), segment, mod_name);
        if status == *b"  " {
            self.terminals.touched = true;
            if !messages.is_scratch_pad(segment) {
                self.terminals.build(number, true);
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
            self.terminals.touched = true;
            self.terminals.build(number, segment.is_some());
        }
        status
    }

    fn change(&mut self, number: usize, request: &Request<'_>) -> [u8; 2] {
        let destination = request.area.as_deref().and_then(|area| area.first_chunk::<8>());
        let Some(destination) = destination.copied() else { return *b"AB" };
        let is_modifiable = self.terminals.modifiable.get(number).copied().unwrap_or_default();
        if !is_modifiable || self.terminals.is_building(number) {
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
        let said = match may {
            None => NOT_PROTECTED,
            Some(true) => 0,
            Some(false) => REFUSED,
        };
        // Behind LL and ZZ: what was found, and what an exit, which there is none of, says.
        area[4..8].fill(0);
        area[4..6].copy_from_slice(&said.to_be_bytes());
        reply.fill(area.len());
        if said == REFUSED { *b"A4" } else { *b"  " }
    }

    fn is_untouched(&self) -> bool {
        self.session.is_idle() && !self.terminals.touched && !self.has_queue_work()
    }

    /// Puts what the messages owe into the unit of work; answers who hears of the commit if the
    /// program does not wait for it.
    pub(crate) fn prepare_messages(&mut self) -> Result<Option<Queued>, Abend> {
        if self.messages.is_none() || self.is_untouched() {
            return Ok(None);
        }
        // What others are to see at once has to be durable before.
        let waits = self.has_queue_work();
        let Schedule { session, messages: Some(messages), .. } = self else { return Ok(None) };
        messages.prepare(session.unit().map_err(ended)?)?;
        Ok(if waits { None } else { messages.queue() })
    }

    /// Commits databases, messages and queues in one unit of work.
    pub(crate) fn commit_all(&mut self) -> Result<(), Abend> {
        let has_work = !self.is_untouched();
        match self.prepare_messages()? {
            Some((sink, token)) => {
                self.session.commit_queued(&sink, token).map_err(ended)?;
            }
            None => {
                self.commit_with_queues()?;
                if let Some(messages) = self.messages.as_mut().filter(|_| has_work) {
                    messages.committed();
                }
            }
        }
        self.terminals.touched = false;
        self.terminals.forget_outputs();
        Ok(())
    }

    /// Everything was backed out; by ROLB the input stays the program's.
    pub(crate) fn messages_backed_out(&mut self, again: bool) {
        if let Some(messages) = &mut self.messages {
            messages.backed_out(again);
        }
        self.terminals.forget_outputs();
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
