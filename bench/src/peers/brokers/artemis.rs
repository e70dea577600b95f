//! ActiveMQ Artemis: one broker in a folder of its own, its journal synced before each answer, over
//! AMQP 1.0.

use std::path::Path;
use std::process::Command;

use super::amqp10::{Puts, Takes};
use super::process::{self, Process};
use super::{Broker, Consumer, Producer};
use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};

pub(crate) const NAME: &str = "Artemis";
const QUEUE: &str = "bench";
const HEAP: &str = "-Xms512m -Xmx1g -XX:+UseParallelGC";

/// A running broker.
pub(crate) struct Artemis {
    process: Process,
    version: String,
}

fn missing(reason: impl Into<String>) -> BenchError {
    BenchError::Missing { peer: NAME, reason: reason.into() }
}

impl Artemis {
    /// Makes a broker in an empty folder and starts it.
    pub(crate) fn create(folder: &Path) -> Result<Artemis> {
        let home = process::tools().join("artemis");
        if !home.join("bin/artemis").is_file() {
            return Err(missing(format!("{} has none; bench/setup.sh fetches it", home.display())));
        }
        process::find("java", &[]).ok_or_else(|| missing("there is no java"))?;
        std::fs::create_dir_all(folder).map_err(BenchError::system("create", folder))?;
        let folder = std::fs::canonicalize(folder).map_err(BenchError::system("find", folder))?;
        let (port, instance) = (process::free_port()?, folder.join("broker"));
        let mut create = Command::new(home.join("bin/artemis"));
        create.args(["create", "--silent", "--user", "bench", "--password", "bench"]);
        create.args([
            "--allow-anonymous",
            "--no-web",
            "--no-autotune",
            "--nio",
            "--no-hornetq-acceptor",
        ]);
        create.args(["--no-mqtt-acceptor", "--no-stomp-acceptor", "--no-amqp-acceptor"]);
        create.args(["--host", "127.0.0.1", "--default-port", &port.to_string()]);
        create.args(["--queues", &format!("{QUEUE}:anycast")]).arg(&instance);
        let answer = create.output().map_err(BenchError::system("run", &home))?;
        if !answer.status.success() {
            let reason = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
            return Err(BenchError::subject(NAME, "make a broker", reason));
        }
        let mut command = Command::new(instance.join("bin/artemis"));
        command.arg("run").env("JAVA_ARGS", HEAP).current_dir(&instance);
        let process = Process::start(NAME, command, port, &folder.join("log"))?;
        Ok(Artemis { process, version: version_of(&home) })
    }
}

fn version_of(home: &Path) -> String {
    let entries = std::fs::read_dir(home.join("lib")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let own =
        |name: String| Some(name.strip_prefix("artemis-server-")?.strip_suffix(".jar")?.to_owned());
    names
        .filter_map(own)
        .find(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        .unwrap_or_default()
}

impl Broker for Artemis {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn settings(&self) -> String {
        "journal of type NIO with journal-datasync, one broker, durable messages over AMQP 1.0, \
         heap of 1 GiB"
            .into()
    }

    fn scope(&self) -> CpuScope {
        self.process.scope()
    }

    fn producer(&self, window: usize) -> Result<Box<dyn Producer>> {
        Ok(Box::new(Puts::open(NAME, self.process.address, QUEUE, window)?))
    }

    fn consumer(&self, window: usize) -> Result<Box<dyn Consumer>> {
        Ok(Box::new(Takes::open(NAME, self.process.address, QUEUE, window)?))
    }
}
