//! What a client is told when something was not done: a status, and an error object.
//!
//! | field | |
//! |---|---|
//! | `type` | `rest`: the door says so; `pcf`: the queue manager does |
//! | `msgId`, `messageId` | `MQWBnnnnE`, twice, because clients look for either |
//! | `message`, `explanation`, `action` | what happened, why, what to do |
//! | `completionCode`, `reasonCode` | of the queue manager; 0 where it was not asked |
//!
//! 1. Numbers that clients are known to compare are those that they know; what has no such number
//!    is numbered from 9000 on.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use queue_manager::{AdminError, Failed, Reason};
use serde_json::{Value, json};

/// Numbers of messages.
pub(crate) mod id {
    pub(crate) const INTERNAL: u16 = 3;
    pub(crate) const NO_MANAGER: u16 = 9;
    pub(crate) const NO_OBJECT: u16 = 37;
    pub(crate) const NO_CSRF: u16 = 100;
    pub(crate) const DAMAGED: u16 = 102;
    pub(crate) const NOT_AUTHORIZED: u16 = 103;
    pub(crate) const NOT_AUTHENTICATED: u16 = 104;
    pub(crate) const NO_ROLE: u16 = 108;
    pub(crate) const BAD_TOKEN: u16 = 112;
    pub(crate) const NOT_CONNECTED: u16 = 300;
    pub(crate) const NO_MESSAGE: u16 = 301;
    pub(crate) const BAD_HEADER: u16 = 302;
    pub(crate) const CALL_FAILED: u16 = 303;
    pub(crate) const BAD_CHARSET: u16 = 305;
    pub(crate) const BAD_MEDIA: u16 = 306;
    pub(crate) const NO_RESOURCE: u16 = 9000;
    pub(crate) const NO_METHOD: u16 = 9001;
    pub(crate) const BAD_PARAMETER: u16 = 9002;
    pub(crate) const BAD_BODY: u16 = 9003;
    pub(crate) const TOO_LONG: u16 = 9004;
    pub(crate) const BUSY: u16 = 9005;
    pub(crate) const NO_TEXT: u16 = 9006;
    pub(crate) const TOO_SLOW: u16 = 9007;
    pub(crate) const REFUSED: u16 = 9008;
    pub(crate) const FOREIGN_HOST: u16 = 9009;
}

/// The completion code of what was not done.
const FAILED: i32 = 2;

/// Why a request was not done.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    number: u16,
    by_manager: bool,
    message: String,
    explanation: String,
    action: String,
    reason: i32,
    /// The methods that the resource has.
    allow: Option<String>,
    /// How to prove who one is.
    challenge: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, number: u16, message: impl Into<String>) -> Problem {
        Problem {
            status,
            number,
            by_manager: false,
            message: message.into(),
            explanation: String::new(),
            action: String::new(),
            reason: 0,
            allow: None,
            challenge: false,
        }
    }

    pub(crate) fn because(mut self, explanation: impl Into<String>) -> Problem {
        self.explanation = explanation.into();
        self
    }

    pub(crate) fn action(mut self, action: impl Into<String>) -> Problem {
        self.action = action.into();
        self
    }

    fn of_manager(mut self, reason: i32) -> Problem {
        self.by_manager = true;
        self.reason = reason;
        self
    }

    pub(crate) fn allow(mut self, methods: String) -> Problem {
        self.allow = Some(methods);
        self
    }

    pub(crate) fn parameter(name: &str, why: impl Into<String>) -> Problem {
        let message = format!("The parameter {name} of the request is not valid.");
        Problem::new(StatusCode::BAD_REQUEST, id::BAD_PARAMETER, message)
            .because(why)
            .action("Send the request again with a value that the parameter takes.")
    }

    pub(crate) fn body(why: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, id::BAD_BODY, "The body of the request is not valid.")
            .because(why)
            .action("Correct the body and send the request again. Nothing was done.")
    }

    pub(crate) fn header(name: &str, value: &str, why: &str) -> Problem {
        let shown: String = value.chars().take(100).collect();
        let message = format!("The request header {name} cannot be \"{}\".", harmless(&shown));
        Problem::new(StatusCode::BAD_REQUEST, id::BAD_HEADER, message)
            .because(why)
            .action("Send the request again with a value that the header takes.")
    }

    pub(crate) fn unauthenticated(number: u16, message: &str) -> Problem {
        let mut problem = Problem::new(StatusCode::UNAUTHORIZED, number, message)
            .because("Users of the system, and nobody else, may make this request.")
            .action("Send a user and a password, or the token of a login.");
        problem.challenge = true;
        problem
    }

    pub(crate) fn busy(message: &str) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, id::BUSY, message)
            .because("The door takes so much at a time, and no more.")
            .action("Send the request again later.")
    }

    pub(crate) fn stopping() -> Problem {
        Problem::call(Failed(Reason::Q_MGR_STOPPING), "the queue manager")
    }

    /// A queue manager that this door does not have.
    pub(crate) fn no_manager(name: &str) -> Problem {
        let message = format!("Could not query the queue manager '{}'.", harmless(name));
        let mut problem = Problem::new(StatusCode::NOT_FOUND, id::NO_MANAGER, message)
            .because("There is no queue manager of that name here.")
            .action("Send the request again with the name of a queue manager that is here.");
        problem.reason = Reason::Q_MGR_NAME_ERROR.0;
        problem
    }

    /// The queue manager could not be opened.
    pub(crate) fn no_connection(why: &str) -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            id::NOT_CONNECTED,
            "Cannot connect to the queue manager.",
        )
        .because(why)
        .action("Find out by `holdfast status` what the system lacks.")
        .of_manager(Reason::Q_MGR_NOT_AVAILABLE.0)
    }

    /// Something that is not defined.
    pub(crate) fn no_object(what: &str, name: &str) -> Problem {
        let message = format!("Could not find the {what} '{}'.", harmless(name));
        Problem::new(StatusCode::NOT_FOUND, id::NO_OBJECT, message)
            .because("The queue manager has no such object; names are case-sensitive.")
            .action("Correct the name, or define the object first.")
            .of_manager(3_312)
    }

    /// A call that failed.
    pub(crate) fn call(failed: Failed, what: &str) -> Problem {
        let reason = failed.0;
        let (status, number) = of_reason(reason);
        let word = reason.name().unwrap_or("UNKNOWN");
        let message =
            format!("{}: the queue manager answered {} ({word}).", harmless(what), { reason.0 });
        Problem::new(status, number, message)
            .because("The call that the request stands for was not done.")
            .action("Repair what the reason code names, then send the request again.")
            .of_manager(reason.0)
    }

    /// A definition that was refused.
    pub(crate) fn admin(error: &AdminError, kind: &str, name: &str) -> Problem {
        use base_codes as code;
        let (status, number, reason) = match error {
            AdminError::NotFound { .. } => return Problem::no_object(kind, name),
            AdminError::Call { reason, .. } => {
                let (status, number) = of_reason(*reason);
                (status, number, reason.0)
            }
            AdminError::Damaged { .. } => {
                (StatusCode::INTERNAL_SERVER_ERROR, id::DAMAGED, Reason::OBJECT_DAMAGED.0)
            }
            AdminError::Store(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, id::INTERNAL, Reason::UNEXPECTED_ERROR.0)
            }
            error => (StatusCode::BAD_REQUEST, id::REFUSED, code(error)),
        };
        let text = error.to_string();
        Problem::new(status, number, format!("{}.", harmless(text.trim_end_matches('.'))))
            .because("The queue manager refused the definition; nothing was changed.")
            .action(remedy(error))
            .of_manager(reason)
    }

    /// Whether it says that gets are inhibited.
    pub(crate) fn is_inhibited(&self) -> bool {
        self.by_manager && self.reason == Reason::GET_INHIBITED.0
    }

    fn object(&self) -> Value {
        let id = format!("MQWB{:04}E", self.number);
        let kind = if self.by_manager { "pcf" } else { "rest" };
        json!({
            "type": kind,
            "msgId": id,
            "messageId": id,
            "message": format!("{id}: {}", self.message),
            "explanation": self.explanation,
            "action": self.action,
            "completionCode": if self.reason == 0 { 0 } else { FAILED },
            "reasonCode": self.reason,
        })
    }
}

/// The reason codes of refused definitions.
fn base_codes(error: &AdminError) -> i32 {
    match error {
        AdminError::Exists { .. } => 4_001,
        AdminError::BadName { .. } => 4_008,
        AdminError::InUse { .. } | AdminError::Uncommitted { .. } => 4_004,
        AdminError::NotEmpty { .. } => Reason::Q_NOT_EMPTY.0,
        _ => 4_005,
    }
}

fn remedy(error: &AdminError) -> String {
    use base::Coded as _;
    format!("{} ({})", error.remedy(), error.code().0)
}

/// The status of a call that ended with this reason, and the number of its message.
fn of_reason(reason: Reason) -> (StatusCode, u16) {
    let status = match reason {
        Reason::UNKNOWN_OBJECT_NAME
        | Reason::UNKNOWN_OBJECT_Q_MGR
        | Reason::UNKNOWN_REMOTE_Q_MGR
        | Reason::UNKNOWN_ALIAS_BASE_Q
        | Reason::Q_DELETED => StatusCode::NOT_FOUND,
        Reason::NOT_AUTHORIZED => return (StatusCode::FORBIDDEN, id::NOT_AUTHORIZED),
        Reason::PUT_INHIBITED | Reason::GET_INHIBITED => StatusCode::METHOD_NOT_ALLOWED,
        Reason::MSG_TOO_BIG_FOR_Q | Reason::MSG_TOO_BIG_FOR_Q_MGR => StatusCode::PAYLOAD_TOO_LARGE,
        Reason::Q_MGR_NOT_AVAILABLE
        | Reason::Q_MGR_QUIESCING
        | Reason::Q_MGR_STOPPING
        | Reason::CONNECTION_BROKEN
        | Reason::MAX_CONNS_LIMIT_REACHED => {
            return (StatusCode::SERVICE_UNAVAILABLE, id::NOT_CONNECTED);
        }
        Reason::TOPIC_STRING_ERROR
        | Reason::OBJECT_TYPE_ERROR
        | Reason::Q_TYPE_ERROR
        | Reason::OPTION_NOT_VALID_FOR_TYPE
        | Reason::PERSISTENT_NOT_ALLOWED
        | Reason::MISSING_REPLY_TO_Q => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, id::CALL_FAILED)
}

/// A text without letters that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '.' } else { letter }).collect()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": [self.object()] });
        let mut response = json_response(self.status, &body);
        let headers = response.headers_mut();
        if let Some(Ok(methods)) = self.allow.as_deref().map(HeaderValue::from_str) {
            headers.insert(header::ALLOW, methods);
        }
        if self.challenge {
            let how = HeaderValue::from_static("Basic realm=\"Holdfast\", charset=\"UTF-8\"");
            headers.insert(header::WWW_AUTHENTICATE, how);
        }
        response
    }
}

/// An answer in JSON.
pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (status, kind, body.to_string()).into_response()
}
