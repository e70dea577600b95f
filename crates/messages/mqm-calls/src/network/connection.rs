//! A connection to a door of a started system.
//!
//! 1. Until the queue manager has answered, there is one limit of time for all of it together.
//! 2. Afterwards the connection may be silent as long as it likes; if the other machine has gone,
//!    the network finds out within a few heartbeats.
//! 3. Nothing raises a signal in the program when the other side has gone.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mqi::address::Place;
use mqi::stream::Network;
use mqi::wire::Entry;
use queue_manager::Reason;
use queue_manager::channel::admission::name_matches;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use seam::clock::{Clock as _, RealClock};

use super::definition::Definition;
use super::{KeyFiles, SSL_PEER_NAME_MISMATCH, secured};

/// How long one address may take to answer.
const CONNECT: Duration = Duration::from_secs(10);
/// How long it may take from there to the answer of the queue manager.
const GREETING: Duration = Duration::from_secs(30);
/// How long the other end may take none of what is written.
const WRITE: Duration = Duration::from_secs(60);
/// Signs of life that go unanswered before the other machine has gone.
const PROBES: u32 = 4;

/// One place of a definition.
pub(crate) struct Way<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) place: &'a Place,
    pub(crate) keys: &'a KeyFiles,
}

/// A socket with a limit of time until the greeting is over.
struct Socket {
    stream: TcpStream,
    clock: RealClock,
    deadline: Duration,
    greeted: Arc<AtomicBool>,
    limited: bool,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.limited {
            let greeted = self.greeted.load(Ordering::Acquire);
            let left = self.deadline.saturating_sub(self.clock.monotonic());
            if !greeted && left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout((!greeted).then_some(left))?;
            self.limited = !greeted;
        }
        self.stream.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.stream, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a look at a socket shows, between two calls.
enum Look {
    Gone,
    Quiet,
    /// Something that nobody has asked for.
    Bytes,
}

impl Socket {
    fn look(&self) -> Look {
        let mut first = [0_u8; 1];
        match recv(&self.stream, &mut first, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Look::Gone,
            Ok(_) => Look::Bytes,
            Err(Errno::AGAIN | Errno::INTR) => Look::Quiet,
            Err(_) => Look::Gone,
        }
    }
}

impl Network for Socket {
    fn is_there(&mut self) -> bool {
        !matches!(self.look(), Look::Gone)
    }
}

/// A socket over TLS.
struct Secured(StreamOwned<ClientConnection, Socket>);

impl Read for Secured {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Secured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.0.write_vectored(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Network for Secured {
    fn is_there(&mut self) -> bool {
        let StreamOwned { conn, sock } = &mut self.0;
        match sock.look() {
            Look::Gone => false,
            Look::Quiet => true,
            // A ticket for a later connection, or a farewell.
            Look::Bytes => match conn.read_tls(&mut sock.stream) {
                Ok(0) => false,
                Ok(_) => {
                    let read = conn.process_new_packets();
                    read.is_ok_and(|state| !state.peer_has_closed())
                }
                // What has come before fills its room.
                Err(error) => error.kind() == io::ErrorKind::Other,
            },
        }
    }
}

impl Way<'_> {
    pub(super) fn entry(&self) -> Entry {
        let process = rustix::process::getpid().as_raw_nonzero().get();
        Entry { channel: self.definition.channel.clone(), process }
    }

    /// Connects; answers also what is to be set when the greeting is over.
    pub(super) fn open(&self) -> Result<(Box<dyn Network>, Arc<AtomicBool>), Reason> {
        let addresses = self.place.addresses().map_err(|_| Reason::HOST_NOT_AVAILABLE)?;
        let connected = addresses.iter().find_map(|address| {
            Some((TcpStream::connect_timeout(address, CONNECT).ok()?, *address))
        });
        let (stream, address) = connected.ok_or(Reason::HOST_NOT_AVAILABLE)?;
        prepare(&stream, self.definition.heartbeat_s).map_err(|_| Reason::HOST_NOT_AVAILABLE)?;
        let greeted = Arc::new(AtomicBool::new(false));
        let clock = RealClock::new();
        let deadline = clock.monotonic() + GREETING;
        let (own, limited) = (Arc::clone(&greeted), true);
        let socket = Socket { stream, clock, deadline, greeted: own, limited };
        let network: Box<dyn Network> = match self.is_secured(address) {
            true => Box::new(Secured(self.secure(socket)?)),
            false => Box::new(socket),
        };
        Ok((network, greeted))
    }

    fn is_secured(&self, address: SocketAddr) -> bool {
        let is_asked_for = !self.definition.cipher.is_empty() || !self.keys.is_empty();
        is_asked_for || !address.ip().to_canonical().is_loopback()
    }

    fn secure(&self, mut socket: Socket) -> Result<StreamOwned<ClientConnection, Socket>, Reason> {
        let config = secured::config(self.keys, &self.definition.cipher)?;
        let host = &self.place.host;
        let name = match host.parse::<IpAddr>() {
            Ok(address) => Ok(ServerName::from(address)),
            Err(_) => ServerName::try_from(host.clone()),
        };
        let name = name.map_err(|_| Reason::HOST_NOT_AVAILABLE)?;
        let mut connection =
            ClientConnection::new(config, name).map_err(|_| Reason::SSL_INITIALIZATION_ERROR)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| match error.kind() {
                // What TLS refuses comes as data that cannot be understood.
                io::ErrorKind::InvalidData => Reason::SSL_INITIALIZATION_ERROR,
                _ => Reason::Q_MGR_NOT_AVAILABLE,
            })?;
        }
        let wanted = &self.definition.peer_name;
        let shown = connection.peer_certificates().and_then(|chain| chain.first());
        let subject = shown.and_then(|first| mqi::certificate::subject(first));
        if !wanted.is_empty() && !subject.is_some_and(|name| name_matches(wanted, &name)) {
            return Err(SSL_PEER_NAME_MISMATCH);
        }
        Ok(StreamOwned::new(connection, socket))
    }
}

/// Has the network find out that the other machine has gone.
fn prepare(stream: &TcpStream, heartbeat_s: i32) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE))?;
    let heartbeat = u64::try_from(heartbeat_s).ok().filter(|beat| *beat > 0);
    let Some(heartbeat) = heartbeat.map(|beat| Duration::from_secs(beat.min(3_600))) else {
        return Ok(());
    };
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, heartbeat)?;
    sockopt::set_tcp_keepintvl(stream, (heartbeat / PROBES).max(Duration::from_secs(1)))?;
    sockopt::set_tcp_keepcnt(stream, PROBES)?;
    Ok(())
}
