//! The owner's door: sockets of this machine and ports of others, a thread for each connection.
//!
//! Invariants:
//! 1. At the socket the kernel says who comes; at a port a client says it, and proves it unless
//!    [`Admission`] lets anybody in.
//! 2. An address that other machines reach is listened at with TLS alone.
//! 3. A client that connects has [`GREETING`] to say who it is, TLS and all, however it sends that.
//! 4. Clients of ports take no places from processes of this machine ([`Limits`]), nor do these
//!    wait
//!    for passwords, which are checked one at a time.
//! 5. Closed, the server has ended every session, and so backed out what was not committed.

use std::collections::btree_map::Values;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};
use seam::clock::Clock;
use seam::sessions::{Connection, Sessions};
use seam::socket::{Peer, SocketFile};
use seam::sync::Mutex;
use seam::thread::{self, JoinHandle};
use store::Store;
use thiserror::Error;
use vsam::Catalog;

use crate::frame::{FRAME_BYTES_MAX, Frames};
use crate::greeting::{GREETING_BYTES_MAX, Hello, Refused, answer};
use crate::name::Files;
use crate::session::Session;
use crate::stream::{Deadline, Ender, Stream, Timed, prepare};
use crate::tls::Acceptor;

/// How long a client may take to say who it is.
pub const GREETING: Duration = Duration::from_secs(10);
/// How long it may take to take an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// What loads have written is committed after this.
const TICK: Duration = Duration::from_secs(1);
/// How many clients there may be at once of each door, and at ports before they have said who they
/// are.
const LOCAL_MAX: usize = 2048;
const REMOTE_MAX: usize = 2048;
const UNGREETED_MAX: usize = 256;

/// Who wants to come in.
pub enum Who<'a> {
    /// A process of this machine.
    Local(&'a Peer),
    /// A client at a port.
    Remote {
        /// The user; empty: none.
        user: &'a str,
        /// The user's password.
        password: &'a [u8],
    },
}

/// Who may come in.
pub trait Admission: Send + Sync {
    /// Whether a client may. It may take long.
    fn admits(&self, who: &Who<'_>) -> bool;
}

/// What is served.
pub struct Service<S: Store> {
    /// The system's name, and those of its files.
    pub files: Arc<Files>,
    /// The catalog, opened when the first client comes.
    pub catalog: Box<dyn Fn() -> Option<Catalog<S>> + Send + Sync>,
    /// Who may come in.
    pub admission: Box<dyn Admission>,
    /// By which the time of greetings is measured.
    pub clock: Arc<dyn Clock>,
}

/// How many clients there may be at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of this machine.
    pub local: usize,
    /// At ports.
    pub remote: usize,
    /// Of these, before they were let in.
    pub ungreeted: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { local: LOCAL_MAX, remote: REMOTE_MAX, ungreeted: UNGREETED_MAX }
    }
}

/// Where.
#[derive(Default)]
pub struct Options {
    /// The socket, for processes of this machine.
    pub socket: PathBuf,
    /// Ports.
    pub addresses: Vec<SocketAddr>,
    /// TLS of the ports; without it they are this machine's alone.
    pub tls: Option<Acceptor>,
    /// How many clients.
    pub limits: Limits,
}

/// Why an owner does not listen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The socket cannot be made.
    #[error("{path} cannot be listened at: {source}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A port cannot be listened at.
    #[error("the port {address} for files cannot be listened at: {source}")]
    Port {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Other machines reach the port, and it has no TLS.
    #[error("the port {address} for files can be reached by other machines, and has no TLS")]
    Unsecured {
        /// The address.
        address: SocketAddr,
    },
}

impl Coded for ServerError {
    fn code(&self) -> Code {
        match self {
            ServerError::Socket { .. } => Code("HFY921"),
            ServerError::Port { .. } => Code("HFY922"),
            ServerError::Unsecured { .. } => Code("HFY923"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ServerError::Socket { .. } => "Make the folder writable, and its path shorter.".into(),
            ServerError::Port { .. } => "Choose a free port, or end who has it.".into(),
            ServerError::Unsecured { .. } => {
                "Set tls_certificate and tls_key in the section [online], or listen at 127.0.0.1."
                    .into()
            }
        }
    }
}

/// A door where connections are let in.
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// A connection, not greeted yet.
enum Coming {
    Unix(std::os::unix::net::UnixStream),
    Tcp(TcpStream),
}

impl Listener {
    fn accept(&self) -> io::Result<Coming> {
        Ok(match self {
            Listener::Unix(listener) => Coming::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => Coming::Tcp(listener.accept()?.0),
        })
    }

    /// Wakes the thread that waits in `accept`.
    fn end(&self) {
        let how = rustix::net::Shutdown::Both;
        let _ = match self {
            Listener::Unix(listener) => rustix::net::shutdown(listener, how),
            Listener::Tcp(listener) => rustix::net::shutdown(listener, how),
        };
    }
}

struct Shared<S: Store> {
    service: Service<S>,
    tls: Option<Acceptor>,
    limits: Limits,
    sessions: Arc<Sessions<Open>>,
    /// Passwords are checked one at a time.
    checks: Mutex<()>,
}

/// A connection that is served.
struct Open {
    ender: Ender,
    is_remote: bool,
    is_greeted: bool,
}

impl Connection for Open {
    fn end(&self) {
        self.ender.end();
    }
}

impl Limits {
    /// Whether there is a place for another one beside those that are open.
    fn have_room(self, open: &Values<'_, u64, Open>, is_remote: bool) -> bool {
        let count = |which: &dyn Fn(&Open) -> bool| open.clone().filter(|one| which(one)).count();
        match is_remote {
            false => count(&|open| !open.is_remote) < self.local,
            true => {
                count(&|open| open.is_remote) < self.remote
                    && count(&|open| open.is_remote && !open.is_greeted) < self.ungreeted
            }
        }
    }
}

/// A server that runs until it is closed or dropped.
pub struct Server<S: Store> {
    shared: Arc<Shared<S>>,
    doors: Vec<Arc<Listener>>,
    threads: Vec<JoinHandle>,
    addresses: Vec<SocketAddr>,
    socket: PathBuf,
    file: SocketFile,
}

impl<S: Store> Server<S> {
    /// Starts to listen. The folder of the socket is the system's: one that a crash left there
    /// goes.
    ///
    /// # Errors
    /// If the socket or a port cannot be listened at.
    pub fn start(options: Options, service: Service<S>) -> Result<Server<S>, ServerError> {
        let Options { socket, addresses: wanted, tls, limits } = options;
        let (mut doors, mut addresses) = (Vec::new(), Vec::new());
        for address in wanted {
            let failed = |source| ServerError::Port { address, source };
            if tls.is_none() && !address.ip().is_loopback() {
                return Err(ServerError::Unsecured { address });
            }
            let listener = TcpListener::bind(address).map_err(failed)?;
            addresses.push(listener.local_addr().map_err(failed)?);
            doors.push(Arc::new(Listener::Tcp(listener)));
        }
        let failed = |source| ServerError::Socket { path: socket.clone(), source };
        let (listener, file) = seam::socket::listen(&socket).map_err(failed)?;
        doors.push(Arc::new(Listener::Unix(listener)));
        let shared = Arc::new(Shared {
            service,
            tls,
            limits,
            sessions: Arc::default(),
            checks: Mutex::default(),
        });
        let threads = Vec::new();
        let mut server = Server { shared, doors, threads, addresses, socket: socket.clone(), file };
        for door in server.doors.clone() {
            let shared = Arc::clone(&server.shared);
            let thread = thread::spawn("owner-accept", move || shared.accept_all(&door));
            server.threads.push(thread.map_err(failed)?);
        }
        Ok(server)
    }

    /// The ports that are listened at.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Lets no client in any more, and ends every session.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let (doors, threads) = (&self.doors, std::mem::take(&mut self.threads));
        self.shared.sessions.close(|| {
            doors.iter().for_each(|door| door.end());
            threads.into_iter().for_each(JoinHandle::join);
        });
    }
}

impl<S: Store> Drop for Server<S> {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.end();
        }
        self.file.remove();
    }
}

impl<S: Store> Shared<S> {
    fn accept_all(self: Arc<Self>, door: &Listener) {
        self.sessions.accept_all(|| door.accept(), |coming| self.let_in(coming));
    }

    fn let_in(self: &Arc<Self>, coming: Coming) {
        let second = match &coming {
            Coming::Unix(stream) => stream.try_clone().map(Ender::Unix),
            Coming::Tcp(stream) => stream.try_clone().map(Ender::Tcp),
        };
        let Ok(ender) = second else { return };
        let is_remote = matches!(coming, Coming::Tcp(_));
        let shared = Arc::clone(self);
        self.sessions.begin(
            "owner-session",
            Open { ender, is_remote, is_greeted: false },
            |open| self.limits.have_room(&open, is_remote),
            move |number| shared.serve(number, coming),
        );
    }

    fn serve(&self, number: u64, coming: Coming) -> io::Result<()> {
        let deadline = Some(Deadline::after(&self.service.clock, GREETING));
        let (stream, peer) = match coming {
            Coming::Unix(stream) => {
                let peer = Peer::of(&stream)?;
                (Stream::Unix(Timed::new(stream, deadline)), Some(peer))
            }
            Coming::Tcp(stream) => {
                prepare(&stream);
                let stream = Timed::new(stream, deadline);
                match &self.tls {
                    None => (Stream::Tcp(stream), None),
                    Some(tls) => {
                        let secured = tls.accept(stream).map_err(io::Error::other)?;
                        (Stream::Served(secured), None)
                    }
                }
            }
        };
        let mut frames = Frames::new(stream);
        let mut body = Vec::new();
        if !frames.receive(GREETING_BYTES_MAX, &mut body)? {
            return Ok(());
        }
        // How long the check of a password takes is not the client's doing.
        frames.stream_mut().lift_deadline();
        frames.stream().set_patience(Some(GREETING))?;
        let hello = Hello::read(&body);
        // A password does not stay in memory.
        drop(zeroize::Zeroizing::new(std::mem::take(&mut body)));
        let admitted = hello.and_then(|hello| self.admit(&hello, peer.as_ref()));
        let applid = self.service.files.applid.text();
        let catalog = admitted.and_then(|()| (self.service.catalog)().ok_or(Refused::Catalog));
        frames.send(&answer(applid, catalog.as_ref().err().copied()))?;
        let Ok(catalog) = catalog else { return Ok(()) };
        self.sessions.with(number, |open| open.is_greeted = true);
        frames.stream().set_patience(Some(PATIENCE))?;
        self.converse(&mut frames, Session::new(catalog, Arc::clone(&self.service.files)))
    }

    fn admit(&self, hello: &Hello, peer: Option<&Peer>) -> Result<(), Refused> {
        let applid = self.service.files.applid.text();
        let who = match peer {
            Some(peer) => Who::Local(peer),
            None => Who::Remote { user: &hello.user, password: &hello.password },
        };
        let checks = matches!(who, Who::Remote { user, .. } if !user.is_empty());
        let turn = checks.then(|| self.checks.lock());
        if !self.service.admission.admits(&who) {
            return Err(Refused::User);
        }
        drop(turn);
        match hello.applid.is_empty() || hello.applid == applid {
            true => Ok(()),
            false => Err(Refused::OtherSystem),
        }
    }

    fn converse(&self, frames: &mut Frames<Stream>, mut session: Session<S>) -> io::Result<()> {
        let (mut request, mut answer) = (Vec::new(), Vec::new());
        let mut waits = None;
        loop {
            let wait = session.is_loading().then_some(TICK);
            if waits != Some(wait) {
                frames.stream().set_read_patience(wait)?;
                waits = Some(wait);
            }
            match frames.receive(FRAME_BYTES_MAX, &mut request) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    session.tick();
                    continue;
                }
                Err(error) => return Err(error),
            }
            session.serve(&request, &mut answer);
            frames.send(&answer)?;
        }
    }
}
