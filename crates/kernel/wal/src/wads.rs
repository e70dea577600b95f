//! The write-ahead data set: where a commit becomes durable before its group is full (K11).
//!
//! Without one, whatever has gathered is sealed as a group of the log, and each small group takes
//! whole blocks of every copy. With one, what has gathered goes to an *entry* of the write-ahead
//! data set, and the log itself gets full groups. It is a file in one folder or two, used around
//! and around. Entries stand at multiples of 4 KiB, each followed by zeros up to the next 4 KiB:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `HFLW` |
//! | 4 | 2 | version, 2 |
//! | 6 | 1 | format: 1 plain, 2 sealed |
//! | 7 | 1 | 1 for the first entry of a beginning, which holds nothing; 0 for others |
//! | 8 | 16 | system |
//! | 24 | 4 | key generation |
//! | 28 | 4 | payload length |
//! | 32 | 16 | salt |
//! | 48 | 8 | counter under that salt, from 1 |
//! | 56 | 8 | LSN of the payload's first byte |
//! | 64 | 8 | the group of the log that will hold it |
//! | 72 | 16 | tag of the group before that one |
//! | 88 | 4 | its place among the entries of that group, from 0 |
//! | 92 | 5 | beginning (`beginning.rs`) |
//! | 97 | 15 | zero |
//! | 112 | 16 | tag |
//!
//! Version 1 had no first entry, and zeros for the beginning.
//!
//! Invariants:
//! 1. Salt and counter are its own (K3). Nothing is sealed twice under one counter.
//! 2. One entry at a time is under way, and none while a group is. So a valid entry proves all
//!    entries before it, and that every group before its own was durable.
//! 3. A group holds all that its entries hold. Its entries may be overwritten once it is durable
//!    on every copy of the log.
//! 4. Which log an entry belongs to is said by the tag of the group before: positions can repeat
//!    after a crash, tags cannot.
//! 5. An entry counts only when every file has it. If one refuses, no entry is written any more:
//!    the log alone goes on.
//! 6. The first block has the first entry, those behind it are used around and around. What the
//!    control file says is asked for: without an entry of that beginning no file is believed, so
//!    one that was overwritten is never taken for an empty one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, put_u16, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{Format, Salt, Tag, WorkingKey};
use seam::disk::{BLOCK, Create, Disk, File, Open};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::beginning::{BEGINNING_BYTES, Beginning};
use crate::config::{WADS_BYTES_MAX, WadsConfig};
use crate::group::{Flaw, KeyBook, Purpose, TAG_AT};
use crate::lens::{LENS_BYTES, Lens};
use crate::record::Framer;
use crate::segment::write_zeros;
use crate::{GROUP_HEADER, LogConfig, LogEnv, LogError, LogStart, disk_len};

/// Bytes before an entry's payload.
pub(crate) const ENTRY_HEADER: usize = GROUP_HEADER;
const MAGIC: [u8; 4] = *b"HFLW";
const VERSION: u16 = 2;
/// Entries of this version name no beginning.
const UNNAMED_VERSION: u16 = 1;
/// Where a file's first entry stands: the others go behind it.
pub(crate) const FIRST_ENTRY_BYTES: usize = BLOCK;

/// An entry's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryHead {
    pub(crate) format: Format,
    /// Whether it is the first one of a beginning.
    pub(crate) is_first: bool,
    pub(crate) system: SystemId,
    pub(crate) generation: KeyGeneration,
    pub(crate) payload_len: u32,
    pub(crate) salt: Salt,
    pub(crate) counter: u64,
    pub(crate) first: Lsn,
    pub(crate) group: GroupNumber,
    pub(crate) before: Tag,
    pub(crate) index: u32,
    pub(crate) beginning: Beginning,
    pub(crate) tag: Tag,
}

impl EntryHead {
    /// Writes everything but the tag.
    pub(crate) fn encode(&self, out: &mut [u8]) {
        out[..ENTRY_HEADER].fill(0);
        out[..4].copy_from_slice(&MAGIC);
        put_u16(out, 4, VERSION);
        out[6] = self.format as u8;
        out[7] = u8::from(self.is_first);
        out[8..24].copy_from_slice(&self.system.0);
        put_u32(out, 24, self.generation.0);
        put_u32(out, 28, self.payload_len);
        out[32..48].copy_from_slice(&self.salt.0);
        put_u64(out, 48, self.counter);
        put_u64(out, 56, self.first.0);
        put_u64(out, 64, self.group.0);
        out[72..88].copy_from_slice(&self.before.0);
        put_u32(out, 88, self.index);
        out[92..92 + BEGINNING_BYTES].copy_from_slice(&self.beginning.0);
    }

    /// The generation that a sealed entry names; `None` if it is none.
    pub(crate) fn generation_of(bytes: &[u8]) -> Option<KeyGeneration> {
        let head = EntryHead::decode(bytes).ok()?;
        (head.format == Format::Sealed).then_some(head.generation)
    }

    /// Reads a header; nothing of it is authentic before the entry has been opened.
    pub(crate) fn decode(bytes: &[u8]) -> Result<EntryHead, Flaw> {
        let mut reader = Reader::new(bytes);
        let mut parse = || -> Option<Result<EntryHead, Flaw>> {
            if reader.array()? != MAGIC {
                return None;
            }
            let version = reader.u16()?;
            if version != VERSION && version != UNNAMED_VERSION {
                return Some(Err(Flaw::Version(version)));
            }
            let format = Format::from_byte(reader.u8()?)?;
            let first = reader.u8()?;
            let system = SystemId(reader.array()?);
            let generation = KeyGeneration(reader.u32()?);
            let payload_len = reader.u32()?;
            let salt = Salt(reader.array()?);
            let (counter, lsn) = (reader.u64()?, Lsn(reader.u64()?));
            let (group, before) = (GroupNumber(reader.u64()?), Tag(reader.array()?));
            let index = reader.u32()?;
            let beginning = Beginning(reader.array()?);
            let zeros = reader.array::<15>()?;
            let tag = Tag(reader.array()?);
            let named = version != UNNAMED_VERSION;
            let of_version = named == (beginning != Beginning::UNNAMED);
            if first > u8::from(named) || !of_version || zeros != [0; 15] {
                return None;
            }
            let is_first = first == 1;
            let sane = (payload_len == 0) == is_first && payload_len <= 16 << 20;
            Some(if sane && lsn.0 <= u64::MAX / 2 && group.0 <= u64::MAX / 2 {
                Ok(EntryHead {
                    format,
                    is_first,
                    system,
                    generation,
                    payload_len,
                    salt,
                    counter,
                    first: lsn,
                    group,
                    before,
                    index,
                    beginning,
                    tag,
                })
            } else {
                Err(Flaw::Length)
            })
        };
        parse().unwrap_or(Err(Flaw::NoHeader))
    }
}

/// Where a log ends by itself.
pub(crate) struct Edge {
    /// The number that its next group would have.
    pub(crate) next: GroupNumber,
    /// The tag of its last group.
    pub(crate) previous: Tag,
    /// Where its last group ends.
    pub(crate) end: Lsn,
    /// Where its last whole record ends.
    pub(crate) whole: Lsn,
}

/// What the write-ahead data set has of the group that a log ends before: where it begins, which
/// is at the end of the last group or of the last whole record, and the bytes.
pub(crate) struct Continued {
    pub(crate) first: Lsn,
    pub(crate) bytes: Vec<u8>,
}

/// Entries of one group, by their place among them.
pub(crate) type Entries = BTreeMap<u32, (EntryHead, Vec<u8>)>;

/// Reads what the files of `beginning` have behind the end of a log. `None` if that is nothing.
pub(crate) fn find(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    edge: &Edge,
    beginning: Beginning,
) -> Result<Option<Continued>, LogError> {
    let Some(wads) = config.wads.as_ref() else {
        return Err(LogError::NoWads { why: NONE.into() });
    };
    let mut entries = Entries::new();
    let (mut unread, mut damage) = (None, None);
    let (mut findings, mut begun) = (Vec::new(), false);
    for path in wads.paths() {
        match read(env, config, book, edge, beginning, &path, &mut entries) {
            Ok(found) => {
                damage = damage.or(found.damage);
                begun |= found.begun;
                findings.push(found.future);
            }
            Err(error) => unread = Some(LogError::io("read", path, error)),
        }
    }
    if let Some(error) = unread.filter(|_| findings.is_empty()) {
        return Err(LogError::NoWads { why: error.to_string() });
    }
    if let Some(damage) = damage {
        return Err(damage);
    }
    // A newer version that only one file says is damage there.
    if findings.iter().all(Option::is_some)
        && let Some(future) = findings.into_iter().flatten().next()
    {
        return Err(future);
    }
    if !begun {
        return Err(LogError::NoWads { why: overwritten(wads) });
    }
    let damaged = |why: &str| LogError::Damaged {
        group: edge.next,
        path: wads.paths().next().unwrap_or_default(),
        offset: 0,
        why: why.to_owned(),
    };
    let Some((head, _)) = entries.values().next() else { return Ok(None) };
    let (first, salt) = (head.first, head.salt);
    if first != edge.end && first != edge.whole {
        return Err(damaged("the write-ahead data set does not go on where the log ends"));
    }
    let mut bytes = Vec::new();
    for ((index, (head, payload)), wanted) in entries.iter().zip(0..) {
        if *index != wanted || head.salt != salt || head.first != first.plus(bytes.len() as u64) {
            return Err(damaged("an entry of the write-ahead data set is missing"));
        }
        bytes.extend_from_slice(payload);
    }
    Ok(Some(Continued { first, bytes }))
}

/// Why files that can be read are not believed.
fn overwritten(wads: &WadsConfig) -> String {
    let paths: Vec<String> = wads.paths().map(|path| path.display().to_string()).collect();
    let have = if paths.len() == 1 { "has" } else { "have" };
    format!(
        "{} {have} no entry of the last start, not even its first: overwritten as a whole, or put \
         back to an older state",
        paths.join(" and ")
    )
}

/// What a log goes on with that only the write-ahead data set has.
#[derive(Default)]
pub(crate) struct Beyond {
    /// Where the log goes on: where its last whole record ends, or, if more of the next one is
    /// here, where its last group ends.
    pub(crate) first: Lsn,
    /// Up to the end of a record.
    pub(crate) bytes: Vec<u8>,
    /// Where in them a record begins first.
    pub(crate) begins: usize,
}

impl Beyond {
    /// Where the last record ends.
    pub(crate) fn end(&self) -> Lsn {
        self.first.plus(self.bytes.len() as u64)
    }
}

/// What a log that ends at `edge` goes on with; `piece` is what stands between its last whole
/// record and the end of its last group.
pub(crate) fn beyond(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    start: &LogStart,
    edge: &Edge,
    piece: &[u8],
) -> Result<Beyond, LogError> {
    let nothing = Beyond { first: edge.whole, ..Beyond::default() };
    let Some(beginning) = start.ahead else { return Ok(nothing) };
    let found = match find(env, config, book, edge, beginning) {
        // What it holds is given up, like what only a lost copy has.
        Err(LogError::NoWads { .. }) if start.override_stale => None,
        found => found?,
    };
    let Some(Continued { first, mut bytes }) = found else { return Ok(nothing) };
    if bytes.len() > config.payload_max() {
        let (have, most) = (bytes.len(), config.payload_max());
        let why = format!(
            "it holds {have} bytes of a group, and groups take {most} now; open the log once with \
             groups as large as they were"
        );
        return Err(LogError::NoWads { why });
    }
    let piece = if first == edge.whole { &[] } else { piece };
    let odd = |_| LogError::NotARecord { lsn: edge.whole };
    let mut framer = Framer::at(edge.whole);
    framer.feed(edge.whole, piece).map_err(odd)?;
    let begins = framer.feed(first, &bytes).map_err(odd)?;
    let whole = framer.whole(first.plus(bytes.len() as u64));
    if whole <= first {
        return Ok(nothing);
    }
    bytes.truncate((whole.0 - first.0) as usize);
    let begins = begins.map_or(bytes.len(), |begins| bytes.len().min(begins as usize));
    Ok(Beyond { first, bytes, begins })
}

const NONE: &str = "none is configured";

/// What one file says beside its entries.
#[derive(Default)]
pub(crate) struct FileFindings {
    /// Damage of the log that an entry proves.
    damage: Option<LogError>,
    /// An entry of a newer version.
    future: Option<LogError>,
    /// Whether it has an entry of the beginning that was asked for.
    pub(crate) begun: bool,
}

/// Opens a file; one that is shorter than it was made has lost what stood behind.
fn opened(env: &LogEnv, config: &LogConfig, path: &Path) -> std::io::Result<(Arc<dyn File>, u64)> {
    let how = Open { direct: true, ..Open::READ };
    let file = env.seam.disk.open(path, how)?;
    let len = file.len()?;
    let made = config.wads.as_ref().map_or(0, |wads| wads.bytes);
    if len < made {
        let why = format!(
            "it has {len} bytes and should have {made}: it was cut short, or its size was changed \
             in the configuration before a start had read it"
        );
        return Err(std::io::Error::other(why));
    }
    Ok((file, len.min(WADS_BYTES_MAX) / BLOCK as u64 * BLOCK as u64))
}

/// How many entries of a file prove themselves; an error if it has none of `beginning`.
pub(crate) fn count(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    beginning: Beginning,
    path: &Path,
) -> std::io::Result<u64> {
    let (file, len) = opened(env, config, path)?;
    let mut lens = Lens::new(file, len, LENS_BYTES);
    if !is_of(&mut lens, config, book, beginning, len)? {
        let why = "it has no entry of the last start, not even its first: it was overwritten";
        return Err(std::io::Error::other(why));
    }
    let (mut offset, mut count) = (0, 0);
    while offset < len {
        lens.bring(offset, BLOCK)?;
        let head = EntryHead::decode(lens.view(offset, BLOCK)).ok();
        let mine = head.filter(|head| head.system == book.system());
        let payload = match mine {
            Some(head) => open(&mut lens, config, book, &head, offset, len)?,
            None => None,
        };
        count += u64::from(payload.as_ref().is_some_and(|payload| !payload.is_empty()));
        offset += payload.map_or(BLOCK, |payload| disk_len(payload.len())) as u64;
    }
    Ok(count)
}

/// Whether an entry of `beginning` proves itself in a file.
fn is_of(
    lens: &mut Lens,
    config: &LogConfig,
    book: &mut KeyBook,
    beginning: Beginning,
    len: u64,
) -> std::io::Result<bool> {
    if beginning == Beginning::UNNAMED || armed(Failpoint::WadsOverwritten) {
        return Ok(true);
    }
    for offset in (0..len).step_by(BLOCK) {
        lens.bring(offset, BLOCK)?;
        let head = EntryHead::decode(lens.view(offset, BLOCK)).ok();
        let mine = head.filter(|h| h.system == book.system() && h.beginning == beginning);
        if let Some(head) = mine
            && open(lens, config, book, &head, offset, len)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds the entries of one file that go on behind `edge` and are of `beginning`.
pub(crate) fn read(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    edge: &Edge,
    beginning: Beginning,
    path: &Path,
    entries: &mut Entries,
) -> std::io::Result<FileFindings> {
    let (file, len) = opened(env, config, path)?;
    let mut findings = FileFindings::default();
    if armed(Failpoint::WadsNotRead) {
        return Ok(FileFindings { begun: true, ..findings });
    }
    let mut lens = Lens::new(file, len, LENS_BYTES);
    findings.begun = is_of(&mut lens, config, book, beginning, len)?;
    let mut offset = 0;
    while offset < len {
        lens.bring(offset, BLOCK)?;
        let decoded = EntryHead::decode(lens.view(offset, BLOCK));
        if let Err(Flaw::Version(found)) = decoded {
            let (path, known) = (path.to_owned(), VERSION);
            findings.future = Some(LogError::FutureVersion { path, offset, found, known });
        }
        let head = decoded
            .ok()
            .filter(|h| h.system == book.system() && h.group >= edge.next && !h.is_first);
        let mine = head.filter(|head| head.group > edge.next || head.before == edge.previous);
        let opened = match mine {
            Some(head) => open(&mut lens, config, book, &head, offset, len)?.map(|p| (head, p)),
            None => None,
        };
        // A header that is not authentic must not hide what stands behind it.
        let Some((head, payload)) = opened else {
            offset += BLOCK as u64;
            continue;
        };
        if head.group > edge.next {
            let proof = "that it was durable is proven by an entry of the write-ahead data set";
            findings.damage = Some(LogError::Damaged {
                group: edge.next,
                path: path.to_owned(),
                offset,
                why: format!("no copy of the log has it; {proof}, which is of {}", head.group),
            });
        }
        offset += disk_len(payload.len()) as u64;
        if head.group == edge.next && beginning.takes(head.beginning) {
            entries.insert(head.index, (head, payload));
        }
    }
    Ok(findings)
}

/// Opens an entry; `None` if it is not what was sealed, or may not be so (K4).
fn open(
    lens: &mut Lens,
    config: &LogConfig,
    book: &mut KeyBook,
    head: &EntryHead,
    offset: u64,
    len: u64,
) -> std::io::Result<Option<Vec<u8>>> {
    let end = Lsn(head.first.0.saturating_add(u64::from(head.payload_len)));
    let refused = head.format == Format::Plain && !config.plain_span().has_group(head.first, end);
    let entry_len = disk_len(head.payload_len as usize);
    if refused || offset + entry_len as u64 > len {
        return Ok(None);
    }
    lens.bring(offset, entry_len)?;
    let bytes = lens.view(offset, entry_len);
    let mut payload = bytes[ENTRY_HEADER..][..head.payload_len as usize].to_vec();
    let key = book.working(Purpose::Wads, head.format, head.generation, &head.salt);
    let Ok(key) = key else { return Ok(None) };
    let opened = key.open(head.counter, &bytes[..TAG_AT], &mut payload, &head.tag);
    Ok(opened.is_ok().then_some(payload))
}

/// Writes the first entry of a beginning to every file, before any other.
pub(crate) fn begin(
    files: &[WadsFile],
    key: &WorkingKey,
    head: &EntryHead,
) -> Result<(), LogError> {
    let mut block = AlignedBuf::zeroed(FIRST_ENTRY_BYTES);
    head.encode(&mut block);
    let tag = key.seal(head.counter, &block[..TAG_AT], &mut []);
    block[TAG_AT..ENTRY_HEADER].copy_from_slice(&tag.0);
    for one in files {
        let written = one.file.write_at(&block, 0);
        written.map_err(|error| LogError::io("write", &one.path, error))?;
    }
    Ok(())
}

/// Makes the files ready for new entries: whole, and without old ones.
pub(crate) fn prepare(env: &LogEnv, wads: &WadsConfig) -> Result<Vec<WadsFile>, LogError> {
    let disk = env.seam.disk.as_ref();
    let one = |path: PathBuf| {
        refuse_others(disk, env.system, &path)?;
        prepare_one(disk, wads, path)
    };
    wads.paths().map(one).collect()
}

/// One of the files, open for durable writes.
#[derive(Clone)]
pub(crate) struct WadsFile {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn File>,
}

/// Refuses a file in which another system has entries: they may be all that it has of its commits.
fn refuse_others(disk: &dyn Disk, system: SystemId, path: &Path) -> Result<(), LogError> {
    match owner_of(disk, system, path) {
        Ok(None) => Ok(()),
        Ok(Some(other)) => Err(LogError::Foreign {
            path: path.to_owned(),
            why: format!("it is the write-ahead data set of system {other}"),
        }),
        Err(error) => Err(LogError::io("read", path.to_owned(), error)),
    }
}

/// Another system than `system` that has an entry in a file.
fn owner_of(disk: &dyn Disk, system: SystemId, path: &Path) -> std::io::Result<Option<SystemId>> {
    if !disk.exists(path)? {
        return Ok(None);
    }
    let file = disk.open(path, Open { direct: true, ..Open::READ })?;
    let len = file.len()? / BLOCK as u64 * BLOCK as u64;
    let mut lens = Lens::new(file, len, LENS_BYTES);
    for offset in (0..len).step_by(BLOCK) {
        lens.bring(offset, BLOCK)?;
        if let Ok(head) = EntryHead::decode(lens.view(offset, BLOCK))
            && head.system != system
        {
            return Ok(Some(head.system));
        }
    }
    Ok(None)
}

fn prepare_one(disk: &dyn Disk, wads: &WadsConfig, path: PathBuf) -> Result<WadsFile, LogError> {
    let made = || -> std::io::Result<Arc<dyn File>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let fresh = !disk.exists(&path)?;
        if fresh {
            disk.create_dir(folder)?;
        }
        let how = Open { create: Create::IfMissing, write: true, direct: true, dsync: false };
        let file = disk.open(&path, how)?;
        if file.len()? != wads.bytes {
            file.set_len(wads.bytes)?;
            file.allocate(0, wads.bytes)?;
        }
        write_zeros(file.as_ref(), 0, wads.bytes)?;
        file.sync()?;
        if fresh {
            disk.sync_dir(folder)?;
            let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
            above.map_or(Ok(()), |above| disk.sync_dir(above))?;
        }
        drop(file);
        disk.open(&path, Open::DURABLE)
    };
    match made() {
        Ok(file) => Ok(WadsFile { path, file }),
        Err(error) => Err(LogError::io("prepare", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head() -> EntryHead {
        EntryHead {
            format: Format::Sealed,
            is_first: false,
            system: SystemId([7; 16]),
            generation: KeyGeneration(1),
            payload_len: 5_000,
            salt: Salt([3; 16]),
            counter: 9,
            first: Lsn(99),
            group: GroupNumber(12),
            before: Tag([5; 16]),
            index: 4,
            beginning: Beginning([6; BEGINNING_BYTES]),
            tag: Tag([0; 16]),
        }
    }

    #[test]
    fn a_header_comes_back() {
        let mut bytes = [0xff; ENTRY_HEADER];
        head().encode(&mut bytes);
        assert_eq!(EntryHead::decode(&bytes), Ok(head()));
        put_u16(&mut bytes, 4, 3);
        assert_eq!(EntryHead::decode(&bytes), Err(Flaw::Version(3)));
    }

    #[test]
    fn the_first_entry_holds_nothing_and_others_do() {
        let mut bytes = [0; ENTRY_HEADER];
        let first = EntryHead { is_first: true, payload_len: 0, ..head() };
        first.encode(&mut bytes);
        assert_eq!(EntryHead::decode(&bytes), Ok(first));
        EntryHead { is_first: true, ..head() }.encode(&mut bytes);
        assert_eq!(EntryHead::decode(&bytes), Err(Flaw::Length));
        EntryHead { payload_len: 0, ..head() }.encode(&mut bytes);
        assert_eq!(EntryHead::decode(&bytes), Err(Flaw::Length));
    }

    #[test]
    fn entries_of_an_earlier_release_name_no_beginning() {
        let mut bytes = [0; ENTRY_HEADER];
        let earlier = EntryHead { beginning: Beginning::UNNAMED, ..head() };
        earlier.encode(&mut bytes);
        assert_eq!(EntryHead::decode(&bytes), Err(Flaw::NoHeader), "now they do");
        put_u16(&mut bytes, 4, UNNAMED_VERSION);
        assert_eq!(EntryHead::decode(&bytes), Ok(earlier));
        head().encode(&mut bytes);
        put_u16(&mut bytes, 4, UNNAMED_VERSION);
        assert_eq!(EntryHead::decode(&bytes), Err(Flaw::NoHeader));
    }

    #[test]
    fn a_file_with_entries_of_another_system_is_left_as_it_is() {
        let disk = seam::sim::SimDisk::new();
        let path = Path::new("/write-ahead.hfw");
        let how = Open { create: Create::New, write: true, direct: false, dsync: false };
        let file = disk.open(path, how).unwrap();
        assert!(refuse_others(&disk, head().system, path).is_ok(), "it is empty");
        file.set_len(8 * BLOCK as u64).unwrap();
        let mut bytes = [0; ENTRY_HEADER];
        head().encode(&mut bytes);
        file.write_at(&bytes, 5 * BLOCK as u64).unwrap();
        assert!(refuse_others(&disk, head().system, path).is_ok(), "it is its own");
        let refused = refuse_others(&disk, SystemId([8; 16]), path).unwrap_err();
        let other = head().system.to_string();
        assert!(matches!(&refused, LogError::Foreign { why, .. } if why.contains(&other)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_decoding_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = bytes;
            let _ = EntryHead::decode(&bytes);
            if bytes.len() > 8 {
                bytes[..4].copy_from_slice(&MAGIC);
                put_u16(&mut bytes, 4, VERSION);
                (bytes[6], bytes[7]) = (2, 0);
                let _ = EntryHead::decode(&bytes);
            }
        }
    }
}
