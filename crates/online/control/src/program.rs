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

use std::sync::Arc;

use otma::{Identity, Name};
use queues::QueueName;
use region::Abend;
use region::layout::Name as PcbName;
use resources::Transaction;
use schedule::Moment;
use schedule::messages::{Messages, Segment, TerminalPcb};
use seam::sync::Mutex;
use store::{CommitSink, Store, Unit, UnitOptions};

use crate::aftermath::Aftermath;
use crate::conversation::{is_spa, transaction_of};
use crate::dispatch::RegionId;
use crate::inner::{Coming, Inner};
use crate::outputs::{AlternatePcb, Made, Outputs};
use crate::present_input::PresentInput;
use crate::profiles::TRANSACTIONS;
use crate::run::{Next, Run};

/// A unit of work whose commit is queued, as long as it is not known to be.
type Slot = Arc<Mutex<Option<Aftermath>>>;

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
    pub(crate) program: Name,
    input: PresentInput,
    pub(crate) outputs: Outputs,
    pending: PendingCommit,
}

/// What a sync point has prepared, as long as nobody knows that it is committed.
struct PendingCommit {
    /// The program goes on when its commits are durable, not before.
    waits_for_commits: bool,
    aftermath: Option<Aftermath>,
    queued: Option<(u64, Slot)>,
}

impl PendingCommit {
    /// Queues what was prepared, if the next call is for the next message: only that says that the
    /// commit was queued. Returns under which token.
    fn queue<S: Store>(&mut self, inner: &Arc<Inner<S>>) -> Option<u64> {
        if self.waits_for_commits || self.aftermath.as_ref()?.inputs.is_empty() {
            return None;
        }
        let slot: Slot = Arc::new(Mutex::new(self.aftermath.take()));
        let (later, own) = (Arc::clone(inner), Arc::clone(&slot));
        let token = inner.commits.note(Box::new(move |outcome| {
            let Some(aftermath) = own.lock().take() else { return };
            match outcome {
                Ok(()) => later.finish(aftermath),
                Err(error) => later.lost(aftermath, &error.to_string()),
            }
        }));
        self.queued = Some((token, slot));
        Some(token)
    }

    /// What was prepared, if it was neither committed nor told of.
    fn take_back<S: Store>(&mut self, inner: &Inner<S>) -> Option<Aftermath> {
        let queued = self.queued.take().and_then(|(token, slot)| {
            // If nobody knows the token any more, the commit was queued and told of.
            drop(inner.commits.take(token)?);
            slot.lock().take()
        });
        self.aftermath.take().or(queued)
    }
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
        ProgramMessages {
            inner: Arc::clone(inner),
            run,
            region,
            transaction,
            program,
            input: PresentInput::default(),
            outputs: Outputs::new(alternates, Name::BLANK),
            pending: PendingCommit { waits_for_commits, aftermath: None, queued: None },
        }
    }

    /// The same with a destination for what it sends without having an input.
    pub(crate) fn sending_to(self, output: Name) -> ProgramMessages<S> {
        ProgramMessages { outputs: self.outputs.sending_to(output), ..self }
    }

    fn in_conversation(&self) -> bool {
        self.transaction.as_ref().is_some_and(|one| one.conversation)
    }

    /// Lays the next message out for the program.
    fn lay_out(&mut self, next: Next) {
        let conversation = self.transaction.as_ref().filter(|one| one.conversation);
        let kept = conversation.and_then(|_| {
            let state = self.inner.state.lock();
            state.conversations.get(&next.envelope.terminal).map(|one| one.spa.clone())
        });
        let utc = next.put_at_ms * 1_000;
        let moment = Moment::new(utc, self.inner.clock.offset_s(utc));
        self.input.lay_out(next, conversation, kept.unwrap_or_default(), moment);
    }

    fn number_of(pcb: TerminalPcb) -> usize {
        match pcb {
            TerminalPcb::Io => 0,
            TerminalPcb::Alternate(number) => number,
        }
    }

    /// ISRT of a scratch pad area.
    fn insert_spa(&mut self, number: usize, segment: &[u8]) -> [u8; 2] {
        if number > 0 {
            let to = self.outputs.alternate(number);
            let state = self.inner.state.lock();
            let of = state.dispatch.transactions.get(&to);
            let is_conversation = of.is_some_and(|one| one.definition.conversation);
            drop(state);
            if !is_conversation {
                return *b"X3";
            }
            let input = self.follows();
            let made = Made { to, input, spa: segment.to_vec(), ..Made::default() };
            self.outputs.begin_with_spa(number, made);
            return OK;
        }
        if self.outputs.spa().is_some() {
            return *b"X5";
        }
        let to = transaction_of(segment, self.input.encoding());
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
        self.outputs.set_spa(segment);
        OK
    }

    fn name(&self) -> Option<Name> {
        self.transaction.as_ref().map(|one| one.name)
    }

    /// Whether a segment is the scratch pad area, and not part of a message.
    fn takes_as_spa(&self, number: usize, segment: &[u8]) -> bool {
        let begun = self.outputs.has_begun(number);
        self.in_conversation() && !begun && is_spa(segment, self.input.encoding()) && {
            let to = transaction_of(segment, self.input.encoding());
            to.is_blank() || self.inner.is_transaction(to)
        }
    }

    /// The number of the input in hand in its unit of work.
    fn follows(&self) -> usize {
        self.run.lock().inputs.len().saturating_sub(1)
    }

    /// Sends the message of an express PCB at once, in a unit of work of its own.
    fn send_now(&mut self, number: usize) -> [u8; 2] {
        let Some(made) = self.outputs.take(number) else { return OK };
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

    /// Takes back what a unit of work that failed has put; its inputs are in hand again.
    fn take_back(&mut self) {
        let Some(aftermath) = self.pending.take_back(&self.inner) else { return };
        aftermath.coming.into_iter().for_each(|one| self.inner.queues.forget(one.pending));
        self.run.lock().inputs.extend(aftermath.inputs);
    }

    /// Where a message goes. A reply is no program switch, whatever its terminal is called: that
    /// name is the client's choice.
    pub(crate) fn queue_of(&self, made: &Made) -> QueueName {
        match !made.is_reply && self.inner.is_transaction(made.to) {
            true => QueueName::input(made.to),
            false => QueueName::output(made.to),
        }
    }
}

impl<S: Store> Messages<S> for ProgramMessages<S> {
    fn next_message(&mut self, _unit: &mut S::Unit) -> Result<Option<Segment<'_>>, Abend> {
        self.pending.queued = None;
        self.outputs.close_all();
        self.input.end();
        match self.wait_for_input()? {
            Some(next) => {
                self.lay_out(next);
                Ok(self.input.first_segment().ok())
            }
            None => Ok(None),
        }
    }

    fn next_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        self.input.next_segment()
    }

    fn insert(&mut self, pcb: TerminalPcb, segment: &[u8], mod_name: Option<PcbName>) -> [u8; 2] {
        let number = ProgramMessages::<S>::number_of(pcb);
        if self.takes_as_spa(number, segment) {
            return self.insert_spa(number, segment);
        }
        let Self { outputs, input, transaction, inner, .. } = &*self;
        let given = (segment, mod_name.is_some());
        match outputs.admits(number, given, input, transaction.as_ref(), &**inner) {
            Ok(to) => {
                let follows = self.follows();
                self.outputs.add(number, (to, follows), segment, mod_name, &self.input);
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
        let merged = number == 0 && self.input.ignores_purge();
        if !merged {
            if self.outputs.is_express(number) {
                let status = self.send_now(number);
                if status != OK {
                    return status;
                }
            } else {
                self.outputs.close(number);
            }
        }
        segment.map_or(OK, |segment| self.insert(pcb, segment, mod_name))
    }

    fn change(&mut self, pcb: usize, destination: PcbName) -> [u8; 2] {
        let to = Name(destination);
        if !self.outputs.is_changeable(pcb) {
            return *b"A2";
        }
        let is_known = self.inner.is_transaction(to)
            || (to == self.input.terminal() && !to.is_blank())
            || self.inner.is_terminal(to);
        if !is_known {
            return *b"A1";
        }
        if self.inner.is_transaction(to) && self.may_use(TRANSACTIONS.0, to.0) == Some(false) {
            return *b"A4";
        }
        self.outputs.change(pcb, to);
        OK
    }

    fn destination(&self, pcb: TerminalPcb) -> PcbName {
        self.outputs.destination(pcb, &self.input).0
    }

    fn prepare(&mut self, unit: &mut S::Unit) -> Result<(), Abend> {
        self.outputs.close_all();
        self.outputs.forget_marks();
        let mut aftermath = Aftermath::default();
        let prepared = self.owe(unit, &mut aftermath);
        self.pending.aftermath = Some(aftermath);
        prepared?;
        self.outputs.clear();
        Ok(())
    }

    fn committed(&mut self) {
        if let Some(aftermath) = self.pending.aftermath.take() {
            self.inner.finish(aftermath);
        }
        self.outputs.reset_destinations();
    }

    fn backed_out(&mut self, again: bool) {
        self.take_back();
        self.outputs.clear();
        self.outputs.reset_destinations();
        self.input.backed_out(again);
    }

    fn first_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        self.input.first_segment()
    }

    fn is_scratch_pad(&self, segment: &[u8]) -> bool {
        self.takes_as_spa(0, segment)
            || (self.in_conversation() && self.outputs.spa() == Some(segment))
    }

    fn queue(&mut self) -> Option<(Arc<dyn CommitSink>, u64)> {
        let token = self.pending.queue(&self.inner)?;
        self.outputs.reset_destinations();
        Some((Arc::clone(&self.inner.commits) as Arc<dyn CommitSink>, token))
    }

    fn mark(&mut self) -> Option<u64> {
        Some(self.outputs.mark())
    }

    fn may_use(&self, class: PcbName, resource: PcbName) -> Option<bool> {
        self.inner.profiles.may_use(self.input.identity(), Name(class), Name(resource))
    }

    fn return_to(&mut self, mark: u64) {
        self.outputs.return_to(mark);
    }
}

impl<S: Store> ProgramMessages<S> {
    /// Puts a message that was made into its queue.
    pub(crate) fn put(
        &self,
        unit: &mut S::Unit,
        parent: &crate::envelope::Envelope,
        made: &Made,
        aftermath: &mut Aftermath,
    ) -> Result<u64, queues::QueueError> {
        let queue = self.queue_of(made);
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
            if made.to != parent.terminal && made.to != parent.tpipe {
                let user = self.inner.state.lock().tpipes.owner(made.to).unwrap_or_default();
                envelope.identity = Identity { user, group: Name::BLANK };
            }
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
