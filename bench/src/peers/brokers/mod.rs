//! Brokers of messages: who else takes a durable message over and hands it out once.
//!
//! 1. A put is over when the broker has said that the message is durable; a producer has as many
//!    on their way as its window says.
//! 2. A message is taken when the consumer has told the broker so. Of the peers, consumers do not
//!    wait for an answer to that; Holdfast's do, by the message queue interface.
//! 3. Consumers keep up: producers wait while more than [`BACKLOG`] messages each wait.
//! 4. Clients are threads of this process with a connection each, and as thin as their protocol
//!    allows: no client library stands between.

pub(crate) mod amqp091;
pub(crate) mod amqp10;
pub(crate) mod artemis;
pub(crate) mod nats;
mod process;
pub(crate) mod rabbitmq;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use base::stats::Histogram;

use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{self, Deadline, Random};

/// Messages that may wait for each consumer before producers do.
const BACKLOG: u64 = 64;
/// How long a consumer waits before it looks whether all is over.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long the last messages may take.
const LAST: Duration = Duration::from_secs(30);

/// Who puts.
pub(crate) trait Producer: Send {
    /// Puts a message; waits only while as many are on their way as the window says.
    fn put(&mut self, message: &[u8]) -> Result<()>;
    /// Waits until everything is durable.
    fn flush(&mut self) -> Result<()>;
}

/// Who takes.
pub(crate) trait Consumer: Send {
    /// Waits at most so long for messages, and tells the broker of each that it is taken. Answers
    /// how many there were and how many bytes they had.
    fn take(&mut self, patience: Duration) -> Result<(u64, u64)>;
}

/// A broker with one queue.
pub(crate) trait Broker: Sync {
    /// Its name, with what is special about its queue.
    fn name(&self) -> &str;
    /// As it says.
    fn version(&self) -> String;
    /// What matters for a comparison.
    fn settings(&self) -> String;
    /// Whose CPU counts.
    fn scope(&self) -> CpuScope;
    /// A client that puts, with so many messages on their way.
    fn producer(&self, window: usize) -> Result<Box<dyn Producer>>;
    /// A client that takes, with so many messages at a time.
    fn consumer(&self, window: usize) -> Result<Box<dyn Consumer>>;
}

/// How many clients there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// Producers, and as many consumers.
    pub(crate) pairs: usize,
    /// Messages that each has on their way.
    pub(crate) window: usize,
}

/// What the clients of a broker tell each other.
#[derive(Default)]
struct Traffic {
    put: AtomicU64,
    taken: AtomicU64,
    bytes: AtomicU64,
    producers: AtomicU64,
    failed: AtomicBool,
}

/// The clients of a broker, connected.
pub(crate) struct Clients {
    broker: String,
    producers: Vec<Box<dyn Producer>>,
    consumers: Vec<Box<dyn Consumer>>,
    message: Vec<u8>,
}

impl Clients {
    /// Connects them; messages have so many bytes.
    pub(crate) fn connect(broker: &dyn Broker, crowd: Crowd, bytes: usize) -> Result<Clients> {
        let Crowd { pairs, window } = crowd;
        let producers = (0..pairs).map(|_| broker.producer(window)).collect::<Result<_>>()?;
        let consumers = (0..pairs).map(|_| broker.consumer(window)).collect::<Result<_>>()?;
        let mut message = vec![0; bytes];
        Random::new(bytes as u64).fill(&mut message);
        let broker = broker.name().to_owned();
        Ok(Clients { broker, producers, consumers, message })
    }

    /// Puts and takes until the slice is over; every message that was put is taken.
    pub(crate) fn drive(&mut self, slice: Duration) -> Result<Work> {
        let (deadline, latency) = (Deadline::after(slice), Histogram::default());
        let traffic = Traffic::default();
        traffic.producers.store(self.producers.len() as u64, Relaxed);
        let backlog = BACKLOG.min(((64 << 20) / self.message.len().max(1)) as u64).max(4);
        let backlog = backlog * self.consumers.len() as u64;
        let outcome: Result<()> = std::thread::scope(|scope| {
            let (traffic, latency, message) = (&traffic, &latency, &self.message);
            let broker = &*self.broker;
            let mut threads = Vec::new();
            for producer in &mut self.producers {
                threads.push(scope.spawn(move || {
                    let outcome =
                        put_until(producer, message, (deadline, backlog), latency, traffic);
                    traffic.producers.fetch_sub(1, Relaxed);
                    traffic.note(outcome)
                }));
            }
            for consumer in &mut self.consumers {
                threads
                    .push(scope.spawn(move || traffic.note(take_all(consumer, traffic, broker))));
            }
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err(crate::kernel::failed("a client ended")))
            })
        });
        outcome?;
        let (put, taken) = (traffic.put.load(Relaxed), traffic.taken.load(Relaxed));
        let expected = put * self.message.len() as u64;
        if put != taken || traffic.bytes.load(Relaxed) != expected {
            let reason = format!("{}: {put} messages were put and {taken} taken", self.broker);
            return Err(BenchError::subject("a broker", "hand out what it has", reason));
        }
        Ok(Work { operations: taken, bytes: expected, latency: workload::quantiles(&latency) })
    }
}

impl Traffic {
    fn note(&self, outcome: Result<()>) -> Result<()> {
        if outcome.is_err() {
            self.failed.store(true, Relaxed);
        }
        outcome
    }

    fn waiting(&self) -> u64 {
        self.put.load(Relaxed).saturating_sub(self.taken.load(Relaxed))
    }
}

fn put_until(
    producer: &mut Box<dyn Producer>,
    message: &[u8],
    (deadline, backlog): (Deadline, u64),
    latency: &Histogram,
    traffic: &Traffic,
) -> Result<()> {
    let mut before = Instant::now();
    while !deadline.passed_at(before) && !traffic.failed.load(Relaxed) {
        if traffic.waiting() >= backlog {
            std::thread::sleep(Duration::from_micros(200));
            before = Instant::now();
            continue;
        }
        // First, or a consumer would have it before it is counted.
        traffic.put.fetch_add(1, Relaxed);
        producer.put(message)?;
        let after = Instant::now();
        latency.record((after - before).as_nanos() as u64);
        before = after;
    }
    producer.flush()
}

fn take_all(consumer: &mut Box<dyn Consumer>, traffic: &Traffic, broker: &str) -> Result<()> {
    let mut since = Instant::now();
    loop {
        let (messages, bytes) = consumer.take(PATIENCE)?;
        traffic.taken.fetch_add(messages, Relaxed);
        traffic.bytes.fetch_add(bytes, Relaxed);
        if messages > 0 {
            since = Instant::now();
            continue;
        }
        let over = traffic.producers.load(Relaxed) == 0 && traffic.waiting() == 0;
        if over || traffic.failed.load(Relaxed) {
            return Ok(());
        }
        if since.elapsed() > LAST {
            let reason = format!("{broker}: {} do not come", traffic.waiting());
            return Err(BenchError::subject("a broker", "hand out its messages", reason));
        }
    }
}
