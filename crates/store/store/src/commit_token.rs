//! The name under which a commit whose answer was lost can be asked for.

use std::fmt;

/// What to ask a store with when the answer to a commit was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitToken(pub [u8; 16]);

impl fmt::Display for CommitToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base::hex::lower(&self.0))
    }
}

impl fmt::Debug for CommitToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_prints_as_hexadecimal_digits() {
        let token = CommitToken([0xab; 16]);
        assert_eq!(token.to_string(), "ab".repeat(16));
    }
}
