//! Which channels run, and how they are told to start and stop.
//!
//! 1. What stands here is gone with the system, but for the channels that operators have stopped.
//! 2. A session that runs a channel has an [`Instance`] of it, which is shown until it is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use seam::sync::Mutex;
use store::SetId;

use super::error::ChannelError;
use super::record::{BatchNumber, SenderState, Sequence};
use crate::queue::{Entry, Hashes, Place, Queue};

/// The types of channels that move messages between queue managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelType {
    /// It connects, and sends.
    Sender,
    /// It sends; it connects, or is connected to by a requester.
    Server,
    /// It is connected to, and receives.
    Receiver,
    /// It connects, or is connected to, and receives.
    Requester,
}

impl ChannelType {
    /// The type that a definition names.
    #[must_use]
    pub fn of(word: &str) -> Option<ChannelType> {
        Some(match word {
            "SDR" => ChannelType::Sender,
            "SVR" => ChannelType::Server,
            "RCVR" => ChannelType::Receiver,
            "RQSTR" => ChannelType::Requester,
            _ => return None,
        })
    }

    /// The word of definitions.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ChannelType::Sender => "SDR",
            ChannelType::Server => "SVR",
            ChannelType::Receiver => "RCVR",
            ChannelType::Requester => "RQSTR",
        }
    }

    /// Whether it sends.
    #[must_use]
    pub fn sends(self) -> bool {
        matches!(self, ChannelType::Sender | ChannelType::Server)
    }
}

/// What a channel does at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelState {
    /// It begins.
    #[default]
    Initializing,
    /// It connects.
    Binding,
    /// It is connected, and the ends agree on where they stand.
    Starting,
    /// It asks a server to send.
    Requesting,
    /// Messages go, or may go.
    Running,
    /// A message waits until it can be put.
    Paused,
    /// It ends as soon as it can.
    Stopping,
    /// It waits until it tries again to connect.
    Retrying,
    /// An operator has stopped it, or it cannot go on.
    Stopped,
}

impl ChannelState {
    /// As displays show it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ChannelState::Initializing => "INITIALIZING",
            ChannelState::Binding => "BINDING",
            ChannelState::Starting => "STARTING",
            ChannelState::Requesting => "REQUESTING",
            ChannelState::Running => "RUNNING",
            ChannelState::Paused => "PAUSED",
            ChannelState::Stopping => "STOPPING",
            ChannelState::Retrying => "RETRYING",
            ChannelState::Stopped => "STOPPED",
        }
    }
}

/// How far the batches of a channel are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelProgress {
    /// The batch under way, if it has a number.
    pub batch: BatchNumber,
    /// Its last message.
    pub sequence: Sequence,
    /// Its messages.
    pub batch_messages: u64,
    /// Whether it may have been committed at the other end or not.
    pub in_doubt: bool,
    /// The last batch that was done.
    pub last_batch: BatchNumber,
    /// Its last message.
    pub last_sequence: Sequence,
    /// When a message went last, milliseconds since 1970 UTC.
    pub last_message_ms: Option<u64>,
}

impl ChannelProgress {
    /// A batch is done, and this was its last message.
    pub fn done(&mut self, batch: BatchNumber, last: Sequence) {
        (self.last_batch, self.last_sequence) = (batch, last);
    }
}

/// What has gone over a channel since it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelTraffic {
    /// Messages.
    pub messages: u64,
    /// Batches.
    pub batches: u64,
    /// Bytes that were sent.
    pub bytes_sent: u64,
    /// Bytes that were received.
    pub bytes_received: u64,
}

/// What is known of a channel that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// The channel.
    pub channel: String,
    /// Its type.
    pub of_type: ChannelType,
    /// What it does.
    pub state: ChannelState,
    /// The address of the other end.
    pub connection_name: String,
    /// The queue manager at the other end; blank: not known yet.
    pub partner: String,
    /// Where its messages come from; blank: it receives.
    pub transmission_queue: String,
    /// The user as whom it puts.
    pub user: String,
    /// How far its batches are.
    pub progress: ChannelProgress,
    /// What has gone over it since it was started.
    pub traffic: ChannelTraffic,
    /// When it was started, milliseconds since 1970 UTC.
    pub started_ms: u64,
    /// How often it still connects after short waits.
    pub short_retries: u32,
    /// How often it still connects after long waits.
    pub long_retries: u32,
    /// Seconds between signs of life, as agreed on.
    pub heartbeat_s: u32,
    /// Messages of a batch, as agreed on.
    pub batch_size: u32,
    /// Whether messages that are not kept travel outside of batches.
    pub fast: bool,
    /// The cipher of the connection; blank: none.
    pub cipher: String,
    /// Why it last ended.
    pub trouble: String,
}

impl ChannelStatus {
    /// One that begins.
    #[must_use]
    pub fn new(channel: &str, of_type: ChannelType) -> ChannelStatus {
        ChannelStatus {
            channel: channel.to_owned(),
            of_type,
            state: ChannelState::default(),
            connection_name: String::new(),
            partner: String::new(),
            transmission_queue: String::new(),
            user: String::new(),
            progress: ChannelProgress::default(),
            traffic: ChannelTraffic::default(),
            started_ms: 0,
            short_retries: 0,
            long_retries: 0,
            heartbeat_s: 0,
            batch_size: 0,
            fast: false,
            cipher: String::new(),
            trouble: String::new(),
        }
    }
}

/// How a channel is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// It ends its batch first.
    Quiesce,
    /// Its connection is cut.
    Force,
}

/// Which channel is stopped, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopRequest {
    /// The channel.
    pub channel: String,
    /// How.
    pub mode: StopMode,
    /// It can be started by its queue again; otherwise only by a command.
    pub inactive: bool,
    /// Only the one to this queue manager.
    pub partner: Option<String>,
}

/// A listener that was defined or configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerStatus {
    /// Its name; blank: it stands in the configuration.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// Since when, milliseconds since 1970 UTC.
    pub started_ms: u64,
    /// Connections that are open.
    pub connections: u64,
}

/// Who runs channels: the door to the network.
pub trait Initiator: Send + Sync {
    /// Starts a channel that connects; it goes on in the background.
    ///
    /// # Errors
    /// [`ChannelError::InUse`], [`ChannelError::Definition`].
    fn start(&self, channel: &str) -> Result<(), ChannelError>;

    /// Stops the instances of a channel; they end in the background. Answers how many there were.
    fn stop(&self, request: &StopRequest) -> usize;

    /// Sends so many bytes to the other end of a channel and waits for them.
    ///
    /// # Errors
    /// Why they did not come back.
    fn ping(&self, channel: &str, bytes: usize) -> Result<(), ChannelError>;

    /// Starts a listener by its definition.
    ///
    /// # Errors
    /// [`ChannelError::Definition`] if no channel can listen there, [`ChannelError::InUse`].
    fn listen(&self, name: &str) -> Result<SocketAddr, ChannelError>;

    /// Stops a listener; connections go on. `false` if it does not run.
    fn end_listener(&self, name: &str) -> bool;

    /// The listeners that run.
    fn listeners(&self) -> Vec<ListenerStatus>;
}

const GOES: u8 = 0;
const QUIESCES: u8 = 1;
const FORCED: u8 = 2;

struct Shared {
    status: Mutex<ChannelStatus>,
    stop: AtomicU8,
}

/// A channel that runs.
pub struct Instance {
    number: u64,
    shared: Arc<Shared>,
    table: Arc<Table>,
}

impl Instance {
    /// Changes what is shown of it.
    pub fn update(&self, change: impl FnOnce(&mut ChannelStatus)) {
        change(&mut self.shared.status.lock());
    }

    /// What is shown of it.
    #[must_use]
    pub fn status(&self) -> ChannelStatus {
        self.shared.status.lock().clone()
    }

    /// Asks it to stop.
    pub fn stop(&self, mode: StopMode) {
        stop(&self.shared, mode);
    }

    /// How it is asked to stop, if it is.
    #[must_use]
    pub fn stops(&self) -> Option<StopMode> {
        match self.shared.stop.load(Ordering::Acquire) {
            GOES => None,
            QUIESCES => Some(StopMode::Quiesce),
            _ => Some(StopMode::Force),
        }
    }
}

fn stop(shared: &Shared, mode: StopMode) {
    let number = if mode == StopMode::Force { FORCED } else { QUIESCES };
    shared.stop.fetch_max(number, Ordering::AcqRel);
    shared.status.lock().state = ChannelState::Stopping;
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.table.state.lock().instances.remove(&self.number);
    }
}

/// A message of a batch: taken, not removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) at: Place,
    pub(crate) entry: Entry,
    pub(crate) hashes: Hashes,
}

/// A batch in doubt whose channel does not run: its messages go to no getter until it does.
pub(crate) struct Held {
    pub(crate) queue: Arc<Queue>,
    pub(crate) state: SenderState,
    pub(crate) taken: Vec<Taken>,
}

#[derive(Default)]
struct State {
    next: u64,
    instances: BTreeMap<u64, Arc<Shared>>,
    senders: BTreeSet<String>,
    receivers: BTreeSet<(String, String)>,
    held: BTreeMap<String, Held>,
    stopped: BTreeSet<String>,
    initiator: Option<Arc<dyn Initiator>>,
}

/// The channels of a queue manager.
pub(crate) struct Table {
    pub(crate) set: SetId,
    state: Mutex<State>,
}

impl Table {
    pub(crate) fn new(set: SetId) -> Table {
        Table { set, state: Mutex::new(State::default()) }
    }

    pub(crate) fn instance(self: &Arc<Self>, status: ChannelStatus) -> Instance {
        let shared = Arc::new(Shared { status: Mutex::new(status), stop: AtomicU8::new(GOES) });
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        state.instances.insert(number, Arc::clone(&shared));
        Instance { number, shared, table: Arc::clone(self) }
    }

    pub(crate) fn statuses(&self) -> Vec<ChannelStatus> {
        let all: Vec<_> = self.state.lock().instances.values().cloned().collect();
        all.iter().map(|one| one.status.lock().clone()).collect()
    }

    /// Asks instances to stop; answers how many.
    pub(crate) fn stop(&self, which: impl Fn(&ChannelStatus) -> bool, mode: StopMode) -> usize {
        let all: Vec<_> = self.state.lock().instances.values().cloned().collect();
        let meant = all.iter().filter(|one| which(&one.status.lock()));
        meant.map(|one| stop(one, mode)).count()
    }

    /// Makes a session the sender of a channel.
    pub(crate) fn claim_sender(&self, channel: &str) -> Result<(), ChannelError> {
        match self.state.lock().senders.insert(channel.to_owned()) {
            true => Ok(()),
            false => Err(ChannelError::InUse(channel.to_owned())),
        }
    }

    pub(crate) fn release_sender(&self, channel: &str, held: Option<Held>) {
        let mut state = self.state.lock();
        if let Some(held) = held {
            state.held.insert(channel.to_owned(), held);
        }
        state.senders.remove(channel);
    }

    /// Makes a session the receiver of a channel's messages from a partner.
    pub(crate) fn claim_receiver(&self, channel: &str, partner: &str) -> Result<(), ChannelError> {
        let key = (channel.to_owned(), partner.to_owned());
        match self.state.lock().receivers.insert(key) {
            true => Ok(()),
            false => Err(ChannelError::InUse(channel.to_owned())),
        }
    }

    pub(crate) fn release_receiver(&self, channel: &str, partner: &str) {
        self.state.lock().receivers.remove(&(channel.to_owned(), partner.to_owned()));
    }

    /// Whether a channel of that name sends or receives.
    pub(crate) fn is_claimed(&self, channel: &str) -> bool {
        let state = self.state.lock();
        state.senders.contains(channel) || state.receivers.iter().any(|(name, _)| name == channel)
    }

    pub(crate) fn hold(&self, channel: &str, held: Held) {
        self.state.lock().held.insert(channel.to_owned(), held);
    }

    pub(crate) fn take_held(&self, channel: &str) -> Option<Held> {
        self.state.lock().held.remove(channel)
    }

    /// Channels that do not run and have a batch in doubt.
    pub(crate) fn in_doubt(&self) -> Vec<String> {
        self.state.lock().held.keys().cloned().collect()
    }

    pub(crate) fn is_stopped(&self, channel: &str) -> bool {
        self.state.lock().stopped.contains(channel)
    }

    pub(crate) fn set_stopped(&self, channel: &str, stopped: bool) {
        let mut state = self.state.lock();
        match stopped {
            true => drop(state.stopped.insert(channel.to_owned())),
            false => drop(state.stopped.remove(channel)),
        }
    }

    pub(crate) fn stopped(&self) -> Vec<String> {
        self.state.lock().stopped.iter().cloned().collect()
    }

    pub(crate) fn attach(&self, initiator: Option<Arc<dyn Initiator>>) {
        self.state.lock().initiator = initiator;
    }

    pub(crate) fn initiator(&self) -> Result<Arc<dyn Initiator>, ChannelError> {
        self.state.lock().initiator.clone().ok_or(ChannelError::NoInitiator)
    }
}
