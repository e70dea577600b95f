//! Connections of every kind as one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConnection, ServerConnection, StreamOwned};
use seam::clock::Clock;

/// When everything has to be done.
pub(crate) struct Deadline {
    clock: Arc<dyn Clock>,
    at: Duration,
}

impl Deadline {
    /// So long from now on.
    pub(crate) fn after(clock: &Arc<dyn Clock>, time: Duration) -> Deadline {
        Deadline { clock: Arc::clone(clock), at: clock.monotonic() + time }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.at.saturating_sub(self.clock.monotonic());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// A socket whose waits have limits.
pub(crate) trait Limited {
    /// How long one read may take.
    fn limit_reads(&self, time: Option<Duration>) -> io::Result<()>;
    /// How long one write may take.
    fn limit_writes(&self, time: Option<Duration>) -> io::Result<()>;
}

impl Limited for UnixStream {
    fn limit_reads(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)
    }

    fn limit_writes(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_write_timeout(time)
    }
}

impl Limited for TcpStream {
    fn limit_reads(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)
    }

    fn limit_writes(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_write_timeout(time)
    }
}

/// A socket; while it has a deadline, everything has to be read and written by then, however often
/// the other end sends a little.
pub(crate) struct Timed<T> {
    socket: T,
    deadline: Option<Deadline>,
}

impl<T> Timed<T> {
    /// With a deadline, or none.
    pub(crate) fn new(socket: T, deadline: Option<Deadline>) -> Timed<T> {
        Timed { socket, deadline }
    }
}

impl<T: Limited + Read> Read for Timed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = &self.deadline {
            self.socket.limit_reads(Some(deadline.left()?))?;
        }
        self.socket.read(bytes)
    }
}

impl<T: Limited + Write> Write for Timed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(deadline) = &self.deadline {
            self.socket.limit_writes(Some(deadline.left()?))?;
        }
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// A connection.
pub(crate) enum Stream {
    Unix(Timed<UnixStream>),
    Tcp(Timed<TcpStream>),
    /// To an owner.
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// Of a client.
    Served(Box<StreamOwned<ServerConnection, Timed<TcpStream>>>),
}

impl Stream {
    /// What had to be done by a deadline is done.
    pub(crate) fn lift_deadline(&mut self) {
        match self {
            Stream::Unix(stream) => stream.deadline = None,
            Stream::Tcp(stream) => stream.deadline = None,
            Stream::Served(stream) => stream.sock.deadline = None,
            // Owners are waited for by each read.
            Stream::Secured(_) => {}
        }
    }

    /// How long reads and writes may take.
    pub(crate) fn set_patience(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_patience(time)?;
        match self {
            Stream::Unix(stream) => stream.socket.limit_writes(time),
            Stream::Tcp(stream) => stream.socket.limit_writes(time),
            Stream::Secured(stream) => stream.sock.limit_writes(time),
            Stream::Served(stream) => stream.sock.socket.limit_writes(time),
        }
    }

    /// How long reads may take.
    pub(crate) fn set_read_patience(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.socket.limit_reads(time),
            Stream::Tcp(stream) => stream.socket.limit_reads(time),
            Stream::Secured(stream) => stream.sock.limit_reads(time),
            Stream::Served(stream) => stream.sock.socket.limit_reads(time),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(bytes),
            Stream::Tcp(stream) => stream.read(bytes),
            Stream::Secured(stream) => stream.read(bytes),
            Stream::Served(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Secured(stream) => stream.write(bytes),
            Stream::Served(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.flush(),
            Stream::Tcp(stream) => stream.flush(),
            Stream::Secured(stream) => stream.flush(),
            Stream::Served(stream) => stream.flush(),
        }
    }
}

/// What ends a connection from another thread.
pub(crate) enum Ender {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Ender {
    pub(crate) fn end(&self) {
        // One that has gone by itself needs no end.
        let _ = match self {
            Ender::Unix(stream) => stream.shutdown(Shutdown::Both),
            Ender::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Small messages go at once, and a side that has vanished is noticed.
pub(crate) fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
    let _ = rustix::net::sockopt::set_tcp_keepidle(stream, KEEP_IDLE);
}

/// How long a connection is silent before it is looked after.
const KEEP_IDLE: Duration = Duration::from_secs(60);
