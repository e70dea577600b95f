//! `WHERE`: which objects a display shows.
//!
//! | operator | holds if the value |
//! |---|---|
//! | `LT GT EQ NE LE GE` | compares so: numbers as numbers, texts as texts |
//! | `LK NL` | matches, or does not match, a generic name |
//! | `CT EX` | is a list that contains, or does not contain, an item |
//! | `CL EXG` | is a list with an item, or without any, that matches a generic name (`CTG` is `CL`) |

use std::cmp::Ordering;

use queue_manager::name::matches_generic;

use crate::error::SyntaxError;
use crate::syntax::Word;

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    Greater,
    Equal,
    NotEqual,
    AtMost,
    AtLeast,
    Like,
    NotLike,
    Contains,
    Excludes,
    ContainsLike,
    ExcludesLike,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("LT", Operator::Less),
    ("GT", Operator::Greater),
    ("EQ", Operator::Equal),
    ("NE", Operator::NotEqual),
    ("LE", Operator::AtMost),
    ("GE", Operator::AtLeast),
    ("LK", Operator::Like),
    ("NL", Operator::NotLike),
    ("CT", Operator::Contains),
    ("EX", Operator::Excludes),
    ("CL", Operator::ContainsLike),
    ("CTG", Operator::ContainsLike),
    ("EXG", Operator::ExcludesLike),
];

/// What `WHERE` says.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// The attribute that it looks at.
    pub(crate) keyword: String,
    operator: Operator,
    value: String,
    /// Where the keyword ends in the command.
    pub(crate) end: usize,
}

impl Filter {
    /// Reads `WHERE(keyword operator value)`.
    ///
    /// # Errors
    /// If it is not of that form.
    pub(crate) fn parse(word: &Word) -> Result<Filter, SyntaxError> {
        let needs = "takes a keyword, an operator and a value";
        let shape = SyntaxError::Shape { keyword: "WHERE".into(), needs, end: word.end };
        let Some([keyword, operator, value]) = word.values.as_deref() else { return Err(shape) };
        let found = OPERATORS.iter().find(|(name, _)| *name == operator.text);
        let Some((_, known)) = found.filter(|_| !operator.quoted) else {
            let all: Vec<&str> = OPERATORS.iter().map(|(name, _)| *name).collect();
            return Err(SyntaxError::Value {
                keyword: "the operator of WHERE".into(),
                value: operator.text.clone(),
                why: format!("it takes {}", all.join(", ")),
                end: operator.end,
            });
        };
        Ok(Filter {
            keyword: keyword.text.clone(),
            operator: *known,
            value: value.text.clone(),
            end: keyword.end,
        })
    }

    /// Whether it holds for a value; `items` are those of a list, and the value alone otherwise.
    pub(crate) fn holds(&self, items: &[String]) -> bool {
        let joined = items.join(",");
        let shown = joined.trim_end();
        let order = match (shown.parse::<i64>(), self.value.trim().parse::<i64>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => shown.cmp(self.value.trim_end()),
        };
        let any = |holds: &dyn Fn(&str) -> bool| items.iter().any(|item| holds(item.trim()));
        let same = |item: &str| item == self.value.trim();
        let like = |item: &str| matches_generic(item, &self.value);
        match self.operator {
            Operator::Less => order == Ordering::Less,
            Operator::Greater => order == Ordering::Greater,
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::AtMost => order != Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
            Operator::Like => like(shown),
            Operator::NotLike => !like(shown),
            Operator::Contains => any(&same),
            Operator::Excludes => !any(&same),
            Operator::ContainsLike => any(&like),
            Operator::ExcludesLike => !any(&like),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::words;

    fn holds(filter: &str, items: &[&str]) -> bool {
        let word = words(&format!("WHERE({filter})")).unwrap().remove(0);
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        Filter::parse(&word).unwrap().holds(&items)
    }

    #[test]
    fn numbers_compare_as_numbers_and_texts_as_texts() {
        assert!(holds("CURDEPTH GT 9", &["10"]));
        assert!(!holds("CURDEPTH GT 10", &["10"]));
        assert!(holds("CURDEPTH GE 10", &["10"]) && holds("CURDEPTH LE 10", &["10"]));
        assert!(holds("CURDEPTH LT 10", &["9"]) && holds("CURDEPTH NE 10", &["9"]));
        assert!(holds("USAGE EQ XMITQ", &["XMITQ"]));
        assert!(holds("DESCR EQ ' '", &[""]));
        assert!(holds("DESCR EQ 'a b'", &["a b"]) && holds("DESCR LT 'b'", &["a"]));
    }

    #[test]
    fn generic_names_and_lists() {
        assert!(holds("INITQ LK SYSTEM*", &["SYSTEM.INIT"]) && holds("INITQ NL A*", &["B"]));
        assert!(holds("NAMES CT B", &["A", "B"]) && holds("NAMES EX C", &["A", "B"]));
        assert!(holds("NAMES CL B*", &["A", "BB"]) && holds("NAMES CTG B*", &["A", "BB"]));
        assert!(holds("NAMES EXG C*", &["A", "BB"]) && !holds("NAMES EXG B*", &["A", "BB"]));
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for wrong in ["CURDEPTH GT", "CURDEPTH IS 4", "CURDEPTH 'GT' 4", "A GT 4 5", ""] {
            let word = words(&format!("WHERE({wrong})")).unwrap().remove(0);
            assert!(Filter::parse(&word).is_err(), "{wrong}");
        }
    }
}
