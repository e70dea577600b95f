//! Listening, threads, the end.
//!
//! 1. Every program has a thread of its own; closed, the door has ended all of them, and so backed
//!    out what was not committed.
//! 2. A program works no longer than its user may come in: once a second it is looked whether the
//!    users of all programs are what they were.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mqi::server::converse;
use mqi::wire::frame::Incoming;
use queue_manager::QueueManager;
use rustls::ServerConfig;
use seam::clock::Clock;
use seam::sessions::{Connection, Sessions};
use seam::sync::Mutex;
use seam::thread::{self, JoinHandle};
use store::Store;
use tls::Tls;

use crate::error::Error;
use crate::greeting::{GREETING, greet};
use crate::link::Link;
use crate::places::Held;
use crate::shared::{Shared, Standing, Users};

/// How often it is looked whether users are what they were.
const LOOK: Duration = Duration::from_secs(1);

/// How the door is opened.
pub struct Options {
    /// Where is listened; port 0 is any.
    pub addresses: Vec<SocketAddr>,
    /// Certificates; without them only this machine comes in.
    pub tls: Option<Tls>,
    /// Connections at a time.
    pub connections_max: usize,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// What the door has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Programs that are connected.
    pub connections: u64,
    /// Programs that were let in.
    pub accepted: u64,
    /// Connections of those who were not.
    pub refused: u64,
    /// Calls.
    pub calls: u64,
}

/// What all threads of a door share.
struct Door<S: Store> {
    shared: Shared<S>,
    keys: Option<Arc<ServerConfig>>,
    clock: Arc<dyn Clock>,
    listeners: Vec<TcpListener>,
    sessions: Arc<Sessions<TcpStream>>,
    programs: Programs,
    accepted: AtomicU64,
    refused: AtomicU64,
    calls: Arc<AtomicU64>,
}

/// Programs that were let in: their connections to the queue manager, and as whom.
type Programs = Mutex<BTreeMap<u64, (u64, Standing)>>;

/// An open door. Dropped, it is closed.
pub struct Server<S: Store> {
    door: Arc<Door<S>>,
    addresses: Vec<SocketAddr>,
    acceptors: Vec<JoinHandle>,
}

impl<S: Store> Server<S> {
    /// Opens the door.
    ///
    /// # Errors
    /// If an address cannot be listened at, certificates cannot be used, or there are no threads.
    pub fn start(
        manager: &QueueManager<S>,
        options: &Options,
        users: Arc<dyn Users>,
    ) -> Result<Server<S>, Error> {
        let keys = options.tls.as_ref().map(|tls| tls.acceptor(&[])).transpose()?;
        let (mut listeners, mut addresses) = (Vec::new(), Vec::new());
        for address in &options.addresses {
            let failed = |error| Error::Listen { address: *address, error };
            let listener = TcpListener::bind(address).map_err(failed)?;
            addresses.push(listener.local_addr().map_err(failed)?);
            listeners.push(listener);
        }
        let door = Arc::new(Door {
            shared: Shared {
                manager: manager.clone(),
                users,
                places: Arc::default(),
                connections_max: options.connections_max,
            },
            keys,
            clock: Arc::clone(&options.clock),
            listeners,
            sessions: Arc::default(),
            programs: Mutex::default(),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            calls: Arc::default(),
        });
        let acceptors = Vec::new();
        let mut server = Server { door: Arc::clone(&door), addresses, acceptors };
        for at in 0..door.listeners.len() {
            let own = Arc::clone(&door);
            let acceptor = thread::spawn("mq-clients", move || own.accept_all(at));
            server.acceptors.push(acceptor.map_err(Error::Threads)?);
        }
        let own = Arc::clone(&door);
        let looks = thread::spawn("mq-users", move || own.look_on());
        server.acceptors.push(looks.map_err(Error::Threads)?);
        Ok(server)
    }
}

impl<S: Store> Server<S> {
    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What it has counted.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            connections: self.door.programs.lock().len() as u64,
            accepted: of(&self.door.accepted),
            refused: of(&self.door.refused),
            calls: of(&self.door.calls),
        }
    }

    /// Ends the connections of programs whose users are gone, or have other passwords: at once what
    /// is done once a second.
    pub fn look_at_users(&self) {
        self.door.look_at_users();
    }

    /// Lets no program in any more, and ends every connection: what a program has not committed is
    /// backed out. The queue manager ends waits first, with its own `stop`.
    pub fn close(&self) {
        self.door.sessions.close(|| {
            for listener in &self.door.listeners {
                let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
            }
        });
    }
}

impl<S: Store> Drop for Server<S> {
    fn drop(&mut self) {
        self.close();
        self.acceptors.drain(..).for_each(JoinHandle::join);
    }
}

impl<S: Store> Door<S> {
    fn accept_all(self: Arc<Self>, at: usize) {
        let Some(listener) = self.listeners.get(at) else { return };
        let accept = || listener.accept();
        self.sessions.accept_all(accept, |(stream, peer)| self.let_in(stream, peer));
    }

    fn let_in(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        // One too many is turned away: waiting would look like a network that is broken.
        let places = &self.shared.places;
        let place = places.connection(self.shared.connections_max);
        let greeting = places.greeting(peer.ip().to_canonical());
        let (Some(place), Some(greeting)) = (place, greeting) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let Ok(second) = stream.try_clone() else { return };
        let door = Arc::clone(self);
        self.sessions.begin(
            "mq-client",
            second,
            |_| true,
            move |number| {
                let _place = place;
                door.serve(number, stream, greeting)
            },
        );
    }

    fn serve(&self, number: u64, stream: TcpStream, greeting: Held) -> io::Result<()> {
        let deadline = self.clock.monotonic() + GREETING;
        let begun = Link::accept(
            stream,
            self.keys.as_ref(),
            (&self.clock, deadline),
            (&self.shared.places, &self.calls),
        );
        let greeted = begun.and_then(|link| {
            let mut incoming = Incoming::new(link);
            Ok((greet(&self.shared, &mut incoming)?, incoming))
        });
        drop(greeting);
        let (Some(guest), mut incoming) = greeted.inspect_err(|_| self.refuse())? else {
            self.refuse();
            return Ok(());
        };
        self.accepted.fetch_add(1, Ordering::Relaxed);
        let connection = guest.calls.number();
        let _here = Here::new(&self.programs, number, (connection, guest.standing));
        converse(guest.calls, &mut incoming, guest.longest)
    }

    /// Looks at users until the door is closed.
    fn look_on(&self) {
        while !self.sessions.wait_closed(LOOK) {
            self.look_at_users();
        }
    }

    fn look_at_users(&self) {
        let programs = self.programs.lock().clone();
        let users = &self.shared.users;
        let (mut known, nobody) = (BTreeMap::new(), users.nobody().is_some());
        for (number, (connection, standing)) in programs {
            let same = standing.marks.iter().all(|(user, mark)| {
                let now = known.entry(user.clone()).or_insert_with(|| users.mark(user));
                *now == Some(*mark)
            });
            if same && (nobody || !standing.nobody) {
                continue;
            }
            // Its calls fail from here on, and a wait ends.
            let _ = self.shared.manager.break_connection(connection);
            self.sessions.with(number, |stream| stream.end());
        }
    }

    fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

/// A program that is connected, until this is dropped.
struct Here<'s>(&'s Programs, u64);

impl Here<'_> {
    fn new(programs: &Programs, number: u64, who: (u64, Standing)) -> Here<'_> {
        programs.lock().insert(number, who);
        Here(programs, number)
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}
