//! A program's sync point: what it owes is put into its unit of work.
//!
//! | the input came | its replies |
//! |---|---|
//! | in mode 0 | are queued on its tpipe in the unit of work |
//! | in mode 1, sync level none | are released when the unit of work is durable |
//! | in mode 1, confirm | are sent now, and the client's answer decides |
//!
//! Invariants:
//! 1. A client who refuses an output, or does not answer in time, has the unit of work backed out.
//!    So has one who does not answer while the unit of work keeps the log full.
//! 2. An input of mode 1 without a reply whose program switched to another one is answered by that.

use std::time::Duration;

use otma::{Answer, Event, Name, Ticket};
use queues::{Kind, QueueName};
use region::Abend;
use seam::failpoint::{Failpoint, armed};
use store::{Store, Unit as _};

use crate::aftermath::Aftermath;
use crate::conversation::{Conversation, spa_for, transaction_of};
use crate::envelope::Envelope;
use crate::inner::{Coming, InHand, State};
use crate::outputs::Made;
use crate::program::ProgramMessages;
use crate::text;

/// The abend of a sync point that a client has refused.
pub(crate) const REFUSED: &str = "U0119";
/// The abend of one that the queues or the store have refused.
pub(crate) const NO_ROOM: &str = "U0844";

/// How long a sync point waits for a client's answer before it looks whether it may wait on.
const LOOK: Duration = Duration::from_millis(250);

/// An input that a program has put into the queue of another transaction.
#[derive(Clone, Copy)]
struct Switched {
    arrival: u64,
    /// The program's own input, by its number in the unit of work.
    input: usize,
    with_spa: bool,
}

/// Where the outputs for an input of mode 0 go; nowhere if nobody is there to get them, and who
/// sent it wants them to be discarded then. What a send-only input brings waits to be fetched.
fn tpipe_for(envelope: &Envelope, is_there: bool) -> Option<Name> {
    let options = &envelope.options;
    if is_there || options.send_only {
        return Some(envelope.tpipe);
    }
    match (options.purge_undeliverable, options.reroute.is_blank()) {
        (true, _) => None,
        (false, true) => Some(envelope.tpipe),
        (false, false) => Some(options.reroute),
    }
}

fn abend(code: &str, text: String) -> Abend {
    Abend { code: code.to_owned(), text }
}

fn failed(error: &queues::QueueError) -> Abend {
    let code = match error {
        queues::QueueError::Store(error) => schedule::abend_of(error),
        _ => NO_ROOM,
    };
    abend(code, format!("{} {error}", base::Coded::code(error)))
}

/// What a client has said to the output that was sent last; `None` as long as nothing is known.
/// Its word counts, though it may have gone since.
fn word_of(state: &mut State, ticket: Ticket) -> Option<Result<(), Abend>> {
    let client = state.clients.get(&ticket);
    match client.and_then(|client| client.answer) {
        Some(Answer::Ack) => {
            state.statistics.delivered += 1;
            Some(Ok(()))
        }
        Some(Answer::Nak { reason, .. }) => {
            let text = format!("the client has refused the output, reason {reason}");
            Some(Err(abend(REFUSED, text)))
        }
        None if client.is_none_or(|client| client.gone) => {
            Some(Err(abend(REFUSED, "the client has gone before it answered".to_owned())))
        }
        None => None,
    }
}

impl<S: Store> ProgramMessages<S> {
    /// Puts all that is owed into the unit of work. The inputs are in the aftermath in any case.
    pub(crate) fn owe(
        &mut self,
        unit: &mut S::Unit,
        aftermath: &mut Aftermath,
    ) -> Result<(), Abend> {
        aftermath.inputs = std::mem::take(&mut self.run.lock().inputs);
        let made = self.outputs.take_made();
        let (replies, others) = made.into_iter().partition(|made| made.is_reply);
        let inputs = std::mem::take(&mut aftermath.inputs);
        aftermath.confirms.clear();
        let parent = inputs.last().map(|input| input.envelope.clone());
        let parent = parent.unwrap_or_else(|| self.nobody());
        let result = self.owe_of(unit, aftermath, &inputs, &parent, (replies, others));
        aftermath.inputs = inputs;
        result?;
        // Last of all: what comes behind an answer could fail and be tried again, and would be sent
        // to the client twice.
        let confirms = std::mem::take(&mut aftermath.confirms);
        confirms.iter().try_for_each(|(ticket, output)| self.confirm(unit, *ticket, output))
    }

    fn owe_of(
        &mut self,
        unit: &mut S::Unit,
        aftermath: &mut Aftermath,
        inputs: &[InHand],
        parent: &Envelope,
        (replies, others): (Vec<Made>, Vec<Made>),
    ) -> Result<(), Abend> {
        let mut switched = Vec::new();
        for made in &others {
            let of = inputs.get(made.input).map_or(parent, |input| &input.envelope);
            let arrival = self.put(unit, of, made, aftermath).map_err(|e| failed(&e))?;
            if self.queue_of(made).kind == Kind::Input {
                switched.push(Switched {
                    arrival,
                    input: made.input,
                    with_spa: !made.spa.is_empty(),
                });
            }
        }
        let goes_on = self.converse(unit, aftermath, parent, &switched)?;
        for (at, input) in inputs.iter().enumerate() {
            let own: Vec<&Made> = replies.iter().filter(|made| made.input == at).collect();
            let to: Vec<Switched> =
                switched.iter().filter(|one| one.input == at).copied().collect();
            self.answer(unit, aftermath, input, &own, &to, goes_on)?;
            self.inner.queues.remove(unit, &input.held).map_err(|e| failed(&e))?;
        }
        if inputs.is_empty() {
            for made in &replies {
                self.put(unit, parent, made, aftermath).map_err(|e| failed(&e))?;
            }
        }
        Ok(())
    }

    fn answer(
        &mut self,
        unit: &mut S::Unit,
        aftermath: &mut Aftermath,
        input: &InHand,
        replies: &[&Made],
        switched: &[Switched],
        goes_on: bool,
    ) -> Result<(), Abend> {
        let InHand { envelope, ticket, .. } = input;
        let state = self.inner.state.lock();
        let client = state.clients.get(ticket);
        let is_there = client.is_some();
        let direct = client.is_some_and(|client| client.direct);
        let confirm = client.is_some_and(|client| client.confirm);
        drop(state);
        let to_terminal = |made: &&&Made| made.to == envelope.terminal;
        let mut own: Vec<Envelope> = replies
            .iter()
            .filter(to_terminal)
            .map(|made| envelope.reply(ticket.0, made.mod_name, made.segments.clone()))
            .collect();
        for made in replies.iter().filter(|made| !to_terminal(made)) {
            self.put(unit, envelope, made, aftermath).map_err(|e| failed(&e))?;
        }
        if let (true, Some(other)) = (own.is_empty(), switched.first()) {
            // The other program answers in its place, if anybody waits.
            if direct {
                aftermath.inherits.push((other.arrival, *ticket));
                return Ok(());
            }
        } else if own.is_empty() && envelope.options.tell_if_no_reply {
            own.push(envelope.system_reply(ticket.0, &[text::NO_REPLY.to_owned()]));
        }
        for output in &mut own {
            output.in_conversation = goes_on;
        }
        match (direct, confirm) {
            (true, true) => {
                aftermath.confirms.extend(own.into_iter().map(|output| (*ticket, output)));
            }
            (true, false) => {
                for output in &own {
                    aftermath.replies.push((*ticket, self.inner.direct_output(output, false)));
                }
            }
            (false, _) => {
                let Some(tpipe) = tpipe_for(envelope, is_there) else {
                    aftermath.ends.push(*ticket);
                    return Ok(());
                };
                for output in &mut own {
                    output.tpipe = tpipe;
                    let to = QueueName::output(tpipe);
                    let put = self.inner.queues.put(unit, to, None, &output.encode());
                    let pending = put.map_err(|e| failed(&e))?;
                    aftermath.coming.push(Coming { pending, answers: ticket.0 });
                }
            }
        }
        aftermath.ends.push(*ticket);
        Ok(())
    }

    /// Sends an output and waits for its answer.
    fn confirm(&self, unit: &mut S::Unit, ticket: Ticket, output: &Envelope) -> Result<(), Abend> {
        let output = self.inner.direct_output(output, true);
        if let Some(client) = self.inner.state.lock().clients.get_mut(&ticket) {
            client.answer = None;
        }
        self.inner.tell(ticket, Event::Output(output));
        let clock = &self.inner.clock;
        let begun = clock.monotonic();
        let until = begun + self.inner.options.answer_wait;
        let mut look = begun + LOOK;
        loop {
            let now = clock.monotonic();
            let mut state = self.inner.state.lock();
            if let Some(word) = word_of(&mut state, ticket) {
                return word;
            }
            if now >= until {
                return Err(abend(REFUSED, "the client has not answered in time".to_owned()));
            }
            if now < look {
                self.inner.answers.wait_for(&mut state, until.min(look).saturating_sub(now));
                continue;
            }
            drop(state);
            let kept = unit.keep_open();
            look = clock.monotonic() + LOOK;
            if let Err(error) = kept {
                // That may have taken its time; what has no unit of work any more has no answer.
                let word = word_of(&mut self.inner.state.lock(), ticket);
                let word = word.filter(|_| !error.dooms_unit());
                let text = format!("the client has not answered, and {error}");
                return word.unwrap_or_else(|| Err(abend(REFUSED, text)));
            }
        }
    }

    /// What becomes of the terminal's conversation; answers whether it goes on.
    fn converse(
        &mut self,
        unit: &mut S::Unit,
        aftermath: &mut Aftermath,
        parent: &Envelope,
        switched: &[Switched],
    ) -> Result<bool, Abend> {
        let Some(of) = self.transaction.clone().filter(|one| one.conversation) else {
            return Ok(false);
        };
        let terminal = parent.terminal;
        let state = self.inner.state.lock();
        let one = state.conversations.get(&terminal).cloned();
        drop(state);
        // Before a restart its first input may have come, but no commit.
        let new = || Conversation::new(of.name, parent.identity.user);
        let mut one = one.unwrap_or_else(new);
        if let Some(spa) = self.outputs.take_spa() {
            let next = transaction_of(&spa, parent.encoding);
            if next.is_blank() {
                let dropped = self.inner.queues.drop_record(unit, Kind::Conversation, terminal);
                dropped.map_err(|e| failed(&e))?;
                aftermath.conversations.push((terminal, None));
                return Ok(false);
            }
            one.transaction = next;
            one.spa = spa;
        } else if one.spa.is_empty() {
            one.spa = spa_for(of.name, of.spa_bytes, &parent.spa, parent.encoding);
        }
        // Another program of the conversation has the turn now.
        one.busy = switched.iter().any(|one| one.with_spa);
        self.keep(unit, terminal, &one)?;
        aftermath.conversations.push((terminal, Some(one)));
        Ok(true)
    }

    fn keep(&self, unit: &mut S::Unit, terminal: Name, one: &Conversation) -> Result<(), Abend> {
        if armed(Failpoint::ScratchPadUnwritten) {
            return Ok(());
        }
        let kept = self.inner.queues.keep(unit, Kind::Conversation, terminal, &one.encode());
        kept.map_err(|e| failed(&e))
    }
}
