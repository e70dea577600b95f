//! RabbitMQ: Debian's server as one node in a folder of its own, with a quorum queue or a classic
//! one, over AMQP 0-9-1 with publisher confirms.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::amqp091::{Puts, Queue, Takes};
use super::process::{self, Process};
use super::{Broker, Consumer, Producer};
use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};

pub(crate) const NAME: &str = "RabbitMQ";
const PROGRAM: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// A running node. Its port mapper, which Erlang starts beside it, ends with it.
pub(crate) struct Node {
    process: Process,
    mapper_port: u16,
}

/// A kind of queue of a node.
pub(crate) struct RabbitMq<'n> {
    node: &'n Node,
    queue: Queue,
    name: String,
}

impl Node {
    /// Starts one in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Node> {
        if !Path::new(PROGRAM).is_file() {
            let reason = format!("there is no {PROGRAM}; bench/setup.sh installs it");
            return Err(BenchError::Missing { peer: NAME, reason });
        }
        std::fs::create_dir_all(folder).map_err(BenchError::system("create", folder))?;
        let folder = std::fs::canonicalize(folder).map_err(BenchError::system("find", folder))?;
        let (port, mapper_port) = (process::free_port()?, process::free_port()?);
        let file = folder.join("rabbitmq.conf");
        let text = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\ndisk_free_limit.absolute = 50MB\n\
             vm_memory_high_watermark.relative = 0.6\n"
        );
        std::fs::write(&file, text).map_err(BenchError::system("write", &file))?;
        let plugins = folder.join("plugins");
        std::fs::write(&plugins, "[].\n").map_err(BenchError::system("write", &plugins))?;
        let mut command = Command::new(PROGRAM);
        let node = format!("holdfast-bench-{}@localhost", std::process::id());
        command.env("RABBITMQ_NODENAME", node);
        command.env("RABBITMQ_DIST_PORT", process::free_port()?.to_string());
        command.env("ERL_EPMD_PORT", mapper_port.to_string());
        command.env("ERL_EPMD_ADDRESS", "127.0.0.1");
        command.env("HOME", &folder).env("RABBITMQ_CONFIG_FILE", &file);
        command.env("RABBITMQ_ENABLED_PLUGINS_FILE", &plugins);
        command.env("RABBITMQ_MNESIA_BASE", folder.join("data"));
        command.env("RABBITMQ_LOG_BASE", folder.join("logs"));
        command.env("RABBITMQ_PID_FILE", folder.join("pid")).current_dir(&folder);
        let process = Process::start(NAME, command, port, &folder.join("log"))?;
        Ok(Node { process, mapper_port })
    }

    /// A queue of a kind: `quorum` or `classic`.
    pub(crate) fn queue(&self, kind: &'static str) -> RabbitMq<'_> {
        let queue = Queue { name: format!("bench-{kind}"), kind };
        RabbitMq { node: self, queue, name: format!("{NAME}, {kind} queue") }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Once its node has gone nobody needs it; one that has gone already is as well.
        let mapper = ["epmd", "/usr/lib/erlang/bin/epmd"].map(PathBuf::from);
        let port = self.mapper_port.to_string();
        self.process.end();
        let _ = mapper.iter().find(|program| {
            let mut command = Command::new(program);
            command.args(["-port", &port, "-kill"]).output().is_ok()
        });
    }
}

impl Broker for RabbitMq<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        let mut asked = Command::new("dpkg-query");
        let answer = asked.args(["-W", "-f", "${Version}", "rabbitmq-server"]).output();
        let output = answer.map(|answer| answer.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).into_owned()
    }

    fn settings(&self) -> String {
        format!("{} queue of one node, delivery_mode 2, publisher confirms", self.queue.kind)
    }

    fn scope(&self) -> CpuScope {
        self.node.process.scope()
    }

    fn producer(&self, window: usize) -> Result<Box<dyn Producer>> {
        let address = self.node.process.address;
        Ok(Box::new(Puts::open(NAME, address, &self.queue, window)?))
    }

    fn consumer(&self, window: usize) -> Result<Box<dyn Consumer>> {
        let address = self.node.process.address;
        Ok(Box::new(Takes::open(NAME, address, &self.queue, window)?))
    }
}
