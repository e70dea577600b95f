//! What starts and stops channels: commands, trigger messages, listeners.
//!
//! 1. Every connection and every channel that connects has a thread of its own; closed, the server
//!    has ended all of them.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use queue_manager::QueueManager;
use queue_manager::channel::{ChannelError, Initiator, ListenerStatus, StopMode, StopRequest};
use queue_manager::descriptor::MessageDescriptor;
use queue_manager::name::unpadded;
use queue_manager::objects::{Kind, Object};
use queue_manager::options::value::{get, open};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor};
use queue_manager::reason::Reason;
use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store::Store;

use crate::error::Error;
use crate::keys::{Keys, Tls};
use crate::place::Place;
use crate::shared::{Listening, Shared, cut};
use crate::visitors::origin;
use crate::{inbound, outbound};

/// Where triggers of transmission queues go.
const INITIATION_QUEUE: &str = "SYSTEM.CHANNEL.INITQ";
/// How often the initiation queue looks whether it is over.
const LOOK_MS: i32 = 500;

/// How channels are run.
pub struct Options {
    /// Where is listened; port 0 is any.
    pub addresses: Vec<SocketAddr>,
    /// Certificates.
    pub tls: Option<Tls>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// The channels of a queue manager that is started, until it is closed or dropped.
pub struct ChannelServer<S: Store> {
    shared: Arc<Shared<S>>,
    addresses: Vec<SocketAddr>,
    open: bool,
}

/// What commands reach.
struct CommandHandler<S: Store>(Arc<Shared<S>>);

impl<S: Store> ChannelServer<S> {
    /// Listens, serves trigger messages, and has commands find it.
    ///
    /// Without certificates only addresses of this machine are listened at; [`notices`] says so.
    ///
    /// [`notices`]: ChannelServer::take_notices
    ///
    /// # Errors
    /// If an address cannot be listened at, or certificates cannot be used.
    pub fn start(manager: &QueueManager<S>, options: Options) -> Result<ChannelServer<S>, Error> {
        let keys = options.tls.as_ref().map(Keys::of).transpose().map_err(Error::Tls)?;
        let secured = keys.is_some();
        let shared = Arc::new(Shared {
            manager: manager.clone(),
            channels: manager.channels(),
            keys,
            clock: options.clock,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut server =
            ChannelServer { shared: Arc::clone(&shared), addresses: Vec::new(), open: true };
        for (number, asked) in options.addresses.into_iter().enumerate() {
            let mut address = asked;
            if !secured && !address.ip().is_loopback() {
                address.set_ip(match asked {
                    SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                    SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
                });
                shared.notice(format!(
                    "channels have no certificate: they listen at {address}, not at {asked}"
                ));
            }
            // Names of definitions are not blank.
            let name = format!(" {number}");
            server.addresses.push(listen(&shared, &name, address)?);
        }
        let mut state = shared.state.lock();
        shared.spawn(&mut state, "channel-initiator", initiate).map_err(Error::Threads)?;
        drop(state);
        let handler: Arc<dyn Initiator> = Arc::new(CommandHandler(Arc::clone(&shared)));
        shared.channels.attach(Some(Arc::clone(&handler)));
        for listener in manager.list(Kind::Listener, "*") {
            let begins = listener.is("CONTROL", "QMGR") || listener.is("CONTROL", "STARTONLY");
            if begins && let Err(error) = handler.listen(&listener.name) {
                shared.notice(format!("listener {}: {error}", listener.name));
            }
        }
        start_waiting(&shared);
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What operators should know, since this was last asked.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state.lock().notices)
    }

    /// Ends every channel: batches that are under way are given up, and sent again after the next
    /// start.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let shared = &self.shared;
        shared.channels.attach(None);
        shared.channels.stop_all(StopMode::Force);
        let threads = {
            let mut state = shared.state.lock();
            state.closed = true;
            state.sockets.values().for_each(cut);
            for listener in state.listeners.values() {
                let _ = rustix::net::shutdown(&*listener.socket, rustix::net::Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        shared.changed.notify_all();
        threads.into_values().for_each(JoinHandle::join);
    }
}

impl<S: Store> Drop for ChannelServer<S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<S: Store> Initiator for CommandHandler<S> {
    fn start(&self, channel: &str) -> Result<(), ChannelError> {
        start(&self.0, channel)
    }

    fn stop(&self, request: &StopRequest) -> usize {
        // A sender that waits before it tries again looks whether it still should. Under the
        // lock: one that has just looked would miss it.
        let state = self.0.state.lock();
        self.0.changed.notify_all();
        drop(state);
        if request.mode != StopMode::Force {
            return 0;
        }
        self.0.cut(|channel, partner| {
            let asked = request.partner.as_ref();
            channel == request.channel && asked.is_none_or(|asked| asked == partner)
        })
    }

    fn ping(&self, channel: &str, bytes: usize) -> Result<(), ChannelError> {
        outbound::ping(&self.0, channel, bytes)
    }

    fn listen(&self, name: &str) -> Result<SocketAddr, ChannelError> {
        let definition = |why: String| ChannelError::Definition { channel: name.to_owned(), why };
        let Some(object) = self.0.manager.object(Kind::Listener, name) else {
            return Err(ChannelError::NotFound(name.to_owned()));
        };
        if self.0.state.lock().listeners.contains_key(name) {
            return Err(ChannelError::InUse(name.to_owned()));
        }
        let port = u16::try_from(object.number_of("PORT")).unwrap_or(0);
        let host = match object.text_of("IPADDR") {
            "" | "*" if self.0.keys.is_some() => "0.0.0.0",
            "" | "*" => "127.0.0.1",
            host => host,
        };
        let found = (host, port).to_socket_addrs().map_err(|error| definition(error.to_string()));
        let Some(address) = found?.next() else {
            return Err(definition(format!("{host} is no address")));
        };
        if self.0.keys.is_none() && !address.ip().is_loopback() {
            return Err(definition("without certificates only this machine is listened to".into()));
        }
        listen(&self.0, name, address).map_err(|error| definition(error.to_string()))
    }

    fn end_listener(&self, name: &str) -> bool {
        let Some(listener) = self.0.state.lock().listeners.remove(name) else { return false };
        let _ = rustix::net::shutdown(&*listener.socket, rustix::net::Shutdown::Both);
        true
    }

    fn listeners(&self) -> Vec<ListenerStatus> {
        let state = self.0.state.lock();
        let all = state.listeners.iter().map(|(name, one)| ListenerStatus {
            name: name.trim().to_owned(),
            address: one.address,
            started_ms: one.started_ms,
            connections: state.visitors.count() as u64,
        });
        all.collect()
    }
}

fn start<S: Store>(shared: &Arc<Shared<S>>, channel: &str) -> Result<(), ChannelError> {
    let mut state = shared.state.lock();
    if state.closed {
        return Err(ChannelError::NoInitiator);
    }
    if !state.outbound.insert(channel.to_owned()) {
        return Err(ChannelError::InUse(channel.to_owned()));
    }
    let name = channel.to_owned();
    let spawned = shared.spawn(&mut state, "channel", move |shared| {
        outbound::run(shared, &name);
        shared.state.lock().outbound.remove(&name);
    });
    if let Err(error) = spawned {
        state.outbound.remove(channel);
        let why = format!("there is no thread for it: {error}");
        return Err(ChannelError::Partner { channel: channel.to_owned(), why });
    }
    Ok(())
}

fn listen<S: Store>(
    shared: &Arc<Shared<S>>,
    name: &str,
    address: SocketAddr,
) -> Result<SocketAddr, Error> {
    let failed = |error| Error::Listen { address: address.to_string(), error };
    let socket = Arc::new(TcpListener::bind(address).map_err(failed)?);
    let address = socket.local_addr().map_err(failed)?;
    let started_ms = shared.channels.now_ms();
    let own = Arc::clone(&socket);
    let mut state = shared.state.lock();
    let listening = Listening { address, started_ms, socket };
    state.listeners.insert(name.to_owned(), listening);
    let name = name.to_owned();
    shared
        .spawn(&mut state, "channel-accept", move |shared| accept(shared, &name, &own))
        .map_err(Error::Threads)?;
    Ok(address)
}

fn accept<S: Store>(shared: &Arc<Shared<S>>, name: &str, socket: &Arc<TcpListener>) {
    loop {
        let accepted = socket.accept();
        let mut state = shared.state.lock();
        let goes_on = state.listeners.get(name).is_some_and(|own| Arc::ptr_eq(&own.socket, socket));
        if state.closed || !goes_on {
            return;
        }
        match accepted {
            Ok((stream, peer)) if state.visitors.greet(origin(peer.ip())) => {
                let from = origin(peer.ip());
                let served = shared.spawn(&mut state, "channel-in", move |shared| {
                    let mut seat = Place::of(shared, from);
                    inbound::serve(shared, stream, &mut seat);
                });
                if served.is_err() {
                    state.visitors.leave(from, false);
                }
            }
            Ok(_) => {}
            // One that went before it was let in, or no descriptor is left for the moment.
            Err(_) => {
                shared.changed.wait_for(&mut state, Duration::from_millis(50));
            }
        }
    }
}

/// Starts channels that trigger messages ask for.
fn initiate<S: Store>(shared: &Arc<Shared<S>>) {
    let options =
        ConnectOptions { application: "channel initiator".into(), ..ConnectOptions::default() };
    let Ok(mut connection) = shared.manager.connect(options) else { return };
    let mut what = ObjectDescriptor::queue(INITIATION_QUEUE);
    let Ok((queue, _)) = connection.open(&mut what, open::INPUT_SHARED) else {
        shared.notice(format!("{INITIATION_QUEUE} cannot be opened: nothing triggers channels"));
        return;
    };
    let mut data = Vec::new();
    while !shared.is_closed() {
        let mut descriptor = MessageDescriptor::default();
        let mut options =
            GetOptions { wait_interval: LOOK_MS, ..GetOptions::new(get::WAIT | 4 | 0x40) };
        match connection.get(queue, &mut descriptor, &mut options, 1_024, &mut data) {
            Ok(_) => triggered(shared, &data),
            Err(failed) if failed.0 == Reason::NO_MSG_AVAILABLE => {}
            Err(failed) if failed.0 == Reason::GET_INHIBITED => {
                shared.pause(Duration::from_secs(1), &|| false);
            }
            Err(_) => return,
        }
    }
}

fn triggered<S: Store>(shared: &Arc<Shared<S>>, message: &[u8]) {
    let (Some(queue), Some(data)) = (message.get(8..56), message.get(104..168)) else { return };
    let (queue, data) = (unpadded(queue), unpadded(data));
    match shared.channels.serving(&queue, &data) {
        // One that runs already sees the message by itself.
        Some(channel) if !shared.channels.is_stopped(&channel) => drop(start(shared, &channel)),
        Some(_) => {}
        None => shared.notice(format!("no channel serves the transmission queue {queue}")),
    }
}

/// Starts the channels that have work already: a batch in doubt, or messages on a transmission
/// queue that triggers them.
fn start_waiting<S: Store>(shared: &Arc<Shared<S>>) {
    let waits = |queue: &Object| {
        queue.is("USAGE", "XMITQ")
            && queue.is("TRIGGER", "TRIGGER")
            && queue.is("INITQ", INITIATION_QUEUE)
            && queue.number_of("CURDEPTH") > 0
    };
    let queues = shared.manager.list(Kind::QueueLocal, "*");
    let serving = queues
        .iter()
        .filter(|queue| waits(queue))
        .filter_map(|queue| shared.channels.serving(&queue.name, queue.text_of("TRIGDATA")));
    for channel in shared.channels.in_doubt().into_iter().chain(serving) {
        if !shared.channels.is_stopped(&channel) {
            // One that is named twice runs already.
            let _ = start(shared, &channel);
        }
    }
}
