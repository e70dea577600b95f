//! What can be set.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use codec::CodePage;
use otma::{Encoding, Name};
use tls::Tls;

use crate::conversation::Limits;
use crate::exit::Exit;
use crate::wire::Rule;

/// Says which bytes of a transaction's messages are characters.
pub trait Translation: Send + Sync {
    /// The rule for a transaction's messages.
    fn rule(&self, transaction: Name) -> Rule;

    /// The rule for what answers them.
    fn output_rule(&self, transaction: Name) -> Rule {
        self.rule(transaction)
    }
}

/// How a server runs.
#[derive(Clone)]
pub struct Options {
    /// Where it listens; port 0 is any.
    pub addresses: Vec<SocketAddr>,
    /// Listens where it is told even if anybody is let in.
    pub public_without_users: bool,
    /// Threads that serve connections.
    pub threads: usize,
    /// Connections at a time.
    pub connections_max: usize,
    /// Bytes of a message.
    pub message_bytes_max: usize,
    /// Time for a message that was begun, and for a handshake.
    pub frame_time: Duration,
    /// Time for a client to take a response.
    pub write_time: Duration,
    /// Time that an idle connection stays; `None` is for ever.
    pub idle_time: Option<Duration>,
    /// Time for what has begun when the server is closed.
    pub grace: Duration,
    /// How long is waited where a client does not say.
    pub limits: Limits,
    /// The code page of EBCDIC messages.
    pub page: CodePage,
    /// What programs' messages are in; `None` is what the client sends.
    pub programs: Option<Encoding>,
    /// Which bytes of messages are characters; all are without.
    pub translation: Option<Arc<dyn Translation>>,
    /// Message exits besides HWSSMPL0 and HWSSMPL1; one with the same id comes first.
    pub exits: Vec<Arc<dyn Exit>>,
    /// Passwords that are checked at a time.
    pub checks_max: usize,
    /// TLS.
    pub tls: Option<Tls>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            addresses: Vec::new(),
            public_without_users: false,
            threads: 2,
            connections_max: 65_536,
            message_bytes_max: 10 << 20,
            frame_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            idle_time: None,
            grace: Duration::from_secs(5),
            limits: Limits::default(),
            page: CodePage::Cp037,
            programs: None,
            translation: None,
            exits: Vec::new(),
            checks_max: 2,
            tls: None,
        }
    }
}
