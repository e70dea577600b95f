//! Conversations: a scratch pad area that is kept between the turns of a terminal.
//!
//! | bytes of a scratch pad area | |
//! |---|---|
//! | 2 | LL, most significant byte first |
//! | 4 | binary zeros |
//! | 8 | transaction; blank in what a program inserts ends the conversation |
//! | LL - 14 | the program's data |
//!
//! Invariants:
//! 1. A terminal has at most one conversation, and that has at most one input in the system.
//! 2. A conversation is durable from its first commit on, in the unit of work of its program.

use otma::Name;

/// Bytes in front of the data.
pub(crate) const SPA_HEAD: usize = 14;
const VERSION: u8 = 1;

/// A conversation that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// Who gets the next input.
    pub(crate) transaction: Name,
    /// The scratch pad area; empty before the first commit.
    pub(crate) spa: Vec<u8>,
    /// An input is in the system.
    pub(crate) busy: bool,
}

impl Conversation {
    pub(crate) fn encode(&self) -> Vec<u8> {
        [&[VERSION][..], &self.transaction.0, &self.spa].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Conversation> {
        let (version, rest) = bytes.split_first()?;
        let (name, spa) = rest.split_first_chunk::<8>()?;
        let transaction = Name(*name);
        (*version == VERSION).then(|| Conversation { transaction, spa: spa.to_vec(), busy: false })
    }
}

/// The scratch pad area of a conversation that begins, or `old` in the length of `transaction`.
pub(crate) fn spa_for(transaction: Name, bytes: u16, old: &[u8]) -> Vec<u8> {
    let length = usize::from(bytes).max(SPA_HEAD);
    let mut spa = old.to_vec();
    spa.resize(length, 0);
    spa[..2].copy_from_slice(&(length as u16).to_be_bytes());
    spa[2..6].fill(0);
    spa[6..SPA_HEAD].copy_from_slice(&transaction.0);
    spa
}

/// Whether a segment looks like a scratch pad area.
pub(crate) fn is_spa(segment: &[u8]) -> bool {
    segment.len() >= SPA_HEAD
        && segment[2..6] == [0; 4]
        && segment[6..SPA_HEAD].iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
}

/// The transaction that a scratch pad area names.
pub(crate) fn transaction_of(spa: &[u8]) -> Name {
    let name = spa.get(6..SPA_HEAD).and_then(|name| name.first_chunk::<8>());
    name.map_or(Name::BLANK, |name| Name(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_pad_area_is_told_from_a_message() {
        let spa = spa_for(Name(*b"TALK    "), 20, &[]);
        assert_eq!(spa.len(), 20);
        assert!(is_spa(&spa) && !is_spa(b"\0\x12\0\0AN ORDINARY ONE"));
        assert_eq!(transaction_of(&spa), Name(*b"TALK    "));
        let next = spa_for(Name(*b"MORE    "), 30, &spa);
        assert_eq!((next.len(), &next[6..14]), (30, &b"MORE    "[..]));
        let one = Conversation { transaction: Name(*b"MORE    "), spa: next, busy: false };
        assert_eq!(Conversation::decode(&one.encode()), Some(one));
        assert_eq!(Conversation::decode(b"short"), None);
    }
}
