//! A sealed entry, and the chain of entries in one file.
//!
//! A file is one entry behind the other, each padded with zeros to 4 KiB, so that a torn write
//! never spoils a neighbour (K19). The first one holds all that was known when the file was made;
//! each further one holds the records of one change.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HFRECON` and a zero |
//! | 8 | 2 | layout version, 1 |
//! | 10 | 2 | 1: all that is known; 2: a change |
//! | 12 | 4 | key generation of the system's key |
//! | 16 | 16 | system |
//! | 32 | 16 | salt of the open that wrote it |
//! | 48 | 8 | the nonce's counter under that salt |
//! | 56 | 8 | number of the entry, without gaps within a file |
//! | 64 | 16 | tag of the entry in front; zeros in the first one |
//! | 80 | 4 | bytes that are sealed |
//! | 84 | 4 | zero |
//! | 88 | 16 | tag |
//! | 104 | | the records, sealed |
//!
//! Invariants:
//! 1. Everything in front of the tag is authenticated with the records.
//! 2. What stands behind a bad entry counts as a torn tail only if no later entry proves itself
//!    there; otherwise the file is damaged, and says which entries it had.

use std::sync::Arc;

use base::bytes::{Reader, put_u16, put_u32, put_u64};
use base::{KeyGeneration, SystemId};
use seal::{KeyProvider, Salt, SealError, Tag, WorkingKey};
use seam::disk::BLOCK;

use crate::record::{Record, decode, encode};

/// The version that is written, and the newest one that is read.
pub(crate) const VERSION: u16 = 1;
const MAGIC: &[u8; 8] = b"HFRECON\0";
const COVERED: usize = 88;
const HEAD: usize = 104;
/// The longest entry: far beyond a system of any size, far below what could hurt.
pub(crate) const SEALED_BYTES_MAX: usize = 64 << 20;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Everything, where a file begins.
    All = 1,
    /// A change.
    Change = 2,
}

/// Where the keys of RECON come from, and whose it is.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) provider: Arc<dyn KeyProvider>,
    pub(crate) label: String,
    pub(crate) system: SystemId,
}

/// An entry that proved itself.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) tag: Tag,
    pub(crate) records: Vec<Record>,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) entries: Vec<Entry>,
    /// The bytes of the valid entries with their padding, of which a crash may have cut off some.
    pub(crate) bytes: u64,
    /// Why it does not end there, and the newest entry that proves it.
    pub(crate) broken: Option<(String, u64)>,
}

/// Why a file is none of RECON's.
#[derive(Debug)]
pub(crate) enum FileFault {
    /// A newer release wrote it.
    Future(u16),
    /// It belongs to another system.
    Foreign(SystemId),
    /// Its first entry does not prove itself.
    Damaged(String),
    /// Its key cannot be had.
    Key(SealError),
}

/// The head of an entry, unproven.
struct Head {
    kind: u16,
    generation: KeyGeneration,
    salt: Salt,
    counter: u64,
    number: u64,
    previous: [u8; 16],
    sealed: usize,
    tag: Tag,
}

impl Keys {
    pub(crate) fn working(
        &self,
        generation: KeyGeneration,
        salt: &Salt,
    ) -> Result<WorkingKey, SealError> {
        let key = self.provider.key(&self.label, generation)?;
        let identity = [b"recovery control".as_slice(), &self.system.0].concat();
        Ok(WorkingKey::derive(&key, salt, &identity))
    }
}

/// What seals entries while RECON is open: one salt, a counter that only grows (K3).
pub(crate) struct Sealer {
    system: SystemId,
    generation: KeyGeneration,
    salt: Salt,
    key: WorkingKey,
    counter: u64,
}

impl Sealer {
    pub(crate) fn new(keys: &Keys, salt: Salt) -> Result<Sealer, SealError> {
        let generation = keys.provider.current(&keys.label)?;
        let key = keys.working(generation, &salt)?;
        Ok(Sealer { system: keys.system, generation, salt, key, counter: 0 })
    }

    /// An entry as it goes to disk, padding included, and its tag.
    pub(crate) fn seal(
        &mut self,
        kind: Kind,
        number: u64,
        previous: Tag,
        records: &[Record],
    ) -> (Vec<u8>, Tag) {
        self.counter += 1;
        let payload = encode(records);
        let mut bytes = vec![0; (HEAD + payload.len()).next_multiple_of(BLOCK)];
        bytes[..8].copy_from_slice(MAGIC);
        put_u16(&mut bytes, 8, VERSION);
        put_u16(&mut bytes, 10, kind as u16);
        put_u32(&mut bytes, 12, self.generation.0);
        bytes[16..32].copy_from_slice(&self.system.0);
        bytes[32..48].copy_from_slice(&self.salt.0);
        put_u64(&mut bytes, 48, self.counter);
        put_u64(&mut bytes, 56, number);
        bytes[64..80].copy_from_slice(&previous.0);
        put_u32(&mut bytes, 80, payload.len() as u32);
        let (head, sealed) = bytes.split_at_mut(HEAD);
        let sealed = &mut sealed[..payload.len()];
        sealed.copy_from_slice(&payload);
        let tag = self.key.seal(self.counter, &head[..COVERED], sealed);
        head[COVERED..].copy_from_slice(&tag.0);
        (bytes, tag)
    }
}

/// Reads a file of RECON entry by entry.
pub(crate) fn walk(bytes: &[u8], keys: &Keys) -> Result<Chain, FileFault> {
    let mut opener = Opener { keys, last: None };
    let mut chain = Chain { entries: Vec::new(), bytes: 0, broken: None };
    let mut previous = Tag([0; 16]);
    loop {
        let rest = bytes.get(chain.bytes as usize..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(chain);
        }
        let expected = chain.entries.last().map(|last| last.number + 1);
        let (entry, length) = match opener.open(rest, expected.map(|number| (number, previous))) {
            Ok(opened) => opened,
            Err(fault) if chain.entries.is_empty() => return Err(fault),
            Err(fault) => {
                let later = opener.later(rest, expected.unwrap_or(0));
                chain.broken = later.map(|number| (fault.to_string(), number));
                return Ok(chain);
            }
        };
        previous = entry.tag;
        chain.bytes += length as u64;
        chain.entries.push(entry);
    }
}

/// Opens entries, keeping the key of the last salt.
struct Opener<'a> {
    keys: &'a Keys,
    last: Option<(KeyGeneration, Salt, WorkingKey)>,
}

impl Opener<'_> {
    /// The entry at the front of `bytes`, and its length with its padding. `expected`: its number
    /// and the tag in front of it; none for the first one of a file.
    fn open(
        &mut self,
        bytes: &[u8],
        expected: Option<(u64, Tag)>,
    ) -> Result<(Entry, usize), FileFault> {
        let damaged = |why: &str| FileFault::Damaged(why.to_owned());
        let head = head(bytes, self.keys.system)?;
        let fits = match expected {
            None => head.kind == Kind::All as u16 && head.previous == [0; 16],
            Some((number, previous)) => {
                head.kind == Kind::Change as u16
                    && head.number == number
                    && head.previous == previous.0
            }
        };
        if !fits {
            return Err(damaged("an entry does not follow the one in front of it"));
        }
        let records = self.unseal(bytes, &head)?;
        let entry = Entry { number: head.number, tag: head.tag, records };
        Ok((entry, (HEAD + head.sealed).next_multiple_of(BLOCK)))
    }

    fn unseal(&mut self, bytes: &[u8], head: &Head) -> Result<Vec<Record>, FileFault> {
        let damaged = |why: &str| FileFault::Damaged(why.to_owned());
        let known = self.last.as_ref();
        if known.is_none_or(|(generation, salt, _)| {
            *generation != head.generation || *salt != head.salt
        }) {
            let key = self.keys.working(head.generation, &head.salt).map_err(FileFault::Key)?;
            self.last = Some((head.generation, head.salt, key));
        }
        let Some((_, _, key)) = &self.last else { return Err(damaged("it has no key")) };
        let sealed = bytes.get(HEAD..HEAD + head.sealed).ok_or_else(|| damaged("it is cut off"))?;
        let mut payload = sealed.to_vec();
        key.open(head.counter, &bytes[..COVERED], &mut payload, &head.tag)
            .map_err(|_| damaged("an entry does not prove itself"))?;
        decode(&payload).ok_or_else(|| damaged("an entry holds a record of unknown kind"))
    }

    /// The newest entry behind a bad one that proves itself (2).
    fn later(&mut self, bytes: &[u8], expected: u64) -> Option<u64> {
        let blocks = bytes.chunks(BLOCK).enumerate().skip(1);
        let mut newest = None;
        for (block, _) in blocks {
            let rest = &bytes[block * BLOCK..];
            let Ok(head) = head(rest, self.keys.system) else { continue };
            if head.number > expected && self.unseal(rest, &head).is_ok() {
                newest = newest.max(Some(head.number));
            }
        }
        newest
    }
}

/// The head of an entry; proves nothing.
fn head(bytes: &[u8], system: SystemId) -> Result<Head, FileFault> {
    let damaged = |why: &str| FileFault::Damaged(why.to_owned());
    let mut reader = Reader::new(bytes);
    if reader.array() != Some(*MAGIC) {
        return Err(damaged("it does not begin as a file of RECON"));
    }
    let cut = || damaged("it is cut off");
    let version = reader.u16().ok_or_else(cut)?;
    if version > VERSION {
        return Err(FileFault::Future(version));
    }
    let kind = reader.u16().ok_or_else(cut)?;
    let generation = KeyGeneration(reader.u32().ok_or_else(cut)?);
    let owner = SystemId(reader.array().ok_or_else(cut)?);
    if owner != system {
        return Err(FileFault::Foreign(owner));
    }
    let salt = Salt(reader.array().ok_or_else(cut)?);
    let counter = reader.u64().ok_or_else(cut)?;
    let number = reader.u64().ok_or_else(cut)?;
    let previous = reader.array().ok_or_else(cut)?;
    let sealed = reader.u32().ok_or_else(cut)? as usize;
    let _zero = reader.u32();
    let tag = Tag(reader.array().ok_or_else(cut)?);
    if sealed > SEALED_BYTES_MAX {
        return Err(damaged("an entry is longer than any can be"));
    }
    Ok(Head { kind, generation, salt, counter, number, previous, sealed, tag })
}

impl std::fmt::Display for FileFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileFault::Future(version) => {
                write!(f, "it has layout version {version}, this release knows {VERSION}")
            }
            FileFault::Foreign(system) => write!(f, "it belongs to system {system}"),
            FileFault::Damaged(why) => f.write_str(why),
            FileFault::Key(error) => write!(f, "its key cannot be had: {error}"),
        }
    }
}
