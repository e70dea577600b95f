//! Which records REPRO and PRINT take: where they begin, and where they end.
//!
//! | | |
//! |---|---|
//! | FROMKEY, TOKEY | from the first record whose key is not less, to the last whose is not greater |
//! | `AB*`, or a key that is shorter | the leading bytes alone are compared |
//! | FROMNUMBER, TONUMBER | relative record numbers |
//! | FROMADDRESS, TOADDRESS | relative byte addresses; one to begin at is that of a record |
//! | SKIP, COUNT | so many records |
//!
//! Invariants:
//! 1. A range that does not go with the kind of the input is refused before anything is copied.

use codec::CodePage;
use vsam::{Feedback, KeyField, Rba, RecordNumber};

use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::syntax::{Parameters, Text, Value};

/// Where to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    Front,
    Key(Vec<u8>),
    Number(RecordNumber),
    Address(Rba),
    Skip(u64),
}

/// Where to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Last,
    Key(Vec<u8>),
    Number(RecordNumber),
    Address(Rba),
    Count(u64),
}

/// A range of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) begin: Begin,
    pub(crate) end: End,
}

/// What can be asked of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    /// It has keys, here.
    pub(crate) key: Option<KeyField>,
    /// It has relative record numbers.
    pub(crate) numbers: bool,
    /// It has relative byte addresses.
    pub(crate) addresses: bool,
}

impl Range {
    /// All records.
    pub(crate) const ALL: Range = Range { begin: Begin::Front, end: End::Last };

    /// What the parameters say.
    ///
    /// Characters of keys are those of `page`, if there is one.
    pub(crate) fn of(
        parameters: &Parameters,
        ways: Ways,
        page: Option<CodePage>,
    ) -> Result<Range, Refusal> {
        let improper = |value: &Value, what: &str| {
            let text = format!("{what} is not possible with this input");
            Refusal::from(Fault::new("IDC3210I", value.place, text))
        };
        let mut range = Range::ALL;
        for (name, begins) in [("FROMKEY", true), ("TOKEY", false)] {
            let Some(value) = parameters.value(name) else { continue };
            let field = ways.key.ok_or_else(|| improper(value, name))?;
            let key = key_of(value, field, page)?;
            match begins {
                true => range.begin = Begin::Key(key),
                false => range.end = End::Key(key),
            }
        }
        for (name, begins) in [("FROMNUMBER", true), ("TONUMBER", false)] {
            let Some(value) = parameters.value(name).filter(|_| ways.numbers) else {
                match parameters.value(name) {
                    Some(value) => return Err(improper(value, name)),
                    None => continue,
                }
            };
            let number = u32::try_from(value.number()?).unwrap_or(u32::MAX);
            match begins {
                true => range.begin = Begin::Number(RecordNumber(number.max(1))),
                false => range.end = End::Number(RecordNumber(number)),
            }
        }
        for (name, begins) in [("FROMADDRESS", true), ("TOADDRESS", false)] {
            let Some(value) = parameters.value(name) else { continue };
            if !ways.addresses {
                return Err(improper(value, name));
            }
            let rba = Rba(value.number()?);
            match begins {
                true => range.begin = Begin::Address(rba),
                false => range.end = End::Address(rba),
            }
        }
        if let Some(skip) = parameters.number("SKIP")? {
            range.begin = Begin::Skip(skip);
        }
        if let Some(count) = parameters.number("COUNT")? {
            range.end = End::Count(count);
        }
        Ok(range)
    }
}

/// The key that a value gives; without the `*` of a generic one.
fn key_of(value: &Value, field: KeyField, page: Option<CodePage>) -> Result<Vec<u8>, Refusal> {
    let mut key = value.bytes();
    let whole = field.bytes as usize;
    let generic = !matches!(value.text, Text::Hex(_)) && key.last() == Some(&b'*');
    if generic && key.len() != whole {
        key.pop();
    }
    if key.is_empty() || key.len() > whole {
        let text = format!("a key of {whole} bytes cannot have {} of them", key.len());
        return Err(Fault::new("IDC3203I", value.place, text).into());
    }
    let page = page.filter(|_| !matches!(value.text, Text::Hex(_)));
    let Some(page) = page else { return Ok(key) };
    page.encode(&String::from_utf8_lossy(&key))
        .map_err(|error| Fault::new("IDC3203I", value.place, error.to_string()).into())
}

impl End {
    /// Whether a record still belongs to the range. `taken` is how many came before it.
    pub(crate) fn includes(
        &self,
        taken: u64,
        key: Option<KeyField>,
        record: &[u8],
        feedback: &Feedback,
    ) -> bool {
        match self {
            End::Last => true,
            End::Count(count) => taken < *count,
            End::Key(last) => {
                let own = key.and_then(|field| field.of(record)).unwrap_or_default();
                own.get(..last.len()).unwrap_or(own) <= last.as_slice()
            }
            End::Number(last) => feedback.number.is_none_or(|number| number <= *last),
            End::Address(last) => feedback.rba.is_none_or(|rba| rba <= *last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexis::lines_of;
    use crate::syntax::command_of;

    const KEYED: Ways =
        Ways { key: Some(KeyField { offset: 0, bytes: 4 }), numbers: false, addresses: false };

    fn range(text: &str, ways: Ways) -> Result<Range, Refusal> {
        let text = format!(" PRINT IFILE(A) {text}\n");
        let command = command_of(&lines_of(&text)[0].tokens).expect("a command");
        Range::of(&command.parameters, ways, None)
    }

    #[test]
    fn keys_are_whole_or_generic() {
        assert_eq!(range("FKEY(AB*)", KEYED).unwrap().begin, Begin::Key(b"AB".to_vec()));
        assert_eq!(range("FKEY(ABC*)", KEYED).unwrap().begin, Begin::Key(b"ABC*".to_vec()));
        assert_eq!(range("FKEY(X'2A')", KEYED).unwrap().begin, Begin::Key(b"*".to_vec()));
        assert!(range("FKEY(ABCDE)", KEYED).is_err());
        let end = range("TOKEY('AB')", KEYED).unwrap().end;
        let includes = |record: &[u8]| end.includes(0, KEYED.key, record, &Feedback::default());
        assert!(includes(b"ABZZ") && includes(b"AAAA") && !includes(b"AC00"));
    }

    #[test]
    fn a_range_goes_with_its_input() {
        for text in ["FNUM(1)", "TONUMBER(2)", "FADDR(0)", "TOADDRESS(3)"] {
            assert_eq!(range(text, KEYED).unwrap_err().id, "IDC3210I", "{text}");
        }
        assert!(range("FKEY(A)", Ways::default()).is_err());
        let all = range("SKIP(3) COUNT(4)", Ways::default()).unwrap();
        assert_eq!(all, Range { begin: Begin::Skip(3), end: End::Count(4) });
        assert!(all.end.includes(3, None, b"", &Feedback::default()));
        assert!(!all.end.includes(4, None, b"", &Feedback::default()));
    }
}
