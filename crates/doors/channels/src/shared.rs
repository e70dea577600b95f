//! What all threads of channels share: connections that can be cut, notices, an end.
//!
//! 1. A connection that is to be cut is cut at its socket: the thread that waits at it wakes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use queue_manager::QueueManager;
use queue_manager::channel::{ChannelError, Channels};
use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use seam::thread::{self, JoinHandle};
use store::Store;

use crate::keys::Keys;
use crate::link::Link;
use crate::visitors::Visitors;

/// Notices that wait to be taken.
const NOTICES_MAX: usize = 100;

pub(crate) struct Socket {
    channel: String,
    partner: String,
    stream: TcpStream,
}

pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) started_ms: u64,
    pub(crate) socket: Arc<TcpListener>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) closed: bool,
    next: u64,
    pub(crate) sockets: BTreeMap<u64, Socket>,
    /// Channels that connect.
    pub(crate) outbound: BTreeSet<String>,
    pub(crate) threads: BTreeMap<u64, JoinHandle>,
    ended: Vec<u64>,
    pub(crate) listeners: BTreeMap<String, Listening>,
    pub(crate) visitors: Visitors,
    pub(crate) notices: Vec<String>,
}

/// What all threads share.
pub(crate) struct Shared<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) channels: Channels<S>,
    pub(crate) keys: Option<Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
}

/// Lets the server forget a socket.
pub(crate) struct Watch<'s, S: Store> {
    shared: &'s Shared<S>,
    number: u64,
}

impl<S: Store> Drop for Watch<'_, S> {
    fn drop(&mut self) {
        self.shared.state.lock().sockets.remove(&self.number);
    }
}

impl<S: Store> Shared<S> {
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Notes something for operators.
    pub(crate) fn notice(&self, text: String) {
        let mut state = self.state.lock();
        if state.notices.len() < NOTICES_MAX {
            state.notices.push(text);
        }
    }

    /// Waits; `false` if it is over: the server closes, or `over` says so.
    pub(crate) fn pause(&self, time: Duration, over: &dyn Fn() -> bool) -> bool {
        let deadline = self.clock.monotonic() + time;
        let mut state = self.state.lock();
        loop {
            if state.closed || over() {
                return false;
            }
            let left = deadline.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return true;
            }
            self.changed.wait_for(&mut state, left);
        }
    }

    /// Has a connection found by those who cut it.
    pub(crate) fn watch(
        &self,
        channel: &str,
        partner: &str,
        link: &Link,
    ) -> Result<Watch<'_, S>, ChannelError> {
        let stream = link.socket().map_err(|error| ChannelError::Partner {
            channel: channel.to_owned(),
            why: format!("the connection failed: {error}"),
        })?;
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let socket = Socket { channel: channel.to_owned(), partner: partner.to_owned(), stream };
        if state.closed {
            cut(&socket);
        }
        state.sockets.insert(number, socket);
        drop(state);
        Ok(Watch { shared: self, number })
    }

    /// Cuts connections, by their channel and partner.
    pub(crate) fn cut(&self, which: impl Fn(&str, &str) -> bool) -> usize {
        let state = self.state.lock();
        let meant = state.sockets.values().filter(|one| which(&one.channel, &one.partner));
        meant.map(cut).count()
    }

    /// Does something in a thread of its own.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        state: &mut State,
        name: &str,
        body: impl FnOnce(&Arc<Self>) + Send + 'static,
    ) -> io::Result<()> {
        reap(state);
        state.next += 1;
        let (number, shared) = (state.next, Arc::clone(self));
        let handle = thread::spawn(name, move || {
            // A thread that fails ends; what it had not committed is backed out.
            drop(thread::catch(|| body(&shared)));
            shared.state.lock().ended.push(number);
        })?;
        state.threads.insert(number, handle);
        Ok(())
    }
}

pub(crate) fn cut(socket: &Socket) {
    // One that has gone by itself needs no cut.
    let _ = socket.stream.shutdown(Shutdown::Both);
}

/// Joins the threads that have ended.
fn reap(state: &mut State) {
    for number in std::mem::take(&mut state.ended) {
        if let Some(handle) = state.threads.remove(&number) {
            handle.join();
        }
    }
}
