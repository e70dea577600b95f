//! A PostgreSQL for the tests of one process.
#![allow(dead_code, unreachable_pub, clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used)] // tests

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use seam::process;

/// How long anything may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// A server that ends with its process, or with this value.
pub struct Server {
    pub home: PathBuf,
    control: Mutex<(Option<ChildStdin>, ChildStdout)>,
    child: Mutex<Child>,
}

impl Server {
    /// Starts a server of its own. Debian's package is enough; it never runs as root.
    pub fn start() -> Server {
        let bin = programs();
        let text = include_str!("server.sh");
        let mut command = if rustix::process::geteuid().is_root() {
            let user = if has_user("postgres") { "postgres" } else { "nobody" };
            let mut command = Command::new("runuser");
            command.args(["-u", user, "--", "sh", "-c", text, "server.sh"]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", text, "server.sh"]);
            command
        };
        command.arg(bin).current_dir("/tmp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell can be started");
        let stdin = child.stdin.take().expect("a pipe");
        let mut answers = child.stdout.take().expect("a pipe");
        let line = process::line(&mut answers, LIMIT).expect("an answer");
        let home = line.trim().strip_prefix("ready ").expect("the server has started");
        Server {
            home: home.into(),
            control: Mutex::new((Some(stdin), answers)),
            child: Mutex::new(child),
        }
    }

    /// One server for all tests of this process.
    pub fn shared() -> &'static Server {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Server::start)
    }

    fn tell(&self, command: &str) {
        let mut control = self.control.lock().unwrap();
        let (stdin, answers) = &mut *control;
        writeln!(stdin.as_mut().expect("it runs"), "{command}").expect("the server listens");
        let line = process::line(answers, LIMIT).expect("an answer");
        assert_eq!(line.trim(), "done");
    }

    /// Stops the server as a crash would.
    pub fn crash(&self) {
        self.tell("crash");
    }

    /// Starts it again.
    pub fn restart(&self) {
        self.tell("start");
    }

    /// Its address.
    pub fn url(&self) -> String {
        let folder = self.home.display().to_string().replace('/', "%2F");
        format!("postgres://holdfast@{folder}/postgres")
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.home.join(".s.PGSQL.5432")
    }

    /// What the server's own program answers to a query.
    pub fn psql(&self, query: &str) -> String {
        let mut command = Command::new(programs().join("psql"));
        command.args(["-X", "-A", "-t", "-q", "-U", "holdfast", "-d", "postgres", "-h"]);
        command.arg(&self.home).args(["-c", query]);
        let output = process::output(&mut command, LIMIT).expect("psql runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.control.lock().unwrap().0 = None;
        let _ = process::wait(&mut self.child.lock().unwrap(), LIMIT);
    }
}

fn has_user(name: &str) -> bool {
    process::output(Command::new("id").arg(name), LIMIT).is_ok_and(|done| done.status.success())
}

/// Where the programs of the newest PostgreSQL lie.
pub fn programs() -> PathBuf {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let version = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        let bin = entry.path().join("bin");
        if bin.join("initdb").exists() {
            found.push((version, bin));
        }
    }
    found.sort();
    let newest = found.pop().map(|(_, bin)| bin);
    newest.expect("PostgreSQL is installed: `make setup FOR=engine` does it")
}
