//! Requests and responses byte for byte, and there and back.

use holdfast_ims_connect::wire::{
    CorrelationToken, Csm, Extension, Function, Irm, Reason, Request, Response, ReturnCode, Rsm,
    Status, exit_id, f0, response_length,
};
use otma::{Encoding, Name, Segments};
use proptest::prelude::*;

use crate::client::{name, pages};

fn segments(all: &[&[u8]]) -> Segments {
    let mut segments = Segments::new();
    for data in all {
        segments.push([0, 0], data).expect("short");
    }
    segments
}

#[test]
fn a_request_of_level_0_is_the_bytes_of_the_table() {
    let mut irm = Irm::new(0, *b"*SAMPL1*");
    irm.timer = 0x15;
    irm.socket = 0x10;
    irm.client = name("CLIENT1");
    irm.f2 = 0x20;
    irm.f3 = 0x01;
    irm.transaction = name("PART");
    irm.data_store = name("IMS1");
    irm.user = name("USER1");
    irm.password = name("SECRET");
    let request = Request { irm, segments: segments(&[b"PART    AN960C10"]) };
    let mut bytes = b"\0\0\0\x6c\0\x50\0\0*SAMPL1*\0\0\0\0\0\x15\x10\0CLIENT1 ".to_vec();
    bytes.extend_from_slice(b"\0\x20\x01 PART    IMS1            USER1           SECRET  ");
    bytes.extend_from_slice(b"\0\x14\0\0PART    AN960C10\0\x04\0\0");
    assert_eq!(request.encode(Encoding::Ascii, &pages()), bytes);
    assert_eq!(Request::decode(&bytes, Encoding::Ascii, &pages()), Ok(request.clone()));
    let ebcdic = request.encode(Encoding::Ebcdic, &pages());
    assert_eq!(&ebcdic[8..16], b"\x5c\xe2\xc1\xd4\xd7\xd3\xf1\x5c");
    assert_eq!(ebcdic[35], 0x40);
    let head = ebcdic.first_chunk().expect("long enough");
    assert_eq!(exit_id(head, &pages()), Some((*b"*SAMPL1*", Encoding::Ebcdic)));
    assert_eq!(Request::decode(&ebcdic, Encoding::Ebcdic, &pages()), Ok(request));
}

#[test]
fn the_shortest_message_is_an_acknowledgement() {
    let mut irm = Irm::new(0, *b"*SAMPLE*");
    irm.function = Function::Ack;
    let bytes = Request { irm, segments: Segments::new() }.encode(Encoding::Ascii, &pages());
    assert_eq!(bytes.len(), 0x58);
    assert_eq!((bytes[35], &bytes[84..]), (b'A', &[0, 4, 0, 0][..]));
}

#[test]
fn levels_have_the_lengths_and_places_of_the_table() {
    for (level, length) in [(0, 80), (1, 96), (2, 112), (3, 160), (4, 168), (5, 172)] {
        assert_eq!(Irm::new(level, *b"*SAMPLE*").length, length);
    }
    let mut irm = Irm::new(5, *b"*SAMPLE*");
    irm.application = name("AT84");
    irm.reroute = name("AT92");
    irm.tag_adapter = name("AT100");
    irm.tag_map = name("AT108");
    irm.mod_name = name("AT156");
    irm.session = *b"AT164   ";
    irm.correlation.system = *b"AT12";
    let request = Request { irm, segments: segments(&[b"DATA"]) };
    let bytes = request.encode(Encoding::Ascii, &pages());
    for at in [84, 92, 100, 108, 156, 164] {
        let text = format!("{:8}", format!("AT{at}"));
        assert_eq!(&bytes[at..at + 8], text.as_bytes());
    }
    assert_eq!(&bytes[116..124], b"\0\x28\0\0AT12");
    // A header of level 3 with the format's name alone.
    let mut irm = Irm::new(3, *b"*SAMPLE*");
    irm.length = 120;
    irm.mod_name = name("AT116");
    let request = Request { irm, segments: segments(&[b"DATA"]) };
    let bytes = request.encode(Encoding::Ascii, &pages());
    assert_eq!(&bytes[116..124], b"AT116   ");
    assert_eq!(Request::decode(&bytes, Encoding::Ascii, &pages()), Ok(request));
}

#[test]
fn responses_are_the_bytes_of_the_table() {
    let mut response = Response::complete(segments(&[b"REPLY"]), 0x20);
    response.mod_name = Some(name("DFSMO2"));
    response.client = Some(name("HWS00001"));
    let mut bytes = b"\0\0\0\x41".to_vec();
    bytes.extend_from_slice(b"\0\x14\0\0*REQMOD*DFSMO2  \0\x14\0\0*GENCID*HWS00001");
    bytes.extend_from_slice(b"\0\x09\0\0REPLY\0\x0c\x30\x02*CSMOKY*");
    assert_eq!(response.encode(true, Encoding::Ascii, &pages()), bytes);
    assert_eq!(response.encode(false, Encoding::Ascii, &pages()), &bytes[4..]);
    let status = Rsm { flags: 0, detail: 8, ..Rsm::new(ReturnCode::Connect, Reason::Security) };
    let bytes = Response::status(status).encode(false, Encoding::Ascii, &pages());
    assert_eq!(bytes, b"\0\x14\0\x08*REQSTS*\0\0\0\x08\0\0\0\x28");
    let bytes = Response::status(status).encode(false, Encoding::Ebcdic, &pages());
    assert_eq!(&bytes[4..12], b"\x5c\xd9\xc5\xd8\xe2\xe3\xe2\x5c");
    assert_eq!(response_length(&bytes, &pages()), Ok(Some(20)));
    assert_eq!(response_length(&bytes[..19], &pages()), Ok(None));
}

#[test]
fn every_code_is_written_down() {
    let page = include_str!("../../../../../docs/ims-connect.md");
    let return_codes = ReturnCode::ALL.iter().map(|(_, meaning)| meaning);
    for meaning in return_codes.chain(Reason::ALL.iter().map(|(_, meaning)| meaning)) {
        let row = format!("| {:02X} | {}", meaning.code, meaning.meaning);
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn lengths_that_do_not_fit_have_their_reasons() {
    let irm = Irm::new(0, *b"*SAMPLE*");
    let good = Request { irm, segments: segments(&[b"DATA"]) }.encode(Encoding::Ascii, &pages());
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Request::decode(&bytes, Encoding::Ascii, &pages()).map_err(|why| why.reason())
    };
    assert_eq!(with(3, 0x5f), Err(Reason::TotalLength));
    assert_eq!(with(5, 0x4f), Err(Reason::IrmLength));
    assert_eq!(with(4, 0xff), Err(Reason::IrmLength));
    assert_eq!(with(6, 6), Err(Reason::IrmLength));
    assert_eq!(with(35, b'?'), Err(Reason::BadBuffer));
    assert_eq!(with(85, 0x03), Err(Reason::TotalLength));
    assert_eq!(with(85, 0x20), Err(Reason::TotalLength));
    assert_eq!(with(good.len() - 1, 1), Err(Reason::TotalLength));
}

fn names() -> impl Strategy<Value = Name> {
    "[A-Z0-9$#@ ]{0,8}".prop_map(|text| {
        let mut name = Name::BLANK;
        name.0[..text.len()].copy_from_slice(text.as_bytes());
        name
    })
}

fn headers() -> impl Strategy<Value = Irm> {
    let names = proptest::collection::vec(names(), 13);
    let extension =
        ("[A-Z]{6}", proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(id, data)| {
            let mut extension = Extension { id: *b"*      *", data };
            extension.id[1..7].copy_from_slice(id.as_bytes());
            extension
        });
    let extensions = proptest::collection::vec(extension, 0..3);
    let functions = proptest::sample::select(Function::all().to_vec());
    (0..=5_u8, any::<[u8; 10]>(), functions, names, extensions, any::<[u8; 24]>()).prop_map(
        |(level, bytes, function, names, extensions, tokens)| {
            let mut irm = Irm::new(level, *b"*SAMPL1*");
            [irm.f5, irm.timer, irm.socket, irm.scheme] = [bytes[0], bytes[1], bytes[2], bytes[3]];
            [irm.f1, irm.f2, irm.f3] = [bytes[4], bytes[5], bytes[6]];
            irm.f0 = bytes[7] & !f0::EXTENSIONS;
            irm.nak_reason = u16::from(bytes[8]);
            irm.function = function;
            irm.client = names[0];
            irm.transaction = names[1];
            irm.data_store = names[2];
            [irm.terminal, irm.user, irm.group] = [names[3], names[4], names[5]];
            irm.password = names[6];
            if level >= 1 {
                irm.application = names[7];
                irm.reroute = names[8];
            }
            if level >= 2 {
                [irm.tag_adapter, irm.tag_map] = [names[9], names[10]];
            }
            if level >= 3 {
                irm.mod_name = names[11];
                irm.correlation = CorrelationToken {
                    system: *b"IMS1",
                    member: *tokens.first_chunk().expect("8"),
                    message: *tokens[8..].first_chunk().expect("8"),
                    tpipe: names[12],
                    user: names[0],
                };
            } else {
                irm.correlation = CorrelationToken::default();
            }
            if level >= 4 {
                irm.session = *tokens[16..].first_chunk().expect("8");
            }
            if level >= 5 && !extensions.is_empty() {
                irm.f0 |= f0::EXTENSIONS;
                irm.extensions = extensions;
            }
            irm
        },
    )
}

proptest! {
    #[test]
    fn requests_come_back_as_they_went(
        irm in headers(),
        data in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..50), 1..4),
        ebcdic in any::<bool>(),
    ) {
        let encoding = if ebcdic { Encoding::Ebcdic } else { Encoding::Ascii };
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let request = Request { irm, segments: segments(&data) };
        let bytes = request.encode(encoding, &pages());
        let back = Request::decode(&bytes, encoding, &pages());
        prop_assert_eq!(back, Ok(request));
    }

    #[test]
    fn responses_come_back_as_they_went(
        mod_name in proptest::option::of(names()),
        client in proptest::option::of(names()),
        data in proptest::collection::vec("[a-z]{0,30}", 0..4),
        flags in any::<[u8; 2]>(),
        status in proptest::option::of(any::<[u32; 2]>()),
        ebcdic in any::<bool>(),
    ) {
        let encoding = if ebcdic { Encoding::Ebcdic } else { Encoding::Ascii };
        let data: Vec<&[u8]> = data.iter().map(String::as_bytes).collect();
        let token = client.map(|user| CorrelationToken { user, ..CorrelationToken::default() });
        let token = token.map(|token| CorrelationToken { system: *b"IMS1", ..token });
        let [flags, level] = flags;
        let status = match status {
            None => Status::Complete(Csm { flags, level }),
            Some([code, reason]) => Status::Request(Rsm { flags, detail: level, code, reason }),
        };
        let response = Response { mod_name, client, token, data: segments(&data), status };
        let bytes = response.encode(false, encoding, &pages());
        prop_assert_eq!(response_length(&bytes, &pages()), Ok(Some(bytes.len())));
        prop_assert_eq!(Response::decode(&bytes, &pages()), Ok(response));
    }
}
