//! Listening, and the orderly end.
//!
//! 1. Ended, the door takes nobody in; what was put and is not answered yet is answered, every
//!    conversation is told why it ends, and what it has not settled goes back.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue_manager::QueueManager;
use seam::sync::Mutex;
use store::Store;
use tls::TlsError;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::budget::Budgets;
use crate::conversation::{Peer, serve};
use crate::error::Error;
use crate::sasl::Authenticator;
use crate::shared::{Counted, Counters, HANDSHAKE, Here, Options, Shared};

/// How long to wait when the machine has no more descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// Threads that may wait for messages, and those that do the jobs of conversations.
const WAITING_THREADS_MAX: usize = 8_192;
/// Passwords that are checked at a time: each takes memory.
const CHECKS_MAX: usize = 4;
/// How long conversations have to end.
const GRACE: Duration = Duration::from_secs(10);

/// An open door. Dropped, it is closed.
pub struct Server {
    runtime: Mutex<Option<Runtime>>,
    addresses: Vec<SocketAddr>,
    counters: Arc<Counters>,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Opens the door.
    ///
    /// # Errors
    /// If an address cannot be listened on, certificates cannot be used, or there are no threads.
    pub fn start<S: Store>(
        manager: &QueueManager<S>,
        options: &Options,
        authenticator: Arc<dyn Authenticator>,
    ) -> Result<Server, Error> {
        let tls = options.tls.as_ref().map(|tls| tls.acceptor(&[])).transpose();
        let tls = tls.map_err(Error::Tls)?.map(TlsAcceptor::from);
        if tls.is_none() && !options.tls_addresses.is_empty() {
            return Err(Error::Tls(TlsError::Missing { what: "certificate" }));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_name("amqp")
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::Threads)?;
        let (stop, stopping) = watch::channel(false);
        let counters = Arc::new(Counters::default());
        let shared = Arc::new(Shared {
            manager: manager.clone(),
            places: Arc::new(Semaphore::new(options.connections_max.max(1))),
            budgets: Budgets::new(options.connections_max.max(1)),
            options: options.clone(),
            authenticator,
            clients: Arc::default(),
            commons: Arc::default(),
            checks: Arc::new(Semaphore::new(CHECKS_MAX)),
            counters: Arc::clone(&counters),
            stopping,
        });
        let mut addresses = Vec::new();
        let plain = options.addresses.iter().map(|address| (*address, None));
        let secured = options.tls_addresses.iter().map(|address| (*address, tls.clone()));
        for (address, tls) in plain.chain(secured) {
            let listen = |source| Error::Listen { address, source };
            let listener = runtime.block_on(TcpListener::bind(address)).map_err(listen)?;
            addresses.push(listener.local_addr().map_err(listen)?);
            runtime.spawn(accept(listener, tls, Arc::clone(&shared)));
        }
        Ok(Server { runtime: Mutex::new(Some(runtime)), addresses, counters, stop })
    }

    /// Where it listens: first without TLS, then with it.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What it has counted.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            connections: self.counters.connections.load(Ordering::Relaxed) as u64,
            accepted: of(&self.counters.accepted),
            refused: of(&self.counters.refused),
            received: of(&self.counters.received),
            sent: of(&self.counters.sent),
        }
    }

    /// Closes the door: conversations are told and end, and what they have not settled goes back.
    pub fn close(&self) {
        let Some(runtime) = self.runtime.lock().take() else { return };
        let _ = self.stop.send(true);
        let counters = Arc::clone(&self.counters);
        runtime.block_on(async {
            let emptied = async {
                while counters.connections.load(Ordering::Acquire) > 0 {
                    sleep(Duration::from_millis(5)).await;
                }
            };
            let _ = timeout(GRACE, emptied).await;
        });
        runtime.shutdown_timeout(Duration::from_secs(2));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

async fn accept<S: Store>(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared<S>>) {
    let mut stopping = shared.stopping.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.changed() => return,
        };
        let Ok((stream, peer)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // One too many is turned away: waiting would look like a network that is broken.
        let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
            shared.counters.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (shared, tls) = (Arc::clone(&shared), tls.clone());
        let here = Here::new(&shared.counters);
        tokio::spawn(async move {
            let _ = enter(stream, peer, tls, &shared, here).await;
            drop(place);
        });
    }
}

async fn enter<S: Store>(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    shared: &Arc<Shared<S>>,
    here: Here,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let ip = peer.ip().to_canonical();
    match tls {
        None => {
            let peer = Peer { ip, secured: false, certificate: None };
            serve(stream, peer, shared, here).await
        }
        Some(acceptor) => {
            let mut stopping = shared.stopping.clone();
            let accepted = timeout(HANDSHAKE, Box::pin(acceptor.accept(stream)));
            let stream = tokio::select! {
                accepted = accepted => accepted??,
                _ = stopping.changed() => return Ok(()),
            };
            let certificates = stream.get_ref().1.peer_certificates();
            let certificate = certificates.and_then(|all| all.first()).map(|one| one.to_vec());
            let peer = Peer { ip, secured: true, certificate };
            serve(stream, peer, shared, here).await
        }
    }
}
