//! Descriptors of the first version: what they cannot say stands in front of the data.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::options::value::{get, put};
use queue_manager::options::{GetOptions, PutOptions};
use queue_manager::{MessageDescriptor, Outcome, Reason};

use crate::common::{ALL, Calls, System, persistent, reason};

const SEGMENT: i32 = 2;
const IN_GROUP: i32 = 8;

/// As the interface lays it out: group 7..., sequence 3.
fn extension(msg_flags: i32) -> Vec<u8> {
    let mut bytes = b"MDE ".to_vec();
    let number = |bytes: &mut Vec<u8>, number: i32| bytes.extend_from_slice(&number.to_le_bytes());
    for field in [2, 72, 546, 819] {
        number(&mut bytes, field);
    }
    bytes.extend_from_slice(b"MQSTR   ");
    number(&mut bytes, 0);
    bytes.extend_from_slice(&[7; 24]);
    for field in [3, 0, msg_flags, -1] {
        number(&mut bytes, field);
    }
    bytes
}

fn in_group() -> MessageDescriptor {
    MessageDescriptor {
        msg_flags: IN_GROUP,
        group_id: [7; 24],
        msg_seq_number: 3,
        format: *b"MQSTR   ",
        ccsid: 819,
        ..persistent()
    }
}

fn old(options: i32) -> GetOptions {
    GetOptions { extends: true, ..GetOptions::new(options) }
}

#[test]
fn who_knows_the_first_version_alone_gets_the_rest_in_front_of_the_data() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let queue = client.open_queue("Q", ALL).unwrap();
    client.put_with(queue, in_group(), put::NO_SYNCPOINT, b"grouped").unwrap();
    let mut md = MessageDescriptor::default();
    let mut options = old(get::BROWSE_FIRST);
    let (got, data) = client.get_with(queue, &mut md, &mut options).unwrap();
    let whole = [extension(IN_GROUP), b"grouped".to_vec()].concat();
    assert_eq!((got.outcome, got.data_length, &data), (Outcome::OK, 79, &whole));
    assert_eq!((md.format, md.group_id, md.msg_seq_number), (*b"MQHMDE  ", [0; 24], 1));
    assert_eq!((md.msg_flags, options.group_status), (0, b'G'));
    // Without room for all of it the message stays.
    let mut options = old(get::NO_SYNCPOINT);
    let mut data = Vec::new();
    let got = client.get(queue, &mut md, &mut options, 78, &mut data).unwrap();
    assert_eq!(got.outcome, Outcome::warning(Reason::TRUNCATED_MSG_FAILED));
    assert_eq!((got.data_length, data.len(), system.depth("Q")), (79, 78, 1));
    // Who knows the second version gets the data alone.
    md = MessageDescriptor::default();
    let (_, data) =
        client.get_with(queue, &mut md, &mut GetOptions::new(get::NO_SYNCPOINT)).unwrap();
    assert_eq!((data.as_slice(), md.group_id), (&b"grouped"[..], [7; 24]));
    // What has nothing to say comes as it is.
    client.put_text(queue, "plain");
    md = MessageDescriptor::default();
    let (_, data) = client.get_with(queue, &mut md, &mut old(get::NO_SYNCPOINT)).unwrap();
    assert_eq!((data.as_slice(), md.format), (&b"plain"[..], *b"        "));
}

#[test]
fn an_extension_in_front_of_the_data_says_what_the_first_version_cannot() {
    let system = System::new();
    system.queue("Q", &[]);
    let mut client = system.connect();
    let queue = client.open_queue("Q", ALL).unwrap();
    let outer = MessageDescriptor { format: *b"MQHMDE  ", ..persistent() };
    let data = [extension(IN_GROUP), b"grouped".to_vec()].concat();
    let mut put = |data: &[u8], extends: bool| {
        let mut md = outer.clone();
        let mut options = PutOptions { extends, ..PutOptions::new(put::NO_SYNCPOINT) };
        let done = client.put(queue, &mut md, &mut options, data);
        assert_eq!((md.format, md.ccsid), (outer.format, outer.ccsid), "it is the program's");
        done
    };
    assert_eq!(put(&data, true), Ok(Outcome::OK));
    assert_eq!(reason(put(&data[..71], true)), Reason::MDE_ERROR);
    assert_eq!(reason(put(b"no extension", true)), Reason::MDE_ERROR);
    let wrong = [extension(1 << 20), b"x".to_vec()].concat();
    assert_eq!(reason(put(&wrong, true)), Reason::MSG_FLAGS_ERROR);
    // For who knows the second version it is data.
    assert_eq!(put(&data, false), Ok(Outcome::OK));
    assert_eq!(system.depth("Q"), 2);
    let mut next = |options: &mut GetOptions| {
        let mut md = MessageDescriptor::default();
        let (_, data) = client.get_with(queue, &mut md, options).unwrap();
        (md, data)
    };
    let (md, got) = next(&mut GetOptions::new(get::NO_SYNCPOINT));
    assert_eq!(got, b"grouped");
    assert_eq!((md.format, md.ccsid, md.group_id), (*b"MQSTR   ", 819, [7; 24]));
    assert_eq!((md.msg_seq_number, md.msg_flags & SEGMENT), (3, 0));
    let (md, got) = next(&mut old(get::NO_SYNCPOINT));
    assert_eq!((md.format, got), (*b"MQHMDE  ", data));
}
