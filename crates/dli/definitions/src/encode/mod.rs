//! Definitions as bytes for the repository, and back.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | `HFGF` |
//! | 2 | version of the layout, little-endian |
//! | 1 | 1 DBD, 2 PSB |
//! | rest | the fields of the type, in the order of its declaration (`records.rs`) |
//!
//! Invariants:
//! 1. A version of the future is refused by name; a supported old one is read (K21).
//! 2. Any bytes decode to an error or to a sound definition; nothing panics, and nothing larger
//!    than the input is allocated.
//! 3. Encoding is a function of the definition: equal definitions have equal bytes.

mod coding;
mod records;

use base::bytes::Reader;
use base::{Code, Coded};

use crate::compile::Member;
use crate::model::{Dbd, Psb};
use coding::Coding;

const MAGIC: &[u8; 4] = b"HFGF";
/// The layout that this version writes.
const VERSION: u16 = 1;
const KIND_DBD: u8 = 1;
const KIND_PSB: u8 = 2;

/// Why bytes are no definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes do not begin as a definition does.
    #[error("the stored bytes are no database or program definition")]
    Strange,
    /// A later version of Holdfast wrote them.
    #[error("the definition has layout {found}, and this version reads up to {known}")]
    Future {
        /// The version in the bytes.
        found: u16,
        /// The newest that is known here.
        known: u16,
    },
    /// They end too early, go on too long, or contradict themselves.
    #[error("the stored definition is damaged: {0}")]
    Damaged(&'static str),
}

impl Coded for DecodeError {
    fn code(&self) -> Code {
        match self {
            DecodeError::Strange => Code("HFG301"),
            DecodeError::Future { .. } => Code("HFG302"),
            DecodeError::Damaged(_) => Code("HFG303"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            DecodeError::Future { .. } => "use the version of Holdfast that stored it".to_owned(),
            DecodeError::Strange | DecodeError::Damaged(_) => {
                "compile its source again, which replaces it".to_owned()
            }
        }
    }
}

/// The bytes of a member.
#[must_use]
pub fn encode(member: &Member) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    match member {
        Member::Dbd(dbd) => {
            out.push(KIND_DBD);
            dbd.put(&mut out);
        }
        Member::Psb(psb) => {
            out.push(KIND_PSB);
            psb.put(&mut out);
        }
    }
    out
}

/// The member of these bytes.
///
/// # Errors
/// If they are none, or of a later version, or damaged.
pub fn decode(bytes: &[u8]) -> Result<Member, DecodeError> {
    let mut reader = Reader::new(bytes);
    if reader.array::<4>().as_ref() != Some(MAGIC) {
        return Err(DecodeError::Strange);
    }
    let version = reader.u16().ok_or(DecodeError::Strange)?;
    if version > VERSION {
        return Err(DecodeError::Future { found: version, known: VERSION });
    }
    if version == 0 {
        return Err(DecodeError::Strange);
    }
    let member = match reader.u8() {
        Some(KIND_DBD) => Dbd::get(&mut reader).map(|dbd| Member::Dbd(Box::new(dbd))),
        Some(KIND_PSB) => Psb::get(&mut reader).map(|psb| Member::Psb(Box::new(psb))),
        _ => return Err(DecodeError::Strange),
    };
    let member = member.ok_or(DecodeError::Damaged("a field has no meaning or is missing"))?;
    if !reader.is_empty() {
        return Err(DecodeError::Damaged("there are bytes behind its end"));
    }
    let sound = match &member {
        Member::Dbd(dbd) => dbd.is_sound(),
        Member::Psb(psb) => psb.is_sound(),
    };
    if sound { Ok(member) } else { Err(DecodeError::Damaged("its parts contradict each other")) }
}
