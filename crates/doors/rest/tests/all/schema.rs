//! Answers held against the description that the door gives of itself.

use std::sync::LazyLock;

use serde_json::Value;

use crate::common::Reply;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(rest::describe);

/// The paths that the description has for one of a request; whole parts are exact.
fn described(path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let all = DESCRIPTION["paths"].as_object().unwrap();
    let fits = |form: &str| {
        let form: Vec<&str> = form.split('/').collect();
        let many = form.contains(&"{topicString}") && parts.len() > form.len();
        let same = |(form, part): (&&str, &&str)| form.starts_with('{') || form == part;
        many || form.len() == parts.len() && form.iter().zip(&parts).all(same)
    };
    all.iter().find(|(form, _)| fits(form)).map(|(_, methods)| methods)
}

/// Whether an answer is one that the description has.
pub(crate) fn check(method: &str, path: &str, reply: &Reply) {
    let operation = described(path).map(|one| &one[method.to_ascii_lowercase()]);
    let Some(operation) = operation.filter(|one| one.is_object()) else {
        assert!(matches!(reply.status, 404 | 405 | 400), "{method} {path}: {reply:?}");
        return;
    };
    let responses = operation["responses"].as_object().unwrap();
    let response = responses.get(&reply.status.to_string()).unwrap_or_else(|| {
        assert!(reply.status >= 400, "{method} {path} is not said to answer {}", reply.status);
        &responses["default"]
    });
    let content = response.get("content").and_then(Value::as_object);
    let Some(content) = content else {
        assert_eq!(reply.body, "", "{method} {path} is said to have no body");
        return;
    };
    let kind = reply.header("content-type").unwrap_or_default().split(';').next().unwrap();
    let schema = content.get(kind).unwrap_or_else(|| panic!("{method} {path}: {kind}"));
    if kind == "application/json" {
        let value: Value = serde_json::from_str(&reply.body).unwrap();
        if let Err(why) = fits(&schema["schema"], &value, "") {
            panic!("{method} {path}: {why} in {value}");
        }
    }
}

/// Whether a value has the form that a schema says: the parts of it that descriptions use.
pub(crate) fn fits(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        let schema = DESCRIPTION.pointer(pointer).ok_or(format!("{reference} is not there"))?;
        return fits(schema, value, at);
    }
    let is = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => return Err(format!("{at}: type {other:?} of a schema")),
    };
    if !is {
        return Err(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{at}: {value} is not among {words:?}"));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(&schema["items"], item, &format!("{at}[{number}]"))?;
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !object.contains_key(name) {
            return Err(format!("{at}.{name} is missing"));
        }
    }
    for (name, inner) in object {
        match schema["properties"].get(name) {
            Some(schema) => fits(schema, inner, &format!("{at}.{name}"))?,
            None if schema["additionalProperties"] == false => {
                return Err(format!("{at}.{name} is not described"));
            }
            None => {}
        }
    }
    Ok(())
}
