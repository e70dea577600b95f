//! One terminal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use codec::CodePage;
use ims_connect::wire::{Function, Irm, Pages, Request, Response, Status, csm_flag, f2, f3};
use otma::{Name, Segments};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::ledger::{Entry, Ledger};
use crate::plan::{Ask, Flow, Pace, Plan, Random};
use crate::report::Seen;
use crate::secure::{Secure, Stream};

/// How long a terminal waits before it connects again.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest response that is taken.
const RESPONSE_BYTES_MAX: usize = 16 << 20;
/// Timer of an acknowledgement that is not waited for.
const NO_WAIT: u8 = 0xe9;
/// Timer of a request: for ever; the terminal has its own patience.
const FOREVER: u8 = 0xff;
/// Reason code of work that was committed.
const COMMITTED: u32 = 0x61;

/// A terminal.
pub(crate) struct Terminal {
    plan: Arc<Plan>,
    secure: Option<Arc<Secure>>,
    number: u32,
    client: Name,
    pages: Pages,
    random: Random,
    stream: Option<Box<dyn Stream>>,
    bytes: Vec<u8>,
    /// Shared by some terminals: what is counted is small, but not for each of 30,000.
    seen: Arc<Mutex<Seen>>,
    pub(crate) ledger: Ledger,
}

/// How a transaction went.
enum Went {
    Done(Segments),
    Refused(u32, u32),
}

impl Terminal {
    pub(crate) fn new(
        plan: Arc<Plan>,
        secure: Option<Arc<Secure>>,
        number: u32,
        seen: Arc<Mutex<Seen>>,
    ) -> Terminal {
        let prefix: String = plan.prefix.chars().take(3).collect();
        let client = Name::new(&format!("{prefix}{number:05}")).unwrap_or_default();
        Terminal {
            secure,
            number,
            client,
            pages: Pages::new(CodePage::Cp037),
            random: Random::new(plan.seed ^ (u64::from(number) << 32)),
            stream: None,
            bytes: Vec::new(),
            seen,
            ledger: Ledger::default(),
            plan,
        }
    }

    /// Drives from a moment on until the plan's time is over.
    pub(crate) async fn drive(mut self, begin: Instant) -> Terminal {
        let plan = Arc::clone(&self.plan);
        let end = begin + plan.time;
        let share = f64::from(self.number) / f64::from(plan.terminals.max(1));
        let mut due = begin + plan.ramp.mul_f64(share);
        // At a fixed rate terminals take turns.
        let interval = match plan.pace {
            Pace::Rate(rate) if rate > 0.0 => {
                let interval = f64::from(plan.terminals) / rate;
                due += Duration::from_secs_f64(interval * share);
                Some(Duration::from_secs_f64(interval))
            }
            _ => None,
        };
        let mut number = 0;
        loop {
            if due >= end {
                break;
            }
            sleep_until(due).await;
            if !self.connected(end).await {
                break;
            }
            let sent = Instant::now();
            let reported = due >= begin + plan.warm_up;
            self.transaction(number, (due, sent), reported).await;
            number += 1;
            due = match (interval, plan.pace) {
                (Some(interval), _) => due + interval,
                (None, Pace::Think(think)) => Instant::now() + self.random.spread(think),
                (None, Pace::Rate(_)) => Instant::now(),
            };
        }
        self.stream = None;
        self
    }

    /// Connects if there is no connection; whether there is one before the end.
    async fn connected(&mut self, end: Instant) -> bool {
        while self.stream.is_none() {
            let connected =
                timeout(self.plan.patience, connect(&self.plan, self.secure.as_deref())).await;
            match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => {
                    self.seen.lock().broke(&error);
                    sleep(PAUSE).await;
                }
            }
            if Instant::now() >= end {
                return self.stream.is_some();
            }
        }
        true
    }

    async fn transaction(&mut self, number: u64, (due, sent): (Instant, Instant), reported: bool) {
        let kind = self.kind();
        let Some(work) = self.plan.mix.get(kind).map(|kind| Arc::clone(&kind.work)) else { return };
        let ask = work.ask(self.number, number, &mut self.random);
        let entry = Entry { terminal: self.number, number, kind: kind as u32 };
        let patience = self.plan.patience;
        let went = timeout(patience, self.exchange(&ask)).await;
        match went.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(Went::Done(reply)) => match work.check(self.number, number, &ask, &reply) {
                Ok(()) => {
                    self.ledger.confirmed.push(entry);
                    if reported {
                        let now = Instant::now();
                        self.seen.lock().time(kind, now - due, now - sent);
                    }
                }
                Err(what) => {
                    self.seen.lock().wrong(what);
                    self.ledger.unknown.push(entry);
                }
            },
            Ok(Went::Refused(code, reason)) => {
                *self.seen.lock().refused.entry(format!("{code:02X}/{reason:02X}")).or_default() +=
                    1;
                self.ledger.unknown.push(entry);
                // Most refusals end the connection; this one is not used again.
                self.stream = None;
                sleep(PAUSE).await;
            }
            Err(error) => {
                self.seen.lock().broke(&error);
                self.ledger.unknown.push(entry);
                self.stream = None;
            }
        }
    }

    fn kind(&mut self) -> usize {
        let all: u64 = self.plan.mix.iter().map(|kind| u64::from(kind.weight)).sum();
        let mut at = self.random.below(all);
        for (index, kind) in self.plan.mix.iter().enumerate() {
            match at.checked_sub(u64::from(kind.weight)) {
                Some(rest) => at = rest,
                None => return index,
            }
        }
        0
    }

    async fn exchange(&mut self, ask: &Ask) -> io::Result<Went> {
        let response = self.say(Function::SendReceive, ask.flow, ask.segments.clone(), FOREVER);
        let response = response.await?;
        let flags = match response.status {
            Status::Request(status) => return Ok(Went::Refused(status.code, status.reason)),
            Status::Complete(status) => status.flags,
        };
        if flags & csm_flag::WANTS_ACK != 0 {
            match ask.flow {
                Flow::Queued => {
                    let bytes = self.request(Function::Ack, ask.flow, Segments::new(), NO_WAIT);
                    self.send(&bytes).await?;
                }
                _ => {
                    let end = self.say(Function::Ack, ask.flow, Segments::new(), FOREVER).await?;
                    match end.status {
                        Status::Request(status) if status.reason == COMMITTED => {}
                        Status::Request(status) => {
                            return Ok(Went::Refused(status.code, status.reason));
                        }
                        Status::Complete(_) => return Err(io::ErrorKind::InvalidData.into()),
                    }
                }
            }
        }
        Ok(Went::Done(response.data))
    }

    fn request(&self, function: Function, flow: Flow, segments: Segments, timer: u8) -> Vec<u8> {
        let mut irm = Irm::new(0, *b"*SAMPL1*");
        irm.function = function;
        irm.timer = timer;
        irm.socket = 0x10;
        irm.client = self.client;
        irm.data_store = self.plan.data_store;
        irm.user = self.plan.user;
        irm.group = self.plan.group;
        irm.password = self.plan.password;
        irm.f2 = if flow == Flow::Queued { f2::MODE_0 } else { f2::MODE_1 };
        // A terminal that comes again may find its last connection still there.
        irm.f3 = f3::CANCEL_DUPLICATE | if flow == Flow::Plain { 0 } else { f3::CONFIRM };
        Request { irm, segments }.encode(self.plan.encoding, &self.pages)
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        stream.write_all(bytes).await
    }

    async fn say(
        &mut self,
        function: Function,
        flow: Flow,
        segments: Segments,
        timer: u8,
    ) -> io::Result<Response> {
        let bytes = self.request(function, flow, segments, timer);
        self.send(&bytes).await?;
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let bad = || io::Error::from(io::ErrorKind::InvalidData);
        self.bytes.clear();
        self.bytes.reserve(512);
        let length = loop {
            if let Some(head) = self.bytes.first_chunk::<4>() {
                let length = usize::try_from(u32::from_be_bytes(*head)).unwrap_or(usize::MAX);
                if !(4..=RESPONSE_BYTES_MAX).contains(&length) {
                    return Err(bad());
                }
                if self.bytes.len() >= length {
                    break length;
                }
            }
            if stream.read_buf(&mut self.bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        // Nothing comes that was not asked for.
        let body = self.bytes.get(4..).filter(|_| self.bytes.len() == length).ok_or_else(bad)?;
        Response::decode(body, &self.pages).map_err(|_| bad())
    }
}

async fn connect(plan: &Plan, secure: Option<&Secure>) -> io::Result<Box<dyn Stream>> {
    let stream = TcpStream::connect(plan.address).await?;
    let _ = stream.set_nodelay(true);
    match secure {
        Some(secure) => secure.connect(stream).await,
        None => Ok(Box::new(stream)),
    }
}
