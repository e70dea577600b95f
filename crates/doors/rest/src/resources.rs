//! The table of resources: what can be asked, by which method, with what, and what is answered.
//!
//! 1. Requests are led by this table alone, and the description of the interface is made from it:
//!    neither can have what the other has not.
//! 2. A parameter or header that is not in the table is not looked at; a parameter is refused.

use crate::request::{Version, decoded};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Describe,
    Login,
    WhoAmI,
    Logout,
    Installations,
    Managers,
    Queues,
    DefineQueue,
    AlterQueue,
    DeleteQueue,
    Channels,
    Subscriptions,
    Command,
    Put,
    Get,
    Browse,
    List,
    Publish,
}

/// Who may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Anybody.
    Anybody,
    /// Users.
    User,
    /// Administrators.
    Administrator,
}

/// What stands in the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    /// The text of a message.
    Text,
    /// JSON of this schema.
    Json(&'static str),
}

/// What a parameter or header holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Text,
    Number,
    Flag,
}

/// A parameter or a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    pub(crate) what: &'static str,
    /// The first version that has it.
    pub(crate) since: Version,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) what: &'static str,
    pub(crate) body: Body,
    pub(crate) headers: &'static [Parameter],
}

/// A resource and what can be done with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) call: Call,
    pub(crate) method: &'static str,
    /// Behind the version; empty versions: from the root. `{name}` is one part, `{name+}` are
    /// several.
    pub(crate) path: &'static str,
    pub(crate) versions: &'static [Version],
    pub(crate) role: Role,
    pub(crate) changes: bool,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) headers: &'static [Parameter],
    pub(crate) body: Body,
    pub(crate) answers: &'static [Answer],
}

/// Where every path with a version begins.
pub(crate) const BASE: &str = "/ibmmq/rest/";

const EVERY: &[Version] = &Version::ALL;
const FIRST: &[Version] = &[Version::V1];

const fn text(name: &'static str, what: &'static str) -> Parameter {
    Parameter { name, holds: Holds::Text, what, since: Version::V1 }
}

const fn number(name: &'static str, what: &'static str) -> Parameter {
    Parameter { name, holds: Holds::Number, what, since: Version::V1 }
}

const fn flag(name: &'static str, what: &'static str) -> Parameter {
    Parameter { name, holds: Holds::Flag, what, since: Version::V1 }
}

const fn later(name: &'static str, what: &'static str) -> Parameter {
    Parameter { name, holds: Holds::Text, what, since: Version::V3 }
}

const fn json(status: u16, what: &'static str, schema: &'static str) -> Answer {
    Answer { status, what, body: Body::Json(schema), headers: &[] }
}

const fn nothing(status: u16, what: &'static str) -> Answer {
    Answer { status, what, body: Body::None, headers: &[] }
}

pub(crate) const CORRELATION: &str = "ibm-mq-md-correlationId";
pub(crate) const EXPIRY: &str = "ibm-mq-md-expiry";
pub(crate) const MESSAGE_ID: &str = "ibm-mq-md-messageId";
pub(crate) const PERSISTENCE: &str = "ibm-mq-md-persistence";
pub(crate) const PRIORITY: &str = "ibm-mq-md-priority";
pub(crate) const REPLY_TO: &str = "ibm-mq-md-replyTo";
pub(crate) const PROPERTIES: &str = "ibm-mq-usr";

const OF_CORRELATION: Parameter =
    text(CORRELATION, "48 hexadecimal digits; in version 3 ID: and these, or any text");
const OF_EXPIRY: Parameter = text(EXPIRY, "milliseconds, or unlimited");
const OF_PERSISTENCE: Parameter = text(PERSISTENCE, "persistent or nonPersistent");
const OF_REPLY_TO: Parameter = text(REPLY_TO, "a queue, and perhaps @ and its queue manager");
const OF_PRIORITY: Parameter = later(PRIORITY, "0 to 9");
const OF_PROPERTIES: Parameter = later(PROPERTIES, "name;value;type, several with commas between");
const OF_MESSAGE_ID: Parameter = text(MESSAGE_ID, "48 hexadecimal digits; in version 3 behind ID:");

const PUT_HEADERS: &[Parameter] =
    &[OF_CORRELATION, OF_EXPIRY, OF_PERSISTENCE, OF_REPLY_TO, OF_PRIORITY, OF_PROPERTIES];
const PUBLISH_HEADERS: &[Parameter] =
    &[OF_CORRELATION, OF_EXPIRY, OF_PERSISTENCE, OF_REPLY_TO, OF_PRIORITY, OF_PROPERTIES];
const GOT_HEADERS: &[Parameter] = &[
    OF_MESSAGE_ID,
    OF_CORRELATION,
    OF_EXPIRY,
    OF_PERSISTENCE,
    OF_REPLY_TO,
    OF_PRIORITY,
    OF_PROPERTIES,
];
const CHARSET: Parameter = text("Accept-Charset", "utf-8, which is what comes in any case");
const WHICH: &[Parameter] = &[
    text("messageId", "the message with this identifier"),
    text("correlationId", "the first message with this correlation identifier"),
];
const WHICH_OR_WAIT: &[Parameter] =
    &[WHICH[0], WHICH[1], number("wait", "milliseconds to wait for a message")];
const WHICH_AND_LIMIT: &[Parameter] =
    &[WHICH[0], WHICH[1], number("limit", "messages to list at most; 10 if it is not given")];
const MESSAGE: &str = "/messaging/qmgr/{qmgrName}/queue/{queueName}/message";
const GOT: &[Answer] = &[
    Answer { status: 200, what: "the message", body: Body::Text, headers: GOT_HEADERS },
    nothing(204, "there is no such message"),
    json(501, "the message is no text; it stays on the queue", "Errors"),
];

const SELECT: Parameter = text("attributes", "* or a list of groups and attributes to be shown");
const STATUS: Parameter = text("status", "* or a list of what is to be told of the status");
const NAME: Parameter = text("name", "names that begin so, with * at the end, or are so");
const TYPE: Parameter = text("type", "of this type alone");
const FILTER: Parameter = text("filter", "attribute:operator:value that has to hold");
const QUEUE_PARAMETERS: &[Parameter] = &[
    NAME,
    TYPE,
    SELECT,
    STATUS,
    FILTER,
    text("applicationHandle", "* to be told who has the queue open"),
];

const INSTALLATIONS: Resource = Resource {
    call: Call::Installations,
    method: "GET",
    path: "/admin/installation",
    versions: EVERY,
    role: Role::Administrator,
    changes: false,
    summary: "What is installed",
    parameters: &[SELECT],
    headers: &[],
    body: Body::None,
    answers: &[json(200, "the installation", "Installations")],
};

const MANAGERS: Resource = Resource {
    call: Call::Managers,
    method: "GET",
    path: "/admin/qmgr",
    versions: EVERY,
    role: Role::Administrator,
    changes: false,
    summary: "Queue managers",
    parameters: &[SELECT, STATUS, text("state", "in this state alone")],
    headers: &[],
    body: Body::None,
    answers: &[json(200, "the queue managers", "Managers")],
};

const QUEUES: Resource = Resource {
    call: Call::Queues,
    method: "GET",
    path: "/admin/qmgr/{qmgrName}/queue",
    versions: FIRST,
    role: Role::Administrator,
    changes: false,
    summary: "Queues",
    parameters: QUEUE_PARAMETERS,
    headers: &[],
    body: Body::None,
    answers: &[json(200, "the queues", "Queues")],
};

const CHANNELS: Resource = Resource {
    call: Call::Channels,
    method: "GET",
    path: "/admin/qmgr/{qmgrName}/channel",
    versions: FIRST,
    role: Role::Administrator,
    changes: false,
    summary: "Channels",
    parameters: &[NAME, TYPE, SELECT, FILTER],
    headers: &[],
    body: Body::None,
    answers: &[json(200, "the channels", "Channels")],
};

const SUBSCRIPTIONS: Resource = Resource {
    call: Call::Subscriptions,
    method: "GET",
    path: "/admin/qmgr/{qmgrName}/subscription",
    versions: FIRST,
    role: Role::Administrator,
    changes: false,
    summary: "Subscriptions",
    parameters: &[NAME, text("id", "the subscription with this identifier"), SELECT, FILTER],
    headers: &[],
    body: Body::None,
    answers: &[json(200, "the subscriptions", "Subscriptions")],
};

/// Every resource.
pub(crate) const RESOURCES: &[Resource] = &[
    Resource {
        call: Call::Describe,
        method: "GET",
        path: "/ibm/api/docs",
        versions: &[],
        role: Role::Anybody,
        changes: false,
        summary: "This description",
        parameters: &[],
        headers: &[],
        body: Body::None,
        answers: &[json(200, "the description, as OpenAPI 3", "Description")],
    },
    Resource {
        call: Call::Login,
        method: "POST",
        path: "/login",
        versions: EVERY,
        role: Role::Anybody,
        changes: false,
        summary: "Begin a session: a token instead of a password",
        parameters: &[],
        headers: &[],
        body: Body::Json("Credentials"),
        answers: &[Answer {
            status: 204,
            what: "the token is in a cookie",
            body: Body::None,
            headers: &[text("Set-Cookie", "LtpaToken2")],
        }],
    },
    Resource {
        call: Call::WhoAmI,
        method: "GET",
        path: "/login",
        versions: EVERY,
        role: Role::User,
        changes: false,
        summary: "Who one is, and what one may",
        parameters: &[],
        headers: &[],
        body: Body::None,
        answers: &[json(200, "the user", "Users")],
    },
    Resource {
        call: Call::Logout,
        method: "DELETE",
        path: "/login",
        versions: EVERY,
        role: Role::User,
        changes: true,
        summary: "End a session",
        parameters: &[],
        headers: &[],
        body: Body::None,
        answers: &[nothing(204, "the token is none any more")],
    },
    Resource {
        call: Call::Put,
        method: "POST",
        path: MESSAGE,
        versions: EVERY,
        role: Role::User,
        changes: true,
        summary: "Put a message",
        parameters: &[],
        headers: PUT_HEADERS,
        body: Body::Text,
        answers: &[Answer {
            status: 201,
            what: "the message is on its queue, durably if it is persistent",
            body: Body::None,
            headers: &[OF_MESSAGE_ID],
        }],
    },
    Resource {
        call: Call::Get,
        method: "DELETE",
        path: MESSAGE,
        versions: EVERY,
        role: Role::User,
        changes: true,
        summary: "Get a message: it leaves its queue",
        parameters: WHICH_OR_WAIT,
        headers: &[CHARSET],
        body: Body::None,
        answers: GOT,
    },
    Resource {
        call: Call::Browse,
        method: "GET",
        path: MESSAGE,
        versions: EVERY,
        role: Role::User,
        changes: false,
        summary: "Look at a message: it stays on its queue",
        parameters: WHICH,
        headers: &[CHARSET],
        body: Body::None,
        answers: GOT,
    },
    Resource {
        call: Call::List,
        method: "GET",
        path: "/messaging/qmgr/{qmgrName}/queue/{queueName}/messagelist",
        versions: EVERY,
        role: Role::User,
        changes: false,
        summary: "List messages in the order in which they would be got",
        parameters: WHICH_AND_LIMIT,
        headers: &[],
        body: Body::None,
        answers: &[json(200, "the messages", "MessageList")],
    },
    Resource {
        call: Call::Publish,
        method: "POST",
        path: "/messaging/qmgr/{qmgrName}/topic/{topicString+}/message",
        versions: EVERY,
        role: Role::User,
        changes: true,
        summary: "Publish a message",
        parameters: &[],
        headers: PUBLISH_HEADERS,
        body: Body::Text,
        answers: &[nothing(201, "it is published")],
    },
    Resource {
        call: Call::Command,
        method: "POST",
        path: "/admin/action/qmgr/{qmgrName}/mqsc",
        versions: EVERY,
        role: Role::Administrator,
        changes: true,
        summary: "Carry out commands (MQSC)",
        parameters: &[],
        headers: &[],
        body: Body::Json("Command"),
        answers: &[json(200, "what they answered, done or not", "CommandResponse")],
    },
    INSTALLATIONS,
    Resource { path: "/admin/installation/{installationName}", ..INSTALLATIONS },
    MANAGERS,
    Resource { path: "/admin/qmgr/{qmgrName}", ..MANAGERS },
    QUEUES,
    Resource { path: "/admin/qmgr/{qmgrName}/queue/{queueName}", ..QUEUES },
    Resource {
        call: Call::DefineQueue,
        method: "POST",
        path: "/admin/qmgr/{qmgrName}/queue",
        versions: FIRST,
        role: Role::Administrator,
        changes: true,
        summary: "Define a queue",
        parameters: &[
            text("like", "a queue to take attributes from"),
            flag("noReplace", "refuse if there is a queue of that name"),
        ],
        headers: &[],
        body: Body::Json("Queue"),
        answers: &[Answer {
            status: 201,
            what: "it is defined",
            body: Body::None,
            headers: &[text("Location", "the queue")],
        }],
    },
    Resource {
        call: Call::AlterQueue,
        method: "PATCH",
        path: "/admin/qmgr/{qmgrName}/queue/{queueName}",
        versions: FIRST,
        role: Role::Administrator,
        changes: true,
        summary: "Change attributes of a queue",
        parameters: &[flag("force", "accepted: changes never wait for programs here")],
        headers: &[],
        body: Body::Json("Queue"),
        answers: &[nothing(204, "it is changed")],
    },
    Resource {
        call: Call::DeleteQueue,
        method: "DELETE",
        path: "/admin/qmgr/{qmgrName}/queue/{queueName}",
        versions: FIRST,
        role: Role::Administrator,
        changes: true,
        summary: "Delete a queue",
        parameters: &[
            flag("purge", "with its messages"),
            flag("keepAuthorityRecords", "accepted: records stay in any case"),
        ],
        headers: &[],
        body: Body::None,
        answers: &[nothing(204, "it is gone")],
    },
    CHANNELS,
    Resource { path: "/admin/qmgr/{qmgrName}/channel/{channelName}", ..CHANNELS },
    SUBSCRIPTIONS,
    Resource { path: "/admin/qmgr/{qmgrName}/subscription/{subscriptionName}", ..SUBSCRIPTIONS },
];

impl Resource {
    /// The path of a version.
    pub(crate) fn path_of(&self, version: Version) -> String {
        format!("{BASE}{}{}", version.word(), self.path)
    }

    /// The parameters that a version has.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.parameters.iter().map(|one| one.name)
    }
}

/// Names of a path.
pub(crate) type Names = Vec<(&'static str, String)>;

/// Where a request leads.
pub(crate) enum Lead {
    /// To a resource.
    To(&'static Resource, Version, Names),
    /// To one that has other methods.
    OtherMethod(String),
    /// A name in the path has an escape that is none.
    Broken,
    /// Nowhere.
    Nowhere,
}

/// Follows a path.
pub(crate) fn lead(method: &str, path: &str) -> Lead {
    let versioned = path.strip_prefix(BASE).and_then(|rest| rest.split_once('/'));
    let version =
        versioned.and_then(|(word, _)| Version::ALL.into_iter().find(|v| v.word() == word));
    let mut methods: Vec<&str> = Vec::new();
    for resource in RESOURCES {
        let rest = match (resource.versions.is_empty(), version, versioned) {
            (true, ..) => path.trim_start_matches('/'),
            (false, Some(version), Some((_, rest))) if resource.versions.contains(&version) => rest,
            _ => continue,
        };
        let Some(names) = matched(resource.path, rest) else { continue };
        if resource.method != method {
            methods.push(resource.method);
            continue;
        }
        let decoded: Option<Names> =
            names.into_iter().map(|(name, text)| Some((name, decoded(text)?))).collect();
        return match decoded {
            Some(names) => Lead::To(resource, version.unwrap_or(Version::V1), names),
            None => Lead::Broken,
        };
    }
    match methods.is_empty() {
        true => Lead::Nowhere,
        false => Lead::OtherMethod(methods.join(", ")),
    }
}

/// The names in a path that has this form.
fn matched<'p>(form: &'static str, path: &'p str) -> Option<Vec<(&'static str, &'p str)>> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let forms: Vec<&str> = form.trim_start_matches('/').split('/').collect();
    let parts: Vec<&str> = path.split('/').collect();
    let many = forms.iter().position(|form| form.ends_with("+}"));
    if parts.len() < forms.len() || (many.is_none() && parts.len() > forms.len()) {
        return None;
    }
    let more = parts.len() - forms.len();
    let (mut names, mut at, mut from) = (Vec::new(), 0, 0);
    for (place, form) in forms.into_iter().enumerate() {
        let count = if many == Some(place) { more + 1 } else { 1 };
        let end = from + parts[at..at + count].iter().map(|part| part.len()).sum::<usize>();
        let text = path.get(from..end + count - 1)?;
        match form.strip_prefix('{') {
            Some(name) if text.is_empty() || name.is_empty() => return None,
            Some(name) => names.push((name.trim_end_matches(['+', '}']), text)),
            None if form == text => {}
            None => return None,
        }
        at += count;
        from = end + count;
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(method: &str, path: &str) -> String {
        match lead(method, path) {
            Lead::To(resource, version, names) => {
                format!("{:?} {} {names:?}", resource.call, version.word())
            }
            Lead::OtherMethod(methods) => methods,
            Lead::Broken => "broken".into(),
            Lead::Nowhere => "nowhere".into(),
        }
    }

    #[test]
    fn paths_lead_by_the_table() {
        let message = "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/A%2FB/message";
        assert_eq!(
            led("POST", message),
            "Put v2 [(\"qmgrName\", \"QM1\"), (\"queueName\", \"A/B\")]"
        );
        assert_eq!(led("PUT", message), "POST, DELETE, GET");
        let topic = "/ibmmq/rest/v3/messaging/qmgr/QM1/topic/a/b%2Fc//d/message";
        assert_eq!(
            led("POST", topic),
            "Publish v3 [(\"qmgrName\", \"QM1\"), (\"topicString\", \"a/b/c//d\")]"
        );
        assert_eq!(led("GET", "/ibmmq/rest/v1/admin/qmgr/"), "Managers v1 []");
        assert_eq!(led("GET", "/ibmmq/rest/v2/admin/qmgr/QM1/queue"), "nowhere");
        assert_eq!(led("GET", "/ibmmq/rest/v1/admin/qmgr/%zz"), "broken");
        assert_eq!(led("GET", "/ibm/api/docs"), "Describe v1 []");
        for nowhere in ["", "/", "/ibmmq/rest/v4/login", "/ibmmq/rest/v1", "/ibmmq/rest/v1//login"]
        {
            assert_eq!(led("GET", nowhere), "nowhere", "{nowhere}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        for (at, one) in RESOURCES.iter().enumerate() {
            let same = |other: &&Resource| (other.path, other.method) == (one.path, one.method);
            assert_eq!(RESOURCES.iter().filter(same).count(), 1, "{at}: {}", one.path);
            let reads = one.method == "GET" || one.call == Call::Login;
            assert_eq!(one.changes, !reads, "{}", one.path);
        }
    }
}
