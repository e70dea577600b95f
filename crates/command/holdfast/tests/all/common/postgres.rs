//! A PostgreSQL that a scenario starts itself and that ends with it.
#![allow(dead_code)] // each scenario uses a part

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::in_time::{EndInTime as _, RunInTime as _};

/// The script that makes it, watches it and ends it.
const SCRIPT: &str = include_str!("../../../../../store/store-postgres/tests/all/common/server.sh");

/// A server on a Unix socket in a folder of its own.
pub(crate) struct Server {
    home: PathBuf,
    stdin: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    child: Child,
}

/// The folder of the server's programs, if they are installed.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|one| Some(one.ok()?.path().join("bin")));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

impl Server {
    /// Starts one; `None` if it is not installed. It never runs as root.
    pub(crate) fn start() -> Option<Server> {
        let Some(bin) = programs() else {
            eprintln!("skipped: PostgreSQL is not installed (Debian package postgresql)");
            return None;
        };
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--", "sh", "-c", SCRIPT, "server.sh"]);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(["-c", SCRIPT, "server.sh"]);
            command
        };
        command.arg(bin).current_dir("/tmp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let home = line.trim().strip_prefix("ready ").expect("the server has started").into();
        Some(Server { home, stdin, answers, child })
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        let folder = self.home.display().to_string().replace('/', "%2F");
        format!("postgres://holdfast@{folder}/postgres")
    }

    /// Stops it as a crash would, and starts it again.
    pub(crate) fn crash_and_restart(&mut self) {
        for word in ["crash", "start"] {
            writeln!(self.stdin.as_mut().unwrap(), "{word}").unwrap();
            let mut line = String::new();
            self.answers.read_line(&mut line).unwrap();
            assert_eq!(line.trim(), "done");
        }
    }

    /// What it answers to a statement.
    #[track_caller]
    pub(crate) fn psql(&self, statement: &str) -> String {
        let mut command = Command::new(programs().unwrap().join("psql"));
        command.args(["-X", "-A", "-t", "-q", "-U", "holdfast", "-d", "postgres", "-h"]);
        let output = command.arg(&self.home).args(["-c", statement]).output_in_time().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Where its socket is.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait_in_time();
    }
}
