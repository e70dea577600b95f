//! Clients of AMQP 1.0: for Holdfast and for Artemis.
//!
//! A put is a durable message that the peer settles; a message is taken by being accepted and
//! settled. Composites have the numbers of the standard; of fields only those that matter here are
//! read.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use super::wire::{Wire, number};
use super::{Consumer, Producer};
use crate::error::Result;

const OPEN: u8 = 0x10;
const BEGIN: u8 = 0x11;
const ATTACH: u8 = 0x12;
const FLOW: u8 = 0x13;
const TRANSFER: u8 = 0x14;
const DISPOSITION: u8 = 0x15;
const DETACH: u8 = 0x16;
const END: u8 = 0x17;
const CLOSE: u8 = 0x18;
const ACCEPTED: u8 = 0x24;
const SOURCE: u8 = 0x28;
const TARGET: u8 = 0x29;
const MECHANISMS: u8 = 0x40;
const INIT: u8 = 0x41;
const OUTCOME: u8 = 0x44;
const HEADER: u8 = 0x70;
const DATA: u8 = 0x75;

const AMQP: u8 = 0;
const SASL: u8 = 1;
/// The longest frame that is taken.
const FRAME_BYTES: u32 = 64 << 10;
/// What a transfer has in front of its payload, at most.
const TRANSFER_BYTES: usize = 64;
const WINDOW: u32 = i32::MAX as u32;

/// A value's bytes.
type Value = Vec<u8>;

fn null() -> Value {
    vec![0x40]
}

fn boolean(value: bool) -> Value {
    vec![if value { 0x41 } else { 0x42 }]
}

fn uint(value: u32) -> Value {
    [&[0x70][..], &value.to_be_bytes()].concat()
}

fn sized(code: u8, bytes: &[u8]) -> Value {
    [&[code][..], &(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

fn text(value: &str) -> Value {
    sized(0xB1, value.as_bytes())
}

fn symbol(value: &str) -> Value {
    sized(0xB3, value.as_bytes())
}

fn binary(value: &[u8]) -> Value {
    sized(0xB0, value)
}

/// A list with the number of its kind.
fn composite(code: u8, fields: &[Value]) -> Value {
    let all: Vec<u8> = fields.concat();
    let mut bytes = vec![0, 0x53, code, 0xD0];
    bytes.extend_from_slice(&(all.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(&(fields.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&all);
    bytes
}

/// What a field of a peer's composite is.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    /// Nothing, or something that does not matter here.
    Other,
    Number(u64),
    Truth(bool),
    Composite(u8, Vec<Field>),
}

impl Field {
    fn number(&self) -> Option<u32> {
        match self {
            Field::Number(number) => u32::try_from(*number).ok(),
            _ => None,
        }
    }
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Reads a value.
fn field(bytes: &mut &[u8]) -> Option<Field> {
    let code = take(bytes, 1)?[0];
    Some(match code {
        0 => {
            let kind = field(bytes)?;
            let value = field(bytes)?;
            match (kind, value) {
                (Field::Number(kind), Field::Composite(_, fields)) => {
                    Field::Composite(kind as u8, fields)
                }
                _ => Field::Other,
            }
        }
        0x41 => Field::Truth(true),
        0x42 => Field::Truth(false),
        0x56 => Field::Truth(take(bytes, 1)?[0] != 0),
        0x43 | 0x44 => Field::Number(0),
        0x50 | 0x52 | 0x53 => Field::Number(u64::from(take(bytes, 1)?[0])),
        0x60 => Field::Number(number(take(bytes, 2)?)),
        0x70 => Field::Number(number(take(bytes, 4)?)),
        0x80 => Field::Number(number(take(bytes, 8)?)),
        0x45 => Field::Composite(0, Vec::new()),
        0xC0 | 0xD0 => {
            let width = if code == 0xC0 { 1 } else { 4 };
            let length = number(take(bytes, width)?) as usize;
            let mut inner = take(bytes, length)?;
            let count = number(take(&mut inner, width)?);
            let fields = (0..count).map(|_| field(&mut inner)).collect::<Option<_>>()?;
            Field::Composite(0, fields)
        }
        // By the width that the first half of the code tells.
        _ => {
            let length = match code >> 4 {
                4 => 0,
                5 => 1,
                6 => 2,
                7 => 4,
                8 => 8,
                9 => 16,
                0xA | 0xC | 0xE => number(take(bytes, 1)?) as usize,
                _ => number(take(bytes, 4)?) as usize,
            };
            take(bytes, length)?;
            Field::Other
        }
    })
}

/// The length of a message's data, by the sections that the message begins with.
fn data_bytes(mut message: &[u8]) -> Option<u64> {
    while message.get(2) != Some(&DATA) {
        field(&mut message)?;
    }
    match message.get(3)? {
        0xA0 => Some(u64::from(*message.get(4)?)),
        0xB0 => Some(number(message.get(4..8)?)),
        _ => None,
    }
}

/// A connection with one session and one link.
struct Conversation {
    wire: Wire,
    /// The longest frame that the peer takes.
    frame_bytes: usize,
    /// Transfers that were sent.
    sent: u32,
    /// How many the peer's session takes.
    window_end: u32,
    /// Deliveries that were begun.
    deliveries: u32,
    /// How many the peer's link takes.
    credit_end: u32,
    /// Deliveries that the peer has accepted.
    accepted: u32,
    /// What came: the number and the bytes of each message.
    came: VecDeque<(u32, u64)>,
    /// Of the message that has not come whole.
    part: Option<(u32, u64)>,
}

impl Conversation {
    fn open(peer: &'static str, address: SocketAddr, queue: &str, sends: bool) -> Result<Self> {
        let mut own = Conversation {
            wire: Wire::connect(peer, address)?,
            frame_bytes: 512,
            sent: 0,
            window_end: 0,
            deliveries: 0,
            credit_end: 0,
            accepted: 0,
            came: VecDeque::new(),
            part: None,
        };
        own.wire.out().extend_from_slice(b"AMQP\x03\x01\x00\x00");
        own.wire.send()?;
        own.wire.bytes(8)?;
        own.expect(MECHANISMS)?;
        own.frame(SASL, &composite(INIT, &[symbol("ANONYMOUS"), binary(b"bench")]), &[]);
        own.wire.send()?;
        let outcome = own.expect(OUTCOME)?;
        if outcome.first() != Some(&Field::Number(0)) {
            return Err(own.wire.unexpected("a client without a name is not let in"));
        }
        own.wire.out().extend_from_slice(b"AMQP\x00\x01\x00\x00");
        own.frame(AMQP, &composite(OPEN, &[text("bench"), null(), uint(FRAME_BYTES)]), &[]);
        let begin = composite(BEGIN, &[null(), uint(0), uint(WINDOW), uint(WINDOW)]);
        own.frame(AMQP, &begin, &[]);
        let attach = composite(
            ATTACH,
            &[
                text(if sends { "puts" } else { "takes" }),
                uint(0),
                boolean(!sends),
                null(),
                null(),
                composite(SOURCE, &[text(queue)]),
                composite(TARGET, &[text(queue)]),
                null(),
                null(),
                uint(0),
            ],
        );
        own.frame(AMQP, &attach, &[]);
        own.wire.send()?;
        own.wire.bytes(8)?;
        let opened = own.expect(OPEN)?;
        let most = opened.get(2).and_then(Field::number).unwrap_or(FRAME_BYTES);
        own.frame_bytes = most.clamp(512, FRAME_BYTES) as usize;
        let begun = own.expect(BEGIN)?;
        own.window_end = begun.get(2).and_then(Field::number).unwrap_or(0);
        let attached = own.expect(ATTACH)?;
        let end = attached.get(if sends { 6 } else { 5 });
        if !matches!(end, Some(Field::Composite(..))) {
            return Err(own.wire.unexpected("there is no such queue"));
        }
        Ok(own)
    }

    fn frame(&mut self, kind: u8, body: &[u8], payload: &[&[u8]]) {
        let length = 8 + body.len() + payload.iter().map(|part| part.len()).sum::<usize>();
        let out = self.wire.out();
        out.extend_from_slice(&(length as u32).to_be_bytes());
        out.extend_from_slice(&[2, kind, 0, 0]);
        out.extend_from_slice(body);
        payload.iter().for_each(|part| out.extend_from_slice(part));
    }

    /// The next composite: its kind, its fields and, of the first transfer of a message, how long
    /// its data is; `None`: not in time.
    fn next(&mut self, patience: Option<Duration>) -> Result<Option<(u8, Vec<Field>, u64)>> {
        loop {
            if !self.wire.need(8, patience)? {
                return Ok(None);
            }
            let length = number(&self.wire.ready()[..4]) as usize;
            self.wire.need(length.max(8), None)?;
            let frame = &self.wire.ready()[..length.max(8)];
            let mut body = frame.get(usize::from(frame[4]) * 4..).unwrap_or_default();
            let is_empty = body.is_empty();
            let read = field(&mut body);
            let behind = data_bytes(body).unwrap_or(0);
            self.wire.consume(length.max(8));
            match read {
                // A sign of life.
                _ if is_empty => {}
                Some(Field::Composite(kind, fields)) => return Ok(Some((kind, fields, behind))),
                _ => return Err(self.wire.unexpected("a frame without a performative")),
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Result<Vec<Field>> {
        match self.next(None)? {
            Some((kind, fields, _)) if kind == wanted => Ok(fields),
            other => Err(self.wire.unexpected(format!("{other:?} in place of {wanted:#x}"))),
        }
    }

    /// Looks at what comes; `false` if nothing does in time.
    fn step(&mut self, patience: Option<Duration>) -> Result<bool> {
        let Some((kind, fields, bytes)) = self.next(patience)? else { return Ok(false) };
        let number = |at: usize| fields.get(at).and_then(Field::number);
        match kind {
            FLOW => {
                let begin = number(0).unwrap_or(0);
                self.window_end = begin.wrapping_add(number(1).unwrap_or(0));
                if let (Some(_), Some(credit)) = (number(4), number(6)) {
                    self.credit_end = number(5).unwrap_or(0).wrapping_add(credit);
                }
            }
            TRANSFER => {
                let begun = self.part.take().unwrap_or((number(1).unwrap_or(0), bytes));
                match fields.get(5) {
                    Some(Field::Truth(true)) => self.part = Some(begun),
                    _ => self.came.push_back(begun),
                }
            }
            DISPOSITION => {
                let (first, last) = (number(1).unwrap_or(0), number(2));
                if !matches!(fields.get(4), Some(Field::Composite(ACCEPTED, _))) {
                    return Err(self.wire.unexpected("a message was not taken"));
                }
                self.accepted += last.unwrap_or(first).wrapping_sub(first) + 1;
            }
            DETACH | END | CLOSE => {
                return Err(self.wire.unexpected(format!("it ends the link: {fields:?}")));
            }
            _ => {}
        }
        Ok(true)
    }
}

/// Puts.
pub(crate) struct Puts {
    own: Conversation,
    window: u32,
}

impl Puts {
    pub(crate) fn open(
        peer: &'static str,
        address: SocketAddr,
        queue: &str,
        window: usize,
    ) -> Result<Puts> {
        let own = Conversation::open(peer, address, queue, true)?;
        Ok(Puts { own, window: window as u32 })
    }
}

/// What stands in front of a message's data: that it is durable, and how long the data is.
fn sections(bytes: usize) -> Vec<u8> {
    let mut front = composite(HEADER, &[boolean(true)]);
    front.extend_from_slice(&[0, 0x53, DATA, 0xB0]);
    front.extend_from_slice(&(bytes as u32).to_be_bytes());
    front
}

impl Producer for Puts {
    fn put(&mut self, message: &[u8]) -> Result<()> {
        let own = &mut self.own;
        while own.deliveries == own.credit_end {
            own.step(None)?;
        }
        let front = sections(message.len());
        let room = own.frame_bytes - TRANSFER_BYTES - front.len();
        let (mut rest, mut front) = (message, &front[..]);
        let tag = own.deliveries.to_be_bytes();
        loop {
            while own.sent == own.window_end {
                own.wire.send()?;
                own.step(None)?;
            }
            let (piece, left) = rest.split_at(rest.len().min(room));
            let id = uint(own.deliveries);
            let more = boolean(!left.is_empty());
            let fields = [uint(0), id, binary(&tag), uint(0), boolean(false), more];
            own.frame(AMQP, &composite(TRANSFER, &fields), &[front, piece]);
            own.sent = own.sent.wrapping_add(1);
            (rest, front) = (left, &[]);
            if rest.is_empty() {
                break;
            }
        }
        own.deliveries = own.deliveries.wrapping_add(1);
        own.wire.send()?;
        while own.deliveries.wrapping_sub(own.accepted) >= self.window {
            own.step(None)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        while self.own.accepted != self.own.deliveries {
            self.own.step(None)?;
        }
        Ok(())
    }
}

/// Takes.
pub(crate) struct Takes {
    own: Conversation,
    window: u32,
    taken: u32,
    /// How many deliveries the peer may have begun.
    granted: u32,
}

impl Takes {
    pub(crate) fn open(
        peer: &'static str,
        address: SocketAddr,
        queue: &str,
        window: usize,
    ) -> Result<Takes> {
        let own = Conversation::open(peer, address, queue, false)?;
        let mut takes = Takes { own, window: window as u32, taken: 0, granted: 0 };
        takes.grant();
        takes.own.wire.send()?;
        Ok(takes)
    }

    fn grant(&mut self) {
        let (taken, window) = (self.taken, self.window);
        self.granted = taken + window;
        let fields =
            [uint(0), uint(WINDOW), uint(0), uint(WINDOW), uint(0), uint(taken), uint(window)];
        self.own.frame(AMQP, &composite(FLOW, &fields), &[]);
    }
}

impl Consumer for Takes {
    fn take(&mut self, patience: Duration) -> Result<(u64, u64)> {
        while self.own.came.is_empty() {
            if !self.own.step(Some(patience))? {
                return Ok((0, 0));
            }
        }
        let (mut messages, mut bytes) = (0, 0);
        while let Some((id, length)) = self.own.came.pop_front() {
            let accepted = composite(ACCEPTED, &[]);
            let fields = [boolean(true), uint(id), null(), boolean(true), accepted];
            self.own.frame(AMQP, &composite(DISPOSITION, &fields), &[]);
            messages += 1;
            bytes += length;
        }
        self.taken = self.taken.wrapping_add(messages as u32);
        if self.granted.wrapping_sub(self.taken) <= self.window / 2 {
            self.grant();
        }
        self.own.wire.send()?;
        Ok((messages, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        let inner = [uint(7), boolean(true), null(), text("name"), binary(b"tag")];
        let bytes = composite(FLOW, &inner);
        let read = field(&mut &bytes[..]);
        let expected =
            vec![Field::Number(7), Field::Truth(true), Field::Other, Field::Other, Field::Other];
        assert_eq!(read, Some(Field::Composite(FLOW, expected)));
        for end in 0..bytes.len() {
            assert_eq!(field(&mut &bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn the_length_of_the_data_is_that_of_its_section() {
        let message = [sections(300), vec![7; 300]].concat();
        assert_eq!(data_bytes(&message), Some(300));
        assert_eq!(data_bytes(&sections(0)[..9]), None);
    }
}
