//! The receiving end of a channel: messages of a partner, put where they are for.
//!
//! 1. What a batch puts, and that it was done, is one unit of work: see `record`.
//! 2. A message that cannot be put becomes a dead letter in the same unit of work; if it cannot be
//!    that either, the batch is backed out, and the channel ends.
//! 3. A command is taken from a partner only if the channel works as an administrator. As a dead
//!    letter it is nobody's, so that the user who puts it again gives it no rights.
//! 4. Who a message says that has put it counts where inputs are made of it only if a record lets
//!    the channel's user say so; otherwise it is the channel's own.
//! 5. A receiver that is dropped backs out what was not committed before anybody else may receive
//!    from the same partner.

use std::sync::Arc;
use std::time::Duration;

use store::{Read, Store, Unit};

use super::admission::UNNAMED_USER;
use super::header::{self, Transmitted};
use crate::channel_state::{
    BatchNumber, ChannelError, ReceiverState, Sequence, keep, read_receiver, receiver_key,
    write_receiver,
};
use crate::connection::Connection;
use crate::core::{Core, Permission};
use crate::descriptor::{MessageDescriptor, value::appl_type};
use crate::name::padded;
use crate::objects::Kind;
use crate::options::value::put;
use crate::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use crate::reason::{Answer, Reason};

/// How messages are received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// The user who puts them.
    pub user: String,
    /// The user whom a message names has to be allowed to put it, too.
    pub checks_context: bool,
    /// Where they come from, for displays.
    pub connection_name: String,
    /// Those that cannot be put become dead letters.
    pub uses_dead_letters: bool,
    /// The highest sequence number.
    pub sequence_max: u64,
    /// How often a put is tried again before it counts as failed.
    pub retries: u32,
    /// How long is waited in between.
    pub retry_wait: Duration,
}

/// The receiving end of a channel.
pub struct Receiver<S: Store> {
    core: Arc<Core<S>>,
    channel: String,
    partner: String,
    options: ReceiverOptions,
    /// Of the batch; none: it is dropped.
    batch: Option<Connection<S>>,
    /// Of messages that travel outside of batches.
    outside: Option<Connection<S>>,
    state: ReceiverState,
    sequence: Sequence,
}

/// Reasons that may pass.
const PASSING: [Reason; 4] =
    [Reason::Q_FULL, Reason::PUT_INHIBITED, Reason::OBJECT_IN_USE, Reason::RESOURCE_PROBLEM];
/// Those that pass for one message alone, and not while the batch keeps what it has.
const PASSING_OUTSIDE: [Reason; 2] = [Reason::STORAGE_MEDIUM_FULL, Reason::SYNCPOINT_LIMIT_REACHED];
/// Reasons that are about the queue manager, not about the message.
const OF_THE_SYSTEM: [Reason; 6] = [
    Reason::BACKED_OUT,
    Reason::CONNECTION_BROKEN,
    Reason::OUTCOME_PENDING,
    Reason::Q_MGR_QUIESCING,
    Reason::Q_MGR_STOPPING,
    Reason::UNEXPECTED_ERROR,
];

impl<S: Store> Receiver<S> {
    /// Begins to receive. The partner is claimed already, and let go if this fails.
    pub(crate) fn new(
        core: Arc<Core<S>>,
        channel: &str,
        partner: &str,
        state: ReceiverState,
        options: ReceiverOptions,
    ) -> Result<Receiver<S>, ChannelError> {
        let mut receiver = Receiver {
            core,
            channel: channel.to_owned(),
            partner: partner.to_owned(),
            options,
            batch: None,
            outside: None,
            state,
            sequence: state.sequence,
        };
        receiver.batch = Some(receiver.connect()?);
        receiver.outside = Some(receiver.connect()?);
        Ok(receiver)
    }

    fn connect(&self) -> Result<Connection<S>, ChannelError> {
        let options = ConnectOptions {
            user: self.options.user.clone(),
            application: "channel".into(),
            application_type: appl_type::QMGR,
            channel: self.channel.clone(),
            connection_name: self.options.connection_name.clone(),
            may_command: self.may_command(),
            ..ConnectOptions::default()
        };
        let client = self.core.enter(options).map_err(ChannelError::call(&self.channel))?;
        Ok(Connection::new(Arc::clone(&self.core), client))
    }

    /// Whether the channel was given a user who administers.
    fn may_command(&self) -> bool {
        let user = &self.options.user;
        user != UNNAMED_USER && self.core.is_administrator(user)
    }

    /// What it knows.
    #[must_use]
    pub fn state(&self) -> ReceiverState {
        self.state
    }

    /// Has it keep to the highest number that both ends have agreed on.
    pub fn agree(&mut self, sequence_max: u64) {
        self.options.sequence_max = sequence_max;
    }

    /// Takes over where the sender stands.
    ///
    /// # Errors
    /// If the store fails.
    pub fn take_over(&mut self, last: BatchNumber, sequence: Sequence) -> Result<(), ChannelError> {
        let state = ReceiverState { last, sequence, ..self.state };
        let key = receiver_key(&self.channel, &self.partner);
        let value = write_receiver(&state);
        keep(&self.core.store, self.core.channels.set, &key, Some(&value))?;
        (self.state, self.sequence) = (state, sequence);
        Ok(())
    }

    /// Puts a message: one with a number in the batch, one without at once. `pause` waits so long
    /// before a put is tried again; `false`: it is not to be.
    ///
    /// # Errors
    /// [`ChannelError::Sequence`] for a number that is not the next,
    /// [`ChannelError::Undeliverable`], [`ChannelError::Partner`] for what is no message.
    pub fn put(
        &mut self,
        sequence: Option<Sequence>,
        data: &[u8],
        pause: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<(), ChannelError> {
        if let Some(there) = sequence {
            let here = self.sequence.next(self.options.sequence_max);
            if there != here {
                let channel = self.channel.clone();
                return Err(ChannelError::Sequence { channel, here: here.0, there: there.0 });
            }
        }
        let Some(mut message) = header::read(data) else {
            let why = "it sent a message without a header".into();
            return Err(ChannelError::Partner { channel: self.channel.clone(), why });
        };
        self.doubt(&mut message);
        let body = &data[message.data_at..];
        let inside = sequence.is_some();
        let options = self.options.clone();
        let connection = if inside { &mut self.batch } else { &mut self.outside };
        let Some(connection) = connection else {
            return Err(ChannelError::NotRunning(self.channel.clone()));
        };
        let done = deliver(connection, (&message, body), inside, &options, pause);
        let settled = match done {
            Err(reason) => self.bury((&message, body), inside, reason),
            Ok(()) => Ok(()),
        };
        if let (Ok(()), Some(sequence)) = (&settled, sequence) {
            self.sequence = sequence;
        }
        settled
    }

    /// Makes a message the channel's own where it would be believed whose it is.
    fn doubt(&self, message: &mut Transmitted) {
        let Ok(to) = self.core.resolve(message.queue, message.manager) else { return };
        if self.may_command() || !self.core.is_believed(&to) {
            return;
        }
        let (user, name) = (&self.options.user, to.guarded(message.queue).text());
        if !self.core.is_given(user, Kind::QueueLocal, &name, Permission::SetAll) {
            message.descriptor.user_identifier = padded(user);
        }
    }

    /// Makes a message that cannot be put a dead letter.
    fn bury(
        &mut self,
        (message, body): (&Transmitted, &[u8]),
        inside: bool,
        reason: Reason,
    ) -> Result<(), ChannelError> {
        let channel = self.channel.clone();
        if OF_THE_SYSTEM.contains(&reason) {
            return Err(ChannelError::Call { channel, reason });
        }
        let resolved = self.core.resolve(message.queue, message.manager);
        let commands =
            !self.may_command() && resolved.is_ok_and(|to| self.core.is_carried_out(&to));
        let connection = if inside { &mut self.batch } else { &mut self.outside };
        let Some(connection) = connection.as_mut().filter(|_| self.options.uses_dead_letters)
        else {
            // One that is not kept, and travels outside of batches, may be lost.
            let lost = !inside;
            return if lost {
                Ok(())
            } else {
                Err(ChannelError::Undeliverable { channel, reason })
            };
        };
        let destination = (message.queue, message.manager);
        let mut descriptor = message.descriptor.clone();
        if commands {
            descriptor.user_identifier = padded(UNNAMED_USER);
        }
        let buried = connection
            .dead_letter(&descriptor, body, destination, reason)
            .and_then(|_| if inside { Ok(()) } else { connection.commit().map(drop) });
        match buried {
            Ok(()) => Ok(()),
            Err(_) if !inside => {
                // The next one begins anew.
                let _ = connection.back();
                Ok(())
            }
            Err(_) => Err(ChannelError::Undeliverable { channel, reason }),
        }
    }

    /// Commits the batch; answers when that is durable.
    ///
    /// # Errors
    /// [`ChannelError::Sequence`] if its last message is another than the sender says; if the
    /// store fails: then it may be committed or not.
    pub fn commit(&mut self, batch: BatchNumber, sequence: Sequence) -> Result<(), ChannelError> {
        let channel = self.channel.clone();
        if sequence != self.sequence || batch.is_none() {
            let (here, there) = (self.sequence.0, sequence.0);
            return Err(ChannelError::Sequence { channel, here, there });
        }
        let state = ReceiverState { last: batch, sequence, last_ms: self.core.now_ms() };
        let key = receiver_key(&self.channel, &self.partner);
        let set = self.core.channels.set;
        let known = self.state;
        let Some(connection) = &mut self.batch else {
            return Err(ChannelError::NotRunning(channel));
        };
        let unit = connection.unit().map_err(ChannelError::call(&channel))?;
        let mut there = Vec::new();
        // No other session writes it; if one has, what was put does not count.
        let found = unit.get(set, &key, Read::Unlocked, &mut there)?;
        let there = if found { read_receiver(&there) } else { Some(ReceiverState::default()) };
        if there != Some(known) {
            let _ = connection.back();
            return Err(ChannelError::InUse(channel));
        }
        unit.put(set, &key, &write_receiver(&state))?;
        connection.commit().map_err(ChannelError::call(&channel))?;
        self.state = state;
        Ok(())
    }
}

/// Puts a message where it is for.
fn deliver<S: Store>(
    connection: &mut Connection<S>,
    (message, body): (&Transmitted, &[u8]),
    inside: bool,
    options: &ReceiverOptions,
    pause: &mut dyn FnMut(Duration) -> bool,
) -> Result<(), Reason> {
    let mut left = options.retries;
    loop {
        let reason = match put_once(connection, message, body, (inside, options.checks_context)) {
            Ok(()) => return Ok(()),
            Err(failed) => failed.0,
        };
        let passes = PASSING.contains(&reason) || (!inside && PASSING_OUTSIDE.contains(&reason));
        if left == 0 || !passes || !pause(options.retry_wait) {
            return Err(reason);
        }
        left -= 1;
    }
}

fn put_once<S: Store>(
    connection: &mut Connection<S>,
    message: &Transmitted,
    body: &[u8],
    (inside, checks_context): (bool, bool),
) -> Answer<()> {
    let mut what = ObjectDescriptor {
        object_name: message.queue,
        object_q_mgr_name: message.manager,
        alternate_user_id: message.descriptor.user_identifier,
        ..ObjectDescriptor::default()
    };
    let mut asked = put::SET_ALL_CONTEXT;
    asked |= if inside { put::SYNCPOINT } else { put::NO_SYNCPOINT };
    if checks_context {
        asked |= put::ALTERNATE_USER_AUTHORITY;
    }
    let mut descriptor: MessageDescriptor = message.descriptor.clone();
    let mut options = PutOptions::new(asked);
    connection.put1(&mut what, &mut descriptor, &mut options, body).map(drop)
}

impl<S: Store> Drop for Receiver<S> {
    fn drop(&mut self) {
        // First what is not committed is backed out; then another may receive.
        self.batch = None;
        self.outside = None;
        self.core.channels.release_receiver(&self.channel, &self.partner);
    }
}
