//! The call interface of a program: from the bare addresses of a call to the server and back.
//!
//! Invariants:
//! 1. Bytes are copied out of the program's memory before the call and into it after; during the
//!    call the server works on memory of ours.
//! 2. A program's address that leads nowhere, and a PCB that is none, end the program with an
//!    abend that says which parameter it was. Nothing has been changed then.
//! 3. Every call is noted before it is made and again when it has returned.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base::Coded;
use definitions::Function;

use crate::abends::{abend, out_of_reach};
use crate::aib::{self, Aib, NoAib};
use crate::calls::{Behind, Plan, brings_segment, is_for_messages, plan_of};
use crate::compose::{Composer, Counts, Places};
use crate::error::RegionError;
use crate::layout::{NO_NAME, Name, PcbKind, PcbLayout, name, text};
use crate::ledger::{Ledger, Shown};
use crate::link::Link;
use crate::masks::{Masks, Order};
use crate::memory::ProgramMemory;
use crate::parameters::{MAX, Parameters, pcb_at};
use crate::record::{CallRecord, readable};
use crate::server::{Abend, AibReply, Ending};
use crate::trace::Trace;
use crate::wire::{AREA_BYTES_MAX, Answer, MORE_MAX, SSAS_MAX, Writer};

/// The longest request for a record of a data set.
const FILE_REQUEST_BYTES_MAX: usize = AREA_BYTES_MAX;

/// How many calls of this process may have ended a unit of work, or backed one out.
static POINTS: AtomicU64 = AtomicU64::new(0);

/// Rises with each call after which records may be others than before.
pub(crate) fn points() -> u64 {
    POINTS.load(Relaxed)
}

/// A program's calls.
pub(crate) struct Interface {
    link: Box<dyn Link>,
    layouts: Vec<PcbLayout>,
    titles: Vec<Name>,
    masks: Masks,
    order: Order,
    program_memory: ProgramMemory,
    ledger: Ledger,
    trace: Option<Trace>,
    number: u64,
    /// The message that is being written; calls that ride stand in it until the next one.
    message: Vec<u8>,
    answer: Vec<u8>,
    scratch: Vec<u8>,
    /// Where this call's search arguments stand in the message.
    ssas: Vec<(usize, usize)>,
    traced_ssas: Vec<String>,
    /// What the call's own PCB showed last.
    status: [u8; 2],
    key: Vec<u8>,
}

/// Whom a call is for.
struct Target {
    pcb: Option<usize>,
    aib: Option<Aib>,
}

impl Interface {
    /// The calls of a program that `link` serves, and whose PCBs have been laid out.
    pub(crate) fn new(
        link: Box<dyn Link>,
        masks: Masks,
        order: Order,
        ledger: Ledger,
        trace: Option<Trace>,
    ) -> Interface {
        let layouts = link.layouts().to_vec();
        Interface {
            masks,
            titles: layouts.iter().map(|layout| name(&layout.title())).collect(),
            layouts,
            link,
            order,
            program_memory: ProgramMemory::new(),
            ledger,
            trace,
            number: 0,
            message: Vec::new(),
            answer: Vec::new(),
            scratch: Vec::new(),
            ssas: Vec::new(),
            traced_ssas: Vec::new(),
            status: *b"  ",
            key: Vec::new(),
        }
    }

    /// The same, and what of the process's memory programs before have shown to be there.
    pub(crate) fn with_reach(self, program_memory: ProgramMemory) -> Interface {
        Interface { program_memory, ..self }
    }

    /// What is used again by the next program of the process.
    pub(crate) fn into_parts(self) -> (Masks, Ledger, ProgramMemory) {
        (self.masks, self.ledger, self.program_memory)
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn layouts(&self) -> &[PcbLayout] {
        &self.layouts
    }

    pub(crate) fn program_memory(&mut self) -> &mut ProgramMemory {
        &mut self.program_memory
    }

    /// Where the mask of a PCB is.
    pub(crate) fn mask(&self, pcb: usize) -> Option<usize> {
        (pcb < self.layouts.len()).then(|| self.masks.address(pcb))
    }

    /// The addresses of the PCBs that the program is given.
    pub(crate) fn pcb_addresses(&self) -> Vec<usize> {
        let listed = self.layouts.iter().enumerate().filter(|(_, layout)| layout.listed);
        listed.map(|(pcb, _)| self.masks.address(pcb)).collect()
    }

    /// Makes the call that a parameter list describes. `known` is how many parameters there are,
    /// if the caller's language tells; `counts`, how areas that count themselves do it.
    pub(crate) fn call(
        &mut self,
        raw: &[usize; MAX],
        known: Option<usize>,
        counts: Counts,
    ) -> Result<(), Abend> {
        let parameters = Parameters::read(raw, known, &mut self.program_memory);
        let mut parameters = parameters.ok_or_else(|| {
            abend("U0474", "a DL/I call without a function code among its first parameters")
        })?;
        if !parameters.counted {
            parameters.cut_at_null();
        }
        let Some(target) = self.target(&parameters)? else { return Ok(()) };
        if is_for_messages(parameters.function, target.pcb.map(|pcb| &self.layouts[pcb].kind)) {
            self.ledger.note_message();
        }
        let plan = plan_of(parameters.function, target.pcb.map(|pcb| &self.layouts[pcb].kind));
        if !parameters.counted && plan.behind == Behind::Ssas {
            self.cut_at_noise(&mut parameters);
        }
        let places = self.compose(&parameters, counts, &target, plan)?;
        if places.rides {
            self.ride(parameters.function, &target);
            return Ok(());
        }
        self.exchange(parameters.function, target.pcb)?;
        self.give_back(parameters.function, counts, &target, &places)
    }

    /// Whom a call is for; `None` if its AIB was told that it names none.
    fn target(&mut self, parameters: &Parameters) -> Result<Option<Target>, Abend> {
        let function = parameters.function;
        let Some(address) = parameters.get(0) else {
            let alone = matches!(function, Function::Roll | Function::Sync);
            return if alone {
                Ok(Some(Target { pcb: Some(0), aib: None }))
            } else {
                Err(abend("U0476", &format!("{function} was called without a PCB")))
            };
        };
        if let Some(pcb) = pcb_at(address, &self.masks, &mut self.program_memory) {
            return Ok(Some(Target { pcb: Some(pcb), aib: None }));
        }
        match Aib::read(address, &mut self.program_memory) {
            Ok(aib) => Ok(self.named(function, aib)),
            Err(NoAib::Strange(order)) if self.begins_like_an_aib(address) => {
                let reason = aib::REASON_NOT_AN_AIB;
                self.refuse(address, order, reason);
                Ok(None)
            }
            // Programs of CICS have their PSB scheduled by a call.
            Err(_) if function == Function::Pcb => Err(abend(
                "U0476",
                "PCB: a program that schedules its PSB itself is one for CICS, which is not here",
            )),
            Err(_) => Err(abend(
                "U0476",
                &format!("{function}: its second parameter is neither a PCB nor an AIB"),
            )),
        }
    }

    fn begins_like_an_aib(&mut self, address: usize) -> bool {
        self.program_memory.array::<3>(address) == Some(*b"DFS")
    }

    /// The PCB that an AIB names; `None` if there is none, which the AIB is told.
    fn named(&mut self, function: Function, aib: Aib) -> Option<Target> {
        let wanted = aib.fields.resource;
        let pcb = if wanted == name("IOPCB") {
            Some(0)
        } else {
            self.layouts.iter().position(|layout| layout.name == wanted && wanted != NO_NAME)
        };
        let needs_none = matches!(
            function,
            Function::Inqy
                | Function::Ical
                | Function::Apsb
                | Function::Dpsb
                | Function::Gmsg
                | Function::Icmd
        );
        if pcb.is_none() && !needs_none {
            self.refuse(aib.address, aib.order, aib::REASON_NO_SUCH_PCB);
            return None;
        }
        Some(Target { pcb, aib: Some(aib) })
    }

    fn refuse(&mut self, address: usize, order: Order, reason: u32) {
        let return_code = aib::WRONG_PARAMETER;
        let reply = AibReply { return_code, reason, ..AibReply::default() };
        aib::refuse(address, order, &reply, &mut self.program_memory);
    }

    /// A C program that passes no count leaves whatever registers hold behind its last search
    /// argument: what does not begin with a name ends the list, and so does a PCB.
    fn cut_at_noise(&mut self, parameters: &mut Parameters) {
        for index in 2..parameters.count() {
            let address = parameters.get(index).unwrap_or_default();
            let begins = self.program_memory.array::<8>(address);
            let is_name = |byte: &u8| {
                byte.is_ascii_uppercase()
                    || byte.is_ascii_digit()
                    || matches!(byte, b' ' | b'@' | b'#' | b'$')
            };
            let named = begins.is_some_and(|name| name[0] != b' ' && name.iter().all(is_name));
            if !named || self.masks.at(address).is_some() {
                return parameters.cut(index);
            }
        }
    }

    /// Writes the call behind those that wait in the message.
    fn compose(
        &mut self,
        parameters: &Parameters,
        counts: Counts,
        target: &Target,
        plan: Plan,
    ) -> Result<Places, Abend> {
        let fields = target.aib.as_ref().map(|aib| &aib.fields);
        let function = parameters.function;
        let writer = Writer::call(&mut self.message, function, target.pcb, fields);
        self.ssas.clear();
        let composer = Composer {
            parameters,
            counts,
            layout: target.pcb.map(|pcb| &self.layouts[pcb]),
            aib_area_len: target.aib.map(|aib| aib.area_len),
            order: self.order,
            may_ride: self.link.is_far() && target.aib.is_none(),
            undefined: target.pcb.and_then(|pcb| undefined_at(&self.layouts, &self.masks, pcb)),
            program_memory: &mut self.program_memory,
            scratch: &mut self.scratch,
            ssas: &mut self.ssas,
            writer,
        };
        composer.compose(plan)
    }

    fn exchange(&mut self, function: Function, pcb: Option<usize>) -> Result<(), Abend> {
        self.begin(function, pcb);
        use Function::{Chkp, Rolb, Rols, Sync};
        let kind = pcb.and_then(|pcb| self.layouts.get(pcb)).map(|layout| &layout.kind);
        if matches!(function, Chkp | Rolb | Rols | Sync) || is_for_messages(function, kind) {
            POINTS.fetch_add(1, Relaxed);
        }
        let sent = self.link.exchange(&self.message, &mut self.answer);
        self.message.clear();
        sent.map_err(|error| lost(&error))
    }

    fn begin(&mut self, function: Function, pcb: Option<usize>) {
        self.number += 1;
        let title = pcb.map_or(NO_NAME, |pcb| self.titles[pcb]);
        let (message, ssas) = (&self.message, &self.ssas);
        let ssas = ssas.iter().map(|(from, to)| &message[*from..*to]);
        if self.trace.is_some() {
            self.traced_ssas = ssas.clone().map(readable).collect();
        }
        self.ledger.begin(self.number, function, title, ssas);
    }

    fn note(&mut self, function: Function, pcb: Option<usize>, shown: &Shown<'_>) {
        self.ledger.finish(self.number, function, shown);
        if let Some(trace) = &mut self.trace {
            trace.write(&CallRecord {
                number: self.number,
                call: function.to_string(),
                pcb: pcb.map_or_else(String::new, |pcb| text(&self.titles[pcb])),
                ssas: std::mem::take(&mut self.traced_ssas),
                status: Some(readable(&shown.status)),
                level: shown.level,
                segment: text(&shown.segment),
                key: readable(shown.key),
            });
        }
    }

    /// Asks for records of a data set; says whether there is an answer.
    pub(crate) fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<bool, Abend> {
        if request.len() > FILE_REQUEST_BYTES_MAX {
            return Ok(false);
        }
        Writer::file(&mut self.message, request);
        self.ask(answer).map(|()| true)
    }

    /// Makes a call of the message queue interface; says whether there is an answer.
    pub(crate) fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<bool, Abend> {
        if request.len() > FILE_REQUEST_BYTES_MAX {
            return Ok(false);
        }
        Writer::messages(&mut self.message, request);
        self.ask(answer).map(|()| true)
    }

    /// Sends a request that is no call, and gives back what its answer brings.
    fn ask(&mut self, answer: &mut Vec<u8>) -> Result<(), Abend> {
        let sent = self.link.exchange(&self.message, &mut self.answer);
        self.message.clear();
        sent.map_err(|error| lost(&error))?;
        let parsed = Answer::parse(&self.answer).map_err(|_| strange_answer())?;
        if let Some(abend) = parsed.abend {
            return Err(abend);
        }
        answer.clear();
        answer.extend_from_slice(parsed.area);
        Ok(())
    }

    /// A call that waits for the next one is done as far as the program can see.
    fn ride(&mut self, function: Function, target: &Target) {
        self.begin(function, target.pcb);
        if let Some(pcb) = target.pcb {
            self.masks.write_status(pcb, *b"  ");
        }
        let shown = Shown { status: *b"  ", level: 0, segment: NO_NAME, key: &[] };
        self.note(function, target.pcb, &shown);
    }

    /// Brings an answer into the program's memory.
    fn give_back(
        &mut self,
        function: Function,
        counts: Counts,
        target: &Target,
        places: &Places,
    ) -> Result<(), Abend> {
        let bytes = std::mem::take(&mut self.answer);
        let answer = Answer::parse(&bytes).map_err(|_| strange_answer())?;
        self.show(function, target.pcb, &answer);
        if let Some(abend) = answer.abend {
            return Err(abend);
        }
        let kind = target.pcb.map(|pcb| &self.layouts[pcb].kind);
        let given = match brings_segment(function, kind) {
            true => {
                count(answer.area, counts, self.order, &mut self.scratch);
                &self.scratch
            }
            false => answer.area.get(places.front..).unwrap_or(&[]),
        };
        let unwritten = places.area.filter(|area| !self.program_memory.write(*area, given));
        if unwritten.is_some() {
            return Err(out_of_reach(function, "its I/O area"));
        }
        for (address, bytes) in places.more.iter().zip(answer.more()) {
            if let Some(address) = address {
                self.program_memory.write(*address, bytes);
            }
        }
        if let Some(aib) = &target.aib {
            let mut reply = answer.aib.settled(self.status);
            if reply.area_used == 0 {
                reply.area_used = answer.area.len() as u32;
            }
            let address = target.pcb.map(|pcb| self.masks.address(pcb));
            aib.answer(&reply, address, &mut self.program_memory);
        }
        drop(answer);
        self.answer = bytes;
        Ok(())
    }

    /// Writes the PCBs that an answer names, and notes what the call's own one shows.
    fn show(&mut self, function: Function, pcb: Option<usize>, answer: &Answer<'_>) {
        self.status = *b"  ";
        self.key.clear();
        let (mut level, mut segment) = (0, NO_NAME);
        answer.pcbs(|number, feedback| {
            let Some(layout) = self.layouts.get_mut(number) else { return };
            if let PcbKind::Gsam(gsam) = &mut layout.kind {
                gsam.learn(feedback.key);
            }
            self.masks.write(number, layout, &feedback);
            if Some(number) == pcb {
                (self.status, level, segment) = (feedback.status, feedback.level, feedback.segment);
                self.key.extend_from_slice(feedback.key);
            }
        });
        let key = std::mem::take(&mut self.key);
        self.note(function, pcb, &Shown { status: self.status, level, segment, key: &key });
        self.key = key;
    }

    /// Tells the server that the program is over. An error says why there was no commit.
    pub(crate) fn end(&mut self, ending: Ending) -> Result<(), Abend> {
        if ending == Ending::Abend {
            self.message.clear();
        }
        Writer::end(&mut self.message, ending);
        let sent = self.link.exchange(&self.message, &mut self.answer);
        self.message.clear();
        sent.map_err(|error| lost(&error))?;
        let answer = Answer::parse(&self.answer).map_err(|_| strange_answer())?;
        answer.abend.map_or(Ok(()), Err)
    }
}

/// A call that another makes for the program, with everything at hand.
pub struct DirectCall<'a> {
    /// The function.
    pub function: Function,
    /// The PCB's number.
    pub pcb: usize,
    /// The search arguments, each exactly as long as it is.
    pub ssas: &'a [&'a [u8]],
    /// Further parameters, as in [`crate::server::Request::more`].
    pub more: &'a [&'a [u8]],
    /// What the area holds before the call.
    pub area: Option<&'a [u8]>,
    /// How long the area may become.
    pub room: usize,
}

/// What a direct call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectAnswer {
    /// The status code.
    pub status: [u8; 2],
    /// The level that the PCB shows.
    pub level: u8,
    /// The segment that the PCB shows.
    pub segment: Name,
    /// The key feedback.
    pub key: Vec<u8>,
    /// What the call set of the area.
    pub area: Vec<u8>,
    /// The further parameters as the call left them.
    pub more: Vec<Vec<u8>>,
    /// The status code of every PCB that the call changed, with its number.
    pub statuses: Vec<(usize, [u8; 2])>,
}

impl Interface {
    /// Makes a call of ours in the program's name; its PCB shows the outcome all the same.
    pub(crate) fn direct(&mut self, call: &DirectCall<'_>) -> Result<DirectAnswer, Abend> {
        self.make(call, true)
    }

    /// Makes a call of the program itself, whose memory is not reached for.
    pub(crate) fn call_of_program(&mut self, call: &DirectCall<'_>) -> Result<DirectAnswer, Abend> {
        let kind = self.layouts.get(call.pcb).map(|layout| &layout.kind);
        if is_for_messages(call.function, kind) {
            self.ledger.note_message();
        }
        self.make(call, false)
    }

    fn make(&mut self, call: &DirectCall<'_>, of_command: bool) -> Result<DirectAnswer, Abend> {
        if call.pcb >= self.layouts.len() {
            return Err(abend("U0476", &format!("there is no PCB {}", call.pcb)));
        }
        self.ssas.clear();
        let mut writer = Writer::call(&mut self.message, call.function, Some(call.pcb), None);
        if of_command {
            writer.of_command();
        }
        for ssa in call.ssas.iter().take(SSAS_MAX) {
            self.ssas.push(writer.ssa(ssa));
        }
        call.more.iter().take(MORE_MAX).for_each(|item| writer.more(item));
        if let Some(area) = call.area {
            writer.area(call.room, area);
        }
        writer.finish();
        self.exchange(call.function, Some(call.pcb))?;
        let bytes = std::mem::take(&mut self.answer);
        let answer = Answer::parse(&bytes).map_err(|_| strange_answer())?;
        self.show(call.function, Some(call.pcb), &answer);
        if let Some(abend) = answer.abend {
            return Err(abend);
        }
        let mut parsed = DirectAnswer {
            area: answer.area.to_vec(),
            more: answer.more().map(<[u8]>::to_vec).collect(),
            ..DirectAnswer::default()
        };
        answer.pcbs(|number, feedback| {
            parsed.statuses.push((number, feedback.status));
            if number == call.pcb {
                parsed.status = feedback.status;
                parsed.level = feedback.level;
                parsed.segment = feedback.segment;
                parsed.key = feedback.key.to_vec();
            }
        });
        Ok(parsed)
    }
}

/// A segment as the program's language counts it: LL in its order of bytes, or LLLL.
fn count(segment: &[u8], counts: Counts, order: Order, out: &mut Vec<u8>) {
    out.clear();
    let Some((ll, behind)) = segment.split_first_chunk::<2>() else { return };
    let len = u16::from_be_bytes(*ll);
    match (counts, order) {
        (Counts::Full, _) => out.extend_from_slice(&order.bytes(u32::from(len))),
        (Counts::Half, Order::Big) => out.extend_from_slice(ll),
        (Counts::Half, Order::Native) => out.extend_from_slice(&len.to_ne_bytes()),
    }
    out.extend_from_slice(behind);
}

/// Where the program puts the length of a record before it inserts it: behind the RSA in the PCB.
fn undefined_at(layouts: &[PcbLayout], masks: &Masks, pcb: usize) -> Option<usize> {
    match &layouts[pcb].kind {
        PcbKind::Gsam(gsam) if gsam.undefined => Some(masks.undefined_length_at(pcb, gsam.rsa_len)),
        _ => None,
    }
}

fn lost(error: &RegionError) -> Abend {
    Abend { code: error.code().to_string(), text: error.to_string() }
}

fn strange_answer() -> Abend {
    lost(&RegionError::Protocol("the answer to a call"))
}
