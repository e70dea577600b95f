//! A door over the model of the store, and the clients that people have, from their registries.
#![allow(dead_code)] // each test uses its part
#![allow(clippy::disallowed_methods)] // starts clients' own programs

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use amqp::{Authenticator, Options, Server, Tls};
use queue_manager::QueueManager;
use queue_manager::objects::{Kind, Value};
use seam::clock::RealClock;
use seam::entropy::OsEntropy;
use store_suite::model::ModelStore;

const LIMIT: Duration = Duration::from_secs(300);
const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/clients");
/// Of a neighbour's tests.
pub(crate) const CERTIFICATES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ims-connect/tests/certificates");
const FETCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/amqp-clients.sh");
/// What the script answers where the client's language is not on the machine.
const ABSENT: i32 = 3;

/// A client that people have.
#[derive(Clone, Copy)]
pub(crate) enum Client {
    Proton,
    Rhea,
    Jms,
    Go,
}

impl Client {
    fn name(self) -> &'static str {
        match self {
            Client::Proton => "proton",
            Client::Rhea => "rhea",
            Client::Jms => "jms",
            Client::Go => "go",
        }
    }

    /// The client, fetched once; `None`: its language is not on this machine.
    fn folder(self) -> Option<PathBuf> {
        static FETCHED: [OnceLock<bool>; 4] = [const { OnceLock::new() }; 4];
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../tools/amqp");
        let is_here = FETCHED[self as usize].get_or_init(|| {
            let mut fetch = Command::new(FETCH);
            fetch.arg(&folder).arg(self.name());
            let fetched = seam::process::output(&mut fetch, LIMIT).expect("the script runs");
            let errors = String::from_utf8_lossy(&fetched.stderr);
            let absent = fetched.status.code() == Some(ABSENT);
            assert!(absent || fetched.status.success(), "{}: {errors}", self.name());
            if absent {
                eprintln!("passed over, for {} cannot run here: {errors}", self.name());
            }
            !absent
        });
        is_here.then_some(folder)
    }

    /// The command that runs a scenario against an address.
    fn command(self, address: &str) -> Option<Command> {
        let folder = self.folder()?;
        let url = format!("amqp://{address}");
        Some(match self {
            Client::Proton => {
                let mut command = Command::new(folder.join("proton/bin/python"));
                command.arg(format!("{CLIENTS}/qpid_proton.py")).arg(url);
                command
            }
            Client::Rhea => {
                let mut command = Command::new("node");
                command.env("NODE_PATH", folder.join("rhea/node_modules"));
                let (host, port) = address.rsplit_once(':').expect("it has a port");
                command.arg(format!("{CLIENTS}/rhea.js")).args([host, port]);
                command
            }
            Client::Jms => {
                let mut command = Command::new("java");
                command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto"]);
                // Objects in messages are serialized, which that client trusts nobody with.
                command.arg("-Dorg.apache.qpid.jms.deserialization.allow_list=*");
                let (client, own) = (folder.join("jms/*"), folder.join("jms-scenarios"));
                command.arg("-cp").arg(format!("{}:{}", client.display(), own.display()));
                command.arg("Jms").arg(url);
                command
            }
            Client::Go => {
                let mut command = Command::new(folder.join("go-client"));
                command.arg(url);
                command
            }
        })
    }
}

struct Users {
    anonymous: bool,
    mark: Arc<AtomicU64>,
}

impl Authenticator for Users {
    fn plain(&self, user: &str, password: &[u8]) -> Option<String> {
        (user == "joe" && password == b"secret").then(|| user.to_owned())
    }

    fn external(&self, certificate: &[u8]) -> Option<String> {
        tls::common_name(certificate)
    }

    fn anonymous(&self, _local: bool) -> Option<String> {
        self.anonymous.then(|| "guest".into())
    }

    fn mark(&self, _: &str) -> Option<u64> {
        Some(self.mark.load(Ordering::SeqCst))
    }
}

/// Nobody but `root`; records say what others may.
struct Administrators;

impl queue_manager::Users for Administrators {
    fn is_administrator(&self, user: &str) -> bool {
        user == "root"
    }

    fn groups(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

pub(crate) struct Door {
    pub(crate) manager: QueueManager<ModelStore>,
    pub(crate) server: Server,
    /// Of all users.
    pub(crate) mark: Arc<AtomicU64>,
}

impl Door {
    /// A door with queues behind it.
    pub(crate) fn new() -> Door {
        Door::with(&Options { addresses: vec![([127, 0, 0, 1], 0).into()], ..options() }, true)
    }

    /// One that speaks TLS, to those who say who they are.
    pub(crate) fn secured(tls: Tls) -> Door {
        let tls_addresses = vec![([127, 0, 0, 1], 0).into()];
        Door::with(&Options { tls_addresses, tls: Some(tls), ..options() }, false)
    }

    fn with(options: &Options, anonymous: bool) -> Door {
        let manager = manager();
        let mark = Arc::new(AtomicU64::new(1));
        let users = Users { anonymous, mark: Arc::clone(&mark) };
        let server = Server::start(&manager, options, Arc::new(users));
        Door { manager, server: server.expect("it listens"), mark }
    }

    pub(crate) fn address(&self) -> String {
        self.server.addresses()[0].to_string()
    }

    /// Runs a scenario of a client; answers what it told besides that all is well. `None`: the
    /// client's language is not on this machine.
    pub(crate) fn answer(&self, client: Client, scenario: &str) -> Option<String> {
        let mut command = client.command(&self.address())?;
        command.arg(scenario).arg(CERTIFICATES);
        let output = seam::process::output(&mut command, LIMIT).expect("the client runs");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let answer = answer.trim().strip_suffix("ok").filter(|_| output.status.success());
        let name = client.name();
        let Some(answer) = answer else { panic!("{name}: {scenario}: {output:?}: {errors}") };
        Some(answer.trim().to_owned())
    }

    /// Runs a scenario of a client, and looks then how many messages queues have.
    pub(crate) fn run(&self, client: Client, scenario: &str, depths: &[(&str, u64)]) {
        if self.answer(client, scenario).is_none() {
            return;
        }
        // A client may go before the door has read the last that it said.
        let deadline = std::time::Instant::now() + LIMIT;
        while self.server.counted().connections > 0 && std::time::Instant::now() < deadline {
            seam::thread::yield_now();
        }
        for (queue, depth) in depths {
            assert_eq!(self.depth(queue), *depth, "{queue}");
        }
    }

    /// Lets the clients that do not say who they are do that.
    pub(crate) fn grant(&self, (profile, of_type): (&str, &str), list: &[&str]) {
        let list = list.iter().map(|one| (*one).to_owned()).collect();
        let values = [
            ("PROFILE", Value::from(profile)),
            ("OBJTYPE", Value::from(of_type)),
            ("ENTITY", Value::from("guest")),
            ("ENTTYPE", Value::from("PRINCIPAL")),
            ("AUTHLIST", Value::List(list)),
        ];
        let name = format!("{profile}/{of_type}/PRINCIPAL/guest");
        let defined = self.manager.define(Kind::AuthorityRecord, &name, &values, false, None);
        defined.expect("it is new");
    }

    pub(crate) fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).map_or(0, |status| status.depth)
    }
}

fn options() -> Options {
    Options { connections_max: 100, threads: 2, ..Options::default() }
}

fn manager() -> QueueManager<ModelStore> {
    let options = queue_manager::Options {
        name: "QM1".into(),
        clock: Arc::new(RealClock::new()),
        entropy: Arc::new(OsEntropy),
        authority: None,
        users: Some(Arc::new(Administrators)),
        storage: None,
        connections_max: 1_000,
        memory_bytes_max: queue_manager::MEMORY_BYTES_MAX,
    };
    let manager = QueueManager::open(&ModelStore::new(), options).expect("it opens");
    let long = 64 << 20;
    for (name, most) in [("APP.Q", 50_000), ("MOVED.Q", 5_000), ("DEAD.Q", 5_000), ("FULL.Q", 1)] {
        let attributes = [("MAXDEPTH", Value::Number(most)), ("MAXMSGL", Value::Number(long))];
        manager.define(Kind::QueueLocal, name, &attributes, false, None).expect("it is new");
    }
    let own = [("DEADQ", Value::from("DEAD.Q")), ("MAXMSGL", Value::Number(long))];
    manager.alter(Kind::QueueManager, "QM1", &own).expect("they are attributes");
    manager
}
