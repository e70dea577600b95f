//! Attributes of objects as commands write them and as displays show them.
//!
//! 1. Where an attribute's words contain its own keyword, the words stand for themselves: `SHARE`,
//!    `NOSHARE`.
//! 2. A number of -1 that means "no limit" is written `NOLIMIT`.
//! 3. Displays are in the order of keywords, but for listeners and services, which are in the order
//!    of their tables.

use queue_manager::objects::{Attribute, Kind, Object, Value, ValueKind};

use crate::channel;
use crate::command::unknown;
use crate::error::SyntaxError;
use crate::reply::Field;
use crate::syntax::Word;

/// Attributes with the values that a command gives them.
pub(crate) type Given = Vec<(&'static str, Value)>;

/// Keywords that stand for others.
const SYNONYMS: &[(&str, &str)] = &[("TARGQ", "TARGET")];
/// Numbers whose -1 is written as a word.
const UNLIMITED: &[&str] = &["MAXPROPL", "MARKINT"];

/// Whether the words of an attribute stand for themselves.
fn toggles(attribute: &Attribute) -> Option<&'static [(&'static str, i32)]> {
    match attribute.kind {
        ValueKind::Word(words) if words.iter().any(|(word, _)| *word == attribute.name) => {
            Some(words)
        }
        _ => None,
    }
}

/// The attribute that a keyword of a command, a display or a filter means.
pub(crate) fn named(kind: Kind, keyword: &str) -> Option<&'static Attribute> {
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == keyword);
    let keyword = synonym.map_or(keyword, |(_, meant)| *meant);
    let is_word = |attribute: &&Attribute| {
        let words = toggles(attribute).unwrap_or_default();
        attribute.name == keyword || words.iter().any(|(word, _)| *word == keyword)
    };
    kind.attributes().iter().find(is_word)
}

/// The value that a word of a command gives an attribute.
fn value_of(attribute: &'static Attribute, word: &Word) -> Result<Value, SyntaxError> {
    let shape =
        |needs| Err(SyntaxError::Shape { keyword: word.name.clone(), needs, end: word.end });
    if let Some(words) = toggles(attribute) {
        let meant = words.iter().find(|(name, _)| *name == word.name);
        return match (meant, &word.values) {
            (Some((name, _)), None) => Ok(Value::Word(name)),
            _ => shape("takes no value"),
        };
    }
    let Some(values) = word.values.as_deref() else {
        return shape("takes a value in parentheses");
    };
    let text = match (values, attribute.kind) {
        ([], ValueKind::Number(..) | ValueKind::Word(_)) => return shape("takes a value"),
        ([], _) => String::new(),
        ([one], _) => one.text.clone(),
        (many, ValueKind::List(_)) => {
            let texts: Vec<&str> = many.iter().map(|value| value.text.trim()).collect();
            texts.join(",")
        }
        (many, _) if attribute.name == "CONNAME" => {
            let texts: Vec<&str> = many.iter().map(|value| &*value.text).collect();
            texts.join(",")
        }
        _ => return shape("takes one value; put a text with blanks into quotes"),
    };
    let unlimited = UNLIMITED.contains(&attribute.name) && text.eq_ignore_ascii_case("NOLIMIT");
    let text = if unlimited { "-1".to_owned() } else { text };
    let wrong = |why| SyntaxError::Value {
        keyword: word.name.clone(),
        value: text.clone(),
        why,
        end: word.end,
    };
    if text.chars().any(char::is_control) {
        return Err(wrong("it has a control character".into()));
    }
    if let ValueKind::List(most) = attribute.kind {
        let is_long = |part: &str| part.trim().len() > most;
        if text.split(',').any(is_long) {
            return Err(wrong(format!("each takes at most {most} characters")));
        }
    }
    attribute.parse(&text).map_err(|error| wrong(error.why))
}

/// Reads keywords as attributes of a kind.
///
/// # Errors
/// If there is no such attribute, or it does not take the value.
pub(crate) fn assign(kind: Kind, title: &str, words: &[Word]) -> Result<Given, SyntaxError> {
    let mut given = Given::new();
    for word in words {
        let attribute = named(kind, &word.name).ok_or_else(|| unknown(title, word))?;
        if given.iter().any(|(name, _)| *name == attribute.name) {
            return Err(SyntaxError::Twice { keyword: word.name.clone(), end: word.end });
        }
        given.push((attribute.name, value_of(attribute, word)?));
    }
    Ok(given)
}

/// An attribute as it is shown.
pub(crate) fn field(attribute: &Attribute, value: &Value) -> Field {
    let text = value.to_string();
    if toggles(attribute).is_some() {
        return Field::word(text);
    }
    match attribute.name {
        "SYNCPT" if text == "AVAILABLE" => Field::word("SYNCPT"),
        name if UNLIMITED.contains(&name) && text == "-1" => Field::new(name, "NOLIMIT"),
        name => Field::new(name, text),
    }
}

/// Whether an object has an attribute of its kind: channels of some types lack some.
pub(crate) fn has(object: &Object, attribute: &Attribute) -> bool {
    match object.kind {
        Kind::Channel | Kind::ClientChannel => {
            channel::has(object.text_of("CHLTYPE"), attribute.name)
        }
        _ => true,
    }
}

/// The attributes of an object in the order of displays, without those that its head shows.
pub(crate) fn displayed(object: &Object) -> Vec<(&'static Attribute, Value)> {
    let head = head_attribute(object.kind);
    let all = object.attributes().filter(|(attribute, _)| has(object, attribute));
    let mut all: Vec<_> = all
        .filter(|(attribute, _)| Some(attribute.name) != head)
        .map(|(attribute, value)| (attribute, value.clone()))
        .collect();
    if !matches!(object.kind, Kind::Listener | Kind::Service) {
        all.sort_by_key(|(attribute, _)| match attribute.name {
            "TRIGGER" => "NOTRIGGER",
            name => name,
        });
    }
    all
}

/// The attribute that stands beside the name.
pub(crate) fn head_attribute(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Channel | Kind::ClientChannel => Some("CHLTYPE"),
        Kind::Topic => Some("TYPE"),
        Kind::AuthenticationInformation => Some("AUTHTYPE"),
        Kind::Subscription => Some("SUBID"),
        _ => None,
    }
}

/// The keyword in front of the name of an object of this kind.
pub(crate) fn name_keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::QueueManager => "QMNAME",
        Kind::Channel | Kind::ClientChannel => "CHANNEL",
        kind if kind.is_queue() => "QUEUE",
        kind => kind.keyword(),
    }
}

/// The name of an object, and what stands beside it.
pub(crate) fn head(object: &Object) -> Vec<Field> {
    let name = Field::new(name_keyword(object.kind), &object.name);
    if object.kind.is_queue() {
        return vec![name, Field::new("TYPE", object.kind.keyword())];
    }
    let Some(attribute) = head_attribute(object.kind) else { return vec![name] };
    let beside = Field::new(attribute, object.text_of(attribute));
    match object.kind {
        Kind::Subscription => vec![beside, name],
        _ => vec![name, beside],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::words;

    fn given(kind: Kind, text: &str) -> Result<String, SyntaxError> {
        let given = assign(kind, "DEFINE", &words(text).expect("the words are well formed"))?;
        let mut object = Object::new(kind, "X");
        for (name, value) in &given {
            object.set(name, value).expect("a value that was read is one");
        }
        let shown = given.iter().map(|(name, _)| {
            let attribute = named(kind, name).expect("it was found before");
            field(attribute, object.get(name).expect("the object has it")).to_string()
        });
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn words_stand_for_themselves_where_they_do() {
        let shown = given(Kind::QueueLocal, "NOSHARE TRIGGER HARDENBO MAXDEPTH(7)").unwrap();
        assert_eq!(shown, "NOSHARE TRIGGER HARDENBO MAXDEPTH(7)");
        assert!(given(Kind::QueueLocal, "SHARE NOSHARE").is_err());
        assert!(given(Kind::QueueLocal, "SHARE(YES)").is_err());
    }

    #[test]
    fn values_are_held_to_their_ranges() {
        let error = given(Kind::QueueLocal, "MAXDEPTH(1000000000)").unwrap_err().to_string();
        assert!(error.contains("MAXDEPTH cannot be 1000000000"), "{error}");
        let error = given(Kind::QueueLocal, "DEFPSIST(PERHAPS)").unwrap_err().to_string();
        assert!(error.contains("NO, YES"), "{error}");
        assert!(given(Kind::QueueLocal, "MAXDEPTH(five)").is_err());
        assert!(given(Kind::QueueLocal, "MAXDEPTH()").is_err());
        assert!(given(Kind::QueueLocal, "MAXDEPTH").is_err());
        assert!(given(Kind::QueueLocal, "CONNAME(X)").is_err());
        assert!(given(Kind::QueueLocal, "DESCR(two words)").is_err());
    }

    #[test]
    fn texts_lists_and_synonyms() {
        assert_eq!(given(Kind::QueueLocal, "DESCR()").unwrap(), "DESCR( )");
        assert_eq!(given(Kind::QueueAlias, "TARGQ(A.B)").unwrap(), "TARGET(A.B)");
        assert_eq!(given(Kind::Namelist, "NAMES(A,B, C)").unwrap(), "NAMES(A,B,C)");
        assert_eq!(
            given(Kind::Channel, "CONNAME('h(1414),i(1415)')").unwrap(),
            "CONNAME(h(1414),i(1415))"
        );
        assert_eq!(given(Kind::QueueManager, "MAXPROPL(NOLIMIT)").unwrap(), "MAXPROPL(NOLIMIT)");
    }
}
