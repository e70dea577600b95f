//! A scheduled program's messages: what it is given, what it sends, what it owes at sync points.
//!
//! | status | because |
//! |---|---|
//! | A1 | CHNG: no transaction or terminal of that name |
//! | A2 | CHNG: the PCB is not modifiable, or its message has begun |
//! | A3 | ISRT, PURG: the PCB has no destination |
//! | A4 | CHNG: the input's user may not use that transaction |
//! | A5 | a MOD name with another than the first segment |
//! | A6, A7 | a segment longer than SEGSZ, more segments than SEGNO |
//! | A8 | the I/O PCB and a response PCB in one unit of work |
//! | A9 | SAMETRM=YES, and another terminal |
//! | AA | a response PCB with a transaction as destination |
//! | QD, QE | GN behind the last segment, before the first GU |
//! | QF, QH | a segment shorter than 5 bytes; no such destination |
//! | X3, X5, X6, X7 | a scratch pad area that is none here, that comes twice, with an unknown transaction, of a wrong length |
//!
//! Invariants:
//! 1. What is inserted is sent by a sync point, and forgotten by a backout; what an express PCB
//!    purges is sent at once, and stays sent.
//! 2. An input leaves its queue in the unit of work that its outputs are put in.

use std::collections::BTreeMap;
use std::sync::Arc;

use otma::{Encoding, Identity, Name, Segments};
use queues::QueueName;
use region::layout::Name as PcbName;
use region::{Abend, IoFeedback};
use resources::Transaction;
use schedule::messages::{Messages, Segment, TerminalPcb};
use seam::sync::Mutex;
use store::{CommitSink, Store, Unit, UnitOptions};

use crate::aftermath::Aftermath;
use crate::conversation::{is_spa, spa_for, transaction_of};
use crate::dispatch::RegionId;
use crate::inner::{Coming, Inner};
use crate::profiles::TRANSACTIONS;
use crate::run::{Next, Run};

/// An alternate PCB as its PSB defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlternatePcb {
    /// Its number among all PCBs; the I/O PCB is number 0.
    pub number: usize,
    /// Its destination; blank if it is to be given one.
    pub destination: Name,
    /// CHNG may give it another.
    pub modifiable: bool,
    /// What it purges is sent at once.
    pub express: bool,
    /// It answers in place of the I/O PCB.
    pub response: bool,
    /// It answers the input's terminal only.
    pub same_terminal: bool,
}

/// A message that is being made, or is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) to: Name,
    pub(crate) is_reply: bool,
    /// The input that it follows, by its number in the unit of work.
    pub(crate) input: usize,
    pub(crate) mod_name: Name,
    pub(crate) segments: Segments,
    pub(crate) spa: Vec<u8>,
}

/// A unit of work whose commit is queued, as long as it is not known to be.
type Slot = Arc<Mutex<Option<Aftermath>>>;

/// Where the outputs stood at a mark: how many were made, those in the making, the scratch pad.
type Marked = (usize, BTreeMap<usize, Made>, Option<Vec<u8>>);

/// Where a program's inputs come from.
pub(crate) struct Inputs {
    pub(crate) region: Option<RegionId>,
    pub(crate) transaction: Option<Transaction>,
    /// It goes on when its commits are durable, not before.
    pub(crate) waits_for_commits: bool,
}

/// The messages of one scheduled program.
pub struct ProgramMessages<S: Store> {
    pub(crate) inner: Arc<Inner<S>>,
    pub(crate) run: Arc<Mutex<Run>>,
    pub(crate) region: Option<RegionId>,
    pub(crate) transaction: Option<Transaction>,
    waits_for_commits: bool,
    pub(crate) program: Name,
    /// Where the messages of the I/O PCB go while there is no input.
    output: Name,
    alternates: BTreeMap<usize, AlternatePcb>,
    /// The present message: its segments, and how many were given.
    parts: Vec<Vec<u8>>,
    place: usize,
    io: IoFeedback,
    is_old: bool,
    /// Of the present message.
    pub(crate) terminal: Name,
    /// Of the present message.
    identity: Identity,
    /// Of the present message: the code page that the program has its characters in.
    encoding: Encoding,
    ignore_purge: bool,
    destinations: BTreeMap<usize, Name>,
    making: BTreeMap<usize, Made>,
    pub(crate) made: Vec<Made>,
    /// The scratch pad area that was inserted for the next turn.
    pub(crate) spa: Option<Vec<u8>>,
    marks: Vec<Marked>,
    aftermath: Option<Aftermath>,
    queued: Option<(u64, Slot)>,
}

const OK: [u8; 2] = *b"  ";

impl<S: Store> ProgramMessages<S> {
    pub(crate) fn new(
        inner: &Arc<Inner<S>>,
        run: Arc<Mutex<Run>>,
        Inputs { region, transaction, waits_for_commits }: Inputs,
        program: Name,
        alternates: &[AlternatePcb],
    ) -> ProgramMessages<S> {
        let alternates: BTreeMap<usize, AlternatePcb> =
            alternates.iter().map(|one| (one.number, *one)).collect();
        let destinations = alternates.iter().map(|(at, one)| (*at, one.destination)).collect();
        ProgramMessages {
            inner: Arc::clone(inner),
            run,
            region,
            transaction,
            waits_for_commits,
            program,
            output: Name::BLANK,
            alternates,
            parts: Vec::new(),
            place: 0,
            io: IoFeedback::default(),
            is_old: false,
            terminal: Name::BLANK,
            identity: Identity::default(),
            encoding: Encoding::Ascii,
            ignore_purge: false,
            destinations,
            making: BTreeMap::new(),
            made: Vec::new(),
            spa: None,
            marks: Vec::new(),
            aftermath: None,
            queued: None,
        }
    }

    /// The same with a destination for what it sends without having an input.
    pub(crate) fn sending_to(self, output: Name) -> ProgramMessages<S> {
        ProgramMessages { output, ..self }
    }

    fn in_conversation(&self) -> bool {
        self.transaction.as_ref().is_some_and(|one| one.conversation)
    }

    fn give(&mut self, number: usize) -> Segment<'_> {
        self.place = number + 1;
        let first = number == 0;
        Segment {
            bytes: &self.parts[number],
            io: first.then_some(&self.io),
            status: if first && self.is_old { *b"CF" } else { OK },
        }
    }

    /// Lays the next message out for the program.
    fn lay_out(&mut self, next: Next) {
        let Next { envelope, arrival, put_at_ms, is_old } = next;
        self.parts = envelope.segments.iter().map(<[u8]>::to_vec).collect();
        if let Some(transaction) = self.transaction.as_ref().filter(|one| one.conversation) {
            let state = self.inner.state.lock();
            let kept = state.conversations.get(&envelope.terminal).map(|one| one.spa.clone());
            drop(state);
            let old = if envelope.spa.is_empty() { kept.unwrap_or_default() } else { envelope.spa };
            let page = envelope.encoding;
            self.parts.insert(0, spa_for(transaction.name, transaction.spa_bytes, &old, page));
        }
        if self.parts.is_empty() {
            // A message has a first segment, if one without data.
            self.parts.push(vec![0, 4, 0, 0]);
        }
        self.is_old = is_old;
        self.terminal = envelope.terminal;
        self.encoding = envelope.encoding;
        self.identity = envelope.identity;
        self.ignore_purge = envelope.options.ignore_purge;
        let user = envelope.identity.user;
        self.io = IoFeedback {
            terminal: envelope.terminal.0,
            sequence: arrival as u32,
            mod_name: envelope.mod_name.0,
            user: if user.is_blank() { envelope.terminal.0 } else { user.0 },
            group: envelope.identity.group.0,
            indicator: if user.is_blank() { b'L' } else { b'U' },
            ..IoFeedback::default()
        };
        let utc = put_at_ms * 1_000;
        crate::text::Moment::new(utc, self.inner.clock.offset_s(utc)).show(&mut self.io);
    }

    fn number_of(pcb: TerminalPcb) -> usize {
        match pcb {
            TerminalPcb::Io => 0,
            TerminalPcb::Alternate(number) => number,
        }
    }

    fn is_transaction(&self, name: Name) -> bool {
        self.inner.state.lock().dispatch.transactions.contains_key(&name)
    }

    /// Whether a PCB may get a segment.
    fn admits(&self, number: usize, segment: &[u8], named: bool) -> Result<Name, [u8; 2]> {
        if segment.len() < 5 {
            return Err(*b"QF");
        }
        if named && self.making.contains_key(&number) {
            return Err(*b"A5");
        }
        let count = self.making.get(&number).map_or(0, |made| made.segments.count());
        let is_io = number == 0;
        let is_response = self.alternates.get(&number).is_some_and(|one| one.response);
        if is_io || is_response {
            if let Some(of) = &self.transaction {
                let most = usize::from(of.segment_bytes_max);
                if most > 0 && segment.len() > most {
                    return Err(*b"A6");
                }
                if of.segments_max > 0 && count >= usize::from(of.segments_max) {
                    return Err(*b"A7");
                }
            }
            let answers = |other: usize| {
                let response = self.alternates.get(&other).is_some_and(|one| one.response);
                if is_io { response } else { other == 0 }
            };
            let mixed = self.making.keys().any(|other| answers(*other))
                || (is_response && self.made.iter().any(|made| made.is_reply));
            if mixed {
                return Err(*b"A8");
            }
        }
        if is_io {
            return match self.parts.is_empty() {
                false => Ok(self.terminal),
                true if self.output.is_blank() => Err(*b"QH"),
                true => Ok(self.output),
            };
        }
        self.alternate(number, is_response)
    }

    fn alternate(&self, number: usize, is_response: bool) -> Result<Name, [u8; 2]> {
        let to = self.destinations.get(&number).copied().unwrap_or_default();
        if to.is_blank() {
            return Err(*b"A3");
        }
        if self.is_transaction(to) {
            return if is_response { Err(*b"AA") } else { Ok(to) };
        }
        let same = self.alternates.get(&number).is_some_and(|one| one.same_terminal);
        if same && to != self.terminal {
            return Err(*b"A9");
        }
        if to == self.terminal || self.inner.is_terminal(to) { Ok(to) } else { Err(*b"QH") }
    }

    /// ISRT of a scratch pad area.
    fn insert_spa(&mut self, number: usize, segment: &[u8]) -> [u8; 2] {
        if number > 0 {
            let to = self.destinations.get(&number).copied().unwrap_or_default();
            let state = self.inner.state.lock();
            let of = state.dispatch.transactions.get(&to);
            let is_conversation = of.is_some_and(|one| one.definition.conversation);
            drop(state);
            if !is_conversation {
                return *b"X3";
            }
            let input = self.run.lock().inputs.len().saturating_sub(1);
            let made = Made { to, input, spa: segment.to_vec(), ..Made::default() };
            self.making.insert(number, made);
            return OK;
        }
        if self.spa.is_some() {
            return *b"X5";
        }
        let to = transaction_of(segment, self.encoding);
        if !to.is_blank() {
            let state = self.inner.state.lock();
            let of = state.dispatch.transactions.get(&to);
            let size = of.filter(|one| one.definition.conversation);
            let size = size.map(|one| usize::from(one.definition.spa_bytes));
            drop(state);
            match size {
                None => return *b"X6",
                Some(size) if segment.len() > size && Some(to) == self.name() => return *b"X7",
                Some(_) => {}
            }
        }
        self.spa = Some(segment.to_vec());
        OK
    }

    fn name(&self) -> Option<Name> {
        self.transaction.as_ref().map(|one| one.name)
    }

    /// Whether a segment is the scratch pad area, and not part of a message.
    fn takes_as_spa(&self, number: usize, segment: &[u8]) -> bool {
        let begun = self.making.contains_key(&number);
        self.in_conversation() && !begun && is_spa(segment, self.encoding) && {
            let to = transaction_of(segment, self.encoding);
            to.is_blank() || self.is_transaction(to)
        }
    }

    fn add(&mut self, number: usize, to: Name, segment: &[u8], mod_name: Option<PcbName>) {
        let is_response = self.alternates.get(&number).is_some_and(|one| one.response);
        let input = self.run.lock().inputs.len().saturating_sub(1);
        let made = self.making.entry(number).or_insert_with(|| Made {
            to,
            is_reply: number == 0 || is_response,
            input,
            ..Made::default()
        });
        if let Some(name) = mod_name {
            made.mod_name = Name(name);
        }
        let zz = [segment[2], segment[3]];
        // A segment of a program is never longer than LL can say.
        let _ = made.segments.push(zz, &segment[4..]);
    }

    /// Ends the message of a PCB.
    fn close(&mut self, number: usize) {
        if let Some(made) = self.making.remove(&number) {
            self.made.push(made);
        }
    }

    /// Sends the message of an express PCB at once, in a unit of work of its own.
    fn send_now(&mut self, number: usize) -> [u8; 2] {
        let Some(made) = self.making.remove(&number) else { return OK };
        let mut aftermath = Aftermath::default();
        let parent = {
            let run = self.run.lock();
            run.inputs.last().map(|input| input.envelope.clone())
        };
        let sent =
            self.inner.store.begin(UnitOptions::default()).map_err(|_| ()).and_then(|mut unit| {
                let parent = parent.unwrap_or_else(|| self.nobody());
                self.put(&mut unit, &parent, &made, &mut aftermath).map_err(|_| ())?;
                unit.commit().map(drop).map_err(|_| ())
            });
        if sent.is_err() {
            aftermath.coming.into_iter().for_each(|one| self.inner.queues.forget(one.pending));
            return *b"QH";
        }
        self.inner.arrived(aftermath.coming);
        OK
    }

    /// Finishes what is being made, for the sync point.
    pub(crate) fn close_all(&mut self) {
        let numbers: Vec<usize> = self.making.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.close(number));
    }

    fn clear(&mut self) {
        self.making.clear();
        self.made.clear();
        self.marks.clear();
        self.spa = None;
    }

    /// Takes back what a unit of work that failed has put; its inputs are in hand again.
    fn take_back(&mut self) {
        let queued = self.queued.take().and_then(|(token, slot)| {
            // If nobody knows the token any more, the commit was queued and told of.
            drop(self.inner.commits.take(token)?);
            slot.lock().take()
        });
        let Some(aftermath) = self.aftermath.take().or(queued) else { return };
        aftermath.coming.into_iter().for_each(|one| self.inner.queues.forget(one.pending));
        self.run.lock().inputs.extend(aftermath.inputs);
    }

    pub(crate) fn queue_of(&self, to: Name) -> QueueName {
        if self.is_transaction(to) { QueueName::input(to) } else { QueueName::output(to) }
    }
}

impl<S: Store> Messages<S> for ProgramMessages<S> {
    fn next_message(&mut self, _unit: &mut S::Unit) -> Result<Option<Segment<'_>>, Abend> {
        self.queued = None;
        self.close_all();
        self.parts.clear();
        match self.wait_for_input()? {
            Some(next) => {
                self.lay_out(next);
                Ok(Some(self.give(0)))
            }
            None => Ok(None),
        }
    }

    fn next_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        if self.parts.is_empty() {
            return Err(*b"QE");
        }
        let place = self.place;
        if place < self.parts.len() { Ok(self.give(place)) } else { Err(*b"QD") }
    }

    fn insert(&mut self, pcb: TerminalPcb, segment: &[u8], mod_name: Option<PcbName>) -> [u8; 2] {
        let number = ProgramMessages::<S>::number_of(pcb);
        if self.takes_as_spa(number, segment) {
            return self.insert_spa(number, segment);
        }
        match self.admits(number, segment, mod_name.is_some()) {
            Ok(to) => {
                self.add(number, to, segment, mod_name);
                OK
            }
            Err(status) => status,
        }
    }

    fn purge(
        &mut self,
        pcb: TerminalPcb,
        segment: Option<&[u8]>,
        mod_name: Option<PcbName>,
    ) -> [u8; 2] {
        let number = ProgramMessages::<S>::number_of(pcb);
        let to = self.destination(pcb);
        if number > 0 && to == region::layout::NO_NAME {
            return *b"A3";
        }
        let merged = number == 0 && self.ignore_purge;
        if !merged {
            if self.alternates.get(&number).is_some_and(|one| one.express) {
                let status = self.send_now(number);
                if status != OK {
                    return status;
                }
            } else {
                self.close(number);
            }
        }
        segment.map_or(OK, |segment| self.insert(pcb, segment, mod_name))
    }

    fn change(&mut self, pcb: usize, destination: PcbName) -> [u8; 2] {
        let to = Name(destination);
        let modifiable = self.alternates.get(&pcb).is_some_and(|one| one.modifiable);
        if !modifiable || self.making.contains_key(&pcb) {
            return *b"A2";
        }
        let is_known = self.is_transaction(to)
            || (to == self.terminal && !to.is_blank())
            || self.inner.is_terminal(to);
        if !is_known {
            return *b"A1";
        }
        if self.is_transaction(to) && self.may_use(TRANSACTIONS.0, to.0) == Some(false) {
            return *b"A4";
        }
        self.destinations.insert(pcb, to);
        OK
    }

    fn destination(&self, pcb: TerminalPcb) -> PcbName {
        match pcb {
            TerminalPcb::Io if self.parts.is_empty() => self.output.0,
            TerminalPcb::Io => self.terminal.0,
            TerminalPcb::Alternate(number) => {
                self.destinations.get(&number).copied().unwrap_or_default().0
            }
        }
    }

    fn prepare(&mut self, unit: &mut S::Unit) -> Result<(), Abend> {
        self.close_all();
        self.marks.clear();
        let mut aftermath = Aftermath::default();
        let prepared = self.owe(unit, &mut aftermath);
        self.aftermath = Some(aftermath);
        prepared?;
        self.clear();
        Ok(())
    }

    fn committed(&mut self) {
        if let Some(aftermath) = self.aftermath.take() {
            self.inner.finish(aftermath);
        }
        self.reset_destinations();
    }

    fn backed_out(&mut self, again: bool) {
        self.take_back();
        self.clear();
        self.reset_destinations();
        self.place = 1;
        if !again {
            self.parts.clear();
        }
    }

    fn first_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        if self.parts.is_empty() { Err(*b"QE") } else { Ok(self.give(0)) }
    }

    fn is_scratch_pad(&self, segment: &[u8]) -> bool {
        self.takes_as_spa(0, segment)
            || (self.in_conversation() && self.spa.as_deref() == Some(segment))
    }

    fn queue(&mut self) -> Option<(Arc<dyn CommitSink>, u64)> {
        // Only where the next call is for the next message: it says that the commit was queued.
        if self.waits_for_commits || self.aftermath.as_ref()?.inputs.is_empty() {
            return None;
        }
        let slot: Slot = Arc::new(Mutex::new(self.aftermath.take()));
        let (inner, own) = (Arc::clone(&self.inner), Arc::clone(&slot));
        let token = self.inner.commits.note(Box::new(move |outcome| {
            let Some(aftermath) = own.lock().take() else { return };
            match outcome {
                Ok(()) => inner.finish(aftermath),
                Err(error) => inner.lost(aftermath, &error.to_string()),
            }
        }));
        self.queued = Some((token, slot));
        self.reset_destinations();
        Some((Arc::clone(&self.inner.commits) as Arc<dyn CommitSink>, token))
    }

    fn mark(&mut self) -> Option<u64> {
        self.marks.push((self.made.len(), self.making.clone(), self.spa.clone()));
        Some(self.marks.len() as u64 - 1)
    }

    fn may_use(&self, class: PcbName, resource: PcbName) -> Option<bool> {
        self.inner.profiles.may_use(self.identity, Name(class), Name(resource))
    }

    fn return_to(&mut self, mark: u64) {
        let Ok(at) = usize::try_from(mark) else { return };
        let Some((length, making, spa)) = self.marks.get(at).cloned() else { return };
        self.marks.truncate(at + 1);
        self.made.truncate(length);
        self.making = making;
        self.spa = spa;
    }
}

impl<S: Store> ProgramMessages<S> {
    /// Modifiable PCBs have no destination after a sync point.
    fn reset_destinations(&mut self) {
        for (number, one) in self.alternates.iter().filter(|(_, one)| one.modifiable) {
            self.destinations.insert(*number, one.destination);
        }
    }

    /// Puts a message that was made into its queue.
    pub(crate) fn put(
        &self,
        unit: &mut S::Unit,
        parent: &crate::envelope::Envelope,
        made: &Made,
        aftermath: &mut Aftermath,
    ) -> Result<u64, queues::QueueError> {
        let queue = self.queue_of(made.to);
        let mut envelope = parent.reply(0, made.mod_name, made.segments.clone());
        envelope.in_conversation = false;
        let is_input = queue.kind == queues::Kind::Input;
        if is_input {
            envelope.transaction = made.to;
            envelope.send_then_commit = false;
            envelope.spa.clone_from(&made.spa);
        } else {
            envelope.tpipe = made.to;
            envelope.correlator = None;
        }
        let pending = self.inner.queues.put(unit, queue, None, &envelope.encode())?;
        let arrival = pending.arrival();
        aftermath.coming.push(Coming { pending, answers: 0 });
        Ok(arrival)
    }

    /// Whom the messages of a program without input come from.
    pub(crate) fn nobody(&self) -> crate::envelope::Envelope {
        let program = self.program;
        crate::envelope::Envelope { client: program, terminal: program, ..Default::default() }
    }
}
