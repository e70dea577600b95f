//! One call as people read it: in a trace, and among the last calls of a program that abended.
//!
//! Invariants:
//! 1. Bytes that are no text are shown as `x'...'`, never guessed at.

use std::fmt;

use serde::Serialize;

/// A call and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallRecord {
    /// Which call of the program it is, from 1.
    pub number: u64,
    /// The function.
    pub call: String,
    /// The PCB's name, or its database's.
    pub pcb: String,
    /// The search arguments.
    pub ssas: Vec<String>,
    /// The status code; absent if the call never returned.
    pub status: Option<String>,
    /// The level that the PCB shows.
    pub level: u8,
    /// The segment that the PCB shows.
    pub segment: String,
    /// The key feedback.
    pub key: String,
}

impl fmt::Display for CallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallRecord { number, call, pcb, ssas, status, level, segment, key } = self;
        match status {
            Some(status) => {
                write!(f, "{number:>8} {call:<4} {pcb:<8} status '{status:<2}'")?;
                if !segment.is_empty() {
                    write!(f, " level {level:02} {segment:<8}")?;
                }
            }
            None => write!(f, "{number:>8} {call:<4} {pcb:<8} did not return")?,
        }
        if !key.is_empty() {
            write!(f, " key {key}")?;
        }
        ssas.iter().try_for_each(|ssa| write!(f, "\n{:>14}{ssa}", ""))
    }
}

/// Bytes as text if they are text, otherwise in hexadecimal.
pub(crate) fn readable(bytes: &[u8]) -> String {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut out = String::with_capacity(bytes.len() * 2 + 3);
    out.push_str("x'");
    for byte in bytes {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_reads_in_one_glance() {
        let record = CallRecord {
            number: 17,
            call: "GHU".to_owned(),
            pcb: "SHOP".to_owned(),
            ssas: vec!["CUSTOMER(CUSTKEY  =000042)".to_owned(), "ORDER   ".to_owned()],
            status: Some("  ".to_owned()),
            level: 2,
            segment: "ORDER".to_owned(),
            key: "000042ORD1".to_owned(),
        };
        let text = concat!(
            "      17 GHU  SHOP     status '  ' level 02 ORDER    key 000042ORD1\n",
            "              CUSTOMER(CUSTKEY  =000042)\n",
            "              ORDER   ",
        );
        assert_eq!(record.to_string(), text);
        let open = CallRecord { status: None, ..record };
        assert!(open.to_string().contains("did not return"));
    }

    #[test]
    fn bytes_that_are_no_text_are_hexadecimal() {
        assert_eq!(readable(b"KEY 1"), "KEY 1");
        assert_eq!(readable(&[0xc1, 0, 0x0f]), "x'c1000f'");
    }
}
