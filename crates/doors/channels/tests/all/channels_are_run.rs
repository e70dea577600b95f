//! Channels start, stop, wait, try again and give up as they are told.

use std::net::TcpListener;

use queue_manager::channel::{ChannelError, ChannelState, StopMode, StopRequest};
use queue_manager::objects::{Kind, Value};

use crate::common::{fresh, loopback, start_at};

fn stop(channel: &str, mode: StopMode, inactive: bool) -> StopRequest {
    StopRequest { channel: channel.into(), mode, inactive, partner: None }
}

#[test]
fn a_channel_that_was_stopped_carries_nothing_until_it_is_started() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    one.send(("IN", "QM2"), "first");
    assert_eq!(two.next("IN"), "first");
    let channels = one.manager.channels();
    assert!(matches!(channels.start("TO.QM2"), Err(ChannelError::InUse(_))));
    assert_eq!(channels.stop(&stop("TO.QM2", StopMode::Quiesce, false)).unwrap(), 1);
    one.until("TO.QM2", |status| status.is_some_and(|one| one.state == ChannelState::Stopped));
    two.until("TO.QM2", |status| status.is_none());
    one.send(("IN", "QM2"), "second");
    assert_eq!((one.depth("QM2"), two.depth("IN")), (1, 0));
    channels.start("TO.QM2").unwrap();
    assert_eq!(two.next("IN"), "second");
}

#[test]
fn a_receiver_that_was_stopped_lets_nobody_in_until_it_is_started() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    two.manager.channels().stop(&stop("TO.QM2", StopMode::Force, false)).unwrap();
    one.send(("IN", "QM2"), "patient");
    one.until("TO.QM2", |status| status.is_some_and(|one| one.trouble.contains("is stopped")));
    assert_eq!(two.depth("IN"), 0);
    two.manager.channels().start("TO.QM2").unwrap();
    assert_eq!(two.next("IN"), "patient");
    two.manager.channels().stop(&stop("TO.QM2", StopMode::Quiesce, false)).unwrap();
    one.until("TO.QM2", |status| {
        status.is_some_and(|one| one.trouble.contains("is stopped") || one.trouble.contains("clos"))
    });
}

#[test]
fn a_channel_with_nothing_to_do_ends_and_is_started_again_by_its_queue() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[("DISCINT", "1")]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    for text in ["first", "second"] {
        one.send(("IN", "QM2"), text);
        assert_eq!(two.next("IN"), text);
        one.until("TO.QM2", |status| status.is_none());
        two.until("TO.QM2", |status| status.is_none());
    }
}

#[test]
fn signs_of_life_go_between_ends_that_have_nothing_to_say() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[("HBINT", "1")]);
    two.receives("TO.QM2", &[("HBINT", "1")]);
    one.manager.channels().start("TO.QM2").unwrap();
    one.until("TO.QM2", |status| status.is_some_and(|one| one.state == ChannelState::Running));
    let sent = one.status("TO.QM2").map_or(0, |status| status.traffic.bytes_sent);
    one.until("TO.QM2", |status| status.is_some_and(|one| one.traffic.bytes_sent > sent + 12));
    assert_eq!(one.status("TO.QM2").unwrap().state, ChannelState::Running);
}

#[test]
fn a_partner_that_is_not_there_is_tried_again_until_it_is() {
    let one = fresh("QM1");
    // An address that no system listens at yet.
    let address = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    one.leads_to("QM2", address, &[]);
    one.send(("IN", "QM2"), "patient");
    one.until("TO.QM2", |status| status.is_some_and(|one| one.state == ChannelState::Retrying));
    assert!(one.status("TO.QM2").unwrap().trouble.contains("cannot be connected to"));
    let store = store_suite::model::ModelStore::new();
    let two = start_at(&store, "QM2", None, address);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    assert_eq!(two.next("IN"), "patient");
}

#[test]
fn after_the_last_try_it_is_stopped() {
    let one = fresh("QM1");
    let address = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    one.leads_to("QM2", address, &[("SHORTRTY", "2"), ("LONGRTY", "0")]);
    one.manager.channels().start("TO.QM2").unwrap();
    one.until("TO.QM2", |status| status.is_some_and(|one| one.state == ChannelState::Stopped));
    assert!(one.server.take_notices().iter().any(|text| text.contains("TO.QM2 is stopped")));
}

#[test]
fn what_only_an_operator_can_mend_stops_a_channel_at_once() {
    let one = fresh("QM1");
    one.leads_to("QM2", loopback(), &[("SSLCIPH", "ANY_TLS13")]);
    let values = [("CONNAME", Value::from("127.0.0.1(1"))];
    one.manager.alter(Kind::Channel, "TO.QM2", &values).unwrap();
    one.manager.channels().start("TO.QM2").unwrap();
    one.until("TO.QM2", |status| status.is_some_and(|one| one.state == ChannelState::Stopped));
    let notices = one.server.take_notices();
    assert!(notices.iter().any(|text| text.contains("is no address")), "{notices:?}");
}

#[test]
fn a_ping_goes_there_and_back_and_starts_nothing() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    let initiator = one.manager.channels().initiator().unwrap();
    let refused = initiator.ping("TO.QM2", 64).unwrap_err().to_string();
    assert!(refused.contains("there is no channel TO.QM2"), "{refused}");
    two.receives("TO.QM2", &[]);
    initiator.ping("TO.QM2", 10_000).unwrap();
    assert!(two.status("TO.QM2").is_none() && one.status("TO.QM2").is_none());
}

#[test]
fn a_number_that_was_reset_is_taken_over() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    one.leads_to("QM2", two.address(), &[]);
    two.receives("TO.QM2", &[]);
    two.define(Kind::QueueLocal, "IN", &[]);
    one.manager.channels().reset("TO.QM2", 500).unwrap();
    one.send(("IN", "QM2"), "numbered");
    assert_eq!(two.next("IN"), "numbered");
    one.until("TO.QM2", |status| status.is_some_and(|one| one.progress.last_sequence.0 == 500));
    assert_eq!(two.manager.channels().receiver_state("TO.QM2", "QM1").unwrap().sequence.0, 500);
}

#[test]
fn a_requester_fetches_what_a_server_has() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    two.define(Kind::QueueLocal, "QM1", &[("USAGE", "XMITQ")]);
    two.define(Kind::Channel, "FETCH", &[("CHLTYPE", "SVR"), ("XMITQ", "QM1")]);
    let connection = format!("127.0.0.1({})", two.address().port());
    one.define(Kind::Channel, "FETCH", &[("CHLTYPE", "RQSTR"), ("CONNAME", &connection)]);
    one.define(Kind::QueueLocal, "IN", &[]);
    two.send(("IN", "QM1"), "fetched");
    one.manager.channels().start("FETCH").unwrap();
    assert_eq!(one.next("IN"), "fetched");
    two.until("FETCH", |status| status.is_some_and(|one| one.progress.last_sequence.0 == 1));
}

#[test]
fn a_listener_listens_from_its_start_to_its_stop() {
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    two.define(Kind::Listener, "MORE", &[("PORT", "0")]);
    let initiator = two.manager.channels().initiator().unwrap();
    let address = initiator.listen("MORE").unwrap();
    assert!(matches!(initiator.listen("MORE"), Err(ChannelError::InUse(_))));
    one.leads_to("QM2", address, &[]);
    two.receives("TO.QM2", &[]);
    one.manager.channels().initiator().unwrap().ping("TO.QM2", 64).unwrap();
    assert!(initiator.listeners().iter().any(|one| one.name == "MORE"));
    assert!(initiator.end_listener("MORE") && !initiator.end_listener("MORE"));
    assert!(one.manager.channels().initiator().unwrap().ping("TO.QM2", 64).is_err());
}

#[test]
fn nothing_that_comes_to_the_port_ends_it() {
    use std::io::Write as _;
    let (one, two) = (fresh("QM1"), fresh("QM2"));
    two.receives("TO.QM2", &[]);
    one.leads_to("QM2", two.address(), &[]);
    for bytes in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], b"HFC1\x01\0\0\0\xff\xff\xff\xff", b"\x16\x03\x01"]
    {
        let mut stream = std::net::TcpStream::connect(two.address()).unwrap();
        stream.write_all(bytes).unwrap();
    }
    one.manager.channels().initiator().unwrap().ping("TO.QM2", 64).unwrap();
}
