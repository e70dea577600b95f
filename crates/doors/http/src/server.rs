//! The server: its addresses, its threads, its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use base::{Code, Coded};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::connection::{GRACE, serve};
use crate::pages::{Pages, pages};
use crate::tls::{self, Tls};

/// More clients of the pages at once are sent away.
pub const CONNECTIONS_MAX: usize = 64;
/// Threads that may wait for the system while they answer.
const WAITING_THREADS_MAX: usize = 1_024;
/// How long to wait when the machine has no more descriptors: some come back.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no such door.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be listened at.
    #[error("HTTP cannot be served at {address}: {error}")]
    Listen {
        /// As it was given.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// Certificates or keys that are none.
    #[error("TLS of HTTP cannot be set up: {0}")]
    Tls(String),
}

impl Coded for HttpError {
    fn code(&self) -> Code {
        match self {
            HttpError::Listen { .. } => Code("HFHT001"),
            HttpError::Tls(_) => Code("HFHT002"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            HttpError::Listen { .. } => {
                "Give an address and a port of this machine that nobody else listens at.".into()
            }
            HttpError::Tls(_) => {
                "Give a certificate, its key, and the certificates of who signs those of clients, \
                 each in PEM."
                    .into()
            }
        }
    }
}

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

/// A door for HTTP, open until it is closed or dropped.
pub struct HttpServer {
    addresses: Vec<SocketAddr>,
    closing: watch::Sender<bool>,
    runtime: Option<Runtime>,
}

impl HttpServer {
    /// Opens the door with the pages for those who measure alone.
    ///
    /// # Errors
    /// If nobody can listen there.
    pub fn start(address: &str, said: Arc<dyn Pages>) -> Result<HttpServer, HttpError> {
        HttpServer::open(vec![Site {
            address: address.to_owned(),
            tls: None,
            connections_max: CONNECTIONS_MAX,
            router: pages(said),
        }])
    }

    /// Opens the door at several addresses, with the same threads.
    ///
    /// # Errors
    /// If nobody can listen at one of them, or its certificates are none.
    pub fn open(sites: Vec<Site>) -> Result<HttpServer, HttpError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_name("http")
            .enable_all()
            .build();
        let unnamed = |error| HttpError::Listen { address: "any address".to_owned(), error };
        let runtime = runtime.map_err(unnamed)?;
        let (closing, _) = watch::channel(false);
        let mut server = HttpServer { addresses: Vec::new(), closing, runtime: Some(runtime) };
        for site in sites {
            server.listen(site)?;
        }
        Ok(server)
    }

    fn listen(&mut self, site: Site) -> Result<(), HttpError> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let failed = |error| HttpError::Listen { address: site.address.clone(), error };
        let acceptor = site.tls.as_ref().map(tls::config).transpose()?.map(TlsAcceptor::from);
        let listener = runtime.block_on(TcpListener::bind(&site.address)).map_err(failed)?;
        self.addresses.push(listener.local_addr().map_err(failed)?);
        let seats = Arc::new(Semaphore::new(site.connections_max));
        runtime.spawn(accept(listener, seats, acceptor, site.router, self.closing.subscribe()));
        Ok(())
    }

    /// Where it listens first.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        self.addresses.first().copied().unwrap_or(nowhere)
    }

    /// Where it listens, in the order of its sites.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for HttpServer {
    /// Lets requests that are there be answered, for a while.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let _ = self.closing.send(true);
        // Every connection holds a receiver until it is over.
        let over = async { tokio::time::timeout(GRACE, self.closing.closed()).await };
        let _ = runtime.block_on(over);
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

/// Lets clients in. Who comes too many is closed at once.
async fn accept(
    listener: TcpListener,
    seats: Arc<Semaphore>,
    tls: Option<TlsAcceptor>,
    router: Router,
    closing: watch::Receiver<bool>,
) {
    let mut closed = closing.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closed.wait_for(|closed| *closed) => return,
        };
        let Ok((stream, address)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else { continue };
        let (tls, router, closing) = (tls.clone(), router.clone(), closing.clone());
        tokio::spawn(async move {
            serve(stream, address, tls, router, closing).await;
            drop(seat);
        });
    }
}
