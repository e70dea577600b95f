//! A request as the resources see it: names of the path and parameters, decoded.
//!
//! 1. A part of a path or query that is no UTF-8 once it is decoded, or has a broken escape, is
//!    refused; nothing is guessed.

use axum::http::HeaderMap;

use crate::authentication::User;
use crate::error::Problem;

/// The version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// Identifiers are 48 digits.
    V1,
    /// The same; administration by commands alone.
    V2,
    /// Identifiers begin with `ID:`; priorities and properties.
    V3,
}

impl Version {
    /// Every version.
    pub(crate) const ALL: [Version; 3] = [Version::V1, Version::V2, Version::V3];

    /// As paths have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
            Version::V3 => "v3",
        }
    }
}

/// What a request asks.
pub(crate) struct Ask {
    pub(crate) version: Version,
    /// The names in the path.
    pub(crate) names: Vec<(&'static str, String)>,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) user: User,
}

impl Ask {
    /// A name of the path; empty if the resource has none of that kind.
    pub(crate) fn name(&self, which: &str) -> &str {
        let found = self.names.iter().find(|(name, _)| *name == which);
        found.map_or("", |(_, value)| value)
    }

    /// A header as text; `None` if it is not there.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Problem> {
        let Some(value) = self.headers.get(name) else { return Ok(None) };
        let text = std::str::from_utf8(value.as_bytes());
        text.map(Some).map_err(|_| Problem::header(name, "", "It is no UTF-8."))
    }
}

/// The parameters behind the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads what stands behind the question mark.
    pub(crate) fn read(text: &str) -> Result<Query, Problem> {
        let mut all: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let bad = || Problem::parameter("", "A parameter has an escape that is none.");
            let name = decoded(&name.replace('+', " ")).ok_or_else(bad)?;
            let value = decoded(&value.replace('+', " ")).ok_or_else(bad)?;
            if all.iter().any(|(known, _)| *known == name) {
                return Err(Problem::parameter(&name, "It is given twice."));
            }
            all.push((name, value));
        }
        Ok(Query(all))
    }

    /// A parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// A parameter that has no value.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None => Ok(false),
            Some("") => Ok(true),
            Some(_) => Err(Problem::parameter(name, "It takes no value.")),
        }
    }

    /// A number.
    pub(crate) fn number(
        &self,
        name: &str,
        (low, high): (u64, u64),
    ) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (low..=high).contains(number));
        let why = || format!("It takes a number from {low} to {high}.");
        number.map(Some).ok_or_else(|| Problem::parameter(name, why()))
    }

    /// Refuses parameters that the resource does not have.
    pub(crate) fn only(
        &self,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<(), Problem> {
        match self.0.iter().find(|(name, _)| known.clone().all(|known| known != name)) {
            None => Ok(()),
            Some((name, _)) => {
                let all: Vec<&str> = known.collect();
                let why = match all.is_empty() {
                    true => "This resource takes no parameters.".to_owned(),
                    false => format!("This resource takes {}.", all.join(", ")),
                };
                Err(Problem::parameter(&crate::error::harmless(name), why))
            }
        }
    }
}

/// Text without its escapes; `None` if one is broken, or it is no UTF-8 then.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Text as it stands in a path.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b".-_~".contains(&byte) => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_whole_or_refused() {
        assert_eq!(decoded("A%2FB%25%c3%bc").as_deref(), Some("A/B%ü"));
        for broken in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
        assert_eq!(decoded(&encoded("A/B %ü")).as_deref(), Some("A/B %ü"));
    }

    #[test]
    fn parameters_stand_once_and_are_known() {
        let query = Query::read("wait=5&purge&messageId=a%20b").unwrap();
        assert_eq!(query.number("wait", (0, 9)).unwrap(), Some(5));
        assert!(query.number("wait", (0, 4)).is_err());
        assert!(query.flag("purge").unwrap() && !query.flag("force").unwrap());
        assert_eq!(query.get("messageId"), Some("a b"));
        assert!(query.only(["wait", "purge", "messageId"].into_iter()).is_ok());
        assert!(query.only(["wait", "purge"].into_iter()).is_err());
        assert!(Query::read("a=1&a=2").is_err() && Query::read("a=%f").is_err());
    }
}
