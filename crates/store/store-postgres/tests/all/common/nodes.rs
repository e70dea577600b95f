//! Three PostgreSQL nodes under Patroni, for the tests of one process.
#![allow(dead_code, unreachable_pub, clippy::disallowed_methods, clippy::disallowed_types)]
#![allow(clippy::unwrap_used)] // tests

use std::io::Write;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use seam::process;

use super::server::programs;

/// How long a cluster takes to come up on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
/// The first of four ports on loopback addresses: server, Patroni, and two of etcd.
const PORT: u16 = 55_432;

/// How the nodes are configured: as those of an operator.
const PATRONI: &str = include_str!("../../../../../../deploy/three-nodes/patroni.yml.in");

/// A cluster of three nodes with a synchronous standby. It ends with this value.
pub struct Nodes {
    control: Mutex<(Option<ChildStdin>, ChildStdout)>,
    child: Mutex<Child>,
}

impl Nodes {
    /// Starts three nodes and waits until two of them follow the first.
    pub fn start() -> Nodes {
        let mut command = Command::new("sh");
        command.args(["-c", include_str!("nodes.sh"), "nodes.sh"]);
        command.arg(programs()).arg(PORT.to_string());
        command.env("HOLDFAST_PATRONI", PATRONI);
        command.current_dir("/tmp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell can be started");
        let stdin = child.stdin.take().expect("a pipe");
        let mut answers = child.stdout.take().expect("a pipe");
        let line = process::line(&mut answers, LIMIT).expect("an answer");
        assert!(line.starts_with("ready "), "the nodes have not started: {line}");
        Nodes { control: Mutex::new((Some(stdin), answers)), child: Mutex::new(child) }
    }

    /// Has a command of `nodes.sh` carried out; its answer.
    pub fn ask(&self, command: &str) -> String {
        let mut control = self.control.lock().unwrap();
        let (stdin, answers) = &mut *control;
        writeln!(stdin.as_mut().expect("it runs"), "{command}").expect("the nodes listen");
        process::line(answers, LIMIT).expect("an answer").trim().to_owned()
    }

    /// The number of the node that leads, if one does.
    pub fn leader(&self) -> Option<u32> {
        self.ask("leader").parse().ok().filter(|node| *node != 0)
    }

    /// The address of all of them: who leads is found out by whoever connects.
    pub fn url(&self) -> String {
        let hosts: Vec<_> = (1..=3).map(|node| format!("127.0.0.1{node}:{PORT}")).collect();
        format!("postgres://holdfast@{}/postgres?sslmode=disable", hosts.join(","))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.control.lock().unwrap().0 = None;
        let _ = process::wait(&mut self.child.lock().unwrap(), LIMIT);
    }
}
