//! Maps of messages: which of their bytes are characters, by transaction.
//!
//! Invariants:
//! 1. The first map whose transaction fits counts; a message without one is all characters.

use otma::Name;

use super::options::Translation;
use crate::wire::Rule;

/// Which bytes of a transaction's messages are characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageMap {
    /// The transaction; `*` at its end stands for anything.
    pub transaction: String,
    /// Of what comes in.
    pub input: Rule,
    /// Of what goes out.
    pub output: Rule,
}

/// Maps, in the order in which they are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageMaps(pub Vec<MessageMap>);

impl MessageMaps {
    fn of(&self, transaction: Name) -> Option<&MessageMap> {
        let name = transaction.text();
        self.0.iter().find(|map| match map.transaction.strip_suffix('*') {
            Some(front) => name.starts_with(front),
            None => name == map.transaction,
        })
    }
}

impl Translation for MessageMaps {
    fn rule(&self, transaction: Name) -> Rule {
        self.of(transaction).map_or(Rule::Text, |map| map.input.clone())
    }

    fn output_rule(&self, transaction: Name) -> Rule {
        self.of(transaction).map_or(Rule::Text, |map| map.output.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_map_that_fits_counts() {
        let map = |transaction: &str, input: Rule| MessageMap {
            transaction: transaction.to_owned(),
            input,
            output: Rule::Nothing,
        };
        #[allow(clippy::single_range_in_vec_init)] // a list of places that has one
        let part = Rule::Fields(vec![0..8]);
        let maps = MessageMaps(vec![map("PART", part.clone()), map("PA*", Rule::Nothing)]);
        let name = |text: &str| Name::new(text).expect("a name");
        assert_eq!(maps.rule(name("PART")), part);
        assert_eq!(maps.rule(name("PARTY")), Rule::Nothing);
        assert_eq!(maps.rule(name("OTHER")), Rule::Text);
        assert_eq!(maps.output_rule(name("PART")), Rule::Nothing);
        assert_eq!(maps.output_rule(name("OTHER")), Rule::Text);
    }
}
