//! A queue manager behind its door, and a client of bytes.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use http_door::{HttpServer, Listening, Site, Tls};
use queue_manager::objects::{Kind, Value as Held};
use queue_manager::options::value::put;
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use queue_manager::{MessageDescriptor, Options, QueueManager};
use rest::{Authenticator, Door};
use seam::clock::RealClock;
use seam::entropy::OsEntropy;
use seam::sync::Mutex;
use serde_json::Value;
use store::Store;
use store_suite::model::ModelStore;

use crate::schema;

/// The header that a request has that changes something.
pub(crate) const CSRF: (&str, &str) = ("ibm-mq-rest-csrf-token", "");
pub(crate) const TEXT: (&str, &str) = ("Content-Type", "text/plain;charset=utf-8");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
pub(crate) const QUEUE: &str = "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/Q1";

/// Users by name, with their passwords and marks.
#[derive(Default)]
pub(crate) struct People(pub(crate) Mutex<BTreeMap<String, (String, u64)>>);

impl People {
    pub(crate) fn put(&self, user: &str, password: &str) {
        let mut all = self.0.lock();
        let mark = all.get(user).map_or(1, |(_, mark)| mark + 1);
        all.insert(user.to_owned(), (password.to_owned(), mark));
    }
}

impl Authenticator for People {
    fn password(&self, user: &str, password: &[u8]) -> Option<String> {
        let all = self.0.lock();
        let (own, _) = all.get(&user.to_ascii_uppercase())?;
        (own.as_bytes() == password).then(|| user.to_ascii_uppercase())
    }

    fn mark(&self, user: &str) -> Option<u64> {
        self.0.lock().get(user).map(|(_, mark)| *mark)
    }

    fn nobody(&self) -> Option<String> {
        self.0.lock().is_empty().then(|| "nobody".to_owned())
    }

    fn is_administrator(&self, user: &str) -> bool {
        user == "ADMIN"
    }
}

/// A door that is open.
pub(crate) struct Open<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) people: Arc<People>,
    pub(crate) door: Door<S>,
    pub(crate) server: Listening,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The number of its error.
    pub(crate) fn error(&self) -> String {
        self.json()["error"][0]["msgId"].as_str().unwrap_or_default().to_owned()
    }

    /// The reason code of its error.
    pub(crate) fn reason(&self) -> i64 {
        self.json()["error"][0]["reasonCode"].as_i64().unwrap_or_default()
    }
}

pub(crate) fn manager_on<S: Store>(store: &S) -> QueueManager<S> {
    let manager = QueueManager::open(store, Options::new("QM1")).unwrap();
    manager.define(Kind::QueueLocal, "Q1", &[], false, None).unwrap();
    manager
}

pub(crate) fn opened() -> Open<ModelStore> {
    opened_on(manager_on(&ModelStore::new()), None)
}

pub(crate) fn opened_on<S: Store>(manager: QueueManager<S>, tls: Option<Tls>) -> Open<S> {
    opened_with(manager, tls, |_| {})
}

pub(crate) fn opened_with<S: Store>(
    manager: QueueManager<S>,
    tls: Option<Tls>,
    set: impl FnOnce(&mut rest::Options),
) -> Open<S> {
    let people = Arc::new(People::default());
    let mut options = rest::Options::new(Arc::new(RealClock::new()), Arc::new(OsEntropy));
    set(&mut options);
    let door = Door::new(Arc::new(manager.clone()), Arc::clone(&people) as _, options).unwrap();
    let site =
        Site { address: "127.0.0.1:0".into(), tls, connections_max: 64, router: door.router() };
    let server = HttpServer::new().unwrap().listen(site).unwrap();
    Open { manager, people, door, server }
}

impl<S: Store> Open<S> {
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Sends bytes and reads until the door closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        self.raw_until(bytes, false)
    }

    /// The same, and says that no more comes.
    pub(crate) fn cut(&self, bytes: &[u8]) -> Vec<u8> {
        self.raw_until(bytes, true)
    }

    fn raw_until(&self, bytes: &[u8], cut: bool) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The door may have answered and closed before it has read everything.
        let _ = stream.write_all(bytes);
        if cut {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Makes a request; its answer has to be one that the description has.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str("Host: localhost\r\n");
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = stream.write_all(&[request.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let reply = read_reply(&answer);
        schema::check(method, path, &reply);
        reply
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    pub(crate) fn put(&self, path: &str, headers: &[(&str, &str)], text: &str) -> Reply {
        self.ask("POST", path, &[&[CSRF, TEXT], headers].concat(), text.as_bytes())
    }

    pub(crate) fn take(&self, path: &str) -> Reply {
        self.ask("DELETE", path, &[CSRF], b"")
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.ask(method, path, &[CSRF, JSON], body.to_string().as_bytes())
    }

    /// Puts a message by the queue manager itself.
    pub(crate) fn put_by_call(&self, descriptor: MessageDescriptor, data: &[u8]) {
        let mut connection = self.manager.connect(ConnectOptions::default()).unwrap();
        let mut options = PutOptions::new(put::NO_SYNCPOINT | put::NEW_MSG_ID);
        let mut what = ObjectDescriptor::queue("Q1");
        let mut descriptor = descriptor;
        connection.put1(&mut what, &mut descriptor, &mut options, data).unwrap();
    }

    pub(crate) fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).unwrap().depth
    }

    pub(crate) fn alter(&self, queue: &str, attribute: &str, value: &str) {
        let value = [(attribute, Held::from(value))];
        self.manager.alter(Kind::QueueLocal, queue, &value).unwrap();
    }
}

pub(crate) fn read_reply(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(bytes)));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
    let pairs = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<String, String> =
        pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    assert!(!headers.contains_key("transfer-encoding"), "lengths are known: {head}");
    let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
    Reply { status, headers, body }
}
