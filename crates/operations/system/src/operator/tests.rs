//! Commands and systems, over the real socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::clock::Clock;
use seam::socket::connect;

use std::time::Duration;

use super::*;
use crate::protocol::{PATIENCE, line};
use crate::{AnyOptions, Bytes, InitOptions, OpenOptions, SystemConfig, run};

/// A system in a folder that goes away with the test.
struct Place {
    seam: Seam,
    dir: PathBuf,
}

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("holdfast-operator-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let place = Place { seam: Seam::real(), dir: std::env::temp_dir().join(name) };
        let mut config = SystemConfig::new(base::SystemId::default());
        config.log.segment_bytes = Bytes(1 << 20);
        config.log.ring_bytes = Bytes(1 << 20);
        config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(1 << 20));
        let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
        let options = InitOptions { config, cost, ..InitOptions::default() };
        System::init(&place.seam, &place.dir, &phrase(), &options).unwrap();
        place
    }

    fn open(&self) -> System {
        System::open(&self.seam, &self.dir, &phrase(), OPTIONS).unwrap()
    }

    /// What a command gets; it tells its own passphrase if it must open the system.
    fn run(&self, verb: &str) -> Result<Value, Refusal> {
        let request = Request::new(verb);
        let passphrase = || Ok::<_, Refusal>(phrase());
        run(&self.seam, &self.dir, ANY, &request, passphrase, &mut |_| {})
    }

    /// What comes back for some bytes.
    fn send(&self, bytes: &[u8]) -> Refusal {
        let mut stream = connect(&self.dir.join(SOCKET)).unwrap();
        stream.write_all(bytes).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        match read_answer(&answer) {
            Ok(Answer::Error(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Place {
    #[allow(clippy::disallowed_methods)] // the test's own folder
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn phrase() -> Passphrase {
    Passphrase::from("correct horse battery staple")
}

static WORKING: AtomicUsize = AtomicUsize::new(0);
const OPTIONS: OpenOptions = OpenOptions {
    serve: true,
    verbs: VERBS,
    override_stale: false,
    begin_anchor: false,
    in_memory: false,
    notice: |_| (),
};
const ANY: AnyOptions = AnyOptions { options: OPTIONS, engine_verbs: &[] };
const VERBS: &[Verb] = &[
    Verb { name: "number", run: |system, _, _| done(&system.config().system.to_string()) },
    Verb { name: "panic", run: |_, _, _| panic!("of the test") },
    Verb { name: "work", run: work },
];

/// Works until it is told to end.
fn work(system: &System, _: &Request, talk: &mut Talk<'_>) -> Result<Value, Refusal> {
    WORKING.fetch_add(1, SeqCst);
    let ended = loop {
        match talk.progress("the test", 1, 2, "steps") {
            Ok(()) => system.kernel().seam().clock.sleep(Duration::from_millis(5)),
            Err(refusal) => break refusal,
        }
    };
    WORKING.fetch_sub(1, SeqCst);
    Err(ended)
}

fn wait_until(clock: &Arc<dyn Clock>, done: impl Fn() -> bool) {
    let begun = clock.monotonic();
    while !done() {
        assert!(clock.monotonic() - begun < Duration::from_secs(60), "nothing happens");
        clock.sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_command_reaches_a_system_in_use_and_one_that_is_stopped() {
    let place = Place::new();
    let stopped = place.run("number").unwrap();
    let system = place.open();
    assert_eq!(place.run("number").unwrap(), stopped);
    assert_eq!(ask(&place.dir).unwrap().unwrap().system, stopped);
    let refusal = place.run("dance").unwrap_err();
    assert_eq!(refusal.code, "HFY021");
    assert!(refusal.advice.contains("status, ") && refusal.advice.contains("number"));
    system.close().unwrap();
    assert_eq!(place.run("dance").unwrap_err(), refusal, "wherever it was refused");
    assert_eq!(ask(&place.dir).unwrap(), None);
    assert_eq!(place.run("number").unwrap(), stopped);
}

#[test]
fn whatever_comes_is_answered_and_harms_nobody() {
    let place = Place::new();
    let system = place.open();
    for bytes in [&b"status\n"[..], b"{\"verb\":\"status\"}", b"{\"verb\":1}\n", b"\xff\xfe\n"] {
        assert_eq!(place.send(bytes).code, "HFY020", "{bytes:?}");
    }
    assert_eq!(place.send(&vec![b' '; REQUEST_BYTES_MAX as usize + 1]).code, "HFY020");
    let panic = place.send(b"{\"verb\":\"panic\"}\n");
    assert!(panic.code == "HFY027" && panic.message.contains("of the test"), "{panic:?}");
    let misfit = Request::new("x").arguments::<u8>().unwrap_err();
    assert_eq!(misfit.code, "HFY022");
    place.run("number").unwrap();
    system.close().unwrap();
}

#[test]
fn clients_come_and_go_and_a_stop_ends_what_is_at_work() {
    let place = Place::new();
    let system = place.open();
    let clock = &place.seam.clock;
    let connected = || {
        let mut stream = connect(&place.dir.join(SOCKET)).unwrap();
        stream.write_all(b"{\"verb\":\"work\"}\n").unwrap();
        BufReader::new(stream)
    };
    let line = |client: &mut BufReader<UnixStream>| {
        let mut line = String::new();
        client.read_line(&mut line).unwrap();
        read_answer(line.as_bytes())
    };
    // As many as there may be, beside some that say nothing.
    let silent: Vec<UnixStream> =
        (0..4).map(|_| connect(&place.dir.join(SOCKET)).unwrap()).collect();
    let mut clients: Vec<_> = (0..28).map(|_| connected()).collect();
    wait_until(clock, || WORKING.load(SeqCst) == 28);
    assert!(matches!(line(&mut clients[0]), Ok(Answer::Progress(at)) if at.total == 2));
    let crowded = place.run("number").unwrap_err();
    assert_eq!(crowded.code, "HFY024");
    // Who goes away makes room.
    clients.truncate(2);
    drop(silent);
    wait_until(clock, || WORKING.load(SeqCst) == 2);
    wait_until(clock, || place.run("number").is_ok());
    let waiting = connect(&place.dir.join(SOCKET)).unwrap();
    system.close().unwrap();
    assert_eq!(WORKING.load(SeqCst), 0);
    for client in &mut clients {
        let end = loop {
            match line(client) {
                Ok(Answer::Progress(_)) => {}
                other => break other,
            }
        };
        assert!(matches!(end, Ok(Answer::Error(refusal)) if refusal.code == "HFY025"));
    }
    drop(waiting);
}

/// A connection that has sent a request, and what it was told to prove.
fn challenged(place: &Place, request: &[u8]) -> (UnixStream, Vec<u8>) {
    let mut stream = connect(&place.dir.join(SOCKET)).unwrap();
    stream.write_all(request).unwrap();
    stream.write_all(b"\n").unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    match read_answer(line.as_bytes()) {
        Ok(Answer::Prove(challenge)) => (stream, line::unhex(&challenge).unwrap()),
        other => panic!("{other:?}"),
    }
}

/// What is said to a proof.
fn answer_to(mut stream: &UnixStream, proof: &[u8]) -> Answer {
    let line = format!("{{\"proof\":\"{}\"}}\n", line::hex(proof));
    stream.write_all(line.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    read_answer(&answer).unwrap()
}

#[test]
fn what_changes_the_system_is_done_only_for_whoever_proves_the_passphrase() {
    let place = Place::new();
    let system = place.open();
    let request = br#"{"verb":"keys delete","arguments":{"label":"X","generation":1}}"#;
    let keys = crate::read_keyset(&place.seam, &place.dir, &phrase()).unwrap();
    let code = |answer| match answer {
        Answer::Error(refusal) => refusal.code,
        other => panic!("{other:?}"),
    };
    let (stream, first) = challenged(&place, request);
    let good = keys.prove(&[&first[..], request].concat());
    assert!(!["HFY029", "HFY030"].contains(&&*code(answer_to(&stream, &good))), "it is heard");
    // A proof is good for one time, for one request, and for one system's keys.
    let (stream, second) = challenged(&place, request);
    assert_ne!(first, second);
    assert_eq!(code(answer_to(&stream, &good)), "HFY030");
    let (stream, third) = challenged(&place, request);
    let other = keys.prove(&[&third[..], b"another request"].concat());
    assert_eq!(code(answer_to(&stream, &other)), "HFY030");
    let elsewhere = Place::new();
    let keys = crate::read_keyset(&elsewhere.seam, &elsewhere.dir, &phrase()).unwrap();
    let (stream, fourth) = challenged(&place, request);
    let foreign = keys.prove(&[&fourth[..], request].concat());
    assert_eq!(code(answer_to(&stream, &foreign)), "HFY030");
    // The command gives the proof by itself.
    let refusal = place.run("keys delete").unwrap_err();
    assert_eq!(refusal.code, "HFY022", "{refusal:?}");
    system.close().unwrap();
}

/// Sending a database away was free: its digest tells equal contents, and changes wait meanwhile.
#[test]
fn no_database_is_sent_away_without_a_proof() {
    let none = serde_json::json!({});
    assert!(needs_proof("db send", &none) && needs_proof("db empty", &none));
    assert!(!needs_proof("db status", &none));
    for (asked, proves) in [
        (serde_json::json!({"copy": 2}), false),
        (serde_json::json!({"copy": 2, "folder": null}), false),
        (serde_json::json!({"copy": 2, "folder": "/mnt/new/log"}), true),
    ] {
        assert_eq!(needs_proof("log resync", &asked), proves, "{asked}");
    }
}

#[test]
fn programs_that_are_served_give_no_commands() {
    let place = Place::new();
    let system = place.open();
    let served = system.guests().enter(std::process::id());
    assert_eq!(place.run("number").unwrap_err().code, "HFY029");
    assert!(ask(&place.dir).is_err());
    drop(served);
    place.run("number").unwrap();
    system.close().unwrap();
}

#[test]
fn a_client_that_sends_a_little_now_and_then_is_not_waited_for() {
    let place = Place::new();
    let system = place.open();
    let clock = &place.seam.clock;
    let begun = clock.monotonic();
    let mut stream = connect(&place.dir.join(SOCKET)).unwrap();
    // Each byte comes soon; the request never does.
    while clock.monotonic() - begun < Duration::from_secs(60) && stream.write_all(b" ").is_ok() {
        clock.sleep(Duration::from_millis(100));
    }
    let took = clock.monotonic() - begun;
    assert!(took >= PATIENCE && took < Duration::from_secs(50), "{took:?}");
    system.close().unwrap();
}
