//! The server: its threads, its sites, their ends.
//!
//! 1. A site closes alone; the server's threads end with the last who has them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use tls::Tls;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::connection::{GRACE, serve};
use crate::error::HttpError;
use crate::pages::{Pages, pages};

/// More clients of the pages at once are sent away.
pub const CONNECTIONS_MAX: usize = 64;
/// Threads that may wait for the system while they answer.
const WAITING_THREADS_MAX: usize = 1_024;
/// How long to wait when the machine has no more descriptors: some come back.
const PAUSE: Duration = Duration::from_millis(100);

/// An address, and what is served at it.
pub struct Site {
    /// Such as `127.0.0.1:9100`; port 0 chooses one.
    pub address: String,
    /// For TLS; none: it is spoken without.
    pub tls: Option<Tls>,
    /// Connections at a time; more are sent away.
    pub connections_max: usize,
    /// Who answers.
    pub router: Router,
}

/// The server of HTTP: its threads. It is there as long as a door has it, or something of its.
pub struct HttpServer {
    runtime: Option<Runtime>,
}

/// A site that is served, until it is dropped: requests that are there then are answered, for a
/// while.
pub struct Listening {
    address: SocketAddr,
    closing: watch::Sender<bool>,
    counted: Arc<Counted>,
    server: Arc<HttpServer>,
}

/// What a site counts.
#[derive(Debug, Default)]
struct Counted {
    connections: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
}

/// Connections of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// That are open.
    pub open: u64,
    /// That were let in since it was opened.
    pub accepted: u64,
    /// That were sent away, because there were too many.
    pub refused: u64,
}

impl HttpServer {
    /// A server that listens nowhere yet.
    ///
    /// # Errors
    /// If there are no threads.
    pub fn new() -> Result<Arc<HttpServer>, HttpError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_name("http")
            .enable_all()
            .build();
        let runtime = runtime.map_err(HttpError::Threads)?;
        Ok(Arc::new(HttpServer { runtime: Some(runtime) }))
    }

    /// Opens a server with the pages for those who measure alone.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub fn start(address: &str, measured: Arc<dyn Pages>) -> Result<Listening, HttpError> {
        HttpServer::new()?.listen(Site::of_pages(address, measured))
    }

    /// Serves a site, too.
    ///
    /// # Errors
    /// If its address cannot be listened at, or its certificates are none.
    pub fn listen(self: &Arc<Self>, site: Site) -> Result<Listening, HttpError> {
        let Some(runtime) = &self.runtime else { return Err(HttpError::Closed) };
        let failed = |error| HttpError::Listen { address: site.address.clone(), error };
        let acceptor = site.tls.as_ref().map(|tls| tls.acceptor(&[b"http/1.1"])).transpose();
        let acceptor = acceptor.map_err(HttpError::Tls)?.map(TlsAcceptor::from);
        let listener = runtime.block_on(TcpListener::bind(&site.address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let seats = Arc::new(Semaphore::new(site.connections_max));
        let (closing, closed) = watch::channel(false);
        let counted = Arc::new(Counted::default());
        let place = Place { seats, tls: acceptor, router: site.router, counted, closing: closed };
        let counted = Arc::clone(&place.counted);
        runtime.spawn(accept(listener, place));
        Ok(Listening { address, closing, counted, server: Arc::clone(self) })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

impl Site {
    /// The pages for those who measure.
    #[must_use]
    pub fn of_pages(address: &str, measured: Arc<dyn Pages>) -> Site {
        Site {
            address: address.to_owned(),
            tls: None,
            connections_max: CONNECTIONS_MAX,
            router: pages(measured),
        }
    }
}

impl Listening {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has counted.
    #[must_use]
    pub fn connections(&self) -> Connections {
        let counted = &self.counted;
        Connections {
            open: counted.connections.load(Ordering::Relaxed),
            accepted: counted.accepted.load(Ordering::Relaxed),
            refused: counted.refused.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let Some(runtime) = &self.server.runtime else { return };
        let _ = self.closing.send(true);
        // Every connection holds a receiver until it is over.
        let over = async { tokio::time::timeout(GRACE, self.closing.closed()).await };
        let _ = runtime.block_on(over);
    }
}

/// Where clients come in.
struct Place {
    seats: Arc<Semaphore>,
    tls: Option<TlsAcceptor>,
    router: Router,
    counted: Arc<Counted>,
    closing: watch::Receiver<bool>,
}

/// Lets clients in. Who comes too many is closed at once. The address is free before `place` lets
/// go of its receiver: a caller that waits for that may listen there.
async fn accept(listener: TcpListener, place: Place) {
    let mut closed = place.closing.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closed.wait_for(|closed| *closed) => {
                drop(listener);
                return;
            }
        };
        let Ok((stream, address)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let counted = Arc::clone(&place.counted);
        let Ok(seat) = Arc::clone(&place.seats).try_acquire_owned() else {
            counted.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        counted.accepted.fetch_add(1, Ordering::Relaxed);
        counted.connections.fetch_add(1, Ordering::Relaxed);
        let (tls, router) = (place.tls.clone(), place.router.clone());
        let closing = place.closing.clone();
        tokio::spawn(async move {
            serve(stream, address, tls, router, closing).await;
            counted.connections.fetch_sub(1, Ordering::Relaxed);
            drop(seat);
        });
    }
}
