//! One connection: HTTP/1.1 with keep-alive over TCP or TLS, within its times.
//!
//! 1. Who sends no head for [`IDLE`], or takes no byte of an answer for [`TAKE`], loses the
//!    connection. While a request is answered its client may be silent.
//! 2. A head has at most [`HEAD_BYTES_MAX`] bytes and [`HEADERS_MAX`] fields; more is answered
//!    with 431.
//! 3. A door that closes lets requests that are there be answered, for [`GRACE`].

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Who sends no head for so long has gone: a scraper asks more often, or connects again.
const IDLE: Duration = Duration::from_secs(90);
/// A client takes some of its answer within so long.
const TAKE: Duration = Duration::from_secs(30);
/// A handshake is over within so long.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// What is being answered when the door closes has so long.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Bytes of a head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Fields of a head.
const HEADERS_MAX: usize = 128;

/// Who asks; every request has it among its extensions.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where it comes from.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub secured: bool,
    /// The certificate that it proved to have, in DER.
    pub certificate: Option<Arc<[u8]>>,
}

/// Serves a client until it goes, or the door closes.
pub(crate) async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    closing: watch::Receiver<bool>,
) {
    // Small answers are not to wait for what comes behind them.
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = tls else {
        let peer = Peer { address, secured: false, certificate: None };
        return converse(stream, peer, router, closing).await;
    };
    let shaken = timeout(HANDSHAKE, Box::pin(acceptor.accept(stream))).await;
    let Ok(Ok(stream)) = shaken else { return };
    let certificates = stream.get_ref().1.peer_certificates();
    let certificate = certificates.and_then(|all| all.first()).map(|one| Arc::from(&one[..]));
    converse(stream, Peer { address, secured: true, certificate }, router, closing).await;
}

async fn converse<T: AsyncRead + AsyncWrite + Unpin>(
    stream: T,
    peer: Peer,
    router: Router,
    mut closing: watch::Receiver<bool>,
) {
    let answers = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        answers.call(request)
    });
    let stream = TokioIo::new(Impatient { stream, patience: None });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .serve_connection(stream, service)
    );
    let closed = async move { closing.wait_for(|closed| *closed).await.is_ok() };
    tokio::select! {
        // What a client breaks off is its own affair.
        _ = connection.as_mut() => {}
        _ = closed => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(GRACE, connection).await;
        }
    }
}

/// A stream whose writes do not wait for ever.
struct Impatient<T> {
    stream: T,
    patience: Option<Pin<Box<Sleep>>>,
}

impl<T> Impatient<T> {
    fn within<R>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if done.is_ready() {
            self.patience = None;
            return done;
        }
        let patience = self.patience.get_or_insert_with(|| Box::pin(sleep(TAKE)));
        ready!(patience.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Impatient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Impatient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.within(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.within(context, done)
    }
}
