//! A queue manager with a door, and C programs that are built and run against it.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mq_clients::{Options as DoorOptions, Server, Users};
use queue_manager::objects::{Kind, Value};
use queue_manager::{Options, QueueManager};
use seam::clock::RealClock;
use store_suite::model::ModelStore;
use tls::Tls;

/// How long a program may take.
pub(crate) const LONG: Duration = Duration::from_secs(120);

const ROOT: &[u8] = include_bytes!("../../../channels/tests/certificates/ca.pem");
const OWN: (&[u8], &[u8]) = (
    include_bytes!("../../../channels/tests/certificates/qm1.pem"),
    include_bytes!("../../../channels/tests/certificates/qm1.key"),
);

/// Where certificates of tests are: `ca.pem`; `qm1` is the door's, `qm2` a program's.
pub(crate) fn certificates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../channels/tests/certificates")
}

/// One user, with the password `sesame`, and whom certificates name; or none at all.
#[derive(Clone, Copy, Default)]
pub(crate) struct Anna {
    pub(crate) nobody: bool,
}

impl Users for Anna {
    fn password(&self, user: &str, password: &[u8]) -> Option<String> {
        let right = !self.nobody && user.eq_ignore_ascii_case("anna") && password == b"sesame";
        right.then(|| "ANNA".to_owned())
    }

    fn certificate(&self, name: &str) -> Option<String> {
        (!self.nobody && name == "qm2.example").then(|| "QM2".to_owned())
    }

    fn nobody(&self) -> Option<String> {
        self.nobody.then(|| "anonymous".to_owned())
    }

    fn mark(&self, user: &str) -> Option<u64> {
        (!self.nobody && ["ANNA", "QM2"].contains(&user)).then_some(1)
    }
}

/// A queue manager with its door.
pub(crate) struct Place {
    store: ModelStore,
    pub(crate) manager: QueueManager<ModelStore>,
    pub(crate) server: Server<ModelStore>,
    folder: PathBuf,
}

/// Defines an object.
pub(crate) fn define(
    manager: &QueueManager<ModelStore>,
    kind: Kind,
    name: &str,
    values: &[(&str, &str)],
) {
    let values: Vec<(&str, Value)> =
        values.iter().map(|(name, value)| (*name, Value::from(*value))).collect();
    manager.define(kind, name, &values, true, None).unwrap();
}

impl Place {
    /// With a queue `APP.Q` and a channel `TO.QM1`.
    pub(crate) fn new(users: Anna, secured: bool) -> Place {
        Place::of(Arc::new(users), secured)
    }

    /// The same, of other users.
    pub(crate) fn of(users: Arc<dyn Users>, secured: bool) -> Place {
        Place::named("QM1", users, secured)
    }

    /// The same, of another name.
    pub(crate) fn named(name: &str, users: Arc<dyn Users>, secured: bool) -> Place {
        let store = ModelStore::new();
        let manager = QueueManager::open(&store, Options::new(name)).unwrap();
        define(&manager, Kind::QueueLocal, "APP.Q", &[]);
        define(&manager, Kind::Channel, "TO.QM1", &[("CHLTYPE", "SVRCONN")]);
        let tls = secured.then(|| Tls {
            certificates: OWN.0.to_vec(),
            key: OWN.1.to_vec(),
            client_roots: Some(ROOT.to_vec()),
            client_required: false,
        });
        let options = door(0, tls);
        let server = Server::start(&manager, &options, users).unwrap();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let name = format!("mq-clients-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Place { store, manager, server, folder }
    }

    /// One on this machine that nobody has to prove anything to.
    pub(crate) fn open() -> Place {
        Place::new(Anna { nobody: true }, false)
    }

    /// Ends the queue manager as a kill does, and starts it again on what it has kept; only for a
    /// place that nobody has to prove anything to.
    pub(crate) fn start_again(&mut self) {
        let port = self.port();
        let name = self.manager.name().to_owned();
        self.server.close();
        self.manager = QueueManager::open(&self.store, Options::new(&name)).unwrap();
        let users = Arc::new(Anna { nobody: true });
        self.server = Server::start(&self.manager, &door(port, None), users).unwrap();
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.addresses()[0].port()
    }

    pub(crate) fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).unwrap().depth
    }

    /// Builds a C program with our headers and a library of ours, and returns its path.
    pub(crate) fn c(&self, name: &str, library: &str, main: &str) -> PathBuf {
        self.c_with(name, library, "", main)
    }

    /// The same, with functions in front.
    pub(crate) fn c_with(&self, name: &str, library: &str, more: &str, main: &str) -> PathBuf {
        let (file, binary) = (self.folder.join(format!("{name}.c")), self.folder.join(name));
        let source = format!("{HEAD}{more}\nint main(void) {{\n{main}\n  return 0;\n}}\n");
        std::fs::write(&file, source).unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../messages/mqm/include");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Werror", "-Wno-unused-function", "-D_GNU_SOURCE", "-I"]);
        gcc.arg(include).arg(&file).arg("-o").arg(&binary).arg("-L").arg(libraries());
        run(gcc.args([&format!("-l{library}"), "-lpthread"]));
        binary
    }

    /// A command for a program, with `MQSERVER` as it leads here.
    pub(crate) fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        let inherited = ["MQSSLKEYR", "MQCCDTURL", "MQCHLLIB", "MQCHLTAB", "MQ_CONNECT_TYPE"];
        for name in inherited {
            command.env_remove(name);
        }
        command.env("LD_LIBRARY_PATH", libraries()).current_dir(&self.folder);
        command.env("MQSERVER", format!("TO.QM1/TCP/127.0.0.1({})", self.port()));
        command.env("PORT", self.port().to_string());
        command
    }

    /// Builds a program and runs it; it must succeed.
    #[track_caller]
    pub(crate) fn program(&self, name: &str, main: &str) {
        run(&mut self.command(&self.c(name, "mqic_r", main)));
    }

    /// A file of this place.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn door(port: u16, tls: Option<Tls>) -> DoorOptions {
    DoorOptions {
        addresses: vec![SocketAddr::from(([127, 0, 0, 1], port))],
        tls,
        connections_max: 100,
        clock: Arc::new(RealClock::new()),
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server.close();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where the libraries are that were built with this test.
fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    for library in ["libmqic_r.so", "libmqic.so", "libmqm_r.so"] {
        assert!(folder.join(library).exists(), "{library} is not beside the test");
    }
    folder
}

/// What a command ends with.
pub(crate) fn ended(command: &mut Command) -> Output {
    seam::process::output(command, LONG).unwrap()
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) {
    let done = ended(command);
    let (printed, wrong) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {}\n{printed}\n{wrong}", done.status);
}

/// What every C program begins with.
const HEAD: &str = r#"
#include <cmqc.h>
#include <cmqxc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static MQLONG cc, rc;
#define IS(wanted_cc, wanted_rc) do { if (cc != (wanted_cc) || rc != (wanted_rc)) { \
  printf("line %d: %d %d\n", __LINE__, cc, rc); exit(1); } } while (0)
#define HOLDS(what) do { if (!(what)) { printf("line %d: " #what "\n", __LINE__); exit(1); } \
  } while (0)
static MQHCONN connect_to(const char *name) {
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  char field[49] = "";
  strncpy(field, name, 48);
  MQCONN(field, &h, &cc, &rc);
  return h;
}
static MQHCONN connect_as(const char *user, const char *password) {
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  MQCNO cno = {MQCNO_DEFAULT};
  MQCSP csp = {MQCSP_DEFAULT};
  cno.Version = MQCNO_VERSION_5;
  cno.SecurityParmsPtr = &csp;
  csp.AuthenticationType = MQCSP_AUTH_USER_ID_AND_PWD;
  csp.CSPUserIdPtr = (MQPTR)user;
  csp.CSPUserIdLength = (MQLONG)strlen(user);
  csp.CSPPasswordPtr = (MQPTR)password;
  csp.CSPPasswordLength = (MQLONG)strlen(password);
  char field[49] = "QM1";
  MQCONNX(field, &cno, &h, &cc, &rc);
  return h;
}
static MQHOBJ open_queue(MQHCONN h, const char *name, MQLONG options) {
  MQOD od = {MQOD_DEFAULT};
  MQHOBJ o = MQHO_UNUSABLE_HOBJ;
  strncpy(od.ObjectName, name, 48);
  MQOPEN(h, &od, options, &o, &cc, &rc);
  return o;
}
static void put(MQHCONN h, MQHOBJ o, const void *data, MQLONG length, MQLONG options) {
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Options = options;
  MQPUT(h, o, &md, &pmo, length, (void *)data, &cc, &rc);
}
static MQLONG get(MQHCONN h, MQHOBJ o, void *data, MQLONG room, MQLONG options, MQLONG wait) {
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG length = -1;
  gmo.Options = options;
  gmo.WaitInterval = wait;
  MQGET(h, o, &md, &gmo, room, data, &length, &cc, &rc);
  return length;
}
"#;
