//! Requests go over the wire and come out the same; what is none is refused.

use mqi::structures::{Gmo, Md, Od, Pmo, Sd};
use mqi::table::Structure as _;
use mqi::wire::{
    CONSUMERS_MAX, Connecting, Credentials, Entry, Object, Posting, Request, Wanted, property,
    property_parts,
};
use queue_manager::ObjectName;
use queue_manager::options::{ObjectRecord, PutRecord};
use queue_manager::properties::PropertyValue;

fn requests() -> Vec<Request> {
    let object = Object {
        od: Od { object_type: 8, object_name: [b'Q'; 48], ..Od::initial() },
        object_string: "a/b".into(),
        selection_string: "x > 1".into(),
        records: vec![ObjectRecord::default(); 3],
        wants_responses: true,
    };
    let posting = Posting {
        md: Md { msg_id: [9; 24], original_length: 5, ..Md::initial() },
        pmo: Pmo { options: 2, action: 1, ..Pmo::initial() },
        records: vec![PutRecord::default()],
        wants_responses: false,
    };
    let wanted = Wanted {
        md: Md { correl_id: [1; 24], ..Md::initial() },
        gmo: Gmo { msg_handle: 77, ..Gmo::initial() },
        room: 100,
    };
    let proof = Credentials { user: "u".into(), password: b"p".to_vec() };
    let manager = ObjectName::from("QM1");
    let connecting = Connecting { manager, program: [b'p'; 28], thread: 3, proof: None };
    let entry = Entry { channel: "TO.QM1".into(), process: 7 };
    let md = Md { format: *b"MQHRF2  ", ..Md::initial() };
    vec![
        Request::Enter(entry, Connecting { proof: Some(proof), ..connecting.clone() }),
        Request::Connect(connecting),
        Request::Disconnect,
        Request::Open { object: object.clone(), options: 16 },
        Request::Close { handle: 1, options: 2 },
        Request::Put { handle: 1, posting: posting.clone() },
        Request::Put1 { object, posting },
        Request::Get { handle: 1, wanted: wanted.clone() },
        Request::Inquire { handle: 1, selectors: vec![1, 2001] },
        Request::Set {
            handle: 1,
            selectors: vec![1],
            numbers: vec![2],
            characters: b"abc".to_vec(),
        },
        Request::Commit,
        Request::Back,
        Request::Begin,
        Request::Subscribe {
            sd: Sd { sub_level: 2, ..Sd::initial() },
            texts: ["a".into(), "b".into(), String::new(), "d".into()],
            handle: -1,
        },
        Request::SubscriptionRequest { handle: 1, action: 1 },
        Request::Status { kind: 0 },
        Request::CreateHandle,
        Request::DeleteHandle { handle: 1 },
        Request::SetProperty { handle: 1, name: "n".into(), value: PropertyValue::Int32(5) },
        Request::InquireProperty { handle: 1, name: "%".into(), which: 1 },
        Request::DeleteProperty { handle: 1, name: "n".into() },
        Request::BufferToHandle { handle: 1, md: md.clone(), delete: true },
        Request::HandleToBuffer { handle: 1, name: "%".into(), md, delete: false },
        Request::Consume { wait_ms: 5, list: vec![(1, wanted.clone()), (2, wanted)] },
    ]
}

#[test]
fn every_call_comes_out_as_it_went_in() {
    let mut kinds = Vec::new();
    for request in requests() {
        let (kind, fields) = (request.kind(), request.fields());
        let read = Request::read(kind, &fields).unwrap_or_else(|| panic!("{request:?}"));
        assert_eq!(format!("{read:?}"), format!("{request:?}"));
        assert_eq!(read.fields(), fields);
        kinds.push(kind);
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, (1..=24).collect::<Vec<u8>>());
}

#[test]
fn what_is_cut_or_too_long_is_no_call() {
    for request in requests() {
        let (kind, fields) = (request.kind(), request.fields());
        for len in 0..fields.len() {
            assert!(Request::read(kind, &fields[..len]).is_none(), "{request:?} cut to {len}");
        }
        let longer = [&fields[..], &[0]].concat();
        assert!(Request::read(kind, &longer).is_none(), "{request:?} with more");
    }
    assert!(Request::read(0, &[]).is_none());
    assert!(Request::read(24, &[]).is_none());
}

#[test]
fn a_call_waits_at_so_many_queues_at_most() {
    let wanted = Wanted { md: Md::initial(), gmo: Gmo::initial(), room: 0 };
    for (count, reads) in [(CONSUMERS_MAX, true), (CONSUMERS_MAX + 1, false)] {
        let request = Request::Consume { wait_ms: 0, list: vec![(1, wanted.clone()); count] };
        assert_eq!(Request::read(request.kind(), &request.fields()).is_some(), reads);
    }
}

/// A put says what differs from a new descriptor, and no more.
#[test]
fn a_usual_put_takes_few_bytes() {
    let posting = Posting {
        md: Md { format: *b"MQSTR   ", persistence: 1, ..Md::initial() },
        pmo: Pmo { options: 2, ..Pmo::initial() },
        records: Vec::new(),
        wants_responses: false,
    };
    assert!(Request::Put { handle: 1, posting }.fields().len() < 40);
}

#[test]
fn a_property_has_the_bytes_of_its_type() {
    for value in [
        PropertyValue::Null,
        PropertyValue::Boolean(true),
        PropertyValue::Bytes(vec![1, 2]),
        PropertyValue::Int8(-1),
        PropertyValue::Int16(-2),
        PropertyValue::Int32(-3),
        PropertyValue::Int64(-4),
        PropertyValue::Float32(1.5),
        PropertyValue::Float64(-2.5),
        PropertyValue::String("text".into()),
    ] {
        let (kind, bytes) = property_parts(&value);
        assert_eq!(property(kind, &bytes), Some(value));
    }
    assert_eq!(property(64, &[1, 2, 3]), None);
    assert_eq!(property(3, &[]), None);
    assert_eq!(property(1024, &[0xff]), None);
}
