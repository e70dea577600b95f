//! The sending end of a channel: messages of a transmission queue, batch by batch.
//!
//! 1. A message that was taken stays in the store until its batch is done: no unit of work is open
//!    while a batch is under way or in doubt, however long that lasts.
//! 2. A sender that is dropped gives the messages of its batch back, unless the batch is in doubt:
//!    then they stay held until a sender of the channel, or an operator, knows more.
//! 3. Messages that are not kept over a restart may travel outside of batches; those are lost with
//!    the connection that carries them.

use std::sync::Arc;
use std::time::Duration;

use store::{Store, Unit, UnitOptions};

use super::header;
use crate::channel_state::{
    BatchNumber, ChannelError, Decision, Doubt, Held, ReceiverState, SenderState, Sequence, Taken,
    keep, sender_key, write_sender,
};
use crate::core::{Core, Found, From, Request, Work};
use crate::descriptor::value;
use crate::queue::{Queue, Seeker, hashes};
use crate::reason::Reason;

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderOptions {
    /// Messages of a batch.
    pub batch_messages: u32,
    /// Bytes of a batch, about; 0: no limit.
    pub batch_bytes: u64,
    /// The highest sequence number.
    pub sequence_max: u64,
    /// Bytes of the longest message, with its header.
    pub length_max: usize,
    /// Messages that are not kept travel outside of batches.
    pub fast: bool,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its number; none: it travels outside of the batch.
    pub sequence: Option<Sequence>,
    /// Header and data.
    pub data: Vec<u8>,
}

/// The end of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The batch.
    pub batch: BatchNumber,
    /// Its last message.
    pub sequence: Sequence,
}

/// The sending end of a channel.
pub struct Sender<S: Store> {
    core: Arc<Core<S>>,
    channel: String,
    queue: Arc<Queue>,
    /// By which the index knows who holds the messages.
    unit: u64,
    options: SenderOptions,
    state: SenderState,
    taken: Vec<Taken>,
    sequence: Sequence,
    bytes: u64,
}

impl<S: Store> Sender<S> {
    /// Begins to serve a transmission queue. The channel is claimed already.
    pub(crate) fn new(
        core: Arc<Core<S>>,
        channel: &str,
        queue: Arc<Queue>,
        state: SenderState,
        taken: Vec<Taken>,
    ) -> Sender<S> {
        let options = SenderOptions {
            batch_messages: 50,
            batch_bytes: 0,
            sequence_max: 999_999_999,
            length_max: 4 << 20,
            fast: false,
        };
        let (unit, sequence) = (core.serial(), state.sequence);
        let channel = channel.to_owned();
        Sender { core, channel, queue, unit, options, state, taken, sequence, bytes: 0 }
    }

    /// Has it keep to what both ends have agreed on.
    pub fn agree(&mut self, options: SenderOptions) {
        self.options = options;
    }

    /// What it knows.
    #[must_use]
    pub fn state(&self) -> SenderState {
        self.state
    }

    /// The transmission queue.
    #[must_use]
    pub fn queue_name(&self) -> String {
        self.queue.name.text()
    }

    /// Messages of the batch under way.
    #[must_use]
    pub fn batch_messages(&self) -> usize {
        self.taken.len()
    }

    /// Whether the batch has as many messages as it may have.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let bytes = self.options.batch_bytes;
        self.taken.len() >= self.options.batch_messages as usize
            || (bytes > 0 && self.bytes >= bytes)
    }

    fn failed(&self, reason: Reason) -> ChannelError {
        ChannelError::Call { channel: self.channel.clone(), reason }
    }

    /// Hears where the receiver stands, and resolves what is in doubt. [`Decision::Reset`] asks
    /// the caller to have the receiver take over [`state`](Sender::state), and to say so with
    /// [`reset_done`](Sender::reset_done).
    ///
    /// # Errors
    /// [`ChannelError::Sequence`] if they do not fit; if the store fails.
    pub fn meet(&mut self, receiver: &ReceiverState) -> Result<Decision, ChannelError> {
        let decision = Decision::of(&self.state, receiver);
        match decision {
            Decision::Commit => self.confirmed()?,
            Decision::BackOut => self.not_done()?,
            Decision::Agree if self.state.resets => self.reset_done()?,
            Decision::Agree | Decision::Reset => {}
            Decision::Mismatch => {
                return Err(ChannelError::Sequence {
                    channel: self.channel.clone(),
                    here: self.state.sequence.0,
                    there: receiver.sequence.0,
                });
            }
        }
        Ok(decision)
    }

    /// The receiver has taken the number over.
    ///
    /// # Errors
    /// If the store fails.
    pub fn reset_done(&mut self) -> Result<(), ChannelError> {
        self.note(SenderState { resets: false, ..self.state }, &Doubt::default())
    }

    /// Keeps another state.
    fn note(&mut self, state: SenderState, doubt: &Doubt) -> Result<(), ChannelError> {
        let value = write_sender(&state, doubt);
        keep(&self.core.store, self.core.channels.set, &sender_key(&self.channel), Some(&value))?;
        self.state = state;
        Ok(())
    }

    /// The next message; waits for one as long as `wait`, unless `over` says that it is over.
    ///
    /// # Errors
    /// If the queue cannot be got from, or a message that cannot be sent cannot be put on the
    /// dead-letter queue.
    pub fn next(
        &mut self,
        wait: Duration,
        over: &dyn Fn() -> bool,
    ) -> Result<Option<Outgoing>, ChannelError> {
        debug_assert!(self.state.in_doubt.is_none());
        let core = Arc::clone(&self.core);
        let clock = &core.options.clock;
        let deadline = clock.monotonic() + wait;
        loop {
            let arrivals = self.queue.state.lock().getters.arrivals();
            core.goes_on(true).map_err(|failed| self.failed(failed.0))?;
            if over() {
                return Ok(None);
            }
            if let Some(found) = self.find()? {
                match self.accept(&found)? {
                    Some(outgoing) => return Ok(Some(outgoing)),
                    None => continue,
                }
            }
            let mut state = self.queue.state.lock();
            while state.getters.arrivals() == arrivals {
                let left = deadline.saturating_sub(clock.monotonic());
                if left.is_zero() || over() {
                    return Ok(None);
                }
                self.queue.wait(&mut state, Some(left), false);
            }
        }
    }

    fn find(&self) -> Result<Option<Found>, ChannelError> {
        let nothing = std::collections::BTreeSet::new();
        let request = Request {
            seeker: Seeker { unit: self.unit, handle: 0, now: self.core.now_tenths() },
            from: From::First,
            ids: [None; 3],
            sequence: None,
            offset: None,
            selector: None,
            unmarked: false,
            marked_by_handle: &nothing,
            begins: false,
            all_messages: false,
            all_segments: false,
            take: true,
        };
        let found = self.core.find(&self.queue, &request, None);
        found.map_err(|failed| self.failed(failed.0))
    }

    /// Makes a message part of the batch; one that cannot be sent becomes a dead letter.
    fn accept(&mut self, found: &Found) -> Result<Option<Outgoing>, ChannelError> {
        let of = &found.message.descriptor;
        let known = of.format == value::format::XMIT_Q_HEADER
            && of.encoding == value::ENCODING_NATIVE
            && header::read(&found.message.data).is_some();
        if !known {
            self.bury(found, Reason::XMIT_Q_MSG_ERROR)?;
            return Ok(None);
        }
        if found.message.data.len() > self.options.length_max {
            self.bury(found, Reason::MSG_TOO_BIG_FOR_CHANNEL)?;
            return Ok(None);
        }
        let now = self.core.now_ms();
        let mut data = found.message.data.clone();
        header::set_expiry(&mut data, found.message.expiry_at(now));
        let hashes = hashes(of);
        let taken = Taken { at: found.at, entry: found.entry, hashes };
        let mut queue = self.queue.state.lock();
        queue.statistics.got(&found.message, now);
        if self.options.fast && !found.entry.persistent {
            queue.index.gone(taken.at, &hashes);
            return Ok(Some(Outgoing { sequence: None, data }));
        }
        queue.index.identify(taken.at, &hashes);
        drop(queue);
        self.bytes += data.len() as u64;
        self.taken.push(taken);
        self.sequence = self.sequence.next(self.options.sequence_max);
        Ok(Some(Outgoing { sequence: Some(self.sequence), data }))
    }

    fn bury(&self, found: &Found, reason: Reason) -> Result<(), ChannelError> {
        let core = &self.core;
        let mut work = Work::new(core);
        let message = (*found.message).clone();
        let destination = header::read(&message.data).map(|read| (read.queue, read.manager));
        let destination = destination.unwrap_or((self.queue.name, core.name));
        let taken = work.take(core, &self.queue, found.taken(), &message.descriptor, false);
        let buried = taken.and_then(|()| core.dead_letter(&mut work, message, destination, reason));
        let done = match buried {
            Ok(()) => work.commit(core),
            Err(failed) => {
                work.back(core);
                Err(failed)
            }
        };
        done.map_err(|_| ChannelError::Undeliverable { channel: self.channel.clone(), reason })
    }

    /// Ends the batch: from now on it is in doubt, until [`confirmed`](Sender::confirmed). The
    /// receiver is told only after this has returned.
    ///
    /// # Errors
    /// If the store fails; then the batch is still under way.
    pub fn end_batch(&mut self) -> Result<Ended, ChannelError> {
        let number = self.core.bodies.number()?;
        let kept = self.taken.iter().filter(|taken| taken.entry.persistent);
        let places = kept.map(|taken| taken.at).collect();
        let doubt = Doubt { queue: self.queue.number, places };
        let state = SenderState {
            in_doubt: BatchNumber(number),
            in_doubt_sequence: self.sequence,
            ..self.state
        };
        self.note(state, &doubt)?;
        Ok(Ended { batch: state.in_doubt, sequence: self.sequence })
    }

    /// The receiver has committed the batch in doubt: its messages are removed.
    ///
    /// # Errors
    /// If the store fails; then the batch is in doubt still.
    pub fn confirmed(&mut self) -> Result<(), ChannelError> {
        let state = SenderState {
            last: self.state.in_doubt,
            sequence: self.state.in_doubt_sequence,
            resets: false,
            in_doubt: BatchNumber::NONE,
            in_doubt_sequence: Sequence::default(),
            last_ms: self.core.now_ms(),
        };
        let mut unit = self.core.store.begin(UnitOptions::default())?;
        for taken in self.taken.iter().filter(|taken| taken.entry.persistent) {
            let backed_out = self.queue.state.lock().index.backout_count(taken.at) > 0;
            let (location, bodies) = (self.queue.location(), &self.core.bodies);
            let deleted = bodies.delete(&mut unit, location, taken.at, &taken.entry, backed_out);
            deleted.map_err(|broken| broken.error)?;
        }
        let value = write_sender(&state, &Doubt::default());
        unit.put(self.core.channels.set, &sender_key(&self.channel), &value)?;
        unit.commit()?;
        let mut queue = self.queue.state.lock();
        for taken in self.taken.drain(..) {
            queue.index.gone(taken.at, &taken.hashes);
        }
        drop(queue);
        (self.state, self.sequence, self.bytes) = (state, state.sequence, 0);
        Ok(())
    }

    /// The receiver has not committed the batch in doubt, and will not: its messages are sent
    /// again.
    fn not_done(&mut self) -> Result<(), ChannelError> {
        let state = SenderState {
            in_doubt: BatchNumber::NONE,
            in_doubt_sequence: Sequence::default(),
            ..self.state
        };
        self.note(state, &Doubt::default())?;
        self.give_back();
        Ok(())
    }

    /// Gives the messages of the batch back to the queue.
    fn give_back(&mut self) {
        for taken in self.taken.drain(..).rev() {
            self.queue.give_back(taken.at, None);
        }
        (self.sequence, self.bytes) = (self.state.sequence, 0);
    }
}

impl<S: Store> Drop for Sender<S> {
    fn drop(&mut self) {
        let held = match self.state.in_doubt.is_none() {
            true => {
                self.give_back();
                None
            }
            false => {
                let taken = std::mem::take(&mut self.taken);
                Some(Held { queue: Arc::clone(&self.queue), state: self.state, taken })
            }
        };
        self.core.channels.release_sender(&self.channel, held);
        self.queue.leave(true, false);
        self.core.reconsider(&self.queue);
    }
}
