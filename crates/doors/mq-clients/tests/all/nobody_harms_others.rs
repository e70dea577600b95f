//! A client that comes with bytes that are no calls costs little, and hurts no other.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mqi::structures::{Gmo, Md};
use mqi::table::Structure as _;
use mqi::wire::frame::{HEADER_BYTES, Header};
use mqi::wire::{CONSUMERS_MAX, Connecting, Credentials, Entry, Request, Wanted};
use queue_manager::ObjectName;

use crate::common::Place;

const CALLS: &str = r#"
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  put(h, o, "x", 1, MQPMO_NO_SYNCPOINT);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;

pub(crate) fn come(place: &Place) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", place.port())).unwrap();
    stream.set_read_timeout(Some(crate::common::LONG)).unwrap();
    stream
}

/// What comes back until the door ends the connection.
pub(crate) fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut all);
    all
}

pub(crate) fn frame(kind: u8, fields: &[u8], data: usize) -> Vec<u8> {
    let header = Header { kind, fields: fields.len(), data };
    [&header.bytes()[..], fields].concat()
}

pub(crate) fn enter() -> Vec<u8> {
    enter_as(None)
}

pub(crate) fn enter_as(proof: Option<Credentials>) -> Vec<u8> {
    let entry = Entry { channel: "TO.QM1".into(), process: 1 };
    let manager = ObjectName::from("QM1");
    let connecting = Connecting { proof, ..Connecting::new(manager, [b' '; 28]) };
    let request = Request::Enter(entry, connecting);
    frame(request.kind(), &request.fields(), 0)
}

#[test]
fn what_is_no_greeting_is_sent_away_at_once() {
    let place = Place::open();
    let claims = |fields: usize, data: usize| Header { kind: 24, fields, data }.bytes().to_vec();
    let local = Request::Connect(Connecting::new(ObjectName::from("QM1"), [b' '; 28]));
    let strangers = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5],
        vec![0; 64],
        claims(4 << 20, 0),
        claims(16, 100 << 20),
        frame(24, b"half of an entry", 0),
        frame(10, &[], 0),
        frame(local.kind(), &local.fields(), 0),
    ];
    for bytes in &strangers {
        let mut stream = come(&place);
        stream.write_all(bytes).unwrap();
        assert!(rest(stream).len() <= HEADER_BYTES + 8, "{bytes:?}");
    }
    assert_eq!(place.server.counted().accepted, 0);
    place.program("calls", CALLS);
}

#[test]
fn a_call_that_cannot_be_understood_ends_its_own_connection_alone() {
    let place = Place::open();
    let mut stream = come(&place);
    let mut bytes = enter();
    bytes.extend(frame(99, b"no call", 0));
    stream.write_all(&bytes).unwrap();
    assert!(rest(stream).len() > HEADER_BYTES);
    // In the middle of a call it claims much data, and goes.
    let mut stream = come(&place);
    let mut bytes = enter();
    bytes.extend(frame(5, &[0; 40], 4 << 20));
    stream.write_all(&bytes).unwrap();
    drop(stream);
    place.program("calls", CALLS);
    assert_eq!(place.depth("APP.Q"), 1);
}

#[test]
fn those_who_say_nothing_take_no_places_from_others() {
    let place = Place::open();
    let silent: Vec<TcpStream> = (0..200).map(|_| come(&place)).collect();
    drop(silent);
    let mut tried = 0;
    loop {
        let mut stream = come(&place);
        stream.write_all(&enter()).unwrap();
        let mut answer = [0; HEADER_BYTES];
        if stream.read_exact(&mut answer).is_ok() {
            break;
        }
        tried += 1;
        assert!(tried < 100_000, "nobody comes in any more");
    }
    place.program("calls", CALLS);
}

// Ten bytes that came made half a kilobyte of descriptors, as often as a call had room for.
#[test]
fn a_call_that_waits_at_more_queues_than_there_can_be_ends_its_own_connection_alone() {
    let place = Place::open();
    let mut stream = come(&place);
    let wanted = Wanted { md: Md::initial(), gmo: Gmo::initial(), room: 0 };
    let list = vec![(1, wanted); CONSUMERS_MAX + 1];
    let request = Request::Consume { wait_ms: 0, list };
    let mut bytes = enter();
    bytes.extend(frame(request.kind(), &request.fields(), 0));
    stream.write_all(&bytes).unwrap();
    assert!(rest(stream).len() > HEADER_BYTES);
    place.program("calls", CALLS);
}
