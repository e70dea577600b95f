//! Qpid Proton for Python.

use crate::door::{Client, Door};

fn run(scenario: &str, depths: &[(&str, u64)]) {
    Door::new().run(Client::Proton, scenario, depths);
}

#[test]
fn what_is_sent_comes_back_with_all_that_it_says() {
    run("send_and_receive", &[("APP.Q", 0)]);
}

#[test]
fn a_message_of_megabytes_comes_in_many_frames() {
    run("large", &[("APP.Q", 0)]);
}

#[test]
fn a_delivery_ends_as_the_client_says() {
    // It was looked at on the dead-letter queue, and not accepted.
    run("fates", &[("APP.Q", 0), ("DEAD.Q", 1)]);
}

#[test]
fn a_queue_is_browsed() {
    run("browse", &[("APP.Q", 0)]);
}

#[test]
fn a_selector_leaves_the_others_where_they_are() {
    run("selector", &[("APP.Q", 2)]);
}

#[test]
fn a_queue_is_made_for_a_link_and_goes_with_it() {
    let door = Door::new();
    let before = door.manager.connections().len();
    door.run(Client::Proton, "dynamic", &[]);
    door.server.close();
    assert_eq!(door.manager.connections().len(), before);
    let kind = queue_manager::objects::Kind::QueueLocal;
    assert_eq!(door.manager.list(kind, "AMQP.*"), []);
}

#[test]
fn what_cannot_be_is_refused() {
    run("refusals", &[("APP.Q", 1), ("FULL.Q", 1)]);
}

#[test]
fn strangers_are_not_let_in() {
    run("strangers", &[]);
}

#[test]
fn a_transaction_is_one_unit_of_work() {
    run("transactions", &[("APP.Q", 0), ("MOVED.Q", 0)]);
}

#[test]
fn a_consumer_keeps_up_and_sees_each_message_once() {
    run("many", &[("APP.Q", 0)]);
}
