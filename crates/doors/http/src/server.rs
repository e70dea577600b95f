//! The server: its threads, its limits, its pages.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base::{Code, Coded};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::metrics::Metrics;

/// More clients at once are sent away.
pub const CONNECTIONS_MAX: usize = 64;
/// A page is gathered within so long, or the request ends with 503.
pub const REQUEST_SECONDS_MAX: u64 = 10;
/// Who says nothing for so long has gone: a scraper asks more often, or connects again.
const IDLE: Duration = Duration::from_secs(90);

/// Who knows what the pages say.
pub trait Pages: Send + Sync + 'static {
    /// Everything that is counted.
    fn metrics(&self, metrics: &mut Metrics);

    /// The system's state, or why it cannot be told.
    ///
    /// # Errors
    /// For people.
    fn status(&self) -> Result<serde_json::Value, String>;

    /// Whether the system works.
    fn is_well(&self) -> bool;
}

/// Why there is no such door.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be listened at.
    #[error("metrics cannot be served at {address}: {error}")]
    Listen {
        /// As it was given.
        address: String,
        /// Why.
        error: std::io::Error,
    },
}

impl Coded for HttpError {
    fn code(&self) -> Code {
        match self {
            HttpError::Listen { .. } => Code("HFHT001"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            HttpError::Listen { .. } => {
                "Give an address and a port of this machine that nobody else listens at.".into()
            }
        }
    }
}

/// A door for HTTP, open until it is closed or dropped.
pub struct HttpServer {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

/// What every request needs.
struct Desk {
    pages: Arc<dyn Pages>,
    /// Who gathers a page at present.
    gathers: Semaphore,
}

impl HttpServer {
    /// Opens the door at an address such as `127.0.0.1:9100`; port 0 chooses one.
    ///
    /// # Errors
    /// If nobody can listen there.
    pub fn start(address: &str, pages: Arc<dyn Pages>) -> Result<HttpServer, HttpError> {
        let failed = |error| HttpError::Listen { address: address.to_owned(), error };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("http")
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let desk = Arc::new(Desk { pages, gathers: Semaphore::new(1) });
        let router = Router::new()
            .route("/metrics", get(metrics))
            .route("/status", get(status))
            .route("/health", get(health))
            .with_state(desk);
        let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        runtime.spawn(async move {
            let listener = Bounded { listener, seats };
            // It serves until the runtime is shut down.
            let _ = axum::serve(listener, router).await;
        });
        Ok(HttpServer { address, runtime: Some(runtime) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

/// A listener that has only so many connections at once: who comes too many is closed at once.
struct Bounded {
    listener: TcpListener,
    seats: Arc<Semaphore>,
}

impl axum::serve::Listener for Bounded {
    type Io = Seated;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Seated, SocketAddr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else {
                // Out of descriptors, most likely: some come back.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            if let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() {
                let patience = Box::pin(tokio::time::sleep(IDLE));
                return (Seated { stream, patience, _seat: seat }, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with its place among those that may be there at once. Who sends nothing for too
/// long loses it.
struct Seated {
    stream: TcpStream,
    patience: Pin<Box<tokio::time::Sleep>>,
    _seat: OwnedSemaphorePermit,
}

mod io {
    //! A seated connection reads and writes as its stream does, but does not wait for ever.

    use std::future::Future as _;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use tokio::time::Instant;

    use super::{IDLE, Seated};

    type Done<T> = Poll<std::io::Result<T>>;

    impl AsyncRead for Seated {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Done<()> {
            if Pin::new(&mut self.stream).poll_read(context, buffer)?.is_ready() {
                let again = Instant::now() + IDLE;
                self.patience.as_mut().reset(again);
                return Poll::Ready(Ok(()));
            }
            ready!(self.patience.as_mut().poll(context));
            Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()))
        }
    }

    impl AsyncWrite for Seated {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Done<usize> {
            Pin::new(&mut self.stream).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Done<()> {
            Pin::new(&mut self.stream).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Done<()> {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }
}

/// Has a page gathered on a thread that may wait, one at a time, within its time.
async fn gathered<T: Send + 'static>(
    desk: Arc<Desk>,
    gather: impl FnOnce(&dyn Pages) -> T + Send + 'static,
) -> Result<T, StatusCode> {
    let work = async {
        let turn = desk.gathers.acquire().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        let pages = Arc::clone(&desk.pages);
        let page = tokio::task::spawn_blocking(move || gather(&*pages)).await;
        drop(turn);
        page.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    };
    let limit = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(limit, work).await.unwrap_or(Err(StatusCode::SERVICE_UNAVAILABLE))
}

async fn metrics(State(desk): State<Arc<Desk>>) -> Result<Response, StatusCode> {
    let text = gathered(desk, |pages| {
        let mut metrics = Metrics::default();
        pages.metrics(&mut metrics);
        metrics.into_text()
    });
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, text.await?).into_response())
}

async fn status(State(desk): State<Arc<Desk>>) -> Result<Response, StatusCode> {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok(match gathered(desk, Pages::status).await? {
        Ok(status) => (kind, status.to_string()).into_response(),
        Err(why) => {
            let body = serde_json::json!({ "error": why }).to_string();
            (StatusCode::SERVICE_UNAVAILABLE, kind, body).into_response()
        }
    })
}

async fn health(State(desk): State<Arc<Desk>>) -> Result<Response, StatusCode> {
    match gathered(desk, Pages::is_well).await? {
        true => Ok("well\n".into_response()),
        false => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}
