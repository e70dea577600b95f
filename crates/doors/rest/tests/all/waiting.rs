//! Waits for messages: who waits gets what comes, and who has gone gets nothing.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{CSRF, QUEUE, opened};

#[test]
fn who_waits_gets_what_comes() {
    let door = opened();
    let path = format!("{QUEUE}/message?wait=60000");
    std::thread::scope(|scope| {
        let waiters: Vec<_> =
            (0..4).map(|_| scope.spawn(|| door.ask("DELETE", &path, &[CSRF], b""))).collect();
        for number in 0..4 {
            let text = number.to_string();
            assert_eq!(door.put(&format!("{QUEUE}/message"), &[], &text).status, 201);
        }
        let mut got: Vec<String> =
            waiters.into_iter().map(|one| one.join().unwrap().body).collect();
        got.sort();
        assert_eq!(got, ["0", "1", "2", "3"]);
    });
    assert_eq!(door.take(&format!("{QUEUE}/message?wait=1")).status, 204);
}

#[test]
fn a_message_stays_if_its_waiter_has_gone() {
    let door = opened();
    let mut stream = TcpStream::connect(door.address()).unwrap();
    let request = format!(
        "DELETE {QUEUE}/message?wait=60000 HTTP/1.1\r\nHost: localhost\r\n\
         ibm-mq-rest-csrf-token:\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let waits = || door.manager.connections().len();
    let until = |count: usize| {
        (0..3_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            waits() == count
        })
    };
    assert!(until(1), "it waits");
    drop(stream);
    assert!(until(0), "it has been given up");
    assert_eq!(door.put(&format!("{QUEUE}/message"), &[], "kept").status, 201);
    assert_eq!(door.take(&format!("{QUEUE}/message")).body, "kept");
}

#[test]
fn a_door_that_closes_ends_its_waits() {
    let door = opened();
    let path = format!("{QUEUE}/message?wait=600000");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| door.ask("DELETE", &path, &[CSRF], b""));
        while door.manager.connections().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        door.door.stop();
        let ended = waiter.join().unwrap();
        assert_eq!((ended.status, ended.reason()), (503, 2162));
    });
}
