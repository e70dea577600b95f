//! go-amqp.

#![allow(clippy::disallowed_methods)] // reads certificates

use amqp::Tls;

use crate::door::{CERTIFICATES, Client, Door};

fn certificate(name: &str) -> String {
    format!("{CERTIFICATES}/{name}")
}

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
fn certificates_and_passwords_open_a_door_with_tls() {
    let tls = Tls {
        certificates: std::fs::read(certificate("server.pem")).unwrap(),
        key: std::fs::read(certificate("server.key")).unwrap(),
        client_roots: Some(std::fs::read(certificate("ca.pem")).unwrap()),
        client_required: false,
    };
    let door = Door::secured(tls);
    if door.answer(Client::Go, "secured").is_some() {
        assert_eq!(door.depth("APP.Q"), 2);
        let counted = door.server.counted();
        assert_eq!((counted.accepted, counted.refused, counted.received), (2, 4, 2));
    }
}

#[test]
fn ten_megabytes_come_back_as_they_were() {
    run("large", &[("APP.Q", 0)]);
}
