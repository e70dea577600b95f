//! Systems that are connected, commands in a few words, and a way in between that can be cut.
#![allow(dead_code)] // each test uses its part

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use channels::{ChannelServer, Options as DoorOptions, Tls};
use queue_manager::channel::ChannelStatus;
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor, Options, QueueManager};
use seam::clock::RealClock;
use seam::sync::Mutex;
use store::Store;
use store_suite::model::ModelStore;

/// Milliseconds that a test waits for what must come.
pub(crate) const PATIENCE_MS: i32 = 30_000;

pub(crate) struct System<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) server: ChannelServer<S>,
}

pub(crate) fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

pub(crate) fn start<S: Store>(store: &S, name: &str, tls: Option<Tls>) -> System<S> {
    start_at(store, name, tls, loopback())
}

pub(crate) fn start_at<S: Store>(
    store: &S,
    name: &str,
    tls: Option<Tls>,
    address: SocketAddr,
) -> System<S> {
    let manager = QueueManager::open(store, Options::new(name)).expect("it opens");
    serve(manager, tls, address)
}

pub(crate) fn serve<S: Store>(
    manager: QueueManager<S>,
    tls: Option<Tls>,
    address: SocketAddr,
) -> System<S> {
    let clock = Arc::new(RealClock::new());
    let options = DoorOptions { addresses: vec![address], tls, clock };
    let server = ChannelServer::start(&manager, options).expect("it listens");
    System { manager, server }
}

pub(crate) fn fresh(name: &str) -> System<ModelStore> {
    start(&ModelStore::new(), name, None)
}

impl<S: Store> System<S> {
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    pub(crate) fn define(&self, kind: Kind, name: &str, values: &[(&str, &str)]) {
        define(&self.manager, kind, name, values);
    }

    pub(crate) fn connect(&self) -> Connection<S> {
        self.manager.connect(ConnectOptions::default()).expect("it connects")
    }

    /// The channel to another queue manager, with its transmission queue, which triggers it.
    pub(crate) fn leads_to(&self, other: &str, address: SocketAddr, more: &[(&str, &str)]) {
        let initiated =
            [("USAGE", "XMITQ"), ("TRIGGER", "TRIGGER"), ("INITQ", "SYSTEM.CHANNEL.INITQ")];
        self.define(Kind::QueueLocal, other, &initiated);
        let connection = format!("{}({})", address.ip(), address.port());
        let mut values = vec![
            ("CHLTYPE", "SDR"),
            ("XMITQ", other),
            ("CONNAME", &connection),
            ("SHORTTMR", "0"),
            ("SHORTRTY", "999999"),
            ("BATCHSZ", "5"),
        ];
        values.extend_from_slice(more);
        self.define(Kind::Channel, &format!("TO.{other}"), &values);
    }

    pub(crate) fn receives(&self, channel: &str, more: &[(&str, &str)]) {
        let mut values = vec![("CHLTYPE", "RCVR")];
        values.extend_from_slice(more);
        self.define(Kind::Channel, channel, &values);
    }

    pub(crate) fn send(&self, to: (&str, &str), text: &str) {
        send(&self.manager, to, text);
    }

    /// The next message of a queue, which must come.
    pub(crate) fn next(&self, queue: &str) -> String {
        let found = next(&self.manager, queue, PATIENCE_MS);
        found.unwrap_or_else(|| panic!("no message came to {queue}"))
    }

    pub(crate) fn status(&self, channel: &str) -> Option<ChannelStatus> {
        let all = self.manager.channels().statuses();
        all.into_iter().find(|one| one.channel == channel)
    }

    /// Waits until the status of a channel is as it must become.
    pub(crate) fn until(&self, channel: &str, is: impl Fn(Option<&ChannelStatus>) -> bool) {
        for _ in 0..3_000 {
            if is(self.status(channel).as_ref()) {
                return;
            }
            seam::clock::Clock::sleep(&RealClock::new(), std::time::Duration::from_millis(10));
        }
        panic!("{channel} stays {:?}", self.status(channel));
    }

    pub(crate) fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).expect("a queue").depth
    }
}

pub(crate) fn define<S: Store>(
    manager: &QueueManager<S>,
    kind: Kind,
    name: &str,
    values: &[(&str, &str)],
) {
    let values: Vec<_> = values.iter().map(|(k, v)| (*k, Value::from(*v))).collect();
    manager.define(kind, name, &values, true, None).expect("it is defined");
}

pub(crate) fn send<S: Store>(manager: &QueueManager<S>, (queue, at): (&str, &str), text: &str) {
    let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
    let mut what = ObjectDescriptor {
        object_name: queue.into(),
        object_q_mgr_name: at.into(),
        ..ObjectDescriptor::default()
    };
    let mut md = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
    let mut options = PutOptions::new(put::NO_SYNCPOINT);
    client.put1(&mut what, &mut md, &mut options, text.as_bytes()).expect("it is put");
}

pub(crate) fn next<S: Store>(
    manager: &QueueManager<S>,
    queue: &str,
    wait_interval: i32,
) -> Option<String> {
    let mut client = manager.connect(ConnectOptions::default()).ok()?;
    let (handle, _) = client.open(&mut ObjectDescriptor::queue(queue), open::INPUT_SHARED).ok()?;
    let mut options =
        GetOptions { wait_interval, ..GetOptions::new(get::WAIT | get::NO_SYNCPOINT) };
    let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
    client.get(handle, &mut md, &mut options, 1 << 20, &mut data).ok()?;
    Some(String::from_utf8(data).expect("text"))
}

/// A way to an address that can be cut after so many bytes.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Way>,
}

struct Way {
    to: Mutex<SocketAddr>,
    /// Bytes that still go through each connection, one after the other; then it is whole.
    cuts: Mutex<Vec<u64>>,
    over: AtomicBool,
}

impl Proxy {
    /// Connections are cut after so many bytes each, the last of the list first; later ones not.
    pub(crate) fn to(address: SocketAddr, cuts: Vec<u64>) -> Proxy {
        let listener = TcpListener::bind(loopback()).expect("a port");
        let address_here = listener.local_addr().expect("an address");
        let shared = Arc::new(Way {
            to: Mutex::new(address),
            cuts: Mutex::new(cuts),
            over: AtomicBool::new(false),
        });
        let way = Arc::clone(&shared);
        seam::thread::spawn("proxy", move || {
            for stream in listener.incoming() {
                if way.over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { return };
                let way = Arc::clone(&way);
                let _ = seam::thread::spawn("way", move || way.carry(&stream));
            }
        })
        .expect("a thread");
        Proxy { address: address_here, shared }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn cuts_left(&self) -> usize {
        self.shared.cuts.lock().len()
    }

    pub(crate) fn lead_to(&self, address: SocketAddr) {
        *self.shared.to.lock() = address;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Way {
    fn carry(&self, one: &TcpStream) {
        let Ok(other) = TcpStream::connect(*self.to.lock()) else { return };
        let limit = self.cuts.lock().pop();
        let (from, to) = (one.try_clone().expect("a socket"), other.try_clone().expect("one"));
        let back = seam::thread::spawn("back", move || pump(&from, &to, None)).expect("a thread");
        // What the partner says is cut: confirmations among it.
        pump(&other, one, limit);
        let _ = one.shutdown(Shutdown::Both);
        let _ = other.shutdown(Shutdown::Both);
        back.join();
    }
}

fn pump(mut from: &TcpStream, mut to: &TcpStream, limit: Option<u64>) {
    let mut left = limit.unwrap_or(u64::MAX);
    let mut buffer = [0; 4_096];
    while left > 0 {
        let Ok(count @ 1..) = from.read(&mut buffer) else { break };
        let take = count.min(usize::try_from(left).unwrap_or(count));
        if to.write_all(&buffer[..take]).is_err() {
            break;
        }
        left -= take as u64;
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
