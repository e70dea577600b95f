//! Connections that are let in, and the thread that serves each of them.
//!
//! Invariants:
//! 1. Closed, nothing is let in any more, and every session has ended.
//! 2. A session that fails ends alone: its connection is ended, and what it had is dropped.
//! 3. A listener that fails is asked again after `PAUSE`: a connection may have gone before it
//!    was let in, or no descriptor is left for the moment.
//! 4. The thread of a session that has ended is joined when the next one comes, or at the end.

use std::collections::BTreeMap;
use std::collections::btree_map::Values;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use crate::sync::{Condvar, Mutex};
use crate::thread::{self, JoinHandle};

/// How long nothing is let in after that could not be done.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection, as it can be ended from outside of its thread.
pub trait Connection: Send + 'static {
    /// Ends it: the thread that serves it reads and writes nothing more.
    fn end(&self);
}

impl Connection for UnixStream {
    fn end(&self) {
        // One that has gone by itself needs no end.
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Connection for TcpStream {
    fn end(&self) {
        // One that has gone by itself needs no end.
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// The sessions of a door.
pub struct Sessions<C> {
    state: Mutex<State<C>>,
    /// The end signals it; otherwise it is for waits with a limit.
    pause: Condvar,
}

struct State<C> {
    closed: bool,
    next: u64,
    open: BTreeMap<u64, C>,
    threads: BTreeMap<u64, JoinHandle>,
    ended: Vec<u64>,
}

impl<C> Default for Sessions<C> {
    fn default() -> Sessions<C> {
        let (open, threads) = (BTreeMap::new(), BTreeMap::new());
        let state = State { closed: false, next: 0, open, threads, ended: Vec::new() };
        Sessions { state: Mutex::new(state), pause: Condvar::new() }
    }
}

impl<C: Connection> Sessions<C> {
    /// Lets in what comes until the door is closed and its listener ended.
    pub fn accept_all<T>(&self, accept: impl Fn() -> io::Result<T>, let_in: impl Fn(T)) {
        loop {
            match accept() {
                Ok(coming) => let_in(coming),
                Err(_) => {
                    let mut state = self.state.lock();
                    if state.closed {
                        return;
                    }
                    state.reap();
                    self.pause.wait_for(&mut state, PAUSE);
                }
            }
        }
    }

    /// Has a thread serve a connection, under the session's number; unless the door is closed or
    /// has no room beside those that are open.
    pub fn begin(
        self: &Arc<Self>,
        thread: &str,
        connection: C,
        has_room: impl FnOnce(Values<'_, u64, C>) -> bool,
        serve: impl FnOnce(u64) -> io::Result<()> + Send + 'static,
    ) {
        let mut state = self.state.lock();
        state.reap();
        if state.closed || !has_room(state.open.values()) {
            return;
        }
        let number = state.next;
        state.next += 1;
        state.open.insert(number, connection);
        let sessions = Arc::clone(self);
        let serves = thread::spawn(thread, move || {
            // What failed is the client's to notice; what the session had is dropped by now.
            drop(thread::catch(move || serve(number)));
            let mut state = sessions.state.lock();
            if let Some(connection) = state.open.remove(&number) {
                connection.end();
            }
            state.ended.push(number);
        });
        match serves {
            Ok(handle) => {
                state.threads.insert(number, handle);
            }
            Err(_) => {
                state.open.remove(&number);
            }
        }
    }

    /// Changes what is known of the connection of a session, or ends it, if it goes on.
    pub fn with(&self, number: u64, change: impl FnOnce(&mut C)) {
        if let Some(connection) = self.state.lock().open.get_mut(&number) {
            change(connection);
        }
    }

    /// How many go on.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.lock().open.len()
    }

    /// Waits for the end, at most for so long; whether it has come.
    #[must_use]
    pub fn wait_closed(&self, limit: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.closed {
            self.pause.wait_for(&mut state, limit);
        }
        state.closed
    }

    /// Ends all sessions; `end_listeners` wakes those who wait for connections.
    pub fn close(&self, end_listeners: impl FnOnce()) {
        let threads = {
            let mut state = self.state.lock();
            state.closed = true;
            state.open.values().for_each(Connection::end);
            self.pause.notify_all();
            std::mem::take(&mut state.threads)
        };
        end_listeners();
        threads.into_values().for_each(JoinHandle::join);
    }
}

impl<C> State<C> {
    /// Joins the threads that have ended.
    fn reap(&mut self) {
        for number in std::mem::take(&mut self.ended) {
            if let Some(handle) = self.threads.remove(&number) {
                handle.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// A session: it sends back what it gets, and fails at an exclamation mark.
    fn echo(mut stream: TcpStream) -> io::Result<()> {
        let mut byte = [0];
        while stream.read(&mut byte)? > 0 {
            assert_ne!(byte, *b"!", "it fails here");
            stream.write_all(&byte)?;
        }
        Ok(())
    }

    fn said(mut client: &TcpStream, byte: u8) -> Option<u8> {
        let _ = client.write_all(&[byte]);
        let mut answer = [0];
        let read = client.read(&mut answer).unwrap_or_default();
        (read > 0).then_some(answer[0])
    }

    #[test]
    fn sessions_are_let_in_while_there_is_room_fail_alone_and_end_with_the_door() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sessions = Arc::new(Sessions::default());
        let listener = Arc::new(listener);
        let (own, listens) = (Arc::clone(&sessions), Arc::clone(&listener));
        let accepts = thread::spawn("accepts", move || {
            own.accept_all(
                || listens.accept(),
                |(stream, _)| {
                    let second = stream.try_clone().unwrap();
                    own.begin("serves", second, |open| open.len() < 2, move |_| echo(stream));
                },
            );
        });
        let connect = || TcpStream::connect(address).unwrap();
        let (one, two) = (connect(), connect());
        assert_eq!((said(&one, b'1'), said(&two, b'2')), (Some(b'1'), Some(b'2')));
        assert_eq!((said(&connect(), b'3'), sessions.count()), (None, 2));
        assert_eq!(said(&one, b'!'), None);
        while sessions.count() > 1 {
            thread::yield_now();
        }
        let three = connect();
        assert_eq!((said(&three, b'3'), said(&two, b'2')), (Some(b'3'), Some(b'2')));
        assert!(!sessions.wait_closed(Duration::from_millis(1)));
        let end = || rustix::net::shutdown(&*listener, rustix::net::Shutdown::Both).unwrap();
        sessions.close(end);
        accepts.unwrap().join();
        assert!(sessions.wait_closed(Duration::MAX));
        assert_eq!((said(&two, b'2'), said(&three, b'3'), sessions.count()), (None, None, 0));
        sessions.begin("late", three, |_| true, |_| panic!("the door is closed"));
        assert_eq!(sessions.count(), 0);
    }
}
