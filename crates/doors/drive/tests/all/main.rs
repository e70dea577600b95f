//! Terminals against the server of IMS Connect over a transaction manager in memory.
#![allow(clippy::disallowed_methods)] // tests wait

#[path = "../../../ims-connect/tests/all/manager.rs"]
#[allow(dead_code)] // what the other tests need of it is more than what these do
mod manager;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use holdfast_drive::{Ask, Error, Flow, Kind, Pace, Plan, Random, Tls, Work, run};
use ims_connect::{Options, Server};
use otma::{Encoding, Name, Segments};

use manager::Memory;

/// Sends its number and wants it back.
struct Echo {
    flow: Flow,
    /// Every how many-th reply is called wrong.
    distrust: u64,
    sent: AtomicU64,
}

impl Work for Echo {
    fn ask(&self, terminal: u32, number: u64, _: &mut Random) -> Ask {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let mut segments = Segments::new();
        segments.push([0, 0], format!("ECHO {terminal} {number}").as_bytes()).expect("short");
        Ask { segments, flow: self.flow }
    }

    fn check(&self, _: u32, number: u64, ask: &Ask, reply: &Segments) -> Result<(), String> {
        let distrusted = self.distrust > 0 && number % self.distrust == self.distrust - 1;
        let same = reply == &ask.segments && !distrusted;
        if same { Ok(()) } else { Err(format!("{number} came back otherwise")) }
    }
}

fn kind(flow: Flow, distrust: u64) -> (Arc<Echo>, Kind) {
    let work = Arc::new(Echo { flow, distrust, sent: AtomicU64::new(0) });
    (Arc::clone(&work), Kind { name: format!("{flow:?}"), weight: 1, work })
}

fn plan(server: &Server, mix: Vec<Kind>) -> Plan {
    Plan {
        address: server.address(),
        tls: None,
        terminals: 20,
        threads: 1,
        encoding: Encoding::Ascii,
        data_store: Name::new("HFST").expect("a name"),
        user: Name::BLANK,
        group: Name::BLANK,
        password: Name::BLANK,
        prefix: "T".into(),
        mix,
        pace: Pace::Think(Duration::from_millis(5)),
        ramp: Duration::from_millis(100),
        warm_up: Duration::ZERO,
        time: Duration::from_millis(500),
        patience: Duration::from_secs(10),
        seed: 7,
    }
}

fn start() -> (Server, Arc<Memory>) {
    let manager = Arc::new(Memory::default());
    let addresses = vec!["127.0.0.1:0".parse().expect("an address")];
    let grace = Duration::from_millis(100);
    let options = Options { addresses, grace, ..Options::default() };
    (Server::start(options, manager.clone()).expect("it starts"), manager)
}

#[test]
fn every_transaction_is_confirmed_or_unknown() {
    let (server, _) = start();
    let works = [kind(Flow::Plain, 0), kind(Flow::Confirmed, 0), kind(Flow::Queued, 4)];
    let mix = works.iter().map(|(_, kind)| kind.clone()).collect();
    let (report, mut ledger) = run(plan(&server, mix)).expect("it runs");
    let sent: u64 = works.iter().map(|(work, _)| work.sent.load(Ordering::Relaxed)).sum();
    assert_eq!((ledger.confirmed.len() + ledger.unknown.len()) as u64, sent);
    assert!(report.transactions > 100, "{report:?}");
    assert_eq!(report.transactions, ledger.confirmed.len() as u64);
    assert_eq!((report.unknown, report.broken), (report.wrong, 0), "{report:?}");
    assert!(report.wrong > 0 && report.refused.is_empty(), "{report:?}");
    let kinds: u64 = report.kinds.values().map(|times| times.count).sum();
    assert_eq!(kinds, report.transactions);
    assert!(report.response.p50 <= report.response.p99);
    ledger.confirmed.sort();
    ledger.confirmed.dedup();
    assert_eq!(report.transactions, ledger.confirmed.len() as u64);
    let json = serde_json::to_value(&report).expect("it is data");
    assert_eq!(json["terminals"], 20);
}

#[test]
fn a_fixed_rate_is_kept_and_a_stall_is_charged() {
    let (server, _) = start();
    let (_, echo) = kind(Flow::Plain, 0);
    let mut fixed = plan(&server, vec![echo]);
    fixed.pace = Pace::Rate(400.0);
    fixed.ramp = Duration::ZERO;
    let (report, _) = run(fixed).expect("it runs");
    assert!((150..=200).contains(&report.transactions), "{report:?}");

    // Nobody answers: what was due meanwhile is late by the time that nobody answered.
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (work, echo) = kind(Flow::Plain, 0);
    let mut stalled = plan(&server, vec![echo]);
    stalled.address = deaf.local_addr().expect("it has one");
    stalled.patience = Duration::from_millis(200);
    stalled.pace = Pace::Rate(400.0);
    let (report, ledger) = run(stalled).expect("it runs");
    assert_eq!(report.transactions, 0);
    assert_eq!(report.unknown, work.sent.load(Ordering::Relaxed));
    assert_eq!(report.unknown, ledger.unknown.len() as u64);
}

#[test]
fn terminals_come_again_when_the_system_does() {
    let (server, manager) = start();
    let (_, echo) = kind(Flow::Confirmed, 0);
    let mut plan = plan(&server, vec![echo]);
    plan.time = Duration::from_millis(1_500);
    let address = server.address();
    let terminals = std::thread::spawn(move || run(plan));
    std::thread::sleep(Duration::from_millis(500));
    server.close();
    std::thread::sleep(Duration::from_millis(300));
    let options = Options { addresses: vec![address], ..Options::default() };
    let again = Server::start(options, manager).expect("the port is free");
    let (report, _) = terminals.join().expect("no panic").expect("it runs");
    assert!(report.broken > 0 && report.wrong == 0, "{report:?}");
    assert!(again.counters().read().messages_in > 0);
}

#[test]
fn a_plan_that_sends_nothing_is_an_error() {
    let (server, _) = start();
    assert!(matches!(run(plan(&server, Vec::new())), Err(Error::Nothing)));
}

const ROOT: &[u8] = include_bytes!("../../../ims-connect/tests/certificates/ca.pem");
const SERVER: &[u8] = include_bytes!("../../../ims-connect/tests/certificates/server.pem");
const SERVER_KEY: &[u8] = include_bytes!("../../../ims-connect/tests/certificates/server.key");
const CLIENT: &[u8] = include_bytes!("../../../ims-connect/tests/certificates/client.pem");
const CLIENT_KEY: &[u8] = include_bytes!("../../../ims-connect/tests/certificates/client.key");

#[test]
fn terminals_speak_tls_with_a_system_that_they_trust() {
    let tls = ims_connect::server::Tls {
        certificates: SERVER.to_vec(),
        key: SERVER_KEY.to_vec(),
        client_roots: Some(ROOT.to_vec()),
        client_required: true,
    };
    let addresses = vec!["127.0.0.1:0".parse().expect("an address")];
    let options = Options { addresses, tls: Some(tls), ..Options::default() };
    let server = Server::start(options, Arc::new(Memory::default())).expect("it starts");
    let own = (CLIENT.to_vec(), CLIENT_KEY.to_vec());
    let drive = |roots: &[u8], name: &str, own: Option<(Vec<u8>, Vec<u8>)>| {
        let (_, echo) = kind(Flow::Plain, 0);
        let tls = Tls { roots: roots.to_vec(), name: name.to_owned(), own };
        let time = Duration::from_millis(400);
        let (warm_up, ramp) = (Duration::ZERO, Duration::ZERO);
        run(Plan { tls: Some(tls), terminals: 2, time, warm_up, ramp, ..plan(&server, vec![echo]) })
    };
    let (report, _) = drive(ROOT, "localhost", Some(own.clone())).expect("it runs");
    assert!(report.transactions > 0, "{report:?}");
    assert_eq!((report.broken, report.wrong), (0, 0), "{report:?}");
    // For another name, or without a certificate of their own, nothing is sent.
    let (report, _) = drive(ROOT, "elsewhere", Some(own)).expect("it runs");
    assert_eq!(report.transactions, 0);
    assert!(report.broken_first.contains("ertificate"), "{report:?}");
    let (report, _) = drive(ROOT, "localhost", None).expect("it runs");
    assert_eq!(report.transactions, 0);
    let refused = drive(b"no certificate", "localhost", None);
    assert!(matches!(refused, Err(Error::Tls(_))), "{refused:?}");
}
