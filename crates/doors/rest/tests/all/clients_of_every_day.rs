//! curl and Python as clients: a session of each, with TLS for curl.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use http_door::Tls;
use store_suite::model::ModelStore;

use crate::common::{manager_on, opened, opened_on};

/// What a program says, which has to end some time.
fn printed(command: &mut Command) -> std::io::Result<Output> {
    seam::process::output(command, Duration::from_secs(120))
}

/// Whether a program is on this machine; the tests that need it say so if it is not.
fn is_there(program: &str) -> bool {
    let found =
        printed(Command::new(program).arg("--version")).is_ok_and(|out| out.status.success());
    if !found {
        eprintln!("{program} is not on this machine: passed over");
    }
    found
}

const SESSION: &str = r#"
import base64, http.cookiejar, json, sys, urllib.error, urllib.request
base = sys.argv[1] + "/ibmmq/rest/v3"
def ask(method, path, body=None, headers={}, opener=urllib.request.build_opener()):
    all = {"ibm-mq-rest-csrf-token": "", "Content-Type": "application/json"}
    all.update(headers)
    request = urllib.request.Request(base + path, data=body, method=method, headers=all)
    try:
        answer = opener.open(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.headers, answer.read().decode()
queue = "/messaging/qmgr/QM1/queue/Q1"
try:
    ask("GET", "/login", headers={"Authorization": "Basic ?"})
finally:
    pass
jar = http.cookiejar.CookieJar()
session = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
login = json.dumps({"username": "admin", "password": "secret"}).encode()
assert ask("POST", "/login", login, opener=session)[0] == 204
assert [cookie.name for cookie in jar] == ["LtpaToken2"]
status, headers, _ = ask("POST", queue + "/message", "Grüße".encode(),
    {"ibm-mq-md-priority": "7", "ibm-mq-usr": "n;1;integer"}, session)
assert status == 201, status
id = headers["ibm-mq-md-messageId"]
status, headers, text = ask("GET", queue + "/messagelist", opener=session)
assert json.loads(text)["messages"][0]["messageId"] == id
status, headers, text = ask("DELETE", queue + "/message?wait=100&messageId=" + id, opener=session)
assert (status, text, headers["ibm-mq-md-priority"]) == (200, "Grüße", "7")
assert headers["ibm-mq-usr"] == "n;1;integer"
assert ask("DELETE", queue + "/message", opener=session)[0] == 204
command = json.dumps({"type": "runCommandJSON", "command": "display", "qualifier": "qlocal",
    "name": "Q1", "responseParameters": ["curdepth"]}).encode()
status, _, text = ask("POST", "/admin/action/qmgr/QM1/mqsc", command, opener=session)
assert json.loads(text)["commandResponse"][0]["parameters"]["curdepth"] == 0, text
assert ask("DELETE", "/login", opener=session)[0] == 204
assert ask("GET", queue + "/message")[0] == 401
password = "Basic " + base64.b64encode(b"admin:secret").decode()
assert ask("GET", queue + "/message", headers={"Authorization": password})[0] == 204
try:
    import requests
except ImportError:
    print("without requests")
else:
    with requests.Session() as session:
        session.auth = ("admin", "secret")
        session.headers["ibm-mq-rest-csrf-token"] = "x"
        url = base + queue + "/message"
        kind = {"Content-Type": "text/plain;charset=utf-8"}
        put = session.post(url, data="by requests".encode(), headers=kind)
        assert put.status_code == 201
        got = session.delete(url, params={"correlationId": "none"})
        assert got.status_code == 204
        got = session.delete(url)
        assert (got.status_code, got.text, got.encoding) == (200, "by requests", "utf-8")
        assert session.get(base + "/admin/qmgr").json()["qmgr"][0]["name"] == "QM1"
    print("with requests")
"#;

#[test]
fn python_has_a_session() {
    if !is_there("python3") {
        return;
    }
    let door = opened();
    door.people.put("ADMIN", "secret");
    let base = format!("http://{}", door.address());
    let ran = printed(Command::new("python3").args(["-c", SESSION, &base])).unwrap();
    let answer = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{answer}");
}

/// A key, and a certificate of its own that it signs itself.
fn certified(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let (key, certificate) =
        (folder.join(format!("{name}.key")), folder.join(format!("{name}.pem")));
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", &format!("/CN={name}"), "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate);
    let made = printed(&mut make).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (key, certificate)
}

#[test]
fn curl_puts_and_gets_over_tls() {
    if !is_there("curl") || !is_there("openssl") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("holdfast-rest-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (key, certificate) = certified(&folder, "localhost");
    let (own_key, own) = certified(&folder, "anna");
    let tls = Tls {
        certificates: std::fs::read(&certificate).unwrap(),
        key: std::fs::read(&key).unwrap(),
        client_roots: Some(std::fs::read(&own).unwrap()),
        client_required: false,
    };
    let door = opened_on(manager_on(&ModelStore::new()), Some(tls));
    door.people.put("ANNA", "secret");
    let url = format!(
        "https://localhost:{}/ibmmq/rest/v2/messaging/qmgr/QM1/queue/Q1/message",
        door.address().port()
    );
    let curl = |more: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--include", "--max-time", "60", "--cacert"])
            .arg(&certificate)
            .args(["--header", "ibm-mq-rest-csrf-token: value"])
            .args(more)
            .arg(&url);
        let ran = printed(&mut curl).unwrap();
        let answer = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{answer}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    let user = ["--user", "anna:secret"];
    let plain = ["--header", "Content-Type: text/plain;charset=utf-8", "--data", "over TLS"];
    assert!(curl(&plain).starts_with("HTTP/1.1 401"));
    let put = curl(&[&user[..], &plain[..]].concat());
    assert!(put.starts_with("HTTP/1.1 201"), "{put}");
    assert!(put.contains("ibm-mq-md-messageid: "), "{put}");
    let got = curl(&[&user[..], &["--request", "DELETE"]].concat());
    assert!(got.starts_with("HTTP/1.1 200") && got.ends_with("\r\n\r\nover TLS"), "{got}");
    // A certificate stands for its user.
    let files = [own.display().to_string(), own_key.display().to_string()];
    let by_certificate = ["--cert", &*files[0], "--key", &*files[1]];
    assert!(curl(&by_certificate).starts_with("HTTP/1.1 204"));
    // A large one, sent in chunks.
    let large = folder.join("large.txt");
    std::fs::write(&large, "0123456789".repeat(300_000)).unwrap();
    let from = format!("@{}", large.display());
    let chunked = ["--header", "Transfer-Encoding: chunked", "--header", plain[1], "--data-binary"];
    let put = curl(&[&user[..], &chunked[..], &[&*from]].concat());
    assert!(put.contains("HTTP/1.1 201"), "{put}");
    let got = curl(&[&user[..], &["--request", "DELETE"]].concat());
    assert_eq!(got.split_once("\r\n\r\n").unwrap().1.len(), 3_000_000);
    let _ = std::fs::remove_dir_all(&folder);
}
