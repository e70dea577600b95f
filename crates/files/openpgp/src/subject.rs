//! Whom a certificate of X.509 names.
//!
//! ```text
//! | of                              | becomes                                            |
//! |---------------------------------|----------------------------------------------------|
//! | the user id `Name <address>`    | the common name, and the alternative name: e-mail  |
//! | another user id                 | the common name                                    |
//! | `CN=Ada, O=Bank\, Ltd., C=DE`   | these attributes, in this order                    |
//! ```

use crate::der::{NAME, SEQUENCE, put};
use crate::error::{Error, Result};

/// Tags of text.
const UTF8: u8 = 0x0C;
const PRINTABLE: u8 = 0x13;
const ASCII: u8 = 0x16;
const SET: u8 = 0x31;
/// An e-mail address among alternative names.
const ADDRESS: u8 = 0x81;

/// What may be said of a subject: its short name, its name in DER, the form of its text, and how
/// many characters it has at most (RFC 5280, appendix A).
struct Attribute {
    short: &'static str,
    name: &'static [u8],
    form: u8,
    chars_max: usize,
}

const fn attribute(
    short: &'static str,
    name: &'static [u8],
    form: u8,
    chars_max: usize,
) -> Attribute {
    Attribute { short, name, form, chars_max }
}

const EMAIL: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01];
const DOMAIN: &[u8] = &[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19];
const COMMON_NAME: Attribute = attribute("CN", &[0x55, 4, 3], UTF8, 64);
const NUMBER: Attribute = attribute("serialNumber", &[0x55, 4, 5], PRINTABLE, 64);
const ATTRIBUTES: [Attribute; 9] = [
    COMMON_NAME,
    NUMBER,
    attribute("C", &[0x55, 4, 6], PRINTABLE, 2),
    attribute("L", &[0x55, 4, 7], UTF8, 128),
    attribute("ST", &[0x55, 4, 8], UTF8, 128),
    attribute("O", &[0x55, 4, 10], UTF8, 64),
    attribute("OU", &[0x55, 4, 11], UTF8, 64),
    attribute("emailAddress", EMAIL, ASCII, 255),
    attribute("DC", DOMAIN, ASCII, 63),
];

/// A subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Sets of one attribute each, in DER.
    parts: Vec<Vec<u8>>,
    address: Option<String>,
}

impl Subject {
    /// The one whom a user id names.
    pub(crate) fn of_user(user: &str) -> Result<Subject> {
        let parts = user.strip_suffix('>').and_then(|user| user.rsplit_once('<'));
        let is_address =
            |text: &str| text.contains('@') && text.chars().all(|c| c.is_ascii_graphic());
        let (name, address) = match parts {
            Some((name, address)) if is_address(address) => (name.trim(), Some(address)),
            _ => (user.trim(), Some(user.trim()).filter(|user| is_address(user))),
        };
        let name = if name.is_empty() { address.unwrap_or_default() } else { name };
        let parts = vec![COMMON_NAME.put(name)?];
        Ok(Subject { parts, address: address.map(str::to_owned) })
    }

    /// The one of whom `NAME=value, NAME=value` is said; a comma within a value has `\` before it.
    pub(crate) fn parse(text: &str) -> Result<Subject> {
        let (mut parts, mut address) = (Vec::new(), None);
        for part in split(text) {
            let halves = part.split_once('=').map(|(short, value)| (short.trim(), value.trim()));
            let known =
                |short: &str| ATTRIBUTES.iter().find(|one| one.short.eq_ignore_ascii_case(short));
            let found = halves.and_then(|(short, value)| Some((known(short)?, value)));
            let Some((attribute, value)) = found else {
                let all: Vec<_> = ATTRIBUTES.iter().map(|one| one.short).collect();
                let what = format!(
                    "\"{part}\" is no part of a subject; those are NAME=value, and the names {}",
                    all.join(", ")
                );
                return Err(Error::Usage(what));
            };
            if attribute.name == EMAIL {
                address = Some(value.to_owned());
            }
            parts.push(attribute.put(value)?);
        }
        Ok(Subject { parts, address })
    }

    /// The same one, with a number that sets another key of theirs apart.
    pub(crate) fn with_number(&self, number: &str) -> Result<Subject> {
        let mut other = self.clone();
        other.parts.push(NUMBER.put(number)?);
        Ok(other)
    }

    /// As certificates have it.
    pub(crate) fn der(&self) -> Vec<u8> {
        let parts: Vec<&[u8]> = self.parts.iter().map(Vec::as_slice).collect();
        put(SEQUENCE, &parts)
    }

    /// The alternative names of a certificate, if there are any.
    pub(crate) fn other_names(&self) -> Option<Vec<u8>> {
        let address = self.address.as_ref()?;
        Some(put(SEQUENCE, &[&put(ADDRESS, &[address.as_bytes()])]))
    }
}

impl Attribute {
    fn put(&self, value: &str) -> Result<Vec<u8>> {
        let fits = match self.form {
            UTF8 => value.chars().all(|c| !c.is_control()),
            PRINTABLE => {
                value.chars().all(|c| c.is_ascii_alphanumeric() || " '()+,-./:=?".contains(c))
            }
            _ => value.chars().all(|c| c.is_ascii_graphic()),
        };
        let length = value.chars().count();
        if !fits || length == 0 || length > self.chars_max {
            let what = format!(
                "the subject's {} cannot be \"{value}\": it has 1 to {} characters{}; say another \
                 subject",
                self.short,
                self.chars_max,
                if self.form == UTF8 { "" } else { " of ASCII" }
            );
            return Err(Error::Usage(what));
        }
        let pair = [put(NAME, &[self.name]), put(self.form, &[value.as_bytes()])];
        Ok(put(SET, &[&put(SEQUENCE, &[&pair[0], &pair[1]])]))
    }
}

/// What stands between commas that have no `\` before them, without these.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, parts.last_mut()) {
            (',', _) => parts.push(String::new()),
            ('\\', Some(part)) => part.extend(letters.next()),
            (letter, Some(part)) => part.push(letter),
            (_, None) => {}
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_ids_become_names_with_their_addresses() {
        let of = |user: &str| Subject::of_user(user).unwrap();
        let ada = of("Ada (pay) <ada@example.org>");
        assert_eq!(ada.address.as_deref(), Some("ada@example.org"));
        assert_eq!(ada.parts, of("Ada (pay)").parts);
        assert_eq!(of("<a@b.c>"), of("a@b.c"));
        assert_eq!(of("Ada <not an address>").address, None);
        assert!(Subject::of_user("").is_err());
        assert!(Subject::of_user(&"x".repeat(65)).is_err());
    }

    #[test]
    fn attributes_are_parsed_or_named() {
        let parsed = Subject::parse(r"cn=Ada, O=Bank\, Ltd., C=DE").unwrap();
        assert_eq!(parsed.parts.len(), 3);
        assert_eq!(parsed.parts[0], Subject::of_user("Ada").unwrap().parts[0]);
        for wrong in ["", "Ada", "CN=", "C=Germany", "X=1", "CN=Ada,", "emailAddress=ä@b"] {
            assert!(Subject::parse(wrong).is_err(), "{wrong}");
        }
    }
}
