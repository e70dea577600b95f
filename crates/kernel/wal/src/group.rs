//! Groups: what is sealed once, for all copies, and written once.
//!
//! A group on disk is its header, its payload (a piece of the record stream) and zeros up to the
//! next 4 KiB. The header is clear, its first 112 bytes are the seal's associated data:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `HFLG` |
//! | 4 | 2 | version, 1 |
//! | 6 | 1 | format: 1 plain, 2 sealed |
//! | 7 | 1 | flags; bit 0: first group of its salt |
//! | 8 | 16 | system |
//! | 24 | 4 | key generation |
//! | 28 | 4 | payload length |
//! | 32 | 16 | salt |
//! | 48 | 8 | group number, which is also the nonce's counter |
//! | 56 | 8 | LSN of the payload's first byte |
//! | 64 | 8 | durable LSN known when it was sealed |
//! | 72 | 16 | tag of the previous group |
//! | 88 | 4 | where in the payload a record begins first, or `ffffffff` |
//! | 92 | 4 | zero |
//! | 96 | 8 | first group not known to be durable when this one was sealed |
//! | 104 | 8 | zero |
//! | 112 | 16 | tag |
//!
//! Invariants:
//! 1. Groups are numbered without gaps for the life of a system; under one salt no number is
//!    sealed twice (K3).
//! 2. Each group names the tag of the one before it, so none can be cut out, moved or exchanged.
//! 3. A group of number n is sealed only while fewer than W groups before it are not durable (K7).
//!    So one with number >= k + W, or whose field at 96 is beyond k, proves that k was durable.
//!    That field counts groups rather than bytes because the first group of a salt may go back by
//!    the piece of a record that a crash has left: positions can repeat, numbers cannot.
//! 4. A group opens alone, given the key.

use std::sync::Arc;

use base::bytes::{Reader, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{Format, KeyProvider, Salt, SealError, Tag, WorkingKey};
use seam::disk::BLOCK;
use seam::mem::AlignedBuf;

pub use crate::front::Flaw;
use crate::front::{read_front, write_front};

/// Bytes before the payload.
pub const GROUP_HEADER: usize = 128;
/// Where the tag stands; everything before is associated data.
pub(crate) const TAG_AT: usize = 112;
/// The newest version known here.
pub(crate) const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"HFLG";
const FIRST_OF_SALT: u8 = 1;
const NO_RECORD: u32 = u32::MAX;

/// A group's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupHead {
    /// Plain or sealed.
    pub format: Format,
    /// Whether it is the first one that an open of the log has sealed.
    pub first_of_salt: bool,
    /// The system.
    pub system: SystemId,
    /// The key that it is sealed with.
    pub generation: KeyGeneration,
    /// Bytes of payload.
    pub payload_len: u32,
    /// The salt of the open that sealed it.
    pub salt: Salt,
    /// Its number, which is also the nonce's counter.
    pub number: GroupNumber,
    /// The position of the payload's first byte.
    pub first: Lsn,
    /// How far the log was known to be durable when it was sealed.
    pub durable: Lsn,
    /// The tag of the group before.
    pub previous: Tag,
    /// Where in the payload a record begins first.
    pub first_record: Option<u32>,
    /// The first group not known to be durable when it was sealed.
    pub undurable: GroupNumber,
    /// Its tag.
    pub tag: Tag,
}

/// The length on disk of a group with `payload_len` bytes of payload.
#[must_use]
pub fn disk_len(payload_len: usize) -> usize {
    (GROUP_HEADER + payload_len).next_multiple_of(BLOCK)
}

impl GroupHead {
    /// Writes everything but the tag.
    ///
    /// # Panics
    /// If `out` is shorter than a header.
    pub fn encode(&self, out: &mut [u8]) {
        out[..GROUP_HEADER].fill(0);
        write_front(out, MAGIC, VERSION, self.format);
        out[7] = if self.first_of_salt { FIRST_OF_SALT } else { 0 };
        out[8..24].copy_from_slice(&self.system.0);
        put_u32(out, 24, self.generation.0);
        put_u32(out, 28, self.payload_len);
        out[32..48].copy_from_slice(&self.salt.0);
        put_u64(out, 48, self.number.0);
        put_u64(out, 56, self.first.0);
        put_u64(out, 64, self.durable.0);
        out[72..88].copy_from_slice(&self.previous.0);
        put_u32(out, 88, self.first_record.unwrap_or(NO_RECORD));
        put_u64(out, 96, self.undurable.0);
    }

    /// Reads a header; nothing of it is authentic before the group has been opened.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<GroupHead, Flaw> {
        let mut reader = Reader::new(bytes);
        let format = read_front(&mut reader, MAGIC, VERSION..=VERSION)?;
        let mut parse = || -> Option<Result<GroupHead, Flaw>> {
            let flags = reader.u8()?;
            let system = SystemId(reader.array()?);
            let generation = KeyGeneration(reader.u32()?);
            let payload_len = reader.u32()?;
            let salt = Salt(reader.array()?);
            let number = GroupNumber(reader.u64()?);
            let first = Lsn(reader.u64()?);
            let durable = Lsn(reader.u64()?);
            let previous = Tag(reader.array()?);
            let first_record = reader.u32()?;
            let zero = reader.u32()?;
            let undurable = GroupNumber(reader.u64()?);
            let zeros = reader.u64()?;
            let tag = Tag(reader.array()?);
            let first_record = (first_record != NO_RECORD).then_some(first_record);
            if flags & !FIRST_OF_SALT != 0 || zero != 0 || zeros != 0 {
                return None;
            }
            let sane = payload_len > 0 && first_record.is_none_or(|at| at < payload_len);
            Some(if sane && first.0 <= u64::MAX / 2 && number.0 <= u64::MAX / 2 {
                Ok(GroupHead {
                    format,
                    first_of_salt: flags & FIRST_OF_SALT != 0,
                    system,
                    generation,
                    payload_len,
                    salt,
                    number,
                    first,
                    durable,
                    previous,
                    first_record,
                    undurable,
                    tag,
                })
            } else {
                Err(Flaw::Length)
            })
        };
        parse().unwrap_or(Err(Flaw::NoHeader))
    }

    /// Whether a record begins with it whatever stood before: the first group of a salt, unless it
    /// goes on within a record that a restart has found ahead of the log.
    #[must_use]
    pub fn is_first_of_salt(&self) -> bool {
        self.first_of_salt && self.first_record == Some(0)
    }

    /// Where the payload ends in the stream.
    #[must_use]
    pub fn end(&self) -> Lsn {
        self.first.plus(u64::from(self.payload_len))
    }

    /// The length on disk.
    #[must_use]
    pub fn disk_len(&self) -> usize {
        disk_len(self.payload_len as usize)
    }
}

/// What a seal is for; each purpose has a key of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Groups.
    Group,
    /// Headers of segments.
    Segment,
    /// Archive files.
    Archive,
    /// Entries of the write-ahead data set.
    Wads,
}

/// Working keys by (purpose, format, generation, salt), derived once each.
pub struct KeyBook {
    keys: Arc<dyn KeyProvider>,
    label: String,
    system: SystemId,
    known: Vec<Known>,
}

struct Known {
    purpose: Purpose,
    format: Format,
    generation: KeyGeneration,
    salt: Salt,
    key: Arc<WorkingKey>,
}

/// Keys that are kept; a walk over one log meets one salt after the other.
const KEYS_KEPT: usize = 8;

impl KeyBook {
    /// The keys of `system`'s log; `label` is that of its data key.
    #[must_use]
    pub fn new(keys: Arc<dyn KeyProvider>, label: &str, system: SystemId) -> KeyBook {
        KeyBook { keys, label: label.to_owned(), system, known: Vec::new() }
    }

    /// The system whose keys these are.
    #[must_use]
    pub fn system(&self) -> SystemId {
        self.system
    }

    /// The generation to seal with; plain logs have none.
    ///
    /// # Errors
    /// If the keyset has none.
    pub fn current(&self, format: Format) -> Result<KeyGeneration, SealError> {
        match format {
            Format::Plain => Ok(KeyGeneration(0)),
            Format::Sealed => self.keys.current(&self.label),
        }
    }

    /// The working key for a purpose.
    ///
    /// # Errors
    /// If the keyset has no such generation.
    pub fn working(
        &mut self,
        purpose: Purpose,
        format: Format,
        generation: KeyGeneration,
        salt: &Salt,
    ) -> Result<Arc<WorkingKey>, SealError> {
        let found = self.known.iter().find(|known| {
            let Known { purpose: p, format: f, generation: g, salt: s, .. } = known;
            (*p, *f, *g, *s) == (purpose, format, generation, *salt)
        });
        if let Some(known) = found {
            return Ok(Arc::clone(&known.key));
        }
        let mut identity = match purpose {
            Purpose::Group => b"log".to_vec(),
            Purpose::Segment => b"log segment".to_vec(),
            Purpose::Archive => b"log archive".to_vec(),
            Purpose::Wads => b"log write-ahead".to_vec(),
        };
        identity.extend_from_slice(&self.system.0);
        let key = Arc::new(match format {
            Format::Plain => WorkingKey::plain(&identity),
            Format::Sealed => {
                let data_key = self.keys.key(&self.label, generation)?;
                WorkingKey::derive(&data_key, salt, &identity)
            }
        });
        if self.known.len() == KEYS_KEPT {
            self.known.remove(0);
        }
        self.known.push(Known { purpose, format, generation, salt: *salt, key: Arc::clone(&key) });
        Ok(key)
    }

    /// A group that was sealed before, padding included, from its header and its opened payload.
    ///
    /// # Errors
    /// [`Flaw::Tag`] if that is not what was sealed, [`Flaw::Key`], [`Flaw::Length`].
    pub(crate) fn seal_again(
        &mut self,
        head: &GroupHead,
        payload: &[u8],
    ) -> Result<AlignedBuf, Flaw> {
        if payload.len() != head.payload_len as usize {
            return Err(Flaw::Length);
        }
        let key = self
            .working(Purpose::Group, head.format, head.generation, &head.salt)
            .map_err(|error| Flaw::Key(error.to_string()))?;
        let mut whole = AlignedBuf::zeroed(head.disk_len());
        let (header, rest) = whole.split_at_mut(GROUP_HEADER);
        head.encode(header);
        let sealed = &mut rest[..payload.len()];
        sealed.copy_from_slice(payload);
        // The same bytes under the same nonce are the same seal: nothing new is said with it (K3).
        let tag = key.seal(head.number.0, &header[..TAG_AT], sealed);
        header[TAG_AT..].copy_from_slice(&tag.0);
        if tag == head.tag { Ok(whole) } else { Err(Flaw::Tag) }
    }

    /// Opens a group in place. `bytes` begins with the header that `head` was read from and holds
    /// at least the payload.
    ///
    /// # Errors
    /// [`Flaw::Tag`] if it is not what was sealed, [`Flaw::Key`], [`Flaw::Length`].
    pub fn open(&mut self, head: &GroupHead, bytes: &mut [u8]) -> Result<(), Flaw> {
        let key = self
            .working(Purpose::Group, head.format, head.generation, &head.salt)
            .map_err(|error| Flaw::Key(error.to_string()))?;
        let (header, rest) = bytes.split_at_mut(GROUP_HEADER);
        let Some(payload) = rest.get_mut(..head.payload_len as usize) else {
            return Err(Flaw::Length);
        };
        key.open(head.number.0, &header[..TAG_AT], payload, &head.tag).map_err(|_| Flaw::Tag)
    }
}

#[cfg(test)]
mod tests {
    use base::bytes::put_u16;

    use super::*;
    use proptest::prelude::*;
    use seal::TestKeys;

    fn head() -> GroupHead {
        GroupHead {
            format: Format::Sealed,
            first_of_salt: true,
            system: SystemId([7; 16]),
            generation: KeyGeneration(1),
            payload_len: 5_000,
            salt: Salt([3; 16]),
            number: GroupNumber(12),
            first: Lsn(99),
            durable: Lsn(64),
            previous: Tag([5; 16]),
            first_record: Some(17),
            undurable: GroupNumber(10),
            tag: Tag([0; 16]),
        }
    }

    #[test]
    fn a_header_comes_back() {
        let mut bytes = [0xff; GROUP_HEADER];
        head().encode(&mut bytes);
        assert_eq!(GroupHead::decode(&bytes), Ok(head()));
        assert_eq!(head().disk_len(), 8192);
        assert_eq!(head().end(), Lsn(5_099));
        put_u16(&mut bytes, 4, 2);
        assert_eq!(GroupHead::decode(&bytes), Err(Flaw::Version(2)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_decoding_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = bytes;
            let _ = GroupHead::decode(&bytes);
            if bytes.len() > 8 {
                bytes[..4].copy_from_slice(b"HFLG");
                put_u16(&mut bytes, 4, VERSION);
                bytes[6] = 2;
                let _ = GroupHead::decode(&bytes);
            }
        }

        #[test]
        fn every_changed_byte_of_a_group_is_noticed(at in 0..GROUP_HEADER + 300, bit in 0..8) {
            let mut book = KeyBook::new(Arc::new(TestKeys::new(1)), "log", SystemId([7; 16]));
            let mut head = head();
            head.payload_len = 300;
            let mut bytes = vec![0; GROUP_HEADER + 300];
            head.encode(&mut bytes);
            let salt = head.salt;
            let key = book
                .working(Purpose::Group, Format::Sealed, KeyGeneration(1), &salt)
                .unwrap();
            let (header, payload) = bytes.split_at_mut(GROUP_HEADER);
            let tag = key.seal(12, &header[..TAG_AT], payload);
            header[TAG_AT..].copy_from_slice(&tag.0);
            let whole = GroupHead::decode(&bytes).unwrap();
            prop_assert_eq!(book.open(&whole, &mut bytes.clone()), Ok(()));
            bytes[at] ^= 1_u8 << bit;
            let spoiled = GroupHead::decode(&bytes).and_then(|head| book.open(&head, &mut bytes));
            prop_assert!(spoiled.is_err());
        }
    }
}
