//! Takes an SSA apart to show it.
//!
//! Invariants:
//!
//! 1. Any bytes are taken apart, without knowing the fields: a value ends at the last closing
//!    parenthesis, or where a boolean, a field name and an operator follow.
//! 2. This is for people. What an SSA means is decided by DL/I alone.

const NAME: usize = 8;
const OPERATORS: [&[u8; 2]; 23] = [
    b"= ", b" =", b"> ", b" >", b"< ", b" <", b">=", b"=>", b"<=", b"=<", b"^=", b"=^", b"!=",
    b"=!", b"<>", b"EQ", b"NE", b"GT", b"LT", b"GE", b"LE", b"\xac=", b"=\xac",
];

/// An SSA taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The segment name, with its padding.
    pub segment: &'a [u8],
    /// The command codes, without the asterisk.
    pub codes: &'a [u8],
    /// What stands in parentheses.
    pub conditions: Vec<Condition<'a>>,
    /// What is none of this.
    pub rest: &'a [u8],
}

/// A condition of an SSA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<'a> {
    /// What joins it to the one before.
    pub boolean: Option<u8>,
    /// The field, with its padding; empty for a concatenated key.
    pub field: &'a [u8],
    /// The operator; empty for a concatenated key.
    pub operator: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// Takes an SSA apart.
#[must_use]
pub fn take_apart(ssa: &[u8]) -> Parts<'_> {
    let (segment, mut rest) = ssa.split_at(ssa.len().min(NAME));
    let mut parts = Parts { segment, ..Parts::default() };
    if let Some(behind) = rest.strip_prefix(b"*") {
        let end = behind.iter().position(|byte| matches!(byte, b'(' | b' '));
        (parts.codes, rest) = behind.split_at(end.unwrap_or(behind.len()));
    }
    if let Some(behind) = rest.strip_prefix(b"(") {
        let end = behind.iter().rposition(|byte| *byte == b')').unwrap_or(behind.len());
        parts.conditions = conditions(&behind[..end]);
        rest = behind.get(end + 1..).unwrap_or_default();
    }
    parts.rest = rest.trim_ascii();
    parts
}

fn conditions(mut text: &[u8]) -> Vec<Condition<'_>> {
    let mut conditions = Vec::new();
    let mut boolean = None;
    loop {
        if !begins(text) {
            conditions.push(Condition { boolean, field: b"", operator: b"", value: text });
            return conditions;
        }
        let (field, behind) = text.split_at(NAME);
        let (operator, behind) = behind.split_at(2);
        let is_next = |at: &usize| b"*&+|#".contains(&behind[*at]) && begins(&behind[at + 1..]);
        let end = (0..behind.len()).find(is_next);
        let value = &behind[..end.unwrap_or(behind.len())];
        conditions.push(Condition { boolean, field, operator, value });
        let Some(end) = end else { return conditions };
        boolean = Some(behind[end]);
        text = &behind[end + 1..];
    }
}

/// Whether a condition begins here: a field name and an operator.
fn begins(text: &[u8]) -> bool {
    let Some((field, behind)) = text.split_at_checked(NAME) else { return false };
    let Some(operator) = behind.first_chunk::<2>() else { return false };
    let name = field.trim_ascii_end();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"$#@/_".contains(byte);
    !name.is_empty() && name.iter().all(is_name) && OPERATORS.contains(&operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ssa: &[u8]) -> String {
        let parts = take_apart(ssa);
        let mut words = vec![parts.segment.to_vec(), parts.codes.to_vec()];
        for condition in parts.conditions {
            words.push(condition.boolean.into_iter().collect());
            words
                .extend([condition.field, condition.operator, condition.value].map(<[u8]>::to_vec));
        }
        words.push(parts.rest.to_vec());
        words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn every_form_is_taken_apart() {
        for (ssa, expected) in [
            ("", "||"),
            ("ROOT", "ROOT||"),
            ("ROOT     ", "ROOT    ||"),
            ("ROOT    *DP- ", "ROOT    |DP-|"),
            ("ROOT    * ", "ROOT    ||"),
            ("ROOT    (KEY      =A1)", "ROOT    |||KEY     | =|A1|"),
            ("ROOT    *L(KEY     EQA)B)", "ROOT    |L||KEY     |EQ|A)B|"),
            (
                "ROOT    (KEY     >=A1&KEY     <=B1+NAME    = X)",
                "ROOT    |||KEY     |>=|A1|&|KEY     |<=|B1|+|NAME    |= |X|",
            ),
            ("ROOT    *C(A1B2)", "ROOT    |C||||A1B2|"),
            ("ROOT    (KEY      =A1", "ROOT    |||KEY     | =|A1|"),
            ("ROOT    (KEY      =A*B)", "ROOT    |||KEY     | =|A*B|"),
            ("ROOT    X(KEY      =A)", "ROOT    ||X(KEY      =A)"),
        ] {
            assert_eq!(shown(ssa.as_bytes()), expected, "{ssa}");
        }
    }
}
