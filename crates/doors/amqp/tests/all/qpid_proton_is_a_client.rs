//! Qpid Proton for Python, from its registry, against a door over the model of the store.

#![allow(clippy::disallowed_methods)] // starts a client's own programs

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use amqp::{Authenticator, Options, Server};
use queue_manager::QueueManager;
use queue_manager::objects::{Kind, Value};
use seam::clock::RealClock;
use seam::entropy::OsEntropy;
use store_suite::model::ModelStore;

const LIMIT: Duration = Duration::from_secs(300);

struct Users;

impl Authenticator for Users {
    fn plain(&self, user: &str, password: &[u8]) -> Option<String> {
        (user == "joe" && password == b"secret").then(|| user.to_owned())
    }

    fn anonymous(&self) -> Option<String> {
        Some("guest".into())
    }
}

/// A Python that has the client; installed once, in the folder for what tests make.
fn python() -> &'static PathBuf {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("proton");
        let python = folder.join("bin/python");
        let has_client = |python: &PathBuf| {
            let mut command = Command::new(python);
            command.args(["-c", "import proton"]);
            seam::process::output(&mut command, LIMIT).is_ok_and(|output| output.status.success())
        };
        if !has_client(&python) {
            let mut venv = Command::new("python3");
            venv.args(["-m", "venv"]).arg(&folder);
            let made = seam::process::output(&mut venv, LIMIT).expect("python3 is there");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            let mut pip = Command::new(folder.join("bin/pip"));
            pip.args(["install", "-q", "python-qpid-proton==0.40.0"]);
            let got = seam::process::output(&mut pip, LIMIT).expect("pip is there");
            assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
        }
        python
    })
}

struct Door {
    manager: QueueManager<ModelStore>,
    server: Server,
}

fn door() -> Door {
    let options = queue_manager::Options {
        name: "QM1".into(),
        clock: Arc::new(RealClock::new()),
        entropy: Arc::new(OsEntropy),
        authority: None,
        connections_max: 1_000,
    };
    let manager = QueueManager::open(&ModelStore::new(), options).expect("it opens");
    for (name, most) in [("APP.Q", 5_000), ("MOVED.Q", 5_000), ("DEAD.Q", 5_000), ("FULL.Q", 1)] {
        let attributes = [("MAXDEPTH", Value::Number(most))];
        manager.define(Kind::QueueLocal, name, &attributes, false, None).expect("it is new");
    }
    let dead = [("DEADQ", Value::from("DEAD.Q"))];
    manager.alter(Kind::QueueManager, "QM1", &dead).expect("it is an attribute");
    let options = Options {
        address: ([127, 0, 0, 1], 0).into(),
        tls: None,
        passwords_without_tls: true,
        connections_max: 100,
        threads: 2,
    };
    let server = Server::start(&manager, options, Arc::new(Users)).expect("it listens");
    Door { manager, server }
}

impl Door {
    fn client(&self, scenario: &str) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/client.py");
        let mut command = Command::new(python());
        let address = format!("amqp://{}", self.server.address());
        command.arg(script).arg(address).arg(scenario);
        let output = seam::process::output(&mut command, LIMIT).expect("python runs");
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.trim() == "ok", "{scenario}: {told}{errors}");
    }

    fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).map_or(0, |status| status.depth)
    }
}

#[test]
fn what_is_sent_comes_back_with_all_that_it_says() {
    let door = door();
    door.client("send_and_receive");
    assert_eq!(door.depth("APP.Q"), 0);
}

#[test]
fn a_message_of_megabytes_comes_in_many_frames() {
    let door = door();
    door.client("large");
    assert_eq!(door.depth("APP.Q"), 0);
}

#[test]
fn a_delivery_ends_as_the_client_says() {
    let door = door();
    door.client("fates");
    assert_eq!(door.depth("APP.Q"), 0);
    assert_eq!(door.depth("DEAD.Q"), 1, "it was looked at, and not accepted");
}

#[test]
fn a_queue_is_browsed() {
    let door = door();
    door.client("browse");
    assert_eq!(door.depth("APP.Q"), 0);
}

#[test]
fn a_selector_leaves_the_others_where_they_are() {
    let door = door();
    door.client("selector");
    assert_eq!(door.depth("APP.Q"), 2);
}

#[test]
fn a_queue_is_made_for_a_link_and_goes_with_its_connection() {
    let door = door();
    door.client("dynamic");
}

#[test]
fn what_cannot_be_is_refused() {
    let door = door();
    door.client("refusals");
    assert_eq!(door.depth("APP.Q"), 1);
    assert_eq!(door.depth("FULL.Q"), 1);
}

#[test]
fn strangers_are_not_let_in() {
    door().client("strangers");
}

#[test]
fn a_transaction_is_one_unit_of_work() {
    let door = door();
    door.client("transactions");
    assert_eq!((door.depth("APP.Q"), door.depth("MOVED.Q")), (0, 0));
}

#[test]
fn a_consumer_keeps_up_and_sees_each_message_once() {
    let door = door();
    door.client("many");
    assert_eq!(door.depth("APP.Q"), 0);
}
