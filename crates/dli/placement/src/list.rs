//! The randomizer that follows a file of root keys: `kind = "list"`.
//!
//! A database that comes from a host with a randomizer of its own keeps the sequence of roots that
//! its programs saw there: the file has one root key a line, in that sequence, and a root's anchor
//! is its place in the file, from 1, as four bytes, big-endian.
//!
//! | line | key |
//! |---|---|
//! | text | in the database's code page, blanks up to the length of the root key; blanks at the end of the line do not count |
//! | `x'..'` | exactly the bytes of the root key |
//! | empty | none |
//!
//! Invariants:
//! 1. A root that is not listed goes behind all that are, in key order (anchor X'FFFFFFFF'), or is
//!    refused, as the settings say.
//! 2. No key stands twice: its place would be doubtful.
//! 3. A look-up is one hash, a few comparisons and no allocation: keys stand one behind the other,
//!    and an open table, at most half full, has their places.
//! 4. Whoever can write the file finds another list with the same hash of 64 bits in no time, and
//!    none with the same SHA-256. By the hash alone only lists are known that were recorded so.

use aws_lc_rs::digest::{SHA256, digest};
use codec::CodePage;

use crate::error::PlacementError;
use crate::hash::hash;
use crate::literal::Literal;
use crate::settings::Unlisted;

/// The anchor of a root that is not in the list.
const BEHIND: [u8; 4] = [0xff; 4];

/// How an identity tells lists apart (4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// SHA-256.
    #[default]
    Digest,
    /// The hash of 64 bits that was recorded at first.
    Hash,
}

/// Root keys in their sequence.
#[derive(Debug)]
pub(crate) struct RootList {
    /// The keys, each `width` bytes.
    keys: Vec<u8>,
    width: usize,
    /// Places from 1, 0 where nothing is; a power of two many.
    table: Vec<u32>,
    unlisted: Unlisted,
}

impl RootList {
    /// Reads the contents of `file` for root keys of `width` bytes.
    pub(crate) fn read(
        file: &str,
        contents: &[u8],
        width: usize,
        page: CodePage,
        unlisted: Unlisted,
    ) -> Result<RootList, PlacementError> {
        let bad = |line: usize, why: String| PlacementError::ListKey {
            file: file.to_owned(),
            line: line + 1,
            why,
        };
        let mut keys = Vec::with_capacity(contents.len());
        // In which line each key stands, for messages.
        let mut lines = Vec::new();
        let contents = contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents);
        for (line, bytes) in contents.split(|byte| *byte == b'\n').enumerate() {
            let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            let text =
                str::from_utf8(bytes).map_err(|_| bad(line, "it is not text in UTF-8".into()))?;
            let text = text.trim_end_matches(' ');
            if text.is_empty() {
                continue;
            }
            let literal = Literal::read(text, page).map_err(|why| bad(line, why))?;
            let found = literal.bytes.len();
            if found > width || (found < width && literal.hexadecimal) {
                return Err(bad(line, format!("it has {found} bytes, a root key {width}")));
            }
            keys.extend_from_slice(&literal.bytes);
            keys.resize(keys.len() + width - found, page.blank());
            lines.push(line + 1);
        }
        // Places are numbers of 32 bits, the highest of which stands for those not listed.
        if u32::try_from(lines.len()).map_or(true, |count| count == u32::MAX) {
            return Err(bad(lines.len(), "a list has at most 4,294,967,294 keys".into()));
        }
        let table = vec![0; (2 * lines.len()).next_power_of_two().max(2)];
        let mut list = RootList { keys, width, table, unlisted };
        list.enter(file, &lines)?;
        Ok(list)
    }

    fn enter(&mut self, file: &str, lines: &[usize]) -> Result<(), PlacementError> {
        for (index, line) in lines.iter().enumerate() {
            let key = &self.keys[index * self.width..][..self.width];
            let slot = self.slot(key);
            if let Some(first) = (self.table[slot] as usize).checked_sub(1) {
                return Err(PlacementError::ListTwice {
                    file: file.to_owned(),
                    line: *line,
                    first: lines[first],
                });
            }
            self.table[slot] = index as u32 + 1;
        }
        Ok(())
    }

    /// Where the key stands in the table, or the empty slot where it would.
    fn slot(&self, key: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(key) as usize & mask;
        while let Some(index) = (self.table[slot] as usize).checked_sub(1) {
            if &self.keys[index * self.width..][..self.width] == key {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The anchor of a root; `None` if it is refused.
    pub(crate) fn anchor(&self, key: &[u8]) -> Option<[u8; 4]> {
        match (self.table[self.slot(key)], self.unlisted) {
            (0, Unlisted::Behind) => Some(BEHIND),
            (0, Unlisted::Refuse) => None,
            (place, _) => Some(place.to_be_bytes()),
        }
    }

    /// What tells this list from another one: how many keys, and their digest (4).
    pub(crate) fn identity(&self, form: Form) -> String {
        let count = self.keys.len().checked_div(self.width).unwrap_or(0);
        let digest = match form {
            Form::Digest => base::hex::lower(digest(&SHA256, &self.keys).as_ref()),
            Form::Hash => format!("{:016x}", hash(&self.keys)),
        };
        format!("list of {count} keys {digest}, others {}", self.unlisted.name())
    }
}

#[cfg(test)]
mod tests {
    use base::Coded;

    use super::*;

    fn read(contents: &[u8], unlisted: Unlisted) -> Result<RootList, PlacementError> {
        RootList::read("roots.txt", contents, 4, CodePage::Ascii, unlisted)
    }

    #[test]
    fn listed_roots_keep_their_sequence_and_others_follow() {
        let text = b"\xef\xbb\xbfZZZ\r\nAAAA  \n\n  B\nx'00FF00ff'";
        let list = read(text, Unlisted::Behind).unwrap();
        let place = |key: &[u8]| list.anchor(key).map(u32::from_be_bytes);
        assert_eq!(place(b"ZZZ "), Some(1));
        assert_eq!(place(b"AAAA"), Some(2));
        assert_eq!(place(b"  B "), Some(3));
        assert_eq!(place(b"\x00\xff\x00\xff"), Some(4));
        for other in [&b"BBBB"[..], b"", b"ZZZ", b"AAAAA"] {
            assert_eq!(place(other), Some(u32::MAX), "{other:?}");
        }
    }

    #[test]
    fn roots_that_are_not_listed_may_be_refused() {
        let list = read(b"AAAA\n", Unlisted::Refuse).unwrap();
        assert_eq!(list.anchor(b"AAAA"), Some([0, 0, 0, 1]));
        assert_eq!(list.anchor(b"BBBB"), None);
        let none = read(b"", Unlisted::Refuse).unwrap();
        assert_eq!(none.anchor(b"AAAA"), None);
    }

    #[test]
    fn many_roots_are_all_found() {
        let text: String = (0..5_000).rev().map(|n| format!("{n:04}\n")).collect();
        let list = read(text.as_bytes(), Unlisted::Refuse).unwrap();
        for n in 0..5_000_u32 {
            let place = list.anchor(format!("{n:04}").as_bytes()).map(u32::from_be_bytes);
            assert_eq!(place, Some(5_000 - n));
        }
        assert_eq!(list.anchor(b"5000"), None);
    }

    #[test]
    fn lines_that_are_no_keys_are_named() {
        for (text, code, words) in [
            (&b"AAAA\nBBBBB\n"[..], "HFW004", "line 2 of roots.txt: it has 5 bytes"),
            (b"x'00'", "HFW004", "line 1 of roots.txt: it has 1 bytes"),
            (b"x'0'", "HFW004", "1 hexadecimal digits"),
            (b"\xff\xfe", "HFW004", "UTF-8"),
            (b"A\n\nB\nA \n", "HFW005", "line 4 of roots.txt repeats the root key of line 1"),
        ] {
            let error = read(text, Unlisted::Behind).unwrap_err();
            assert_eq!(error.code().0, code);
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn another_sequence_has_another_identity() {
        for form in [Form::Digest, Form::Hash] {
            let identity = |text: &[u8]| read(text, Unlisted::Behind).unwrap().identity(form);
            assert_eq!(identity(b"A\nB\n"), identity(b"A\r\nx'42202020'"));
            assert_ne!(identity(b"A\nB\n"), identity(b"B\nA\n"));
        }
    }

    /// The function goes back as easily as forth: a last key makes up for others before it.
    #[test]
    fn a_list_that_was_made_to_have_the_hash_of_another_has_another_identity() {
        let read = |text: &[u8]| {
            RootList::read("roots.txt", text, 8, CodePage::Ascii, Unlisted::Behind).unwrap()
        };
        let list = read(b"KEY00001\nKEY00002\nKEY00003\n");
        let forged = read(b"KEY00002\nKEY00001\nx'229d7b512b8d60ec'\n");
        assert_eq!(list.identity(Form::Hash), forged.identity(Form::Hash));
        assert_ne!(list.identity(Form::Digest), forged.identity(Form::Digest));
    }
}
