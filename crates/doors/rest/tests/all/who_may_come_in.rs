//! Users, tokens, administrators; browsers that were led here; other machines.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::common::{CSRF, JSON, QUEUE, TEXT, opened};

const LOGIN: &str = "/ibmmq/rest/v1/login";

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

#[test]
fn nobody_is_let_in_once_there_are_users() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    assert_eq!(door.get(&message).status, 204, "without users this machine is enough");
    assert_eq!(door.get(LOGIN).json()["user"][0]["name"], "nobody");
    door.people.put("ANNA", "secret");
    let refused = door.get(&message);
    assert_eq!((refused.status, &*refused.error()), (401, "MQWB0104E"));
    assert!(refused.header("www-authenticate").unwrap().starts_with("Basic"));
    let with = |user: &str, password: &str| {
        door.ask("GET", &message, &[("Authorization", &basic(user, password))], b"")
    };
    assert_eq!(with("ANNA", "secret").status, 204);
    assert_eq!(with("anna", "secret").status, 204);
    for (user, password) in [("ANNA", "Secret"), ("OTTO", "secret"), ("", ""), ("ANNA", "")] {
        let refused = with(user, password);
        assert_eq!((refused.status, &*refused.error()), (401, "MQWB0104E"), "{user}");
    }
    // Remembered, and forgotten as soon as the password is another.
    door.people.put("ANNA", "other");
    assert_eq!(with("ANNA", "secret").status, 401);
    assert_eq!(with("ANNA", "other").status, 204);
}

#[test]
fn a_login_gives_a_token_and_a_logout_ends_it() {
    let door = opened();
    door.people.put("ANNA", "secret");
    let login =
        |body: &serde_json::Value| door.ask("POST", LOGIN, &[JSON], body.to_string().as_bytes());
    let refused = login(&json!({ "username": "ANNA", "password": "wrong" }));
    assert_eq!((refused.status, &*refused.error()), (401, "MQWB0104E"));
    assert_eq!(login(&json!({ "username": "ANNA" })).status, 400);
    let done = login(&json!({ "username": "ANNA", "password": "secret" }));
    assert_eq!((done.status, &*done.body), (204, ""));
    let cookie = done.header("set-cookie").unwrap();
    assert!(cookie.starts_with("LtpaToken2=") && cookie.contains("; HttpOnly"), "{cookie}");
    assert!(!cookie.contains("; Secure"), "it came without TLS: {cookie}");
    let pair = cookie.split(';').next().unwrap().to_owned();
    let who = |pair: &str| door.ask("GET", LOGIN, &[("Cookie", pair)], b"");
    assert_eq!(who(&pair).json(), json!({ "user": [{ "name": "ANNA", "role": ["MQWebUser"] }] }));
    let forged = format!("{}x", &pair[..pair.len() - 1]);
    assert_eq!((who(&forged).status, &*who(&forged).error()), (401, "MQWB0112E"));
    let out = door.ask("DELETE", LOGIN, &[("Cookie", &pair), CSRF], b"");
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(who(&pair).error(), "MQWB0112E");
    let again = login(&json!({ "username": "ANNA", "password": "secret" }));
    let pair = again.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    door.people.0.lock().clear();
    door.people.put("OTTO", "x");
    assert_eq!(who(&pair).error(), "MQWB0112E", "users who are gone have no tokens");
}

#[test]
fn what_changes_something_needs_the_header_that_no_page_can_send() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let refused = door.ask("POST", &message, &[TEXT], b"text");
    assert_eq!((refused.status, &*refused.error()), (403, "MQWB0100E"));
    assert_eq!(door.ask("DELETE", &message, &[], b"").error(), "MQWB0100E");
    let command = "/ibmmq/rest/v3/admin/action/qmgr/QM1/mqsc";
    assert_eq!(door.ask("POST", command, &[JSON], b"{}").error(), "MQWB0100E");
    assert_eq!(door.depth("Q1"), 0);
    for value in ["", "anything"] {
        let headers = [("IBM-MQ-REST-CSRF-TOKEN", value), TEXT];
        assert_eq!(door.ask("POST", &message, &headers, b"text").status, 201);
    }
}

#[test]
fn a_browser_that_was_led_here_by_another_name_is_nobody() {
    let door = opened();
    let message = format!("{QUEUE}/message");
    let of = |host: &str| door.ask("GET", &message, &[("Host", host)], b"");
    assert_eq!((of("evil.example").status, &*of("evil.example").error()), (403, "MQWB9009E"));
    assert_eq!(of("127.0.0.1:8080").status, 204);
    assert_eq!(of("[::1]").status, 204);
    door.people.put("ANNA", "secret");
    let own = [("Host", "mq.example"), ("Authorization", &*basic("ANNA", "secret"))];
    assert_eq!(door.ask("GET", &message, &own, b"").status, 204, "users come by any name");
}

#[test]
fn commands_are_put_by_administrators_alone() {
    let door = opened();
    door.people.put("ANNA", "secret");
    door.people.put("ADMIN", "secret");
    let path = "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/SYSTEM.ADMIN.COMMAND.QUEUE/message";
    let of = |user: &str| {
        let who = basic(user, "secret");
        door.ask("POST", path, &[("Authorization", &who), CSRF, TEXT], b"a command")
    };
    assert_eq!(of("ANNA").reason(), 2035);
    assert_eq!(of("ADMIN").status, 201);
}

#[test]
fn administration_is_for_administrators() {
    let door = opened();
    door.people.put("ANNA", "secret");
    door.people.put("ADMIN", "secret");
    let path = "/ibmmq/rest/v1/admin/qmgr";
    let of = |user: &str| door.ask("GET", path, &[("Authorization", &basic(user, "secret"))], b"");
    assert_eq!((of("ANNA").status, &*of("ANNA").error()), (403, "MQWB0108E"));
    assert_eq!(of("ADMIN").status, 200);
    let roles = door.ask("GET", LOGIN, &[("Authorization", &basic("ADMIN", "secret"))], b"");
    assert_eq!(roles.json()["user"][0]["role"], json!(["MQWebAdmin", "MQWebUser"]));
    assert_eq!(door.get("/ibm/api/docs").status, 200, "the description is for everybody");
}
