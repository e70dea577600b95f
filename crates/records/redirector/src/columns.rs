//! A record as columns: one for each field of the cluster's record map, and one for what they
//! cannot say.
//!
//! | column | has |
//! |---|---|
//! | one for each field | its value; none if its bytes are none of its kind |
//! | the record itself | nothing, if the values alone make the same record; else all of it |
//!
//! Invariants:
//! 1. What was written comes back byte for byte.
//! 2. A value that another program has changed counts: it takes the place of what the record has.
//! 3. Names of columns are different from each other and from those of the redirector's own.

use std::collections::BTreeSet;

use codec::CodePage;
use copybook::{Copybook, Fields, ValueKind};
use vsam::handler::{Described, HandlerError};

/// The columns of a record.
#[derive(Clone, Debug)]
pub struct Columns {
    fields: Option<Fields>,
    names: Vec<String>,
}

/// The values of a record's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Those of the fields.
    pub fields: Vec<Option<String>>,
    /// The record, if they do not say all of it.
    pub record: Option<Vec<u8>>,
}

/// What names of the redirector's own columns begin with.
const OWN: &str = "hf_";
/// The longest name of a column.
const NAME_BYTES_MAX: usize = 63;

impl Columns {
    /// Those of a redirected cluster; without a record map there is the record alone.
    ///
    /// # Errors
    /// If its record map, or its code page, cannot be used.
    pub fn of(file: &Described) -> Result<Columns, HandlerError> {
        let refused = |what: String| HandlerError::Refused(format!("{}: {what}", file.name));
        let Some(text) = &file.attributes.record_map else {
            return Ok(Columns { fields: None, names: Vec::new() });
        };
        let page = match &file.redirection.page {
            None => CodePage::Ascii,
            Some(name) => {
                CodePage::named(name).ok_or_else(|| refused(format!("{name} is no code page")))?
            }
        };
        let wrong = |error: copybook::CopybookError| refused(format!("its record map: {error}"));
        let book = Copybook::parse("RECORDMAP", text.as_bytes(), &|_| None).map_err(wrong)?;
        let Some(record) = book.records.first() else {
            return Err(refused("its record map describes no record".into()));
        };
        let fields = Fields::of(record, page).map_err(wrong)?;
        if fields.bytes_max() > file.attributes.record_bytes_max as usize {
            return Err(refused("its record map is longer than its longest record".into()));
        }
        let names = names_of(fields.all().iter().map(|field| field.name.as_str()));
        Ok(Columns { fields: Some(fields), names })
    }

    /// The name of each field's column, and what it holds.
    pub fn all(&self) -> impl Iterator<Item = (&str, ValueKind)> {
        let fields = self.fields.iter().flat_map(Fields::all);
        self.names.iter().map(String::as_str).zip(fields.map(|field| field.value))
    }

    /// How many fields there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The columns that lie within some bytes of the record, if they are exactly these: those of
    /// a key.
    #[must_use]
    pub fn within(&self, offset: usize, bytes: usize) -> Vec<&str> {
        let end = offset + bytes;
        let fields = self.fields.iter().flat_map(Fields::all);
        let inside = self
            .names
            .iter()
            .zip(fields)
            .filter(|(_, field)| field.offset >= offset && field.offset + field.bytes <= end);
        inside.map(|(name, _)| name.as_str()).collect()
    }

    /// The values of a record.
    #[must_use]
    pub fn split(&self, record: &[u8]) -> Values {
        let Some(fields) = &self.fields else {
            return Values { fields: Vec::new(), record: Some(record.to_vec()) };
        };
        let values = fields.values(record);
        let says_all = fields.record(&values, None).is_ok_and(|made| made == record);
        Values { fields: values, record: (!says_all).then(|| record.to_vec()) }
    }

    /// The record of values.
    ///
    /// # Errors
    /// If a value does not fit into its field, or there is no record.
    pub fn join(&self, values: &Values) -> Result<Vec<u8>, HandlerError> {
        let nonsense = |what: String| Err(HandlerError::Nonsense(what));
        match (&self.fields, &values.record) {
            (None, Some(record)) => Ok(record.clone()),
            (None, None) => nonsense("a row without a record".into()),
            (Some(fields), record) => {
                let made = fields.record(&values.fields, record.as_deref());
                made.or_else(|field| {
                    nonsense(format!("a value that has no room in {}", field.name))
                })
            }
        }
    }
}

fn names_of<'f>(fields: impl Iterator<Item = &'f str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for field in fields {
        let mut name: String = field
            .to_ascii_lowercase()
            .trim_end_matches(')')
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        if name.starts_with(OWN) {
            name.insert(0, 'f');
        }
        name.truncate(NAME_BYTES_MAX - 6);
        let bare = name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{bare}__{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_different_from_each_other() {
        let names = names_of(["ACCT-NO", "LINE(1,2)", "NAME", "NAME", "HF-KEY"].into_iter());
        assert_eq!(names, ["acct_no", "line_1_2", "name", "name__2", "fhf_key"]);
    }
}
