//! rhea, for JavaScript.

use crate::door::{Client, Door};

fn run(scenario: &str, depths: &[(&str, u64)]) {
    Door::new().run(Client::Rhea, scenario, depths);
}

#[test]
fn bodies_and_properties_come_back_as_they_were() {
    run("kinds", &[("APP.Q", 0)]);
}

#[test]
fn a_delivery_ends_as_the_client_says() {
    run("fates", &[("APP.Q", 0), ("DEAD.Q", 1)]);
}

#[test]
fn a_request_is_answered_over_a_queue_that_was_made_for_it() {
    run("requests", &[("APP.Q", 0)]);
}

#[test]
fn sources_are_subscribed_to_selected_and_browsed() {
    let door = Door::new();
    door.run(Client::Rhea, "sources", &[("APP.Q", 1)]);
    assert_eq!(door.manager.subscriptions("AMQP/*").len(), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    run("refusals", &[("FULL.Q", 1)]);
}

#[test]
fn users_have_passwords() {
    run("users", &[]);
}

#[test]
fn ten_megabytes_come_back_as_they_were() {
    run("large", &[("APP.Q", 0)]);
}
