//! Attributes of objects as JSON has them: grouped, with names and values of their own.
//!
//! 1. A row of a table gives the place of an attribute in the JSON object, its keyword, and how its
//!    values are written; the same row reads it back.
//! 2. What is selected or filtered by, and what a body sets, has to be in the table; anything else
//!    is refused by its name.

use queue_manager::objects::{Object, Value as Held};
use serde_json::{Map, Value, json};

use crate::error::{Problem, harmless};

/// How values are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    Text,
    Number,
    /// True if the attribute has the first word; the second stands for false.
    Flag(&'static str, &'static str),
    /// Words, and what stands for them.
    Words(&'static [(&'static str, &'static str)]),
    /// A date, with the time that another attribute has; only shown.
    Moment(&'static str),
    /// `host(port)`, several with commas between; only shown.
    Connections,
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its place, with dots between the names.
    pub(crate) path: &'static str,
    pub(crate) keyword: &'static str,
    pub(crate) written: Written,
}

pub(crate) const fn row(path: &'static str, keyword: &'static str, written: Written) -> Row {
    Row { path, keyword, written }
}

/// A date and a time as one moment; empty if there is none.
pub(crate) fn moment(date: &str, time: &str) -> String {
    match date.trim().is_empty() {
        true => String::new(),
        false => format!("{}T{}.000Z", date.trim(), time.trim().replace('.', ":")),
    }
}

impl Row {
    fn shown(&self, object: &Object) -> Option<Value> {
        let value = object.get(self.keyword)?;
        Some(match self.written {
            Written::Text => Value::from(value.to_string().trim_end()),
            Written::Number => Value::from(value.number()),
            Written::Flag(on, _) => Value::from(value.text() == on),
            Written::Words(words) => {
                let found = words.iter().find(|(word, _)| *word == value.text());
                let text = found.map(|(_, shown)| (*shown).to_owned());
                Value::from(text.unwrap_or_else(|| value.text().to_ascii_lowercase()))
            }
            Written::Moment(time) => {
                let time = object.get(time).map(ToString::to_string).unwrap_or_default();
                Value::from(moment(&value.to_string(), &time))
            }
            Written::Connections => connections(&value.to_string()),
        })
    }

    /// The value of a body.
    fn read(&self, value: &Value) -> Result<Held, String> {
        match (self.written, value) {
            (Written::Text, Value::String(text)) => Ok(Held::Text(text.clone())),
            (Written::Number, Value::Number(number)) => {
                number.as_i64().map(Held::Number).ok_or_else(|| "It takes a whole number.".into())
            }
            (Written::Flag(on, off), Value::Bool(flag)) => {
                Ok(Held::from(if *flag { on } else { off }))
            }
            (Written::Words(words), Value::String(text)) => {
                let found = words.iter().find(|(_, shown)| shown == text);
                let all: Vec<&str> = words.iter().map(|(_, shown)| *shown).collect();
                let found = found.map(|(word, _)| Held::from(*word));
                found.ok_or_else(|| format!("It takes {}.", all.join(", ")))
            }
            (Written::Moment(_) | Written::Connections, _) => Err("It cannot be set.".into()),
            (Written::Text | Written::Words(_), _) => Err("It takes a string.".into()),
            (Written::Number, _) => Err("It takes a number.".into()),
            (Written::Flag(..), _) => Err("It takes true or false.".into()),
        }
    }

    /// What a description says of it.
    pub(crate) fn schema(&self) -> Value {
        match self.written {
            Written::Text => json!({ "type": "string" }),
            Written::Moment(_) => json!({ "type": "string", "readOnly": true }),
            Written::Number => json!({ "type": "integer" }),
            Written::Flag(..) => json!({ "type": "boolean" }),
            Written::Words(words) => {
                let all: Vec<&str> = words.iter().map(|(_, shown)| *shown).collect();
                json!({ "type": "string", "enum": all })
            }
            Written::Connections => json!({
                "type": "array",
                "readOnly": true,
                "items": { "$ref": "#/components/schemas/Connection" },
            }),
        }
    }
}

/// `host(port),host(port)`.
fn connections(text: &str) -> Value {
    let one = |part: &str| {
        let (host, port) = part.split_once('(').unwrap_or((part, ""));
        let port = port.trim_end_matches(')').parse::<u16>().ok();
        let mut one = json!({ "host": host });
        if let Some(port) = port {
            one["port"] = port.into();
        }
        one
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    Value::Array(parts.map(one).collect())
}

/// Puts a value at its place.
pub(crate) fn place(into: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            into.insert(path.to_owned(), value);
        }
        Some((group, rest)) => {
            let inner = into.entry(group.to_owned()).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// Everything that is known of an object.
pub(crate) fn full(object: &Object, rows: &[Row]) -> Map<String, Value> {
    let mut all = Map::new();
    for row in rows {
        if let Some(value) = row.shown(object) {
            place(&mut all, row.path, value);
        }
    }
    all
}

/// A value at a place.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

/// Attributes with their values.
pub(crate) type Given = Vec<(&'static str, Held)>;

/// Reads what a body sets. `current` is the object that it changes.
pub(crate) fn given(
    body: &Map<String, Value>,
    rows: &'static [Row],
    current: Option<&Object>,
) -> Result<Given, Problem> {
    let mut all = Given::new();
    gather(body, "", rows, current, &mut all)?;
    Ok(all)
}

fn gather(
    body: &Map<String, Value>,
    before: &str,
    rows: &'static [Row],
    current: Option<&Object>,
    all: &mut Given,
) -> Result<(), Problem> {
    for (name, value) in body {
        let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        let clipped = || harmless(&path).chars().take(200).collect::<String>();
        if let Value::Object(inner) = value {
            let is_group =
                |row: &Row| row.path.strip_prefix(&*path).is_some_and(|r| r.starts_with('.'));
            if !rows.iter().any(is_group) {
                return Err(Problem::body(format!("There is no group {}.", clipped())));
            }
            gather(inner, &path, rows, current, all)?;
            continue;
        }
        let Some(row) = rows.iter().find(|row| row.path == path) else {
            return Err(Problem::body(format!("There is no attribute {}.", clipped())));
        };
        let bad = |why: String| Problem::body(format!("{}: {why}", clipped()));
        let held = row.read(value).map_err(bad)?;
        if let Written::Flag(on, off) = row.written
            && held.text() == off
            && current.is_some_and(|current| current.text_of(row.keyword) != on)
        {
            // It is off already, whatever else the attribute says.
            continue;
        }
        merge(all, row, held).map_err(bad)?;
    }
    Ok(())
}

/// Several flags may be one attribute: what is on wins over what is off.
fn merge(all: &mut Given, row: &Row, held: Held) -> Result<(), String> {
    let Some((_, known)) = all.iter_mut().find(|(keyword, _)| *keyword == row.keyword) else {
        all.push((row.keyword, held));
        return Ok(());
    };
    let Written::Flag(_, off) = row.written else { return Err("It is given twice.".into()) };
    match (known.text() == off, held.text() == off) {
        (true, _) => *known = held,
        (false, true) => {}
        (false, false) => return Err("It and another one cannot both be true.".into()),
    }
    Ok(())
}

/// What is to be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection(Vec<String>);

impl Selection {
    /// Reads a parameter: `*`, or a list of groups and places.
    pub(crate) fn read(
        parameter: &str,
        text: Option<&str>,
        known: &[&'static str],
    ) -> Result<Selection, Problem> {
        let Some(text) = text else { return Ok(Selection::default()) };
        let mut chosen = Vec::new();
        for part in text.split(',').map(str::trim) {
            let group = part.strip_suffix(".*").unwrap_or(part);
            let fits = |path: &&str| {
                part == "*"
                    || *path == part
                    || path.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
            };
            let before = chosen.len();
            chosen.extend(known.iter().copied().filter(|path| fits(path)).map(str::to_owned));
            if chosen.len() == before {
                let shown: String = harmless(part).chars().take(200).collect();
                let why = format!("There is no attribute or group {shown}.");
                return Err(Problem::parameter(parameter, why));
            }
        }
        Ok(Selection(chosen))
    }

    /// Both.
    pub(crate) fn and(mut self, mut other: Selection) -> Selection {
        self.0.append(&mut other.0);
        self
    }

    /// Whether nothing is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What of an object is to be shown, with what is shown always.
    pub(crate) fn pruned(&self, all: &Value, always: &[&str]) -> Value {
        let mut out = Map::new();
        for path in always.iter().copied().chain(self.0.iter().map(String::as_str)) {
            if let Some(value) = at(all, path) {
                place(&mut out, path, value.clone());
            }
        }
        Value::Object(out)
    }
}

/// What has to hold of an object.
pub(crate) struct Filter {
    path: String,
    operator: &'static str,
    value: String,
}

/// Operators of filters.
const OPERATORS: [&str; 6] = [
    "lessThan",
    "greaterThan",
    "equalTo",
    "notEqualTo",
    "lessThanOrEqualTo",
    "greaterThanOrEqualTo",
];

impl Filter {
    /// Reads `attribute:operator:value`.
    pub(crate) fn read(text: Option<&str>, known: &[&str]) -> Result<Option<Filter>, Problem> {
        let Some(text) = text else { return Ok(None) };
        let bad = |why: String| Problem::parameter("filter", why);
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        let [path, operator, value] = parts[..] else {
            return Err(bad("It takes attribute:operator:value.".into()));
        };
        if !known.contains(&path) {
            let shown: String = harmless(path).chars().take(200).collect();
            return Err(bad(format!("There is no attribute {shown}.")));
        }
        let found = OPERATORS.into_iter().find(|known| *known == operator);
        let why = || format!("Operators are {}.", OPERATORS.join(", "));
        let operator = found.ok_or_else(|| bad(why()))?;
        Ok(Some(Filter { path: path.to_owned(), operator, value: value.to_owned() }))
    }

    /// Whether it holds; of what an object does not have, it does not.
    pub(crate) fn holds(&self, all: &Value) -> bool {
        use std::cmp::Ordering;
        let Some(value) = at(all, &self.path) else { return false };
        let order = match value {
            Value::Number(number) => {
                let (own, other) = (number.as_i64(), self.value.parse::<i64>().ok());
                let Some((own, other)) = own.zip(other) else { return false };
                own.cmp(&other)
            }
            Value::String(text) => match self.value.strip_suffix('*') {
                Some(prefix) if self.operator.ends_with("qualTo") && text.starts_with(prefix) => {
                    Ordering::Equal
                }
                _ => text.as_str().cmp(&self.value),
            },
            Value::Bool(flag) => flag.to_string().as_str().cmp(&self.value),
            _ => return false,
        };
        match self.operator {
            "lessThan" => order.is_lt(),
            "greaterThan" => order.is_gt(),
            "equalTo" => order.is_eq(),
            "notEqualTo" => order.is_ne(),
            "lessThanOrEqualTo" => order.is_le(),
            _ => order.is_ge(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_takes_groups_and_places() {
        let known = ["general.description", "general.inhibitPut", "trigger.data"];
        let all = json!({
            "name": "A",
            "general": { "description": "d", "inhibitPut": false },
            "trigger": { "data": "" },
        });
        let of = |text: &str| Selection::read("attributes", Some(text), &known);
        let shown = |text: &str| of(text).unwrap().pruned(&all, &["name"]);
        assert_eq!(shown("*"), all);
        assert_eq!(shown("general.*,trigger"), all);
        assert_eq!(shown("trigger.data"), json!({ "name": "A", "trigger": { "data": "" } }));
        assert!(of("none").is_err() && of("general.none").is_err() && of("").is_err());
    }

    #[test]
    fn filters_compare_by_kind() {
        let known = ["storage.maximumDepth", "general.description", "trigger.enabled"];
        let all = json!({
            "storage": { "maximumDepth": 100 },
            "general": { "description": "orders of today" },
            "trigger": { "enabled": true },
        });
        let holds = |text: &str| {
            let filter = Filter::read(Some(text), &known).unwrap_or_else(|_| panic!("{text}"));
            filter.is_some_and(|filter| filter.holds(&all))
        };
        assert!(holds("storage.maximumDepth:greaterThan:99"));
        assert!(!holds("storage.maximumDepth:lessThan:99"));
        assert!(holds("general.description:equalTo:orders*"));
        assert!(!holds("general.description:notEqualTo:orders*"));
        assert!(holds("trigger.enabled:equalTo:true"));
        assert!(!holds("storage.maximumDepth:equalTo:many"));
        for bad in ["", "a", "storage.maximumDepth:equalTo", "x:equalTo:1", "trigger.enabled:is:1"]
        {
            assert!(Filter::read(Some(bad), &known).is_err(), "{bad}");
        }
    }
}
