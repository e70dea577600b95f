//! The header of messages for the bridge (MQIIH), and of its replies.
//!
//! | byte | length | |
//! |---|---|---|
//! | 0 | 4 | `IIH ` |
//! | 4 | 4 | version, 1 |
//! | 8 | 4 | length, 84 |
//! | 12 | 4, 4 | encoding and code page: reserved; what follows is as the header itself |
//! | 20 | 8 | format of what follows |
//! | 28 | 4 | flags |
//! | 32 | 8 | logical terminal that the program sees |
//! | 40 | 8 | name of the format (MOD, or MID) |
//! | 48 | 8 | format of the reply |
//! | 56 | 8 | authenticator: a password |
//! | 64 | 16 | instance of a conversation |
//! | 80 | 1 | state: blank, or `C` in a conversation |
//! | 81 | 1 | commit mode: `0` commit then send, `1` send then commit |
//! | 82 | 1 | scope of the security check: `C` or `F` |
//! | 83 | 1 | reserved |
//!
//! Integers are as the message's encoding says, characters as its code page.
//!
//! Invariants:
//! 1. What was written is read as it was, in every encoding and code page.

use codec::CodePage;
use otma::{CommitMode, Encoding, Name};

/// Bytes of a header.
pub const IIH_BYTES: usize = 84;
/// The format of a message with such a header.
pub const IMS: [u8; 8] = *b"MQIMS   ";
/// The format of segments.
pub const IMS_VAR_STRING: [u8; 8] = *b"MQIMSVS ";

/// Flags of a header.
#[allow(missing_docs)] // the names are those of the interface
pub mod flags {
    pub const PASS_EXPIRATION: i32 = 1;
    pub const REPLY_FORMAT_NONE: i32 = 8;
    pub const IGNORE_PURG: i32 = 16;
    pub const CM0_REQUEST_RESPONSE: i32 = 32;
    pub const ALL: i32 = 57;
}

/// How the integers of a message stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The most significant byte first.
    Big,
    /// The least significant byte first.
    Little,
}

impl ByteOrder {
    /// The order that a descriptor's encoding says.
    #[must_use]
    pub fn of(encoding: i32) -> ByteOrder {
        if encoding & 0xf == 1 { ByteOrder::Big } else { ByteOrder::Little }
    }

    /// A number of two bytes.
    #[must_use]
    pub fn short(self, bytes: [u8; 2]) -> i16 {
        match self {
            ByteOrder::Big => i16::from_be_bytes(bytes),
            ByteOrder::Little => i16::from_le_bytes(bytes),
        }
    }

    /// The bytes of a number of two.
    #[must_use]
    pub fn of_short(self, number: i16) -> [u8; 2] {
        match self {
            ByteOrder::Big => number.to_be_bytes(),
            ByteOrder::Little => number.to_le_bytes(),
        }
    }

    fn long(self, bytes: [u8; 4]) -> i32 {
        match self {
            ByteOrder::Big => i32::from_be_bytes(bytes),
            ByteOrder::Little => i32::from_le_bytes(bytes),
        }
    }

    fn of_long(self, number: i32) -> [u8; 4] {
        match self {
            ByteOrder::Big => number.to_be_bytes(),
            ByteOrder::Little => number.to_le_bytes(),
        }
    }
}

/// How a message's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its integers.
    pub order: ByteOrder,
    /// Its characters, if they are EBCDIC; otherwise they are ASCII or contain it.
    pub ebcdic: Option<CodePage>,
}

impl Reading {
    /// How a message with that encoding and code page is read; `None` if the code page is
    /// not known here, or a character there is longer than ASCII has it.
    #[must_use]
    pub fn of(encoding: i32, ccsid: i32) -> Option<Reading> {
        let order = ByteOrder::of(encoding);
        let ascii = [0, 367, 437, 813, 819, 850, 858, 912, 923, 1_208, 1_252, 5_348];
        if ascii.contains(&ccsid) {
            return Some(Reading { order, ebcdic: None });
        }
        let page = CodePage::named(&ccsid.to_string())?;
        Some(Reading { order, ebcdic: page.is_ebcdic().then_some(page) })
    }

    /// The code page of a message's characters, as programs are told.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        if self.ebcdic.is_some() { Encoding::Ebcdic } else { Encoding::Ascii }
    }

    /// Characters as ASCII has them; what it does not have becomes X'FF'.
    #[must_use]
    pub fn ascii(self, byte: u8) -> u8 {
        match self.ebcdic {
            None => byte,
            Some(page) => {
                u8::try_from(page.character(byte)).ok().filter(u8::is_ascii).unwrap_or(0xff)
            }
        }
    }

    /// ASCII characters as the message has them.
    #[must_use]
    pub fn own(self, byte: u8) -> u8 {
        match self.ebcdic {
            None => byte,
            Some(page) => page.byte(char::from(byte)).unwrap_or(0x40),
        }
    }
}

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iih {
    /// The format of what follows.
    pub format: [u8; 8],
    /// See [`flags`].
    pub flags: i32,
    /// The logical terminal that the program sees; blank: the bridge names one.
    pub terminal: Name,
    /// The name of the format.
    pub map_name: Name,
    /// The format of the reply.
    pub reply_to_format: [u8; 8],
    /// A password; blank: there is none.
    pub authenticator: [u8; 8],
    /// The conversation.
    pub instance: [u8; 16],
    /// Whether it belongs to a conversation that goes on.
    pub in_conversation: bool,
    /// Who waits for whom.
    pub mode: CommitMode,
    /// The whole scope of the security check.
    pub full_scope: bool,
}

impl Default for Iih {
    fn default() -> Iih {
        Iih {
            format: IMS_VAR_STRING,
            flags: 0,
            terminal: Name::BLANK,
            map_name: Name::BLANK,
            reply_to_format: [b' '; 8],
            authenticator: [b' '; 8],
            instance: [0; 16],
            in_conversation: false,
            mode: CommitMode::CommitThenSend,
            full_scope: false,
        }
    }
}

impl Iih {
    /// The header at the front of a message; `None` if there is none, or it says what does not
    /// exist.
    #[must_use]
    pub fn read(bytes: &[u8], how: Reading) -> Option<Iih> {
        let bytes: &[u8; IIH_BYTES] = bytes.first_chunk()?;
        let text = |at: usize| -> [u8; 8] { std::array::from_fn(|n| how.ascii(bytes[at + n])) };
        let long = |at: usize| how.order.long(std::array::from_fn(|n| bytes[at + n]));
        let letters: [u8; 4] = std::array::from_fn(|n| how.ascii(bytes[n]));
        if letters != *b"IIH " || long(4) != 1 || long(8) != IIH_BYTES as i32 {
            return None;
        }
        let in_conversation = match how.ascii(bytes[80]) {
            b' ' | 0 => false,
            b'C' => true,
            _ => return None,
        };
        let mode = match how.ascii(bytes[81]) {
            b'0' => CommitMode::CommitThenSend,
            b'1' => CommitMode::SendThenCommit,
            _ => return None,
        };
        let full_scope = match how.ascii(bytes[82]) {
            b'C' => false,
            b'F' => true,
            _ => return None,
        };
        let flags = long(28);
        if flags & !flags::ALL != 0 {
            return None;
        }
        Some(Iih {
            format: text(20),
            flags,
            terminal: name(text(32))?,
            map_name: name(text(40))?,
            reply_to_format: text(48),
            authenticator: text(56),
            instance: std::array::from_fn(|n| bytes[64 + n]),
            in_conversation,
            mode,
            full_scope,
        })
    }

    /// The header's bytes.
    #[must_use]
    pub fn write(&self, how: Reading) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(IIH_BYTES);
        let text = |bytes: &mut Vec<u8>, text: &[u8]| {
            bytes.extend(text.iter().map(|byte| how.own(*byte)));
        };
        text(&mut bytes, b"IIH ");
        for number in [1, IIH_BYTES as i32, 0, 0] {
            bytes.extend_from_slice(&how.order.of_long(number));
        }
        text(&mut bytes, &self.format);
        bytes.extend_from_slice(&how.order.of_long(self.flags));
        for field in [&self.terminal.0, &self.map_name.0, &self.reply_to_format] {
            text(&mut bytes, field);
        }
        text(&mut bytes, &self.authenticator);
        bytes.extend_from_slice(&self.instance);
        let mode = if self.mode == CommitMode::SendThenCommit { b'1' } else { b'0' };
        let state = if self.in_conversation { b'C' } else { b' ' };
        let scope = if self.full_scope { b'F' } else { b'C' };
        text(&mut bytes, &[state, mode, scope, b' ']);
        bytes
    }
}

/// A name of at most eight characters; `None` if it has others than names have.
fn name(text: [u8; 8]) -> Option<Name> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Name::new(std::str::from_utf8(&text[..end]).ok()?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that fails says where
mod tests {
    use super::*;

    fn one() -> Iih {
        Iih {
            flags: flags::IGNORE_PURG,
            terminal: Name(*b"TERM1   "),
            map_name: Name(*b"MAP$1   "),
            reply_to_format: *b"MQIMSVS ",
            authenticator: *b"SECRET12",
            instance: *b"\0\x01\x02\x03some bytes  ",
            in_conversation: true,
            mode: CommitMode::SendThenCommit,
            full_scope: true,
            ..Iih::default()
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written_in_every_form() {
        for (encoding, ccsid) in [(546, 1_208), (785, 1_047), (785, 819), (273, 37)] {
            let how = Reading::of(encoding, ccsid).unwrap();
            let bytes = one().write(how);
            assert_eq!(bytes.len(), IIH_BYTES);
            assert_eq!(Iih::read(&bytes, how), Some(one()), "{encoding} {ccsid}");
        }
        let how = Reading::of(785, 37).unwrap();
        // As a program with EBCDIC characters and big numbers writes it.
        assert_eq!(one().write(how)[..12], *b"\xc9\xc9\xc8\x40\0\0\0\x01\0\0\0\x54");
        assert_eq!(Reading::of(546, 1_200), None);
    }

    #[test]
    fn what_a_header_may_not_say_is_no_header() {
        let how = Reading::of(546, 1_208).unwrap();
        let good = one().write(how);
        let wrong =
            [(0, b'X'), (4, 2), (8, 83), (28, 2), (32, 0xe4), (80, b'A'), (81, b'2'), (82, b'X')];
        for (at, byte) in wrong {
            let mut bytes = good.clone();
            bytes[at] = byte;
            assert_eq!(Iih::read(&bytes, how), None, "byte {at}");
        }
        assert_eq!(Iih::read(&good[..IIH_BYTES - 1], how), None);
    }
}
