//! The description of the interface, as OpenAPI 3, made from the table of resources and from the
//! tables of attributes.

use serde_json::{Map, Value, json};

use crate::admin::shape::{Row, place};
use crate::admin::{channel, queue, subscription};
use crate::authentication::{COOKIE, CSRF};
use crate::request::Version;
use crate::resources::{Answer, BASE, Body, Holds, Parameter, RESOURCES, Resource, Role};

/// The description.
#[must_use]
pub fn describe() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for resource in RESOURCES {
        match resource.versions.is_empty() {
            true => add(&mut paths, resource.path, resource, Version::V1),
            false => {
                for version in resource.versions {
                    add(&mut paths, &resource.path_of(*version), resource, *version);
                }
            }
        }
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Holdfast: messages and administration of the queue manager",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {
                "name": "Apache-2.0",
                "url": "https://www.apache.org/licenses/LICENSE-2.0",
            },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "password": { "type": "http", "scheme": "basic" },
                "token": { "type": "apiKey", "in": "cookie", "name": COOKIE },
            },
        },
    })
}

fn add(paths: &mut Map<String, Value>, path: &str, resource: &Resource, version: Version) {
    let path = path.replace("+}", "}");
    let method = resource.method.to_ascii_lowercase();
    let operation = operation(resource, version, &path);
    let methods = paths.entry(path).or_insert_with(|| json!({}));
    methods[method] = operation;
}

fn operation(resource: &Resource, version: Version, path: &str) -> Value {
    let mut parameters: Vec<Value> = names(path)
        .map(|name| {
            let schema = json!({ "type": "string" });
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect();
    let has = |one: &&Parameter| one.since <= version;
    parameters.extend(resource.parameters.iter().filter(has).map(|one| shown(one, "query")));
    parameters.extend(resource.headers.iter().filter(has).map(|one| shown(one, "header")));
    if resource.changes {
        parameters.push(json!({
            "name": CSRF,
            "in": "header",
            "required": true,
            "description": "anything, also nothing",
            "schema": { "type": "string" },
        }));
    }
    let mut responses = Map::new();
    for answer in resource.answers {
        responses.insert(answer.status.to_string(), response(answer, version));
    }
    let otherwise =
        Answer { status: 0, what: "it was not done", body: Body::Json("Errors"), headers: &[] };
    responses.insert("default".to_owned(), response(&otherwise, version));
    let word = if resource.versions.is_empty() { "" } else { version.word() };
    let mut operation = json!({
        "summary": resource.summary,
        "operationId": format!("{:?}{word}{}", resource.call, names(path).count()),
        "tags": [tag(path)],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(content) = content(resource.body) {
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation["security"] = match resource.role {
        Role::Anybody => json!([]),
        _ => json!([{ "password": [] }, { "token": [] }]),
    };
    operation
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn tag(path: &str) -> &'static str {
    let rest = path.strip_prefix(BASE).unwrap_or_default();
    match rest.split('/').nth(1) {
        Some("messaging") => "messaging",
        Some("admin") => "administration",
        Some("login") => "login",
        _ => "description",
    }
}

fn schema_of(holds: Holds) -> Value {
    match holds {
        Holds::Text => json!({ "type": "string" }),
        Holds::Number => json!({ "type": "integer", "minimum": 0 }),
        Holds::Flag => json!({ "type": "string", "enum": [""] }),
    }
}

fn shown(one: &Parameter, place: &str) -> Value {
    let mut shown = json!({
        "name": one.name,
        "in": place,
        "description": one.what,
        "schema": schema_of(one.holds),
    });
    if one.holds == Holds::Flag {
        shown["allowEmptyValue"] = true.into();
    }
    shown
}

fn content(body: Body) -> Option<Value> {
    let text = || json!({ "schema": { "type": "string" } });
    match body {
        Body::None => None,
        Body::Text => Some(json!({ "text/plain": text(), "application/json": text() })),
        Body::Json(name) => {
            let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
            Some(json!({ "application/json": { "schema": reference } }))
        }
    }
}

fn response(answer: &Answer, version: Version) -> Value {
    let mut response = json!({ "description": answer.what });
    if let Some(mut content) = content(answer.body) {
        if answer.body == Body::Text {
            content = json!({ "text/plain": { "schema": { "type": "string" } } });
        }
        response["content"] = content;
    }
    let mut headers = Map::new();
    for one in answer.headers.iter().filter(|one| one.since <= version) {
        let parameter = json!({ "description": one.what, "schema": schema_of(one.holds) });
        headers.insert(one.name.to_owned(), parameter);
    }
    if !headers.is_empty() {
        response["headers"] = Value::Object(headers);
    }
    response
}

fn text() -> Value {
    json!({ "type": "string" })
}

/// A list of objects under a name.
fn listed(name: &str, of: &str) -> Value {
    let items = json!({ "$ref": format!("#/components/schemas/{of}") });
    closed(json!({ name: { "type": "array", "items": items } }), &[name])
}

/// An object that has these properties and no others.
#[allow(clippy::needless_pass_by_value)] // what is given is written where it is given
fn closed(properties: Value, required: &[&str]) -> Value {
    let mut all = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        all["required"] = required.to_vec().into();
    }
    all
}

/// The attributes of a table, and what stands beside them.
fn grouped(rows: &[Row], beside: &[(&str, Value)]) -> Value {
    let mut leaves = Map::new();
    for row in rows {
        place(&mut leaves, row.path, json!({ "leaf": row.schema() }));
    }
    for (path, schema) in beside {
        place(&mut leaves, path, json!({ "leaf": schema }));
    }
    opened(&leaves)
}

fn opened(leaves: &Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for (name, value) in leaves {
        let Value::Object(inner) = value else { continue };
        let schema = inner.get("leaf").cloned().unwrap_or_else(|| opened(inner));
        properties.insert(name.clone(), schema);
    }
    closed(Value::Object(properties), &[])
}

fn schemas() -> Value {
    let mut all = json!({
        "Errors": listed("error", "Error"),
        "Error": closed(
            json!({
                "type": { "type": "string", "enum": ["rest", "pcf", "java"] },
                "msgId": text(),
                "messageId": text(),
                "message": text(),
                "explanation": text(),
                "action": text(),
                "completionCode": { "type": "integer" },
                "reasonCode": { "type": "integer" },
            }),
            &["type", "msgId", "message", "explanation", "action"],
        ),
        "Description": { "type": "object" },
        "Credentials": closed(
            json!({ "username": text(), "password": text() }),
            &["username", "password"],
        ),
        "Users": listed("user", "User"),
        "User": closed(
            json!({ "name": text(), "role": { "type": "array", "items": text() } }),
            &["name", "role"],
        ),
        "MessageList": listed("messages", "Message"),
        "Message": closed(
            json!({ "messageId": text(), "correlationId": text(), "format": text() }),
            &["messageId", "format"],
        ),
    });
    administration(&mut all);
    commands(&mut all);
    all
}

fn administration(all: &mut Value) {
    all["Installations"] = listed("installation", "Installation");
    let extended = closed(json!({ "description": text(), "level": text() }), &[]);
    all["Installation"] = closed(
        json!({ "name": text(), "platform": text(), "version": text(), "extended": extended }),
        &["name", "platform", "version"],
    );
    all["Managers"] = listed("qmgr", "Manager");
    all["Manager"] = closed(
        json!({
            "name": text(),
            "state": text(),
            "extended": closed(
                json!({
                    "installationName": text(),
                    "isDefaultQmgr": { "type": "boolean" },
                    "permitStandby": text(),
                }),
                &[],
            ),
            "status": closed(
                json!({
                    "channelInitiatorState": text(),
                    "connectionCount": { "type": "integer" },
                    "ldapConnectionState": text(),
                    "publishSubscribeState": text(),
                    "started": text(),
                }),
                &[],
            ),
        }),
        &["name", "state"],
    );
    queues(all);
    channels(all);
}

fn queues(all: &mut Value) {
    let number = || json!({ "type": "integer", "readOnly": true });
    let moment = || json!({ "type": "string", "readOnly": true });
    let types: Vec<&str> = queue::TYPES.iter().map(|(word, _)| *word).collect();
    let mut beside = vec![
        ("name", text()),
        ("type", json!({ "type": "string", "enum": types })),
        (
            "applicationHandle",
            json!({
                "type": "array",
                "readOnly": true,
                "items": { "$ref": "#/components/schemas/Handle" },
            }),
        ),
    ];
    beside.extend(queue::STATUS.iter().map(|path| match path.contains(".last") {
        true => (*path, moment()),
        false => (*path, number()),
    }));
    all["Queues"] = listed("queue", "Queue");
    all["Queue"] = grouped(queue::ROWS, &beside);
    let options = json!({ "type": "array", "items": text() });
    all["Handle"] = closed(json!({ "tag": text(), "userID": text(), "openOptions": options }), &[]);
}

fn channels(all: &mut Value) {
    let types: Vec<&str> = channel::TYPES.iter().map(|(_, word)| *word).collect();
    let paths: Vec<(String, Value)> = channel::OWN
        .iter()
        .flat_map(|(row, of)| of.iter().map(|kind| (format!("{kind}.{}", row.path), row.schema())))
        .collect();
    let mut beside: Vec<(&str, Value)> =
        paths.iter().map(|(path, schema)| (path.as_str(), schema.clone())).collect();
    beside.push(("name", text()));
    beside.push(("type", json!({ "type": "string", "enum": types })));
    all["Channels"] = listed("channel", "Channel");
    all["Channel"] = grouped(channel::ROWS, &beside);
    let port = json!({ "type": "integer" });
    all["Connection"] = closed(json!({ "host": text(), "port": port }), &["host"]);
    let beside = [("id", text()), ("name", text()), ("resolvedTopicString", text())];
    all["Subscriptions"] = listed("subscription", "Subscription");
    all["Subscription"] = grouped(subscription::ROWS, &beside);
}

fn commands(all: &mut Value) {
    let words = || json!({ "type": "array", "items": text() });
    all["Command"] = json!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "enum": ["runCommand", "runCommandJSON"] },
            "command": text(),
            "qualifier": text(),
            "name": text(),
            "parameters": { "type": "object", "additionalProperties": true },
            "responseParameters": words(),
        },
        "required": ["type"],
        "additionalProperties": false,
    });
    all["CommandResponse"] = closed(
        json!({
            "commandResponse": {
                "type": "array",
                "items": { "$ref": "#/components/schemas/CommandAnswer" },
            },
            "overallCompletionCode": { "type": "integer" },
            "overallReasonCode": { "type": "integer" },
        }),
        &["commandResponse", "overallCompletionCode", "overallReasonCode"],
    );
    all["CommandAnswer"] = closed(
        json!({
            "completionCode": { "type": "integer" },
            "reasonCode": { "type": "integer" },
            "text": words(),
            "message": words(),
            "parameters": { "type": "object", "additionalProperties": true },
        }),
        &["completionCode", "reasonCode"],
    );
}
