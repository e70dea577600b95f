//! Which licences may be shipped, and how an SPDX expression is read.
//!
//! An expression is licences with `AND`, `OR` (or the old `/`), `WITH` and brackets; `AND` binds
//! closer than `OR`. It may be shipped if some way of reading its `OR`s leaves only allowed ones.

/// Licences that ask for no more than their text and a notice.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    // The licence of bzip2: that of BSD in other words.
    "bzip2-1.0.6",
];

/// Whether something under this licence expression may be shipped with Holdfast.
#[must_use]
pub fn may_be_shipped(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words };
    parser.any().is_some_and(|allowed| allowed && parser.words.is_empty())
}

struct Parser<'a> {
    words: &'a [&'a str],
}

impl Parser<'_> {
    /// Terms with `OR` between them; `None` if it is no expression.
    fn any(&mut self) -> Option<bool> {
        let mut allowed = self.all()?;
        while self.takes("OR") {
            allowed |= self.all()?;
        }
        Some(allowed)
    }

    fn all(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.takes("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            let allowed = self.any()?;
            return self.takes(")").then_some(allowed);
        }
        let mut name = self.next()?.to_owned();
        if self.takes("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(ALLOWED.contains(&name.as_str()))
    }

    fn next(&mut self) -> Option<&str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn takes(&mut self, word: &str) -> bool {
        let there = self.words.first() == Some(&word);
        if there {
            self.words = &self.words[1..];
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_choice_is_enough_but_every_part_of_a_sum_counts() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0-only",
            "ISC AND (Apache-2.0 OR GPL-2.0-only)",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
            "GPL-2.0-only AND MIT OR Zlib",
        ] {
            assert!(may_be_shipped(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT OR",
            "MIT Apache-2.0",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "ISC AND (LGPL-2.1-only OR MPL-2.0)",
        ] {
            assert!(!may_be_shipped(bad), "{bad}");
        }
    }
}
