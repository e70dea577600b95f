//! What doors call: the transaction manager as `otma` has it.
//!
//! Invariants:
//! 1. A partner is told that its input is accepted before anything else of it.
//! 2. An input of mode 0 appears in its queue when it is durable, and not before.
//! 3. A client issues a command only if it may; to end one's own conversation needs no right.
//! 4. A terminal, whose name is the client's choice, is no transaction and nobody else's.

use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use codec::CodePage;
use otma::{
    Answer, Encoding, Event, Identity, Input, Manager, Name, Outcome, Output, OutputId, Partner,
    Reason, Refusal, Settlement, SyncLevel, Ticket,
};
use queues::{Held, Kind, QueueName};
use resources::{MessageType, Transaction};
use store::{Store, Unit as _, UnitOptions};

use crate::commands::{Answered, is_exit, verb_of};
use crate::control::Control;
use crate::conversation::Conversation;
use crate::envelope::Envelope;
use crate::error::{ControlError, refusal};
use crate::inner::{Client, Coming, Inner, State};
use crate::options::Anonymous;
use crate::profiles::{COMMANDS, TRANSACTIONS};
use crate::text;

type Done = Box<dyn FnOnce(Result<(), Refusal>) + Send>;

impl<S: Store> Manager for Control<S> {
    fn data_store(&self, name: Name) -> Result<(), Refusal> {
        let inner = &self.inner;
        if !inner.options.data_stores.contains(&name) {
            let text = format!("THERE IS NO DATA STORE {name}");
            return Err(Refusal::new(Reason::UnknownDataStore, text));
        }
        let state = inner.state.lock();
        if state.shutting_down {
            return Err(Refusal::new(Reason::ShuttingDown, "THE SYSTEM IS SHUTTING DOWN"));
        }
        if state.data_stores_stopped {
            let text = format!("DATA STORE {name} IS STOPPED");
            return Err(Refusal::new(Reason::DataStoreStopped, text));
        }
        Ok(())
    }

    fn authenticate(&self, user: Name, group: Name, password: &[u8]) -> Result<Identity, Refusal> {
        self.inner.check_user(user, group, password)
    }

    fn knows(&self, user: Name) -> bool {
        !self.has_users() || self.inner.user_mark(user).is_some()
    }

    fn user_mark(&self, user: Name) -> Option<u64> {
        self.inner.user_mark(user)
    }

    fn allows_anonymous(&self) -> bool {
        match self.inner.options.anonymous {
            Anonymous::Never => false,
            Anonymous::WithoutUsers => !self.inner.has_users.load(SeqCst),
            Anonymous::Always => true,
        }
    }

    fn submit(&self, input: Input, partner: Arc<dyn Partner>) -> Result<Ticket, Refusal> {
        let submitted = self.inner.submit(input, partner);
        if submitted.is_err() {
            self.inner.state.lock().statistics.refused += 1;
        }
        submitted
    }

    fn answer(&self, ticket: Ticket, answer: Answer) {
        if let Some(client) = self.inner.state.lock().clients.get_mut(&ticket) {
            client.answer = Some(answer);
        }
        self.inner.answers.notify_all();
    }

    fn abandon(&self, ticket: Ticket) {
        self.inner.abandon(ticket);
    }

    fn is_in_conversation(&self, terminal: Name) -> bool {
        self.inner.state.lock().conversations.contains_key(&terminal)
    }

    fn queued(&self, tpipe: Name) -> u64 {
        self.inner.queues.figures(QueueName::output(tpipe)).waiting
    }

    fn take(&self, tpipe: Name) -> Result<Option<Output>, Refusal> {
        let held = self.inner.queues.take(QueueName::output(tpipe));
        held.map(|held| self.inner.hand_out(tpipe, held)).transpose()
    }

    fn fetch(&self, tpipe: Name, who: Identity) -> Result<Option<Output>, Refusal> {
        self.inner.fetch(tpipe, who)
    }

    fn take_reply(&self, tpipe: Name, ticket: Ticket) -> Result<Option<Output>, Refusal> {
        let mut state = self.inner.state.lock();
        let mut held = None;
        if let Entry::Occupied(mut entry) = state.replies.entry((tpipe, ticket)) {
            while held.is_none() {
                let Some(arrival) = entry.get_mut().pop_front() else { break };
                held = self.inner.queues.take_arrival(QueueName::output(tpipe), arrival);
            }
            if entry.get().is_empty() {
                entry.remove();
            }
        }
        drop(state);
        held.map(|held| self.inner.hand_out(tpipe, held)).transpose()
    }

    fn settle(
        &self,
        tpipe: Name,
        output: OutputId,
        settlement: Settlement,
        done: Done,
    ) -> Result<(), Refusal> {
        let held = self.inner.state.lock().taken.remove(&(tpipe, output)).ok_or_else(|| {
            let text = format!("OUTPUT {} OF {tpipe} IS NOT WAITING FOR AN ANSWER", output.0);
            Refusal::new(Reason::NothingWaiting, text)
        })?;
        if settlement == Settlement::Kept {
            self.inner.wait_again(held);
            done(Ok(()));
        } else {
            self.inner.settle(held, settlement, done);
        }
        Ok(())
    }

    fn watch(&self, tpipe: Name, user: Name, partner: &Arc<dyn Partner>) {
        self.inner.watch(tpipe, user, partner);
    }

    fn unwatch(&self, tpipe: Name, partner: &Arc<dyn Partner>) {
        self.inner.unwatch(tpipe, partner);
    }

    fn may_wait(&self) -> bool {
        self.inner.store.is_short_of_room()
    }
}

/// The text of a message, for a command.
fn text_of(envelope: &Envelope) -> String {
    let decoded = |data: &[u8]| match envelope.encoding {
        Encoding::Ascii => String::from_utf8_lossy(data).into_owned(),
        // The characters of commands have the same places in every EBCDIC page.
        Encoding::Ebcdic => data.iter().map(|byte| CodePage::Cp037.character(*byte)).collect(),
    };
    let data: Vec<String> = envelope.segments.data().map(decoded).collect();
    let text = data.join(" ");
    let begins = text.trim_start().starts_with('/');
    // The transaction's code may stand in front of the data, or in their place.
    if begins { text } else { format!("{} {text}", envelope.transaction) }
}

/// Whether who has sent an input may go on with a conversation, or end it.
impl<S: Store> Inner<S> {
    /// Whether an input may go on with a conversation, or end it.
    fn check_owner(&self, one: &Conversation, input: &Envelope) -> Result<(), Refusal> {
        if !self.has_users.load(SeqCst) || one.is_of(input.identity.user) {
            return Ok(());
        }
        let text = format!("THE CONVERSATION OF TERMINAL {} IS ANOTHER USER'S", input.terminal);
        Err(Refusal::new(Reason::Conversation, text))
    }

    fn submit(
        self: &Arc<Inner<S>>,
        input: Input,
        partner: Arc<dyn Partner>,
    ) -> Result<Ticket, Refusal> {
        let lives = input.options.expires_in;
        let mut envelope = Envelope::of_input(input);
        if envelope.transaction.0[0] == b'/' {
            return self.submit_command(&envelope, partner);
        }
        let (transaction, expedited) = self.admit(&mut envelope)?;
        let own = u64::from(transaction.expires_in);
        let own = (own > 0).then(|| std::time::Duration::from_secs(own));
        let lives = [lives, own].into_iter().flatten().min();
        let terminal = envelope.terminal;
        let client = Client {
            partner,
            queue: QueueName::input(transaction.name),
            direct: envelope.send_then_commit,
            confirm: envelope.sync_level == SyncLevel::Confirm,
            since_us: self.now_us(),
            answer: None,
            gone: false,
        };
        let volatile = envelope.send_then_commit || !transaction.recoverable;
        let put = if let Some(program) = expedited {
            self.put_expedited(program, &envelope, lives, client)
        } else if volatile {
            self.put_volatile(&transaction, &envelope, lives, client)
        } else {
            self.put_durable(&transaction, &envelope, lives, client)
        };
        put.map_err(|error| {
            self.idle_conversation(terminal, transaction.name);
            refusal(&error)
        })
    }

    /// Whether an input is taken in, for which transaction, and for which program if it is
    /// expedited.
    pub(crate) fn admit(
        &self,
        envelope: &mut Envelope,
    ) -> Result<(Transaction, Option<Name>), Refusal> {
        let mut state = self.state.lock();
        if state.shutting_down {
            return Err(Refusal::new(Reason::ShuttingDown, "THE SYSTEM IS SHUTTING DOWN"));
        }
        self.admit_terminal(&state, envelope)?;
        let going_on = state.conversations.get(&envelope.terminal);
        if let Some(conversation) = going_on {
            self.check_owner(conversation, envelope)?;
            if conversation.busy {
                let text = "THE CONVERSATION WAITS FOR ITS PROGRAM";
                return Err(Refusal::new(Reason::Conversation, text));
            }
            envelope.transaction = conversation.transaction;
        }
        let name = envelope.transaction;
        let Some(one) = state.dispatch.transactions.get(&name) else {
            return Err(Refusal::new(Reason::UnknownTransaction, text::no_destination(name)));
        };
        if one.no_queuing {
            return Err(Refusal::new(Reason::TransactionStopped, text::stopped(name)));
        }
        if self.profiles.may_use(envelope.identity, TRANSACTIONS, name) == Some(false) {
            return Err(Refusal::new(Reason::NotAuthorized, text::not_authorized(name)));
        }
        let of = one.definition.clone();
        if state.dispatch.programs.get(&of.program).is_none_or(|program| program.stopped)
            && envelope.send_then_commit
        {
            // Nobody would answer who waits.
            return Err(Refusal::new(Reason::TransactionStopped, text::stopped(name)));
        }
        if of.message_type == MessageType::Single && envelope.segments.count() > 1 {
            let text = format!("TRAN {name} TAKES ONE SEGMENT");
            return Err(Refusal::new(Reason::TooLarge, text));
        }
        let expedited = self.route(&state, &of, envelope)?;
        if of.conversation {
            let user = envelope.identity.user;
            let new = Conversation::new(name, user);
            let of_terminal = state.conversations.entry(envelope.terminal).or_insert(new);
            of_terminal.is_now_of(user);
            of_terminal.busy = true;
        }
        if !self.options.any_terminal {
            state.terminals.insert(envelope.terminal);
            state.terminals.insert(envelope.tpipe);
        }
        state.statistics.submitted += 1;
        Ok((of, expedited))
    }

    /// Whether a client may be the terminal that it says to be. Destinations have one space of
    /// names: what a program sends to a terminal is not to become an input of a transaction, nor to
    /// be mixed with what waits for another user.
    fn admit_terminal(&self, state: &State, envelope: &Envelope) -> Result<(), Refusal> {
        let Envelope { terminal, tpipe, identity, .. } = *envelope;
        if terminal == tpipe {
            // Names of clients are no destinations.
            return Ok(());
        }
        if state.dispatch.transactions.contains_key(&terminal) {
            let text = format!("TERMINAL {terminal} HAS THE NAME OF A TRANSACTION");
            return Err(Refusal::new(Reason::NotAuthorized, text));
        }
        if self.is_anothers(terminal, state.tpipes.owner(terminal), identity) {
            let text = text::tpipe_not_authorized(terminal);
            return Err(Refusal::new(Reason::NotAuthorized, text));
        }
        Ok(())
    }

    fn put_volatile(
        self: &Arc<Inner<S>>,
        of: &Transaction,
        envelope: &Envelope,
        lives: Option<std::time::Duration>,
        client: Client,
    ) -> Result<Ticket, ControlError> {
        let queue = QueueName::input(of.name);
        let pending = self.queues.put_volatile(queue, lives, &envelope.encode())?;
        let ticket = Ticket(pending.arrival());
        self.state.lock().clients.insert(ticket, client);
        self.tell(ticket, Event::Accepted);
        self.arrived(vec![Coming { pending, answers: 0 }]);
        Ok(ticket)
    }

    fn put_durable(
        self: &Arc<Inner<S>>,
        of: &Transaction,
        envelope: &Envelope,
        lives: Option<std::time::Duration>,
        client: Client,
    ) -> Result<Ticket, ControlError> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        let queue = QueueName::input(of.name);
        let pending = self.queues.put(&mut unit, queue, lives, &envelope.encode())?;
        let ticket = Ticket(pending.arrival());
        self.state.lock().clients.insert(ticket, client);
        let (inner, terminal, transaction) = (Arc::clone(self), envelope.terminal, of.name);
        self.commits.queue(
            unit,
            Box::new(move |outcome| match outcome {
                Ok(()) => {
                    inner.tell(ticket, Event::Accepted);
                    inner.arrived(vec![Coming { pending, answers: 0 }]);
                }
                Err(error) => {
                    inner.queues.forget(pending);
                    inner.idle_conversation(terminal, transaction);
                    let refusal = Refusal::new(Reason::Store, error.to_string());
                    inner.end(ticket, Outcome::BackedOut(refusal));
                }
            }),
        );
        Ok(ticket)
    }

    /// Whether a client may issue a command: a profile permits it, or there is neither a profile
    /// of it nor any user, and the door keeps to this machine therefore.
    fn may_command(&self, who: Identity, verb: Name) -> bool {
        let alone = || {
            let is_closed = self.options.anonymous == Anonymous::WithoutUsers;
            is_closed && who.user.is_blank() && !self.has_users.load(SeqCst)
        };
        self.profiles.may_use(who, COMMANDS, verb).unwrap_or_else(alone)
    }

    fn submit_command(
        self: &Arc<Inner<S>>,
        envelope: &Envelope,
        partner: Arc<dyn Partner>,
    ) -> Result<Ticket, Refusal> {
        let text = text_of(envelope);
        let verb = verb_of(&text);
        if is_exit(&text) {
            // A conversation is its user's own.
            let state = self.state.lock();
            let one = state.conversations.get(&envelope.terminal);
            one.map_or(Ok(()), |one| self.check_owner(one, envelope))?;
        } else if !self.may_command(envelope.identity, verb) {
            let text = text::command_not_authorized(&verb.text());
            return Err(Refusal::new(Reason::NotAuthorized, text));
        }
        let number = self.queues.number().map_err(|error| refusal(&ControlError::from(error)))?;
        let ticket = Ticket(number);
        let client = Client {
            partner,
            queue: QueueName::input(Name::BLANK),
            direct: true,
            confirm: false,
            since_us: self.now_us(),
            answer: None,
            gone: false,
        };
        self.state.lock().clients.insert(ticket, client);
        self.tell(ticket, Event::Accepted);
        let (inner, model) = (Arc::clone(self), envelope.clone());
        let then = move |answered: Answered| {
            let mut reply = model.system_reply(ticket.0, &answered.lines);
            reply.in_conversation = false;
            let output = inner.direct_output(&reply, false);
            inner.tell(ticket, Event::Output(output));
            inner.end(ticket, Outcome::Answered);
        };
        if is_exit(&text) {
            self.exit(envelope, then);
        } else {
            then(self.command(&text, envelope.terminal));
        }
        Ok(ticket)
    }

    fn abandon(self: &Arc<Inner<S>>, ticket: Ticket) {
        let mut state = self.state.lock();
        let Some(client) = state.clients.get_mut(&ticket) else { return };
        client.gone = true;
        let (direct, queue) = (client.direct, client.queue);
        if !direct {
            // The input goes on; nobody hears of it any more.
            state.clients.remove(&ticket);
        }
        drop(state);
        self.answers.notify_all();
        if !direct {
            return;
        }
        if let Some(held) = self.queues.take_arrival(queue, ticket.0) {
            if let Ok(envelope) = self.open(&held) {
                self.idle_conversation(envelope.terminal, queue.name);
            }
            self.gone(held);
            let mut state = self.state.lock();
            state.clients.remove(&ticket);
            self.touch(&mut state, queue.name);
        }
    }

    /// Gives an output that was taken to whoever asked, if `may` says so; otherwise it goes back.
    pub(crate) fn hand_out(&self, tpipe: Name, held: Held) -> Result<Output, Refusal> {
        match self.open(&held) {
            Ok(envelope) => Ok(self.hand_over(tpipe, held, envelope)),
            Err(error) => {
                self.wait_again(held);
                Err(refusal(&error))
            }
        }
    }

    /// The same, if it has been read already.
    pub(crate) fn hand_over(&self, tpipe: Name, held: Held, envelope: Envelope) -> Output {
        let id = OutputId(held.arrival());
        let mut state = self.state.lock();
        let key = (tpipe, Ticket(envelope.answers));
        if let Entry::Occupied(mut entry) = state.replies.entry(key) {
            entry.get_mut().retain(|arrival| *arrival != id.0);
            if entry.get().is_empty() {
                entry.remove();
            }
        }
        state.taken.insert((tpipe, id), held);
        drop(state);
        Output {
            id,
            segments: envelope.segments,
            mod_name: envelope.mod_name,
            encoding: envelope.encoding,
            in_conversation: envelope.in_conversation,
            wants_answer: true,
            more_queued: self.queues.figures(QueueName::output(tpipe)).waiting > 0,
            correlator: envelope.correlator,
        }
    }

    /// An output leaves its tpipe; if it was refused, for the dead letters, if it could not be
    /// delivered, for the tpipe that is named for that.
    fn settle(self: &Arc<Inner<S>>, held: Held, settlement: Settlement, done: Done) {
        let mut letter = None;
        let mut is_kept = false;
        let delivered = settlement == Settlement::Delivered;
        let written = self.store.begin(UnitOptions::default()).map_err(ControlError::from);
        let written = written.and_then(|mut unit| {
            if !delivered {
                let mut envelope = self.open(&held)?;
                let to = if settlement == Settlement::Refused {
                    "the client has refused it".clone_into(&mut envelope.reason);
                    QueueName { kind: Kind::DeadLetter, name: held.queue().name }
                } else {
                    envelope.tpipe = envelope.options.reroute;
                    QueueName::output(envelope.tpipe)
                };
                is_kept = to.name.is_blank() || to == held.queue();
                if is_kept {
                    return Ok(unit);
                }
                let pending = self.queues.put(&mut unit, to, None, &envelope.encode())?;
                letter = Some(Coming { pending, answers: 0 });
            }
            self.queues.remove(&mut unit, &held)?;
            Ok(unit)
        });
        match written {
            Ok(unit) if is_kept => {
                // Nothing is in it.
                let _ = unit.backout();
                self.wait_again(held);
                done(Ok(()));
            }
            Ok(unit) => {
                let inner = Arc::clone(self);
                self.commits.queue(
                    unit,
                    Box::new(move |outcome| match outcome {
                        Ok(()) => {
                            inner.queues.gone(held);
                            inner.state.lock().statistics.delivered += u64::from(delivered);
                            inner.arrived(letter.into_iter().collect());
                            done(Ok(()));
                        }
                        Err(error) => {
                            letter.into_iter().for_each(|one| inner.queues.forget(one.pending));
                            inner.wait_again(held);
                            done(Err(Refusal::new(Reason::Store, error.to_string())));
                        }
                    }),
                );
            }
            Err(error) => {
                letter.into_iter().for_each(|one| self.queues.forget(one.pending));
                self.wait_again(held);
                done(Err(refusal(&error)));
            }
        }
    }
}
