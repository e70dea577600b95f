//! The conversation with one client.

use std::time::Duration;

use otma::{
    Answer, Encoding, Input, Name, Outcome, Output, OutputId, Reason as Why, Refusal, Segments,
    Settlement, Ticket,
};

use super::asked::{Asked, Limits};
use super::resume::Resume;
use super::{Action, Event};
use crate::wire::{
    Function, PING_RESPONSE, RACF_REFUSED, Reason, Response, ReturnCode, Rsm, Sense, SocketType,
    Timer, csm_flag, f0, f1, f2, f3,
};

/// What terminals are told if a transaction sends nothing.
const NO_REPLY: &str = "DFS2082 RESPONSE MODE TRANSACTION TERMINATED WITHOUT REPLY";
/// The command that ends a conversation.
const EXIT: &[u8] = b"/EXIT";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Submitting,
    Working { ticket: Ticket, replied: bool },
    Queued { ticket: Ticket },
    Accepting { ticket: Ticket },
    Leaving { ticket: Ticket },
    Confirming { ticket: Ticket },
    Deciding { ticket: Ticket },
    Acknowledging { tpipe: Name, id: OutputId, of: Of },
    Resuming { tpipe: Name, how: Resume },
    Notifying { due: bool },
    Cancelling,
    Closed,
}

/// Whose output is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// An input's.
    Input,
    /// A resume's.
    Resume(Resume),
}

/// The conversation with one client: see the head of the folder.
#[derive(Debug)]
pub struct Conversation {
    limits: Limits,
    state: State,
    /// The request that is being answered.
    asked: Asked,
    /// Outputs whose settlement is not yet durable.
    settling: u32,
    /// The transaction is a conversation that goes on.
    in_conversation: bool,
    /// The connection ends with what is being done.
    closing: bool,
    actions: Vec<Action>,
}

impl Conversation {
    /// A conversation that has not begun.
    #[must_use]
    pub fn new(limits: Limits) -> Conversation {
        Conversation {
            limits,
            state: State::Idle,
            asked: Asked::default(),
            settling: 0,
            in_conversation: false,
            closing: false,
            actions: Vec::new(),
        }
    }

    /// Whether a request may come now. Otherwise it waits until what is being done is done.
    #[must_use]
    pub fn wants_request(&self) -> bool {
        use State::{Acknowledging, Confirming, Idle};
        matches!(self.state, Idle | Confirming { .. } | Acknowledging { .. })
    }

    /// Whether nothing is being done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle && self.settling == 0
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    #[cfg(test)]
    pub(super) fn leaves(&self) -> bool {
        matches!(self.state, State::Leaving { .. } | State::Closed)
    }

    #[cfg(test)]
    pub(super) fn copy(&self) -> Conversation {
        Conversation { actions: Vec::new(), ..*self }
    }

    /// Takes what happens, and gives what is to be done, in that order.
    pub fn on(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Request(asked, input) => self.request(*asked, input),
            Event::Denied(status) => {
                self.release();
                self.end(status);
            }
            Event::Ping(asked) => self.ping(*asked),
            Event::Submitted(ticket) => self.submitted(ticket),
            Event::Refused(refusal) => self.refused(&refusal),
            Event::Notified(ticket, event) => self.on_event(ticket, event),
            Event::Arrived(tpipe) => self.arrived(tpipe),
            Event::Took(taken) => self.took(taken),
            Event::Settled(result) => self.settled(result),
            Event::Cancelled(found) => self.cancelled(found),
            Event::Timer => self.timer(),
            Event::Cancel => self.cancel(),
            Event::Superseded | Event::Gone => {
                self.release();
                self.close();
            }
            Event::Shutdown => {
                self.closing = true;
                if self.state == State::Idle {
                    self.close();
                }
            }
            Event::ShutdownNow => {
                let owes = !matches!(self.state, State::Idle | State::Closed);
                self.release();
                if owes {
                    self.end(Rsm::new(ReturnCode::Connect, Reason::Shutdown));
                } else {
                    self.close();
                }
            }
        }
        std::mem::take(&mut self.actions)
    }

    fn request(&mut self, asked: Asked, input: Option<Box<Input>>) {
        use Function::{Ack, Deallocate, Nak};
        match (self.state, asked.function) {
            (State::Closed, _) => {}
            (State::Confirming { ticket }, Ack | Nak | Deallocate) => {
                self.answer(ticket, asked);
            }
            (State::Acknowledging { tpipe, id, of }, Ack | Nak) => {
                self.acknowledge(tpipe, id, of, asked);
            }
            (State::Idle, Ack | Nak) => self.end_state(Reason::ClientState),
            (State::Idle, _) if self.closing => {
                self.end(Rsm::new(ReturnCode::Connect, Reason::Shutdown));
            }
            (State::Idle, _) => {
                self.asked = asked;
                self.begin(input);
            }
            (State::Confirming { .. } | State::Acknowledging { .. }, _) => {
                self.end_state(Reason::Protocol);
            }
            _ => self.end_state(Reason::ClientState),
        }
    }

    fn end_state(&mut self, reason: Reason) {
        self.release();
        self.end(Rsm::new(ReturnCode::Connect, reason));
    }

    fn begin(&mut self, input: Option<Box<Input>>) {
        let asked = self.asked;
        match asked.function {
            Function::CancelTimer => {
                self.state = State::Cancelling;
                self.actions.push(Action::CancelOther(asked.client));
            }
            Function::ResumeTpipe => self.resume(),
            Function::Deallocate if self.in_conversation => match input {
                Some(mut input) => {
                    // The command has its own words, whatever the request came with.
                    input.transaction = Name::new("/EXIT").unwrap_or_default();
                    input.segments = text(EXIT);
                    self.submit(input);
                }
                None => self.end_state(Reason::ClientState),
            },
            // No program here calls out: nobody waits for a response.
            Function::Callout => self.finish(),
            Function::CalloutAck => self.end(sense(Sense::NothingWaits)),
            Function::Ack | Function::Nak | Function::Deallocate => {
                self.end_state(Reason::ClientState);
            }
            _ if asked.f3 & f3::SYNC_POINT != 0 => {
                self.end(Rsm::new(ReturnCode::Connect, Reason::NoSyncPoint));
            }
            _ => match input {
                Some(input) => self.submit(input),
                None => self.end(Rsm::new(ReturnCode::Exit, Reason::NoData)),
            },
        }
    }

    fn submit(&mut self, input: Box<Input>) {
        if self.asked.function == Function::SendReceive && self.asked.is_mode_0() {
            self.actions.push(Action::Watch(self.asked.client));
        }
        self.state = State::Submitting;
        self.actions.push(Action::Submit(input));
    }

    fn submitted(&mut self, ticket: Ticket) {
        if self.state != State::Submitting {
            // The client has gone since.
            if !self.asked.is_mode_0() {
                self.actions.push(Action::Abandon(ticket));
            }
            return;
        }
        match self.asked.function {
            Function::SendOnly => return self.finish(),
            Function::SendOnlyAck | Function::SendOnlyError => {
                self.state = State::Accepting { ticket };
            }
            Function::Deallocate => self.state = State::Leaving { ticket },
            _ if self.asked.is_mode_0() => self.state = State::Queued { ticket },
            _ => self.state = State::Working { ticket, replied: false },
        }
        self.wait(self.limits.reply);
    }

    fn refused(&mut self, refusal: &Refusal) {
        if self.state != State::Submitting {
            return;
        }
        match self.asked.function {
            Function::SendOnly => self.finish(),
            Function::SendOnlyAck | Function::SendOnlyError => self.end(status(refusal)),
            _ => self.refuse(refusal),
        }
    }

    fn on_event(&mut self, ticket: Ticket, event: otma::Event) {
        use otma::Event::{Accepted, Ended, Output};
        match (self.state, event) {
            (State::Accepting { ticket: own }, Accepted) if own == ticket => {
                if self.asked.function == Function::SendOnlyAck {
                    self.reply(Response::complete(Segments::new(), 0), Encoding::Ascii);
                }
                self.finish();
            }
            (State::Accepting { ticket: own }, Ended(Outcome::BackedOut(refusal)))
                if own == ticket =>
            {
                self.end(status(&refusal));
            }
            (State::Leaving { ticket: own }, Ended(outcome)) if own == ticket => match outcome {
                Outcome::BackedOut(refusal) => self.refuse(&refusal),
                _ => {
                    self.in_conversation = false;
                    self.notice(Reason::Deallocated);
                }
            },
            (
                State::Working { ticket: own, .. }
                | State::Queued { ticket: own }
                // Behind the answer to one output comes the next.
                | State::Deciding { ticket: own },
                Output(output),
            ) if own == ticket => {
                self.output(ticket, output);
            }
            (State::Working { ticket: own, replied }, Ended(outcome)) if own == ticket => {
                self.worked(replied, &outcome);
            }
            (State::Queued { ticket: own }, Ended(Outcome::BackedOut(refusal)))
                if own == ticket =>
            {
                self.refuse(&refusal);
            }
            (
                State::Confirming { ticket: own } | State::Deciding { ticket: own },
                Ended(outcome),
            ) if own == ticket => {
                let went = !matches!(outcome, Outcome::BackedOut(_));
                self.in_conversation &= went;
                self.notice(if went { Reason::Deallocated } else { Reason::DeallocateAbort });
            }
            _ => {}
        }
    }

    /// An output of mode 1, or the answer to a command.
    fn output(&mut self, ticket: Ticket, output: Output) {
        self.in_conversation = output.in_conversation;
        let wants_answer = output.wants_answer;
        self.send(output, wants_answer);
        if wants_answer {
            self.state = State::Confirming { ticket };
            self.actions.push(Action::SetTimer(self.answer_time()));
        } else {
            self.actions.push(Action::StopTimer);
            self.state = State::Working { ticket, replied: true };
        }
    }

    /// How long the answer to an output of mode 1 is waited for: as long as the client itself would
    /// wait, because the program's unit of work does; but long enough to answer.
    fn answer_time(&self) -> Duration {
        let Limits { answer, no_wait, .. } = self.limits;
        self.asked.wait(answer, no_wait).unwrap_or(answer).max(no_wait).min(answer)
    }

    /// The end of an input of mode 1 that waits for no answer.
    fn worked(&mut self, replied: bool, outcome: &Outcome) {
        match outcome {
            _ if replied => self.finish(),
            Outcome::BackedOut(refusal) => {
                self.in_conversation = false;
                self.refuse(refusal);
            }
            Outcome::Committed | Outcome::Answered => {
                self.reply(Response::complete(text(NO_REPLY.as_bytes()), 0), Encoding::Ascii);
                self.finish();
            }
        }
    }

    fn arrived(&mut self, tpipe: Name) {
        match self.state {
            State::Queued { ticket } if tpipe == self.asked.client => {
                self.actions.push(Action::Take(tpipe, Some(ticket)));
            }
            State::Resuming { tpipe: own, how } if own == tpipe && how.takes_arrivals() => {
                self.actions.push(Action::Take(tpipe, None));
            }
            _ => {}
        }
    }

    fn took(&mut self, taken: Result<Option<Output>, Refusal>) {
        let (tpipe, of) = match self.state {
            State::Queued { .. } => (self.asked.client, Of::Input),
            State::Resuming { tpipe, how } => (tpipe, Of::Resume(how)),
            _ => return,
        };
        match taken {
            Ok(Some(output)) => {
                let id = output.id;
                self.in_conversation = output.in_conversation;
                self.send(output, true);
                self.state = State::Acknowledging { tpipe, id, of };
                self.actions.push(Action::SetTimer(self.limits.answer));
            }
            // What waited when the resume began is all that it gives.
            Ok(None) if of == Of::Resume(Resume::NoAuto) => {
                self.state = State::Notifying { due: false };
            }
            Ok(None) => match of {
                // Told of what comes is who may have it: that has been asked with what there is.
                Of::Resume(how) if how.takes_arrivals() => {
                    self.actions.push(Action::Watch(tpipe));
                }
                _ => {}
            },
            Err(refusal) => self.end(status(&refusal)),
        }
    }

    fn answer(&mut self, ticket: Ticket, asked: Asked) {
        let answer = match asked.function {
            Function::Ack => Answer::Ack,
            _ => Answer::Nak { reason: reason(&asked), retain: asked.f0 & f0::NAK_RETAIN != 0 },
        };
        self.asked.timer = asked.timer;
        self.asked.socket = asked.socket;
        self.state = State::Deciding { ticket };
        self.actions.push(Action::StopTimer);
        self.actions.push(Action::Answer(ticket, answer));
    }

    fn acknowledge(&mut self, tpipe: Name, id: OutputId, of: Of, mut asked: Asked) {
        let taken = asked.function == Function::Ack;
        asked.f3 |= self.asked.f3 & (f3::PURGE | f3::REROUTE);
        let settlement = if taken { Settlement::Delivered } else { asked.undelivered() };
        let waits_not = asked.waits_not() || self.asked.f1 & f1::NO_WAIT != 0;
        self.asked.timer = asked.timer;
        self.asked.socket = asked.socket;
        self.settling += 1;
        self.actions.push(Action::Settle(tpipe, id, settlement));
        match of {
            Of::Resume(how) if how.goes_on() && taken => {
                self.state = State::Resuming { tpipe, how };
                let own = self.limits.acknowledged;
                match self.asked.wait(own, own) {
                    Some(time) => self.actions.push(Action::SetTimer(time)),
                    None => self.actions.push(Action::StopTimer),
                }
                self.actions.push(Action::Take(tpipe, None));
            }
            _ if waits_not => self.finish(),
            _ => {
                self.state = State::Notifying { due: false };
                self.wait(self.limits.acknowledged);
            }
        }
    }

    fn settled(&mut self, result: Result<(), Refusal>) {
        self.settling = self.settling.saturating_sub(1);
        match (self.state, result) {
            (State::Closed | State::Idle, _) => {}
            (_, Err(refusal)) => {
                self.release();
                self.end(status(&refusal));
            }
            (State::Notifying { due: true }, Ok(())) if self.settling == 0 => self.time_out(),
            _ => {}
        }
    }

    fn resume(&mut self) {
        let asked = self.asked;
        let callouts = asked.f0 & (f0::SYNC_ONLY | f0::SYNC_AND_ASYNC) != 0;
        if callouts && asked.level < 3 {
            return self.end(Rsm::new(ReturnCode::Exit, Reason::BadBuffer));
        }
        if asked.f2 & f2::MODE_1 != 0 && asked.f2 & f2::MODE_0 == 0 {
            return self.end(Rsm::new(ReturnCode::Connect, Reason::CommitMode1));
        }
        let tpipe = if asked.other.is_blank() { asked.client } else { asked.other };
        let only = asked.f0 & f0::SYNC_ONLY != 0;
        let how = if only { Resume::Callouts } else { Resume::of(asked.f5) };
        self.state = State::Resuming { tpipe, how };
        self.wait(self.limits.resume);
        if how != Resume::Callouts {
            self.actions.push(Action::Take(tpipe, None));
        }
    }

    fn cancelled(&mut self, found: bool) {
        if self.state == State::Cancelling {
            let reason = if found { Reason::CancelTimer } else { Reason::ClientState };
            self.end(Rsm::new(ReturnCode::Connect, reason));
        }
    }

    fn timer(&mut self) {
        match self.state {
            State::Idle | State::Closed | State::Submitting | State::Cancelling => {}
            State::Deciding { .. } | State::Working { replied: true, .. } => {}
            // The client has not answered: it is as if it had gone.
            State::Confirming { .. } | State::Acknowledging { .. } => {
                self.release();
                self.close();
            }
            State::Notifying { .. } if self.settling > 0 => {
                self.state = State::Notifying { due: true };
            }
            _ => {
                self.release();
                self.time_out();
            }
        }
    }

    /// Tells the client that its time is over.
    fn time_out(&mut self) {
        let own = Timer::of(self.asked.timer) == Timer::Default;
        let code = match (self.asked.socket, own) {
            (SocketType::Persistent, _) => ReturnCode::TimerKept,
            (_, false) => ReturnCode::TimerClosed,
            (_, true) => ReturnCode::TimerDefault,
        };
        let reason = u32::from(self.asked.timer);
        self.reply_status(Rsm { flags: 0, detail: 0, code: code.code(), reason });
        self.in_conversation = false;
        self.finish();
    }

    /// Another connection of the client ends the wait.
    fn cancel(&mut self) {
        use State::{Accepting, Notifying, Queued, Resuming, Working};
        if matches!(
            self.state,
            Working { replied: false, .. }
                | Queued { .. }
                | Accepting { .. }
                | Resuming { .. }
                | Notifying { .. }
        ) {
            self.release();
            self.reply_status(Rsm::new(ReturnCode::Ended, Reason::CancelTimer));
            self.finish();
        }
    }

    /// Gives back what the client leaves behind.
    fn release(&mut self) {
        match self.state {
            State::Working { ticket, .. }
            | State::Confirming { ticket }
            // What it has answered stands; but there may be more that it is asked.
            | State::Deciding { ticket }
            | State::Queued { ticket } => {
                self.actions.push(Action::Abandon(ticket));
            }
            State::Acknowledging { tpipe, id, .. } => {
                self.settling += 1;
                let settlement = self.asked.undelivered();
                self.actions.push(Action::Settle(tpipe, id, settlement));
            }
            _ => {}
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        if is_message(refusal) {
            let data = text(refusal.text.as_bytes());
            self.reply(Response::complete(data, 0), Encoding::Ascii);
            self.finish();
        } else {
            self.end(status(refusal));
        }
    }

    fn ping(&mut self, asked: Asked) {
        if self.state != State::Idle {
            return self.end_state(Reason::Protocol);
        }
        self.asked = asked;
        self.reply(Response::complete(text(PING_RESPONSE.as_bytes()), 0), Encoding::Ascii);
        self.finish();
    }

    fn send(&mut self, output: Output, wants_answer: bool) {
        let mut flags = 0;
        let all = [
            (output.more_queued, csm_flag::MORE_QUEUED),
            (output.in_conversation, csm_flag::CONVERSATION),
            (wants_answer, csm_flag::WANTS_ACK),
        ];
        for (_, flag) in all.into_iter().filter(|(is, _)| *is) {
            flags |= flag;
        }
        let mut response = Response::complete(output.segments, flags);
        if self.asked.f1 & f1::MOD_NAME != 0 {
            response.mod_name = Some(output.mod_name);
        }
        self.reply(response, output.encoding);
    }

    fn reply(&mut self, mut response: Response, encoding: Encoding) {
        if self.asked.f1 & f1::CLIENT_ID != 0 {
            response.client = Some(self.asked.client);
        }
        self.actions.push(Action::Reply(Box::new(response), encoding));
    }

    fn reply_status(&mut self, status: Rsm) {
        let response = Response::status(status);
        self.actions.push(Action::Reply(Box::new(response), Encoding::Ascii));
    }

    /// A status behind which the conversation goes on.
    fn notice(&mut self, reason: Reason) {
        let flags = if self.in_conversation { csm_flag::CONVERSATION } else { 0 };
        self.reply_status(Rsm { flags, ..Rsm::new(ReturnCode::Otma, reason) });
        self.finish();
    }

    /// The exchange is over.
    fn finish(&mut self) {
        let stays = match self.asked.socket {
            SocketType::Persistent => true,
            SocketType::Transaction => self.in_conversation,
            SocketType::NonPersistent => false,
        };
        if stays && !self.closing {
            self.actions.push(Action::StopTimer);
            self.state = State::Idle;
        } else {
            self.close();
        }
    }

    /// A status behind which the connection ends.
    fn end(&mut self, status: Rsm) {
        if self.state != State::Closed {
            self.reply_status(status);
            self.close();
        }
    }

    fn close(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.actions.push(Action::Close);
        }
    }

    fn wait(&mut self, own: Duration) {
        match self.asked.wait(own, self.limits.no_wait) {
            Some(time) => self.actions.push(Action::SetTimer(time)),
            None => self.actions.push(Action::StopTimer),
        }
    }
}

fn reason(asked: &Asked) -> u16 {
    if asked.f0 & f0::NAK_REASON != 0 { asked.nak_reason } else { 0 }
}

fn text(bytes: &[u8]) -> Segments {
    let mut segments = Segments::new();
    let most = bytes.len().min(1_000);
    // What is that short always fits.
    let _ = segments.push([0, 0], &bytes[..most]);
    segments
}

fn sense(sense: Sense) -> Rsm {
    let code = ReturnCode::OtmaSense.code();
    Rsm { flags: 0, detail: 0, code, reason: sense.code() }
}

/// Whether a refusal reaches a waiting client as a message, as terminals get it.
fn is_message(refusal: &Refusal) -> bool {
    let shown = matches!(
        refusal.reason,
        Why::UnknownTransaction
            | Why::TransactionStopped
            | Why::ProgramFailed
            | Why::OutputRefused
            | Why::Expired
            | Why::NotAuthorized
            | Why::QueueFull
            | Why::Conversation
            | Why::TooLarge
    );
    shown && refusal.text.starts_with("DFS")
}

/// The status that a refusal is.
pub(crate) fn status(refusal: &Refusal) -> Rsm {
    let connect = |reason| Rsm::new(ReturnCode::Connect, reason);
    match refusal.reason {
        Why::UnknownDataStore => connect(Reason::DataStoreUnknown),
        Why::DataStoreStopped => connect(Reason::DataStoreStopped),
        Why::ShuttingDown => connect(Reason::Shutdown),
        Why::NotAuthenticated => Rsm { detail: RACF_REFUSED, ..connect(Reason::Security) },
        Why::Store => connect(Reason::Communication),
        Why::Conversation => Rsm::new(ReturnCode::Otma, Reason::Conversation),
        Why::OutputRefused => Rsm::new(ReturnCode::Otma, Reason::DeallocateAbort),
        Why::TooLarge => Rsm::new(ReturnCode::Exit, Reason::DataTooBig),
        Why::QueueFull => sense(Sense::Limit),
        Why::CommitMode => sense(Sense::CommitMode),
        Why::NothingWaiting => sense(Sense::NothingWaits),
        _ => sense(Sense::Message),
    }
}
