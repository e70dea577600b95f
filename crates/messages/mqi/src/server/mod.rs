//! The server: programs connect to a socket in the system's folder, and each is served by a thread.
//!
//! | question | where |
//! |---|---|
//! | what does a session call? | [`Calls`], [`Manager`] |
//! | how is one program served? | [`converse`], whatever it comes by; its calls: `dialogue` |
//! | how is a program of a region served, in its unit of work? | [`Carried`] |
//! | who may connect? | [`Admission`] |
//!
//! Invariants:
//! 1. The operating system says which user a program runs as; a program that names another one
//!    has to prove it, and nobody is let in on a name alone.
//! 2. A program that connects has [`GREETING`] for its first call, and one connection: what is
//!    not used does not stay.
//! 3. Closed, the server has ended every session, and so backed out what was not committed.

mod calls;
mod carried;
mod dialogue;
mod session;
mod welcome;

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use queue_manager::options::ConnectOptions;
use queue_manager::reason::Answer;
use queue_manager::{Failed, Reason};
use seam::sessions::Sessions;
use seam::socket::Peer;
use seam::thread::{self, JoinHandle};

pub use self::calls::{Calls, Manager};
pub use self::carried::{Carried, Managed, Points, nowhere};
pub use self::session::{Expected, Wire, converse};
pub use self::welcome::{About, is_asked_for, welcome};
use crate::wire::codec::Writer;
use crate::wire::frame::{self, DATA_BYTES_MAX, Incoming};
use crate::wire::{Connecting, Credentials, Request};

/// How long a program that has connected may take for its first call.
pub const GREETING: Duration = Duration::from_secs(10);
/// How many programs may be connected at once.
const CONNECTIONS_MAX: usize = 4096;

/// Who may connect, and as whom.
pub trait Admission: Send + Sync {
    /// The user that a program works as.
    ///
    /// # Errors
    /// `NOT_AUTHORIZED`, if it may not connect.
    fn admit(&self, peer: &Peer, proof: Option<&Credentials>) -> Answer<String>;
}

/// Programs work as the users that they run as. A name and password are refused: nothing here
/// could tell whether they are right.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalUsers;

impl Admission for LocalUsers {
    fn admit(&self, peer: &Peer, proof: Option<&Credentials>) -> Answer<String> {
        match proof {
            Some(_) => Err(Failed(Reason::NOT_AUTHORIZED)),
            None => Ok(user_name(peer.user)),
        }
    }
}

/// The name of a user, or its number if it has none.
#[allow(clippy::disallowed_methods)] // the operating system's users are no part of a system
fn user_name(number: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, found) = (fields.next()?, fields.next()?, fields.next()?);
        (found.parse() == Ok(number)).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| number.to_string())
}

/// A server that programs connect to.
pub struct Server {
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle>,
}

struct Shared {
    manager: Arc<dyn Manager>,
    admission: Arc<dyn Admission>,
    listener: UnixListener,
    sessions: Arc<Sessions<UnixStream>>,
}

impl Server {
    /// Listens at a path. Its folder is the system's: a socket that a crash left there goes.
    ///
    /// # Errors
    /// What the operating system says of the socket.
    pub fn start(
        path: &Path,
        manager: Arc<dyn Manager>,
        admission: Arc<dyn Admission>,
    ) -> io::Result<Server> {
        let (listener, _) = seam::socket::listen(path)?;
        let sessions = Arc::default();
        let shared = Arc::new(Shared { manager, admission, listener, sessions });
        let acceptor = Arc::clone(&shared);
        let acceptor = thread::spawn("mqi-accept", move || acceptor.accept_all())?;
        Ok(Server { shared, acceptor: Some(acceptor) })
    }

    /// How many programs are connected.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.sessions.count()
    }

    /// Lets no program in any more, and ends every session: what it has not committed is backed
    /// out. The queue manager ends waits first, with its own `stop`.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let (acceptor, listener) = (self.acceptor.take(), &self.shared.listener);
        self.shared.sessions.close(|| {
            let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
            if let Some(acceptor) = acceptor {
                acceptor.join();
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.acceptor.is_some() {
            self.end();
        }
    }
}

impl Shared {
    fn accept_all(self: Arc<Self>) {
        let accept = || self.listener.accept();
        self.sessions.accept_all(accept, |(stream, _)| self.let_in(stream));
    }

    fn let_in(self: &Arc<Self>, stream: UnixStream) {
        let Ok(second) = stream.try_clone() else { return };
        let shared = Arc::clone(self);
        self.sessions.begin(
            "mqi-session",
            second,
            |open| open.len() < CONNECTIONS_MAX,
            move |_| shared.serve(stream),
        );
    }

    fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let peer = Peer::of(&stream)?;
        stream.set_read_timeout(Some(GREETING))?;
        stream.set_write_timeout(Some(GREETING))?;
        let mut incoming = Incoming::new(stream);
        let Some((header, fields)) = incoming.begin()? else { return Ok(()) };
        let first = Request::read(header.kind, &fields).filter(|_| header.data == 0);
        let Some(Request::Connect(connecting)) = first else {
            let mut fields = Writer::new();
            fields.number(2).number(Reason::HCONN_ERROR.0);
            return frame::send(&mut incoming.get_ref(), header.kind, &fields.into_bytes(), &[]);
        };
        let Connecting { manager, program, thread, proof } = connecting;
        let connected = self.admission.admit(&peer, proof.as_ref()).and_then(|user| {
            is_asked_for(&manager, &self.manager.name())?;
            self.manager.connect(ConnectOptions {
                user,
                application: queue_manager::name::unpadded(&program),
                process: i32::try_from(peer.process).unwrap_or_default(),
                thread,
                ..ConnectOptions::default()
            })
        });
        let number = connected.as_ref().map(|calls| calls.number()).map_err(|failed| *failed);
        let fields = welcome(&self.manager.about(), number);
        frame::send(&mut incoming.get_ref(), header.kind, &fields, &[])?;
        let Ok(calls) = connected else { return Ok(()) };
        incoming.get_ref().set_read_timeout(None)?;
        incoming.get_ref().set_write_timeout(None)?;
        converse(calls, &mut incoming, DATA_BYTES_MAX)
    }
}
