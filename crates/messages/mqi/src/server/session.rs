//! One program's connection: its calls, one after another, until it disconnects or is gone.
//!
//! Invariants:
//! 1. A program that is gone without disconnecting is backed out, also while it waits in a get:
//!    between two pieces of a wait the session looks whether anybody is still there.
//! 2. A request that cannot be understood ends the connection, and so backs it out: what follows
//!    it could be anything.
//! 3. A message that is longer than the way allows is refused, and takes no memory.
//! 4. A request is read when there is room for it, for its fields, too.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use queue_manager::Reason;
use rustix::net::{RecvFlags, recv};

use super::calls::Calls;
use super::dialogue::{Dialogue, Reply};
use crate::wire::Request;
use crate::wire::frame::{self, DATA_BYTES_MAX, Header, Incoming};

/// The call that waits at several queues.
const CONSUME: u8 = 23;
/// Bytes of memory for one byte of its fields, at most: a list of descriptors that say nothing.
const CONSUMER_TIMES: usize = 100;
/// Bytes of memory for one byte of the fields of other calls, at most: as bytes and as lists.
const FIELDS_TIMES: usize = 4;
/// Bytes that a message has at most.
const ROOM_MAX: i32 = DATA_BYTES_MAX as i32;
/// Fields of fewer bytes do not count.
const FIELDS_SMALL: usize = 4 << 10;

/// What a program and its session are connected by; written to by reference.
pub trait Wire: Read {
    /// Whether the program is still there, as far as the connection says.
    fn is_there(&self) -> bool;

    /// A request may come now, or the rest of one that has begun.
    ///
    /// # Errors
    /// What the connection says.
    fn expect(&self, what: Expected) -> io::Result<()> {
        let _ = what;
        Ok(())
    }
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// A request, whenever the program makes one.
    Request,
    /// The rest of a request that has begun, and that takes so many bytes of memory.
    Data(usize),
}

impl Wire for UnixStream {
    fn is_there(&self) -> bool {
        let mut first = [0_u8; 1];
        let looks = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match recv(self, &mut first, looks) {
            Ok((_, got)) => got > 0,
            Err(errno) => errno == rustix::io::Errno::AGAIN || errno == rustix::io::Errno::INTR,
        }
    }
}

/// Serves a program that is connected, until it disconnects or is gone; messages that are longer
/// than `longest` are refused.
///
/// # Errors
/// What the connection says.
pub fn converse<W: Wire>(
    calls: Box<dyn Calls>,
    incoming: &mut Incoming<W>,
    longest: usize,
) -> io::Result<()>
where
    for<'w> &'w W: Write,
{
    Session { calls: Some(calls), incoming, dialogue: Dialogue::new(), longest }.run()
}

/// Bytes of memory that a request takes while it comes in and is carried out.
fn room_of(header: &Header, longest: usize) -> usize {
    let times = if header.kind == CONSUME { CONSUMER_TIMES } else { FIELDS_TIMES };
    // Those of usual calls are no more than what is read at once.
    let fields = if header.fields < FIELDS_SMALL { 0 } else { header.fields.saturating_mul(times) };
    fields.saturating_add(header.data.min(longest))
}

/// A connected program.
struct Session<'a, W> {
    calls: Option<Box<dyn Calls>>,
    incoming: &'a mut Incoming<W>,
    dialogue: Dialogue,
    longest: usize,
}

impl<W: Wire> Session<'_, W>
where
    for<'w> &'w W: Write,
{
    /// Serves calls until the program disconnects or is gone.
    fn run(&mut self) -> io::Result<()> {
        loop {
            self.incoming.get_ref().expect(Expected::Request)?;
            let longest = self.longest;
            let begun =
                self.incoming.begin_asking(|wire, header| match room_of(header, longest) {
                    0 => Ok(()),
                    bytes => wire.expect(Expected::Data(bytes)),
                })?;
            let Some((header, fields)) = begun else { return Ok(()) };
            self.dialogue.buffer.clear();
            if header.data > self.longest {
                self.incoming.fill_and_drop(header.data, &mut [])?;
                self.answer(header.kind, Reply::failed(Reason::DATA_LENGTH_ERROR))?;
                continue;
            }
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
    }

    fn answer(&mut self, kind: u8, reply: Reply) -> io::Result<()> {
        let (fields, data) = self.dialogue.parts(reply);
        frame::send(&mut self.incoming.get_ref(), kind, &fields, data)
    }

    fn serve(&mut self, mut request: Request) -> Reply {
        let longest = i32::try_from(self.longest).unwrap_or(i32::MAX);
        match &mut request {
            // More room than any message takes is no error; more than the way allows is one.
            Request::Get { wanted, .. } if wanted.room.min(ROOM_MAX) > longest => {
                return Reply::failed(Reason::DATA_LENGTH_ERROR);
            }
            Request::Get { wanted, .. } => wanted.room = wanted.room.min(longest),
            Request::Consume { list, .. } => {
                list.iter_mut().for_each(|(_, wanted)| wanted.room = wanted.room.min(longest));
            }
            _ => {}
        }
        let Some(mut calls) = self.calls.take() else {
            return Reply::failed(Reason::CONNECTION_BROKEN);
        };
        if matches!(request, Request::Disconnect) {
            return Reply::plain(calls.disconnect());
        }
        let wire = self.incoming.get_ref();
        let reply = self.dialogue.call(calls.as_mut(), request, &|| wire.is_there());
        self.calls = Some(calls);
        reply
    }
}
