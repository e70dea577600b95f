//! Segments: preallocated files that groups are written to, and reused when they are done with.
//!
//! A segment stands in a *slot*: one file for each copy and stripe, `<copy>/segment-NNN.stripe-S`,
//! made once, filled with zeros (overwriting is several times faster than growing) and used again
//! and again; a stripe may have a folder of its own. A segment says how many stripes it has, so
//! that one of another number may follow it. The first 4 KiB of each file are its header; groups
//! follow at multiples of 4 KiB:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `HFLS` |
//! | 4 | 2 | version, 1 |
//! | 6 | 1 | format of the seal |
//! | 7 | 1 | stripe |
//! | 8 | 1 | number of stripes |
//! | 9 | 1 | copy |
//! | 10 | 2 | W, the most groups in flight (K7) |
//! | 12 | 4 | slot |
//! | 16 | 16 | system |
//! | 32 | 8 | sequence of the segment, from 1; 0: the slot is free |
//! | 40 | 8 | LSN of the segment's first group |
//! | 48 | 8 | number of the segment's first group, over all stripes |
//! | 56 | 16 | tag of the group before it |
//! | 72 | 8 | length of the file |
//! | 80 | 4 | key generation |
//! | 84 | 4 | zero |
//! | 88 | 16 | salt |
//! | 104 | 8 | counter of the seal |
//! | 112 | 16 | tag over all of the above |
//! | 128 | | zeros |
//!
//! Invariants:
//! 1. Group n stands in stripe n mod S of the segment with the largest first group that is <= n,
//!    S being that segment's number of stripes, whatever the configuration says by now.
//!    Within a stripe the groups of a segment stand one behind the other.
//! 2. A file's header is durable before the first group behind it is written.
//! 3. What an earlier use left behind is never taken for new: groups carry their numbers, which
//!    never come again, and each names its predecessor's tag.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, put_u16, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{Format, Salt, Tag, WorkingKey};
use seam::disk::{BLOCK, Create, Disk, File, Open};
use seam::mem::AlignedBuf;
use seam::sync::Mutex;

use crate::config::{SEGMENT_HEADER, window_of};
use crate::front::{read_front, write_front};
use crate::group::{Flaw, KeyBook, Purpose, TAG_AT, VERSION};
use crate::{COPIES_MAX, LogConfig, LogEnv, LogError, Origin, STRIPES_MAX};

const MAGIC: [u8; 4] = *b"HFLS";
/// Where the system's name begins.
const SYSTEM_AT: usize = 16;
const HEAD_BYTES: usize = 128;
/// How much is zeroed or copied at once when files are made.
const CHUNK: usize = 1 << 20;

/// What all files of a segment say alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentId {
    pub(crate) sequence: u64,
    pub(crate) first: Lsn,
    pub(crate) first_group: GroupNumber,
    pub(crate) previous: Tag,
    /// How many stripes it has.
    pub(crate) stripes: u8,
}

impl SegmentId {
    /// No segment: the slot is free.
    pub(crate) const FREE: SegmentId = SegmentId {
        sequence: 0,
        first: Lsn(0),
        first_group: GroupNumber(0),
        previous: Tag([0; 16]),
        stripes: 0,
    };

    /// The stripe of one of its groups.
    pub(crate) fn stripe_of(&self, number: GroupNumber) -> u8 {
        (number.0 % u64::from(self.stripes.max(1))) as u8
    }

    /// What a stripe's file says if its slot holds this segment: nothing, if the segment has fewer.
    pub(crate) fn in_stripe(&self, stripe: u8) -> SegmentId {
        if stripe < self.stripes { *self } else { SegmentId::FREE }
    }
}

/// A file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHead {
    pub(crate) id: SegmentId,
    pub(crate) system: SystemId,
    pub(crate) slot: u32,
    pub(crate) stripe: u8,
    pub(crate) copy: u8,
    pub(crate) window: u16,
    pub(crate) segment_bytes: u64,
    format: Format,
    generation: KeyGeneration,
    salt: Salt,
    counter: u64,
    tag: Tag,
}

/// Which file of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileAt {
    pub(crate) copy: u8,
    pub(crate) slot: u32,
    pub(crate) stripe: u8,
}

impl FileAt {
    pub(crate) fn path(self, config: &LogConfig) -> PathBuf {
        let name = format!("segment-{:03}.stripe-{}", self.slot, self.stripe);
        config.folder_of(self.copy, self.stripe).join(name)
    }

    /// The slot and stripe that a file name stands for.
    pub(crate) fn parse(name: &Path) -> Option<(u32, u8)> {
        let name = name.to_str()?;
        let (slot, stripe) = name.strip_prefix("segment-")?.split_once(".stripe-")?;
        let (number, stripe) = (slot.parse().ok()?, stripe.parse().ok()?);
        (name == format!("segment-{number:03}.stripe-{stripe}")).then_some((number, stripe))
    }
}

/// The open files of one slot. Those of a lost copy are missing, and of stripes it does not have.
#[derive(Clone)]
pub(crate) struct SlotFiles {
    pub(crate) slot: u32,
    files: Vec<Option<Arc<dyn File>>>,
}

impl SlotFiles {
    pub(crate) fn new(slot: u32) -> SlotFiles {
        SlotFiles { slot, files: vec![None; COPIES_MAX * usize::from(STRIPES_MAX)] }
    }

    fn index(copy: u8, stripe: u8) -> usize {
        usize::from(copy) * usize::from(STRIPES_MAX) + usize::from(stripe)
    }

    pub(crate) fn set(&mut self, copy: u8, stripe: u8, file: Arc<dyn File>) {
        self.files[SlotFiles::index(copy, stripe)] = Some(file);
    }

    /// The same with other files of one copy, one for each stripe.
    pub(crate) fn with(&self, copy: u8, files: &[Arc<dyn File>]) -> SlotFiles {
        let mut with = self.clone();
        let first = SlotFiles::index(copy, 0);
        with.files[first..first + usize::from(STRIPES_MAX)].fill(None);
        for (stripe, file) in (0..).zip(files) {
            with.set(copy, stripe, Arc::clone(file));
        }
        with
    }

    /// The stripes whose files a copy has, with its number.
    pub(crate) fn stripes_on(&self, copy: u8) -> impl Iterator<Item = (u8, u8)> + use<'_> {
        let here = (0..STRIPES_MAX).filter(move |stripe| self.get(copy, *stripe).is_some());
        here.map(move |stripe| (copy, stripe))
    }

    pub(crate) fn get(&self, copy: u8, stripe: u8) -> Option<&Arc<dyn File>> {
        self.files[SlotFiles::index(copy, stripe)].as_ref()
    }
}

impl SegmentHead {
    /// Reads a header; authentic once [`SegmentHead::prove`] says so.
    pub(crate) fn decode(bytes: &[u8]) -> Result<SegmentHead, Flaw> {
        let mut reader = Reader::new(bytes);
        let format = read_front(&mut reader, MAGIC, VERSION..=VERSION)?;
        let mut parse = || -> Option<SegmentHead> {
            let (stripe, stripes, copy) = (reader.u8()?, reader.u8()?, reader.u8()?);
            let window = reader.u16()?;
            let slot = reader.u32()?;
            let system = SystemId(reader.array()?);
            let sequence = reader.u64()?;
            let (first, first_group) = (Lsn(reader.u64()?), GroupNumber(reader.u64()?));
            let previous = Tag(reader.array()?);
            let id = match sequence {
                0 => SegmentId::FREE,
                _ => SegmentId { sequence, first, first_group, previous, stripes },
            };
            if sequence != 0 && !(1..=STRIPES_MAX).contains(&stripes) {
                return None;
            }
            let segment_bytes = reader.u64()?;
            let generation = KeyGeneration(reader.u32()?);
            let _zero = reader.u32()?;
            let salt = Salt(reader.array()?);
            let counter = reader.u64()?;
            let tag = Tag(reader.array()?);
            Some(SegmentHead {
                id,
                system,
                slot,
                stripe,
                copy,
                window,
                segment_bytes,
                format,
                generation,
                salt,
                counter,
                tag,
            })
        };
        parse().ok_or(Flaw::NoHeader)
    }

    /// The generation that a sealed header names; `None` if it is none.
    pub(crate) fn generation_of(bytes: &[u8]) -> Option<KeyGeneration> {
        let head = SegmentHead::decode(bytes).ok()?;
        (head.format == Format::Sealed).then_some(head.generation)
    }

    /// Checks the seal of the header that was read from `bytes`, and that the log may be so (K4).
    pub(crate) fn prove(
        &self,
        book: &mut KeyBook,
        config: &LogConfig,
        bytes: &[u8],
    ) -> Result<(), Flaw> {
        if self.system != book.system() {
            // One of this system of which only the name is damaged proves itself under its own.
            let mut named = bytes[..TAG_AT].to_vec();
            named[SYSTEM_AT..][..16].copy_from_slice(&book.system().0);
            let is_own = self.unseal(book, &named).is_ok();
            return Err(if is_own { Flaw::Tag } else { Flaw::Foreign(self.system) });
        }
        if self.format == Format::Plain && !config.plain_span().has_segment(self.id.first) {
            return Err(Flaw::Plain);
        }
        self.unseal(book, &bytes[..TAG_AT])
    }

    fn unseal(&self, book: &mut KeyBook, bytes: &[u8]) -> Result<(), Flaw> {
        let key = book
            .working(Purpose::Segment, self.format, self.generation, &self.salt)
            .map_err(|error| Flaw::Key(error.to_string()))?;
        key.open(self.counter, bytes, &mut [], &self.tag).map_err(|_| Flaw::Tag)
    }
}

/// Seals segment headers during one open of a log.
pub(crate) struct HeadSealer {
    format: Format,
    system: SystemId,
    key: Mutex<HeadKey>,
}

struct HeadKey {
    key: Arc<WorkingKey>,
    generation: KeyGeneration,
    salt: Salt,
    /// The last counter given out.
    counter: u64,
}

impl HeadSealer {
    pub(crate) fn new(
        book: &mut KeyBook,
        format: Format,
        generation: KeyGeneration,
        salt: Salt,
    ) -> Result<HeadSealer, LogError> {
        let key = HeadKey::new(book, format, generation, salt)?;
        Ok(HeadSealer { format, system: book.system(), key: Mutex::new(key) })
    }

    /// Seals with another generation from now on, under a salt of its own.
    pub(crate) fn renew(
        &self,
        book: &mut KeyBook,
        generation: KeyGeneration,
        salt: Salt,
    ) -> Result<(), LogError> {
        let key = HeadKey::new(book, self.format, generation, salt)?;
        *self.key.lock() = key;
        Ok(())
    }

    /// The first 4 KiB of a file that belongs to segment `id`.
    pub(crate) fn block(&self, config: &LogConfig, id: &SegmentId, at: FileAt) -> AlignedBuf {
        let mut block = AlignedBuf::zeroed(SEGMENT_HEADER);
        let mut key = self.key.lock();
        key.counter += 1;
        let out = &mut block[..HEAD_BYTES];
        write_front(out, MAGIC, VERSION, self.format);
        // A free slot has nothing to say about stripes.
        let stripes = if id.sequence == 0 { config.stripes } else { id.stripes };
        (out[7], out[8], out[9]) = (at.stripe, stripes, at.copy);
        put_u16(out, 10, window_of(stripes) as u16);
        put_u32(out, 12, at.slot);
        out[16..32].copy_from_slice(&self.system.0);
        put_u64(out, 32, id.sequence);
        put_u64(out, 40, id.first.0);
        put_u64(out, 48, id.first_group.0);
        out[56..72].copy_from_slice(&id.previous.0);
        put_u64(out, 72, config.segment_bytes);
        put_u32(out, 80, key.generation.0);
        out[88..104].copy_from_slice(&key.salt.0);
        put_u64(out, 104, key.counter);
        let tag = key.key.seal(key.counter, &out[..TAG_AT], &mut []);
        out[TAG_AT..].copy_from_slice(&tag.0);
        block
    }

    /// Writes the header of one file, durably.
    pub(crate) fn write(
        &self,
        config: &LogConfig,
        id: &SegmentId,
        at: FileAt,
        file: &dyn File,
    ) -> Result<(), LogError> {
        let block = self.block(config, id, at);
        file.write_at(&block, 0).map_err(|e| LogError::io("write", at.path(config), e))
    }

    /// Says durably in the files of the first slot where a new log begins.
    pub(crate) fn begin(
        &self,
        config: &LogConfig,
        origin: &Origin,
        copy: u8,
        files: &[Arc<dyn File>],
    ) -> Result<(), LogError> {
        let Origin { first, group: first_group, previous } = *origin;
        let stripes = config.stripes;
        let id = SegmentId { sequence: 1, first, first_group, previous, stripes };
        for (stripe, file) in files.iter().enumerate() {
            let at = FileAt { copy, slot: 0, stripe: stripe as u8 };
            self.write(config, &id, at, file.as_ref())?;
        }
        Ok(())
    }
}

impl HeadKey {
    fn new(
        book: &mut KeyBook,
        format: Format,
        generation: KeyGeneration,
        salt: Salt,
    ) -> Result<HeadKey, LogError> {
        let key = book.working(Purpose::Segment, format, generation, &salt)?;
        Ok(HeadKey { key, generation, salt, counter: 0 })
    }
}

/// Makes a slot's files of so many stripes on one copy: zeros, and a header that says they are
/// free. The folders must be synced before they are used.
pub(crate) fn make_slot(
    env: &LogEnv,
    config: &LogConfig,
    heads: &HeadSealer,
    copy: u8,
    slot: u32,
    stripes: u8,
) -> Result<Vec<Arc<dyn File>>, LogError> {
    let at = |stripe| FileAt { copy, slot, stripe };
    let made = (0..stripes).map(|stripe| make_file(env, config, heads, at(stripe)));
    let made: Result<Vec<_>, _> = made.collect();
    if made.is_err() {
        // Half a slot would only take the room that is missing. It may not even be there.
        for stripe in 0..stripes {
            let _ = env.seam.disk.remove(&at(stripe).path(config));
        }
    }
    made
}

/// Makes sure that the files of a copy have their names, and its folders, too.
pub(crate) fn sync_folders(
    disk: &dyn Disk,
    config: &LogConfig,
    copy: u8,
    above: bool,
) -> Result<(), LogError> {
    let sync = |dir: &Path| disk.sync_dir(dir).map_err(|error| LogError::io("sync", dir, error));
    for dir in config.folders(copy) {
        sync(&dir)?;
        let parent = dir.parent().filter(|parent| above && !parent.as_os_str().is_empty());
        parent.map_or(Ok(()), sync)?;
    }
    Ok(())
}

/// Makes one file of a slot, or makes it anew.
pub(crate) fn make_file(
    env: &LogEnv,
    config: &LogConfig,
    heads: &HeadSealer,
    at: FileAt,
) -> Result<Arc<dyn File>, LogError> {
    let path = at.path(config);
    let failed = |verb| {
        let path = path.clone();
        move |error| LogError::io(verb, path, error)
    };
    let disk = env.seam.disk.as_ref();
    let how = Open { create: Create::IfMissing, write: true, direct: true, dsync: false };
    let file = disk.open(&path, how).map_err(failed("make"))?;
    if file.len().map_err(failed("measure"))? > config.segment_bytes {
        file.set_len(config.segment_bytes).map_err(failed("cut"))?;
    }
    file.allocate(0, config.segment_bytes).map_err(failed("allocate"))?;
    write_zeros(file.as_ref(), 0, config.segment_bytes).map_err(failed("write"))?;
    heads.write(config, &SegmentId::FREE, at, file.as_ref())?;
    file.sync().map_err(failed("sync"))?;
    drop(file);
    open_file(disk, &path, true).map_err(failed("open"))
}

/// Fills a file with zeros from the block that holds `from` up to `to`.
pub(crate) fn write_zeros(file: &dyn File, from: u64, to: u64) -> std::io::Result<()> {
    let mut offset = from / BLOCK as u64 * BLOCK as u64;
    let zeros = AlignedBuf::zeroed(CHUNK.min((to - offset) as usize));
    while offset < to {
        let len = (to - offset).min(zeros.len() as u64);
        file.write_at(&zeros[..len as usize], offset)?;
        offset += len;
    }
    Ok(())
}

/// Opens a file of a slot, for durable writes or only to be read.
pub(crate) fn open_file(
    disk: &dyn Disk,
    path: &Path,
    write: bool,
) -> std::io::Result<Arc<dyn File>> {
    let read = Open { create: Create::Never, write: false, direct: true, dsync: false };
    disk.open(path, if write { Open::DURABLE } else { read })
}

/// Everything behind the header of a file, in pieces: offset and length.
pub(crate) fn group_chunks(config: &LogConfig) -> impl Iterator<Item = (u64, usize)> + use<> {
    let end = config.segment_bytes;
    let offsets = (SEGMENT_HEADER as u64..end).step_by(CHUNK);
    offsets.map(move |offset| (offset, (end - offset).min(CHUNK as u64) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seal::TestKeys;

    #[test]
    fn names_are_read_as_they_are_written() {
        let config = LogConfig::new(vec!["a".into(), "b".into()]);
        let path = FileAt { copy: 1, slot: 7, stripe: 3 }.path(&config);
        assert_eq!(path, Path::new("b/segment-007.stripe-3"));
        assert_eq!(FileAt::parse(Path::new("segment-007.stripe-3")), Some((7, 3)));
        assert_eq!(FileAt::parse(Path::new("segment-1234.stripe-0")), Some((1234, 0)));
        for odd in ["segment-7.stripe-0", "segment-007.stripe-", "lock", "segment-007.stripe-0.new"]
        {
            assert_eq!(FileAt::parse(Path::new(odd)), None, "{odd}");
        }
    }

    #[test]
    fn a_header_is_proven_only_in_its_place_and_form() {
        let config = LogConfig::new(vec!["a".into()]);
        let mut book = KeyBook::new(Arc::new(TestKeys::new(1)), "log", SystemId([1; 16]));
        let salt = Salt([2; 16]);
        let heads = HeadSealer::new(&mut book, Format::Sealed, KeyGeneration(1), salt).unwrap();
        let id = SegmentId { sequence: 3, first: Lsn(99), stripes: 1, ..SegmentId::FREE };
        let at = FileAt { copy: 0, slot: 2, stripe: 0 };
        let mut block = heads.block(&config, &id, at);
        let head = SegmentHead::decode(&block).unwrap();
        assert_eq!((head.id, head.slot, head.window), (id, 2, 2));
        assert_eq!(head.prove(&mut book, &config, &block), Ok(()));
        block[33] ^= 1;
        let changed = SegmentHead::decode(&block).unwrap();
        assert_eq!(changed.prove(&mut book, &config, &block), Err(Flaw::Tag));
        let plain = HeadSealer::new(&mut book, Format::Plain, KeyGeneration(0), salt).unwrap();
        let block = plain.block(&config, &id, at);
        let head = SegmentHead::decode(&block).unwrap();
        assert_eq!(head.prove(&mut book, &config, &block), Err(Flaw::Plain));
    }
}
