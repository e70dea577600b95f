//! go-amqp.

use crate::door::{Client, Door};

fn run(scenario: &str, depths: &[(&str, u64)]) {
    Door::new().run(Client::Go, scenario, depths);
}

#[test]
fn what_is_sent_comes_back_with_all_that_it_says() {
    run("kinds", &[("APP.Q", 0)]);
}

#[test]
fn a_delivery_ends_as_the_client_says() {
    run("fates", &[("APP.Q", 0), ("DEAD.Q", 1)]);
}

#[test]
fn sources_are_selected_subscribed_to_and_made() {
    let door = Door::new();
    door.run(Client::Go, "sources", &[("APP.Q", 1)]);
    assert_eq!(door.manager.subscriptions("AMQP/*").len(), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    run("refusals", &[("FULL.Q", 1)]);
}

#[test]
fn ten_megabytes_come_back_as_they_were() {
    run("large", &[("APP.Q", 0)]);
}
