//! Commands (MQSC): as they are typed, and as JSON.
//!
//! | `type` | the body has | each answer has |
//! |---|---|---|
//! | `runCommand` | `parameters.command`: the text, one command or several | `text`: lines |
//! | `runCommandJSON` | the parts of a command, each by its name | `parameters`, or `message` |
//!
//! 1. A command in JSON becomes a text whose values are in quotes: none of them can become a part
//!    of the command that it was not given as.
//! 2. A command that is not processed is answered with 200 and the codes that say so; a body that
//!    is no command is refused.

use axum::http::StatusCode;
use axum::response::Response;
use mqsc::Console;
use mqsc::lexis::Gatherer;
use mqsc::pcf::reason;
use mqsc::reply::{Field, Reply};
use queue_manager::QueueManager;
use queue_manager::objects::{Attribute, Kind, ValueKind};
use serde_json::{Map, Value, json};
use store::Store;

use crate::error::{Problem, json_response};

/// Of a command that was not processed.
const FAILED: i32 = 2;
/// Of all commands together, if one was not processed.
const COMMAND_FAILED: i32 = 3_008;
/// Keywords without a value that are no attributes.
const FLAGS: &[&str] = &["ALL", "FORCE", "IGNSTATE", "NOPURGE", "NOREPLACE", "PURGE", "REPLACE"];
/// Numbers that are no attributes of objects.
const COUNTS: &[&str] = &[
    "CONNS", "CURFSIZE", "HIQDEPTH", "MSGAGE", "MSGSIN", "MSGSOUT", "NUMMSGS", "PID", "PUBCOUNT",
    "SUBCOUNT", "TID",
];

/// A command that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// As typed: several, perhaps.
    Text(String),
    /// From JSON, as a text.
    Json(String),
}

/// Reads a body.
///
/// # Errors
/// If it is no command.
pub(crate) fn read(body: &Value) -> Result<Command, Problem> {
    let Value::Object(body) = body else {
        return Err(Problem::body("It is an object with a type."));
    };
    let known: &[&str] = match body.get("type").and_then(Value::as_str) {
        Some("runCommand") => &["type", "parameters"],
        Some("runCommandJSON") => {
            &["type", "command", "qualifier", "name", "parameters", "responseParameters"]
        }
        _ => return Err(Problem::body("Its type is runCommand or runCommandJSON.")),
    };
    if let Some(name) = body.keys().find(|name| !known.contains(&&***name)) {
        let shown: String = crate::error::harmless(name).chars().take(100).collect();
        return Err(Problem::body(format!("It has no {shown}.")));
    }
    if known.len() > 2 {
        return text_of(body).map(Command::Json);
    }
    let parameters = body.get("parameters").and_then(Value::as_object);
    let command = parameters.and_then(|all| all.get("command")).and_then(Value::as_str);
    let text = command.filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| Problem::body("parameters.command is the text of a command."))?;
    Ok(Command::Text(text.to_owned()))
}

/// A word of a command.
fn word(value: Option<&Value>, what: &str) -> Result<String, Problem> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| text.to_ascii_uppercase())
        .ok_or_else(|| Problem::body(format!("{what} is a word of letters and digits.")))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A command in JSON as a text.
fn text_of(body: &Map<String, Value>) -> Result<String, Problem> {
    let verb = word(body.get("command"), "command")?;
    let qualifier = word(body.get("qualifier"), "qualifier")?;
    let mut text = format!("{verb} {qualifier}");
    match body.get("name") {
        None => {}
        Some(Value::String(name)) => text.push_str(&format!("({})", checked(name, "name")?)),
        Some(_) => return Err(Problem::body("name is a string.")),
    }
    let parameters = match body.get("parameters") {
        None => &Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => return Err(Problem::body("parameters is an object.")),
    };
    for (name, value) in parameters {
        let keyword = word(Some(&Value::from(name.as_str())), "A parameter's name")?;
        if let Some(given) = parameter(&keyword, value)? {
            text.push(' ');
            text.push_str(&given);
        }
    }
    let shown = match body.get("responseParameters") {
        None => &Vec::new(),
        Some(Value::Array(shown)) => shown,
        Some(_) => return Err(Problem::body("responseParameters is a list of words.")),
    };
    for name in shown {
        text.push(' ');
        text.push_str(&word(Some(name), "A response parameter")?);
    }
    Ok(text)
}

/// A text in quotes, if it can stand in a command.
fn checked(text: &str, what: &str) -> Result<String, Problem> {
    match text.chars().any(char::is_control) {
        true => Err(Problem::body(format!("{what} has a control character."))),
        false => Ok(quoted(text)),
    }
}

fn parameter(keyword: &str, value: &Value) -> Result<Option<String>, Problem> {
    if keyword == "WHERE" {
        return filter(value).map(Some);
    }
    if let Some(flag) = flag(keyword, value) {
        return Ok(flag);
    }
    let one = |value: &Value| match value {
        Value::String(text) => checked(text, keyword),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Value::Bool(flag) => Ok((if *flag { "YES" } else { "NO" }).to_owned()),
        _ => Err(Problem::body(format!("{keyword} takes a string, a whole number, or a list."))),
    };
    let given = match value {
        Value::Array(all) => all.iter().map(one).collect::<Result<Vec<_>, _>>()?.join(","),
        value => one(value)?,
    };
    Ok(Some(format!("{keyword}({given})")))
}

/// A keyword that stands for itself, and is given as yes or no.
fn flag(keyword: &str, value: &Value) -> Option<Option<String>> {
    let yes = match value {
        Value::Bool(flag) => *flag,
        Value::String(text) if text.eq_ignore_ascii_case("yes") => true,
        Value::String(text) if text.eq_ignore_ascii_case("no") => false,
        _ => return None,
    };
    let opposite = match keyword.strip_prefix("NO") {
        Some(positive) if stands_alone(positive) => positive.to_owned(),
        _ => format!("NO{keyword}"),
    };
    match (stands_alone(keyword), yes) {
        (false, _) => None,
        (true, true) => Some(Some(keyword.to_owned())),
        (true, false) => Some(stands_alone(&opposite).then_some(opposite)),
    }
}

/// Whether a keyword takes no value.
fn stands_alone(keyword: &str) -> bool {
    let is_toggle = |attribute: &Attribute| match attribute.kind {
        ValueKind::Word(words) => {
            words.iter().any(|(word, _)| *word == attribute.name)
                && words.iter().any(|(word, _)| *word == keyword)
        }
        _ => false,
    };
    FLAGS.contains(&keyword) || Kind::ALL.iter().any(|kind| kind.attributes().iter().any(is_toggle))
}

/// `keyword operator value`.
fn filter(value: &Value) -> Result<String, Problem> {
    let bad = || Problem::body("where is a keyword, an operator and a value.");
    let text = value.as_str().ok_or_else(bad)?.trim();
    let (keyword, rest) = text.split_once(char::is_whitespace).ok_or_else(bad)?;
    let (operator, rest) = rest.trim_start().split_once(char::is_whitespace).ok_or_else(bad)?;
    let keyword = word(Some(&Value::from(keyword)), "The keyword of where")?;
    let operator = word(Some(&Value::from(operator)), "The operator of where")?;
    let rest = rest.trim();
    let bare = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let value = bare.map_or_else(|| rest.to_owned(), |bare| bare.replace("''", "'"));
    Ok(format!("WHERE({keyword} {operator} {})", checked(&value, "The value of where")?))
}

/// Carries a command out.
pub(crate) fn run<S: Store>(manager: &QueueManager<S>, command: &Command) -> Response {
    let console = Console::new(manager);
    let mut answers = Vec::new();
    match command {
        Command::Json(text) => execute(&console, text, &parameters_of, "message", &mut answers),
        Command::Text(text) => {
            let mut gatherer = Gatherer::default();
            let mut all = Vec::new();
            for line in text.lines() {
                all.extend(gatherer.line(line).commands);
            }
            all.extend(gatherer.finish());
            for one in all {
                match one {
                    Ok(text) => execute(&console, &text, &lines_of, "text", &mut answers),
                    Err(error) => {
                        let lines = lines(&error.reply(""));
                        answers.push(failed(COMMAND_FAILED, "text", &lines));
                    }
                }
            }
        }
    }
    let done = answers.iter().all(|one| one["completionCode"] == 0);
    let body = json!({
        "commandResponse": answers,
        "overallCompletionCode": if done { 0 } else { FAILED },
        "overallReasonCode": if done { 0 } else { COMMAND_FAILED },
    });
    json_response(StatusCode::OK, &body)
}

fn execute<S: Store>(
    console: &Console<S>,
    text: &str,
    shown: &dyn Fn(&Reply) -> (&'static str, Value),
    words: &str,
    answers: &mut Vec<Value>,
) {
    match console.try_execute(text) {
        Ok(replies) => {
            for reply in &replies {
                let (name, value) = shown(reply);
                answers.push(json!({ "completionCode": 0, "reasonCode": 0, name: value }));
            }
        }
        Err(error) => {
            answers.push(failed(reason(&error), words, &lines(&error.reply(text))));
        }
    }
}

fn failed(reason: i32, words: &str, lines: &[String]) -> Value {
    json!({ "completionCode": FAILED, "reasonCode": reason, words: lines })
}

fn lines(reply: &Reply) -> Vec<String> {
    reply.to_string().lines().map(str::to_owned).collect()
}

fn lines_of(reply: &Reply) -> (&'static str, Value) {
    ("text", lines(reply).into())
}

/// The attributes of an object; what is said, if it is about none.
fn parameters_of(reply: &Reply) -> (&'static str, Value) {
    if reply.fields.is_empty() {
        return ("message", lines(reply).into());
    }
    let mut all = Map::new();
    for field in &reply.fields {
        let (name, value) = shown(field);
        all.insert(name, value);
    }
    ("parameters", Value::Object(all))
}

fn shown(field: &Field) -> (String, Value) {
    let Some(value) = &field.value else {
        let negative = field.name.strip_prefix("NO").filter(|name| stands_alone(name));
        let (name, word) = match negative {
            Some(name) => (name, "NO"),
            None => (field.name.as_str(), "YES"),
        };
        return (name.to_ascii_lowercase(), word.into());
    };
    let text = value.trim_end();
    let is_number = |attribute: &&Attribute| {
        attribute.name == field.name && matches!(attribute.kind, ValueKind::Number(..))
    };
    let counts = COUNTS.contains(&&*field.name)
        || Kind::ALL.iter().any(|kind| kind.attributes().iter().any(|one| is_number(&one)));
    let number = text.parse::<i64>().ok().filter(|_| counts);
    let value = number.map_or_else(|| Value::from(text), Value::from);
    (field.name.to_ascii_lowercase(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &Value) -> String {
        match read(body) {
            Ok(Command::Json(text) | Command::Text(text)) => text,
            Err(_) => "refused".into(),
        }
    }

    #[test]
    fn json_becomes_the_command_that_it_says() {
        let define = json!({
            "type": "runCommandJSON",
            "command": "define",
            "qualifier": "qlocal",
            "name": "A.b",
            "parameters": {
                "descr": "it's", "maxdepth": 7, "noreplace": "yes", "share": "no",
                "notrigger": "no", "distl": "yes", "defpsist": true,
            },
        });
        assert_eq!(
            text(&define),
            "DEFINE QLOCAL('A.b') DEFPSIST(YES) DESCR('it''s') DISTL('yes') MAXDEPTH(7) \
             NOREPLACE TRIGGER NOSHARE"
        );
        let display = json!({
            "type": "runCommandJSON", "command": "DISPLAY", "qualifier": "queue", "name": "*",
            "parameters": { "where": "curdepth gt 0" }, "responseParameters": ["curdepth", "all"],
        });
        assert_eq!(text(&display), "DISPLAY QUEUE('*') WHERE(CURDEPTH GT '0') CURDEPTH ALL");
        let names = json!({
            "type": "runCommandJSON", "command": "set", "qualifier": "authrec",
            "parameters": { "authadd": ["get", "put"] },
        });
        assert_eq!(text(&names), "SET AUTHREC AUTHADD('get','put')");
    }

    #[test]
    fn no_value_becomes_a_command() {
        let evil = "x') REPLACE DESCR('y";
        let one = json!({
            "type": "runCommandJSON", "command": "define", "qualifier": "qlocal", "name": evil,
        });
        assert_eq!(text(&one), "DEFINE QLOCAL('x'') REPLACE DESCR(''y')");
        for bad in [
            json!({ "type": "runCommandJSON", "command": "a b", "qualifier": "q" }),
            json!({ "type": "runCommandJSON", "command": "a", "qualifier": "q(" }),
            json!({ "type": "runCommandJSON", "command": "a", "qualifier": "q", "name": "a\nb" }),
            json!({ "type": "runCommandJSON", "command": "a", "qualifier": "q", "x": 1 }),
            json!({
                "type": "runCommandJSON", "command": "a", "qualifier": "q",
                "parameters": { "a)": 1 },
            }),
            json!({
                "type": "runCommandJSON", "command": "a", "qualifier": "q",
                "responseParameters": ["a b"],
            }),
            json!({ "type": "runCommand" }),
            json!({ "type": "runCommand", "parameters": { "command": " " } }),
            json!({ "type": "other" }),
            json!([]),
        ] {
            assert_eq!(text(&bad), "refused", "{bad}");
        }
    }
}
