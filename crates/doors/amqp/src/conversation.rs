//! A conversation over its socket: who it is with, and the turns of reading, doing, answering.
//!
//! 1. A client that is silent for longer than it was told to be at most is gone.
//! 2. Bytes that were read and are not put yet are bounded: nothing more is read meanwhile.
//! 3. A client hears that the conversation has ended when all that it had is free again.
//! 4. A conversation goes on no longer than its user may come in.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use queue_manager::options::ConnectOptions;
use store::Store;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until, timeout};

use crate::budget::Member;
use crate::engine::{Engine, IDLE_MS};
use crate::error_condition::trouble_of;
use crate::frame::{self, AMQP, AMQP_HEADER, SASL, SASL_HEADER};
use crate::sasl::{self, Claim, Mechanism};
use crate::shared::{HANDSHAKE, Here, Shared};
use crate::work::{Event, Job, Room, Trouble};
use crate::worker::Worker;

/// How long a client may take nothing of what is sent.
const SEND: Duration = Duration::from_secs(120);
/// How long a client may be silent: twice what it is told.
const SILENCE: Duration = Duration::from_millis(2 * IDLE_MS as u64);
/// How often it is looked whether the user is still who came.
const LOOK: Duration = Duration::from_secs(2);
/// How long answers have to come when the system stops.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Jobs that wait for the queue manager before no more is read.
const JOBS: usize = 1_024;
/// Kibibytes of messages that wait to be put.
const INCOMING_KIB: u32 = 32 << 10;

/// Who is at the other end, as the network knows.
pub(crate) struct Peer {
    pub(crate) ip: IpAddr,
    pub(crate) secured: bool,
    pub(crate) certificate: Option<Vec<u8>>,
}

/// Serves a connection.
pub(crate) async fn serve<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    mut stream: T,
    peer: Peer,
    shared: &Arc<Shared<S>>,
    here: Here,
) -> io::Result<()> {
    let mut stopping = shared.stopping.clone();
    let connection_name = peer.ip.to_string();
    let greeted = tokio::select! {
        greeted = timeout(HANDSHAKE, greet(&mut stream, peer, shared)) => greeted??,
        _ = stopping.changed() => return Ok(()),
    };
    let Some((user, rest)) = greeted else {
        shared.counters.refused.fetch_add(1, Ordering::Relaxed);
        return stream.shutdown().await;
    };
    shared.counters.accepted.fetch_add(1, Ordering::Relaxed);
    let options = ConnectOptions {
        user,
        application: "AMQP".into(),
        channel: "AMQP".into(),
        connection_name,
        // The door knows no administrators.
        may_command: false,
        by_door: true,
        ..ConnectOptions::default()
    };
    converse(stream, rest, options, shared, here).await
}

async fn header<T: AsyncRead + Unpin>(stream: &mut T) -> io::Result<[u8; 8]> {
    let mut header = [0; 8];
    stream.read_exact(&mut header).await?;
    Ok(header)
}

/// Finds out who it is: the user, and what was read beyond; `None`: nobody who may come in.
async fn greet<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut T,
    peer: Peer,
    shared: &Shared<S>,
) -> io::Result<Option<(String, Vec<u8>)>> {
    let local = peer.ip.is_loopback();
    let offered = offered(shared, &peer);
    match header(stream).await? {
        SASL_HEADER => {}
        AMQP_HEADER if offered.contains(&Mechanism::Anonymous) => {
            let user = shared.authenticator.anonymous(local);
            stream.write_all(&AMQP_HEADER).await?;
            return Ok(user.map(|user| (user, Vec::new())));
        }
        _ => {
            stream.write_all(&SASL_HEADER).await?;
            return Ok(None);
        }
    }
    let mut out = SASL_HEADER.to_vec();
    frame::put(&mut out, SASL, 0, &sasl::mechanisms(&offered), &[]);
    stream.write_all(&out).await?;
    let mut bytes = Vec::new();
    let init = loop {
        let read = frame::read(&bytes).map_err(|bad| io::Error::other(bad.0))?;
        if let Some((frame, length)) = read {
            bytes.drain(..length);
            break frame;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let claim = match init.body {
        Some((0x41, fields)) if init.kind == SASL => sasl::claim(&fields, &offered),
        _ => None,
    };
    let user = prove(claim, peer, shared).await;
    let mut out = Vec::new();
    frame::put(&mut out, SASL, 0, &sasl::outcome(user.is_some()), &[]);
    stream.write_all(&out).await?;
    let Some(user) = user else { return Ok(None) };
    while bytes.len() < 8 {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    stream.write_all(&AMQP_HEADER).await?;
    if bytes[..8] != AMQP_HEADER {
        return Ok(None);
    }
    bytes.drain(..8);
    Ok(Some((user, bytes)))
}

/// The user whom a client has proved to be.
async fn prove<S: Store>(claim: Option<Claim>, peer: Peer, shared: &Shared<S>) -> Option<String> {
    match claim? {
        Claim::Anonymous => shared.authenticator.anonymous(peer.ip.is_loopback()),
        Claim::External => shared.authenticator.external(&peer.certificate?),
        Claim::Plain { user, password } => {
            let authenticator = Arc::clone(&shared.authenticator);
            let turn = Arc::clone(&shared.checks).acquire_owned().await.ok()?;
            // A password is made to take long to check.
            let checked = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                authenticator.plain(&user, &password)
            });
            checked.await.unwrap_or_default()
        }
    }
}

fn offered<S: Store>(shared: &Shared<S>, peer: &Peer) -> Vec<Mechanism> {
    let local = peer.ip.is_loopback();
    let mut offered = Vec::new();
    if peer.certificate.is_some() {
        offered.push(Mechanism::External);
    }
    let passwords = peer.secured || local || shared.options.passwords_without_tls;
    if passwords && shared.authenticator.has_passwords() {
        offered.push(Mechanism::Plain);
    }
    if shared.authenticator.anonymous(local).is_some() {
        offered.push(Mechanism::Anonymous);
    }
    offered
}

/// Does the jobs of a conversation until there are no more.
fn work<S: Store>(mut worker: Worker<S>, mut jobs: Receiver<Job>) {
    while let Some(job) = jobs.blocking_recv() {
        worker.take(job);
        // What has come together is committed together.
        while let Ok(job) = jobs.try_recv() {
            worker.take(job);
        }
        worker.flush();
    }
    worker.end();
}

async fn converse<S: Store, T: AsyncRead + AsyncWrite + Unpin>(
    stream: T,
    bytes: Vec<u8>,
    options: ConnectOptions,
    shared: &Arc<Shared<S>>,
    _here: Here,
) -> io::Result<()> {
    let (tell, events) = mpsc::unbounded_channel();
    let (jobs, to_do) = mpsc::channel(JOBS);
    let (manager, commons) = (shared.manager.clone(), Arc::clone(&shared.commons));
    let member = shared.budgets.enter(&options.user);
    let standing = (options.user.clone(), mark_of(shared, &options.user).await);
    let mut engine = Engine::new(shared.manager.name(), &shared.clients);
    engine.member.clone_from(&member);
    let (reader, writer) = tokio::io::split(stream);
    let now = Instant::now();
    let mut turns = Turns {
        reader,
        writer,
        engine,
        bytes,
        jobs: Some(jobs),
        events,
        member: member.clone(),
        incoming: Arc::new(Semaphore::new(INCOMING_KIB as usize)),
        last_received: now,
        last_sent: now,
        standing,
        looked: now,
    };
    let Some(member) = member else {
        shared.counters.refused.fetch_add(1, Ordering::Relaxed);
        turns.engine.fail(&Trouble {
            condition: "amqp:resource-limit-exceeded",
            words: "this user has most of the door's connections already".to_owned(),
        });
        return turns.say().await;
    };
    let begin = move || Worker::new(&manager, &commons, (options, member), tell);
    let begun = tokio::task::spawn_blocking(begin).await;
    let worker = match begun {
        Ok(Ok(worker)) => worker,
        Ok(Err(failed)) => {
            turns.engine.fail(&trouble_of(failed, "the connection"));
            return turns.say().await;
        }
        Err(_) => return Ok(()),
    };
    let worker = tokio::task::spawn_blocking(move || work(worker, to_do));
    let done = turns.go_on(shared).await;
    // What the client had is free again before it is told that the conversation has ended.
    turns.jobs = None;
    let _ = worker.await;
    turns.engine.leave();
    if turns.engine.closed {
        turns.say().await?;
        turns.writer.shutdown().await?;
    }
    done
}

/// The turns of a conversation.
struct Turns<R, W> {
    reader: R,
    writer: W,
    engine: Engine,
    bytes: Vec<u8>,
    jobs: Option<Sender<Job>>,
    events: UnboundedReceiver<Event>,
    member: Option<Arc<Member>>,
    incoming: Arc<Semaphore>,
    /// When the client was heard last, and when something was said.
    last_received: Instant,
    last_sent: Instant,
    /// The user, and its mark when it came.
    standing: (String, Option<u64>),
    looked: Instant,
}

/// The mark of a user; asked where it hurts nobody.
async fn mark_of<S: Store>(shared: &Shared<S>, user: &str) -> Option<u64> {
    let (authenticator, user) = (Arc::clone(&shared.authenticator), user.to_owned());
    let asked = tokio::task::spawn_blocking(move || authenticator.mark(&user));
    asked.await.ok().flatten()
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Turns<R, W> {
    async fn go_on<S: Store>(&mut self, shared: &Shared<S>) -> io::Result<()> {
        let mut stopping = shared.stopping.clone();
        loop {
            self.read_frames();
            if !self.hand_on(shared).await {
                return Ok(());
            }
            if self.engine.closed {
                return Ok(());
            }
            self.say().await?;
            let sign = self.last_sent + idle(&self.engine) / 2;
            let silent = self.last_received + SILENCE;
            tokio::select! {
                read = self.reader.read_buf(&mut self.bytes) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    self.last_received = Instant::now();
                }
                Some(event) = self.events.recv() => self.events(event, shared),
                () = sleep_until(sign) => frame::put_empty(&mut self.engine.out),
                () = sleep_until(self.looked + LOOK) => self.look(shared).await,
                () = sleep_until(silent) => self.engine.fail(&Trouble {
                    condition: "amqp:resource-limit-exceeded",
                    words: "nothing was heard for too long".to_owned(),
                }),
                _ = stopping.changed() => return self.stop(shared).await,
            }
        }
    }

    /// Ends the conversation if its user is gone, or has another password.
    async fn look<S: Store>(&mut self, shared: &Shared<S>) {
        let mark = mark_of(shared, &self.standing.0).await;
        self.looked = Instant::now();
        if mark != self.standing.1 {
            self.engine.fail(&Trouble {
                condition: "amqp:unauthorized-access",
                words: "the user is gone, or has another password".to_owned(),
            });
        }
    }

    /// Takes events: what has come together goes together.
    fn events<S: Store>(&mut self, event: Event, shared: &Shared<S>) {
        let mut next = Some(event);
        while let Some(event) = next {
            if let Event::Message { .. } = event {
                shared.counters.sent.fetch_add(1, Ordering::Relaxed);
            }
            self.engine.event(event);
            next = self.events.try_recv().ok();
        }
    }

    /// Answers what is put already, says that the system stops, and ends.
    async fn stop<S: Store>(&mut self, shared: &Shared<S>) -> io::Result<()> {
        let end = Instant::now() + LAST_ANSWERS;
        while self.engine.unanswered > 0 {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.events(event, shared),
                    None => break,
                },
                () = sleep_until(end) => break,
            }
        }
        self.engine.fail(&Trouble {
            condition: "amqp:connection:forced",
            words: "the system stops".to_owned(),
        });
        Ok(())
    }

    /// Hands the jobs on; `false` if nobody does them any more.
    async fn hand_on<S: Store>(&mut self, shared: &Shared<S>) -> bool {
        for mut job in std::mem::take(&mut self.engine.jobs) {
            if let Job::Put { message, room, .. } = &mut job {
                shared.counters.received.fetch_add(1, Ordering::Relaxed);
                let kib = u32::try_from(message.len() / 1_024).unwrap_or(u32::MAX);
                let kib = kib.clamp(1, INCOMING_KIB);
                let permit = Arc::clone(&self.incoming).acquire_many_owned(kib).await;
                let mut taken = match &self.member {
                    Some(member) => member.incoming(message.len()).await,
                    None => Room::default(),
                };
                taken.add(permit.ok());
                // What it had while it was not whole is free again.
                *room = taken;
            }
            let Some(jobs) = &self.jobs else { return false };
            if jobs.send(job).await.is_err() {
                return false;
            }
        }
        true
    }

    /// Sends what there is to say.
    async fn say(&mut self) -> io::Result<()> {
        if self.engine.out.is_empty() {
            return Ok(());
        }
        timeout(SEND, self.writer.write_all(&self.engine.out)).await??;
        self.engine.out.clear();
        self.last_sent = Instant::now();
        timeout(SEND, self.writer.flush()).await?
    }

    fn read_frames(&mut self) {
        let mut used = 0;
        while !self.engine.closed {
            match frame::read(&self.bytes[used..]) {
                Ok(None) => break,
                Ok(Some((frame, length))) => {
                    used += length;
                    if frame.kind == AMQP {
                        self.engine.frame(frame);
                    }
                }
                Err(bad) => self.engine.fail(&Trouble {
                    condition: "amqp:connection:framing-error",
                    words: bad.0.to_owned(),
                }),
            }
        }
        self.bytes.drain(..used);
    }
}

/// How often a client wants a sign of life.
fn idle(engine: &Engine) -> Duration {
    Duration::from_millis(engine.idle_ms().unwrap_or(u64::from(IDLE_MS)).clamp(200, 3_600_000))
}
