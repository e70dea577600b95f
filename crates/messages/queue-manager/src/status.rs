//! What displays and metrics ask for: queues, handles, connections.
//!
//! 1. Every figure is a counter or stands at the head of an index: asking looks at no message.

use crate::name::ObjectName;

/// What is known of a queue's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// The queue.
    pub name: String,
    /// Messages, those of units of work that are not ended among them.
    pub depth: u64,
    /// Puts and gets of units of work that are not ended.
    pub uncommitted: u64,
    /// How long there have been such puts and gets without a break, in milliseconds.
    pub uncommitted_ms: u64,
    /// Handles open for input.
    pub input_handles: u64,
    /// Handles open for output.
    pub output_handles: u64,
    /// Bytes of messages.
    pub bytes: u64,
    /// Messages that were found damaged and are passed over.
    pub damaged: u64,
    /// When the oldest message was put, milliseconds since 1970 UTC.
    pub oldest_put_ms: Option<u64>,
    /// How old it is.
    pub message_age_s: Option<u64>,
    /// What was counted.
    pub statistics: QueueStatistics,
}

/// What is counted of a queue since its statistics were last reset, and moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// When they were last reset, milliseconds since 1970 UTC.
    pub reset_ms: u64,
    /// The most messages since then.
    pub high_depth: u64,
    /// Messages put since then.
    pub puts: u64,
    /// Bytes put since then.
    pub put_bytes: u64,
    /// Messages got since then.
    pub gets: u64,
    /// Bytes got since then.
    pub get_bytes: u64,
    /// Messages looked at since then.
    pub browses: u64,
    /// Messages that expired since then.
    pub expired: u64,
    /// Gets since then that found nothing.
    pub failed_gets: u64,
    /// Messages that came back by backout since then.
    pub backed_out: u64,
    /// When a message was last put, milliseconds since 1970 UTC.
    pub last_put_ms: Option<u64>,
    /// When a message was last got.
    pub last_get_ms: Option<u64>,
    /// Time that messages spent on the queue: over the last few, in microseconds.
    pub time_short_us: u64,
    /// The same over many.
    pub time_long_us: u64,
}

/// An open object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleStatus {
    /// The connection that has it.
    pub connection: u64,
    /// The handle's number in it.
    pub handle: i32,
    /// The object.
    pub object: ObjectName,
    /// Its kind, as when it was opened.
    pub object_type: i32,
    /// The options it was opened with.
    pub options: i32,
    /// The user.
    pub user: String,
    /// The program.
    pub application: String,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionStatus {
    /// Its number.
    pub connection: u64,
    /// Who connected.
    pub options: crate::options::ConnectOptions,
    /// When, milliseconds since 1970 UTC.
    pub connected_ms: u64,
    /// When its unit of work began; none: it has none.
    pub unit_began_ms: Option<u64>,
    /// Messages put and got in its unit of work.
    pub unit_messages: u64,
    /// What it has open.
    pub handles: Vec<HandleStatus>,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionStatus {
    /// Its name.
    pub name: String,
    /// What identifies it.
    pub id: crate::descriptor::Identifier,
    /// The topic string, with wildcards.
    pub topic: String,
    /// Where publications go.
    pub destination: ObjectName,
    /// The user who made it.
    pub user: String,
    /// Whether it outlives its connection.
    pub durable: bool,
    /// Publications that it received.
    pub messages: u64,
}
