//! The lines that go between an operator's command and an open system.
//!
//! 1. A line that is longer than its limit is refused, not kept in memory.
//! 2. Whatever comes, reading a line ends in a value or in words; nothing is taken for granted.

use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Progress, Refusal, Request};

/// The longest request.
pub const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// The longest line of an answer: the status of a system with a great many data sets.
pub const LINE_BYTES_MAX: u64 = 256 << 20;

/// A question of a verb, as its line has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What is wanted.
    pub question: Value,
    /// Bytes that follow the line.
    pub bytes: usize,
    /// Whether the client answers.
    pub answered: bool,
}

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How far it is.
    Progress(Progress),
    /// A question of the verb; what goes with it follows the line.
    Ask(Ask),
    /// Only for whoever knows the keys: what to prove that with, in hexadecimal digits.
    Prove(String),
    /// The result.
    Done(Value),
    /// Why there is none.
    Error(Refusal),
}

/// That whoever asks knows the keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// The proof, in hexadecimal digits.
    pub proof: String,
}

/// A proof from its line.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read_proof(line: &[u8]) -> Result<Vec<u8>, String> {
    let proven: Proven = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    unhex(&proven.proof).ok_or_else(|| "a proof is hexadecimal digits".to_owned())
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    base::hex::lower(bytes)
}

/// And back.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    base::hex::read(text).filter(|_| text.len() <= DIGITS_MAX)
}

/// Challenges and proofs are not longer.
const DIGITS_MAX: usize = 256;

/// A request from its line.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read_request(line: &[u8]) -> Result<Request, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// A line of an answer.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read_answer(line: &[u8]) -> Result<Answer, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// The next line without its end; `None` if there is no more.
///
/// # Errors
/// A line that is longer than `limit` or that breaks off; whatever the reader says.
pub(super) fn next(reader: &mut impl BufRead, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(limit).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() as u64 + 1 >= limit => {
            let why = format!("a line is longer than {limit} bytes");
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
        Some(_) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a line breaks off")),
    }
}

/// A value as a line.
///
/// # Errors
/// If it is nothing that JSON can say.
pub(super) fn write(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_their_limit() {
        let mut bytes = &b"one\n\ntwo-that-is-long\n"[..];
        assert_eq!(next(&mut bytes, 8).unwrap(), Some(b"one".to_vec()));
        assert_eq!(next(&mut bytes, 8).unwrap(), Some(Vec::new()));
        assert_eq!(next(&mut bytes, 8).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(next(&mut &b"cut"[..], 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(next(&mut &b""[..], 8).unwrap(), None);
    }

    #[test]
    fn answers_look_as_they_are_described() {
        let refusal =
            Refusal { code: "HFY021".into(), message: "no".into(), advice: "another".into() };
        let line = write(&Answer::Error(refusal.clone())).unwrap();
        let text = r#"{"error":{"code":"HFY021","message":"no","advice":"another"}}"#;
        assert_eq!(line, [text.as_bytes(), b"\n"].concat());
        assert_eq!(read_answer(&line), Ok(Answer::Error(refusal)));
        let prove = write(&Answer::Prove(hex(&[0, 0x5a, 255]))).unwrap();
        assert_eq!(prove, b"{\"prove\":\"005aff\"}\n");
        assert_eq!(read_proof(b"{\"proof\":\"005aff\"}"), Ok(vec![0, 0x5a, 255]));
        for bad in ["{\"proof\":\"0\"}", "{\"proof\":\"0g\"}", "{\"proof\":\"\u{e4}\"}", "{}"] {
            assert!(read_proof(bad.as_bytes()).is_err(), "{bad}");
        }
        let done = write(&Answer::Done(serde_json::json!({ "frames": 3 }))).unwrap();
        assert_eq!(done, b"{\"done\":{\"frames\":3}}\n");
        assert_eq!(read_request(b"{\"verb\":\"status\"}"), Ok(Request::new("status")));
        assert!(read_request(b"{\"verb\":\"status\",\"more\":1}").is_err());
    }
}
