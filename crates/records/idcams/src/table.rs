//! What a table of keywords is: which may stand somewhere, how they are abbreviated, what they
//! take.

/// What may stand somewhere.
pub(crate) struct Table {
    /// How many values may stand without a keyword: at least, at most.
    pub(crate) positional: (u16, u16),
    /// Lists of keywords.
    pub(crate) keywords: &'static [&'static [Keyword]],
    /// Of each of these groups one at most.
    pub(crate) exclusive: &'static [&'static [&'static str]],
    /// Of each of these groups one at least.
    pub(crate) required: &'static [&'static [&'static str]],
}

impl Table {
    /// The keyword of that name or abbreviation.
    pub(crate) fn find(&self, word: &str) -> Option<&'static Keyword> {
        let mut all = self.keywords.iter().flat_map(|list| list.iter());
        all.find(|keyword| keyword.name == word || keyword.short.contains(&word))
    }
}

/// A keyword.
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    pub(crate) short: &'static [&'static str],
    pub(crate) shape: Shape,
}

/// What a keyword takes.
pub(crate) enum Shape {
    /// Nothing.
    Flag,
    /// Values: at least, at most.
    Values(u16, u16),
    /// Parameters.
    Sub(&'static Table),
    /// Objects, each with parameters.
    Rows(&'static Table),
}

/// As many values as anybody gives.
pub(crate) const MANY: u16 = 1000;

/// A keyword without values.
pub(crate) const fn flag(name: &'static str, short: &'static [&'static str]) -> Keyword {
    Keyword { name, short, shape: Shape::Flag }
}

/// A keyword with one value.
pub(crate) const fn one(name: &'static str, short: &'static [&'static str]) -> Keyword {
    Keyword { name, short, shape: Shape::Values(1, 1) }
}

/// A keyword with one or two values.
pub(crate) const fn two(name: &'static str, short: &'static [&'static str]) -> Keyword {
    Keyword { name, short, shape: Shape::Values(1, 2) }
}

/// A keyword with any number of values.
pub(crate) const fn many(name: &'static str, short: &'static [&'static str]) -> Keyword {
    Keyword { name, short, shape: Shape::Values(1, MANY) }
}

/// A keyword with parameters of its own.
pub(crate) const fn sub(
    name: &'static str,
    short: &'static [&'static str],
    table: &'static Table,
) -> Keyword {
    Keyword { name, short, shape: Shape::Sub(table) }
}

/// A keyword with objects.
pub(crate) const fn rows(
    name: &'static str,
    short: &'static [&'static str],
    table: &'static Table,
) -> Keyword {
    Keyword { name, short, shape: Shape::Rows(table) }
}
