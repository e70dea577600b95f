//! How a client and an owner get to know each other.
//!
//! | offset | bytes | of a client's first frame |
//! |---|---|---|
//! | 0 | 4 | `HFOW` |
//! | 4 | 2 | version, 1 |
//! | 6 | | the system's name, or nothing; user; password: each behind its length in 2 bytes |
//!
//! | offset | bytes | of the answer |
//! |---|---|---|
//! | 0 | 1 | 0 welcome, or why not |
//! | 1 | | the system's name, behind its length in 2 bytes |
//!
//! Invariants:
//! 1. Who is not let in learns nothing but that.

use base::bytes::{Reader, push_string16};
use thiserror::Error;
use zeroize::Zeroizing;

const MARK: [u8; 4] = *b"HFOW";
const VERSION: u16 = 1;
/// The longest first frame.
pub const GREETING_BYTES_MAX: usize = 4096;

/// What a client says first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The system that is wanted; empty: whichever it is.
    pub applid: String,
    /// The user; empty: none.
    pub user: String,
    /// The user's password.
    pub password: Zeroizing<Vec<u8>>,
}

/// Why a client is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[repr(u8)]
pub enum Refused {
    /// The client is of another release.
    #[error("it is another release of Holdfast")]
    Version = 1,
    /// Another system was wanted.
    #[error("another system listens there")]
    OtherSystem = 2,
    /// The user or password is wrong, or is needed.
    #[error("it does not let this user in")]
    User = 3,
    /// There are too many clients, or the system is being stopped.
    #[error("it has no room for another client, or is being stopped")]
    Crowded = 4,
    /// Its catalog cannot be opened.
    #[error("its catalog cannot be opened")]
    Catalog = 5,
}

const REFUSALS: [Refused; 5] =
    [Refused::Version, Refused::OtherSystem, Refused::User, Refused::Crowded, Refused::Catalog];

impl Hello {
    /// As bytes.
    #[must_use]
    pub fn write(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(MARK.to_vec());
        out.extend_from_slice(&VERSION.to_le_bytes());
        push_string16(&mut out, self.applid.as_bytes());
        push_string16(&mut out, self.user.as_bytes());
        push_string16(&mut out, &self.password);
        out
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`Refused::Version`], if the bytes are none of this release.
    pub fn read(bytes: &[u8]) -> Result<Hello, Refused> {
        Hello::parse(bytes).ok_or(Refused::Version)
    }

    fn parse(bytes: &[u8]) -> Option<Hello> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != MARK || reader.u16()? != VERSION {
            return None;
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let applid = text(reader.string16()?)?;
        let user = text(reader.string16()?)?;
        let password = Zeroizing::new(reader.string16()?.to_vec());
        reader.is_empty().then_some(Hello { applid, user, password })
    }
}

/// The answer to a greeting.
#[must_use]
pub fn answer(applid: &str, refused: Option<Refused>) -> Vec<u8> {
    let mut out = vec![refused.map_or(0, |refused| refused as u8)];
    let applid = if refused.is_some_and(|why| why != Refused::OtherSystem) { "" } else { applid };
    push_string16(&mut out, applid.as_bytes());
    out
}

/// What an answer says; `None` if the bytes are none.
#[must_use]
pub fn read_answer(bytes: &[u8]) -> Option<Result<String, Refused>> {
    let mut reader = Reader::new(bytes);
    match reader.u8()? {
        0 => String::from_utf8(reader.string16()?.to_vec()).ok().map(Ok),
        code => REFUSALS.into_iter().find(|known| *known as u8 == code).map(Err),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_read_as_they_were_written_and_nothing_else_is_one() {
        let password = Zeroizing::new(b"secret".to_vec());
        let hello = Hello { applid: "BANK".into(), user: "ANNA".into(), password };
        let bytes = hello.write();
        assert_eq!(Hello::read(&bytes), Ok(hello));
        for len in 0..bytes.len() {
            assert_eq!(Hello::read(&bytes[..len]), Err(Refused::Version));
        }
        assert_eq!(Hello::read(&[&bytes[..], b"x"].concat()), Err(Refused::Version));
    }

    #[test]
    fn every_refusal_is_told_apart() {
        assert_eq!(read_answer(&answer("BANK", None)), Some(Ok("BANK".into())));
        for refused in REFUSALS {
            assert_eq!(read_answer(&answer("BANK", Some(refused))), Some(Err(refused)));
        }
        assert_eq!(read_answer(b""), None);
        assert_eq!(read_answer(&[9, 0, 0]), None);
    }
}
