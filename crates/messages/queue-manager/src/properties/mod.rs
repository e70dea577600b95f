//! Message properties: named, typed values that travel with a message.
//!
//! | to understand | look at |
//! |---|---|
//! | how they stand in front of the data | `header` |
//! | names and their rules | [`Properties::set`] |
//!
//! 1. A property of the folder `usr` is known by its name alone; others have their folder in
//!    front, such as `jms.Dst`.
//! 2. A property is found by its name however many there are: doors take what others send.
//! 3. In a message, properties stand in a rules and formatting header, version 2, in front of the
//!    data, and nowhere else.

mod header;

pub(crate) use header::{Split, describe_data, header_bytes, split, write};

use std::collections::BTreeMap;

use crate::reason::{Answer, Reason, fail, require};

/// Characters of the longest name.
const NAME_BYTES_MAX: usize = 4_095;
/// Bytes that a property takes besides its name and value.
const PROPERTY_BYTES: usize = 160;

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the names say it
pub enum PropertyValue {
    Null,
    Boolean(bool),
    Bytes(Vec<u8>),
    Int8(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Float32(f32),
    Float64(f64),
    String(String),
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name; names without a folder in front belong to `usr`.
    pub name: String,
    /// Its value.
    pub value: PropertyValue,
}

/// Which property an inquiry is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum InquireOptions {
    #[default]
    First,
    Next,
    UnderCursor,
}

/// The properties of a message, in the order in which they were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    all: Vec<Property>,
    /// Where the first one of a name stands.
    places: BTreeMap<String, usize>,
    cursor: Option<usize>,
    bytes: usize,
}

impl FromIterator<Property> for Properties {
    fn from_iter<I: IntoIterator<Item = Property>>(all: I) -> Properties {
        let mut properties = Properties::default();
        all.into_iter().for_each(|one| properties.push(one));
        properties
    }
}

impl Properties {
    /// Every property.
    pub fn iter(&self) -> impl Iterator<Item = &Property> {
        self.all.iter()
    }

    /// About how many bytes of memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a property behind the others.
    fn push(&mut self, one: Property) {
        self.bytes += bytes_of(&one.name, &one.value);
        self.places.entry(one.name.clone()).or_insert(self.all.len());
        self.all.push(one);
    }

    /// The value of a property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        let name = without_usr(name);
        self.places.get(name).and_then(|at| self.all.get(*at)).map(|one| &one.value)
    }

    /// Sets a property, in place of the one of that name.
    ///
    /// # Errors
    /// `PROPERTY_NAME_ERROR`, `PROPERTY_NAME_TOO_BIG`.
    pub fn set(&mut self, name: &str, value: PropertyValue) -> Answer<()> {
        check_name(name)?;
        let name = without_usr(name);
        match self.places.get(name).and_then(|at| self.all.get_mut(*at)) {
            Some(one) => {
                let more = bytes_of(name, &value);
                self.bytes = self.bytes.saturating_sub(bytes_of(name, &one.value)) + more;
                one.value = value;
            }
            None => self.push(Property { name: name.to_owned(), value }),
        }
        Ok(())
    }

    /// Removes a property.
    ///
    /// # Errors
    /// `PROPERTY_NAME_ERROR`, `PROPERTY_NOT_AVAILABLE`.
    pub fn delete(&mut self, name: &str) -> Answer<()> {
        check_name(name)?;
        let name = without_usr(name);
        let Some(at) = self.places.get(name).copied() else {
            return fail(Reason::PROPERTY_NOT_AVAILABLE);
        };
        let mut all = std::mem::take(&mut self.all);
        all.remove(at);
        // The cursor stands between the neighbours of what it stood on.
        let cursor = self.cursor.and_then(|cursor| match cursor.cmp(&at) {
            std::cmp::Ordering::Less => Some(cursor),
            _ => cursor.checked_sub(1),
        });
        *self = Properties { cursor, ..all.into_iter().collect() };
        Ok(())
    }

    /// The first or next property that a name stands for, which may end with `%` for anything;
    /// or the one that the last inquiry found.
    ///
    /// # Errors
    /// `PROPERTY_NAME_ERROR`, `PROPERTY_NOT_AVAILABLE`.
    pub fn inquire(&mut self, name: &str, options: InquireOptions) -> Answer<Property> {
        let from = match (options, self.cursor) {
            (InquireOptions::First, _) | (InquireOptions::Next, None) => 0,
            (InquireOptions::Next, Some(cursor)) => cursor + 1,
            (InquireOptions::UnderCursor, Some(cursor)) => {
                let one = self.all.get(cursor).cloned();
                return one.map_or(fail(Reason::PROPERTY_NOT_AVAILABLE), Ok);
            }
            (InquireOptions::UnderCursor, None) => return fail(Reason::PROPERTY_NOT_AVAILABLE),
        };
        require(!name.is_empty(), Reason::PROPERTY_NAME_ERROR)?;
        let matching = |one: &&Property| matches(&one.name, name);
        let found = self.all.iter().enumerate().skip(from).find(|(_, one)| matching(one));
        let Some((at, one)) = found else { return fail(Reason::PROPERTY_NOT_AVAILABLE) };
        self.cursor = Some(at);
        Ok(one.clone())
    }

    /// Those whose names match, taken out if `delete`.
    pub(crate) fn matching(&mut self, name: &str, delete: bool) -> Properties {
        let chosen = self.all.iter().filter(|one| matches(&one.name, name)).cloned().collect();
        if delete {
            let all = std::mem::take(&mut self.all).into_iter();
            *self = all.filter(|one| !matches(&one.name, name)).collect();
        }
        chosen
    }
}

/// About how many bytes of memory a property takes; its name stands twice.
pub(crate) fn bytes_of(name: &str, value: &PropertyValue) -> usize {
    let long = match value {
        PropertyValue::Bytes(value) => value.len(),
        PropertyValue::String(value) => value.len(),
        _ => 0,
    };
    PROPERTY_BYTES + 2 * name.len() + long
}

/// Whether a name, or pattern with `%` at its end, stands for a property.
fn matches(name: &str, pattern: &str) -> bool {
    let full = if name.contains('.') { name.to_owned() } else { format!("usr.{name}") };
    match pattern.strip_suffix('%') {
        None => name == without_usr(pattern),
        Some(prefix) => full.starts_with(prefix) || name.starts_with(prefix),
    }
}

fn without_usr(name: &str) -> &str {
    let bare = name.strip_prefix("usr.").unwrap_or(name);
    // A name in a group keeps the folder, or its group would be taken for one.
    if bare.contains('.') { name } else { bare }
}

fn check_name(name: &str) -> Answer<()> {
    require(name.len() <= NAME_BYTES_MAX, Reason::PROPERTY_NAME_TOO_BIG)?;
    let starts = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    let goes_on = |c: char| starts(c) || c.is_numeric();
    let part = |part: &str| part.starts_with(starts) && part.chars().all(goes_on);
    require(name.split('.').all(part), Reason::PROPERTY_NAME_ERROR)?;
    const RESERVED: [&str; 12] = [
        "NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE", "JMS",
    ];
    let reserved = RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word));
    require(!reserved, Reason::PROPERTY_NAME_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_through_what_a_pattern_stands_for() {
        let mut all = Properties::default();
        for name in ["color", "jms.Dst", "usr.size"] {
            all.set(name, PropertyValue::Int32(1)).unwrap();
        }
        let mut names = Vec::new();
        let mut option = InquireOptions::First;
        while let Ok(one) = all.inquire("%", option) {
            names.push(one.name);
            option = InquireOptions::Next;
        }
        assert_eq!(names, ["color", "jms.Dst", "size"]);
        assert_eq!(all.inquire("usr.%", InquireOptions::First).unwrap().name, "color");
        assert!(all.get("usr.color").is_some());
        assert_eq!(all.delete("none").unwrap_err().0, Reason::PROPERTY_NOT_AVAILABLE);
    }

    #[test]
    fn many_are_set_found_and_deleted_by_name() {
        let mut all = Properties::default();
        let name = |at: i32| format!("p{at}");
        (0..200_000).for_each(|at| all.set(&name(at), PropertyValue::Int32(at)).unwrap());
        (0..200_000).for_each(|at| all.set(&name(at), PropertyValue::Int32(at + 1)).unwrap());
        assert_eq!(all.iter().count(), 200_000);
        assert_eq!(all.get("p199999"), Some(&PropertyValue::Int32(200_000)));
        all.delete("p0").unwrap();
        assert_eq!(all.get("p0"), None);
        assert_eq!(all.get("p1"), Some(&PropertyValue::Int32(2)));
        all.set("p0", PropertyValue::Null).unwrap();
        assert_eq!(all.iter().last().map(|one| &*one.name), Some("p0"));
        let taken = all.matching("p1%", true);
        assert_eq!(taken.get("p1"), Some(&PropertyValue::Int32(2)));
        assert_eq!((all.get("p1"), all.get("p2")), (None, Some(&PropertyValue::Int32(3))));
        // What was taken, replaced or deleted takes no memory any more.
        let sum = |all: &Properties| all.iter().map(|it| bytes_of(&it.name, &it.value)).sum();
        assert_eq!((all.bytes(), taken.bytes()), (sum(&all), sum(&taken)));
    }

    #[test]
    fn names_have_rules() {
        let mut all = Properties::default();
        for bad in ["", "1a", "a b", "and", "a..b", "Not"] {
            let refused = all.set(bad, PropertyValue::Null).unwrap_err();
            assert_eq!(refused.0, Reason::PROPERTY_NAME_ERROR, "{bad}");
        }
        let long = all.set(&"a".repeat(5_000), PropertyValue::Null).unwrap_err();
        assert_eq!(long.0, Reason::PROPERTY_NAME_TOO_BIG);
    }
}
