//! What reading yields: statements of labels, operations and operands, each with its place.
//!
//! Invariants:
//!
//! 1. Words are in upper case unless they were quoted, or are values that only describe.
//! 2. A place lies within one card: a word that is continued has the place of its first part.
//! 3. Parentheses are kept as they were written; what is redundant is for others to say.

/// Names a source in [`Sources`](crate::Sources): a file, a COPY member, or what a macro made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

/// Where something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The source.
    pub source: SourceId,
    /// The card, from 1.
    pub card: u32,
    /// The column, from 1, after tabs were expanded.
    pub column: u16,
    /// How many columns it takes, at least 1.
    pub len: u16,
}

/// A word and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Upper case unless quoted, or the value of something that only describes.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// The value of an operand, or of an element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing between two commas, before a parenthesis, or behind the equals sign.
    Empty(Place),
    /// A word without apostrophes around it; `X'40'` is one.
    Word(Word),
    /// A text in apostrophes: without them, doubled ones made one.
    Quoted(Word),
    /// A list in parentheses.
    List(Vec<Value>, Place),
}

/// An operand: `VALUE` or `KEYWORD=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What stands before the equals sign.
    pub keyword: Option<Word>,
    /// The value.
    pub value: Value,
    /// The place of the whole operand.
    pub place: Place,
}

/// A statement: one card and those that continue it, or one that a macro made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name from column 1.
    pub label: Option<Word>,
    /// The operation.
    pub op: Word,
    /// The operands in their order; a null one is kept unless it is the last.
    pub operands: Vec<Operand>,
    /// The place of the operation.
    pub place: Place,
}

impl Value {
    /// Where the value stands.
    #[must_use]
    pub fn place(&self) -> Place {
        match self {
            Self::Empty(place) | Self::List(_, place) => *place,
            Self::Word(word) | Self::Quoted(word) => word.place,
        }
    }
}

impl Operand {
    /// Whether this is the operand with the keyword `name`.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.keyword.as_ref().is_some_and(|keyword| keyword.text == name)
    }
}

impl Statement {
    /// The first operand with the keyword `name`.
    #[must_use]
    pub fn operand(&self, name: &str) -> Option<&Operand> {
        self.operands.iter().find(|operand| operand.is(name))
    }
}
