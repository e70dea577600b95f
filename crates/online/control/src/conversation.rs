//! Conversations: a scratch pad area that is kept between the turns of a terminal.
//!
//! | bytes of a scratch pad area | |
//! |---|---|
//! | 2 | LL, most significant byte first |
//! | 4 | binary zeros |
//! | 8 | transaction, in the code page that the program has; blank in what a program inserts ends the conversation |
//! | LL - 14 | the program's data |
//!
//! | bytes of its record | key: the terminal |
//! |---|---|
//! | 1 | version, 2; in version 1 the user is missing, and it is anybody's who goes on with it |
//! | 8 | the transaction that gets the next input |
//! | 8 | the user who began it; blank: nobody, as in version 1 |
//! | rest | scratch pad area |
//!
//! Invariants:
//! 1. A terminal has at most one conversation, and that has at most one input in the system.
//! 2. A conversation is durable from its first commit on, in the unit of work of its program.
//! 3. Once there are users, nobody but its user goes on with a conversation, or ends it: what
//!    terminal a client is says the client alone. A user may come back by another client.

use codec::CodePage;
use otma::{Encoding, Name};

/// Bytes in front of the data.
pub(crate) const SPA_HEAD: usize = 14;
const VERSION: u8 = 2;
const VERSION_WITHOUT_OWNER: u8 = 1;

/// A conversation that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// Who gets the next input.
    pub(crate) transaction: Name,
    /// The user who began it; nobody, if that one has named none, or an earlier release has kept
    /// it.
    pub(crate) owner: Option<Name>,
    /// The scratch pad area; empty before the first commit.
    pub(crate) spa: Vec<u8>,
    /// An input is in the system.
    pub(crate) busy: bool,
}

impl Conversation {
    /// One that begins with an input.
    pub(crate) fn new(transaction: Name, owner: Name) -> Conversation {
        let mut new = Conversation { transaction, owner: None, spa: Vec::new(), busy: true };
        new.is_now_of(owner);
        new
    }

    /// A user goes on with it. Who names none takes it from nobody.
    pub(crate) fn is_now_of(&mut self, user: Name) {
        if !user.is_blank() {
            self.owner = Some(user);
        }
    }

    /// Whether a user may go on with it, or end it.
    pub(crate) fn is_of(&self, user: Name) -> bool {
        self.owner.is_none_or(|owner| owner == user)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let Conversation { transaction, spa, .. } = self;
        match self.owner {
            None => [&[VERSION_WITHOUT_OWNER][..], &transaction.0, spa].concat(),
            Some(user) => [&[VERSION][..], &transaction.0, &user.0, spa].concat(),
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Conversation> {
        let (version, rest) = bytes.split_first()?;
        let (transaction, rest) = rest.split_first_chunk::<8>()?;
        let (owner, spa) = match *version {
            VERSION_WITHOUT_OWNER => (None, rest),
            VERSION => {
                let (user, rest) = rest.split_first_chunk::<8>()?;
                (Some(Name(*user)).filter(|user| !user.is_blank()), rest)
            }
            _ => return None,
        };
        let transaction = Name(*transaction);
        Some(Conversation { transaction, owner, spa: spa.to_vec(), busy: false })
    }
}

/// The scratch pad area of a conversation that begins, or `old` in the length of `transaction`.
pub(crate) fn spa_for(transaction: Name, bytes: u16, old: &[u8], page: Encoding) -> Vec<u8> {
    let length = usize::from(bytes).max(SPA_HEAD);
    let mut spa = old.to_vec();
    spa.resize(length, 0);
    spa[..2].copy_from_slice(&(length as u16).to_be_bytes());
    spa[2..6].fill(0);
    spa[6..SPA_HEAD].copy_from_slice(&written(transaction, page));
    spa
}

/// Whether a segment looks like a scratch pad area.
pub(crate) fn is_spa(segment: &[u8], page: Encoding) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    segment.len() >= SPA_HEAD
        && segment[2..6] == [0; 4]
        && transaction_of(segment, page).0.iter().all(is_name)
}

/// The transaction that a scratch pad area names.
pub(crate) fn transaction_of(spa: &[u8], page: Encoding) -> Name {
    let name = spa.get(6..SPA_HEAD).and_then(|name| name.first_chunk::<8>());
    let Some(name) = name else { return Name::BLANK };
    match page {
        Encoding::Ascii => Name(*name),
        Encoding::Ebcdic => Name(name.map(|byte| {
            let character = CodePage::Cp037.character(byte);
            u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(0xff)
        })),
    }
}

/// A name in a code page. Names have characters that every EBCDIC page has in the same place.
fn written(name: Name, page: Encoding) -> [u8; 8] {
    match page {
        Encoding::Ascii => name.0,
        Encoding::Ebcdic => {
            name.0.map(|byte| CodePage::Cp037.byte(char::from(byte)).unwrap_or(0x40))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_pad_area_is_told_from_a_message() {
        let spa = spa_for(Name(*b"TALK    "), 20, &[], Encoding::Ascii);
        assert_eq!(spa.len(), 20);
        let page = Encoding::Ascii;
        assert!(is_spa(&spa, page) && !is_spa(b"\0\x12\0\0AN ORDINARY ONE", page));
        assert_eq!(transaction_of(&spa, page), Name(*b"TALK    "));
        let next = spa_for(Name(*b"MORE    "), 30, &spa, page);
        assert_eq!((next.len(), &next[6..14]), (30, &b"MORE    "[..]));
        let owner = Name(*b"ANNA    ");
        let one = Conversation::new(Name(*b"MORE    "), owner);
        for owner in [Some(owner), None] {
            let one = Conversation { owner, spa: next.clone(), busy: false, ..one.clone() };
            assert_eq!(Conversation::decode(&one.encode()), Some(one));
        }
        assert_eq!(Conversation::decode(b"short"), None);
        let mut nobodys = Conversation::new(Name(*b"MORE    "), Name::BLANK);
        assert!(nobodys.is_of(owner));
        nobodys.is_now_of(owner);
        nobodys.is_now_of(Name::BLANK);
        assert!(nobodys.is_of(owner) && !nobodys.is_of(Name::BLANK));
        let kept = [&[VERSION][..], b"MORE    ", b"        ", &next].concat();
        assert_eq!(Conversation::decode(&kept).map(|one| one.owner), Some(None));
    }

    #[test]
    fn programs_with_ebcdic_find_and_write_its_names_in_ebcdic() {
        let page = Encoding::Ebcdic;
        let spa = spa_for(Name(*b"TALK$1  "), 20, &[], page);
        assert_eq!(spa[6..14], *b"\xe3\xc1\xd3\xd2\x5b\xf1\x40\x40");
        assert_eq!(transaction_of(&spa, page), Name(*b"TALK$1  "));
        assert!(is_spa(&spa, page) && !is_spa(&spa, Encoding::Ascii));
        let mut end = spa;
        end[6..14].fill(0x40);
        assert!(is_spa(&end, page) && transaction_of(&end, page).is_blank());
    }
}
