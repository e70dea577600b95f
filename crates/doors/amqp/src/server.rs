//! Listening, and a conversation over its socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};
use queue_manager::QueueManager;
use queue_manager::options::ConnectOptions;
use seam::sync::Mutex;
use store::Store;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::clerk::Clerk;
use crate::engine::Engine;
use crate::frame::{self, AMQP, AMQP_HEADER, SASL, SASL_HEADER};
use crate::sasl::{self, Authenticator, Claim, Mechanism};
use crate::work::Trouble;

/// How long a client may take to say who it is.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// How long a client may take nothing of what is sent.
const SEND: Duration = Duration::from_secs(120);
/// Jobs that wait for the queue manager before no more is read.
const JOBS: usize = 1_024;
/// How long to wait when the machine has no more descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// Threads that may wait for messages.
const WAITING_THREADS_MAX: usize = 4_096;

/// How the door is opened.
#[derive(Clone)]
pub struct Options {
    /// Where it listens.
    pub address: SocketAddr,
    /// For TLS; none: it is spoken without.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Whether passwords may come without TLS.
    pub passwords_without_tls: bool,
    /// Connections at a time, at most.
    pub connections_max: usize,
    /// Threads.
    pub threads: usize,
}

/// Why the door cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An address cannot be listened on.
    #[error("{address} cannot be listened on for AMQP: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There are no threads.
    #[error("the AMQP door has no threads: {0}")]
    Threads(io::Error),
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Listen { .. } => Code("HFAQ001"),
            Error::Threads(_) => Code("HFAQ002"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Error::Listen { .. } => "Choose another address or port, or end who has it.".into(),
            Error::Threads(_) => "Raise the limit of threads of this user.".into(),
        }
    }
}

struct Shared<S: Store> {
    manager: QueueManager<S>,
    options: Options,
    authenticator: Arc<dyn Authenticator>,
    places: Arc<Semaphore>,
}

/// An open door. Dropped, it is closed.
pub struct Server {
    runtime: Mutex<Option<Runtime>>,
    address: SocketAddr,
}

impl Server {
    /// Opens the door.
    ///
    /// # Errors
    /// If the address cannot be listened on, or there are no threads.
    pub fn start<S: Store>(
        manager: &QueueManager<S>,
        options: Options,
        authenticator: Arc<dyn Authenticator>,
    ) -> Result<Server, Error> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_name("amqp")
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::Threads)?;
        let address = options.address;
        let listen = |source| Error::Listen { address, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let shared = Arc::new(Shared {
            manager: manager.clone(),
            places: Arc::new(Semaphore::new(options.connections_max.max(1))),
            options,
            authenticator,
        });
        runtime.spawn(accept(listener, shared));
        Ok(Server { runtime: Mutex::new(Some(runtime)), address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the door: conversations end, and what they have not settled goes back.
    pub fn close(&self) {
        if let Some(runtime) = self.runtime.lock().take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

async fn accept<S: Store>(listener: TcpListener, shared: Arc<Shared<S>>) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // One too many is turned away: waiting would look like a network that is broken.
        let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _ = enter(stream, peer, &shared).await;
            drop(place);
        });
    }
}

async fn enter<S: Store>(
    stream: TcpStream,
    peer: SocketAddr,
    shared: &Shared<S>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match &shared.options.tls {
        None => serve(stream, peer, None, shared).await,
        Some(config) => {
            let acceptor = TlsAcceptor::from(Arc::clone(config));
            let stream = timeout(HANDSHAKE, Box::pin(acceptor.accept(stream))).await??;
            let certificates = stream.get_ref().1.peer_certificates();
            let own = certificates.and_then(|all| all.first()).map(|one| one.to_vec());
            serve(stream, peer, Some(own), shared).await
        }
    }
}

/// `certificate` is none without TLS, and holds none where the client has no certificate.
async fn serve<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    mut stream: T,
    peer: SocketAddr,
    certificate: Option<Option<Vec<u8>>>,
    shared: &Shared<S>,
) -> io::Result<()> {
    let greeted = timeout(HANDSHAKE, greet(&mut stream, certificate, shared)).await??;
    let Some((user, rest)) = greeted else { return Ok(()) };
    let options = ConnectOptions {
        user,
        application: "AMQP".into(),
        channel: "AMQP".into(),
        connection_name: peer.ip().to_string(),
        ..ConnectOptions::default()
    };
    converse(stream, rest, options, shared).await
}

async fn header<T: AsyncRead + Unpin>(stream: &mut T) -> io::Result<[u8; 8]> {
    let mut header = [0; 8];
    stream.read_exact(&mut header).await?;
    Ok(header)
}

/// Finds out who it is: the user, and what was read beyond; `None`: nobody who may come in.
async fn greet<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut T,
    certificate: Option<Option<Vec<u8>>>,
    shared: &Shared<S>,
) -> io::Result<Option<(String, Vec<u8>)>> {
    let secured = certificate.is_some();
    let certificate = certificate.flatten();
    let offered = offered(shared, secured, certificate.is_some());
    match header(stream).await? {
        SASL_HEADER => {}
        AMQP_HEADER if offered.contains(&Mechanism::Anonymous) => {
            let user = shared.authenticator.anonymous();
            stream.write_all(&AMQP_HEADER).await?;
            return Ok(user.map(|user| (user, Vec::new())));
        }
        _ => {
            stream.write_all(&SASL_HEADER).await?;
            return Ok(None);
        }
    }
    let mut out = SASL_HEADER.to_vec();
    frame::put(&mut out, SASL, 0, &sasl::mechanisms(&offered), &[]);
    stream.write_all(&out).await?;
    let mut bytes = Vec::new();
    let init = loop {
        let read = frame::read(&bytes).map_err(|bad| io::Error::other(bad.0))?;
        if let Some((frame, length)) = read {
            bytes.drain(..length);
            break frame;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let claim = match init.body {
        Some((0x41, fields)) if init.kind == SASL => sasl::claim(&fields, &offered),
        _ => None,
    };
    let user = match claim {
        None => None,
        Some(Claim::Anonymous) => shared.authenticator.anonymous(),
        Some(Claim::External) => certificate.and_then(|own| shared.authenticator.external(&own)),
        Some(Claim::Plain { user, password }) => {
            let authenticator = Arc::clone(&shared.authenticator);
            // A password is made to take long to check.
            let checked =
                tokio::task::spawn_blocking(move || authenticator.plain(&user, &password));
            checked.await.unwrap_or_default()
        }
    };
    let mut out = Vec::new();
    frame::put(&mut out, SASL, 0, &sasl::outcome(user.is_some()), &[]);
    stream.write_all(&out).await?;
    let Some(user) = user else { return Ok(None) };
    while bytes.len() < 8 {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    stream.write_all(&AMQP_HEADER).await?;
    if bytes[..8] != AMQP_HEADER {
        return Ok(None);
    }
    bytes.drain(..8);
    Ok(Some((user, bytes)))
}

fn offered<S: Store>(shared: &Shared<S>, secured: bool, certified: bool) -> Vec<Mechanism> {
    let mut offered = Vec::new();
    if certified {
        offered.push(Mechanism::External);
    }
    let passwords = secured || shared.options.passwords_without_tls;
    if passwords && shared.authenticator.has_passwords() {
        offered.push(Mechanism::Plain);
    }
    if shared.authenticator.anonymous().is_some() {
        offered.push(Mechanism::Anonymous);
    }
    offered
}

async fn converse<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    stream: T,
    mut bytes: Vec<u8>,
    options: ConnectOptions,
    shared: &Shared<S>,
) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (tell, mut events) = mpsc::unbounded_channel();
    let (jobs, mut to_do) = mpsc::channel(JOBS);
    let manager = shared.manager.clone();
    let begun = tokio::task::spawn_blocking(move || Clerk::new(&manager, options, tell)).await;
    let mut engine = Engine::new(shared.manager.name());
    let mut clerk = match begun {
        Ok(Ok(clerk)) => clerk,
        Ok(Err(failed)) => {
            engine.fail(&crate::clerk::trouble_of(failed, "the connection"));
            return writer.write_all(&engine.out).await;
        }
        Err(_) => return Ok(()),
    };
    tokio::task::spawn_blocking(move || {
        while let Some(job) = to_do.blocking_recv() {
            clerk.take(job);
        }
        clerk.end();
    });
    loop {
        read_frames(&mut engine, &mut bytes);
        for job in engine.jobs.drain(..) {
            if jobs.send(job).await.is_err() {
                return Ok(());
            }
        }
        if !engine.out.is_empty() {
            timeout(SEND, writer.write_all(&engine.out)).await??;
            engine.out.clear();
            timeout(SEND, writer.flush()).await??;
        }
        if engine.closed {
            return writer.shutdown().await;
        }
        let idle = Duration::from_millis(engine.idle_ms.unwrap_or(60_000).max(200) / 2);
        tokio::select! {
            read = reader.read_buf(&mut bytes) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            Some(event) = events.recv() => {
                engine.event(event);
                // What has come together goes together.
                while let Ok(event) = events.try_recv() {
                    engine.event(event);
                }
            }
            () = sleep(idle) => frame::put_empty(&mut engine.out),
        }
    }
}

fn read_frames(engine: &mut Engine, bytes: &mut Vec<u8>) {
    let mut used = 0;
    while !engine.closed {
        match frame::read(&bytes[used..]) {
            Ok(None) => break,
            Ok(Some((frame, length))) => {
                used += length;
                if frame.kind == AMQP {
                    engine.frame(frame);
                }
            }
            Err(bad) => engine.fail(&Trouble {
                condition: "amqp:connection:framing-error",
                words: bad.0.to_owned(),
            }),
        }
    }
    bytes.drain(..used);
}
