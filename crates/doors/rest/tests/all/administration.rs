//! Installations, queue managers, queues, channels, subscriptions.

use queue_manager::objects::Kind;
use serde_json::json;

use crate::common::{CSRF, opened};

const QUEUES: &str = "/ibmmq/rest/v1/admin/qmgr/QM1/queue";

#[test]
fn what_is_there_is_shown() {
    let door = opened();
    for version in ["v1", "v2", "v3"] {
        let base = format!("/ibmmq/rest/{version}/admin");
        let installed = door.get(&format!("{base}/installation")).json();
        assert_eq!(installed["installation"][0]["platform"], "unix");
        let all = door.get(&format!("{base}/installation/Holdfast?attributes=*")).json();
        assert!(all["installation"][0]["extended"]["level"].is_string());
        assert_eq!(door.get(&format!("{base}/installation/Other")).status, 404);
        let managers = door.get(&format!("{base}/qmgr")).json();
        assert_eq!(managers, json!({ "qmgr": [{ "name": "QM1", "state": "running" }] }));
        let one = door.get(&format!("{base}/qmgr/QM1?attributes=*&status=*")).json();
        assert_eq!(one["qmgr"][0]["extended"]["isDefaultQmgr"], true);
        assert_eq!(one["qmgr"][0]["status"]["publishSubscribeState"], "running");
        let ended = door.get(&format!("{base}/qmgr?state=ended")).json();
        assert_eq!(ended, json!({ "qmgr": [] }));
        assert_eq!(door.get(&format!("{base}/qmgr/QM2")).error(), "MQWB0009E");
    }
    let later = "/ibmmq/rest/v2/admin/qmgr/QM1/queue";
    assert_eq!(door.get(later).status, 404, "queues are resources of version 1 alone");
}

#[test]
fn a_queue_is_defined_changed_shown_and_deleted() {
    let door = opened();
    let body = json!({
        "name": "APP.IN",
        "general": { "description": "what comes in", "inhibitGet": true },
        "storage": { "maximumDepth": 10, "messageDeliverySequence": "fifo" },
        "events": { "serviceInterval": { "highEnabled": true, "okEnabled": false } },
        "trigger": { "enabled": true, "type": "every" },
        "applicationDefaults": { "messagePersistence": "persistent", "sharedInput": false },
    });
    let made = door.send("POST", QUEUES, &body);
    assert_eq!(made.status, 201);
    assert_eq!(made.header("location"), Some("/ibmmq/rest/v1/admin/qmgr/QM1/queue/APP.IN"));
    let one = format!("{QUEUES}/APP.IN");
    assert_eq!(door.get(&one).json(), json!({ "queue": [{ "name": "APP.IN", "type": "local" }] }));
    let all = door.get(&format!("{one}?attributes=*&status=*")).json();
    let all = &all["queue"][0];
    for (group, wanted) in body.as_object().unwrap() {
        let Some(wanted) = wanted.as_object() else { continue };
        for (name, value) in wanted {
            match value.as_object() {
                None => assert_eq!(&all[group][name], value, "{group}.{name}"),
                Some(inner) => {
                    for (deeper, value) in inner {
                        assert_eq!(&all[group][name][deeper], value, "{group}.{name}.{deeper}");
                    }
                }
            }
        }
    }
    assert_eq!(all["status"]["currentDepth"], 0);
    assert!(all["timestamps"]["created"].as_str().unwrap().ends_with("Z"));
    let change = json!({ "general": { "inhibitGet": false }, "trigger": { "data": "x" } });
    assert_eq!(door.send("PATCH", &one, &change).status, 204);
    let some = door.get(&format!("{one}?attributes=general.inhibitGet,trigger")).json();
    assert_eq!(some["queue"][0]["general"], json!({ "inhibitGet": false }));
    assert_eq!(some["queue"][0]["trigger"]["data"], "x");
    assert_eq!(some["queue"][0]["trigger"]["type"], "every", "what is not said stays");
    let path = "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/APP.IN/message";
    assert_eq!(door.put(path, &[], "text").status, 201);
    let full = door.ask("DELETE", &one, &[CSRF], b"");
    assert_eq!((full.status, full.reason()), (400, 2055));
    assert_eq!(door.ask("DELETE", &format!("{one}?purge"), &[CSRF], b"").status, 204);
    let gone = door.get(&one);
    assert_eq!((gone.status, &*gone.error()), (404, "MQWB0037E"));
}

#[test]
fn definitions_that_are_wrong_change_nothing() {
    let door = opened();
    for bad in [
        json!([]),
        json!({}),
        json!({ "name": 1 }),
        json!({ "name": "A", "type": "other" }),
        json!({ "name": "A", "general": { "colour": "red" } }),
        json!({ "name": "A", "colour": {} }),
        json!({ "name": "A", "general": "x" }),
        json!({ "name": "A", "storage": { "maximumDepth": "many" } }),
        json!({ "name": "A", "storage": { "maximumDepth": 1.5 } }),
        json!({ "name": "A", "timestamps": { "created": "now" } }),
        json!({ "name": "A", "trigger": { "type": "often" } }),
    ] {
        let refused = door.send("POST", QUEUES, &bad);
        assert_eq!((refused.status, &*refused.error()), (400, "MQWB9003E"), "{bad}");
    }
    let name = door.send("POST", QUEUES, &json!({ "name": "no name" }));
    assert_eq!((name.status, name.reason()), (400, 4008));
    let range = json!({ "name": "A", "storage": { "maximumDepth": -1 } });
    assert_eq!(door.send("POST", QUEUES, &range).reason(), 4005);
    let there = door.send("POST", &format!("{QUEUES}?noReplace"), &json!({ "name": "Q1" }));
    assert_eq!((there.status, there.reason()), (400, 4001));
    assert!(door.manager.object(Kind::QueueLocal, "A").is_none());
    let other = json!({ "name": "Q2" });
    assert_eq!(door.send("PATCH", &format!("{QUEUES}/Q1"), &other).status, 400);
    assert_eq!(door.send("PATCH", &format!("{QUEUES}/NONE"), &json!({})).status, 404);
    assert_eq!(door.send("POST", &format!("{QUEUES}?like=NONE"), &other).status, 404);
}

#[test]
fn queues_are_listed_by_name_type_and_what_holds_of_them() {
    let door = opened();
    let alias = json!({ "name": "ALIAS", "type": "alias", "alias": { "targetName": "Q1" } });
    assert_eq!(door.send("POST", QUEUES, &alias).status, 201);
    let remote = json!({
        "name": "FAR", "type": "remote",
        "remote": { "queueName": "Q", "qmgrName": "QM2", "transmissionQueueName": "QM2" },
    });
    assert_eq!(door.send("POST", QUEUES, &remote).status, 201);
    assert_eq!(
        door.put("/ibmmq/rest/v1/messaging/qmgr/QM1/queue/ALIAS/message", &[], "x").status,
        201
    );
    let names = |more: &str| -> Vec<String> {
        let list = door.get(&format!("{QUEUES}{more}")).json();
        let all = list["queue"].as_array().unwrap().clone();
        all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("").contains(&"SYSTEM.DEFAULT.LOCAL.QUEUE".to_owned()));
    assert_eq!(names("?type=alias&name=A*"), ["ALIAS"]);
    assert_eq!(names("?type=remote&name=F*"), ["FAR"]);
    // Its own start is told on a queue, too.
    let held = names("?filter=status.currentDepth:greaterThan:0");
    assert_eq!(held, ["Q1", "SYSTEM.ADMIN.QMGR.EVENT"]);
    assert_eq!(names("?filter=alias.targetName:equalTo:Q1"), ["ALIAS"]);
    assert!(names("?type=cluster").is_empty());
    let far = door.get(&format!("{QUEUES}/FAR")).json();
    assert_eq!(far["queue"][0]["remote"]["qmgrName"], "QM2");
    for bad in ["?type=odd", "?attributes=odd", "?filter=odd", "?odd=1", "?status=odd"] {
        assert_eq!(door.get(&format!("{QUEUES}{bad}")).status, 400, "{bad}");
    }
    let handles = door.get(&format!("{QUEUES}/Q1?applicationHandle=*")).json();
    assert_eq!(handles["queue"][0]["applicationHandle"], json!([]));
}

#[test]
fn channels_and_subscriptions_are_shown() {
    let door = opened();
    let sender = [
        ("CHLTYPE", "SDR".into()),
        ("CONNAME", "far(1414),farther(1415)".into()),
        ("XMITQ", "QM2".into()),
    ];
    door.manager.define(Kind::Channel, "TO.QM2", &sender, false, None).unwrap();
    let channels = "/ibmmq/rest/v1/admin/qmgr/QM1/channel";
    let one = door.get(&format!("{channels}/TO.QM2")).json();
    assert_eq!(
        one["channel"][0],
        json!({
            "name": "TO.QM2",
            "type": "sender",
            "sender": {
                "connection": [
                    { "host": "far", "port": 1414 }, { "host": "farther", "port": 1415 },
                ],
                "transmissionQueueName": "QM2",
            },
        })
    );
    let all = door.get(&format!("{channels}?type=sender&attributes=*")).json();
    assert!(all["channel"].as_array().unwrap().iter().all(|one| one["general"].is_object()));
    assert_eq!(door.get(&format!("{channels}?type=odd")).status, 400);
    assert_eq!(door.get(&format!("{channels}/NONE")).status, 404);
    let of = [("TOPICSTR", "fruit/#".into()), ("DEST", "Q1".into())];
    door.manager.define(Kind::Subscription, "S 1", &of, false, None).unwrap();
    let subscriptions = "/ibmmq/rest/v1/admin/qmgr/QM1/subscription";
    let one = door.get(&format!("{subscriptions}/S%201?attributes=*")).json();
    let one = &one["subscription"][0];
    assert_eq!((&one["name"], &one["resolvedTopicString"]), (&json!("S 1"), &json!("fruit/#")));
    assert_eq!(one["destination"]["name"], "Q1");
    assert_eq!(one["general"]["isDurable"], true);
    let id = one["id"].as_str().unwrap();
    let by_id = door.get(&format!("{subscriptions}?id={id}")).json();
    assert_eq!(by_id["subscription"].as_array().unwrap().len(), 1);
    assert_eq!(door.get(&format!("{subscriptions}/NONE")).status, 404);
}
