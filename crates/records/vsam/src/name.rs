//! Names of data sets, and filters that stand for many of them.
//!
//! A name has 1 to 44 characters in qualifiers of 1 to 8, with points between. A qualifier begins
//! with a letter or one of `@ # $`; digits and hyphens may follow. Small letters are read as large
//! ones.

use std::fmt;

use base::wildcard;
use serde::{Deserialize, Serialize};

/// Characters of the longest name.
const NAME_CHARS_MAX: usize = 44;
/// Characters of the longest qualifier.
const QUALIFIER_CHARS_MAX: usize = 8;

/// The name of a data set, such as `BANK.ACCOUNT.KSDS`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataSetName(Box<str>);

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is no name of a data set: {what}")]
pub struct NameError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub what: &'static str,
}

impl DataSetName {
    /// Reads a name.
    ///
    /// # Errors
    /// If it breaks a rule of names.
    pub fn parse(text: &str) -> Result<DataSetName, NameError> {
        let wrong = |what| NameError { text: text.to_owned(), what };
        if text.is_empty() || text.len() > NAME_CHARS_MAX {
            return Err(wrong("a name has 1 to 44 characters"));
        }
        for qualifier in text.split('.') {
            if qualifier.is_empty() || qualifier.len() > QUALIFIER_CHARS_MAX {
                return Err(wrong("each qualifier has 1 to 8 characters"));
            }
            let mut letters = qualifier.bytes();
            if !letters.next().is_some_and(begins) {
                return Err(wrong("a qualifier begins with a letter or one of @ # $"));
            }
            if !letters.all(follows) {
                return Err(wrong("it has a character that names do not have"));
            }
        }
        Ok(DataSetName(text.to_ascii_uppercase().into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its qualifiers, from the left.
    pub fn qualifiers(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// Its first qualifier.
    #[must_use]
    pub fn first_qualifier(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }

    /// Its first qualifiers, so many of them, if it has more.
    #[must_use]
    pub fn first_qualifiers(&self, count: usize) -> Option<DataSetName> {
        let (at, _) = self.0.match_indices('.').nth(count.checked_sub(1)?)?;
        Some(DataSetName(self.0[..at].into()))
    }

    /// The name with one more qualifier.
    ///
    /// # Errors
    /// If it becomes too long.
    pub fn with(&self, qualifier: &str) -> Result<DataSetName, NameError> {
        DataSetName::parse(&format!("{self}.{qualifier}"))
    }

    /// Whether it begins with all qualifiers of `level`; a name is within itself.
    #[must_use]
    pub fn is_within(&self, level: &DataSetName) -> bool {
        let rest = self.0.strip_prefix(&*level.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The name with `to` in place of the qualifiers of `from`, if it begins with those.
    #[must_use]
    pub fn renamed(&self, from: &DataSetName, to: &DataSetName) -> Option<DataSetName> {
        if !self.is_within(from) {
            return None;
        }
        DataSetName::parse(&format!("{to}{}", &self.0[from.0.len()..])).ok()
    }
}

fn begins(letter: u8) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, b'@' | b'#' | b'$')
}

fn follows(letter: u8) -> bool {
    begins(letter) || letter.is_ascii_digit() || letter == b'-'
}

impl fmt::Display for DataSetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DataSetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DataSetName {
    type Error = NameError;

    fn try_from(text: String) -> Result<DataSetName, NameError> {
        DataSetName::parse(&text)
    }
}

impl From<DataSetName> for String {
    fn from(name: DataSetName) -> String {
        name.0.into()
    }
}

/// What stands for many names: `*` for one qualifier or a part of one, `**` for any number of
/// qualifiers, none too, `%` for one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Vec<String>);

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// If it has an empty qualifier, or one that no name can have.
    pub fn parse(text: &str) -> Result<Filter, NameError> {
        let wrong = |what| NameError { text: text.to_owned(), what };
        let parts: Vec<String> = text.to_ascii_uppercase().split('.').map(str::to_owned).collect();
        for part in &parts {
            if part.is_empty() {
                return Err(wrong("each qualifier has 1 to 8 characters"));
            }
            if part != "**" && part.contains("**") {
                return Err(wrong("** stands alone between points"));
            }
            if !part.bytes().all(|letter| follows(letter) || matches!(letter, b'*' | b'%')) {
                return Err(wrong("it has a character that names do not have"));
            }
        }
        Ok(Filter(parts))
    }

    /// All names.
    #[must_use]
    pub fn all() -> Filter {
        Filter(vec!["**".into()])
    }

    /// One name.
    #[must_use]
    pub fn one(name: &DataSetName) -> Filter {
        Filter(name.qualifiers().map(str::to_owned).collect())
    }

    /// All names that begin with the qualifiers of `level`, and it.
    #[must_use]
    pub fn within(level: &DataSetName) -> Filter {
        let mut parts: Vec<String> = level.qualifiers().map(str::to_owned).collect();
        parts.push("**".into());
        Filter(parts)
    }

    /// Whether it stands for one name only, without wild cards.
    #[must_use]
    pub fn is_one(&self) -> bool {
        !self.0.iter().any(|part| part.contains(['*', '%']))
    }

    /// Whether it stands for this name, too.
    #[must_use]
    pub fn matches(&self, name: &DataSetName) -> bool {
        let qualifiers: Vec<&str> = name.qualifiers().collect();
        let qualifier = |part: &String, own: &&str| {
            wildcard::text_fits(part.as_bytes(), own.as_bytes(), Some(b'%'))
        };
        wildcard::fits(&self.0, &qualifiers, |part| part == "**", qualifier)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DataSetName {
        DataSetName::parse(text).unwrap()
    }

    #[test]
    fn names_have_qualifiers_of_eight_and_forty_four_characters() {
        assert_eq!(name("bank.account.ksds").as_str(), "BANK.ACCOUNT.KSDS");
        assert_eq!(name("#VSAM.#CICS.PROD").first_qualifier(), "#VSAM");
        let longest = ["ABCDEFG9"; 4].join(".") + ".A234567";
        assert_eq!(longest.len(), 43);
        for good in [&longest, "A", "$A.B-C.@1"] {
            assert!(DataSetName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "A.", ".A", "A..B", "1A", "A.1", "ABCDEFGHI", "A B", "Ä", "A_B"] {
            assert!(DataSetName::parse(bad).is_err(), "{bad}");
        }
        assert!(DataSetName::parse(&(longest + ".AB")).is_err());
    }

    #[test]
    fn a_name_is_renamed_by_its_first_qualifiers() {
        let account = name("BANK.ACCOUNT.KSDS");
        assert_eq!(
            account.renamed(&name("BANK"), &name("COPY.OF")),
            Some(name("COPY.OF.ACCOUNT.KSDS"))
        );
        assert_eq!(account.renamed(&name("BAN"), &name("COPY")), None);
        assert_eq!(account.first_qualifiers(2), Some(name("BANK.ACCOUNT")));
        assert_eq!(account.first_qualifiers(3), None);
        assert_eq!(account.first_qualifiers(0), None);
    }

    #[test]
    fn a_filter_stands_for_qualifiers_and_letters() {
        let fits = |filter: &str, text: &str| Filter::parse(filter).unwrap().matches(&name(text));
        assert!(fits("BANK.*", "BANK.A") && !fits("BANK.*", "BANK.A.B") && !fits("BANK.*", "BANK"));
        assert!(
            fits("BANK.**", "BANK") && fits("BANK.**", "BANK.A.B") && !fits("BANK.**", "BANKS")
        );
        assert!(fits("**.KSDS", "A.B.KSDS") && fits("**.A.**.B", "A.X.A.B"));
        assert!(fits("B%NK.A*T", "BANK.ACCT") && !fits("B%NK.A*T", "BNK.ACCT"));
        assert!(fits("*A*A*", "BANANA") && !fits("*A*A*", "BAN"));
        assert!(Filter::one(&name("A.B")).is_one() && !Filter::all().is_one());
        assert!(Filter::parse("A.B**").is_err() && Filter::parse("A..B").is_err());
    }
}
