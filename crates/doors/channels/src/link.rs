//! A connection between two ends: frames in, frames out.
//!
//! 1. A read that ends early loses nothing: what has come is kept until the frame is whole.
//! 2. A frame that is longer than may be is refused by its header.
//! 3. A handshake, and the greeting after it, have one deadline for all of it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConnection, ServerConnection, StreamOwned};
use seam::clock::Clock;
use tls::Trust;

use crate::frame::{Frame, HEADER_BYTES, Header};
use crate::keys::{self, Keys};
use crate::timed::Timed;

/// How long a handshake of this end may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often a read looks whether it is over.
const LOOK: Duration = Duration::from_millis(100);
/// What is written at a time.
const BUFFER_BYTES: usize = 64 << 10;

enum Stream {
    Plain(Timed),
    Client(Box<StreamOwned<ClientConnection, Timed>>),
    Server(Box<StreamOwned<ServerConnection, Timed>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(timed) => &timed.socket,
            Stream::Client(stream) => &stream.sock.socket,
            Stream::Server(stream) => &stream.sock.socket,
        }
    }

    fn timed(&mut self) -> &mut Timed {
        match self {
            Stream::Plain(timed) => timed,
            Stream::Client(stream) => &mut stream.sock,
            Stream::Server(stream) => &mut stream.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Client(stream) => stream.read(buffer),
            Stream::Server(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Client(stream) => stream.write(bytes),
            Stream::Server(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Client(stream) => stream.flush(),
            Stream::Server(stream) => stream.flush(),
        }
    }
}

/// A connection.
pub(crate) struct Link {
    stream: Stream,
    clock: Arc<dyn Clock>,
    peer: SocketAddr,
    subject: Option<String>,
    cipher: String,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: u64,
    received: u64,
}

impl Link {
    fn new(stream: Stream, clock: Arc<dyn Clock>) -> io::Result<Link> {
        let socket = stream.socket();
        let peer = socket.peer_addr()?;
        socket.set_nodelay(true)?;
        let (chain, suite) = match &stream {
            Stream::Plain(_) => (None, None),
            Stream::Client(stream) => {
                (stream.conn.peer_certificates(), stream.conn.negotiated_cipher_suite())
            }
            Stream::Server(stream) => {
                (stream.conn.peer_certificates(), stream.conn.negotiated_cipher_suite())
            }
        };
        let subject = keys::subject(chain);
        let cipher = suite.and_then(|suite| suite.suite().as_str()).unwrap_or_default().to_owned();
        let (incoming, outgoing) = (Vec::new(), Vec::new());
        Ok(Link { stream, clock, peer, subject, cipher, incoming, outgoing, sent: 0, received: 0 })
    }

    /// One in the clear, whose greeting is over at that moment of the clock.
    pub(crate) fn plain(
        socket: TcpStream,
        clock: Arc<dyn Clock>,
        deadline: Duration,
    ) -> io::Result<Link> {
        Link::new(Stream::Plain(Timed::until(socket, &clock, deadline)), clock)
    }

    /// One over TLS, to the host of that name.
    pub(crate) fn to(
        socket: TcpStream,
        host: &str,
        keys: &Keys,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Link> {
        let name = Trust::server_name(host).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&keys.client), name);
        let mut connection = connection.map_err(io::Error::other)?;
        let deadline = clock.monotonic() + HANDSHAKE;
        let mut timed = Timed::until(socket, &clock, deadline);
        while connection.is_handshaking() {
            connection.complete_io(&mut timed)?;
        }
        timed.lift_deadline()?;
        Link::new(Stream::Client(Box::new(StreamOwned::new(connection, timed))), clock)
    }

    /// One over TLS that has come in, whose greeting is over at that moment of the clock.
    pub(crate) fn from(
        socket: TcpStream,
        keys: &Keys,
        clock: Arc<dyn Clock>,
        deadline: Duration,
    ) -> io::Result<Link> {
        let connection = ServerConnection::new(Arc::clone(&keys.server));
        let mut connection = connection.map_err(io::Error::other)?;
        let mut timed = Timed::until(socket, &clock, deadline);
        while connection.is_handshaking() {
            connection.complete_io(&mut timed)?;
        }
        Link::new(Stream::Server(Box::new(StreamOwned::new(connection, timed))), clock)
    }

    /// The greeting is over: what follows may take as long as both ends agree on.
    pub(crate) fn lift_deadline(&mut self) -> io::Result<()> {
        self.stream.timed().lift_deadline()
    }

    /// The address of the other end.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The name in the certificate of the other end.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The cipher; blank: none.
    pub(crate) fn cipher(&self) -> &str {
        &self.cipher
    }

    /// Bytes sent and received.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.sent, self.received)
    }

    /// A second handle of its socket, by which it can be cut.
    pub(crate) fn socket(&self) -> io::Result<TcpStream> {
        self.stream.socket().try_clone()
    }

    /// Writes a frame; it may wait for others until [`flush`](Link::flush).
    pub(crate) fn queue(&mut self, frame: &Frame) -> io::Result<()> {
        frame.write(&mut self.outgoing);
        if self.outgoing.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes a frame, and all that wait.
    pub(crate) fn send(&mut self, frame: &Frame) -> io::Result<()> {
        frame.write(&mut self.outgoing);
        self.flush()
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.outgoing.is_empty() {
            return Ok(());
        }
        self.sent += self.outgoing.len() as u64;
        let written = self.stream.write_all(&self.outgoing);
        self.outgoing.clear();
        // A large message has made it large.
        self.outgoing.shrink_to(4 * BUFFER_BYTES);
        written?;
        self.stream.flush()
    }

    /// The next frame, with a body of at most `most` bytes. `None` if `over` says that it is over.
    ///
    /// # Errors
    /// `TimedOut` if none comes in time; `UnexpectedEof` if the other end has gone;
    /// `InvalidData` for what is no frame.
    pub(crate) fn receive(
        &mut self,
        most: usize,
        time: Duration,
        over: &dyn Fn() -> bool,
    ) -> io::Result<Option<Frame>> {
        self.flush()?;
        let deadline = self.clock.monotonic() + time;
        loop {
            if let Some(frame) = self.whole(most)? {
                return Ok(Some(frame));
            }
            let left = deadline.saturating_sub(self.clock.monotonic());
            if self.read_some(LOOK.min(left))? {
                continue;
            }
            if over() {
                return Ok(None);
            }
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    /// A frame that has come already.
    pub(crate) fn poll(&mut self, most: usize) -> io::Result<Option<Frame>> {
        self.read_some(Duration::from_millis(1))?;
        self.whole(most)
    }

    /// Reads what is there; `false`: nothing was.
    fn read_some(&mut self, time: Duration) -> io::Result<bool> {
        self.stream.timed().limit_reads(time);
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.received += count as u64;
                self.incoming.extend_from_slice(&buffer[..count]);
                Ok(true)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(false),
                io::ErrorKind::Interrupted => Ok(true),
                _ => Err(error),
            },
        }
    }

    /// Takes a frame that is whole.
    fn whole(&mut self, most: usize) -> io::Result<Option<Frame>> {
        let Some(head) = self.incoming.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let Some(header) = Header::read(head) else {
            return Err(invalid("what has come is no frame of a channel"));
        };
        if header.length > most {
            return Err(invalid("a frame is longer than was agreed on"));
        }
        let end = HEADER_BYTES + header.length;
        if self.incoming.len() < end {
            return Ok(None);
        }
        let frame = Frame::read(header.kind, &self.incoming[HEADER_BYTES..end]);
        self.incoming.drain(..end);
        if self.incoming.is_empty() {
            self.incoming.shrink_to(4 * BUFFER_BYTES);
        }
        frame.map(Some).ok_or_else(|| invalid("a frame is not as its kind must be"))
    }
}
