//! What only describes: statements and operands whose values stay as they were written.
//!
//! Invariants:
//!
//! 1. Words fold to upper case everywhere but in the values of these; DL/I looks at none of them.

/// Statements that only describe.
const DESCRIBING_STATEMENTS: &[&str] = &["DFSMARSH", "DFSMAP", "DFSCASE"];

/// Keywords that every statement may have and that only describe.
pub const DESCRIBING_KEYWORDS: &[&str] = &["EXTERNALNAME", "REMARKS", "PROPERTIES", "ENCODING"];

/// Whether small letters stay in the value of a statement's keyword.
pub(crate) fn keeps_case(op: &str, keyword: &str) -> bool {
    DESCRIBING_STATEMENTS.contains(&op) || DESCRIBING_KEYWORDS.contains(&keyword)
}
