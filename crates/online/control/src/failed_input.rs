//! What becomes of an input whose program does not end well.
//!
//! | the program ended | its input |
//! |---|---|
//! | as a deadlock's victim, or for want of a lock | waits again, unseen by its client |
//! | because the log is full | waits again after a pause, however often |
//! | because a database is stopped | waits again; its transaction waits for /START DB |
//! | by an abend | goes to the dead letters, or waits again, as configured; its client is told |
//! | with its region, with the system's end | waits again |
//!
//! Invariants:
//! 1. An input that cannot be written to the dead letters waits again: it is never dropped.
//! 2. A conversation ends in the same commit as the input that it ends with; it goes on where that
//!    waits again.

use std::sync::Arc;
use std::time::Duration;

use otma::{Name, Outcome, Reason, Refusal};
use queues::{Held, Kind};
use resources::{Kind as ResourceKind, Stop};
use schedule::LOG_FULL;
use store::{Store, Unit, UnitOptions};

use crate::inner::{InHand, Inner, State};
use crate::options::OnFailure;
use crate::sync::{NO_ROOM, REFUSED};
use crate::text;

/// Abends after which the same input may well be processed.
const RETRIED: &[&str] = &["U0777", "U2478", "U2479"];

/// Abends of a program that lacks a database, and of one that could not be made ready.
const LACKING: &[&str] = &["U3303", "U0456"];

/// How long nothing is tried again that has met a full log.
const LOG_PAUSE: Duration = Duration::from_millis(250);

/// The abend of an input whose region has ended too often.
const LOST: &str = "U0113";
/// The abend that an expired input is told with.
const EXPIRED: &str = "U0243";

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Normally.
    Normal,
    /// By an abend, such as `U0778` or `S0C7`.
    Abend {
        /// The code.
        code: String,
        /// Why, for people.
        text: String,
    },
    /// With its region, or because it was stopped from outside; the program is not to blame.
    Lost,
}

impl<S: Store> Inner<S> {
    /// A program has ended with inputs in its hands: those of its last unit of work.
    pub(crate) fn decide(
        self: &Arc<Inner<S>>,
        transaction: Name,
        program: Name,
        inputs: Vec<InHand>,
        ending: &Ending,
    ) {
        match ending {
            Ending::Normal => self.retry(inputs),
            Ending::Lost => {
                let (again, failed) = self.count_retries(inputs);
                self.retry(again);
                if !failed.is_empty() {
                    self.fail(transaction, program, failed, LOST, "its region ended with it");
                }
            }
            Ending::Abend { code, text } if code == REFUSED => self.refuse(inputs, text),
            Ending::Abend { code, .. }
                if LACKING.contains(&code.as_str())
                    && self.waits_for_database(&inputs, program) =>
            {
                self.suspend(transaction, program);
                self.retry(inputs);
            }
            // The system lacks something, not this input or its program: it is not counted.
            Ending::Abend { code, .. } if code == LOG_FULL => {
                self.clock.sleep(LOG_PAUSE);
                self.retry(inputs);
            }
            Ending::Abend { code, .. } if RETRIED.contains(&code.as_str()) => {
                let (again, failed) = self.count_retries(inputs);
                self.retry(again);
                if !failed.is_empty() {
                    self.fail(transaction, program, failed, code, "");
                }
            }
            Ending::Abend { code, text } => self.fail(transaction, program, inputs, code, text),
        }
    }

    /// Inputs whose clients have refused the outputs; the program is not to blame.
    fn refuse(self: &Arc<Inner<S>>, inputs: Vec<InHand>, why: &str) {
        for InHand { held, envelope, ticket } in inputs {
            let (terminal, transaction) = (envelope.terminal, held.queue().name);
            match self.bury(held, envelope, why, false, None) {
                Ok(()) => {
                    self.idle_conversation(terminal, transaction);
                    let refusal = Refusal::new(Reason::OutputRefused, why);
                    self.end(ticket, Outcome::BackedOut(refusal));
                }
                Err(kept) => {
                    let (held, error) = *kept;
                    self.notice(format!("{error}; an input waits again"));
                    self.give_back(vec![held]);
                }
            }
        }
    }

    /// Whether inputs can wait until a database of their program is started again.
    fn waits_for_database(&self, inputs: &[InHand], program: Name) -> bool {
        let is_queued = |input: &InHand| input.held.queue().kind == Kind::Input;
        inputs.iter().all(is_queued) && self.system.missing_database(program).is_some()
    }

    /// A transaction is not scheduled until the database is started that its program lacks.
    fn suspend(&self, transaction: Name, program: Name) {
        let mut state = self.state.lock();
        if let Some(database) = self.system.missing_database(program) {
            self.wait_for_database(&mut state, transaction, database);
        }
    }

    fn wait_for_database(&self, state: &mut State, transaction: Name, database: String) {
        state.notices.push(format!(
            "transaction {transaction} waits: database {database} of its program is stopped, and \
             /START DB {database} lets it go on"
        ));
        if let Some(one) = state.dispatch.transactions.get_mut(&transaction) {
            one.missing = Some(database);
        }
        self.touch(state, transaction);
    }

    /// Whether a transaction that is to be scheduled has to wait for a database.
    pub(crate) fn lacks_database(&self, state: &mut State, transaction: Name) -> bool {
        let of = state.dispatch.transactions.get(&transaction);
        let missing = of.and_then(|of| self.system.missing_database(of.definition.program));
        let Some(database) = missing else { return false };
        self.wait_for_database(state, transaction, database);
        true
    }

    fn retry(&self, inputs: Vec<InHand>) {
        if inputs.is_empty() {
            return;
        }
        self.state.lock().statistics.rescheduled += inputs.len() as u64;
        self.give_back(inputs.into_iter().map(|input| input.held).collect());
    }

    fn count_retries(&self, inputs: Vec<InHand>) -> (Vec<InHand>, Vec<InHand>) {
        let mut state = self.state.lock();
        inputs.into_iter().partition(|input| {
            let count = state.retries.entry(input.held.arrival()).or_default();
            *count += 1;
            *count <= self.options.retries_max
        })
    }

    fn fail(
        self: &Arc<Inner<S>>,
        transaction: Name,
        program: Name,
        inputs: Vec<InHand>,
        code: &str,
        why: &str,
    ) {
        self.count_failure(transaction, program, code, why);
        for input in inputs {
            let InHand { held, envelope, ticket } = input;
            if self.options.on_failure == OnFailure::Requeue && !envelope.send_then_commit {
                self.give_back(vec![held]);
                continue;
            }
            let first = envelope.segments.data().next().unwrap_or_default();
            let sentence = text::program_failed(transaction, code, first);
            let (has_client, has_turn) = {
                let state = self.state.lock();
                let has_turn = has_turn(&state, envelope.terminal, held.queue().name);
                (state.clients.contains_key(&ticket), has_turn)
            };
            let ends = has_turn.then_some(envelope.terminal);
            match self.bury(held, envelope, &sentence, !has_client, ends) {
                Ok(()) => {
                    let refusal = Refusal::new(Reason::ProgramFailed, sentence);
                    self.end(ticket, Outcome::BackedOut(refusal));
                }
                Err(kept) => {
                    let (held, error) = *kept;
                    self.notice(format!("{error}; the input of {transaction} waits again"));
                    self.give_back(vec![held]);
                }
            }
        }
    }

    /// A batch message program has ended. By an abend that no other run would be spared, that is a
    /// failure; its inputs wait again in any case.
    pub(crate) fn batch_ended(&self, transaction: Name, program: Name, ending: &Ending) {
        match ending {
            Ending::Normal => {
                let mut state = self.state.lock();
                if let Some(one) = state.dispatch.programs.get_mut(&program) {
                    one.failures = 0;
                }
                if let Some(one) = state.dispatch.transactions.get_mut(&transaction) {
                    one.failures = 0;
                }
            }
            Ending::Abend { code, .. } if code == LOG_FULL || RETRIED.contains(&code.as_str()) => {}
            Ending::Abend { code, text } => {
                self.count_failure(transaction, program, code, text);
            }
            Ending::Lost => {}
        }
    }

    fn count_failure(&self, transaction: Name, program: Name, code: &str, why: &str) {
        let most = self.options.failures_max;
        let mut state = self.state.lock();
        let mut failures = 0;
        if let Some(one) = state.dispatch.programs.get_mut(&program) {
            one.failures += 1;
            failures = one.failures;
        }
        if let Some(one) = state.dispatch.transactions.get_mut(&transaction) {
            one.failures += 1;
            failures = failures.max(one.failures);
        }
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let of = if transaction.is_blank() { String::new() } else { format!(" {transaction}") };
        state.notices.push(format!("DFS554A {program}{of} ABEND {code}{why}"));
        let is_over = failures >= most;
        if is_over {
            if let Some(one) = state.dispatch.programs.get_mut(&program) {
                one.stopped = true;
            }
            if let Some(one) = state.dispatch.transactions.get_mut(&transaction) {
                one.no_scheduling = true;
            }
            state.notices.push(match transaction.is_blank() {
                true => format!(
                    "program {program} is stopped after {failures} failures in a row. Repair it, \
                     then /START PGM {program}"
                ),
                false => format!(
                    "program {program} and transaction {transaction} are stopped after {failures} \
                     failures in a row. Repair the program, then /START PGM {program} and \
                     /START TRAN {transaction}"
                ),
            });
            for name in state.dispatch.transactions_of(program) {
                self.touch(&mut state, name);
            }
        }
        drop(state);
        // Where there was no room, a restart may well have brought some.
        if is_over && code != NO_ROOM {
            self.keep_stopped(transaction, program);
        }
    }

    /// What was stopped for its failures stays so over a restart.
    fn keep_stopped(&self, transaction: Name, program: Name) {
        let both = [(ResourceKind::Program, program), (ResourceKind::Transaction, transaction)];
        for (kind, name) in both {
            let kept = self.repository.set_stopped(kind, &[name], Some(Stop::Scheduling));
            if let Err(error) = kept {
                let what = kind.word();
                self.notice(format!("{error}; a restart will start {what} {name} again"));
            }
        }
    }

    /// A conversation ends with an input that is in memory only. Where that cannot be written, it
    /// goes on.
    pub(crate) fn close_conversation(&self, terminal: Name) {
        let state = self.state.lock();
        let one = state.conversations.get(&terminal);
        let is_kept = one.is_some_and(|one| !one.spa.is_empty());
        drop(state);
        let mut dropped = Ok(());
        if is_kept {
            let begun = self.store.begin(UnitOptions::default()).map_err(queues::QueueError::from);
            dropped = begun.and_then(|mut unit| {
                self.queues.drop_record(&mut unit, Kind::Conversation, terminal)?;
                unit.commit()?;
                Ok(())
            });
        }
        let mut state = self.state.lock();
        let Err(error) = dropped else {
            state.conversations.remove(&terminal);
            return;
        };
        if let Some(one) = state.conversations.get_mut(&terminal) {
            one.busy = false;
        }
        state.notices.push(format!("{error}; the conversation of {terminal} goes on"));
    }

    /// An input has waited for too long.
    pub(crate) fn expire(self: &Arc<Inner<S>>, held: Held) {
        let ticket = self.ticket_of(&held);
        let transaction = held.queue().name;
        let mut sentence = String::new();
        let buried = match self.open(&held) {
            Ok(envelope) => {
                let first = envelope.segments.data().next().unwrap_or_default();
                sentence = text::program_failed(transaction, EXPIRED, first);
                let terminal = envelope.terminal;
                let buried = self.bury(held, envelope, &sentence, false, None);
                buried.inspect(|()| self.idle_conversation(terminal, transaction))
            }
            Err(error) => Err(Box::new((held, error))),
        };
        match buried {
            Ok(()) => {
                self.state.lock().statistics.expired += 1;
                self.end(ticket, Outcome::BackedOut(Refusal::new(Reason::Expired, sentence)));
            }
            Err(kept) => {
                let (held, error) = *kept;
                self.notice(format!("{error}; an expired input of {transaction} waits again"));
                self.give_back(vec![held]);
            }
        }
    }

    /// The input of a conversation has gone without having been processed.
    pub(crate) fn idle_conversation(&self, terminal: Name, transaction: Name) {
        let mut state = self.state.lock();
        if !has_turn(&state, terminal, transaction) {
            return;
        }
        let Some(one) = state.conversations.get_mut(&terminal) else { return };
        one.busy = false;
        if one.spa.is_empty() {
            state.conversations.remove(&terminal);
        }
    }

    /// Something for the operators.
    pub(crate) fn notice(&self, text: String) {
        self.state.lock().notices.push(text);
    }
}

/// Whether an input of a transaction has the turn in its terminal's conversation: that is of the
/// transaction, or a program has handed its scratch pad area on to it.
fn has_turn(state: &State, terminal: Name, transaction: Name) -> bool {
    let Some(one) = state.conversations.get(&terminal).filter(|one| one.busy) else {
        return false;
    };
    let of = state.dispatch.transactions.get(&transaction);
    let is_one = of.is_some_and(|of| of.definition.conversation);
    // What is handed on has been committed before.
    one.transaction == transaction || (is_one && !one.spa.is_empty())
}
