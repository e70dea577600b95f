//! A connection: in the clear or over TLS, with limits of time.
//!
//! | meanwhile | a read takes at most |
//! |---|---|
//! | until the program is let in | what is left of the greeting's time |
//! | between two calls | DISCINT of the channel; 0: as long as the program likes |
//! | within the data of a call | [`DATA`] |
//!
//! 1. If the other machine has gone, the network finds out within a few heartbeats.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mqi::server::{Expected, Wire};
use rustix::net::{RecvFlags, recv, sockopt};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use seam::clock::Clock;

use crate::places::{Held, Places};

/// How long the next bytes of a call may take to come.
const DATA: Duration = Duration::from_secs(60);
/// How long the other end may take none of what is written.
const WRITE: Duration = Duration::from_secs(60);
/// Signs of life that go unanswered before the other machine has gone.
const PROBES: u32 = 4;
/// The first byte of a handshake of TLS.
pub(crate) const HANDSHAKE: u8 = 0x16;

/// A socket with a limit of time, as long as the program is not let in.
struct Socket {
    stream: TcpStream,
    clock: Arc<dyn Clock>,
    deadline: Cell<Option<Duration>>,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline.get() {
            let left = deadline.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
        }
        self.stream.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Stream {
    Plain(Socket),
    Secured(Box<StreamOwned<ServerConnection, Socket>>),
}

impl Stream {
    fn socket(&self) -> &Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Secured(stream) => &stream.sock,
        }
    }
}

/// What a program that was let in may do.
pub(crate) struct Terms {
    pub(crate) user: String,
    /// How long it may be silent; none: as long as it likes.
    pub(crate) silence: Option<Duration>,
    /// Between signs of life; none: there are none.
    pub(crate) heartbeat: Option<Duration>,
}

/// A connection.
pub(crate) struct Link {
    stream: RefCell<Stream>,
    peer: SocketAddr,
    terms: RefCell<Option<Terms>>,
    places: Arc<Places>,
    room: RefCell<Option<Held>>,
    /// Calls of all programs.
    calls: Arc<AtomicU64>,
    timeout: Cell<Option<Duration>>,
}

impl Link {
    /// Of a socket that has come in; over TLS if there are keys and it begins so.
    pub(crate) fn accept(
        stream: TcpStream,
        keys: Option<&Arc<ServerConfig>>,
        (clock, deadline): (&Arc<dyn Clock>, Duration),
        (places, calls): (&Arc<Places>, &Arc<AtomicU64>),
    ) -> io::Result<Link> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE))?;
        let peer = stream.peer_addr()?;
        stream.set_read_timeout(Some(deadline.saturating_sub(clock.monotonic())))?;
        let mut first = [0];
        if stream.peek(&mut first)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let deadline = Cell::new(Some(deadline));
        let mut socket = Socket { stream, clock: Arc::clone(clock), deadline };
        let stream = match (keys, first[0]) {
            (Some(keys), HANDSHAKE) => {
                let connection = ServerConnection::new(Arc::clone(keys));
                let mut connection = connection.map_err(io::Error::other)?;
                while connection.is_handshaking() {
                    connection.complete_io(&mut socket)?;
                }
                Stream::Secured(Box::new(StreamOwned::new(connection, socket)))
            }
            (None, HANDSHAKE) => {
                return Err(io::Error::other("the system has no certificate for clients"));
            }
            _ if peer.ip().to_canonical().is_loopback() => Stream::Plain(socket),
            _ => return Err(io::Error::other("other machines are let in over TLS only")),
        };
        Ok(Link {
            stream: RefCell::new(stream),
            peer,
            terms: RefCell::new(None),
            places: Arc::clone(places),
            room: RefCell::new(None),
            calls: Arc::clone(calls),
            timeout: Cell::new(None),
        })
    }

    /// The address of the other end.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Whether it goes over TLS.
    pub(crate) fn is_secured(&self) -> bool {
        matches!(*self.stream.borrow(), Stream::Secured(_))
    }

    /// The certificate of the other end, which is that of a partner whom this side believes.
    pub(crate) fn certificate(&self) -> Option<Vec<u8>> {
        match &*self.stream.borrow() {
            Stream::Plain(_) => None,
            Stream::Secured(stream) => {
                Some(stream.conn.peer_certificates()?.first()?.as_ref().to_vec())
            }
        }
    }

    /// What is left of the greeting's time.
    pub(crate) fn left(&self) -> Duration {
        let stream = self.stream.borrow();
        let socket = stream.socket();
        let deadline = socket.deadline.get().unwrap_or_default();
        deadline.saturating_sub(socket.clock.monotonic())
    }

    /// The program is let in.
    pub(crate) fn let_in(&self, terms: Terms) -> io::Result<()> {
        let stream = self.stream.borrow();
        let socket = stream.socket();
        socket.deadline.set(None);
        socket.stream.set_read_timeout(terms.silence)?;
        self.timeout.set(terms.silence);
        if let Some(heartbeat) = terms.heartbeat {
            let stream = &socket.stream;
            sockopt::set_socket_keepalive(stream, true)?;
            sockopt::set_tcp_keepidle(stream, heartbeat)?;
            let interval = (heartbeat / PROBES).max(Duration::from_secs(1));
            sockopt::set_tcp_keepintvl(stream, interval)?;
            sockopt::set_tcp_keepcnt(stream, PROBES)?;
        }
        *self.terms.borrow_mut() = Some(terms);
        Ok(())
    }

    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        if self.timeout.replace(time) != time {
            self.stream.borrow().socket().stream.set_read_timeout(time)?;
        }
        Ok(())
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stream.get_mut() {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Secured(stream) => stream.read(buffer),
        }
    }
}

impl Write for &Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.stream.borrow_mut() {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Secured(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match &mut *self.stream.borrow_mut() {
            Stream::Plain(socket) => socket.stream.write_vectored(parts),
            Stream::Secured(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.stream.borrow_mut() {
            Stream::Plain(socket) => socket.flush(),
            Stream::Secured(stream) => stream.flush(),
        }
    }
}

impl Wire for Link {
    fn is_there(&self) -> bool {
        let mut first = [0];
        let mut stream = self.stream.borrow_mut();
        match recv(&stream.socket().stream, &mut first, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, 0)) => false,
            Ok(_) => match &mut *stream {
                Stream::Plain(_) => true,
                Stream::Secured(stream) => says_more(stream),
            },
            Err(errno) => errno == rustix::io::Errno::AGAIN || errno == rustix::io::Errno::INTR,
        }
    }

    fn expect(&self, what: Expected) -> io::Result<()> {
        let terms = self.terms.borrow();
        let Some(terms) = &*terms else { return Ok(()) };
        match what {
            Expected::Request => {
                self.calls.fetch_add(1, Ordering::Relaxed);
                self.room.replace(None);
                self.limit(terms.silence)
            }
            Expected::Data(bytes) => {
                self.room.replace(self.places.room(&terms.user, bytes)?);
                self.limit(Some(DATA))
            }
        }
    }
}

/// Whether what has come is more than a farewell. There is something to be read: it does not wait.
fn says_more(stream: &mut StreamOwned<ServerConnection, Socket>) -> bool {
    match stream.conn.read_tls(&mut stream.sock.stream) {
        Ok(0) => false,
        Ok(_) => stream.conn.process_new_packets().is_ok_and(|state| !state.peer_has_closed()),
        // What has come before fills its room: it is there, and waits to be read.
        Err(error) => error.kind() == io::ErrorKind::Other,
    }
}
