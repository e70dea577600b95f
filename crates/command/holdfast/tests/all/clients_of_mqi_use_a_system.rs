//! C programs with the client library use a started system: its users, its certificate, its status,
//! its end by a kill; what they have prepared before it is decided after it.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a system is looked at from outside; a test that fails says where

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::in_time::{EndInTime as _, first_line};
use crate::common::{Folder, SECRET, command, init, on};

const LIMIT: Duration = Duration::from_secs(300);

/// The XA specification's own declarations.
const XA: &str = include_str!("../../../../messages/mqm/tests/xa.h");

/// Puts or gets a message in a unit of work, as anna if it is told a password.
const PROGRAM: &str = r#"
#include <cmqc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int decide(int count, char **words, const char *name) {
  XID xid = {7, 5, 6, "ordermessage"}, found[2];
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  MQHOBJ o = MQHO_UNUSABLE_HOBJ;
  MQOD od = {MQOD_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQLONG cc, rc;
  int done = MQRMIXASwitch.xa_open_entry("", 1, 0);
  if (strcmp(words[1], "prepare") == 0) {
    done |= MQRMIXASwitch.xa_start_entry(&xid, 1, 0);
    MQCONN((char *)name, &h, &cc, &rc);
    strncpy(od.ObjectName, "ORDERS", 48);
    MQOPEN(h, &od, MQOO_OUTPUT, &o, &cc, &rc);
    md.Persistence = MQPER_PERSISTENT;
    pmo.Options = MQPMO_SYNCPOINT;
    MQPUT(h, o, &md, &pmo, 8, "prepared", &cc, &rc);
    done |= rc;
    done |= MQRMIXASwitch.xa_end_entry(&xid, 1, 0x04000000);
    done |= MQRMIXASwitch.xa_prepare_entry(&xid, 1, 0);
    printf("prepared %d\n", done);
  } else {
    int count = MQRMIXASwitch.xa_recover_entry(found, 2, 1, 0x01000000 | 0x00800000);
    if (count == 1) done |= MQRMIXASwitch.xa_commit_entry(&found[0], 1, 0);
    printf("decided %d %d\n", count, done);
  }
  return done;
}
int main(int count, char **words) {
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  MQHOBJ o = MQHO_UNUSABLE_HOBJ;
  MQCNO cno = {MQCNO_DEFAULT};
  MQCSP csp = {MQCSP_DEFAULT};
  MQOD od = {MQOD_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG cc, rc, length = 0;
  char name[49] = "", data[100] = "";
  if (strcmp(words[1], "prepare") == 0 || strcmp(words[1], "decide") == 0)
    return decide(count, words, name);
  if (count > 2) {
    cno.Version = MQCNO_VERSION_5;
    cno.SecurityParmsPtr = &csp;
    csp.AuthenticationType = MQCSP_AUTH_USER_ID_AND_PWD;
    csp.CSPUserIdPtr = "anna";
    csp.CSPUserIdLength = 4;
    csp.CSPPasswordPtr = words[2];
    csp.CSPPasswordLength = (MQLONG)strlen(words[2]);
  }
  MQCONNX(name, &cno, &h, &cc, &rc);
  if (cc == MQCC_FAILED) { printf("%d\n", rc); return 1; }
  strncpy(od.ObjectName, "ORDERS", 48);
  MQOPEN(h, &od, MQOO_OUTPUT | MQOO_INPUT_SHARED, &o, &cc, &rc);
  if (strcmp(words[1], "get") == 0) {
    gmo.Options = MQGMO_SYNCPOINT;
    MQGET(h, o, &md, &gmo, 99, data, &length, &cc, &rc);
  } else {
    md.Persistence = MQPER_PERSISTENT;
    pmo.Options = MQPMO_SYNCPOINT;
    MQPUT(h, o, &md, &pmo, (MQLONG)strlen(words[1]), words[1], &cc, &rc);
    strcpy(data, "put");
  }
  if (rc == 0) MQCMIT(h, &cc, &rc);
  if (rc != 0) { printf("%d\n", rc); return 1; }
  MQDISC(&h, &cc, &rc);
  printf("%s\n", data);
  return 0;
}
"#;

struct Client {
    binary: PathBuf,
    libraries: PathBuf,
}

impl Client {
    /// Builds the program; `None`: there is no C compiler here.
    fn new(folder: &Path) -> Option<Client> {
        let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let (source, binary) = (folder.join("client.c"), folder.join("client"));
        std::fs::write(&source, [XA, PROGRAM].concat()).unwrap();
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../messages/mqm/include");
        let mut gcc = Command::new("gcc");
        gcc.arg("-I").arg(headers).arg(&source).arg("-o").arg(&binary);
        gcc.arg("-L").arg(&libraries).arg("-lmqic_r");
        let Ok(built) = seam::process::output(&mut gcc, LIMIT) else {
            eprintln!("skipped: gcc is not installed");
            return None;
        };
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(Client { binary, libraries })
    }

    /// What the program told, at an address of the door.
    fn answer(&self, address: &str, words: &[&str]) -> String {
        let (host, port) = address.rsplit_once(':').unwrap();
        let host = if host == "0.0.0.0" { "127.0.0.1" } else { host };
        let roots = Path::new(env!("CARGO_MANIFEST_DIR"));
        let roots = roots.join("../../doors/channels/tests/certificates/ca.pem");
        let mut command = Command::new(&self.binary);
        command.args(words).env("LD_LIBRARY_PATH", &self.libraries);
        command.env("MQSERVER", format!("TO.QM/TCP/{host}({port})")).env("HOLDFAST_MQ_CA", roots);
        let output = seam::process::output(&mut command, LIMIT).unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Starts the system; answers its process and the address of its door.
fn started(dir: &Path) -> (Child, String) {
    let mut command = command(Some(SECRET));
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let answer: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
    (child, answer["mqi"].as_str().unwrap().to_owned())
}

#[test]
fn programs_of_other_machines_use_a_system_as_its_users() {
    let folder = Folder::new("mqi");
    let Some(client) = Client::new(&folder.join("")) else { return };
    let dir = folder.join("qm");
    init(&dir, &[]);
    let file = dir.join("holdfast.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let certificates = certificates.join("../../doors/channels/tests/certificates");
    let section = format!(
        "[mqi]\nlisten = [\"0.0.0.0:0\"]\ntls_certificate = \"{0}/qm1.pem\"\ntls_key = \
         \"{0}/qm1.key\"\n",
        certificates.canonicalize().unwrap().display()
    );
    std::fs::write(&file, settings.replace("[mqi]\n", &section)).unwrap();

    let (mut system, address) = started(&dir);
    assert!(address.starts_with("127.0.0.1:"), "nobody has a name yet: {address}");
    let script = dir.with_extension("mqsc");
    let objects = "DEFINE QLOCAL(ORDERS)\nDEFINE CHANNEL(TO.QM) CHLTYPE(SVRCONN)\n";
    std::fs::write(&script, objects).unwrap();
    on(SECRET, &["mqsc", "-s"], &dir, &["-f", &script.display().to_string()]).done();
    assert_eq!(client.answer(&address, &["first"]), "put");
    assert_eq!(client.answer(&address, &["prepare"]), "prepared 0");
    assert_eq!(client.answer(&address, &["get"]), "first");
    assert_eq!(client.answer(&address, &["get"]), "2033", "nobody has decided");
    system.kill().unwrap();
    system.wait_in_time().unwrap();

    let (mut system, address) = started(&dir);
    assert_eq!(client.answer(&address, &["get"]), "2033", "nobody has decided");
    assert_eq!(client.answer(&address, &["decide"]), "decided 1 0");
    assert_eq!(client.answer(&address, &["get"]), "prepared");
    assert_eq!(client.answer(&address, &["first"]), "put");
    let status = on(SECRET, &["--json", "status"], &dir, &[]).done().out;
    let status: Value = serde_json::from_str(&status).unwrap();
    let door = &status["doors"][0];
    assert_eq!((door["name"].as_str(), door["accepted"].as_u64()), (Some("mqi"), Some(4)));

    let password = folder.join("password");
    std::fs::write(&password, "sesame\n").unwrap();
    let mut user = command(Some(SECRET));
    user.args(["user", "put", "-s"]).arg(&dir).arg("ANNA");
    user.stdin(std::fs::File::open(&password).unwrap());
    user.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = seam::process::finish(user.spawn().unwrap(), LIMIT).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(client.answer(&address, &["second"]), "2035", "somebody without a name");
    assert_eq!(client.answer(&address, &["second", "wrong"]), "2035");
    assert_eq!(client.answer(&address, &["second", "sesame"]), "put");
    system.kill().unwrap();
    system.wait_in_time().unwrap();
    assert_eq!(client.answer(&address, &["get", "sesame"]), "2538", "nobody listens");

    let (mut system, address) = started(&dir);
    assert!(address.starts_with("0.0.0.0:"), "users may come from elsewhere: {address}");
    assert_eq!(client.answer(&address, &["get", "sesame"]), "first");
    assert_eq!(client.answer(&address, &["get", "sesame"]), "second");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
}
