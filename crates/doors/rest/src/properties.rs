//! Properties of a message in the header `ibm-mq-usr`.
//!
//! ```text
//! header   = property { "," property } ;
//! property = name ";" value ";" type ;
//! value    = a number | "true" | "false" | a string in quotes, escaped as in JSON ;
//! type     = "boolean" | "byte" | "short" | "integer" | "long" | "float" | "double" | "string"
//!          | "bytes" ;
//! ```
//!
//! 1. Blanks may stand around each part. A value of type `bytes` is hexadecimal digits in quotes.
//! 2. What is written is ASCII, and is read as the same properties again.
//! 3. Properties of folders other than `usr` are not shown: they are not the user's. Nor are
//!    those that begin with `amqp_`: the AMQP door makes something of them, and no other door
//!    sets them.

use base::hex;
use queue_manager::properties::{Properties, Property, PropertyValue};

/// What properties begin with that are the AMQP door's own.
const OF_AMQP: &str = "amqp_";

/// Properties of a message that comes in.
const PROPERTIES_MAX: usize = 1_000;
/// Bytes of the header that has them.
const PROPERTIES_BYTES_MAX: usize = 1 << 20;

/// Reads a header.
///
/// # Errors
/// What is wrong, for people.
pub(crate) fn read(text: &str) -> Result<Vec<(String, PropertyValue)>, String> {
    if text.len() > PROPERTIES_BYTES_MAX {
        return Err(format!("Properties take {PROPERTIES_BYTES_MAX} bytes at most."));
    }
    let mut rest = text.trim();
    let mut all = Vec::new();
    let mut check = Properties::default();
    while !rest.is_empty() {
        let (name, after) = part(rest, ";")?;
        let (value, after) = part(after, ";")?;
        let (kind, after) = part(after, ",")?;
        if name.starts_with('"') || name.contains('.') || name.starts_with(OF_AMQP) {
            return Err(format!("{name} is no name of a property of yours."));
        }
        if all.len() == PROPERTIES_MAX {
            return Err(format!("A message has at most {PROPERTIES_MAX} properties."));
        }
        let value = value_of(kind, value)?;
        if check.get(name).is_some() {
            return Err(format!("The property {name} is given twice."));
        }
        let named = check.set(name, value.clone());
        named.map_err(|_| format!("{name} is no name of a property."))?;
        all.push((name.to_owned(), value));
        rest = after;
    }
    Ok(all)
}

/// What stands in front of a sign that is in no quotes, and what stands behind it.
fn part<'t>(text: &'t str, sign: &str) -> Result<(&'t str, &'t str), String> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if !quoted && sign.contains(letter) => {
                return Ok((text[..at].trim(), text[at + letter.len_utf8()..].trim_start()));
            }
            _ => {}
        }
    }
    match (quoted, sign) {
        (true, _) => Err("A quotation mark is missing.".into()),
        (false, ",") => Ok((text.trim(), "")),
        (false, _) => Err("A property is a name, a value and a type, with ; between them.".into()),
    }
}

fn value_of(kind: &str, text: &str) -> Result<PropertyValue, String> {
    let bad = || format!("{text} is no value of type {kind}.");
    let number = |low: i64, high: i64| {
        let number = text.parse::<i64>().ok();
        number.filter(|number| (low..=high).contains(number)).ok_or_else(bad)
    };
    let quoted = || {
        let is_quoted = text.len() >= 2 && text.starts_with('"');
        let text: Option<String> = is_quoted.then(|| serde_json::from_str(text).ok()).flatten();
        text.ok_or_else(bad)
    };
    let float = || text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(bad);
    Ok(match kind {
        "boolean" => match text {
            "true" => PropertyValue::Boolean(true),
            "false" => PropertyValue::Boolean(false),
            _ => return Err(bad()),
        },
        "byte" => PropertyValue::Int8(number(i8::MIN.into(), i8::MAX.into())? as i8),
        "short" => PropertyValue::Int16(number(i16::MIN.into(), i16::MAX.into())? as i16),
        "integer" => PropertyValue::Int32(number(i32::MIN.into(), i32::MAX.into())? as i32),
        "long" => PropertyValue::Int64(number(i64::MIN, i64::MAX)?),
        "float" => {
            let value = text.parse::<f32>().ok().filter(|value| value.is_finite());
            PropertyValue::Float32(value.ok_or_else(bad)?)
        }
        "double" => PropertyValue::Float64(float()?),
        "string" => PropertyValue::String(quoted()?),
        "bytes" => PropertyValue::Bytes(hex::read(&quoted()?).ok_or_else(bad)?),
        _ => return Err(format!("{kind} is no type of a property.")),
    })
}

/// Writes a header; empty if there is nothing that it could have.
pub(crate) fn write(properties: &[Property]) -> String {
    let is_own = |name: &str| !name.contains('.') && !name.starts_with(OF_AMQP);
    let own = properties.iter().filter(|one| is_own(&one.name) && one.name.is_ascii());
    let shown = own.filter_map(|one| {
        let (value, kind) = match &one.value {
            PropertyValue::Null => return None,
            PropertyValue::Boolean(value) => (value.to_string(), "boolean"),
            PropertyValue::Bytes(bytes) => {
                let digits = hex::lower(bytes);
                (format!("\"{digits}\""), "bytes")
            }
            PropertyValue::Int8(number) => (number.to_string(), "byte"),
            PropertyValue::Int16(number) => (number.to_string(), "short"),
            PropertyValue::Int32(number) => (number.to_string(), "integer"),
            PropertyValue::Int64(number) => (number.to_string(), "long"),
            PropertyValue::Float32(number) if number.is_finite() => (number.to_string(), "float"),
            PropertyValue::Float64(number) if number.is_finite() => (number.to_string(), "double"),
            PropertyValue::Float32(_) | PropertyValue::Float64(_) => return None,
            PropertyValue::String(text) => (quoted(text), "string"),
        };
        Some(format!("{};{value};{kind}", one.name))
    });
    shown.collect::<Vec<_>>().join(",")
}

/// A text in quotes, all of it ASCII.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'"' | b'\\')) => {
                out.push('\\');
                out.push(char::from(byte));
            }
            Ok(byte @ b' '..=b'~') => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let all = [
            ("flag", PropertyValue::Boolean(true)),
            ("i1", PropertyValue::Int8(-128)),
            ("i2", PropertyValue::Int16(300)),
            ("i4", PropertyValue::Int32(-7)),
            ("i8", PropertyValue::Int64(i64::MIN)),
            ("r4", PropertyValue::Float32(0.5)),
            ("r8", PropertyValue::Float64(1e300)),
            ("s", PropertyValue::String("a \"b\"; c, \\d\n\u{1f600}ü".into())),
            ("b", PropertyValue::Bytes(vec![0, 255])),
        ];
        let properties: Vec<Property> = all
            .iter()
            .map(|(name, value)| Property { name: (*name).into(), value: value.clone() })
            .collect();
        let text = write(&properties);
        assert!(text.is_ascii() && !text.contains('\n'), "{text}");
        let again = read(&text).unwrap();
        let expected: Vec<_> =
            all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(again, expected);
    }

    #[test]
    fn what_is_no_property_is_told() {
        for bad in [
            "a",
            "a;1",
            "a;1;number",
            "a;x;integer",
            "a;1;boolean",
            "a;b;string",
            "a;\"b;string",
            "a;\"b\"c;string",
            "1a;1;long",
            "a;1;long,a;2;long",
            "a.b;1;long",
            "a;300;byte",
            "a;NaN;double",
            "a;\"f\";bytes",
            ";1;long",
            "a;1;long,,b;1;long",
            "not;1;long",
            "amqp_annotations;\"f000000006ffffffff4000\";bytes",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("").unwrap(), []);
        let two = read(" a ; \"x,y;z\" ; string , b;2;integer,").unwrap();
        assert_eq!(two.len(), 2);
        assert_eq!(two[0].1, PropertyValue::String("x,y;z".into()));
    }

    #[test]
    fn a_message_has_at_most_a_thousand_properties() {
        let header = |count: usize| {
            let all = (0..count).map(|at| format!("p{at};1;long"));
            all.collect::<Vec<_>>().join(",")
        };
        assert_eq!(read(&header(1_000)).map(|all| all.len()), Ok(1_000));
        assert!(read(&header(1_001)).is_err());
    }

    #[test]
    fn what_is_not_the_users_is_not_shown() {
        let of = |name: &str| Property { name: name.into(), value: PropertyValue::Int32(1) };
        let all = [of("jms.Tms"), of("mcd.Msd"), of("own"), of("amqp_to")];
        assert_eq!(write(&all), "own;1;integer");
        assert_eq!(write(&[Property { name: "n".into(), value: PropertyValue::Null }]), "");
    }
}
