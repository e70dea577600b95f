//! The channels of a queue manager, as the door that runs them and operators see them.

use std::sync::Arc;

use store::{Cursor, KeyRange, Read, Store, Unit, UnitOptions};

use super::admission::{Admitted, Caller, Refused};
use super::receiver::{Receiver, ReceiverOptions};
use super::sender::Sender;
use crate::channel_state::{
    ChannelError, ChannelState, ChannelStatus, ChannelType, Doubt, Initiator, Instance,
    ReceiverState, SenderState, Sequence, StopMode, StopRequest, Table, fetch, keep, read_receiver,
    read_sender, receiver_key, sender_key, stopped_key, subject_key, write_receiver, write_sender,
};
use crate::core::Core;
use crate::core::event::Event;
use crate::name::ObjectName;
use crate::objects::{Kind, Object};

/// What a reset did at a receiver's end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WasReset {
    /// The queue managers whose next message has the number.
    pub partners: Vec<String>,
    /// Those that may come with another certificate.
    pub certificates: Vec<String>,
}

/// Claims of a channel's receivers, until this is dropped.
struct ReceiverClaims<'a> {
    table: &'a Table,
    channel: &'a str,
    partners: &'a [String],
}

impl<'a> ReceiverClaims<'a> {
    /// All of them, or none.
    fn of(
        table: &'a Table,
        channel: &'a str,
        partners: &'a [String],
    ) -> Result<ReceiverClaims<'a>, ChannelError> {
        let mut claims = ReceiverClaims { table, channel, partners: &[] };
        for (at, partner) in partners.iter().enumerate() {
            table.claim_receiver(channel, partner)?;
            claims.partners = &partners[..=at];
        }
        Ok(claims)
    }
}

impl Drop for ReceiverClaims<'_> {
    fn drop(&mut self) {
        for partner in self.partners {
            self.table.release_receiver(self.channel, partner);
        }
    }
}

/// The channels of a queue manager.
pub struct Channels<S: Store> {
    core: Arc<Core<S>>,
}

impl<S: Store> Clone for Channels<S> {
    fn clone(&self) -> Self {
        Channels { core: Arc::clone(&self.core) }
    }
}

impl<S: Store> Channels<S> {
    pub(crate) fn new(core: &Arc<Core<S>>) -> Channels<S> {
        Channels { core: Arc::clone(core) }
    }

    /// Has commands find who runs channels; `None`: no initiator does any more.
    pub fn attach(&self, initiator: Option<Arc<dyn Initiator>>) {
        self.core.channels.attach(initiator);
    }

    /// Who runs channels.
    ///
    /// # Errors
    /// [`ChannelError::NoInitiator`].
    pub fn initiator(&self) -> Result<Arc<dyn Initiator>, ChannelError> {
        self.core.channels.initiator()
    }

    /// The definition of a channel, and its type.
    ///
    /// # Errors
    /// [`ChannelError::NotFound`], [`ChannelError::WrongType`] for those that no messages go over.
    pub fn definition(&self, channel: &str) -> Result<(Arc<Object>, ChannelType), ChannelError> {
        let found = self.core.object(Kind::Channel, channel);
        let Some(object) = found else { return Err(ChannelError::NotFound(channel.into())) };
        let is = object.text_of("CHLTYPE").to_owned();
        match ChannelType::of(&is) {
            Some(of_type) => Ok((object, of_type)),
            None => Err(ChannelError::WrongType { channel: channel.into(), is }),
        }
    }

    /// The name of the queue manager, for the other end.
    #[must_use]
    pub fn manager_name(&self) -> &str {
        &self.core.options.name
    }

    /// Milliseconds since 1970 UTC.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.core.now_ms()
    }

    /// Begins to send. One at a time may.
    ///
    /// # Errors
    /// [`ChannelError::InUse`], [`ChannelError::Definition`] if there is no such transmission
    /// queue, [`ChannelError::Damaged`], [`ChannelError::Call`]; if the store fails.
    pub fn sender(&self, channel: &str) -> Result<Sender<S>, ChannelError> {
        let (object, of_type) = self.definition(channel)?;
        if !of_type.sends() {
            let is = of_type.word().to_owned();
            return Err(ChannelError::WrongType { channel: channel.into(), is });
        }
        let name = ObjectName::from(object.text_of("XMITQ"));
        let definition = |why: String| ChannelError::Definition { channel: channel.into(), why };
        let queue = self.core.queue(&name);
        let queue = queue.ok_or_else(|| definition(format!("there is no queue {name}")))?;
        if !queue.settings().transmission {
            return Err(definition(format!("{name} is no transmission queue")));
        }
        let table = &self.core.channels;
        table.claim_sender(channel)?;
        let begun = self.load_sender(channel).and_then(|state| {
            let entered = queue.enter(true, false, true);
            entered.map_err(ChannelError::call(channel)).map(|()| state)
        });
        let (state, _) = match begun {
            Ok(state) => state,
            Err(error) => {
                table.release_sender(channel, None);
                return Err(error);
            }
        };
        let core = Arc::clone(&self.core);
        match table.take_held(channel) {
            Some(held) if !Arc::ptr_eq(&held.queue, &queue) => {
                // What is in doubt stands on the queue that the channel served before.
                queue.leave(true, false);
                let why = format!("messages of {} are in doubt", held.queue.name);
                table.release_sender(channel, Some(held));
                Err(definition(why))
            }
            Some(held) => Ok(Sender::new(core, channel, queue, held.state, held.taken)),
            None => Ok(Sender::new(core, channel, queue, state, Vec::new())),
        }
    }

    fn load_sender(&self, channel: &str) -> Result<(SenderState, Doubt), ChannelError> {
        match fetch(&self.core.store, self.core.channels.set, &sender_key(channel))? {
            None => Ok(<(SenderState, Doubt)>::default()),
            Some(bytes) => read_sender(&bytes).ok_or_else(|| ChannelError::Damaged(channel.into())),
        }
    }

    /// Begins to receive from a partner. One at a time may.
    ///
    /// # Errors
    /// [`ChannelError::InUse`], [`ChannelError::Damaged`], [`ChannelError::Call`]; if the store
    /// fails.
    pub fn receiver(
        &self,
        channel: &str,
        partner: &str,
        options: ReceiverOptions,
    ) -> Result<Receiver<S>, ChannelError> {
        let table = &self.core.channels;
        table.claim_receiver(channel, partner)?;
        let state = self.receiver_state(channel, partner);
        let core = Arc::clone(&self.core);
        match state {
            // From here on it is the receiver that lets the partner go.
            Ok(state) => Receiver::new(core, channel, partner, state, options),
            Err(error) => {
                table.release_receiver(channel, partner);
                Err(error)
            }
        }
    }

    /// Whether a partner is who has come under its name before: the name in the certificate with
    /// which one comes first is kept. `None`: it has none.
    ///
    /// # Errors
    /// If the store fails.
    pub fn is_known_as(
        &self,
        channel: &str,
        partner: &str,
        subject: Option<&str>,
    ) -> Result<bool, ChannelError> {
        let (set, key) = (self.core.channels.set, subject_key(channel, partner));
        let mut unit = self.core.store.begin(UnitOptions::default())?;
        let mut known = Vec::new();
        // Of two who come first at once, one waits.
        let found = unit.get(set, &key, Read::Update, &mut known)?;
        match subject {
            Some(subject) if !found => {
                unit.put(set, &key, subject.as_bytes())?;
                unit.commit()?;
                Ok(true)
            }
            subject => {
                unit.backout()?;
                Ok(!found || subject.is_some_and(|subject| subject.as_bytes() == known))
            }
        }
    }

    /// What a receiver knows of a partner.
    ///
    /// # Errors
    /// [`ChannelError::Damaged`]; if the store fails.
    pub fn receiver_state(
        &self,
        channel: &str,
        partner: &str,
    ) -> Result<ReceiverState, ChannelError> {
        let key = receiver_key(channel, partner);
        match fetch(&self.core.store, self.core.channels.set, &key)? {
            None => Ok(ReceiverState::default()),
            Some(bytes) => {
                read_receiver(&bytes).ok_or_else(|| ChannelError::Damaged(channel.into()))
            }
        }
    }

    /// What a sender knows.
    ///
    /// # Errors
    /// [`ChannelError::Damaged`]; if the store fails.
    pub fn sender_state(&self, channel: &str) -> Result<SenderState, ChannelError> {
        Ok(self.load_sender(channel)?.0)
    }

    /// The partners that a receiver has heard of, with what it knows.
    ///
    /// # Errors
    /// If the store fails.
    pub fn partners(&self, channel: &str) -> Result<Vec<(String, ReceiverState)>, ChannelError> {
        let found = self.kept_under(&receiver_key(channel, ""))?.into_iter();
        Ok(found.filter_map(|(partner, value)| Some((partner, read_receiver(&value)?))).collect())
    }

    /// What is kept of each partner under keys that begin like that.
    fn kept_under(&self, prefix: &[u8]) -> Result<Vec<(String, Vec<u8>)>, ChannelError> {
        let (store, set) = (&self.core.store, self.core.channels.set);
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        let mut end = Vec::new();
        cursor.limit(KeyRange::prefix(prefix, &mut end));
        let mut found = Vec::new();
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let partner = entry.key.get(prefix.len()..).unwrap_or_default();
            found.push((String::from_utf8_lossy(partner).into_owned(), entry.value.to_vec()));
        }
        unit.backout()?;
        Ok(found)
    }

    /// Shows a channel as one that runs.
    #[must_use]
    pub fn instance(&self, channel: &str, of_type: ChannelType) -> Instance {
        let mut status = ChannelStatus::new(channel, of_type);
        status.started_ms = self.core.now_ms();
        self.core.channels.instance(status)
    }

    /// The channels that run or are stopped.
    #[must_use]
    pub fn statuses(&self) -> Vec<ChannelStatus> {
        let mut all = self.core.channels.statuses();
        for channel in self.core.channels.stopped() {
            let runs = all.iter().any(|one| one.channel == channel);
            let Some((object, of_type)) = self.definition(&channel).ok().filter(|_| !runs) else {
                continue;
            };
            let mut status = ChannelStatus::new(&channel, of_type);
            status.state = ChannelState::Stopped;
            status.connection_name = object.text_of("CONNAME").to_owned();
            status.transmission_queue = object.text_of("XMITQ").to_owned();
            if let Ok(state) = self.sender_state(&channel) {
                status.progress.done(state.last, state.sequence);
                (status.progress.batch, status.progress.in_doubt) =
                    (state.in_doubt, !state.in_doubt.is_none());
            }
            all.push(status);
        }
        all.sort_by(|left, right| left.channel.cmp(&right.channel));
        all
    }

    /// Channels that do not run and have a batch in doubt.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<String> {
        self.core.channels.in_doubt()
    }

    /// Whether an operator has stopped a channel.
    #[must_use]
    pub fn is_stopped(&self, channel: &str) -> bool {
        self.core.channels.is_stopped(channel)
    }

    /// Notes, durably, whether a channel is stopped.
    ///
    /// # Errors
    /// If the store fails.
    pub fn set_stopped(&self, channel: &str, stopped: bool) -> Result<(), ChannelError> {
        let value = stopped.then_some(&[1][..]);
        keep(&self.core.store, self.core.channels.set, &stopped_key(channel), value)?;
        self.core.channels.set_stopped(channel, stopped);
        Ok(())
    }

    /// Lets a channel run, and starts it if it is one that connects.
    ///
    /// # Errors
    /// [`ChannelError::NoInitiator`], and why it cannot be started.
    pub fn start(&self, channel: &str) -> Result<(), ChannelError> {
        let (object, of_type) = self.definition(channel)?;
        let initiator = self.initiator()?;
        if self.is_stopped(channel) {
            self.set_stopped(channel, false)?;
        }
        let connects = of_type != ChannelType::Receiver && !object.text_of("CONNAME").is_empty();
        match connects {
            true => initiator.start(channel),
            false => Ok(()),
        }
    }

    /// Stops a channel: its instances end, and unless it is to be inactive only, nothing but
    /// [`start`](Channels::start) lets it run again. Answers how many ran.
    ///
    /// # Errors
    /// [`ChannelError::NotRunning`] for one that is to be inactive and is; if the store fails.
    pub fn stop(&self, request: &StopRequest) -> Result<usize, ChannelError> {
        let channel = &request.channel;
        self.definition(channel)?;
        if !request.inactive {
            self.set_stopped(channel, true)?;
        }
        let which = |one: &ChannelStatus| {
            let partner = request.partner.as_ref();
            one.channel == *channel && partner.is_none_or(|partner| one.partner == *partner)
        };
        let count = self.core.channels.stop(which, request.mode);
        if let Ok(initiator) = self.initiator() {
            initiator.stop(request);
        }
        self.core.alarm();
        if count == 0 && request.inactive {
            return Err(ChannelError::NotRunning(channel.clone()));
        }
        if count > 0 {
            self.tell(&Event::ChannelStoppedByUser { channel });
        }
        Ok(count)
    }

    /// Asks every channel to end: the system stops.
    pub fn stop_all(&self, mode: StopMode) {
        self.core.channels.stop(|_| true, mode);
        self.core.alarm();
    }

    /// Sets the sequence number of the next message. A sender's receiver takes it over when they
    /// meet next. A receiver's is set for all its partners or for none, and it forgets by which
    /// certificates it knows them. Answers what was done at a receiver.
    ///
    /// # Errors
    /// [`ChannelError::InUse`], [`ChannelError::InDoubt`]; if the store fails.
    pub fn reset(&self, channel: &str, next: u64) -> Result<WasReset, ChannelError> {
        let (_, of_type) = self.definition(channel)?;
        let table = &self.core.channels;
        if table.is_claimed(channel) {
            return Err(ChannelError::InUse(channel.into()));
        }
        let (store, set) = (&self.core.store, table.set);
        let sequence = Sequence(next.saturating_sub(1));
        if of_type.sends() {
            // No sender begins with what it was before.
            table.claim_sender(channel)?;
            let done = self.reset_sender(channel, sequence);
            table.release_sender(channel, None);
            return done.map(|()| WasReset::default());
        }
        let names = |kept: Vec<(String, Vec<u8>)>| -> Vec<String> {
            kept.into_iter().map(|(name, _)| name).collect()
        };
        let partners = names(self.kept_under(&receiver_key(channel, ""))?);
        let claims = ReceiverClaims::of(table, channel, &partners)?;
        let certificates = names(self.kept_under(&subject_key(channel, ""))?);
        let mut unit = store.begin(UnitOptions::default())?;
        for partner in &partners {
            let state = self.receiver_state(channel, partner)?;
            let value = write_receiver(&ReceiverState { sequence, ..state });
            unit.put(set, &receiver_key(channel, partner), &value)?;
        }
        for partner in &certificates {
            let _ = unit.delete(set, &subject_key(channel, partner))?;
        }
        unit.commit()?;
        drop(claims);
        Ok(WasReset { partners, certificates })
    }

    fn reset_sender(&self, channel: &str, sequence: Sequence) -> Result<(), ChannelError> {
        let (state, doubt) = self.load_sender(channel)?;
        if !state.in_doubt.is_none() {
            return Err(ChannelError::InDoubt(channel.into()));
        }
        let state = SenderState { sequence, resets: true, ..state };
        let (key, value) = (sender_key(channel), write_sender(&state, &doubt));
        Ok(keep(&self.core.store, self.core.channels.set, &key, Some(&value))?)
    }

    /// Decides about the batch in doubt of a sender whose receiver cannot be asked.
    ///
    /// # Errors
    /// [`ChannelError::InUse`], [`ChannelError::NotInDoubt`]; if the store fails.
    pub fn resolve(&self, channel: &str, commit: bool) -> Result<(), ChannelError> {
        let mut sender = self.sender(channel)?;
        let state = sender.state();
        if state.in_doubt.is_none() {
            return Err(ChannelError::NotInDoubt(channel.into()));
        }
        // As if the receiver had said so.
        let settled = match commit {
            true => ReceiverState {
                last: state.in_doubt,
                sequence: state.in_doubt_sequence,
                last_ms: 0,
            },
            false => ReceiverState { last: state.last, sequence: state.sequence, last_ms: 0 },
        };
        sender.meet(&settled).map(drop)
    }

    /// The channel that serves a transmission queue, as a trigger message asks for it: the one
    /// that its data names, or the first by its name.
    #[must_use]
    pub fn serving(&self, queue: &str, data: &str) -> Option<String> {
        if !data.is_empty() {
            return self.definition(data).is_ok().then(|| data.to_owned());
        }
        let registry = self.core.definitions.registry();
        let mut all = registry.of_space(Kind::Channel).filter(|object| {
            let of_type = ChannelType::of(object.text_of("CHLTYPE"));
            of_type.is_some_and(ChannelType::sends) && object.is("XMITQ", queue)
        });
        all.next().map(|object| object.name.clone())
    }

    /// Whether a client may come in by a channel, and as whom.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(&self, caller: &Caller<'_>) -> Result<Admitted, Refused> {
        super::admission::admit(&self.core, caller)
    }

    /// Puts an event on its queue, if such events are asked for.
    pub fn tell(&self, event: &Event<'_>) {
        self.core.event(event);
    }
}
