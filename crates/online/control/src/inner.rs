//! What all parts of the transaction manager share.
//!
//! Order of locks: the state, a program's run, the queues' index. None is held while the store is
//! called, or a partner is told something.
//!
//! Invariants:
//! 1. A ticket is the arrival number of its input: it is never given twice, not even after a
//!    restart.
//! 2. A partner is told that its input has ended once, and nothing after that.
//! 3. An input is in exactly one place: in its queue, in the hands of one program, among the dead
//!    letters, or done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use otma::{Answer, Event, Name, Outcome, Output, OutputId, Partner, Ticket};
use queues::{Held, Kind, Pending, QueueName, Queues};
use resources::{Change, Definition, Kind as ResourceKind, Repository};
use seam::clock::Clock;
use seam::entropy::Entropy;
use seam::sync::{Condvar, Mutex};
use store::{SetId, Store, Unit};

use crate::commits::Commits;
use crate::conversation::Conversation;
use crate::dispatch::Dispatch;
use crate::envelope::Envelope;
use crate::error::ControlError;
use crate::options::{Options, System};
use crate::profiles::Profiles;
use crate::statistics::Statistics;
use crate::tpipes::Tpipes;

/// Who waits for what becomes of an input.
pub(crate) struct Client {
    pub(crate) partner: Arc<dyn Partner>,
    /// Where its input was put; that of a blank name for a command.
    pub(crate) queue: QueueName,
    /// It waits with its input: commit mode 1.
    pub(crate) direct: bool,
    pub(crate) confirm: bool,
    pub(crate) since_us: u64,
    /// The answer to the output that was sent last.
    pub(crate) answer: Option<Answer>,
    pub(crate) gone: bool,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) dispatch: Dispatch,
    pub(crate) clients: BTreeMap<Ticket, Client>,
    /// Inputs that programs have switched to, and that answer for another one.
    pub(crate) inherits: BTreeMap<u64, Ticket>,
    pub(crate) tpipes: Tpipes,
    pub(crate) taken: BTreeMap<(Name, OutputId), Held>,
    /// Outputs that wait and answer inputs of this start.
    pub(crate) replies: BTreeMap<(Name, Ticket), VecDeque<u64>>,
    pub(crate) conversations: BTreeMap<Name, Conversation>,
    pub(crate) terminals: BTreeSet<Name>,
    /// How often an input was given out again.
    pub(crate) retries: BTreeMap<u64, u32>,
    pub(crate) statistics: Statistics,
    pub(crate) notices: Vec<String>,
    pub(crate) data_stores_stopped: bool,
    pub(crate) shutting_down: bool,
    pub(crate) next_output: u64,
}

impl State {
    /// Nothing is kept of an input that has gone.
    pub(crate) fn forget(&mut self, arrival: u64) {
        self.retries.remove(&arrival);
        self.inherits.remove(&arrival);
    }
}

pub(crate) struct Inner<S: Store> {
    pub(crate) store: S,
    pub(crate) queues: Queues<S>,
    pub(crate) repository: Repository<S>,
    pub(crate) users: SetId,
    pub(crate) profiles: Profiles,
    /// There was a user at some time since the start.
    pub(crate) has_users: AtomicBool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) options: Options,
    pub(crate) system: Arc<dyn System>,
    pub(crate) commits: Arc<Commits>,
    pub(crate) state: Mutex<State>,
    /// There may be work for a region.
    pub(crate) work: Condvar,
    /// A client has answered.
    pub(crate) answers: Condvar,
}

/// A message in a unit of work, and the input that it answers.
pub(crate) struct Coming {
    pub(crate) pending: Pending,
    pub(crate) answers: u64,
}

/// An input in the hands of a program.
pub(crate) struct InHand {
    pub(crate) held: Held,
    pub(crate) envelope: Envelope,
    pub(crate) ticket: Ticket,
}

impl<S: Store> Inner<S> {
    pub(crate) fn now_us(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_micros()).unwrap_or(u64::MAX)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.utc_us() / 1_000
    }

    /// How many inputs of a transaction wait.
    pub(crate) fn waiting(&self, name: Name) -> u64 {
        self.queues.figures(QueueName::input(name)).waiting
    }

    /// A transaction's inputs have become more or less.
    pub(crate) fn touch(&self, state: &mut State, name: Name) {
        let waiting = self.waiting(name);
        state.dispatch.touch(name, waiting);
    }

    /// Messages are committed, durably: they appear, and those who wait for them are told.
    pub(crate) fn arrived(&self, coming: Vec<Coming>) {
        let mut notified: Vec<(Arc<dyn Partner>, Name)> = Vec::new();
        let mut pending = Vec::with_capacity(coming.len());
        let mut state = self.state.lock();
        let mut inputs = Vec::new();
        let mut is_expedited = false;
        for Coming { pending: one, answers } in coming {
            let QueueName { kind, name } = one.queue();
            match kind {
                Kind::Input => inputs.push(name),
                Kind::Expedited => is_expedited = true,
                Kind::Output => {
                    let ticket = Ticket(answers);
                    if state.clients.contains_key(&ticket) {
                        let of = state.replies.entry((name, ticket)).or_default();
                        of.push_back(one.arrival());
                    }
                    notified.extend(state.tpipes.partners(name).map(|partner| (partner, name)));
                }
                Kind::DeadLetter => state.statistics.dead_letters += 1,
                Kind::Conversation | Kind::Terminal => {}
            }
            pending.push(one);
        }
        self.queues.appear(&pending);
        for name in &inputs {
            if let Some(one) = state.dispatch.transactions.get_mut(name) {
                one.enqueued += 1;
            }
            self.touch(&mut state, *name);
        }
        drop(state);
        if !inputs.is_empty() || is_expedited {
            self.work.notify_all();
        }
        for (partner, name) in notified {
            partner.arrived(name);
        }
    }

    /// Tells the partner of a ticket something that is not its end.
    pub(crate) fn tell(&self, ticket: Ticket, event: Event) {
        let state = self.state.lock();
        let client = state.clients.get(&ticket).filter(|client| !client.gone);
        let partner = client.map(|client| Arc::clone(&client.partner));
        drop(state);
        if let Some(partner) = partner {
            partner.event(ticket, event);
        }
    }

    /// Tells the partner of a ticket its end. Answers whether there was one.
    pub(crate) fn end(&self, ticket: Ticket, outcome: Outcome) -> bool {
        let mut state = self.state.lock();
        let client = state.clients.remove(&ticket);
        match (&outcome, &client) {
            (Outcome::Committed, Some(client)) => {
                let took = self.now_us().saturating_sub(client.since_us);
                state.statistics.committed += 1;
                state.statistics.took(Duration::from_micros(took));
            }
            (Outcome::Committed, None) => state.statistics.committed += 1,
            (Outcome::BackedOut(_), _) => state.statistics.backed_out += 1,
            (Outcome::Answered, _) => state.statistics.commands += 1,
        }
        drop(state);
        let client = client.filter(|client| !client.gone);
        if let Some(client) = &client {
            client.partner.event(ticket, Event::Ended(outcome));
        }
        client.is_some()
    }

    /// An output that goes straight to its client.
    pub(crate) fn direct_output(&self, envelope: &Envelope, wants_answer: bool) -> Output {
        let mut state = self.state.lock();
        state.next_output += 1;
        let id = OutputId(state.next_output);
        drop(state);
        let more_queued = self.queues.figures(QueueName::output(envelope.tpipe)).waiting > 0;
        Output {
            id,
            segments: envelope.segments.clone(),
            mod_name: envelope.mod_name,
            encoding: envelope.encoding,
            in_conversation: envelope.in_conversation,
            wants_answer,
            more_queued,
            correlator: envelope.correlator.clone(),
        }
    }

    /// Reads a message that was taken.
    pub(crate) fn open(&self, held: &Held) -> Result<Envelope, ControlError> {
        let bytes = self.queues.read(held)?;
        Envelope::decode(&bytes).ok_or_else(|| ControlError::Unreadable {
            queue: held.queue().to_string(),
            arrival: held.arrival(),
            what: "its envelope is wrong",
        })
    }

    /// The ticket that an input answers for.
    pub(crate) fn ticket_of(&self, held: &Held) -> Ticket {
        let state = self.state.lock();
        state.inherits.get(&held.arrival()).copied().unwrap_or(Ticket(held.arrival()))
    }

    /// An input has gone for good.
    pub(crate) fn gone(&self, held: Held) {
        self.state.lock().forget(held.arrival());
        self.queues.gone(held);
    }

    /// Inputs go back into their queues, unseen by their clients.
    pub(crate) fn give_back(&self, inputs: Vec<Held>) {
        let mut state = self.state.lock();
        for held in inputs {
            let name = held.queue().name;
            self.queues.put_back(held);
            self.touch(&mut state, name);
        }
        drop(state);
        self.work.notify_all();
    }

    /// An input that was taken goes to the dead letters, durably; `ends` names a terminal whose
    /// conversation ends with it.
    pub(crate) fn bury(
        &self,
        held: Held,
        mut envelope: Envelope,
        reason: &str,
        tell_terminal: bool,
        ends: Option<Name>,
    ) -> Result<(), Box<(Held, ControlError)>> {
        if self.queues.is_volatile(&held) {
            ends.into_iter().for_each(|terminal| self.close_conversation(terminal));
            self.gone(held);
            return Ok(());
        }
        reason.clone_into(&mut envelope.reason);
        let mut coming = Vec::new();
        let written = self.store.begin(store::UnitOptions::default()).map_err(ControlError::from);
        let written = written.and_then(|mut unit| {
            let letter = QueueName::dead_letter(held.queue().name);
            let pending = self.queues.put(&mut unit, letter, None, &envelope.encode())?;
            coming.push(Coming { pending, answers: 0 });
            if tell_terminal && !envelope.tpipe.is_blank() {
                let output = envelope.system_reply(0, &[reason.to_owned()]);
                let to = QueueName::output(envelope.tpipe);
                let pending = self.queues.put(&mut unit, to, None, &output.encode())?;
                coming.push(Coming { pending, answers: 0 });
            }
            self.queues.remove(&mut unit, &held)?;
            if let Some(terminal) = ends {
                self.queues.drop_record(&mut unit, Kind::Conversation, terminal)?;
            }
            unit.commit()?;
            Ok(())
        });
        match written {
            Ok(()) => {
                if let Some(terminal) = ends {
                    self.state.lock().conversations.remove(&terminal);
                }
                self.gone(held);
                self.arrived(coming);
                Ok(())
            }
            Err(error) => {
                coming.into_iter().for_each(|one| self.queues.forget(one.pending));
                Err(Box::new((held, error)))
            }
        }
    }

    /// Takes over what the repository says of resources.
    pub(crate) fn refresh(&self, touched: &[(ResourceKind, Name)]) {
        let known = self.repository.all();
        let mut state = self.state.lock();
        for key in touched {
            match (key.0, known.get(key)) {
                (_, Some(Definition::Program(one))) => {
                    state.dispatch.define_program(one.clone());
                    state.dispatch.renew(one.name);
                }
                (_, Some(Definition::Transaction(one))) => {
                    state.dispatch.define(resources::Transaction::clone(one));
                    state.dispatch.renew(one.program);
                }
                (_, Some(Definition::RoutingCode(one))) => {
                    state.dispatch.routing_codes.insert(one.name, one.program);
                }
                (ResourceKind::RoutingCode, None) => {
                    state.dispatch.routing_codes.remove(&key.1);
                }
                (ResourceKind::Transaction, None) => state.dispatch.undefine(key.1),
                (ResourceKind::Program, None) => drop(state.dispatch.programs.remove(&key.1)),
                _ => {}
            }
        }
        for (kind, name) in touched {
            let names = match kind {
                ResourceKind::Transaction => vec![*name],
                ResourceKind::Program if touched.len() < 100 => {
                    state.dispatch.transactions_of(*name)
                }
                _ => Vec::new(),
            };
            names.into_iter().for_each(|name| self.touch(&mut state, name));
        }
        drop(state);
        self.work.notify_all();
    }

    /// Changes resources, durably, and takes the changes over.
    pub(crate) fn apply(&self, changes: &[Change]) -> Result<usize, ControlError> {
        let touched = self.repository.apply(changes)?;
        self.refresh(&touched);
        Ok(touched.len())
    }

    /// Whether a name is a transaction.
    pub(crate) fn is_transaction(&self, name: Name) -> bool {
        self.state.lock().dispatch.transactions.contains_key(&name)
    }

    /// Whether a name is a terminal or tpipe that outputs can be sent to.
    pub(crate) fn is_terminal(&self, name: Name) -> bool {
        if name.is_blank() {
            return false;
        }
        let known = self.options.any_terminal || self.state.lock().terminals.contains(&name);
        known || self.queues.figures(QueueName::output(name)).waiting > 0
    }
}
