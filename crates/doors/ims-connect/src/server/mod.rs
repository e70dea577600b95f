//! The server: sockets and TLS, limits, and the calls of the transaction manager.
//!
//! | file | owns |
//! |---|---|
//! | `options` | what can be set |
//! | `listener` | accepting, handshakes, the limit of connections |
//! | `connection` | one connection: bytes to events, actions to calls and bytes |
//! | `buffer` | what of a message has arrived |
//! | `brought` | what a call has brought, and who gives it back |
//! | `admission` | who may ask for what: users, data stores, client ids |
//! | `clients` | which connection is which client |
//! | `mailbox` | what a connection is told by others |
//! | `maps` | which bytes of messages are characters |
//! | `counters` | what is counted |
//!
//! Invariants:
//! 1. A connection costs a bounded amount of memory: a little while it is idle, one message in
//!    each direction at the most.
//! 2. A message that was begun is complete in time, or its connection ends; a client that does
//!    not read does not hold up more than its own connection.
//! 3. A call that waits for room in the log holds up its own connection alone; what clients answer
//!    is heard meanwhile.
//! 4. A connection that ends for whatever reason gives its conversation the chance to give back
//!    what it holds.

mod admission;
mod brought;
mod buffer;
mod clients;
mod connection;
mod counters;
mod listener;
mod mailbox;
mod maps;
mod options;

pub use counters::{Counted, Counters};
pub use maps::{MessageMap, MessageMaps};
pub use options::{Options, Translation};
pub use tls::Tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};
use otma::Manager;
use thiserror::Error;
use tls::TlsError;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;

use crate::conversation::Event;
use crate::wire::Pages;
use clients::Clients;

/// Why the server does not start.
#[derive(Debug, Error)]
pub enum Error {
    /// An address cannot be listened on.
    #[error("the IMS Connect port {address} cannot be listened on: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificates or keys cannot be used.
    #[error("the certificates of the IMS Connect port cannot be used: {0}")]
    Tls(TlsError),
    /// There are no threads for it.
    #[error("the threads of the IMS Connect port cannot be started: {0}")]
    Threads(io::Error),
    /// A message exit cannot be used.
    #[error("the message exit {path} cannot be used: {what}")]
    Exit {
        /// Its file.
        path: String,
        /// Why.
        what: String,
    },
    /// No address was given.
    #[error("no address was given for the IMS Connect port")]
    NoAddress,
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Listen { .. } => Code("HFY901"),
            Error::Tls(_) => Code("HFY902"),
            Error::Threads(_) => Code("HFY903"),
            Error::NoAddress => Code("HFY904"),
            Error::Exit { .. } => Code("HFY905"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Listen { .. } => "Choose a free port, or end who has it.".into(),
            Error::Tls(_) => "Give a chain of certificates and its key as PEM.".into(),
            Error::Threads(_) => "Raise the limit of threads, or configure fewer.".into(),
            Error::Exit { .. } => {
                "Build it for this machine with holdfast_exit.h, or correct `exits`.".into()
            }
            Error::NoAddress => "Name at least one address with a port.".into(),
        }
    }
}

/// Calls of the transaction manager that wait at a time, each in a thread of its own.
const WAITS_MAX: usize = 16;
/// Fetches that look through tpipes at a time, each in a thread of its own.
const FETCHES_MAX: usize = 4;

/// What all connections share.
struct Shared {
    options: Options,
    manager: Arc<dyn Manager>,
    clients: Clients,
    counters: Arc<Counters>,
    pages: Pages,
    /// Checks of passwords that run at a time.
    checks: Arc<Semaphore>,
    /// Calls that wait at a time.
    waits: Arc<Semaphore>,
    /// Fetches at a time.
    fetches: Arc<Semaphore>,
}

/// A server that runs until it is closed or dropped.
pub struct Server {
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
    addresses: Vec<SocketAddr>,
    notices: Vec<String>,
}

impl Server {
    /// Starts to listen, with threads of its own.
    ///
    /// Where no users are configured, only addresses of this machine itself are listened on
    /// unless the options say otherwise; [`Server::notices`] says so.
    ///
    /// # Errors
    /// If an address cannot be listened on, or certificates cannot be used.
    pub fn start(mut options: Options, manager: Arc<dyn Manager>) -> Result<Server, Error> {
        if options.addresses.is_empty() {
            return Err(Error::NoAddress);
        }
        let notices = restrict(&mut options, manager.as_ref());
        let acceptor = options.tls.as_ref().map(|tls| tls.acceptor(&[])).transpose();
        let acceptor = acceptor.map_err(Error::Tls)?.map(TlsAcceptor::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .max_blocking_threads(options.checks_max.max(1) + WAITS_MAX + FETCHES_MAX + 1)
            .thread_name("ims-connect")
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::Threads)?;
        let shared = Arc::new(Shared {
            pages: Pages::new(options.page),
            checks: Arc::new(Semaphore::new(options.checks_max.max(1))),
            waits: Arc::new(Semaphore::new(WAITS_MAX)),
            fetches: Arc::new(Semaphore::new(FETCHES_MAX)),
            clients: Clients::new(),
            counters: Arc::default(),
            options,
            manager,
        });
        let mut addresses = Vec::new();
        for address in shared.options.addresses.clone() {
            let listen = |source| Error::Listen { address, source };
            let listener = runtime.block_on(listener::bind(address)).map_err(listen)?;
            addresses.push(listener.local_addr().map_err(listen)?);
            runtime.spawn(listener::run(listener, acceptor.clone(), Arc::clone(&shared)));
        }
        Ok(Server { shared, runtime: Some(runtime), addresses, notices })
    }

    /// The first address that is listened on.
    ///
    /// # Panics
    /// Never: a server has an address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Every address that is listened on.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What people should know of how it was started.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What is counted.
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }

    /// Ends it: nothing new is begun, what has begun gets the time that the options give, and who
    /// waits after that is told reason 49.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let clients = &self.shared.clients;
        clients.shut();
        runtime.block_on(async {
            clients.tell_all(&Event::Shutdown);
            if !emptied(clients, self.shared.options.grace).await {
                clients.tell_all(&Event::ShutdownNow);
                emptied(clients, Duration::from_secs(2)).await;
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(2));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits until no connection is left, or the time is over.
async fn emptied(clients: &Clients, time: Duration) -> bool {
    let end = Instant::now() + time;
    while !clients.is_empty() {
        if Instant::now() >= end {
            return false;
        }
        sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Keeps a port without users on this machine.
fn restrict(options: &mut Options, manager: &dyn Manager) -> Vec<String> {
    let mut notices = Vec::new();
    if !manager.allows_anonymous() || options.public_without_users {
        return notices;
    }
    for address in &mut options.addresses {
        if !address.ip().is_loopback() {
            let asked = *address;
            address.set_ip(match asked {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
            notices.push(format!(
                "no users are configured: the IMS Connect port listens on {address}, not on {asked}"
            ));
        }
    }
    notices
}
