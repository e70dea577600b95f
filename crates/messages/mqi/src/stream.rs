//! What a program's calls go over: a socket, the network, or the way of the calls of the region
//! that it is in.
//!
//! Invariants:
//! 1. Frames are the same on both; carried ones go in pieces ([`crate::wire::carried`]).
//! 2. A frame is carried when its answer is read.
//! 3. Nothing here raises a signal in the program when the other side has gone.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use crate::wire::carried::{AnswerKind, PIECE_BYTES, RequestKind};

/// Carries requests to the server of the region that this process is a program of.
pub trait Carrier: Send {
    /// Replaces `answer` by what comes back; `false` if there is no server.
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool;
}

/// A connection over the network.
pub trait Network: Read + Write + Send {
    /// Whether the other side is still there, as far as can be known without asking it.
    fn is_there(&mut self) -> bool;
}

/// What calls go over.
pub(crate) enum Stream {
    Socket(UnixStream),
    Network(RefCell<Box<dyn Network>>),
    Carried(RefCell<Carried>),
}

/// The way through a region.
pub(crate) struct Carried {
    carrier: Box<dyn Carrier>,
    /// 0: not connected yet.
    connection: u64,
    /// What is on its way out; a full piece goes when more follows.
    out: Vec<u8>,
    /// The answer's bytes that were not read, and how many are to be asked for.
    coming: (Vec<u8>, usize),
    left: u64,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stream::Socket(stream) => f.debug_tuple("Socket").field(stream).finish(),
            Stream::Network(_) => f.write_str("Network"),
            Stream::Carried(_) => f.write_str("Carried"),
        }
    }
}

impl Stream {
    /// One through a region.
    pub(crate) fn carried(carrier: Box<dyn Carrier>) -> Stream {
        let coming = (Vec::new(), 0);
        let carried = Carried { carrier, connection: 0, out: Vec::new(), coming, left: 0 };
        Stream::Carried(RefCell::new(carried))
    }

    /// Whether the connection is still there, as far as can be known without a call.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Stream::Socket(_) => true,
            Stream::Network(network) => network.borrow_mut().is_there(),
            Stream::Carried(carried) => {
                let there = carried.borrow_mut().ask(RequestKind::IsThere, &[]);
                matches!(there, Ok((AnswerKind::GoOn, ..)))
            }
        }
    }

    /// Whether it goes through a region.
    pub(crate) fn is_carried(&self) -> bool {
        matches!(self, Stream::Carried(_))
    }
}

impl Carried {
    /// Asks, and takes in what the answer brings.
    fn ask(&mut self, ask: RequestKind, bytes: &[u8]) -> io::Result<(AnswerKind, u64)> {
        let (mut request, mut answer) = (Vec::with_capacity(bytes.len() + 16), Vec::new());
        ask.write(self.connection, bytes, &mut request);
        if !self.carrier.carry(&request, &mut answer) {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        let answered = AnswerKind::read(&answer).ok_or(io::ErrorKind::InvalidData)?;
        let (answered, connection, left, piece) = answered;
        match answered {
            AnswerKind::Gone => return Err(io::ErrorKind::NotConnected.into()),
            AnswerKind::Nowhere => return Err(io::ErrorKind::AddrNotAvailable.into()),
            AnswerKind::Answer => {
                self.connection = connection;
                self.coming = (piece.to_vec(), 0);
                self.left = left;
            }
            AnswerKind::GoOn | AnswerKind::Waits => {}
        }
        Ok((answered, left))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.out.len() >= PIECE_BYTES {
            let piece = std::mem::take(&mut self.out);
            self.ask(RequestKind::Part, &piece)?;
        }
        let room = PIECE_BYTES - self.out.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.out.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.coming.1 == self.coming.0.len() {
            if !self.out.is_empty() {
                let last = std::mem::take(&mut self.out);
                let mut answered = self.ask(RequestKind::Call, &last)?;
                while answered.0 == AnswerKind::Waits {
                    answered = self.ask(RequestKind::Again, &[])?;
                }
            } else if self.left > 0 {
                self.ask(RequestKind::More, &[])?;
            }
        }
        let (bytes, at) = &mut self.coming;
        let rest = bytes.get(*at..).unwrap_or_default();
        let taken = rest.len().min(into.len());
        into.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        *at += taken;
        Ok(taken)
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Socket(stream) => stream.read(into),
            Stream::Network(network) => network.get_mut().read(into),
            Stream::Carried(carried) => carried.get_mut().read(into),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[io::IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Socket(stream) => {
                let mut nothing = SendAncillaryBuffer::default();
                Ok(sendmsg(stream, parts, &mut nothing, SendFlags::NOSIGNAL)?)
            }
            Stream::Network(network) => network.borrow_mut().write_vectored(parts),
            Stream::Carried(carried) => {
                let part = parts.iter().find(|part| !part.is_empty());
                part.map_or(Ok(0), |part| carried.borrow_mut().write(part))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Network(network) => network.borrow_mut().flush(),
            Stream::Socket(_) | Stream::Carried(_) => Ok(()),
        }
    }
}
