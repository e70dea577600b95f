//! Calls as bytes: what goes from a program's side to the server's, and back.
//!
//! A message holds one call or several; only the last is answered. Calls that need no answer wait
//! for the next one and ride with it. All integers have their least byte first.
//!
//! | offset | bytes | of a call |
//! |---|---|---|
//! | 0 | 4 | its length with everything that follows |
//! | 4 | 4 | function |
//! | 8 | 2 | PCB, X'FFFF' for none |
//! | 10 | 1 | 1 AIB follows, 2 an area was passed, 4 needs no answer, 8 normal end, 16 abend, |
//! | | | 32 it carries out an EXEC DLI command, 64 it is a request for a file's records: |
//! | | | what follows the header is it ([`file_handler::wire`]), and so is the answer's area, |
//! | | | 128 the same for messages ([`mqi::wire::carried`]) |
//! | 11 | 1 | search arguments |
//! | 12 | 1 | further parameters |
//! | 13 | 3 | zero |
//! | 16 | 4 | room in the area |
//! | 20 | 4 | bytes of the area that come along |
//! | 24 | 48 | AIB: subfunction 8, resources 8 and 8, field 4, options 4, token 16 |
//! | | 4 + n | each search argument, each further parameter: length, bytes |
//! | | | the area's bytes |
//!
//! | offset | bytes | of an answer |
//! |---|---|---|
//! | 0 | 1 | 1 an abend follows, 2 further parameters follow |
//! | 1 | 1 | further parameters |
//! | 2 | 2 | PCBs that were changed |
//! | 4 | 4 | bytes of the area that were set |
//! | 8 | 16 | AIB: return code, reason, extension, bytes used |
//! | 24 | | for each PCB: number 2, with I/O 1, level 1, status 2, key length 2, name 8, key, I/O 57 |
//! | | 4 + n | each further parameter |
//! | | n | the area's bytes |
//! | | | abend: code and text, each behind 2 bytes of length |
//!
//! Invariants:
//! 1. Both sides treat what arrives as bytes from outside: whatever is wrong becomes [`Malformed`].
//! 2. No length makes a side reserve more than [`AREA_BYTES_MAX`] for an area, nor as much for the
//!    further parameters.

use base::bytes::{Reader, push_string16};
use definitions::Function;

use crate::feedback::{Feedback, read_feedback};
use crate::server::{Abend, AibFields, AibReply, Ending, Failure, Reply, Request, Server};

/// The longest I/O area, and the most that further parameters may have together.
pub const AREA_BYTES_MAX: usize = 1 << 20;
/// The most search arguments of a call; one more than are allowed, so that the engine refuses it.
pub const SSAS_MAX: usize = 16;
/// The most further parameters of a call.
pub const MORE_MAX: usize = 18;

/// What stands in place of a function where a file's records are asked for.
pub(crate) const FILES: Function = Function::of(*b"FILE");

/// What stands in place of a function where a call of the message queue interface is made.
pub(crate) const MESSAGES: Function = Function::of(*b"MQI ");

/// What stands in place of a function where a program ends.
pub(crate) const ENDS: Function = Function::of(*b"    ");

const HEADER: usize = 24;
const WITH_AIB: u8 = 1;
const WITH_AREA: u8 = 2;
const NO_ANSWER: u8 = 4;
const END_NORMAL: u8 = 8;
const END_ABEND: u8 = 16;
const OF_COMMAND: u8 = 32;
const FOR_FILE: u8 = 64;
const FOR_MESSAGES: u8 = 128;
const NO_PCB: u16 = u16::MAX;
const HAS_ABEND: u8 = 1;
const HAS_MORE: u8 = 2;

/// A message that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a call's bytes make no sense")]
pub struct Malformed;

/// Writes one call behind the others of a message.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn call(
        out: &'a mut Vec<u8>,
        function: Function,
        pcb: Option<usize>,
        aib: Option<&AibFields>,
    ) -> Writer<'a> {
        let start = out.len();
        let pcb = pcb.map_or(NO_PCB, |pcb| pcb as u16);
        let flags = if aib.is_some() { WITH_AIB } else { 0 };
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&function.bytes());
        out.extend_from_slice(&pcb.to_le_bytes());
        out.extend_from_slice(&[flags, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&[0; 8]);
        if let Some(aib) = aib {
            out.extend_from_slice(&aib.subfunction);
            out.extend_from_slice(&aib.resource);
            out.extend_from_slice(&aib.resource2);
            out.extend_from_slice(&aib.resource_field.to_le_bytes());
            out.extend_from_slice(&aib.options_len.to_le_bytes());
            out.extend_from_slice(&aib.token);
        }
        Writer { out, start }
    }

    /// The end of the program in place of a call.
    pub(crate) fn end(out: &'a mut Vec<u8>, ending: Ending) {
        let writer = Writer::call(out, ENDS, None, None);
        let flag = if ending == Ending::Normal { END_NORMAL } else { END_ABEND };
        writer.out[writer.start + 10] |= flag;
        writer.finish();
    }

    /// A request for a file's records in place of a call.
    pub(crate) fn file(out: &'a mut Vec<u8>, request: &[u8]) {
        Writer::request(out, (FILES, FOR_FILE), request);
    }

    /// A call of the message queue interface in place of one.
    pub(crate) fn messages(out: &'a mut Vec<u8>, request: &[u8]) {
        Writer::request(out, (MESSAGES, FOR_MESSAGES), request);
    }

    fn request(out: &'a mut Vec<u8>, (function, flag): (Function, u8), request: &[u8]) {
        let writer = Writer::call(out, function, None, None);
        writer.out[writer.start + 10] |= flag;
        writer.out.extend_from_slice(request);
        writer.finish();
    }

    /// The call carries out a command.
    pub(crate) fn of_command(&mut self) {
        self.out[self.start + 10] |= OF_COMMAND;
    }

    fn item(&mut self, counter: usize, bytes: &[u8]) {
        self.out[self.start + counter] += 1;
        self.out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.out.extend_from_slice(bytes);
    }

    /// Says where the search argument then stands in the message.
    pub(crate) fn ssa(&mut self, bytes: &[u8]) -> (usize, usize) {
        self.item(11, bytes);
        (self.out.len() - bytes.len(), self.out.len())
    }

    /// How many bytes the message has by now.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Only after all search arguments.
    pub(crate) fn more(&mut self, bytes: &[u8]) {
        self.item(12, bytes);
    }

    /// Only after everything else.
    pub(crate) fn area(&mut self, room: usize, bytes: &[u8]) {
        let room = room.max(bytes.len()).min(AREA_BYTES_MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        self.out[self.start + 10] |= WITH_AREA;
        self.put(16, room);
        self.put(20, bytes.len());
        self.out.extend_from_slice(bytes);
    }

    /// The call rides with the next one.
    pub(crate) fn without_answer(&mut self) {
        self.out[self.start + 10] |= NO_ANSWER;
    }

    pub(crate) fn finish(mut self) {
        self.put(0, self.out.len() - self.start);
    }

    fn put(&mut self, at: usize, value: usize) {
        let at = self.start + at;
        self.out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }
}

/// What the server's side keeps from call to call.
#[derive(Default)]
pub struct Work {
    area: Vec<u8>,
    more: Vec<u8>,
    reply: Reply,
}

/// What a message was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A call; the program goes on.
    Call,
    /// The program's last message.
    End,
}

/// Answers a message: makes the calls in it, and replaces `out` by the answer to the last.
///
/// # Errors
/// If the bytes make no sense; calls in front of the place may have been made.
pub fn serve(
    message: &[u8],
    work: &mut Work,
    server: &mut dyn Server,
    out: &mut Vec<u8>,
) -> Result<Served, Malformed> {
    let mut rest = message;
    loop {
        let (len, _) = rest.split_first_chunk::<4>().ok_or(Malformed)?;
        let len = u32::from_le_bytes(*len) as usize;
        if len < HEADER {
            return Err(Malformed);
        }
        let (call, others) = rest.split_at_checked(len).ok_or(Malformed)?;
        rest = others;
        work.reply.clear();
        if let Some(ending) = ending_of(call[10]) {
            put_end(server.end(ending), out);
            return if rest.is_empty() { Ok(Served::End) } else { Err(Malformed) };
        }
        if call[10] & (FOR_FILE | FOR_MESSAGES) != 0 {
            serve_request(call, work, server);
            put_answer(&work.reply, &work.area, &[], 0, out);
            return if rest.is_empty() { Ok(Served::Call) } else { Err(Malformed) };
        }
        let more = serve_one(call, work, server).ok_or(Malformed)?;
        if call[10] & NO_ANSWER == 0 || work.reply.abend.is_some() {
            put_answer(&work.reply, &work.area, &work.more[..more], call[12], out);
            return if rest.is_empty() { Ok(Served::Call) } else { Err(Malformed) };
        }
    }
}

/// Has a file's records asked for, or messages; the answer stands in the area then.
fn serve_request(call: &[u8], work: &mut Work, server: &mut dyn Server) {
    let request = call.get(HEADER..).unwrap_or_default();
    let served = match call[10] & FOR_FILE != 0 {
        true => server.file(request, &mut work.area),
        false => server.messages(request, &mut work.area),
    };
    match served {
        Ok(()) => work.reply.filled = work.area.len(),
        Err(Abend { code, text }) => work.reply.abend(&code, text),
    }
}

/// The function and the PCB of a message's last call.
pub(crate) fn last_call(message: &[u8]) -> Option<(Function, Option<usize>)> {
    let mut rest = message;
    loop {
        let len = u32::from_le_bytes(*rest.first_chunk::<4>()?) as usize;
        if len < HEADER {
            return None;
        }
        let (call, others) = rest.split_at_checked(len)?;
        if others.is_empty() {
            let mut reader = Reader::new(call.get(4..)?);
            let function = Function::of(reader.array()?);
            let pcb = reader.u16()?;
            return Some((function, (pcb != NO_PCB).then_some(usize::from(pcb))));
        }
        rest = others;
    }
}

fn ending_of(flags: u8) -> Option<Ending> {
    match flags & (END_NORMAL | END_ABEND) {
        END_NORMAL => Some(Ending::Normal),
        END_ABEND => Some(Ending::Abend),
        _ => None,
    }
}

/// Makes one call; says how many bytes `work.more` then has for the answer.
fn serve_one(call: &[u8], work: &mut Work, server: &mut dyn Server) -> Option<usize> {
    let mut reader = Reader::new(call);
    let _len = reader.u32()?;
    let function = Function::of(reader.array()?);
    let pcb = reader.u16()?;
    let [flags, ssa_count, more_count] = reader.array()?;
    reader.take(3)?;
    let room = reader.u32()? as usize;
    let given = reader.u32()? as usize;
    let aib = if flags & WITH_AIB == 0 { None } else { Some(read_aib(&mut reader)?) };
    let pcb = (pcb != NO_PCB).then_some(usize::from(pcb));
    let known = pcb.is_none_or(|pcb| pcb < server.pcbs().len());
    let counts = usize::from(ssa_count) <= SSAS_MAX && usize::from(more_count) <= MORE_MAX;
    if !known || !counts || room > AREA_BYTES_MAX || given > room {
        return None;
    }
    let mut ssas: [&[u8]; SSAS_MAX] = [&[]; SSAS_MAX];
    for ssa in &mut ssas[..usize::from(ssa_count)] {
        *ssa = read_item(&mut reader)?;
    }
    let more_bytes = copy_more(&mut reader, more_count, &mut work.more)?;
    let mut more: [&mut [u8]; MORE_MAX] = std::array::from_fn(|_| Default::default());
    let mut rest = &mut work.more[..];
    for place in &mut more[..usize::from(more_count)] {
        let (len, others) = std::mem::take(&mut rest).split_first_chunk_mut::<4>()?;
        let (item, others) = others.split_at_mut_checked(u32::from_le_bytes(*len) as usize)?;
        *place = item;
        rest = others;
    }
    let bytes = reader.take(given)?;
    if work.area.len() < room {
        work.area.resize(room, 0);
    }
    work.area[..given].copy_from_slice(bytes);
    let area = (flags & WITH_AREA != 0).then_some(&mut work.area[..room]);
    let ssas = &ssas[..usize::from(ssa_count)];
    let more = &mut more[..usize::from(more_count)];
    let reply = &mut work.reply;
    let of_command = flags & OF_COMMAND != 0;
    server.call(Request { function, of_command, pcb, area, ssas, more, aib }, reply);
    reply.filled = reply.filled.min(room);
    Some(more_bytes)
}

/// Copies the further parameters with their lengths; says how many bytes they are.
fn copy_more(reader: &mut Reader<'_>, count: u8, more: &mut Vec<u8>) -> Option<usize> {
    more.clear();
    for _ in 0..count {
        let item = read_item(reader)?;
        if more.len() + item.len() > AREA_BYTES_MAX {
            return None;
        }
        more.extend_from_slice(&(item.len() as u32).to_le_bytes());
        more.extend_from_slice(item);
    }
    Some(more.len())
}

fn read_item<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let len = reader.u32()? as usize;
    reader.take(len)
}

fn read_aib(reader: &mut Reader<'_>) -> Option<AibFields> {
    Some(AibFields {
        subfunction: reader.array()?,
        resource: reader.array()?,
        resource2: reader.array()?,
        resource_field: reader.u32()?,
        options_len: reader.u32()?,
        token: reader.array()?,
    })
}

fn put_answer(reply: &Reply, area: &[u8], more: &[u8], more_count: u8, out: &mut Vec<u8>) {
    out.clear();
    let abend = if reply.abend.is_some() { HAS_ABEND } else { 0 };
    let with_more = if more_count > 0 { HAS_MORE } else { 0 };
    out.extend_from_slice(&[abend | with_more, more_count]);
    out.extend_from_slice(&reply.pcbs.to_le_bytes());
    out.extend_from_slice(&(reply.filled as u32).to_le_bytes());
    let AibReply { return_code, reason, extension, area_used } = reply.aib;
    for value in [return_code, reason, extension, area_used] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    out.extend_from_slice(&reply.feedback);
    out.extend_from_slice(more);
    out.extend_from_slice(&area[..reply.filled]);
    if let Some(abend) = &reply.abend {
        put_text(&abend.code, out);
        put_text(&abend.text, out);
    }
}

/// The answer to the end of a program: nothing, or why it was backed out instead.
fn put_end(ended: Result<(), Failure>, out: &mut Vec<u8>) {
    let mut reply = Reply::default();
    if let Err(failure) = ended {
        let remedy = if failure.remedy.is_empty() { "" } else { "; " };
        reply.abend(&failure.code, format!("{}{remedy}{}", failure.text, failure.remedy));
    }
    put_answer(&reply, &[], &[], 0, out);
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    let mut end = text.len().min(2000);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    push_string16(out, &text.as_bytes()[..end]);
}

/// An answer, as the program's side reads it.
pub(crate) struct Answer<'a> {
    /// What the call set of the area.
    pub(crate) area: &'a [u8],
    pub(crate) aib: AibReply,
    pub(crate) abend: Option<Abend>,
    pcbs: u16,
    feedback: Reader<'a>,
    more_count: u8,
    more: Reader<'a>,
}

impl<'a> Answer<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Answer<'a>, Malformed> {
        Answer::read(bytes).ok_or(Malformed)
    }

    fn read(bytes: &'a [u8]) -> Option<Answer<'a>> {
        let mut reader = Reader::new(bytes);
        let [flags, more_count] = reader.array()?;
        let pcbs = reader.u16()?;
        let filled = reader.u32()? as usize;
        let aib = AibReply {
            return_code: reader.u32()?,
            reason: reader.u32()?,
            extension: reader.u32()?,
            area_used: reader.u32()?,
        };
        let feedback = reader;
        for _ in 0..pcbs {
            read_feedback(&mut reader)?;
        }
        let more = reader;
        for _ in 0..more_count {
            read_item(&mut reader)?;
        }
        let area = reader.take(filled)?;
        let mut text = || Some(String::from_utf8_lossy(reader.string16()?).into_owned());
        let abend = if flags & HAS_ABEND == 0 {
            None
        } else {
            Some(Abend { code: text()?, text: text()? })
        };
        Some(Answer { area, aib, abend, pcbs, feedback, more_count, more })
    }

    /// Hands each PCB's number and what it shows to `take`.
    pub(crate) fn pcbs(&self, mut take: impl FnMut(usize, Feedback<'_>)) {
        let mut reader = self.feedback;
        for _ in 0..self.pcbs {
            let Some((pcb, feedback, io)) = read_feedback(&mut reader) else { return };
            take(pcb, Feedback { io: io.as_ref(), ..feedback });
        }
    }

    /// The further parameters as the call left them.
    pub(crate) fn more(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = self.more;
        (0..self.more_count).map_while(move |_| read_item(&mut reader))
    }
}
