//! Frames of AMQP from a client that may be anything.

/// Every conversation is answered with whole frames, whatever it says.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let out = amqp::answer(bytes);
    let mut left = &out[..];
    while let Some(head) = left.first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*head)).expect("it is 32 bits");
        assert!(length >= 8 && length <= left.len(), "a frame is whole");
        left = &left[length..];
    }
    assert!(left.is_empty(), "nothing stands behind the last frame");
}

fn frame(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &[2, 0, 0, 0], body].concat()
}

/// A list of values as a performative.
fn performative(code: u8, fields: &[&[u8]]) -> Vec<u8> {
    let inner = fields.concat();
    let size = u8::try_from(inner.len() + 1).unwrap_or(u8::MAX);
    let count = u8::try_from(fields.len()).unwrap_or(u8::MAX);
    [&[0, 0x53, code, 0xc0, size, count], &inner[..]].concat()
}

/// A conversation that opens, begins, attaches, and brings a message; one that takes messages; one
/// that goes on with a subscription, and ends it.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let open = frame(&performative(0x10, &[b"\xa1\x01c"]));
    let begin = frame(&performative(0x11, &[b"\x40", b"\x43", b"\x52\xff", b"\x52\xff"]));
    let target: &[u8] = b"\x00\x53\x29\xc0\x04\x01\xa1\x01Q";
    let source: &[u8] = b"\x00\x53\x28\xc0\x04\x01\xa1\x01Q";
    let nothing: &[u8] = b"\x40";
    let brings: [&[u8]; 7] = [b"\xa1\x01l", b"\x43", b"\x42", nothing, nothing, nothing, target];
    let takes: [&[u8]; 7] = [b"\xa1\x01l", b"\x43", b"\x41", nothing, nothing, source, nothing];
    let head = performative(0x14, &[b"\x43", b"\x43", b"\xa0\x01t", b"\x43", b"\x42", b"\x42"]);
    let transfer = frame(&[&head[..], b"\x00\x53\x77\xa1\x02hi"].concat());
    let credit: [&[u8]; 7] =
        [b"\x43", b"\x52\xff", b"\x43", b"\x52\xff", b"\x43", b"\x43", b"\x52\x0a"];
    let flow = frame(&performative(0x13, &credit));
    let known: [&[u8]; 7] =
        [b"\xa1\x08s|global", b"\x43", b"\x41", nothing, nothing, nothing, nothing];
    let detach = frame(&performative(0x16, &[b"\x43", b"\x41"]));
    vec![
        [&open[..], &begin, &frame(&performative(0x12, &known)), &flow, &detach].concat(),
        [&open[..], &begin, &frame(&performative(0x12, &brings)), &transfer].concat(),
        [&open[..], &begin, &frame(&performative(0x12, &takes)), &flow].concat(),
    ]
}
