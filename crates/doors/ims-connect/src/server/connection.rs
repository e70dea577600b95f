//! One connection: bytes to events, actions to calls and bytes.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use otma::{
    CommitMode, Encoding, Identity, Manager, Name, Output, OutputId, Partner, Reason as Why,
    Refusal, Settlement,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};

use super::Shared;
use super::admission::Known;
use super::brought::Brought;
use super::buffer::{Buffer, Found};
use super::mailbox::Mailbox;
use crate::conversation::{Action, Asked, Conversation, Event};
use crate::exit::{Exit, Sample};
use crate::wire::{
    HEAD_BYTES, Reason, Request, Response, ReturnCode, Rsm, Rule, Status, exit_id, is_ping,
};

/// How long the client of a connection that ends may take to read the last words.
const LINGER: Duration = Duration::from_secs(1);
/// How many bytes of it are thrown away meanwhile.
const LINGER_BYTES: usize = 1 << 20;

/// What a connection does before others go on: much may have come at once that needs no answer.
const AT_A_TIME: u32 = 64;

/// One connection.
pub(super) struct Connection {
    pub(super) id: u64,
    pub(super) shared: Arc<Shared>,
    pub(super) client: Name,
    pub(super) user: Name,
    pub(super) encoding: Encoding,
    /// Which bytes of what answers the last request are characters.
    pub(super) rule: Rule,
    pub(super) known: Option<Box<Known>>,
    /// The user of the client's certificate.
    pub(super) certified: Option<Name>,
    mailbox: Arc<Mailbox>,
    exit: Option<Arc<dyn Exit>>,
    conversation: Conversation,
    buffer: Buffer,
    timer: Option<Instant>,
    /// The tpipe whose arrivals it is told of, and for which user.
    watched: Option<(Name, Name)>,
    /// Until when the message that was begun has to be complete, or something has to come.
    patience: Option<Instant>,
}

/// What a wait ended with.
enum Woken {
    Notified,
    Read(io::Result<usize>),
    Time,
}

impl Connection {
    pub(super) fn new(id: u64, mailbox: Arc<Mailbox>, shared: Arc<Shared>) -> Connection {
        Connection {
            id,
            client: Name::BLANK,
            user: Name::BLANK,
            encoding: Encoding::Ascii,
            rule: Rule::Text,
            known: None,
            certified: None,
            mailbox,
            exit: None,
            conversation: Conversation::new(shared.options.limits),
            buffer: Buffer::default(),
            timer: None,
            watched: None,
            patience: None,
            shared,
        }
    }

    /// Serves the client until one of both goes.
    pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut self, mut stream: S) {
        let mut row = 0_u32;
        while !self.conversation.is_closed() {
            row = row.wrapping_add(1);
            if row.is_multiple_of(AT_A_TIME) {
                tokio::task::yield_now().await;
            }
            if let Some(event) = self.mailbox.next() {
                self.handle(event, &mut stream).await;
            } else if !self.request(&mut stream).await {
                self.rest(&mut stream).await;
            }
        }
        let _ = timeout(LINGER, last_words(&mut stream)).await;
    }

    /// Serves a request that has arrived; whether there was one.
    async fn request<S: AsyncRead + AsyncWrite + Unpin>(&mut self, stream: &mut S) -> bool {
        if !self.conversation.wants_request() || self.buffer.is_empty() {
            return false;
        }
        let event = match self.buffer.find(self.shared.options.message_bytes_max) {
            Found::Part => match self.buffer.head().copied() {
                Some(head) if !self.knows(&head) => self.garbage(),
                _ => return false,
            },
            Found::Short(head) => self.no_message(&head, Reason::TotalLength),
            Found::Long(head) => self.no_message(&head, Reason::DataTooBig),
            Found::Whole(length) => {
                self.patience = None;
                let head = self.buffer.head().copied().unwrap_or_default();
                let event =
                    if self.knows(&head) { self.message(length).await } else { self.garbage() };
                self.buffer.consume(length);
                event
            }
        };
        self.handle(event, stream).await;
        true
    }

    fn garbage(&self) -> Event {
        self.shared.counters.add(&self.shared.counters.garbage);
        Event::Gone
    }

    fn no_message(&mut self, head: &[u8; HEAD_BYTES], reason: Reason) -> Event {
        if self.knows(head) {
            Event::Denied(Rsm::new(ReturnCode::Exit, reason))
        } else {
            self.garbage()
        }
    }

    /// Finds the exit that a message names, and takes its code page for that of the client.
    fn knows(&mut self, head: &[u8; HEAD_BYTES]) -> bool {
        let shared = &self.shared;
        let Some((id, encoding)) = exit_id(head, &shared.pages) else { return false };
        if self.exit.as_ref().is_none_or(|exit| exit.id() != id) {
            let page = shared.options.page;
            let own = shared.options.exits.iter().find(|exit| exit.id() == id).cloned();
            let exit: Arc<dyn Exit> = match (own, &id) {
                (Some(exit), _) => exit,
                (None, b"*SAMPLE*") => Arc::new(Sample::hwssmpl0(page)),
                (None, b"*SAMPL1*") => Arc::new(Sample::hwssmpl1(page)),
                (None, _) => return false,
            };
            self.exit = Some(exit);
        }
        self.encoding = encoding;
        true
    }

    async fn message(&mut self, length: usize) -> Event {
        let counters = &self.shared.counters;
        counters.add(&counters.messages_in);
        counters.bytes_in.fetch_add(length as u64, Ordering::Relaxed);
        let Some(exit) = self.exit.clone() else { return self.garbage() };
        let request: Request = match exit.read(self.buffer.bytes(length), self.encoding) {
            Ok(request) => request,
            Err(reason) => return Event::Denied(Rsm::new(ReturnCode::Exit, reason)),
        };
        if is_ping(&request.segments, self.encoding, &self.shared.pages) {
            let client =
                if request.irm.client.is_blank() { self.client } else { request.irm.client };
            return Event::Ping(Box::new(Asked::new(&request.irm, client)));
        }
        // What an admission needs while it waits is large; an idle connection does not keep it.
        match Box::pin(self.admit(request)).await {
            Ok((asked, input)) => Event::Request(asked, input),
            Err(status) => Event::Denied(status),
        }
    }

    /// Waits until something happens.
    async fn rest<S: AsyncRead + AsyncWrite + Unpin>(&mut self, stream: &mut S) {
        let idle = self.shared.options.idle_time;
        if self.patience.is_none() && self.conversation.wants_request() {
            let begun = !self.buffer.is_empty();
            let time = if begun { Some(self.shared.options.frame_time) } else { idle };
            // Whose answer is waited for has the conversation's own timer.
            let time = time.filter(|_| begun || self.conversation.is_idle());
            self.patience = time.map(|time| Instant::now() + time);
        }
        let soonest = [self.timer, self.patience].into_iter().flatten().min();
        let room = self.conversation.wants_request() || self.buffer.has_room();
        let was_empty = self.buffer.is_empty();
        let woken = tokio::select! {
            biased;
            () = self.mailbox.wake.notified() => Woken::Notified,
            read = stream.read_buf(self.buffer.room()), if room => Woken::Read(read),
            () = sleep_until(soonest.unwrap_or_else(Instant::now)), if soonest.is_some() => {
                Woken::Time
            }
        };
        match woken {
            Woken::Notified => {}
            Woken::Read(Ok(count)) if count > 0 => {
                if was_empty {
                    self.patience = None;
                }
            }
            Woken::Read(_) => self.handle(Event::Gone, stream).await,
            Woken::Time => self.time(stream).await,
        }
    }

    async fn time<S: AsyncRead + AsyncWrite + Unpin>(&mut self, stream: &mut S) {
        let now = Instant::now();
        if self.patience.is_some_and(|end| end <= now) {
            self.patience = None;
            if self.conversation.wants_request() {
                self.shared.counters.add(&self.shared.counters.slow);
                return self.handle(Event::Gone, stream).await;
            }
        }
        if self.timer.is_some_and(|end| end <= now) {
            self.timer = None;
            self.handle(Event::Timer, stream).await;
        }
    }

    /// Gives an event to the conversation, and does what it says.
    async fn handle<S: AsyncRead + AsyncWrite + Unpin>(&mut self, event: Event, stream: &mut S) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for action in self.conversation.on(event) {
                if let Action::Reply(response, encoding) = action {
                    if !self.reply(stream, &response, encoding).await {
                        events.push_back(Event::Gone);
                    }
                } else {
                    events.extend(self.act(action).await);
                }
            }
        }
    }

    /// Does what needs no client; what follows from it at once.
    async fn act(&mut self, action: Action) -> Option<Event> {
        let manager = &self.shared.manager;
        match action {
            Action::Submit(input) => {
                let partner = self.partner();
                let waits = input.mode == CommitMode::SendThenCommit;
                let submit = move |manager: &dyn Manager| manager.submit(*input, partner);
                let abandon = move |manager: &dyn Manager, ticket| {
                    if waits {
                        manager.abandon(ticket);
                    }
                };
                Some(match self.call(submit, abandon).await {
                    Ok(ticket) => Event::Submitted(ticket),
                    Err(refusal) => Event::Refused(refusal),
                })
            }
            Action::Answer(ticket, answer) => {
                manager.answer(ticket, answer);
                None
            }
            Action::Abandon(ticket) => {
                manager.abandon(ticket);
                None
            }
            Action::Watch(tpipe) => {
                let own = (tpipe, self.user);
                if self.watched != Some(own) {
                    self.unwatch();
                    self.watched = Some(own);
                    self.shared.manager.watch(tpipe, self.user, &self.partner());
                }
                None
            }
            Action::Take(tpipe, Some(ticket)) => {
                Some(Event::Took(manager.take_reply(tpipe, ticket)))
            }
            Action::Take(tpipe, None) => Some(Event::Took(self.fetch(tpipe).await)),
            Action::Settle(tpipe, id, settlement) => {
                let mailbox = Arc::clone(&self.mailbox);
                let done = Box::new(move |result| mailbox.put(Event::Settled(result)));
                let settle =
                    move |manager: &dyn Manager| manager.settle(tpipe, id, settlement, done);
                let settled = self.call(settle, |_, ()| {}).await;
                settled.err().map(|refusal| Event::Settled(Err(refusal)))
            }
            Action::SetTimer(time) => {
                self.timer = Some(Instant::now() + time);
                None
            }
            Action::StopTimer => {
                self.timer = None;
                None
            }
            Action::CancelOther(client) => {
                Some(Event::Cancelled(self.shared.clients.cancel(client, self.user)))
            }
            Action::Close | Action::Reply(..) => None,
        }
    }

    /// Gives back what the conversation holds: nobody answers for it any more.
    fn give_back(&mut self) {
        let manager = Arc::clone(&self.shared.manager);
        for action in self.conversation.on(Event::Gone) {
            match action {
                Action::Answer(ticket, answer) => manager.answer(ticket, answer),
                Action::Abandon(ticket) => manager.abandon(ticket),
                // It waits for the next one, as after a crash: nothing is written here.
                Action::Settle(tpipe, id, _) => keep(manager.as_ref(), tpipe, id),
                _ => {}
            }
        }
    }

    fn partner(&self) -> Arc<dyn Partner> {
        self.mailbox.clone()
    }

    /// Is told of no tpipe's arrivals any more.
    fn unwatch(&mut self) {
        if let Some((tpipe, _)) = self.watched.take() {
            self.shared.manager.unwatch(tpipe, &self.partner());
        }
    }

    /// Another user asks on this connection, or the same by another name: what was watched for the
    /// one before is nobody's of this connection any more.
    pub(super) fn is_now(&mut self, client: Name, user: Name) {
        let is_old = |(tpipe, of): (Name, Name)| {
            of != user || (tpipe == self.client && client != self.client)
        };
        if self.watched.is_some_and(is_old) {
            self.unwatch();
        }
        (self.client, self.user) = (client, user);
    }

    /// Makes a call that may have to wait for long. If it may just now, it is made by a thread that
    /// serves nobody else: those who wait for clients' answers would have none as long as it lasts.
    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Manager) -> Result<T, Refusal> + Send + 'static,
        give_back: impl FnOnce(&dyn Manager, T) + Send + 'static,
    ) -> Result<T, Refusal> {
        let shared = &self.shared;
        if !shared.manager.may_wait() {
            return call(shared.manager.as_ref());
        }
        self.elsewhere(&shared.waits, call, give_back).await
    }

    /// Fetches the first output of a tpipe that is its user's. What waits there may be many, and
    /// long, and on the disk: nobody else waits for that.
    async fn fetch(&self, tpipe: Name) -> Result<Option<Output>, Refusal> {
        let who = Identity { user: self.user, group: Name::BLANK };
        let fetch = move |manager: &dyn Manager| manager.fetch(tpipe, who);
        let back = move |manager: &dyn Manager, output: Option<Output>| {
            output.into_iter().for_each(|output| keep(manager, tpipe, output.id));
        };
        self.elsewhere(&self.shared.fetches, fetch, back).await
    }

    /// Makes a call in a thread of its own; `give_back` has what it brings if the connection has
    /// ended by then.
    async fn elsewhere<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        call: impl FnOnce(&dyn Manager) -> Result<T, Refusal> + Send + 'static,
        give_back: impl FnOnce(&dyn Manager, T) + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = Arc::clone(turns).acquire_owned().await;
        let manager = Arc::clone(&self.shared.manager);
        let called = spawn_blocking(move || {
            let _turn = turn;
            let value = call(manager.as_ref())?;
            Ok(Brought::new(value, manager, give_back))
        });
        let failed = || Refusal::new(Why::Store, "the call was not made");
        called.await.unwrap_or_else(|_| Err(failed()))?.take().ok_or_else(failed)
    }

    /// Sends a response; whether the client took it.
    async fn reply<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        response: &Response,
        encoding: Encoding,
    ) -> bool {
        let Some(exit) = &self.exit else { return false };
        let shared = &self.shared;
        let counters = &shared.counters;
        if let Status::Request(status) = response.status {
            counters.status(status.code, status.reason);
        }
        let bytes = if encoding == self.encoding {
            exit.write(response, self.encoding)
        } else {
            // Messages of the server itself are text, whatever the transaction's are.
            let own = encoding == Encoding::Ascii && response.data.count() <= 1;
            let rule = if own && is_own(response) { &Rule::Text } else { &self.rule };
            let mut translated = response.clone();
            translated.data = shared.pages.segments(translated.data, encoding, self.encoding, rule);
            exit.write(&translated, self.encoding)
        };
        counters.add(&counters.messages_out);
        counters.bytes_out.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let sent = timeout(shared.options.write_time, async {
            stream.write_all(&bytes).await?;
            stream.flush().await
        });
        match sent.await {
            Ok(sent) => sent.is_ok(),
            Err(_) => {
                counters.add(&counters.slow);
                false
            }
        }
    }
}

/// An output that was taken stays on its tpipe.
fn keep(manager: &dyn Manager, tpipe: Name, id: OutputId) {
    let done = Box::new(|_: Result<(), Refusal>| {});
    // Nobody is left who would be told.
    let _ = manager.settle(tpipe, id, Settlement::Kept, done);
}

/// Whether a response is a message of the system, such as `DFS064`, or of the server.
fn is_own(response: &Response) -> bool {
    let data = response.data.data().next().unwrap_or_default();
    data.starts_with(b"DFS") || data.starts_with(b"HWS")
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It may be over before its conversation is: with its server.
        if !self.conversation.is_closed() {
            self.give_back();
        }
        self.unwatch();
        self.shared.clients.leave(self.id, self.client);
        self.shared.counters.less(&self.shared.counters.open);
    }
}

/// Says that nothing more comes, and waits for the client to hear it: a connection that is closed
/// over unread bytes is reset, and the client may lose what was sent last.
async fn last_words<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut thrown = 0;
    let mut bytes = Vec::with_capacity(1_024);
    while thrown < LINGER_BYTES {
        bytes.clear();
        match stream.read_buf(&mut bytes).await {
            Ok(count) if count > 0 => thrown += count,
            _ => return,
        }
    }
}
