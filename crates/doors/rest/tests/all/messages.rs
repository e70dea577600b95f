//! Messages: put, looked at, listed, got, published; their headers in each version.

use queue_manager::MessageDescriptor;
use queue_manager::descriptor::value::format;
use queue_manager::objects::Kind;
use serde_json::json;
use store_suite::model::ModelStore;

use crate::common::{CSRF, QUEUE, TEXT, manager_on, opened, opened_with};

const V3: &str = "/ibmmq/rest/v3/messaging/qmgr/QM1/queue/Q1";

#[test]
fn a_message_is_put_looked_at_and_got_once() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let put = door.put(&message, &[], "Grüße an alle");
    assert_eq!((put.status, &*put.body), (201, ""));
    let id = put.header("ibm-mq-md-messageId").unwrap().to_owned();
    assert_eq!(id.len(), 48);
    for _ in 0..2 {
        let seen = door.get(&message);
        assert_eq!((seen.status, &*seen.body), (200, "Grüße an alle"));
        assert_eq!(seen.header("ibm-mq-md-messageId"), Some(&*id));
        assert_eq!(seen.header("content-type"), Some("text/plain; charset=utf-8"));
    }
    let got = door.take(&message);
    assert_eq!((got.status, &*got.body), (200, "Grüße an alle"));
    assert_eq!(got.header("ibm-mq-md-persistence"), Some("nonPersistent"));
    assert_eq!(got.header("ibm-mq-md-expiry"), Some("unlimited"));
    assert_eq!(got.header("ibm-mq-md-correlationId"), None);
    assert_eq!(got.header("ibm-mq-md-replyTo"), None);
    assert_eq!(got.header("ibm-mq-md-priority"), None, "that is of version 3");
    assert_eq!(door.take(&message).status, 204);
    assert_eq!(door.get(&message).status, 204);
}

#[test]
fn headers_come_back_as_they_were_sent() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let correlation = "00aabbccddeeff00112233445566778899aabbccddeeff00";
    let headers = [
        ("ibm-mq-md-correlationId", correlation),
        ("ibm-mq-md-expiry", "60000"),
        ("ibm-mq-md-persistence", "persistent"),
        ("ibm-mq-md-replyTo", "REPLIES@QM2"),
    ];
    assert_eq!(door.put(&message, &headers, "{}").status, 201);
    let got = door.take(&message);
    assert_eq!(got.header("ibm-mq-md-correlationId"), Some(correlation));
    assert_eq!(got.header("ibm-mq-md-persistence"), Some("persistent"));
    assert_eq!(got.header("ibm-mq-md-replyTo"), Some("REPLIES@QM2"));
    let left: u64 = got.header("ibm-mq-md-expiry").unwrap().parse().unwrap();
    assert!((1..=60_000).contains(&left), "{left}");
}

#[test]
fn version_3_has_priorities_properties_and_texts_as_correlations() {
    let door = opened();
    let message = format!("{V3}/message");
    let headers = [
        ("ibm-mq-md-priority", "9"),
        ("ibm-mq-md-correlationId", "order 4711 of a long day in November"),
        ("ibm-mq-usr", "color;\"red; green\";string, size;7;integer"),
        ("ibm-mq-usr", "hot;true;boolean"),
    ];
    assert_eq!(door.put(&message, &[], "first, of priority 4").status, 201);
    assert_eq!(door.put(&message, &headers, "second").status, 201);
    let list = door.get(&format!("{V3}/messagelist")).json();
    assert_eq!(list["messages"][0]["correlationId"], "order 4711 of a long day in November");
    let wanted = "correlationId=order%204711%20of%20a%20long%20day%20in%20November";
    let seen = door.get(&format!("{message}?{wanted}"));
    assert_eq!((seen.status, &*seen.body), (200, "second"));
    // The same beginning, and another end.
    let other = "correlationId=order%204711%20of%20a%20long%20day%20in%20December";
    assert_eq!(door.get(&format!("{message}?{other}")).status, 204);
    let got = door.take(&message);
    assert_eq!(&*got.body, "second", "it has the higher priority");
    assert_eq!(got.header("ibm-mq-md-priority"), Some("9"));
    assert_eq!(
        got.header("ibm-mq-usr"),
        Some("color;\"red; green\";string,size;7;integer,hot;true;boolean")
    );
    let id = door.get(&message).header("ibm-mq-md-messageId").unwrap().to_owned();
    assert!(id.starts_with("ID:") && id.len() == 51, "{id}");
    let got = door.take(&format!("{message}?messageId={id}"));
    assert_eq!(&*got.body, "first, of priority 4");
    assert_eq!(got.header("ibm-mq-md-priority"), Some("4"));
    assert_eq!(got.header("ibm-mq-usr"), None);
}

#[test]
fn a_message_is_chosen_by_its_identifiers() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let correlation = "c".repeat(48);
    let put = |text: &str, headers: &[(&str, &str)]| {
        let put = door.put(&message, headers, text);
        put.header("ibm-mq-md-messageId").unwrap().to_owned()
    };
    let first = put("one", &[]);
    put("two", &[("ibm-mq-md-correlationId", &correlation)]);
    let third = put("three", &[("ibm-mq-md-correlationId", &correlation)]);
    let by = |what: &str| door.get(&format!("{message}?{what}"));
    assert_eq!(by(&format!("messageId={third}")).body, "three");
    assert_eq!(by(&format!("correlationId={correlation}")).body, "two");
    assert_eq!(by(&format!("correlationId={correlation}&messageId={third}")).body, "three");
    assert_eq!(by(&format!("correlationId={correlation}&messageId={first}")).status, 204);
    assert_eq!(door.take(&format!("{message}?messageId={third}")).body, "three");
    assert_eq!(door.depth("Q1"), 2);
    for bad in ["messageId=1", "messageId=", "correlationId=xyz", "limit=3", "wait=1"] {
        let refused = by(bad);
        assert_eq!((refused.status, &*refused.error()), (400, "MQWB9002E"), "{bad}");
    }
}

#[test]
fn lists_have_ten_messages_or_as_many_as_are_asked_for() {
    let door = opened();
    let list = |more: &str| {
        let list = door.get(&format!("{QUEUE}/messagelist{more}")).json();
        list["messages"].as_array().unwrap().clone()
    };
    assert!(list("").is_empty());
    let ids: Vec<String> = (0..12)
        .map(|number| {
            let put = door.put(&format!("{QUEUE}/message"), &[], &format!("number {number}"));
            put.header("ibm-mq-md-messageId").unwrap().to_owned()
        })
        .collect();
    assert_eq!(list("").len(), 10);
    let all = list("?limit=100");
    let listed: Vec<&str> = all.iter().map(|one| one["messageId"].as_str().unwrap()).collect();
    assert_eq!(listed, ids);
    assert_eq!(all[0], json!({ "format": "MQSTR", "messageId": ids[0] }));
    assert_eq!(list(&format!("?messageId={}", ids[5])).len(), 1);
    assert_eq!(door.get(&format!("{QUEUE}/messagelist?limit=0")).status, 400);
    assert_eq!(door.depth("Q1"), 12, "nothing was got");
}

#[test]
fn what_is_no_text_stays_where_it_is() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    door.put_by_call(MessageDescriptor::default(), b"\xff\xfe");
    for _ in 0..3 {
        let refused = door.take(&message);
        assert_eq!((refused.status, &*refused.error()), (501, "MQWB9006E"));
        assert_eq!(door.get(&message).status, 501);
    }
    assert_eq!(door.depth("Q1"), 1);
    let list = door.get(&format!("{QUEUE}/messagelist")).json();
    assert_eq!(list["messages"][0]["format"], "", "it is in the list");
    let bad = MessageDescriptor { format: format::STRING, ccsid: 1208, ..Default::default() };
    door.manager.clear("Q1").unwrap();
    door.put_by_call(bad, b"\xff\xfe");
    assert_eq!(door.take(&message).status, 501);
    door.manager.clear("Q1").unwrap();
    let ebcdic = MessageDescriptor { format: format::STRING, ccsid: 37, ..Default::default() };
    door.put_by_call(ebcdic, &[0xC8, 0x85, 0x93, 0x93, 0x96]);
    assert_eq!(door.take(&message).body, "Hello");
}

#[test]
fn what_a_queue_does_not_allow_is_answered_with_its_reason() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let refused = |reply: crate::common::Reply| (reply.status, reply.error(), reply.reason());
    let nowhere = "/ibmmq/rest/v1/messaging/qmgr/QM1/queue/NONE/message";
    assert_eq!(refused(door.put(nowhere, &[], "")), (404, "MQWB0303E".into(), 2085));
    assert_eq!(refused(door.take(nowhere)), (404, "MQWB0303E".into(), 2085));
    let other = "/ibmmq/rest/v1/messaging/qmgr/QM9/queue/Q1/message";
    assert_eq!(refused(door.put(other, &[], "")), (404, "MQWB0009E".into(), 2058));
    door.alter("Q1", "PUT", "DISABLED");
    assert_eq!(refused(door.put(&message, &[], "")), (405, "MQWB0303E".into(), 2051));
    door.alter("Q1", "PUT", "ENABLED");
    door.alter("Q1", "MAXMSGL", "3");
    assert_eq!(refused(door.put(&message, &[], "four")), (413, "MQWB0303E".into(), 2030));
    door.alter("Q1", "MAXDEPTH", "1");
    assert_eq!(door.put(&message, &[], "one").status, 201);
    assert_eq!(refused(door.put(&message, &[], "two")), (500, "MQWB0303E".into(), 2053));
    door.alter("Q1", "GET", "DISABLED");
    assert_eq!(refused(door.take(&message)), (405, "MQWB0303E".into(), 2016));
    assert_eq!(refused(door.get(&message)), (405, "MQWB0303E".into(), 2016));
    let list = door.get(&format!("{QUEUE}/messagelist"));
    assert_eq!((list.status, list.json()), (200, json!({ "messages": [] })));
    door.manager.stop();
    assert_eq!(refused(door.get(&message)), (503, "MQWB0300E".into(), 2162));
}

#[test]
fn headers_that_are_wrong_put_nothing() {
    let door = opened();
    for (name, value) in [
        ("ibm-mq-md-expiry", "-1"),
        ("ibm-mq-md-expiry", "soon"),
        ("ibm-mq-md-persistence", "Persistent"),
        ("ibm-mq-md-replyTo", "no name"),
        ("ibm-mq-md-priority", "10"),
        ("ibm-mq-usr", "a;b;c"),
        ("ibm-mq-md-correlationId", "ID:41"),
        ("ibm-mq-md-correlationId", ""),
    ] {
        let refused = door.put(&format!("{V3}/message"), &[(name, value)], "text");
        assert_eq!((refused.status, &*refused.error()), (400, "MQWB0302E"), "{name}: {value}");
    }
    for kind in ["", "application/octet-stream", "text/plain;charset=iso-8859-1"] {
        let headers = [CSRF, ("Content-Type", kind)];
        let refused = door.ask("POST", &format!("{V3}/message"), &headers, b"text");
        assert_eq!(refused.status, 415, "{kind}");
    }
    let bytes = door.ask("POST", &format!("{V3}/message"), &[CSRF, TEXT], b"\xff");
    assert_eq!((bytes.status, &*bytes.error()), (400, "MQWB0301E"));
    let charset = [CSRF, ("Accept-Charset", "iso-8859-1")];
    assert_eq!(door.ask("DELETE", &format!("{V3}/message"), &charset, b"").error(), "MQWB0305E");
    assert_eq!(door.depth("Q1"), 0);
    let no_text = [("ibm-mq-md-correlationId", "xyz")];
    assert_eq!(door.put(&format!("{QUEUE}/message"), &no_text, "text").error(), "MQWB0302E");
    assert_eq!(door.depth("Q1"), 0);
    // Headers of a later version are not looked at by an earlier one.
    let later = [("ibm-mq-md-priority", "many"), ("ibm-mq-usr", "?")];
    assert_eq!(door.put(&format!("{QUEUE}/message"), &later, "text").status, 201);
}

#[test]
fn a_publication_reaches_its_subscribers() {
    let door = opened();
    let of = [("TOPICSTR", "fruit/#".into()), ("DEST", "Q1".into())];
    door.manager.define(Kind::Subscription, "S1", &of, false, None).unwrap();
    for topic in ["fruit/apple", "fruit%2Fpear"] {
        let path = format!("/ibmmq/rest/v2/messaging/qmgr/QM1/topic/{topic}/message");
        let sent = door.put(&path, &[("ibm-mq-md-persistence", "persistent")], topic);
        assert_eq!((sent.status, &*sent.body), (201, ""));
    }
    let message = format!("{QUEUE}/message");
    let first = door.take(&message);
    assert_eq!(first.body, "fruit/apple");
    assert_eq!(first.header("ibm-mq-md-persistence"), Some("persistent"));
    assert_eq!(door.take(&message).body, "fruit%2Fpear");
    let unheard = "/ibmmq/rest/v3/messaging/qmgr/QM1/topic/vegetables/message";
    assert_eq!(door.put(unheard, &[], "nobody hears it").status, 201);
    assert_eq!(door.get(unheard).status, 405);
}

#[test]
fn a_body_that_is_too_long_is_refused_and_the_others_are_served() {
    let manager = manager_on(&ModelStore::new());
    let door = opened_with(manager, None, |options| {
        options.message_bytes_max = 100_000;
        options.bodies_bytes_max = 150_000;
    });
    let message = format!("{QUEUE}/message");
    let long = "x".repeat(100_001);
    let refused = door.put(&message, &[], &long);
    assert_eq!((refused.status, &*refused.error()), (413, "MQWB9004E"));
    let chunked = format!(
        "POST {message} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \
         text/plain\r\nibm-mq-rest-csrf-token:\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let whole = format!("{chunked}186A1\r\n{long}\r\n0\r\n\r\n");
    let answer = crate::common::read_reply(&door.raw(whole.as_bytes()));
    assert_eq!((answer.status, &*answer.error()), (413, "MQWB9004E"));
    let fits = format!("{chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_eq!(crate::common::read_reply(&door.raw(fits.as_bytes())).status, 201);
    assert_eq!(door.take(&message).body, "abcde");
    for _ in 0..3 {
        assert_eq!(door.put(&message, &[], &long[..100_000]).status, 201);
        assert_eq!(door.take(&message).body.len(), 100_000, "shares come back");
    }
}

#[test]
fn a_message_for_which_there_is_no_room_stays_where_it_is() {
    let manager = manager_on(&ModelStore::new());
    let door = opened_with(manager, None, |options| options.bodies_bytes_max = 64 << 10);
    let text = |format| MessageDescriptor { format, ..MessageDescriptor::default() };
    door.put_by_call(text(format::STRING), &vec![b'x'; 200 << 10]);
    let message = format!("{QUEUE}/message");
    for _ in 0..3 {
        assert_eq!(door.take(&message).status, 503);
        assert_eq!(door.get(&message).status, 503);
    }
    // It is not locked, and nothing of it is taken from the room.
    assert_eq!(door.depth("Q1"), 1);
    door.put(&message, &[], "short");
    assert_eq!(door.depth("Q1"), 2);
}
