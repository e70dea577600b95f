//! Inputs and outputs that come and go in units of work of others: whoever keeps messages in the
//! same store takes one from there and puts it here, or the other way, in one commit.
//!
//! Invariants:
//! 1. An input that came in such a unit of work appears when its owner says that it is durable; it
//!    is then as one of mode 0 whose client has gone: what answers it waits on its tpipe.
//! 2. An output that goes in one stays its taker's until its owner says how that has ended.
//! 3. What is dropped before that counts as backed out.

use std::sync::Arc;
use std::time::Duration;

use otma::{Input, Name, OutputId, Reason, Refusal, Ticket};
use queues::{Held, Pending, QueueName};
use resources::FastPath;
use store::Store;

use crate::control::Control;
use crate::error::{ControlError, refusal};
use crate::inner::{Coming, Inner};

/// How often a name is drawn before it is given up to find a free one.
const DRAWS_MAX: u32 = 64;
const LETTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// An input in a unit of work that has not ended.
#[must_use = "an input that is dropped is as one that was backed out"]
pub struct Entering<S: Store> {
    inner: Arc<Inner<S>>,
    pending: Option<Pending>,
    terminal: Name,
    transaction: Name,
}

impl<S: Store> Entering<S> {
    /// Its number.
    #[must_use]
    pub fn ticket(&self) -> Option<Ticket> {
        self.pending.as_ref().map(|pending| Ticket(pending.arrival()))
    }

    /// Says how the unit of work has ended: durably committed, or backed out.
    pub fn settle(mut self, committed: bool) {
        if committed && let Some(pending) = self.pending.take() {
            self.inner.arrived(vec![Coming { pending, answers: 0 }]);
        }
    }
}

impl<S: Store> Drop for Entering<S> {
    fn drop(&mut self) {
        // A thread that panics stops the kernel; what it held means nothing then.
        if std::thread::panicking() {
            return;
        }
        if let Some(pending) = self.pending.take() {
            self.inner.queues.forget(pending);
            self.inner.idle_conversation(self.terminal, self.transaction);
        }
    }
}

/// An output that leaves its tpipe in a unit of work that has not ended.
#[must_use = "an output that is dropped is as one that was backed out"]
pub struct Leaving<S: Store> {
    inner: Arc<Inner<S>>,
    held: Option<Held>,
}

impl<S: Store> Leaving<S> {
    /// Says how the unit of work has ended: durably committed, or backed out; then the output is
    /// at the head of its tpipe again.
    pub fn settle(mut self, committed: bool) {
        if committed && let Some(held) = self.held.take() {
            self.inner.queues.gone(held);
            self.inner.state.lock().statistics.delivered += 1;
        }
    }
}

impl<S: Store> Drop for Leaving<S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        if let Some(held) = self.held.take() {
            self.inner.wait_again(held);
        }
    }
}

impl<S: Store> Control<S> {
    /// Takes an input in, in a unit of work of the caller's on the same store. Mode 1 says that
    /// somebody waits for the answer: a transaction whose program is stopped is refused then. It
    /// is durable all the same.
    ///
    /// # Errors
    /// If it is refused; nothing of it is in the unit of work then, unless that is doomed.
    pub fn submit_in(&self, unit: &mut S::Unit, input: Input) -> Result<Entering<S>, Refusal> {
        let entered = self.inner.enter(unit, input);
        let inner = &self.inner;
        match entered {
            Ok((pending, terminal, transaction)) => Ok(Entering {
                inner: Arc::clone(inner),
                pending: Some(pending),
                terminal,
                transaction,
            }),
            Err(refused) => {
                inner.state.lock().statistics.refused += 1;
                Err(refused)
            }
        }
    }

    /// Has an output that was taken leave its tpipe in a unit of work of the caller's.
    ///
    /// # Errors
    /// If nobody has taken that output; if the store fails: it is at the head of its tpipe then,
    /// and in the store, unless the unit of work is doomed.
    pub fn deliver_in(
        &self,
        unit: &mut S::Unit,
        tpipe: Name,
        output: OutputId,
    ) -> Result<Leaving<S>, Refusal> {
        let inner = &self.inner;
        let held = inner.state.lock().taken.remove(&(tpipe, output)).ok_or_else(|| {
            let text = format!("OUTPUT {} OF {tpipe} IS NOT WAITING FOR AN ANSWER", output.0);
            Refusal::new(Reason::NothingWaiting, text)
        })?;
        if let Err(error) = inner.queues.remove_whole(unit, &held) {
            inner.wait_again(held);
            return Err(refusal(&ControlError::from(error)));
        }
        Ok(Leaving { inner: Arc::clone(inner), held: Some(held) })
    }

    /// Whether a transaction is a conversation; `None` if there is no such transaction.
    #[must_use]
    pub fn is_conversational(&self, transaction: Name) -> Option<bool> {
        let state = self.inner.state.lock();
        Some(state.dispatch.transactions.get(&transaction)?.definition.conversation)
    }

    /// Whether a terminal is in a conversation.
    #[must_use]
    pub fn in_conversation(&self, terminal: Name) -> bool {
        self.inner.state.lock().conversations.contains_key(&terminal)
    }

    /// A name for a terminal that nobody is known by, which nobody can guess.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn new_terminal(&self, first: u8) -> Result<Name, Refusal> {
        let inner = &self.inner;
        for _ in 0..DRAWS_MAX {
            let mut random = [0_u8; 8];
            inner
                .entropy
                .fill(&mut random)
                .map_err(|error| Refusal::new(Reason::Store, error.to_string()))?;
            let mut number = u64::from_le_bytes(random);
            let mut name = [first; 8];
            for letter in &mut name[1..] {
                *letter = LETTERS[(number % 36) as usize];
                number /= 36;
            }
            let name = Name(name);
            let taken = {
                let state = inner.state.lock();
                state.conversations.contains_key(&name) || state.terminals.contains(&name)
            };
            if !taken {
                return Ok(name);
            }
        }
        Err(Refusal::new(Reason::Conversation, "NO NAME FOR A TERMINAL WAS FOUND"))
    }
}

impl<S: Store> Inner<S> {
    fn enter(
        self: &Arc<Inner<S>>,
        unit: &mut S::Unit,
        input: Input,
    ) -> Result<(Pending, Name, Name), Refusal> {
        let lives = input.options.expires_in;
        let mut envelope = crate::envelope::Envelope::of_input(input);
        let (transaction, expedited) = self.admit(&mut envelope)?;
        let name = transaction.name;
        if expedited.is_some() && self.is_exclusive(&transaction) {
            self.idle_conversation(envelope.terminal, name);
            let text = format!("TRAN {name} IS EXPEDITED, AND ITS INPUTS ARE NOT KEPT");
            return Err(Refusal::new(Reason::CommitMode, text));
        }
        // It is kept, whoever waits for it.
        envelope.send_then_commit = false;
        let own = u64::from(transaction.expires_in);
        let own = (own > 0).then(|| Duration::from_secs(own));
        let lives = [lives, own].into_iter().flatten().min();
        let queue = QueueName::input(name);
        let put = self.queues.put_whole(unit, queue, lives, &envelope.encode());
        let pending = put.map_err(|error| {
            self.idle_conversation(envelope.terminal, name);
            refusal(&ControlError::from(error))
        })?;
        Ok((pending, envelope.terminal, name))
    }

    /// Whether a transaction's program takes expedited inputs and no others.
    fn is_exclusive(&self, of: &resources::Transaction) -> bool {
        let state = self.state.lock();
        let program = state.dispatch.programs.get(&of.program);
        of.fast_path == FastPath::Exclusive
            || program.is_some_and(|one| one.definition.fast_path == FastPath::Exclusive)
    }
}
