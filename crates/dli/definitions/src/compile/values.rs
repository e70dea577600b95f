//! Values of operands as the definitions need them: parentheses flattened, names and numbers read.
//!
//! Invariants:
//! 1. Redundant parentheses mean nothing: `A`, `(A)` and `((A))` are one value.
//! 2. Whoever reads a value and gets `None` finds an error already told, at the value's place.

use std::ops::RangeInclusive;

use macros::{Place, Value, Word};

use super::sink::Sink;
use crate::codes;

/// The place of a value.
pub(super) fn place_of(value: &Value) -> Place {
    match value {
        Value::Empty(place) | Value::List(_, place) => *place,
        Value::Word(word) | Value::Quoted(word) => word.place,
    }
}

/// The value without parentheses around a single value.
pub(super) fn flat(value: &Value) -> &Value {
    let mut value = value;
    while let Value::List(list, _) = value {
        let [only] = list.as_slice() else { break };
        value = only;
    }
    value
}

/// The values of a list; a single value is a list of one, and nothing is an empty one.
pub(super) fn items(value: &Value) -> Vec<&Value> {
    match flat(value) {
        Value::Empty(_) => Vec::new(),
        Value::List(list, _) => list.iter().collect(),
        single => vec![single],
    }
}

/// A list of lists; `(a,b)` is one group, `((a,b),(c,d))` is two.
pub(super) fn groups(value: &Value) -> Vec<Vec<&Value>> {
    let items = items(value);
    let first = items.iter().find(|item| !is_empty(item));
    if first.is_some_and(|item| matches!(item, Value::List(..))) {
        items.iter().filter(|item| !is_empty(item)).map(|item| self::items(item)).collect()
    } else if first.is_none() {
        Vec::new()
    } else {
        vec![items]
    }
}

/// Whether there is nothing, or parentheses around nothing.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Empty(_) => true,
        Value::List(list, _) => list.iter().all(is_empty),
        Value::Word(word) => word.text.is_empty(),
        Value::Quoted(_) => false,
    }
}

/// The single word of a value.
pub(super) fn word(value: &Value) -> Option<&Word> {
    match flat(value) {
        Value::Word(word) | Value::Quoted(word) => Some(word),
        Value::Empty(_) | Value::List(..) => None,
    }
}

/// The single word of a value, or an error.
pub(super) fn need_word<'a>(value: &'a Value, what: &str, sink: &mut Sink) -> Option<&'a Word> {
    let found = word(value);
    if found.is_none() {
        let message = format!("{what} takes one value, not a list");
        sink.error(codes::TOO_MANY_VALUES, place_of(value), message);
    }
    found
}

/// All words of a value, however they are nested.
pub(super) fn words(value: &Value) -> Vec<&Word> {
    match value {
        Value::Empty(_) => Vec::new(),
        Value::Word(word) | Value::Quoted(word) => vec![word],
        Value::List(list, _) => list.iter().flat_map(words).collect(),
    }
}

/// The value as sources write it, for metadata.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Empty(_) => String::new(),
        Value::Word(word) => word.text.clone(),
        Value::Quoted(word) => format!("'{}'", word.text.replace('\'', "''")),
        Value::List(list, _) => {
            format!("({})", list.iter().map(written).collect::<Vec<_>>().join(","))
        }
    }
}

/// A name of up to eight letters, digits and national characters.
pub(super) fn name<T>(
    value: &Value,
    what: &str,
    make: fn(&str) -> Option<T>,
    sink: &mut Sink,
) -> Option<T> {
    let word = need_word(value, what, sink)?;
    let name = is_symbol(&word.text).then(|| make(&word.text)).flatten();
    if name.is_none() {
        let message = format!("{what}: \"{}\" is no name", word.text);
        sink.error(codes::BAD_NAME, word.place, message);
        sink.help("a name has 1 to 8 letters, digits, @, # and $");
    }
    name
}

fn is_symbol(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || "@#$_".contains(one))
}

/// A whole number within the range.
pub(super) fn number(
    value: &Value,
    what: &str,
    range: RangeInclusive<u32>,
    sink: &mut Sink,
) -> Option<u32> {
    let word = need_word(value, what, sink)?;
    let digits = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        let message = format!("{what}: \"{}\" is no number", word.text);
        sink.error(codes::BAD_NUMBER, word.place, message);
        return None;
    }
    let number = word.text.parse::<u32>().ok().filter(|number| range.contains(number));
    if number.is_none() {
        let (low, high) = (range.start(), range.end());
        let message = format!("{what}: {} is not between {low} and {high}", word.text);
        sink.error(codes::OUT_OF_RANGE, word.place, message);
    }
    number
}

/// A whole number within the range, in two bytes.
pub(super) fn short(
    value: &Value,
    what: &str,
    range: RangeInclusive<u16>,
    sink: &mut Sink,
) -> Option<u16> {
    let range = u32::from(*range.start())..=u32::from(*range.end());
    number(value, what, range, sink).and_then(|number| u16::try_from(number).ok())
}

/// One of the words that can stand here; `choices` names them for the message.
pub(super) fn choice<T>(
    value: &Value,
    what: &str,
    choices: &str,
    of: impl Fn(&str) -> Option<T>,
    sink: &mut Sink,
) -> Option<T> {
    let word = need_word(value, what, sink)?;
    choice_of_word(word, what, choices, of, sink)
}

/// The same for a word that was already taken out of its list.
pub(super) fn choice_of_word<T>(
    word: &Word,
    what: &str,
    choices: &str,
    of: impl Fn(&str) -> Option<T>,
    sink: &mut Sink,
) -> Option<T> {
    let chosen = of(&word.text);
    if chosen.is_none() {
        let message = format!("{what}: \"{}\" is none of {choices}", word.text);
        sink.error(codes::BAD_CHOICE, word.place, message);
    }
    chosen
}

/// YES or NO.
pub(super) fn yes(value: &Value, what: &str, sink: &mut Sink) -> Option<bool> {
    let of = |text: &str| match text {
        "YES" | "Y" => Some(true),
        "NO" | "N" => Some(false),
        _ => None,
    };
    choice(value, what, "YES, NO", of, sink)
}

/// An error for every value behind the first `most`.
pub(super) fn at_most(items: &[&Value], most: usize, what: &str, sink: &mut Sink) {
    if let Some(extra) = items.get(most) {
        let message = format!("{what} takes {most} values at most");
        sink.error(codes::TOO_MANY_VALUES, place_of(extra), message);
    }
}
