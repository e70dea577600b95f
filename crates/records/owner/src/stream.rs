//! Connections of every kind as one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustls::{ClientConnection, ServerConnection, StreamOwned};

/// A connection.
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    /// To an owner.
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// Of a client.
    Served(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// How long reads and writes may take.
    pub(crate) fn set_patience(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_patience(time)?;
        match self {
            Stream::Unix(stream) => stream.set_write_timeout(time),
            Stream::Tcp(stream) => stream.set_write_timeout(time),
            Stream::Secured(stream) => stream.sock.set_write_timeout(time),
            Stream::Served(stream) => stream.sock.set_write_timeout(time),
        }
    }

    /// How long reads may take.
    pub(crate) fn set_read_patience(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_read_timeout(time),
            Stream::Tcp(stream) => stream.set_read_timeout(time),
            Stream::Secured(stream) => stream.sock.set_read_timeout(time),
            Stream::Served(stream) => stream.sock.set_read_timeout(time),
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
