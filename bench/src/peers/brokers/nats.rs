//! NATS with JetStream on files that are synced before each answer, over its own protocol.
//!
//! A put is a publication that JetStream answers; a queue is a stream whose messages go when they
//! are acknowledged, read by one durable consumer that every client pulls from.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::{self, Process};
use super::wire::Wire;
use super::{Broker, Consumer, Producer};
use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};

pub(crate) const NAME: &str = "NATS";
const STREAM: &str = "BENCH";
const SUBJECT: &str = "bench.queue";
/// Where answers to this client go.
const INBOX: &str = "_INBOX.bench";

/// A running server.
pub(crate) struct Nats {
    process: Process,
    version: String,
}

impl Nats {
    /// Starts one in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Nats> {
        let program = process::find("nats-server", &[process::tools().join("bin")]);
        let program = program.ok_or_else(|| {
            let reason = "there is no program nats-server; bench/setup.sh builds it".into();
            BenchError::Missing { peer: NAME, reason }
        })?;
        std::fs::create_dir_all(folder).map_err(BenchError::system("create", folder))?;
        let (port, file) = (process::free_port()?, folder.join("nats.conf"));
        let text = format!(
            "listen: 127.0.0.1:{port}\nmax_payload: 8MB\nmax_pending: 256MB\njetstream {{\n  \
             store_dir: {:?}\n  sync_interval: always\n}}\n",
            folder.join("store")
        );
        std::fs::write(&file, text).map_err(BenchError::system("write", &file))?;
        let reported = Command::new(&program).arg("--version").output();
        let version =
            reported.map(|reported| String::from_utf8_lossy(&reported.stdout).trim().to_owned());
        let mut command = Command::new(&program);
        command.arg("-c").arg(&file);
        let process = Process::start(NAME, command, port, &folder.join("log"))?;
        let broker = Nats { process, version: version.unwrap_or_default() };
        broker.define()?;
        Ok(broker)
    }

    fn define(&self) -> Result<()> {
        let mut line = Line::open(self)?;
        line.ask(
            &format!("$JS.API.STREAM.CREATE.{STREAM}"),
            &format!(
                "{{\"name\":\"{STREAM}\",\"subjects\":[\"{SUBJECT}\"],\"storage\":\"file\",\
                 \"retention\":\"workqueue\",\"num_replicas\":1,\"discard\":\"old\"}}"
            ),
        )?;
        line.ask(
            &format!("$JS.API.CONSUMER.DURABLE.CREATE.{STREAM}.{STREAM}"),
            &format!(
                "{{\"stream_name\":\"{STREAM}\",\"config\":{{\"durable_name\":\"{STREAM}\",\
                 \"ack_policy\":\"explicit\",\"max_ack_pending\":10000,\
                 \"deliver_policy\":\"all\"}}}}"
            ),
        )
    }
}

impl Broker for Nats {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn settings(&self) -> String {
        "JetStream on files, sync_interval: always, one replica, retention: workqueue".into()
    }

    fn scope(&self) -> CpuScope {
        self.process.scope()
    }

    fn producer(&self, window: usize) -> Result<Box<dyn Producer>> {
        Ok(Box::new(Puts { line: Line::open(self)?, window, open: 0 }))
    }

    fn consumer(&self, window: usize) -> Result<Box<dyn Consumer>> {
        Ok(Box::new(Takes { line: Line::open(self)?, window, asked: 0 }))
    }
}

/// A connection that listens at an inbox of its own.
struct Line {
    wire: Wire,
    inbox: String,
}

/// What has come: where it is to be answered, and whether it is a message or tells of none.
struct Delivered {
    reply: String,
    has_status: bool,
    bytes: u64,
    body: Vec<u8>,
}

impl Line {
    fn open(broker: &Nats) -> Result<Line> {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut wire = Wire::connect(NAME, broker.process.address)?;
        let inbox = format!("{INBOX}{number}");
        let hello = format!(
            "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":true,\
             \"no_responders\":true}}\r\nSUB {inbox} 1\r\nPING\r\n"
        );
        wire.out().extend_from_slice(hello.as_bytes());
        wire.send()?;
        let mut line = Line { wire, inbox };
        while line.word()? != "PONG" {}
        Ok(line)
    }

    fn publish(&mut self, subject: &str, reply: &str, body: &[u8]) {
        let mut head = String::new();
        // Writing to a text does not fail.
        let _ = write!(head, "PUB {subject} {reply} {}\r\n", body.len());
        let out = self.wire.out();
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(body);
        out.extend_from_slice(b"\r\n");
    }

    /// A request of JetStream's administration.
    fn ask(&mut self, subject: &str, body: &str) -> Result<()> {
        let inbox = self.inbox.clone();
        self.publish(subject, &inbox, body.as_bytes());
        self.wire.send()?;
        let answer = self.next(None)?;
        let reported = answer.map(|one| String::from_utf8_lossy(&one.body).into_owned());
        match reported {
            Some(reported) if !reported.contains("\"error\"") => Ok(()),
            other => Err(self.wire.unexpected(other.unwrap_or_default())),
        }
    }

    /// A line without its end; `None` if it has not come in time.
    fn line(&mut self, patience: Option<Duration>) -> Result<Option<String>> {
        let mut have = 1;
        loop {
            if !self.wire.need(have, patience)? {
                return Ok(None);
            }
            let ready = self.wire.ready();
            if let Some(end) = ready.windows(2).position(|two| two == b"\r\n") {
                let line = String::from_utf8_lossy(&ready[..end]).into_owned();
                self.wire.consume(end + 2);
                return Ok(Some(line));
            }
            have = ready.len() + 1;
        }
    }

    fn word(&mut self) -> Result<String> {
        let line = self.line(None)?.unwrap_or_default();
        Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
    }

    /// What comes next for the inbox; `None` if nothing does in time.
    fn next(&mut self, patience: Option<Duration>) -> Result<Option<Delivered>> {
        loop {
            let Some(line) = self.line(patience)? else { return Ok(None) };
            let words: Vec<&str> = line.split_whitespace().collect();
            let length = |back: usize| -> usize {
                words.iter().rev().nth(back).and_then(|word| word.parse().ok()).unwrap_or(0)
            };
            let (head, all, replies) = match words.first() {
                Some(&"MSG") => (0, length(0), words.len() == 5),
                Some(&"HMSG") => (length(1), length(0), words.len() == 6),
                Some(&"PING") => {
                    self.wire.out().extend_from_slice(b"PONG\r\n");
                    self.wire.send()?;
                    continue;
                }
                Some(&"-ERR") => return Err(self.wire.unexpected(line)),
                _ => continue,
            };
            let reply = if replies { words[3].to_owned() } else { String::new() };
            self.wire.need(all + 2, None)?;
            // Only answers are looked at; messages are counted where they lie.
            let is_answer = reply.is_empty();
            let body = if is_answer { self.wire.ready()[head..all].to_vec() } else { Vec::new() };
            self.wire.consume(all + 2);
            let bytes = (all - head) as u64;
            return Ok(Some(Delivered { reply, has_status: head > 0 && is_answer, bytes, body }));
        }
    }
}

struct Puts {
    line: Line,
    window: usize,
    open: usize,
}

impl Puts {
    fn confirmed(&mut self) -> Result<()> {
        let answer = self.line.next(None)?;
        match answer {
            Some(one)
                if !one.has_status && !one.body.windows(7).any(|part| part == b"\"error\"") =>
            {
                self.open -= 1;
                Ok(())
            }
            _ => Err(self.line.wire.unexpected("a message was not taken")),
        }
    }
}

impl Producer for Puts {
    fn put(&mut self, message: &[u8]) -> Result<()> {
        let inbox = self.line.inbox.clone();
        self.line.publish(SUBJECT, &inbox, message);
        self.line.wire.send()?;
        self.open += 1;
        while self.open >= self.window {
            self.confirmed()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        while self.open > 0 {
            self.confirmed()?;
        }
        Ok(())
    }
}

struct Takes {
    line: Line,
    window: usize,
    /// Messages that were asked for and have not come.
    asked: usize,
}

impl Consumer for Takes {
    fn take(&mut self, patience: Duration) -> Result<(u64, u64)> {
        if self.asked == 0 {
            let inbox = self.line.inbox.clone();
            // The server ends the request a moment before the client is out of patience.
            let ns = patience.as_nanos();
            let ask = format!("{{\"batch\":{},\"expires\":{ns}}}", self.window);
            let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{STREAM}");
            self.line.publish(&subject, &inbox, ask.as_bytes());
            self.line.wire.send()?;
            self.asked = self.window;
        }
        let Some(one) = self.line.next(Some(patience * 4))? else { return Ok((0, 0)) };
        if one.has_status {
            // The request has ended before there were so many.
            self.asked = 0;
            return Ok((0, 0));
        }
        self.asked -= 1;
        self.line.publish(&one.reply, "", b"+ACK");
        self.line.wire.send()?;
        Ok((1, one.bytes))
    }
}
