//! Who may subscribe to a topic takes from its subscription, without a right to any queue.

use crate::door::Door;
use crate::subscriptions_are_let_go::Raw;

#[test]
fn a_durable_subscription_is_taken_from_by_the_right_to_its_topic() {
    let door = Door::new();
    door.grant(("SELF", "QMGR"), &["CONNECT"]);
    door.grant(("SYSTEM.BASE.TOPIC", "TOPIC"), &["SUB"]);
    for _ in 0..2 {
        // The second finds it there.
        assert!(Raw::new(&door, "client").attach());
    }
}
