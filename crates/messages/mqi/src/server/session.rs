//! One program's connection: its calls, one after another, until it disconnects or is gone.
//!
//! Invariants:
//! 1. A program that is gone without disconnecting is backed out, also while it waits in a get:
//!    between two pieces of a wait the session looks whether anybody is still there.
//! 2. A request that cannot be understood ends the connection, and so backs it out: what follows
//!    it could be anything.

use std::io;
use std::os::unix::net::UnixStream;

use queue_manager::Reason;
use rustix::net::{RecvFlags, recv};

use super::calls::Calls;
use super::dialogue::{Dialogue, Reply};
use crate::wire::Request;
use crate::wire::frame::{self, Incoming};

/// A connected program.
pub(super) struct Session<'a> {
    calls: Option<Box<dyn Calls>>,
    incoming: &'a mut Incoming<UnixStream>,
    dialogue: Dialogue,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        calls: Box<dyn Calls>,
        incoming: &'a mut Incoming<UnixStream>,
    ) -> Session<'a> {
        Session { calls: Some(calls), incoming, dialogue: Dialogue::new() }
    }

    /// Serves calls until the program disconnects or is gone.
    pub(super) fn run(&mut self) -> io::Result<()> {
        while let Some((header, fields)) = self.incoming.begin()? {
            self.dialogue.buffer.clear();
            self.incoming.append(header.data, &mut self.dialogue.buffer)?;
            let Some(request) = Request::read(header.kind, &fields) else {
                return self.answer(header.kind, Reply::failed(Reason::UNEXPECTED_ERROR));
            };
            let ends = matches!(request, Request::Disconnect);
            let reply = self.serve(request);
            self.answer(header.kind, reply)?;
            if ends {
                return Ok(());
            }
            self.dialogue.rest();
        }
        Ok(())
    }

    fn answer(&mut self, kind: u8, reply: Reply) -> io::Result<()> {
        let (fields, data) = self.dialogue.parts(reply);
        frame::send(&mut self.incoming.get_ref(), kind, &fields, data)
    }

    fn serve(&mut self, request: Request) -> Reply {
        let Some(mut calls) = self.calls.take() else {
            return Reply::failed(Reason::CONNECTION_BROKEN);
        };
        if matches!(request, Request::Disconnect) {
            return Reply::plain(calls.disconnect());
        }
        let stream = self.incoming.get_ref();
        let reply = self.dialogue.call(calls.as_mut(), request, &|| is_peer_there(stream));
        self.calls = Some(calls);
        reply
    }
}

/// Whether the program is still there, as far as the connection says.
fn is_peer_there(stream: &UnixStream) -> bool {
    let mut first = [0_u8; 1];
    let looks = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    match recv(stream, &mut first, looks) {
        Ok((_, got)) => got > 0,
        Err(errno) => errno == rustix::io::Errno::AGAIN || errno == rustix::io::Errno::INTR,
    }
}
