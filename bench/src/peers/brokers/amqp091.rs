//! Clients of AMQP 0-9-1, the protocol that RabbitMQ speaks by itself.
//!
//! | frame | bytes |
//! |---|---|
//! | kind (1 method, 2 header, 3 body, 8 heartbeat) | 1 |
//! | channel | 2 |
//! | length | 4 |
//! | payload | length |
//! | end, 0xCE | 1 |
//!
//! A put is a publication with `delivery_mode` 2 on a channel that confirms.

use std::net::SocketAddr;
use std::time::Duration;

use super::wire::{Wire, number};
use super::{Consumer, Producer};
use crate::error::Result;

const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const HEARTBEAT: u8 = 8;
const END: u8 = 0xCE;
/// What a frame has beside its payload.
const AROUND: usize = 8;

/// A method: its class and its number.
type Method = (u16, u16);
const START: Method = (10, 10);
const START_OK: Method = (10, 11);
const TUNE: Method = (10, 30);
const TUNE_OK: Method = (10, 31);
const OPEN: Method = (10, 40);
const OPEN_OK: Method = (10, 41);
const CHANNEL_OPEN: Method = (20, 10);
const CHANNEL_OPEN_OK: Method = (20, 11);
const DECLARE: Method = (50, 10);
const DECLARE_OK: Method = (50, 11);
const QOS: Method = (60, 10);
const QOS_OK: Method = (60, 11);
const CONSUME: Method = (60, 20);
const CONSUME_OK: Method = (60, 21);
const PUBLISH: Method = (60, 40);
const DELIVER: Method = (60, 60);
const ACK: Method = (60, 80);
const NACK: Method = (60, 120);
const CONFIRM: Method = (85, 10);
const CONFIRM_OK: Method = (85, 11);

/// The queue, and what kind RabbitMQ is to make it.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) name: String,
    /// `classic` or `quorum`.
    pub(crate) kind: &'static str,
}

/// A connection with one channel.
struct Channel {
    wire: Wire,
    frame_bytes: usize,
}

fn short(text: &str) -> Vec<u8> {
    let mut bytes = vec![text.len() as u8];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

impl Channel {
    fn open(peer: &'static str, address: SocketAddr, queue: &Queue) -> Result<Channel> {
        let wire = Wire::connect(peer, address)?;
        let mut channel = Channel { wire, frame_bytes: 128 << 10 };
        channel.wire.out().extend_from_slice(b"AMQP\x00\x00\x09\x01");
        channel.wire.send()?;
        channel.expect(START)?;
        let arguments =
            [long(b""), short("PLAIN"), long(b"\0guest\0guest"), short("en_US")].concat();
        channel.method(0, START_OK, &arguments);
        channel.wire.send()?;
        let tuned = channel.expect(TUNE)?;
        let frame_max = number(tuned.get(2..6).unwrap_or_default()) as u32;
        channel.frame_bytes = frame_max as usize;
        let arguments = [&2047_u16.to_be_bytes()[..], &frame_max.to_be_bytes(), &[0, 0]].concat();
        channel.method(0, TUNE_OK, &arguments);
        channel.method(0, OPEN, &[short("/"), short(""), vec![0]].concat());
        channel.wire.send()?;
        channel.expect(OPEN_OK)?;
        channel.call(CHANNEL_OPEN, &short(""), CHANNEL_OPEN_OK)?;
        // One table entry: x-queue-type, a long string.
        let kind = [short("x-queue-type"), vec![b'S'], long(queue.kind.as_bytes())].concat();
        let durable = 2;
        let arguments = [vec![0, 0], short(&queue.name), vec![durable], long(&kind)].concat();
        channel.call(DECLARE, &arguments, DECLARE_OK)?;
        Ok(channel)
    }

    fn frame(&mut self, kind: u8, channel: u16, payload: &[&[u8]]) {
        let length: usize = payload.iter().map(|part| part.len()).sum();
        let out = self.wire.out();
        out.push(kind);
        out.extend_from_slice(&channel.to_be_bytes());
        out.extend_from_slice(&(length as u32).to_be_bytes());
        payload.iter().for_each(|part| out.extend_from_slice(part));
        out.push(END);
    }

    fn method(&mut self, channel: u16, (class, method): Method, arguments: &[u8]) {
        let (class, method) = (class.to_be_bytes(), method.to_be_bytes());
        self.frame(METHOD, channel, &[&class, &method, arguments]);
    }

    fn call(&mut self, method: Method, arguments: &[u8], answer: Method) -> Result<()> {
        self.method(1, method, arguments);
        self.wire.send()?;
        self.expect(answer).map(drop)
    }

    /// The kind and length of the next frame, which has come whole; `None`: not in time.
    fn next(&mut self, patience: Option<Duration>) -> Result<Option<(u8, usize)>> {
        loop {
            if !self.wire.need(AROUND - 1, patience)? {
                return Ok(None);
            }
            let head = self.wire.ready();
            let (kind, length) = (head[0], number(&head[3..7]) as usize);
            self.wire.need(length + AROUND, None)?;
            if kind != HEARTBEAT {
                return Ok(Some((kind, length)));
            }
            self.done(length);
        }
    }

    fn payload(&self, length: usize) -> &[u8] {
        &self.wire.ready()[AROUND - 1..][..length]
    }

    fn done(&mut self, length: usize) {
        self.wire.consume(length + AROUND);
    }

    /// The next method and its arguments.
    fn read_method(&mut self, patience: Option<Duration>) -> Result<Option<(Method, Vec<u8>)>> {
        let Some((kind, length)) = self.next(patience)? else { return Ok(None) };
        let payload = self.payload(length);
        if kind != METHOD || length < 4 {
            return Err(self.wire.unexpected(format!("a frame of kind {kind}")));
        }
        let method = (number(&payload[..2]) as u16, number(&payload[2..4]) as u16);
        let arguments = payload[4..].to_vec();
        self.done(length);
        Ok(Some((method, arguments)))
    }

    fn expect(&mut self, wanted: Method) -> Result<Vec<u8>> {
        match self.read_method(None)? {
            Some((method, arguments)) if method == wanted => Ok(arguments),
            Some((method, arguments)) => {
                let reported = String::from_utf8_lossy(&arguments).into_owned();
                Err(self.wire.unexpected(format!("method {method:?}: {reported}")))
            }
            None => Err(self.wire.unexpected("nothing")),
        }
    }
}

/// Puts by publications that are confirmed.
pub(crate) struct Puts {
    channel: Channel,
    window: u64,
    queue: String,
    sent: u64,
    confirmed: u64,
}

impl Puts {
    pub(crate) fn open(
        peer: &'static str,
        address: SocketAddr,
        queue: &Queue,
        window: usize,
    ) -> Result<Puts> {
        let mut channel = Channel::open(peer, address, queue)?;
        channel.call(CONFIRM, &[0], CONFIRM_OK)?;
        let (queue, window) = (queue.name.clone(), window as u64);
        Ok(Puts { channel, window, queue, sent: 0, confirmed: 0 })
    }

    fn wait_below(&mut self, open: u64) -> Result<()> {
        while self.sent - self.confirmed > open {
            let Some((method, arguments)) = self.channel.read_method(None)? else { continue };
            let tag = number(arguments.get(..8).unwrap_or_default());
            let multiple = arguments.get(8) == Some(&1);
            match method {
                ACK if multiple => self.confirmed = self.confirmed.max(tag),
                // Each is counted; single ones may come in another order.
                ACK => self.confirmed += 1,
                NACK => return Err(self.channel.wire.unexpected("a message was not taken")),
                other => {
                    let reported = String::from_utf8_lossy(&arguments).into_owned();
                    return Err(self
                        .channel
                        .wire
                        .unexpected(format!("method {other:?}: {reported}")));
                }
            }
        }
        Ok(())
    }
}

impl Producer for Puts {
    fn put(&mut self, message: &[u8]) -> Result<()> {
        let target = [vec![0, 0], short(""), short(&self.queue), vec![0]].concat();
        self.channel.method(1, PUBLISH, &target);
        let mut header = [0; 15];
        header[..2].copy_from_slice(&60_u16.to_be_bytes());
        header[4..12].copy_from_slice(&(message.len() as u64).to_be_bytes());
        // Of the properties only delivery_mode, whose flag is bit 12.
        header[12..14].copy_from_slice(&0x1000_u16.to_be_bytes());
        header[14] = 2;
        self.channel.frame(HEADER, 1, &[&header]);
        for piece in message.chunks(self.channel.frame_bytes - AROUND) {
            self.channel.frame(BODY, 1, &[piece]);
        }
        self.channel.wire.send()?;
        self.sent += 1;
        self.wait_below(self.window - 1)
    }

    fn flush(&mut self) -> Result<()> {
        self.wait_below(0)
    }
}

/// Takes by deliveries that are acknowledged.
pub(crate) struct Takes {
    channel: Channel,
}

impl Takes {
    pub(crate) fn open(
        peer: &'static str,
        address: SocketAddr,
        queue: &Queue,
        window: usize,
    ) -> Result<Takes> {
        let mut channel = Channel::open(peer, address, queue)?;
        let prefetch = (window as u16).to_be_bytes();
        channel.call(QOS, &[&[0; 4][..], &prefetch, &[0]].concat(), QOS_OK)?;
        let arguments = [vec![0, 0], short(&queue.name), short(""), vec![0], long(b"")].concat();
        channel.call(CONSUME, &arguments, CONSUME_OK)?;
        Ok(Takes { channel })
    }
}

impl Consumer for Takes {
    fn take(&mut self, patience: Duration) -> Result<(u64, u64)> {
        let Some((method, arguments)) = self.channel.read_method(Some(patience))? else {
            return Ok((0, 0));
        };
        if method != DELIVER {
            return Err(self.channel.wire.unexpected(format!("method {method:?}")));
        }
        // The consumer's tag stands in front of that of the delivery.
        let skip = 1 + usize::from(arguments.first().copied().unwrap_or(0));
        let tag = number(arguments.get(skip..skip + 8).unwrap_or_default());
        let Some((HEADER, length)) = self.channel.next(None)? else {
            return Err(self.channel.wire.unexpected("no header"));
        };
        let bytes = number(self.channel.payload(length).get(4..12).unwrap_or_default());
        self.channel.done(length);
        let mut left = bytes;
        while left > 0 {
            let Some((BODY, length)) = self.channel.next(None)? else {
                return Err(self.channel.wire.unexpected("no body"));
            };
            left = left.saturating_sub(length as u64);
            self.channel.done(length);
        }
        self.channel.method(1, ACK, &[&tag.to_be_bytes()[..], &[0]].concat());
        self.channel.wire.send()?;
        Ok((1, bytes))
    }
}
