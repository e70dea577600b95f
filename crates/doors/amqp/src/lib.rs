//! AMQP 1.0: clients of the protocol put and get messages of the queue manager.
//!
//! | to understand | look at |
//! |---|---|
//! | values and frames | `value`, `frame` |
//! | sessions, links, credit, transfers, dispositions, transactions | `engine`, `session`, `link` |
//! | where links lead | `terminus` |
//! | what the queue manager does for them, and in which threads | `worker`, `taker`, `context`, `work` |
//! | subscriptions that outlive their links, or have several | `subscriptions` |
//! | messages as the queue manager has them | `message` |
//! | who may come in | [`Authenticator`], `sasl` |
//! | sockets and TLS, the orderly end | [`Server`], `conversation`, `tls` |
//!
//! 1. A conversation is a state machine without a socket: bytes in, bytes and jobs out.
//! 2. What waits for the queue manager waits in threads of its own; what waits for the network
//!    takes none.
//! 3. Memory is bounded by credit and windows in both directions.

mod budget;
mod calls;
mod clients;
mod context;
mod conversation;
mod ending;
mod engine;
mod error;
mod error_condition;
mod frame;
mod link;
mod message;
mod sasl;
mod server;
mod session;
mod sessions;
mod shared;
mod subscriptions;
mod taker;
mod terminus;
mod transactions;
mod value;
mod work;
mod worker;

/// What a conversation answers to these bytes, behind its greeting, where the queue manager takes
/// every message and has none: for the fuzzer, and to see what a peer is told.
#[must_use]
pub fn answer(bytes: &[u8]) -> Vec<u8> {
    let mut engine = engine::Engine::new("QM1", &std::sync::Arc::default());
    let mut out = Vec::new();
    let mut left = bytes;
    while let (false, Ok(Some((frame, length)))) = (engine.closed, frame::read(left)) {
        left = &left[length..];
        engine.frame(frame);
        for job in std::mem::take(&mut engine.jobs) {
            match job {
                work::Job::Put { key, delivery, message, transaction, .. } => {
                    let parts = message::read(&message);
                    let again = parts.as_ref().map(|parts| message::write_sections(parts, "QM1"));
                    let bad = again.is_some_and(|bytes| message::read(&bytes).is_none());
                    assert!(!bad, "what was read as a message can be written as one");
                    let result = Ok(());
                    engine.event(work::Event::Done { key, delivery, result, transaction });
                }
                work::Job::Close { key, for_good, answer: true } => {
                    engine.event(work::Event::Closed(key, for_good));
                }
                work::Job::Produce(key, _) | work::Job::Consume(key, _) => {
                    engine.event(work::Event::Opened(key, Ok(None)));
                }
                _ => {}
            }
        }
        out.append(&mut engine.out);
    }
    out
}

pub use error::Error;
pub use sasl::{Authenticator, Mechanism};
pub use server::Server;
pub use shared::{Counted, Options};
pub use tls::Tls;
