//! What a conversation has done by others: jobs for the queue manager, and what comes of them.

pub(crate) use queue_manager::MESSAGE_BYTES_MAX;
use tokio::sync::OwnedSemaphorePermit;

/// A link: its session's channel, its handle, and which link of that handle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkKey {
    pub(crate) channel: u16,
    pub(crate) handle: u32,
    pub(crate) number: u64,
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A queue; where no queue has the name, a topic.
    Named(String),
    /// A queue.
    Queue(String),
    /// A topic.
    Topic(String),
    /// A queue that is made for the link.
    DynamicQueue,
    /// A topic that nobody else knows.
    DynamicTopic,
    /// Each message says where it goes.
    Anonymous,
    /// What a subscription that was made before is for.
    Subscription,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Accepted,
    Rejected,
    Released,
    /// It failed where it was delivered to.
    Failed,
}

/// A subscription that has a name: it lives longer than its link, or has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscribing {
    /// Its name in the queue manager.
    pub(crate) name: String,
    pub(crate) durable: bool,
    pub(crate) shared: bool,
}

/// A link that takes messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consumer {
    pub(crate) place: Place,
    /// Messages stay where they are.
    pub(crate) browse: bool,
    /// Messages are gone once they are sent.
    pub(crate) settled: bool,
    pub(crate) selector: String,
    /// Publications of this client do not come back to it.
    pub(crate) no_local: bool,
    pub(crate) subscription: Option<Subscribing>,
}

/// Bytes that are on their way: there is room for others when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Room {
    permits: Vec<OwnedSemaphorePermit>,
}

impl Room {
    pub(crate) fn add(&mut self, permit: Option<OwnedSemaphorePermit>) {
        self.permits.extend(permit);
    }
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Job {
    /// The client calls itself so.
    Name(String),
    Produce(LinkKey, Place),
    Consume(LinkKey, Consumer),
    /// Up to which count of deliveries messages may come, and whether to say when there are none.
    Credit(LinkKey, u32, bool),
    Put {
        key: LinkKey,
        delivery: u32,
        message: Vec<u8>,
        transaction: Option<u64>,
        room: Room,
    },
    Settle {
        token: u64,
        fate: Fate,
        transaction: Option<u64>,
        answer: Option<(u16, u32)>,
    },
    Declare {
        key: LinkKey,
        delivery: u32,
        transaction: u64,
    },
    Discharge {
        key: LinkKey,
        delivery: u32,
        transaction: u64,
        fail: bool,
    },
    /// The link is gone; for good: its subscription, too.
    Close {
        key: LinkKey,
        for_good: bool,
        /// The peer has ended the link, and waits until it is gone here, too.
        answer: bool,
    },
    /// The peer has ended the session of that channel: it is answered when its links are gone.
    End(u16),
}

/// Why something was not done: a condition of the protocol, and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) condition: &'static str,
    pub(crate) words: String,
}

/// What came of jobs.
#[derive(Debug)]
pub(crate) enum Event {
    /// A link leads to this address.
    Opened(LinkKey, Result<Option<String>, Trouble>),
    /// A delivery of a link that brings messages was done, or not.
    Done { key: LinkKey, delivery: u32, result: Result<(), Trouble>, transaction: Option<u64> },
    /// A message for a link; without a token nothing is to be settled.
    Message { key: LinkKey, token: Option<u64>, tag: u64, message: Vec<u8>, room: Room },
    /// There is none, although there was credit: up to that count it is used.
    Dry(LinkKey, u32),
    /// A link can go on no longer.
    Broken(LinkKey, Trouble),
    /// A link that the peer has ended is gone; for good or not.
    Closed(LinkKey, bool),
    /// Nothing is left of the session of that channel.
    Ended(u16),
    /// A transaction that was declared could not be begun.
    NotBegun(u64),
    /// Something that nobody has to be told of.
    Nothing,
    /// A delivery is settled.
    Settled { channel: u16, delivery: u32, fate: Fate },
}

/// Transactions of a conversation at a time.
pub(crate) const TRANSACTIONS_MAX: usize = 256;

pub(crate) type Step = Result<(), Trouble>;

pub(crate) fn trouble<T>(condition: &'static str, words: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble { condition, words: words.into() })
}
