//! Bytes that are no requests, and requests that are wrong: each gets an answer or an end, none
//! does anything, and the door serves the next one.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::{CSRF, JSON, QUEUE, opened};

#[test]
fn bytes_that_are_no_requests_end_their_connection_alone() {
    let door = opened();
    let long_head = format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "x".repeat(100_000));
    let many: String = (0..300).map(|number| format!("H{number}: x\r\n")).collect();
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n");
    let post = format!(
        "POST {QUEUE}/message HTTP/1.1\r\nHost: localhost\r\nContent-Type: \
                        text/plain\r\nibm-mq-rest-csrf-token: x\r\n"
    );
    let twice = format!("{post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef");
    let negative = format!("{post}Content-Length: -1\r\n\r\n");
    let huge = format!("{post}Content-Length: 99999999999999999999999\r\n\r\n");
    let chunk = format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n");
    let broken_off = format!("{post}Content-Length: 500\r\n\r\nabc");
    let broken_chunk = format!("{post}Transfer-Encoding: chunked\r\n\r\nff\r\nabc");
    let cases: [&[u8]; 15] = [
        b"",
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        long_head.as_bytes(),
        many.as_bytes(),
        twice.as_bytes(),
        negative.as_bytes(),
        huge.as_bytes(),
        chunk.as_bytes(),
        broken_off.as_bytes(),
        broken_chunk.as_bytes(),
    ];
    for case in cases {
        let answer = door.cut(case);
        let shown = String::from_utf8_lossy(&answer);
        let ok = answer.is_empty() || shown.starts_with("HTTP/1.1 4");
        assert!(ok, "{:?}: {shown}", String::from_utf8_lossy(&case[..case.len().min(300)]));
        assert_eq!(door.get(&format!("{QUEUE}/message")).status, 204, "it serves the next one");
    }
    assert_eq!(door.depth("Q1"), 0, "nothing was put");
}

#[test]
fn connections_are_kept_alive_and_requests_may_be_sent_ahead() {
    let door = opened();
    let mut stream = TcpStream::connect(door.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let one = format!("GET {QUEUE}/messagelist HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(one.repeat(3).as_bytes()).unwrap();
    let mut seen = String::new();
    while seen.matches("{\"messages\":[]}").count() < 3 {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&part[..count]));
    }
    assert_eq!(seen.matches("HTTP/1.1 200").count(), 3);
    stream.write_all(one.as_bytes()).unwrap();
    assert!(stream.read(&mut [0; 64]).unwrap() > 0, "it is still open");
}

#[test]
fn no_body_in_json_breaks_a_resource() {
    let door = opened();
    let paths = [
        ("POST", "/ibmmq/rest/v1/admin/action/qmgr/QM1/mqsc"),
        ("POST", "/ibmmq/rest/v1/admin/qmgr/QM1/queue"),
        ("PATCH", "/ibmmq/rest/v1/admin/qmgr/QM1/queue/Q1"),
        ("POST", "/ibmmq/rest/v1/login"),
    ];
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("{{\"name\":\"{}\"}}", "x".repeat(100_000));
    let bodies = [
        &*deep,
        &*wide,
        "\"\\ud800\"",
        "1e999",
        "{\"name\":null}",
        "{\"type\":{}}",
        "\u{0}",
        "nul",
        "{\"a\":1,\"a\":2}",
        "{\"name\":\"A\",\"general\":{\"description\":\"\\u0000\\u001b\"}}",
        "{\"type\":\"runCommandJSON\",\"command\":\"display\",\"qualifier\":\"qmgr\",\
         \"parameters\":{\"\":\"\"}}",
        "{\"type\":\"runCommand\",\"parameters\":{\"command\":\"((((((((((((((((((((((\"}}",
    ];
    for (method, path) in paths {
        for body in bodies {
            let reply = door.ask(method, path, &[CSRF, JSON], body.as_bytes());
            assert!(reply.status < 500, "{method} {path} {:.60}: {reply:?}", body);
        }
        let long = door.ask(method, path, &[CSRF, JSON], &vec![b' '; (1 << 20) + 1]);
        assert_eq!(long.status, 413);
    }
}

#[test]
fn no_request_that_is_drawn_at_random_breaks_the_door() {
    let door = opened();
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let words = proptest::sample::select(vec![
        "ibmmq",
        "rest",
        "v1",
        "v2",
        "v3",
        "messaging",
        "admin",
        "qmgr",
        "QM1",
        "queue",
        "Q1",
        "message",
        "messagelist",
        "topic",
        "login",
        "installation",
        "channel",
        "subscription",
        "action",
        "mqsc",
        "%2F",
        "%",
        "%zz",
        "",
        "..",
        "*",
        "%00",
        "%ff",
        "a",
    ]);
    let path = proptest::collection::vec(words, 0..9);
    let query = proptest::option::of("[a-zA-Z0-9=&*.,:%+]{0,40}");
    let method = proptest::sample::select(vec!["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD"]);
    let body = "[ -~]{0,60}";
    let mut runner = TestRunner::new(config);
    let drawn = (method, path, query, body);
    runner
        .run(&drawn, |(method, path, query, body)| {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            let target = format!("/{}{query}", path.join("/"));
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 ibm-mq-rest-csrf-token:\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let answer = door.raw(request.as_bytes());
            let status =
                String::from_utf8_lossy(&answer).chars().skip(9).take(3).collect::<String>();
            prop_assert!(status.starts_with(['2', '4']), "{target}: {status}");
            Ok(())
        })
        .unwrap();
}
