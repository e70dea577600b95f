//! What was made for a link that is refused then goes with it.

use queue_manager::objects::Kind;

use crate::door::Door;
use crate::subscriptions_are_let_go::{ATTACH, DETACH, NULL, Raw, composite, text, uint};

/// Attaches to a queue that is made for the link.
fn attach(raw: &mut Raw, handle: u32, selector: &[u8]) {
    let filter = [text(0xa3, b"selector"), text(0xa1, selector)].concat();
    let filter = [&[0xc1, u8::try_from(filter.len() + 1).unwrap(), 2][..], &filter].concat();
    let null = || NULL.to_vec();
    let dynamic = vec![0x41];
    let source = [null(), null(), null(), null(), dynamic, null(), null(), filter];
    let source = composite(0x28, &source);
    let (name, takes) = (text(0xa1, &handle.to_be_bytes()), vec![0x41]);
    raw.say(ATTACH, &[name, uint(handle), takes, null(), null(), source]);
    raw.wait(ATTACH);
}

#[test]
fn a_queue_that_was_made_for_a_link_goes_when_the_link_is_refused() {
    let door = Door::new();
    let mut raw = Raw::new(&door, "client");
    for handle in 0..3 {
        attach(&mut raw, handle, b"A =");
        raw.wait(DETACH);
    }
    // What comes is done in its order: with this one open, the others are closed.
    attach(&mut raw, 3, b"A = 1");
    assert_eq!(door.manager.list(Kind::QueueLocal, "AMQP.*").len(), 1);
}
