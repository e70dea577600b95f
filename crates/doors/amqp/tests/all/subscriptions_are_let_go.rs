//! A client that has ended a link, a session or its connection takes its durable subscription
//! again at once, over another connection, whether or not it waited for the answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::door::Door;

const ROUNDS: u32 = 60;
const TOPIC: &[u8] = b"news/today";

const OPEN: u8 = 0x10;
const BEGIN: u8 = 0x11;
pub(crate) const ATTACH: u8 = 0x12;
pub(crate) const DETACH: u8 = 0x16;
const END: u8 = 0x17;
pub(crate) const CLOSE: u8 = 0x18;

pub(crate) const NULL: &[u8] = &[0x40];

pub(crate) fn text(code: u8, words: &[u8]) -> Vec<u8> {
    [&[code, u8::try_from(words.len()).unwrap()], words].concat()
}

pub(crate) fn uint(number: u32) -> Vec<u8> {
    [&[0x70][..], &number.to_be_bytes()].concat()
}

pub(crate) fn composite(code: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    let bytes = fields.concat();
    let sizes = [bytes.len() + 4, fields.len()].map(|size| u32::try_from(size).unwrap());
    let sizes = sizes.map(u32::to_be_bytes).concat();
    [vec![0, 0x53, code, 0xd0], sizes, bytes].concat()
}

/// The bytes of a client, as the protocol has them.
pub(crate) struct Raw(TcpStream);

impl Raw {
    /// A client of that name with a session.
    pub(crate) fn new(door: &Door, name: &str) -> Raw {
        let stream = TcpStream::connect(door.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut raw = Raw(stream);
        raw.0.write_all(b"AMQP\x00\x01\x00\x00").unwrap();
        let mut header = [0; 8];
        raw.0.read_exact(&mut header).unwrap();
        raw.say(OPEN, &[text(0xa1, name.as_bytes())]);
        raw.wait(OPEN);
        raw.begin();
        raw.wait(BEGIN);
        raw
    }

    fn begin(&mut self) {
        self.say(BEGIN, &[NULL.to_vec(), uint(0), uint(1_000), uint(1_000)]);
    }

    pub(crate) fn say(&mut self, code: u8, fields: &[Vec<u8>]) {
        let body = composite(code, fields);
        let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
        self.0.write_all(&[&length[..], &[2, 0, 0, 0], &body].concat()).unwrap();
    }

    /// Waits for a performative; its bytes.
    pub(crate) fn wait(&mut self, wanted: u8) -> Vec<u8> {
        loop {
            let mut head = [0; 8];
            self.0.read_exact(&mut head).unwrap();
            let length = u32::from_be_bytes(head[..4].try_into().unwrap());
            let mut body = vec![0; usize::try_from(length).unwrap() - 8];
            self.0.read_exact(&mut body).unwrap();
            if body.starts_with(&[0, 0x53, wanted]) {
                return body;
            }
        }
    }

    /// Attaches to the durable subscription; whether it leads there.
    pub(crate) fn attach(&mut self) -> bool {
        let mut source = vec![NULL.to_vec(); 10];
        source[0] = text(0xa1, TOPIC);
        source[1] = uint(2);
        source[2] = text(0xa3, b"never");
        source.push(text(0xa3, b"topic"));
        let source = composite(0x28, &source);
        let (name, takes) = (text(0xa1, b"sub"), vec![0x41]);
        let modes = [NULL.to_vec(), NULL.to_vec()];
        self.say(ATTACH, &[name, uint(0), takes, modes[0].clone(), modes[1].clone(), source]);
        // One that is refused leads nowhere.
        self.wait(ATTACH).windows(TOPIC.len()).any(|part| part == TOPIC)
    }
}

/// Ends what was attached in each round as `end` does, and attaches again.
fn rounds(end: impl Fn(&mut Raw)) {
    let door = Door::new();
    let mut before: Option<Raw> = None;
    for round in 0..ROUNDS {
        // The next connection is there already.
        let mut raw = Raw::new(&door, "client");
        if let Some(before) = before.as_mut() {
            end(before);
        }
        assert!(raw.attach(), "round {round}: the subscription is in use");
        before = Some(raw);
    }
}

#[test]
fn who_was_answered_a_detach_finds_its_subscription_free() {
    rounds(|raw| {
        raw.say(DETACH, &[uint(0), vec![0x42]]);
        raw.wait(DETACH);
    });
}

#[test]
fn who_was_answered_an_end_finds_its_subscription_free() {
    rounds(|raw| {
        raw.say(END, &[]);
        raw.wait(END);
    });
}

#[test]
fn who_was_answered_a_close_finds_its_subscription_free() {
    rounds(|raw| {
        raw.say(CLOSE, &[]);
        raw.wait(CLOSE);
    });
}

#[test]
fn who_waits_for_no_answer_to_its_close_finds_its_subscription_free() {
    rounds(|raw| {
        raw.say(CLOSE, &[]);
        raw.0.shutdown(std::net::Shutdown::Both).unwrap();
    });
}

#[test]
fn a_session_that_begins_on_a_channel_that_ends_waits_for_that() {
    let door = Door::new();
    let mut raw = Raw::new(&door, "client");
    for round in 0..ROUNDS {
        assert!(raw.attach(), "round {round}: the subscription is in use");
        raw.say(END, &[]);
        raw.begin();
        raw.wait(END);
        raw.wait(BEGIN);
    }
}
