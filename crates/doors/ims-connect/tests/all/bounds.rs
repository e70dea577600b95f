//! What clients may cost: garbage, slowness, floods, and many that do nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use holdfast_ims_connect::wire::{Function, f2, f3, f5};
use holdfast_ims_connect::{Options, Server};

use crate::client::{Client, bare, name, options, pages, queued, request, start, status, text};
use crate::flows::until;
use crate::manager::Memory;

fn start_with(change: impl FnOnce(&mut Options)) -> (Server, Arc<Memory>) {
    let manager = Arc::new(Memory::default());
    let mut options = options();
    change(&mut options);
    (Server::start(options, manager.clone()).expect("it starts"), manager)
}

/// Sends bytes; what comes back until the server ends the connection.
fn say(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    let _ = stream.write_all(bytes);
    let mut back = Vec::new();
    let _ = stream.read_to_end(&mut back);
    back
}

#[test]
fn garbage_ends_its_own_connection_alone() {
    let (server, _) = start_with(|options| options.frame_time = Duration::from_millis(300));
    let mut good = Client::connect(server.address());
    assert_eq!(text(&good.ask(&request("GOOD", b"ECHO"))), "ECHO");
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        &[0; 200],
        &[0xff; 200],
        b"\0\0\0\x58\0\x50\0\0*NOBODY*",
        b"\0",
    ] {
        assert_eq!(say(&server, bytes), b"", "{bytes:?}");
    }
    // Where the message says who would understand it, it is told what is wrong.
    let short = say(&server, b"\0\0\0\x10\0\x50\0\0*SAMPL1*");
    assert_eq!(short, b"\0\0\0\x18\0\x14\0\0*REQSTS*\0\0\0\x04\0\0\0\x07");
    let long = say(&server, b"\x7f\0\0\0\0\x50\0\0*SAMPLE*");
    assert_eq!(long, b"\0\x14\0\0*REQSTS*\0\0\0\x04\0\0\0\x04");
    assert_eq!(text(&good.ask(&request("GOOD", b"ECHO"))), "ECHO");
    assert!(server.counters().read().garbage >= 3);
}

#[test]
fn a_message_that_does_not_end_ends() {
    let (server, _) = start_with(|options| options.frame_time = Duration::from_millis(200));
    let bytes = request("SLOW", b"ECHO").encode(otma::Encoding::Ascii, &pages());
    assert_eq!(say(&server, &bytes[..50]), b"");
    assert_eq!(say(&server, &bytes[..3]), b"");
    assert_eq!(server.counters().read().slow, 2);
    // One that is slow, but in time, is served.
    let mut client = Client::connect(server.address());
    for part in bytes.chunks(30) {
        client.stream.write_all(part).expect("the server reads");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(text(&client.receive()), "ECHO");
}

#[test]
fn a_client_that_does_not_read_hurts_nobody() {
    let (server, _) = start_with(|options| options.write_time = Duration::from_millis(300));
    let mut deaf = Client::connect(server.address());
    let big = vec![b'x'; 30_000];
    let ask = request("DEAF", &[b"ECHO ".as_slice(), &big].concat());
    let bytes = ask.encode(otma::Encoding::Ascii, &pages());
    deaf.stream.set_write_timeout(Some(Duration::from_millis(200))).expect("a limit");
    while deaf.stream.write_all(&bytes).is_ok() {}
    let mut good = Client::connect(server.address());
    assert_eq!(text(&good.ask(&request("GOOD", b"ECHO"))), "ECHO");
    until(|| server.counters().read().slow == 1);
}

// As many inputs as there are threads waited for room in the log, and nobody read the answer by
// which the log would have had some.
#[test]
fn calls_that_wait_hold_up_their_own_connections_alone() {
    let mut manager = Memory::default();
    manager.waits = true;
    let manager = Arc::new(manager);
    let server = Server::start(options(), manager.clone()).expect("it starts");
    let mut confirms = Client::connect(server.address());
    let mut ask = request("C1", b"ECHO 1");
    ask.irm.f3 = f3::CONFIRM;
    assert_eq!(text(&confirms.ask(&ask)), "ECHO 1");
    let mut stuck: Vec<Client> = (0..4)
        .map(|number| {
            let mut client = Client::connect(server.address());
            client.send(&request(&format!("S{number}"), b"STUCK"));
            client
        })
        .collect();
    until(|| manager.stuck() == stuck.len());
    let mut ack = bare("C1", Function::Ack);
    ack.irm.f2 = f2::MODE_1;
    assert_eq!(status(&confirms.ask(&ack)), (0x0c, 0x61));
    manager.release();
    for client in &mut stuck {
        assert_eq!(text(&client.receive()), "STUCK");
    }
}

// What waits on a tpipe may be much: it was looked through by the threads that serve everybody.
#[test]
fn fetches_that_take_long_hold_up_their_own_connections_alone() {
    let (server, manager) = start();
    let mut stuck: Vec<Client> = (0..4)
        .map(|number| {
            let mut client = Client::connect(server.address());
            let mut resume = bare(&format!("S{number}"), Function::ResumeTpipe);
            (resume.irm.reroute, resume.irm.f5) = (name("STUCK"), f5::SINGLE);
            client.send(&resume);
            client
        })
        .collect();
    until(|| manager.stuck() == stuck.len());
    let mut other = Client::connect(server.address());
    assert_eq!(text(&other.ask(&request("OTHER", b"ECHO"))), "ECHO");
    manager.queue("STUCK", b"ONE");
    manager.release();
    let found = stuck.iter_mut().map(|client| text(&client.receive())).filter(|one| one == "ONE");
    assert_eq!(found.count(), 1);
}

// The input went on, and its program waited for an answer that nobody could give.
#[test]
fn what_a_call_brings_after_its_server_has_gone_is_given_back() {
    let mut manager = Memory::default();
    manager.waits = true;
    let manager = Arc::new(manager);
    let options = Options { grace: Duration::ZERO, ..options() };
    let server = Server::start(options, manager.clone()).expect("it starts");
    let mut client = Client::connect(server.address());
    client.send(&request("C1", b"STUCK"));
    until(|| manager.stuck() == 1);
    let counters = server.counters();
    let closing = std::thread::spawn(move || server.close());
    until(|| counters.read().open == 0);
    assert_eq!(manager.received(), Vec::<String>::new());
    manager.release();
    until(|| manager.received() == ["abandoned"]);
    closing.join().expect("it closes");
}

#[test]
fn connections_past_the_limit_are_turned_away() {
    let (server, _) = start_with(|options| options.connections_max = 2);
    let mut one = Client::connect(server.address());
    one.ask(&request("ONE", b"ECHO"));
    let mut two = Client::connect(server.address());
    two.ask(&request("TWO", b"ECHO"));
    assert!(Client::connect(server.address()).ended());
    drop(two);
    until(|| server.counters().read().open == 1);
    let mut three = Client::connect(server.address());
    assert_eq!(text(&three.ask(&request("THREE", b"ECHO"))), "ECHO");
    assert_eq!(server.counters().read().turned_away, 1);
}

#[test]
fn requests_that_come_at_once_are_answered_in_their_order() {
    let (server, _) = start();
    let mut client = Client::connect(server.address());
    let ask = |number: u32| request("FAST", format!("ECHO {number}").as_bytes());
    let bytes: Vec<u8> =
        (0..500).flat_map(|n| ask(n).encode(otma::Encoding::Ascii, &pages())).collect();
    client.stream.write_all(&bytes).expect("the server reads");
    for number in 0..500 {
        assert_eq!(text(&client.receive()), format!("ECHO {number}"));
    }
}

#[test]
fn a_server_that_closes_tells_who_waits() {
    let (server, manager) = start();
    let mut idle = Client::connect(server.address());
    idle.ask(&request("IDLE", b"ECHO"));
    let mut waits = Client::connect(server.address());
    let mut late = request("WAITS", b"LATE");
    late.irm.timer = 0xff;
    waits.send(&late);
    let mut owes = Client::connect(server.address());
    owes.ask(&queued("OWES", b"ECHO"));
    until(|| server.counters().read().messages_in == 3);
    server.close();
    assert!(idle.ended());
    assert_eq!(status(&waits.receive()), (0x08, 0x49));
    assert_eq!(status(&owes.receive()), (0x08, 0x49));
    let mut received = manager.received();
    received.sort();
    assert_eq!(received, ["Kept", "abandoned"]);
}

#[test]
fn a_port_without_users_stays_on_this_machine() {
    let everywhere = "0.0.0.0:0".parse().expect("an address");
    let (server, _) = start_with(|options| options.addresses = vec![everywhere]);
    assert!(server.address().ip().is_loopback());
    assert_eq!(server.notices().len(), 1);
    let (server, _) = start_with(|options| {
        options.addresses = vec![everywhere];
        options.public_without_users = true;
    });
    assert!(!server.address().ip().is_loopback() && server.notices().is_empty());
}

// A connection of somebody who was removed, or had another password, was served as before.
#[test]
fn a_user_who_changes_is_checked_again_on_the_same_connection() {
    let mut manager = Memory::default();
    manager.users.insert(name("TELLER"), b"SECRET".to_vec());
    let manager = Arc::new(manager);
    let server = Server::start(options(), manager.clone()).expect("it starts");
    let mut ask = request("C1", b"ECHO");
    (ask.irm.user, ask.irm.password) = (name("TELLER"), name("SECRET"));
    let mut client = Client::connect(server.address());
    assert_eq!(text(&client.ask(&ask)), "ECHO");
    manager.mark.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    while server.counters().read().password_checks < 2 {
        assert_eq!(text(&client.ask(&ask)), "ECHO");
    }
}

#[test]
fn users_are_checked_once_a_connection() {
    let mut manager = Memory::default();
    manager.users.insert(name("TELLER"), b"SECRET".to_vec());
    manager.users.insert(name("BOSS"), b"BOSS".to_vec());
    let manager = Arc::new(manager);
    let server = Server::start(options(), manager.clone()).expect("it starts");
    let ask = |user: &str, password: &str| {
        let mut ask = request("C1", b"ECHO");
        ask.irm.user = name(user);
        ask.irm.password = name(password);
        ask
    };
    for wrong in [ask("", ""), ask("TELLER", ""), ask("TELLER", "WRONG"), ask("NOBODY", "SECRET")] {
        let mut client = Client::connect(server.address());
        let reply = client.ask(&wrong);
        assert_eq!(status(&reply), (0x08, 0x28));
        assert!(client.ended());
    }
    let mut client = Client::connect(server.address());
    for _ in 0..10 {
        assert_eq!(text(&client.ask(&ask("TELLER", "SECRET"))), "ECHO");
    }
    assert_eq!(server.counters().read().password_checks, 4);
    // Another user cannot take a client's place, nor end its wait.
    let mut other = Client::connect(server.address());
    let mut steal = ask("TELLER", "WRONG");
    steal.irm.f3 = f3::CANCEL_DUPLICATE;
    assert_eq!(status(&other.ask(&steal)), (0x08, 0x28));
    let mut other = Client::connect(server.address());
    let mut steal = ask("BOSS", "BOSS");
    steal.irm.f3 = f3::CANCEL_DUPLICATE;
    assert_eq!(status(&other.ask(&steal)), (0x08, 0x38));
    let mut other = Client::connect(server.address());
    assert_eq!(status(&other.ask(&bare("C1", Function::CancelTimer))), (0x08, 0x28));
    let mut other = Client::connect(server.address());
    let mut cancel = ask("BOSS", "BOSS");
    cancel.irm.function = Function::CancelTimer;
    cancel.segments.clear();
    assert_eq!(status(&other.ask(&cancel)), (0x08, 0x3a));
    assert_eq!(text(&client.ask(&ask("TELLER", "SECRET"))), "ECHO");
}

/// The memory of this process that is in use.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("there is one");
    let pages: u64 = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4_096
}

#[test]
fn idle_connections_cost_little() {
    let (server, _) = start();
    let before = resident();
    let clients: Vec<Client> = (0..400)
        .map(|number| {
            let mut client = Client::connect(server.address());
            client.ask(&request(
                &format!("I{number}"),
                &[b"ECHO ".as_slice(), &[b'x'; 9_000]].concat(),
            ));
            client
        })
        .collect();
    let each = resident().saturating_sub(before) / clients.len() as u64;
    eprintln!("{each} bytes an idle connection");
    // 30,000 of them are to fit 300 MB.
    assert!(each < 10_000, "an idle connection costs {each} bytes");
    assert_eq!(server.counters().read().open, 400);
}
