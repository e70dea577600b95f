//! The bytes of a key file: one small file, always replaced whole.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HOLDKEYS` |
//! | 8 | 2 | version: 1 |
//! | 10 | 2 | how the master key is wrapped: 1 by a passphrase, 2 in a token |
//! | 12 | 4 | length W of the wrapping |
//! | 16 | 16 | system id |
//! | 32 | W | the wrapping, see `wrapping` |
//! | 32+W | 8 | edition: how often the file has been written |
//! | 40+W | 4 | number of keys |
//! | 44+W | | the keys, ascending by label and generation, see below |
//! | end-48 | 16 | salt of the list tag |
//! | end-32 | 16 | list tag over everything before it |
//! | end-16 | 16 | XXH3-128 over everything before it |
//!
//! A key; its associated data is the fields before the salt, and the system id is part of what
//! its wrapping key is derived for.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 2 | length L of the label |
//! | 2 | L | label |
//! | 2+L | 4 | generation, from 1 |
//! | 6+L | 8 | when it was drawn, microseconds UTC |
//! | 14+L | 16 | salt |
//! | 30+L | 32 | wrapped key |
//! | 62+L | 16 | its tag |
//!
//! 1. Every wrapping and the list tag are AES-256-GCM with counter 1 under a working key of their
//!    own: derived with a salt that is drawn anew whenever the file is written.
//! 2. The checksum tells accidents from a wrong passphrase; it proves nothing against forgers.
//! 3. The list tag, under a key that follows from the master key, proves that no key was added,
//!    dropped or exchanged. An older file of the same system is valid: only a copy outside the
//!    machine can show that one was put back.
//! 4. The decoder takes exactly one encoding of a file: no gaps, no trailing bytes.

use base::bytes::{Reader, push_string16};
use base::{KeyGeneration, SystemId};
use twox_hash::XxHash3_128;

use crate::secret::KEY_BYTES;
use crate::wrapped::{MAGIC, ONCE, VERSION, unwrap};
use crate::wrapping::{BY_PASSPHRASE, BY_TOKEN, Wrapping};
use crate::{DataKey, Salt, TAG_BYTES, Tag, WorkingKey};

/// How many keys a file may hold.
pub(crate) const KEYS_MAX: usize = 16 << 10;
/// How long a label may be.
pub(crate) const LABEL_BYTES_MAX: usize = 64;
/// How long a file with [`KEYS_MAX`] keys of the longest labels is, rounded up.
pub(crate) const FILE_BYTES_MAX: usize = 4 << 20;

/// A key file, as its bytes say, with the keys still wrapped.
#[derive(Debug)]
pub(crate) struct KeyFile {
    pub(crate) system: SystemId,
    pub(crate) wrapping: Wrapping,
    pub(crate) edition: u64,
    pub(crate) keys: Vec<WrappedKey>,
    list_salt: Salt,
    list_tag: Tag,
}

/// A data key under the master key.
#[derive(Debug)]
pub(crate) struct WrappedKey {
    pub(crate) label: String,
    pub(crate) generation: KeyGeneration,
    pub(crate) created_us: u64,
    salt: Salt,
    wrapped: [u8; KEY_BYTES],
    tag: Tag,
}

/// Why bytes are no key file, before any key is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileFault {
    Foreign,
    Future { version: u16 },
    UnknownWrapping { kind: u16 },
    Damaged { what: &'static str },
}

impl WrappedKey {
    /// Wraps a data key under the master key with a fresh salt.
    pub(crate) fn wrap(
        key: &DataKey,
        master: &DataKey,
        system: &SystemId,
        name: (&str, KeyGeneration, u64),
        salt: Salt,
    ) -> WrappedKey {
        let (label, generation, created_us) = name;
        let mut wrapped = *key.bytes();
        let covered = WrappedKey::covered(label, generation, created_us);
        let tag = data_wrapping_key(master, system, &salt).seal(ONCE, &covered, &mut wrapped);
        WrappedKey { label: label.to_owned(), generation, created_us, salt, wrapped, tag }
    }

    /// The data key; `None` if it was altered.
    pub(crate) fn unwrap(&self, master: &DataKey, system: &SystemId) -> Option<DataKey> {
        let covered = WrappedKey::covered(&self.label, self.generation, self.created_us);
        let key = data_wrapping_key(master, system, &self.salt);
        unwrap(&key, &covered, &self.wrapped, &self.tag)
    }

    fn covered(label: &str, generation: KeyGeneration, created_us: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 + LABEL_BYTES_MAX + 12);
        push_string16(&mut out, label.as_bytes());
        out.extend_from_slice(&generation.0.to_le_bytes());
        out.extend_from_slice(&created_us.to_le_bytes());
        out
    }

    fn decode(reader: &mut Reader<'_>) -> Option<WrappedKey> {
        let label = str::from_utf8(reader.string16()?).ok().filter(|label| is_label(label))?;
        Some(WrappedKey {
            label: label.to_owned(),
            generation: KeyGeneration(reader.u32()?),
            created_us: reader.u64()?,
            salt: Salt(reader.array()?),
            wrapped: reader.array()?,
            tag: Tag(reader.array()?),
        })
    }
}

impl KeyFile {
    /// Reads the bytes of a key file and compares its checksum. Proves nothing yet.
    pub(crate) fn decode(bytes: &[u8]) -> Result<KeyFile, FileFault> {
        let file = KeyFile::decode_unchecked(bytes);
        if let Err(FileFault::Damaged { .. }) | Ok(_) = file {
            let intact = bytes.split_last_chunk().is_some_and(|(body, sum)| *sum == checksum(body));
            if !intact {
                return Err(FileFault::Damaged { what: "its checksum does not fit" });
            }
        }
        file
    }

    /// The same without the checksum, so that a fuzzer gets past it.
    pub(crate) fn decode_unchecked(bytes: &[u8]) -> Result<KeyFile, FileFault> {
        let damaged = |what| FileFault::Damaged { what };
        let mut reader = Reader::new(bytes);
        if reader.take(MAGIC.len()) != Some(MAGIC) {
            return Err(FileFault::Foreign);
        }
        let version = reader.u16().ok_or(damaged("it is cut"))?;
        match version {
            0 => return Err(damaged("its version is zero")),
            VERSION => {}
            version => return Err(FileFault::Future { version }),
        }
        let kind = reader.u16().ok_or(damaged("it is cut"))?;
        if kind != BY_PASSPHRASE && kind != BY_TOKEN {
            return Err(FileFault::UnknownWrapping { kind });
        }
        let len = reader.u32().ok_or(damaged("it is cut"))? as usize;
        let system = SystemId(reader.array().ok_or(damaged("it is cut"))?);
        let wrapping = reader.take(len).ok_or(damaged("it is cut"))?;
        let wrapping = Wrapping::decode(kind, wrapping);
        let wrapping = wrapping.ok_or(damaged("the length of the wrapping is wrong"))?;
        KeyFile::decode_list(reader, system, wrapping)
    }

    fn decode_list(
        mut reader: Reader<'_>,
        system: SystemId,
        wrapping: Wrapping,
    ) -> Result<KeyFile, FileFault> {
        let damaged = |what| FileFault::Damaged { what };
        let edition = reader.u64().ok_or(damaged("it is cut"))?;
        let count = reader.u32().ok_or(damaged("it is cut"))? as usize;
        if count > KEYS_MAX {
            return Err(damaged("it has too many keys"));
        }
        let mut keys: Vec<WrappedKey> = Vec::new();
        for _ in 0..count {
            let key = WrappedKey::decode(&mut reader).ok_or(damaged("a key is cut"))?;
            let after = keys.last().is_none_or(|before| {
                (&before.label, before.generation) < (&key.label, key.generation)
            });
            if !after || key.generation == KeyGeneration(0) {
                return Err(damaged("its keys are out of order"));
            }
            keys.push(key);
        }
        let list_salt = Salt(reader.array().ok_or(damaged("it is cut"))?);
        let list_tag = Tag(reader.array().ok_or(damaged("it is cut"))?);
        if reader.rest().len() != TAG_BYTES {
            return Err(damaged("its length does not fit its contents"));
        }
        Ok(KeyFile { system, wrapping, edition, keys, list_salt, list_tag })
    }

    /// Puts a list together and proves it with the master key.
    pub(crate) fn new(
        system: SystemId,
        wrapping: Wrapping,
        edition: u64,
        keys: Vec<WrappedKey>,
        master: &DataKey,
        list_salt: Salt,
    ) -> KeyFile {
        let list_tag = Tag([0; TAG_BYTES]);
        let mut file = KeyFile { system, wrapping, edition, keys, list_salt, list_tag };
        file.list_tag = list_key(master, &system, &list_salt).seal(ONCE, &file.covered(), &mut []);
        file
    }

    /// Whether the list is the one that somebody with the master key wrote (3).
    pub(crate) fn is_proven(&self, master: &DataKey) -> bool {
        let key = list_key(master, &self.system, &self.list_salt);
        key.open(ONCE, &self.covered(), &mut [], &self.list_tag).is_ok()
    }

    /// The bytes to write.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = self.covered();
        out.extend_from_slice(&self.list_tag.0);
        let sum = checksum(&out);
        out.extend_from_slice(&sum);
        assert!(out.len() <= FILE_BYTES_MAX, "the limits on keys and labels bound the file");
        out
    }

    /// Everything before the list tag. Because the encoding is unique (4), what was decoded
    /// encodes to the bytes that were read.
    fn covered(&self) -> Vec<u8> {
        let mut out = self.wrapping.encode(&self.system);
        out.extend_from_slice(&self.edition.to_le_bytes());
        let count = u32::try_from(self.keys.len()).expect("the number of keys is bounded");
        out.extend_from_slice(&count.to_le_bytes());
        for key in &self.keys {
            let name = WrappedKey::covered(&key.label, key.generation, key.created_us);
            out.extend_from_slice(&name);
            out.extend_from_slice(&key.salt.0);
            out.extend_from_slice(&key.wrapped);
            out.extend_from_slice(&key.tag.0);
        }
        out.extend_from_slice(&self.list_salt.0);
        out
    }
}

/// Whether a name can be a label: 1 to 64 letters, digits and the signs `. - _ $ # @`.
pub(crate) fn is_label(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_$#@".contains(&byte);
    (1..=LABEL_BYTES_MAX).contains(&name.len()) && name.bytes().all(fits)
}

/// The checksum at the end of the file (2).
pub(crate) fn checksum(bytes: &[u8]) -> [u8; TAG_BYTES] {
    XxHash3_128::oneshot(bytes).to_le_bytes()
}

fn data_wrapping_key(master: &DataKey, system: &SystemId, salt: &Salt) -> WorkingKey {
    WorkingKey::derive(master, salt, &[b"holdfast data key 1", &system.0[..]].concat())
}

fn list_key(master: &DataKey, system: &SystemId, salt: &Salt) -> WorkingKey {
    WorkingKey::derive(master, salt, &[b"holdfast key list 1", &system.0[..]].concat())
}
