//! A client works no longer than its user may come in.

use std::sync::atomic::Ordering;

use crate::door::Door;
use crate::subscriptions_are_let_go::{CLOSE, Raw};

// Who was removed went on as before, for as long as the connection was there.
#[test]
fn a_conversation_ends_when_its_user_is_gone_or_has_another_password() {
    let door = Door::new();
    let mut raw = Raw::new(&door, "client");
    door.mark.fetch_add(1, Ordering::SeqCst);
    let close = raw.wait(CLOSE);
    let why = b"amqp:unauthorized-access";
    assert!(close.windows(why.len()).any(|part| part == why), "{close:?}");
}
