//! Clients of REST use a started system: its users, its administrators, its status, its restart.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a system is looked at from outside; a test that fails says where

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::in_time::EndInTime as _;
use crate::common::{Folder, SECRET, command, first_line, init, on};

const LIMIT: Duration = Duration::from_secs(300);
/// `anna:sesame` and `otto:sesame`, as HTTP has them.
const ANNA: &str = "Authorization: Basic YW5uYTpzZXNhbWU=\r\n";
const OTTO: &str = "Authorization: Basic b3R0bzpzZXNhbWU=\r\n";

/// Starts the system; answers its process, the address of its REST door, and that of metrics.
fn started(dir: &Path) -> (Child, String, String) {
    let mut command = command(Some(SECRET));
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let reported: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
    let address = |door: &str| reported[door].as_str().unwrap().replace("0.0.0.0", "127.0.0.1");
    (child, address("rest"), address("metrics"))
}

/// The status of an answer, and its body.
fn ask(address: &str, method: &str, path: &str, more: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         ibm-mq-rest-csrf-token:\r\nContent-Length: {}\r\n{more}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn user(dir: &Path, password: &Path, name: &str) {
    let mut user = command(Some(SECRET));
    user.args(["user", "put", "-s"]).arg(dir).arg(name);
    user.stdin(std::fs::File::open(password).unwrap());
    user.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = seam::process::finish(user.spawn().unwrap(), LIMIT).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn messages_come_and_go_over_http_and_outlive_a_kill() {
    let folder = Folder::new("rest");
    let dir = folder.join("qm");
    init(&dir, &[]);
    let file = dir.join("holdfast.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let rest = "[rest]\nlisten = [\"0.0.0.0:0\"]\nadministrators = [\"ANNA\"]\n";
    let settings = settings.replace("[rest]\n", rest);
    let metrics = "\n[online]\nmetrics = \"127.0.0.1:0\"\n";
    std::fs::write(&file, settings.replace("\n[online]\n", metrics)).unwrap();
    let json = "Content-Type: application/json\r\n";
    let text = "Content-Type: text/plain\r\nibm-mq-md-persistence: persistent\r\n";
    let message = "/ibmmq/rest/v2/messaging/qmgr/QM/queue/ORDERS/message";
    let mqsc = "/ibmmq/rest/v2/admin/action/qmgr/QM/mqsc";

    let (mut system, address, metrics) = started(&dir);
    let define = "{\"type\":\"runCommand\",\"parameters\":{\"command\":\"DEFINE QLOCAL(ORDERS)\"}}";
    let (status, printed) = ask(&address, "POST", mqsc, json, define);
    assert!(status == 200 && printed.contains("AMQ8006I"), "{status} {printed}");
    for number in 0..3 {
        let put = ask(&address, "POST", message, text, &format!("order {number}"));
        assert_eq!(put, (201, String::new()));
    }
    let status = on(SECRET, &["--json", "status"], &dir, &[]).done().out;
    let status: Value = serde_json::from_str(&status).unwrap();
    let doors = status["doors"].as_array().unwrap();
    let door = doors.iter().find(|door| door["name"] == "rest").unwrap();
    assert_eq!(door["received"].as_u64(), Some(3));
    let (reported, page) = ask(&metrics, "GET", "/metrics", "", "");
    assert!(reported == 200 && page.contains("holdfast_door_received_total{door=\"rest\"} 3"));

    let password = folder.join("password");
    std::fs::write(&password, "sesame\n").unwrap();
    user(&dir, &password, "ANNA");
    user(&dir, &password, "OTTO");
    assert_eq!(ask(&address, "GET", message, "", "").0, 401, "nobody is nobody any more");
    assert_eq!(ask(&address, "DELETE", message, OTTO, ""), (200, "order 0".into()));
    let by = |who: &str| ask(&address, "POST", mqsc, &format!("{json}{who}"), define);
    assert_eq!(by(OTTO).0, 403, "OTTO is no administrator");
    let (status, printed) = by(ANNA);
    assert!(status == 200 && printed.contains("AMQ8150E"), "it is there already: {printed}");
    system.kill().unwrap();
    system.wait_in_time().unwrap();

    let (mut system, address, _) = started(&dir);
    assert_eq!(ask(&address, "DELETE", message, ANNA, ""), (200, "order 1".into()));
    let mut waiter = TcpStream::connect(&address).unwrap();
    let wait = format!(
        "DELETE {message}?wait=600000&messageId={} HTTP/1.1\r\nHost: localhost\r\n{ANNA}\
         ibm-mq-rest-csrf-token:\r\n\r\n",
        "0".repeat(47) + "1"
    );
    waiter.write_all(wait.as_bytes()).unwrap();
    let waits = "{\"type\":\"runCommand\",\"parameters\":{\"command\":\"DIS CONN(*) APPLTAG\"}}";
    let more = format!("{json}{ANNA}");
    while !ask(&address, "POST", mqsc, &more, waits).1.contains("APPLTAG(REST)") {
        std::thread::sleep(Duration::from_millis(10));
    }
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    let mut ended = String::new();
    waiter.read_to_string(&mut ended).unwrap();
    assert!(ended.starts_with("HTTP/1.1 503"), "{ended}");
    system.wait_in_time().unwrap();
}
