//! The door as a client sees it: over a socket, with nothing but bytes.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // a test that fails says where

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use holdfast_http::{CONNECTIONS_MAX, HttpServer, Kind, Listening, Metrics, Pages};

struct Sample(AtomicBool);

impl Pages for Sample {
    fn metrics(&self, metrics: &mut Metrics) {
        metrics.single("holdfast_commits_total", Kind::Counter, "Commits.", 7.0);
    }

    fn status(&self) -> Result<serde_json::Value, String> {
        Ok(serde_json::json!({ "state": "started" }))
    }

    fn is_well(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn asked(server: &Listening, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(server: &Listening, path: &str) -> String {
    asked(server, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
}

#[test]
fn pages_are_read_and_nothing_can_be_changed() {
    let pages = Arc::new(Sample(AtomicBool::new(true)));
    let server = HttpServer::start("127.0.0.1:0", Arc::clone(&pages) as _).unwrap();
    let metrics = get(&server, "/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
    assert!(metrics.contains("version=0.0.4") && metrics.contains("\nholdfast_commits_total 7\n"));
    assert!(get(&server, "/status").ends_with("{\"state\":\"started\"}"));
    assert!(get(&server, "/health").starts_with("HTTP/1.1 200"));
    pages.0.store(false, Ordering::Relaxed);
    assert!(get(&server, "/health").starts_with("HTTP/1.1 503"));
    assert!(get(&server, "/nowhere").starts_with("HTTP/1.1 404"));
    let post =
        "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert!(asked(&server, post).starts_with("HTTP/1.1 405"));
    assert!(asked(&server, "rubbish\r\n\r\n").starts_with("HTTP/1.1 400"));
}

#[test]
fn who_comes_too_many_is_sent_away_and_the_others_are_served() {
    let pages = Arc::new(Sample(AtomicBool::new(true)));
    let server = HttpServer::start("127.0.0.1:0", pages).unwrap();
    let connect = || TcpStream::connect(server.address()).unwrap();
    let idle: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| connect()).collect();
    let mut late = connect();
    late.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(late.read(&mut [0; 1]).unwrap_or(0), 0, "it is closed");
    drop(idle);
    // Their places are free as soon as the server has noticed.
    let served = || TcpStream::connect(server.address()).ok().map(|_| get(&server, "/health"));
    let mut tries = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        served().unwrap_or_default()
    });
    assert!(tries.any(|answer| answer.starts_with("HTTP/1.1 200")));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let pages = Arc::new(Sample(AtomicBool::new(true)));
    let server = HttpServer::start("127.0.0.1:0", Arc::clone(&pages) as _).unwrap();
    let taken = server.address().to_string();
    let error = HttpServer::start(&taken, pages).err().unwrap();
    assert!(error.to_string().contains(&taken), "{error}");
}

#[test]
fn sites_of_one_server_close_alone() {
    let server = HttpServer::new().unwrap();
    let pages = || Arc::new(Sample(AtomicBool::new(true))) as Arc<dyn Pages>;
    let first = server.listen(holdfast_http::Site::of_pages("127.0.0.1:0", pages())).unwrap();
    let second = server.listen(holdfast_http::Site::of_pages("127.0.0.1:0", pages())).unwrap();
    let gone = first.address();
    assert!(get(&first, "/health").starts_with("HTTP/1.1 200"));
    drop((first, server));
    assert!(TcpStream::connect(gone).is_err(), "nobody listens there any more");
    assert!(get(&second, "/health").starts_with("HTTP/1.1 200"));
    assert_eq!(second.connections().accepted, 1);
}
