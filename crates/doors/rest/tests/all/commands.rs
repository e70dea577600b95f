//! Commands over HTTP, as text and as JSON.

use serde_json::{Value, json};

use crate::common::opened;

const PATH: &str = "/ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc";

fn typed(command: &str) -> Value {
    json!({ "type": "runCommand", "parameters": { "command": command } })
}

#[test]
fn typed_commands_answer_in_lines() {
    let door = opened();
    let done = door.send("POST", PATH, &typed("DEFINE CHANNEL(NEW) CHLTYPE(SVRCONN)"));
    assert_eq!(
        done.json(),
        json!({
            "commandResponse": [{
                "completionCode": 0, "reasonCode": 0, "text": ["AMQ8014I: Channel created."],
            }],
            "overallCompletionCode": 0,
            "overallReasonCode": 0,
        })
    );
    let shown = door.send("POST", PATH, &typed("DIS QL(Q1) CURDEPTH")).json();
    let lines = shown["commandResponse"][0]["text"].as_array().unwrap();
    assert_eq!(lines[0], "AMQ8409I: Display Queue details.");
    assert_eq!(lines[1], "   QUEUE(Q1)                               TYPE(QLOCAL)");
    let failed = door.send("POST", PATH, &typed("DIS QL(NONE)"));
    assert_eq!(failed.status, 200, "the request was done");
    let failed = failed.json();
    assert_eq!(failed["commandResponse"][0]["reasonCode"], 2085);
    assert_eq!(failed["overallCompletionCode"], 2);
    assert_eq!(failed["overallReasonCode"], 3008);
    let wrong = door.send("POST", PATH, &typed("DISPLAY NOTHING")).json();
    assert_eq!(wrong["commandResponse"][0]["completionCode"], 2);
    let several = door.send("POST", PATH, &typed("DEF QL(A)\n* more\nDEF +\n QL(B); PING QMGR"));
    assert_eq!(several.json()["commandResponse"].as_array().unwrap().len(), 3);
}

#[test]
fn commands_in_json_answer_with_attributes() {
    let door = opened();
    let run = |body: Value| door.send("POST", PATH, &body).json();
    let define = run(json!({
        "type": "runCommandJSON", "command": "define", "qualifier": "qlocal", "name": "Orders.in",
        "parameters": { "descr": "it's new", "maxdepth": 77, "share": "no", "trigger": "yes" },
    }));
    assert_eq!(define["commandResponse"][0]["message"][0], "AMQ8006I: Queue created.");
    let shown = run(json!({
        "type": "runCommandJSON", "command": "display", "qualifier": "qlocal", "name": "Orders.in",
        "responseParameters": ["all"],
    }));
    let found = &shown["commandResponse"][0]["parameters"];
    assert_eq!(found["queue"], "Orders.in", "names keep their letters");
    assert_eq!(found["type"], "QLOCAL");
    assert_eq!(found["descr"], "it's new");
    assert_eq!(found["maxdepth"], 77);
    assert_eq!(found["curdepth"], 0);
    assert_eq!((&found["share"], &found["trigger"]), (&json!("NO"), &json!("YES")));
    assert_eq!(found["hardenbo"], "YES");
    let some = run(json!({
        "type": "runCommandJSON", "command": "display", "qualifier": "queue", "name": "*",
        "parameters": { "where": "maxdepth eq 77" }, "responseParameters": ["maxdepth"],
    }));
    assert_eq!(some["commandResponse"].as_array().unwrap().len(), 1);
    let none = run(json!({
        "type": "runCommandJSON", "command": "display", "qualifier": "qlocal", "name": "NONE",
    }));
    assert_eq!(none["commandResponse"][0]["reasonCode"], 2085);
    assert!(none["commandResponse"][0]["message"][0].as_str().unwrap().starts_with("AMQ8147E"));
    let gone = run(json!({
        "type": "runCommandJSON", "command": "delete", "qualifier": "qlocal", "name": "Orders.in",
    }));
    assert_eq!(gone["overallReasonCode"], 0);
    let channel = run(json!({
        "type": "runCommandJSON", "command": "define", "qualifier": "channel", "name": "C1",
        "parameters": { "chltype": "svrconn" },
    }));
    assert_eq!(channel["overallReasonCode"], 0);
}

#[test]
fn displays_that_others_refuse_as_json_are_answered() {
    let door = opened();
    let of =
        |qualifier: &str, parameters: Value| {
            door.send("POST", PATH, &json!({
            "type": "runCommandJSON", "command": "display", "qualifier": qualifier, "name": "*",
            "parameters": parameters,
        }))
        };
    for kind in ["handle", "*", "all"] {
        let reply = of("conn", json!({ "type": kind }));
        assert_eq!(reply.status, 200, "{kind}");
        assert_eq!(reply.json()["overallCompletionCode"].as_i64().map(|code| code < 3), Some(true));
    }
}

#[test]
fn bodies_that_are_no_commands_do_nothing() {
    let door = opened();
    for bad in ["", "{", "[]", "null", "{\"type\":\"runCommand\"}", "{\"type\":1}", "{}x"] {
        let headers = [crate::common::CSRF, crate::common::JSON];
        let refused = door.ask("POST", PATH, &headers, bad.as_bytes());
        assert_eq!((refused.status, &*refused.error()), (400, "MQWB9003E"), "{bad}");
    }
    let headers = [crate::common::CSRF, crate::common::TEXT];
    assert_eq!(door.ask("POST", PATH, &headers, b"{}").status, 415);
    let elsewhere = "/ibmmq/rest/v2/admin/action/qmgr/QM2/mqsc";
    assert_eq!(door.send("POST", elsewhere, &typed("PING QMGR")).error(), "MQWB0009E");
}
